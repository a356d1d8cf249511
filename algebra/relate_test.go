package algebra

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra/sym"
)

// TestOpenRelations: a relation is false where it holds for no value of the symbols, and refused where they leave it open.
func TestOpenRelations(t *testing.T) {
	check := map[string]func(a, b Shape) (bool, error){"compatible": CheckCompatible, "evenly": CheckEvenlyDivides}
	for _, c := range [][4]string{
		{"evenly", "M", "2", "whether 2 divides M is not known (state facts of the symbols)"}, {"evenly", "M*N", "2*M", "whether 2*M divides M*N is not known"},
		{"evenly", "M", "K", "whether K divides M is not known"}, {"evenly", "(M,3)", "(2,2)", "false"}, {"evenly", "(3,M)", "(2,2)", "false"}, {"evenly", "(4,M)", "(2,2)", "whether 2 divides M is not known"},
		{"evenly", "4*M", "2", "true"}, {"evenly", "2*M+1", "2", "false"}, {"evenly", "M", "M", "true"}, {"evenly", "4", "M+4", "false"}, {"evenly", "()", "2", "false"}, {"evenly", "0", "2", "the extent 0 must be at least 1"},
		{"compatible", "M", "8", "whether M is 8 is not known"}, {"compatible", "8", "(M,8)", "whether 8 is 8*M is not known"}, {"compatible", "8", "(M,16)", "false"}, {"compatible", "12", "(8,M)", "false"},
		{"compatible", "(M,8)", "(8,9)", "false"}, {"compatible", "(M,8)", "(8,8)", "whether M is 8 is not known"}, {"compatible", "2*M", "(2,M)", "true"}, {"compatible", "2*M", "7", "false"},
		{"compatible", "(M,M)", "M", "false"}, {"compatible", "-4", "(2,-2)", "the extent -4 must be at least 1"},
	} {
		a, err := ParseShape(c[1])
		require.NoError(t, err)
		b, err := ParseShape(c[2])
		require.NoError(t, err)
		holds, err := check[c[0]](a, b)
		if c[3] != "true" && c[3] != "false" {
			require.ErrorContains(t, err, c[3])
			require.False(t, holds || c[0] == "evenly" && EvenlyDivides(a, b))
			continue
		}
		require.NoError(t, err, "%v", c)
		require.Equal(t, c[3] == "true", holds, "%v", c)
	}
	even := symbol("M", 1, sym.Unbounded, 4)
	holds, err := CheckEvenlyDivides(Extent(even), Extent(2))
	require.NoError(t, err)
	require.True(t, holds)
	holds, err = CheckEvenlyDivides(S(even, 3), Extent(2))
	require.NoError(t, err)
	require.True(t, holds)
	holds, err = CheckCompatible(Extent(symbol("M", 9, sym.Unbounded, 1)), Extent(8))
	require.NoError(t, err)
	require.False(t, holds)
}
