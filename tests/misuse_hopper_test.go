package tests

import (
	"github.com/gocute/gocute/atoms"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// Copies of boxes by the copy engine that it cannot do, and pipelines of them.

// swizzled is rows of 128 bytes as the copy engine swizzles them.
func swizzled(rows, columns, stages int) Layout {
	return TileToShape(Swizzle(3, 3, 3, Shape(8, 64).Strides(64, 1)), rows, columns, stages)
}

// boxes is a kernel of 128 threads with a matrix A (M,K), stages sA (64,64,2) and a pipeline of them.
func boxes(k *K, facts ...Fact) (gA Tensor[Gmem, elem.F16], sA Tensor[Smem, elem.F16], p *Pipeline) {
	M, K := k.Dim("M"), k.Dim("K", append(facts, Multiple(8))...)
	A := In[elem.F16](k, "A", Shape(M, K).Strides(K, 1))
	k.Threads(128)
	sA = Shared[elem.F16](k, "sA", swizzled(64, 64, 2))
	return A, sA, NewPipeline(k, "pipe", 2, TMALoads)
}

var _ = misuse("tmaload_outside", func(k *K) {
	A, sA, p := boxes(k)
	tile := A.Tile(Tile(64, 64), 0, 0)
	var kept *StageFill
	p.Fill(0, func(f *StageFill) {
		kept = f
		TMALoad(f, tile, sA.At(All, All, 0))
	})
	TMALoad(kept, tile, sA.At(All, All, 0))         // ERROR "TMALoad: expects the StageFill of a pipeline whose function is running"
	TMALoad(nil, tile, sA.At(All, All, 0))          // ERROR "TMALoad: expects the StageFill of a pipeline whose function is running"
	TMALoad(&StageFill{}, tile, sA.At(All, All, 0)) // ERROR "TMALoad: expects the StageFill of a pipeline whose function is running"
})

var _ = misuse("tmaload_in_body", func(k *K) {
	A, sA, p := boxes(k)
	p.Fill(0, func(f *StageFill) {
		TMALoad(f, A.Tile(Tile(64, 64), 0, 0), sA.At(All, All, 0))
		k.Loop(0, 2, func(i Expr) {
			TMALoad(f, A.Tile(Tile(64, 64), 0, i), sA.At(All, All, 0)) // ERROR "TMALoad: expects to be called in Fill's function itself, not in a body of Loop, Unroll or If within it"
		})
		k.If(k.Thread.Eq(0), func() {
			TMALoad(f, A.Tile(Tile(64, 64), 0, 0), sA.At(All, All, 0)) // ERROR "not in a body of Loop, Unroll or If within it"
		}, nil)
		p.Fill(1, func(inner *StageFill) {
			TMALoad(inner, A.Tile(Tile(64, 64), 0, 1), sA.At(All, All, 1))
			TMALoad(f, A.Tile(Tile(64, 64), 0, 0), sA.At(All, All, 0)) // ERROR "not in a body of Loop, Unroll or If within it"
		})
	})
})

var _ = misuse("tmaload_variable_outside", func(k *K) {
	A, sA, p := boxes(k)
	var tile Tensor[Gmem, elem.F16]
	k.Loop(0, 4, func(t Expr) { tile = A.Tile(Tile(64, 64), 0, t) })
	p.Fill(0, func(f *StageFill) {
		TMALoad(f, tile, sA.At(All, All, 0)) // ERROR "TMALoad: t belongs to the body that starts at line \d+"
	})
})

var _ = misuse("fill_of_others", func(k *K) {
	A, sA, p := boxes(k)
	groups := NewPipeline(k, "groups", 2, Groups)
	bars := NewPipeline(k, "bars", 2, MBarriers)
	load := func(f *StageFill) { TMALoad(f, A.Tile(Tile(64, 64), 0, 0), sA.At(All, All, 0)) }
	groups.Fill(0, load)           // ERROR "Fill: expects a pipeline of TMALoads; with Groups and MBarriers all threads copy, between Acquire and Commit"
	bars.Fill(0, load)             // ERROR "Fill: expects a pipeline of TMALoads"
	p.Acquire(0)                   // ERROR "Acquire: expects copies by the threads; a pipeline of TMALoads is filled by Fill"
	p.Commit(0)                    // ERROR "Commit: expects copies by the threads; a pipeline of TMALoads is filled by Fill"
	p.Fill(0, nil)                 // ERROR "Fill: expects a function, but got nil"
	p.Fill(0, func(*StageFill) {}) // ERROR "Fill: expects at least one TMALoad"
	p.Fill("first", load)          // ERROR "Pipeline: expects an integer, an Expr or a Var, but got a value of type string"
})

var _ = misuse("pipeline_sync", func(k *K) {
	In[elem.F16](k, "A", Shape(64))
	k.Threads(128)
	NewPipeline(k, "pipe", 2, Sync(7)) // ERROR "NewPipeline: expects Groups, MBarriers or TMALoads, but got 7"
	NewPipeline(k, "one", 1, TMALoads) // ERROR "NewPipeline: expects 2 stages or more, but got 1"
})

var _ = misuse("pipeline_too_soon", func(k *K) {
	In[elem.F16](k, "A", Shape(64))
	p := NewPipeline(k, "pipe", 2, TMALoads) // ERROR "NewPipeline: expects to come after Threads"
	k.Threads(128)
	p.Fill(0, func(*StageFill) {})
	p.Wait(0)
	p.Release(0)
	NewPipeline(k, "groups", 2, Groups)
})

var _ = misuse("tmaload_within", func(k *K) {
	A, sA, p := boxes(k)
	p.Fill(0, func(f *StageFill) {
		TMALoad(f, A.Within(1, 100).Tile(Tile(64, 64), 0, 0), sA.At(All, All, 0)) // ERROR "TMALoad: expects the tensor's own extents, which TMA takes, but gA ends at .*100.* \(narrowed by Within\?\)"
	})
})

var _ = misuse("tmaload_out", func(k *K) {
	_, sA, p := boxes(k)
	O := Out[elem.F16](k, "O", Shape(64, 64).Strides(64, 1))
	p.Fill(0, func(f *StageFill) {
		TMALoad(f, O, sA.At(All, All, 0)) // ERROR "TMALoad: expects an input as source, but O was declared with Out"
	})
})

var _ = misuse("tmaload_elements", func(k *K) {
	A, sA, p := boxes(k)
	p.Fill(0, func(f *StageFill) {
		wide := Recast[elem.U32](sA.At(All, All, 0))
		W := In[elem.U32](k, "W", Shape(64, 32).Strides(32, 1))
		TMALoad(f, W, wide)                                        // ERROR "TMALoad: expects elements of one type, as they are stored, but got W of u32, stored as u32, to sA of u32, stored as f16"
		TMALoad(f, A.Tile(Tile(64, 64), 0, 0), sA)                 // ERROR "TMALoad: expects tiles of one rank, but gA has shape \(64,64\) and sA has"
		TMALoad(f, A.Tile(Tile(32, 64), 0, 0), sA.At(All, All, 0)) // ERROR "TMALoad: mode 0 expects one extent, but gA \(32,64\) has 32 and sA"
		TMALoad(f, A.Tile(Tile(64, 64), 0, All).At(All, All, 0), sA.At(All, All, 0))
		TMALoad(f, A, sA.At(All, All, 0)) // ERROR "TMALoad: expects static extents, but A has shape \(M,K\)"
	})
})

var _ = misuse("tmaload_strides", func(k *K) {
	_, sA, p := boxes(k)
	N := k.Dim("N")
	R := In[elem.F16](k, "R", Shape(64, N).Strides(N, 1))
	C := In[elem.F16](k, "C", Shape(64, N).Strides(1, 64))
	E := In[elem.F16](k, "E", Shape(64, N).Strides(N.Mul(2), 2))
	p.Fill(0, func(f *StageFill) {
		TMALoad(f, R.Tile(Tile(64, 64), 0, 0), sA.At(All, All, 0)) // ERROR "TMALoad: gR \(64,64\):\(N,1\) to sA .*: a tensor map expects strides of a multiple of 16 bytes, but got N elements of 2"
		TMALoad(f, C.Tile(Tile(64, 64), 0, 0), sA.At(All, All, 0)) // ERROR "TMALoad: gC \(64,64\):\(1,64\) to sA .*: a tensor map expects contiguous elements in its first dimension, but got a stride of 64"
		TMALoad(f, E.Tile(Tile(64, 64), 0, 0), sA.At(All, All, 0)) // ERROR "a tensor map expects contiguous elements in its first dimension, but got a stride of 2"
	})
})

var _ = misuse("tmaload_dimensions", func(k *K) {
	_, _, p := boxes(k)
	S := In[elem.F16](k, "S", Shape(16, 4, 4, 4, 4, 4).Strides(1, 32, 256, 2048, 16384, 131072))
	L := In[elem.F16](k, "L", Shape(8, 512).Strides(512, 1))
	sS := Shared[elem.F16](k, "sS", Shape(8, 2, 2, 2, 2, 2))
	wide := Shared[elem.F16](k, "wide", Shape(8, 512).Strides(512, 1))
	thin := Shared[elem.F16](k, "thin", Shape(8, 4).Strides(4, 1))
	p.Fill(0, func(f *StageFill) {
		TMALoad(f, S.Tile(Tile(8, 2, 2, 2, 2, 2), 0, 0, 0, 0, 0, 0), sS) // ERROR "a tensor map has 1 to 5 dimensions, but got 6 extents"
		TMALoad(f, L, wide)                                              // ERROR "a tensor map expects 1 to 256 elements in each dimension of its box, but got 512"
		TMALoad(f, L.Tile(Tile(8, 4), 0, 0), thin)                       // ERROR "thin .*: a tensor map expects rows of its box of a multiple of 16 bytes, but got 8"
		TMALoad(f, L.Tile(Tile(8, 4), 0, 0).At(0, 0), thin.At(0, 0))     // ERROR "TMALoad: expects a tile of more than one element, but got gL"
	})
})

var _ = misuse("tmaload_shared", func(k *K) {
	A, sA, p := boxes(k, Multiple(64))
	padded := Shared[elem.F16](k, "padded", Shape(64, 64).Strides(72, 1))
	other := Shared[elem.F16](k, "other", Swizzle(3, 3, 4, Shape(64, 64).Strides(64, 1)))
	narrow := Shared[elem.F16](k, "narrow", Swizzle(3, 3, 3, Shape(64, 32).Strides(32, 1)))
	offset := Shared[elem.F16](k, "offset", Shape(64, 64, 3).Strides(64, 1, 8))
	p.Fill(0, func(f *StageFill) {
		TMALoad(f, A.Tile(Tile(64, 64), 0, 0), padded)                 // ERROR "TMALoad: expects a tile that fills a stretch of shared memory, but the 4096 elements of padded \(64,64\):\(72,1\) have only 64 in a row"
		TMALoad(f, A.Tile(Tile(64, 64), 0, 0), other)                  // ERROR "TMALoad: expects a swizzle Sw<1,3,3>, Sw<2,3,3> or Sw<3,3,3> of elements of f16, which TMA and wgmma have, but other has Sw<3,3,4>"
		TMALoad(f, A.Tile(Tile(64, 32), 0, 0), narrow)                 // ERROR "narrow .*: a tensor map expects rows of its box of 128 bytes with a swizzle of 3 bits, but got 64"
		TMALoad(f, A.Tile(Tile(64, 64), 0, 0), offset.At(All, All, 1)) // ERROR "TMALoad: expects the tile to begin at a multiple of 64 elements \(128 bytes\) of shared memory, but offset begins at 8"
		TMALoad(f, A.Tile(Tile(64, 64), 0, 0), sA.At(All, All, 0))
	})
})

var _ = misuse("tmaload_order", func(k *K) {
	A, sA, p := boxes(k)
	order := Shape(2, 4, 4, 2).Strides(1, 8, 2, 32) // rows of A in another order
	gaps := Shape(32, 2).Strides(1, 64)
	even := In[elem.F16](k, "even", Shape(64, 128).Strides(128, 1))
	p.Fill(0, func(f *StageFill) {
		TMALoad(f, A.Tile(Tile(order, 64), 0, 0), sA.At(All, All, 0))   // ERROR "TMALoad: expects an extent of mode 0 of gA that is a multiple of 32, as the tile\'s order of elements needs, but M is not known to be one \(state it with Multiple\?\)"
		TMALoad(f, even.Tile(Tile(gaps, 64), 0, 0), sA.At(All, All, 0)) // ERROR "TMALoad: expects a tile of adjacent rows, but the steps of 64 in mode 0 of geven leave some out"
	})
})

var mmaWarpgroup = func() TiledMMA[elem.F32, elem.F16, elem.F16, elem.F32] {
	return NewTiledMMA(wgmma(atoms.GMMASpec{N: 64}), Shape(1, 1))
}()

func wgmma(s atoms.GMMASpec) atoms.MMAAtom[elem.F32, elem.F16, elem.F16, elem.F32] {
	atom, err := atoms.GMMAOf[elem.F32, elem.F16, elem.F16](s)
	if err != nil {
		panic(err)
	}
	return atom
}

// products is a kernel of threads threads with operands (64,64,2) and accumulators of 64 by 64.
func products(k *K, threads int) (sA, sB Tensor[Smem, elem.F16], acc Tensor[Rmem, elem.F32]) {
	InOut[elem.F32](k, "C", Shape(64, 64).Strides(64, 1))
	k.Threads(threads)
	sA = Shared[elem.F16](k, "sA", swizzled(64, 64, 2))
	sB = Shared[elem.F16](k, "sB", swizzled(64, 64, 2))
	acc = FragmentOfC(mmaWarpgroup.Slice(k.Thread.Mod(128)), Shape(64, 64))
	return sA, sB, acc
}

var _ = misuse("wgmma_atoms", func(k *K) {
	sA, sB, acc := products(k, 128)
	a, b := sA.At(All, All, 0), sB.At(All, All, 0)
	small := NewTiledMMA(atoms.SM80_16x8x16_F32F16F16F32_TN, Shape(4, 1))
	thr := small.Slice(k.Thread)
	WarpgroupGemm(small, PartitionA(thr, a), PartitionB(thr, b), acc) // ERROR "WarpgroupGemm: expects a wgmma instruction with both operands in shared memory, but got SM80_16x8x16_F32F16F16F32_TN"
	regs := NewTiledMMA(wgmma(atoms.GMMASpec{N: 64, Registers: true}), Shape(1, 1))
	WarpgroupGemm(regs, PartitionA(regs.Slice(k.Thread), a), PartitionB(regs.Slice(k.Thread), b), acc) // ERROR "WarpgroupGemm: expects a wgmma instruction with both operands in shared memory, but got SM90_64x64x16_F32F16F16_RS"
	columns := NewTiledMMA(wgmma(atoms.GMMASpec{N: 64, MajorA: atoms.MajorMN}), Shape(1, 1))
	WarpgroupGemm(columns, PartitionA(columns.Slice(k.Thread), a), PartitionB(columns.Slice(k.Thread), b), acc) // ERROR "WarpgroupGemm: expects columns of 64 elements along M or N, eight of them adjacent and each eight as far from the eight before, as a wgmma descriptor has them, but element \(0,1\) of tCsA .* lies at 1 and not at 64"
	FragmentA(mmaWarpgroup.Slice(k.Thread), a)                                                                  // ERROR "FragmentA: sA: .*shared memory"
	var none TiledMMA[elem.F32, elem.F16, elem.F16, elem.F32]
	WarpgroupGemm(none, PartitionA(thr, a), PartitionB(thr, b), acc) // ERROR "WarpgroupGemm: expects a TiledMMA"
})

var _ = misuse("gemm_of_wgmma", func(k *K) {
	sA, sB, acc := products(k, 128)
	regs := NewTiledMMA(wgmma(atoms.GMMASpec{N: 64, Registers: true}), Shape(1, 1))
	small := NewTiledMMA(atoms.SM80_16x8x16_F32F16F16F32_TN, Shape(4, 1))
	thr := small.Slice(k.Thread)
	Gemm(regs, FragmentA(regs.Slice(k.Thread), sA.At(All, All, 0)), FragmentB(thr, sB.At(All, All, 0)), acc) // ERROR "Gemm: SM90_64x64x16_F32F16F16_RS is asynchronous and reads shared memory: WarpgroupGemm issues it"
	Gemm(mmaWarpgroup, FragmentA(thr, sA.At(All, All, 0)), FragmentB(thr, sB.At(All, All, 0)), acc)          // ERROR "Gemm: SM90_64x64x16_F32F16F16_SS is asynchronous and reads shared memory: WarpgroupGemm issues it"
})

var _ = misuse("wgmma_operands", func(k *K) {
	sA, sB, acc := products(k, 128)
	thr := mmaWarpgroup.Slice(k.Thread)
	A, B := PartitionA(thr, sA.At(All, All, 0)), PartitionB(thr, sB.At(All, All, 0))
	other := NewTiledMMA(wgmma(atoms.GMMASpec{N: 32}), Shape(1, 1))
	o := other.Slice(k.Thread)
	WarpgroupGemm(mmaWarpgroup, B, B, acc)                                                // ERROR "WarpgroupGemm: expects a view of operand A of this MMA in shared memory \(PartitionA\), but got tCsB"
	WarpgroupGemm(mmaWarpgroup, sA.At(All, All, 0), B, acc)                               // ERROR "WarpgroupGemm: expects a view of operand A of this MMA in shared memory \(PartitionA\), but got sA"
	WarpgroupGemm(mmaWarpgroup, A, PartitionB(o, sB.At(All, All, 0)), acc)                // ERROR "WarpgroupGemm: expects a view of operand B of this MMA in shared memory"
	WarpgroupGemm(mmaWarpgroup, A, B, FragmentOfC(o, Shape(64, 64)))                      // ERROR "WarpgroupGemm: expects a fragment of operand C of this MMA \(FragmentC\), but tCrC\d* is another view"
	WarpgroupGemm(mmaWarpgroup, A, B, FragmentOfC(thr, Shape(128, 64)))                   // ERROR "WarpgroupGemm: MMA_M expects one extent, but tCsA has 1 in mode 1 and tCrC\d* has 2 in mode 1"
	WarpgroupGemm(mmaWarpgroup, A.At(All, All, 0), B, acc)                                // ERROR "WarpgroupGemm: expects A \(MMA,MMA_M,MMA_K\), B \(MMA,MMA_N,MMA_K\) and C"
	WarpgroupGemm(mmaWarpgroup, A.Tile(Tile(512, 1, 1), 0, 0, 0), B.At(All, All, 0), acc) // ERROR "WarpgroupGemm: mode 0 of tCsA expects 1024 values, those of SM90_64x64x16_F32F16F16_SS, but has 512"
	WarpgroupGemm(mmaWarpgroup, A, B, acc.Tile(Tile(16, 1, 1), 0, 0, 0))                  // ERROR "WarpgroupGemm: mode 0 of tCrC expects 32 values, those of SM90_64x64x16_F32F16F16_SS, but has 16"
	WarpgroupGemm(mmaWarpgroup, PartitionA(thr, sA), PartitionB(thr, sB), acc)            // ERROR "WarpgroupGemm: expects A \(MMA,MMA_M,MMA_K\)"
	WarpgroupGemm(mmaWarpgroup, A, B, acc)
})

var _ = misuse("wgmma_shared", func(k *K) {
	_, sB, acc := products(k, 128)
	thr := mmaWarpgroup.Slice(k.Thread)
	B := PartitionB(thr, sB.At(All, All, 0))
	shared := func(name string, l Layout) Tensor[Smem, elem.F16] {
		return PartitionA(thr, Shared[elem.F16](k, name, l))
	}
	WarpgroupGemm(mmaWarpgroup, shared("plain", Shape(64, 64).Strides(64, 1)), B, acc)                                         // ERROR "WarpgroupGemm: expects rows of 32, 64 or 128 bytes that are swizzled, but tCplain is not swizzled"
	WarpgroupGemm(mmaWarpgroup, shared("far", Swizzle(3, 3, 4, Shape(64, 64).Strides(64, 1))), B, acc)                         // ERROR "WarpgroupGemm: expects a swizzle Sw<1,3,3>, Sw<2,3,3> or Sw<3,3,3> of elements of f16, which TMA and wgmma have, but tCfar has Sw<3,3,4>"
	WarpgroupGemm(mmaWarpgroup, shared("columns", TileToShape(Swizzle(3, 3, 3, Shape(64, 8).Strides(1, 64)), 64, 64)), B, acc) // ERROR "WarpgroupGemm: expects rows of 64 elements along K, eight of them adjacent and each eight as far from the eight before, as a wgmma descriptor has them, but element \(1,0\) of tCcolumns"
	WarpgroupGemm(mmaWarpgroup, shared("wide", Swizzle(2, 3, 3, Shape(64, 64).Strides(64, 1))), B, acc)                        // ERROR "WarpgroupGemm: expects rows of 32 elements along K, eight of them adjacent .* element \(1,0\) of tCwide .* lies at 64 and not at 32"
	WarpgroupGemm(mmaWarpgroup, shared("padded", Swizzle(3, 3, 3, Shape(64, 64).Strides(72, 1))), B, acc)                      // ERROR "element \(1,0\) of tCpadded .* lies at 72 and not at 64"
	WarpgroupGemm(mmaWarpgroup, shared("eights", Swizzle(3, 3, 3, Shape(Nest(8, 8), 64).Strides(Nest(64, 520), 1))), B, acc)   // ERROR "WarpgroupGemm: expects each eight rows to lie a multiple of 1024 bytes from the eight before, but those of tCeights lie 1040 bytes from them"
	moved := Shared[elem.F16](k, "moved", Swizzle(3, 3, 3, Shape(64, 64, 3).Strides(64, 1, 256)))
	WarpgroupGemm(mmaWarpgroup, PartitionA(thr, moved.At(All, All, 0)), B, acc)
	WarpgroupGemm(mmaWarpgroup, PartitionA(thr, moved.At(All, All, 1)), B, acc) // ERROR "WarpgroupGemm: expects an operand to begin within the first of eight rows of 64 elements, at a multiple of 16 bytes, but tCmoved begins at element 256"
	near := Shared[elem.F16](k, "near", Swizzle(3, 3, 3, Shape(64, 64, 9).Strides(64, 1, 8)))
	WarpgroupGemm(mmaWarpgroup, PartitionA(thr, near.At(All, All, 1)), B, acc) // ERROR "WarpgroupGemm: expects an operand to begin within the first of eight rows of 64 elements, at a multiple of 16 bytes, but tCnear begins at element 56"
})

var _ = misuse("wgmma_threads", func(k *K) {
	sA, sB, acc := products(k, 192)
	thr := mmaWarpgroup.Slice(k.Thread.Mod(128))
	WarpgroupGemm(mmaWarpgroup, PartitionA(thr, sA.At(All, All, 0)), PartitionB(thr, sB.At(All, All, 0)), acc) // ERROR "WarpgroupGemm: expects a block of whole warpgroups of 128 threads, but got 192"
})

var _ = misuse("wgmma_wait", func(k *K) {
	sA, sB, acc := products(k, 128)
	thr := mmaWarpgroup.Slice(k.Thread)
	k.WarpgroupArrive()
	WarpgroupGemm(mmaWarpgroup, PartitionA(thr, sA.At(All, All, 0)), PartitionB(thr, sB.At(All, All, 0)), acc)
	k.WarpgroupCommitBatch()
	k.WarpgroupWait(-1) // ERROR "WarpgroupWait: expects 0 to 7 groups, but got -1"
	k.WarpgroupWait(8)  // ERROR "WarpgroupWait: expects 0 to 7 groups, but got 8"
	k.WarpgroupWait(0)
})

var _ = misuse("tmaload_places", func(k *K) {
	_, sA, p := boxes(k)
	n := k.Dim("n")
	written := InOut[elem.F16](k, "W", Shape(64, 64).Strides(64, 1))
	x := In[elem.F16](k, "x", Shape(256, 64).Strides(64, 1))
	stage := sA.At(All, All, 0)
	p.Fill(0, func(f *StageFill) {
		TMALoad(f, written, stage)                                                                // ERROR "TMALoad: expects a tensor that the kernel only reads \(In\): nothing orders TMA after what threads of the kernel write, but W was declared with InOut"
		TMALoad(f, x.Tile(Tile(64, 64), k.Thread, 0), stage)                                      // ERROR "TMALoad: expects one tile for the whole block, since one thread copies it, but its place 64\*tid depends on the thread"
		TMALoad(f, x.Tile(Tile(64, 64), n, 0), stage)                                             // ERROR "TMALoad: expects coordinates within 32 bits, which TMA takes, but 64\*n may reach 68719476736 \(state the extent's bound with AtMost\?\)"
		TMALoad(f, x.Tile(Tile(64, 64), 0, 0), sA.Tile(Tile(64, 64, 1), 0, 0, 0).At(All, All, 0)) // right
	})
})

var _ = misuse("pipeline_never_made", func(k *K) {
	k.Threads(32)
	var p *Pipeline
	p.Fill(0, func(*StageFill) {}) // ERROR "Fill: expects a Pipeline, but got one that was never set"
})

var _ = misuse("pipeline_zero", func(k *K) {
	k.Threads(32)
	(&Pipeline{}).Wait(0) // ERROR "Wait: expects a Pipeline, but got one that was never set"
})

var _ = misuse("pipeline_no_kernel", func(k *K) {
	k.Threads(32)
	NewPipeline(nil, "pipe", 2, TMALoads) // ERROR "NewPipeline: expects the K of the kernel's function, but got one that is nil"
})

var _ = misuse("tmaload_threads", func(k *K) {
	_, sA, p := boxes(k)
	x := In[elem.F16](k, "x", Shape(256, 64).Strides(64, 1))
	n := k.Dim("n")
	w := k.Let("w", k.Thread.Div(64))
	v := k.Let("v", w.Add(1))
	moved := k.Var("moved", 0, 0, 3)
	moved.Set(w)
	stage := sA.At(All, All, 0)
	p.Fill(0, func(f *StageFill) {
		TMALoad(f, x.Tile(Tile(64, 64), w, 0), stage)                               // ERROR "TMALoad: expects one tile for the whole block, since one thread copies it, but its place 64\*w depends on the thread"
		TMALoad(f, x.Tile(Tile(64, 64), v.Sub(1), 0), stage)                        // ERROR "TMALoad: expects one tile for the whole block"
		TMALoad(f, x.Tile(Tile(64, 64), moved.Expr, 0), stage)                      // ERROR "TMALoad: expects one tile for the whole block"
		TMALoad(f, x.Tile(Tile(8, 64), 0, 0), stage.Tile(Tile(8, 64), w.Mod(2), 0)) // ERROR "TMALoad: expects one tile for the whole block"
		TMALoad(f, x.Tile(Tile(64, 64), n.Mul(-1), 0), stage)                       // ERROR "TMALoad: expects coordinates within 32 bits, which TMA takes, but -64\*n may reach -68719476736$"
		TMALoad(f, x.Tile(Tile(64, 64), 0, 0), stage)                               // right
	})
	p.Fill(k.Thread.Mod(2), func(f *StageFill) {}) // ERROR "Fill: expects one tile for the whole block, but tid%2 depends on the thread"
})

var keptPipeline *Pipeline

var _ = misuse("pipeline_kept", func(k *K) {
	Define("keeps", func(k *K) {
		_, _, keptPipeline = boxes(k)
	})
	k.Threads(32)
	keptPipeline.Wait(0) // ERROR "Wait: expects a Pipeline of this kernel, but got one of another kernel"
})
