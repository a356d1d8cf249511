package emu

import (
	"fmt"
	"math/bits"
)

const fullMask = 0xffffffff

// warp is 32 threads in lock step. Values of lanes lie side by side, so that an operation is a loop over 32.
type warp struct {
	b     *block
	id    int
	first int    // its first thread
	full  uint32 // the lanes that exist
	mask  uint32 // the active ones
	now   int32  // the running statement
	spins int    // rounds of waiting in which nothing happened
	waits string // what for
	time  uint32 // of the warp's accesses; see clock
	clock clock
	lied  bool // an integer has left the bounds that its symbol promises

	readings uint64 // of clocks, in this block

	u      []int64     // integers that all lanes share
	l      [][32]int64 // integers of each lane
	t      [][32]int64 // temporaries
	f      [][32]float64
	q      [][32]uint64
	reg    [][32]uint64
	inited []uint32 // for each register, the lanes that have written it

	buf   [128]uint64 // elements of one lane's vector
	tmp   [128]uint64 // the same, regrouped
	row   [256]uint64 // of a box of a tensor
	m     matrices
	field *fieldMatrices // in exact mode
	gmma  *products      // nil where the kernel has no products of warpgroups
	yield func(int32) bool
	ticks int
}

// The ways in which a warp ends early. They unwind its coroutine and are caught at its top.
type (
	stopped struct{} // another warp ended the block
	aborted struct{} // a finding after which going on makes no sense
)

func newWarp(b *block, id int) *warp {
	p := b.prog
	w := &warp{b: b, id: id, first: id * 32, time: 1, clock: newClock(p),
		u: make([]int64, p.uniforms), l: make([][32]int64, p.lanes), t: make([][32]int64, p.scale.ints),
		f: make([][32]float64, p.scale.floats), q: make([][32]uint64, p.scale.bits),
		reg: make([][32]uint64, p.regs), inited: make([]uint32, p.regs)}
	for i := range 32 {
		w.l[lThread][i] = int64(w.first + i)
		if w.first+i < p.threads {
			w.full |= 1 << i
		}
	}
	w.u[uFirst] = int64(w.first)
	if p.exact {
		w.field = &fieldMatrices{}
	}
	if p.products && p.check {
		w.gmma = newProducts(p, b.productLog(id/gmmaWarps))
	}
	return w
}

// reset prepares the warp for a block.
func (w *warp) reset() {
	w.mask = w.full
	w.u[uBlockX], w.u[uBlockY], w.u[uBlockZ] = w.b.xyz[0], w.b.xyz[1], w.b.xyz[2]
	w.lied, w.readings = false, 0
	clear(w.clock.seen)
	clear(w.inited)
	if w.gmma != nil {
		w.gmma.reset(w)
	}
}

func (w *warp) exec(body []step) {
	for i := range body {
		w.now = body[i].id
		body[i].run(w)
	}
}

// tick lets a loop end when the run is cancelled.
func (w *warp) tick() {
	if w.ticks++; w.ticks&255 == 0 && w.b.ctx.Err() != nil {
		w.b.fail(w.b.ctx.Err())
		panic(stopped{})
	}
}

func (w *warp) thread(lane int) int { return w.first + lane }

// find returns a finding of the running statement to fill in, or nil if it is known already.
func (w *warp) find(c Check, mem string, lane int, index int64) *Finding {
	return w.fill(key{check: c, stmt: w.now, mem: mem}, mem, lane, index)
}

// race is find for a race with another statement.
func (w *warp) race(mem string, lane int, index int64, other int32) *Finding {
	return w.fill(raceKey(w.now, other, mem), mem, lane, index)
}

// findOr is race if that is the check, else find.
func (w *warp) findOr(c Check, mem string, lane int, index int64, other int32) *Finding {
	if c == Race {
		return w.race(mem, lane, index, other)
	}
	return w.find(c, mem, lane, index)
}

func (w *warp) fill(k key, mem string, lane int, index int64) *Finding {
	f := w.b.finds.add(k)
	if f == nil {
		return nil
	}
	p := w.b.prog
	f.Kernel, f.Block, f.Pos, f.Index = p.name, w.b.xyz, p.pos[w.now], index
	f.Threads = []int{w.thread(lane)}
	return f
}

// other completes a finding with the earlier access; thread is -1 where it is not known.
func (w *warp) other(f *Finding, thread int, stmt int32, what string) {
	who := "another thread"
	if thread >= 0 {
		f.Threads = append(f.Threads, thread)
		who = fmt.Sprintf("thread %d", thread)
	}
	if stmt > 0 {
		f.Other = w.b.prog.pos[stmt]
		who += " at " + place(f.Other)
	}
	f.Message += ", " + what + " by " + who
}

// whole reports whether all 32 lanes are active; if not, the block ends with a finding.
func (w *warp) whole(what string) {
	if w.mask != fullMask {
		w.diverged(what)
	}
}

// diverged ends the block with a finding: not all of the warp's lanes are active.
func (w *warp) diverged(what string) {
	if f := w.find(Divergent, "", bits.TrailingZeros32(w.mask), -1); f != nil {
		f.Message = fmt.Sprintf("%s is executed by %d of 32 threads", what, bits.OnesCount32(w.mask))
	}
	panic(aborted{})
}

// barrier ends the warp's segment; the block goes on when every warp is at a barrier.
func (w *warp) barrier() {
	if w.mask != w.full {
		if f := w.find(Divergent, "", bits.TrailingZeros32(w.mask), -1); f != nil {
			f.Message = fmt.Sprintf("a barrier is reached by %d of the warp's %d threads",
				bits.OnesCount32(w.mask), bits.OnesCount32(w.full))
		}
		panic(aborted{})
	}
	w.b.counts.instr[kBarrier]++
	if !w.yield(w.now) {
		panic(stopped{})
	}
}

// paused is what a warp yields in place of a barrier's statement.
const paused int32 = 0

// pause lets the other warps catch up. It means nothing to a right kernel; in a wrong one, a missing barrier then
// shows as what it is and not as one of its consequences.
func (w *warp) pause() {
	if w.yield != nil && !w.yield(paused) {
		panic(stopped{})
	}
}
