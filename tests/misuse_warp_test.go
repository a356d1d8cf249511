package tests

import (
	"github.com/gocute/gocute/atoms"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// Shuffles, votes, atomics and barriers of some threads that cannot be what the user meant.

// one is a kernel's fragment of one element.
func one[E elem.Any](k *K, name string) Tensor[Rmem, E] {
	k.Helper()
	return FragmentLike(In[E](k, name, Shape(32)).Tile(Tile(1), k.Thread))
}

var _ = misuse("named_barriers", func(k *K) {
	k.Threads(64)
	k.NamedBarrier(0, 64)   // ERROR "NamedBarrier: expects the number of a barrier from 1 to 15, but got 0"
	k.NamedBarrier(1, 40)   // ERROR "NamedBarrier: expects whole warps, a multiple of 32 threads, but got 40"
	k.NamedBarrier(15, 128) // ERROR "NamedBarrier: expects no more than the block's 64 threads, but got 128"
})

var _ = misuse("shuffles", func(k *K) {
	k.Threads(32)
	a, b := one[elem.F32](k, "A"), one[elem.S8](k, "B")
	two := FragmentLike(In[elem.F32](k, "C", Shape(64)).Tile(Tile(2), k.Thread))
	ShuffleXor(a, a, 32)                                                                // ERROR "ShuffleXor: expects a number of lanes from 0 to 31, but got 32"
	ShuffleUp(b, b, 1)                                                                  // ERROR "ShuffleUp: a shuffle moves single elements of 32 or 64 bits, f16 and bf16, but got s8"
	ShuffleIdx(a, two, 1)                                                               // ERROR "ShuffleIdx: mode 0 expects one extent"
	ReduceWarp(a, 24, func(x, y Val[elem.F32]) Val[elem.F32] { return x.Add(y) })       // ERROR "ReduceWarp: expects groups of 1, 2, 4, 8, 16 or 32 lanes, but got 24"
	ReduceWarp(a, 32, nil)                                                              // ERROR "ReduceWarp: expects a function, but got nil"
	ShuffleDown(Recast[elem.U32](a), one[elem.U32](k, "D"), 1)                          // ERROR "ShuffleDown: expects elements as they are stored"
	ReduceWarp(a, 2, func(x, y Val[elem.F32]) Val[elem.F32] { return Val[elem.F32]{} }) // ERROR "the function returned a value that was never set"
})

var _ = misuse("votes", func(k *K) {
	k.Threads(32)
	a, b := one[elem.F32](k, "A"), one[elem.U32](k, "B")
	VoteAny(a, b, nil)                                                         // ERROR "VoteAny: expects a function, but got nil"
	VoteAll(a, b, func(v Val[elem.F32]) Cond { return v.Lt(Val[elem.F32]{}) }) // ERROR "expects a value, but got one that was never set"
	VoteBallot(a, b, func(v Val[elem.F32]) Cond { return Cond{} })             // ERROR "VoteBallot: expects a condition"
	var kept Val[elem.F32]
	Map(a, a, func(v Val[elem.F32]) Val[elem.F32] { kept = v; return v })
	VoteAny(a, b, func(v Val[elem.F32]) Cond { return v.Lt(kept) }) // ERROR "VoteAny: expects a value that the function computes from its arguments"
})

var _ = misuse("atomics", func(k *K) {
	k.Threads(32)
	in, out := In[elem.S32](k, "X", Shape(32)).Tile(Tile(1), k.Thread), Out[elem.S32](k, "O", Shape(32)).Tile(Tile(1), k.Thread)
	both := InOut[elem.S32](k, "B", Shape(32))
	a := FragmentLike(in)
	AtomicAdd(in, a)   // ERROR "AtomicAdd: expects a tensor that may be read and written, since it changes what is there, but X was not declared with InOut"
	AtomicMax(out, a)  // ERROR "AtomicMax: expects a tensor that may be read and written, since it changes what is there, but O was not declared with InOut"
	AtomicMin(both, a) // ERROR "AtomicMin: mode 0 expects one extent"
})

var _ = misuse("grids", func(k *K) {
	k.Threads(32)
	counters, in := InOut[elem.U32](k, "N", Shape(4)), In[elem.U32](k, "J", Shape(4))
	a := one[elem.F32](k, "A")
	k.If(k.Thread.Lt(1), func() {
		k.GridDependencySynchronize() // ERROR "GridDependencySynchronize: expects to be called for all threads, but it is in the body of a Loop, an Unroll or an If"
	}, nil)
	Arrive(k, counters, 4)                                    // ERROR "Arrive: expects one element, but N has shape \(4\): select one with At"
	Arrive(k, in.At(0), 4)                                    // ERROR "Arrive: expects a tensor that may be read and written, but J was not declared with InOut"
	Arrive(k, counters.At(0), 0)                              // ERROR "Arrive: expects a count of 1 or more blocks, but 0 may be 0"
	Arrive(k, counters.At(k.Thread.Mod(4)), 2)                // ERROR "Arrive: expects one counter and one count for the whole block, but they depend on the thread"
	Arrive(k, counters.At(k.Let("lane", k.Thread.Mod(4))), 2) // ERROR "Arrive: expects one counter and one count for the whole block, but they depend on the thread"
	Copy(NewTiledCopy[elem.F32](atoms.UniversalCopy[Gmem, Rmem](32), Shape(32), Shape(1)), In[elem.F32](k, "B", Shape(32)).Tile(Tile(1), k.Thread), a)
	k.GridDependencySynchronize() // ERROR "GridDependencySynchronize: expects to come before everything that may touch memory, but misuse_warp_test.go:"
})

var _ = misuse("clocks", func(k *K) {
	out := Out[elem.U64](k, "O", Shape(4))
	k.Threads(32)
	var other *K
	Define("other", func(o *K) { other = o; In[elem.F32](o, "A", Shape(32)); o.Threads(32) })
	Map(Clock64(k), out, func(v Val[elem.U64]) Val[elem.U64] { return v })                          // ERROR "Map: mode 0 expects one extent"
	Map(GlobalTimer(other), out.Tile(Tile(1), 0), func(v Val[elem.U64]) Val[elem.U64] { return v }) // ERROR "Map: expects tensors of one kernel, but got one of kernel other"
	ShuffleXor(Clock64(k), FragmentLike(out), 1)                                                    // ERROR "ShuffleXor: mode 0 expects one extent"
	Map(Clock64(nil), out.Tile(Tile(1), 0), func(v Val[elem.U64]) Val[elem.U64] { return v })       // ERROR "Clock64: expects the K of the kernel's function, but got one that is nil"
})

var _ = misuse("ends_of_tensors", func(k *K) {
	k.Threads(32)
	A := In[elem.F32](k, "A", Shape(4, 8).Strides(8, 1))
	A.At(1, All).Within(0, 5).At(All)
	A.Within(0, 2).Within(0, 1)
	A.Within(2, 5)                                  // ERROR "Within: expects a mode that is a whole one of a tensor in global memory, not cut by Tile or At, but mode 2 of A \(4,8\) is none"
	A.At(1, All).Within(1, 5)                       // ERROR "Within: expects a mode that is a whole one of a tensor in global memory"
	A.Tile(Tile(1, 4), 1, 1).Within(1, 2)           // ERROR "Within: expects a mode that is a whole one of a tensor in global memory"
	Shared[elem.F32](k, "s", Shape(4)).Within(0, 2) // ERROR "Within: expects a mode that is a whole one of a tensor in global memory"
	c := InOut[elem.U32](k, "c", Shape(1))
	Arrive(nil, c.At(0), 1)          // ERROR "Arrive: expects this kernel's K, but got one that was never set"
	Arrive(k, c.At(0), int64(1)<<40) // ERROR "Arrive: expects a count of at most 2\^31-1 blocks"
})
