package algebra

import (
	"slices"

	"github.com/gocute/gocute/algebra/sym"
)

// Upcast sees l in units of n elements: the stride-1 modes shrink by n and the other strides divide by n.
// Every unit must be filled.
func Upcast(l Layout, n int64) (Layout, error) {
	if e := bad(l); e != nil {
		return Layout{}, e.in("upcast", l, n)
	}
	r, e := settled(upcast(l, n, false))
	return r, e.in("upcast", l, n)
}

// UpcastCeil is Upcast where the last unit of a mode may be filled in part: 4:1 by 1024 is 1:1, its Extent 4.
func UpcastCeil(l Layout, n int64) (Cover, error) {
	if e := bad(l); e != nil {
		return Cover{}, e.in("upcast_ceil", l, n)
	}
	r, e := settled(upcast(l, n, true))
	if e != nil {
		return Cover{}, e.in("upcast_ceil", l, n)
	}
	return Cover{r, l.Shape()}, nil
}

// maxFactor bounds how many elements a cast joins or splits.
const maxFactor = 1 << 24

func upcast(l Layout, n int64, ceil bool) (Layout, *Error) {
	if n < 1 || n > maxFactor {
		return Layout{}, failf("%d must be between 1 and %d", n, int64(maxFactor))
	}
	if n == 1 {
		return l, nil
	}
	w, off, e := upSwizzle(l, n)
	if e != nil {
		return Layout{}, e
	}
	ms := flatModes(l.shape, l.stride)
	ext, ds := make([]sym.Expr, len(ms)), make([]Step, len(ms))
	fs := make([]int64, len(ms))
	for i, m := range ms {
		if ext[i], ds[i], fs[i], e = upcastLeaf(m, n, ceil); e != nil {
			return Layout{}, e
		}
	}
	inner := plain(like(l.shape, ext), like(l.stride, ds))
	if e := floors(ms, fs, n, ceil); e != nil {
		return Layout{}, e
	}
	if w.B == 0 {
		if !off.Is(0) {
			return Layout{}, failf("the offset %s stays when the swizzle is gone", off)
		}
		return inner, nil
	}
	return inner.WithSwizzle(w, off), nil
}

// upcastLeaf is CuTe's rule for s:d.
func upcastLeaf(m mode, n int64, ceil bool) (sym.Expr, Step, int64, *Error) {
	d, ok := m.d.Coef.IsConst()
	if !ok {
		if !m.d.Coef.DivisibleBy(n) {
			return m.s, m.d, 1, failf("stride %s is not known to be a multiple of %d", m.d, n).hint("state the fact %s %% %d == 0", m.d.Coef, n)
		}
		return m.s, Step{m.d.Coef.FloorDiv(sym.Int(n)), m.d.Basis}, 1, nil
	}
	abs := max(d, -d)
	switch {
	case d%n == 0:
		return m.s, Step{sym.Int(d / n), m.d.Basis}, 1, nil
	case n%abs != 0:
		return m.s, m.d, 1, failf("stride %d and %d must divide one another", d, n)
	}
	f := n / abs
	unit := Step{sym.Int(d / abs), m.d.Basis}
	s, ok := m.s.IsConst()
	if !ok {
		if !ceil && !m.s.DivisibleBy(f) {
			return m.s, m.d, 1, failf("extent %s is not known to be a multiple of %d", m.s, f).hint("state the fact %s %% %d == 0, or use the Ceil form", m.s, f)
		}
		return ceilOf(m.s, f), unit, f, nil
	}
	if !ceil && s%f != 0 && s > f {
		return m.s, m.d, 1, failf("the last vector of %d:%d by %d holds only %d of %d elements", s, d, n, s%f, f).hint("extents %d and %d would do; the Ceil form rounds up", s-s%f, s-s%f+f)
	}
	return sym.Int(ceilDiv(s, f)), unit, f, nil
}

// ceilOf is ceil(e / n), the plain quotient where n is known to divide e.
func ceilOf(e sym.Expr, n int64) sym.Expr {
	if e.DivisibleBy(n) {
		return e.FloorDiv(sym.Int(n))
	}
	return e.CeilDiv(sym.Int(n))
}

// upSwizzle drops the bits of a swizzle that lie inside one unit of n elements.
func upSwizzle(l Layout, n int64) (Swizzle, sym.Expr, *Error) {
	if l.sw.B == 0 {
		return Swizzle{}, sym.Expr{}, nil
	}
	k, ok := log2(n)
	if !ok {
		return Swizzle{}, l.off, failf("%d must be a power of two for a swizzled layout", n)
	}
	if !l.off.DivisibleBy(n) {
		return Swizzle{}, l.off, failf("the offset %s inside the swizzle is not known to be a multiple of %d", l.off, n)
	}
	w := l.sw
	if w.M -= k; w.M < 0 {
		if w.S < 0 {
			return Swizzle{}, l.off, failf("%s reads bits inside a unit of %d elements", l.sw, n)
		}
		w.B, w.M = max(w.B+w.M, 0), 0
	}
	return w, l.off.FloorDiv(sym.Int(n)), nil
}

func log2(n int64) (int, bool) {
	k := 0
	for n > 1 {
		if n&1 != 0 {
			return 0, false
		}
		n, k = n>>1, k+1
	}
	return k, true
}

// floors checks that a unit's coordinate leads to floor(l/n): what the leaves of one unit add up to must stay
// below n, and, unless rounding up was asked for, reach every multiple of their common divisor.
func floors(ms []mode, fs []int64, n int64, ceil bool) *Error {
	var inside []mode // the leaves that lie inside a unit, cut to it
	g, reach, count := n, int64(0), int64(1)
	for i, m := range ms {
		s, ok := m.s.IsConst()
		if !ok {
			s = fs[i]
		}
		if s = min(s, fs[i]); s == 1 {
			continue
		}
		d, _ := m.d.Coef.IsConst()
		if d < 0 {
			return failf("the negative stride %d lies inside a unit of %d", d, n)
		}
		inside = append(inside, mode{sym.Int(s), Step{Coef: sym.Int(d)}})
		g, reach, count = gcd(g, d), reach+(s-1)*d, min(count*s, n+1)
	}
	if reach >= n {
		return failf("elements of one unit lie %d apart, which is not below %d", reach, n)
	}
	full := n / g
	if ceil || len(inside) == 0 {
		return nil
	}
	if count == full { // offsets may repeat
		f, _ := intFn(layoutOf(inside))
		count = distinct(f)
	}
	if count != full {
		return failf("a unit of %d holds %d of %d elements", n, count, full).hint("the Ceil form rounds up")
	}
	return nil
}

// distinct counts the offsets of f.
func distinct(f *fn) int64 {
	all := f.table(f.n)
	slices.Sort(all)
	return int64(len(slices.Compact(all)))
}

// Downcast sees l in units of 1/n element: the stride-1 mode grows by n and the other strides multiply by n.
// There must be exactly one such mode.
func Downcast(l Layout, n int64) (Layout, error) {
	if e := bad(l); e != nil {
		return Layout{}, e.in("downcast", l, n)
	}
	r, e := settled(downcast(l, n))
	return r, e.in("downcast", l, n)
}

func downcast(l Layout, n int64) (Layout, *Error) {
	if n < 1 || n > maxFactor {
		return Layout{}, failf("%d must be between 1 and %d", n, int64(maxFactor))
	}
	if n == 1 {
		return l, nil
	}
	w := l.sw
	if w.B != 0 {
		k, ok := log2(n)
		if !ok {
			return Layout{}, failf("%d must be a power of two for a swizzled layout", n)
		}
		w.M += k
	}
	ms := flatModes(l.shape, l.stride)
	ext, ds := make([]sym.Expr, len(ms)), make([]Step, len(ms))
	ones, f := 0, sym.Int(n)
	for i, m := range ms {
		if m.d.Coef.Is(1) {
			ext[i], ds[i] = m.s.Mul(f), m.d
			ones++
			continue
		}
		var e *Error
		ext[i] = m.s
		if ds[i], e = scaled(m.d, n); e != nil {
			return Layout{}, e
		}
	}
	if ones == 0 {
		return Layout{}, failf("no mode has stride 1, so the parts of an element are not adjacent to anything")
	}
	if ones > 1 {
		return Layout{}, failf("%d modes have stride 1, and each would grow by %d", ones, n)
	}
	r := plain(like(l.shape, ext), like(l.stride, ds))
	if w.B == 0 {
		return r, nil
	}
	return r.WithSwizzle(w, l.off.Mul(f)), nil
}

// Recast sees a layout of elements of oldBits as one of newBits: an upcast, a downcast, or both.
func Recast(l Layout, oldBits, newBits int64) (Layout, error) {
	if e := bad(l); e != nil {
		return Layout{}, e.in("recast_layout", l, oldBits, newBits)
	}
	r, e := settled(recast(l, oldBits, newBits, false))
	return r, e.in("recast_layout", l, oldBits, newBits)
}

// RecastCeil is Recast whose upcast rounds up.
func RecastCeil(l Layout, oldBits, newBits int64) (Cover, error) {
	if e := bad(l); e != nil {
		return Cover{}, e.in("recast_layout_ceil", l, oldBits, newBits)
	}
	r, e := settled(recast(l, oldBits, newBits, true))
	if e != nil {
		return Cover{}, e.in("recast_layout_ceil", l, oldBits, newBits)
	}
	return Cover{r, l.Shape()}, nil
}

func recast(l Layout, oldBits, newBits int64, ceil bool) (Layout, *Error) {
	if oldBits < 1 || newBits < 1 {
		return Layout{}, failf("%d and %d bits must be at least 1", oldBits, newBits)
	}
	g := gcd(oldBits, newBits)
	l, e := upcast(l, newBits/g, ceil)
	if e != nil {
		return Layout{}, e
	}
	return downcast(l, oldBits/g)
}
