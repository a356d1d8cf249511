package emu_test

import (
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// fragmented is a kernel of n threads with an element of A in r and another register o, which is stored in B.
func fragmented[E elem.Any](name string, n int, body func(k *K, r, o Tensor[Rmem, E])) *cir.Kernel {
	return lowered(Define(name, func(k *K) {
		A, B := In[E](k, "A", Shape(n)), Out[E](k, "B", Shape(n))
		k.Threads(n)
		k.Helper()
		r, o := FragmentLike(A.Tile(Tile(1), k.Thread)), FragmentLike(B.Tile(Tile(1), k.Thread))
		get(k, A, k.Thread, r)
		Fill(o, 0)
		body(k, r, o)
		put(k, o, B, k.Thread)
	}))
}

func positive[E elem.Any](v Val[E]) Cond { return Lit[E](0).Lt(v) }

// masked gives the shuffles and votes of a kernel a mask.
func masked(k *cir.Kernel, mask uint32) *cir.Kernel {
	k.Body = cir.Rewrite(k.Body, func(s cir.Stmt) []cir.Stmt {
		switch x := s.(type) {
		case cir.Shuffle:
			x.Mask = mask
			s = x
		case cir.Vote:
			x.Mask = mask
			s = x
		}
		return []cir.Stmt{s}
	})
	return k
}

func shuffleInBranch() *cir.Kernel {
	return fragmented("shuffle_in_branch", 32, func(k *K, r, o Tensor[Rmem, elem.F32]) {
		k.If(k.Thread.Lt(16), func() {
			ShuffleXor(r, o, 1) // BROKEN divergent
		}, nil)
	})
}

func reductionInLoop() *cir.Kernel {
	return fragmented("reduction_in_loop", 32, func(k *K, r, o Tensor[Rmem, elem.F32]) {
		k.Loop(0, k.Thread.Mod(3), func(Expr) {
			ReduceWarp(r, 32, func(x, y Val[elem.F32]) Val[elem.F32] { return x.Add(y) }) // BROKEN divergent
		})
	})
}

func shuffleFromNowhere() *cir.Kernel {
	return fragmented("shuffle_from_nowhere", 48, func(k *K, r, o Tensor[Rmem, elem.F32]) {
		ShuffleXor(r, o, 16) // BROKEN inactive-lane
	})
}

func shufflePastTheEnd() *cir.Kernel {
	return fragmented("shuffle_past_the_end", 24, func(k *K, r, o Tensor[Rmem, elem.S32]) {
		ShuffleDown(r, o, 4) // BROKEN inactive-lane
	})
}

func shuffleOutsideMask() *cir.Kernel {
	return masked(fragmented("shuffle_outside_mask", 32, func(k *K, r, o Tensor[Rmem, elem.F32]) {
		ShuffleIdx(r, o, 0) // BROKEN inactive-lane
	}), 0xffff)
}

func shuffleFromOutsideMask() *cir.Kernel {
	return masked(fragmented("shuffle_from_outside_mask", 32, func(k *K, r, o Tensor[Rmem, elem.F32]) {
		k.If(k.Thread.Lt(16), func() {
			ShuffleIdx(r, o, 20) // BROKEN inactive-lane
		}, nil)
	}), 0xffff)
}

func shuffleUninitialised() *cir.Kernel {
	return fragmented("shuffle_uninitialised", 32, func(k *K, r, o Tensor[Rmem, elem.F32]) {
		q := FragmentLike(r)
		k.If(k.Thread.Lt(8), func() { Fill(q, 1) }, nil)
		ShuffleUp(q, o, 1) // BROKEN uninitialised
	})
}

func voteInBranch() *cir.Kernel {
	return fragmented("vote_in_branch", 64, func(k *K, r, o Tensor[Rmem, elem.U32]) {
		k.If(k.Thread.Lt(40), func() {
			VoteAny(r, o, positive) // BROKEN divergent
		}, nil)
	})
}

func voteOutsideMask() *cir.Kernel {
	return masked(fragmented("vote_outside_mask", 32, func(k *K, r, o Tensor[Rmem, elem.U32]) {
		VoteBallot(r, o, positive) // BROKEN inactive-lane
	}), 0xff)
}

func syncInBranch() *cir.Kernel {
	return reversal("sync_in_branch", 32, func(k *K, r Tensor[Rmem, elem.F32], s Tensor[Smem, elem.F32], t, back Expr) {
		put(k, r, s, t)
		k.If(t.Lt(30), func() {
			k.SyncWarp() // BROKEN divergent
		}, nil)
		get(k, s, back, r)
	})
}

func syncOfTooFew() *cir.Kernel {
	return reversal("sync_of_too_few", 64, func(k *K, r Tensor[Rmem, elem.F32], s Tensor[Smem, elem.F32], t, back Expr) {
		put(k, r, s, t)
		k.SyncWarp()
		get(k, s, back, r) // BROKEN race
	})
}

// shuffleIsNoSync: lanes that have exchanged registers do not see each other's memory for that.
func shuffleIsNoSync() *cir.Kernel {
	return reversal("shuffle_is_no_sync", 32, func(k *K, r Tensor[Rmem, elem.F32], s Tensor[Smem, elem.F32], t, back Expr) {
		put(k, r, s, t)
		ShuffleXor(r, r, 1)
		get(k, s, back, r) // BROKEN race
	})
}

func namedInBranch() *cir.Kernel {
	return reversal("named_in_branch", 64, func(k *K, r Tensor[Rmem, elem.F32], s Tensor[Smem, elem.F32], t, back Expr) {
		put(k, r, s, t)
		k.If(t.Lt(40), func() {
			k.NamedBarrier(1, 64) // BROKEN divergent
		}, nil)
		get(k, s, back, r)
	})
}

func namedNobodyComes() *cir.Kernel {
	return reversal("named_nobody_comes", 96, func(k *K, r Tensor[Rmem, elem.F32], s Tensor[Smem, elem.F32], t, back Expr) {
		put(k, r, s, t)
		k.If(t.Lt(64), func() {
			k.NamedBarrier(1, 96) // BROKEN deadlock
		}, nil)
	})
}

func namedCrossed() *cir.Kernel {
	return reversal("named_crossed", 64, func(k *K, r Tensor[Rmem, elem.F32], s Tensor[Smem, elem.F32], t, back Expr) {
		put(k, r, s, t)
		k.If(t.Lt(32), func() {
			k.NamedBarrier(1, 64) // BROKEN deadlock
		}, func() {
			k.Barrier()
		})
	})
}

func namedCounts() *cir.Kernel {
	return reversal("named_counts", 128, func(k *K, r Tensor[Rmem, elem.F32], s Tensor[Smem, elem.F32], t, back Expr) {
		put(k, r, s, t)
		n := func(threads int) func() { return func() { k.Helper(); k.NamedBarrier(3, threads) } }
		k.If(t.Lt(32), n(96), n(128)) // BROKEN divergent
	})
}

func namedOfOthers() *cir.Kernel {
	return reversal("named_of_others", 64, func(k *K, r Tensor[Rmem, elem.F32], s Tensor[Smem, elem.F32], t, back Expr) {
		put(k, r, s, t)
		k.If(t.Lt(32), func() { k.NamedBarrier(1, 32) }, func() { k.NamedBarrier(2, 32) })
		get(k, s, back, r) // BROKEN race
	})
}
