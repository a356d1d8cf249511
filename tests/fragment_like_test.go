package tests

import (
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// What has stride 0 shares a register, but not in global memory: of two rows at one address the second may be beyond M,
// and its zeros must not become the first one's.
func TestFragmentLikeBroadcast(t *testing.T) {
	Define("broadcast", func(k *K) {
		M := k.Dim("M")
		A := In[elem.F32](k, "A", Shape(M, 8).Strides(0, 1))     // (M,N)
		S := Shared[elem.F32](k, "S", Shape(4, 8).Strides(0, 1)) // (M,N)
		k.Threads(1)
		global := FragmentLike(A.Tile(Tile(4, 8), 0, 0)) // (M,N)
		require.Equal(t, "(4,(8)):(1,(4))", global.Layout().String())
		require.Equal(t, "(4,(8)):(0,(1))", FragmentLike(S).Layout().String())
	})
}
