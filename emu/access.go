package emu

import (
	"fmt"
	"math/bits"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/gen/cir"
	"github.com/gocute/gocute/internal/text"
)

func firstLane(m uint32) int { return bits.TrailingZeros32(m) & 31 }

// address is a compiled Addr.
type address struct {
	mem   memory
	index perLane
}

// address compiles an Addr; its indices lie in the scratch of the given depth.
func (c *compiler) address(a cir.Addr, depth int) address {
	var mem memory
	if g := c.globals[a.Mem]; g != nil {
		mem = g
	} else if s := c.shared[a.Mem]; s != nil {
		mem = s
	} else if a.Mem == nil {
		c.fail("an address has no memory")
	} else {
		c.fail("memory %s is neither an argument nor a shared array of the kernel", a.Mem.Name)
	}
	index := c.spread(c.expr(a.Index, depth), depth)
	if wide := c.addressGuard(a, depth); wide != nil {
		inner := index
		index = func(w *warp) *[32]int64 {
			wide(w)
			return inner(w)
		}
	}
	return address{mem: mem, index: index}
}

// vectorBits refuses what no single access can move.
func (c *compiler) vectorBits(a *area, n int) int64 {
	size := n * a.bits
	if size > 128 || size&(size-1) != 0 || n < 1 {
		c.fail("%d elements of %s are not one access of 1 to 16 bytes", n, a.kind)
	}
	return int64(size)
}

// within returns the lanes of m whose n elements lie within a and are aligned to their size in bits; the other
// lanes are findings.
func (w *warp) within(m uint32, a *area, index *[32]int64, n, size int64) uint32 {
	last, off := a.count-n, a.align&(size-1)
	check := w.b.prog.check
	for rest := m; rest != 0; rest &= rest - 1 {
		lane := bits.TrailingZeros32(rest)
		i := index[lane]
		if i < 0 || i > last {
			m &^= 1 << lane
			w.outOfBounds(a, lane, i, n)
		} else if check && (off|(a.base+i*int64(a.bits)))&(size-1) != 0 {
			m &^= 1 << lane
			w.misaligned(a, lane, i, size)
		}
	}
	return m
}

func (w *warp) outOfBounds(a *area, lane int, i, n int64) {
	f := w.find(OutOfBounds, a.name, lane, i)
	if f == nil {
		return
	}
	what := fmt.Sprintf("%s[%d]", a.name, i)
	if n > 1 {
		what = fmt.Sprintf("%s[%d] to [%d]", a.name, i, i+n-1)
	}
	f.Message = fmt.Sprintf("accesses %s, but %s has %s", what, a.name, text.Count(a.count, "element"))
}

func (w *warp) misaligned(a *area, lane int, i, size int64) {
	f := w.find(Misaligned, a.name, lane, i)
	if f == nil {
		return
	}
	if a.align%size != 0 {
		f.Message = fmt.Sprintf("a vector of %d bytes at %s[%d], but the base of %[2]s is aligned to %[4]d bytes only",
			size/8, a.name, i, a.align/8)
		return
	}
	f.Message = fmt.Sprintf("a vector of %d bytes at %s[%d], which is byte %d and no multiple of %[1]d", size/8, a.name, i, (a.base+i*int64(a.bits))/8)
}

// repack regroups n bits of elements of from bits into elements of to bits, lowest first.
func repack(src []uint64, from int, dst []uint64, to int) {
	clear(dst)
	for bit := 0; bit < len(src)*from; {
		n := min(from-bit%from, to-bit%to)
		part := src[bit/from] >> (bit % from) & (1<<n - 1)
		dst[bit/to] |= part << (bit % to)
		bit += n
	}
}

func (c *compiler) load(s cir.Load) func(*warp) {
	pred, dst, src := c.cond(s.Pred, 0), c.ref(s.Dst), c.address(s.Src, 0)
	a := src.mem.desc()
	n := s.Dst.Bits() / a.bits
	if n*a.bits != s.Dst.Bits() {
		c.fail("%d bits of %s are not whole elements of %s", s.Dst.Bits(), dst.reg.name, a.name)
	}
	c.regroups(a.bits != dst.reg.bits, "a load")
	size := c.vectorBits(a, n)
	site := c.loadSite(a, size)
	return func(w *warp) {
		m := pred.of(w, w.mask)
		d := dst.at(w)
		if d < 0 {
			return
		}
		ok := uint32(0)
		if m != 0 {
			index := src.index(w)
			ok = w.within(m, a, index, int64(n), size)
			w.count(site, ok, index)
			w.fetch(src.mem, ok, index, n, d, &dst)
		}
		for e := d; e < d+dst.n; e++ {
			if zero := w.mask &^ ok; zero != 0 {
				w.put(e, zero, func(int) uint64 { return 0 })
			}
		}
		w.wrote(d, dst.n, ok)
	}
}

// fetch loads n elements of each lane in m into the registers from d on.
func (w *warp) fetch(mem memory, m uint32, index *[32]int64, n, d int, r *regAt) {
	a := mem.desc()
	same := a.bits == r.reg.bits
	for ; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		v := w.buf[:n]
		mem.load(w, lane, index[lane], v)
		if !same {
			repack(v, a.bits, w.tmp[:r.n], r.reg.bits)
			v = w.tmp[:r.n]
		}
		for e, x := range v {
			w.reg[d+e][lane] = x
		}
	}
}

func (c *compiler) store(s cir.Store) func(*warp) {
	pred, src, dst := c.cond(s.Pred, 0), c.ref(s.Src), c.address(s.Dst, 0)
	a := dst.mem.desc()
	n := s.Src.Bits() / a.bits
	if n*a.bits != s.Src.Bits() {
		c.fail("%d bits of %s are not whole elements of %s", s.Src.Bits(), src.reg.name, a.name)
	}
	c.regroups(a.bits != src.reg.bits, "a store")
	size := c.vectorBits(a, n)
	same, site := a.bits == src.reg.bits, c.storeSite(a, size)
	return func(w *warp) {
		m := pred.of(w, w.mask)
		d := src.at(w)
		if d < 0 || m == 0 {
			return
		}
		w.needed(&src, d, m)
		index := dst.index(w)
		m = w.within(m, a, index, int64(n), size)
		w.count(site, m, index)
		w.b.sh.count++
		for ; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros32(m)
			v := w.buf[:src.n]
			for e := range v {
				v[e] = w.reg[d+e][lane]
			}
			if !same {
				repack(v, src.reg.bits, w.tmp[:n], a.bits)
				v = w.tmp[:n]
			}
			dst.mem.store(w, lane, index[lane], v)
		}
	}
}

func (c *compiler) setReg(s cir.SetReg) func(*warp) {
	dst := c.ref(s.Dst)
	if dst.n != 1 || s.Value.Kind() != dst.reg.kind {
		c.fail("expects one element of %s, but got %d of %s", s.Value.Kind(), dst.n, dst.reg.kind)
	}
	value := c.bitsOf(s.Value, 0)
	return func(w *warp) {
		d := dst.at(w)
		v := value(w, w.mask)
		if d < 0 {
			return
		}
		if w.mask == fullMask {
			w.reg[d] = *v
			w.wrote(d, 1, fullMask)
			return
		}
		w.put(d, w.mask, func(lane int) uint64 { return v[lane] })
	}
}

// setWord sets the elements one after the other: none of the values reads what another one sets, which lowering sees to.
func (c *compiler) setWord(s cir.SetWord) func(*warp) {
	var sets []func(*warp)
	for i, v := range s.Values {
		one := cir.RegRef{Reg: s.Dst.Reg, Index: s.Dst.Index.Add(sym.Int(int64(i))), Elems: 1}
		sets = append(sets, c.setReg(cir.SetReg{Pos: s.Pos, Dst: one, Value: v}))
	}
	return func(w *warp) {
		for _, set := range sets {
			set(w)
		}
	}
}

func (c *compiler) storeValue(s cir.StoreValue) func(*warp) {
	dst := c.address(s.Dst, 0)
	a := dst.mem.desc()
	if s.Value.Kind() != a.kind {
		c.fail("expects a value of %s for %s, but got %s", a.kind, a.name, s.Value.Kind())
	}
	if err := cir.CanAddress(a.kind); err != nil {
		c.fail("%v", err)
	}
	pred, value := c.cond(s.Pred, 0), c.bitsOf(s.Value, 1)
	size := c.vectorBits(a, 1)
	site := c.storeSite(a, size)
	return func(w *warp) {
		m := pred.of(w, w.mask)
		if m == 0 {
			return
		}
		index, v := dst.index(w), value(w, m)
		m = w.within(m, a, index, 1, size)
		w.count(site, m, index)
		w.b.sh.count++
		for ; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros32(m)
			dst.mem.store(w, lane, index[lane], v[lane:lane+1])
		}
	}
}
