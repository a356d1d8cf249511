package emu

import (
	"context"
	"iter"
	"math/rand/v2"
	"runtime/debug"

	"github.com/gocute/gocute/gen/cir"
)

// block runs the program's blocks, one after the other.
type block struct {
	prog    *program
	ctx     context.Context
	seed    uint64
	number  int64 // of the running block, x fastest
	xyz     [3]int64
	warps   []*warp
	sh      shared
	finds   *findings
	counts  tally
	err     error
	over    bool                // a warp ended the block early
	meeting clock               // scratch of publish
	bars    map[int64]*mbarrier // by the bit of shared memory where they start
	named   [cir.NamedBarriers + 1]*meeting
	global  map[hazardKey]hazard // accesses to global memory since the last barrier
	seen    map[int64]uint32     // of each block that arrived before this one did: how often
	steps   []*[]productStep     // of each warpgroup's products
	epoch   uint32               // how often this block has arrived
	came    int64                // what it found when it last did
}

func newBlock(ctx context.Context, p *program, seed uint64) *block {
	b := &block{prog: p, ctx: ctx, seed: seed, global: map[hazardKey]hazard{}}
	b.counts.sites = make([]siteTally, len(p.sites))
	b.sh.init(p)
	for i := range p.warps {
		b.warps = append(b.warps, newWarp(b, i))
	}
	b.meeting, b.bars = newClock(p), map[int64]*mbarrier{}
	return b
}

// productLog is the log of a warpgroup.
func (b *block) productLog(group int) *[]productStep {
	if group == len(b.steps) {
		b.steps = append(b.steps, new([]productStep))
	}
	return b.steps[group]
}

func (b *block) fail(err error) {
	b.over = true
	if b.err == nil {
		b.err = err
	}
}

// run executes one block and returns what it found.
func (b *block) run(number int64, maxFindings int) (*findings, error) {
	p := b.prog
	b.number, b.over, b.err = number, false, b.ctx.Err()
	b.xyz = [3]int64{number % p.grid[0], number / p.grid[0] % p.grid[1], number / (p.grid[0] * p.grid[1])}
	b.finds = &findings{max: maxFindings}
	if b.err != nil {
		return b.finds, b.err
	}
	b.sh.reset()
	clear(b.bars)
	clear(b.named[:])
	b.seen, b.epoch = map[int64]uint32{}, 0
	b.counts.blocks++
	for _, w := range b.warps {
		w.reset()
	}
	b.publish() // what earlier blocks did is long over
	if p.yields {
		b.segments()
	} else {
		for _, i := range b.order(b.rng()) {
			if b.warps[i].top(nil); b.over {
				break
			}
		}
	}
	if b.err == nil && !b.over && p.check {
		b.unwaited()
		for _, w := range b.warps {
			if w.gmma != nil {
				w.gmma.left(w)
			}
		}
	}
	return b.finds, b.err
}

func (b *block) rng() *rand.Rand {
	if b.seed == 0 {
		return nil
	}
	return rand.New(rand.NewPCG(b.seed, uint64(b.number)))
}

// order is the order in which the warps run their next segment.
func (b *block) order(rng *rand.Rand) []int {
	if rng != nil {
		return rng.Perm(len(b.warps))
	}
	out := make([]int, len(b.warps))
	for i := range out {
		out[i] = i
	}
	return out
}

// top runs a warp's whole program. It is where everything that unwinds a warp ends.
func (w *warp) top(yield func(int32) bool) {
	defer func() {
		switch cause := recover().(type) {
		case nil:
		case stopped, aborted:
			w.b.over = true
		default:
			w.b.fail(&InternalError{Pos: w.b.prog.pos[w.now], Kernel: w.b.prog.name,
				Cause: trace{cause, debug.Stack()}})
		}
	}()
	w.yield = yield
	w.exec(w.b.prog.body)
}

// trace is a recovered cause that keeps its stack for a debugger, and prints without it.
type trace struct {
	cause any
	stack []byte
}

func (t trace) String() string { return sprint(t.cause) }

// coroutine is a warp between two barriers.
type coroutine struct {
	next func() (int32, bool)
	stop func()
	at   int32 // the barrier where it waits, or paused
	done bool
}

// segments runs the warps from barrier to barrier.
func (b *block) segments() {
	co := make([]coroutine, len(b.warps))
	for i, w := range b.warps {
		co[i].next, co[i].stop = iter.Pull(w.top)
	}
	defer func() {
		for i := range co {
			co[i].stop()
		}
	}()
	rng := b.rng()
	for {
		waiting, running, progress := 0, false, false
		for _, i := range b.order(rng) {
			if x := &co[i]; !x.done && x.at == paused {
				spins := b.warps[i].spins
				at, more := x.next()
				if b.over {
					return
				}
				x.at, x.done = at, !more
				running = running || more && at == paused
				progress = progress || b.warps[i].spins == spins
			}
			if !co[i].done {
				waiting++
			}
		}
		if running && progress {
			continue
		}
		if running {
			b.stuck(co)
			return
		}
		if waiting == 0 || !b.meet(co) {
			return
		}
		for i := range co {
			co[i].at = paused
		}
		b.publish()
	}
}

// stuck reports the first warp that waits for a phase that nobody completes.
func (b *block) stuck(co []coroutine) {
	for i, w := range b.warps {
		if !co[i].done && co[i].at == paused {
			if f := w.find(Deadlock, "", 0, -1); f != nil {
				f.Message = w.waits
			}
			b.over = true
			return
		}
	}
}

// meet checks that all warps are at the same barrier.
func (b *block) meet(co []coroutine) bool {
	lead := -1
	for i := range co {
		if !co[i].done && (lead < 0 || co[i].at < co[lead].at) {
			lead = i
		}
	}
	for i := range co {
		w := b.warps[lead]
		w.now = co[lead].at
		if co[i].done {
			if f := w.find(Deadlock, "", 0, -1); f != nil {
				f.Threads = append(f.Threads, b.warps[i].first)
				f.Message = sprint("warp ", lead, " waits at the barrier, but warp ", i, " has ended")
			}
			return false
		}
		if co[i].at != co[lead].at {
			if f := w.find(Divergent, "", 0, -1); f != nil {
				f.Other = b.prog.pos[co[i].at]
				f.Threads = append(f.Threads, b.warps[i].first)
				f.Message = sprint("warp ", lead, " waits at this barrier, but warp ", i, " at another, ", place(f.Other))
			}
			return false
		}
	}
	return true
}
