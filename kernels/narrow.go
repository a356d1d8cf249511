package kernels

import (
	"math/bits"

	"github.com/gocute/gocute/atoms"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// narrow stores results that nothing joins any more and that are narrower than their sums: they are rounded before they go
// through shared memory.
type narrow[E, Acc, Q, O elem.Any] struct {
	use   bool
	slice int             // tiles of the MMA along M that are stored at once
	sO    Tensor[Smem, O] // (SLICE_M,BLK_N)
}

// newNarrow finds out whether the results are such, and places them over the operands' stages.
func newNarrow[E, Acc, Q, O elem.Any](o output[E, Acc, Q, O]) narrow[E, Acc, Q, O] {
	k, g := o.p.k, o.p.g
	k.Helper()
	n := narrow[E, Acc, Q, O]{slice: o.p.acc.Extent(1)}
	n.use = !o.columns.permuted() && elem.KindOf[O]().Bits() < elem.KindOf[Acc]().Bits() && o.in.f == nil && o.vec == vector[O]()
	if !n.use {
		return n
	}
	log := bits.Len(uint(g.BN)) - 1
	if g.StreamK { // one stage of A is free
		for n.slice > 1 && n.slice*16*g.WarpM*g.BN*elem.KindOf[O]().Bits() > g.BM*g.BK*elem.KindOf[E]().Bits() {
			n.slice /= 2
		}
	}
	rows := n.slice * 16 * g.WarpM
	// The numbers of rows move vectors, so that what four lanes write meets in no bank with what others write into eight rows.
	vec := bits.Len(uint(o.vec)) - 1
	n.sO = SharedOver[O](k, "sO", Swizzle(min(3, log-vec), vec, log-vec, Shape(rows, g.BN).Strides(g.BN, 1)), o.p.a.stages) // (SLICE_M,BLK_N)
	return n
}

// store writes C = alpha*acc.
func (n narrow[E, Acc, Q, O]) store(o output[E, Acc, Q, O], w work) {
	k, p := o.p.k, o.p
	k.Helper()
	x := Mapped(p.acc, func(v Val[Acc]) Val[Q] { return To[Q](v).Mul(o.alpha) }) // (MMA,MMA_M,MMA_N)
	r2s := CopyOut[O](atoms.UniversalCopy[Rmem, Smem](2*elem.KindOf[O]().Bits()), p.mma)
	toShared := r2s.Slice(w.thread)
	from, to := toShared.RetileS(Convert[O](x)), toShared.PartitionD(n.sO) // (CPY,MMA_M,MMA_N) (CPY,SLICE_M,MMA_N)
	slices := p.acc.Extent(1) / n.slice
	write := func(slice int) {
		k.Helper()
		for m := range n.slice {
			Copy(r2s, from.At(All, slice*n.slice+m, All), to.At(All, m, All))
		}
	}
	if slices == 1 {
		write(0)
		k.Barrier()
		n.rows(o, w, w.tileM)
		return
	}
	k.Loop(0, slices, func(i Expr) {
		k.Helper()
		k.Switch(i, slices, write)
		k.Barrier()
		n.rows(o, w, w.tileM.Mul(slices).Add(i))
		k.Barrier()
	})
}

// rows moves a slice from shared memory to C.
func (n narrow[E, Acc, Q, O]) rows(o output[E, Acc, Q, O], w work, slice Expr) {
	k := o.p.k
	k.Helper()
	columns := o.p.g.BN / o.vec
	thr, val := Shape(o.p.mma.Threads()/columns, columns).Strides(columns, 1), Shape(1, o.vec)
	s2r := NewTiledCopy[O](atoms.UniversalCopy[Smem, Rmem](128), thr, val)
	r2g := NewTiledCopy[O](atoms.UniversalCopy[Rmem, Gmem](128), thr, val)
	from := s2r.Slice(w.thread).PartitionS(n.sO)                           // (CPY,CPY_M,CPY_N)
	to := r2g.Slice(w.thread).PartitionD(o.tile(w, n.sO.Extent(0), slice)) // (CPY,CPY_M,CPY_N)
	together := rowsAtOnce(to.Extent(1))
	k.Loop(0, to.Extent(1)/together, func(i Expr) {
		k.Helper()
		rows := make([]Tensor[Rmem, O], together) // (CPY,CPY_N)
		for j := range together {
			rows[j] = FragmentLike(from.At(All, 0, All))
			Copy(s2r, from.At(All, i.Mul(together).Add(j), All), rows[j])
		}
		for j := range together {
			Copy(r2g, rows[j], to.At(All, i.Mul(together).Add(j), All))
		}
	})
}
