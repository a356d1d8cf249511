package emu

// clock is what a warp knows to have happened: of each warp, the time up to which its accesses are ordered before
// whatever comes next (of its own: before those of its other lanes); of each thread, the batches of asynchronous
// copies that have landed for all to see. A warp's own time moves on where it tells others: at barriers, arrivals
// and warp syncs. So an access of another thread is ordered before this one's if the clock has reached its time, in
// every schedule and not just in this run.
type clock struct {
	time []uint32 // by warp
	seen []uint32 // by thread, then by mbarrier that bytes land at: batches before this one, and phases
}

func newClock(p *program) clock {
	return clock{time: make([]uint32, p.warps), seen: make([]uint32, p.copiers())}
}

// join adds what another clock knows.
func (c *clock) join(d *clock) {
	for i, t := range d.time {
		c.time[i] = max(c.time[i], t)
	}
	for i, n := range d.seen {
		c.seen[i] = max(c.seen[i], n)
	}
}

// publish is a barrier of the block: what any warp did and waited for is known to all.
func (b *block) publish() {
	all := &b.meeting
	clear(all.seen)
	for _, w := range b.warps {
		w.tell(all)
		w.time++
	}
	for t, n := range b.sh.done {
		all.seen[t] = max(all.seen[t], n)
	}
	for _, w := range b.warps {
		copy(w.clock.time, all.time)
		copy(w.clock.seen, all.seen)
	}
	copy(b.sh.published, all.seen)
	clear(b.global)
}

// before reports whether a recorded access of another thread is ordered before what this warp does now.
func (w *warp) before(rec uint64) bool { return uint32(rec>>32) <= w.clock.time[threadOf(rec)>>5] }
