package algebra

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/gocute/gocute/algebra/sym"
)

// ProductEach is the size of each mode; one extent becomes a tuple of one.
func ProductEach(s Shape) Shape {
	sub := make([]node[sym.Expr], 0, s.Rank())
	for _, m := range s.n.modes() {
		sub = append(sub, leafOf(productOf(m)))
	}
	out := Shape{node[sym.Expr]{sub: sub}, s.err}
	if e := extentsFrom1(s.n); out.err == nil && e != nil {
		out.err = e.in("product_each", s)
	}
	if out.err == nil && shapeTooLarge(&out.n) {
		out.err = failf("the size of a mode%s", beyond).in("product_each", s)
	}
	return out
}

// ShapeDiv divides shapes that divide one another: extent by extent, a tuple by one number from the left
// (what is left of the number goes on), a number by the size of a tuple.
func ShapeDiv(a, b Shape) (Shape, error) {
	r, e := shapeQuotient(a, b, exactLeaf, false)
	return r, e.in("shape_div", a, b)
}

// CeilDiv is the number of tiles of shape b that cover a, rounding up; modes that b lacks count as 1. A tuple
// by one number goes from the left, and is refused where the result covers less than a.
func CeilDiv(a, b Shape) (Shape, error) {
	r, e := shapeQuotient(a, b, ceilLeaf, true)
	return r, e.in("ceil_div", a, b)
}

func shapeQuotient(a, b Shape, one leafDivision, pad bool) (Shape, *Error) {
	if e := bad(anySize(a), anySize(b)); e != nil {
		return Shape{}, e
	}
	n, e := divideShape(a.n, b.n, one, pad)
	if e == nil && shapeTooLarge(&n) {
		e = failf("the quotient%s", beyond)
	}
	if e != nil {
		return Shape{}, e
	}
	return Shape{n: n}, nil
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
	if q, ok := divides(b, a); ok {
		return q, nil
	}
	return a.CeilDiv(b), nil
}

func divideShape(a, b node[sym.Expr], one leafDivision, pad bool) (node[sym.Expr], *Error) {
	switch {
	case a.isLeaf():
		q, e := byProduct(a.v, b, one)
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
		before, size := rest, productOf(m)
		if _, ok := divides(rest, size); ok && !size.TooLarge() {
			rest = sym.Int(1)
		} else if rest, e = byProduct(rest, m, one); e != nil {
			return a, e
		}
		if lo, _ := rest.Range(); ceil && lo < 1 && i+1 < len(a.sub) {
			return a, failf("what the mode %s leaves of the divisor %s is not known", Shape{n: m}, before).hint("state facts of the symbols")
		}
	}
	out := node[sym.Expr]{sub: sub}
	if ceil {
		return out, covers(append(out.leaves(), b), a)
	}
	return out, nil
}

// byProduct divides by the size of a shape, which may be beyond 63 bits: such a constant is more than any number.
func byProduct(e sym.Expr, by node[sym.Expr], one leafDivision) (sym.Expr, *Error) {
	size := productOf(by)
	n, ok := e.IsConst()
	most, static := constProduct(by.leaves())
	switch {
	case !size.TooLarge():
		return one(e, size)
	case !ok || !static:
		return e, failf("the size of %s%s", Shape{n: by}, beyond)
	}
	if q := new(big.Int).Mod(most, big.NewInt(n)); q.Sign() == 0 {
		return sym.Int(1), nil
	}
	if _, inexact := one(sym.Int(2), sym.Int(3)); inexact != nil {
		return e, failf("%d and %s do not divide one another", n, most)
	}
	return sym.Int(1), nil
}

// covers refuses tiles that are fewer elements than the shape.
func covers(tiles []sym.Expr, a node[sym.Expr]) *Error {
	last := len(tiles) - 1
	have, need := productOfAll(tiles), productOf(a)
	x, ok1 := constProduct(tiles)
	y, ok2 := constProduct(a.leaves())
	if ok1 && ok2 && x.Cmp(y) >= 0 {
		return nil
	}
	if lo, _ := have.Sub(need).Range(); lo < 0 {
		return failf("%s tiles of %s are %s elements, and %s are to be covered", productOfAll(tiles[:last]), tiles[last], have, need)
	}
	return nil
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

// sameProduct reports whether two products are equal, also where they do not fit 63 bits: then factor by factor.
func sameProduct(xs, ys []sym.Expr) bool {
	if x, y := productOfAll(xs), productOfAll(ys); !x.TooLarge() && !y.TooLarge() {
		return x.Equal(y)
	}
	x, fx := splitProduct(xs)
	y, fy := splitProduct(ys)
	return x.Cmp(y) == 0 && slices.EqualFunc(fx, fy, sym.Expr.Equal)
}

// splitProduct is the constant part of a product, and its other factors in a fixed order.
func splitProduct(xs []sym.Expr) (*big.Int, []sym.Expr) {
	n, others := big.NewInt(1), []sym.Expr{}
	for _, x := range xs {
		fs, coef, ok := factors(x)
		if !ok && !x.Is(0) {
			fs, coef = []sym.Expr{x}, 1
		}
		n.Mul(n, big.NewInt(coef))
		others = append(others, fs...)
	}
	slices.SortFunc(others, func(a, b sym.Expr) int { return cmp.Compare(a.Key(), b.Key()) })
	return n, others
}

// constProduct is the product of constants; ok is false where one is symbolic.
func constProduct(xs []sym.Expr) (n *big.Int, ok bool) {
	n, others := splitProduct(xs)
	return n, len(others) == 0
}

func productOfAll(xs []sym.Expr) sym.Expr { return productOf(flatTuple(xs)) }
