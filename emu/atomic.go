package emu

import (
	"math"
	"math/bits"

	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// change makes the new bits of an element of the old ones, an operand, and what a compare-and-swap compares with.
type change func(old, x, compare uint64) uint64

// smallest is the least normal f32.
const smallest = 0x1p-126

// flushed is zero, with the sign, in place of subnormal numbers of f32.
func flushed(v float64) float64 {
	if math.Abs(v) < smallest {
		return math.Copysign(0, v)
	}
	return v
}

// changes makes the function of each atomic operation.
var changes = map[cir.AtomicOp]func(k elem.Kind, space cir.Space) change{
	cir.AtomicAdd: atomicAdd,
	cir.AtomicMin: func(k elem.Kind, _ cir.Space) change { return chosen(k, func(old, x int64) bool { return x < old }) },
	cir.AtomicMax: func(k elem.Kind, _ cir.Space) change { return chosen(k, func(old, x int64) bool { return x > old }) },
	cir.AtomicExch: func(elem.Kind, cir.Space) change {
		return func(_, x, _ uint64) uint64 { return x }
	},
	cir.AtomicCAS: func(elem.Kind, cir.Space) change {
		return func(old, x, compare uint64) uint64 {
			if old == compare {
				return x
			}
			return old
		}
	},
}

// atomicAdd rounds once, to nearest even. In global memory additions of f32 take and give no subnormal numbers.
func atomicAdd(k elem.Kind, space cir.Space) change {
	if !k.IsFloat() {
		mask := ^uint64(0) >> (64 - k.Bits())
		return func(old, x, _ uint64) uint64 { return (old + x) & mask }
	}
	flush := func(v float64) float64 { return v }
	if k == elem.KF32 && space == cir.Global {
		flush = flushed
	}
	return func(old, x, _ uint64) uint64 {
		sum := flush(decode(k, old)) + flush(decode(k, x))
		return elem.Encode(k, flush(decode(k, elem.Encode(k, sum))))
	}
}

func chosen(k elem.Kind, better func(old, x int64) bool) change {
	return func(old, x, _ uint64) uint64 {
		if better(signExtend(k, old), signExtend(k, x)) {
			return x
		}
		return old
	}
}

// inField are the atomic operations of exact mode.
var inField = map[cir.AtomicOp]change{
	cir.AtomicAdd:  func(old, x, _ uint64) uint64 { return fieldAdd(old, x) },
	cir.AtomicExch: func(_, x, _ uint64) uint64 { return x },
}

func (c *compiler) changeOf(s cir.Atomic, a *area) change {
	if err := cir.CanAtomic(s.Op, a.kind); err != nil {
		c.fail("%v", err)
	}
	if !c.prog.exact {
		return changes[s.Op](a.kind, a.space)
	}
	if inField[s.Op] == nil {
		c.inexact("the kernel makes an atomic %s", s.Op)
	}
	return inField[s.Op]
}

// atomic compiles an atomic operation. Where the order of blocks can show in its results, blocks run one by one.
func (c *compiler) atomic(s cir.Atomic) func(*warp) {
	pred, dst, src := c.cond(s.Pred, 0), c.address(s.Dst, 0), c.bitsOf(s.Src, 1)
	a := dst.mem.desc()
	f := c.changeOf(s, a)
	compare := src
	if s.Compare != nil {
		compare = c.bitsOf(s.Compare, 2)
	}
	old := regAt{n: 1}
	if s.Old != nil {
		old = c.ref(*s.Old)
	}
	if old.n != 1 || (s.Compare != nil) != (s.Op == cir.AtomicCAS) {
		c.fail("an atomic %s has operands that do not fit it", s.Op)
	}
	kind := kAtomicGlobal
	if a.space == cir.Shared {
		kind, c.prog.sharedAtomics = kAtomicShared, true
	} else if a.kind.IsFloat() || s.Old != nil || s.Op > cir.AtomicMax {
		c.prog.inOrder = true
	}
	size := c.vectorBits(a, 1)
	site := c.site(kind, a, size)
	return func(w *warp) {
		m := pred.of(w, w.mask)
		if m == 0 {
			return
		}
		x := src(w, m)
		y := x
		if s.Compare != nil {
			y = compare(w, m)
		}
		index := dst.index(w)
		m = w.within(m, a, index, 1, size)
		w.count(site, m, index)
		was := [32]uint64{}
		for rest := m; rest != 0; rest &= rest - 1 {
			lane := bits.TrailingZeros32(rest)
			was[lane] = dst.mem.atomic(w, lane, index[lane], func(v uint64) uint64 { return f(v, x[lane], y[lane]) })
		}
		if s.Old == nil {
			return
		}
		if d := old.at(w); d >= 0 {
			w.put(d, m, func(lane int) uint64 { return was[lane] })
		}
	}
}

// atomic changes an element of global memory.
func (g *gmem) atomic(w *warp, lane int, index int64, f func(uint64) uint64) uint64 {
	if g.hazards {
		w.b.globalAtomic(w, g, lane, index)
	}
	mu := &g.locks[index>>stripe%int64(len(g.locks))]
	mu.Lock()
	defer mu.Unlock()
	if g.sparse != nil {
		var v [1]uint64
		g.loadSparse(w, lane, index, v[:])
		g.sparse.store(index, []uint64{f(v[0])})
		return v[0]
	}
	old := g.val[index]
	g.val[index] = f(old)
	if !g.track {
		return old
	}
	if !g.defined && g.firstWrite[index] == 0 && g.firstAtomic[index] == 0 {
		if e := w.find(Uninitialised, g.name, lane, index); e != nil {
			e.Message = "changes " + g.element(index) + " atomically, which was never written"
		}
	}
	note(&g.firstAtomic[index], &g.lastAtomic[index], access(w.b.number, w.thread(lane), w.now))
	return old
}

// reviewAtomics looks for elements that some blocks change atomically and other blocks access otherwise.
func (g *gmem) reviewAtomics(p *program, out *findings) {
	for i, last := range g.lastAtomic {
		if last == 0 {
			continue
		}
		for _, plain := range [...][]uint64{g.firstWrite, g.lastWrite, g.firstRead, g.lastRead} {
			if plain == nil || plain[i] == 0 {
				continue
			}
			for _, other := range [...]uint64{g.firstAtomic[i], last} {
				if accessBlock(plain[i]) != accessBlock(other) {
					g.conflict(p, out, GlobalRace, int64(i), plain[i], other, "is accessed here, but changed atomically")
				}
			}
		}
	}
}

// globalAtomic notes an atomic operation, and judges the block's other accesses to the element.
func (b *block) globalAtomic(w *warp, g *gmem, lane int, i int64) {
	key := hazardKey{g, i}
	h := b.global[key]
	for _, r := range [...]struct {
		rec  uint64
		what string
	}{{h.write, "written"}, {h.read, "read"}, {h.other, "read"}} {
		if w.apart(r.rec, lane) {
			w.globalHazard(g, lane, i, "changes atomically", r.rec, r.what)
			break
		}
	}
	if h.atomic != 0 && threadOf(h.atomic) != w.thread(lane) {
		h.otherAtomic = h.atomic
	}
	h.atomic = packed(w.time, w.now, w.thread(lane))
	b.global[key] = h
}

// afterAtomics judges a plain access by the block's atomic operations on the element.
func (w *warp) afterAtomics(g *gmem, lane int, i int64, h *hazard, verb string) {
	for _, r := range [...]uint64{h.atomic, h.otherAtomic} {
		if w.apart(r, lane) {
			w.globalHazard(g, lane, i, verb, r, "changed atomically")
			return
		}
	}
}
