package machine

import "fmt"

// Copy is an asynchronous access: a copy between memories, or the reads of a product. Its bytes are written when it lands.
type Copy struct {
	what   string // for messages, such as "an asynchronous copy"
	pc     int32
	block  int32
	thread int
	reads  bool // it reads memory
	proxy  bool // it goes by the asynchronous proxy: bulk copies and products, not cp.async
	writes []run
	read   bool  // its reads are over
	over   bool  // all of it is
	end    event // when it was waited for
	readBy event // when its reads were waited for
}

// run is bytes that a copy writes.
type run struct {
	r    *Region
	off  int64
	data []byte
}

// threadCopies are the copies of a thread that nobody has waited for, in groups.
type threadCopies struct {
	open   []*Copy
	groups [][]*Copy
}

// unfinished is a copy that nobody waited for. One that reads nothing, of a tile past the end, harms nobody.
func (g *threadCopies) unfinished() *Copy {
	for _, list := range append(g.groups, g.open) {
		for _, c := range list {
			if c.reads && !c.over {
				return c
			}
		}
	}
	return nil
}

// NewCopy starts an asynchronous access of a thread.
func (b *Block) NewCopy(t int, pc int32, what string, proxy bool) *Copy {
	return &Copy{what: what, pc: pc, block: b.ID, thread: t, proxy: proxy}
}

// Read lets the copy read bytes; it is false after a finding that leaves nothing to read.
func (b *Block) CopyRead(c *Copy, s Space, addr uint64, align int, out []byte) bool {
	r, off := b.within(c.thread, c.pc, s, addr, len(out), align, "copies from")
	if r == nil {
		clear(out)
		return false
	}
	copy(out, r.Data[off:])
	c.reads = true
	if r.Space == Const {
		return true
	}
	if r.Space == Shared {
		b.notBarrier(c.thread, c.pc, off, len(out), "copies from")
	}
	r.cellsOf(off, len(out), func(x *cell, at int64) {
		switch {
		case x.copy != nil:
			b.arrived(r, x, at, c.thread, c.pc, "copies from")
		case b.uninitialised(r, x, at, c.thread, c.pc):
		case x.write.time == 0:
		case !b.ordered(c.thread, x.write):
			b.race(r, at, c.thread, c.pc, "copies from", x.write, "written")
		case c.proxy && r.Space == Shared:
			b.fenced(r, at, c, x.write)
		}
		b.afterStrong(r, x, at, c.thread, c.pc, "copies from")
		if x.nodes == nil || x.nodes.copy != c {
			x.nodes = &node{next: x.nodes, copy: c, block: b.ID, warp: int32(c.thread >> 5), lanes: 1 << (c.thread & 31), pc: c.pc, kind: asyncRead}
		}
	})
	return true
}

// CopyWrite lets the copy write bytes when it lands. It is false after a finding that keeps it from that.
func (b *Block) CopyWrite(c *Copy, s Space, addr uint64, align int, data []byte) bool {
	r, off := b.within(c.thread, c.pc, s, addr, len(data), align, "copies to")
	if r == nil {
		return false
	}
	if r.Space == Shared {
		b.notBarrier(c.thread, c.pc, off, len(data), "copies to")
	}
	r.cellsOf(off, len(data), func(x *cell, at int64) {
		switch {
		case x.copy == c:
			return
		case x.copy != nil:
			b.arrived(r, x, at, c.thread, c.pc, "copies to")
		case x.write.time == 0:
		case !b.ordered(c.thread, x.write):
			b.race(r, at, c.thread, c.pc, "copies to", x.write, "written")
		case c.proxy && r.Space == Shared:
			b.fenced(r, at, c, x.write)
		}
		b.afterNodes(r, x, at, c.thread, c.pc, false)
		x.copy, x.write, x.nodes, x.async = c, event{}, nil, true
	})
	c.writes = append(c.writes, run{r, off, append([]byte(nil), data...)})
	return true
}

// fenced reports what ordinary stores wrote and no proxy fence made visible.
func (b *Block) fenced(r *Region, at int64, c *Copy, e event) {
	if b.clocks[c.thread].fencedFor(b.ID, e) {
		return
	}
	if f := b.findWith(Proxy, c.thread, c.pc, e.pc, r.Name); f != nil {
		f.Offset, f.OtherThread, f.OtherBlock = at, int(e.thread), b.m.place(e.block)
		f.Message = fmt.Sprintf("%s uses byte %d of %s, which an ordinary store of thread %d wrote, with no fence.proxy.async between", c.what, at, r.Name, e.thread)
	}
}

// land ends a copy: its bytes are there, known to those that know of the event.
func (c *Copy) land(e event) {
	for _, w := range c.writes {
		copy(w.r.Data[w.off:], w.data)
	}
	c.writes, c.over, c.end = nil, true, e
	if !c.read {
		c.read, c.readBy = true, e
	}
}

// arrived judges an access to bytes whose last write is, or is to be, an asynchronous copy's.
func (b *Block) arrived(r *Region, x *cell, at int64, t int, pc int32, verb string) bool {
	c := x.copy
	if c.over && b.ordered(t, c.end) {
		return true
	}
	check, why := ReadInFlight, "which "+c.what+" is still to fill"
	if verb != "reads" {
		check = WriteInFlight
	}
	if c.over {
		why = "which " + c.what + " has filled, but nothing tells this thread so"
	}
	if f := b.findWith(check, t, pc, c.pc, r.Name); f != nil {
		f.Offset, f.OtherThread, f.OtherBlock = at, c.thread, b.m.place(c.block)
		f.Message = fmt.Sprintf("%s byte %d of %s, %s", verb, at, r.Name, why)
	}
	return false
}

// source judges a write to bytes that an asynchronous access reads.
func (b *Block) source(r *Region, n *node, at int64, t int, pc int32, verb string) {
	c := n.copy
	if c.read && b.ordered(t, c.readBy) {
		return
	}
	if f := b.findWith(WriteInFlight, t, pc, c.pc, r.Name); f != nil {
		f.Offset, f.OtherThread, f.OtherBlock = at, c.thread, b.m.place(c.block)
		f.Message = fmt.Sprintf("%s byte %d of %s, which %s may still read", verb, at, r.Name, c.what)
	}
}

// Add puts a copy into the open group of its thread: of cp.async, or of bulk copies.
func (b *Block) Add(c *Copy, bulk bool) {
	g := b.copies(c.thread, bulk)
	g.open = append(g.open, c)
}

func (b *Block) copies(t int, bulk bool) *threadCopies {
	if bulk {
		return &b.bulk[t]
	}
	return &b.async[t]
}

// Commit closes a thread's open group.
func (b *Block) Commit(t int, bulk bool) {
	g := b.copies(t, bulk)
	g.groups = append(g.groups, g.open)
	g.open = nil
}

// Wait ends all groups of a thread but the last pending ones; with reads only their reads end.
func (b *Block) Wait(t int, pending int, bulk, reads bool) {
	g := b.copies(t, bulk)
	n := len(g.groups) - pending
	for i := 0; i < n; i++ {
		for _, c := range g.groups[i] {
			switch {
			case c.over:
			case reads:
				if !c.read {
					c.read, c.readBy = true, b.event(t, c.pc)
				}
			default:
				c.land(b.event(t, c.pc))
			}
		}
	}
	if n > 0 && !reads {
		g.groups = append([][]*Copy(nil), g.groups[n:]...)
	}
}

// WaitAll ends all copies of a thread by cp.async, those of its open group among them.
func (b *Block) WaitAll(t int) {
	b.Commit(t, false)
	b.Wait(t, 0, false, false)
}

// Finish ends a copy that its own thread waited for by other means, such as products of a warpgroup.
func (b *Block) Finish(c *Copy) { c.land(b.event(c.thread, c.pc)) }

// Counts lets a bulk copy count in the open phase of an mbarrier: it lands when the phase is over.
func (b *Block) Counts(c *Copy, addr uint64, bytes int) {
	x := b.mbarrier(c.thread, c.pc, addr)
	if x == nil {
		return
	}
	x.copies = append(x.copies, c)
	x.lacks -= int64(bytes)
	b.settleBarrier(x)
}

// ArriveAfterCopies arrives at an mbarrier once the thread's copies by cp.async so far have landed; noinc arrivals are
// among those that the mbarrier was made for.
func (b *Block) ArriveAfterCopies(t int, pc int32, addr uint64, noinc bool) {
	x := b.mbarrier(t, pc, addr)
	if x == nil {
		return
	}
	g := &b.async[t]
	for _, list := range append(g.groups, g.open) {
		for _, c := range list {
			if !c.over {
				x.copies = append(x.copies, c)
			}
		}
	}
	if !noinc {
		x.pending++
	}
	if x.pending < 1 {
		b.Report(Barrier, t, pc, fmt.Sprintf("arrives at the mbarrier at byte %d, of whose %d arrivals none is missing", x.off, x.count))
		return
	}
	x.pending--
	b.settleBarrier(x)
}
