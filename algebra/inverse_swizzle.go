package algebra

import "github.com/gocute/gocute/algebra/sym"

const notAllInverses = "not every inverse behind a swizzle was tried"

// inverseThrough inverts the layout inside a swizzle, which is its own inverse and moves to the right:
// (Sw∘A)^-1 = A^-1∘Sw, which is to be a layout behind a swizzle again. The result is verified.
func inverseThrough(l Layout, inv func(Layout) (Layout, *Error), left bool) (Layout, *Error) {
	in, e := inv(l.Plain())
	if l.sw.B == 0 {
		return in, e
	}
	if e != nil {
		return in, e.hint(notAllInverses)
	}
	if !l.off.Is(0) {
		return Layout{}, failf("the offset %s inside the swizzle must be 0", l.off)
	}
	f, ok := intFn(in)
	fl, ok2 := intFn(l)
	if !ok || !ok2 {
		return Layout{}, failf("the inverse of a swizzled layout must be static")
	}
	if f.n > EvalLimit || fl.n > EvalLimit {
		return Layout{}, failf("%s is too large to verify (limit %d)", l, EvalLimit)
	}
	check := checkRight
	if left {
		check = checkLeft
	}
	w, e := swizzleOf(f.at(l.sw.from()), f.at(l.sw.to())) // the way of CuTe
	if e == nil {
		r := in.WithSwizzle(w, sym.Expr{})
		if e = check(fl, r); e == nil {
			return r, nil
		}
	}
	right, _ := rightInverse(l.Plain())
	fr, _ := intFn(right)
	bijective := fr.n == fl.n && permutes(l.sw, fl.n) // then there is one inverse, which is both
	if bijective || !left {
		m := newImage(fr, &fn{s: []int64{fr.n}, d: []int64{1}, n: fr.n}, l.sw, 0)
		if !m.fits() {
			return Layout{}, failf("a value%s", beyond)
		}
		r, found, exact := m.anySwizzle(leafOf(sym.Int(fr.n)))
		switch {
		case found && check(fl, r) == nil:
			return r, nil
		case exact && bijective:
			e.Condition = "no layout behind a swizzle inverts it; with CuTe's swizzle, " + e.Condition
			return Layout{}, e
		}
	}
	if !left {
		if r, ok := rightPrefix(fl, in.WithSwizzle(w, sym.Expr{})); ok {
			return r, nil
		}
	}
	return Layout{}, e.hint(notAllInverses)
}

// rightPrefix is the longest right inverse of a swizzled layout that is behind a swizzle, where the swizzle moves some
// offset of the run that r inverts out of what the layout has. It is r cut, or for few coordinates any.
func rightPrefix(l *fn, r Layout) (Layout, bool) {
	fr, _ := intFn(r.Plain())
	n := int64(0)
	for n < fr.n {
		if j := fr.at(l.sw.Apply(n)); j < 0 || j >= l.n || l.at(j) != n {
			break
		}
		n++
	}
	if n == fr.n { // each has an inverse, but no layout was found
		return Layout{}, false
	}
	const work, few = 1 << 22, 1 << 10
	for k := n; k > 0 && k*(n-k) < work; k-- {
		cut := plain(leafOf(sym.Int(k)), leafOf(Step{Coef: sym.Int(1)}))
		if c, e := compose(r, cut); e == nil && checkRight(l, c) == nil {
			return c, true
		}
		m := newImage(fr, &fn{s: []int64{k}, d: []int64{1}, n: k}, l.sw, 0)
		if k > few || !m.fits() {
			continue
		}
		if c, found, _ := m.anySwizzle(cut.shape); found && checkRight(l, c) == nil {
			return c, true
		}
	}
	return Layout{}, false
}

// checkRight verifies the definition of a right inverse at every coordinate: R(i) is one of A, whose last mode counts as
// endless only in compositions, and A(R(i)) = i.
func checkRight(f *fn, r Layout) *Error {
	fr, ok := intFn(r)
	if !ok {
		return failf("%s is not static", r)
	}
	same := &fn{s: fr.s, d: make([]int64, len(fr.s)), n: fr.n}
	size := int64(1)
	for k, s := range fr.s {
		same.d[k], size = size, size*s
	}
	m := newImage(f, fr, fr.sw, fr.off)
	if !m.fits() {
		return failf("a value%s", beyond)
	}
	if i := m.unlike(same); i >= 0 {
		got := m.at(i)
		return failf("coordinate %d gives %d and not %d", i, got, i).at(i, got, i)
	}
	for i := range fr.n {
		if j := fr.at(i); j < 0 || j >= f.n {
			return failf("coordinate %d of the inverse leads to %d, which is none of the layout's %d", i, j, f.n)
		}
	}
	return nil
}
