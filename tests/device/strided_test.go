package device

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/check"
	"github.com/gocute/gocute/cuda"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// stridedCopy moves rows of any length, with a stride of their own, through shared memory: 16-byte copies that
// straddle the end of a row take fewer bytes from it and fill the rest with zeros.
func stridedCopy() *Kernel {
	return Define("strided_copy", func(k *K) {
		M, N := k.Dim("M"), k.Dim("N")
		lda := k.Dim("lda", Multiple(8))
		A := In[elem.F16](k, "A", Shape(M, N).Strides(lda, 1)) // (M,N)
		B := Out[elem.F16](k, "B", Shape(M, N).Strides(N, 1))  // (M,N)
		k.Require(N.Le(lda), "lda must be at least N")
		k.Threads(64)
		k.Grid(M.CeilDiv(16), N.CeilDiv(64))
		g2s := NewTiledCopyD[elem.F16](atoms.SM80_CP_ASYNC_CACHEGLOBAL_U128, Shape(8, 8).Strides(8, 1), Shape(1, 8))
		s2r := NewTiledCopy[elem.F16](atoms.UniversalCopy[Smem, Rmem](128), Shape(8, 8).Strides(8, 1), Shape(1, 8))
		r2g := NewTiledCopy[elem.F16](atoms.UniversalCopy[Rmem, Gmem](16), Shape(8, 8).Strides(8, 1), Shape(1, 8))
		sA := Shared[elem.F16](k, "sA", Shape(16, 64).Strides(64, 1)) // (BLK_M,BLK_N)
		gA := A.Tile(Tile(16, 64), k.BlockX, k.BlockY)                // (BLK_M,BLK_N)
		gB := B.Tile(Tile(16, 64), k.BlockX, k.BlockY)                // (BLK_M,BLK_N)
		load := g2s.Slice(k.Thread)
		Copy(g2s, load.PartitionS(gA), load.PartitionD(sA))
		k.CommitGroup()
		k.WaitGroup(0)
		k.Barrier()
		tS := s2r.Slice(k.Thread).PartitionS(sA) // (CPY,CPY_M,CPY_N)
		frag := FragmentLike(tS)                 // (CPY,CPY_M,CPY_N)
		Copy(s2r, tS, frag)
		Copy(r2g, frag, r2g.Slice(k.Thread).PartitionD(gB))
		Expect(B, 0, func(r *Ref) func(at []int64) float64 {
			a := r.Tensor("A")
			return func(at []int64) float64 { return a.At(at...) }
		})
	})
}

// TestStridedTails runs rows of every length modulo 8 in the emulator, and on the GPU if there is one.
func TestStridedTails(t *testing.T) {
	places := []check.Where{check.CPU}
	if dev, err := cuda.Open(0); err == nil {
		dev.Close()
		places = append(places, check.GPU)
	}
	for _, on := range places {
		for n := int64(57); n <= 72; n++ {
			args := check.Args{Dims: map[string]int64{"M": 19, "N": n, "lda": 80}, Seed: n}
			res, err := check.Run(context.Background(), stridedCopy(), args, check.Options{On: on})
			require.NoError(t, err)
			require.NoError(t, res.Err(), "%v, rows of %d", on, n)
		}
	}
}
