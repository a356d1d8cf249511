package dsl

import (
	"fmt"
	"slices"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// StageFill is the copies into one stage of a Pipeline of TMALoads.
type StageFill struct {
	p      *Pipeline
	bar    *ir.Tensor
	body   *[]ir.Op // of the function that makes them
	copies []ir.TensorCopyOp
	bytes  int
	asked  bool // for at least one copy, which may have been a mistake
	done   bool
}

// TMALoad copies a tile of a global tensor to a tile of shared memory by the copy engine (SM90_TMA_LOAD): one thread starts
// it, and what lies beyond the tensor's extents becomes zeros. Both tiles have the same modes; that in shared memory is a
// stretch of it, plain or swizzled by Sw<1..3,4,3> on bytes, and the tile in global memory a box of at most five
// dimensions and 256 elements in each, in that order. The order may permute a mode, if the mode's extent is a multiple of
// what is permuted.
func TMALoad[E elem.Any](f *StageFill, src Tensor[Gmem, E], dst Tensor[Smem, E]) {
	k := together("TMALoad", origin(src), origin(dst))
	if f != nil {
		f.asked = true
	}
	if k == nil || !k.usable("TMALoad", src.t, dst.t) {
		return
	}
	if f == nil || f.p == nil || f.done {
		k.errorf("TMALoad", "expects the StageFill of a pipeline whose function is running")
		return
	}
	if f.body != k.body {
		k.errorf("TMALoad", "expects to be called in Fill's function itself, not in a body of Loop, Unroll or If within it")
		return
	}
	m, coords, err := ir.NewTensorMap(src.t, dst.t)
	if err != nil {
		k.errorf("TMALoad", "%v", err)
		return
	}
	for _, e := range append(slices.Clone(coords), dst.t.Offset) {
		if k.perThread(e) {
			k.errorf("TMALoad", "expects one tile for the whole block, since one thread copies it, but its place %s depends on the thread", e)
			return
		}
	}
	row, err := atoms.Bulk("SM90_TMA_LOAD", m.Bytes()*8)
	if err != nil {
		k.errorf("TMALoad", "%v", err)
		return
	}
	if !k.align("TMALoad", dst.t, m.Align()) {
		return
	}
	f.bytes += m.Bytes()
	f.copies = append(f.copies, ir.TensorCopyOp{Pos: k.position(), Row: row, Map: k.tensorMap(m), Coords: coords, Dst: dst.t, Bar: f.bar})
}

// tensorMap is the kernel's argument that describes boxes so: one for all copies of the same kind.
func (k *K) tensorMap(m *cir.TensorMap) *cir.TensorMap {
	same := func(a, b *cir.TensorMap) bool {
		return a.Of == b.Of && a.Swizzle == b.Swizzle && fmt.Sprint(a.Box, a.Extents, a.Strides) == fmt.Sprint(b.Box, b.Extents, b.Strides)
	}
	for _, have := range k.kernel.ir.Maps {
		if same(have, m) {
			return have
		}
	}
	m.Name = k.unused(m.Of.Name + "_map")
	k.names[m.Name] = true
	k.kernel.ir.Maps = append(k.kernel.ir.Maps, m)
	return m
}

// Fill has one warp wait until everybody has released the tile that was in this tile's stage before, and one thread of it
// start the copies that copies makes. It is for pipelines of TMALoads; Wait waits for what they bring.
func (p *Pipeline) Fill(tile any, copies func(f *StageFill)) {
	k := p.made("Fill").k
	if p.sync != TMALoads {
		k.errorf("Fill", "expects a pipeline of TMALoads; with Groups and MBarriers all threads copy, between Acquire and Commit")
		return
	}
	if !k.function("Fill", copies == nil) {
		return
	}
	if e := p.expr(tile); e.err == nil && k.perThread(e.e) {
		k.errorf("Fill", "expects one tile for the whole block, but %s depends on the thread", e.e)
		return
	}
	bar := p.bar(p.full, p.Stage(tile))
	if bar == nil {
		return
	}
	f := &StageFill{p: p, bar: bar}
	k.If(k.Thread.Lt(32), func() {
		k.Helper()
		p.acquire(tile)
		k.If(k.Thread.Eq(0), func() {
			f.body = k.body
			copies(f)
			f.done = true
			if !f.asked {
				k.errorf("Fill", "expects at least one TMALoad")
			}
			if len(f.copies) == 0 {
				return
			}
			k.add(ir.MBarrierOp{Pos: k.position(), Step: ir.MBarrierExpect, Bar: bar, Count: f.bytes})
			for _, c := range f.copies {
				k.add(c)
			}
		}, nil)
	}, nil)
}

// bar is one stage's barrier.
func (p *Pipeline) bar(bars Tensor[Smem, elem.U64], stage any) *ir.Tensor {
	k := p.k
	e, ok := k.expr("Pipeline", stage)
	if !ok || bars.t == nil {
		return nil
	}
	t, err := bars.t.At(algebra.C(e))
	if err != nil {
		k.errorf("Pipeline", "%v", err)
		return nil
	}
	t.Layout = algebra.MustParse("(1):(0)")
	return t
}
