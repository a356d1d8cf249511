package emu

import (
	"math/bits"
	"strings"

	"github.com/gocute/gocute/gen/cir"
)

// commit closes the open group of each active thread.
func (c *compiler) commit() func(*warp) {
	return func(w *warp) {
		w.b.counts.instr[kCommit]++
		for m := w.mask; m != 0; m &= m - 1 {
			w.b.sh.commit(w.thread(bits.TrailingZeros32(m)))
		}
	}
}

// wait completes all groups of each active thread but the last Pending ones.
func (c *compiler) wait(s cir.WaitGroup) func(*warp) {
	if s.Pending < 0 {
		c.fail("expects a number of pending groups, but got %d", s.Pending)
	}
	pending := s.Pending
	c.prog.yields = true
	return func(w *warp) {
		w.pause()
		w.b.counts.instr[kWait]++
		sh := &w.b.sh
		for m := w.mask; m != 0; m &= m - 1 {
			t := w.thread(bits.TrailingZeros32(m))
			if n := len(sh.groups[t]) - pending; n > 0 {
				sh.done[t] = max(sh.done[t], sh.groups[t][n-1]+1)
			}
		}
		w.pause()
	}
}

// commit closes a thread's open group.
func (s *shared) commit(t int) {
	s.groups[t] = append(s.groups[t], s.batch[t])
	s.batch[t]++
}

// landed reports whether some warp has waited for a batch of a thread or for a phase of an mbarrier.
func (b *block) landed(t int, batch uint32) bool {
	for _, w := range b.warps {
		if batch < w.clock.seen[t] {
			return true
		}
	}
	return false
}

// unwaited reports copies that read global memory and that nobody waited for before the block ended. Where such
// bytes were used before, that has been reported, and this is its consequence.
func (b *block) unwaited() {
	for _, f := range b.finds.list {
		if f.Check == ReadInFlight || f.Check == WriteInFlight {
			return
		}
	}
	for t, rec := range b.sh.last {
		if rec == 0 || uint32(rec>>32) < b.sh.done[t] || b.landed(t, uint32(rec>>32)) {
			continue
		}
		w := b.warps[threadOf(rec)/32]
		w.now = stmtOf(rec)
		if f := w.find(Unwaited, "", threadOf(rec)%32, -1); f != nil {
			f.Message = "starts an asynchronous copy that is still in flight when its thread ends"
		}
	}
}

// asyncOp refuses what cp.async cannot do; it returns the elements that one thread moves.
func (c *compiler) asyncOp(s cir.CpAsyncStmt, dst, src *area) int {
	op := s.Op
	if op == nil || op.Class != cir.CpAsync || !strings.HasPrefix(op.PTX, "cp.async.") {
		c.fail("expects a cp.async instruction")
	}
	switch {
	case op.Bytes != 4 && op.Bytes != 8 && op.Bytes != 16,
		strings.HasPrefix(op.PTX, "cp.async.cg") && op.Bytes != 16:
		c.fail("%s cannot move %d bytes", op.PTX, op.Bytes)
	case dst.space != cir.Shared || src.space != cir.Global:
		c.fail("%s copies from global to shared memory, but got %s to %s", op.PTX, src.space, dst.space)
	case dst.bits != src.bits:
		c.fail("%s expects elements of %d bits in %s, but got %d", op.PTX, dst.bits, src.name, src.bits)
	case op.Bytes*8%dst.bits != 0:
		c.fail("%d bytes are not whole elements of %s", op.Bytes, dst.kind)
	}
	return op.Bytes * 8 / dst.bits
}

func (c *compiler) cpAsync(s cir.CpAsyncStmt) func(*warp) {
	dst, src := c.address(s.Dst, 0), c.address(s.Src, 1)
	to, ok := dst.mem.(*smem)
	from := src.mem.desc()
	n := c.asyncOp(s, dst.mem.desc(), from)
	if !ok {
		c.fail("%s has no cells", dst.mem.desc().name)
	}
	pred := c.cond(s.Pred, 2)
	valid := c.spread(constant(int64(n)), 2)
	if s.Valid != nil {
		valid = c.spread(c.expr(*s.Valid, 2), 2)
	}
	size := int64(s.Op.Bytes) * 8
	into, outOf := c.site(kCpAsync, &to.area, size), c.site(kCpAsync, from, size)
	return func(w *warp) {
		if w.mask == 0 {
			return
		}
		index := dst.index(w)
		reads := pred.of(w, w.mask)
		m := w.within(w.mask, &to.area, index, int64(n), size)
		at, some := src.index(w), valid(w)
		reads = w.asyncSources(reads&m, from, at, some, int64(n), size)
		w.b.counts.instr[kCpAsync]++
		w.costs(into, m, index, int64(bits.OnesCount32(m))*size)
		w.costs(outOf, reads, at, w.validBits(reads, some, from))
		w.b.sh.count++
		for ; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros32(m)
			v := w.buf[:n]
			k := int64(0)
			if reads>>lane&1 == 1 {
				k = some[lane]
				src.mem.load(w, lane, at[lane], v[:k])
			}
			clear(v[k:])
			to.begin(w, lane, index[lane], v)
			if t := w.thread(lane); k > 0 {
				w.b.sh.last[t] = packed(w.b.sh.batch[t], w.now, t)
			}
		}
	}
}

// asyncSources returns the lanes of m that read their source at all, after checking what they read.
func (w *warp) asyncSources(m uint32, from *area, at, valid *[32]int64, n, size int64) uint32 {
	for rest := m; rest != 0; rest &= rest - 1 {
		lane := bits.TrailingZeros32(rest)
		k, bit := valid[lane], uint32(1)<<lane
		switch {
		case k < 0 || k > n:
			if f := w.find(OutOfBounds, from.name, lane, at[lane]); f != nil {
				f.Message = sprint("a cp.async that copies ", k, " elements of a vector of ", n)
			}
			m &^= bit
		case k == 0:
			m &^= bit
		case at[lane] < 0 || at[lane]+k > from.count:
			w.outOfBounds(from, lane, at[lane], k)
			m &^= bit
		case w.b.prog.check && (from.align|at[lane]*int64(from.bits))&(size-1) != 0:
			w.misaligned(from, lane, at[lane], size)
			m &^= bit
		}
	}
	return m
}

// validBits is how much the lanes in m read of a source.
func (w *warp) validBits(m uint32, valid *[32]int64, from *area) int64 {
	n := int64(0)
	for ; m != 0; m &= m - 1 {
		n += valid[bits.TrailingZeros32(m)]
	}
	return n * int64(from.bits)
}
