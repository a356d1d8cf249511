package emu

import "github.com/gocute/gocute/gen/cir"

// inFlight is the least time of reads that products in flight make, which have the number of their group in the lower
// bits: none of a clock's times reaches it, so that nothing comes after them.
const inFlight = 0xf0000000

// products are those of a warp that are in flight: they read shared memory and change their accumulators until a wait
// for their group. Groups are numbered from 1.
type products struct {
	open   productGroup
	closed []productGroup
	done   uint32         // groups up to this one are over
	acc    []accumulator  // by register
	inside bool           // a product itself uses registers
	log    *[]productStep // of the warpgroup
	steps  int            // of the log that this warp has taken
	regs   []int          // scratch
	spare  []cellRun      // of a group that is over
}

// productGroup is a group of products: the cells that they read.
type productGroup struct {
	number uint32
	stmt   int32 // of its first product; 0 for none
	cells  []cellRun
}

type cellRun struct{ first, n int32 }

// accumulator is what a register has to do with products.
type accumulator struct {
	group     uint32 // the last one that changes it, 0 for none; no other statement may use it until it is named in a wait
	place, of uint16 // which of how many registers of D it is
	used      bool   // by another statement, since the last fence
	stmt      int32  // of the product, or of the use
}

// productStep is a statement that all warps of a warpgroup execute together, and where its operands lie.
type productStep struct {
	stmt int32
	a, b int64
}

func newProducts(p *program, log *[]productStep) *products {
	return &products{acc: make([]accumulator, p.regs), log: log}
}

// reset prepares for a block.
func (p *products) reset(w *warp) {
	for _, g := range append(p.closed, p.open) { // where the last block ended early
		g.settle(w)
	}
	clear(p.acc)
	*p = products{acc: p.acc, log: p.log, regs: p.regs, open: productGroup{number: 1, cells: p.open.cells[:0]}, closed: p.closed[:0]}
	*p.log = (*p.log)[:0]
}

// time is that of the reads of the open group.
func (p *products) time() uint32 { return flightTime(p.open.number) }

func flightTime(group uint32) uint32 { return inFlight | group&^inFlight }

// settle ends a group's reads now.
func (g *productGroup) settle(w *warp) {
	s, flight := &w.b.sh, flightTime(g.number)
	for _, run := range g.cells {
		for i := int(run.first); i < int(run.first+run.n); i++ {
			if r := &s.r[i*s.warps+w.id]; uint32(*r>>32) == flight {
				*r = uint64(w.time)<<32 | *r&0xffffffff
			}
		}
	}
}

// read checks and notes that a product reads cells, from now until the wait for its group.
func (p *products) read(w *warp, m *smem, c, n int) {
	s := &w.b.sh
	s.checkReadUntil(w, m, 0, c, n, true, p.time())
	p.open.cells = append(p.open.cells, cellRun{int32(c), int32(n)})
	for i := c; i < c+n; i++ {
		if s.tensor[i] || s.w[i] == 0 {
			continue
		}
		if f := w.find(Proxy, m.name, 0, m.element(i)); f != nil {
			f.Message = m.text("wgmma reads", i) + ", which no TMALoad wrote"
			w.other(f, threadOf(s.w[i]), stmtOf(s.w[i]), "but an ordinary store")
		}
	}
}

// touch judges that a statement other than a product uses registers.
func (p *products) touch(w *warp, e, n int, verb string) {
	if p.inside {
		return
	}
	for i := e; i < e+n; i++ {
		a := &p.acc[i]
		if a.group != 0 {
			what := ", which a wgmma in flight accumulates into"
			if a.group <= p.done {
				what = ", whose wgmma was waited for, but by no WarpgroupWait for this accumulator"
			}
			p.misused(w, RegisterInFlight, i, verb+" register ", what, "started")
		}
		a.used = true
		if a.group == 0 {
			a.stmt = w.now
		}
	}
}

// misused reports an accumulator.
func (p *products) misused(w *warp, check Check, e int, before, after, other string) {
	r := w.b.prog.registerAt(e)
	if f := w.find(check, r.name, 0, int64(e-r.base)); f != nil {
		f.Message = sprint(before, r.name, "[", e-r.base, "]", after, ", ", other, " at ", place(w.b.prog.pos[p.acc[e].stmt]))
		f.Other = w.b.prog.pos[p.acc[e].stmt]
	}
}

// registerAt is the array of a register.
func (p *program) registerAt(e int) *register {
	i := len(p.registers) - 1
	for p.registers[i].base > e {
		i--
	}
	return p.registers[i]
}

// accumulate judges and notes that a product of the open group accumulates into registers.
func (p *products) accumulate(w *warp, regs []int) {
	flying := 0
	for i, e := range regs {
		a := &p.acc[e]
		if a.used {
			p.misused(w, Unfenced, e, "accumulates into ", "", "with no WarpgroupArrive since its use")
		}
		if a.group > p.done && int(a.place) == i && int(a.of) == len(regs) {
			flying++
		}
	}
	for i, e := range regs {
		a := &p.acc[e]
		if a.group > p.done && flying < len(regs) {
			p.misused(w, RegisterInFlight, e, "accumulates into ", ", which a wgmma in flight accumulates into as part of another accumulator", "started")
		}
		*a = accumulator{group: p.open.number, place: uint16(i), of: uint16(len(regs)), stmt: w.now}
	}
	if p.open.stmt == 0 {
		p.open.stmt = w.now
	}
}

// together ends the block with a finding unless the warps of a warpgroup take the same steps.
func (p *products) together(w *warp, a, b int64) {
	now := productStep{w.now, a, b}
	if p.steps == len(*p.log) {
		*p.log = append(*p.log, now)
	}
	first := (*p.log)[p.steps]
	if p.steps++; first == now {
		return
	}
	if f := w.find(Divergent, "", 0, -1); f != nil {
		f.Other = w.b.prog.pos[first.stmt]
		f.Message = "this warp's wgmma has other operands than that of other warps of its warpgroup"
		if first.stmt != w.now {
			f.Message = "this warp is here, but other warps of its warpgroup are at " + place(f.Other)
		}
	}
	panic(aborted{})
}

// left reports products that nobody waited for before the warp ended, and steps that it has not taken.
func (p *products) left(w *warp) {
	if p.steps < len(*p.log) {
		w.now = (*p.log)[p.steps].stmt
		if f := w.find(Divergent, "", 0, -1); f != nil {
			f.Message = sprint("warp ", w.id, " ends without this statement, which other warps of its warpgroup execute")
		}
		return
	}
	for _, f := range w.b.finds.list {
		if f.Check == RegisterInFlight { // this is its consequence
			return
		}
	}
	for _, g := range append(p.closed, p.open) {
		if g.stmt == 0 {
			continue
		}
		w.now = g.stmt
		if f := w.find(Unwaited, "", 0, -1); f != nil {
			f.Message = "starts a wgmma that is still in flight when its warp ends"
		}
	}
}

// warpgroupArrive compiles the fence of registers.
func (c *compiler) warpgroupArrive() func(*warp) {
	return func(w *warp) {
		w.whole("WarpgroupArrive (wgmma.fence)")
		w.b.counts.instr[kGMMAArrive]++
		if p := w.gmma; p != nil {
			p.together(w, 0, 0)
			for i := range p.acc {
				p.acc[i].used = false
			}
		}
	}
}

// warpgroupCommit closes the open group.
func (c *compiler) warpgroupCommit() func(*warp) {
	return func(w *warp) {
		w.whole("WarpgroupCommitBatch (wgmma.commit_group)")
		w.b.counts.instr[kGMMACommit]++
		if p := w.gmma; p != nil {
			p.together(w, 0, 0)
			p.closed = append(p.closed, p.open)
			p.open = productGroup{number: p.open.number + 1, cells: p.spare}
			p.spare = nil
		}
	}
}

// warpgroupWait completes all groups but the last Pending ones.
func (c *compiler) warpgroupWait(s cir.WarpgroupWait) func(*warp) {
	if s.Pending < 0 {
		c.fail("expects a number of pending groups, but got %d", s.Pending)
	}
	var regs []*register
	for _, r := range s.Regs {
		regs = append(regs, c.register(r))
	}
	c.prog.yields = true
	return func(w *warp) {
		w.whole("WarpgroupWait (wgmma.wait_group)")
		w.pause()
		w.b.counts.instr[kGMMAWait]++
		if p := w.gmma; p != nil {
			p.together(w, 0, 0)
			p.wait(w, s.Pending, regs)
		}
		w.pause()
	}
}

func (p *products) wait(w *warp, pending int, regs []*register) {
	n := max(0, len(p.closed)-pending)
	for i := range p.closed[:n] {
		p.closed[i].settle(w)
		p.done, p.spare = p.closed[i].number, p.closed[i].cells[:0]
	}
	p.closed = append(p.closed[:0], p.closed[n:]...)
	for _, r := range regs {
		for e := r.base; e < r.base+int(r.count); e++ {
			if a := &p.acc[e]; a.group <= p.done {
				a.group = 0
			}
		}
	}
}
