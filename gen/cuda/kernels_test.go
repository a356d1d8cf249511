package cuda_test

import (
	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// The kernels of the goldens, built by hand as the lowering would.

var (
	mma16816 = &cir.Op{Name: "SM80_16x8x16_F32F16F16F32_TN", Class: cir.MMA, Arch: 80,
		PTX: "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
		D:   cir.Operand{Type: "f32", Count: 4}, A: cir.Operand{Type: "u32", Count: 4},
		B: cir.Operand{Type: "u32", Count: 2}, C: cir.Operand{Type: "f32", Count: 4}}
	mma1688 = &cir.Op{Name: "SM80_16x8x8_F32TF32TF32F32_TN", Class: cir.MMA, Arch: 80,
		PTX: "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
		D:   cir.Operand{Type: "f32", Count: 4}, A: cir.Operand{Type: "u32", Count: 4},
		B: cir.Operand{Type: "u32", Count: 2}, C: cir.Operand{Type: "f32", Count: 4}}
	mma884 = &cir.Op{Name: "SM80_8x8x4_F64F64F64F64_TN", Class: cir.MMA, Arch: 80,
		PTX: "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",
		D:   cir.Operand{Type: "f64", Count: 2}, A: cir.Operand{Type: "f64", Count: 1},
		B: cir.Operand{Type: "f64", Count: 1}, C: cir.Operand{Type: "f64", Count: 2}}
	mma8816 = &cir.Op{Name: "SM80_8x8x16_S32S8S8S32_TN", Class: cir.MMA, Arch: 80,
		PTX: "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32",
		D:   cir.Operand{Type: "s32", Count: 2}, A: cir.Operand{Type: "u32", Count: 1},
		B: cir.Operand{Type: "u32", Count: 1}, C: cir.Operand{Type: "s32", Count: 2}}
	ldsm4 = &cir.Op{Name: "SM75_U32x4_LDSM_N", Class: cir.LdMatrix, Arch: 75,
		PTX: "ldmatrix.sync.aligned.m8n8.x4.shared.b16", D: cir.Operand{Type: "u32", Count: 4}}
	ldsm2 = &cir.Op{Name: "SM75_U32x2_LDSM_N", Class: cir.LdMatrix, Arch: 75,
		PTX: "ldmatrix.sync.aligned.m8n8.x2.shared.b16", D: cir.Operand{Type: "u32", Count: 2}}
	cpAsync16 = &cir.Op{Name: "SM80_CP_ASYNC_CACHEGLOBAL_U128", Class: cir.CpAsync, Arch: 80,
		PTX: "cp.async.cg.shared.global", Bytes: 16}
	cpAsync4 = &cir.Op{Name: "SM80_CP_ASYNC_CACHEALWAYS_U32", Class: cir.CpAsync, Arch: 80,
		PTX: "cp.async.ca.shared.global", Bytes: 4}
)

func c(n int) sym.Expr              { return sym.Int(n) }
func cs(e sym.Expr, n int) sym.Expr { return e.Mul(sym.Int(n)) }

func thread(n int64) sym.Expr {
	return sym.New(&sym.Symbol{Name: "tid", Class: sym.Thread, Lo: 0, Hi: n - 1})
}

func block(name string) sym.Expr {
	return sym.New(&sym.Symbol{Name: name, Class: sym.Block, Lo: 0, Hi: 1 << 20})
}

func loopSym(name string, n int64) *sym.Symbol {
	return &sym.Symbol{Name: name, Class: sym.Loop, Lo: 0, Hi: n - 1}
}

func dim(name string, hi, multiple int64) *cir.Param {
	return &cir.Param{Name: name, Class: cir.Dim,
		Sym: &sym.Symbol{Name: name, Class: sym.Param, Lo: 1, Hi: hi, Multiple: multiple}}
}

func pointer(name string, k elem.Kind, write bool) *cir.Param {
	return &cir.Param{Name: name, Class: cir.Pointer, Elem: k, Read: !write, Write: write,
		Mem: &cir.Mem{Name: name, Space: cir.Global, Elem: k, Align: 16}}
}

func shared(name string, k elem.Kind, count, offset int) *cir.Mem {
	return &cir.Mem{Name: name, Space: cir.Shared, Elem: k, Count: c(count), Align: 128, Offset: offset}
}

func ref(r *cir.Reg, index sym.Expr, n int) cir.RegRef {
	return cir.RegRef{Reg: r, Index: index, Elems: n}
}

// refs are count operand registers of n elements each, one after the other.
func refs(r *cir.Reg, index sym.Expr, count, n int) []cir.RegRef {
	out := make([]cir.RegRef, count)
	for i := range out {
		out[i] = ref(r, index.Add(c(i*n)), n)
	}
	return out
}

func elemOf(r *cir.Reg, index sym.Expr) cir.Value { return cir.RegElem{Ref: ref(r, index, 1)} }

// vectorCopy copies N halves, eight a thread and step, with a scalar tail.
func vectorCopy() *cir.Kernel {
	n, src, dst := dim("N", 1<<30, 8), pointer("S", elem.KF16, false), pointer("D", elem.KF16, true)
	tid, bx := thread(256), block("bx")
	r := &cir.Reg{Name: "tDrS", Elem: elem.KF16, Count: 32}
	base := &sym.Symbol{Name: "base", Class: sym.Var, Lo: 0, Hi: 1<<30 + 8192, Multiple: 8}
	i := loopSym("i", 4)
	at := sym.New(base).Add(cs(sym.New(i), 2048))
	in := cir.Cmp{Op: cir.LT, X: at, Y: sym.New(n.Sym)}
	return &cir.Kernel{
		Name: "copy_f16", Doc: []string{"D = S, for vectors of N halves."}, Threads: 256,
		Params: []*cir.Param{src, dst, n}, Arch: 80,
		Grid: [3]sym.Expr{sym.New(n.Sym).CeilDiv(c(8192)), c(1), c(1)},
		Body: []cir.Stmt{
			cir.Let{Sym: base, Value: cs(bx, 8192).Add(cs(tid, 8))},
			cir.DeclReg{Reg: r},
			cir.Comment{Text: "Four vectors in flight."},
			cir.For{Sym: i, Hi: c(4), Unroll: true, Body: []cir.Stmt{
				cir.Load{Dst: ref(r, cs(sym.New(i), 8), 8), Src: cir.Addr{Mem: src.Mem, Index: at}, Pred: in},
			}},
			cir.For{Sym: i, Hi: c(4), Unroll: true, Body: []cir.Stmt{
				cir.Store{Dst: cir.Addr{Mem: dst.Mem, Index: at}, Src: ref(r, cs(sym.New(i), 8), 8), Pred: in},
			}},
		},
	}
}

// warpGEMM multiplies one 64x32 tile by way of a swizzled shared memory and a cp.async pipeline.
func warpGEMM() *cir.Kernel {
	m, k := dim("M", 1<<20, 1), dim("K", 1<<20, 8)
	a, b := pointer("A", elem.KF16, false), pointer("B", elem.KF16, false)
	d := pointer("D", elem.KF16, true)
	sA, sB := shared("sA", elem.KF16, 3*64*64, 0), shared("sB", elem.KF16, 3*32*64, 3*64*64*2)
	tid, bx := thread(32), block("bx")
	rA := &cir.Reg{Name: "tCrA", Elem: elem.KF16, Count: 4 * 8}
	rB := &cir.Reg{Name: "tCrB", Elem: elem.KF16, Count: 4 * 4}
	rC := &cir.Reg{Name: "tCrC", Elem: elem.KF32, Count: 4 * 4 * 4}
	rD := &cir.Reg{Name: "tCrD", Elem: elem.KF16, Count: 4 * 4 * 4}

	ssw := cs(tid.Mod(c(16)), 64)
	kt, kb, mi, ni := &sym.Symbol{Name: "kt", Class: sym.Loop, Lo: 0, Hi: 1 << 14}, loopSym("kb", 4), loopSym("m", 4), loopSym("n", 4)
	stage := &sym.Symbol{Name: "stage", Class: sym.Var, Lo: 0, Hi: 2}
	write := &sym.Symbol{Name: "write", Class: sym.Var, Lo: 0, Hi: 2}
	K, M := sym.New(k.Sym), sym.New(m.Sym)
	fetch := func(kt, st sym.Expr) []cir.Stmt { return fetchTile(sA, sB, a, b, m, k, kt, st) }
	kchunk := cs(tid.FloorDiv(c(16)), 8).Add(cs(sym.New(kb), 16)).Xor(cs(tid.Mod(c(8)), 8))
	var body []cir.Stmt
	body = append(body, cir.DeclReg{Reg: rA}, cir.DeclReg{Reg: rB}, cir.DeclReg{Reg: rC}, cir.Fill{Reg: rC},
		cir.Var{Sym: stage, Init: c(0)}, cir.Var{Sym: write, Init: c(2)})
	body = append(body, cir.Comment{Text: "Two tiles ahead."})
	body = append(body, fetch(c(0), c(0))...)
	body = append(body, fetch(c(1), c(1))...)
	main := []cir.Stmt{cir.WaitGroup{Pending: 1}, cir.Barrier{}}
	main = append(main, fetch(sym.New(kt).Add(c(2)), sym.New(write))...)
	main = append(main, cir.For{Sym: kb, Hi: c(4), Unroll: true, Body: []cir.Stmt{
		cir.Comment{Text: "(MMA,MMA_M) and (MMA,MMA_N)"},
		cir.For{Sym: mi, Hi: c(4), Unroll: true, Body: []cir.Stmt{cir.LdMatrixStmt{Op: ldsm4,
			Dst: refs(rA, cs(sym.New(mi), 8), 4, 2),
			Src: cir.Addr{Mem: sA, Index: cs(sym.New(stage), 4096).Add(cs(sym.New(mi), 1024)).Add(ssw).Add(kchunk)}}}},
		cir.For{Sym: ni, Hi: c(4), Unroll: true, Body: []cir.Stmt{cir.LdMatrixStmt{Op: ldsm2,
			Dst: refs(rB, cs(sym.New(ni), 4), 2, 2),
			Src: cir.Addr{Mem: sB, Index: cs(sym.New(stage), 2048).Add(cs(sym.New(ni), 512)).Add(cs(tid.Mod(c(8)), 64)).Add(
				cs(tid.FloorDiv(c(8)).Mod(c(2)), 8).Add(cs(sym.New(kb), 16)).Xor(cs(tid.Mod(c(8)), 8)))}}}},
		cir.For{Sym: mi, Hi: c(4), Unroll: true, Body: []cir.Stmt{
			cir.For{Sym: ni, Hi: c(4), Unroll: true, Body: []cir.Stmt{cir.MMAStmt{Op: mma16816,
				D: refs(rC, cs(sym.New(mi), 4).Add(cs(sym.New(ni), 16)), 4, 1), A: refs(rA, cs(sym.New(mi), 8), 4, 2),
				B: refs(rB, cs(sym.New(ni), 4), 2, 2), C: refs(rC, cs(sym.New(mi), 4).Add(cs(sym.New(ni), 16)), 4, 1)}}}}},
	}},
		cir.Assign{Sym: stage, Value: sym.New(stage).Add(c(1)).Mod(c(3))},
		cir.Assign{Sym: write, Value: sym.New(write).Add(c(1)).Mod(c(3))},
	)
	body = append(body, cir.For{Sym: kt, Hi: K.CeilDiv(c(64)), Body: main})
	e := loopSym("e", 64)
	body = append(body, cir.Comment{Text: "Epilogue."}, cir.DeclReg{Reg: rD},
		cir.For{Sym: e, Hi: c(64), Unroll: true, Body: []cir.Stmt{cir.SetReg{Dst: ref(rD, sym.New(e), 1),
			Value: cir.Convert{To: elem.KF16, X: elemOf(rC, sym.New(e))}}}},
		cir.For{Sym: mi, Hi: c(4), Unroll: true, Body: []cir.Stmt{
			cir.For{Sym: ni, Hi: c(4), Unroll: true, Body: epilogueStores(rD, d, M, bx, tid, mi, ni)}}})
	return &cir.Kernel{Name: "warp_gemm", Doc: []string{"D = A B^T for one warp a block.", "", "32 columns."}, Threads: 32, MinBlocks: 2,
		Params: []*cir.Param{a, b, d, m, k}, Shared: []*cir.Mem{sA, sB}, SmemBytes: 3 * (64 + 32) * 64 * 2, Arch: 80, Body: body}
}

// fetchTile copies 64 rows of A and 32 of B at K tile kt to a stage.
func fetchTile(sA, sB *cir.Mem, a, b, m, k *cir.Param, kt, st sym.Expr) []cir.Stmt {
	tid, bx, i := thread(32), block("bx"), loopSym("i", 16)
	K, M, I := sym.New(k.Sym), sym.New(m.Sym), sym.New(i)
	row, chunk := tid.FloorDiv(c(8)), tid.Mod(c(8))
	gsw := cs(row, 64).Add(cs(chunk.Xor(row), 8)) // rows 0-3; 4 rows on flips bit 2 of the chunk
	gk := cs(kt, 64).Add(cs(chunk, 8))
	gm := cs(bx, 64).Add(row).Add(cs(I, 4))
	valid := K.Sub(gk).Max(c(0)).Min(c(8))
	flip := cs(I.Mod(c(2)), 32)
	return []cir.Stmt{
		cir.For{Sym: i, Hi: c(16), Unroll: true, Body: []cir.Stmt{cir.CpAsyncStmt{Op: cpAsync16,
			Dst: cir.Addr{Mem: sA, Index: cs(st, 4096).Add(cs(I, 256)).Add(gsw.Xor(flip))},
			Src: cir.Addr{Mem: a.Mem, Index: gm.Mul(K).Add(gk)}, Valid: &valid,
			Pred: cir.Cmp{Op: cir.LT, X: gm, Y: M}}}},
		cir.For{Sym: &sym.Symbol{Name: "i", Class: sym.Loop, Hi: 7}, Hi: c(8), Unroll: true, Body: []cir.Stmt{cir.CpAsyncStmt{Op: cpAsync16,
			Dst: cir.Addr{Mem: sB, Index: cs(st, 2048).Add(cs(I, 256)).Add(gsw.Xor(flip))},
			Src: cir.Addr{Mem: b.Mem, Index: row.Add(cs(I, 4)).Mul(K).Add(gk)}}}},
		cir.CommitGroup{},
	}
}

func epilogueStores(rD *cir.Reg, d *cir.Param, M, bx, tid sym.Expr, mi, ni *sym.Symbol) []cir.Stmt {
	var out []cir.Stmt
	for h := range 2 {
		row := cs(bx, 64).Add(tid.FloorDiv(c(4))).Add(cs(sym.New(mi), 16)).Add(c(8 * h))
		out = append(out, cir.Store{
			Dst:  cir.Addr{Mem: d.Mem, Index: cs(row, 32).Add(cs(tid.Mod(c(4)), 2)).Add(cs(sym.New(ni), 8))},
			Src:  ref(rD, cs(sym.New(mi), 4).Add(cs(sym.New(ni), 16)).Add(c(2*h)), 2),
			Pred: cir.Cmp{Op: cir.LT, X: row, Y: M}})
	}
	return out
}

// wideOffsets has offsets and a stride that need 64 bits, and negative operands of divisions.
func wideOffsets() *cir.Kernel {
	m, ld := dim("M", 1<<30, 1), dim("ld", 1<<30, 4)
	x, y := pointer("X", elem.KF32, false), pointer("Y", elem.KF32, true)
	alpha := &cir.Param{Name: "alpha", Class: cir.Scalar, Elem: elem.KF32}
	tid, bx := thread(128), block("bx")
	row := &sym.Symbol{Name: "row", Class: sym.Var, Lo: 0, Hi: 1 << 28}
	off := &sym.Symbol{Name: "off", Class: sym.Var, Lo: 0, Hi: 1 << 60}
	shift := &sym.Symbol{Name: "shift", Class: sym.Var, Lo: -200, Hi: 200}
	r := &cir.Reg{Name: "r", Elem: elem.KF32, Count: 8}
	j := loopSym("j", 2)
	at := func(m *cir.Param) cir.Addr {
		return cir.Addr{Mem: m.Mem, Index: sym.New(off).Add(cs(sym.New(j), 4))}
	}
	e := loopSym("e", 8)
	el := elemOf(r, sym.New(e))
	return &cir.Kernel{Name: "wide", Threads: 128, Params: []*cir.Param{x, y, m, ld, alpha}, Arch: 80, Body: []cir.Stmt{
		cir.Let{Sym: row, Value: cs(bx, 128).Add(tid)},
		cir.Let{Sym: off, Value: sym.New(row).Mul(sym.New(ld.Sym)).Add(cs(tid.Mod(c(2)), 8))},
		cir.Let{Sym: shift, Value: tid.Sub(sym.New(m.Sym).Min(c(100))).FloorDiv(c(3)).Add(tid.Sub(c(64)).Mod(c(7))).Add(tid.Sub(c(64)).FloorDiv(c(16)))},
		cir.DeclReg{Reg: r},
		cir.For{Sym: j, Hi: c(2), Unroll: true, Body: []cir.Stmt{
			cir.Load{Dst: ref(r, cs(sym.New(j), 4), 4), Src: at(x),
				Pred: cir.And{cir.Cmp{Op: cir.LT, X: sym.New(row), Y: sym.New(m.Sym)}, cir.Not{X: cir.Cmp{Op: cir.EQ, X: sym.New(shift), Y: c(5)}}}}}},
		cir.For{Sym: e, Hi: c(8), Unroll: true, Body: []cir.Stmt{cir.SetReg{Dst: ref(r, sym.New(e), 1),
			Value: cir.Select{Cond: cir.Cmp{Op: cir.LE, X: sym.New(shift), Y: sym.New(e)},
				X: cir.FMA{X: cir.ParamValue{Param: alpha}, Y: el, Z: cir.Lit{Elem: elem.KF32, V: 1}},
				Y: cir.Binary{Op: cir.AddOp, X: cir.Binary{Op: cir.MulOp, X: el, Y: el}, Y: cir.IntValue{Elem: elem.KF32, Expr: sym.New(shift)}}}}}},
		cir.If{Cond: cir.Cmp{Op: cir.LT, X: sym.New(row), Y: sym.New(m.Sym)}, Then: []cir.Stmt{
			cir.For{Sym: j, Hi: c(2), Unroll: true, Body: []cir.Stmt{cir.Store{Dst: at(y), Src: ref(r, cs(sym.New(j), 4), 4)}}},
		}, Else: []cir.Stmt{cir.If{Cond: cir.Cmp{Op: cir.EQ, X: tid, Y: c(0)}, Then: []cir.Stmt{
			cir.StoreValue{Dst: cir.Addr{Mem: y.Mem, Index: tid}, Value: cir.Lit{Elem: elem.KF32, V: 0.5}},
		}, Else: []cir.Stmt{cir.Barrier{}}}}},
	}}
}

// epilogue computes D = alpha*acc + beta*C in f16, element by element through packed registers.
func epilogue() *cir.Kernel {
	src, dst := pointer("C", elem.KF16, false), pointer("D", elem.KF16, true)
	out := pointer("E", elem.KBF16, true)
	alpha := &cir.Param{Name: "alpha", Class: cir.Scalar, Elem: elem.KF32}
	beta := &cir.Param{Name: "beta", Class: cir.Scalar, Elem: elem.KF16}
	n := dim("N", 1<<20, 1)
	sC := shared("sC", elem.KF32, 128*8, 0)
	tid, e := thread(128), loopSym("e", 8)
	acc := &cir.Reg{Name: "tCrC", Elem: elem.KF32, Count: 8}
	old := &cir.Reg{Name: "tCrS", Elem: elem.KF16, Count: 8}
	rD := &cir.Reg{Name: "tCrD", Elem: elem.KF16, Count: 8}
	rE := &cir.Reg{Name: "tCrE", Elem: elem.KBF16, Count: 8}
	at := cs(tid, 8)
	E := sym.New(e)
	scaled := cir.FMA{X: cir.ParamValue{Param: alpha}, Y: elemOf(acc, E),
		Z: cir.Convert{To: elem.KF32, X: cir.Binary{Op: cir.MulOp, X: cir.ParamValue{Param: beta}, Y: elemOf(old, E)}}}
	relu := cir.Binary{Op: cir.MaxOp, X: scaled, Y: cir.Lit{Elem: elem.KF32}}
	kept := cir.Select{Cond: cir.Not{X: cir.ValCmp{Op: cir.LT, X: elemOf(old, E), Y: cir.Lit{Elem: elem.KF16, V: -2}}},
		X: scaled, Y: cir.Lit{Elem: elem.KF32}}
	return &cir.Kernel{Name: "epilogue", Threads: 128, Arch: 80, Params: []*cir.Param{src, dst, out, alpha, beta, n},
		Shared: []*cir.Mem{sC}, SmemBytes: 4096,
		Body: []cir.Stmt{
			cir.DeclReg{Reg: acc}, cir.DeclReg{Reg: old}, cir.DeclReg{Reg: rD}, cir.DeclReg{Reg: rE},
			cir.Load{Dst: ref(acc, c(0), 4), Src: cir.Addr{Mem: sC, Index: at}},
			cir.Load{Dst: ref(acc, c(4), 4), Src: cir.Addr{Mem: sC, Index: at.Add(c(4))}},
			cir.Comment{Text: "A tail has no vectors."},
			cir.For{Sym: e, Hi: c(8), Unroll: true, Body: []cir.Stmt{
				cir.Load{Dst: ref(old, E, 1), Src: cir.Addr{Mem: src.Mem, Index: at.Add(E)},
					Pred: cir.Cmp{Op: cir.LT, X: at.Add(E), Y: sym.New(n.Sym)}}}},
			cir.For{Sym: e, Hi: c(8), Unroll: true, Body: []cir.Stmt{
				cir.SetReg{Dst: ref(rD, E, 1), Value: cir.Convert{To: elem.KF16, X: relu}},
				cir.SetReg{Dst: ref(rE, E, 1), Value: cir.Convert{To: elem.KBF16, X: kept}}}},
			cir.Store{Dst: cir.Addr{Mem: dst.Mem, Index: at}, Src: ref(rD, c(0), 8)},
			cir.Store{Dst: cir.Addr{Mem: out.Mem, Index: at}, Src: ref(rE, c(0), 8)},
		}}
}

// otherMMAs uses operands in other registers than floats and packed halves, and ones that are not adjacent.
func otherMMAs() *cir.Kernel {
	x, y := pointer("X", elem.KTF32, false), pointer("Y", elem.KF32, true)
	p, q := pointer("P", elem.KF64, false), pointer("Q", elem.KF64, true)
	b, s := pointer("B", elem.KS8, false), pointer("S", elem.KS32, true)
	tid := thread(32)
	tA := &cir.Reg{Name: "tA", Elem: elem.KTF32, Count: 8}
	tB := &cir.Reg{Name: "tB", Elem: elem.KF32, Count: 2}
	tC := &cir.Reg{Name: "tC", Elem: elem.KF32, Count: 4}
	dA, dC := &cir.Reg{Name: "dA", Elem: elem.KF64, Count: 2}, &cir.Reg{Name: "dC", Elem: elem.KF64, Count: 2}
	iA, iC := &cir.Reg{Name: "iA", Elem: elem.KS8, Count: 8}, &cir.Reg{Name: "iC", Elem: elem.KS32, Count: 2}
	every2 := []cir.RegRef{ref(tA, c(0), 1), ref(tA, c(2), 1), ref(tA, c(4), 1), ref(tA, c(6), 1)}
	return &cir.Kernel{Name: "other_mmas", Threads: 32, Arch: 80, Params: []*cir.Param{x, y, p, q, b, s}, Body: []cir.Stmt{
		cir.DeclReg{Reg: tA}, cir.DeclReg{Reg: tB}, cir.DeclReg{Reg: tC},
		cir.Load{Dst: ref(tA, c(0), 4), Src: cir.Addr{Mem: x.Mem, Index: cs(tid, 8)}},
		cir.Load{Dst: ref(tA, c(4), 4), Src: cir.Addr{Mem: x.Mem, Index: cs(tid, 8).Add(c(4))}},
		cir.SetReg{Dst: ref(tB, c(0), 1), Value: cir.Convert{To: elem.KF32, X: elemOf(tA, c(1))}},
		cir.SetReg{Dst: ref(tB, c(1), 1), Value: cir.Convert{To: elem.KF32, X: cir.Convert{To: elem.KTF32, X: cir.Lit{Elem: elem.KF32, V: 1.1}}}},
		cir.Fill{Reg: tC, Value: 1},
		cir.MMAStmt{Op: mma1688, D: refs(tC, c(0), 4, 1), A: every2, B: refs(tB, c(0), 2, 1), C: refs(tC, c(0), 4, 1)},
		cir.Store{Dst: cir.Addr{Mem: y.Mem, Index: cs(tid, 4)}, Src: ref(tC, c(0), 4)},
		cir.DeclReg{Reg: dA}, cir.DeclReg{Reg: dC}, cir.Fill{Reg: dC},
		cir.Load{Dst: ref(dA, c(0), 2), Src: cir.Addr{Mem: p.Mem, Index: cs(tid, 2)}},
		cir.MMAStmt{Op: mma884, D: refs(dC, c(0), 2, 1), A: refs(dA, c(0), 1, 1), B: refs(dA, c(1), 1, 1), C: refs(dC, c(0), 2, 1)},
		cir.Store{Dst: cir.Addr{Mem: q.Mem, Index: cs(tid, 2)}, Src: ref(dC, c(0), 2)},
		cir.DeclReg{Reg: iA}, cir.DeclReg{Reg: iC}, cir.Fill{Reg: iC, Value: -3},
		cir.Load{Dst: ref(iA, c(0), 2), Src: cir.Addr{Mem: b.Mem, Index: cs(tid, 8)}, Pred: cir.Cmp{Op: cir.LT, X: tid, Y: c(9)}},
		cir.Load{Dst: ref(iA, c(2), 1), Src: cir.Addr{Mem: b.Mem, Index: cs(tid, 8).Add(c(2))}},
		cir.SetReg{Dst: ref(iA, c(3), 1), Value: cir.Unary{Op: cir.NegOp, X: elemOf(iA, c(2))}},
		cir.Load{Dst: ref(iA, c(4), 4), Src: cir.Addr{Mem: b.Mem, Index: cs(tid, 8).Add(c(4))}},
		cir.MMAStmt{Op: mma8816, D: refs(iC, c(0), 2, 1), A: refs(iA, c(0), 1, 4), B: refs(iA, c(4), 1, 4), C: refs(iC, c(0), 2, 1)},
		cir.Store{Dst: cir.Addr{Mem: s.Mem, Index: cs(tid, 2)}, Src: ref(iC, c(0), 2)},
	}}
}
