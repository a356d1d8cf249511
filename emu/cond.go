package emu

import (
	"math"

	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// cond is a compiled condition: of the lanes in m, those for which it holds. A nil cond always holds.
type cond func(w *warp, m uint32) uint32

func (c cond) of(w *warp, m uint32) uint32 {
	if c == nil {
		return m
	}
	return c(w, m)
}

// cond compiles a condition; it uses scratch of the given depth and deeper.
func (c *compiler) cond(x cir.Cond, depth int) cond {
	switch x := x.(type) {
	case nil:
		return nil
	case cir.Cmp:
		return c.cmp(x, depth)
	case cir.ValCmp:
		return c.valCmp(x, depth)
	case cir.And:
		parts := c.conds(x, depth)
		return func(w *warp, m uint32) uint32 {
			for _, p := range parts {
				if m = p.of(w, m); m == 0 {
					break
				}
			}
			return m
		}
	case cir.Or:
		parts := c.conds(x, depth)
		return func(w *warp, m uint32) uint32 {
			got := uint32(0)
			for _, p := range parts {
				if got == m {
					break
				}
				got |= p.of(w, m&^got)
			}
			return got
		}
	case cir.Not:
		p := c.cond(x.X, depth)
		return func(w *warp, m uint32) uint32 { return m &^ p.of(w, m) }
	}
	c.fail("unknown condition %T", x)
	return nil
}

func (c *compiler) conds(xs []cir.Cond, depth int) []cond {
	out := make([]cond, len(xs))
	for i, x := range xs {
		out[i] = c.cond(x, depth)
	}
	return out
}

// lanesCompare sets a bit for each lane where the comparison holds. A NaN is not equal and not less.
func lanesCompare[T int64 | float64]() [4]func(x, y *[32]T) uint32 {
	return [...]func(x, y *[32]T) uint32{
		cir.LT: func(x, y *[32]T) (m uint32) {
			for i := range x {
				if x[i] < y[i] {
					m |= 1 << i
				}
			}
			return m
		},
		cir.LE: func(x, y *[32]T) (m uint32) {
			for i := range x {
				if x[i] <= y[i] {
					m |= 1 << i
				}
			}
			return m
		},
		cir.EQ: func(x, y *[32]T) (m uint32) {
			for i := range x {
				if x[i] == y[i] {
					m |= 1 << i
				}
			}
			return m
		},
		cir.NE: func(x, y *[32]T) (m uint32) {
			for i := range x {
				if x[i] != y[i] {
					m |= 1 << i
				}
			}
			return m
		},
	}
}

var (
	laneCompare  = lanesCompare[int64]()
	floatCompare = lanesCompare[float64]()
)

// valCmp compares two values of one kind.
func (c *compiler) valCmp(x cir.ValCmp, depth int) cond {
	k := x.X.Kind()
	if err := cir.AllowedCmp(x); err != nil {
		c.fail("%v", err)
	}
	if c.prog.exact {
		return c.residueCmp(x, depth)
	}
	if k.IsFloat() {
		f, p, q := floatCompare[x.Op], c.float(x.X, depth), c.float(x.Y, depth+1)
		return func(w *warp, m uint32) uint32 { return m & f(p(w, m), q(w, m)) }
	}
	f, p, q := laneCompare[x.Op], c.int(x.X, depth), c.int(x.Y, depth+1)
	return func(w *warp, m uint32) uint32 {
		a, b := p(w, m), q(w, m)
		if k == elem.KU64 { // order as unsigned
			for i := range a {
				a[i], b[i] = a[i]^math.MinInt64, b[i]^math.MinInt64
			}
		}
		return m & f(a, b)
	}
}

func (c *compiler) cmp(x cir.Cmp, depth int) cond {
	if int(x.Op) >= len(compare) {
		c.fail("unknown comparison %d", x.Op)
	}
	if wide := c.guard(depth, x.X, x.Y); wide != nil {
		inner := c.cmpOf(x, depth)
		return func(w *warp, m uint32) uint32 {
			wide(w)
			return inner(w, m)
		}
	}
	return c.cmpOf(x, depth)
}

func (c *compiler) cmpOf(x cir.Cmp, depth int) cond {
	a, b := c.expr(x.X, depth), c.expr(x.Y, depth+1)
	if a.l == nil && b.l == nil {
		f, p, q := compare[x.Op], a.u, b.u
		return func(w *warp, m uint32) uint32 {
			if f(p.at(w), q.at(w)) {
				return m
			}
			return 0
		}
	}
	f, p, q := laneCompare[x.Op], c.spread(a, depth), c.spread(b, depth+1)
	return func(w *warp, m uint32) uint32 { return m & f(p(w), q(w)) }
}
