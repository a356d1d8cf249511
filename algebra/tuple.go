package algebra

import (
	"github.com/gocute/gocute/algebra/sym"
)

// Shape is a hierarchical tuple of extents.
type Shape struct {
	n   node[sym.Expr]
	err error
}

// Stride is a hierarchical tuple of steps, congruent to a Shape.
type Stride struct {
	n   node[Step]
	err error
}

// Coord is a hierarchical tuple of indices and Underscores.
type Coord struct {
	n   node[index]
	err error
}

type index struct {
	e    sym.Expr
	free bool
}

type underscore struct{}

func (underscore) String() string { return "_" }

// Underscore keeps a mode whole: in a Coord it slices, in a Tiler it takes the mode as it is.
var Underscore = underscore{}

// expr converts what may stand for an integer.
func expr(x any) (sym.Expr, bool) {
	switch x := x.(type) {
	case int:
		return sym.Int(x), true
	case int64:
		return sym.Int(x), true
	case int32:
		return sym.Int(int64(x)), true
	case uint32:
		return sym.Int(int64(x)), true
	case sym.Expr:
		return x, true
	case *sym.Symbol:
		return sym.New(x), true
	}
	return sym.Expr{}, false
}

func build[T any](args []any, one func(any) (node[T], error)) (node[T], error) {
	sub := make([]node[T], len(args))
	for i, a := range args {
		n, err := one(a)
		if err != nil {
			return node[T]{}, err
		}
		sub[i] = n
	}
	return node[T]{sub: sub}, nil
}

func shapeNode(x any) (node[sym.Expr], error) {
	if s, ok := x.(Shape); ok {
		return s.n, s.err
	}
	if e, ok := expr(x); ok {
		return leafOf(e), nil
	}
	return node[sym.Expr]{}, argError("S", x)
}

func strideNode(x any) (node[Step], error) {
	switch x := x.(type) {
	case Stride:
		return x.n, x.err
	case Step:
		return leafOf(x.norm()), nil
	}
	if e, ok := expr(x); ok {
		return leafOf(Step{Coef: e}), nil
	}
	return node[Step]{}, argError("D", x)
}

func coordNode(x any) (node[index], error) {
	switch x := x.(type) {
	case Coord:
		return x.n, x.err
	case underscore:
		return leafOf(index{free: true}), nil
	}
	if e, ok := expr(x); ok {
		return leafOf(index{e: e}), nil
	}
	return node[index]{}, argError("C", x)
}

// S is the tuple of extents: S(4, S(2, k)) is (4,(2,k)), and S(8) is (8). Its arguments are ints, int64s,
// sym.Exprs, *sym.Symbols and Shapes.
func S(modes ...any) Shape {
	n, err := build(modes, shapeNode)
	return Shape{n, err}
}

// Extent is a single extent, which prints without parentheses.
func Extent(x any) Shape {
	n, err := shapeNode(x)
	return Shape{n, err}
}

// D is the tuple of steps: D(1, D(E(0), k)). Its arguments are ints, int64s, sym.Exprs, *sym.Symbols,
// Steps and Strides.
func D(modes ...any) Stride {
	n, err := build(modes, strideNode)
	return Stride{n, err}
}

// StrideOf is a single step, which prints without parentheses.
func StrideOf(x any) Stride {
	n, err := strideNode(x)
	return Stride{n, err}
}

// C is the tuple of indices: C(i, C(Underscore, 3)). Its arguments are ints, int64s, sym.Exprs,
// *sym.Symbols, Underscore and Coords.
func C(modes ...any) Coord {
	n, err := build(modes, coordNode)
	return Coord{n, err}
}

// CoordOf is a single index, or Underscore.
func CoordOf(x any) Coord {
	n, err := coordNode(x)
	return Coord{n, err}
}

// Err is the error of a wrong argument to the constructor, or nil.
func (s Shape) Err() error { return s.err }

// IsLeaf reports whether s is one extent rather than a tuple.
func (s Shape) IsLeaf() bool { return s.n.isLeaf() }

// Rank is the number of modes; one extent has rank 1.
func (s Shape) Rank() int { return s.n.rank() }

// Depth is the depth of nesting; one extent has depth 0.
func (s Shape) Depth() int { return s.n.depth() }

// Mode is the i-th mode, 0 <= i < Rank. One extent is its own mode 0.
func (s Shape) Mode(i int) Shape {
	n, ok := s.n.path([]int{i})
	if !ok && s.err == nil {
		return Shape{err: failf("there is no mode %d", i).in("mode", s)}
	}
	return Shape{n, s.err}
}

// Leaf is the extent that a leaf consists of (for a tuple its Size).
func (s Shape) Leaf() sym.Expr { return productOf(s.n) }

// Leaves are the extents from left to right.
func (s Shape) Leaves() []sym.Expr { return s.n.leaves() }

// Flatten is the flat tuple of the extents; one extent stays one.
func (s Shape) Flatten() Shape { return Shape{s.n.flat(), s.err} }

// Size is the product of all extents; where that does not fit 63 bits it is TooLarge.
func (s Shape) Size() sym.Expr { return productOf(s.n) }

// IntSize is the product of all extents, if it is a constant of 63 bits.
func (s Shape) IntSize() (int64, bool) { return productOf(s.n).IsConst() }

// IsStatic reports whether every extent is a constant.
func (s Shape) IsStatic() bool { return staticShape(s.n) }

// Equal reports whether both have the same profile and extents.
func (s Shape) Equal(t Shape) bool { return equalNodes(s.n, t.n, sym.Expr.Equal) }

// String is CuTe's text form: (4,(2,K)).
func (s Shape) String() string {
	if s.err != nil {
		return "<" + s.err.Error() + ">"
	}
	return nodeText(s.n, exprText)
}

// Err is the error of a wrong argument to the constructor, or nil.
func (d Stride) Err() error { return d.err }

// IsLeaf reports whether d is one step rather than a tuple.
func (d Stride) IsLeaf() bool { return d.n.isLeaf() }

// Rank is the number of modes; one step has rank 1.
func (d Stride) Rank() int { return d.n.rank() }

// Depth is the depth of nesting; one step has depth 0.
func (d Stride) Depth() int { return d.n.depth() }

// Mode is the i-th mode. One step is its own mode 0.
func (d Stride) Mode(i int) Stride {
	n, ok := d.n.path([]int{i})
	if !ok && d.err == nil {
		return Stride{err: failf("there is no mode %d", i).in("mode", d)}
	}
	return Stride{n, d.err}
}

// Leaves are the steps from left to right.
func (d Stride) Leaves() []Step { return d.n.leaves() }

// Flatten is the flat tuple of the steps; one step stays one.
func (d Stride) Flatten() Stride { return Stride{d.n.flat(), d.err} }

// Equal reports whether both have the same profile and steps.
func (d Stride) Equal(t Stride) bool { return equalNodes(d.n, t.n, Step.Equal) }

// String is CuTe's text form: (1,(1@0,K)).
func (d Stride) String() string {
	if d.err != nil {
		return "<" + d.err.Error() + ">"
	}
	return nodeText(d.n, Step.String)
}

// Err is the error of a wrong argument to the constructor, or nil.
func (c Coord) Err() error { return c.err }

// IsLeaf reports whether c is one index rather than a tuple.
func (c Coord) IsLeaf() bool { return c.n.isLeaf() }

// Rank is the number of modes; one index has rank 1.
func (c Coord) Rank() int { return c.n.rank() }

// Depth is the depth of nesting; one index has depth 0.
func (c Coord) Depth() int { return c.n.depth() }

// Mode is the i-th mode. One index is its own mode 0.
func (c Coord) Mode(i int) Coord {
	n, ok := c.n.path([]int{i})
	if !ok && c.err == nil {
		return Coord{err: failf("there is no mode %d", i).in("mode", c)}
	}
	return Coord{n, c.err}
}

// Leaves are the indices from left to right, with whether each is an Underscore.
func (c Coord) Leaves() (indices []sym.Expr, free []bool) {
	for _, l := range c.n.leaves() {
		indices, free = append(indices, l.e), append(free, l.free)
	}
	return indices, free
}

// Flatten is the flat tuple of the indices; one index stays one.
func (c Coord) Flatten() Coord { return Coord{c.n.flat(), c.err} }

// Equal reports whether both have the same profile and indices.
func (c Coord) Equal(t Coord) bool {
	return equalNodes(c.n, t.n, func(a, b index) bool { return a.free == b.free && a.e.Equal(b.e) })
}

// String is CuTe's text form: (i,(_,3)).
func (c Coord) String() string {
	if c.err != nil {
		return "<" + c.err.Error() + ">"
	}
	return nodeText(c.n, func(i index) string {
		if i.free {
			return "_"
		}
		return exprText(i.e)
	})
}
