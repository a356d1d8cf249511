package emu

import (
	"fmt"
	"math/bits"

	"github.com/gocute/gocute/gen/cir"
)

// mbarrier is a barrier in shared memory: it counts the arrivals of a phase, and the bytes that it expects beside them
// (as SM90 has it); whoever waits for the phase knows what those that arrived had done.
type mbarrier struct {
	count, pending int
	lacks          int    // bytes that the phase expects and that have not landed; below zero where they came first
	phase          uint32 // phases that are over
	first          uint32 // phases of barriers that were at the same place before
	now, over      clock  // what the arrivals of this phase, and of those that are over, know
}

func (m *mbarrier) arrive() {
	m.pending--
	m.settle()
}

// settle ends the phase if nothing is missing.
func (m *mbarrier) settle() {
	if m.pending != 0 || m.lacks != 0 {
		return
	}
	m.over.join(&m.now)
	clear(m.now.time)
	clear(m.now.seen)
	m.phase++
	m.pending = m.count
}

// barAddress is a compiled address of an mbarrier.
type barAddress struct {
	mem   *smem
	index perLane
}

func (c *compiler) bar(a cir.Addr, depth int) barAddress {
	x := c.address(a, depth)
	mem, ok := x.mem.(*smem)
	if !ok || mem.bits != 64 {
		c.fail("an mbarrier expects a 64-bit word in shared memory, but got %s", x.mem.desc().name)
	}
	return barAddress{mem, x.index}
}

// at is the mbarrier of a lane, or nil with a finding.
func (a barAddress) at(w *warp, lane int, index *[32]int64) *mbarrier {
	i := index[lane]
	if i < 0 || i >= a.mem.count {
		w.outOfBounds(&a.mem.area, lane, i, 1)
		return nil
	}
	if w.b.prog.check {
		w.b.sh.checkRead(w, a.mem, lane, a.mem.first+int(i)*a.mem.per, a.mem.per, false)
	}
	return w.b.bars[a.mem.base+i*64]
}

func (c *compiler) mbarrierInit(s cir.MBarrierInit) func(*warp) {
	a := c.bar(s.Bar, 0)
	if s.Count < 1 || s.Count >= 1<<20 {
		c.fail("expects an mbarrier of 1 to %d arrivals, but got %d", 1<<20-1, s.Count)
	}
	return func(w *warp) {
		index := a.index(w)
		w.b.sh.count++
		for m := w.mask; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros32(m)
			i := index[lane]
			if i < 0 || i >= a.mem.count {
				w.outOfBounds(&a.mem.area, lane, i, 1)
				continue
			}
			a.mem.store(w, lane, i, []uint64{uint64(s.Count)})
			b := &mbarrier{count: s.Count, pending: s.Count, now: newClock(w.b.prog), over: newClock(w.b.prog)}
			if old := w.b.bars[a.mem.base+i*64]; old != nil {
				b.first = old.first + old.phase + 1
			}
			w.b.bars[a.mem.base+i*64] = b
		}
	}
}

func (c *compiler) mbarrierArrive(s cir.MBarrierArrive) func(*warp) {
	a := c.bar(s.Bar, 0)
	return func(w *warp) {
		w.b.counts.instr[kArrive]++
		lanes := w.mask
		if s.OncePerWarp {
			if w.mask != w.full {
				w.diverged("the arrival of a whole warp at an mbarrier")
			}
			w.syncWarp()
			lanes = 1
		}
		index := a.index(w)
		for m := lanes; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros32(m)
			if b := a.at(w, lane, index); b != nil {
				w.tell(&b.now)
				b.arrive()
			}
		}
		w.time++
	}
}

// mbarrierExpect arrives, and lets the phase last until so many bytes more have landed.
func (c *compiler) mbarrierExpect(s cir.MBarrierExpect) func(*warp) {
	a := c.bar(s.Bar, 0)
	if s.Bytes < 1 || s.Bytes >= 1<<20 {
		c.fail("expects an mbarrier to wait for 1 to %d bytes, but got %d", 1<<20-1, s.Bytes)
	}
	return func(w *warp) {
		w.b.counts.instr[kArrive]++
		index := a.index(w)
		for m := w.mask; m != 0; m &= m - 1 {
			if b := a.at(w, bits.TrailingZeros32(m), index); b != nil {
				w.tell(&b.now)
				b.lacks += s.Bytes
				b.arrive()
			}
		}
		w.time++
	}
}

// cpAsyncArrive arrives when the thread's copies so far have landed. That is at once here; what matters is that only
// those that wait for the phase know of them.
func (c *compiler) cpAsyncArrive(s cir.CpAsyncArrive) func(*warp) {
	a := c.bar(s.Bar, 0)
	return func(w *warp) {
		w.b.counts.instr[kArrive]++
		index, sh := a.index(w), &w.b.sh
		for m := w.mask; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros32(m)
			b := a.at(w, lane, index)
			if b == nil {
				continue
			}
			t := w.thread(lane)
			sh.batch[t]++
			b.now.seen[t] = max(b.now.seen[t], sh.batch[t])
			b.arrive()
		}
	}
}

func (c *compiler) mbarrierWait(s cir.MBarrierWait) func(*warp) {
	a := c.bar(s.Bar, 0)
	parity := c.spread(c.expr(s.Parity, 1), 1)
	c.prog.yields = true
	return func(w *warp) {
		w.b.counts.instr[kMWait]++
		w.pause()
		for !w.phaseOver(a, parity) {
			w.spins++
			w.pause()
		}
		index := a.index(w)
		for m := w.mask; m != 0; m &= m - 1 {
			if b := a.at(w, bits.TrailingZeros32(m), index); b != nil {
				w.clock.join(&b.over)
			}
		}
	}
}

// phaseOver reports whether no active lane has to wait.
func (w *warp) phaseOver(a barAddress, parity perLane) bool {
	index, p := a.index(w), parity(w)
	for m := w.mask; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		if b := a.at(w, lane, index); b != nil && int64(b.phase&1) == p[lane] {
			w.waits = fmt.Sprintf("waits at mbarrier %s[%d] for its phase of parity %d, which has %d of %d arrivals%s",
				a.mem.name, index[lane], p[lane], b.count-b.pending, b.count, b.bytes())
			return false
		}
	}
	return true
}

// bytes says how many bytes a phase lacks, or has beyond what it expects.
func (m *mbarrier) bytes() string {
	switch {
	case m.lacks > 0:
		return fmt.Sprintf(" and lacks %d bytes", m.lacks)
	case m.lacks < 0:
		return fmt.Sprintf(" and has %d bytes more than it expects", -m.lacks)
	}
	return ""
}

// tell adds to a clock what this warp has done and knows.
func (w *warp) tell(to *clock) {
	to.join(&w.clock)
	to.time[w.id] = max(to.time[w.id], w.time)
}

// syncWarp orders the accesses of a warp's lanes.
func (w *warp) syncWarp() {
	w.clock.time[w.id] = w.time
	for t := w.first; t < w.first+32; t++ {
		w.clock.seen[t] = max(w.clock.seen[t], w.b.sh.done[t])
	}
	w.time++
}
