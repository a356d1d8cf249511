package kernels

import (
	"github.com/gocute/gocute/atoms"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// workspace is where the blocks that share a tile meet.
type workspace[Acc elem.Any] struct {
	use      bool
	parts    Tensor[Gmem, Acc]      // (vectors of a block's threads,MMA_M,MMA_N,slot)
	counters Tensor[Gmem, elem.U32] // one for each tile of C, zero between launches
	slots    Expr
	threads  int
}

// newWorkspace declares the workspace of a kernel whose sums have parts. It holds the accumulators of one block after the other.
func newWorkspace[Acc elem.Any](k *K, g GEMMConfig, w work, threads int) workspace[Acc] {
	k.Helper()
	ws := workspace[Acc]{use: g.SplitK || g.StreamK, slots: w.slots, threads: threads}
	if !ws.use {
		return ws
	}
	row := 4 * threads // a vector of four accumulators for each thread
	mmaM, mmaN := g.BM/(16*g.WarpM), g.BN/(8*g.WarpN)
	ws.parts = InOut[Acc](k, "parts", Shape(row, mmaM, mmaN, w.slots).Strides(1, row, row*mmaM, row*mmaM*mmaN))
	ws.counters = InOut[elem.U32](k, "counters", Shape(w.units))
	return ws
}

// finish calls store with the whole sum of a tile, in the block that has it: what parts of a sum are exchanged by needs the
// registers, so the store's places are computed after it.
func (ws workspace[Acc]) finish(k *K, w work, acc Tensor[Rmem, Acc], store func(w work)) {
	k.Helper()
	if !ws.use {
		store(w)
		return
	}
	missing := k.Var("missing", 0, 0, 1<<16) // blocks that are still to come
	k.If(w.shared, func() {
		k.Helper()
		missing.Set(ws.exchange(k, w.share(), w.thread, acc))
	}, nil)
	k.If(missing.Eq(0), func() {
		k.Helper()
		w.thread = k.Opaque("thread", k.Thread)
		store(w)
	}, nil)
}

// exchange writes this block's part of a sum, and in the last block to come adds all of them up. It returns how many are
// still to come.
func (ws workspace[Acc]) exchange(k *K, s share, thread Expr, acc Tensor[Rmem, Acc]) Expr {
	k.Helper()
	bits, thr, val := 4*elem.KindOf[Acc]().Bits(), Shape(ws.threads), Shape(4)
	r2g := NewTiledCopy[Acc](atoms.UniversalCopy[Rmem, Gmem](bits), thr, val)
	g2r := NewTiledCopy[Acc](atoms.UniversalCopy[Gmem, Rmem](bits), thr, val)
	vec := FragmentLike(ws.parts.At(All, 0, 0, 0).Tile(Tile(4), 0))                                    // (4)
	quads := acc.Extent(0) / 4                                                                         // wgmma has several in one tile
	quad := func(m, n int) Tensor[Rmem, Acc] { return acc.At(All, m, n/quads).Tile(Tile(4), n%quads) } // (4)
	each := func(f func(m, n int)) {
		for n := range acc.Extent(2) * quads {
			for m := range acc.Extent(1) {
				f(m, n)
			}
		}
	}
	slot := func(j Expr) Expr { return s.slot(j).Min(ws.slots.Sub(1)) }            // which it always is
	mine := r2g.Slice(thread).PartitionD(ws.parts.At(All, All, All, slot(s.mine))) // (CPY,1,MMA_M,MMA_N)
	each(func(m, n int) {
		k.Helper()
		Map(quad(m, n), vec, func(v Val[Acc]) Val[Acc] { return v })
		Copy(r2g, vec, mine.At(All, 0, m, n))
	})
	missing := k.Let("toCome", s.parts.Sub(1).Sub(Arrive(k, ws.counters.At(s.counter), s.parts)))
	k.If(missing.Eq(0), func() {
		k.Helper()
		add := func(j Expr) {
			k.Helper()
			theirs := g2r.Slice(thread).PartitionS(ws.parts.At(All, All, All, slot(j))) // (CPY,1,MMA_M,MMA_N)
			each(func(m, n int) {
				k.Helper()
				Copy(g2r, theirs.At(All, 0, m, n), vec)
				Combine(quad(m, n), vec, func(sum, v Val[Acc]) Val[Acc] { return sum.Add(v) })
			})
		}
		k.If(s.parts.Eq(2), func() { add(s.mine.Mul(-1).Add(1).Max(0)) }, // either order gives the same sum
			func() {
				k.Helper()
				Clear(acc)
				k.Loop(0, s.parts, func(j Expr) { // which nvcc must not split: all loads of a part are to be on their way at once
					k.Helper()
					add(k.Opaque("part", j))
				})
			})
	}, nil)
	return missing
}
