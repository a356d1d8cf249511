package tests

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/check"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen"
)

// TestProjections: one tile over (M,N,K), one coordinate and one layout of threads serve A and C; an identity tensor
// goes through the same steps as C by itself.
func TestProjections(t *testing.T) {
	k := Define("projections", func(k *K) {
		a := In[elem.S32](k, "A", Shape(24, 20).Strides(20, 1))
		c := Out[elem.S32](k, "C", Shape(24, 16).Strides(16, 1))
		k.Threads(32)
		k.Grid(3, 2)
		tile, thr := Tile(8, 8, 20), Shape(8, 4, 1).Strides(4, 1, 0)
		gA := a.TileProj(tile, Proj(1, X, 1), k.BlockX, k.BlockY, 0) // (8,20)
		gC := c.TileProj(tile, Proj(1, 1, X), k.BlockX, k.BlockY, 0) // (8,8)
		tA := gA.LocalPartition(thr, k.Thread, Proj(1, X, 1))        // (1,20)
		tC := gC.LocalPartition(thr, k.Thread, Proj(1, 1, X))        // (1,2)
		frag := FragmentLike(tC)
		for j := range tC.Extent(1) {
			row, col := Coord(tC, 0, 0, j), Coord(tC, 1, 0, j)
			Map(tA.At(All, 3), frag.At(All, j), func(v Val[elem.S32]) Val[elem.S32] {
				return v.Add(ToVal[elem.S32](row.Mul(100).Add(col)))
			})
		}
		Map(frag, tC, func(v Val[elem.S32]) Val[elem.S32] { return v })
		Expect(c, 0, func(r *Ref) func(at []int64) float64 {
			a := r.Tensor("A")
			return func(at []int64) float64 { return a.At(at[0], 3) + float64(at[0]*100+at[1]) }
		})
	})
	res, err := check.Run(t.Context(), k, check.Args{Seed: 3}, check.Options{On: check.CPU})
	require.NoError(t, err)
	require.NoError(t, res.Err())
}

func TestProjectionsRefuse(t *testing.T) {
	k := Define("refused", func(k *K) {
		c := Out[elem.S32](k, "C", Shape(24, 16))
		k.Threads(32)
		c.TileProj(Tile(8, 8, 20), Proj(1, 1), 0, 0, 0)
		c.TileProj(Tile(8, 8, 20), Proj(1, 2, X), 0, 0, 0)
		c.LocalPartition(Shape(8, 2), k.Thread)
		c.LocalPartition(Shape(8, 2, 2), k.Thread)
		Coord(c, 2, 0, 0)
		Coord(c, 0, 0)
		In[elem.S4](k, "D", Shape(8))
		Shared[elem.C64](k, "s", Shape(8))
	})
	err := k.Err()
	for _, want := range []string{
		"TileProj: expects a projection of 3 modes, but got one of 2",
		"TileProj: a projection expects 1 or X, but got 2",
		"LocalPartition: expects a thread from 0 to 15, those of the layout, but tid may be 31",
		"LocalPartition: C: expects a layout of threads of at most rank 2, that of C, but got (8,2,2):(1,8,16)",
		"Coord: expects a flat mode of the tensor that C is a view of, but it has no mode 2",
		"Coord: expects 2 indices, one for each mode of C (24,16), but got 1",
		"In: D: elements of type s4 live in registers only; declare the words that hold them and Recast the fragment",
		"Shared: s: elements of type c64 live in registers only",
	} {
		require.ErrorContains(t, err, want)
	}
}

// TestAutoVectorizing: the width is the widest that both sides allow.
func TestAutoVectorizing(t *testing.T) {
	for _, c := range []struct {
		stride, width int
		want          string
	}{{64, 128, "load_constant_b128"}, {64, 64, "load_constant_b64"}, {66, 128, "load_constant_b32"}, {65, 128, "set_f16"}} {
		k := Define("vectors", func(k *K) {
			src := In[elem.F16](k, "A", Shape(8, 64).Strides(c.stride, 1))
			dst := Out[elem.F16](k, "B", Shape(8, 64).Strides(64, 1))
			k.Threads(64)
			load := NewTiledCopy[elem.F16](atoms.AutoVectorizingCopyUpTo[Gmem, Rmem](c.width), Shape(8, 8), Shape(1, 8))
			store := NewTiledCopy[elem.F16](atoms.AutoVectorizingCopy[Rmem, Gmem](), Shape(8, 8), Shape(1, 8))
			frag := FragmentLike(load.Slice(k.Thread).PartitionS(src))
			Copy(load, load.Slice(k.Thread).PartitionS(src), frag)
			Copy(store, frag, store.Slice(k.Thread).PartitionD(dst))
			Expect(dst, 0, func(r *Ref) func(at []int64) float64 {
				return func(at []int64) float64 { return r.Tensor("A").At(at...) }
			})
		})
		o, err := gen.Generate(k, gen.Options{})
		require.NoError(t, err)
		body := string(o.CUDA)[strings.Index(string(o.CUDA), "__global__"):]
		require.Contains(t, body, c.want, "stride %d, at most %d bits", c.stride, c.width)
		require.Contains(t, body, "store_b128")
		res, err := check.Run(t.Context(), k, check.Args{Seed: 1}, check.Options{On: check.CPU})
		require.NoError(t, err)
		require.NoError(t, res.Err())
	}
}

// TestDividedForms: the layouts by threads that CuTe calls tidfrg and thrfrg, and the shapes of partitions.
func TestDividedForms(t *testing.T) {
	m := NewTiledMMA(atoms.SM80_16x8x16_F32F16F16F32_TN, Shape(2, 2, 1))
	require.Equal(t, "(((4,8),(2,1)),((2,2,2),(1,1)))", shapeOf(t, m.ThrfrgA(Shape(32, 16))))
	require.Equal(t, "((2,2,2),2,3)", shapeOf(t, m.PartitionShapeA(Shape(64, 48))))
	require.Equal(t, "((2,2),2,3)", shapeOf(t, m.PartitionShapeB(Shape(32, 48))))
	require.Equal(t, "((2,2),1,1)", shapeOf(t, m.PartitionShapeC()))
	require.Error(t, layoutErr(m.PartitionShapeA(Shape(33, 48))))
	require.NoError(t, layoutErr(m.ThrfrgB(Shape(16, 16))))
	require.NoError(t, layoutErr(m.ThrfrgC(Shape(32, 16))))
	c := NewTiledCopy[elem.F32](atoms.UniversalCopy[Gmem, Rmem](128), Shape(4, 8).Strides(8, 1), Shape(1, 4).Strides(4, 1))
	require.Equal(t, "((8,4),(4,1),(2,4))", shapeOf(t, c.TidfrgS(Shape(8, 128).Strides(128, 1))))
	require.Equal(t, "((8,4),(4,1),(2,4))", shapeOf(t, c.TidfrgD(Shape(8, 128).Strides(128, 1))))
}

func layoutErr(l Layout) error { _, err := l.Algebra(); return err }

func shapeOf(t *testing.T, l Layout) string {
	t.Helper()
	a, err := l.Algebra()
	require.NoError(t, err)
	return a.Shape().String()
}

// TestAutoVectorizingTails: what a vector cannot be is what the tail, the swizzle and the layouts say.
func TestAutoVectorizingTails(t *testing.T) {
	for _, c := range []struct{ rows, cols, stride, m int }{{8, 64, 64, 3}, {7, 61, 64, 3}, {8, 60, 66, 2}, {5, 33, 35, 1}, {8, 64, 64, 0}} {
		k := Define("tails", func(k *K) {
			src := In[elem.F16](k, "A", Shape(c.rows, c.cols).Strides(c.stride, 1))
			dst := Out[elem.F16](k, "B", Shape(c.rows, c.cols).Strides(c.stride, 1))
			k.Threads(64)
			sA := Shared[elem.F16](k, "sA", Swizzle(3, c.m, 3, Shape(8, 64).Strides(64, 1)))
			in := NewTiledCopy[elem.F16](atoms.AutoVectorizingCopy[Gmem, Smem](), Shape(8, 8), Shape(1, 8))
			out := NewTiledCopy[elem.F16](atoms.AutoVectorizingCopy[Smem, Gmem](), Shape(8, 8), Shape(1, 8))
			tile := Tile(8, 64)
			load, save := in.Slice(k.Thread), out.Slice(k.Thread)
			Copy(in, load.PartitionS(src.Tile(tile, 0, 0)), load.PartitionD(sA))
			k.Barrier()
			Copy(out, save.PartitionS(sA), save.PartitionD(dst.Tile(tile, 0, 0)))
			Expect(dst, 0, func(r *Ref) func(at []int64) float64 {
				return func(at []int64) float64 { return r.Tensor("A").At(at...) }
			})
		})
		res, err := check.Run(t.Context(), k, check.Args{Seed: 1}, check.Options{On: check.CPU})
		require.NoError(t, err)
		require.NoError(t, res.Err(), "%v", c)
		_, err = gen.Generate(k, gen.Options{})
		require.NoError(t, err)
	}
}

// TestGMMALayouts: wgmma's tiles partition as any others; Gemm does not issue its instructions.
func TestGMMALayouts(t *testing.T) {
	atom, err := atoms.GMMAOf[elem.F32, elem.F16, elem.F16](atoms.GMMASpec{N: 64, Registers: true})
	require.NoError(t, err)
	_, err = atoms.GMMAOf[elem.F32, elem.F16, elem.BF16](atoms.GMMASpec{N: 64})
	require.ErrorContains(t, err, "there is no wgmma of f16 by bf16 into f32")
	k := Define("gmma", func(k *K) {
		Out[elem.F32](k, "D", Shape(64, 64))
		k.Threads(128)
		mma := NewTiledMMA(atom, Shape(1, 1, 1))
		require.Equal(t, "((4,8,4),((2,2,8),(1,1))):((128,1,16),((64,8,512),(0,0)))", mma.LayoutC().String())
		require.Equal(t, "((2,2,2),2,3)", shapeOf(t, mma.PartitionShapeA(Shape(128, 48))))
		thr := mma.Slice(k.Thread)
		a, c := FragmentOfA(thr), FragmentOfC(thr)
		FragmentOfB(thr)
		b := Tensor[Rmem, elem.F16](FragmentOfA(thr))
		Gemm(mma, a, b, c)
	})
	require.ErrorContains(t, k.Err(), "FragmentOfB: SM90_64x64x16_F32F16F16_RS reads operand B from shared memory, through a descriptor: it has no fragment")
	require.ErrorContains(t, k.Err(), "Gemm: SM90_64x64x16_F32F16F16_RS is asynchronous and reads shared memory: WarpgroupGemm issues it")
}

// TestSpaces: an instruction that joins two spaces is refused between others, and what Copy and Gemm cannot issue says so.
func TestSpaces(t *testing.T) {
	k := Define("spaces", func(k *K) {
		c := Out[elem.F16](k, "C", Shape(8, 64))
		k.Threads(32)
		s := Shared[elem.F16](k, "s", Shape(8, 64))
		load := NewTiledCopy[elem.F16](atoms.SM75_U32x1_LDSM_N, Shape(8, 4).Strides(4, 1), Shape(1, 2)).Slice(k.Thread)
		_ = load.PartitionS(s)
		store := NewTiledCopy[elem.F64](atoms.SM90_U32x1_STSM_N, Shape(32), Shape(1))
		require.ErrorContains(t, store.Err(), "SM90_U32x1_STSM_N fills registers of 32 bits, but an element of type f64 has 64")
		_ = c
	})
	require.NoError(t, k.Err())
}
