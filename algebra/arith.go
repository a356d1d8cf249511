package algebra

import (
	"slices"
	"strings"

	"github.com/gocute/gocute/algebra/sym"
)

// Arith is what a layout yields: an offset, or with basis strides a coordinate (CuTe's arithmetic tuple),
// or a sum of both. The zero Arith is 0.
type Arith struct {
	plain sym.Expr
	parts []Step // one for each basis, sorted by path
}

// Offset is the part without a basis.
func (a Arith) Offset() sym.Expr { return a.plain }

// IsPlain reports whether a has no part with a basis.
func (a Arith) IsPlain() bool { return len(a.parts) == 0 }

// Get is the index in the mode that path leads to; Get() is the offset.
func (a Arith) Get(path ...int) sym.Expr {
	if len(path) == 0 {
		return a.plain
	}
	for _, p := range a.parts {
		if slices.Equal(p.Basis, path) {
			return p.Coef
		}
	}
	return sym.Expr{}
}

// Add is a + b.
func (a Arith) Add(b Arith) Arith {
	a.plain = a.plain.Add(b.plain)
	for _, p := range b.parts {
		a = a.addStep(p)
	}
	return a
}

// addStep is a + s.
func (a Arith) addStep(s Step) Arith {
	if len(s.Basis) == 0 {
		a.plain = a.plain.Add(s.Coef)
		return a
	}
	i, found := slices.BinarySearchFunc(a.parts, s, func(x, y Step) int { return slices.Compare(x.Basis, y.Basis) })
	if found {
		sum := Step{a.parts[i].Coef.Add(s.Coef), s.Basis}
		a.parts = slices.Clone(a.parts)
		a.parts[i] = sum
		return a
	}
	a.parts = slices.Insert(slices.Clone(a.parts), i, s)
	return a
}

// Equal reports whether a and b are the same value.
func (a Arith) Equal(b Arith) bool {
	for _, p := range slices.Concat(a.parts, b.parts) { // what a lacks is 0
		if !a.Get(p.Basis...).Equal(b.Get(p.Basis...)) {
			return false
		}
	}
	return a.plain.Equal(b.plain)
}

// String is 24 for an offset and (3,0,K) for a coordinate.
func (a Arith) String() string {
	if len(a.parts) == 0 {
		return exprText(a.plain)
	}
	s := a.tuple(nil)
	if !a.plain.Is(0) {
		s += " + " + exprText(a.plain)
	}
	return s
}

// tuple prints the parts whose path begins with prefix.
func (a Arith) tuple(prefix []int) string {
	rank := 0
	var own sym.Expr
	for _, p := range a.parts {
		if len(p.Basis) < len(prefix) || !slices.Equal(p.Basis[:len(prefix)], prefix) {
			continue
		}
		if len(p.Basis) == len(prefix) {
			own = p.Coef
		} else {
			rank = max(rank, p.Basis[len(prefix)]+1)
		}
	}
	if rank == 0 {
		return exprText(own)
	}
	subs := make([]string, rank)
	for i := range subs {
		subs[i] = a.tuple(append(prefix[:len(prefix):len(prefix)], i))
	}
	return "(" + strings.Join(subs, ",") + ")"
}

// Map applies f to every part: the offset and the index in each mode.
func (a Arith) Map(f func(sym.Expr) sym.Expr) Arith {
	out := Arith{plain: f(a.plain), parts: slices.Clone(a.parts)}
	for i := range out.parts {
		out.parts[i].Coef = f(out.parts[i].Coef)
	}
	return out
}
