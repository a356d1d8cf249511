package dsl

import (
	"slices"

	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// WarpgroupGemm starts c += a*b by wgmma: a and b are partitions (PartitionA, PartitionB) of shared memory
// (MMA,MMA_M,MMA_K) and (MMA,MMA_N,MMA_K), c accumulators (MMA,MMA_M,MMA_N); the K mode may have been selected away. Rows
// along K, or columns along M or N for an atom of that major, are swizzled by Sw<1..3,4,3> on bytes. It comes between WarpgroupArrive and WarpgroupCommitBatch; until a
// WarpgroupWait nothing else may touch c, nor write what a and b are in.
func WarpgroupGemm[D, A, B, C elem.Any](m TiledMMA[D, A, B, C], a Tensor[Smem, A], b Tensor[Smem, B], c Tensor[Rmem, C]) {
	k := together("WarpgroupGemm", origin(a), origin(b), origin(c))
	if k == nil || !k.made("WarpgroupGemm", "TiledMMA", m.m != nil, m.err) || !k.usable("WarpgroupGemm", a.t, b.t, c.t) {
		return
	}
	if n := k.kernel.ir.Threads; n%128 != 0 {
		k.errorf("WarpgroupGemm", "expects a block of whole warpgroups of 128 threads, but got %d", n)
		return
	}
	if err := ir.CheckWarpgroupGemm(m.m, a.t, b.t, c.t); err != nil {
		k.errorf("WarpgroupGemm", "%v", err)
		return
	}
	for _, t := range []*ir.Tensor{a.t, b.t} {
		if !k.align("WarpgroupGemm", t, 128<<t.Swizzle.B) {
			return
		}
	}
	if len(k.batches) == 0 {
		k.batches = make([][]*ir.Storage, 1)
	}
	open := len(k.batches) - 1
	k.batches[open] = append(k.batches[open], c.t.Storage)
	k.add(ir.WarpgroupGemmOp{Pos: k.position(), MMA: m.m, A: a.t, B: b.t, C: c.t})
}

// WarpgroupArrive orders accumulators that were set before the products that follow (warpgroup_arrive).
func (k *K) WarpgroupArrive() {
	given("WarpgroupArrive", k)
	k.add(ir.StmtOp{Stmt: cir.WarpgroupArrive{Pos: k.position()}})
}

// WarpgroupCommitBatch closes the group of the products since the last one (warpgroup_commit_batch).
func (k *K) WarpgroupCommitBatch() {
	given("WarpgroupCommitBatch", k)
	k.batches = append(k.batches, nil)
	k.add(ir.StmtOp{Stmt: cir.WarpgroupCommit{Pos: k.position()}})
}

// WarpgroupWait waits until at most n groups of products are in flight (warpgroup_wait): what earlier ones read may be
// written again, and accumulators that none of the last n batches before it in the kernel's text adds to may be used. In a
// Loop, WarpgroupWait(0) completes those of the Loop's later products, too, which are of the round before.
func (k *K) WarpgroupWait(n int) {
	given("WarpgroupWait", k)
	if n < 0 || n > 7 {
		k.errorf("WarpgroupWait", "expects 0 to 7 groups, but got %d", n)
		return
	}
	op := ir.WarpgroupWaitOp{Pos: k.position(), Pending: n}
	last := max(0, len(k.batches)-1-n)
	busy := slices.Concat(k.batches[last:]...)
	for _, st := range slices.Concat(k.batches[:last]...) {
		if !slices.Contains(busy, st) && !slices.Contains(op.Accs, st) {
			op.Accs = append(op.Accs, st)
		}
	}
	k.add(op)
}

// completeRound has waits for all products in a loop's body complete the accumulators of the products after them.
func completeRound(ops []ir.Op) {
	var accs []*ir.Storage
	var find, name func(ops []ir.Op)
	each := func(op ir.Op, f func([]ir.Op)) {
		switch op := op.(type) {
		case ir.LoopOp:
			f(op.Body)
		case ir.IfOp:
			f(op.Then)
			f(op.Else)
		}
	}
	find = func(ops []ir.Op) {
		for _, op := range ops {
			if g, ok := op.(ir.WarpgroupGemmOp); ok && !slices.Contains(accs, g.C.Storage) {
				accs = append(accs, g.C.Storage)
			}
			each(op, find)
		}
	}
	name = func(ops []ir.Op) {
		for i, op := range ops {
			if w, ok := op.(ir.WarpgroupWaitOp); ok && w.Pending == 0 {
				for _, st := range accs {
					if !slices.Contains(w.Accs, st) {
						w.Accs = append(w.Accs, st)
					}
				}
				ops[i] = w
			}
			each(op, name)
		}
	}
	find(ops)
	name(ops)
}
