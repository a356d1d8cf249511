package atoms

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/elem"
)

// TestGMMAMajors: operands are adjacent along K, or along M or N, and nothing else.
func TestGMMAMajors(t *testing.T) {
	_, err := GMMA(GMMASpec{N: 64, D: elem.KF32, A: elem.KF16, B: elem.KF16, MajorA: "X"})
	require.EqualError(t, err, `atoms: wgmma expects operands that are K-major or MN-major, but got "X"`)
}
