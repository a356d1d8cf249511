package ir

import (
	"fmt"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/elem"
)

// TiledCopy is a copy atom laid out over threads and values of a tile, without Go's types.
type TiledCopy struct {
	Row        *atoms.CopyRow
	Elem       elem.Kind
	Src        algebra.Layout // (thr,val) -> element of the atom, source side
	Dst        algebra.Layout // (thr,val) -> element of the atom, destination side
	Ref        algebra.Layout // (thr,val) -> element of the atom, reference side
	TV         algebra.Layout // (thr,val) of the reference -> tile
	Tiler      algebra.Tiler
	TileShape  algebra.Shape
	Within     algebra.Shape // the extents that the tile is a part of: the tile's own unless it has gaps
	NumThr     int64         // threads of the whole tiled copy
	AtomNumThr int64
	AtomNumVal int64  // reference values of one thread in one atom
	Letter     string // "X" for a copy that follows an MMA, else empty: names views as CuTe's code does
}

// Side is a side of a copy.
type Side uint8

// The sides of a copy.
const (
	Source Side = iota
	Destination
)

func (s Side) String() string { return [...]string{"source", "destination"}[s] }

// Atom returns the element layout of one side of the atom.
func (c *TiledCopy) Atom(s Side) algebra.Layout {
	if s == Source {
		return c.Src
	}
	return c.Dst
}

// newAtom casts an atom's bit layouts to layouts of elements.
func newAtom(row *atoms.CopyRow, e elem.Kind) (*TiledCopy, error) {
	if row == nil {
		return nil, fmt.Errorf("expects a copy atom, but got none (a width that no atom has?)")
	}
	if w := row.VectorBits; e.Bits() > w && !row.Chooses {
		return nil, fmt.Errorf("%s moves %d bits at a time, but an element of type %s has %d", row.Name, w, e, e.Bits())
	}
	if row.DstRegs.Count+row.SrcRegs.Count > 0 && e.Bits() > 32 {
		return nil, fmt.Errorf("%s fills registers of 32 bits, but an element of type %s has %d", row.Name, e, e.Bits())
	}
	if row.ElemBits != 0 && e.Bits() > row.ElemBits {
		return nil, fmt.Errorf("%s shuffles units of %d bits, but an element of type %s has %d", row.Name, row.ElemBits, e, e.Bits())
	}
	c := &TiledCopy{Row: row, Elem: e}
	for _, x := range []struct {
		bits string
		to   *algebra.Layout
	}{{row.SrcBits, &c.Src}, {row.DstBits, &c.Dst}, {row.RefBits, &c.Ref}} {
		l, err := algebra.Parse(x.bits)
		if err != nil {
			return nil, fmt.Errorf("internal error: %s: %w", row.Name, err)
		}
		if *x.to, err = algebra.Recast(l, 1, int64(e.Bits())); err != nil {
			return nil, fmt.Errorf("%s cannot move elements of type %s: %w", row.Name, e, err)
		}
	}
	c.AtomNumThr, c.AtomNumVal = sizeOf(c.Ref.Mode(0)), sizeOf(c.Ref.Mode(1))
	return c, nil
}

// sizeOf is the size of a static layout (0 if it is not static).
func sizeOf(l algebra.Layout) int64 { n, _ := l.IntSize(); return n }

// NewTiledCopy lays the atom's reference side out by a thread layout and a value layout, each from
// coordinates to indices (make_tiled_copy).
func NewTiledCopy(row *atoms.CopyRow, e elem.Kind, thr, val algebra.Layout) (*TiledCopy, error) {
	tv, tiler, err := thrVal(thr, val)
	if err != nil {
		return nil, err
	}
	return NewTiledCopyTV(row, e, tv, tiler)
}

// thrVal turns coordinate -> thread and coordinate -> value into (thread,value) -> coordinate and its tile.
func thrVal(thr, val algebra.Layout) (algebra.Layout, algebra.Shape, error) {
	none := algebra.Layout{}
	mn, err := algebra.RakedProduct(thr, val) // (M,N) -> thr + |thr|*val
	if err != nil {
		return none, algebra.Shape{}, err
	}
	inv, err := algebra.RightInverse(mn)
	if err != nil {
		return none, algebra.Shape{}, err
	}
	nt, nv := sizeOf(thr), sizeOf(val)
	if got := sizeOf(inv); got != nt*nv {
		return none, algebra.Shape{}, fmt.Errorf("thread layout %s and value layout %s should number %d threads x %d values = %d places one by one, but only %d of them are reached",
			thr, val, nt, nv, nt*nv, got)
	}
	tv, err := algebra.WithShape(inv, algebra.S(nt, nv)) // (thr,val) -> m + M*n
	if err != nil {
		return none, algebra.Shape{}, err
	}
	return tv, algebra.ProductEach(mn.Shape()), nil
}

// NewTiledCopyTV takes the reference's TV layout and the tile itself (make_tiled_copy_impl).
func NewTiledCopyTV(row *atoms.CopyRow, e elem.Kind, tv algebra.Layout, tile algebra.Shape) (*TiledCopy, error) {
	c, err := newAtom(row, e)
	if err != nil {
		return nil, err
	}
	if err := c.setTV(tv, algebra.TileBy(tile), tile); err != nil {
		return nil, err
	}
	return c, nil
}

// setTV takes the reference's TV layout, the tiler and its shape.
func (c *TiledCopy) setTV(tv algebra.Layout, tiler algebra.Tiler, tile algebra.Shape) error {
	if err := tv.Err(); err != nil {
		return err
	}
	if err := tile.Err(); err != nil {
		return err
	}
	if !tv.IsStatic() || !tile.IsStatic() {
		return fmt.Errorf("expects a static TV layout and tile, but got %s over %s", tv, tile)
	}
	if tv.Rank() != 2 {
		return fmt.Errorf("expects a TV layout of rank 2, (thr,val), but got %s", tv)
	}
	c.TV, c.TileShape, c.Tiler, c.Within = tv, tile, tiler, algebra.ProductEach(tile)
	c.NumThr = sizeOf(tv.Mode(0))
	nv := sizeOf(tv.Mode(1))
	if c.NumThr%c.AtomNumThr != 0 {
		return fmt.Errorf("%s works on groups of %d threads, which do not divide the %d threads of the layout", c.Row.Name, c.AtomNumThr, c.NumThr)
	}
	if nv%c.AtomNumVal != 0 {
		return fmt.Errorf("%s fills %d values of type %s per thread, which do not divide the %d values of the layout", c.Row.Name, c.AtomNumVal, c.Elem, nv)
	}
	return c.covers(tv, tile)
}

// covers checks that every coordinate of the tile belongs to some thread and value, each equally often.
func (c *TiledCopy) covers(tv algebra.Layout, tile algebra.Shape) error {
	size, _ := tile.IntSize()
	hits := make([]int, size)
	for i := range sizeOf(tv) {
		at := tv.AtInt(i)
		if at < 0 || at >= size {
			nt := c.NumThr
			return fmt.Errorf("TV layout %s puts thread %d, value %d at %d, outside the %d elements of the tile %s", tv, i%nt, i/nt, at, size, tile)
		}
		hits[at]++
	}
	missed, first := 0, -1
	for at, n := range hits {
		if n == 0 {
			if missed++; first < 0 {
				first = at
			}
		}
	}
	if missed > 0 {
		return fmt.Errorf("TV layout %s has %d threads x %d values = %d places, which cover %d of the %d elements of the tile %s; the first one missing is element %d",
			tv, c.NumThr, sizeOf(tv.Mode(1)), sizeOf(tv), int(size)-missed, size, tile, first)
	}
	return nil
}

// NewTiledCopySide lays one side of the atom out by thread and value layouts and computes the reference from it:
// reference = wanted o side^-1 o ref, atom by atom.
func NewTiledCopySide(row *atoms.CopyRow, e elem.Kind, side Side, thr, val algebra.Layout) (*TiledCopy, error) {
	c, err := newAtom(row, e)
	if err != nil {
		return nil, err
	}
	want, tile, err := thrVal(thr, val)
	if err != nil {
		return nil, err
	}
	atom := c.Atom(side)
	inv, err := algebra.RightInverse(atom)
	if err != nil {
		return nil, err
	}
	refToSide, err := algebra.Compose(inv, c.Ref)
	if err != nil {
		return nil, err
	}
	nt, nv := sizeOf(atom.Mode(0)), sizeOf(atom.Mode(1))
	if sizeOf(want.Mode(0))%nt != 0 || sizeOf(want.Mode(1))%nv != 0 {
		return nil, fmt.Errorf("%s moves %d threads x %d values of type %s on its %s side, which do not divide the layout's %d threads x %d values",
			row.Name, nt, nv, e, side, sizeOf(want.Mode(0)), sizeOf(want.Mode(1)))
	}
	tv, err := byAtom(want, nt, nv, refToSide)
	if err != nil {
		return nil, err
	}
	if err := c.setTV(tv, algebra.TileBy(tile), tile); err != nil {
		return nil, err
	}
	got, err := c.SideTV(side)
	if err != nil {
		return nil, err
	}
	for i := range sizeOf(want) {
		if got.AtInt(i) != want.AtInt(i) {
			n := sizeOf(want.Mode(0))
			return nil, fmt.Errorf("%s cannot have thread %d, value %d at element %d of the tile on its %s side: it shares that place with element %d",
				row.Name, i%n, i/n, want.AtInt(i), side, got.AtInt(i))
		}
	}
	return c, nil
}

// byAtom splits a (thr,val) layout into atoms of nt threads by nv values, replaces each atom's coordinates by
// those that f maps to them, and returns (thr,(atom values,repeats)).
func byAtom(tv algebra.Layout, nt, nv int64, f algebra.Layout) (algebra.Layout, error) {
	atoms, err := algebra.ZippedDivide(tv, algebra.T(nt, nv)) // ((AtomT,AtomV),(RestT,RestV))
	if err != nil {
		return algebra.Layout{}, err
	}
	trg, err := algebra.ComposeTiler(atoms, algebra.T(f, algebra.Underscore))
	if err != nil {
		return algebra.Layout{}, err
	}
	z, err := algebra.Zip(trg) // ((AtomT,RestT),(AtomV,RestV))
	if err != nil {
		return algebra.Layout{}, err
	}
	return algebra.CoalesceBy(z, algebra.S(1, algebra.S(1, 1))) // (T,(AtomV,RestV))
}

// SideTV is the TV layout of one side: (thr,(atom values,repeats)) -> tile.
func (c *TiledCopy) SideTV(s Side) (algebra.Layout, error) {
	inv, err := algebra.RightInverse(c.Ref)
	if err != nil {
		return algebra.Layout{}, err
	}
	sideToRef, err := algebra.Compose(inv, c.Atom(s))
	if err != nil {
		return algebra.Layout{}, err
	}
	return byAtom(c.TV, c.AtomNumThr, c.AtomNumVal, sideToRef)
}

// Divided is tidfrg_S or tidfrg_D: the layout of a tensor, by (thr,(atom values,repeats),(RestM,RestN,…)). Tiles may
// reach over the edges of a tensor that is to be covered; others must be whole tiles.
func (c *TiledCopy) Divided(l algebra.Layout, s Side, cover bool) (algebra.Layout, error) {
	none := algebra.Layout{}
	want := c.TileShape.Rank()
	if l.Rank() < want {
		return none, fmt.Errorf("expects a tensor of rank %d or more, for the tile %s, but got %s", want, c.TileShape, l)
	}
	tiles, err := divide(l, c.Tiler, cover)
	if err != nil {
		return none, fmt.Errorf("the copy's tile %s does not divide the tensor %s: %w", c.TileShape, l, err)
	}
	tv, err := c.SideTV(s)
	if err != nil {
		return none, err
	}
	byThr, err := algebra.ComposeTiler(tiles, algebra.T(tv, algebra.Underscore))
	if err != nil {
		return none, err
	}
	out, _, err := algebra.Slice(byThr, algebra.C(algebra.C(algebra.Underscore, algebra.Underscore), algebra.Underscore))
	return out, err
}

// divide is ZippedDivide, or its form that covers what it does not divide: always that one for symbolic extents.
func divide(l algebra.Layout, t algebra.Tiler, cover bool) (algebra.Layout, error) {
	if l.Shape().IsStatic() && !cover {
		return algebra.ZippedDivide(l, t)
	}
	covered, err := algebra.ZippedDivideCeil(l, t)
	return covered.Layout, err
}
