package algebra

import "github.com/gocute/gocute/algebra/sym"

// MaxCommonVector is the greatest number of contiguous elements that lie at the same coordinates in both, which is the size
// of MaxCommonLayout where that is a constant.
func MaxCommonVector(a, b Layout) (int64, error) {
	r, e := settled(commonOf(a, b))
	if e != nil {
		return 0, e.in("max_common_vector", a, b)
	}
	n, ok := r.IntSize()
	if !ok {
		return 0, failf("the common size %s must be a constant", r.Size()).in("max_common_vector", a, b)
	}
	return n, nil
}

// MaxCommonLayout is the longest R with a(R(i)) = b(R(i)) = i whose values are coordinates of both, whichever comes first.
// It is searched for element by element up to 2^16 coordinates, as far as 2^20 steps go; beyond, and for symbols, it is the
// longer one of the right inverses' prefixes. Swizzles that differ limit it to the elements that they leave in place.
func MaxCommonLayout(a, b Layout) (Layout, error) {
	r, e := settled(commonOf(a, b))
	return r, e.in("max_common_layout", a, b)
}

func commonOf(a, b Layout) (Layout, *Error) {
	if e := bad(a, b); e != nil {
		return Layout{}, e
	}
	for _, l := range []Layout{a, b} {
		if !l.off.Is(0) {
			return Layout{}, failf("the offset %s inside the swizzle must be 0", l.off)
		}
	}
	r, e := commonPlain(a.Plain(), b.Plain())
	if e != nil || a.sw.B == 0 && b.sw.B == 0 {
		return r, e
	}
	n, ok := r.IntSize()
	if !ok {
		return Layout{}, failf("the common size %s must be a constant", r.Size())
	}
	if a.sw == b.sw && permutes(a.sw, n) { // both are swizzled alike: R∘Sw, if that is a layout
		if w, e := throughSwizzle(r, a.sw, sym.Expr{}, plain(leafOf(sym.Int(n)), leafOf(Step{Coef: sym.Int(1)}))); e == nil {
			return w, nil
		}
	}
	limit := n
	for _, l := range []Layout{a, b} {
		if l.sw.B != 0 {
			limit = min(limit, int64(1)<<l.sw.M)
		}
	}
	if limit == n {
		return r, nil
	}
	return prefix(r, limit, maxOffset)
}

// permutes reports whether the swizzle maps [0, n) to itself.
func permutes(w Swizzle, n int64) bool {
	if n > EvalLimit {
		return false
	}
	for i := range n {
		if w.Apply(i) >= n {
			return false
		}
	}
	return true
}

// commonPlain is the longest layout that either order leads to.
func commonPlain(a, b Layout) (Layout, *Error) {
	x, y := coalesce(a), coalesce(b)
	if equalNodes(x.shape, y.shape, sym.Expr.Equal) && equalNodes(x.stride, y.stride, Step.Equal) {
		if !a.IsStatic() {
			return wholeInverse(a)
		}
		r, e := rightInverse(a)
		if e != nil {
			return r, e
		}
		return longer(r, a, a), nil
	}
	if !a.IsStatic() || !b.IsStatic() {
		if !b.IsStatic() {
			a, b = b, a
		}
		return commonBy(a, b)
	}
	r, e := commonBy(a, b)
	if e != nil {
		return r, e
	}
	s, e := commonBy(b, a)
	if e != nil {
		return r, e
	}
	if moreElements(s, r) {
		r = s
	}
	return longer(r, a, b), nil
}

// wholeInverse is the right inverse of a symbolic layout, refused where facts may make it longer.
func wholeInverse(a Layout) (Layout, *Error) {
	r, e := rightInverse(a)
	if e != nil {
		return r, e
	}
	near := []sym.Expr{} // the extents of what lies within the inverse's reach
	for _, m := range flatModes(a.shape, a.stride) {
		if lo, _ := m.d.Coef.Sub(r.Size()).Range(); !m.d.IsPlain() || lo <= 0 && !m.d.Coef.Is(0) {
			near = append(near, m.s)
		}
	}
	if !sameProduct(near, []sym.Expr{r.Size()}) {
		return r, failf("whether more than the first %s offsets of %s are contiguous is not known", r.Size(), a).hint("state facts of its strides")
	}
	return r, nil
}

func moreElements(a, b Layout) bool {
	m, _ := a.IntSize()
	n, _ := b.IntSize()
	return m > n
}

// commonBy is inv(b) cut to where a∘inv(b) is the identity on coordinates of a.
func commonBy(a, b Layout) (Layout, *Error) {
	if !b.IsStatic() {
		return Layout{}, failf("the extents and strides of %s must be constants", b)
	}
	inv, e := rightInverse(b)
	if e != nil {
		return Layout{}, e
	}
	n, e := identityOf(a, inv)
	if e != nil {
		return Layout{}, e
	}
	most, _ := productOf(a.shape).Range()
	if c, ok := productOf(a.shape).IsConst(); ok {
		most = c
	}
	if n == 1 {
		return unit, nil
	}
	r, e := prefix(inv, n, most)
	if all, _ := prefix(inv, n, maxOffset); e == nil && !a.IsStatic() && moreElements(all, r) {
		need, _ := cosize(all)
		return r, failf("the size of %s is not known to reach the coordinates of %s", a, all).hint("state the fact %s >= %s", productOf(a.shape), need)
	}
	return r, e
}

// identityOf is the greatest n with a(inv(i)) = i for all i below n, where a's last mode goes on.
func identityOf(a, inv Layout) (int64, *Error) {
	size, _ := inv.IntSize()
	c, e := composePlain(a, inv)
	if e != nil {
		fa, ok := intFn(a)
		fi, ok2 := intFn(inv)
		if !ok || !ok2 {
			return 0, e
		}
		n := int64(0)
		for n < min(fi.n, EvalLimit) && fa.at(fi.at(n)) == n {
			n++
		}
		return n, nil
	}
	ms := flatModes(coalesce(c).shape, coalesce(c).stride)
	n := int64(1)
	for _, m := range ms {
		s, ok := m.s.IsConst()
		switch d := m.d.Coef.Sub(sym.Int(n)); {
		case !ok:
			return 0, failf("the extent %s must be a constant", m.s)
		case s == 1:
		case m.d.IsPlain() && d.Is(0):
			n *= s
		case m.d.IsPlain() && !neverZero(d, m.d.Coef, n):
			return 0, failf("whether the stride %s is %d is not known", m.d, n).hint("state a fact of %s", m.d)
		default:
			return n, nil
		}
	}
	return min(n, size), nil
}

// neverZero reports whether the difference d = e - n cannot be 0.
func neverZero(d, e sym.Expr, n int64) bool {
	lo, hi := d.Range()
	m := e.Multiple()
	return lo > 0 || hi < 0 || m > 0 && n%m != 0
}

// prefix is the longest cut of r, a static layout, to at most n elements with values below most.
func prefix(r Layout, n, most int64) (Layout, *Error) {
	best, size, reach := int64(1), int64(1), int64(0)
	for _, m := range flatModes(r.shape, r.stride) {
		s, ok := m.s.IsConst()
		d, ok2 := m.d.IsConst()
		if !ok || !ok2 || d < 0 {
			return Layout{}, failf("the extents of %s must be constants", r)
		}
		k := min(s, n/size)
		if d > 0 {
			k = min(k, (most-1-reach)/d+1)
		}
		if k < 1 {
			break
		}
		best = max(best, size*k)
		if k < s {
			break
		}
		size, reach = size*s, reach+(s-1)*d
	}
	return composePlain(r, plain(leafOf(sym.Int(best)), leafOf(Step{Coef: sym.Int(1)})))
}
