package machine

import (
	"fmt"
	"math/bits"
)

// barrier is one of a block's named barriers.
type barrier struct {
	expected int // threads of the phase that is open; 0 for all of the block that have not ended
	open     bool
	arrived  int
	waiting  []waiter
	clock    clock // of those that only arrived
	phase    uint32
	came     vec // by thread, when it arrived in this phase
	before   vec // and in the phase before
}

type waiter struct {
	warp  int
	lanes uint32
	pc    int32
}

// need is how many threads have to come.
func (b *Block) need(x *barrier) int {
	if x.expected > 0 {
		return x.expected
	}
	n := 0
	for _, a := range b.alive {
		n += bits.OnesCount32(a)
	}
	return n
}

// Arrive brings lanes of a warp to a named barrier of so many threads, 0 for the whole block. Those that wait are through
// when Passed says so for the phase that is returned. It is false after a finding.
func (b *Block) Arrive(w int, lanes uint32, pc int32, id, threads int, wait bool) (phase uint32, ok bool) {
	t := w*32 + bits.TrailingZeros32(lanes)
	if id < 0 || id > 15 {
		b.Report(Unsupported, t, pc, fmt.Sprintf("expects a barrier from 0 to 15, but got %d", id))
		return 0, false
	}
	if threads < 0 || threads%32 != 0 || threads > (b.Threads+31)/32*32 {
		b.Report(Divergent, t, pc, fmt.Sprintf("expects a barrier of whole warps of a block of %d threads, but got %d", b.Threads, threads))
		b.Stopped = true
		return 0, false
	}
	x := &b.named[id]
	if x.open && x.expected != threads {
		b.Report(Divergent, t, pc, fmt.Sprintf("comes to barrier %d with %s, at which others wait with %s", id, count(threads), count(x.expected)))
		return 0, false
	}
	for _, o := range x.waiting {
		if o.warp == w && o.lanes&lanes != 0 {
			b.Report(Divergent, t, pc, fmt.Sprintf("comes to barrier %d twice in one phase", id))
			return 0, false
		}
	}
	b.late(x, w, lanes, pc, id)
	if gone := b.gone(); threads == 0 && gone > 0 {
		b.Report(Divergent, t, pc, fmt.Sprintf("comes to barrier %d of all threads of the block, of which %d have ended", id, gone))
	}
	x.open, x.expected = true, threads
	n := bits.OnesCount32(lanes)
	if threads > 0 { // barriers with a count take whole warps
		n = 32
	}
	x.arrived += n
	b.m.progress++
	if wait {
		x.waiting = append(x.waiting, waiter{w, lanes, pc})
	} else {
		for m := lanes; m != 0; m &= m - 1 {
			i := w*32 + bits.TrailingZeros32(m)
			x.clock = x.clock.union(b.knowledge(i))
			b.time[i]++
		}
	}
	phase = x.phase
	if x.arrived > b.need(x) && threads > 0 {
		b.Report(Divergent, t, pc, fmt.Sprintf("comes to barrier %d as one of more than %d threads: two groups use the barrier at a time", id, threads))
		return phase, false
	}
	b.settle(x)
	return phase, true
}

// gone counts the threads of the block that have ended.
func (b *Block) gone() int {
	n := b.Threads
	for _, a := range b.alive {
		n -= bits.OnesCount32(a)
	}
	return n
}

func count(threads int) string {
	if threads == 0 {
		return "all threads of the block"
	}
	return fmt.Sprintf("%d threads", threads)
}

// settle ends the phase if all have come.
func (b *Block) settle(x *barrier) {
	if !x.open || x.arrived < b.need(x) {
		return
	}
	if len(x.waiting) > 0 {
		b.meet(func(f func(t int)) {
			for _, o := range x.waiting {
				for m := o.lanes; m != 0; m &= m - 1 {
					f(o.warp*32 + bits.TrailingZeros32(m))
				}
			}
		})
		for _, o := range x.waiting {
			for m := o.lanes; m != 0; m &= m - 1 {
				t := o.warp*32 + bits.TrailingZeros32(m)
				b.clocks[t] = b.clocks[t].union(x.clock)
			}
		}
	}
	*x = barrier{phase: x.phase + 1, before: x.came}
	b.m.progress++
}

// late reports threads that come to a barrier with nothing to tell them that its phase before is over: they might as well
// have been counted in that one.
func (b *Block) late(x *barrier, w int, lanes uint32, pc int32, id int) {
	if x.came == nil {
		x.came = make(vec, b.Threads)
	}
	for m := lanes; m != 0; m &= m - 1 {
		t := w*32 + bits.TrailingZeros32(m)
		x.came[t] = b.time[t]
		for i, when := range x.before {
			if i == t || when <= b.clocks[t].own.seen.at(int32(i)) {
				continue
			}
			if f := b.find(Race, t, pc, ""); f != nil {
				f.OtherThread, f.OtherBlock = i, b.At
				f.Message = fmt.Sprintf("comes to barrier %d, in whose phase before thread %d came, and nothing tells that it is over: two groups may use the barrier at a time", id, i)
			}
			return
		}
	}
}

// settleNamed looks at barriers of the whole block again, of which threads have ended.
func (b *Block) settleNamed() {
	for i := range b.named {
		x := &b.named[i]
		if !x.open || x.expected != 0 {
			continue
		}
		if len(x.waiting) > 0 {
			o := x.waiting[0]
			b.Report(Divergent, o.warp*32+bits.TrailingZeros32(o.lanes), o.pc,
				fmt.Sprintf("waits at barrier %d of all threads of the block, of which %d have ended", i, b.gone()))
		}
		b.settle(x)
	}
}

// Passed reports whether a phase of a barrier is over.
func (b *Block) Passed(id int, phase uint32) bool { return b.named[id].phase != phase }
