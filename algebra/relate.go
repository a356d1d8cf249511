package algebra

import "github.com/gocute/gocute/algebra/sym"

// verdict is whether a relation holds for all values of the symbols, for none, or whether that is open, and why.
type verdict struct {
	holds bool
	open  *Error
}

// and goes on to the modes that follow: what fails anywhere fails.
func (v verdict) and(next verdict) verdict {
	switch {
	case next.open == nil && !next.holds, v.open == nil && v.holds:
		return next
	}
	return v
}

// equalSizes compares two products of extents.
func equalSizes(xs, ys []sym.Expr) verdict {
	if sameProduct(xs, ys) {
		return verdict{holds: true}
	}
	x, y := productOfAll(xs), productOfAll(ys)
	_, static := constProduct(append(xs[:len(xs):len(xs)], ys...))
	if static || !x.TooLarge() && !y.TooLarge() && differ(x, y) {
		return verdict{}
	}
	return verdict{open: failf("whether %s is %s is not known", x, y).hint("state facts of the symbols")}
}

// differ reports whether two expressions have the same value for no values of the symbols.
func differ(x, y sym.Expr) bool {
	d := x.Sub(y)
	if lo, hi := d.Range(); lo > 0 || hi < 0 {
		return true
	}
	return !mayDivide(0, d)
}

// mayDivide reports whether n (0 for 0 alone) may divide e: its terms have a common divisor, and what is constant is of it.
func mayDivide(n int64, e sym.Expr) bool {
	rest := int64(0)
	for _, t := range e.Terms() {
		if k, ok := t.IsConst(); ok {
			rest += k
			continue
		}
		n = gcd(n, t.Multiple())
	}
	return n == 0 && rest == 0 || n != 0 && rest%n == 0
}

// Compatible reports whether b refines a: every coordinate of a is one of b, and sizes are equal below each
// integer of a. It is false, too, where that depends on symbols, which CheckCompatible refuses.
func Compatible(a, b Shape) bool {
	if a.err != nil || b.err != nil {
		return false
	}
	return compatible(a.n, b.n)
}

func compatible(a, b node[sym.Expr]) bool {
	v := compatibility(a, b)
	return v.open == nil && v.holds
}

// CheckCompatible is Compatible; it refuses what depends on the values of symbols, and extents below 1.
func CheckCompatible(a, b Shape) (bool, error) {
	e := bad(anySize(a), anySize(b))
	if e != nil {
		return false, e.in("compatible", a, b)
	}
	v := compatibility(a.n, b.n)
	return v.open == nil && v.holds, v.open.in("compatible", a, b)
}

func compatibility(a, b node[sym.Expr]) verdict {
	if a.isLeaf() {
		return equalSizes([]sym.Expr{a.v}, b.leaves())
	}
	if b.isLeaf() || len(a.sub) != len(b.sub) {
		return verdict{}
	}
	v := verdict{holds: true}
	for i := range a.sub {
		v = v.and(compatibility(a.sub[i], b.sub[i]))
	}
	return v
}

// EvenlyDivides reports whether tiles of shape b fill a, at each integer of b. It is false, too, where that depends on
// symbols, which CheckEvenlyDivides refuses.
func EvenlyDivides(a, b Shape) bool {
	ok, err := CheckEvenlyDivides(a, b)
	return ok && err == nil
}

// CheckEvenlyDivides is EvenlyDivides; it refuses what depends on the values of symbols, and extents below 1.
func CheckEvenlyDivides(a, b Shape) (bool, error) {
	if e := bad(anySize(a), anySize(b)); e != nil {
		return false, e.in("evenly_divides", a, b)
	}
	v := evenly(a.n, b.n)
	return v.open == nil && v.holds, v.open.in("evenly_divides", a, b)
}

func evenly(a, b node[sym.Expr]) verdict {
	if b.isLeaf() {
		return evenlyBy(a, b)
	}
	if a.isLeaf() && len(b.sub) > 1 || !a.isLeaf() && len(b.sub) > len(a.sub) {
		return verdict{}
	}
	v := verdict{holds: true}
	for i := range b.sub {
		v = v.and(evenly(a.mode(i), b.sub[i]))
	}
	return v
}

func evenlyBy(a, b node[sym.Expr]) verdict {
	if xs := a.leaves(); len(xs) > 0 {
		if _, ok := divides(b.v, xs[0]); ok && !xs[0].TooLarge() { // what is left of the divisor is 1
			return verdict{holds: true}
		}
	}
	q, e := divideShape(a, b, ceilLeaf, false)
	if e == nil && sameProduct(a.leaves(), append(q.leaves(), b.v)) {
		return verdict{holds: true}
	}
	size := productOf(a)
	_, static := constProduct(append(a.leaves(), b.v))
	n, constant := b.v.IsConst()
	_, hi := size.Range()
	lo, _ := b.v.Range()
	if static || !size.TooLarge() && (constant && !mayDivide(n, size) || hi < lo) {
		return verdict{}
	}
	return verdict{open: failf("whether %s divides %s is not known", b.v, Shape{n: a}).hint("state facts of the symbols")}
}
