package dsl

import (
	"errors"
	"fmt"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/elem"
)

// TiledMMA is an MMA atom laid out over warps and, where a tile is given, permuted over it.
type TiledMMA[D, A, B, C elem.Any] struct {
	m    *ir.TiledMMA
	err  error
	made []uintptr // the calls that made it
}

// ThrMMA is one thread's part of a TiledMMA.
type ThrMMA[D, A, B, C elem.Any] struct {
	m      *ir.TiledMMA
	k      *K
	thread sym.Expr
}

// NewTiledMMA repeats an atom over warps, a layout over (M,N) or (M,N,K). A tile over (M,N,K) may follow, of ints,
// Layouts (permutations) or All; without it the atoms lie side by side once.
func NewTiledMMA[D, A, B, C elem.Any](a atoms.MMAAtom[D, A, B, C], warps Layout, tile ...Tiler) TiledMMA[D, A, B, C] {
	out := TiledMMA[D, A, B, C]{made: calls()}
	l, err := warps.Algebra()
	perm := [3]any{algebra.Underscore, algebra.Underscore, algebra.Underscore}
	switch {
	case err != nil:
	case len(tile) > 1:
		err = fmt.Errorf("expects at most one tile, but got %d", len(tile))
	case len(tile) == 1 && tile[0].err != nil:
		err = tile[0].err
	case len(tile) == 1 && len(tile[0].modes) > 3:
		err = fmt.Errorf("expects a tile over (M,N,K), but got %d modes", len(tile[0].modes))
	case len(tile) == 1:
		copy(perm[:], tile[0].modes)
	}
	if err == nil {
		out.m, err = ir.NewTiledMMA(a.Row(), l, perm)
	}
	out.err = err
	return out
}

// Err is the mistake in the MMA's layouts, or nil.
func (m TiledMMA[D, A, B, C]) Err() error { return m.mistake("TiledMMA") }

// mistake is what is wrong with the MMA, or that it was never made.
func (m TiledMMA[D, A, B, C]) mistake(op string) error {
	if m.m == nil && m.err == nil {
		return wrong(op, errors.New("expects a TiledMMA, but got one that was never set"))
	}
	return m.err
}

// Threads is the number of threads of the tiled MMA (1 after a mistake, which Slice reports).
func (m TiledMMA[D, A, B, C]) Threads() int {
	if m.m == nil {
		return 1
	}
	return int(m.m.NumThr)
}

// Tile returns the extents (M,N,K) that the tiled MMA covers at once.
func (m TiledMMA[D, A, B, C]) Tile() (tileM, tileN, tileK int) {
	if m.m == nil {
		return 0, 0, 0
	}
	return int(m.m.Tile[0]), int(m.m.Tile[1]), int(m.m.Tile[2])
}

// LayoutA is A's TV layout, (thread,value) to m+M*k.
func (m TiledMMA[D, A, B, C]) LayoutA() Layout { return m.operand(ir.A) }

// LayoutB is B's TV layout, (thread,value) to n+N*k.
func (m TiledMMA[D, A, B, C]) LayoutB() Layout { return m.operand(ir.B) }

// LayoutC is C's TV layout, (thread,value) to m+M*n.
func (m TiledMMA[D, A, B, C]) LayoutC() Layout { return m.operand(ir.C) }

func (m TiledMMA[D, A, B, C]) operand(o ir.Operand) Layout {
	if m.m == nil {
		return Layout{err: m.mistake("Layout" + string(rune(o)))}
	}
	return Layout{l: m.m.TV[o]}
}

// Slice selects a thread.
func (m TiledMMA[D, A, B, C]) Slice(thread Integer) ThrMMA[D, A, B, C] {
	t, _ := exprOf(thread)
	k := t.k
	if k == nil {
		return ThrMMA[D, A, B, C]{}
	}
	if m.m == nil {
		if k.made("Slice", "TiledMMA", false, m.err); m.err != nil {
			k.failAt(m.made, "TiledMMA", "%v", m.err)
		}
		return ThrMMA[D, A, B, C]{k: k}
	}
	e, ok := k.thread("Slice", thread, m.m.NumThr, "MMA")
	if !ok {
		return ThrMMA[D, A, B, C]{k: k}
	}
	return ThrMMA[D, A, B, C]{m: m.m, k: k, thread: e}
}

func (m ThrMMA[D, A, B, C]) partition(op string, k *K, t *ir.Tensor, o ir.Operand) *ir.Tensor {
	if together(op, origin{k, t}) == nil || !k.sliced(op, m.k) {
		return nil
	}
	if m.m == nil || t == nil {
		k.threadWasSet(op, m.k)
		return nil
	}
	out, err := t.PartitionMMA("tC"+t.Name, m.m, o, m.thread)
	if err != nil {
		m.k.errorf(op, "%s: %v", t.Name, err)
		return nil
	}
	out.Values = &ir.Provenance{MMA: m.m, Operand: o}
	return out
}

func (m ThrMMA[D, A, B, C]) fragment(op string, k *K, t *ir.Tensor, o ir.Operand) *ir.Tensor {
	part := m.partition(op, k, t, o)
	if part == nil {
		return nil
	}
	l, err := ir.OperandLayout(part.Layout, o)
	if err == nil && o != ir.C {
		l, err = part.FragmentLayout()
	}
	if err == nil {
		err = m.m.HasFragment(o)
	}
	if err == nil {
		var out *ir.Tensor
		if out, err = m.k.registers("tCr"+t.Base, t.Base, t.Elem, l, part.Values); err == nil {
			return out
		}
	}
	m.k.errorf(op, "%s: %v", t.Name, err)
	return nil
}

// PartitionA is the thread's view of a tensor over (M,K): (MMA,MMA_M,MMA_K).
func PartitionA[S Space, D, A, B, C elem.Any](m ThrMMA[D, A, B, C], t Tensor[S, A]) Tensor[S, A] {
	return Tensor[S, A]{k: t.k, t: m.partition("PartitionA", t.k, t.t, ir.A)}
}

// PartitionB is the thread's view of a tensor over (N,K): (MMA,MMA_N,MMA_K).
func PartitionB[S Space, D, A, B, C elem.Any](m ThrMMA[D, A, B, C], t Tensor[S, B]) Tensor[S, B] {
	return Tensor[S, B]{k: t.k, t: m.partition("PartitionB", t.k, t.t, ir.B)}
}

// PartitionC is the thread's view of a tensor over (M,N): (MMA,MMA_M,MMA_N).
func PartitionC[S Space, D, A, B, C elem.Any](m ThrMMA[D, A, B, C], t Tensor[S, C]) Tensor[S, C] {
	return Tensor[S, C]{k: t.k, t: m.partition("PartitionC", t.k, t.t, ir.C)}
}

// FragmentA declares registers for the thread's part of a tensor over (M,K): (MMA,MMA_M,MMA_K).
func FragmentA[S Space, D, A, B, C elem.Any](m ThrMMA[D, A, B, C], t Tensor[S, A]) Tensor[Rmem, A] {
	return Tensor[Rmem, A]{k: t.k, t: m.fragment("FragmentA", t.k, t.t, ir.A)}
}

// FragmentB declares registers for the thread's part of a tensor over (N,K): (MMA,MMA_N,MMA_K).
func FragmentB[S Space, D, A, B, C elem.Any](m ThrMMA[D, A, B, C], t Tensor[S, B]) Tensor[Rmem, B] {
	return Tensor[Rmem, B]{k: t.k, t: m.fragment("FragmentB", t.k, t.t, ir.B)}
}

// FragmentC declares accumulators for the thread's part of an output tensor over (M,N): (MMA,MMA_M,MMA_N).
// The output's elements may be of another type than the accumulators.
func FragmentC[S Space, O, D, A, B, C elem.Any](m ThrMMA[D, A, B, C], t Tensor[S, O]) Tensor[Rmem, C] {
	if together("FragmentC", origin(t)) == nil {
		return Tensor[Rmem, C]{k: t.k}
	}
	acc := *t.t
	acc.Elem = elem.KindOf[C]()
	return Tensor[Rmem, C]{k: t.k, t: m.fragment("FragmentC", t.k, &acc, ir.C)}
}

// PartitionOut is the thread's view of an output tensor over (M,N) whose elements are not the accumulators' type.
func PartitionOut[S Space, O, D, A, B, C elem.Any](m ThrMMA[D, A, B, C], t Tensor[S, O]) Tensor[S, O] {
	if together("PartitionOut", origin(t)) == nil {
		return t
	}
	acc := *t.t
	acc.Elem = elem.KindOf[C]()
	out := m.partition("PartitionOut", t.k, &acc, ir.C)
	if out != nil {
		out.Elem = t.t.Elem
	}
	return Tensor[S, O]{k: t.k, t: out}
}

// Gemm is c += a*b over fragments (MMA,MMA_M,MMA_K), (MMA,MMA_N,MMA_K), (MMA,MMA_M,MMA_N); the K mode may have
// been selected away.
func Gemm[D, A, B, C elem.Any](m TiledMMA[D, A, B, C], a Tensor[Rmem, A], b Tensor[Rmem, B], c Tensor[Rmem, C]) {
	k := together("Gemm", origin(a), origin(b), origin(c))
	if k == nil || !k.made("Gemm", "TiledMMA", m.m != nil, m.err) {
		return
	}
	if !k.usable("Gemm", a.t, b.t, c.t) {
		return
	}
	if err := ir.CheckGemm(m.m, a.t, b.t, c.t); err != nil {
		k.errorf("Gemm", "%v", err)
		return
	}
	k.add(ir.GemmOp{Pos: k.position(), MMA: m.m, A: a.t, B: b.t, C: c.t})
}
