package kernels

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFamilies records every candidate of the library's families: a mistake in one would only show as pruned.
func TestFamilies(t *testing.T) {
	f := GEMMFamily()
	require.NoError(t, f.Err())
	for _, c := range f.Candidates {
		k := c.Kernel()
		require.NotNil(t, k)
		if err := k.Err(); err != nil {
			require.ErrorContains(t, err, "bytes of shared memory", c.Config)
		}
	}
}
