package tests

import (
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// Kernels, loops and tensors that cannot be what the user meant.

var _ = misuse("threads_twice", func(k *K) {
	In[elem.F32](k, "A", Shape(32))
	k.Threads(32)
	k.Threads(64) // ERROR "Threads: expects one call, but the block already has 32 threads"
})

var _ = misuse("threads_count", func(k *K) {
	In[elem.F32](k, "A", Shape(32))
	k.Threads(2048) // ERROR "Threads: expects 1 to 1024 threads, but got 2048"
})

var _ = misuse("grid_twice", func(k *K) {
	In[elem.F32](k, "A", Shape(32))
	k.Threads(32)
	k.Grid(4, k.Thread) // ERROR "Grid: extent 1 expects an expression of Dims, but got tid"
	k.Grid(4)           // ERROR "Grid: expects one call, but the grid is already 4"
})

var _ = misuse("block_too_soon", func(k *K) {
	A := In[elem.F32](k, "A", Shape(32, 32))
	k.Threads(32)
	A.Tile(Tile(8, 8), k.BlockX, All) // ERROR "Tile: expects a value, but got an Expr that was never set"
	k.Grid(4)
})

var _ = misuse("loop_variable_outside", func(k *K) {
	A := In[elem.F32](k, "A", Shape(32, 32))
	k.Threads(32)
	var last Expr
	k.Loop(0, 4, func(i Expr) { last = i })
	A.At(All, last) // ERROR "At: t belongs to the body that starts at line \d+ and cannot be used outside of it"
})

var _ = misuse("variable_outside", func(k *K) {
	In[elem.F32](k, "A", Shape(32, 32))
	k.Threads(32)
	var v Var
	k.If(k.Thread.Lt(4), func() { v = k.Var("v", 0, 0, 9) }, nil)
	v.Set(1) // ERROR "Set: v belongs to the body that starts at line \d+ and cannot be used outside of it"
})

var _ = misuse("view_outside", func(k *K) {
	A := In[elem.F32](k, "A", Shape(32, 32, 4))
	k.Threads(32)
	var slice Tensor[Gmem, elem.F32]
	k.Loop(0, 4, func(i Expr) { slice = A.At(All, All, i) })
	frag := FragmentLike(slice)
	Map(slice, frag, func(v Val[elem.F32]) Val[elem.F32] { return v }) // ERROR "Map: t belongs to the body that starts at line \d+"
})

var _ = misuse("shared_too_large", func(k *K) {
	In[elem.F32](k, "A", Shape(32))
	k.Threads(32)
	Shared[elem.F32](k, "one", Shape(128, 256))   // 128 KiB
	Shared[elem.F16](k, "two", Shape(256, 256))   // ERROR "Shared: two brings the block to 262144 bytes of shared memory, but it has at most 232448"
	Shared[elem.F16](k, "three", Shape(256, 198)) // 99 KiB: just fits
	Shared[elem.F32](k, "four", Shape(1<<30))     // ERROR "Shared: four takes 4294967296 bytes, 1073741824 elements of type f32, but a block has at most 232448 bytes of shared memory"
})

var _ = misuse("shared_layout", func(k *K) {
	M := k.Dim("M")
	In[elem.F32](k, "A", Shape(M))
	k.Threads(32)
	Shared[elem.F32](k, "sA", Shape(M, 4)) // ERROR "Shared: sA expects a static layout of integers, but got \(M,4\):\(1,M\)"
})

var _ = misuse("extents_of_the_kernel", func(k *K) {
	n := k.Dim("n")
	k.Threads(32)
	one := k.Let("one", n.Add(1))
	Out[elem.F32](k, "y", Shape(one))                                 // ERROR "Out: y expects extents and strides of Dims, which the caller gives, but got one"
	In[elem.F32](k, "x", Shape(k.Thread.Add(1)))                      // ERROR "In: x expects extents and strides of Dims, which the caller gives, but got tid"
	InOut[elem.F32](k, "z", Shape(4, 8).Strides(k.Opaque("s", n), 1)) // ERROR "InOut: z expects extents and strides of Dims, which the caller gives, but got s"
	In[elem.F32](k, "v", Shape(k.Var("v1", n, 0, MaxExtent).Expr))    // ERROR "In: v expects extents and strides of Dims, which the caller gives, but got v1"
})

var _ = misuse("names", func(k *K) {
	A := In[elem.F32](k, "A", Shape(32))
	k.Dim("A")                            // ERROR "Dim: the name A is already used in this kernel"
	k.Dim("2x")                           // ERROR "Dim: expects a name that is an identifier"
	Out[elem.F32](k, "float", Shape(32))  // ERROR "Out: the name float is used by the emitted code itself"
	Scalar[elem.F32](k, "A")              // ERROR "Scalar: the name A is already used"
	Shared[elem.F32](k, "tid", Shape(32)) // ERROR "Shared: the name tid is used by the emitted code itself"
	k.Threads(32)
	_ = A
})

var _ = defined("no_threads", func(name string) *Kernel {
	return Define(name, func(k *K) { // ERROR "Define: expects a call of Threads, but the kernel has none"
		In[elem.F32](k, "A", Shape(32))
	})
})

var _ = defined("no_arguments", func(name string) *Kernel {
	return Define(name, func(k *K) { // ERROR "Define: expects at least one argument \(In, Out, InOut\), but the kernel has none"
		k.Threads(32)
	})
})

var _ = defined("register", func(name string) *Kernel { // a word of C
	return Define(name, func(k *K) { // ERROR "Define: expects a name that is an identifier in C and Go, but got .register."
		In[elem.F32](k, "A", Shape(32))
		k.Threads(32)
	})
})

var _ = misuse("panics", func(k *K) {
	var shapes []Layout
	In[elem.F32](k, "A", shapes[0]) // ERROR "Define: the kernel's function panicked: runtime error: index out of range"
})

var _ = misuse("profiles", func(k *K) {
	In[elem.F32](k, "A", Shape(4, 8).Strides(8)) // ERROR "In: A: .*shape \(4,8\) and stride \(8\) do not have the same profile"
	k.Threads(32)
})

var _ = misuse("coordinates", func(k *K) {
	A := In[elem.F32](k, "A", Shape(32, 32))
	k.Threads(32)
	sA := Shared[elem.F32](k, "sA", Shape(8, 8, 3))
	A.At(1)                         // ERROR "At: expects 2 coordinates, one for each mode of A \(32,32\), but got 1"
	sA.At(All, All, 3)              // ERROR "At: mode 2 of sA expects an index from 0 to 2, but got 3"
	sA.At(All, All, -1)             // ERROR "At: mode 2 of sA expects an index from 0 to 2, but got -1"
	sA.At(All, k.Thread, 0)         // ERROR "At: mode 1 of sA expects an index from 0 to 7, but tid may reach 31"
	A.Tile(Tile(8, k.Thread), 0, 0) // ERROR "Tile: a tile expects positive constants, layouts or All, but got tid"
	A.Tile(Tile(8, 8), 0, 0, 0)     // ERROR "Tile: expects at most 2 coordinates, one for each mode of A, but got 3"
	A.Size(2)                       // ERROR "Size: expects one mode below 2, the rank of A, but got \[2\]"
	A.At("all", 1)                  // ERROR "At: expects an integer, an Expr or a Var, but got a value of type string"
})

var _ = misuse("counts", func(k *K) {
	In[elem.F32](k, "A", Shape(32))
	k.Threads(32)
	k.WaitGroup(-1)                                // ERROR "WaitGroup: expects 0 or more groups, but got -1"
	k.Unroll(-1, func(Expr) {})                    // ERROR "Unroll: expects a count of 0 or more, but got -1"
	k.Loop(k.Thread.Div(0), 4, nil)                // ERROR "Loop: expects a positive divisor, but got 0"
	k.Loop(k.Thread.Mul(1<<40).Mul(1<<40), 4, nil) // ERROR "Loop: expects integers of 63 bits, but got one that does not fit, or too large an expression"
	k.Dim("M", AtLeast(8), AtMost(4))              // ERROR "Dim: M expects AtLeast of 0 or more, a greater AtMost of at most 1073741824, and Multiple of 1 or more, but got AtLeast\(8\), AtMost\(4\)"
	k.Dim("Z", Multiple(0))                        // ERROR "Dim: expects Multiple of 1 or more for Z, but got Multiple.0."
	k.Dim("N", AtMost(8), Multiple(16))            // ERROR "Dim: expects bounds that some value meets, but no multiple of 16 lies within 1 to 8, those of N"
	k.Require(k.Dim("n").Lt(0), "n below 0")       // ERROR "Require: expects a condition that some sizes meet, but .n below 0. never holds within the bounds of its Dims"
	alpha := Scalar[elem.F32](k, "alpha")
	k.Require(alpha.Lt(alpha), "a scalar") // ERROR "Require: expects a condition on Dims, but got one on elements or scalars"
	k.Require(k.Thread.Lt(4), "never")     // ERROR "Require: expects a condition on Dims, but got one on tid"
})

var _ = misuse("expectations", func(k *K) {
	A := In[elem.F32](k, "A", Shape(32))
	B := Out[elem.F32](k, "B", Shape(32))
	k.Threads(32)
	Expect(A, 0, none) // ERROR "Expect: expects an output, but A was declared with In"
	Expect(B, 0, none)
	Expect(B, 0, none) // ERROR "Expect: expects one reference for each output, but B has one already"
})

var _ = misuse("recasts", func(k *K) {
	A := In[elem.F16](k, "A", Shape(32))
	k.Threads(32)
	sA := Shared[elem.F16](k, "sA", Shape(8, 8))
	Recast[elem.U8](sA)                           // ERROR "Recast: expects a type at least as wide as the f16 that sA stores, but got u8"
	Recast[elem.U32](sA.At(All, All))             // fine: pairs down the first mode
	Recast[elem.U32](sA.At(k.Thread.Mod(8), All)) // ERROR "Recast: sA starts at offset tid%8, which is not known to be a multiple of the 2 elements that one u32 holds"
	Recast[elem.U32](A)                           // ERROR "Recast: expects a tensor in shared memory or registers, but A is in global memory"
})

// helper reports its mistakes where it is called.
func helper(k *K) {
	k.Helper()
	k.WaitGroup(-2)
}

var _ = misuse("helpers", func(k *K) {
	In[elem.F32](k, "A", Shape(32))
	k.Threads(32)
	helper(k) // ERROR "WaitGroup: expects 0 or more groups, but got -2"
})

// One mistake is one line: what depends on a value that could not be made is silent.
var _ = misuse("poison", func(k *K) {
	A := In[elem.F32](k, "A", ParseLayout("(4,32):(32,")) // ERROR "In: A: "
	B := Out[elem.F32](k, "B", Shape(4, 32).Strides(32, 1))
	k.Threads(32)
	load, store := rowCopy()
	tA, tB := load.Slice(k.Thread).PartitionS(A), store.Slice(k.Thread).PartitionD(B)
	Copy(load, tA.At(All, All, 0), FragmentLike(tA.At(All, All, 0)))
	Copy(store, FragmentLike(tA), tB)
	k.Loop(0, A.Size(1), func(i Expr) { Clear(FragmentLike(A.At(i, All))) })
})

// none is a reference that nobody calls.
func none(*Ref) func(at []int64) float64 { return nil }

var _ = misuse("never_set", func(k *K) {
	A := In[elem.F32](k, "A", Shape(4, 32).Strides(32, 1))
	B := Out[elem.F32](k, "B", Shape(4, 32).Strides(32, 1))
	k.Threads(32)
	load, save := rowCopy()
	tA, tB := load.Slice(k.Thread).PartitionS(A), save.Slice(k.Thread).PartitionD(B)
	frag := FragmentLike(tB)
	var noTensor Tensor[Rmem, elem.F32]
	var noCopy TiledCopy[Gmem, Rmem, elem.F32]
	var noCond Cond
	Copy(load, tA, noTensor)                           // ERROR "Copy: expects a tensor, but got one that was never set"
	Copy(noCopy, tA, frag)                             // ERROR "Copy: expects a TiledCopy, but got one that was never set"
	k.If(noCond, func() {}, nil)                       // ERROR "If: expects a condition, but got one that was never set"
	k.If(noCond.And(k.Thread.Lt(3)), func() {}, nil)   // ERROR "If: expects a condition, but got one that was never set"
	k.If(k.Thread.Lt(3), nil, nil)                     // ERROR "If: expects a function, but got nil"
	k.Loop(0, 3, nil)                                  // ERROR "Loop: expects a function, but got nil"
	Map[Rmem, Gmem, elem.F32, elem.F32](frag, tB, nil) // ERROR "Map: expects a function, but got nil"
	Expect(B, 1, nil)                                  // ERROR "Expect: expects a function, but got nil"
	Expect(B, -1, none)                                // ERROR "Expect: expects a tolerance of 0 or more, but got -1"
	Expect(tB, 0, none)                                // ERROR "Expect: expects the whole tensor B, but got the view tBB"
	k.MinBlocks(0)                                     // ERROR "MinBlocks: expects 1 to 32 blocks, but got 0"
	k.Require(noCond, "nothing")                       // ERROR "Require: expects a condition, but got one that was never set"
	FragmentLike(noTensor)                             // ERROR "FragmentLike: expects a tensor, but got one that was never set"
})

var _ = misuse("another_kernels", func(k *K) {
	var theirs Tensor[Rmem, elem.F32]
	var dim Expr
	Define("other", func(o *K) {
		X := In[elem.F32](o, "X", Shape(4, 32).Strides(32, 1))
		o.Threads(32)
		load, _ := rowCopy()
		theirs = FragmentLike(load.Slice(o.Thread).PartitionS(X))
		dim = o.Dim("D")
	})
	A := In[elem.F32](k, "A", Shape(4, 32).Strides(32, 1))
	k.Threads(32)
	load, _ := rowCopy()
	Copy(load, load.Slice(k.Thread).PartitionS(A), theirs) // ERROR "Copy: expects tensors of one kernel, but got one of kernel other"
	k.Loop(0, dim, func(Expr) {})                          // ERROR "Loop: expects a value of this kernel, but got D of kernel other"
})

var _ = misuse("another_functions_value", func(k *K) {
	A := In[elem.F32](k, "A", Shape(4, 32).Strides(32, 1))
	B := Out[elem.F32](k, "B", Shape(4, 32).Strides(32, 1))
	k.Threads(32)
	load, save := rowCopy()
	tA, tB := load.Slice(k.Thread).PartitionS(A), save.Slice(k.Thread).PartitionD(B)
	frag := FragmentLike(tB)
	Copy(load, tA, frag)
	var kept Val[elem.F32]
	Map(frag, tB, func(v Val[elem.F32]) Val[elem.F32] { kept = v; return v })
	Map(frag, tB, func(v Val[elem.F32]) Val[elem.F32] { return kept }) // ERROR "Map: expects a value that the function computes from its arguments, but it uses an element that was kept from another function: pass that tensor to this operation too"
	k.If(kept.Lt(Lit[elem.F32](0)), func() {}, nil)                    // ERROR "If: a branch of the kernel cannot depend on an element of a tensor: expects a condition on integers .*choose between two values with Select"
})

var _ = misuse("huge_fragment", func(k *K) {
	A := In[elem.F32](k, "A", Shape(1<<20))
	k.Threads(1)
	FragmentLike(A) // ERROR "FragmentLike: A: a thread has 255 registers of 32 bits, but this fragment would have 1048576 elements of type f32"
})

var _ = misuse("switch_beyond", func(k *K) {
	k.Threads(32)
	k.Loop(0, 4, func(i Expr) {
		k.Switch(i, 3, func(int) {})        // ERROR "^Switch: expects an index below its 3 cases, but t is from 0 to 3$"
		k.Switch(i.Sub(1), 4, func(int) {}) // ERROR "^Switch: expects an index below its 4 cases, but t-1 is from -1 to 2$"
		k.Switch(i, 0, func(int) {})        // ERROR "^Switch: expects 1 to 256 cases, but got 0$"
		k.Switch(i, 1<<20, func(int) {})    // ERROR "^Switch: expects 1 to 256 cases, but got 1048576$"
		k.Switch(i, 4, nil)                 // ERROR "^Switch: expects a function, but got nil$"
	})
})
