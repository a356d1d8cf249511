package algebra

import (
	"math"
	"slices"
	"sync"

	"github.com/gocute/gocute/algebra/sym"
)

// sortExchange orders indices of modes by their constant strides with CuTe's exchange sort, which fixes
// which of several equal strides comes first.
func sortExchange(idx []int, key func(int) int64) {
	for i := range idx {
		for j := i + 1; j < len(idx); j++ {
			if key(idx[j]) < key(idx[i]) {
				idx[i], idx[j] = idx[j], idx[i]
			}
		}
	}
}

// prefixProducts are the strides of the compact layout of the modes.
func prefixProducts(ms []mode) []sym.Expr {
	out := make([]sym.Expr, len(ms))
	cur := sym.Int(1)
	for i, m := range ms {
		out[i] = cur
		cur = cur.Mul(m.s)
	}
	return out
}

func constStrides(ms []mode) []int {
	var idx []int
	for i, m := range ms {
		if _, ok := m.d.IsConst(); ok {
			idx = append(idx, i)
		}
	}
	sortExchange(idx, func(i int) int64 { n, _ := ms[i].d.IsConst(); return n })
	return idx
}

// RightInverse is R with l(R(i)) = i for all i < size(R): it follows the strides that continue each other
// from 1 on. Modes with symbolic or basis strides take part only if they continue exactly. Every R(i) is below size(l);
// behind a swizzle R ends where the swizzle leads to an offset that l does not have.
func RightInverse(l Layout) (Layout, error) {
	if l.err == nil && l.sw.B == 0 {
		if r, ok := rightInverseInt(&l); ok {
			return r, nil
		}
	}
	if e := bad(l); e != nil {
		return Layout{}, e.in("right_inverse", l)
	}
	r, e := settled(inverseThrough(l, rightInverse, false))
	if e != nil {
		return Layout{}, e.in("right_inverse", l)
	}
	return r, nil
}

func rightInverse(l Layout) (Layout, *Error) {
	if r, ok := rightInverseInt(&l); ok {
		return r, nil
	}
	return rightInverseGeneral(l)
}

func rightInverseGeneral(l Layout) (Layout, *Error) {
	c := coalesce(l)
	ms := flatModes(c.shape, c.stride)
	pre := prefixProducts(ms)
	order := constStrides(ms)
	for i, m := range ms { // symbolic strides come last
		if _, ok := m.d.IsConst(); !ok && m.d.IsPlain() {
			order = append(order, i)
		}
	}
	out := []mode{{sym.Int(1), Step{}}}
	cur := sym.Int(1)
	for changed := true; changed; {
		changed = false
		for k, i := range order {
			if i < 0 || !ms[i].d.Coef.Equal(cur) {
				continue
			}
			out = append(out, mode{ms[i].s, Step{Coef: pre[i]}})
			cur = ms[i].s.Mul(cur)
			order[k], changed = -1, true
		}
	}
	return coalesce(layoutOf(out)), nil
}

// LeftInverse is L with L(l(i)) = i if l is injective; otherwise l(L(l(i))) = l(i). Every L(l(i)) is a coordinate of l, with
// one exception: a plain l of more than 64 coordinates whose modes overlap gets CuTe's answer, (16,16):(40,40) that of
// (40,16):(0,16), where L(l(i)) may lie past the end of l, whose last mode then counts as endless.
func LeftInverse(l Layout) (Layout, error) {
	if e := bad(l); e != nil {
		return Layout{}, e.in("left_inverse", l)
	}
	if r, ok := negation(l); ok {
		return r, nil
	}
	inv := leftInverse
	if l.sw.B != 0 {
		inv = leftWithin
	}
	r, e := settled(inverseThrough(l, inv, true))
	return r, e.in("left_inverse", l)
}

// negation is CuTe's text for the left inverse of s:-1, the only result with a negative extent: dividing by -1 negates.
func negation(l Layout) (Layout, bool) {
	c := coalesce(l.Plain())
	if l.sw.B != 0 || !c.shape.isLeaf() || !c.stride.v.Is(-1) {
		return Layout{}, false
	}
	return layoutOf([]mode{{s: sym.Int(-1)}, {c.shape.v, Step{Coef: sym.Int(1)}}}), true
}

// negated is the layout of the opposite offsets, if they are constants of at least 0 and not all 0.
func negated(l Layout) (_ Layout, ok bool) {
	for _, d := range l.stride.leaves() {
		n, isConst := d.IsConst()
		if !isConst || n > 0 {
			return l, false
		}
		ok = ok || n < 0
	}
	if !ok {
		return l, false
	}
	return negateStrides(l), true
}

func negateStrides(l Layout) Layout {
	return plain(l.shape, mapNode(l.stride, func(d Step) Step { return d.Times(sym.Int(-1)) }))
}

// leftInside is the most coordinates for which CuTe's answer past the end gives way to another; it is stated at LeftInverse.
const leftInside = 64

func leftInverse(l Layout) (Layout, *Error) { return leftOf(l, leftInside) }

// leftWithin has no exception.
func leftWithin(l Layout) (Layout, *Error) { return leftOf(l, EvalLimit) }

// leftOf is the left inverse of a plain layout, within its coordinates if there are no more than inside.
func leftOf(l Layout, inside int64) (Layout, *Error) {
	if n, ok := negated(l); ok { // division truncates, so L(-v) = -L(v)
		r, e := leftOf(n, inside)
		if e == nil {
			r = negateStrides(r)
		}
		return r, e
	}
	r, proved, closed := leftClosed(l)
	if closed == nil && proved {
		return r, nil
	}
	fl, ok := intFn(l)
	if !ok {
		if closed == nil {
			closed = failf("the strides overlap")
		}
		return Layout{}, closed
	}
	if fl.n > EvalLimit {
		return Layout{}, failf("%d coordinates are too many to verify (limit %d)", fl.n, EvalLimit)
	}
	var first *Error
	if closed == nil {
		if first = checkLeft(fl, r); first == nil || fl.n > inside && checkEndless(fl, r) == nil {
			return r, nil
		}
	}
	r, looked, ok := searchLeft(fl)
	if ok {
		return r, nil
	}
	if first == nil {
		first = closed
	}
	return Layout{}, first.hint("%s", looked)
}

// leftClosed is CuTe's rule: the sorted strides are the digit boundaries of the offset. proved tells that
// the modes do not overlap, so that every offset has the digits that made it.
func leftClosed(l Layout) (r Layout, proved bool, _ *Error) {
	c := coalesce(l)
	ms := flatModes(c.shape, c.stride)
	pre := prefixProducts(ms)
	order := constStrides(ms)
	if len(order) < len(ms) {
		r, e := leftSymbolic(ms)
		return r, e == nil, e
	}
	var out []mode
	size, prev := int64(1), sym.Expr{}
	ds := []sym.Expr{{}}
	proved = true
	for k, i := range order {
		d, _ := ms[i].d.IsConst()
		if d == 0 {
			if k == len(order)-1 {
				out = append(out, mode{s: ms[i].s})
			}
			continue
		}
		if d < 0 {
			return Layout{}, false, failf("stride %d is negative, and no extent is", d)
		}
		if d%size != 0 {
			return Layout{}, false, failf("stride %d is not a multiple of %d, which the strides below it make", d, size)
		}
		if lo, _ := ms[i].d.Coef.Sub(prev).Range(); len(out) > 0 && lo < 0 {
			proved = false
		}
		out = append(out, mode{s: sym.Int(d / size)})
		ds = append(ds, pre[i])
		prev = ms[i].d.Coef.Mul(ms[i].s)
		size = d
	}
	lastMode := ms[order[len(order)-1]]
	if d, _ := lastMode.d.IsConst(); d != 0 {
		out = append(out, mode{s: lastMode.s})
	}
	for i := range out {
		out[i].d = Step{Coef: ds[i]}.norm()
	}
	return coalesce(layoutOf(out)), proved, nil
}

// leftSymbolic is the same rule where facts prove that each stride steps over all that lies below it.
func leftSymbolic(ms []mode) (Layout, *Error) {
	pre := prefixProducts(ms)
	for i := range ms { // the sort carries each mode's own step along
		if lo, _ := ms[i].d.Coef.Range(); lo < 1 || !ms[i].d.IsPlain() {
			return Layout{}, failf("stride %s is not known to be positive", ms[i].d).hint("state the fact %s >= 1", ms[i].d)
		}
	}
	sorted, e := sortByStride(ms)
	if e != nil {
		return Layout{}, e
	}
	out := []mode{{s: sorted[0].d.Coef}} // below the least stride lies no offset
	for k, m := range sorted {
		own := slices.IndexFunc(ms, func(x mode) bool { return x.s.Equal(m.s) && x.d.Equal(m.d) })
		last := mode{m.s, Step{Coef: pre[own]}}
		if k+1 < len(sorted) {
			next, below := sorted[k+1].d.Coef, m.d.Coef.Mul(m.s)
			if _, ok := divides(below, next); !ok {
				return Layout{}, failf("it is not known whether stride %s steps over the %s offsets below it", next, below).hint("state the fact %s %% %s == 0", next, below)
			}
			q, ok := divides(m.d.Coef, next)
			if !ok {
				return Layout{}, failf("stride %s is not known to be a multiple of %s", next, m.d).hint("state the fact %s %% %s == 0", next, m.d)
			}
			last.s = q
		}
		out = append(out, last)
	}
	return coalesce(layoutOf(out)), nil
}

// checkLeft verifies the definition of a left inverse at every coordinate: L(A(i)) = i, or where A repeats offsets any
// coordinate that leads to the same one.
func checkLeft(f *fn, r Layout) *Error { return checkLeftTo(f, r, f.n) }

// checkEndless takes indices past the end of A, too, whose last mode is endless.
func checkEndless(f *fn, r Layout) *Error { return checkLeftTo(f, r, math.MaxInt64) }

func checkLeftTo(f *fn, r Layout, end int64) *Error {
	fr := &fn{sw: r.sw, n: 1}
	intLeaves(r.shape, r.stride, fr) // r is static
	fr.off, _ = r.off.IsConst()
	if !newImage(fr, f, f.sw, f.off).fits() {
		return failf("a value%s", beyond)
	}
	repeats := sync.OnceValue(func() bool { return !f.injective() })
	for i := range f.n {
		v := f.at(i)
		if j := fr.at(v); j != i && (j < 0 || j >= end || f.at(j) != v || !repeats()) {
			why := "leads elsewhere"
			if j >= end && f.at(j) == v {
				why = "lies past the layout's coordinates"
			}
			return failf("L(A(%d)) = L(%d) = %d %s", i, v, j, why).at(i, j, i)
		}
	}
	return nil
}

// injective reports whether no two coordinates have the same offset.
func (f *fn) injective() bool {
	seen := make(map[int64]bool, f.n)
	for i := range f.n {
		v := f.at(i)
		if seen[v] {
			return false
		}
		seen[v] = true
	}
	return true
}

// Nullspace lists the coordinates that stride-0 modes send to 0. A swizzle leaves 0 in place.
func Nullspace(l Layout) (Layout, error) {
	if e := bad(l); e != nil {
		return Layout{}, e.in("nullspace", l)
	}
	if !l.off.Is(0) { // then no coordinate of a stride-0 mode leads to 0
		return Layout{}, failf("the offset %s inside the swizzle must be 0", l.off).in("nullspace", l)
	}
	ms := flatModes(l.shape, l.stride)
	c := flatModes(l.shape, Compact(l.Shape()).stride)
	var out []mode
	for i, m := range ms {
		if m.d.Coef.Is(0) {
			out = append(out, c[i])
		}
	}
	r, e := settled(layoutOf(out), nil)
	return r, e.in("nullspace", l)
}
