package algebra

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gocute/gocute/algebra/sym"
)

// Step is one stride: Coef elements, or, with a basis, Coef steps in the coordinate that Basis leads to.
// E(1) is 1@1, one step in mode 1; E(1, 0) is one step in mode 0 of mode 1 and prints 1@0@1, as CuTe does.
type Step struct {
	Coef  sym.Expr
	Basis []int // nil for a plain integer
}

// E is the unit step in the mode that path leads to.
func E(path ...int) Step { return Step{Coef: sym.Int(1), Basis: slices.Clone(path)} }

// Times is the step scaled by f.
func (s Step) Times(f sym.Expr) Step { return Step{Coef: s.Coef.Mul(f), Basis: s.Basis}.norm() }

// norm drops the basis of zero, because 0 steps in any mode is plain 0.
func (s Step) norm() Step {
	if len(s.Basis) == 0 || s.Coef.Is(0) {
		s.Basis = nil
	}
	return s
}

// Equal reports whether both are the same step.
func (s Step) Equal(t Step) bool { return s.Coef.Equal(t.Coef) && slices.Equal(s.Basis, t.Basis) }

// IsPlain reports whether s has no basis.
func (s Step) IsPlain() bool { return len(s.Basis) == 0 }

// IsConst is the value of a plain constant step.
func (s Step) IsConst() (int64, bool) {
	if len(s.Basis) != 0 {
		return 0, false
	}
	return s.Coef.IsConst()
}

// Is reports whether s is the plain constant n.
func (s Step) Is(n int64) bool { return len(s.Basis) == 0 && s.Coef.Is(n) }

// String is CuTe's text form, the innermost mode first: 16@1, 1@0@1.
func (s Step) String() string {
	if len(s.Basis) == 0 {
		return exprText(s.Coef)
	}
	var b strings.Builder
	text := exprText(s.Coef)
	if v := s.Coef.View(); v.Op != sym.Const && v.Op != sym.Sym && v.Op != sym.Mul {
		text = "(" + text + ")"
	}
	b.WriteString(text)
	for _, i := range slices.Backward(s.Basis) {
		b.WriteString("@" + strconv.Itoa(i))
	}
	return b.String()
}

func exprText(e sym.Expr) string {
	if n, ok := e.IsConst(); ok {
		return strconv.FormatInt(n, 10)
	}
	return e.String()
}

// productOf is the product of the extents. It is TooLarge where that does not fit.
func productOf(n node[sym.Expr]) sym.Expr {
	if n.isLeaf() {
		return n.v
	}
	p := sym.Int(1)
	for _, s := range n.sub {
		p = p.Mul(productOf(s))
	}
	if p.TooLarge() && slices.ContainsFunc(n.leaves(), func(e sym.Expr) bool { return e.Is(0) }) {
		return sym.Expr{}
	}
	return p
}

func staticShape(n node[sym.Expr]) bool {
	if n.isLeaf() {
		_, ok := n.v.IsConst()
		return ok
	}
	for _, s := range n.sub {
		if !staticShape(s) {
			return false
		}
	}
	return true
}

func staticStride(n node[Step]) bool {
	if n.isLeaf() {
		_, ok := n.v.IsConst()
		return ok
	}
	for _, s := range n.sub {
		if !staticStride(s) {
			return false
		}
	}
	return true
}
