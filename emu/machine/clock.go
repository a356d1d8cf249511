package machine

// vec holds, by thread of a block and behind the threads by mbarrier, the time up to which accesses are known. Entries past
// its end are 0. It is never changed once another clock may hold it.
type vec []uint32

func (v vec) at(i int32) uint32 {
	if int(i) < len(v) {
		return v[i]
	}
	return 0
}

func (v vec) same(w vec) bool {
	return len(v) == len(w) && (len(v) == 0 || &v[0] == &w[0])
}

// covers reports whether v knows all that w does.
func (v vec) covers(w vec) bool {
	for i, t := range w {
		if t > v.at(int32(i)) {
			return false
		}
	}
	return true
}

// union is the elementwise maximum: a or b itself where it covers the other.
func union(a, b vec) vec {
	switch {
	case a.same(b), a.covers(b):
		return a
	case b.covers(a):
		return b
	}
	out := make(vec, max(len(a), len(b)))
	copy(out, a)
	for i, t := range b {
		out[i] = max(out[i], t)
	}
	return out
}

// with is v with one entry raised, a copy.
func (v vec) with(i int32, t uint32) vec {
	if v.at(i) >= t {
		return v
	}
	out := make(vec, max(len(v), int(i)+1))
	copy(out, v)
	out[i] = t
	return out
}

// pair is what is known of one block: the accesses that happened, and those of them that a proxy fence has made visible to
// asynchronous copies and products.
type pair struct{ seen, fenced vec }

func (p pair) union(q pair) pair { return pair{union(p.seen, q.seen), union(p.fenced, q.fenced)} }

// clock is what a thread knows, or what is handed on at a place where threads meet. The zero value knows nothing.
type clock struct {
	own    pair           // of its own block
	others map[int32]pair // of other blocks; never changed once set
}

// union joins two clocks of the same block.
func (c clock) union(d clock) clock {
	out := clock{own: c.own.union(d.own), others: c.others}
	switch {
	case len(d.others) == 0:
	case len(c.others) == 0:
		out.others = d.others
	default:
		out.others = make(map[int32]pair, len(c.others)+1)
		for b, p := range c.others {
			out.others[b] = p
		}
		for b, p := range d.others {
			out.others[b] = out.others[b].union(p)
		}
	}
	return out
}

// handedTo is what a clock of one block tells a thread of another: what it knows of its own block is then of a third.
func (c clock) handedTo(from, to int32) clock {
	if from == to {
		return c
	}
	out := clock{others: make(map[int32]pair, len(c.others)+1)}
	for b, p := range c.others {
		if b == to {
			out.own = p
		} else {
			out.others[b] = p
		}
	}
	out.others[from] = out.others[from].union(c.own)
	return out
}

// event is an access: by which thread, at which of its times, by which instruction. Time 0 is none.
type event struct {
	block, thread int32
	time          uint32
	pc            int32
}

// knows reports whether an event of another thread is ordered before what a thread of the block does with this clock.
func (c *clock) knows(block int32, e event) bool {
	if e.block == block {
		return e.time <= c.own.seen.at(e.thread)
	}
	return e.time <= c.others[e.block].seen.at(e.thread)
}

// fencedFor reports whether, besides, asynchronous copies see what the event wrote.
func (c *clock) fencedFor(block int32, e event) bool {
	if e.block == block {
		return e.time <= c.own.fenced.at(e.thread)
	}
	return e.time <= c.others[e.block].fenced.at(e.thread)
}
