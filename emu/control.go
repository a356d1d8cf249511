package emu

import (
	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/gen/cir"
	"github.com/gocute/gocute/internal/text"
)

func (c *compiler) loop(s cir.For) func(*warp) {
	lo, hi := c.expr(s.Lo, 0), c.expr(s.Hi, 1)
	lane := lo.l != nil || hi.l != nil
	c.scopes = append(c.scopes, map[string]slot{})
	defer func() { c.scopes = c.scopes[:len(c.scopes)-1] }()
	at := c.declare(s.Sym, lane)
	wide := (c.cType(s.Lo) || c.cType(s.Hi)) && !fits32(s.Sym.Lo, s.Sym.Hi)
	c.printed[s.Sym.Name] = cType{wide: wide, unrolled: s.Unroll}
	if lane {
		return c.laneLoop(s, at.at, c.spread(lo, 0), c.spread(hi, 1))
	}
	body, check := c.block(s.Body), c.prog.check
	return func(w *warp) {
		last := hi.u.at(w)
		for v := lo.u.at(w); v < last; v++ {
			w.u[at.at] = v
			if check && broken(s.Sym, v) {
				w.intRange(s.Sym, v, 0)
			}
			w.exec(body)
			w.tick()
		}
	}
}

// laneLoop is a loop whose bounds differ by lane; lanes that are done wait for the others.
func (c *compiler) laneLoop(s cir.For, at int, lo, hi perLane) func(*warp) {
	end := c.newSlot(true).at
	body := c.block(s.Body)
	return func(w *warp) {
		saved := w.mask
		v, last := &w.l[at], &w.l[end]
		*last = *hi(w)
		*v = *lo(w)
		for {
			m := saved & laneCompare[cir.LT](v, last)
			if m == 0 {
				break
			}
			w.mask = m
			w.exec(body)
			w.tick()
			for i := range v {
				v[i]++
			}
		}
		w.mask = saved
	}
}

func (c *compiler) branch(s cir.If) func(*warp) {
	cond := c.cond(s.Cond, 0)
	then, other := c.block(s.Then), c.block(s.Else)
	return func(w *warp) {
		saved := w.mask
		m := cond.of(w, saved)
		if m != 0 {
			w.mask = m
			w.exec(then)
		}
		if rest := saved &^ m; rest != 0 && len(other) > 0 {
			w.mask = rest
			w.exec(other)
		}
		w.mask = saved
	}
}

// Registers.

func (c *compiler) declReg(r *cir.Reg) func(*warp) {
	reg := c.regs[r]
	if reg == nil {
		if r.Elem.Bits() == 0 || r.Elem.Bits() > 64 {
			c.fail("registers of %s cannot be emulated", r.Elem)
		}
		reg = &register{name: r.Name, kind: r.Elem, bits: r.Elem.Bits(), base: c.prog.regs, count: int64(r.Count)}
		c.regs[r] = reg
		c.prog.regs += r.Count
		c.prog.registers = append(c.prog.registers, reg)
	}
	return func(w *warp) {
		in := w.inited[reg.base : reg.base+int(reg.count)]
		for i := range in {
			in[i] &^= w.mask
		}
		if w.gmma != nil {
			w.gmma.touch(w, reg.base, int(reg.count), "declares")
		}
	}
}

func (c *compiler) register(r *cir.Reg) *register {
	if r == nil {
		c.fail("a register array is missing")
	}
	reg := c.regs[r]
	if reg == nil {
		c.fail("register array %s is not declared before its use", r.Name)
	}
	return reg
}

func (c *compiler) fill(s cir.Fill) func(*warp) {
	reg := c.register(s.Reg)
	if s.Value != 0 {
		c.allow(cir.Lit{Elem: reg.kind, V: s.Value})
	}
	v := c.encode(reg.kind, s.Value)
	return func(w *warp) {
		for e := reg.base; e < reg.base+int(reg.count); e++ {
			w.put(e, w.mask, func(int) uint64 { return v })
		}
	}
}

// put writes one register of the lanes in m.
func (w *warp) put(e int, m uint32, v func(lane int) uint64) {
	p := &w.reg[e]
	for i := range p {
		if m>>i&1 == 1 {
			p[i] = v(i)
		}
	}
	w.wrote(e, 1, m)
}

// wrote notes that lanes in m have written n registers from e on.
func (w *warp) wrote(e, n int, m uint32) {
	for i := e; i < e+n; i++ {
		w.inited[i] |= m
	}
	if w.gmma != nil && m != 0 {
		w.gmma.touch(w, e, n, "writes")
	}
}

// regAt is a compiled RegRef.
type regAt struct {
	reg   *register
	index uniform
	n     int // elements
}

func (c *compiler) ref(r cir.RegRef) regAt {
	reg := c.register(r.Reg)
	if r.Elems < 1 {
		c.fail("expects a reference to at least one element of %s, but got %d", reg.name, r.Elems)
	}
	return regAt{reg: reg, index: c.uniformIndex(r.Index, reg.name), n: r.Elems}
}

func (c *compiler) uniformIndex(e sym.Expr, name string) uniform {
	x := c.expr(e, 0)
	if x.l != nil {
		c.fail("the index %s of register array %s differs between threads", e, name)
	}
	return x.u
}

// at is the first register that a reference names, or -1, with a finding, where it leaves its array.
func (r *regAt) at(w *warp) int {
	i := r.index.at(w)
	if i < 0 || i+int64(r.n) > r.reg.count {
		if f := w.find(OutOfBounds, r.reg.name, firstLane(w.mask), i); f != nil {
			f.Message = sprint("accesses elements ", i, " to ", i+int64(r.n)-1, " of register array ", r.reg.name,
				", which has ", text.Count(r.reg.count, "element"))
		}
		return -1
	}
	return r.reg.base + int(i)
}

// needed reports registers from e on that lanes in m read but never wrote, or while a product is in flight to them.
func (w *warp) needed(r *regAt, e int, m uint32) {
	if !w.b.prog.check {
		return
	}
	if w.gmma != nil && m != 0 {
		w.gmma.touch(w, e, r.n, "reads")
	}
	for i := e; i < e+r.n; i++ {
		if miss := m &^ w.inited[i]; miss != 0 {
			at := int64(i - r.reg.base)
			if f := w.find(Uninitialised, r.reg.name, firstLane(miss), at); f != nil {
				f.Message = sprint("reads register ", r.reg.name, "[", at, "], which was never written")
			}
		}
	}
}
