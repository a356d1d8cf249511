package algebra

import (
	"math/bits"
	"slices"

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
	r, e := throughSwizzle(a, w, sym.Expr{}, plain(leafOf(sym.Int(n)), leafOf(Step{Coef: sym.Int(1)})))
	if e != nil {
		return Layout{}, e.in("composition", a, w)
	}
	return plain(a.shape, a.stride).WithSwizzle(r.sw, r.off), nil
}

// composeSwizzled is A∘(Sw o off o B): the swizzle moves to the left of A, if A keeps its bits apart.
func composeSwizzled(a, b Layout) (Layout, *Error) { return throughSwizzle(a, b.sw, b.off, b.Plain()) }

// throughSwizzle finds Sw' with A(Sw(off + B(c))) = Sw'(A(off) + A(B(c))): CuTe takes Sw' from what A makes
// of the bits that Sw reads and changes. The result is verified at every coordinate of B.
func throughSwizzle(a Layout, w Swizzle, off sym.Expr, b Layout) (Layout, *Error) {
	inner, e := composePlain(a.Plain(), b)
	if e != nil {
		return Layout{}, e
	}
	fa, ok1 := intFn(a)
	fb, ok2 := intFn(b)
	o, ok3 := off.IsConst()
	if !ok1 || !ok2 || !ok3 {
		return Layout{}, failf("a swizzle passes to the left only through static layouts")
	}
	if fb.n > EvalLimit {
		return Layout{}, failf("%d coordinates are too many to verify (limit %d)", fb.n, EvalLimit)
	}
	all := newImage(fa, fb, w, o)
	pa, _ := intFn(a.Plain())
	oa := pa.at(o)
	var first *Error
	for _, cand := range leftSwizzles(a, pa, w) {
		r := inner.WithSwizzle(cand, sym.Int(oa))
		if cand.B == 0 {
			r.off = sym.Int(0)
			if oa != 0 {
				continue
			}
		}
		fr, _ := intFn(r)
		i := all.unlike(fr)
		if i < 0 {
			return r, nil
		}
		if g, w := fr.at(i), all.at(i); first == nil {
			first = failf("coordinate %d gives %d and not %d", i, g, w).at(i, g, w)
		}
	}
	want := make([]int64, fb.n)
	for i := range want {
		want[i] = all.at(int64(i))
	}
	if r, ok := swizzledFit(b.shape, want); ok {
		return r, nil
	}
	if first == nil {
		y, z := pa.at(w.from()), pa.at(w.to())
		if _, first = swizzleOf(y, z); first == nil {
			first = failf("no swizzle to the left of %s does what %s does to its right", a, w)
		}
	}
	return Layout{}, first
}

// swizzleWork bounds the values that swizzledFit looks at.
const swizzleWork = 1 << 24

// swizzledFit tries every swizzle: as each is its own inverse, Sw(off + L(c)) has the values exactly if L has
// Sw(values) - off. A swizzle that reads or changes bits beyond the values does nothing or spoils them.
func swizzledFit(shape node[sym.Expr], want []int64) (Layout, bool) {
	if slices.Min(want) < 0 {
		return Layout{}, false
	}
	reach := bits.Len64(uint64(slices.Max(want)))
	if reach*reach*reach*len(want) > swizzleWork {
		return Layout{}, false
	}
	for b := 0; b <= reach/2; b++ {
		for s := b; s+b <= reach; s++ {
			for m := 0; m+b+s <= reach; m++ {
				for _, w := range []Swizzle{{b, m, s}, {b, m, -s}} {
					if r, ok := fitBehind(w, shape, want); ok {
						return r, true
					}
				}
				if b == 0 {
					break
				}
			}
			if b == 0 {
				break
			}
		}
	}
	return Layout{}, false
}

func fitBehind(w Swizzle, shape node[sym.Expr], want []int64) (Layout, bool) {
	vals := make([]int64, len(want))
	off := w.Apply(want[0])
	for i, v := range want {
		vals[i] = w.Apply(v) - off
	}
	r, ok := fitShape(shape, vals)
	if !ok || w.B == 0 && off != 0 {
		return Layout{}, false
	}
	return r.WithSwizzle(w, sym.Int(off)), true
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
