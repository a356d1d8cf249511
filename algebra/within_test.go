package algebra

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra/sym"
)

// smallSwizzled are small layouts, plain and behind a handful of swizzles with a handful of offsets.
func smallSwizzled(extents, strides []int64) (out []Layout) {
	for _, l := range smallLayouts(extents, strides, 2) {
		out = append(out, l)
		for _, w := range []Swizzle{{1, 0, 1}, {1, 1, -2}, {2, 0, 2}, {2, 1, -3}, {1, 2, 1}} {
			for _, off := range []int64{0, 1, 2, 8} {
				out = append(out, l.WithSwizzle(w, sym.Int(off)))
			}
		}
	}
	return out
}

// TestTilerSwizzle: no product or divide leaves out the swizzle of its tiler.
func TestTilerSwizzle(t *testing.T) {
	block, tiler := MustParse("2:1"), MustParse("Sw<1,0,1> o 0 o 4:1")
	for op := range goldenOps {
		switch op {
		case "blocked_product", "raked_product", "logical_product", "zipped_product", "tiled_product", "flat_product",
			"logical_divide", "zipped_divide", "tiled_divide", "flat_divide":
			_, err := call(op, []string{block.String(), tiler.String()})
			require.ErrorContains(t, err, "the tiler Sw<1,0,1> o 0 o 4:1 is swizzled", op)
		}
	}
	r, err := BlockedProduct(tiler, block) // that of the block stays
	require.NoError(t, err)
	require.Equal(t, "Sw<1,0,1> o 0 o ((4,2)):((1,4))", r.String())
}
