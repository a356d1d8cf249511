package calc

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// parser reads a text once, from left to right; the first failure ends it.
type parser struct {
	text  string
	pos   int
	depth int
	bound []string
	err   *SyntaxError
}

func parse(text string) (node, *SyntaxError) {
	p := parser{text: text}
	if len(text) > maxText {
		p.failAt(0, "the text is longer than "+strconv.Itoa(maxText)+" bytes")
		return node{}, p.err
	}
	n := p.program()
	if p.err != nil {
		return node{}, p.err
	}
	return n, nil
}

func (p *parser) failAt(pos int, reason string) {
	if p.err == nil {
		p.err = &SyntaxError{p.text, min(pos, len(p.text)), reason}
	}
	p.pos = len(p.text)
}

// expected fails at the next byte that is not blank.
func (p *parser) expected(what string) {
	p.peek()
	switch {
	case p.pos >= len(p.text):
		p.failAt(p.pos, "expected "+what+", but the text ends")
	default:
		p.failAt(p.pos, "expected "+what+", but found "+p.character())
	}
}

// ended reports whether nothing is left to read; a NUL byte is read as any other.
func (p *parser) ended() bool { return p.peek() == 0 && p.pos >= len(p.text) }

func (p *parser) peek() byte {
	for p.pos < len(p.text) && (p.text[p.pos] == ' ' || p.text[p.pos] == '\t' || p.text[p.pos] == '\n' || p.text[p.pos] == '\r') {
		p.pos++
	}
	if p.pos < len(p.text) {
		return p.text[p.pos]
	}
	return 0
}

func (p *parser) eat(c byte) bool {
	if p.peek() != c {
		return false
	}
	p.pos++
	return true
}

func (p *parser) expect(c byte) {
	if !p.eat(c) {
		p.expected(strconv.Quote(string(c)))
	}
}

func (p *parser) enter() bool {
	if p.depth++; p.depth > maxDepth {
		p.failAt(p.pos, "it nests deeper than "+strconv.Itoa(maxDepth)+" levels")
		return false
	}
	return true
}

func (p *parser) leave() { p.depth-- }

// node closes a node that began at pos.
func (p *parser) node(k kind, pos int, sub ...node) node {
	return node{kind: k, pos: pos, end: p.pos, sub: sub}
}

// character is the one at the parser's place, in quotes.
func (p *parser) character() string {
	_, width := utf8.DecodeRuneInString(p.text[p.pos:])
	return strconv.Quote(p.text[p.pos : p.pos+width])
}

func (p *parser) program() node {
	out := node{kind: program}
	for {
		if c := p.peek(); p.ended() && len(out.sub) > 0 {
			return out
		} else if c == ';' && len(out.sub) > 0 {
			p.pos++
			continue
		}
		out.sub = append(out.sub, p.statement())
		if !p.ended() && p.peek() != ';' {
			p.failAt(p.pos, "unexpected "+p.character())
		}
		if p.err != nil {
			return out
		}
	}
}

func (p *parser) statement() node {
	p.peek()
	pos := p.pos
	w := p.word()
	if w != "" && p.peek() == '=' {
		if reason := unbindable(w); reason != "" {
			p.failAt(pos, reason)
			return node{}
		}
		p.pos++
		n := p.node(binding, pos, p.expr())
		n.text, n.end = w, p.pos
		p.bound = append(p.bound, w)
		return n
	}
	if p.err == nil {
		p.pos = pos
	}
	return p.expr()
}

// unbindable says why a word cannot be bound, or is "".
func unbindable(w string) string {
	rest := strings.TrimLeft(w, "_")
	_, operation := table[w]
	_, order := orders[w]
	switch {
	case operation:
		return w + " is an operation and cannot be bound"
	case order || isSwizzleName(w) || w == "o" || w == "Int" || w == "_":
		return w + " is reserved and cannot be bound"
	case rest == "" || rest[0] >= '0' && rest[0] <= '9':
		return strconv.Quote(w) + " is not a name and cannot be bound"
	}
	return ""
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func (p *parser) word() string {
	from := p.pos
	for p.pos < len(p.text) && isWord(p.text[p.pos]) {
		p.pos++
	}
	return p.text[from:p.pos]
}

// ahead is the next word, which stays unread.
func (p *parser) ahead() string {
	pos := p.pos
	w := p.word()
	p.pos = pos
	return w
}

// expr is a sum of chains: LAYOUT + OFFSET, or a sum written with blanks.
func (p *parser) expr() node {
	p.peek()
	pos := p.pos
	n := p.chain()
	for c := p.peek(); c == '+' || c == '-'; c = p.peek() {
		p.pos++
		n = p.node(binary, pos, n, p.chain())
		n.text, n.end = string(c), p.pos
	}
	return n
}

// chain is a o b o c, which composes.
func (p *parser) chain() node {
	p.peek()
	pos := p.pos
	n := p.pair()
	if !p.atCircle() {
		return n
	}
	sub := []node{n}
	for p.atCircle() {
		p.pos++
		sub = append(sub, p.pair())
	}
	return p.node(chain, pos, sub...)
}

func (p *parser) atCircle() bool {
	return p.peek() == 'o' && (p.pos+1 == len(p.text) || !isWord(p.text[p.pos+1]))
}

// pair is shape:stride, or what stands alone.
func (p *parser) pair() node {
	p.peek()
	pos := p.pos
	n := p.element()
	if p.peek() != ':' {
		return n
	}
	p.pos++
	return p.node(pair, pos, n, p.element())
}

func (p *parser) element() node {
	c := p.peek()
	switch {
	case c == '(':
		return p.parens()
	case c == '_' && (p.pos+1 == len(p.text) || !isWord(p.text[p.pos+1])):
		p.pos++
		return p.node(free, p.pos-1)
	}
	pos := p.pos
	return p.basis(pos, p.sumFrom(pos, p.product()))
}

// parens reads a tuple, or, where an operator follows a single entry, a parenthesis of an expression.
func (p *parser) parens() node {
	pos := p.pos
	t := p.list(pos, ')')
	if p.err != nil || len(t.sub) != 1 {
		return t
	}
	if c := p.peek(); c == '*' || c == '/' || c == '%' || c == '@' {
		return p.basis(pos, p.sumFrom(pos, p.productFrom(pos, t.sub[0])))
	}
	return t
}

// list reads (a,b,…) from the open bracket on.
func (p *parser) list(pos int, end byte) node {
	p.pos++
	t := node{kind: tuple, pos: pos}
	if !p.enter() {
		return t
	}
	defer p.leave()
	if !p.eat(end) {
		for {
			t.sub = append(t.sub, p.expr())
			if !p.eat(',') {
				break
			}
		}
		if !p.eat(end) {
			p.expected("\",\" or " + strconv.Quote(string(end)))
		}
	}
	t.end = p.pos
	return t
}

// basis reads @i@j after a coefficient.
func (p *parser) basis(pos int, n node) node {
	if p.peek() != '@' {
		return n
	}
	sub := []node{n}
	for p.peek() == '@' && len(sub) <= maxDepth {
		p.pos++
		sub = append(sub, p.factor())
	}
	return p.node(basis, pos, sub...)
}

// sumFrom continues a sum whose operators touch their left operand; "+" after a blank belongs to expr.
func (p *parser) sumFrom(pos int, n node) node {
	for p.pos < len(p.text) && (p.text[p.pos] == '+' || p.text[p.pos] == '-') {
		op := p.text[p.pos : p.pos+1]
		p.pos++
		n = p.node(binary, pos, n, p.product())
		n.text, n.end = op, p.pos
	}
	return n
}

func (p *parser) product() node {
	p.peek()
	pos := p.pos
	return p.productFrom(pos, p.factor())
}

func (p *parser) productFrom(pos int, n node) node {
	for {
		at := p.pos
		c := p.peek()
		if c != '*' && c != '/' && c != '%' {
			p.pos = at // a blank before "+" tells a slice's offset from a sum
			return n
		}
		p.pos++
		n = p.node(binary, pos, n, p.factor())
		n.text, n.end = string(c), p.pos
	}
}
