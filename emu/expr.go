package emu

import (
	"math/bits"

	"github.com/gocute/gocute/algebra/sym"
)

// uniform is an integer that all lanes of a warp share: the constant k, or what f returns.
type uniform struct {
	k int64
	f func(*warp) int64
}

func (u uniform) at(w *warp) int64 {
	if u.f == nil {
		return u.k
	}
	return u.f(w)
}

// perLane computes an integer for each lane. Only the caller that chose the scratch may write to the result.
type perLane func(*warp) *[32]int64

// integer is a compiled expression: uniform where l is nil.
type integer struct {
	u uniform
	l perLane
}

func constant(k int64) integer { return integer{u: uniform{k: k}} }

// spread is the integer as one for each lane; it may use the scratch of the given depth.
func (c *compiler) spread(x integer, depth int) perLane {
	if x.l != nil {
		return x.l
	}
	c.needInts(depth)
	u := x.u
	return func(w *warp) *[32]int64 {
		out, v := &w.t[depth], u.at(w)
		for i := range out {
			out[i] = v
		}
		return out
	}
}

// expr compiles an expression. A result that differs by lane lies in the scratch of the given depth or in a slot;
// what it is made of uses deeper scratch only.
func (c *compiler) expr(e sym.Expr, depth int) integer {
	v := e.View()
	switch v.Op {
	case sym.Const:
		return constant(v.Value)
	case sym.Sym:
		return c.symbol(v.Sym)
	case sym.Add:
		return c.sum(v.Args, depth)
	case sym.Mul:
		return c.product(v.Args, depth)
	}
	if v.Op == sym.Div {
		if k, ok := c.warpIndex(v); ok {
			return integer{u: uniform{f: func(w *warp) int64 { return w.u[uFirst] / k }}}
		}
	}
	x := c.expr(v.Args[0], depth)
	for _, a := range v.Args[1:] {
		x = c.binary(v.Op, x, c.expr(a, depth+1), depth)
	}
	return x
}

// warpIndex recognises threadIdx.x / (32*n), which is the same in all lanes of a warp.
func (c *compiler) warpIndex(v sym.View) (int64, bool) {
	k, isConst := v.Args[1].IsConst()
	x := v.Args[0].View()
	return k, isConst && k > 0 && k%32 == 0 && x.Op == sym.Sym && c.isThread(x.Sym)
}

func (c *compiler) sum(args []sym.Expr, depth int) integer {
	var us []uniform
	var ls []perLane
	k := int64(0)
	for _, a := range args {
		x := c.expr(a, depth+1)
		switch {
		case x.l != nil:
			ls = append(ls, x.l)
		case x.u.f == nil:
			k += x.u.k
		default:
			us = append(us, x.u)
		}
	}
	u := sumUniform(us, k)
	if len(ls) == 0 {
		return integer{u: u}
	}
	c.needInts(depth)
	first, rest := ls[0], ls[1:]
	return integer{l: func(w *warp) *[32]int64 {
		out, v, a := &w.t[depth], u.at(w), first(w)
		for i := range out {
			out[i] = a[i] + v
		}
		for _, l := range rest {
			b := l(w)
			for i := range out {
				out[i] += b[i]
			}
		}
		return out
	}}
}

func sumUniform(us []uniform, k int64) uniform {
	switch len(us) {
	case 0:
		return uniform{k: k}
	case 1:
		f := us[0].f
		if k == 0 {
			return us[0]
		}
		return uniform{f: func(w *warp) int64 { return f(w) + k }}
	}
	return uniform{f: func(w *warp) int64 {
		s := k
		for i := range us {
			s += us[i].f(w)
		}
		return s
	}}
}

func (c *compiler) product(args []sym.Expr, depth int) integer {
	out := constant(1)
	for i, a := range args {
		if i == 0 {
			out = c.expr(a, depth)
			continue
		}
		out = c.binary(sym.Mul, out, c.expr(a, depth+1), depth)
	}
	return out
}

// intOps are the operations on two integers; a division by zero, which is a finding, gives 0.
var intOps = [...]func(x, y int64) int64{
	sym.Mul: func(x, y int64) int64 { return x * y },
	sym.Div: floorDiv,
	sym.Mod: func(x, y int64) int64 {
		if y <= 0 {
			return 0
		}
		return x - y*floorDiv(x, y)
	},
	sym.Xor: func(x, y int64) int64 { return x ^ y },
	sym.Min: func(x, y int64) int64 { return min(x, y) },
	sym.Max: func(x, y int64) int64 { return max(x, y) },
}

func floorDiv(x, y int64) int64 {
	if y <= 0 {
		return 0
	}
	q := x / y
	if x%y != 0 && x < 0 {
		q--
	}
	return q
}

func (c *compiler) binary(op sym.Op, x, y integer, depth int) integer {
	divides := op == sym.Div || op == sym.Mod
	if divides && y.l == nil && y.u.f == nil {
		if y.u.k <= 0 {
			c.fail("expects a positive divisor, but got %d", y.u.k)
		}
		divides = false // no need to look while running
	}
	f := intOps[op]
	if x.l == nil && y.l == nil {
		return integer{u: c.binaryUniform(f, x.u, y.u, divides)}
	}
	if fast := c.binaryConst(op, x, y, depth); fast != nil {
		return integer{l: fast}
	}
	a, b := c.spread(x, depth), c.spread(y, depth+1)
	c.needInts(depth)
	return integer{l: func(w *warp) *[32]int64 {
		out, p, q := &w.t[depth], a(w), b(w)
		if divides {
			w.divisors(q)
		}
		for i := range out {
			out[i] = f(p[i], q[i])
		}
		return out
	}}
}

func (c *compiler) binaryUniform(f func(x, y int64) int64, x, y uniform, divides bool) uniform {
	if x.f == nil && y.f == nil {
		return uniform{k: f(x.k, y.k)}
	}
	if !divides {
		return uniform{f: func(w *warp) int64 { return f(x.at(w), y.at(w)) }}
	}
	return uniform{f: func(w *warp) int64 {
		d := y.at(w)
		if d <= 0 && w.mask != 0 {
			w.divisor(bits.TrailingZeros32(w.mask), d)
		}
		return f(x.at(w), d)
	}}
}

// binaryConst compiles the frequent operations with a constant, without a call a lane.
func (c *compiler) binaryConst(op sym.Op, x, y integer, depth int) perLane {
	if x.l == nil && (op == sym.Mul || op == sym.Xor) {
		x, y = y, x
	}
	if x.l == nil || y.l != nil {
		return nil
	}
	a, u := x.l, y.u
	pow2 := u.f == nil && u.k > 0 && u.k&(u.k-1) == 0
	var apply func(out, p *[32]int64, v int64)
	switch {
	case op == sym.Mul:
		apply = func(out, p *[32]int64, v int64) {
			for i := range out {
				out[i] = p[i] * v
			}
		}
	case op == sym.Xor:
		apply = func(out, p *[32]int64, v int64) {
			for i := range out {
				out[i] = p[i] ^ v
			}
		}
	case op == sym.Div && pow2: // a shift rounds down, as floor division does
		n := bits.TrailingZeros64(uint64(u.k))
		apply = func(out, p *[32]int64, _ int64) {
			for i := range out {
				out[i] = p[i] >> n
			}
		}
	case op == sym.Mod && pow2:
		apply = func(out, p *[32]int64, v int64) {
			for i := range out {
				out[i] = p[i] & (v - 1)
			}
		}
	default:
		return nil
	}
	c.needInts(depth)
	return func(w *warp) *[32]int64 {
		p, out := a(w), &w.t[depth]
		apply(out, p, u.at(w))
		return out
	}
}

// divisors reports a divisor of an active lane that is not positive.
func (w *warp) divisors(q *[32]int64) {
	for m := w.mask; m != 0; m &= m - 1 {
		if i := bits.TrailingZeros32(m); q[i] <= 0 {
			w.divisor(i, q[i])
		}
	}
}

func (w *warp) divisor(lane int, d int64) {
	if f := w.find(Division, "", lane, -1); f != nil {
		f.Message = sprint("expects a positive divisor, but got ", d)
	}
}
