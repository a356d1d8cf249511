package emu

import "github.com/gocute/gocute/gen/cir"

// readClock compiles a reading of a counter. There is no time here, but an order: a warp's readings of either clock count
// 1, 2, 3, … in each block, the same under every schedule.
func (c *compiler) readClock(s cir.ReadClock) func(*warp) {
	if err := cir.CheckReadClock(s); err != nil {
		c.fail("%v", err)
	}
	dst := c.ref(s.Dst)
	return func(w *warp) {
		w.b.counts.instr[kClock]++
		w.readings++
		if d := dst.at(w); d >= 0 {
			now := w.readings
			w.put(d, w.mask, func(int) uint64 { return now })
		}
	}
}
