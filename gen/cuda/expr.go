package cuda

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/gen/cir"
)

// prec is how tightly the outermost operator of a text binds; what binds looser than its place demands
// gets parentheses.
type prec int

const (
	precAny     prec = iota
	precOr           // ||
	precAnd          // &&
	precCompare      // < <= == !=
	precBits         // ^ & >>
	precAdd          // + -
	precMul          // * / %
	precUnary        // casts, -x, !x
	precPrimary      // names, calls, literals
)

// text is a piece of C++ with what is needed to build larger pieces of it.
type text struct {
	s    string
	prec prec
	wide bool // an integer of type int64_t; int otherwise
}

// at is the text for a place that demands prec.
func (t text) at(min prec) string {
	if t.prec < min {
		return "(" + t.s + ")"
	}
	return t.s
}

// widen casts an int to int64_t.
func (t text) widen() text {
	if t.wide {
		return t
	}
	return text{"(int64_t)" + t.at(precUnary), precUnary, true}
}

func fits32(lo, hi int64) bool { return lo >= math.MinInt32 && hi <= math.MaxInt32 }

// expr prints e; its C type is int64_t if text.wide is set and int otherwise, and no step of it overflows.
func (p *printer) expr(e sym.Expr) text {
	v := e.View()
	switch v.Op {
	case sym.Const:
		return p.constant(v.Value)
	case sym.Sym:
		return p.symbol(v.Sym)
	case sym.Add:
		return p.narrow(e, p.sum("", e))
	case sym.Mul:
		if negative(e) {
			return p.narrow(e, p.sum("", e))
		}
		return p.narrow(e, p.product(v.Args, false))
	case sym.Div, sym.Mod:
		return p.quotient(e, v)
	case sym.Xor:
		return p.xor(v.Args)
	case sym.Beyond:
		p.fail("expected integers of 63 bits, but got one that does not fit")
		return p.constant(0)
	}
	x, y := p.expr(v.Args[0]), p.expr(v.Args[1])
	if x.wide || y.wide {
		x, y = x.widen(), y.widen()
	}
	return p.narrow(e, text{fmt.Sprintf("%s(%s, %s)", v.Op, x.s, y.s), precPrimary, x.wide})
}

func (p *printer) constant(c int64) text {
	switch {
	case c == math.MinInt32: // -2147483648 would be a long
		return text{"-2147483647 - 1", precAdd, false}
	case c < 0:
		return text{fmt.Sprint(c), precUnary, !fits32(c, c)}
	}
	return text{fmt.Sprint(c), precPrimary, !fits32(c, c)}
}

// symbol prints a name and checks that it is in scope.
func (p *printer) symbol(s *sym.Symbol) text {
	if d, ok := p.syms[s.Name]; ok {
		p.noteWide(d.wide)
		return text{s.Name, precPrimary, d.wide}
	}
	for _, b := range builtins {
		if b.name == s.Name && b.class == s.Class {
			p.builtin[s.Name] = true
			return text{s.Name, precPrimary, false}
		}
	}
	p.fail("expected a symbol in scope, but got %q, which nothing before this line declares", s.Name)
	return text{s.Name, precPrimary, false}
}

func (p *printer) noteWide(wide bool) {
	if wide {
		p.use.include("cstdint")
	}
}

// sum prints the terms of e behind the text of a base (a pointer or an address, or nothing). Constants and
// variables of unrolled loops come last, where they end up in the instruction's immediate.
func (p *printer) sum(base string, e sym.Expr) text {
	terms := p.ordered(e)
	widened := -1
	if base == "" {
		widened = p.widenedTerm(terms)
	}
	var b strings.Builder
	b.WriteString(base)
	wide := false
	for i, t := range terms {
		minus := negative(t)
		if minus {
			t = t.Neg()
		}
		x := p.term(t, i == widened)
		wide = wide || x.wide
		switch {
		case b.Len() > 0 && minus:
			b.WriteString(" - " + x.at(precMul))
		case b.Len() > 0:
			b.WriteString(" + " + x.at(precMul))
		case minus:
			b.WriteString("-" + x.at(precUnary))
		default:
			b.WriteString(x.at(precMul))
		}
	}
	p.noteWide(wide)
	return text{b.String(), precAdd, wide}
}

// widenedTerm is the index of the term to cast to int64_t so that no partial sum overflows, or -1.
func (p *printer) widenedTerm(terms []sym.Expr) int {
	var part sym.Expr
	last := 0 // the last term that is not a constant
	for i, t := range terms {
		if _, isConst := t.IsConst(); !isConst {
			last = i
		}
		if p.term(t, false).wide {
			return -1
		}
		if part = part.Add(t); !fits32(part.Range()) {
			return last
		}
	}
	return -1
}

// term prints one summand, as an int64_t if widened.
func (p *printer) term(t sym.Expr, widened bool) text {
	if v := t.View(); v.Op == sym.Mul {
		return p.product(v.Args, widened)
	}
	x := p.expr(t)
	if widened {
		return x.widen()
	}
	return x
}

// ordered lists the terms of e: those of the running kernel (what is subtracted last), those of unrolled
// loops, the constant.
func (p *printer) ordered(e sym.Expr) []sym.Expr {
	run, fixed := p.split(e)
	slices.SortStableFunc(run, func(a, b sym.Expr) int { return cmp.Compare(sign(a), sign(b)) })
	return append(run, fixed...)
}

// sign orders added terms before subtracted ones.
func sign(t sym.Expr) int {
	if negative(t) {
		return 1
	}
	return 0
}

// split parts the terms of the running kernel from what is constant once loops are unrolled.
func (p *printer) split(e sym.Expr) (run, fixed []sym.Expr) {
	for _, t := range e.Terms() {
		if p.isFixed(t) {
			fixed = append(fixed, t)
		} else {
			run = append(run, t)
		}
	}
	return run, fixed
}

// isFixed reports whether e is a constant once loops are unrolled.
func (p *printer) isFixed(e sym.Expr) bool {
	for _, s := range e.Symbols() {
		if d := p.syms[s.Name]; d == nil || !d.unrolled {
			return false
		}
	}
	return true
}

// negative reports whether a term has a negative coefficient.
func negative(t sym.Expr) bool {
	v := t.View()
	switch v.Op {
	case sym.Const:
		return v.Value < 0 && v.Value != math.MinInt32
	case sym.Mul:
		c, ok := v.Args[len(v.Args)-1].IsConst()
		return ok && c < 0
	}
	return false
}

// product prints factors, the coefficient (their last) first. The first factor that is not a constant is
// cast to int64_t if the product, or the caller, needs it.
func (p *printer) product(factors []sym.Expr, widened bool) text {
	if last := len(factors) - 1; last > 0 {
		if c, ok := factors[last].IsConst(); ok {
			factors = append([]sym.Expr{sym.Int(c)}, factors[:last]...)
		}
	}
	part := sym.Int(1)
	for _, f := range factors {
		part = part.Mul(f)
		widened = widened || !part.Is(0) && len(part.Symbols()) > 0 && !fits32(part.Range()) && !f.Equal(part)
	}
	parts, wide := make([]string, 0, len(factors)), false
	for _, f := range factors {
		x := p.expr(f)
		if _, isConst := f.IsConst(); widened && !wide && !isConst {
			x = x.widen()
		}
		wide = wide || x.wide
		parts = append(parts, x.at(precUnary))
	}
	p.noteWide(wide)
	return text{strings.Join(parts, "*"), precMul, wide}
}

// quotient prints a floor division or its remainder: / and % where nvcc sees that the operand is not
// negative, shifts and masks for other powers of two (they round down for any sign), a helper elsewhere.
func (p *printer) quotient(e sym.Expr, v sym.View) text {
	x, y := p.expr(v.Args[0]), p.expr(v.Args[1])
	lo, _ := v.Args[0].Range()
	c, isConst := v.Args[1].IsConst()
	wide := x.wide || y.wide
	op := map[sym.Op]string{sym.Div: "/", sym.Mod: "%"}[v.Op]
	switch {
	case isConst && c > 0 && c&(c-1) == 0 && !p.seenPositive(v.Args[0]):
		if v.Op == sym.Div {
			return p.narrow(e, text{fmt.Sprintf("%s >> %d", x.at(precUnary), bits.TrailingZeros64(uint64(c))), precBits, wide})
		}
		return p.narrow(e, text{fmt.Sprintf("%s & %d", x.at(precUnary), c-1), precBits, wide})
	case lo >= 0:
		return p.narrow(e, text{x.at(precMul) + op + y.at(precUnary), precMul, wide})
	}
	name := map[sym.Op]string{sym.Div: "floor_div", sym.Mod: "floor_mod"}[v.Op]
	if wide {
		name += "64"
		p.use.include("cstdint")
	}
	p.use.helper(name)
	return p.narrow(e, text{fmt.Sprintf("%s(%s, %s)", name, x.s, y.s), precPrimary, wide})
}

// seenPositive reports whether nvcc can tell that e is not negative: it knows so of thread and block indices.
func (p *printer) seenPositive(e sym.Expr) bool {
	if lo, _ := e.Range(); lo < 0 {
		return false
	}
	for _, t := range e.Terms() {
		if lo, _ := t.Range(); lo < 0 {
			return false
		}
	}
	for _, s := range e.Symbols() {
		d := p.syms[s.Name]
		if d == nil && s.Class != sym.Thread && s.Class != sym.Block || d != nil && !d.positive {
			return false
		}
	}
	return true
}

func (p *printer) xor(args []sym.Expr) text {
	parts, wide := make([]string, len(args)), false
	for i, a := range args {
		x := p.expr(a)
		parts[i], wide = x.at(precUnary), wide || x.wide
	}
	return text{strings.Join(parts, " ^ "), precBits, wide}
}

// narrow casts back to int what was computed in 64 bits but is known to fit.
func (p *printer) narrow(e sym.Expr, t text) text {
	if lo, hi := e.Range(); t.wide && fits32(lo, hi) {
		return text{"(int)" + t.at(precUnary), precUnary, false}
	}
	return t
}

// cond prints a condition.
func (p *printer) cond(c cir.Cond) text {
	switch c := c.(type) {
	case nil:
		return text{s: "true", prec: precPrimary}
	case cir.Cmp:
		return p.compare(c, c.Op.String())
	case cir.ValCmp:
		return p.compareValues(c)
	case cir.And:
		return p.junction(c, " && ", "true", precAnd)
	case cir.Or:
		return p.junction(c, " || ", "false", precOr)
	case cir.Not:
		if x, ok := c.X.(cir.Cmp); ok {
			return p.compare(x, opposites[x.Op])
		}
		return text{s: "!" + p.cond(c.X).at(precUnary), prec: precUnary}
	}
	p.fail("expected a condition of package cir, but got %T", c)
	return text{}
}

// opposites are the comparisons that hold where the others do not.
var opposites = map[cir.CmpOp]string{cir.LT: ">=", cir.LE: ">", cir.EQ: "!=", cir.NE: "=="}

func (p *printer) compare(c cir.Cmp, op string) text {
	return text{s: p.expr(c.X).at(precAdd) + " " + op + " " + p.expr(c.Y).at(precAdd), prec: precCompare}
}

func (p *printer) junction(cs []cir.Cond, op, none string, pr prec) text {
	if len(cs) == 0 {
		return text{s: none, prec: precPrimary}
	}
	if len(cs) == 1 {
		return p.cond(cs[0])
	}
	parts := make([]string, len(cs))
	for i, c := range cs {
		parts[i] = p.cond(c).at(precCompare)
	}
	return text{s: strings.Join(parts, op), prec: pr}
}
