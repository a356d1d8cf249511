package machine

import (
	"encoding/binary"
	"fmt"
)

// mbarrier is a barrier in shared memory. A phase is over when no arrival and no byte is missing.
type mbarrier struct {
	off            int64
	count, pending int
	lacks          int64  // bytes that the phase expects and that have not come; below zero where they came first
	phase          uint32 // phases that are over
	now, over      clock  // what arrivals of this phase, and of those that are over, told
	entry          int32  // the mbarrier's own in clocks: phases whose copies have landed
	copies         []*Copy
}

// The limits of arrivals and of bytes of a phase.
const (
	mostArrivals = 1<<20 - 1
	mostBytes    = 1<<20 - 1
)

// notBarrier reports an ordinary access to the bytes of a live mbarrier.
func (b *Block) notBarrier(t int, pc int32, off int64, n int, verb string) {
	if len(b.bars) == 0 {
		return
	}
	for at := off &^ 7; at < off+int64(n); at += 8 {
		if b.bars[at] == nil {
			continue
		}
		if f := b.find(Barrier, t, pc, b.shared.Name); f != nil {
			f.Offset, f.Bytes = off, n
			f.Message = fmt.Sprintf("%s bytes %d to %d of shared memory, where an mbarrier lives", verb, off, off+int64(n)-1)
		}
		return
	}
}

// MBarrierInit makes an mbarrier of count arrivals at a shared address.
func (b *Block) MBarrierInit(t int, pc int32, addr uint64, count uint32) {
	r, off := b.within(t, pc, Shared, addr, 8, 8, "makes an mbarrier of")
	if r == nil {
		return
	}
	if count < 1 || count > mostArrivals {
		b.Report(Barrier, t, pc, fmt.Sprintf("expects an mbarrier of 1 to %d arrivals, but got %d", mostArrivals, count))
		return
	}
	if b.bars[off] != nil {
		b.Report(Barrier, t, pc, fmt.Sprintf("makes an mbarrier at byte %d of shared memory, where one lives: invalidate it first (mbarrier.inval)", off))
	}
	r.cellsOf(off, 8, func(c *cell, at int64) { b.writeCell(r, c, at, t, pc) })
	x := &mbarrier{off: off, count: int(count), pending: int(count), entry: int32(b.Threads) + b.events}
	b.events++
	b.bars[off] = x
	b.mirror(x)
}

// MBarrierInval ends an mbarrier.
func (b *Block) MBarrierInval(t int, pc int32, addr uint64) {
	if x := b.mbarrier(t, pc, addr); x != nil {
		delete(b.bars, x.off)
		b.shared.cellsOf(x.off, 8, func(c *cell, at int64) { b.writeCell(b.shared, c, at, t, pc) })
	}
}

// mirror keeps something of an mbarrier's state in its bytes, for whoever looks.
func (b *Block) mirror(x *mbarrier) {
	binary.LittleEndian.PutUint64(b.shared.Data[x.off:], uint64(x.phase)<<40|uint64(x.pending))
}

// mbarrier finds the mbarrier at an address, whose making has to be known to the thread; nil after a finding.
func (b *Block) mbarrier(t int, pc int32, addr uint64) *mbarrier {
	r, off := b.within(t, pc, Shared, addr, 8, 8, "uses an mbarrier of")
	if r == nil {
		return nil
	}
	x := b.bars[off]
	if x == nil {
		b.Report(Barrier, t, pc, fmt.Sprintf("uses an mbarrier at byte %d of shared memory, where none was made", off))
		return nil
	}
	r.cellsOf(off, 8, func(c *cell, at int64) {
		if c.write.time != 0 && !b.ordered(t, c.write) {
			b.race(r, at, t, pc, "uses an mbarrier at", c.write, "written")
		}
	})
	return x
}

// MBarrierArrive arrives n times and lets the phase expect bytes besides. The state is that of the phase before.
func (b *Block) MBarrierArrive(t int, pc int32, addr uint64, n uint32, bytes uint32) (state uint64, ok bool) {
	x := b.mbarrier(t, pc, addr)
	if x == nil {
		return 0, false
	}
	state = uint64(x.phase)
	if n < 1 || int(n) > x.pending {
		b.Report(Barrier, t, pc, fmt.Sprintf("arrives %d times at the mbarrier at byte %d, of whose %d arrivals %d are missing", n, x.off, x.count, x.pending))
		return state, false
	}
	x.now = x.now.union(b.knowledge(t))
	b.time[t]++
	x.lacks += int64(bytes)
	x.pending -= int(n)
	b.settleBarrier(x)
	return state, true
}

// MBarrierExpect lets the open phase expect bytes, without arriving.
func (b *Block) MBarrierExpect(t int, pc int32, addr uint64, bytes uint32) {
	if x := b.mbarrier(t, pc, addr); x != nil {
		x.lacks += int64(bytes)
		b.settleBarrier(x)
	}
}

// settleBarrier ends the phase if nothing is missing: its copies have landed.
func (b *Block) settleBarrier(x *mbarrier) {
	b.m.progress++
	if x.pending == 0 && x.lacks == 0 {
		x.phase++
		for _, c := range x.copies {
			c.land(event{b.ID, x.entry, x.phase, c.pc})
		}
		x.copies = nil
		x.over = x.over.union(x.now)
		x.over.own.seen = x.over.own.seen.with(x.entry, x.phase)
		x.now, x.pending = clock{}, x.count
	}
	b.mirror(x)
}

// MBarrierTest tells whether a phase is over, and lets the thread know what came before if so. A phase is given by its
// parity, or by the state that arriving returned.
func (b *Block) MBarrierTest(t int, pc int32, addr uint64, phase uint64, parity bool) (over, ok bool) {
	x := b.mbarrier(t, pc, addr)
	if x == nil {
		return false, false
	}
	if parity {
		over = uint64(x.phase&1) != phase&1
	} else {
		over = uint64(x.phase) > phase
	}
	if over {
		b.clocks[t] = b.clocks[t].union(x.over)
	}
	return over, true
}

// MBarrierState says in words what a phase of an mbarrier lacks.
func (b *Block) MBarrierState(addr uint64) string {
	x := b.bars[int64(addr)-SharedBase]
	if x == nil {
		return "no mbarrier is there"
	}
	s := fmt.Sprintf("it has %d of %d arrivals", x.count-x.pending, x.count)
	switch {
	case x.lacks > 0:
		s += fmt.Sprintf(" and lacks %d bytes", x.lacks)
	case x.lacks < 0:
		s += fmt.Sprintf(" and has %d bytes more than it expects", -x.lacks)
	}
	return s
}
