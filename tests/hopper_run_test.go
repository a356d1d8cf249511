package tests

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/check"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// boxCopy copies A (M,K,L) by boxes of rows by 64 by 2 elements through so many stages, some of which lie over another array.
func boxCopy(rows, stages int, over bool) *Kernel {
	return Define("box_copy", func(k *K) {
		M, K, L := k.Dim("M"), k.Dim("K", Multiple(8)), k.Dim("L")
		stride := k.Dim("stride", Multiple(8))
		A := In[elem.F16](k, "A", Shape(M, K, L).Strides(K, 1, stride))
		C := Out[elem.F16](k, "C", Shape(M, K, L).Strides(K, 1, K.Mul(M)))
		k.Threads(128)
		k.Grid(M.CeilDiv(rows), L.CeilDiv(2))
		p := NewPipeline(k, "pipe", stages, TMALoads)
		swizzle := TileToShape(Swizzle(3, 3, 3, Shape(8, 64).Strides(64, 1)), rows, 64, 2, stages)
		sA := Shared[elem.F16](k, "sA", swizzle)
		if over {
			small := Shared[elem.U32](k, "small", Shape(4))
			sA = SharedOver[elem.F16](k, "sO", swizzle, small)
		}
		vec := Shape(1, 8)
		s2r := NewTiledCopy[elem.F16](atoms.UniversalCopy[Smem, Rmem](128), Shape(16, 8).Strides(8, 1), vec)
		r2g := NewTiledCopy[elem.F16](atoms.UniversalCopy[Rmem, Gmem](128), Shape(16, 8).Strides(8, 1), vec)
		tiles := k.Let("tiles", K.CeilDiv(64))
		cut := func(t Tensor[Gmem, elem.F16], n Expr) Tensor[Gmem, elem.F16] {
			return t.Tile(Tile(rows, 64, 2), k.BlockX, n, k.BlockY)
		}
		fill := func(n Expr) {
			k.If(n.Lt(tiles), func() {
				p.Fill(n, func(f *StageFill) { TMALoad(f, cut(A, n), sA.At(All, All, All, p.Stage(n))) })
			}, nil)
		}
		k.Loop(0, stages-1, fill)
		k.Loop(0, tiles, func(n Expr) {
			p.Wait(n)
			from := s2r.Slice(k.Thread).PartitionS(sA.At(All, All, All, p.Stage(n)))
			frag := FragmentLike(from)
			Copy(s2r, from, frag)
			p.Release(n)
			fill(n.Add(stages - 1))
			Copy(r2g, frag, r2g.Slice(k.Thread).PartitionD(cut(C, n)))
		})
		p.Drain()
		Expect(C, 0, func(r *Ref) func(at []int64) float64 {
			a := r.Tensor("A")
			return func(at []int64) float64 { return a.At(at...) }
		})
	})
}

// TestBoxCopies: boxes of three dimensions arrive, with edges in all of them, fewer tiles than stages and rows of a batch
// that end in the middle of a box.
func TestBoxCopies(t *testing.T) {
	for _, k := range []*Kernel{boxCopy(16, 2, false), boxCopy(32, 3, true), boxCopy(16, 5, true)} {
		require.NoError(t, k.Err())
		for i, s := range [][3]int64{{16, 64, 2}, {37, 200, 3}, {1, 8, 1}, {15, 56, 5}, {33, 456, 2}} {
			check.Kernel(t, k, check.Args{Dims: map[string]int64{"M": s[0], "K": s[1], "L": s[2], "stride": s[0]*s[1] + 8*int64(i%2)}, Seed: int64(i)},
				check.Options{On: check.CPU, EmuSeeds: []uint64{0, uint64(i + 1)}})
		}
	}
}

// stepProduct is C (128,128) = A (128,K) * B (128,K)' by four warpgroups, two along each of M and N, whose steps along K are
// a loop of the kernel, and whose stages hold two blocks of rows.
func stepProduct() *Kernel {
	return Define("step_product", func(k *K) {
		K := k.Dim("K", Multiple(128))
		A := In[elem.BF16](k, "A", Shape(128, K).Strides(K, 1))
		B := In[elem.BF16](k, "B", Shape(128, K).Strides(K, 1))
		C := Out[elem.F32](k, "C", Shape(128, 128).Strides(128, 1))
		atom, err := atoms.GMMAOf[elem.F32, elem.BF16, elem.BF16](atoms.GMMASpec{N: 64})
		k.Fail("GMMAOf", err)
		mma := NewTiledMMA(atom, Shape(2, 2))
		k.Threads(mma.Threads())
		thr := mma.Slice(k.Thread)
		stages := TileToShape(Swizzle(3, 3, 3, Shape(8, 64).Strides(64, 1)), 128, 128, 2)
		sA, sB := Shared[elem.BF16](k, "sA", stages), Shared[elem.BF16](k, "sB", stages)
		a, b, acc := PartitionA(thr, sA), PartitionB(thr, sB), FragmentC(thr, C) // (MMA,MMA_M,MMA_K,PIPE) …
		p := NewPipeline(k, "pipe", 2, TMALoads)
		Clear(acc)
		k.Loop(0, K.Div(128), func(n Expr) {
			p.Fill(n, func(f *StageFill) {
				TMALoad(f, A.Tile(Tile(128, 128), 0, n), sA.At(All, All, p.Stage(n)))
				TMALoad(f, B.Tile(Tile(128, 128), 0, n), sB.At(All, All, p.Stage(n)))
			})
			p.Wait(n)
			k.WarpgroupArrive()
			k.Loop(0, 8, func(step Expr) {
				WarpgroupGemm(mma, a.At(All, All, step, p.Stage(n)), b.At(All, All, step, p.Stage(n)), acc)
			})
			k.WarpgroupCommitBatch()
			k.WarpgroupWait(0)
			p.Release(n)
		})
		Map(acc, PartitionC(thr, C), func(v Val[elem.F32]) Val[elem.F32] { return v })
		Expect(C, 1e-5, func(r *Ref) func(at []int64) float64 {
			a, b := r.Tensor("A"), r.Tensor("B")
			return func(at []int64) float64 {
				sum := 0.0
				for x := range a.Extents[1] {
					sum += a.At(at[0], x) * b.At(at[1], x)
				}
				return sum
			}
		})
	})
}

// TestSteps: an operand that moves with a loop of the kernel, over blocks of rows, is where its descriptor says.
func TestSteps(t *testing.T) {
	k := stepProduct()
	require.NoError(t, k.Err())
	for _, depth := range []int64{128, 384} {
		check.Kernel(t, k, check.Args{Dims: map[string]int64{"K": depth}, Seed: 1}, check.Options{On: check.CPU, EmuSeeds: []uint64{0, 1}})
	}
}

// TestBoxOverStores: a box that comes over what ordinary stores wrote is found, whatever barrier is between.
func TestBoxOverStores(t *testing.T) {
	k := Define("over_stores", func(k *K) {
		A := In[elem.F32](k, "A", Shape(32, 32).Strides(32, 1))
		C := Out[elem.F32](k, "C", Shape(32, 32).Strides(32, 1))
		k.Threads(32)
		s := Shared[elem.F32](k, "s", Shape(32, 32).Strides(32, 1))
		p := NewPipeline(k, "pipe", 2, TMALoads)
		row := s.Tile(Tile(1, 32), k.Thread, 0)
		zero := FragmentLike(row)
		Clear(zero)
		Map(zero, row, func(v Val[elem.F32]) Val[elem.F32] { return v })
		k.Barrier()
		p.Fill(0, func(f *StageFill) { TMALoad(f, A, s) })
		p.Wait(0)
		Map(row, C.Tile(Tile(1, 32), k.Thread, 0), func(v Val[elem.F32]) Val[elem.F32] { return v })
	})
	require.NoError(t, k.Err())
	res, err := check.Run(t.Context(), k, check.Args{}, check.Options{On: check.CPU})
	require.NoError(t, err)
	require.ErrorContains(t, res.Err(), "proxy: TMALoad writes s[0], to which an ordinary store was made")
}
