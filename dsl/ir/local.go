package ir

import (
	"fmt"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/algebra/sym"
)

// Project keeps those of xs that a projection does not leave out; a nil projection keeps all.
func Project[T any](xs []T, keep []bool) ([]T, error) {
	if keep == nil {
		return xs, nil
	}
	if len(keep) != len(xs) {
		return nil, fmt.Errorf("expects a projection of %d modes, but got one of %d", len(xs), len(keep))
	}
	var out []T
	for i, x := range xs {
		if keep[i] {
			out = append(out, x)
		}
	}
	return out, nil
}

// coordIn is the coordinate, a single index, of a thread in a layout from coordinates to threads.
func coordIn(l algebra.Layout, thread sym.Expr) sym.Expr {
	var out sym.Expr
	scale := int64(1)
	steps := l.Stride().Leaves()
	for i, n := range l.Shape().Leaves() {
		ext, _ := n.IsConst()
		step, _ := steps[i].Coef.IsConst()
		if ext > 1 && step > 0 {
			out = out.Add(thread.FloorDiv(sym.Int(step)).Mod(sym.Int(ext)).Mul(sym.Int(scale)))
		}
		scale *= ext
	}
	return out
}

// LocalPartition deals the elements out to threads, one each, tile after tile (local_partition): thr maps coordinates of
// a tile to threads, and a projection leaves out those of its modes that the tensor does not have. Tiles may reach over
// the edges.
func (t *Tensor) LocalPartition(name string, thr algebra.Layout, keep []bool, thread sym.Expr) (*Tensor, error) {
	if err := thr.Err(); err != nil {
		return nil, err
	}
	if !thr.IsStatic() {
		return nil, fmt.Errorf("expects a static layout of threads, but got %s", thr)
	}
	var modes []algebra.Layout
	if thr.Shape().IsLeaf() {
		modes = []algebra.Layout{thr}
	} else {
		for i := range thr.Rank() {
			modes = append(modes, thr.Mode(i))
		}
	}
	modes, err := Project(modes, keep)
	if err != nil {
		return nil, err
	}
	if len(modes) > t.Layout.Rank() {
		return nil, fmt.Errorf("expects a layout of threads of at most rank %d, that of %s, but got %s", t.Layout.Rank(), t.Name, thr)
	}
	tile, coord := make([]any, len(modes)), make([]any, len(modes))
	for i, m := range modes {
		tile[i], coord[i] = sizeOf(m), coordIn(m, thread)
	}
	return t.view(name, func(l algebra.Layout) (algebra.Layout, algebra.Arith, error) {
		cover, err := algebra.ZippedDivideCeil(l, algebra.T(tile...))
		if err != nil {
			return algebra.Layout{}, algebra.Arith{}, err
		}
		out, off, err := algebra.Slice(cover.Layout, algebra.C(algebra.C(coord...), algebra.Underscore))
		if err == nil && out.Rank() == 1 && !out.Mode(0).Shape().IsLeaf() { // the rests are one mode of the slice
			out = out.Mode(0)
		}
		return out, off, err
	})
}
