package ptxemu

import (
	"math/bits"

	"github.com/gocute/gocute/emu/machine"
)

// split is lanes of a warp at one place.
type split struct {
	pc    int
	mask  uint32
	until func() bool // they wait for it; nil if they do not wait
	why   string
	meets bool  // they wait for more lanes of the warp
	spun  int64 // the turn in which they last gave way
}

// warp is 32 threads.
type warp struct {
	b        *machine.Block
	p        *program
	id       int
	first    int // its first thread
	splits   []split
	cur      int // the split that runs
	regs     []lanes
	wrote    []uint32 // of each register, the lanes that have written it
	turn     int64
	steps    *int64 // of the whole run
	counts   []int64
	buf      [64]byte
	waits    string       // what its last failed test of an mbarrier waits for
	mats     [3][]float64 // scratch
	planes   [8]lanes     // scratch of sources
	plane    int
	maps     []*TensorMap
	products *gmmaState // nil before the first
	order    [32]int    // in which lanes take their turns at atomic operations
	carry    lanes      // the hidden flag of add.cc and the like
	sink     lanes      // of results that nobody wants
}

// scratch is room for a value of each lane, good for a few more calls.
func (w *warp) scratch() *lanes {
	w.plane = (w.plane + 1) % len(w.planes)
	return &w.planes[w.plane]
}

func newWarp(b *machine.Block, p *program, id int, steps *int64, counts []int64) *warp {
	w := &warp{b: b, p: p, id: id, first: id * 32, splits: []split{{mask: b.Alive(id)}},
		regs: make([]lanes, len(p.f.Registers)), wrote: make([]uint32, len(p.f.Registers)), steps: steps, counts: counts}
	for i := range w.order {
		w.order[i] = i
	}
	return w
}

// thread is the number of a lane's thread in the block.
func (w *warp) thread(lane int) int { return w.first + lane }

// each calls f for the lanes of a mask.
func each(mask uint32, f func(lane int)) {
	for ; mask != 0; mask &= mask - 1 {
		f(bits.TrailingZeros32(mask))
	}
}

// status says how a warp's turn ended.
type status uint8

const (
	running status = iota
	waiting        // every split waits
	done
)

// join merges splits at one place, of which none waits for anything but lanes.
func (w *warp) join() {
	for i := 0; i < len(w.splits); i++ {
		for j := i + 1; j < len(w.splits); {
			a, b := &w.splits[i], &w.splits[j]
			if a.pc != b.pc || a.until != nil || b.until != nil {
				j++
				continue
			}
			a.mask |= b.mask
			a.meets = false
			w.splits = append(w.splits[:j], w.splits[j+1:]...)
		}
	}
}

// choose picks the split to run: the one furthest back of those that do not wait, those that gave way last of all.
func (w *warp) choose() int {
	best := -1
	for i := range w.splits {
		s := &w.splits[i]
		if s.until != nil && s.until() {
			s.until = nil
		}
	}
	w.join()
	for i := range w.splits {
		s := &w.splits[i]
		if s.until != nil || s.meets {
			continue
		}
		if best < 0 || s.spun < w.splits[best].spun || s.spun == w.splits[best].spun && s.pc < w.splits[best].pc {
			best = i
		}
	}
	return best
}

// quantum is how many instructions a warp executes in a turn.
const quantum = 1000

// run executes a turn.
func (w *warp) run() status {
	w.turn++
	for n := 0; n < quantum && !w.b.Stopped; {
		if len(w.splits) == 0 {
			return done
		}
		w.cur = w.choose()
		if w.cur < 0 {
			return waiting
		}
		if !w.stretch(&n) {
			return running
		}
	}
	return running
}

// stretch runs a split until it meets another one, waits, or the turn is over; it is false where the split gives way.
func (w *warp) stretch(n *int) bool {
	stop := len(w.p.code) + 1 // where another split is
	s := &w.splits[w.cur]
	for i := range w.splits {
		if i != w.cur && w.splits[i].pc > s.pc {
			stop = min(stop, w.splits[i].pc)
		}
	}
	for *n < quantum && !w.b.Stopped {
		if s.pc >= len(w.p.code) { // the end of the text is a ret
			w.end(s.mask)
			return true
		}
		*n++
		*w.steps++
		again := w.step(s)
		switch {
		case again == stay:
			if s.pc == stop {
				return true
			}
		case again == changed:
			return true
		default:
			return false
		}
	}
	return true
}

type progress uint8

const (
	stay    progress = iota // the split goes on
	changed                 // the splits changed, or the split waits
	gaveWay
)

// step executes one instruction of a split.
func (w *warp) step(s *split) progress {
	in := &w.p.code[s.pc]
	mask := s.mask
	if in.guard >= 0 {
		p := &w.regs[in.guard]
		for m := mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			if (p[l]&1 != 0) == in.not {
				mask &^= 1 << l
			}
		}
		if w.wrote[in.guard]&s.mask != s.mask {
			w.unwritten(in.guard, s.mask, int32(s.pc))
		}
	}
	if mask == 0 {
		s.pc++
		return stay
	}
	for _, r := range in.reads {
		if w.wrote[r]&mask != mask {
			w.unwritten(r, mask, int32(s.pc))
		}
	}
	if w.products != nil {
		w.uses(in.touches, int32(s.pc), mask)
	}
	w.b.Begin()
	w.counts[s.pc]++
	o := in.run(w, mask)
	rest := s.mask &^ mask
	switch o.kind {
	case next:
		s.pc++
		return stay
	case jump:
		if rest == 0 {
			s.pc = o.target
			return changed
		}
		s.mask = rest
		s.pc++
		w.splits = append(w.splits, split{pc: o.target, mask: mask, spun: s.spun})
		return changed
	case ended:
		s.pc++
		w.end(mask)
		return changed
	case again, wait:
		at := s.pc
		if o.kind == wait {
			at++
		}
		if rest != 0 { // those that the predicate leaves out go on
			w.splits = append(w.splits, split{pc: s.pc + 1, mask: rest, spun: s.spun})
			s = &w.splits[w.cur]
		}
		s.mask, s.pc, s.until, s.why = mask, at, o.until, o.why
		return changed
	case meet:
		if rest != 0 {
			w.splits = append(w.splits, split{pc: s.pc + 1, mask: rest, spun: s.spun})
			s = &w.splits[w.cur]
		}
		s.mask, s.meets, s.why = mask, true, o.why
		return changed
	default: // spin
		s.pc++
		s.spun = w.turn
		return gaveWay
	}
}

// end ends lanes, wherever they are.
func (w *warp) end(mask uint32) {
	out := w.splits[:0]
	for _, s := range w.splits {
		if s.mask &^= mask; s.mask != 0 {
			s.meets = false // fewer lanes are to come now
			out = append(out, s)
		}
	}
	w.splits = out
	w.b.End(w.id, mask)
}

// unwritten reports a register that is read before it was written.
func (w *warp) unwritten(r int, mask uint32, pc int32) {
	l := bits.TrailingZeros32(mask &^ w.wrote[r])
	w.b.Report(machine.Register, w.thread(l), pc, "reads the register "+w.p.f.Registers[r].Name+", which was not written before")
	w.wrote[r] |= mask
}

// set writes a register in the lanes of a mask.
func (w *warp) set(r int, mask uint32, v *lanes) {
	if r < 0 {
		return
	}
	to := &w.regs[r]
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		to[l] = v[l]
	}
	w.wrote[r] |= mask
}
