package algebra

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// longestCommon is the size of the longest common layout by trying every layout.
func longestCommon(a, b Layout) int64 {
	fa, fb := mustFn(a), mustFn(b)
	both := min(fa.n, fb.n)
	best := int64(1)
	var grow func(vals []int64)
	grow = func(vals []int64) {
		n := int64(len(vals))
		best = max(best, n)
		for d := int64(1); d < both; d++ {
			if fa.at(d) != n || fb.at(d) != n {
				continue
			}
			all := vals
			for k := int64(1); ; k++ {
				next := all
				for j, v := range vals {
					if x := v + k*d; x < both && fa.at(x) == k*n+int64(j) && fb.at(x) == k*n+int64(j) {
						next = append(next[:len(next):len(next)], x)
					}
				}
				if int64(len(next)) != (k+1)*n {
					break
				}
				all = next
				grow(all)
			}
		}
	}
	grow([]int64{0})
	return best
}

// TestCommon: the common layout is the longest one that holds in both, whichever comes first.
func TestCommon(t *testing.T) {
	ls := smallLayouts([]int64{1, 2, 3, 4, 6}, []int64{0, 1, 2, 3, 4, 6}, 2)
	for i, a := range ls {
		for j, b := range ls {
			if (i*len(ls)+j)%17 != 0 {
				continue
			}
			r, err := MaxCommonLayout(a, b)
			require.NoError(t, err, "%s, %s", a, b)
			f := mustFn(r)
			require.Equal(t, longestCommon(a, b), f.n, "%s, %s: %s", a, b, r)
			for x := range f.n {
				require.Less(t, f.at(x), min(mustSize(a), mustSize(b)), "%s, %s: %s", a, b, r)
				require.Equal(t, x, a.AtInt(f.at(x)), "%s, %s: %s", a, b, r)
				require.Equal(t, x, b.AtInt(f.at(x)), "%s, %s: %s", a, b, r)
			}
			n, err := MaxCommonVector(b, a)
			require.NoError(t, err)
			require.Equal(t, f.n, n, "%s, %s", b, a)
		}
	}
}

// TestCommonLarge: what is too large to search is the right inverses' prefix, within both.
func TestCommonLarge(t *testing.T) {
	results(t, [][]string{
		{"max_common_layout", "M:1", "(M):(1)", "M:1"},
		{"max_common_layout", "M:1", "K:1", "the extents and strides of M:1 must be constants"},
		{"max_common_layout", "(1024,1024):(1,1024)", "(1024,2048):(1,1024)", "1048576:1"},
		{"max_common_layout", "(1024,2048):(1,1024)", "(1024,1024):(1,1024)", "1048576:1"},
		{"max_common_layout", "(1024,1024):(1024,1)", "(1024,1024):(1024,1)", "(1024,1024):(1024,1)"},
		{"max_common_layout", "1048576:1", "1048575:1", "1048575:1"},
		{"max_common_layout", "(M,4):(1,M)", "(M,4):(1,M)", "4*M:1"},
		{"max_common_layout", "(4,M):(1,8)", "(4,M):(1,8)", "4:1"},
		{"max_common_layout", "(4,4):(1,K)", "(4,4):(1,K)", "whether more than the first 4 offsets of (4,4):(1,K) are contiguous is not known"},
	})
}
