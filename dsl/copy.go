package dsl

import (
	"errors"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/elem"
)

// TiledCopy is a copy atom laid out over the threads and values of a tile.
type TiledCopy[S, D Space, E elem.Any] struct {
	c    *ir.TiledCopy
	err  error
	made []uintptr // the calls that made it
}

// ThrCopy is one thread's part of a TiledCopy.
type ThrCopy[S, D Space, E elem.Any] struct {
	c      *ir.TiledCopy
	k      *K
	thread sym.Expr
}

func tiledCopy[E elem.Any, S, D Space](c *ir.TiledCopy, err error) TiledCopy[S, D, E] {
	return TiledCopy[S, D, E]{c: c, err: err, made: calls()}
}

func twoLayouts(thr, val Layout) (t, v algebra.Layout, err error) {
	if t, err = thr.Algebra(); err == nil {
		v, err = val.Algebra()
	}
	return t, v, err
}

// NewTiledCopy lays the atom's reference side out by a thread layout (coordinate to thread) and a value layout
// (coordinate to value), as CuTe's make_tiled_copy does. For ldmatrix the reference is the destination, for
// cp.async the source. Err says what is wrong with it, and so does its first use.
func NewTiledCopy[E elem.Any, S, D Space](a atoms.CopyAtom[S, D], thr, val Layout) TiledCopy[S, D, E] {
	t, v, err := twoLayouts(thr, val)
	if err != nil {
		return tiledCopy[E, S, D](nil, err)
	}
	return tiledCopy[E, S, D](ir.NewTiledCopy(a.Row(), elem.KindOf[E](), t, v))
}

// NewTiledCopyS states the thread and value layouts of the source side; the reference follows from it.
func NewTiledCopyS[E elem.Any, S, D Space](a atoms.CopyAtom[S, D], thr, val Layout) TiledCopy[S, D, E] {
	t, v, err := twoLayouts(thr, val)
	if err != nil {
		return tiledCopy[E, S, D](nil, err)
	}
	return tiledCopy[E, S, D](ir.NewTiledCopySide(a.Row(), elem.KindOf[E](), ir.Source, t, v))
}

// NewTiledCopyD states the thread and value layouts of the destination side; the reference follows from it.
func NewTiledCopyD[E elem.Any, S, D Space](a atoms.CopyAtom[S, D], thr, val Layout) TiledCopy[S, D, E] {
	t, v, err := twoLayouts(thr, val)
	if err != nil {
		return tiledCopy[E, S, D](nil, err)
	}
	return tiledCopy[E, S, D](ir.NewTiledCopySide(a.Row(), elem.KindOf[E](), ir.Destination, t, v))
}

// NewTiledCopyTV takes the reference's TV layout, (thread,value) to element of the tile counted along its first
// mode first, and the tile itself, whose strides do not matter (make_tiled_copy_impl).
func NewTiledCopyTV[E elem.Any, S, D Space](a atoms.CopyAtom[S, D], tv, tile Layout) TiledCopy[S, D, E] {
	t, v, err := twoLayouts(tv, tile)
	if err != nil {
		return tiledCopy[E, S, D](nil, err)
	}
	return tiledCopy[E, S, D](ir.NewTiledCopyTV(a.Row(), elem.KindOf[E](), t, v.Shape()))
}

// Err is the mistake in the copy's layouts, or nil.
func (c TiledCopy[S, D, E]) Err() error { return c.mistake("TiledCopy") }

// mistake is what is wrong with the copy, or that it was never made.
func (c TiledCopy[S, D, E]) mistake(op string) error {
	if c.c == nil && c.err == nil {
		return wrong(op, errors.New("expects a TiledCopy, but got one that was never set"))
	}
	return c.err
}

// Threads is the number of threads that the copy is laid out over.
func (c TiledCopy[S, D, E]) Threads() int {
	if c.c == nil {
		return 0
	}
	return int(c.c.NumThr)
}

// LayoutS and LayoutD are the TV layouts of the two sides, (thread,(atom values,repeats)) to element of the tile.
func (c TiledCopy[S, D, E]) LayoutS() Layout { return c.side(ir.Source) }

// LayoutD is the destination's TV layout.
func (c TiledCopy[S, D, E]) LayoutD() Layout { return c.side(ir.Destination) }

func (c TiledCopy[S, D, E]) side(s ir.Side) Layout {
	if c.c == nil {
		return Layout{err: c.mistake("Layout" + "SD"[s:s+1])}
	}
	l, err := c.c.SideTV(s)
	return Layout{l: l, err: err}
}

// Slice selects a thread.
func (c TiledCopy[S, D, E]) Slice(thread Integer) ThrCopy[S, D, E] {
	t, _ := exprOf(thread)
	k := t.k
	if k == nil {
		return ThrCopy[S, D, E]{}
	}
	if c.c == nil {
		if c.err != nil && c.err != errReported {
			k.failAt(c.made, "TiledCopy", "%v", c.err)
		}
		k.made("Slice", "TiledCopy", false, c.err)
		return ThrCopy[S, D, E]{k: k}
	}
	e, ok := k.thread("Slice", thread, c.c.NumThr, "copy")
	if !ok {
		return ThrCopy[S, D, E]{k: k}
	}
	return ThrCopy[S, D, E]{c: c.c, k: k, thread: e}
}

// threadWasSet reports a slice that was made by a thread that did not exist yet: it has no kernel.
func (k *K) threadWasSet(op string, slice *K) {
	if k != nil && slice == nil {
		k.errorf(op, "expects a slice by k.Thread, but it was made before k.Threads, which makes k.Thread")
	}
}

// thread checks that a thread expression numbers all threads of a tiled copy or MMA, and no others.
func (k *K) thread(op string, thread Integer, n int64, what string) (sym.Expr, bool) {
	e, ok := k.expr(op, thread)
	if !ok {
		return e, false
	}
	if lo, hi := e.Range(); lo < 0 || hi >= n {
		k.errorf(op, "expects a thread from 0 to %d, those of the %s, but %s may be %d", n-1, what, e, hi)
		return e, false
	} else if hi < n-1 {
		k.errorf(op, "expects all %d threads of the %s to take part, but %s is at most %d", n, what, e, hi)
		return e, false
	}
	return e, true
}

func (c ThrCopy[S, D, E]) partition(op string, k *K, t *ir.Tensor, s ir.Side) *ir.Tensor {
	if together(op, origin{k, t}) == nil || !k.sliced(op, c.k) {
		return nil
	}
	if c.c == nil || t == nil {
		k.threadWasSet(op, c.k)
		return nil
	}
	letter := c.c.Letter
	if letter == "" {
		letter = t.Base
	}
	out, err := t.Partition("t"+letter+t.Name, c.c, s, c.thread)
	if err != nil {
		c.k.errorf(op, "%s: %v", t.Name, err)
		return nil
	}
	out.Values = &ir.Provenance{Copy: c.c, Side: s}
	return out
}

// PartitionS is the thread's view of a source tensor: ((atom values,repeats),RestM,RestN,…).
func (c ThrCopy[S, D, E]) PartitionS(t Tensor[S, E]) Tensor[S, E] {
	return Tensor[S, E]{k: t.k, t: c.partition("PartitionS", t.k, t.t, ir.Source)}
}

// PartitionD is the thread's view of a destination tensor: ((atom values,repeats),RestM,RestN,…).
func (c ThrCopy[S, D, E]) PartitionD(t Tensor[D, E]) Tensor[D, E] {
	return Tensor[D, E]{k: t.k, t: c.partition("PartitionD", t.k, t.t, ir.Destination)}
}

// FragmentSrc declares registers for what the thread gives to a copy from registers: its part of a tensor on the
// copy's source side, ((atom values,repeats),RestM,RestN,…).
func FragmentSrc[X, D Space, E elem.Any](c ThrCopy[Rmem, D, E], t Tensor[X, E]) Tensor[Rmem, E] {
	return FragmentLike(Tensor[X, E]{k: t.k, t: c.partition("FragmentSrc", t.k, t.t, ir.Source)})
}

// FragmentDst declares registers for what the thread receives from a copy to registers: its part of a tensor on the
// copy's destination side, ((atom values,repeats),RestM,RestN,…). For ldmatrix that is not what the thread points at.
func FragmentDst[X, S Space, E elem.Any](c ThrCopy[S, Rmem, E], t Tensor[X, E]) Tensor[Rmem, E] {
	return FragmentLike(Tensor[X, E]{k: t.k, t: c.partition("FragmentDst", t.k, t.t, ir.Destination)})
}

func (c ThrCopy[S, D, E]) retile(op string, k *K, t *ir.Tensor, s ir.Side) *ir.Tensor {
	if together(op, origin{k, t}) == nil || !k.sliced(op, c.k) {
		return nil
	}
	if c.c == nil || t == nil {
		k.threadWasSet(op, c.k)
		return nil
	}
	if t.Storage.Space != ir.Register {
		c.k.errorf(op, "expects a register fragment, but %s is in %s memory", t.Name, t.Storage.Space)
		return nil
	}
	if t.Values == nil {
		c.k.errorf(op, "expects a fragment of an MMA or a copy, whose value order is known, but %s is neither", t.Name)
		return nil
	}
	if err := c.c.CheckRetile(t.Values, s); err != nil {
		c.k.errorf(op, "the fragment %s %s does not have the value order of this copy: %v", t.Name, t.Layout, err)
		return nil
	}
	l, err := c.c.Retile(t.Layout)
	if err != nil {
		c.k.errorf(op, "%s: %v", t.Name, err)
		return nil
	}
	out := *t
	out.Layout, out.Name, out.Values = l, "tX"+"r"+t.Base, nil
	return &out
}

// RetileS regroups a fragment as this copy reads it: ((atom values,repeats),RestM,RestN). It refuses a fragment
// whose values are not in this copy's order.
func (c ThrCopy[S, D, E]) RetileS(t Tensor[S, E]) Tensor[S, E] {
	return Tensor[S, E]{k: t.k, t: c.retile("RetileS", t.k, t.t, ir.Source)}
}

// RetileD regroups a fragment as this copy writes it: ((atom values,repeats),RestM,RestN). It refuses a fragment
// whose values are not in this copy's order.
func (c ThrCopy[S, D, E]) RetileD(t Tensor[D, E]) Tensor[D, E] {
	return Tensor[D, E]{k: t.k, t: c.retile("RetileD", t.k, t.t, ir.Destination)}
}

// Copy moves src to dst, partitions of this tiled copy (or retiled fragments). What lies outside the extents of a
// global source reads as zeros; what lies outside those of a global destination is not written.
func Copy[S, D Space, E elem.Any](c TiledCopy[S, D, E], src Tensor[S, E], dst Tensor[D, E]) {
	k := together("Copy", origin(src), origin(dst))
	if k == nil || !k.made("Copy", "TiledCopy", c.c != nil, c.err) {
		return
	}
	if !k.usable("Copy", src.t, dst.t) || !k.knownAll("Copy", &src.t, &dst.t) {
		return
	}
	if err := ir.CheckCopy(c.c, src.t, dst.t); err != nil {
		k.errorf("Copy", "%v", err)
		return
	}
	k.add(ir.CopyOp{Pos: k.position(), Copy: c.c, Src: src.t, Dst: dst.t})
}
