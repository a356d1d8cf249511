package calc

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/algebra/sym"
)

// Value is a result: a sym.Expr, an algebra.Step, Shape, Stride, Coord, Layout, Arith or Swizzle, Underscore,
// or one of Tuple, Slice, Cover, Bool and Picture. Its String is its text form, in one line unless it is a Picture.
type Value = fmt.Stringer

// Tuple is a tuple of values, such as a tiler by mode.
type Tuple []Value

// String is (a,b,…).
func (t Tuple) String() string {
	var b strings.Builder
	b.WriteByte('(')
	for i, v := range t {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(v.String())
	}
	b.WriteByte(')')
	return b.String()
}

// Slice is what a slice keeps, and the offset of the fixed coordinates.
type Slice struct {
	Layout algebra.Layout
	Offset algebra.Arith
}

// String is LAYOUT + OFFSET.
func (s Slice) String() string { return s.Layout.String() + " + " + s.Offset.String() }

// Cover is a layout that covers another, rounding up. It can stand wherever a layout can.
type Cover struct{ algebra.Cover }

// String is LAYOUT covers EXTENT.
func (c Cover) String() string { return c.Layout.String() + " covers " + c.Extent.String() }

// Bool is the result of a relation.
type Bool bool

// String is true or false.
func (b Bool) String() string { return fmt.Sprint(bool(b)) }

// Picture is a layout drawn in text, on several lines.
type Picture string

// String is the picture.
func (p Picture) String() string { return string(p) }

// beyond reports whether a value holds an integer that does not fit 63 bits.
func beyond(v Value) bool {
	tooLarge := func(e sym.Expr) bool { return e.TooLarge() }
	switch v := v.(type) {
	case sym.Expr:
		return v.TooLarge()
	case algebra.Step:
		return v.Coef.TooLarge()
	case algebra.Shape:
		return slices.ContainsFunc(v.Leaves(), tooLarge)
	case algebra.Stride:
		return slices.ContainsFunc(v.Leaves(), func(d algebra.Step) bool { return d.Coef.TooLarge() })
	case algebra.Coord:
		es, _ := v.Leaves()
		return slices.ContainsFunc(es, tooLarge)
	case algebra.Layout:
		return v.Offset().TooLarge() || beyond(v.Shape()) || beyond(v.Stride())
	case algebra.Arith:
		found := false
		v.Map(func(e sym.Expr) sym.Expr { found = found || e.TooLarge(); return e })
		return found
	case Slice:
		return beyond(v.Layout) || beyond(v.Offset)
	case Cover:
		return beyond(v.Layout) || beyond(v.Extent)
	case Tuple:
		return slices.ContainsFunc(v, beyond)
	}
	return false
}

// describe names the kind of a value, for errors.
func describe(v Value) string {
	switch v := v.(type) {
	case sym.Expr:
		return "the integer " + v.String()
	case algebra.Step:
		return "the stride " + v.String()
	case algebra.Layout, Cover:
		return "the layout " + v.String()
	case Slice:
		return "the slice " + v.String()
	case algebra.Swizzle:
		return "the swizzle " + v.String()
	case Tuple, algebra.Shape, algebra.Stride, algebra.Coord:
		return "the tuple " + v.String()
	case Picture:
		return "a picture"
	}
	return v.String()
}

// entries opens a tuple of any kind; ok is false for what is not a tuple.
func entries(v Value) (t Tuple, ok bool) {
	switch v := v.(type) {
	case Tuple:
		return v, true
	case algebra.Shape:
		if v.IsLeaf() {
			return nil, false
		}
		for i := range v.Rank() {
			t = append(t, single(v.Mode(i)))
		}
	case algebra.Stride:
		if v.IsLeaf() {
			return nil, false
		}
		for i := range v.Rank() {
			t = append(t, single(v.Mode(i)))
		}
	case algebra.Coord:
		if v.IsLeaf() {
			return nil, false
		}
		for i := range v.Rank() {
			t = append(t, single(v.Mode(i)))
		}
	default:
		return nil, false
	}
	return t, true
}

// single opens a shape, stride or coordinate that is one leaf.
func single(v Value) Value {
	switch x := v.(type) {
	case algebra.Shape:
		if x.IsLeaf() {
			return x.Leaf()
		}
	case algebra.Stride:
		if x.IsLeaf() {
			if s := x.Leaves()[0]; !s.IsPlain() {
				return s
			} else {
				return s.Coef
			}
		}
	case algebra.Coord:
		if x.IsLeaf() {
			if e, free := x.Leaves(); free[0] {
				return algebra.Underscore
			} else {
				return e[0]
			}
		}
	case Cover:
		return x.Layout
	}
	return v
}

// shapeOf turns an integer or a tuple of integers into a shape.
func shapeOf(v Value) (s algebra.Shape, ok bool) {
	switch x := single(v).(type) {
	case algebra.Shape:
		return x, true
	case sym.Expr:
		return algebra.Extent(x), true
	}
	t, ok := entries(v)
	if !ok {
		return s, false
	}
	args := make([]any, len(t))
	for i, x := range t {
		if e, isInt := x.(sym.Expr); isInt {
			args[i] = e
			continue
		}
		m, ok := shapeOf(x)
		if !ok {
			return s, false
		}
		args[i] = m
	}
	return algebra.S(args...), true
}

// strideOf turns a step or a tuple of steps into a stride.
func strideOf(v Value) (d algebra.Stride, ok bool) {
	switch x := single(v).(type) {
	case algebra.Stride:
		return x, true
	case sym.Expr, algebra.Step:
		return algebra.StrideOf(x), true
	}
	t, ok := entries(v)
	if !ok {
		return d, false
	}
	args := make([]any, len(t))
	for i, x := range t {
		m, ok := strideOf(x)
		if !ok {
			return d, false
		}
		args[i] = m
	}
	return algebra.D(args...), true
}

// coordOf turns an index, _ or a tuple of those into a coordinate.
func coordOf(v Value) (c algebra.Coord, ok bool) {
	switch x := single(v).(type) {
	case algebra.Coord:
		return x, true
	case sym.Expr:
		return algebra.CoordOf(x), true
	case algebra.Arith:
		p, err := algebra.ParseCoord(x.String())
		return p, err == nil
	}
	if v == Value(algebra.Underscore) {
		return algebra.CoordOf(algebra.Underscore), true
	}
	t, ok := entries(v)
	if !ok {
		return c, false
	}
	args := make([]any, len(t))
	for i, x := range t {
		m, ok := coordOf(x)
		if !ok {
			return c, false
		}
		args[i] = m
	}
	return algebra.C(args...), true
}

// tilerOf turns a layout, an integer, _ or a tuple of those into a tiler.
func tilerOf(v Value) (t algebra.Tiler, ok bool) {
	switch x := single(v).(type) {
	case algebra.Layout, algebra.Shape, sym.Expr:
		t = algebra.TileBy(x)
		return t, t.Err() == nil
	}
	if v == Value(algebra.Underscore) {
		return algebra.TileBy(algebra.Underscore), true
	}
	sub, ok := entries(v)
	if !ok {
		return t, false
	}
	args := make([]any, len(sub))
	for i, x := range sub {
		m, ok := tilerOf(x)
		if !ok {
			return t, false
		}
		args[i] = m
	}
	return algebra.T(args...), true
}
