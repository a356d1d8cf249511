package emu

import "github.com/gocute/gocute/gen/cir"

// inFlight is the least time of reads that products in flight make: none of a clock's times reaches it, so that nothing
// comes after them.
const inFlight = 0xf0000000

// products are those of a warp: what is in flight.
type products struct{}

func newProducts(*program) *products { return &products{} }

func (p *products) reset(*warp) {}

func (p *products) touch(*warp, int, int, string) {}

func (p *products) read(w *warp, m *smem, c, n int) {
	w.b.sh.checkRead(w, m, 0, c, n, true)
}

// warpgroupArrive compiles the fence of registers.
func (c *compiler) warpgroupArrive() func(*warp) {
	return func(w *warp) {
		w.whole("a fence of registers")
		w.b.counts.instr[kGMMAArrive]++
	}
}

// warpgroupCommit closes the open group.
func (c *compiler) warpgroupCommit() func(*warp) {
	return func(w *warp) {
		w.whole("a commit of products")
		w.b.counts.instr[kGMMACommit]++
	}
}

// warpgroupWait completes all groups but the last Pending ones.
func (c *compiler) warpgroupWait(s cir.WarpgroupWait) func(*warp) {
	return func(w *warp) {
		w.whole("a wait for products")
		w.b.counts.instr[kGMMAWait]++
	}
}
