package emu

import (
	"slices"

	"github.com/gocute/gocute/gen/cir"
)

// shared is a block's shared memory, an entry of each slice a cell.
//
// Accesses and asynchronous copies are packed: the time of the warp or the batch of the copy in the upper half, then
// 16 bits of statement and 16 of thread+1. A copy of a tensor's box belongs to its mbarrier in place of a thread, with
// the phase as its batch; the thread that started it is the cell's last writer.
type shared struct {
	val    []uint64 // bits
	pend   []uint64 // bits that an asynchronous copy is to put there
	w      []uint64 // last writer; 0 if not initialised
	r      []uint64 // last reader, for each cell and each warp
	a      []uint64 // asynchronous copy to the cell, with its thread's batch; 0 if none
	serial []uint32 // the instruction that last wrote
	lanes  []uint64 // of the warp that read last: the time, and the lanes whose reads are in no order with others
	reader []uint8  // that warp
	tensor []bool   // the last write was a copy of a tensor; nil where no product of warpgroups can tell
	count  uint32   // of store instructions
	warps  int

	atomics []atomicUse // for each cell and each warp; nil where there are none

	// Of each thread: the batch of copies that is open; the batches that its groups ended with; batches waited for,
	// and known to all; its last copy that reads global memory, packed with its batch.
	batch           []uint32
	groups          [][]uint32
	done, published []uint32
	last            []uint64
}

func (s *shared) init(p *program) {
	n, threads := p.cells, p.copiers()
	s.warps = p.warps
	s.val = make([]uint64, n)
	s.batch, s.groups, s.last = make([]uint32, threads), make([][]uint32, threads), make([]uint64, threads)
	s.done, s.published = make([]uint32, threads), make([]uint32, threads)
	if p.check {
		s.pend, s.w, s.r, s.a = make([]uint64, n), make([]uint64, n), make([]uint64, n*p.warps), make([]uint64, n)
		s.serial, s.lanes, s.reader = make([]uint32, n), make([]uint64, n), make([]uint8, n)
		if p.products || p.landings > 0 {
			s.tensor = make([]bool, n)
		}
		if p.sharedAtomics {
			s.atomics = make([]atomicUse, n*p.warps)
		}
	}
}

func (s *shared) reset() {
	clear(s.w)
	clear(s.a)
	clear(s.atomics)
	clear(s.batch)
	clear(s.done)
	clear(s.published)
	clear(s.last)
	for i := range s.groups {
		s.groups[i] = s.groups[i][:0]
	}
}

func packed(high uint32, stmt int32, thread int) uint64 {
	if stmt > 0xffff { // its line will not be known
		stmt = 0
	}
	return uint64(high)<<32 | uint64(stmt)<<16 | uint64(thread+1)
}

func threadOf(rec uint64) int { return int(rec&0xffff) - 1 }
func stmtOf(rec uint64) int32 { return int32(rec >> 16 & 0xffff) }

// smem is a shared array: its cells start at first, and per of them make an element.
type smem struct {
	area
	first, per, cellBits int
	tagged               bool // in exact mode, arrays of other widths share its cells
	landing              int  // of mbarriers that bytes land at: the first one's copier; else 0
}

// layOut gives shared arrays their cells. Arrays that overlap share cells as wide as all of them allow.
func (c *compiler) layOut(k *cir.Kernel) {
	mems := slices.Clone(k.Shared)
	slices.SortStableFunc(mems, func(a, b *cir.Mem) int { return a.Offset - b.Offset })
	for i := 0; i < len(mems); {
		start, end := int64(mems[i].Offset)*8, int64(0)
		cell := int64(0)
		j := i
		for ; j < len(mems) && (j == i || int64(mems[j].Offset)*8 < end); j++ {
			m := c.sharedArea(k, mems[j])
			end = max(end, m.base+m.count*int64(m.bits))
			cell = gcd(gcd(cell, int64(m.bits)), m.base-start)
		}
		tagged := false
		for _, mem := range mems[i:j] {
			tagged = tagged || c.prog.exact && int64(c.shared[mem].bits) != cell
		}
		for _, mem := range mems[i:j] {
			m := c.shared[mem]
			m.tagged = tagged
			m.first = c.prog.cells + int((m.base-start)/cell)
			m.per, m.cellBits = m.bits/int(cell), int(cell)
		}
		c.prog.cells += int((end - start) / cell)
		i = j
	}
}

func (c *compiler) sharedArea(k *cir.Kernel, mem *cir.Mem) *smem {
	n, isConst := mem.Count.IsConst()
	bits := mem.Elem.Bits()
	switch {
	case mem.Space != cir.Shared:
		c.fail("%s is not in shared memory", mem.Name)
	case !isConst || n < 0:
		c.fail("the count %s of shared array %s is not a constant", mem.Count, mem.Name)
	case bits == 0 || bits > 64:
		c.fail("elements of %s cannot be emulated", mem.Elem)
	case mem.Offset < 0 || int64(mem.Offset)*8+n*int64(bits) > int64(k.SmemBytes)*8:
		c.fail("shared array %s ends beyond the kernel's %d bytes", mem.Name, k.SmemBytes)
	case mem.Align > 0 && mem.Offset%mem.Align != 0:
		c.fail("shared array %s at byte %d is not aligned to %d", mem.Name, mem.Offset, mem.Align)
	}
	m := &smem{area: area{name: mem.Name, space: cir.Shared, kind: mem.Elem, bits: bits, count: n,
		base: int64(mem.Offset) * 8, align: 1 << 13}} // the array's own offset decides
	c.shared[mem] = m
	return m
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}

func (m *smem) load(w *warp, lane int, index int64, out []uint64) { m.read(w, lane, index, out, false) }

// read is load; collective says that other threads get the data too, as with ldmatrix.
func (m *smem) read(w *warp, lane int, index int64, out []uint64, collective bool) {
	s := &w.b.sh
	c := m.first + int(index)*m.per
	if w.b.prog.check {
		s.checkRead(w, m, lane, c, len(out)*m.per, collective)
	}
	m.peek(s, c, out)
}

// peek reads elements from a cell on.
func (m *smem) peek(s *shared, c int, out []uint64) {
	if m.tagged {
		for i := range out {
			out[i] = untag(s.val[c+i*m.per : c+(i+1)*m.per])
		}
		return
	}
	if m.per == 1 {
		copy(out, s.val[c:c+len(out)])
		return
	}
	for i := range out {
		v := uint64(0)
		for j := m.per - 1; j >= 0; j-- {
			v = v<<m.cellBits | s.val[c+i*m.per+j]
		}
		out[i] = v
	}
}

func (m *smem) store(w *warp, lane int, index int64, in []uint64) {
	s := &w.b.sh
	c, n := m.first+int(index)*m.per, len(in)*m.per
	if w.b.prog.check {
		s.checkWrite(w, m, lane, c, n)
	}
	m.write(s.val[c:c+n], in)
}

// write splits elements into cells.
func (m *smem) write(cells, in []uint64) {
	if m.tagged {
		for i, v := range in {
			tag(cells[i*m.per:(i+1)*m.per], v)
		}
		return
	}
	if m.per == 1 {
		copy(cells, in)
		return
	}
	for i, v := range in {
		for j := range m.per {
			cells[i*m.per+j] = v >> (j * m.cellBits) & (1<<m.cellBits - 1)
		}
	}
}

// begin starts an asynchronous copy into the array: its bytes arrive when its thread waits.
func (m *smem) begin(w *warp, lane int, index int64, in []uint64) {
	t := w.thread(lane)
	m.beginAs(w, lane, index, in, packed(w.b.sh.batch[t], w.now, t))
}

// beginAs starts a copy that belongs to a thread or an mbarrier.
func (m *smem) beginAs(w *warp, lane int, index int64, in []uint64, rec uint64) {
	s := &w.b.sh
	c, n := m.first+int(index)*m.per, len(in)*m.per
	if !w.b.prog.check {
		m.write(s.val[c:c+n], in)
		return
	}
	byEngine := s.tensor != nil && threadOf(rec) >= s.warps*32
	if byEngine {
		s.overOrdinary(w, m, lane, c, n)
	}
	s.checkWrite(w, m, lane, c, n)
	m.write(s.pend[c:c+n], in)
	for i := c; i < c+n; i++ {
		s.a[i] = rec
	}
	if byEngine {
		for i := c; i < c+n; i++ {
			s.tensor[i] = true
		}
	}
}

// overOrdinary finds cells that ordinary stores wrote and TMA is to write: nothing keeps the two in order.
func (s *shared) overOrdinary(w *warp, m *smem, lane, c, n int) {
	for i := c; i < c+n; i++ {
		if s.w[i] == 0 || s.tensor[i] {
			continue
		}
		if f := w.find(Proxy, m.name, lane, m.element(i)); f != nil {
			f.Message = m.text("TMALoad writes", i)
			w.other(f, threadOf(s.w[i]), stmtOf(s.w[i]), "to which an ordinary store was made")
		}
	}
}
