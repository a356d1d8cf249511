package kernels

import (
	. "github.com/gocute/gocute/dsl"
)

// ahead is how many tiles are in flight.
func (p *product[E, Acc]) ahead() int {
	if p.g.Sync == MBarriers {
		return p.g.Stages - 2 // and one of slack, by which warps may drift apart
	}
	return p.g.Stages - 1
}

// place is the pipeline's number of a tile: with StreamK, stage 0 is the last to be filled, and is free for results until then.
func (p *product[E, Acc]) place(tile Expr) Expr {
	if p.g.StreamK {
		return tile.Add(1)
	}
	return tile
}

func (p *product[E, Acc]) fetch(at, tile Expr, part, parts int) {
	stage := p.pipe.Stage(p.place(tile))
	p.a.fetch(at, stage, part, parts)
	p.b.fetch(at, stage, part, parts)
}

func (p *product[E, Acc]) read(tile Expr, step int) {
	stage := p.pipe.Stage(p.place(tile))
	p.a.read(stage, step)
	p.b.read(stage, step)
}

// start begins the copies of the first tiles.
func (p *product[E, Acc]) start() {
	p.k.Helper()
	p.k.Loop(0, p.ahead(), func(t Expr) { // a loop of the kernel
		p.k.Helper()
		if p.g.Sync == TMALoads {
			p.fill(t)
			return
		}
		p.fetch(p.w.firstTile.Add(t), t, 0, 1)
		p.pipe.Commit(p.place(t))
	})
}

// fill has the copy engine bring a tile, if there is one. The first always comes: beyond K it is zeros.
func (p *product[E, Acc]) fill(tile Expr) {
	k := p.k
	k.Helper()
	k.If(tile.Lt(p.w.tiles.Max(1)), func() {
		k.Helper()
		p.pipe.Fill(tile, func(f *StageFill) {
			at, stage := p.w.firstTile.Add(tile), p.pipe.Stage(tile)
			p.a.load(f, at, stage)
			p.b.load(f, at, stage)
		})
	}, nil)
}

// loop sums the tiles of A and B up: copies run ahead by the stages, and fragments by one step. Afterwards the stages are free.
func (p *product[E, Acc]) loop() {
	k, pipe := p.k, p.pipe
	k.Helper()
	switch {
	case p.g.WGMMA:
		p.warpgroupLoop()
		return
	case p.g.Sync == TMALoads:
		p.filledLoop()
		return
	}
	first := k.BlockX.Mul(0)
	Clear(p.acc)
	pipe.Wait(p.place(first))
	p.read(first, 0)
	steps := p.a.fragment.Extent(2)
	k.Loop(0, p.w.tiles, func(t Expr) {
		k.Helper()
		next := t.Add(p.ahead())
		at := p.w.firstTile.Add(next)
		if p.g.OneAddress || p.g.StreamK {
			at = k.Opaque("next", at) // else nvcc keeps an address for each copy
		}
		pipe.Acquire(p.place(next))
		for step := range steps { // a Go loop runs while generating
			if step < steps-1 {
				p.fetch(at, next, step, steps-1)
				p.read(t, step+1)
			} else {
				pipe.Commit(p.place(next))
				pipe.Release(p.place(t)) // the last fragments of this tile are in registers
				pipe.Wait(p.place(t.Add(1)))
				p.read(t.Add(1), 0)
			}
			Gemm(p.mma, p.a.fragment.At(All, All, step), p.b.fragment.At(All, All, step), p.acc)
		}
	})
	pipe.Drain()
}

// filledLoop is loop where the copy engine fills the stages: it has nothing to bring beyond the last tile.
func (p *product[E, Acc]) filledLoop() {
	k, pipe := p.k, p.pipe
	k.Helper()
	first := k.BlockX.Mul(0)
	Clear(p.acc)
	pipe.Wait(first)
	p.read(first, 0)
	steps := p.a.fragment.Extent(2)
	k.Loop(0, p.w.tiles, func(t Expr) {
		k.Helper()
		for step := range steps { // a Go loop runs while generating
			if step == steps/2 { // by now the others are done with the tile before, too
				p.fill(t.Add(p.ahead()))
			}
			if step < steps-1 {
				p.read(t, step+1)
			} else {
				pipe.Release(t) // the last fragments of this tile are in registers
				k.If(t.Add(1).Lt(p.w.tiles), func() {
					k.Helper()
					pipe.Wait(t.Add(1))
					p.read(t.Add(1), 0)
				}, nil)
			}
			Gemm(p.mma, p.a.fragment.At(All, All, step), p.b.fragment.At(All, All, step), p.acc)
		}
	})
	pipe.Drain()
}

// warpgroupLoop is loop by wgmma: while one tile is multiplied, the next one's products are started. The first tile stands
// before the loop, so that products are in flight whenever it begins anew.
func (p *product[E, Acc]) warpgroupLoop() {
	k, pipe := p.k, p.pipe
	k.Helper()
	first := k.BlockX.Mul(0)
	Clear(p.acc)
	p.multiplyStage(first)
	p.fill(first.Add(p.ahead()))
	k.Loop(1, p.w.tiles, func(t Expr) {
		k.Helper()
		p.multiplyStage(t)
		k.WarpgroupWait(1)
		pipe.Release(t.Sub(1))
		p.fill(t.Add(p.ahead()))
	})
	k.WarpgroupWait(0)
	pipe.Drain()
}

// multiplyStage starts the products of a tile.
func (p *product[E, Acc]) multiplyStage(tile Expr) {
	k, stage := p.k, p.pipe.Stage(tile)
	k.Helper()
	p.pipe.Wait(tile)
	k.WarpgroupArrive()
	WarpgroupGemm(p.mma, p.a.shared.At(All, All, All, stage), p.b.shared.At(All, All, All, stage), p.acc)
	k.WarpgroupCommitBatch()
}
