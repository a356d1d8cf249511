package device

import (
	"math"

	"github.com/gocute/gocute/check"
	"github.com/gocute/gocute/elem"
)

// sumBound is how far two runs may be apart at an element that the sum of a row of A was added to, in whatever order: of
// N+1 numbers there are N sums on either side, each off by at most half of 2^-23 of the sum of all magnitudes.
func sumBound(run *check.Raw, c *check.RawTensor) func(at []int64, offset int64, value float64) float64 {
	a := run.Tensor("A")
	av := a.Values()
	return func(at []int64, offset int64, _ float64) float64 {
		all := math.Abs(elem.Decode(c.Kind, c.Before(offset)))
		for n := range a.Extents[1] {
			all += math.Abs(av[a.Offset(at[0], n)])
		}
		return float64(a.Extents[1]) * 0x1p-23 * all
	}
}
