package emu

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
	"github.com/stretchr/testify/require"
)

// gemm is a multistage f16 GEMM, C = A*B' with A (M,K):(K,1), B (N,K):(K,1), C (M,N):(N,1), its blocks 128x128x32
// of 2x2 warps of 64x64.
type gemm struct {
	stages       int
	pending      int  // of the wait in the loop; stages-2 is right
	noWait       bool // leave the wait out
	noBarrier    bool // leave out the barrier after the wait
	refillEarly  bool // refill a stage right after it is read, without a barrier
	divergent    bool // only some threads of each warp reach the barrier
	someWarps    bool // only some warps do
	shortGuard   bool // load one tile too many
	uninitialise bool // leave out the accumulators' fill
}

const (
	bM, bN, bK = 128, 128, 32
)

type gemmBuilder struct {
	*maker
	gemm
	sA, sB     *cir.Mem
	A, B       *cir.Mem
	M, N, K    sym.Expr
	rA, rB, rC *cir.Reg
}

// swizzled is the element of a stage's row and column; cols are multiples of 8.
func swizzled(stage, row, col sym.Expr) sym.Expr {
	chunk := col.FloorDiv(n(8)).Xor(row.FloorDiv(n(2)).Mod(n(4)))
	return stage.Mul(n(bM * bK)).Add(row.Mul(n(bK))).Add(chunk.Mul(n(8)))
}

func (g *gemmBuilder) copyTile(kt, stage sym.Expr, pred cir.Cond) []cir.Stmt {
	var out []cir.Stmt
	tile := func(mem, smem *cir.Mem, block, ld sym.Expr) {
		i := &sym.Symbol{Name: "i" + mem.Name, Class: sym.Loop, Hi: 3}
		id := tid.Add(sym.New(i).Mul(n(128)))
		row, col := id.FloorDiv(n(4)), id.Mod(n(4)).Mul(n(8))
		src := block.Mul(n(bM)).Add(row).Mul(ld).Add(kt.Mul(n(bK))).Add(col)
		out = append(out, cir.For{Pos: g.at(), Sym: i, Hi: n(4), Unroll: true, Body: []cir.Stmt{
			cir.CpAsyncStmt{Pos: g.at(), Op: cp16, Dst: addr(smem, swizzled(stage, row, col)), Src: addr(mem, src), Pred: pred},
		}})
	}
	tile(g.A, g.sA, bid("x"), g.K)
	tile(g.B, g.sB, bid("y"), g.K)
	return append(out, cir.CommitGroup{Pos: g.at()})
}

func (g *gemmBuilder) compute(stage sym.Expr) []cir.Stmt {
	lane, warp := tid.Mod(n(32)), tid.FloorDiv(n(32))
	wm, wn := warp.Mod(n(2)), warp.FloorDiv(n(2))
	kb := &sym.Symbol{Name: "kb", Class: sym.Loop, Hi: 1}
	mi := &sym.Symbol{Name: "mi", Class: sym.Loop, Hi: 3}
	ni := &sym.Symbol{Name: "ni", Class: sym.Loop, Hi: 3}
	nj := &sym.Symbol{Name: "nj", Class: sym.Loop, Hi: 7}
	k0, m, nn, j := sym.New(kb).Mul(n(16)), sym.New(mi), sym.New(ni), sym.New(nj)
	rowA := wm.Mul(n(64)).Add(m.Mul(n(16))).Add(lane.Mod(n(16)))
	rowB := wn.Mul(n(64)).Add(nn.Mul(n(16))).Add(lane.Mod(n(8))).Add(lane.FloorDiv(n(16)).Mul(n(8)))
	four := func(r *cir.Reg, base sym.Expr, per int) (out []cir.RegRef) {
		for i := range 4 {
			out = append(out, refAt(r, base.Add(n(i*per)), per))
		}
		return out
	}
	g.mark("ldmatrixA")
	loadA := cir.LdMatrixStmt{Pos: g.at(), Op: ldsmX4, Dst: four(g.rA, m.Mul(n(8)), 2),
		Src: addr(g.sA, swizzled(stage, rowA, k0.Add(lane.FloorDiv(n(16)).Mul(n(8)))))}
	loadB := cir.LdMatrixStmt{Pos: g.at(), Op: ldsmX4, Dst: four(g.rB, nn.Mul(n(8)), 2),
		Src: addr(g.sB, swizzled(stage, rowB, k0.Add(lane.FloorDiv(n(8)).Mod(n(2)).Mul(n(8)))))}
	acc := four(g.rC, m.Mul(n(8)).Add(j).Mul(n(4)), 1)
	g.mark("mma")
	mma := cir.MMAStmt{Pos: g.at(), Op: mmaOp("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"), D: acc, C: acc,
		A: four(g.rA, m.Mul(n(8)), 2),
		B: []cir.RegRef{refAt(g.rB, j.Mul(n(4)), 2), refAt(g.rB, j.Mul(n(4)).Add(n(2)), 2)}}
	loop := func(s *sym.Symbol, body ...cir.Stmt) cir.Stmt {
		return cir.For{Pos: g.at(), Sym: s, Hi: n(s.Hi + 1), Unroll: true, Body: body}
	}
	return []cir.Stmt{loop(kb, loop(mi, loadA), loop(ni, loadB), loop(mi, loop(nj, mma)))}
}

func (g *gemmBuilder) epilogue(C *cir.Mem) []cir.Stmt {
	lane, warp := tid.Mod(n(32)), tid.FloorDiv(n(32))
	mi := &sym.Symbol{Name: "mi", Class: sym.Loop, Hi: 3}
	nj := &sym.Symbol{Name: "nj", Class: sym.Loop, Hi: 7}
	var body []cir.Stmt
	for half := range 2 {
		row := bid("x").Mul(n(bM)).Add(warp.Mod(n(2)).Mul(n(64))).Add(sym.New(mi).Mul(n(16))).
			Add(lane.FloorDiv(n(4))).Add(n(8 * half))
		col := bid("y").Mul(n(bN)).Add(warp.FloorDiv(n(2)).Mul(n(64))).Add(sym.New(nj).Mul(n(8))).Add(lane.Mod(n(4)).Mul(n(2)))
		from := sym.New(mi).Mul(n(8)).Add(sym.New(nj)).Mul(n(4)).Add(n(2 * half))
		body = append(body, cir.Store{Pos: g.at(), Dst: addr(C, row.Mul(g.N).Add(col)), Src: refAt(g.rC, from, 2)})
	}
	return []cir.Stmt{cir.For{Pos: g.at(), Sym: mi, Hi: n(4), Unroll: true, Body: []cir.Stmt{
		cir.For{Pos: g.at(), Sym: nj, Hi: n(8), Unroll: true, Body: body}}}}
}

func (g *gemmBuilder) barrier() []cir.Stmt {
	g.mark("barrier")
	b := cir.Barrier{Pos: g.at()}
	switch {
	case g.noBarrier:
		return nil
	case g.divergent:
		return []cir.Stmt{cir.If{Pos: g.at(), Cond: lt(tid.Mod(n(32)), n(7)), Then: []cir.Stmt{b}}}
	case g.someWarps:
		return []cir.Stmt{cir.If{Pos: g.at(), Cond: lt(tid, n(64)), Then: []cir.Stmt{b}}}
	}
	return []cir.Stmt{b}
}

func (g gemm) build() *gemmBuilder {
	b := &gemmBuilder{maker: newMaker("gemm", 128), gemm: g}
	b.M, b.N, b.K = b.dim("M"), b.dim("N"), b.dim("K")
	b.A = b.global("A", elem.KF16, b.M.Mul(b.K), "r")
	b.B = b.global("B", elem.KF16, b.N.Mul(b.K), "r")
	C := b.global("C", elem.KF32, b.M.Mul(b.N), "w")
	b.sA = b.shared("sA", elem.KF16, g.stages*bM*bK)
	b.sB = b.shared("sB", elem.KF16, g.stages*bN*bK)
	b.k.Grid = [3]sym.Expr{b.M.FloorDiv(n(bM)), b.N.FloorDiv(n(bN)), n(1)}
	var body []cir.Stmt
	b.rA, b.rB = b.reg(&body, "tCrA", elem.KF16, 32), b.reg(&body, "tCrB", elem.KF16, 32)
	b.rC = b.reg(&body, "tCrC", elem.KF32, 128)
	if !g.uninitialise {
		body = append(body, cir.Fill{Pos: b.at(), Reg: b.rC})
	}
	tiles := b.K.FloorDiv(n(bK))
	for s := range g.stages - 1 {
		body = append(body, b.copyTile(n(s), n(s), lt(n(s), tiles))...)
	}
	kt := &sym.Symbol{Name: "kt", Class: sym.Loop, Hi: 1 << 20}
	next := sym.New(kt).Add(n(g.stages - 1))
	target, guard := next.Mod(n(g.stages)), lt(next, tiles)
	if g.refillEarly {
		target = sym.New(kt).Mod(n(g.stages))
	}
	if g.shortGuard {
		guard = lt(next, tiles.Add(n(1)))
	}
	b.mark("refill")
	b.marks["refill"]++ // the copy is inside the loop over the vectors
	refill := b.copyTile(next, target, guard)
	var loop []cir.Stmt
	if !g.noWait {
		loop = append(loop, cir.WaitGroup{Pos: b.at(), Pending: g.pending})
	}
	loop = append(loop, b.barrier()...)
	compute := b.compute(sym.New(kt).Mod(n(g.stages)))
	if g.refillEarly {
		loop = append(append(loop, compute...), refill...)
	} else {
		loop = append(append(loop, refill...), compute...)
	}
	body = append(body, cir.For{Pos: b.at(), Sym: kt, Hi: tiles, Body: loop})
	b.k.Body = append(body, b.epilogue(C)...)
	return b
}

func gemmArgs(m, nn, k int) Args {
	return Args{"M": Dim(m), "N": Dim(nn), "K": Dim(k), "C": NewBuffer(elem.KF32, m*nn),
		"A": BufferFromFloat64s(elem.KF16, ints(m*k, 1)), "B": BufferFromFloat64s(elem.KF16, ints(nn*k, 2))}
}

func TestGEMM(t *testing.T) {
	const M, N, K = 256, 128, 160
	k := gemm{stages: 3, pending: 1}.build().k
	want := make([]float64, M*N)
	args := gemmArgs(M, N, K)
	a, b := args["A"].(*Buffer).Float64s(), args["B"].(*Buffer).Float64s()
	for i := range M {
		for j := range N {
			for x := range K {
				want[i*N+j] += a[i*K+x] * b[j*K+x]
			}
		}
	}
	var counts Counts
	for i, opt := range []Options{{}, {Workers: 1}, {Seed: 1}, {Seed: 77, Workers: 3}, {NoChecks: true}} {
		args := gemmArgs(M, N, K)
		rep := run(t, k, args, opt)
		require.NoError(t, rep.Err())
		require.Empty(t, rep.Unwritten)
		require.Equal(t, want, args["C"].(*Buffer).Float64s(), "options %+v", opt)
		if i == 0 {
			counts = rep.Counts
		} else if !opt.NoChecks {
			require.Equal(t, counts, rep.Counts)
		}
	}
	require.EqualValues(t, 2*4*K/16*4*8, counts.Instructions["mma"])
	require.EqualValues(t, 2*128*K*2*2, counts.Async-2*2*bM*bK*2*2, "two tiles past the end are zero fill")
	require.Equal(t, counts.LeastWavefronts, counts.Wavefronts, "the swizzle leaves no bank conflict")
}

func TestBrokenGEMM(t *testing.T) {
	const M, N, K = 128, 128, 192
	for name, c := range map[string]struct {
		g      gemm
		mark   string
		checks []Check
	}{
		"wait one too shallow": {gemm{stages: 3, pending: 2}, "ldmatrixA", []Check{ReadInFlight, ReadInFlight}},
		"no wait":              {gemm{stages: 3, pending: 1, noWait: true}, "ldmatrixA", []Check{ReadInFlight, ReadInFlight, WriteInFlight, WriteInFlight}},
		"divergent barrier":    {gemm{stages: 3, pending: 1, divergent: true}, "barrier", []Check{Divergent}},
		"barrier of two warps": {gemm{stages: 3, pending: 1, someWarps: true}, "barrier", []Check{Deadlock}},
	} {
		t.Run(name, func(t *testing.T) {
			b := c.g.build()
			rep := run(t, b.k, gemmArgs(M, N, K), Options{})
			if c.g.someWarps { // the warps without the barrier run on, with consequences
				rep.Findings = rep.Findings[:1]
			}
			f := b.wantOnly(t, rep, c.mark, c.checks...)
			t.Log(f)
		})
	}
}

func TestBrokenGEMMBarriers(t *testing.T) {
	const M, N, K = 128, 128, 192
	for seed := range uint64(6) {
		b := gemm{stages: 3, pending: 1, noBarrier: true}.build()
		rep := run(t, b.k, gemmArgs(M, N, K), Options{Seed: seed})
		require.NotEmpty(t, rep.Findings)
		require.Equal(t, Unpublished, rep.Findings[0].Check)
		require.Equal(t, b.marks["ldmatrixA"], rep.Findings[0].Pos.Line)

		b = gemm{stages: 3, pending: 1, refillEarly: true}.build()
		f := run(t, b.k, gemmArgs(M, N, K), Options{Seed: seed}).Findings[0]
		t.Log(f)
		require.Equal(t, Race, f.Check, "seed %d", seed)
		require.ElementsMatch(t, []int{b.marks["ldmatrixA"], b.marks["refill"]}, []int{f.Pos.Line, f.Other.Line})
	}
}

func TestOutOfBoundsTile(t *testing.T) {
	b := gemm{stages: 3, pending: 1, shortGuard: true}.build()
	f := b.wantOnly(t, run(t, b.k, gemmArgs(128, 128, 192), Options{}), "refill", OutOfBounds, OutOfBounds, Unwaited)
	require.Equal(t, "A", f.Mem)
	t.Log(f)
}

func TestUninitialisedAccumulator(t *testing.T) {
	b := gemm{stages: 3, pending: 1, uninitialise: true}.build()
	f := b.wantOnly(t, run(t, b.k, gemmArgs(128, 128, 192), Options{}), "mma", Uninitialised)
	require.Equal(t, "tCrC", f.Mem)
	t.Log(f)
}

func TestGEMMSpeed(t *testing.T) {
	k := gemm{stages: 3, pending: 1}.build().k
	for _, opt := range []Options{{}, {NoChecks: true}} {
		start := time.Now()
		rep := run(t, k, gemmArgs(256, 256, 256), opt)
		require.NoError(t, rep.Err())
		t.Log(rep)
		require.Less(t, time.Since(start), 10*time.Second)
	}
}

func BenchmarkGEMM(b *testing.B) {
	k := gemm{stages: 3, pending: 1}.build().k
	for _, opt := range []Options{{}, {NoChecks: true}, {Workers: 1}} {
		b.Run(fmt.Sprintf("nochecks=%v,workers=%d", opt.NoChecks, opt.Workers), func(b *testing.B) {
			args := gemmArgs(256, 256, 256)
			for b.Loop() {
				if _, err := Run(context.Background(), k, args, opt); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
