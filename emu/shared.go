package emu

import (
	"slices"

	"github.com/gocute/gocute/gen/cir"
)

// shared is a block's shared memory, an entry of each slice a cell.
//
// Writers and asynchronous copies are packed: epoch or group in the upper half, then 16 bits of statement and 16 of
// thread+1. The epoch of a record says whether a barrier has passed since; epochs go on counting over blocks.
type shared struct {
	val    []uint64 // bits
	pend   []uint64 // bits that an asynchronous copy is to put there
	w      []uint64 // last writer, with its epoch; 0 if not initialised
	r      []uint64 // epoch of the last read, and the warps that read in it
	who    []uint32 // one of those readers: statement and thread+1
	a      []uint64 // asynchronous copy to the cell, with its thread's group; 0 if none
	serial []uint32 // the instruction that last wrote
	epoch  uint32
	count  uint32 // of store instructions

	// Of each thread: asynchronous groups closed; waited for; waited for before the last barrier.
	closed, done, published []uint32
}

func (s *shared) init(p *program) {
	n := p.cells
	s.val = make([]uint64, n)
	s.closed, s.done, s.published = make([]uint32, p.warps*32), make([]uint32, p.warps*32), make([]uint32, p.warps*32)
	if p.check {
		s.pend, s.w, s.r, s.a = make([]uint64, n), make([]uint64, n), make([]uint64, n), make([]uint64, n)
		s.who, s.serial = make([]uint32, n), make([]uint32, n)
	}
}

func (s *shared) reset() {
	clear(s.w)
	clear(s.a)
	clear(s.closed)
	clear(s.done)
	clear(s.published)
	s.epoch++
}

// publish is a barrier: what was written, read and waited for before is visible to all.
func (s *shared) publish() {
	s.epoch++
	copy(s.published, s.done)
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
		for _, mem := range mems[i:j] {
			m := c.shared[mem]
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
	s := &w.b.sh
	c, n := m.first+int(index)*m.per, len(in)*m.per
	if !w.b.prog.check {
		m.write(s.val[c:c+n], in)
		return
	}
	s.checkWrite(w, m, lane, c, n)
	m.write(s.pend[c:c+n], in)
	t := w.thread(lane)
	rec := packed(s.closed[t], w.now, t)
	for i := c; i < c+n; i++ {
		s.a[i] = rec
	}
}
