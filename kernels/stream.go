package kernels

import (
	"math"

	. "github.com/gocute/gocute/dsl"
)

// stream deals a product out to blocks that stay (stream-K): the first shared tiles of C are one sequence of tiles of K,
// cut into one piece for each block; the other tiles follow whole, one after the other. A unit is what a block does of
// one tile. Little is kept from unit to unit: the main loop needs the registers.
type stream struct {
	k              *K
	g              GEMMConfig
	M, N           Expr
	tilesM, tilesN Expr
	all            Expr // tiles of K
	blocks, shared Expr
	units          Expr // of this block

	tileM, tileN, first, tiles Var // of the unit whose copies are being started
}

// newStream sets the grid.
func newStream(k *K, g GEMMConfig, M, N, K Expr) *stream {
	k.Helper()
	s := &stream{k: k, g: g, M: M, N: N, tilesM: M.CeilDiv(g.BM), tilesN: N.CeilDiv(g.BN), all: K.CeilDiv(g.BK)}
	s.blocks, s.shared = k.Dim("blocks", AtMost(1<<16)), k.Dim("shared", AtLeast(0))
	tiles := s.tilesM.Mul(s.tilesN)
	k.Require(tiles.Le(MaxExtent), "at most 2^30 tiles of C")
	k.Require(s.shared.Le(tiles), "no more shared tiles than C has")
	k.Require(s.shared.Mul(s.all).Le(MaxExtent), "at most 2^30 tiles of K in the shared tiles")
	k.Require(s.shared.Eq(0).Or(s.blocks.Le(s.shared.Mul(s.all))), "a tile of K for each block where tiles are shared")
	k.Grid(s.blocks)
	whole := tiles.Sub(s.shared).Sub(k.BlockX).Max(0).CeilDiv(s.blocks)
	s.units = s.bounded("units", whole, MaxExtent)
	units := k.Var("allUnits", s.units, 0, MaxExtent)
	k.If(s.shared.Ne(0), func() {
		k.Helper()
		units.Set(s.units.Add(s.piece().units))
	}, nil)
	s.units = units.Expr
	s.first, s.tiles = k.Var("firstTile", 0, 0, int64(MaxExtent/2/g.BK)), k.Var("tiles", 0, 0, int64(MaxExtent/2/g.BK))
	s.tileM, s.tileN = k.Var("tileM", 0, 0, int64(MaxExtent/g.BM)), k.Var("tileN", 0, 0, int64(MaxExtent/g.BN))
	return s
}

// bounded is an integer of 0 to most, which 32 bits can hold.
func (s *stream) bounded(name string, e Expr, most int) Expr {
	return s.k.Var(name, e, 0, int64(most)).Expr
}

// piece is a block's part of the shared tiles.
type piece struct {
	lo, hi Expr // tiles of K
	tile   Expr // of C, where it begins
	units  Expr
}

// piece computes this block's piece: of total over blocks, the first pieces have the rest.
func (s *stream) piece() piece {
	k := s.k
	k.Helper()
	b, blocks := k.Opaque("block", k.BlockX), k.Opaque("count", s.blocks)
	total := s.bounded("total", s.shared.Mul(s.all), MaxExtent)
	each, rest := s.bounded("each", total.Div(blocks), MaxExtent), s.bounded("rest", total.Mod(blocks), 1<<16)
	lo := s.bounded("pieceLo", b.Mul(each).Add(b.Min(rest)), MaxExtent)
	hi := s.bounded("pieceHi", b.Add(1).Mul(each).Add(b.Add(1).Min(rest)), MaxExtent)
	tile := s.bounded("pieceTile", lo.Div(s.all), MaxExtent)
	return piece{lo, hi, tile, s.bounded("pieceUnits", hi.CeilDiv(s.all).Sub(tile).Mul(hi.Sub(lo).Min(1)), MaxExtent)}
}

// choose makes a unit the one whose copies are started.
func (s *stream) choose(unit Expr) {
	k := s.k
	k.Helper()
	tile, left := k.Var("tile", s.shared.Add(k.BlockX), 0, math.MaxInt32), k.Var("unit", unit, 0, MaxExtent)
	s.first.Set(0)
	s.tiles.Set(s.all)
	k.If(s.shared.Ne(0), func() {
		k.Helper()
		p := s.piece()
		k.If(unit.Lt(p.units), func() {
			k.Helper()
			tile.Set(p.tile.Add(unit))
			s.first.Set(p.lo.Sub(tile.Mul(s.all)).Max(0))
			s.tiles.Set(p.hi.Sub(tile.Mul(s.all)).Min(s.all).Sub(s.first))
			left.Set(0)
		}, func() { left.Set(unit.Sub(p.units)) })
	}, nil)
	tile.Set(tile.Add(left.Mul(s.blocks)))
	m, n := groupedTiles(k, tile.Expr, k.Opaque("rows", s.M).CeilDiv(s.g.BM), k.Opaque("columns", s.N).CeilDiv(s.g.BN), s.g.Group)
	s.tileM.Set(m)
	s.tileN.Set(n)
}

// run does the block's units: start begins a unit's copies, loop sums it up, and finish does the rest of it while the next
// unit's copies are under way.
func (s *stream) run(start, loop, finish func(w work)) {
	k := s.k
	k.Helper()
	k.If(s.units.Ne(0), func() {
		s.choose(k.BlockX.Mul(0))
		start(s.unit())
	}, nil)
	k.Loop(0, s.units, func(u Expr) {
		loop(s.unit())
		done := s.keep(u)
		k.If(u.Add(1).Lt(s.units), func() {
			s.choose(u.Add(1))
			start(s.unit())
		}, func() { k.TriggerLaunchCompletion() })
		done.thread = k.Opaque("thread", k.Thread) // what only results need is computed now
		finish(done)
	})
}

// work is the unit whose copies are started.
func (s *stream) work() work {
	return work{tileM: s.tileM.Expr, tileN: s.tileN.Expr, firstTile: s.first.Expr, tiles: s.tiles.Expr,
		endK: s.first.Add(s.tiles.Expr).Mul(s.g.BK), units: s.tilesM.Mul(s.tilesN), slots: s.blocks.Mul(2), thread: s.k.Thread}
}

// unit is the same in opaque numbers: what is computed from them is computed anew for each unit, and nvcc does not keep it in
// registers for the next one.
func (s *stream) unit() work {
	k, w := s.k, s.work()
	k.Helper()
	w.thread = k.Opaque("thread", k.Thread)
	w.tileM, w.tileN = k.Opaque("unitM", w.tileM), k.Opaque("unitN", w.tileN)
	w.firstTile, w.tiles = k.Opaque("unitFirst", w.firstTile), k.Opaque("unitTiles", w.tiles)
	w.endK = w.firstTile.Add(w.tiles).Mul(s.g.BK)
	return w
}

// keep is it under names of its own, for what is done after the next one was chosen.
func (s *stream) keep(unit Expr) work {
	k := s.k
	k.Helper()
	w := s.work()
	missing := k.Let("doneRest", s.all.Sub(s.tiles))
	w.tileM, w.tileN = k.Let("doneM", w.tileM), k.Let("doneN", w.tileN)
	w.shared, w.share = missing.Ne(0), func() share { return s.share(s.piece().tile.Add(unit)) }
	return w
}

// share says which blocks share a tile: those whose pieces begin or end in it. A block has at most two parts: one where
// its piece begins and one where it ends.
func (s *stream) share(tile Expr) share {
	k := s.k
	k.Helper()
	total, blocks := s.shared.Mul(s.all), k.Opaque("count", s.blocks)
	piece, longer := s.bounded("each", total.Div(blocks), MaxExtent), s.bounded("longer", total.Mod(blocks), 1<<16)
	blockOf := func(at Expr) Expr { // pieces are longer by one up to the longer-th
		return at.Div(piece.Add(1)).Max(at.Sub(longer).Max(0).Div(piece.Max(1)))
	}
	start := s.bounded("start", tile.Mul(s.all), MaxExtent)
	first := s.bounded("firstBlock", blockOf(start), 1<<16)
	last := s.bounded("lastBlock", blockOf(start.Add(s.all).Sub(1)), 1<<16)
	return share{parts: k.Let("parties", last.Sub(first).Max(0).Add(1)), mine: k.BlockX.Sub(first), counter: tile,
		slot: func(j Expr) Expr { return first.Add(j).Mul(2).Add(j.Mul(-1).Add(1).Max(0)) }}
}
