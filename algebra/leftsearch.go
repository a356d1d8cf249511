package algebra

import (
	"fmt"
	"slices"
)

// searchLeft looks for L among all layouts: L may have any value where l has no offset. The text says how far it
// looked.
func searchLeft(f *fn) (_ Layout, looked string, ok bool) {
	if f.n > searchLimit {
		return Layout{}, fmt.Sprintf("%d coordinates are too many to search for another layout; the limit is %d", f.n, searchLimit), false
	}
	spots, all := preimages(f)
	for _, s := range spots {
		if len(s.ys) == 0 { // -v is an offset, too, and L(-v) = -L(v)
			return Layout{}, fmt.Sprintf("no layout inverts it: it has the offsets %d and %d", s.x, -s.x), false
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
	if int64(len(want)) == f.n { // no offset is repeated: L must give the index itself
		end, all = f.n, f.n <= searchLimit
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

// searchLimit is the most indices that the search is made for.
const searchLimit = 1 << 16

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}
