package emu

import "math/bits"

// checkRead checks that a lane may read n cells from c on, and notes that it does.
func (s *shared) checkRead(w *warp, m *smem, lane, c, n int, collective bool) {
	s.checkReadUntil(w, m, lane, c, n, collective, w.time)
}

// checkReadUntil is checkRead for a read that lasts until a time, which may be that of a group of products in flight.
func (s *shared) checkReadUntil(w *warp, m *smem, lane, c, n int, collective bool, until uint32) {
	lanes := uint64(1) << lane
	if collective { // the row goes to all of them
		lanes = fullMask
	}
	rec := packed(until, w.now, w.thread(lane))
	for i := c; i < c+n; i++ {
		copied := s.a[i] != 0
		if copied && !s.arrived(w, m, lane, i, collective) {
			continue
		}
		if wr := s.w[i]; copied { // the copy was the last write, and is seen
		} else if wr == 0 {
			if f := w.find(Uninitialised, m.name, lane, m.element(i)); f != nil {
				f.Message = m.text("reads", i) + ", which was not written before"
			}
		} else if (collective || threadOf(wr) != w.thread(lane)) && !w.before(wr) {
			if f := w.race(m.name, lane, m.element(i), stmtOf(wr)); f != nil {
				f.Message = m.text("reads", i)
				w.other(f, threadOf(wr), stmtOf(wr), "written")
			}
		}
		if s.atomics != nil {
			s.afterAtomics(w, m, lane, i, "reads", collective)
		}
		if r := &s.r[i*s.warps+w.id]; until >= inFlight || uint32(*r>>32) < inFlight {
			*r = rec
		}
		old := s.lanes[i] & fullMask
		if int(s.reader[i]) != w.id || uint32(s.lanes[i]>>32) <= w.clock.time[w.id] {
			old = 0
		}
		s.reader[i], s.lanes[i] = uint8(w.id), uint64(w.time)<<32|old|lanes
	}
}

// arrived settles the asynchronous copy of a cell that is read. It is false, with a finding, where the reader does
// not see the copy's bytes for sure: then the reader gets the old ones.
func (s *shared) arrived(w *warp, m *smem, lane, c int, collective bool) bool {
	rec := s.a[c]
	t, batch := threadOf(rec), uint32(rec>>32)
	boxed := t >= s.warps*32 // then t is an mbarrier, and only its phase tells of the bytes
	who := t
	if boxed {
		who = threadOf(s.w[c])
	}
	switch {
	case batch < s.published[t]:
		s.val[c], s.a[c] = s.pend[c], 0
		return true
	case batch < w.clock.seen[t], batch < s.done[t] && t == w.thread(lane) && !collective:
		s.val[c] = s.pend[c] // but to the others it stays unpublished
		return true
	case !boxed && batch >= s.done[t] && t>>5 != w.id && !w.before(s.w[c]): // no wait could help
		if f := w.race(m.name, lane, m.element(c), stmtOf(rec)); f != nil {
			f.Message = m.text("reads", c)
			w.other(f, t, stmtOf(rec), "an asynchronous copy to which was started")
		}
		return false
	case batch >= s.done[t]:
		if f := w.find(ReadInFlight, m.name, lane, m.element(c)); f != nil {
			f.Message = m.text("reads", c) + ", whose asynchronous copy is in flight"
			w.other(f, who, stmtOf(rec), "started")
		}
		return false
	}
	if f := w.find(Unpublished, m.name, lane, m.element(c)); f != nil {
		f.Message = m.text("reads", c) + ", whose asynchronous copy was waited for, but with no barrier since"
		w.other(f, t, stmtOf(rec), "started")
	}
	return false
}

// checkWrite checks that a lane may write n cells from c on, and notes that it does.
func (s *shared) checkWrite(w *warp, m *smem, lane, c, n int) {
	t := w.thread(lane)
	rec := packed(w.time, w.now, t)
	for i := c; i < c+n; i++ {
		if s.a[i] != 0 {
			s.overwrite(w, m, lane, i)
		} else if wr := s.w[i]; wr != 0 && threadOf(wr) != t && (s.serial[i] == s.count || !w.before(wr)) {
			s.twoWriters(w, m, lane, i)
		}
		s.afterReads(w, m, lane, i)
		if s.atomics != nil {
			s.afterAtomics(w, m, lane, i, "writes", false)
		}
		s.w[i], s.serial[i] = rec, s.count
	}
	if s.tensor != nil {
		clear(s.tensor[c : c+n])
	}
}

// afterReads judges a write to a cell by the reads of it.
func (s *shared) afterReads(w *warp, m *smem, lane, i int) {
	for u, r := range s.r[i*s.warps : (i+1)*s.warps] {
		if r != 0 && (u != w.id || uint32(r>>32) >= inFlight) && !w.before(r) {
			s.readBefore(w, m, lane, i, r)
			break
		}
	}
	if others := uint32(s.lanes[i]) &^ (1 << lane); others != 0 && int(s.reader[i]) == w.id && uint32(s.lanes[i]>>32) > w.clock.time[w.id] {
		r := s.r[i*s.warps+w.id]
		if threadOf(r) == w.thread(lane) { // another lane did, too
			r += uint64(bits.TrailingZeros32(others)) - uint64(lane)
		}
		s.readBefore(w, m, lane, i, r)
	}
}

// readBefore judges a write to a cell that another thread has read, with nothing to keep the two in order.
func (s *shared) readBefore(w *warp, m *smem, lane, c int, who uint64) {
	if s.w[c] == 0 { // that read found it not initialised: it only came too early
		f, known := w.b.finds.raced(stmtOf(who), w.now, m.name)
		if f != nil {
			w.other(f, w.thread(lane), w.now, "but is written, with no barrier between,")
		}
		if known {
			return
		}
	}
	if f := w.race(m.name, lane, m.element(c), stmtOf(who)); f != nil {
		f.Message = m.text("writes", c)
		w.other(f, threadOf(who), stmtOf(who), "read")
	}
}

// twoWriters judges a cell that another thread wrote before.
func (s *shared) twoWriters(w *warp, m *smem, lane, c int) {
	wr := s.w[c]
	check := Race
	if s.serial[c] == s.count {
		check = LaneConflict
	}
	if f := w.findOr(check, m.name, lane, m.element(c), stmtOf(wr)); f != nil {
		f.Message = m.text("writes", c)
		w.other(f, threadOf(wr), stmtOf(wr), "written")
	}
}

// overwrite judges a write to a cell that has an asynchronous copy, which it ends.
func (s *shared) overwrite(w *warp, m *smem, lane, c int) {
	rec := s.a[c]
	s.a[c] = 0
	t, batch := threadOf(rec), uint32(rec>>32)
	who := t
	if t >= s.warps*32 { // an mbarrier
		who = threadOf(s.w[c])
	}
	check, what := WriteInFlight, ", whose asynchronous copy is in flight"
	switch {
	case batch < w.clock.seen[t], batch < s.done[t] && t == w.thread(lane):
		return
	case batch < s.done[t]:
		check, what = Race, ", whose asynchronous copy was waited for, but with no barrier since"
	}
	if f := w.findOr(check, m.name, lane, m.element(c), stmtOf(rec)); f != nil {
		f.Message = m.text("writes", c) + what
		w.other(f, who, stmtOf(rec), "started")
	}
}

func (m *smem) element(cell int) int64 { return int64((cell - m.first) / m.per) }

func (m *smem) text(verb string, cell int) string {
	return sprint(verb, " ", m.name, "[", m.element(cell), "]")
}
