package dsl

import (
	"fmt"
	"math/bits"

	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// SyncWarp waits for all threads of the warp: what they did to memory before is visible to all of them then. It is a
// Barrier for those that share memory with threads of their own warp only.
func (k *K) SyncWarp() {
	given("SyncWarp", k)
	k.add(ir.StmtOp{Stmt: cir.SyncWarp{Pos: k.position()}})
}

// NamedBarrier waits at one of the block's barriers 1 to 15 until so many threads have come, whole warps of them: a
// Barrier for some of the block's warps. Call it after Threads.
func (k *K) NamedBarrier(id, threads int) {
	given("NamedBarrier", k)
	if err := cir.CheckNamedBarrier(id, threads, k.kernel.ir.Threads); err != nil {
		k.errorf("NamedBarrier", "%v", err)
		return
	}
	k.add(ir.StmtOp{Stmt: cir.NamedBarrier{Pos: k.position(), ID: id, Threads: threads}})
}

// ShuffleIdx sets every element of dst to that of src in a lane of the warp, which may differ from thread to thread. All
// threads of the warp take part, as in all shuffles and votes.
func ShuffleIdx[E elem.Any](src, dst Tensor[Rmem, E], lane any) {
	shuffle("ShuffleIdx", cir.ShuffleIdx, src, dst, lane)
}

// ShuffleUp sets every element of dst to that of src as many lanes below; the lowest lanes keep their own.
func ShuffleUp[E elem.Any](src, dst Tensor[Rmem, E], lanes any) {
	shuffle("ShuffleUp", cir.ShuffleUp, src, dst, lanes)
}

// ShuffleDown sets every element of dst to that of src as many lanes above; the highest lanes keep their own.
func ShuffleDown[E elem.Any](src, dst Tensor[Rmem, E], lanes any) {
	shuffle("ShuffleDown", cir.ShuffleDown, src, dst, lanes)
}

// ShuffleXor sets every element of dst to that of src in the lane whose number differs in the given bits.
func ShuffleXor[E elem.Any](src, dst Tensor[Rmem, E], lanes any) {
	shuffle("ShuffleXor", cir.ShuffleXor, src, dst, lanes)
}

func shuffle[E elem.Any](op string, mode cir.ShuffleMode, src, dst Tensor[Rmem, E], lane any) {
	k := together(op, origin(dst), origin(src))
	if k == nil {
		return
	}
	e, ok := k.expr(op, lane)
	if !ok || !k.fragments(op, cir.CanShuffle(src.t.Elem), dst.t, src.t) {
		return
	}
	if lo, hi := e.Range(); hi < 0 || lo > 31 {
		k.errorf(op, "expects a number of lanes from 0 to 31, but got %s", e)
		return
	}
	k.add(ir.ShuffleOp{Pos: k.position(), Mode: mode, Lane: e, Src: src.t, Dst: dst.t})
}

// fragments checks views whose elements an operation takes one by one, and whether it takes their kind.
func (k *K) fragments(op string, kind error, dst *ir.Tensor, srcs ...*ir.Tensor) bool {
	if !k.usable(op, append(srcs, dst)...) {
		return false
	}
	if kind == nil {
		kind = ir.CheckElements(dst, srcs...)
	}
	if kind != nil {
		k.errorf(op, "%v", kind)
	}
	return kind == nil
}

// ReduceWarp replaces every element of a fragment by f of those of a group of lanes, in each of them: of the lanes 0 to
// lanes-1, of as many next ones, and so on. f must be associative and commutative; of sums of floating-point numbers
// the order is that of a tree, from the most distant lanes to neighbours.
func ReduceWarp[E elem.Any](frag Tensor[Rmem, E], lanes int, f func(x, y Val[E]) Val[E]) {
	k := together("ReduceWarp", origin(frag))
	if k == nil || !k.function("ReduceWarp", f == nil) {
		return
	}
	if lanes < 1 || lanes > 32 || bits.OnesCount(uint(lanes)) != 1 {
		k.errorf("ReduceWarp", "expects groups of 1, 2, 4, 8, 16 or 32 lanes, but got %d", lanes)
		return
	}
	if !k.fragments("ReduceWarp", cir.CanShuffle(frag.t.Elem), frag.t) || lanes == 1 {
		return
	}
	other := FragmentLike(frag)
	for d := lanes / 2; d > 0; d /= 2 {
		ShuffleXor(frag, other, d)
		Combine(frag, other, f)
	}
}

// VoteAny sets every element of dst to 1 where f holds of src's element at the same coordinate in any lane, else to 0.
func VoteAny[E elem.Any](src Tensor[Rmem, E], dst Tensor[Rmem, elem.U32], f func(Val[E]) Cond) {
	vote("VoteAny", cir.VoteAny, src, dst, f)
}

// VoteAll sets every element of dst to 1 where f holds of src's element at the same coordinate in all lanes, else to 0.
func VoteAll[E elem.Any](src Tensor[Rmem, E], dst Tensor[Rmem, elem.U32], f func(Val[E]) Cond) {
	vote("VoteAll", cir.VoteAll, src, dst, f)
}

// VoteBallot sets every element of dst to a bit for each lane, of whether f holds of src's element at the same
// coordinate there; lane 0 is the lowest bit.
func VoteBallot[E elem.Any](src Tensor[Rmem, E], dst Tensor[Rmem, elem.U32], f func(Val[E]) Cond) {
	vote("VoteBallot", cir.VoteBallot, src, dst, f)
}

func vote[E elem.Any](op string, o cir.VoteOp, src Tensor[Rmem, E], dst Tensor[Rmem, elem.U32], f func(Val[E]) Cond) {
	k := together(op, origin(dst), origin(src))
	if k == nil || !k.function(op, f == nil) || !k.fragments(op, cir.CanHold(src.t.Elem), dst.t, src.t) {
		return
	}
	probe := oneElem(src.t.Elem) // a first call finds mistakes in f at the user's line
	c := f(Val[E]{k: k, v: probe})
	err := c.mistake()
	if err == nil && c.k != nil && c.k != k {
		err = fmt.Errorf("expects a condition of this kernel, but got one of kernel %s", c.k.kernel.ir.Name)
	}
	if err != nil {
		k.errorf(op, "%v", err)
		return
	}
	if !k.ownValues(op, cir.Select{Cond: c.c}, probe.Ref.Reg) || !k.inScope(op, c.use...) {
		return
	}
	k.add(ir.VoteOp{Pos: k.position(), Op: o, Src: src.t, Dst: dst.t,
		F: func(v cir.Value) cir.Cond { return f(Val[E]{k: k, v: v}).c }})
}
