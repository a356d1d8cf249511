package algebra

import (
	"fmt"
	"slices"

	"github.com/gocute/gocute/algebra/sym"
)

// searchLeft looks for L among all layouts whose digit boundaries are made of the strides: L may have any
// value where l has no offset, so many boundaries can do. Where none of those does it tries all. The text says
// how far it looked.
func searchLeft(f *fn, l Layout) (_ Layout, looked string, ok bool) {
	if f.n > searchLimit {
		return Layout{}, fmt.Sprintf("%d coordinates are too many to search for another layout; the limit is %d", f.n, searchLimit), false
	}
	spots, all := preimages(f)
	pts := make([]point, len(spots))
	for i, s := range spots {
		if len(s.ys) == 0 { // -v is an offset, too, and L(-v) = -L(v)
			return Layout{}, fmt.Sprintf("no layout inverts it: it has the offsets %d and %d", s.x, -s.x), false
		}
		pts[i] = point{s.x, slices.MinFunc(s.ys, func(a, b int64) int { return int(max(a, -a) - max(b, -b)) })}
	}
	budget := searchWork
	if ext, step, ok := partialFit(pts, candidates(flatModes(l.shape, l.stride)), &budget); ok {
		out := make([]mode, len(ext))
		for i := range ext {
			out[i] = mode{sym.Int(ext[i]), Step{Coef: sym.Int(step[i])}}
		}
		r := layoutOf(out)
		if checkLeft(f, r) == nil {
			return r, "", true
		}
	}
	r, found, exact := proveLeft(spots)
	switch {
	case found && checkLeft(f, r) == nil:
		return r, "", true
	case exact && all:
		return Layout{}, "no layout inverts it: all orders of prime extents were tried", false
	}
	return Layout{}, "no layout was found that inverts it, but not all were tried", false
}

// preimages lists the offsets v of f with the indices that lead there, which L(v) may be, sorted. Of a negative
// offset it lists -v with minus the indices, as L(-v) = -L(v). all tells that there are no more: an index may be past
// the end of f, whose last mode is endless.
func preimages(f *fn) (spots []spot, all bool) {
	last := len(f.s) - 1
	unit, lo, hi := int64(1), int64(0), int64(0) // what the modes before the last make
	for k := range last {
		unit, lo, hi = unit*f.s[k], lo+min(0, f.d[k]*(f.s[k]-1)), hi+max(0, f.d[k]*(f.s[k]-1))
	}
	end := f.n
	switch d := f.d[last]; { // where the last mode's digit alone leads out of what f reaches
	case d > 0:
		end = max(end, ((hi-lo)/d+f.s[last])*unit)
	case d < 0:
		end = max(end, ((hi-lo)/-d+f.s[last])*unit)
	}
	all = f.d[last] != 0 && end <= searchLimit
	want := map[int64][]int64{}
	for i := range f.n {
		v := f.at(i)
		want[v] = append(want[v], i)
	}
	for i := f.n; i < min(end, searchLimit); i++ {
		if ys := want[f.at(i)]; ys != nil {
			want[f.at(i)] = append(ys, i)
		}
	}
	for v, ys := range want {
		if v < 0 {
			for i := range ys {
				ys[i] = -ys[i]
			}
			slices.Sort(ys)
		}
		if want[-v] != nil && v != 0 {
			ys = nil
		}
		if v > 0 || want[-v] == nil || v == 0 {
			spots = append(spots, spot{max(v, -v), ys})
		}
	}
	slices.SortFunc(spots, func(a, b spot) int { return int(a.x - b.x) })
	return spots, all
}

// The search is for small layouts: at most searchLimit coordinates, and searchWork points looked at.
const (
	searchLimit = 1 << 16
	searchWork  = 1 << 25
)

// point is one value of a function that is known only here and there.
type point struct{ x, y int64 }

// candidates are extents worth trying: strides, their extents times strides, and quotients and greatest
// common divisors of those.
func candidates(ms []mode) []int64 {
	var base []int64
	for _, m := range ms {
		d, _ := m.d.IsConst()
		s, _ := m.s.IsConst()
		base = append(base, d, d*s, s)
	}
	out := slices.Clone(base)
	for _, a := range base {
		for _, b := range base {
			if b > 1 && a > b {
				out = append(out, a/b, ceilDiv(a, b))
			}
			out = append(out, gcd(a, b), a-b)
		}
	}
	for n := int64(2); n <= 256; n++ {
		out = append(out, n)
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return slices.DeleteFunc(out, func(n int64) bool { return n < 2 })
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}

// partialFit finds extents and steps with y = Σ digit(x)*step at all points, the last extent being endless.
// Each round splits off the lowest digit, the points of equal quotient having to agree.
func partialFit(pts []point, cands []int64, budget *int) (ext, step []int64, ok bool) {
	if s, n, ok := linear(pts); ok {
		return []int64{n}, []int64{s}, true
	}
	top := pts[len(pts)-1].x
	for _, n := range slices.Backward(cands) {
		if *budget -= len(pts); n > top || *budget < 0 {
			continue
		}
		d, next, ok := splitDigit(pts, n)
		if !ok {
			continue
		}
		if e, s, ok := partialFit(next, cands, budget); ok {
			return append([]int64{n}, e...), append([]int64{d}, s...), true
		}
	}
	return nil, nil, false
}

// linear reports whether one step explains all points.
func linear(pts []point) (step, n int64, ok bool) {
	for _, p := range pts {
		if p.x == 0 {
			if p.y != 0 {
				return 0, 0, false
			}
			continue
		}
		if step == 0 && n == 0 {
			if p.y%p.x != 0 {
				return 0, 0, false
			}
			step, n = p.y/p.x, 1
		}
		if p.x*step != p.y {
			return 0, 0, false
		}
	}
	return step, pts[len(pts)-1].x + 1, true
}

// splitDigit takes the digit x mod n out: y = (x mod n)*d + g(x div n).
func splitDigit(pts []point, n int64) (d int64, next []point, ok bool) {
	known := false
	for i, p := range pts { // two points of one block tell d
		j := i + 1
		if j < len(pts) && pts[j].x/n == p.x/n {
			dx, dy := pts[j].x-p.x, pts[j].y-p.y
			if dy%dx != 0 || known && dy/dx != d {
				return 0, nil, false
			}
			d, known = dy/dx, true
		}
	}
	for _, p := range pts {
		q := point{p.x / n, p.y - p.x%n*d}
		if len(next) > 0 && next[len(next)-1].x == q.x {
			if next[len(next)-1].y != q.y {
				return 0, nil, false
			}
			continue
		}
		next = append(next, q)
	}
	return d, next, len(next) < len(pts) || next[len(next)-1].x < pts[len(pts)-1].x
}
