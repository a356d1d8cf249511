package algebra

import "github.com/gocute/gocute/algebra/sym"

// mergeModes joins neighbours that are contiguous (s0*d0 == d1, same basis) and drops extents 1. With
// keepLast the last mode counts as endless, so its stride survives even if its extent is 1 (what
// composition needs, where indices past the end continue the last mode).
func mergeModes(ms []mode, keepLast bool) []mode {
	n := len(ms)
	if n == 0 {
		return ms
	}
	out := make([]mode, 0, n) // from right to left
	cur := ms[n-1]
	if keepLast && cur.s.Is(1) {
		cur.s = sym.Int(2)
	}
	for i := n - 2; i >= 0; i-- {
		m := ms[i]
		switch {
		case m.s.Is(1):
		case cur.s.Is(1):
			cur = m
		case contiguous(m, cur.d):
			cur = mode{m.s.Mul(cur.s), m.d}
		default:
			out = append(out, cur)
			cur = m
		}
	}
	out = append(out, cur)
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// contiguous reports whether the step after m's last is next.
func contiguous(m mode, next Step) bool {
	s, ok1 := m.s.IsConst()
	d, ok2 := m.d.IsConst()
	if ok1 && ok2 {
		return next.IsPlain() && next.Coef.Equal(sym.Int(s).Mul(sym.Int(d)))
	}
	if m.d.Coef.Is(0) {
		return next.Coef.Is(0)
	}
	return m.d.Times(m.s).Equal(next)
}

// coalesce follows bw_coalesce: the merged modes, 1:0 for a layout of one point.
func coalesce(l Layout) Layout {
	if r, ok := coalesceInt(&l); ok {
		return r
	}
	return coalesceGeneral(l)
}

func coalesceGeneral(l Layout) Layout {
	ms := mergeModes(flatModes(l.shape, l.stride), false)
	if len(ms) == 1 && ms[0].s.Is(1) {
		return unit
	}
	return layoutOf(ms)
}

// Coalesce merges modes that are contiguous and drops extents 1: the same function of a 1-D index, with
// depth at most 1.
func Coalesce(l Layout) (Layout, error) {
	if l.err == nil {
		if r, ok := coalesceInt(&l); ok {
			return l.rewrap(r), nil
		}
	}
	if e := bad(l); e != nil {
		return Layout{}, e.in("coalesce", l)
	}
	r, e := settled(coalesce(l), nil)
	return l.rewrap(r), e.in("coalesce", l)
}

// CoalesceBy coalesces below each integer of profile and keeps the rest of the nesting. The integers
// themselves do not matter.
func CoalesceBy(l Layout, profile Shape) (Layout, error) {
	if e := bad(l, integers(profile)); e != nil {
		return Layout{}, e.in("coalesce", l, profile)
	}
	out, e := settled(byProfile(l.Plain(), profile.n, func(m Layout) (Layout, *Error) { return coalesce(m), nil }))
	return l.rewrap(out), e.in("coalesce", l, profile)
}

// byProfile applies f below each leaf of the profile; modes that it does not name stay.
func byProfile(l Layout, profile node[sym.Expr], f func(Layout) (Layout, *Error)) (Layout, *Error) {
	if profile.isLeaf() {
		return f(l)
	}
	if len(profile.sub) > l.shape.rank() {
		return Layout{}, failf("profile %s has more modes than %s", Shape{n: profile}, l)
	}
	ls := layoutModes(l)
	for i, p := range profile.sub {
		m, e := byProfile(ls[i], p, f)
		if e != nil {
			return Layout{}, e
		}
		ls[i] = m
	}
	return joinModes(ls), nil
}

// layoutModes are the modes of a plain layout.
func layoutModes(l Layout) []Layout {
	if l.shape.isLeaf() {
		return []Layout{l}
	}
	out := make([]Layout, len(l.shape.sub))
	for i := range out {
		out[i] = plain(l.shape.sub[i], l.stride.sub[i])
	}
	return out
}

// joinModes makes plain layouts the modes of one.
func joinModes(ls []Layout) Layout {
	s, d := make([]node[sym.Expr], len(ls)), make([]node[Step], len(ls))
	for i, l := range ls {
		s[i], d[i] = l.shape, l.stride
	}
	return plain(node[sym.Expr]{sub: s}, node[Step]{sub: d})
}

// FilterZeros turns the extent of every stride 0 into 1.
func FilterZeros(l Layout) (Layout, error) {
	if e := bad(l); e != nil {
		return Layout{}, e.in("filter_zeros", l)
	}
	return l.rewrap(filterZeros(l)), nil
}

func filterZeros(l Layout) Layout {
	ms := flatModes(l.shape, l.stride)
	ext := make([]sym.Expr, len(ms))
	for i, m := range ms {
		ext[i] = m.s
		if m.d.Coef.Is(0) {
			ext[i] = sym.Int(1)
		}
	}
	return plain(like(l.shape, ext), l.stride)
}

// FilterZerosBy turns the extents below every 0 of profile into 1.
func FilterZerosBy(l Layout, profile Shape) (Layout, error) {
	if e := bad(l, integers(profile)); e != nil {
		return Layout{}, e.in("filter_zeros", l, profile)
	}
	s, e := zerosBy(profile.n, l.shape)
	return l.rewrap(plain(s, l.stride)), e.in("filter_zeros", l, profile)
}

func zerosBy(p, s node[sym.Expr]) (node[sym.Expr], *Error) {
	if p.isLeaf() {
		if p.v.Is(0) {
			return mapNode(s, func(sym.Expr) sym.Expr { return sym.Int(1) }), nil
		}
		return s, nil
	}
	if s.isLeaf() || len(p.sub) != len(s.sub) {
		return s, failf("profile %s does not fit shape %s", Shape{n: p}, Shape{n: s})
	}
	sub := make([]node[sym.Expr], len(s.sub))
	for i := range sub {
		var e *Error
		if sub[i], e = zerosBy(p.sub[i], s.sub[i]); e != nil {
			return s, e
		}
	}
	return node[sym.Expr]{sub: sub}, nil
}

func filter(l Layout) Layout { return coalesce(filterZeros(l)) }

// Filter removes stride-0 and extent-1 modes and coalesces; 1:0 if nothing is left.
func Filter(l Layout) (Layout, error) {
	if e := bad(l); e != nil {
		return Layout{}, e.in("filter", l)
	}
	r, e := settled(filter(l), nil)
	return l.rewrap(r), e.in("filter", l)
}

// FilterBy filters below each integer of profile.
func FilterBy(l Layout, profile Shape) (Layout, error) {
	if e := bad(l, integers(profile)); e != nil {
		return Layout{}, e.in("filter", l, profile)
	}
	out, e := settled(byProfile(l.Plain(), profile.n, func(m Layout) (Layout, *Error) { return filter(m), nil }))
	return l.rewrap(out), e.in("filter", l, profile)
}
