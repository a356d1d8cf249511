package dsl

import (
	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/algebra/sym"
)

// Layout is a layout that a user wrote. A mistake in it is reported where it is used.
type Layout struct {
	l   algebra.Layout
	err error
}

// Algebra returns the layout for use with package algebra.
func (l Layout) Algebra() (algebra.Layout, error) {
	if l.err == nil {
		l.err = l.l.Err()
	}
	return l.l, l.err
}

// String is CuTe's text form, shape:stride.
func (l Layout) String() string {
	if _, err := l.Algebra(); err != nil {
		return "(invalid layout)"
	}
	return l.l.String()
}

// Nest groups modes: Shape(Nest(2, 4), 8) is ((2,4),8).
func Nest(modes ...any) Group { return Group{modes} }

// Group is a nested mode, made by Nest.
type Group struct{ modes []any }

func plain(args []any) ([]any, error) {
	out := make([]any, len(args))
	for i, a := range args {
		if g, ok := a.(Group); ok {
			inner, err := plain(g.modes)
			if err != nil {
				return nil, err
			}
			out[i] = inner
			continue
		}
		e, err := toExpr(a)
		if err != nil {
			return nil, err
		}
		out[i] = e
	}
	return out, nil
}

func shapeOf(modes []any) algebra.Shape {
	return algebra.S(nested(modes, func(x []any) any { return algebra.S(x...) })...)
}

func strideOf(modes []any) algebra.Stride {
	return algebra.D(nested(modes, func(x []any) any { return algebra.D(x...) })...)
}

func nested(modes []any, group func([]any) any) []any {
	out := make([]any, len(modes))
	for i, m := range modes {
		if g, ok := m.([]any); ok {
			out[i] = group(nested(g, group))
		} else {
			out[i] = m
		}
	}
	return out
}

// Shape is the compact layout of a shape, its first mode fastest. Modes are ints, Exprs or Nests.
func Shape(modes ...any) Layout {
	ms, err := plain(modes)
	if err != nil {
		return Layout{err: err}
	}
	return Layout{l: algebra.Compact(shapeOf(ms))}
}

// Strides replaces the layout's strides; they must have the shape's profile.
func (l Layout) Strides(strides ...any) Layout {
	if l.err != nil {
		return l
	}
	ds, err := plain(strides)
	if err != nil {
		return Layout{err: err}
	}
	out, err := algebra.NewLayout(l.l.Shape(), strideOf(ds))
	return Layout{l: out, err: err}
}

// ParseLayout reads CuTe's text form, such as "((1,4),(4,8)):((128,8),(32,1))".
func ParseLayout(text string) Layout {
	l, err := algebra.Parse(text)
	return Layout{l: l, err: err}
}

// Swizzle applies Sw<b,m,s> to the layout's offsets: bits [m+s,m+s+b) are xored into bits [m,m+b).
// That of a swizzled layout merges with it, or is refused.
func Swizzle(b, m, s int, l Layout) Layout {
	if _, err := l.Algebra(); err != nil {
		return l
	}
	w := algebra.Swizzle{B: b, M: m, S: s}
	if l.l.IsSwizzled() { // both apply
		var err error
		if w, err = algebra.ComposeSwizzle(w, l.l.Swizzle()); err != nil {
			return Layout{err: err}
		}
	}
	out := l.l.WithSwizzle(w, l.l.Offset())
	return Layout{l: out, err: out.Err()}
}

// TileToShape repeats a layout until it has the given shape, first mode first.
func TileToShape(l Layout, shape ...any) Layout {
	if _, err := l.Algebra(); err != nil {
		return l
	}
	ms, err := plain(shape)
	if err != nil {
		return Layout{err: err}
	}
	for l.l.Rank() < len(ms) { // a block of rank 2 repeats along further modes
		if l.l, err = algebra.AppendTo(l.l, len(ms), algebra.MustParse("1:0")); err != nil {
			return Layout{err: err}
		}
	}
	out, err := algebra.TileToShape(l.l, shapeOf(ms))
	return Layout{l: out, err: err}
}

// Tiler is a tile by modes.
type Tiler struct {
	modes []any // int64, algebra.Layout or algebra.Underscore
	err   error
}

// Tile makes a tile; its modes are ints, Layouts or All.
func Tile(modes ...any) Tiler {
	t := Tiler{}
	for _, m := range modes {
		switch m := m.(type) {
		case all:
			t.modes = append(t.modes, algebra.Underscore)
		case Layout:
			l, err := m.Algebra()
			if err != nil {
				t.err = err
			}
			t.modes = append(t.modes, l)
		default:
			e, err := toExpr(m)
			n, isConst := e.IsConst()
			if err != nil {
				t.err = err
			} else if !isConst || n < 1 {
				t.err = errTile(e)
			}
			t.modes = append(t.modes, n)
		}
	}
	return t
}

type errTile sym.Expr

func (e errTile) Error() string {
	return "a tile expects positive constants, layouts or All, but got " + sym.Expr(e).String()
}

type all struct{}

// All keeps a whole mode, as _ does in CuTe.
var All all
