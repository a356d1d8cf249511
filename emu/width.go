package emu

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/gen/cir"
)

// The printed code computes an integer in 32 bits where the bounds of its symbols say that it fits, else in 64.
// Here integers have 64 bits, so what would wrap there is looked for: each step that is printed as an int is a
// step of typer, by the printer's own rule. As the rule is right for symbols within their bounds, the steps are
// only computed in warps where one has left them.

// cType is how a symbol is declared in the printed code.
type cType struct{ wide, unrolled bool }

func fits32(lo, hi int64) bool { return lo >= math.MinInt32 && hi <= math.MaxInt32 }

// typer collects the steps of an expression that are ints.
type typer struct {
	c     *compiler
	steps []sym.Expr
}

// cType reports whether an expression is an int64_t.
func (c *compiler) cType(e sym.Expr) bool { return (&typer{c: c}).expr(e) }

func (t *typer) note(e sym.Expr, wide bool) bool {
	if !wide && len(e.Symbols()) > 0 {
		t.steps = append(t.steps, e)
	}
	return wide
}

// narrow is a value that is cast back to int if it is known to fit.
func (t *typer) narrow(e sym.Expr, wide bool) bool { return t.note(e, wide && !fits32(e.Range())) }

// expr visits an expression and reports whether it is an int64_t.
func (t *typer) expr(e sym.Expr) bool {
	v := e.View()
	switch v.Op {
	case sym.Const:
		return !fits32(v.Value, v.Value)
	case sym.Sym:
		return t.c.printed[v.Sym.Name].wide
	case sym.Add:
		return t.narrow(e, t.sum(t.ordered(e)))
	case sym.Mul:
		return t.narrow(e, t.product(v.Args, false))
	}
	wide := false
	for _, a := range v.Args {
		wide = t.expr(a) || wide
	}
	if v.Op == sym.Xor {
		return t.note(e, wide)
	}
	return t.narrow(e, wide)
}

// sum visits terms that are added from the left; the last one is widened if a partial sum may not fit.
func (t *typer) sum(terms []sym.Expr) bool {
	widened := t.widened(terms)
	var part sym.Expr
	wide := false
	for i, x := range terms {
		var w bool
		if v := x.View(); v.Op == sym.Mul {
			w = t.product(v.Args, i == widened)
		} else {
			w = t.expr(x) || i == widened
		}
		part, wide = part.Add(x), wide || w
		if i > 0 && i < len(terms)-1 {
			t.note(part, wide)
		}
	}
	return wide
}

func (t *typer) widened(terms []sym.Expr) int {
	var part sym.Expr
	last := 0
	for i, x := range terms {
		if _, isConst := x.IsConst(); !isConst {
			last = i
		}
		if t.c.cType(x) {
			return -1
		}
		if part = part.Add(x); !fits32(part.Range()) {
			return last
		}
	}
	return -1
}

// product visits factors, the coefficient (their last) first.
func (t *typer) product(factors []sym.Expr, widened bool) bool {
	if last := len(factors) - 1; last > 0 {
		if k, ok := factors[last].IsConst(); ok {
			factors = append([]sym.Expr{sym.Int(k)}, factors[:last]...)
		}
	}
	part := sym.Int(1)
	for _, f := range factors {
		part = part.Mul(f)
		widened = widened || !part.Is(0) && len(part.Symbols()) > 0 && !fits32(part.Range()) && !f.Equal(part)
	}
	part = sym.Int(1)
	wide := false
	for _, f := range factors {
		w := t.expr(f)
		if _, isConst := f.IsConst(); widened && !isConst {
			w = true
		}
		part, wide = part.Mul(f), wide || w
		t.note(part, wide)
	}
	return wide
}

// ordered lists terms as they are printed: those of the running kernel, what is subtracted last, then the others.
func (t *typer) ordered(e sym.Expr) []sym.Expr {
	var added, subtracted, fixed []sym.Expr
	for _, x := range e.Terms() {
		v := x.View()
		k, isConst := v.Args, false
		var coef int64
		if v.Op == sym.Mul {
			coef, isConst = k[len(k)-1].IsConst()
		}
		switch {
		case t.fixed(x):
			fixed = append(fixed, x)
		case isConst && coef < 0:
			subtracted = append(subtracted, x)
		default:
			added = append(added, x)
		}
	}
	return append(append(added, subtracted...), fixed...)
}

// fixed reports whether a term is a constant once loops are unrolled.
func (t *typer) fixed(e sym.Expr) bool {
	for _, s := range e.Symbols() {
		if !t.c.printed[s.Name].unrolled {
			return false
		}
	}
	return true
}

// addressGuard looks for steps of an address in global memory. What is fixed is added to the pointer on its own.
func (c *compiler) addressGuard(a cir.Addr, depth int) func(*warp) {
	if a.Mem.Space != cir.Global {
		return nil
	}
	t := &typer{c: c}
	var run sym.Expr
	for _, x := range a.Index.Terms() {
		if !t.fixed(x) {
			run = run.Add(x)
		}
	}
	return c.guard(depth, run)
}

// guard returns what looks for overflows in the steps of expressions, or nil where no symbol's bounds are in doubt.
func (c *compiler) guard(depth int, es ...sym.Expr) func(*warp) {
	if !c.prog.check || !c.doubtful(es) {
		return nil
	}
	t := &typer{c: c}
	for _, e := range es {
		t.expr(e)
	}
	if len(t.steps) == 0 {
		return nil
	}
	steps := make([]perLane, len(t.steps))
	for i, e := range t.steps {
		steps[i] = c.spread(c.expr(e, depth), depth)
	}
	texts := t.steps
	return func(w *warp) {
		if !w.lied {
			return
		}
		for i, s := range steps {
			w.int32s(s(w), texts[i])
		}
	}
}

// doubtful reports whether an expression has a symbol that the kernel itself computes.
func (c *compiler) doubtful(es []sym.Expr) bool {
	for _, e := range es {
		for _, s := range e.Symbols() {
			if _, own := c.lookup(s.Name); own && !c.printed[s.Name].unrolled {
				return true
			}
		}
	}
	return false
}

func (w *warp) int32s(v *[32]int64, e sym.Expr) {
	for m := w.mask; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		if fits32(v[lane], v[lane]) {
			continue
		}
		if f := w.find(Overflow, "", lane, -1); f != nil {
			f.Message = fmt.Sprintf("%s is computed in 32 bits, because the declared bounds say that it fits, but it is %d", e, v[lane])
		}
		return
	}
}

// guarded runs a guard before a statement.
func guarded(guard, run func(*warp)) func(*warp) {
	if guard == nil {
		return run
	}
	return func(w *warp) {
		guard(w)
		run(w)
	}
}
