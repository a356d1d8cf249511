package algebra

import (
	"strconv"
	"strings"

	"github.com/gocute/gocute/algebra/sym"
)

// Symbols gives the expression of a name that occurs in a text, or false if there is none.
type Symbols func(name string) (sym.Expr, bool)

// param is what a name means where no Symbols are given: a kernel parameter of at least 1.
func param(name string) (sym.Expr, bool) {
	return sym.New(&sym.Symbol{Name: name, Lo: 1, Hi: sym.Unbounded}), true
}

// Parse reads a layout: ((1,4),(4,8)):((128,8),(32,1)), Sw<3,3,3> o 0 o (8,64):(64,1), (M,K):(1@0,1@1).
// Underscores before integers are skipped; names are parameters of at least 1.
func Parse(text string) (Layout, error) { return ParseWith(text, param) }

// MustParse is Parse for literals: it panics on an error.
func MustParse(text string) Layout {
	l, err := Parse(text)
	if err != nil {
		panic(err)
	}
	return l
}

// ParseWith is Parse with the meaning of names.
func ParseWith(text string, names Symbols) (Layout, error) {
	p := parser{text: text, names: names}
	l := p.layout()
	return l, p.end("layout", l)
}

// ParseSlice reads LAYOUT + OFFSET; without an offset it is 0.
func ParseSlice(text string) (Layout, sym.Expr, error) {
	p := parser{text: text, names: param}
	l := p.layout()
	var off sym.Expr
	if p.eat("+") {
		off = p.sum()
	}
	return l, off, p.end("slice", l)
}

// ParseShape reads a shape: an extent or a tuple.
func ParseShape(text string) (Shape, error) {
	p := parser{text: text, names: param}
	s := p.tuple().shape(&p)
	err := p.end("shape", Layout{})
	return Shape{s, err}, err
}

// ParseStride reads a stride: a step or a tuple.
func ParseStride(text string) (Stride, error) {
	p := parser{text: text, names: param}
	s := p.tuple().stride(&p)
	err := p.end("stride", Layout{})
	return Stride{s, err}, err
}

// ParseCoord reads a coordinate: an index, _ or a tuple.
func ParseCoord(text string) (Coord, error) {
	p := parser{text: text, names: param}
	c := p.tuple().coord(&p)
	err := p.end("coord", Layout{})
	return Coord{c, err}, err
}

// ParseTiler reads a tiler: a layout, an integer, _ or a tuple by mode such as (3:3,(2,4):(1,8),_).
func ParseTiler(text string) (Tiler, error) {
	p := parser{text: text, names: param}
	var t Tiler
	if p.swizzleAhead() {
		t.layout = p.layout()
	} else {
		t = p.tuple().tiler(&p)
	}
	err := p.end("tiler", t.layout)
	t.err = err
	return t, err
}

// ParseSwizzle reads Sw<B,M,S>.
func ParseSwizzle(text string) (Swizzle, error) {
	p := parser{text: text, names: param}
	if !p.swizzleAhead() {
		p.fail("expected Sw<B,M,S>")
	}
	w := p.swizzle()
	return w, p.end("swizzle", Layout{})
}

// tree is what was read before it is known what it is: a leaf or a tuple, with a stride if ":" followed.
type tree struct {
	leaf  Step
	free  bool
	sub   []tree
	after *tree
}

type parser struct {
	text  string
	pos   int
	names Symbols
	depth int
	err   *Error
}

func (p *parser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = failf(format, args...)
		p.err.Condition += " at position " + strconv.Itoa(p.pos)
	}
	p.pos = len(p.text)
}

func (p *parser) end(what string, l Layout) error {
	p.space()
	if p.err == nil && p.pos < len(p.text) {
		p.fail("unexpected %q", p.text[p.pos:])
	}
	if p.err == nil {
		return l.err
	}
	return p.err.in("parse "+what, strconv.Quote(p.text))
}

func (p *parser) space() {
	for p.pos < len(p.text) && (p.text[p.pos] == ' ' || p.text[p.pos] == '\t') {
		p.pos++
	}
}

func (p *parser) peek() byte {
	p.space()
	if p.pos < len(p.text) {
		return p.text[p.pos]
	}
	return 0
}

func (p *parser) eat(s string) bool {
	p.space()
	if strings.HasPrefix(p.text[p.pos:], s) {
		p.pos += len(s)
		return true
	}
	return false
}

func (p *parser) expect(s string) {
	if !p.eat(s) {
		p.fail("expected %q", s)
	}
}

func (p *parser) swizzleAhead() bool {
	p.space()
	rest := p.text[p.pos:]
	return strings.HasPrefix(rest, "Sw<") || strings.HasPrefix(rest, "S<")
}

func (p *parser) swizzle() Swizzle {
	if !p.eat("Sw<") {
		p.expect("S<")
	}
	b := p.int()
	p.expect(",")
	m := p.int()
	p.expect(",")
	s := p.int()
	p.expect(">")
	w := Swizzle{int(b), int(m), int(s)}
	if e := w.check(); e != nil {
		p.fail("%s: %s", w, e.Condition)
	}
	return w
}

func (p *parser) int() int64 {
	e := p.sum()
	n, ok := e.IsConst()
	if !ok {
		p.fail("expected an integer")
	}
	return n
}

func (p *parser) layout() Layout {
	var w Swizzle
	var off sym.Expr
	if p.swizzleAhead() {
		w = p.swizzle()
		p.expect("o")
		off = p.sum()
		p.expect("o")
	}
	t := p.tuple()
	if t.after == nil {
		p.fail("expected a layout: the stride after %q is missing", ":")
		return Layout{}
	}
	return t.layout(p).WithSwizzle(w, off)
}

// tuple reads a leaf or a tuple, and the stride after a colon.
func (p *parser) tuple() tree {
	t := p.element()
	if p.eat(":") {
		d := p.element()
		t.after = &d
	}
	return t
}

func (p *parser) element() tree {
	switch c := p.peek(); {
	case c == '(':
		return p.parens()
	case c == '_' && !p.wordAfterUnderscore():
		p.pos++
		return tree{free: true}
	}
	return p.step(p.sum())
}

func (p *parser) wordAfterUnderscore() bool {
	return p.pos+1 < len(p.text) && isWord(p.text[p.pos+1])
}

// parens reads a tuple, or, where an operator follows a single expression, a parenthesis of that.
func (p *parser) parens() tree {
	p.pos++
	t := tree{sub: []tree{}}
	if !p.enter() {
		return t
	}
	defer p.leave()
	if p.eat(")") {
		return t
	}
	for {
		t.sub = append(t.sub, p.tuple())
		if !p.eat(",") {
			break
		}
	}
	p.expect(")")
	if c := p.peek(); len(t.sub) == 1 && t.sub[0].isExpr() && (c == '*' || c == '/' || c == '%' || c == '@') {
		return p.step(p.sumFrom(p.productFrom(t.sub[0].leaf.Coef)))
	}
	return t
}

func (t tree) isExpr() bool { return t.sub == nil && !t.free && t.after == nil && t.leaf.IsPlain() }

// step reads the basis after a coefficient; the innermost mode comes first.
func (p *parser) step(e sym.Expr) tree {
	s := Step{Coef: e}
	for p.peek() == '@' {
		p.pos++
		n, ok := p.factor().IsConst()
		if !ok || n < 0 || n >= maxDepth || len(s.Basis) >= maxDepth {
			p.fail("a basis is a path of mode numbers below %d", maxDepth)
			break
		}
		s.Basis = append([]int{int(n)}, s.Basis...)
	}
	return tree{leaf: s.norm()}
}

func (t tree) shape(p *parser) node[sym.Expr] {
	if t.after != nil || t.free || t.sub == nil && !t.leaf.IsPlain() {
		p.fail("expected a shape")
	}
	if t.sub == nil {
		return leafOf(t.leaf.Coef)
	}
	sub := make([]node[sym.Expr], len(t.sub))
	for i, x := range t.sub {
		sub[i] = x.shape(p)
	}
	return node[sym.Expr]{sub: sub}
}

func (t tree) stride(p *parser) node[Step] {
	if t.after != nil || t.free {
		p.fail("expected a stride")
	}
	if t.sub == nil {
		return leafOf(t.leaf)
	}
	sub := make([]node[Step], len(t.sub))
	for i, x := range t.sub {
		sub[i] = x.stride(p)
	}
	return node[Step]{sub: sub}
}

func (t tree) coord(p *parser) node[index] {
	if t.after != nil || t.sub == nil && !t.leaf.IsPlain() {
		p.fail("expected a coordinate")
	}
	if t.sub == nil {
		return leafOf(index{t.leaf.Coef, t.free})
	}
	sub := make([]node[index], len(t.sub))
	for i, x := range t.sub {
		sub[i] = x.coord(p)
	}
	return node[index]{sub: sub}
}

func (t tree) layout(p *parser) Layout {
	d := t.after.stride(p)
	t.after = nil
	s := t.shape(p)
	if p.err == nil && !sameProfile(s, d) {
		p.fail("shape %s and stride %s do not have the same profile", Shape{n: s}, Stride{n: d})
	}
	return plain(s, d)
}

func (t tree) tiler(p *parser) Tiler {
	switch {
	case t.after != nil:
		return Tiler{layout: t.layout(p)}
	case t.free:
		return Tiler{free: true}
	case t.sub == nil:
		if !t.leaf.IsPlain() {
			p.fail("expected a tiler")
		}
		return intTiler(t.leaf.Coef)
	}
	out := Tiler{sub: make([]Tiler, len(t.sub))}
	for i, x := range t.sub {
		out.sub[i] = x.tiler(p)
	}
	return out
}
