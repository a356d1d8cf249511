package emu

import (
	"math"
	"math/bits"

	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// Values are compiled into functions that compute all lanes; only the lanes in m have to be right. Floating-point
// values are float64, rounded to their kind after each operation; integers are int64, wrapped to it.
type (
	bitsFn  func(w *warp, m uint32) *[32]uint64
	floatFn func(w *warp, m uint32) *[32]float64
	intFn   func(w *warp, m uint32) *[32]int64
)

func (c *compiler) needFloats(depth int) {
	c.prog.scale.floats = max(c.prog.scale.floats, depth+1)
	c.needInts(depth)
}

func (c *compiler) needBits(depth int) { c.prog.scale.bits = max(c.prog.scale.bits, depth+1) }

// bitsOf compiles a value to the bits of its kind. Plain moves keep all bits, those of NaNs too.
func (c *compiler) bitsOf(v cir.Value, depth int) bitsFn {
	c.allow(v)
	k := v.Kind()
	if c.prog.exact {
		return c.residue(v, depth)
	}
	switch v := v.(type) {
	case cir.RegElem:
		return c.regBits(v)
	case cir.MemElem:
		return c.memBits(v, depth)
	case cir.Lit:
		return broadcast(elem.Encode(k, v.V))
	case cir.ParamValue:
		return broadcast(c.scalar(v.Param))
	}
	c.needBits(depth)
	if k.IsFloat() {
		f := c.float(v, depth)
		return func(w *warp, m uint32) *[32]uint64 {
			out := &w.q[depth]
			encodeAll(k, out, f(w, m))
			return out
		}
	}
	f, mask := c.int(v, depth), ^uint64(0)>>(64-k.Bits())
	return func(w *warp, m uint32) *[32]uint64 {
		out := &w.q[depth]
		for i, x := range f(w, m) {
			out[i] = uint64(x) & mask
		}
		return out
	}
}

func broadcast(v uint64) bitsFn {
	out := new([32]uint64)
	for i := range out {
		out[i] = v
	}
	return func(*warp, uint32) *[32]uint64 { return out }
}

func (c *compiler) scalar(p *cir.Param) uint64 {
	v, ok := c.bound.scalars[p]
	if !ok {
		c.fail("scalar %s is not a parameter of the kernel", p.Name)
	}
	return v
}

func (c *compiler) regBits(v cir.RegElem) bitsFn {
	r := c.ref(v.Ref)
	if r.n != 1 {
		c.fail("expects one element of %s, but got %d", r.reg.name, r.n)
	}
	return func(w *warp, m uint32) *[32]uint64 {
		e := r.at(w)
		if e < 0 {
			return new([32]uint64)
		}
		w.needed(&r, e, m)
		return &w.reg[e]
	}
}

func (c *compiler) memBits(v cir.MemElem, depth int) bitsFn {
	src := c.address(v.Addr, depth)
	a := src.mem.desc()
	size := c.vectorBits(a, 1)
	c.needBits(depth)
	site := c.loadSite(a, size)
	return func(w *warp, m uint32) *[32]uint64 {
		out := &w.q[depth]
		if m == 0 {
			return out
		}
		index := src.index(w)
		ok := w.within(m, a, index, 1, size)
		w.count(site, ok, index)
		for ; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros32(m)
			out[lane] = 0
			if ok>>lane&1 == 1 {
				src.mem.load(w, lane, index[lane], out[lane:lane+1])
			}
		}
		return out
	}
}

func encodeAll(k elem.Kind, out *[32]uint64, in *[32]float64) {
	switch k {
	case elem.KF32:
		for i, x := range in {
			out[i] = uint64(math.Float32bits(float32(x)))
		}
	case elem.KF64:
		for i, x := range in {
			out[i] = math.Float64bits(x)
		}
	case elem.KTF32: // what Convert rounded stays so; arithmetic results are whole floats
		for i, x := range in {
			out[i] = uint64(math.Float32bits(float32(x)))
		}
	default:
		for i, x := range in {
			out[i] = elem.Encode(k, x)
		}
	}
}

// float compiles a value of a floating-point kind.
func (c *compiler) float(v cir.Value, depth int) floatFn {
	c.allow(v)
	c.needFloats(depth)
	k := v.Kind()
	switch v := v.(type) {
	case cir.RegElem, cir.MemElem, cir.Lit, cir.ParamValue:
		b := c.bitsOf(v, depth)
		return func(w *warp, m uint32) *[32]float64 {
			out := &w.f[depth]
			for i, x := range b(w, m) {
				out[i] = decode(k, x)
			}
			return out
		}
	case cir.IntValue:
		x := c.spread(c.expr(v.Expr, depth), depth)
		return c.floatOfInts(elem.KS64, k, depth, func(w *warp, _ uint32) *[32]int64 { return x(w) })
	case cir.Convert:
		return c.convert(v, depth)
	case cir.Unary:
		return c.floats(k, depth, v.Op >= cir.ExpOp, floatUnary[v.Op], v.X)
	case cir.Binary:
		return c.floats(k, depth, false, floatBinary[v.Op], v.X, v.Y)
	case cir.FMA:
		f := fmaTo
		if k == elem.KF64 {
			f = math.FMA
		}
		return c.floats(k, depth, false, f, v.X, v.Y, v.Z)
	case cir.Select:
		cond, x, y := c.cond(v.Cond, depth), c.float(v.X, depth), c.float(v.Y, depth+1)
		return func(w *warp, m uint32) *[32]float64 {
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

// pick takes the lanes that are not in yes from other.
func pick[T any](out, other *[32]T, yes uint32) {
	for i := range out {
		if yes>>i&1 == 0 {
			out[i] = other[i]
		}
	}
}

var floatUnary = [...]func(x, _, _ float64) float64{
	cir.NegOp:  func(x, _, _ float64) float64 { return -x },
	cir.AbsOp:  func(x, _, _ float64) float64 { return math.Abs(x) },
	cir.SqrtOp: func(x, _, _ float64) float64 { return math.Sqrt(x) },
	cir.ExpOp:  func(x, _, _ float64) float64 { return math.Exp(x) },
	cir.TanhOp: func(x, _, _ float64) float64 { return math.Tanh(x) },

	cir.SigmoidOp: func(x, _, _ float64) float64 { return 1 / (1 + math.Exp(-x)) },
}

var floatBinary = [...]func(x, y, _ float64) float64{
	cir.AddOp: func(x, y, _ float64) float64 { return x + y },
	cir.SubOp: func(x, y, _ float64) float64 { return x - y },
	cir.MulOp: func(x, y, _ float64) float64 { return x * y },
	cir.DivOp: func(x, y, _ float64) float64 { return x / y },
	cir.MinOp: func(x, y, _ float64) float64 { // a NaN loses, as with fminf
		if x != x || y < x || x == y && math.Signbit(y) {
			return y
		}
		return x
	},
	cir.MaxOp: func(x, y, _ float64) float64 {
		if x != x || y > x || x == y && math.Signbit(x) {
			return y
		}
		return x
	},
}

// floats compiles an operation on up to three operands; a slow one only computes the lanes that it has to.
func (c *compiler) floats(k elem.Kind, depth int, slow bool, f func(x, y, z float64) float64, args ...cir.Value) floatFn {
	round := rounder(k)
	in := make([]floatFn, 3)
	for i, a := range args {
		if a.Kind() != k {
			c.fail("expects operands of one kind, but got %s and %s", k, a.Kind())
		}
		in[i] = c.float(a, depth+i)
	}
	for i := len(args); i < 3; i++ {
		in[i] = in[0] // f ignores it, and it is not evaluated
	}
	x, y, z, n := in[0], in[1], in[2], len(args)
	return func(w *warp, m uint32) *[32]float64 {
		out := x(w, m)
		p, q := out, out
		if n > 1 {
			p = y(w, m)
		}
		if n > 2 {
			q = z(w, m)
		}
		for i := range out {
			if slow && m>>i&1 == 0 {
				continue
			}
			v := f(out[i], p[i], q[i])
			if round != nil {
				v = round(v)
			}
			out[i] = v
		}
		return out
	}
}

// convert compiles a conversion to a floating-point kind.
func (c *compiler) convert(v cir.Convert, depth int) floatFn {
	if !v.X.Kind().IsFloat() {
		return c.floatOfInts(v.X.Kind(), v.To, depth, c.int(v.X, depth))
	}
	x, to := c.float(v.X, depth), v.To
	return func(w *warp, m uint32) *[32]float64 {
		out := x(w, m)
		for i, v := range out {
			out[i] = decode(to, elem.Encode(to, v))
		}
		return out
	}
}
