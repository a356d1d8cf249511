package emu

// hazardKey is an element of global memory.
type hazardKey struct {
	mem   *gmem
	index int64
}

// hazard is who touched an element since the block's last barrier, packed with the warp's time; 0 for none.
type hazard struct {
	write, read, other  uint64 // the last write, the last read, and the last one of another thread than that
	atomic, otherAtomic uint64 // the same of atomic operations
}

// apart reports whether a lane's access and an earlier one of the same block may happen in either order.
func (w *warp) apart(rec uint64, lane int) bool {
	return rec != 0 && threadOf(rec) != w.thread(lane) && !w.before(rec)
}

func (b *block) globalRead(w *warp, g *gmem, lane int, index int64, n int) {
	now := packed(w.time, w.now, w.thread(lane))
	for i := index; i < index+int64(n); i++ {
		key := hazardKey{g, i}
		h := b.global[key]
		if w.apart(h.write, lane) {
			w.globalHazard(g, lane, i, "reads", h.write, "written")
		}
		w.afterAtomics(g, lane, i, &h, "reads")
		if h.read != 0 && threadOf(h.read) != w.thread(lane) {
			h.other = h.read
		}
		h.read = now
		b.global[key] = h
	}
}

func (b *block) globalWrite(w *warp, g *gmem, lane int, index int64, n int) {
	now := packed(w.time, w.now, w.thread(lane))
	for i := index; i < index+int64(n); i++ {
		key := hazardKey{g, i}
		h := b.global[key]
		for _, r := range [...]uint64{h.read, h.other} {
			if w.apart(r, lane) {
				w.globalHazard(g, lane, i, "writes", r, "read")
				break
			}
		}
		w.afterAtomics(g, lane, i, &h, "writes")
		h.write = now
		b.global[key] = h
	}
}

func (w *warp) globalHazard(g *gmem, lane int, index int64, verb string, t uint64, what string) {
	if f := w.race(g.name, lane, index, stmtOf(t)); f != nil {
		f.Message = sprint(verb, " ", g.element(index))
		w.other(f, threadOf(t), stmtOf(t), what)
	}
}
