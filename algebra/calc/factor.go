package calc

import (
	"errors"
	"slices"
	"strconv"
	"strings"
)

// factor is an integer, a name, a call, a swizzle, or a parenthesis or sign in front of those.
func (p *parser) factor() node {
	c := p.peek()
	pos := p.pos
	switch {
	case c == '-':
		p.pos++
		if !p.enter() {
			return node{}
		}
		defer p.leave()
		return p.node(negate, pos, p.factor())
	case c == '(':
		if !p.enter() {
			return node{}
		}
		defer p.leave()
		p.pos++
		n := p.expr()
		p.expect(')')
		return n
	case c >= '0' && c <= '9' || c == '_' && p.pos+1 < len(p.text) && p.text[p.pos+1] >= '0' && p.text[p.pos+1] <= '9':
		return p.number()
	case isWord(c) && strings.Trim(p.ahead(), "_") != "":
		return p.named()
	}
	p.expected("a value")
	return node{}
}

func (p *parser) number() node {
	pos := p.pos
	w := p.word()
	n, err := strconv.ParseInt(strings.TrimPrefix(w, "_"), 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		p.failAt(pos, "the integer "+w+" does not fit 63 bits")
	case err != nil:
		p.failAt(pos, strconv.Quote(w)+" is not an integer")
	}
	p.braces()
	return node{kind: number, pos: pos, end: p.pos, num: n}
}

// braces skips the {} of C++ values.
func (p *parser) braces() {
	if strings.HasPrefix(p.text[p.pos:], "{}") {
		p.pos += 2
	}
}

func isSwizzleName(w string) bool { return w == "Sw" || w == "S" || w == "Swizzle" }

func (p *parser) named() node {
	pos := p.pos
	w := p.word()
	var template []node
	if p.pos < len(p.text) && p.text[p.pos] == '<' {
		template = p.list(p.pos, '>').sub
	}
	switch {
	case p.err != nil:
		return node{}
	case isSwizzleName(w) && template != nil:
		if len(template) != 3 {
			p.failAt(pos, "a swizzle is Sw<B,M,S>")
		}
		p.braces()
		return p.node(swizzle, pos, template...)
	case w == "Int" && len(template) == 1:
		p.braces()
		return template[0]
	case p.pos < len(p.text) && p.text[p.pos] == '(':
		return p.call(pos, w, template)
	case template != nil:
		p.expected("the arguments of " + w)
		return node{}
	}
	if _, ok := table[w]; ok {
		p.expected("the arguments of " + w)
	}
	p.braces()
	return node{kind: name, pos: pos, end: p.pos, text: w}
}

// call reads the arguments of an operation or of a bound layout. Template arguments follow the others.
func (p *parser) call(pos int, w string, template []node) node {
	op, known := table[w]
	bound := slices.Contains(p.bound, w)
	if !known && !bound {
		reason := "there is no operation " + w
		if near := nearest(w); near != "" {
			reason += "; did you mean " + near + "?"
		}
		p.failAt(pos, reason)
		return node{}
	}
	args := p.list(p.pos, ')')
	if p.err != nil {
		return node{}
	}
	args.sub = append(args.sub, template...)
	if n := len(args.sub); known && !bound && (n < op.least || n > op.most) {
		p.failAt(pos, w+" takes ("+op.args+"), not "+strconv.Itoa(n)+" arguments")
	}
	n := p.node(call, pos, args.sub...)
	n.text = w
	return n
}

// nearest is the operation whose name is the fewest slips away, or "".
func nearest(w string) string {
	best, least := "", max(2, len(w)/3)+1
	for _, name := range Operations() {
		if d := distance(w, name); d < least {
			best, least = name, d
		}
	}
	return best
}

// distance counts the insertions, removals and replacements between two words.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d++
			}
			diagonal = row[j+1]
			row[j+1] = min(d, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
