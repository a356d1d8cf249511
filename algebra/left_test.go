package algebra

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLeftProof: where the search says that no layout inverts l, none with up to three digits and steps up to 8 does.
// Some of those repeat offsets, and some have negative ones.
func TestLeftProof(t *testing.T) {
	proved, repeated, negative, found := 0, 0, 0, 0
	for _, l := range smallLayouts([]int64{2, 3, 4}, []int64{-3, -1, 0, 1, 2, 3, 5, 7}, 2) {
		f := mustFn(l)
		if r, looked, ok := searchLeft(f); ok {
			require.NoError(t, checkInverse(l.String(), r.String(), true), "%s %s", l, r)
			found++
			continue
		} else if !strings.HasPrefix(looked, "no layout inverts it: ") {
			require.Equal(t, "no layout was found that inverts it, but not all were tried", looked)
			require.Zero(t, f.d[len(f.d)-1], l)
			continue
		}
		proved++
		vals := f.table(f.n)
		if slices.Min(vals) < 0 {
			negative++
		}
		if slices.Sort(vals); len(slices.Compact(vals)) < int(f.n) {
			repeated++
		}
		var try func(r fn, size int64)
		try = func(r fn, size int64) {
			for e := int64(2); len(r.s) < 3 && e*size <= 12; e++ {
				for d := int64(-8); d <= 8; d++ {
					next := fn{s: append(slices.Clone(r.s), e), d: append(slices.Clone(r.d), d)}
					if inverts(&next, f) {
						t.Fatalf("%s has the left inverse %v", l, next)
					}
					try(next, size*e)
				}
			}
		}
		try(fn{}, 1)
	}
	t.Logf("%d proved, %d of them with repeated offsets and %d with negative ones; %d found", proved, repeated, negative, found)
	require.True(t, proved > 3 && repeated > 3 && negative > 3 && found > 100)
}

// inverts reports whether r(f(i)) is an index where f is f(i), for all i.
func inverts(r, f *fn) bool {
	for i := range f.n {
		if v := f.at(i); r.at(v) < 0 || f.at(r.at(v)) != v {
			return false
		}
	}
	return true
}

// TestLeftFound: left inverses that need another choice among indices of equal offsets than the least, offsets above
// 2^12, or negative steps; and what is refused.
func TestLeftFound(t *testing.T) {
	for _, c := range [][2]string{
		{"(2,5):(2,1)", "7:2"}, {"(3,4):(3,2)", "(2,7):(-2,3)"}, {"(70000):(3)", "(3,70000):(0,1)"},
		{"(2,3,3):(4099,5,3)", "stride 5 is not a multiple of 3, which the strides below it make (no layout inverts it: all orders of prime extents were tried)"},
		{"(5,(7,4)):(25,(-7,4))", "(no layout inverts it: it has the offsets 2 and -2)"},
		{"(3,3):(2,3)", "(no layout inverts it: all orders of prime extents were tried)"},
		{"(3,3):(-2,-3)", "(no layout inverts it: all orders of prime extents were tried)"},
		{"(9,(4,3,4)):(7000,(5,3000,9001))", "(no layout was found that inverts it, but not all were tried)"},
		{"(300,300):(2,3)", "(90000 coordinates are too many to search for another layout; the limit is 65536)"},
		{"(3000,3000):(2,3)", "9000000 coordinates are too many to verify (limit 4194304)"},
	} {
		r, err := LeftInverse(MustParse(c[0]))
		if err != nil {
			require.ErrorContains(t, err, c[1])
			continue
		}
		require.Equal(t, c[1], r.String())
		require.NoError(t, checkInverse(c[0], c[1], true))
	}
}
