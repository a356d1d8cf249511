package algebra

import (
	"strings"

	"github.com/gocute/gocute/algebra/sym"
)

// ComposeLayoutSwizzle is A∘Sw as Sw'∘A: the layout that maps i to A(Sw(i)) on [0, size(A)).
func ComposeLayoutSwizzle(a Layout, w Swizzle) (Layout, error) {
	if e := bad(a); e != nil {
		return Layout{}, e.in("composition", a, w)
	}
	if e := w.check(); e != nil {
		return Layout{}, e.in("composition", a, w)
	}
	n, ok := a.IntSize()
	if !ok {
		return Layout{}, failf("the size of %s must be a constant", a).in("composition", a, w)
	}
	fa, ok := intFn(a)
	if !ok {
		return Layout{}, failf("a swizzle passes to the left only through static layouts").in("composition", a, w)
	}
	if n > EvalLimit {
		return Layout{}, failf("%d coordinates are too many to verify (limit %d)", n, EvalLimit).in("composition", a, w)
	}
	all := newImage(fa, &fn{s: []int64{n}, d: []int64{1}, n: n}, w, 0)
	if !all.fits() {
		return Layout{}, failf("a value%s", beyond).in("composition", a, w)
	}
	r, e := settled(all.behind(a, w, plain(a.shape, a.stride), nil))
	return r, e.in("composition", a, w)
}

// composeSwizzled is A∘(Sw o off o B): the swizzle moves to the left of A, if A keeps its bits apart.
func composeSwizzled(a, b Layout) (Layout, *Error) { return throughSwizzle(a, b.sw, b.off, b.Plain()) }

// throughSwizzle finds Sw' with A(Sw(off + B(c))) = Sw'(A(off) + A(B(c))), or another layout behind a swizzle.
func throughSwizzle(a Layout, w Swizzle, off sym.Expr, b Layout) (Layout, *Error) {
	inner, refused := composePlain(a.Plain(), b)
	fa, ok1 := intFn(a)
	fb, ok2 := intFn(b)
	o, ok3 := off.IsConst()
	if !ok1 || !ok2 || !ok3 {
		if refused != nil {
			return Layout{}, refused
		}
		return Layout{}, failf("a swizzle passes to the left only through static layouts")
	}
	if fb.n > EvalLimit {
		return Layout{}, failf("%d coordinates are too many to verify (limit %d)", fb.n, EvalLimit)
	}
	if refused != nil {
		inner = plain(b.shape, b.stride)
	}
	m := newImage(fa, fb, w, o)
	if !m.fits() {
		return Layout{}, failf("a value%s", beyond)
	}
	return m.behind(a, w, inner, refused)
}

// behind expresses A(Sw(off + B(c))) as a layout behind a swizzle: with CuTe's swizzle, taken from what A makes of
// the bits that Sw reads and changes, before the layout inside, unless that is refused; else with any other. The
// result is verified at every coordinate of B.
func (m *image) behind(a Layout, w Swizzle, inside Layout, refused *Error) (Layout, *Error) {
	pa, _ := intFn(a.Plain())
	oa := pa.at(m.off)
	first := refused
	for _, cand := range leftSwizzles(a, pa, w) {
		r := inside.WithSwizzle(cand, sym.Int(oa))
		fr, _ := intFn(r)
		i := m.unlike(fr)
		if i < 0 && r.err != nil {
			continue // an offset is left without a swizzle: anySwizzle finds one to carry it
		}
		if i < 0 {
			return r, nil
		}
		if g, w := fr.at(i), m.at(i); first == nil {
			first = failf("coordinate %d gives %d and not %d", i, g, w).at(i, g, w)
		}
	}
	r, found, exact := m.anySwizzle(inside.shape)
	if found {
		return r, nil
	}
	if first == nil {
		y, z := pa.at(w.from()), pa.at(w.to())
		if _, first = swizzleOf(y, z); first == nil {
			first = failf("no swizzle to the left of %s does what %s does to its right", a, w)
		}
	}
	if !exact {
		return Layout{}, first.hint("not every layout behind a swizzle was tried")
	}
	how := "with CuTe's swizzle, "
	if refused != nil {
		how = "without the swizzle, "
	}
	first.Condition = "no layout behind a swizzle expresses it; " + how + strings.TrimPrefix(first.Condition, noLayout)
	return Layout{}, first
}

// leftSwizzles are the candidates for Sw': none at all, and CuTe's.
func leftSwizzles(a Layout, pa *fn, w Swizzle) []Swizzle {
	var out []Swizzle
	if s, e := swizzleOf(pa.at(w.from()), pa.at(w.to())); e == nil {
		out = append(out, s)
	}
	out = append(out, Swizzle{})
	if a.sw.B == 0 {
		return out
	}
	if off, _ := a.off.IsConst(); off != 0 {
		return nil
	}
	var merged []Swizzle
	for _, s := range out {
		if s.B == 0 {
			merged = append(merged, a.sw)
		} else if m, e := composeSwizzle(a.sw, s); e == nil {
			merged = append(merged, m)
		}
	}
	return merged
}
