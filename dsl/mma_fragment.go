package dsl

import (
	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/elem"
)

// shapeFor is the operand's shape (M,K), (N,K) or (M,N): that of l, else the tiled MMA's own tile.
func (m TiledMMA[D, A, B, C]) shapeFor(o ir.Operand, l []Layout) (algebra.Shape, error) {
	if len(l) > 0 {
		lay, err := l[0].Algebra()
		return lay.Shape(), err
	}
	t := m.m.Tile
	return map[ir.Operand]algebra.Shape{ir.A: algebra.S(t[0], t[2]), ir.B: algebra.S(t[1], t[2]), ir.C: algebra.S(t[0], t[1])}[o], nil
}

func (m TiledMMA[D, A, B, C]) partitionShape(o ir.Operand, l []Layout) Layout {
	if m.m == nil {
		return Layout{err: m.mistake("PartitionShape" + string(rune(o)))}
	}
	shape, err := m.shapeFor(o, l)
	if err == nil {
		shape, err = m.m.PartitionShape(shape, o)
	}
	if err != nil {
		return Layout{err: err}
	}
	return Layout{l: algebra.Compact(shape)}
}

// PartitionShapeA is the shape (MMA,MMA_M,MMA_K) of a thread's part of a tensor of the given shape (M,K), or of the
// MMA's own tile. The layout that it comes with is compact.
func (m TiledMMA[D, A, B, C]) PartitionShapeA(mk ...Layout) Layout {
	return m.partitionShape(ir.A, mk)
}

// PartitionShapeB is the shape (MMA,MMA_N,MMA_K) of a thread's part of a tensor of the given shape (N,K), or of the
// MMA's own tile.
func (m TiledMMA[D, A, B, C]) PartitionShapeB(nk ...Layout) Layout {
	return m.partitionShape(ir.B, nk)
}

// PartitionShapeC is the shape (MMA,MMA_M,MMA_N) of a thread's part of a tensor of the given shape (M,N), or of the
// MMA's own tile.
func (m TiledMMA[D, A, B, C]) PartitionShapeC(mn ...Layout) Layout {
	return m.partitionShape(ir.C, mn)
}

// ofShape declares an operand's registers for a shape.
func (m ThrMMA[D, A, B, C]) ofShape(op string, o ir.Operand, l []Layout) *ir.Tensor {
	if m.m == nil {
		return nil
	}
	shape, err := TiledMMA[D, A, B, C]{m: m.m}.shapeFor(o, l)
	var out *ir.Tensor
	if err == nil {
		var lay algebra.Layout
		if lay, err = m.m.FragmentOf(shape, o); err == nil {
			letter := string(rune(o))
			out, err = m.k.registers("tCr"+letter, letter, m.m.Elem(o), lay, &ir.Provenance{MMA: m.m, Operand: o})
		}
	}
	if err != nil {
		m.k.errorf(op, "%v", err)
		return nil
	}
	return out
}

// FragmentOfA declares registers for the thread's part of a tensor of the given shape (M,K), or of the MMA's own tile:
// (MMA,MMA_M,MMA_K).
func FragmentOfA[D, A, B, C elem.Any](m ThrMMA[D, A, B, C], mk ...Layout) Tensor[Rmem, A] {
	return Tensor[Rmem, A]{k: m.k, t: m.ofShape("FragmentOfA", ir.A, mk)}
}

// FragmentOfB declares registers for the thread's part of a tensor of the given shape (N,K), or of the MMA's own tile:
// (MMA,MMA_N,MMA_K).
func FragmentOfB[D, A, B, C elem.Any](m ThrMMA[D, A, B, C], nk ...Layout) Tensor[Rmem, B] {
	return Tensor[Rmem, B]{k: m.k, t: m.ofShape("FragmentOfB", ir.B, nk)}
}

// FragmentOfC declares accumulators for the thread's part of a tensor of the given shape (M,N), or of the MMA's own
// tile: (MMA,MMA_M,MMA_N).
func FragmentOfC[D, A, B, C elem.Any](m ThrMMA[D, A, B, C], mn ...Layout) Tensor[Rmem, C] {
	return Tensor[Rmem, C]{k: m.k, t: m.ofShape("FragmentOfC", ir.C, mn)}
}

// Parts views a fragment of complex numbers as the f64 that they are made of: ((parts,V),…).
func Parts[E elem.C64 | elem.GC64](t Tensor[Rmem, E]) Tensor[Rmem, elem.F64] {
	if t.t == nil {
		return Tensor[Rmem, elem.F64]{k: t.k}
	}
	n := int64(t.t.Elem.Bits() / elem.KF64.Bits())
	l, err := ir.Parts(t.t.Layout, n)
	if err != nil {
		t.k.errorf("Parts", "%s: %v", t.t.Name, err)
		return Tensor[Rmem, elem.F64]{k: t.k}
	}
	out := *t.t
	out.Elem, out.Layout, out.Values, out.Offset = elem.KF64, l, nil, t.t.Offset.Mul(sym.Int(n))
	return Tensor[Rmem, elem.F64]{k: t.k, t: &out}
}
