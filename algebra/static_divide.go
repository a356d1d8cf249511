package algebra

import "github.com/gocute/gocute/algebra/sym"

// icomplement is complemented for static layouts: the modes of the translations.
type icomplement struct {
	ms                 []imode
	whole, fills, open bool
}

// filterInt is filter on modes, in place; none is left of a layout without offsets but 0.
func filterInt(ms []imode) []imode {
	for i := range ms {
		if ms[i].d == 0 {
			ms[i].s = 1
		}
	}
	ms = mergeInt(ms, false)
	if len(ms) == 1 && ms[0].s == 1 {
		return ms[:0]
	}
	return ms
}

// sortInt sorts by stride, equal ones as they come.
func sortInt(ms []imode) {
	for i := 1; i < len(ms); i++ {
		for j := i; j > 0 && ms[j-1].d > ms[j].d; j-- {
			ms[j-1], ms[j] = ms[j], ms[j-1]
		}
	}
}

// translationsInt is translations of modes, which it overwrites, into out. It fails where the general rule
// refuses, too.
func translationsInt(ms []imode, n int64, out []imode) (c icomplement, ok bool) {
	ms = filterInt(ms)
	if len(ms) == 0 {
		d := int64(1)
		if n == 1 {
			d = 0
		}
		return icomplement{append(out, imode{n, d}), true, true, true}, true
	}
	if len(ms) >= cap(out) {
		return c, false
	}
	sortInt(ms)
	cur := int64(1)
	c.whole = true
	for _, m := range ms {
		k := m.d / cur
		if k < 1 {
			return c, false
		}
		c.whole = c.whole && m.d%cur == 0
		out = append(out, imode{k, cur})
		cur = m.d * m.s
	}
	rest := (n + cur - 1) / cur
	c.fills = c.whole && n%cur == 0
	if c.open = rest > 1; c.open {
		out = append(out, imode{rest, cur})
	}
	c.ms = mergeInt(out, false)
	if len(c.ms) == 1 && c.ms[0].s == 1 {
		c.ms = append(c.ms[:0], imode{1, 0})
	}
	return c, true
}

// staticTranslations is translations of a static layout.
func staticTranslations(l *Layout, cotarget sym.Expr) (c complemented, ok bool) {
	var room, out [roomModes]imode
	n, static := cotarget.IsConst()
	if !static || n < 1 || n > maxOffset {
		return c, false
	}
	ms, ok := appendInt(room[:0], &l.shape, &l.stride)
	if !ok || !bounded(ms) {
		return c, false
	}
	x, ok := translationsInt(ms, n, out[:0])
	if !ok {
		return c, false
	}
	return complemented{layoutOfInt(x.ms), x.whole, x.fills, x.open}, true
}

// place is where a layout's nodes are.
type place struct {
	s *node[sym.Expr]
	d *node[Step]
}

// divideInt is divideExact for static layouts whose closed form is proved for itself. It writes tile and rest
// only if it succeeds.
func divideInt(a place, b *Layout, tile, rest place) bool {
	var room, copied, out [roomModes]imode
	var c icomposer
	bs, ok := appendInt(room[:0], &b.shape, &b.stride)
	n, static := productOf(*a.s).IsConst()
	if !ok || !static || !bounded(bs) || !c.init(a) {
		return false
	}
	for _, m := range bs {
		if m.d == 0 && m.s > 1 { // it repeats offsets
			return false
		}
	}
	star, ok := translationsInt(append(copied[:0], bs...), n, out[:0])
	if !ok || !star.fills {
		return false
	}
	for _, part := range [2][]imode{bs, star.ms} {
		for _, m := range part {
			if !c.leaf(m.s, m.d) {
				return false
			}
		}
	}
	if !c.carryFree() {
		return false
	}
	extra := 0
	if len(star.ms) > 1 {
		extra = len(star.ms)
	}
	var all slab
	if k := nodes(&b.shape) + extra + c.room(); k > 0 {
		all = newSlab(k)
	}
	leaf, mode := 0, 0
	c.build(&all, &b.shape, tile, &leaf, &mode)
	if extra == 0 {
		all.fill(rest, c.out[mode:c.nout])
		return true
	}
	rest.s.sub, rest.d.sub = all.take(extra)
	for i := range extra {
		k := int(c.ext[leaf+i])
		all.fill(rest.at(i), c.out[mode:mode+k])
		mode += k
	}
	return true
}

func (p place) at(i int) place { return place{&p.s.sub[i], &p.d.sub[i]} }

// divideFlat is a divide by a flat tuple of layouts and integers, each entry by divideInt, straight into the
// form that is asked for.
func divideFlat(l *Layout, t *Tiler, as form) (r Layout, ok bool) {
	k, n := len(t.sub), len(l.shape.sub)
	if k < 2 || k > n {
		return r, false
	}
	var all slab
	top := place{&r.shape, &r.stride}
	tiles, rests := top, top // the tuples that hold them
	first := 0               // the place of the first rest
	switch as {
	case logical:
		all = newSlab(n + 2*k)
		top.s.sub, top.d.sub = all.take(n)
	case zipped:
		all = newSlab(2 + k + n)
		top.s.sub, top.d.sub = all.take(2)
		tiles, rests = top.at(0), top.at(1)
		tiles.s.sub, tiles.d.sub = all.take(k)
		rests.s.sub, rests.d.sub = all.take(n)
	case tiled:
		all = newSlab(1 + n + k)
		top.s.sub, top.d.sub = all.take(1 + n)
		tiles, first = top.at(0), 1
		tiles.s.sub, tiles.d.sub = all.take(k)
	case flat:
		all = newSlab(k + n)
		top.s.sub, top.d.sub = all.take(k + n)
		first = k
	}
	for i := range n {
		from := place{&l.shape.sub[i], &l.stride.sub[i]}
		if i >= k {
			to := rests.at(first + i)
			*to.s, *to.d = *from.s, *from.d
			continue
		}
		x := &t.sub[i]
		if x.sub != nil || x.free || x.err != nil || x.layout.sw.B != 0 {
			return r, false
		}
		tile, rest := tiles.at(i), place{}
		if as == logical {
			pair := top.at(i)
			pair.s.sub, pair.d.sub = all.take(2)
			tile, rest = pair.at(0), pair.at(1)
		} else {
			rest = rests.at(first + i)
		}
		if !divideInt(from, &x.layout, tile, rest) {
			return r, false
		}
	}
	return r, boundedLayout(l)
}

// boundedLayout is bounded of a whole layout.
func boundedLayout(l *Layout) bool {
	var room [roomModes]imode
	ms, ok := appendInt(room[:0], &l.shape, &l.stride)
	return ok && bounded(ms)
}

// positive reports whether all extents are constants of at least 1.
func positive(s *node[sym.Expr]) bool {
	if s.sub == nil {
		n, ok := s.v.IsConst()
		return ok && n >= 1 && n <= maxOffset
	}
	for i := range s.sub {
		if !positive(&s.sub[i]) {
			return false
		}
	}
	return true
}

// rightInverseInt is rightInverse of a static layout.
func rightInverseInt(l *Layout) (Layout, bool) {
	var room, out [roomModes]imode
	var pre [roomModes]int64
	var order [roomModes]int
	ms, ok := appendInt(room[:0], &l.shape, &l.stride)
	if !ok || !bounded(ms) || len(ms) >= roomModes {
		return Layout{}, false
	}
	if ms = mergeInt(ms, false); len(ms) == 1 && ms[0].s == 1 {
		return unit, true
	}
	size := int64(1)
	for i, m := range ms {
		pre[i], order[i] = size, i
		size *= m.s
	}
	sortExchange(order[:len(ms)], func(i int) int64 { return ms[i].d })
	r, cur := append(out[:0], imode{1, 0}), int64(1)
	for changed := true; changed; {
		changed = false
		for k, i := range order[:len(ms)] {
			if i < 0 || ms[i].d != cur {
				continue
			}
			r = append(r, imode{ms[i].s, pre[i]})
			cur *= ms[i].s
			order[k], changed = -1, true
		}
	}
	if r = mergeInt(r, false); len(r) == 1 && r[0].s == 1 {
		return unit, true
	}
	return layoutOfInt(r), true
}
