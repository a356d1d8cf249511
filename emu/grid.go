package emu

import (
	"fmt"

	"github.com/gocute/gocute/gen/cir"
)

// stamp is who touched an element last, and how often its block had arrived at counters by then.
type stamp struct {
	who   uint64 // as access packs it
	epoch uint32
}

// ordering knows what blocks that arrive at counters have seen of each other. It changes while running; blocks then
// run one by one.
type ordering struct {
	counters map[hazardKey]*counter
}

// counter is one that blocks arrive at: what those that came know.
type counter struct {
	seen  map[int64]uint32 // by block: its arrivals
	stmt  int32
	value int64
	of    int64
}

// sees reports whether this block knows what another one did.
func (b *block) sees(s stamp) bool {
	other := accessBlock(s.who)
	return other == b.number || b.seen[other] > s.epoch
}

// arrive counts a block in at a counter, between two barriers of it.
func (c *compiler) arrive(s cir.Arrive) func(*warp) {
	dst, n := c.address(s.Counter, 0), c.expr(s.Count, 1)
	g, ok := dst.mem.(*gmem)
	if !ok || g.kind.Bits() != 32 || n.l != nil {
		c.fail("an arrival expects a counter of 32 bits in global memory and one count for all threads")
	}
	word, ok := c.address(s.Word, 0).mem.(*smem)
	if !ok {
		c.fail("an arrival expects a word in shared memory")
	}
	at := c.declare(s.Sym, false).at
	c.printed[s.Sym.Name] = cType{}
	c.prog.yields = true
	return func(w *warp) {
		w.barrier()
		if w.id == 0 {
			w.b.came = -1
			if index := dst.index(w); w.within(1, &g.area, index, 1, 32) != 0 {
				w.b.came = w.arrive(g, index[0], n.u.at(w))
				word.store(w, 0, 0, []uint64{uint64(w.b.came)})
			}
		}
		w.barrier()
		if w.b.came < 0 {
			panic(aborted{})
		}
		var came [1]uint64
		for lane := range 32 { // all threads read the word: what lies over it must wait for them
			if w.full>>lane&1 != 0 {
				word.load(w, lane, 0, came[:])
			}
		}
		if w.u[at] = w.b.came; broken(s.Sym, w.b.came) {
			w.intRange(s.Sym, w.b.came, 0)
		}
	}
}

// arrive exchanges what the block and those that came before it know, and counts.
func (w *warp) arrive(g *gmem, index, of int64) int64 {
	b, key := w.b, hazardKey{g, index}
	b.counts.instr[kAtomicGlobal]++
	c := b.prog.order.counters[key]
	if c == nil {
		c = &counter{seen: map[int64]uint32{}, of: of}
		b.prog.order.counters[key] = c
	}
	b.epoch++
	b.seen[b.number] = b.epoch
	for k, v := range c.seen {
		b.seen[k] = max(b.seen[k], v)
	}
	for k, v := range b.seen {
		c.seen[k] = max(c.seen[k], v)
	}
	old := int64(g.atomic(w, 0, index, func(v uint64) uint64 {
		if int64(v) >= of-1 {
			return 0
		}
		return v + 1
	}))
	c.stmt, c.of, c.value = w.now, of, int64(g.val[index])
	return old
}

// ordered judges an access to an element by what other blocks did to it, and notes it.
func (g *gmem) ordered(w *warp, lane int, i int64, writes bool) {
	b, now := w.b, stamp{access(w.b.number, w.thread(lane), w.now), w.b.epoch}
	if wr := g.writer[i]; wr.who != 0 && !b.sees(wr) {
		g.disordered(w, lane, i, wr, map[bool]string{false: "reads", true: "writes"}[writes], "written")
	}
	if !writes {
		g.reader[i] = now
		return
	}
	if r := g.reader[i]; r.who != 0 && !b.sees(r) {
		g.disordered(w, lane, i, r, "writes", "read")
	}
	g.writer[i] = now
}

func (g *gmem) disordered(w *warp, lane int, i int64, other stamp, verb, what string) {
	f := w.find(GlobalRace, g.name, lane, i)
	if f == nil {
		return
	}
	f.Other = w.b.prog.pos[accessStmt(other.who)]
	f.Message = sprint(verb, " ", g.element(i))
	at := w.b.prog.blockAt(accessBlock(other.who))
	f.Message += fmt.Sprintf(", %s by thread %d of block %d,%d,%d at %s, and no counter (Arrive) orders this block after that", what,
		accessThread(other.who), at[0], at[1], at[2], place(f.Other))
}

// reviewCounters looks for counters that are not back at zero.
func (p *program) reviewCounters(out *findings) {
	for _, g := range p.globals {
		for i := range int64(len(g.val)) {
			c := p.order.counters[hazardKey{g, i}]
			if c == nil || c.value == 0 {
				continue
			}
			if f := out.add(key{check: Uncounted, stmt: c.stmt, mem: g.name}); f != nil {
				f.Kernel, f.Index, f.Pos = p.name, i, p.pos[c.stmt]
				f.Message = fmt.Sprintf("the counter %s expects arrivals of %d blocks, but is left at %d when the kernel ends", g.element(i), c.of, c.value)
			}
		}
	}
}
