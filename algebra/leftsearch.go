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
	spots := preimages(f)
	for _, s := range spots {
		if len(s.ys) == 0 { // -v is an offset, too, and L(-v) = -L(v)
			return Layout{}, fmt.Sprintf("no layout inverts it: it has the offsets %d and %d", s.x, -s.x), false
		}
	}
	r, found, exact := proveLeft(spots)
	switch {
	case found && checkLeft(f, r) == nil:
		return r, "", true
	case exact && !found:
		return Layout{}, "no layout inverts it: all orders of prime extents were tried", false
	}
	return Layout{}, "no layout was found that inverts it, but not all were tried", false
}

// preimages lists the offsets v of f with the coordinates that lead there, which L(v) may be, sorted. Of a negative
// offset it lists -v with minus the coordinates, as L(-v) = -L(v).
func preimages(f *fn) (spots []spot) {
	want := map[int64][]int64{}
	for i := range f.n {
		v := f.at(i)
		want[v] = append(want[v], i)
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
	return spots
}

// searchLimit is the most indices that the search is made for.
const searchLimit = 1 << 16

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}
