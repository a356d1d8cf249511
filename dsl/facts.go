package dsl

import (
	"fmt"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/gen/cir"
)

// IfMultiple records a branch on whether n divides the Dim x. While then runs, that is a known fact: vectors of n
// elements along rows of x elements are aligned there. Where it is known already there is no branch.
func (k *K) IfMultiple(x Integer, n int, then, otherwise func()) {
	given("IfMultiple", k)
	e, ok := k.expr("IfMultiple", x)
	if !ok || !k.function("IfMultiple", then == nil || otherwise == nil) {
		return
	}
	v := e.View()
	if v.Op != sym.Sym || v.Sym.Class != sym.Param || n < 1 {
		k.errorf("IfMultiple", "expects a Dim and a positive number, but got %s and %d", e, n)
		return
	}
	if e.DivisibleBy(int64(n)) {
		then()
		return
	}
	fact := *v.Sym
	fact.Multiple = lcm(max(1, fact.Multiple), int64(n))
	pos := k.position()
	op := ir.IfOp{Pos: pos, Cond: cir.Cmp{Op: cir.EQ, X: e.Mod(sym.Int(n)), Y: sym.Int(0)}}
	outer := k.facts
	k.facts = map[string]*sym.Symbol{fact.Name: &fact}
	for name, s := range outer {
		if name != fact.Name {
			k.facts[name] = s
		}
	}
	k.inBody("", pos, false, &op.Then, then)
	k.facts = outer
	k.inBody("", pos, false, &op.Else, otherwise)
	k.add(op)
}

func lcm(a, b int64) int64 {
	g, h := a, b
	for h != 0 {
		g, h = h, g%h
	}
	return a / g * b
}

// known applies the facts of the branch that is being recorded to a view.
func (k *K) known(t *ir.Tensor) (*ir.Tensor, error) {
	if len(k.facts) == 0 {
		return t, nil
	}
	return t.Subst(func(s *sym.Symbol) (sym.Expr, bool) {
		f, ok := k.facts[s.Name]
		if !ok {
			return sym.Expr{}, false
		}
		return sym.New(f), true
	})
}

// knownAll applies known to several views, or reports why it cannot.
func (k *K) knownAll(op string, ts ...**ir.Tensor) bool {
	for _, t := range ts {
		out, err := k.known(*t)
		if err != nil {
			k.errorf(op, "%v", fmt.Errorf("internal error: %w", err))
			return false
		}
		*t = out
	}
	return true
}
