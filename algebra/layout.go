package algebra

import (
	"strings"

	"github.com/gocute/gocute/algebra/sym"
)

// Layout maps coordinates of its shape to offsets: coordinate times stride, and, if it is swizzled,
// Sw(offset + that). Layouts are values and immutable.
type Layout struct {
	shape  node[sym.Expr]
	stride node[Step]
	sw     Swizzle  // B = 0: not swizzled
	off    sym.Expr // added before the swizzle
	err    error
}

// NewLayout pairs a shape with a stride of the same profile.
func NewLayout(shape Shape, stride Stride) (Layout, error) {
	if e := bad(shape, stride); e != nil {
		return Layout{}, e.in("layout", shape, stride)
	}
	if !sameProfile(shape.n, stride.n) {
		return Layout{}, failf("shape %s and stride %s do not have the same profile", shape, stride).in("layout", shape, stride)
	}
	return plain(shape.n, stride.n), nil
}

// MustLayout is NewLayout for literals: it panics on an error.
func MustLayout(shape Shape, stride Stride) Layout {
	l, err := NewLayout(shape, stride)
	if err != nil {
		panic(err)
	}
	return l
}

func plain(shape node[sym.Expr], stride node[Step]) Layout {
	return Layout{shape: shape, stride: stride}
}

// rewrap puts l's swizzle around another inner layout.
func (l Layout) rewrap(inner Layout) Layout {
	inner.sw, inner.off = l.sw, l.off
	return inner
}

var unit = plain(leafOf(sym.Int(1)), leafOf(Step{})) // 1:0

// Compact is the layout of s in which the left mode varies fastest (LayoutLeft); extent 1 gets stride 0.
func Compact(s Shape) Layout {
	cur := sym.Int(1)
	return compact(s, compactLeft(s.n, &cur))
}

// CompactRight is the layout of s in which the right mode varies fastest (LayoutRight).
func CompactRight(s Shape) Layout {
	cur := sym.Int(1)
	return compact(s, compactRight(s.n, &cur))
}

// compact carries an error if the strides of a shape do not fit.
func compact(s Shape, d node[Step]) Layout {
	l := Layout{shape: s.n, stride: d, err: s.err}
	if l.err == nil && strideTooLarge(&d) {
		l.err = failf("a stride%s", beyond).in("layout", s)
	}
	return l
}

func compactLeaf(s sym.Expr, cur *sym.Expr) node[Step] {
	if s.Is(1) {
		return leafOf(Step{})
	}
	d := *cur
	*cur = d.Mul(s)
	return leafOf(Step{Coef: d})
}

func compactLeft(s node[sym.Expr], cur *sym.Expr) node[Step] {
	if s.isLeaf() {
		return compactLeaf(s.v, cur)
	}
	sub := make([]node[Step], len(s.sub))
	for i := range s.sub {
		sub[i] = compactLeft(s.sub[i], cur)
	}
	return node[Step]{sub: sub}
}

func compactRight(s node[sym.Expr], cur *sym.Expr) node[Step] {
	if s.isLeaf() {
		return compactLeaf(s.v, cur)
	}
	sub := make([]node[Step], len(s.sub))
	for i := len(s.sub) - 1; i >= 0; i-- {
		sub[i] = compactRight(s.sub[i], cur)
	}
	return node[Step]{sub: sub}
}

// Identity maps every coordinate of s to itself: its strides are the basis, (M,K):(1@0,1@1). Paths follow
// the nesting of s.
func Identity(s Shape) Layout {
	return Layout{shape: s.n, stride: basisLike(s.n, nil), err: s.err}
}

func basisLike(s node[sym.Expr], path []int) node[Step] {
	if s.isLeaf() {
		if len(path) == 0 {
			return leafOf(Step{Coef: sym.Int(1)})
		}
		return leafOf(E(path...))
	}
	sub := make([]node[Step], len(s.sub))
	for i := range s.sub {
		sub[i] = basisLike(s.sub[i], append(path[:len(path):len(path)], i))
	}
	return node[Step]{sub: sub}
}

// Err is the error of a wrong argument to the constructor of l's shape, or nil.
func (l Layout) Err() error { return l.err }

// Shape is the shape.
func (l Layout) Shape() Shape { return Shape{l.shape, l.err} }

// Stride is the stride (of the inner layout, if l is swizzled).
func (l Layout) Stride() Stride { return Stride{l.stride, l.err} }

// Rank is the number of modes.
func (l Layout) Rank() int { return l.shape.rank() }

// Depth is the depth of nesting; 8:1 has depth 0.
func (l Layout) Depth() int { return l.shape.depth() }

// Size is the number of coordinates; where that does not fit 63 bits it is TooLarge.
func (l Layout) Size() sym.Expr { return productOf(l.shape) }

// IntSize is the number of coordinates, if it is a constant of 63 bits.
func (l Layout) IntSize() (int64, bool) { return productOf(l.shape).IsConst() }

// IsStatic reports whether every extent, stride and offset is a constant and no stride has a basis.
func (l Layout) IsStatic() bool {
	_, ok := l.off.IsConst()
	return ok && staticShape(l.shape) && staticStride(l.stride)
}

// HasBasis reports whether a stride has a basis: l yields coordinates rather than offsets.
func (l Layout) HasBasis() bool {
	for _, d := range l.stride.leaves() {
		if !d.IsPlain() {
			return true
		}
	}
	return false
}

// IsSwizzled reports whether l has a swizzle.
func (l Layout) IsSwizzled() bool { return l.sw.B != 0 }

// Swizzle is the swizzle; B = 0 if there is none.
func (l Layout) Swizzle() Swizzle { return l.sw }

// Offset is what is added before the swizzle.
func (l Layout) Offset() sym.Expr { return l.off }

// Plain is the layout inside the swizzle, without its offset.
func (l Layout) Plain() Layout { return Layout{shape: l.shape, stride: l.stride, err: l.err} }

// WithSwizzle is Sw(offset + l(c)); the swizzle and offset that l had are replaced.
func (l Layout) WithSwizzle(sw Swizzle, offset sym.Expr) Layout {
	if err := sw.check(); err != nil && l.err == nil {
		l.err = err.in("swizzle", sw)
	}
	l.sw, l.off = sw, offset
	if sw.B == 0 {
		l.sw = Swizzle{}
		if !offset.Is(0) && l.err == nil {
			l.err = failf("the offset %s has no swizzle to stand in", offset).in("swizzle", sw)
		}
	}
	return l
}

// Equal reports whether both have the same shape, strides, swizzle and offset.
func (l Layout) Equal(m Layout) bool {
	return l.sw == m.sw && l.off.Equal(m.off) &&
		equalNodes(l.shape, m.shape, sym.Expr.Equal) && equalNodes(l.stride, m.stride, Step.Equal)
}

// String is CuTe's text form.
func (l Layout) String() string {
	if l.err != nil {
		return "<" + l.err.Error() + ">"
	}
	var b strings.Builder
	if l.sw.B != 0 {
		b.WriteString(l.sw.String() + " o " + exprText(l.off) + " o ")
	}
	writeNode(&b, l.shape, exprText)
	b.WriteByte(':')
	writeNode(&b, l.stride, Step.String)
	return b.String()
}

// Mode is the sub-layout that path leads to.
func (l Layout) Mode(path ...int) Layout {
	s, ok := l.shape.path(path)
	d, _ := l.stride.path(path)
	if l.err == nil && !ok {
		return Layout{err: failf("there is no mode %v", path).in("layout", l)}
	}
	return Layout{shape: s, stride: d, sw: l.sw, off: l.off, err: l.err}
}

// mode is one flat mode of a layout.
type mode struct {
	s sym.Expr
	d Step
}

// flatModes are the leaves of l's inner layout.
func flatModes(shape node[sym.Expr], stride node[Step]) []mode {
	s := shape.leaves()
	d := stride.leaves()
	out := make([]mode, len(s))
	for i := range s {
		out[i] = mode{s[i], d[i]}
	}
	return out
}

// layoutOf makes a depth-1 layout of modes: 1:0 of none, and an integer layout of one.
func layoutOf(ms []mode) Layout {
	switch len(ms) {
	case 0:
		return unit
	case 1:
		return plain(leafOf(ms[0].s), leafOf(ms[0].d))
	}
	s, d := make([]node[sym.Expr], len(ms)), make([]node[Step], len(ms))
	for i, m := range ms {
		s[i].v, d[i].v = m.s, m.d
	}
	return plain(tupleOf(s...), tupleOf(d...))
}
