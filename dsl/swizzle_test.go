package dsl

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSwizzleTwice: a swizzle of a swizzled layout applies to its offsets, and replaces nothing.
func TestSwizzleTwice(t *testing.T) {
	once := ParseLayout("Sw<1,0,3> o 16 o (8,8):(8,1)")
	l, err := Swizzle(1, 1, 3, once).Algebra()
	require.NoError(t, err)
	require.Equal(t, "Sw<2,0,3> o 16 o (8,8):(8,1)", l.String())
	_, err = Swizzle(1, 1, 2, once).Algebra()
	require.ErrorContains(t, err, "swizzles of different shifts 2 and 3 do not merge")
	l, err = Swizzle(1, 0, 3, ParseLayout("(8,8):(8,1)")).Algebra()
	require.NoError(t, err)
	require.Equal(t, "Sw<1,0,3> o 0 o (8,8):(8,1)", l.String())
}
