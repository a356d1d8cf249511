package ir

import (
	"fmt"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/elem"
)

// NewTiledCopyMMA follows the TV layout of an MMA's operand (make_tiled_copy_A, _B, _C). The copy's elements need not
// be the operand's: an epilogue stores narrower ones than it accumulates.
func NewTiledCopyMMA(row *atoms.CopyRow, e elem.Kind, m *TiledMMA, o Operand) (*TiledCopy, error) {
	i, j, _ := o.modes()
	c, err := NewTiledCopyTV(row, e, m.TV[o], algebra.S(m.Tile[i], m.Tile[j]))
	if err == nil {
		c.Letter = "X"
	}
	return c, err
}

// NewTiledCopyOf takes one side of another copy as its reference (make_tiled_copy_S, _D).
func NewTiledCopyOf(row *atoms.CopyRow, e elem.Kind, of *TiledCopy, s Side) (*TiledCopy, error) {
	tv, err := of.SideTV(s)
	if err != nil {
		return nil, err
	}
	c, err := newAtom(row, e)
	if err != nil {
		return nil, err
	}
	if err := c.setTV(tv, of.Tiler, of.TileShape); err != nil {
		return nil, err
	}
	c.Letter, c.Within = of.Letter, of.Within
	return c, nil
}

// NewTiledCopyAtomC follows the MMA's layout of C for as many of its values as one atom moves (make_tiled_copy_C_atom).
// Its tile is the part of the MMA's that those values fill, which need not be one piece.
func NewTiledCopyAtomC(row *atoms.CopyRow, e elem.Kind, m *TiledMMA) (*TiledCopy, error) {
	c, err := newAtom(row, e)
	if err != nil {
		return nil, err
	}
	all := m.TV[C]
	nv, have := c.NumVal(Source), sizeOf(all.Mode(1))
	if nv > have {
		return nil, fmt.Errorf("%s moves %d values of type %s per thread, but the MMA has only %d of C", row.Name, nv, e, have)
	}
	tv, err := algebra.Compose(all, algebra.Compact(algebra.S(all.Mode(0).Size(), nv)))
	if err != nil {
		return nil, err
	}
	if err := c.setPart(tv, algebra.S(m.Tile[0], m.Tile[1])); err != nil {
		return nil, err
	}
	c.Letter = "X"
	return c, nil
}

// NewCotiledCopy assigns the addresses of a data layout to threads and values: tv maps (thread,value) to an address,
// data coordinates to addresses (make_cotiled_copy). Its tile is the part of the data that tv reaches.
func NewCotiledCopy(row *atoms.CopyRow, e elem.Kind, tv, data algebra.Layout) (*TiledCopy, error) {
	c, err := newAtom(row, e)
	if err != nil {
		return nil, err
	}
	if !tv.IsStatic() || !data.IsStatic() || tv.Rank() != 2 {
		return nil, fmt.Errorf("expects static layouts, (thr,val) to addresses and coordinates to addresses, but got %s and %s", tv, data)
	}
	inv, err := algebra.LeftInverse(data) // address -> coordinate
	if err != nil {
		return nil, err
	}
	coords, err := algebra.Compose(algebra.Make(inv, algebra.MustParse("1:0")), tv) // (thr,val) -> coordinate
	if err != nil {
		return nil, err
	}
	nt := sizeOf(tv.Mode(0))
	for i := range sizeOf(tv) {
		if at := coords.AtInt(i); at >= sizeOf(data) || data.AtInt(at) != tv.AtInt(i) {
			return nil, fmt.Errorf("thread %d, value %d is at address %d, which is no element of the data %s", i%nt, i/nt, tv.AtInt(i), data)
		}
	}
	if err := c.setPart(coords, algebra.ProductEach(data.Shape())); err != nil {
		return nil, err
	}
	return c, nil
}

// setPart makes the tile from the coordinates that tv reaches in a larger extent, mode by mode, and counts tv's
// results along the tile instead.
func (c *TiledCopy) setPart(tv algebra.Layout, extent algebra.Shape) error {
	tiler, shape := make([]any, extent.Rank()), make([]any, extent.Rank())
	for i := range tiler {
		only := make([]any, extent.Rank()) // the coordinate in mode i
		for j := range only {
			only[j] = 0
		}
		only[i] = 1
		l, err := algebra.Compose(algebra.MustLayout(extent, algebra.D(only...)), tv)
		if err != nil {
			return err
		}
		if l, err = algebra.Filter(l); err != nil {
			return err
		}
		tiler[i], shape[i] = l, l.Shape()
	}
	part, err := algebra.ComposeTiler(algebra.Compact(extent), algebra.T(tiler...)) // tile -> extent
	if err != nil {
		return err
	}
	inv, err := algebra.LeftInverse(part)
	if err != nil {
		return err
	}
	if tv, err = algebra.Compose(inv, tv); err != nil {
		return err
	}
	if err := c.setTV(tv, algebra.T(tiler...), algebra.S(shape...)); err != nil {
		return err
	}
	c.Within = extent
	return nil
}
