package kernels

import (
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

func add[E elem.Any](x, y Val[E]) Val[E] { return x.Add(y) }

// RowSums adds the sum of each row of A to S. A warp sums 256 elements of a row: each lane every 32nd of them, then the
// lanes by shuffles. The warps that share a row add their parts atomically.
func RowSums() *Kernel {
	const warps, chunk = 4, 256
	return Define("row_sums", func(k *K) {
		M, N := k.Dim("M"), k.Dim("N")
		A := In[elem.F32](k, "A", Shape(M, N).Strides(N, 1)) // (M,N)
		S := InOut[elem.F32](k, "S", Shape(M))               // (M)
		k.Threads(32 * warps)
		k.Grid(M.CeilDiv(warps), N.CeilDiv(chunk))
		row := k.Let("row", k.BlockX.Mul(warps).Add(k.Thread.Div(32)))
		lane := k.Thread.Mod(32)
		gA := A.At(row, All).Tile(Tile(chunk), k.BlockY) // (BLK_N)
		sum := FragmentLike(S.Tile(Tile(1), row))
		Clear(sum)
		k.Unroll(chunk/32, func(i Expr) { Combine(sum, gA.Tile(Tile(1), i.Mul(32).Add(lane)), add) })
		ReduceWarp(sum, 32, add)
		k.If(lane.Eq(0), func() { AtomicAdd(S.Tile(Tile(1), row), sum) }, nil)
		// Of f32, whose sums depend on the order: the error is that of a few roundings of a sum of up to N terms.
		Expect(S, 1e-5, func(r *Ref) func(at []int64) float64 {
			a, s := r.Tensor("A"), r.Tensor("S")
			return func(at []int64) float64 {
				total := s.At(at[0])
				for n := range a.Extents[1] {
					total += a.At(at[0], n)
				}
				return total
			}
		})
	})
}

// ColumnSums adds the sum of each column of A to S, in whole numbers. A block sums 64 rows of 32 columns: each warp 16
// of the rows, the warps together atomically in shared memory, and the blocks in global memory.
func ColumnSums() *Kernel {
	const warps, rows = 4, 16
	return Define("column_sums", func(k *K) {
		M, N := k.Dim("M"), k.Dim("N")
		A := In[elem.S32](k, "A", Shape(M, N).Strides(N, 1)) // (M,N)
		S := InOut[elem.S32](k, "S", Shape(N))               // (N)
		k.Threads(32 * warps)
		k.Grid(N.CeilDiv(32), M.CeilDiv(warps*rows))
		warp, lane := k.Thread.Div(32), k.Thread.Mod(32)
		column := k.Let("column", k.BlockX.Mul(32).Add(lane))
		gA := A.At(All, column).Tile(Tile(rows), k.BlockY.Mul(warps).Add(warp)) // (BLK_M)
		sum := FragmentLike(S.Tile(Tile(1), column))
		sS := Shared[elem.S32](k, "sS", Shape(32)).Tile(Tile(1), lane)

		Clear(sum)
		k.If(warp.Eq(0), func() { Map(sum, sS, same) }, nil)
		k.Unroll(rows, func(i Expr) { Combine(sum, gA.Tile(Tile(1), i), add) })
		k.Barrier()
		AtomicAdd(sS, sum)
		k.Barrier()
		k.If(warp.Eq(0), func() {
			Map(sS, sum, same)
			AtomicAdd(S.Tile(Tile(1), column), sum)
		}, nil)
		Expect(S, 0, func(r *Ref) func(at []int64) float64 {
			a, s := r.Tensor("A"), r.Tensor("S")
			return func(at []int64) float64 {
				total := s.At(at[0])
				for m := range a.Extents[0] {
					total += a.At(m, at[0])
				}
				return total
			}
		})
	})
}
