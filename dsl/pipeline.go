package dsl

import (
	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/elem"
)

// Sync says how a Pipeline's stages change hands.
type Sync uint8

const (
	// Groups waits for groups of asynchronous copies and for the whole block at once.
	Groups Sync = iota
	// MBarriers gives every stage a full and an empty barrier, so that warps may drift apart by a stage.
	MBarriers
	// TMALoads gives them those barriers, too, and one thread has the copy engine of sm_90 fill them.
	TMALoads
)

// Pipeline hands stages of shared memory back and forth between asynchronous copies into them and reads from them.
// Tile u lives in stage u mod stages. All threads of the block copy and read.
//
// For each tile: Acquire, copies, Commit; later Wait, reads, Release. With Groups, Acquire of tile u must come after
// Wait of tile u-stages+1, and one tile is committed for each that is waited for. With TMALoads, Fill takes the place of
// Acquire, copies and Commit.
type Pipeline struct {
	k           *K
	stages      int
	sync        Sync
	full, empty Tensor[Smem, elem.U64]
}

// NewPipeline makes a pipeline of 2 or more stages. Call it after Threads.
func NewPipeline(k *K, name string, stages int, sync Sync) *Pipeline {
	given("NewPipeline", k)
	p := &Pipeline{k: k, stages: stages, sync: sync}
	if stages < 2 {
		k.errorf("NewPipeline", "expects 2 stages or more, but got %d", stages)
		p.stages = 2
	}
	if sync > TMALoads {
		k.errorf("NewPipeline", "expects Groups, MBarriers or TMALoads, but got %d", sync)
		p.sync = Groups
	}
	if p.sync == Groups {
		return p
	}
	if k.kernel.ir.Threads == 0 {
		k.errorf("NewPipeline", "expects to come after Threads, whose arrivals the barriers count")
		return p
	}
	p.full = Shared[elem.U64](k, name+"_full", Shape(stages))
	p.empty = Shared[elem.U64](k, name+"_empty", Shape(stages))
	threads := k.kernel.ir.Threads
	fills := threads
	if sync == TMALoads {
		fills = 1
	}
	k.If(k.Thread.Eq(0), func() {
		for s := range stages {
			p.step(ir.MBarrierOp{Step: ir.MBarrierInit, Count: fills}, p.full, s)
			p.step(ir.MBarrierOp{Step: ir.MBarrierInit, Count: (threads + 31) / 32}, p.empty, s)
		}
	}, nil)
	k.Barrier()
	return p
}

// made is the pipeline, unless NewPipeline did not make it, or for a kernel that is recorded already: then there is no kernel
// to report to.
func (p *Pipeline) made(op string) *Pipeline {
	if p == nil || p.k == nil {
		panic(never{op, "a Pipeline", neverSet})
	}
	if p.k.closed {
		panic(never{op, "a Pipeline of this kernel", "of another kernel"})
	}
	return p
}

// step records an operation on one stage's barrier.
func (p *Pipeline) step(op ir.MBarrierOp, bars Tensor[Smem, elem.U64], stage any) {
	bar := p.bar(bars, stage)
	if bar == nil {
		return
	}
	op.Pos, op.Bar = p.k.position(), bar
	p.k.add(op)
}

// Stage is the stage of a tile, to index the mode PIPE of shared tensors with.
func (p *Pipeline) Stage(tile any) Expr { return p.made("Stage").expr(tile).Mod(p.stages) }

func (p *Pipeline) expr(tile any) Expr {
	e, ok := p.k.expr("Pipeline", tile)
	if !ok {
		return Expr{k: p.k, err: errReported}
	}
	return Expr{e: e, k: p.k}
}

// phase is the parity of the phase in which a tile's stage is used, plus add.
func (p *Pipeline) phase(tile any, add int) sym.Expr {
	return p.expr(tile).e.FloorDiv(sym.Int(p.stages)).Add(sym.Int(add)).Mod(sym.Int(2))
}

// Acquire waits until everybody has released the tile that was in this tile's stage before.
func (p *Pipeline) Acquire(tile any) {
	if p.made("Acquire").byThreads("Acquire") {
		p.acquire(tile)
	}
}

// byThreads reports that the pipeline's copies are the threads' own.
func (p *Pipeline) byThreads(op string) bool {
	if p.sync == TMALoads {
		p.k.errorf(op, "expects copies by the threads; a pipeline of TMALoads is filled by Fill")
	}
	return p.sync != TMALoads
}

func (p *Pipeline) acquire(tile any) {
	if n, isConst := p.expr(tile).e.IsConst(); p.sync == Groups || isConst && n < int64(p.stages) {
		return
	}
	p.step(ir.MBarrierOp{Step: ir.MBarrierWait, Parity: p.phase(tile, 1)}, p.empty, p.Stage(tile))
}

// Commit ends the copies into a tile's stage.
func (p *Pipeline) Commit(tile any) {
	if !p.made("Commit").byThreads("Commit") {
		return
	}
	if p.sync == Groups {
		p.k.CommitGroup()
		return
	}
	p.step(ir.MBarrierOp{Step: ir.MBarrierArriveCopies}, p.full, p.Stage(tile))
}

// Wait waits until a tile's stage holds it.
func (p *Pipeline) Wait(tile any) {
	if p.made("Wait").sync == Groups {
		p.k.WaitGroup(p.stages - 2)
		p.k.Barrier()
		return
	}
	p.step(ir.MBarrierOp{Step: ir.MBarrierWait, Parity: p.phase(tile, 0)}, p.full, p.Stage(tile))
}

// Release says that this thread has read what it needs of a tile.
func (p *Pipeline) Release(tile any) {
	if p.made("Release").sync != Groups {
		p.step(ir.MBarrierOp{Step: ir.MBarrierArrive}, p.empty, p.Stage(tile))
	}
}

// Drain waits for everything in flight and for the whole block: then the stages' memory may be used otherwise. With
// TMALoads every tile that was filled must have been waited for.
func (p *Pipeline) Drain() {
	if p.made("Drain").sync == MBarriers {
		p.k.CommitGroup() // the copies have not been in any group
	}
	if p.sync != TMALoads {
		p.k.WaitGroup(0)
	}
	p.k.Barrier()
}
