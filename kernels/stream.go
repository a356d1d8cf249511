package kernels

import (
	"math"

	. "github.com/gocute/gocute/dsl"
)

// stream deals a product out to blocks that stay (stream-K): the first shared tiles of C are one sequence of tiles of K,
// cut into one piece for each block; the other tiles follow whole, one after the other. A unit is what a block does of
// one tile.
type stream struct {
	k              *K
	g              GEMMConfig
	tilesM, tilesN Expr
	all            Expr // tiles of K
	blocks, shared Expr
	units          Expr // of this block

	left, whole Var // tiles of K left of the piece, and the next whole tile of C
	// The unit whose copies are being started.
	tile, tileM, tileN, first, tiles Var
}

// newStream sets the grid.
func newStream(k *K, g GEMMConfig, M, N, K Expr) *stream {
	k.Helper()
	s := &stream{k: k, g: g, tilesM: M.CeilDiv(g.BM), tilesN: N.CeilDiv(g.BN), all: K.CeilDiv(g.BK)}
	s.blocks, s.shared = k.Dim("blocks", AtMost(1<<16)), k.Dim("shared", AtLeast(0))
	tiles := s.tilesM.Mul(s.tilesN)
	k.Require(tiles.Le(MaxExtent), "at most 2^30 tiles of C")
	k.Require(s.shared.Le(tiles), "no more shared tiles than C has")
	k.Require(s.shared.Mul(s.all).Le(MaxExtent), "at most 2^30 tiles of K in the shared tiles")
	k.Require(s.shared.Eq(0).Or(s.blocks.Le(s.shared.Mul(s.all))), "a tile of K for each block where tiles are shared")
	k.Grid(s.blocks)
	count := func(name string, init any, most int) Var { return k.Var(name, init, 0, int64(most)) }
	lo, hi := count("piece", s.pieceStart(k.BlockX), MaxExtent), s.pieceStart(k.BlockX.Add(1))
	s.left = count("left", hi.Sub(lo.Expr), MaxExtent)
	s.whole = count("whole", s.shared.Add(k.BlockX), math.MaxInt32)
	s.tile = k.Var("tile", lo.Div(s.all).Sub(1), -1, MaxExtent)
	s.first, s.tiles = count("firstTile", lo.Mod(s.all), MaxExtent/g.BK), count("tiles", 0, MaxExtent/g.BK)
	s.tileM, s.tileN = count("tileM", 0, MaxExtent/g.BM), count("tileN", 0, MaxExtent/g.BN)
	pieceUnits := s.first.Add(s.left.Expr).CeilDiv(s.all).Mul(s.left.Min(1))
	s.units = count("units", tiles.Sub(s.whole.Expr).Max(0).CeilDiv(s.blocks).Add(pieceUnits), math.MaxInt32).Expr
	return s
}

// pieceStart is the first tile of K of a block's piece: of total over blocks, the first pieces have the rest.
func (s *stream) pieceStart(block Expr) Expr {
	total := s.shared.Mul(s.all)
	return block.Mul(total.Div(s.blocks)).Add(block.Min(total.Mod(s.blocks)))
}

// next chooses the unit whose copies are started next. One in the piece begins with the tile of K that first holds.
func (s *stream) next() {
	k := s.k
	k.Helper()
	k.If(s.left.Ne(0), func() {
		k.Helper()
		s.tile.Set(s.tile.Add(1))
		s.tiles.Set(s.left.Min(s.all.Sub(s.first.Expr)))
		s.left.Set(s.left.Sub(s.tiles.Expr))
	}, func() {
		k.Helper()
		s.tile.Set(s.whole.Expr)
		s.tiles.Set(s.all)
		s.whole.Set(s.whole.Add(s.blocks))
	})
	m, n := groupedTiles(k, s.tile.Expr, s.tilesM, s.tilesN, s.g.Group)
	s.tileM.Set(m)
	s.tileN.Set(n)
}

// work is the unit whose copies are started.
func (s *stream) work() work {
	return work{tileM: s.tileM.Expr, tileN: s.tileN.Expr, firstTile: s.first.Expr, tiles: s.tiles.Expr,
		endK: s.first.Add(s.tiles.Expr).Mul(s.g.BK), units: s.tilesM.Mul(s.tilesN), slots: s.blocks.Mul(2)}
}

// keep is the same unit under names of its own, for what is done after the next one was chosen.
func (s *stream) keep() work {
	k := s.k
	k.Helper()
	w := s.work()
	tile, missing := k.Let("done", s.tile.Expr), k.Let("doneRest", s.all.Sub(s.tiles.Expr))
	w.tileM, w.tileN = k.Let("doneM", w.tileM), k.Let("doneN", w.tileN)
	w.shared, w.share = missing.Ne(0), func() share { return s.share(tile) }
	return w
}

// share says which blocks share a tile: those whose pieces begin or end in it. A block has at most two parts: one where
// its piece begins and one where it ends.
func (s *stream) share(tile Expr) share {
	k := s.k
	k.Helper()
	bounded := func(name string, e Expr, most int) Expr { return k.Var(name, e, 0, int64(most)).Expr }
	total := s.shared.Mul(s.all)
	piece, longer := bounded("each", total.Div(s.blocks), MaxExtent), bounded("longer", total.Mod(s.blocks), 1<<16)
	blockOf := func(at Expr) Expr { // pieces are longer by one up to the longer-th
		return at.Div(piece.Add(1)).Max(at.Sub(longer).Max(0).Div(piece.Max(1)))
	}
	start := bounded("start", tile.Mul(s.all), MaxExtent)
	first := bounded("firstBlock", blockOf(start), 1<<16)
	last := bounded("lastBlock", blockOf(start.Add(s.all).Sub(1)), 1<<16)
	return share{parts: k.Let("parties", last.Sub(first).Max(0).Add(1)), mine: k.BlockX.Sub(first), counter: tile,
		slot: func(j Expr) Expr { return first.Add(j).Mul(2).Add(j.Mul(-1).Add(1).Max(0)) }}
}
