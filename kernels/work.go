package kernels

import (
	. "github.com/gocute/gocute/dsl"
)

// work is a block's part of a product: a tile of C, and of its sum the tiles of K from firstTile on.
type work struct {
	tileM, tileN     Expr
	firstTile, tiles Expr
	endK             Expr // where the part of K ends
	units            Expr // tiles of C, over all products
	shared           Cond // whether several blocks have parts of the tile's sum,
	share            func() share
	slots            Expr // and how many parts the workspace holds
	batch            *batch
	thread           Expr        // the thread that finishes it
	again            func() work // the same, computed anew; see afterwards
}

// afterwards is the same work with its numbers computed anew, so that the main loop need not keep them in registers.
func (w work) afterwards() work {
	if w.again == nil {
		return w
	}
	return w.again()
}

// batch is the product of several that a block belongs to.
type batch struct{ count, index Expr }

// share says how the sum of a tile is shared between blocks.
type share struct {
	parts, mine Expr              // how many parts there are, and which one is this block's
	counter     Expr              // where the blocks meet
	slot        func(j Expr) Expr // where the j-th part is in the workspace
}

// newWork numbers the tiles of the products and their parts, and sets the grid: one block for each.
func newWork(k *K, g GEMMConfig, M, N, K Expr) work {
	k.Helper()
	tilesM, tilesN, all := M.CeilDiv(g.BM), N.CeilDiv(g.BN), K.CeilDiv(g.BK)
	w := work{units: tilesM.Mul(tilesN), thread: k.Thread}
	grid := []any{w.units, 1, 1}
	var splits, l Expr
	if g.SplitK {
		splits = k.Dim("splits", AtMost(256))
		grid[1] = splits
	}
	if g.Batched {
		l = k.Dim("L", AtMost(1<<16-1))
		grid[2] = l
		w.units = w.units.Mul(l)
	}
	k.Grid(grid...)
	w.tileM, w.tileN = groupedTiles(k, k.BlockX, tilesM, tilesN, g.Group)
	unit := k.BlockX
	w.firstTile, w.tiles, w.endK = k.BlockX.Mul(0), all, K
	if g.Batched {
		w.batch = &batch{count: l, index: k.BlockZ}
		unit = k.BlockZ.Mul(tilesM.Mul(tilesN)).Add(k.BlockX)
	}
	w.again = func() work {
		k.Helper()
		v := w
		v.thread = k.Opaque("thread", k.Thread)
		v.tileM, v.tileN = groupedTiles(k, k.Opaque("block", k.BlockX), k.Opaque("tilesM", tilesM), k.Opaque("tilesN", tilesN), g.Group)
		return v
	}
	if g.SplitK {
		each := k.Let("tilesEach", all.CeilDiv(splits))
		w.firstTile = k.Let("firstTile", k.BlockY.Mul(each).Min(all))
		w.tiles = k.Let("tiles", all.Sub(w.firstTile).Min(each))
		if g.Sync != TMALoads { // whose tiles end where the part does
			w.endK = k.Let("endK", w.firstTile.Add(w.tiles).Mul(g.BK))
		}
		w.shared, w.slots = splits.Ne(1), w.units.Mul(splits)
		w.share = func() share {
			unit, mine := k.Opaque("unit", unit), k.Opaque("mine", k.BlockY)
			return share{parts: splits, mine: mine, counter: unit, slot: func(j Expr) Expr { return unit.Mul(splits).Add(j) }}
		}
	}
	return w
}

// groupedTiles numbers the m*n tiles of the output so that blocks that run together share rows of A and columns of
// B: group rows of tiles, column by column, then the next group.
func groupedTiles(k *K, tile, m, n Expr, group int) (tileM, tileN Expr) {
	k.Helper()
	perGroup := k.Let("perGroup", n.Mul(group))
	first := k.Let("groupFirst", tile.Div(perGroup).Mul(group).Min(m))
	rows := k.Let("groupRows", m.Sub(first).Min(group).Max(1)) // the last group may have fewer
	within := k.Let("inGroup", tile.Mod(perGroup))
	tileM = k.Let("blockM", first.Add(within.Mod(rows)))
	tileN = k.Let("blockN", within.Div(rows).Min(n.Sub(1)))
	return tileM, tileN
}
