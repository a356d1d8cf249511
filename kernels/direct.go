package kernels

import (
	"github.com/gocute/gocute/atoms"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// direct stores C = f(alpha*acc + beta*C) from the accumulators: each thread has whole vectors of rows.
func (o output[E, Acc, Q, O]) direct(w work) {
	k, p, bits := o.p.k, o.p, o.columns.vec*elem.KindOf[O]().Bits()
	k.Helper()
	tv, tile := o.columns.threads(p.g.WarpM, true)
	own, _ := o.columns.threads(p.g.WarpM, false)
	g2r := NewTiledCopyTV[O](atoms.UniversalCopy[Gmem, Rmem](bits), tv, tile)
	r2g := NewTiledCopyTV[O](atoms.UniversalCopy[Rmem, Gmem](bits), tv, tile)
	regs := NewTiledCopyTV[Acc](atoms.UniversalCopy[Rmem, Gmem](elem.KindOf[Acc]().Bits()), own, tile)
	from := regs.Slice(w.thread).RetileS(p.acc)      // (CPY,CPY_M,CPY_N)
	gC := ordered(o.columns, o.matrix(w), p.g.BM, w) // (BLK_M,BLK_N)
	to := r2g.Slice(w.thread).PartitionD(gC)         // (CPY,CPY_M,CPY_N)
	old := g2r.Slice(w.thread).PartitionS(gC)        // (CPY,CPY_M,CPY_N)
	f := newFusion(o.in, g2r, w.thread, func(t Tensor[Gmem, O]) Tensor[Gmem, O] { return ordered(o.columns, t, p.g.BM, w) })
	acc := func(m any, n int) Tensor[Rmem, Acc] { // (CPY)
		return group(o.columns, from, m, n).Tile(Tile(o.columns.vectors()), 0)
	}
	x := make([]Tensor[Rmem, Q], to.Extent(2)) // (CPY)
	scaled := func(v Val[Acc]) Val[Q] { return To[Q](v).Mul(o.alpha) }
	finish := func(m Expr) {
		k.Helper()
		k.If(o.beta.Ne(Lit[Q](0)), func() {
			k.Helper()
			for n := range x {
				was := FragmentLike(old.At(All, m, n)) // (CPY)
				Copy(g2r, old.At(All, m, n), was)
				Combine(x[n], was, func(v Val[Q], c Val[O]) Val[Q] { return v.Add(To[Q](c).Mul(o.beta)) })
			}
		}, nil)
		for n := range x {
			f.apply(x[n], n, All, m, n)
			Copy(r2g, Convert[O](x[n]), to.At(All, m, n))
		}
	}
	if o.in.f == nil { // the loop below takes up to 3 % of small products' time
		k.Unroll(to.Extent(1), func(m Expr) {
			k.Helper()
			for n := range x {
				x[n] = Mapped(acc(m, n), scaled)
			}
			finish(m)
		})
		return
	}
	// Not unrolled: all but what takes the sums from their registers is compiled once. Unrolled, a function of many
	// instructions is more than the cache of instructions holds.
	f.hold(len(x), to.Extent(0), func(n int) []any { return []any{All, 0, n} })
	k.Loop(0, to.Extent(1), func(m Expr) {
		k.Helper()
		for n := range x {
			x[n] = FragmentAs[Q](acc(0, n))
		}
		k.Switch(m, to.Extent(1), func(m int) {
			k.Helper()
			for n := range x {
				Map(acc(m, n), x[n], scaled)
			}
		})
		finish(m)
	})
}

// group is the accumulators of a thread's n-th vectors in the m-th rows: what vec/2 instructions of mma.sync have, or a
// part of what one of wgmma has.
func group[Acc elem.Any](c columns, acc Tensor[Rmem, Acc], m any, n int) Tensor[Rmem, Acc] {
	groups := acc.Extent(0) / (2 * c.vec)
	return acc.At(All, m, n/groups).Tile(Tile(2*c.vec), n%groups) // (CPY)
}

// fusion applies an epilogue's function where a copy puts its results.
type fusion[O, Q elem.Any] struct {
	in    *EpilogueInputs[Q, O]
	g2r   TiledCopy[Gmem, Rmem, O]
	parts []Tensor[Gmem, O]   // of the inputs, as g2r partitions C
	held  [][]Tensor[Rmem, O] // of those inputs that are the same in all rows: what is read once
}

// mostHeld is how many registers an input may take from the first row to the last.
const mostHeld = 16

// hold reads what is the same in all rows at n places, of so many elements, of the first one, which is within C if any of a thread's rows is.
func (f *fusion[O, Q]) hold(n, elements int, at func(int) []any) {
	f.in.k.Helper()
	f.held = make([][]Tensor[Rmem, O], len(f.parts))
	for j := range f.parts {
		if !f.in.inputs[j].row || n*elements*elem.KindOf[O]().Bits() > mostHeld*32 {
			continue
		}
		for i := range n {
			f.held[j] = append(f.held[j], f.read(j, at(i)...))
		}
	}
}

// read is what an input has at a place of the partitions.
func (f *fusion[O, Q]) read(j int, at ...any) Tensor[Rmem, O] {
	f.in.k.Helper()
	here := f.parts[j].At(at...)
	given := FragmentLike(here)
	if f.in.inputs[j].vector {
		Copy(f.g2r, here, given)
	} else {
		Map(here, given, func(v Val[O]) Val[O] { return v })
	}
	return given
}

// newFusion partitions the inputs; tile takes from one what a block has of it.
func newFusion[O, Q elem.Any](in *EpilogueInputs[Q, O], g2r TiledCopy[Gmem, Rmem, O], thread Expr, tile func(Tensor[Gmem, O]) Tensor[Gmem, O]) fusion[O, Q] {
	in.k.Helper()
	f := fusion[O, Q]{in: in, g2r: g2r}
	for _, i := range in.inputs {
		f.parts = append(f.parts, g2r.Slice(thread).PartitionS(tile(i.tensor)))
	}
	return f
}

// apply applies the function to what is at a place of the partitions, the n-th of its row.
func (f *fusion[O, Q]) apply(x Tensor[Rmem, Q], n int, at ...any) {
	if f.in.f == nil {
		return
	}
	f.in.k.Helper()
	var inputs []Tensor[Rmem, Q]
	for j := range f.parts {
		if f.held[j] != nil {
			inputs = append(inputs, Convert[Q](f.held[j][n]))
		} else {
			inputs = append(inputs, Convert[Q](f.read(j, at...)))
		}
	}
	Transform(x, f.in.f, inputs...)
}

// ordered is a block's tile of C, or of what has its extents, with columns as the MMA has them.
func ordered[O elem.Any](c columns, t Tensor[Gmem, O], rows int, w work) Tensor[Gmem, O] {
	return t.Tile(Tile(rows, c.tile()), w.tileM, w.tileN) // (BLK_M,BLK_N)
}

// staged is a tile in shared memory with columns as the MMA has them.
func staged[Acc elem.Any](c columns, s Tensor[Smem, Acc]) Tensor[Smem, Acc] {
	if !c.permuted() {
		return s
	}
	return s.Tile(Tile(s.Extent(0), c.order()), 0, 0) // (SLICE_M,BLK_N)
}
