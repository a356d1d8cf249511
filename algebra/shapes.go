package algebra

import "github.com/gocute/gocute/algebra/sym"

// ProductEach is the size of each mode; one extent becomes a tuple of one.
func ProductEach(s Shape) Shape {
	sub := make([]node[sym.Expr], 0, s.Rank())
	for _, m := range s.n.modes() {
		sub = append(sub, leafOf(productOf(m)))
	}
	return Shape{node[sym.Expr]{sub: sub}, s.err}
}

// ShapeDiv divides shapes that divide one another: extent by extent, a tuple by one number from the left
// (what is left of the number goes on), a number by the size of a tuple.
func ShapeDiv(a, b Shape) (Shape, error) {
	if e := bad(extents(a), extents(b)); e != nil {
		return Shape{}, e.in("shape_div", a, b)
	}
	n, e := divideShape(a.n, b.n, exactLeaf, false)
	return Shape{n: n}, e.in("shape_div", a, b)
}

// CeilDiv is the number of tiles of shape b that cover a, rounding up; modes that b lacks count as 1. A tuple
// by one number goes from the left, and is refused where the result covers less than a.
func CeilDiv(a, b Shape) (Shape, error) {
	if e := bad(extents(a), extents(b)); e != nil {
		return Shape{}, e.in("ceil_div", a, b)
	}
	n, e := divideShape(a.n, b.n, ceilLeaf, true)
	return Shape{n: n}, e.in("ceil_div", a, b)
}

type leafDivision func(a, b sym.Expr) (sym.Expr, *Error)

func exactLeaf(a, b sym.Expr) (sym.Expr, *Error) {
	if b.Is(1) {
		return a, nil
	}
	if q, ok := divides(b, a); ok {
		return q, nil
	}
	if _, ok := divides(a, b); ok {
		return sym.Int(1), nil
	}
	return a, failf("%s and %s do not divide one another", a, b)
}

func ceilLeaf(a, b sym.Expr) (sym.Expr, *Error) {
	if lo, _ := b.Range(); lo < 1 {
		return a, failf("the divisor %s must be positive", b)
	}
	return a.CeilDiv(b), nil
}

func divideShape(a, b node[sym.Expr], one leafDivision, pad bool) (node[sym.Expr], *Error) {
	switch {
	case a.isLeaf():
		q, e := one(a.v, productOf(b))
		return leafOf(q), e
	case b.isLeaf():
		return foldDivide(a, b.v, one, pad)
	case len(b.sub) > len(a.sub) || !pad && len(b.sub) != len(a.sub):
		return a, failf("ranks %d and %d do not match", len(a.sub), len(b.sub))
	}
	sub := make([]node[sym.Expr], len(a.sub))
	for i := range sub {
		d := leafOf(sym.Int(1))
		if i < len(b.sub) {
			d = b.sub[i]
		}
		var e *Error
		if sub[i], e = divideShape(a.sub[i], d, one, pad); e != nil {
			return a, e
		}
	}
	return node[sym.Expr]{sub: sub}, nil
}

func foldDivide(a node[sym.Expr], b sym.Expr, one leafDivision, ceil bool) (node[sym.Expr], *Error) {
	sub := make([]node[sym.Expr], len(a.sub))
	rest := b
	for i, m := range a.sub {
		var e *Error
		if sub[i], e = divideShape(m, leafOf(rest), one, ceil); e != nil {
			return a, e
		}
		if rest, e = one(rest, productOf(m)); e != nil {
			return a, e
		}
	}
	out := node[sym.Expr]{sub: sub}
	if have, need := productOf(out).Mul(b), productOf(a); ceil {
		if lo, _ := have.Sub(need).Range(); lo < 0 {
			return a, failf("%s tiles of %s are %s elements, and %s are to be covered", productOf(out), b, have, need)
		}
	}
	return out, nil
}

// Congruent reports whether two shapes have the same profile.
func Congruent(a, b Shape) bool { return a.err == nil && b.err == nil && sameProfile(a.n, b.n) }

// WeaklyCongruent reports whether b has the profile of a, with anything in the place of a's integers.
func WeaklyCongruent(a, b Shape) bool {
	return a.err == nil && b.err == nil && weaklyCongruent(a.n, b.n)
}

func weaklyCongruent[T, U any](a node[T], b node[U]) bool {
	if a.isLeaf() {
		return true
	}
	if b.isLeaf() || len(a.sub) != len(b.sub) {
		return false
	}
	for i := range a.sub {
		if !weaklyCongruent(a.sub[i], b.sub[i]) {
			return false
		}
	}
	return true
}

// Compatible reports whether b refines a: every coordinate of a is one of b, and sizes are equal below each
// integer of a.
func Compatible(a, b Shape) bool { return a.err == nil && b.err == nil && compatible(a.n, b.n) }

func compatible(a, b node[sym.Expr]) bool {
	if a.isLeaf() {
		return a.v.Equal(productOf(b))
	}
	if b.isLeaf() || len(a.sub) != len(b.sub) {
		return false
	}
	for i := range a.sub {
		if !compatible(a.sub[i], b.sub[i]) {
			return false
		}
	}
	return true
}

// EvenlyDivides reports whether tiles of shape b fill a, at each integer of b.
func EvenlyDivides(a, b Shape) bool { return bad(extents(a), extents(b)) == nil && evenly(a.n, b.n) }

func evenly(a, b node[sym.Expr]) bool {
	if b.isLeaf() {
		q, e := divideShape(a, b, ceilLeaf, false)
		return e == nil && productOf(a).Equal(b.v.Mul(productOf(q)))
	}
	if a.isLeaf() && len(b.sub) > 1 || !a.isLeaf() && len(b.sub) > len(a.sub) {
		return false
	}
	for i := range b.sub {
		if !evenly(a.mode(i), b.sub[i]) {
			return false
		}
	}
	return true
}
