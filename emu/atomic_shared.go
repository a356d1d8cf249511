package emu

import "math/bits"

// atomicUse is the last atomic operation of a warp on a cell, and the lanes of those that are in no order with it.
type atomicUse struct {
	rec   uint64
	lanes uint32
}

// atomic changes an element of shared memory.
func (m *smem) atomic(w *warp, lane int, index int64, f func(uint64) uint64) uint64 {
	s := &w.b.sh
	c := m.first + int(index)*m.per
	if w.b.prog.check {
		s.checkAtomic(w, m, lane, c)
	}
	var old [1]uint64
	m.peek(s, c, old[:])
	m.write(s.val[c:c+m.per], []uint64{f(old[0])})
	if w.b.prog.check {
		for i := c; i < c+m.per; i++ { // of what a copy has brought, others may still have to take note
			if s.a[i] != 0 {
				s.pend[i] = s.val[i]
			}
		}
	}
	return old[0]
}

// checkAtomic checks that a lane may change an element atomically, and notes that it does. Other atomic operations may
// come in any order with it, other accesses may not.
func (s *shared) checkAtomic(w *warp, m *smem, lane, c int) {
	t := w.thread(lane)
	for i := c; i < c+m.per; i++ {
		wr := s.w[i]
		switch {
		case s.a[i] != 0:
			s.arrived(w, m, lane, i, false)
		case wr == 0:
			if f := w.find(Uninitialised, m.name, lane, m.element(i)); f != nil {
				f.Message = m.text("changes", i) + " atomically, which was not written before"
			}
		case threadOf(wr) != t && !w.before(wr):
			if f := w.race(m.name, lane, m.element(i), stmtOf(wr)); f != nil {
				f.Message = m.text("changes atomically", i)
				w.other(f, threadOf(wr), stmtOf(wr), "written")
			}
		}
		s.afterReads(w, m, lane, i)
		use := &s.atomics[i*s.warps+w.id]
		if use.rec != 0 && w.before(use.rec) {
			use.lanes = 0
		}
		use.rec, use.lanes = packed(w.time, w.now, t), use.lanes|1<<lane
	}
}

// afterAtomics judges a plain access by the atomic operations on the cell.
func (s *shared) afterAtomics(w *warp, m *smem, lane, c int, verb string, collective bool) {
	for u, use := range s.atomics[c*s.warps : (c+1)*s.warps] {
		if use.rec == 0 || w.before(use.rec) {
			continue
		}
		who := threadOf(use.rec)
		if u == w.id && !collective {
			others := use.lanes &^ (1 << lane)
			if others == 0 {
				continue
			}
			who = u*32 + bits.TrailingZeros32(others)
		}
		if f := w.race(m.name, lane, m.element(c), stmtOf(use.rec)); f != nil {
			f.Message = m.text(verb, c)
			w.other(f, who, stmtOf(use.rec), "changed atomically")
		}
		return
	}
}
