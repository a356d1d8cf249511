package machine

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// Scope is whom a strong access is strong for.
type Scope uint8

// The scopes. ScopeNone is that of weak accesses.
const (
	ScopeNone Scope = iota
	ScopeCTA
	ScopeCluster
	ScopeGPU
	ScopeSystem
)

// Order is the ordering of an access. Strong without Acquire and Release is relaxed (volatile is that, too).
type Order struct {
	Strong           bool
	Acquire, Release bool
	Scope            Scope
}

// Load reads len(out) bytes of a thread. It is false after a finding that leaves nothing to read; out is then zeros.
func (b *Block) Load(t int, pc int32, s Space, addr uint64, align int, o Order, out []byte) bool {
	r, off := b.within(t, pc, s, addr, len(out), align, "reads")
	if r == nil {
		clear(out)
		return false
	}
	copy(out, r.Data[off:])
	switch r.Space {
	case Const:
		return true
	case Shared:
		b.notBarrier(t, pc, off, len(out), "reads")
	}
	k := weakRead
	if o.Strong {
		k = strongRead
	}
	r.cellsOf(off, len(out), func(c *cell, at int64) { b.readCell(r, c, at, t, pc, k, o.Scope) })
	if o.Strong {
		b.acquire(t, r, off, o)
	}
	return true
}

// Store writes bytes of a thread. It is false after a finding that keeps it from writing.
func (b *Block) Store(t int, pc int32, s Space, addr uint64, align int, o Order, in []byte) bool {
	r, off := b.within(t, pc, s, addr, len(in), align, "writes")
	if r == nil {
		return false
	}
	if r.Space == Const {
		if f := b.find(ReadOnly, t, pc, r.Name); f != nil {
			f.Message = fmt.Sprintf("writes %d bytes of %s", len(in), r.Name)
		}
		return false
	}
	if r.Space == Shared {
		b.notBarrier(t, pc, off, len(in), "writes")
	}
	if o.Strong {
		b.release(t, r, off, o, false)
	}
	r.cellsOf(off, len(in), func(c *cell, at int64) {
		if o.Strong {
			b.strongCell(r, c, at, t, pc, o.Scope)
		} else {
			b.writeCell(r, c, at, t, pc)
		}
	})
	copy(r.Data[off:], in)
	b.m.progress++
	if o.Strong && o.Release {
		b.time[t]++
	}
	return true
}

// Atomic replaces n bytes (2, 4, 8 or 16) by f of them and returns the old ones, in little-endian words.
func (b *Block) Atomic(t int, pc int32, s Space, addr uint64, n int, o Order, f func(old [2]uint64) [2]uint64) (old [2]uint64, ok bool) {
	r, off := b.within(t, pc, s, addr, n, n, "updates")
	if r == nil || r.Space == Const {
		return old, false
	}
	if r.Space == Shared {
		b.notBarrier(t, pc, off, n, "updates")
	}
	var buf [16]byte
	copy(buf[:n], r.Data[off:])
	old = [2]uint64{binary.LittleEndian.Uint64(buf[:]), binary.LittleEndian.Uint64(buf[8:])}
	r.cellsOf(off, n, func(c *cell, at int64) {
		b.uninitialised(r, c, at, t, pc)
		b.strongCell(r, c, at, t, pc, o.Scope)
	})
	b.acquire(t, r, off, o)
	b.release(t, r, off, o, true)
	next := f(old)
	binary.LittleEndian.PutUint64(buf[:], next[0])
	binary.LittleEndian.PutUint64(buf[8:], next[1])
	copy(r.Data[off:off+int64(n)], buf[:n])
	b.m.progress++
	if o.Release {
		b.time[t]++
	}
	return old, true
}

// event is what thread t does now.
func (b *Block) event(t int, pc int32) event { return event{b.ID, int32(t), b.time[t], pc} }

// ordered reports whether an event is before what thread t does now.
func (b *Block) ordered(t int, e event) bool {
	return e.block == b.ID && int(e.thread) == t || b.clocks[t].knows(b.ID, e)
}

// readCell judges and notes a read.
func (b *Block) readCell(r *Region, c *cell, at int64, t int, pc int32, k kind, s Scope) {
	if c.copy != nil {
		if !b.arrived(r, c, at, t, pc, "reads") {
			return
		}
	} else if !b.uninitialised(r, c, at, t, pc) && c.write.time != 0 && !b.ordered(t, c.write) {
		b.race(r, at, t, pc, "reads", c.write, "written")
	}
	if k == weakRead {
		b.afterStrong(r, c, at, t, pc, "reads")
	} else {
		b.scopes(r, c, at, t, pc, s)
	}
	c.note(b.ID, t, b.time[t], pc, k, s)
}

// uninitialised reports a read of what nobody wrote.
func (b *Block) uninitialised(r *Region, c *cell, at int64, t int, pc int32) bool {
	if r.Defined || c.write.time != 0 || c.copy != nil || c.strongWrites() {
		return false
	}
	if f := b.find(Uninitialised, t, pc, r.Name); f != nil {
		f.Offset = at
		f.Message = fmt.Sprintf("reads byte %d of %s, which nobody wrote before", at, r.Name)
	}
	return true
}

func (c *cell) strongWrites() bool {
	for n := c.nodes; n != nil; n = n.next {
		if n.kind == strongWrite {
			return true
		}
	}
	return false
}

// note adds an access to a cell's nodes. Of a lane's earlier accesses of the kind at most one is kept: what comes after this
// one comes after those.
func (c *cell) note(block int32, t int, time uint32, pc int32, k kind, s Scope) {
	warp, lane := int32(t>>5), uint32(1)<<(t&31)
	var same *node
	for link := &c.nodes; *link != nil; {
		n := *link
		if n.block != block && k == weakRead { // blocks mostly run one after the other: the rest is of earlier ones
			break
		}
		if n.block == block && n.warp == warp && n.kind == k && n.scope == s {
			if n.time == time {
				same = n
				n.pc = pc
			} else if n.lanes &^= lane; n.lanes == 0 {
				*link = n.next
				continue
			}
		}
		link = &n.next
	}
	if same != nil {
		same.lanes |= lane
		return
	}
	c.nodes = &node{next: c.nodes, block: block, warp: warp, lanes: lane, time: time, pc: pc, kind: k, scope: s}
}

// writeCell judges and notes a weak write, after which earlier accesses do not count any more.
func (b *Block) writeCell(r *Region, c *cell, at int64, t int, pc int32) {
	switch {
	case c.copy != nil:
		b.arrived(r, c, at, t, pc, "writes")
	case c.write.time == 0:
	case c.serial == b.serial && c.write.block == b.ID && int(c.write.thread) != t:
		if f := b.findWith(LaneConflict, t, pc, pc, r.Name); f != nil {
			f.Offset, f.OtherThread, f.OtherBlock = at, int(c.write.thread), b.At
			f.Message = fmt.Sprintf("writes byte %d of %s, which thread %d writes in the same instruction", at, r.Name, c.write.thread)
		}
	case !b.ordered(t, c.write):
		b.race(r, at, t, pc, "writes", c.write, "written")
	}
	b.afterNodes(r, c, at, t, pc, false)
	c.write, c.copy, c.nodes, c.serial, c.async = b.event(t, pc), nil, nil, b.serial, false
}

// strongCell judges and notes a strong write or an atomic operation.
func (b *Block) strongCell(r *Region, c *cell, at int64, t int, pc int32, s Scope) {
	if c.copy != nil {
		b.arrived(r, c, at, t, pc, "updates")
	} else if c.write.time != 0 && !b.ordered(t, c.write) {
		b.race(r, at, t, pc, "updates", c.write, "written")
	}
	b.afterNodes(r, c, at, t, pc, true)
	b.scopes(r, c, at, t, pc, s)
	c.note(b.ID, t, b.time[t], pc, strongWrite, s)
}

// afterNodes judges a write by the accesses since the last one; those that are strong do not race with a strong one.
func (b *Block) afterNodes(r *Region, c *cell, at int64, t int, pc int32, strong bool) {
	verb := map[bool]string{true: "updates", false: "writes"}[strong]
	for n := c.nodes; n != nil; n = n.next {
		switch {
		case n.kind == asyncRead:
			b.source(r, n, at, t, pc, verb)
		case strong && n.kind != weakRead:
		default:
			if e, found := b.unordered(n, t); found {
				b.race(r, at, t, pc, verb, e, map[kind]string{weakRead: "read", strongRead: "read", strongWrite: "updated"}[n.kind])
				return
			}
		}
	}
}

// afterStrong judges a weak read by strong writes.
func (b *Block) afterStrong(r *Region, c *cell, at int64, t int, pc int32, verb string) {
	for n := c.nodes; n != nil; n = n.next {
		if n.kind != strongWrite {
			continue
		}
		if e, found := b.unordered(n, t); found {
			b.race(r, at, t, pc, verb, e, "updated")
			return
		}
	}
}

// unordered finds an access of a node that is in no order with what thread t does now.
func (b *Block) unordered(n *node, t int) (event, bool) {
	for lanes := n.lanes; lanes != 0; lanes &= lanes - 1 {
		e := event{n.block, n.warp*32 + int32(bits.TrailingZeros32(lanes)), n.time, n.pc}
		if !b.ordered(t, e) {
			return e, true
		}
	}
	return event{}, false
}

// scopes judges strong accesses of other blocks whose scopes do not contain each other.
func (b *Block) scopes(r *Region, c *cell, at int64, t int, pc int32, s Scope) {
	for n := c.nodes; n != nil; n = n.next {
		if n.block == b.ID || n.kind != strongRead && n.kind != strongWrite || min(n.scope, s) > ScopeCTA {
			continue
		}
		if e, found := b.unordered(n, t); found {
			if f := b.findWith(WrongScope, t, pc, n.pc, r.Name); f != nil {
				f.Offset, f.OtherThread, f.OtherBlock = at, int(e.thread), b.m.place(e.block)
				f.Message = fmt.Sprintf("updates byte %d of %s with the scope of a block, but another block does so, too", at, r.Name)
			}
			return
		}
	}
}

// place is the block of a number.
func (m *Machine) place(id int32) [3]int {
	i := int(id)
	return [3]int{i % m.Grid[0], i / m.Grid[0] % m.Grid[1], i / (m.Grid[0] * m.Grid[1])}
}

// race reports two accesses in no order.
func (b *Block) race(r *Region, at int64, t int, pc int32, verb string, e event, did string) {
	f := b.findWith(Race, t, pc, e.pc, r.Name)
	if f == nil {
		return
	}
	f.PC, f.Other, f.Offset, f.OtherThread, f.OtherBlock = pc, e.pc, at, int(e.thread), b.m.place(e.block)
	who := fmt.Sprintf("thread %d", e.thread)
	if e.block != b.ID {
		who += fmt.Sprintf(" of block %v", f.OtherBlock)
	}
	f.Message = fmt.Sprintf("%s byte %d of %s, which %s has %s, and nothing orders the two", verb, at, r.Name, who, did)
}
