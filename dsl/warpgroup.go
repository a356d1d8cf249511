package dsl

import (
	"slices"

	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// WarpgroupGemm starts c += a*b by wgmma: a and b are partitions (PartitionA, PartitionB) of shared memory
// (MMA,MMA_M,MMA_K) and (MMA,MMA_N,MMA_K), c accumulators (MMA,MMA_M,MMA_N); the K mode may have been selected away. Rows
// along K are swizzled by Sw<1..3,4,3> on bytes. It comes between WarpgroupArrive and WarpgroupCommitBatch; until a
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
	if !slices.Contains(k.accumulators, c.t.Storage) {
		k.accumulators = append(k.accumulators, c.t.Storage)
	}
	k.add(ir.WarpgroupGemmOp{Pos: k.position(), MMA: m.m, A: a.t, B: b.t, C: c.t})
}

// WarpgroupArrive orders accumulators that were set before the products that follow (warpgroup_arrive).
func (k *K) WarpgroupArrive() {
	k.add(ir.StmtOp{Stmt: cir.WarpgroupArrive{Pos: k.position()}})
}

// WarpgroupCommitBatch closes the group of the products since the last one (warpgroup_commit_batch).
func (k *K) WarpgroupCommitBatch() {
	k.add(ir.StmtOp{Stmt: cir.WarpgroupCommit{Pos: k.position()}})
}

// WarpgroupWait waits until at most n groups of products are in flight (warpgroup_wait): what earlier ones read may be
// written again, and with 0 their accumulators may be read. It counts the products that were started before it in the
// kernel's text.
func (k *K) WarpgroupWait(n int) {
	if n < 0 || n > 7 {
		k.errorf("WarpgroupWait", "expects 0 to 7 groups, but got %d", n)
		return
	}
	op := ir.WarpgroupWaitOp{Pos: k.position(), Pending: n}
	if n == 0 {
		op.Accs = slices.Clone(k.accumulators)
	}
	k.add(op)
}
