package emu

import (
	"math/bits"

	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// int compiles a value of an integer kind.
func (c *compiler) int(v cir.Value, depth int) intFn {
	c.allow(v)
	c.needInts(depth)
	k := v.Kind()
	switch v := v.(type) {
	case cir.RegElem, cir.MemElem, cir.Lit, cir.ParamValue:
		b := c.bitsOf(v, depth)
		return func(w *warp, m uint32) *[32]int64 {
			out := &w.t[depth]
			for i, x := range b(w, m) {
				out[i] = signExtend(k, x)
			}
			return out
		}
	case cir.IntValue:
		x := c.spread(c.expr(v.Expr, depth), depth)
		return func(w *warp, _ uint32) *[32]int64 {
			out := &w.t[depth]
			for i, x := range x(w) {
				out[i] = signExtend(k, uint64(x))
			}
			return out
		}
	case cir.Convert:
		return c.toInt(v, depth)
	case cir.Unary:
		f := intUnary[v.Op]
		return c.ints(k, depth, func(_ elem.Kind, x, _, _ int64) int64 { return f(x) }, v.X)
	case cir.Binary:
		if v.Op == cir.DivOp {
			return c.intDiv(v, depth)
		}
		return c.ints(k, depth, intBinary[v.Op], v.X, v.Y)
	case cir.FMA:
		return c.ints(k, depth, func(_ elem.Kind, x, y, z int64) int64 { return x*y + z }, v.X, v.Y, v.Z)
	case cir.Select:
		cond, x, y := c.cond(v.Cond, depth), c.int(v.X, depth), c.int(v.Y, depth+1)
		return func(w *warp, m uint32) *[32]int64 {
			yes := cond.of(w, m)
			out := x(w, yes)
			if yes != m {
				pick(out, y(w, m&^yes), yes)
			}
			return out
		}
	}
	c.fail("unknown value %T", v)
	return nil
}

var intUnary = [...]func(x int64) int64{
	cir.NegOp: func(x int64) int64 { return -x },
	cir.AbsOp: func(x int64) int64 { return max(x, -x) },
}

// less compares as the kind does: only u64 does not fit into an int64.
func less(k elem.Kind, x, y int64) bool {
	if k == elem.KU64 {
		return uint64(x) < uint64(y)
	}
	return x < y
}

var intBinary = [...]func(k elem.Kind, x, y, _ int64) int64{
	cir.AddOp: func(_ elem.Kind, x, y, _ int64) int64 { return x + y },
	cir.SubOp: func(_ elem.Kind, x, y, _ int64) int64 { return x - y },
	cir.MulOp: func(_ elem.Kind, x, y, _ int64) int64 { return x * y },
	cir.DivOp: func(k elem.Kind, x, y, _ int64) int64 {
		switch {
		case y == 0:
			return 0
		case k == elem.KU64:
			return int64(uint64(x) / uint64(y))
		}
		return x / y
	},
	cir.MinOp: func(k elem.Kind, x, y, _ int64) int64 {
		if less(k, y, x) {
			return y
		}
		return x
	},
	cir.MaxOp: func(k elem.Kind, x, y, _ int64) int64 {
		if less(k, x, y) {
			return y
		}
		return x
	},
}

// ints compiles an operation on up to three operands; its result wraps to the kind.
func (c *compiler) ints(k elem.Kind, depth int, f func(k elem.Kind, x, y, z int64) int64, args ...cir.Value) intFn {
	in := make([]intFn, 0, 3)
	for i, a := range args {
		if a.Kind() != k {
			c.fail("expects operands of one kind, but got %s and %s", k, a.Kind())
		}
		in = append(in, c.int(a, depth+i))
	}
	return func(w *warp, m uint32) *[32]int64 {
		out := in[0](w, m)
		p, q := out, out
		if len(in) > 1 {
			p = in[1](w, m)
		}
		if len(in) > 2 {
			q = in[2](w, m)
		}
		for i := range out {
			out[i] = signExtend(k, uint64(f(k, out[i], p[i], q[i])))
		}
		return out
	}
}

// intDiv is a division that reports divisors of zero.
func (c *compiler) intDiv(v cir.Binary, depth int) intFn {
	div := c.ints(v.Kind(), depth, intBinary[cir.DivOp], v.X, v.Y)
	y, check := c.int(v.Y, depth), c.prog.check
	return func(w *warp, m uint32) *[32]int64 {
		if check {
			q := y(w, m)
			for rest := m; rest != 0; rest &= rest - 1 {
				if i := bits.TrailingZeros32(rest); q[i] == 0 {
					w.divisor(i, 0)
				}
			}
		}
		return div(w, m)
	}
}
