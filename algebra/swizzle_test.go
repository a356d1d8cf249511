package algebra

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra/sym"
)

// TestSwizzleRules: which numbers make a swizzle, which bits do, and what it does to symbols.
func TestSwizzleRules(t *testing.T) {
	for _, c := range []struct {
		w    Swizzle
		want string
	}{
		{Swizzle{0, 0, 0}, ""}, {Swizzle{-1, 0, 0}, "B = -1 and M = 0 must not be negative"}, {Swizzle{0, -1, 0}, "B = 0 and M = -1 must not be negative"}, {Swizzle{2, 0, 1}, "|S| = 1 must be at least B = 2"}, {Swizzle{2, 0, -1}, "|S| = 1 must be at least B = 2"},
		{Swizzle{2, 0, -2}, ""}, {Swizzle{20, 22, 20}, ""}, {Swizzle{20, 22, -20}, ""}, {Swizzle{20, 23, 20}, "bits up to 63 do not fit"}, {Swizzle{20, 23, -20}, "bits up to 63 do not fit"}, {Swizzle{1, 0, 61}, ""}, {Swizzle{1, 0, 62}, "bits up to 63 do not fit"},
	} {
		require.Equal(t, c.want, conditionOf(c.w.check()), "%s", c.w)
	}
	for _, c := range []struct {
		y, z int64
		want string
	}{
		{0x18, 0x3, "Sw<2,0,3>"}, {0x3, 0x18, "Sw<2,0,-3>"}, {0x30, 0xc, "Sw<2,2,2>"}, {0, 0, "Sw<0,0,0>"}, {0x5, 0x28, "the bits read (0x5) and changed (0x28) are not two runs"}, {0x3, 0x28, "the bits read (0x3) and changed (0x28) are not two runs"},
		{0x5, 0x18, "the bits read (0x5) and changed (0x18) are not two runs"}, {0x3, 0x4, "2 bits read (0x3) and 1 bits changed (0x4) make no swizzle"}, {0x3, 0x6, "|S| = 1 must be at least B = 2"}, {0x14, 0x3, "the bits read (0x14) and changed (0x3) are not two runs"},
	} {
		w, e := swizzleOf(c.y, c.z)
		if e != nil {
			require.Equal(t, c.want, e.Condition)
			continue
		}
		require.Equal(t, c.want, w.String())
	}
	x := symbol("x", 0, 255, 1)
	for _, w := range allSwizzles(7) {
		e := w.ApplyExpr(x)
		for v := range int64(256) {
			got, err := e.Eval(func(*sym.Symbol) (int64, bool) { return v, true })
			require.NoError(t, err)
			require.Equal(t, w.Apply(v), got, "%s of %d", w, v)
			require.Equal(t, got, w.xor().of(v), "%s of %d", w, v)
			require.Equal(t, got, swizzleF2(w).apply64(uint64(v)), "%s of %d", w, v)
		}
		n := w.ApplyExpr(sym.Int(77))
		require.True(t, n.Is(w.Apply(77)))
	}
	require.True(t, Swizzle{}.ApplyExpr(x).Equal(x))
}

func (m f2) apply64(x uint64) int64 { return int64(m.apply(x)) }

// TestSwizzlePairs: merged swizzles are the composition, and one is found wherever both have a shift and their bits
// make a swizzle.
func TestSwizzlePairs(t *testing.T) {
	all, given := allSwizzles(6), 0
	for _, a := range all {
		for _, b := range all {
			w, e := composeSwizzle(a, b)
			same := e == nil
			for i := range 7 {
				x := int64(1) << i
				same = same && w.Apply(x) == a.Apply(b.Apply(x))
			}
			if e == nil {
				given++
				require.True(t, same, "%s∘%s = %s", a, b, w)
				continue
			}
			if a.S != b.S {
				require.Contains(t, e.Condition, "swizzles of different shifts")
				continue
			}
			for _, w := range all { // none with the bits of both
				if w.S != a.S || w.B == 0 {
					continue
				}
				for i := range 7 {
					if x := int64(1) << i; w.Apply(x) != a.Apply(b.Apply(x)) {
						w.B = 0
						break
					}
				}
				require.Zero(t, w.B, "%s∘%s is %s: %s", a, b, w, e.Condition)
			}
		}
	}
	require.Greater(t, given, 100)
	_, err := ComposeSwizzle(Swizzle{2, 0, 1}, Swizzle{})
	require.ErrorContains(t, err, "composition(Sw<2,0,1>, Sw<0,0,0>): |S| = 1 must be at least B = 2")
	_, err = ComposeSwizzle(Swizzle{1, 0, 1}, Swizzle{2, 0, 1})
	require.ErrorContains(t, err, "|S| = 1 must be at least B = 2")
	_, err = ComposeSwizzle(Swizzle{2, 0, 2}, Swizzle{2, 2, 2}) // the first reads what the second changes
	require.Error(t, err)
}
