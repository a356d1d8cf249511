package kernels

import (
	"github.com/gocute/gocute/atoms"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// work is a block's part of a product: a tile of C, and of its sum the tiles of K from firstTile on.
type work struct {
	tileM, tileN     Expr
	firstTile, tiles Expr
	endK             Expr // where the block's part of K ends
	unit             Expr // the number of the tile of C, over all products
	units            Expr
	splits, split    Expr // the sum has splits parts, and this block the split-th
	batch            *batch
}

// newWork numbers the tiles of the products and their parts, and sets the grid.
func newWork(k *K, g GEMMConfig, M, N, K Expr) work {
	k.Helper()
	tilesM, tilesN, all := M.CeilDiv(g.BM), N.CeilDiv(g.BN), K.CeilDiv(g.BK)
	w := work{units: tilesM.Mul(tilesN)}
	grid := []any{w.units, 1, 1}
	if g.SplitK {
		w.splits = k.Dim("splits", AtMost(256))
		grid[1] = w.splits
	}
	var l Expr
	if g.Batched {
		l = k.Dim("L", AtMost(1<<16-1))
		grid[2] = l
		w.units = w.units.Mul(l)
	}
	k.Grid(grid...)
	w.tileM, w.tileN = groupedTiles(k, tilesM, tilesN, g.Group)
	w.unit, w.firstTile, w.tiles, w.endK = k.BlockX, k.BlockX.Mul(0), all, K
	if g.SplitK {
		w.split = k.BlockY
		each := k.Let("tilesEach", all.CeilDiv(w.splits))
		w.firstTile = k.Let("firstTile", w.split.Mul(each).Min(all))
		w.tiles = k.Let("tiles", all.Sub(w.firstTile).Min(each))
		w.endK = k.Let("endK", w.firstTile.Add(w.tiles).Mul(g.BK))
	}
	if g.Batched {
		w.batch = &batch{count: l, index: k.BlockZ}
		w.unit = k.BlockZ.Mul(tilesM.Mul(tilesN)).Add(k.BlockX)
	}
	return w
}

// groupedTiles numbers the m*n tiles of the output so that blocks that run together share rows of A and columns of
// B: group rows of tiles, column by column, then the next group.
func groupedTiles(k *K, m, n Expr, group int) (tileM, tileN Expr) {
	k.Helper()
	perGroup := k.Let("perGroup", n.Mul(group))
	first := k.Let("groupFirst", k.BlockX.Div(perGroup).Mul(group).Min(m))
	rows := k.Let("groupRows", m.Sub(first).Min(group).Max(1)) // the last group may have fewer
	within := k.Let("inGroup", k.BlockX.Mod(perGroup))
	tileM = k.Let("blockM", first.Add(within.Mod(rows)))
	tileN = k.Let("blockN", within.Div(rows).Min(n.Sub(1)))
	return tileM, tileN
}

// workspace is where the blocks that share a tile meet.
type workspace[Acc elem.Any] struct {
	use      bool
	work     work
	parts    Tensor[Gmem, Acc]      // (vectors of a block's threads,MMA_M,MMA_N,part)
	counters Tensor[Gmem, elem.U32] // one for each tile of C, zero between launches
	threads  int
}

// newWorkspace declares the workspace of a kernel whose sums have parts. It holds the accumulators of one block after the other.
func newWorkspace[Acc elem.Any](k *K, g GEMMConfig, w work, threads int) workspace[Acc] {
	k.Helper()
	ws := workspace[Acc]{use: g.SplitK, work: w, threads: threads}
	if !g.SplitK {
		return ws
	}
	row := 4 * threads // a vector of four accumulators for each thread
	mmaM, mmaN := g.BM/(16*g.WarpM), g.BN/(8*g.WarpN)
	ws.parts = InOut[Acc](k, "parts", Shape(row, mmaM, mmaN, w.units.Mul(w.splits)).Strides(1, row, row*mmaM, row*mmaM*mmaN))
	ws.counters = InOut[elem.U32](k, "counters", Shape(w.units))
	return ws
}

// finish calls store with the whole sum, in the block that has it.
func (ws workspace[Acc]) finish(k *K, acc Tensor[Rmem, Acc], store func()) {
	k.Helper()
	if !ws.use {
		store()
		return
	}
	bits, thr, val := 4*elem.KindOf[Acc]().Bits(), Shape(ws.threads), Shape(4)
	r2g := NewTiledCopy[Acc](atoms.UniversalCopy[Rmem, Gmem](bits), thr, val)
	g2r := NewTiledCopy[Acc](atoms.UniversalCopy[Gmem, Rmem](bits), thr, val)
	w := ws.work
	part := func(split Expr) Expr { return w.unit.Mul(w.splits).Add(split) }
	mine := r2g.Slice(k.Thread).PartitionD(ws.parts.At(All, All, All, part(w.split))) // (CPY,1,MMA_M,MMA_N)
	vec := FragmentLike(ws.parts.At(All, 0, 0, 0).Tile(Tile(4), 0))                   // (4)
	each := func(f func(m, n int)) {
		for n := range acc.Extent(2) {
			for m := range acc.Extent(1) {
				f(m, n)
			}
		}
	}
	missing := k.Var("missing", 0, 0, 256) // blocks that are still to come
	k.If(w.splits.Ne(1), func() {
		each(func(m, n int) {
			Map(acc.At(All, m, n), vec, func(v Val[Acc]) Val[Acc] { return v })
			Copy(r2g, vec, mine.At(All, 0, m, n))
		})
		missing.Set(w.splits.Sub(1).Sub(Arrive(k, ws.counters.At(w.unit), w.splits)))
	}, nil)
	k.If(missing.Eq(0), func() {
		k.If(w.splits.Ne(1), func() {
			Clear(acc)
			k.Loop(0, w.splits, func(s Expr) {
				theirs := g2r.Slice(k.Thread).PartitionS(ws.parts.At(All, All, All, part(s))) // (CPY,1,MMA_M,MMA_N)
				each(func(m, n int) {
					Copy(g2r, theirs.At(All, 0, m, n), vec)
					Combine(acc.At(All, m, n), vec, func(sum, v Val[Acc]) Val[Acc] { return sum.Add(v) })
				})
			})
		}, nil)
		store()
	}, nil)
}
