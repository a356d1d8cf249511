package kernels

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/elem"
)

// Every column of a block is dealt out once, and a lane's columns of as many instructions as fill a vector are neighbours
// in C, from a multiple of the vector on.
func TestColumns(t *testing.T) {
	for _, out := range []elem.Kind{elem.KF32, elem.KF16, elem.KS8} {
		for _, g := range []GEMMConfig{
			{BM: 128, BN: 128, BK: 64, WarpM: 2, WarpN: 2}, {BM: 256, BN: 128, BK: 64, WarpM: 4, WarpN: 2}, {BM: 64, BN: 128, BK: 128, WarpM: 1, WarpN: 4},
			{BM: 16, BN: 32, BK: 128, WarpM: 1, WarpN: 2}, {BM: 48, BN: 96, BK: 64, WarpM: 1, WarpN: 3}, {BM: 64, BN: 192, BK: 64, WarpM: 2, WarpN: 2},
		} {
			c := newColumns(elem.KF16, out, g, KMajor)
			// Results of 32 bits keep their order, and 12 rows at a time, copied by three warps, are no tile of any other.
			require.Equal(t, out.Bits() < 32 && g.WarpN != 3, c.permuted(), "%v into %s", g, out)
			if !c.permuted() {
				require.Equal(t, g.BN, c.tile())
				continue
			}
			order, err := c.order().Algebra()
			require.NoError(t, err)
			seen := map[int64]bool{}
			for s := range int64(g.BN) {
				seen[order.AtInt(s)] = true
			}
			require.Len(t, seen, g.BN)
			instructions := c.vec / mmaPair
			for s := range int64(g.BN) {
				lane, pair, n := s%atomN/mmaPair, s%mmaPair, s/int64(atomN*c.wn)
				first := order.AtInt(lane*mmaPair + s/atomN%int64(c.wn)*atomN + n/int64(instructions)*int64(instructions*atomN*c.wn))
				require.Zero(t, first%int64(c.vec))
				require.Equal(t, first+n%int64(instructions)*mmaPair+pair, order.AtInt(s), "%v into %s, column %d", g, out, s)
			}
		}
	}
	require.False(t, newColumns(elem.KF16, elem.KF16, GEMMConfig{BM: 128, BN: 128, BK: 64, WarpM: 2, WarpN: 2}, MNMajor).permuted())
}
