package ir

import (
	"fmt"
	"slices"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// Space is a memory space.
type Space uint8

// The memory spaces of tensors.
const (
	Global Space = iota
	Shared
	Register
)

func (s Space) String() string { return [...]string{"global", "shared", "register"}[s] }

// Storage is what a tensor's elements live in.
type Storage struct {
	Name  string
	Space Space
	Elem  elem.Kind
	Param *cir.Param // of Global
	Count int64      // elements, of Shared and Register
	Align int        // bytes that the accesses made so far need the base to be a multiple of
	Over  *Storage   // of Shared: another array at whose start this one lies
	Alone bool       // of Shared: no other array may lie over it
}

// Bound says that a coordinate of the tensor's root must stay below an extent.
type Bound struct {
	Path   []int // of the basis, such as 0 for 1@0
	Extent sym.Expr
}

// Tensor is a view of a storage: element c lives at Swizzle(Offset + Layout(c)).
type Tensor struct {
	Name    string // as CuTe's code would call it: tAgA
	Base    string // without prefixes: A
	Storage *Storage
	Elem    elem.Kind      // of the view; differs from the storage's after Recast
	Layout  algebra.Layout // in elements of the view
	Swizzle algebra.Swizzle
	Offset  sym.Expr
	Bounds  []Bound        // of global tensors
	Ident   algebra.Layout // the same modes as Layout, by coordinates in the root
	Coord   algebra.Arith  // where Ident starts
	Inner   int            // leading modes that lie inside a tile: an index past them would be another tile's
	Values  *Provenance    // of register tensors: which values of a tile each thread holds
}

// Provenance says by which partition a fragment's values were numbered.
type Provenance struct {
	MMA     *TiledMMA
	Operand Operand
	Copy    *TiledCopy
	Side    Side
}

// Static returns an error unless all extents are known while generating.
func (t *Tensor) Static() error {
	if !t.Layout.Shape().IsStatic() {
		return fmt.Errorf("expects static extents, but %s has shape %s", t.Name, t.Layout.Shape())
	}
	return nil
}

// view applies one layout function to the elements' layout and to the identity beside it.
func (t *Tensor) view(name string, f func(algebra.Layout) (algebra.Layout, algebra.Arith, error)) (*Tensor, error) {
	out := *t
	out.Name = name
	l, off, err := f(t.Layout)
	if err != nil {
		return nil, err
	}
	out.Layout, out.Offset = l, t.Offset.Add(off.Get())
	if len(t.Bounds) > 0 {
		id, at, err := f(t.Ident)
		if err != nil {
			return nil, fmt.Errorf("coordinates of %s: %w", t.Name, err)
		}
		out.Ident, out.Coord = id, t.Coord.Add(at)
	}
	return &out, nil
}

// Subst replaces symbols in everything that the view depends on.
func (t *Tensor) Subst(value func(*sym.Symbol) (sym.Expr, bool)) (*Tensor, error) {
	out := *t
	var err error
	if out.Layout, err = substLayout(t.Layout, value); err != nil {
		return nil, err
	}
	out.Offset = t.Offset.Subst(value)
	if len(t.Bounds) == 0 {
		return &out, nil
	}
	out.Bounds = slices.Clone(t.Bounds)
	for i, b := range t.Bounds {
		out.Bounds[i].Extent = b.Extent.Subst(value)
	}
	out.Coord = t.Coord.Map(func(e sym.Expr) sym.Expr { return e.Subst(value) })
	out.Ident, err = substLayout(t.Ident, value)
	return &out, err
}

func substLayout(l algebra.Layout, value func(*sym.Symbol) (sym.Expr, bool)) (algebra.Layout, error) {
	return algebra.NewLayout(substShape(l.Shape(), value), substStride(l.Stride(), value))
}

func substShape(s algebra.Shape, value func(*sym.Symbol) (sym.Expr, bool)) algebra.Shape {
	if s.IsLeaf() {
		return algebra.Extent(s.Leaf().Subst(value))
	}
	modes := make([]any, s.Rank())
	for i := range modes {
		modes[i] = substShape(s.Mode(i), value)
	}
	return algebra.S(modes...)
}

func substStride(d algebra.Stride, value func(*sym.Symbol) (sym.Expr, bool)) algebra.Stride {
	if d.IsLeaf() {
		step := d.Leaves()[0]
		step.Coef = step.Coef.Subst(value)
		return algebra.StrideOf(step)
	}
	modes := make([]any, d.Rank())
	for i := range modes {
		modes[i] = substStride(d.Mode(i), value)
	}
	return algebra.D(modes...)
}

// At fixes the modes that the coordinate gives and keeps those that it leaves free. If that is none, the element is a view
// with one mode of one element.
func (t *Tensor) At(c algebra.Coord) (*Tensor, error) {
	out, err := t.view(t.Name, func(l algebra.Layout) (algebra.Layout, algebra.Arith, error) {
		if _, free := c.Leaves(); slices.Contains(free, true) {
			return algebra.Slice(l, c)
		}
		one, err := algebra.Append(l, algebra.Compact(algebra.S(1)).Mode(0))
		if err != nil {
			return algebra.Layout{}, algebra.Arith{}, err
		}
		var modes []any
		for i := range c.Rank() {
			modes = append(modes, c.Mode(i))
		}
		return algebra.Slice(one, algebra.C(append(modes, algebra.Underscore)...))
	})
	if err != nil {
		return nil, err
	}
	for i := range t.Inner {
		if _, free := c.Mode(i).Leaves(); len(free) == 1 && !free[0] {
			out.Inner--
		}
	}
	return out, nil
}

// LocalTile cuts the tensor into tiles that cover it and selects those at the coordinate (local_tile): the modes of
// the tile, then the modes that the coordinate leaves free. The true extents stay the tensor's own.
func (t *Tensor) LocalTile(name string, tile algebra.Tiler, rank int, coord []any) (*Tensor, error) {
	if rank > t.Layout.Rank() {
		return nil, fmt.Errorf("expects a tile of at most rank %d, that of %s, but got %s", t.Layout.Rank(), t.Name, tile)
	}
	for len(coord) < t.Layout.Rank() {
		coord = append(coord, algebra.Underscore)
	}
	if len(coord) > t.Layout.Rank() {
		return nil, fmt.Errorf("expects at most %d coordinates, one for each mode of %s, but got %d", t.Layout.Rank(), t.Name, len(coord))
	}
	free := make([]any, rank)
	for i := range free {
		free[i] = algebra.Underscore
	}
	out, err := t.view(name, func(l algebra.Layout) (algebra.Layout, algebra.Arith, error) {
		cover, err := algebra.ZippedDivideCeil(l, tile) // ((BLK_M,BLK_K),(m,k))
		if err != nil {
			return algebra.Layout{}, algebra.Arith{}, err
		}
		return algebra.Slice(cover.Layout, algebra.C(algebra.C(free...), algebra.C(coord...)))
	})
	if err == nil {
		out.Inner = rank
	}
	return out, err
}

// covers reports whether tiles may reach over the edges: where the true extents are known, what lies outside of them
// is never touched. Within a tile that is already cut there is no edge, but the next tile.
func (t *Tensor) covers() bool { return len(t.Bounds) > 0 && t.Inner == 0 }

// partitioned marks the modes of a thread's view: the values and, inside a tile, the repeats of the partition.
func (t *Tensor) partitioned(out *Tensor, err error) (*Tensor, error) {
	if err == nil {
		out.Inner = t.Inner + 1
	}
	return out, err
}

// Partition selects the thread's values on one side of a copy: ((AtomV,repeats),RestM,RestN,…).
func (t *Tensor) Partition(name string, c *TiledCopy, s Side, thread sym.Expr) (*Tensor, error) {
	if c.Elem != t.Elem {
		return nil, fmt.Errorf("expects elements of type %s, but %s has %s", c.Elem, t.Name, t.Elem)
	}
	rank := t.Layout.Rank() - c.TileShape.Rank() + 1
	rest := make([]any, c.TileShape.Rank()+rank-1)
	for i := range rest {
		rest[i] = algebra.Underscore
	}
	return t.partitioned(t.view(name, func(l algebra.Layout) (algebra.Layout, algebra.Arith, error) {
		div, err := c.Divided(l, s, t.covers())
		if err != nil {
			return div, algebra.Arith{}, err
		}
		return algebra.Slice(div, algebra.C(thread, algebra.Underscore, algebra.C(rest...)))
	}))
}

// PartitionMMA selects the thread's values of an operand: (MMA,MMA_I,MMA_J,…).
func (t *Tensor) PartitionMMA(name string, m *TiledMMA, o Operand, thread sym.Expr) (*Tensor, error) {
	if want := m.Elem(o); want != t.Elem {
		return nil, fmt.Errorf("expects elements of type %s, but %s has %s", want, t.Name, t.Elem)
	}
	return t.partitioned(t.view(name, func(l algebra.Layout) (algebra.Layout, algebra.Arith, error) {
		div, err := m.Divided(l, o, t.covers())
		if err != nil {
			return div, algebra.Arith{}, err
		}
		return m.Slice(div, o, thread, l.Rank())
	}))
}

// OperandLayout is the layout of an operand's fragment, from that of a thread's part of a tensor: accumulators are
// compact whatever the output's strides, A and B follow the tensor.
func OperandLayout(l algebra.Layout, o Operand) (algebra.Layout, error) {
	if o == C && l.Shape().IsStatic() {
		return algebra.Compact(l.Shape()), nil
	}
	return FragmentLayout(l)
}

// FragmentLayout is the layout of registers for the tensor's elements, each of its own where it has coordinates of its own.
func (t *Tensor) FragmentLayout() (algebra.Layout, error) {
	if len(t.Bounds) == 0 || !t.Layout.Shape().IsStatic() {
		return FragmentLayout(t.Layout)
	}
	modes := []algebra.Layout{algebra.Compact(t.Layout.Mode(0).Shape())}
	for i := 1; i < t.Layout.Rank(); i++ {
		modes = append(modes, t.Layout.Mode(i))
	}
	return FragmentLayout(algebra.Make(modes...))
}

// FragmentLayout is make_fragment_like: mode 0 compact and fastest, the other modes in the order of their
// strides, those that are not static last, from left to right.
func FragmentLayout(l algebra.Layout) (algebra.Layout, error) {
	if !l.Shape().IsStatic() {
		return algebra.Layout{}, fmt.Errorf("expects static extents for a register fragment, but got %s", l.Shape())
	}
	zeroed, err := algebra.FilterZeros(l.Mode(0))
	if err != nil {
		return algebra.Layout{}, err
	}
	first, err := algebra.NewLayout(l.Mode(0).Shape(), algebra.Compact(zeroed.Shape()).Stride())
	if err != nil || l.Rank() == 1 {
		return algebra.Make(first), err
	}
	rest := make([]algebra.Layout, 0, l.Rank()-1)
	for i := 1; i < l.Rank(); i++ {
		rest = append(rest, l.Mode(i))
	}
	all := algebra.Make(rest...)
	ordered, err := algebra.Ordered(all.Shape(), strideOrder(all))
	if err != nil {
		return algebra.Layout{}, err
	}
	return algebra.TiledProduct(first, algebra.TileBy(ordered))
}

// strideOrder gives each leaf its rank in the order of strides, in the profile of l's shape.
func strideOrder(l algebra.Layout) algebra.Shape {
	steps := l.Stride().Leaves()
	order := make([]int, len(steps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, okx := steps[a].IsConst()
		y, oky := steps[b].IsConst()
		switch {
		case okx && oky:
			return int(x - y)
		case okx:
			return -1
		case oky:
			return 1
		}
		return 0
	})
	rank := make([]int, len(steps))
	for r, i := range order {
		rank[i] = r
	}
	next := 0
	return sameProfile(l.Shape(), func() int { next++; return rank[next-1] })
}

func sameProfile(s algebra.Shape, leaf func() int) algebra.Shape {
	if s.IsLeaf() {
		return algebra.Extent(leaf())
	}
	modes := make([]any, s.Rank())
	for i := range modes {
		modes[i] = sameProfile(s.Mode(i), leaf)
	}
	return algebra.S(modes...)
}
