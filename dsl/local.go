package dsl

import (
	"fmt"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/elem"
)

// Projection says which modes of a tile or of a layout of threads a tensor has, such as Proj(1, X, 1) for A of (M,N,K).
type Projection struct {
	keep []bool
	err  error
}

type leftOut struct{}

// X leaves a mode out of a projection.
var X leftOut

// Proj makes a projection of 1, which keeps a mode, and X, which leaves it out.
func Proj(marks ...any) Projection {
	p := Projection{keep: []bool{}}
	for _, m := range marks {
		_, out := m.(leftOut)
		if !out && m != 1 {
			p.err = fmt.Errorf("a projection expects 1 or X, but got %v", m)
		}
		p.keep = append(p.keep, !out)
	}
	return p
}

// TileProj is Tile by those modes of a tile and of a coordinate that the projection keeps: one tile over (M,N,K) and one
// coordinate serve A, B and C.
func (t Tensor[S, E]) TileProj(tile Tiler, p Projection, coord ...any) Tensor[S, E] {
	if t.t == nil {
		return t
	}
	err := p.err
	if err == nil {
		err = tile.err
	}
	if err == nil {
		tile.modes, err = ir.Project(tile.modes, p.keep)
	}
	if err == nil {
		coord, err = ir.Project(coord, p.keep)
	}
	if err != nil {
		t.k.errorf("TileProj", "%v", err)
		return Tensor[S, E]{k: t.k}
	}
	return t.Tile(tile, coord...)
}

// LocalPartition deals a tensor's elements out to threads, one each, tile after tile (local_partition): thr maps the
// coordinates of a tile to threads. A projection may leave out modes of thr that the tensor does not have.
func (t Tensor[S, E]) LocalPartition(thr Layout, thread Integer, p ...Projection) Tensor[S, E] {
	bad := Tensor[S, E]{k: t.k}
	if t.t == nil {
		return bad
	}
	l, err := thr.Algebra()
	var keep []bool
	if len(p) > 0 {
		keep = p[0].keep
		if err == nil {
			err = p[0].err
		}
	}
	if err != nil {
		t.k.errorf("LocalPartition", "%v", err)
		return bad
	}
	e, ok := t.k.thread("LocalPartition", thread, size(l), "layout")
	if !ok {
		return bad
	}
	out, err := t.t.LocalPartition("t"+t.t.Base+t.t.Name, l, keep, e)
	if err != nil {
		t.k.errorf("LocalPartition", "%s: %v", t.t.Name, err)
		return bad
	}
	return Tensor[S, E]{k: t.k, t: out}
}

// Coord is what the identity tensor of a global tensor's shape holds at a place of a view of it: the coordinate of that
// element in mode of the whole tensor. Views of the identity tensor need no declaration; every view has its own.
func Coord[E elem.Any](t Tensor[Gmem, E], mode int, index ...any) Expr {
	if t.t == nil {
		return Expr{k: t.k, err: errReported}
	}
	bad := Expr{k: t.k, err: errReported}
	if len(index) != t.t.Layout.Rank() {
		t.k.errorf("Coord", "expects %d indices, one for each mode of %s %s, but got %d", t.t.Layout.Rank(), t.t.Name, t.t.Layout.Shape(), len(index))
		return bad
	}
	cs, ok := t.k.coordinates("Coord", index)
	if !ok {
		return bad
	}
	for _, b := range t.t.Bounds {
		if len(b.Path) == 1 && b.Path[0] == mode {
			a, err := t.t.Ident.AtArith(algebra.C(cs...))
			if err != nil {
				t.k.errorf("Coord", "%s: %v", t.t.Name, err)
				return bad
			}
			return Expr{e: a.Add(t.t.Coord).Get(mode), k: t.k}
		}
	}
	t.k.errorf("Coord", "expects a flat mode of the tensor that %s is a view of, but it has no mode %d", t.t.Name, mode)
	return bad
}

// divided is the layout of a tensor by threads, or the mistake.
func divided(l Layout, mistake error, f func(algebra.Layout) (algebra.Layout, error)) Layout {
	lay, err := l.Algebra()
	if mistake != nil {
		err = mistake
	}
	if err != nil {
		return Layout{err: err}
	}
	out, err := f(lay)
	return Layout{l: out, err: err}
}

// TidfrgS is the layout of a source tensor by (thread,(atom values,repeats),(RestM,RestN,…)) (tidfrg_S).
func (c TiledCopy[S, D, E]) TidfrgS(l Layout) Layout {
	return divided(l, c.mistake("TidfrgS"), func(x algebra.Layout) (algebra.Layout, error) { return c.c.Divided(x, ir.Source, false) })
}

// TidfrgD is the layout of a destination tensor by (thread,(atom values,repeats),(RestM,RestN,…)) (tidfrg_D).
func (c TiledCopy[S, D, E]) TidfrgD(l Layout) Layout {
	return divided(l, c.mistake("TidfrgD"), func(x algebra.Layout) (algebra.Layout, error) { return c.c.Divided(x, ir.Destination, false) })
}

// ThrfrgA is the layout of a tensor over (M,K) by ((ThrV,(ThrM,ThrK)),(V,(RestM,RestK))) (thrfrg_A).
func (m TiledMMA[D, A, B, C]) ThrfrgA(mk Layout) Layout { return m.thrfrg(mk, ir.A) }

// ThrfrgB is the layout of a tensor over (N,K) by ((ThrV,(ThrN,ThrK)),(V,(RestN,RestK))) (thrfrg_B).
func (m TiledMMA[D, A, B, C]) ThrfrgB(nk Layout) Layout { return m.thrfrg(nk, ir.B) }

// ThrfrgC is the layout of a tensor over (M,N) by ((ThrV,(ThrM,ThrN)),(V,(RestM,RestN))) (thrfrg_C).
func (m TiledMMA[D, A, B, C]) ThrfrgC(mn Layout) Layout { return m.thrfrg(mn, ir.C) }

func (m TiledMMA[D, A, B, C]) thrfrg(l Layout, o ir.Operand) Layout {
	return divided(l, m.mistake("Thrfrg"+string(rune(o))), func(x algebra.Layout) (algebra.Layout, error) { return m.m.Divided(x, o, false) })
}
