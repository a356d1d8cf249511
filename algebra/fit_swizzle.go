package algebra

import (
	"math/bits"
	"slices"

	"github.com/gocute/gocute/algebra/sym"
)

// swizzleWork bounds the values that anySwizzle looks at.
const swizzleWork = 1 << 26

// swizzledFit looks for a layout of a shape behind a swizzle with given values. As each swizzle is its own inverse,
// Sw(off + L(c)) has the values exactly if L has Sw(values) - off, and whether an L has those is decided.
type swizzledFit struct {
	shape node[sym.Expr]
	want  []int64
	vals  []int64 // room for Sw(want) - off
	ext   []int64 // the extents of the shape's leaves
	work  int
}

// anySwizzle tries every swizzle that can matter; exact tells that there is no other.
func (m *image) anySwizzle(shape node[sym.Expr]) (r Layout, found, exact bool) {
	want := make([]int64, m.b.n)
	for i := range want {
		want[i] = m.at(int64(i))
	}
	f := &swizzledFit{shape: shape, want: want, vals: make([]int64, len(want)), work: swizzleWork}
	f.ext = constsOf(f.ext, shape)
	return f.search()
}

func constsOf(dst []int64, s node[sym.Expr]) []int64 {
	if s.isLeaf() {
		n, _ := s.v.IsConst()
		return append(dst, n)
	}
	for _, x := range s.sub {
		dst = constsOf(dst, x)
	}
	return dst
}

// search goes through the swizzles, the narrow ones first. With values below 2^reach:
//   - Bits from reach on are 0, so a swizzle that reads them does what a narrower one does.
//   - One that changes only bits from k on, k >= reach, makes L's values the old ones plus multiples of 2^k. L is
//     linear, so the old ones are too, up to a multiple of 2^k, which is 0 if 2^k is above all that they can add up
//     to: 2^reach times the number of values. Then no swizzle is needed.
//
// Where values are negative it goes through all that there are.
func (f *swizzledFit) search() (r Layout, found, exact bool) {
	reach := bits.Len64(uint64(slices.Max(f.want)))
	top := reach + bits.Len(uint(len(f.want)))
	if slices.Min(f.want) < 0 {
		reach, top = maxBits, maxBits
	}
	for _, w := range []Swizzle{{}, {1, min(reach, maxBits-2), 1}} { // the second changes no value below 2^reach, and carries an offset
		if r, ok := f.behind(w); ok {
			return r, true, true
		}
	}
	for b := 1; b <= reach; b++ {
		for m := 0; m+b <= reach; m++ {
			for s := b; m+s <= top; s++ {
				for _, w := range []Swizzle{{b, m, s}, {b, m, -s}} {
					if w.check() != nil {
						continue
					}
					if r, ok := f.behind(w); ok || f.work < 0 {
						return r, ok, ok
					}
				}
			}
		}
	}
	return Layout{}, false, true
}

// behind fits the values behind one swizzle: first along each leaf of the shape, then everywhere.
func (f *swizzledFit) behind(w Swizzle) (Layout, bool) {
	x := w.xor()
	off := x.of(f.want[0])
	if w.B == 0 && off != 0 {
		return Layout{}, false
	}
	unit := 1
	for _, n := range f.ext {
		along := f.vals[:n]
		for i := range along {
			along[i] = x.of(f.want[i*unit]) - off
		}
		f.work -= int(n)
		if _, _, ok := fit(along, 1); !ok {
			return Layout{}, false
		}
		unit *= int(n)
	}
	if !f.additive(x, off) {
		return Layout{}, false
	}
	for i, v := range f.want {
		f.vals[i] = x.of(v) - off
	}
	r, ok := fitShape(f.shape, f.vals)
	if !ok {
		return Layout{}, false
	}
	return r.WithSwizzle(w, sym.Int(off)), true
}

// additive reports whether each value is the sum of those at its digits in the shape's leaves.
func (f *swizzledFit) additive(x xor, off int64) bool {
	for i, v := range f.want {
		f.work--
		rest, unit, sum := i, 1, off
		for _, n := range f.ext {
			sum += x.of(f.want[rest%int(n)*unit]) - off
			rest, unit = rest/int(n), unit*int(n)
		}
		if sum != x.of(v) {
			return false
		}
	}
	return true
}
