package algebra

import (
	"slices"

	"github.com/gocute/gocute/algebra/sym"
)

// commonLimit is the largest number of coordinates that are searched one by one for a common layout.
const commonLimit = 1 << 16

// commonBudget is how many elements the search for a longer common layout may look at.
const commonBudget = 1 << 20

// commonSearch looks for the longest R with R(i) in at[i] for each i.
type commonSearch struct {
	at     [][]int64 // the coordinates at which both have the offset i, for i up to the first that they never share
	budget int
	best   []mode
	size   int64
}

// longer is r, or a common layout of the static layouts a and b with more elements.
func longer(r, a, b Layout) Layout {
	fa, ok := intFn(a)
	fb, ok2 := intFn(b)
	n, ok3 := r.IntSize()
	if !ok || !ok2 || !ok3 || min(fa.n, fb.n) > commonLimit || n == min(fa.n, fb.n) {
		return r
	}
	c := commonSearch{budget: commonBudget, size: n}
	c.at = sharedCoords(fa, fb)
	if int64(len(c.at)) > n {
		c.grow(nil, nil)
	}
	if c.best == nil {
		return r
	}
	return coalesce(layoutOf(c.best))
}

func sharedCoords(a, b *fn) [][]int64 {
	size := min(a.n, b.n)
	at := make([][]int64, size)
	for i := range size {
		if v := a.at(i); v == b.at(i) && v >= 0 && v < size {
			at[v] = append(at[v], i)
		}
	}
	for i := range at {
		if len(at[i]) == 0 {
			return at[:i]
		}
	}
	return at
}

// grow tries every further mode behind ms, whose values are vals.
func (c *commonSearch) grow(ms []mode, vals []int64) {
	if vals == nil {
		vals = []int64{0}
	}
	n := int64(len(vals))
	if n >= int64(len(c.at)) || c.size == int64(len(c.at)) {
		return
	}
	for _, d := range c.at[n] {
		if d == 0 {
			continue
		}
		all := vals
		for k := int64(2); c.extends(vals, k-1, d); k++ {
			for _, v := range vals {
				all = append(all, v+(k-1)*d)
			}
			next := append(ms[:len(ms):len(ms)], mode{sym.Int(k), Step{Coef: sym.Int(d)}})
			if k*n > c.size {
				c.size, c.best = k*n, next
			}
			if c.turns(k*n, k*d) {
				c.grow(next, all[:k*n:k*n])
			}
		}
	}
}

// turns reports whether another mode than the one that goes on with the coordinate next can begin at offset i.
func (c *commonSearch) turns(i, next int64) bool {
	if i >= int64(len(c.at)) {
		return false
	}
	return len(c.at[i]) > 1 || c.at[i][0] != next
}

// extends reports whether vals moved by k*d are the coordinates of the offsets from k*len(vals) on.
func (c *commonSearch) extends(vals []int64, k, d int64) bool {
	n := int64(len(vals))
	if (k+1)*n > int64(len(c.at)) {
		return false
	}
	for j, v := range vals {
		if c.budget--; c.budget < 0 || !hasCoord(c.at[k*n+int64(j)], v+k*d) {
			return false
		}
	}
	return true
}

func hasCoord(sorted []int64, x int64) bool {
	_, found := slices.BinarySearch(sorted, x)
	return found
}
