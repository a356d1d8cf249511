package kernels

import (
	"fmt"

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
	SplitK       bool  // several blocks share the sum of every tile: "splits" of them; K is then at most 2^29
	CacheAlways  bool  // copies go through the L1 cache, for small products whose rows begin in the middle of sectors of 32 bytes
	OneAddress   bool  // the addresses of a tile's copies follow from one: fewer registers, a few per cent faster or slower; StreamK always does so
	WGMMA        bool  // products by wgmma, four warps along M at a time, of operands that TMALoads bring: sm_90a alone
	StreamK      bool  // "blocks" blocks stay for all tiles, and share the sums of the first "shared" ones evenly; K is then at most 2^29
}

// GEMM computes C = alpha*A*B + beta*C in half precision, accumulating in f32 and rounding to O once. See Product.
func GEMM[E elem.Half, O elem.F32 | elem.Half](name string, g GEMMConfig) *Kernel {
	return Define(name, func(k *K) {
		atom := atoms.MMA16816[E]()
		if g.WGMMA && CheckGEMM[E, elem.F32, O](g) == nil {
			var err error
			if atom, err = atoms.GMMAOf[elem.F32, E, E](g.GMMASpec(g.BN)); err != nil {
				k.Library()
				k.Fail("GEMM", err)
				return
			}
		}
		multiply[E, elem.F32, elem.F32, O](k, atom, g, nil)
	})
}

// GMMASpec is the wgmma instruction of n columns for the configuration's operands, for atoms.GMMAOf: n divides BN.
func (g GEMMConfig) GMMASpec(n int) atoms.GMMASpec {
	a, b := g.majors()
	return atoms.GMMASpec{N: n, MajorA: a, MajorB: b}
}

// Product computes C = f(alpha*A*B + beta*C) for A (M,K) and B (N,K): the sum in Acc, what follows in Q, rounded to O once; f is the
// epilogue, the identity if nil. C is not read where beta is 0. M, N and K are arbitrary but for the adjacent extents of A and B, which are
// multiples of 16 bytes, and with TMALoads, where results of less than 32 bits are wanted, N, a multiple of up to 32 for each
// of WarpN: the columns that are dealt out together.
//
// With SplitK and StreamK, blocks write their parts of a sum to a workspace and the last one to come adds them up in
// order, so the result does not depend on who that is. With StreamK, a block's next copies are under way while it stores.
func Product[E, Acc, Q, O elem.Any](name string, atom atoms.MMAAtom[Acc, E, E, Acc], g GEMMConfig, f Epilogue[Q, O]) *Kernel {
	return Define(name, func(k *K) { multiply(k, atom, g, f) })
}

// multiply records the product.
func multiply[E, Acc, Q, O elem.Any](k *K, atom atoms.MMAAtom[Acc, E, E, Acc], g GEMMConfig, f Epilogue[Q, O]) {
	k.Library()
	if err := CheckGEMM[E, Acc, O](g); err != nil {
		k.Fail("Product", err)
		return
	}
	if q := elem.KindOf[Q](); elem.KindOf[Acc]().IsFloat() && !q.IsFloat() {
		k.Fail("Product", fmt.Errorf("expects sums of %s to be followed by floating-point numbers, but got %s", elem.KindOf[Acc](), q))
		return
	}
	rows, cols := factor{"A", "M", g.A}, factor{"B", "N", g.B}
	if g.ColumnC { // a column-major C is the row-major product of B and A
		rows, cols = cols, rows
	}
	order := newColumns(elem.KindOf[E](), elem.KindOf[O](), g, cols.major)
	if err := g.checkAtom(atom.Row(), order); err != nil {
		k.Fail("Product", err)
		return
	}
	dims := extents[E](k, g, order, rows, cols)
	M, N, K := dims[rows.dim], dims[cols.dim], dims["K"]

	mma := tiledMMA(atom, g)
	k.Threads(mma.Threads())
	var st *stream
	var w work
	if g.StreamK {
		st = newStream(k, g, M, N, K)
		w = st.work()
	} else {
		w = newWork(k, g, M, N, K)
	}
	A := globalOperand[E](k, rows.name, M, K, w.batch, rows.major) // (M,K)
	B := globalOperand[E](k, cols.name, N, K, w.batch, cols.major) // (N,K)
	C := globalOutput[O](k, M, N, w.batch)                         // (M,N)
	out := newEpilogue(k, f, M, N)
	alpha, beta := Scalar[Q](k, "alpha"), Scalar[Q](k, "beta")
	ws := newWorkspace[Acc](k, g, w, mma.Threads())
	expectGEMM[Acc](C, rows.name, cols.name, g, out)
	k.GridDependencySynchronize()

	p := &product[E, Acc]{k: k, mma: mma, g: g, w: w, columns: order, A: A, B: B}
	gA, gB := p.tiles(w) // (BLK_M,BLK_K,k) (BLK_N,BLK_K,k)
	thr := mma.Slice(k.Thread)
	a, b := newOperand(k, rows.name, gA, g, rows.major), newOperand(k, cols.name, gB, g, cols.major)
	if g.Batched && order.permuted() { // the order takes four dimensions of a box, the batch one and K one
		b.box[0] = order.width()
	}
	if g.WGMMA {
		a.shared, b.shared = PartitionA(thr, a.stages), PartitionB(thr, b.stages) // (MMA,MMA_M,MMA_K,PIPE) (MMA,MMA_N,MMA_K,PIPE)
	} else {
		a = a.toRegisters(k, CopyA(toFragments[E](rows.major), mma), FragmentA(thr, a.stage(0))) // (MMA,MMA_M,MMA_K)
		b = b.toRegisters(k, CopyB(toFragments[E](cols.major), mma), FragmentB(thr, b.stage(0))) // (MMA,MMA_N,MMA_K)
	}
	p.a, p.b, p.acc = a, b, FragmentOfC(thr, Shape(g.BM, g.BN)) // (MMA,MMA_M,MMA_N)
	p.pipe = NewPipeline(k, "pipe", g.Stages, g.Sync)
	end := newStore(p, C, N, alpha, beta, out)
	if !g.StreamK {
		p.start()
		p.loop()
		k.TriggerLaunchCompletion()
		w = w.afterwards()
		ws.finish(k, w, p.acc, end.store)
		return
	}
	st.run(func(w work) { p.of(w).start() }, func(w work) { p.of(w).loop() }, func(done work) { ws.finish(k, done, p.acc, end.store) })
}

// tiledMMA lays an instruction out over the block's warps.
func tiledMMA[E, Acc elem.Any](atom atoms.MMAAtom[Acc, E, E, Acc], g GEMMConfig) TiledMMA[Acc, E, E, Acc] {
	if g.WGMMA {
		return NewTiledMMA(atom, Shape(g.WarpM/warpgroup, g.WarpN))
	}
	_, _, atomK := NewTiledMMA(atom, Shape(1, 1)).Tile()
	return NewTiledMMA(atom, Shape(g.WarpM, g.WarpN), Tile(g.WarpM*16, g.WarpN*16, atomK))
}

// factor is an operand as its caller knows it.
type factor struct {
	name, dim string
	major     Major
}

// extents declares M, N and K; what is adjacent in an operand is a multiple of 16 bytes. Where the copy engine deals the
// columns out, their number is a multiple of those that it deals out together.
func extents[E elem.Any](k *K, g GEMMConfig, order columns, factors ...factor) map[string]Expr {
	k.Helper()
	facts, dims := map[string][]Fact{}, map[string]Expr{}
	for _, f := range factors {
		d := "K"
		if f.major == MNMajor {
			d = f.dim
		}
		facts[d] = []Fact{Multiple(vector[E]())}
	}
	if g.Sync == TMALoads && order.permuted() {
		cols := factors[len(factors)-1].dim
		facts[cols] = append(facts[cols], Multiple(order.width()))
	}
	if g.SplitK || g.StreamK { // so that 32 bits hold where a part of K begins and how far it reaches
		facts["K"] = append(facts["K"], AtMost(MaxExtent/2))
	}
	for _, d := range []string{"M", "N", "K"} {
		dims[d] = k.Dim(d, facts[d]...)
	}
	return dims
}

// product is the main loop of a block.
type product[E, Acc elem.Any] struct {
	k       *K
	mma     TiledMMA[Acc, E, E, Acc]
	g       GEMMConfig
	w       work
	columns columns
	A, B    Tensor[Gmem, E] // (M,K) (N,K)
	a, b    operand[E]
	acc     Tensor[Rmem, Acc] // (MMA,MMA_M,MMA_N)
	pipe    *Pipeline
}

// tiles are the block's tiles, (BLK_M,BLK_K,k) (BLK_N,BLK_K,k). Tails need no mask: the extents, and the end of the block's
// part of K, are the truth. The copy engine knows the extents alone, but its tiles are those of the block's part.
func (p *product[E, Acc]) tiles(w work) (a, b Tensor[Gmem, E]) {
	a, b = p.A, p.B
	if p.g.Sync != TMALoads {
		a, b = a.Within(1, w.endK), b.Within(1, w.endK)
	}
	return a.Tile(Tile(p.g.BM, p.g.BK), w.tileM, All), b.Tile(Tile(p.columns.tile(), p.g.BK), w.tileN, All)
}

// of is the same main loop for other work, by its thread.
func (p product[E, Acc]) of(w work) *product[E, Acc] {
	a, b := p.tiles(w) // (BLK_M,BLK_K,k) (BLK_N,BLK_K,k)
	p.w, p.a, p.b = w, p.a.copiedBy(w.thread, a).readBy(w.thread), p.b.copiedBy(w.thread, b).readBy(w.thread)
	return &p
}

// globalOutput declares C (M,N), one for each of l products.
func globalOutput[O elem.Any](k *K, m, n Expr, l *batch) Tensor[Gmem, O] {
	k.Helper()
	if l == nil {
		return InOut[O](k, "C", Shape(m, n).Strides(n, 1))
	}
	return InOut[O](k, "C", Shape(m, n, l.count).Strides(n, 1, m.Mul(n)))
}
