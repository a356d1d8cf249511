package kernels

import (
	"github.com/gocute/gocute/atoms"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// GEMMConfig sizes a block of the GEMM and chooses among its forms.
type GEMMConfig struct {
	BM, BN, BK   int   // block tile, elements
	WarpM, WarpN int   // warps along M and N
	Stages       int   // depth of the cp.async pipeline, 2 or more
	Group        int   // block tiles along M whose rows of tiles are done together, for the L2 cache
	Sync         Sync  // how stages change hands
	A, B         Major // which mode of each operand is adjacent in memory
	ColumnC      bool  // C is column-major
	Batched      bool  // L products at once, strides apart
	SplitK       bool  // several blocks share the sum of a tile: "splits" of them
}

// batch is the product of several that a block belongs to.
type batch struct{ count, index Expr }

// GEMM computes C = alpha*A*B + beta*C in half precision, accumulating in f32 and rounding to O once. See Product.
func GEMM[E elem.Half, O elem.F32 | elem.Half](name string, g GEMMConfig) *Kernel {
	return Product[E, elem.F32, elem.F32, O](name, atoms.MMA16816[E](), g, nil)
}

// Product computes C = f(alpha*A*B + beta*C) for A (M,K) and B (N,K): the sum in Acc, what follows in Q, rounded to O once; f is the
// epilogue, the identity if nil. C is not read where beta is 0. M, N and K are arbitrary but for the adjacent extents of A and B, which are
// multiples of 16 bytes.
//
// With SplitK, blocks write their parts of a sum to a workspace and the last one to come adds them up in order, so the
// result does not depend on who that is.
func Product[E, Acc, Q, O elem.Any](name string, atom atoms.MMAAtom[Acc, E, E, Acc], g GEMMConfig, f Epilogue[Q, O]) *Kernel {
	return Define(name, func(k *K) {
		rows, cols := factor{"A", "M", g.A}, factor{"B", "N", g.B}
		if g.ColumnC { // a column-major C is the row-major product of B and A
			rows, cols = cols, rows
		}
		facts := map[string][]Fact{}
		for _, x := range []factor{rows, cols} {
			d := "K"
			if x.major == MNMajor {
				d = x.dim
			}
			facts[d] = []Fact{Multiple(vector[E]())}
		}
		dims := map[string]Expr{}
		for _, d := range []string{"M", "N", "K"} {
			dims[d] = k.Dim(d, facts[d]...)
		}
		M, N, K := dims[rows.dim], dims[cols.dim], dims["K"]

		_, _, atomK := NewTiledMMA(atom, Shape(1, 1)).Tile()
		mma := NewTiledMMA(atom, Shape(g.WarpM, g.WarpN), Tile(g.WarpM*16, g.WarpN*16, atomK))
		k.Threads(mma.Threads())
		work := newWork(k, g, M, N, K)
		A := globalOperand[E](k, rows.name, M, K, work.batch, rows.major) // (M,K)
		B := globalOperand[E](k, cols.name, N, K, work.batch, cols.major) // (N,K)
		C := globalOutput[O](k, M, N, work.batch)                         // (M,N)
		out := newEpilogue(k, f, M, N)
		alpha, beta := Scalar[Q](k, "alpha"), Scalar[Q](k, "beta")
		ws := newWorkspace[Acc](k, g, work, mma.Threads())
		k.GridDependencySynchronize()

		// Block tiles. Tails need no mask: the extents above, and the end of the block's part of K, are the truth.
		gA := A.Within(1, work.endK).Tile(Tile(g.BM, g.BK), work.tileM, All) // (BLK_M,BLK_K,k)
		gB := B.Within(1, work.endK).Tile(Tile(g.BN, g.BK), work.tileN, All) // (BLK_N,BLK_K,k)
		thr := mma.Slice(k.Thread)
		a := newOperand(k, rows.name, gA, g.Stages, mma.Threads(), rows.major, CopyA(toFragments[E](rows.major), mma),
			func(s Tensor[Smem, E]) Tensor[Rmem, E] { return FragmentA(thr, s) }) // (MMA,MMA_M,MMA_K)
		b := newOperand(k, cols.name, gB, g.Stages, mma.Threads(), cols.major, CopyB(toFragments[E](cols.major), mma),
			func(s Tensor[Smem, E]) Tensor[Rmem, E] { return FragmentB(thr, s) }) // (MMA,MMA_N,MMA_K)
		acc := FragmentOfC(thr, Shape(g.BM, g.BN)) // (MMA,MMA_M,MMA_N)

		mainLoop(k, mma, g, work, a, b, acc)
		k.TriggerLaunchCompletion()
		expectGEMM[Acc](C, rows.name, cols.name, g, out)
		var tiles []Tensor[Gmem, O]
		for _, in := range out.inputs {
			tiles = append(tiles, in.tensor.Tile(Tile(g.BM, g.BN), work.tileM, work.tileN)) // (BLK_M,BLK_N)
		}
		if work.batch != nil {
			C = C.At(All, All, work.batch.index)
		}
		gC := C.Tile(Tile(g.BM, g.BN), work.tileM, work.tileN) // (BLK_M,BLK_N)
		ws.finish(k, acc, func() { store(k, mma, acc, a.stages, gC, N, alpha, beta, tiles, out) })
	})
}

// factor is an operand as its caller knows it.
type factor struct {
	name, dim string
	major     Major
}

// mainLoop adds the block's tiles of A and B up: copies run ahead by the stages, and fragments by one step.
func mainLoop[E, Acc elem.Any](k *K, mma TiledMMA[Acc, E, E, Acc], g GEMMConfig, work work, a, b operand[E], acc Tensor[Rmem, Acc]) {
	k.Helper()
	fetch := func(tile, stage any, part, parts int) {
		at := work.firstTile.Add(tile)
		a.fetch(at, stage, part, parts)
		b.fetch(at, stage, part, parts)
	}
	read := func(stage any, step int) {
		a.read(stage, step)
		b.read(stage, step)
	}
	pipe := NewPipeline(k, "pipe", g.Stages, g.Sync)
	ahead := g.Stages - 1 // tiles in flight
	if g.Sync == MBarriers {
		ahead = g.Stages - 2 // and one of slack, by which warps may drift apart
	}
	k.Loop(0, ahead, func(s Expr) { // a loop of the kernel
		fetch(s, s, 0, 1)
		pipe.Commit(s)
	})
	Clear(acc)
	pipe.Wait(0)
	read(0, 0)
	steps := a.fragment.Extent(2)
	k.Loop(0, work.tiles, func(t Expr) {
		next := t.Add(ahead)
		pipe.Acquire(next)
		for step := range steps { // a Go loop runs while generating
			if step < steps-1 {
				fetch(next, pipe.Stage(next), step, steps-1)
				read(pipe.Stage(t), step+1)
			} else {
				pipe.Commit(next)
				pipe.Release(t) // the last fragments of this tile are in registers
				pipe.Wait(t.Add(1))
				read(pipe.Stage(t.Add(1)), 0)
			}
			Gemm(mma, a.fragment.At(All, All, step), b.fragment.At(All, All, step), acc)
		}
	})
	pipe.Drain()
}

// globalOutput declares C (M,N), one for each of l products.
func globalOutput[O elem.Any](k *K, m, n Expr, l *batch) Tensor[Gmem, O] {
	k.Helper()
	if l == nil {
		return InOut[O](k, "C", Shape(m, n).Strides(n, 1))
	}
	return InOut[O](k, "C", Shape(m, n, l.count).Strides(n, 1, m.Mul(n)))
}
