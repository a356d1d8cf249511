package algebra

import (
	"fmt"
	"strings"
)

// long bounds the extents, or sizes, of which neighbours are looked for.
const long = 1 << 10

// around lists what is next below n and next above it for which ok holds: as far as a quarter of n, and eight, away.
func around(n int64, ok func(int64) bool) (out []int64) {
	for _, by := range []int64{-1, 1} {
		for k := int64(1); k <= min(max(8, n/4), long/4) && n+k*by > 0; k++ {
			if ok(n + k*by) {
				out = append(out, n+k*by)
				break
			}
		}
	}
	return out
}

// nearLeaf names the next extents and strides of a leaf of B, alone no layout in A, that are one.
func (f *composed) nearLeaf(l bLeaf) string {
	if l.s > long || l.d < 1 {
		return ""
	}
	var out []string
	for _, s := range around(l.s, func(s int64) bool { return f.fits(bLeaf{s, l.d, l.part}) }) {
		out = append(out, fmt.Sprintf("%d:%d", s, l.d))
	}
	for _, d := range around(l.d, func(d int64) bool { return f.fits(bLeaf{l.s, d, l.part}) }) {
		out = append(out, fmt.Sprintf("%d:%d", l.s, d))
	}
	if len(out) == 0 {
		return ""
	}
	return "next to it " + strings.Join(out, ", ") + " would do"
}

// nearby names leaves of B whose next extents make a layout of A∘B.
func (f *composed) nearby() string {
	if f.size > long {
		return ""
	}
	var out []string
	for k, l := range f.leaves {
		for _, s := range around(l.s, func(s int64) bool {
			g := *f
			g.leaves = append(append(append([]bLeaf{}, f.leaves[:k]...), bLeaf{s, l.d, l.part}), f.leaves[k+1:]...)
			g.size = f.size / l.s * s
			return g.fits(g.leaves[k]) && g.additive()
		}) {
			out = append(out, fmt.Sprintf("%d:%d for %d:%d", s, l.d, l.s, l.d))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return strings.Join(out, ", or ") + ", would do"
}

// values lists those of A along a leaf of B, g numbers each.
func (f *composed) values(l bLeaf) (vals []int64, g int) {
	g = len(f.v.gens)
	vals = make([]int64, l.s*int64(g))
	if l.part < 0 {
		return vals, g
	}
	for i := range l.s {
		f.v.add(vals[i*int64(g):(i+1)*int64(g)], &f.v.parts[l.part], i*l.d)
	}
	return vals, g
}

// fits reports whether a leaf alone is a layout in A.
func (f *composed) fits(l bLeaf) bool {
	ext, vec, ok := fit(f.values(l))
	for i := range ext {
		_, one := f.v.step(vec[i])
		ok = ok && one
	}
	return ok
}

// additive reports whether every value is the sum of those along the leaves.
func (f *composed) additive() bool {
	along := make([][]int64, len(f.leaves))
	for k, l := range f.leaves {
		along[k], _ = f.values(l)
	}
	g := len(f.v.gens)
	idx, want := make([]int64, len(f.v.parts)), make([]int64, g)
	for i := range f.size {
		f.at(i, idx, want)
		rest := i
		for k, l := range f.leaves {
			from := rest % l.s * int64(g)
			for j := range g {
				want[j] -= along[k][from+int64(j)]
			}
			rest /= l.s
		}
		for _, w := range want {
			if w != 0 {
				return false
			}
		}
	}
	return true
}
