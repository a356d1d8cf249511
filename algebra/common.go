package algebra

import "github.com/gocute/gocute/algebra/sym"

// MaxCommonVector is the greatest number of contiguous elements that lie at the same coordinates in both:
// a(R(i)) = b(R(i)) = i. A swizzle limits it to what it leaves in place.
func MaxCommonVector(a, b Layout) (int64, error) {
	r, e := settled(commonOf(a, b))
	if e != nil {
		return 0, e.in("max_common_vector", a, b)
	}
	n, _ := r.IntSize()
	return n, nil
}

// MaxCommonLayout is the layout R of those elements' coordinates.
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
	return composePlain(r, plain(leafOf(sym.Int(gcd(limit, n))), leafOf(Step{Coef: sym.Int(1)})))
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

// commonPlain is inv(b) cut to where a∘inv(b) is the identity.
func commonPlain(a, b Layout) (Layout, *Error) {
	inv, e := rightInverse(b)
	if e != nil {
		return Layout{}, e
	}
	n := int64(1)
	if c, e := composePlain(a, inv); e == nil {
		c = coalesce(c)
		if s, ok := c.shape.mode(0).v.IsConst(); ok && c.stride.mode(0).v.Is(1) {
			n = s
		}
	} else if fa, ok := intFn(a); ok {
		fi, ok := intFn(inv)
		if !ok {
			return Layout{}, e
		}
		n = commonByForce(fa, fi)
	} else {
		return Layout{}, e
	}
	if n == 1 {
		return unit, nil
	}
	return composePlain(inv, plain(leafOf(sym.Int(n)), leafOf(Step{Coef: sym.Int(1)})))
}

// commonByForce is the longest prefix that is the identity and that inv can be cut to.
func commonByForce(a, inv *fn) int64 {
	n := int64(0)
	for n < inv.n && a.at(inv.at(n)) == n {
		n++
	}
	best, size := int64(1), int64(1)
	for _, s := range inv.s {
		for k := int64(2); k <= s && size*k <= n; k++ {
			if s%k == 0 {
				best = max(best, size*k)
			}
		}
		size *= s
	}
	return best
}
