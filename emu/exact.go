package emu

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// In exact mode a cell of memory or of a register holds an element of the field of Prime elements, whatever its kind:
// copies move it, MMA, FMA and the linear operations compute in the field, and conversions between floating-point
// kinds keep it. What has no meaning there (an order, rounding to integers, functions) is refused.

func (c *compiler) inexact(what string, args ...any) {
	c.refuse("exact mode computes in a finite field, which has no order and no rounding, but "+what, args...)
}

// residue is bitsOf in exact mode.
func (c *compiler) residue(v cir.Value, depth int) bitsFn {
	c.allow(v)
	switch v := v.(type) {
	case cir.RegElem:
		return c.regBits(v)
	case cir.MemElem:
		return c.memBits(v, depth)
	case cir.Lit:
		return broadcast(c.residueLit(v.V))
	case cir.ParamValue:
		return broadcast(c.scalar(v.Param))
	case cir.IntValue:
		x := c.spread(c.expr(v.Expr, depth), depth)
		c.needBits(depth)
		return func(w *warp, _ uint32) *[32]uint64 {
			out := &w.q[depth]
			for i, n := range x(w) {
				out[i] = residueOf(n)
			}
			return out
		}
	case cir.Convert:
		if !v.To.IsFloat() && v.X.Kind() != v.To {
			c.inexact("the kernel rounds %s to %s", v.X.Kind(), v.To)
		}
		return c.residue(v.X, depth)
	case cir.Unary:
		if v.Op != cir.NegOp {
			c.inexact("the kernel computes %s", v.Op)
		}
		return c.residues(depth, func(x, _, _ uint64) uint64 { return fieldNeg(x) }, v.X)
	case cir.Binary:
		return c.residueBinary(v, depth)
	case cir.FMA:
		return c.residues(depth, func(x, y, z uint64) uint64 { return fieldAdd(fieldMul(x, y), z) }, v.X, v.Y, v.Z)
	case cir.Select:
		cond, x, y := c.cond(v.Cond, depth), c.residue(v.X, depth), c.residue(v.Y, depth+1)
		c.needBits(depth + 1)
		return func(w *warp, m uint32) *[32]uint64 {
			yes := cond.of(w, m)
			out := &w.q[depth]
			*out = *x(w, yes)
			if yes != m {
				pick(out, y(w, m&^yes), yes)
			}
			return out
		}
	}
	c.inexact("the kernel computes %s", strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", v), "cir.")))
	return nil
}

func (c *compiler) residueLit(v float64) uint64 {
	r, ok := Residue(v)
	if !ok {
		c.inexact("the kernel uses %v", v)
	}
	return r
}

// fieldBinary are the operations that a field has.
var fieldBinary = map[cir.BinaryOp]func(x, y, _ uint64) uint64{
	cir.AddOp: func(x, y, _ uint64) uint64 { return fieldAdd(x, y) },
	cir.SubOp: func(x, y, _ uint64) uint64 { return fieldSub(x, y) },
	cir.MulOp: func(x, y, _ uint64) uint64 { return fieldMul(x, y) },
	cir.DivOp: func(x, y, _ uint64) uint64 { return fieldMul(x, fieldInverse(y)) },
}

func (c *compiler) residueBinary(v cir.Binary, depth int) bitsFn {
	f := fieldBinary[v.Op]
	if f == nil {
		c.inexact("the kernel computes %s", v.Op)
	}
	if v.Op == cir.DivOp && (!fixedValue(v.Y) || !v.Kind().IsFloat()) {
		c.inexact("the kernel divides %s by a value that it computes", v.Kind())
	}
	return c.residues(depth, f, v.X, v.Y)
}

// fixedValue reports whether a value is the same in all threads and known before the run.
func fixedValue(v cir.Value) bool {
	switch v.(type) {
	case cir.Lit, cir.ParamValue:
		return true
	}
	return false
}

// residues compiles an operation on up to three operands.
func (c *compiler) residues(depth int, f func(x, y, z uint64) uint64, args ...cir.Value) bitsFn {
	in := make([]bitsFn, 3)
	for i, a := range args {
		in[i] = c.residue(a, depth+1+i)
		c.needBits(depth + 1 + i)
	}
	c.needBits(depth)
	x, y, z, n := in[0], in[1], in[2], len(args)
	return func(w *warp, m uint32) *[32]uint64 {
		p := x(w, m)
		q, r := p, p
		if n > 1 {
			q = y(w, m)
		}
		if n > 2 {
			r = z(w, m)
		}
		out := &w.q[depth]
		for i := range out {
			out[i] = f(p[i], q[i], r[i])
		}
		return out
	}
}

// residueCmp compiles the comparisons that decide what kernel to run, such as beta == 0.
func (c *compiler) residueCmp(x cir.ValCmp, depth int) cond {
	if x.Op != cir.EQ && x.Op != cir.NE || !fixedValue(x.X) || !fixedValue(x.Y) {
		c.inexact("the kernel compares values by %s", x.Op)
	}
	p, q := c.residue(x.X, depth), c.residue(x.Y, depth+1)
	return func(w *warp, m uint32) uint32 {
		if (*p(w, m) == *q(w, m)) == (x.Op == cir.EQ) {
			return m
		}
		return 0
	}
}

// regroups refuses, in exact mode, a move that cuts elements.
func (c *compiler) regroups(cuts bool, what string) {
	if c.prog.exact && cuts {
		c.refuse("exact mode moves whole elements only, but %s moves parts of them", what)
	}
}

// fieldGather collects a fragment into its matrix; it is false, with a finding, where a register array is left.
func (f *fragment) fieldGather(w *warp, out []uint64) bool {
	for i := range f.regs {
		r := &f.regs[i]
		e := r.at(w)
		if e < 0 {
			return false
		}
		w.needed(r, e, fullMask)
		for j := range f.per {
			plane := &w.reg[e+j]
			for l, to := range f.place[i*f.per+j] {
				out[to] = plane[l]
			}
		}
	}
	return true
}

func (f *fragment) fieldScatter(w *warp, in []uint64) {
	for i := range f.regs {
		r := &f.regs[i]
		e := r.at(w)
		if e < 0 {
			return
		}
		for j := range f.per {
			plane := &w.reg[e+j]
			for l, from := range f.place[i*f.per+j] {
				plane[l] = in[from]
			}
		}
		w.wrote(e, f.per, fullMask)
	}
}

// fieldMMA is an MMA in exact mode.
func (c *compiler) fieldMMA(t *mmaShape, name string, a, b, acc, d *fragment) func(*warp) {
	for _, f := range []*fragment{a, b, acc, d} {
		for i := range f.regs {
			c.regroups(f.regs[i].reg.bits != f.kind.Bits(), name)
		}
	}
	return func(w *warp) {
		w.whole(name)
		w.b.counts.instr[kMMA]++
		m := w.field
		if a.fieldGather(w, m.a[:t.m*t.k]) && b.fieldGather(w, m.b[:t.n*t.k]) && acc.fieldGather(w, m.c[:t.m*t.n]) {
			m.multiply(t)
			d.fieldScatter(w, m.c[:t.m*t.n])
		}
	}
}

// encode is the cell for a constant of a kind.
func (c *compiler) encode(k elem.Kind, v float64) uint64 {
	if c.prog.exact {
		return c.residueLit(v)
	}
	return elem.Encode(k, v)
}

// Where shared arrays of several widths overlap, a wide element of the field lies in the first of its cells, with
// the binary logarithm of their number above its 61 bits; the other cells only say which they are.
const (
	tagShift = 61
	tailTag  = uint64(7) << tagShift
)

func tag(cells []uint64, v uint64) {
	cells[0] = v | uint64(bits.Len(uint(len(cells)-1)))<<tagShift
	for i := range cells[1:] {
		cells[i+1] = tailTag | uint64(i+1)
	}
}

// untag is the element that lies in cells; where they hold parts of other elements, one that nobody would expect.
func untag(cells []uint64) uint64 {
	whole := cells[0]>>tagShift == uint64(bits.Len(uint(len(cells)-1)))
	for i, c := range cells[1:] {
		whole = whole && c == tailTag|uint64(i+1)
	}
	if whole {
		return cells[0] & Prime
	}
	return (cells[0] ^ 0x9e3779b97f4a7c15) % Prime
}
