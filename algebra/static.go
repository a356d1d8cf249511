package algebra

import (
	"math"

	"github.com/gocute/gocute/algebra/sym"
)

// The static layouts that fit fixed arrays take this road: the same rules on machine integers, without a heap
// object a step. It gives only what is proved without evaluation; all else is left to the general road.

// imode is one mode of a static layout.
type imode struct{ s, d int64 }

// Room for the modes of a layout, and for those of a result.
const (
	roomModes  = 16
	roomResult = 48
	roomLeaves = 2 * roomModes
)

// appendInt appends the modes of a static layout without basis; ok is false for any other, and for one that is
// too large or does not fit.
func appendInt(dst []imode, s *node[sym.Expr], d *node[Step]) (_ []imode, ok bool) {
	if s.sub == nil {
		n, ok1 := s.v.IsConst()
		step, ok2 := d.v.IsConst()
		if !ok1 || !ok2 || n < 1 || len(dst) == cap(dst) {
			return dst, false
		}
		return append(dst, imode{n, step}), true
	}
	for i := range s.sub {
		if dst, ok = appendInt(dst, &s.sub[i], &d.sub[i]); !ok {
			return dst, false
		}
	}
	return dst, true
}

// bounded reports whether size and offsets stay within maxOffset, so that no product below wraps.
func bounded(ms []imode) bool {
	size, reach := 1.0, 0.0
	for _, m := range ms {
		size *= float64(m.s)
		reach += math.Abs(float64(m.s) * float64(m.d))
	}
	return size <= maxOffset && reach <= maxOffset
}

// mergeInt is mergeModes in place.
func mergeInt(ms []imode, keepLast bool) []imode {
	n := len(ms)
	if n == 0 {
		return ms
	}
	w := n - 1
	if keepLast && ms[w].s == 1 {
		ms[w].s = 2
	}
	for i := n - 2; i >= 0; i-- {
		m := ms[i]
		switch {
		case m.s == 1:
		case ms[w].s == 1:
			ms[w] = m
		case m.s*m.d == ms[w].d:
			ms[w] = imode{m.s * ms[w].s, m.d}
		default:
			w--
			ms[w] = m
		}
	}
	return ms[w:]
}

// slab hands out the nodes of a result from one block each.
type slab struct {
	s []node[sym.Expr]
	d []node[Step]
}

func newSlab(n int) slab { return slab{make([]node[sym.Expr], n), make([]node[Step], n)} }

func (b *slab) take(n int) (s []node[sym.Expr], d []node[Step]) {
	if n == 0 {
		return []node[sym.Expr]{}, []node[Step]{} // an empty tuple is no leaf
	}
	s, d = b.s[:n:n], b.d[:n:n]
	b.s, b.d = b.s[n:], b.d[n:]
	return s, d
}

func (p place) set(m imode) { p.s.v, p.d.v.Coef = sym.Int(m.s), sym.Int(m.d) }

// fill writes modes into a node: a leaf of one, a tuple of several.
func (b *slab) fill(to place, ms []imode) {
	if len(ms) == 1 {
		to.set(ms[0])
		return
	}
	to.s.sub, to.d.sub = b.take(len(ms))
	for i, m := range ms {
		to.at(i).set(m)
	}
}

// layoutOfInt is layoutOf.
func layoutOfInt(ms []imode) (l Layout) {
	if len(ms) == 0 {
		return unit
	}
	var b slab
	if len(ms) > 1 {
		b = newSlab(len(ms))
	}
	b.fill(place{&l.shape, &l.stride}, ms)
	return l
}

// coalesceInt is coalesce of a static layout.
func coalesceInt(l *Layout) (Layout, bool) {
	var room [roomModes]imode
	ms, ok := appendInt(room[:0], &l.shape, &l.stride)
	if !ok || !bounded(ms) {
		return Layout{}, false
	}
	ms = mergeInt(ms, false)
	if len(ms) == 1 && ms[0].s == 1 {
		return unit, true
	}
	return layoutOfInt(ms), true
}

// icomposer is composer for a static A.
type icomposer struct {
	a    [roomModes]imode
	top  [roomModes]int64
	out  [roomResult]imode // what B's leaves became, one after the other
	ext  [roomLeaves]int8  // how many modes each became
	na   int               // how many of a, out and ext there are
	nout int
	next int
}

// init takes A; it fails for what does not fit.
func (c *icomposer) init(a place) bool {
	as, ok := appendInt(c.a[:0], a.s, a.d)
	if !ok || len(as) == 0 || !bounded(as) {
		return false
	}
	as = mergeInt(as, true)
	c.na = copy(c.a[:], as)
	return true
}

func (c *icomposer) put(s, d int64) {
	c.out[c.nout] = imode{s, d}
	c.nout++
}

// leaf is leafInt where every step is exact. A failure leaves the composition to the general road.
func (c *icomposer) leaf(s, d int64) bool {
	last, from := c.na-1, c.nout
	if d < 0 || c.next == roomLeaves || c.nout+c.na > roomResult {
		return false
	}
	if d == 0 {
		c.put(s, 0)
		c.ext[c.next] = 1
		c.next++
		return true
	}
	rest := s
	for k := 0; k < last; k++ {
		a := c.a[k].s
		if d >= a {
			if d%a != 0 {
				return false
			}
			d /= a
			continue
		}
		if rest == 1 {
			d = 1
			continue
		}
		n := min((a+d-1)/d, rest)
		if rest%n != 0 || rest > n && a%d != 0 {
			return false
		}
		c.top[k] += (n - 1) * d
		c.put(n, c.a[k].d*d)
		rest, d = rest/n, 1
	}
	if c.nout == from || rest != 1 {
		step := c.a[last].d * d
		if math.Abs(float64(c.a[last].d)*float64(d)) > maxOffset {
			return false
		}
		c.put(rest, step)
	}
	c.ext[c.next] = int8(c.nout - from)
	c.next++
	return true
}

// carryFree reports whether no mode but the last overflows.
func (c *icomposer) carryFree() bool {
	for k := 0; k+1 < c.na; k++ {
		if c.top[k] >= c.a[k].s {
			return false
		}
	}
	return true
}

// nodes counts the nodes below s.
func nodes(s *node[sym.Expr]) int {
	n := len(s.sub)
	for i := range s.sub {
		if s.sub[i].sub != nil {
			n += nodes(&s.sub[i])
		}
	}
	return n
}

// build nests what the leaves became as b's shape has them; at counts leaves and modes that are used up.
func (c *icomposer) build(b *slab, shape *node[sym.Expr], to place, leaf, mode *int) {
	if shape.sub == nil {
		n := int(c.ext[*leaf])
		b.fill(to, c.out[*mode:*mode+n])
		*leaf, *mode = *leaf+1, *mode+n
		return
	}
	to.s.sub, to.d.sub = b.take(len(shape.sub))
	for i := range shape.sub {
		c.build(b, &shape.sub[i], to.at(i), leaf, mode)
	}
}

// room counts the nodes that build needs below a shape, beside those of the leaves.
func (c *icomposer) room() int {
	n := 0
	for _, k := range c.ext[:c.next] {
		if k > 1 {
			n += int(k)
		}
	}
	return n
}

// composeInt is A∘B for static layouts whose closed form is proved for itself.
func composeInt(a, b *Layout) (r Layout, ok bool) {
	var room [roomModes]imode
	var c icomposer
	bs, ok := appendInt(room[:0], &b.shape, &b.stride)
	if !ok || !bounded(bs) || !c.init(place{&a.shape, &a.stride}) {
		return r, false
	}
	for _, m := range bs {
		if !c.leaf(m.s, m.d) {
			return r, false
		}
	}
	if !c.carryFree() {
		return r, false
	}
	var all slab
	if n := nodes(&b.shape) + c.room(); n > 0 {
		all = newSlab(n)
	}
	leaf, mode := 0, 0
	c.build(&all, &b.shape, place{&r.shape, &r.stride}, &leaf, &mode)
	return r, true
}
