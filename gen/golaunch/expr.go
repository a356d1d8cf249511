package golaunch

import (
	"fmt"
	"math"

	"github.com/dave/jennifer/jen"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/gen/cir"
)

// printer prints integer expressions over the kernel's dims as Go. Where the ranges of the dims prove that
// nothing overflows and every division is one of non-negative numbers it prints plain operators, elsewhere
// calls of launch.Exact.
type printer struct {
	names names
	dims  map[string]*sym.Symbol // with the range that the printed checks establish
	exact bool                   // some expression needed launch.Exact
	err   error                  // the first expression that is not over the dims alone
}

// The precedences of Go's operators that matter here.
const (
	precOr = iota + 1
	precAnd
	precCmp
	precAdd
	precMul
	precAtom
)

// code is a Go expression; prec is its outermost operator's.
type code struct {
	*jen.Statement
	prec int
}

// in puts c in parentheses where an operator of precedence prec would tear it apart.
func (c code) in(prec int) *jen.Statement {
	if c.prec < prec {
		return jen.Parens(c.Statement)
	}
	return c.Statement
}

// narrow replaces the kernel's symbols by ones with the checked ranges, and refuses all others.
func (p *printer) narrow(e sym.Expr, what string) sym.Expr {
	for _, s := range e.Symbols() {
		if p.dims[s.Name] == nil && p.err == nil {
			p.err = fmt.Errorf("%s is %s, but %s is not a Dim parameter", what, e, s.Name)
		}
	}
	return e.Subst(func(s *sym.Symbol) (sym.Expr, bool) {
		d := p.dims[s.Name]
		if d == nil {
			return sym.Expr{}, false
		}
		return sym.New(d), true
	})
}

// fits reports whether e is known to fit 64 bits, all partial sums and products of its terms included.
func fits(e sym.Expr) bool { return magnitude(e) < 1<<63-1<<32 } // far more room than the rounding here takes

// magnitude bounds the absolute value of a narrowed expression, where its divisors are positive.
// Expr.Range would do, but it ends at 2^61, which is less than the product of two dims.
func magnitude(e sym.Expr) float64 {
	v := e.View()
	switch v.Op {
	case sym.Const:
		return math.Abs(float64(v.Value))
	case sym.Sym:
		return max(math.Abs(float64(v.Sym.Lo)), math.Abs(float64(v.Sym.Hi)))
	case sym.Div:
		return magnitude(v.Args[0]) + 1
	case sym.Mod:
		return magnitude(v.Args[1])
	}
	m := magnitude(v.Args[0])
	for _, a := range v.Args[1:] {
		switch n := magnitude(a); v.Op {
		case sym.Mul:
			m *= n
		case sym.Min, sym.Max:
			m = max(m, n)
		default: // an exclusive or is at most the sum
			m += n
		}
	}
	return m
}

// expr prints a narrowed expression.
func (p *printer) expr(e sym.Expr) code {
	v := e.View()
	switch v.Op {
	case sym.Const:
		return code{jen.Lit(int(v.Value)), precAtom}
	case sym.Sym:
		return code{jen.Id(p.names.local[v.Sym.Name]), precAtom}
	case sym.Add:
		return p.sum(v.Args)
	case sym.Mul:
		return p.product(v.Args)
	case sym.Div, sym.Mod:
		return p.quotient(v.Op, v.Args[0], v.Args[1])
	case sym.Xor:
		c := p.expr(v.Args[0])
		for _, a := range v.Args[1:] {
			c = code{c.in(precAdd).Op("^").Add(p.expr(a).in(precMul)), precAdd}
		}
		return c
	case sym.Min, sym.Max:
		var args []jen.Code
		for _, a := range v.Args {
			args = append(args, p.expr(a))
		}
		return code{jen.Id(v.Op.String()).Call(args...), precAtom}
	}
	if p.err == nil {
		p.err = fmt.Errorf("the operation %s of %s has no Go form", v.Op, e)
	}
	return code{jen.Lit(0), precAtom}
}

// negative reports whether a term of a sum reads better as subtracted.
func negative(e sym.Expr) bool {
	v := e.View()
	if v.Op == sym.Mul {
		e = v.Args[len(v.Args)-1]
	}
	c, ok := e.IsConst()
	return ok && c < 0
}

func (p *printer) sum(terms []sym.Expr) code {
	for i, t := range terms { // begin with a term that is added
		if !negative(t) {
			terms[0], terms[i] = terms[i], terms[0]
			break
		}
	}
	c, total := p.expr(terms[0]), terms[0]
	for _, t := range terms[1:] {
		total = total.Add(t)
		op, call := "+", "Add"
		if negative(t) {
			op, call, t = "-", "Sub", t.Neg()
		}
		if fits(total) {
			c = code{c.in(precAdd).Op(op).Add(p.expr(t).in(precMul)), precAdd}
		} else {
			c = p.call(call, c, p.expr(t))
		}
	}
	return c
}

func (p *printer) product(factors []sym.Expr) code {
	if n := len(factors) - 1; factors[n].View().Op == sym.Const { // the coefficient first, as people write it
		factors = append([]sym.Expr{factors[n]}, factors[:n]...)
	}
	c, total := p.expr(factors[0]), factors[0]
	for _, f := range factors[1:] {
		total = total.Mul(f)
		if fits(total) {
			c = code{c.in(precMul).Op("*").Add(p.expr(f).in(precAtom)), precMul}
		} else {
			c = p.call("Mul", c, p.expr(f))
		}
	}
	return c
}

// quotient prints a floor division or its remainder. Go's own round towards zero.
func (p *printer) quotient(op sym.Op, x, y sym.Expr) code {
	xlo, _ := x.Range()
	ylo, _ := y.Range()
	if xlo >= 0 && ylo > 0 {
		return code{p.expr(x).in(precMul).Op(op.String()).Add(p.expr(y).in(precAtom)), precMul}
	}
	if op == sym.Div {
		return p.call("Div", p.expr(x), p.expr(y))
	}
	return p.call("Mod", p.expr(x), p.expr(y))
}

func (p *printer) call(method string, x, y code) code {
	p.exact = true
	return code{jen.Id("exact").Dot(method).Call(x, y), precAtom}
}

// narrowCond is narrow for every expression of a condition.
func (p *printer) narrowCond(c cir.Cond, what string) cir.Cond {
	each := func(cs []cir.Cond) []cir.Cond {
		out := make([]cir.Cond, len(cs))
		for i, x := range cs {
			out[i] = p.narrowCond(x, what)
		}
		return out
	}
	switch c := c.(type) {
	case cir.Cmp:
		return cir.Cmp{Op: c.Op, X: p.narrow(c.X, what), Y: p.narrow(c.Y, what)}
	case cir.And:
		return cir.And(each(c))
	case cir.Or:
		return cir.Or(each(c))
	case cir.Not:
		return cir.Not{X: p.narrowCond(c.X, what)}
	}
	return c
}

// cond prints a narrowed condition.
func (p *printer) cond(c cir.Cond) code {
	switch c := c.(type) {
	case nil:
		return code{jen.True(), precAtom}
	case cir.Cmp:
		return code{p.expr(c.X).in(precAdd).Op(c.Op.String()).Add(p.expr(c.Y).in(precAdd)), precCmp}
	case cir.And:
		return p.join(c, "&&", precAnd, true)
	case cir.Or:
		return p.join(c, "||", precOr, false)
	case cir.Not:
		return code{jen.Op("!").Parens(p.cond(c.X).Statement), precAtom}
	}
	if p.err == nil {
		p.err = fmt.Errorf("a condition of type %T has no Go form", c)
	}
	return code{jen.True(), precAtom}
}

func (p *printer) join(cs []cir.Cond, op string, prec int, neutral bool) code {
	if len(cs) == 0 {
		return code{jen.Lit(neutral), precAtom}
	}
	c := p.cond(cs[0])
	for _, x := range cs[1:] {
		c = code{c.in(prec).Op(op).Add(p.cond(x).in(prec + 1)), prec}
	}
	return c
}

// opposite negates a comparison in place where that is possible, so that the printed check reads as one.
func opposite(c cir.Cond) cir.Cond {
	switch c := c.(type) {
	case cir.Cmp:
		switch c.Op {
		case cir.LT:
			return cir.Cmp{Op: cir.LE, X: c.Y, Y: c.X}
		case cir.LE:
			return cir.Cmp{Op: cir.LT, X: c.Y, Y: c.X}
		case cir.EQ:
			return cir.Cmp{Op: cir.NE, X: c.X, Y: c.Y}
		case cir.NE:
			return cir.Cmp{Op: cir.EQ, X: c.X, Y: c.Y}
		}
	case cir.Not:
		return c.X
	}
	return cir.Not{X: c}
}

// symbols lists the dims that a narrowed condition depends on, in the order of the parameters.
func (p *printer) symbols(c cir.Cond, params []*cir.Param) []*sym.Symbol {
	seen := map[string]bool{}
	var visit func(c cir.Cond)
	visit = func(c cir.Cond) {
		switch c := c.(type) {
		case cir.Cmp:
			for _, s := range append(c.X.Symbols(), c.Y.Symbols()...) {
				seen[s.Name] = true
			}
		case cir.And:
			for _, x := range c {
				visit(x)
			}
		case cir.Or:
			for _, x := range c {
				visit(x)
			}
		case cir.Not:
			visit(c.X)
		}
	}
	visit(c)
	var out []*sym.Symbol
	for _, q := range params {
		if q.Class == cir.Dim && seen[q.Sym.Name] {
			out = append(out, q.Sym)
		}
	}
	return out
}
