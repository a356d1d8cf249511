package emu

import "math/bits"

// checkRead checks that a lane may read n cells from c on, and notes that it does.
func (s *shared) checkRead(w *warp, m *smem, lane, c, n int, collective bool) {
	epoch, bit := uint64(s.epoch), uint64(1)<<w.id
	for i := c; i < c+n; i++ {
		if s.a[i] != 0 && !s.arrived(w, m, lane, i, collective) {
			continue
		}
		wr := s.w[i]
		if wr>>32 == epoch && threadOf(wr)>>5 != w.id {
			if f := w.find(Race, m.name, lane, m.element(i)); f != nil {
				f.Message = m.text("reads", i)
				w.other(f, threadOf(wr), stmtOf(wr), "written")
			}
		} else if wr == 0 {
			if f := w.find(Uninitialised, m.name, lane, m.element(i)); f != nil {
				f.Message = m.text("reads", i) + ", which was not written before"
			}
		}
		if r := s.r[i]; r>>32 != epoch {
			s.r[i] = epoch<<32 | bit
			s.who[i] = uint32(packed(0, w.now, w.thread(lane)))
		} else if r&bit == 0 {
			s.r[i] |= bit
			s.who[i] = uint32(packed(0, w.now, w.thread(lane)))
		}
	}
}

// arrived settles the asynchronous copy of a cell that is read. It is false, with a finding, where the reader does
// not see the copy's bytes for sure: then the reader gets the old ones.
func (s *shared) arrived(w *warp, m *smem, lane, c int, collective bool) bool {
	rec := s.a[c]
	t, group := threadOf(rec), uint32(rec>>32)
	switch {
	case group < s.published[t]:
		s.val[c], s.a[c] = s.pend[c], 0
		return true
	case group >= s.done[t] && s.w[c]>>32 == uint64(s.epoch) && t>>5 != w.id: // no wait could help
		if f := w.find(Race, m.name, lane, m.element(c)); f != nil {
			f.Message = m.text("reads", c)
			w.other(f, t, stmtOf(rec), "a copy to which was started")
		}
		return false
	case group >= s.done[t]:
		if f := w.find(ReadInFlight, m.name, lane, m.element(c)); f != nil {
			f.Message = m.text("reads", c) + ", whose asynchronous copy is in flight"
			w.other(f, t, stmtOf(rec), "started")
		}
		return false
	case t == w.thread(lane) && !collective:
		s.val[c] = s.pend[c] // but to the others it stays unpublished
		return true
	}
	if f := w.find(Unpublished, m.name, lane, m.element(c)); f != nil {
		f.Message = m.text("reads", c) + ", whose asynchronous copy was waited for, but no barrier followed"
		w.other(f, t, stmtOf(rec), "started")
	}
	return false
}

// checkWrite checks that a lane may write n cells from c on, and notes that it does.
func (s *shared) checkWrite(w *warp, m *smem, lane, c, n int) {
	epoch, bit, t := uint64(s.epoch), uint64(1)<<w.id, w.thread(lane)
	rec := packed(s.epoch, w.now, t)
	for i := c; i < c+n; i++ {
		if s.a[i] != 0 {
			s.overwrite(w, m, lane, i)
		}
		if wr := s.w[i]; wr>>32 == epoch && threadOf(wr) != t {
			s.twoWriters(w, m, lane, i)
		}
		if r := s.r[i]; r>>32 == epoch && r&0xffffffff&^bit != 0 {
			s.readBefore(w, m, lane, i)
		}
		s.w[i], s.serial[i] = rec, s.count
	}
}

// readBefore judges a write to a cell that another warp read in the same epoch.
func (s *shared) readBefore(w *warp, m *smem, lane, c int) {
	who := uint64(s.who[c])
	if s.w[c] == 0 { // that read found it not initialised: it only came too early
		f, known := w.b.finds.raced(stmtOf(who), m.name)
		if f != nil {
			w.other(f, w.thread(lane), w.now, "but is written, with no barrier between,")
		}
		if known {
			return
		}
	}
	f := w.find(Race, m.name, lane, m.element(c))
	if f == nil {
		return
	}
	if threadOf(who)>>5 == w.id { // another warp read it before
		others := uint32(s.r[c]) &^ (1 << w.id)
		who = uint64(bits.TrailingZeros32(others)*32 + 1)
	}
	f.Message = m.text("writes", c)
	w.other(f, threadOf(who), stmtOf(who), "read")
}

// twoWriters judges a cell that another thread wrote in the same epoch.
func (s *shared) twoWriters(w *warp, m *smem, lane, c int) {
	wr := s.w[c]
	check := Race
	if threadOf(wr)>>5 == w.id {
		if s.serial[c] != s.count {
			return // lanes of a warp run in lock step
		}
		check = LaneConflict
	}
	if f := w.find(check, m.name, lane, m.element(c)); f != nil {
		f.Message = m.text("writes", c)
		w.other(f, threadOf(wr), stmtOf(wr), "written")
	}
}

// overwrite judges a write to a cell that has an asynchronous copy, which it ends.
func (s *shared) overwrite(w *warp, m *smem, lane, c int) {
	rec := s.a[c]
	s.a[c] = 0
	t, group := threadOf(rec), uint32(rec>>32)
	check, what := WriteInFlight, ", whose asynchronous copy is in flight"
	switch {
	case group < s.published[t], group < s.done[t] && t == w.thread(lane):
		return
	case group < s.done[t]:
		check, what = Race, ", whose asynchronous copy was waited for, but no barrier followed"
	}
	if f := w.find(check, m.name, lane, m.element(c)); f != nil {
		f.Message = m.text("writes", c) + what
		w.other(f, t, stmtOf(rec), "started")
	}
}

func (m *smem) element(cell int) int64 { return int64((cell - m.first) / m.per) }

func (m *smem) text(verb string, cell int) string {
	return sprint(verb, " ", m.name, "[", m.element(cell), "]")
}
