package emu

import (
	"fmt"
	"math/bits"

	"github.com/gocute/gocute/gen/cir"
)

// meeting is one use of a named barrier: whoever comes adds what it knows, and knows all of it once everybody has come.
type meeting struct {
	threads, come int
	done          bool
	known         clock
}

// entire ends the block with a finding unless all of the warp's lanes are active.
func (w *warp) entire(what string) {
	if w.mask != w.full {
		w.diverged(what)
	}
}

func (c *compiler) syncWarp() func(*warp) {
	return func(w *warp) {
		w.entire("a warp sync")
		w.b.counts.instr[kSyncWarp]++
		w.syncWarp()
	}
}

// namedBarrier compiles a barrier of some warps. It counts warps as a whole, as the hardware does.
func (c *compiler) namedBarrier(s cir.NamedBarrier) func(*warp) {
	if err := cir.CheckNamedBarrier(s.ID, s.Threads, c.prog.threads); err != nil {
		c.fail("%v", err)
	}
	c.prog.yields = true
	return func(w *warp) {
		w.entire("a named barrier")
		w.b.counts.instr[kBarrier]++
		w.pause()
		m := w.b.named[s.ID]
		if m == nil {
			m = &meeting{threads: s.Threads, known: newClock(w.b.prog)}
			w.b.named[s.ID] = m
		}
		if m.threads != s.Threads {
			if f := w.find(Divergent, "", 0, -1); f != nil {
				f.Message = fmt.Sprintf("named barrier %d for %d threads, at which other warps wait for %d", s.ID, s.Threads, m.threads)
			}
			panic(aborted{})
		}
		w.syncWarp()
		w.tell(&m.known)
		w.time++
		if m.come += 32; m.come == m.threads {
			m.done, w.b.named[s.ID] = true, nil
		}
		for !m.done {
			w.waits = fmt.Sprintf("waits at named barrier %d, at which %d of %d threads have arrived", s.ID, m.come, m.threads)
			w.spins++
			w.pause()
		}
		w.clock.join(&m.known)
	}
}

// members ends the block with a finding unless the active lanes are those of a mask, as far as they exist.
func (w *warp) members(what string, mask uint32) {
	want := mask & w.full
	switch {
	case w.mask&^want != 0:
		if f := w.find(NoLane, "", firstLane(w.mask&^want), -1); f != nil {
			f.Message = fmt.Sprintf("%s with the mask %#08x is executed by lane %d, which is not in it", what, mask, firstLane(w.mask&^want))
		}
	case w.mask != want:
		if f := w.find(Divergent, "", firstLane(want&^w.mask), -1); f != nil {
			f.Message = fmt.Sprintf("%s is executed by %d of %d threads", what, bits.OnesCount32(w.mask), bits.OnesCount32(want))
		}
	default:
		return
	}
	panic(aborted{})
}

// sources says from which lane a lane takes its value; n is from 0 to 31, as the hardware cuts it.
var sources = [...]func(lane, n int) int{
	cir.ShuffleIdx:  func(_, n int) int { return n },
	cir.ShuffleUp:   func(lane, n int) int { return sameWarp(lane-n, lane) },
	cir.ShuffleDown: func(lane, n int) int { return sameWarp(lane+n, lane) },
	cir.ShuffleXor:  func(lane, n int) int { return lane ^ n },
}

// sameWarp is a lane of the warp, or the other one where it is none.
func sameWarp(lane, other int) int {
	if lane < 0 || lane > 31 {
		return other
	}
	return lane
}

func (c *compiler) shuffle(s cir.Shuffle) func(*warp) {
	dst, src, lane := c.ref(s.Dst), c.ref(s.Src), c.spread(c.expr(s.Lane, 0), 0)
	if dst.n != 1 || src.n != 1 || dst.reg.kind != src.reg.kind || cir.CanShuffle(src.reg.kind) != nil {
		c.fail("a shuffle cannot move %d of %s to %d of %s", src.n, src.reg.kind, dst.n, dst.reg.kind)
	}
	source := sources[s.Mode]
	return func(w *warp) {
		w.members("a shuffle", s.Mask)
		w.b.counts.instr[kShuffle]++
		d, e := dst.at(w), src.at(w)
		if d < 0 || e < 0 {
			return
		}
		n, read, out := lane(w), uint32(0), w.reg[d]
		for m := w.mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			from := source(l, int(n[l])&31)
			if w.mask>>from&1 == 0 {
				w.noLane(l, from)
				continue
			}
			read |= 1 << from
			out[l] = w.reg[e][from]
		}
		w.needed(&src, e, read)
		w.reg[d] = out
		w.wrote(d, 1, w.mask)
	}
}

func (w *warp) noLane(lane, from int) {
	if f := w.find(NoLane, "", lane, -1); f != nil {
		f.Message = fmt.Sprintf("lane %d takes the value of lane %d, which does not execute the shuffle", lane, from)
	}
}

// votes make a result of the lanes where the condition holds and of all that take part.
var votes = [...]func(yes, all uint32) bool{
	cir.VoteAny: func(yes, _ uint32) bool { return yes != 0 },
	cir.VoteAll: func(yes, all uint32) bool { return yes == all },
}

func (c *compiler) vote(s cir.Vote) func(*warp) {
	if c.prog.exact {
		c.inexact("the kernel votes")
	}
	dst, cond := c.ref(s.Dst), c.cond(s.Cond, 0)
	if dst.n != 1 || dst.reg.bits != 32 {
		c.fail("a vote sets one element of 32 bits, but got %d of %s", dst.n, dst.reg.kind)
	}
	return func(w *warp) {
		w.members("a vote", s.Mask)
		w.b.counts.instr[kVote]++
		d := dst.at(w)
		if d < 0 {
			return
		}
		yes := cond.of(w, w.mask)
		result := uint64(yes)
		if s.Op != cir.VoteBallot {
			result = 0
			if votes[s.Op](yes, w.mask) {
				result = 1
			}
		}
		w.put(d, w.mask, func(int) uint64 { return result })
	}
}
