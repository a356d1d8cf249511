package check_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/check"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// throughShared copies an 8x64 tile through shared memory that is written by one layout and read by another.
func throughShared(name string, written, read Layout) *Kernel {
	return Define(name, func(k *K) {
		A := In[elem.F16](k, "A", Shape(8, 64).Strides(64, 1))  // (M,N)
		B := Out[elem.F16](k, "B", Shape(8, 64).Strides(64, 1)) // (M,N)
		k.Threads(64)
		thr, val := Shape(8, 8).Strides(8, 1), Shape(1, 8)
		g2s := NewTiledCopyD[elem.F16](atoms.SM80_CP_ASYNC_CACHEGLOBAL_U128, thr, val)
		s2r := NewTiledCopy[elem.F16](atoms.UniversalCopy[Smem, Rmem](128), thr, val)
		r2g := NewTiledCopy[elem.F16](atoms.UniversalCopy[Rmem, Gmem](128), thr, val)
		sW := Shared[elem.F16](k, "sW", written)      // (M,N)
		sR := SharedOver[elem.F16](k, "sR", read, sW) // (M,N)
		load := g2s.Slice(k.Thread)
		Copy(g2s, load.PartitionS(A), load.PartitionD(sW))
		k.CommitGroup()
		k.WaitGroup(0)
		k.Barrier()
		tS := s2r.Slice(k.Thread).PartitionS(sR) // (CPY,CPY_M,CPY_N)
		frag := FragmentLike(tS)                 // (CPY,CPY_M,CPY_N)
		Copy(s2r, tS, frag)
		Copy(r2g, frag, r2g.Slice(k.Thread).PartitionD(B))
		Expect(B, 0, func(r *Ref) func(at []int64) float64 {
			a := r.Tensor("A")
			return func(at []int64) float64 { return a.At(at...) }
		})
	})
}

// TestSwizzleOnOneSide finds what is no race and no bad address: elements in the wrong places.
func TestSwizzleOnOneSide(t *testing.T) {
	plain := Shape(8, 64).Strides(64, 1)
	swizzled := Swizzle(3, 3, 3, plain)
	for _, c := range []struct {
		name          string
		written, read Layout
		right         bool
	}{
		{"swizzled_twice", swizzled, swizzled, true},
		{"never_swizzled", plain, plain, true},
		{"swizzled_when_written", swizzled, plain, false},
		{"swizzled_when_read", plain, swizzled, false},
	} {
		res, err := check.Run(t.Context(), throughShared(c.name, c.written, c.read), check.Args{}, check.Options{On: check.CPU})
		require.NoError(t, err)
		if c.right {
			require.NoError(t, res.Err(), c.name)
			continue
		}
		require.ErrorContains(t, res.Err(), "elements are wrong", c.name)
		require.NotZero(t, res.Outputs[0].Wrong)
	}
}
