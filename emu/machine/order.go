package machine

import "math/bits"

// knowledge is what thread t has done and knows: what it releases.
func (b *Block) knowledge(t int) clock {
	c := b.clocks[t]
	c.own.seen = c.own.seen.with(int32(t), b.time[t])
	return c
}

// acquire takes what releases at an address told: at once where the access acquires, else at the next fence.
func (b *Block) acquire(t int, r *Region, off int64, o Order) {
	told, ok := b.m.syncs[syncKey{r, off}]
	if !ok {
		return
	}
	c := told.handedTo(told.block, b.ID)
	if o.Acquire {
		b.clocks[t] = b.clocks[t].union(c)
	} else {
		b.pending[t] = b.pending[t].union(c)
	}
}

// release tells at an address what the thread's last fence, or a releasing access itself, makes known. An update goes on
// with what others released there; a store ends it.
func (b *Block) release(t int, r *Region, off int64, o Order, update bool) {
	key := syncKey{r, off}
	var c clock
	switch {
	case o.Release:
		c = b.knowledge(t)
	case b.fence[t] != nil:
		c = b.fence[t].clock
	default:
		if !update {
			delete(b.m.syncs, key)
		}
		return
	}
	if old, ok := b.m.syncs[key]; ok && update {
		c = c.union(old.handedTo(old.block, b.ID))
	}
	b.m.syncs[key] = clockOf{c, b.ID}
}

// Fence orders the thread's accesses before it with those after it, for whom it meets through strong accesses.
func (b *Block) Fence(t int) {
	b.clocks[t] = b.clocks[t].union(b.pending[t])
	b.fence[t] = &clockOf{b.knowledge(t), b.ID}
	b.time[t]++
}

// FenceProxyAsync makes what the thread knows of visible to asynchronous copies and products.
func (b *Block) FenceProxyAsync(t int) {
	c := b.knowledge(t)
	out := clock{own: pair{b.clocks[t].own.seen, c.own.seen}}
	if len(c.others) > 0 {
		out.others = make(map[int32]pair, len(c.others))
		for i, p := range c.others {
			out.others[i] = pair{p.seen, p.seen}
		}
	}
	b.clocks[t] = out
	b.time[t]++
}

// meet lets threads know of each other's accesses: a barrier. each calls its argument for every thread.
func (b *Block) meet(each func(func(t int))) {
	var all clock
	first := true
	each(func(t int) {
		if first {
			all, first = b.clocks[t], false
		} else {
			all = all.union(b.clocks[t])
		}
	})
	seen := make(vec, max(len(all.own.seen), b.Threads))
	copy(seen, all.own.seen)
	each(func(t int) {
		seen[t] = max(seen[t], b.time[t])
		b.time[t]++
	})
	all.own.seen = seen
	each(func(t int) { b.clocks[t] = all })
}

// SyncWarp orders the accesses of lanes of a warp (bar.warp.sync).
func (b *Block) SyncWarp(w int, lanes uint32) {
	b.meet(func(f func(t int)) {
		for m := lanes; m != 0; m &= m - 1 {
			f(w*32 + bits.TrailingZeros32(m))
		}
	})
}
