package emu_test

import (
	"runtime"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/atoms"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// unguarded takes the predicates of the statements of one kind out of a kernel: what a user of CUDA forgets.
func unguarded[S cir.Stmt](k *cir.Kernel, strip func(S) S) *cir.Kernel {
	k.Body = cir.Rewrite(k.Body, func(s cir.Stmt) []cir.Stmt {
		if x, ok := s.(S); ok {
			s = strip(x)
		}
		return []cir.Stmt{s}
	})
	return k
}

func tailStore() *cir.Kernel {
	k := lowered(Define("tail_store", func(k *K) {
		n := k.Dim("n")
		B := Out[elem.F32](k, "B", Shape(n))
		k.Threads(32)
		k.Grid(n.CeilDiv(32))
		r := FragmentLike(B.Tile(Tile(1), k.Thread))
		Fill(r, 1)
		put(k, r, B, k.BlockX.Mul(32).Add(k.Thread)) // BROKEN out-of-bounds
	}))
	return unguarded(k, func(s cir.StoreValue) cir.StoreValue { s.Pred = nil; return s })
}

func tailLoad() *cir.Kernel {
	k := lowered(Define("tail_load", func(k *K) {
		n := k.Dim("n", Multiple(4))
		A, B := In[elem.F32](k, "A", Shape(n)), Out[elem.F32](k, "B", Shape(n))
		k.Threads(32)
		k.Grid(n.CeilDiv(128))
		load := NewTiledCopy[elem.F32](atoms.UniversalCopy[Gmem, Rmem](128), Shape(32), Shape(4))
		store := NewTiledCopy[elem.F32](atoms.UniversalCopy[Rmem, Gmem](128), Shape(32), Shape(4))
		from := load.Slice(k.Thread).PartitionS(A.Tile(Tile(128), k.BlockX))
		r := FragmentLike(from)
		Copy(load, from, r) // BROKEN out-of-bounds
		Copy(store, r, store.Slice(k.Thread).PartitionD(B.Tile(Tile(128), k.BlockX)))
	}))
	return unguarded(k, func(s cir.Load) cir.Load { s.Pred = nil; return s })
}

func tailCpAsync() *cir.Kernel {
	k := asyncRows(func(k *K, load func()) {
		load() // BROKEN out-of-bounds
	})
	return unguarded(k, func(s cir.CpAsyncStmt) cir.CpAsyncStmt { s.Valid, s.Pred = nil, nil; return s })
}

// asyncRows copies n numbers by cp.async, 128 of them in a block.
func asyncRows(body func(k *K, load func())) *cir.Kernel {
	return lowered(Define("async_rows", func(k *K) {
		k.Helper()
		n := k.Dim("n")
		A, B := In[elem.F32](k, "A", Shape(n)), Out[elem.F32](k, "B", Shape(n))
		k.Threads(32)
		k.Grid(n.CeilDiv(128))
		g2s := NewTiledCopyD[elem.F32](atoms.SM80_CP_ASYNC_CACHEGLOBAL_U128, Shape(32), Shape(4))
		s := Shared[elem.F32](k, "s", Shape(128))
		body(k, func() {
			k.Helper()
			Copy(g2s, g2s.Slice(k.Thread).PartitionS(A.Tile(Tile(128), k.BlockX)), g2s.Slice(k.Thread).PartitionD(s))
		})
		k.CommitGroup()
		k.WaitGroup(0)
		k.Barrier()
		r := FragmentLike(B.Tile(Tile(1), k.Thread))
		k.Loop(0, 4, func(i Expr) {
			get(k, s, i.Mul(32).Add(k.Thread), r)
			put(k, r, B, k.BlockX.Mul(128).Add(i.Mul(32)).Add(k.Thread))
		})
	}))
}

func validTooMany() *cir.Kernel {
	k := asyncRows(func(k *K, load func()) {
		load() // BROKEN out-of-bounds
	})
	return unguarded(k, func(s cir.CpAsyncStmt) cir.CpAsyncStmt {
		v := s.Valid.Add(sym.Int(1))
		s.Valid = &v
		return s
	})
}

func halo() *cir.Kernel {
	k := lowered(Define("halo", func(k *K) {
		A, B := In[elem.F32](k, "A", Shape(64)), Out[elem.F32](k, "B", Shape(64))
		k.Threads(64)
		r := FragmentLike(B.Tile(Tile(1), k.Thread))
		get(k, A, k.Thread.Sub(1), r) // BROKEN out-of-bounds
		put(k, r, B, k.Thread)
	}))
	return unguarded(k, func(s cir.SetReg) cir.SetReg {
		if x, ok := s.Value.(cir.Select); ok {
			s.Value = x.X
		}
		return s
	})
}

func falseBounds() *cir.Kernel {
	return lowered(Define("false_bounds", func(k *K) {
		A, B := In[elem.F32](k, "A", Shape(64)), Out[elem.F32](k, "B", Shape(64))
		k.Threads(64)
		r := FragmentLike(B.Tile(Tile(1), k.Thread))
		v := k.Var("v", 0, 0, 63)
		v.Set(k.Thread.Add(8)) // BROKEN int-range
		get(k, A, v.Expr, r)   // BROKEN out-of-bounds
		put(k, r, B, k.Thread)
	}))
}

func loopLeavesBounds() *cir.Kernel {
	k := lowered(Define("loop_leaves_bounds", func(k *K) {
		n := k.Dim("n", AtMost(128))
		B := Out[elem.F32](k, "B", Shape(n))
		k.Threads(1)
		r := FragmentLike(B.Tile(Tile(1), k.Thread))
		Fill(r, 1)
		k.Loop(0, n, func(i Expr) { put(k, r, B, i) })
		v := k.Var("v", 0, 0, 3)
		k.Loop(0, n, func(i Expr) {
			v.Set(i) // BROKEN int-range
		})
	}))
	return k
}

func dividedByZero() *cir.Kernel {
	return lowered(Define("divided_by_zero", func(k *K) {
		B := Out[elem.S32](k, "B", Shape(32))
		k.Threads(32)
		v := k.Var("v", 1, 1, 8)
		v.Set(k.Thread.Mod(2))                                                                               // BROKEN int-range
		Map(FragmentLike(B.Tile(Tile(1), 0)), B.Tile(Tile(1), k.Thread), func(Val[elem.S32]) Val[elem.S32] { // BROKEN division-by-zero
			return ToVal[elem.S32](k.Thread.Div(v.Expr))
		})
	}))
}

// overflow multiplies a row by a stride. That the row is at most 1000 is not true at 50,000 x 50,000.
func overflow() *cir.Kernel {
	return lowered(Define("overflow", func(k *K) {
		m, n := k.Dim("m"), k.Dim("n", AtMost(1<<16))
		B := Out[elem.F32](k, "B", Shape(m, n).Strides(n, 1))
		k.Threads(32)
		r := FragmentLike(B.Tile(Tile(1, 1), 0, 0))
		Fill(r, 1)
		row := k.Var("row", 0, 0, 1000)
		row.Set(m.Sub(1))                                                   // BROKEN int-range
		Map(r, B.Tile(Tile(1, 1), row.Expr, n.Sub(32).Add(k.Thread)), same) // BROKEN overflow
	}))
}

// overflowLoop sums up an offset that is promised to stay small.
func overflowLoop() *cir.Kernel {
	return lowered(Define("overflow_loop", func(k *K) {
		m, n := k.Dim("m"), k.Dim("n", AtMost(1<<16))
		B := Out[elem.F32](k, "B", Shape(m, n).Strides(n, 1))
		k.Threads(32)
		r := FragmentLike(B.Tile(Tile(1, 1), 0, 0))
		Fill(r, 1)
		tile := k.Var("tile", 0, 0, 100)
		k.Loop(0, 5, func(i Expr) {
			tile.Set(i.Mul(120))                                                            // BROKEN int-range
			Map(r, B.Tile(Tile(100, 1), tile.Expr, k.Thread).Tile(Tile(1, 1), 99, 0), same) // BROKEN overflow
		})
	}))
}

// here is the caller's line, for kernels that the DSL refuses to write.
func here() cir.Pos {
	_, file, line, _ := runtime.Caller(1)
	return cir.Pos{File: file, Line: line}
}

// hand is a kernel of one warp, written as C IR, of global arrays A and B and a shared array s, of 64 f16 each.
type hand struct {
	k       *cir.Kernel
	a, b, s *cir.Mem
	r       *cir.Reg
	tid     sym.Expr
}

func newHand(name string) *hand {
	mem := func(n string, space cir.Space) *cir.Mem {
		return &cir.Mem{Name: n, Space: space, Elem: elem.KF16, Count: sym.Int(512), Align: 16}
	}
	h := &hand{a: mem("A", cir.Global), b: mem("B", cir.Global), s: mem("s", cir.Shared),
		r:   &cir.Reg{Name: "r", Elem: elem.KF16, Count: 8},
		tid: sym.New(&sym.Symbol{Name: "tid", Class: sym.Thread, Hi: 31})}
	h.k = &cir.Kernel{Name: name, Threads: 32, Arch: 80, Shared: []*cir.Mem{h.s}, SmemBytes: 1024,
		Params: []*cir.Param{{Name: "A", Class: cir.Pointer, Elem: elem.KF16, Mem: h.a, Read: true},
			{Name: "B", Class: cir.Pointer, Elem: elem.KF16, Mem: h.b, Read: true, Write: true}},
		Body: []cir.Stmt{cir.DeclReg{Reg: h.r}, cir.Fill{Reg: h.r}}}
	return h
}

func (h *hand) add(s ...cir.Stmt) *cir.Kernel { h.k.Body = append(h.k.Body, s...); return h.k }

func (h *hand) regs(i, n int) cir.RegRef { return cir.RegRef{Reg: h.r, Index: sym.Int(i), Elems: n} }

func at(m *cir.Mem, i sym.Expr) cir.Addr { return cir.Addr{Mem: m, Index: i} }

func misalignedLoad() *cir.Kernel {
	h := newHand("misaligned_load")
	from := at(h.a, h.tid.Mul(sym.Int(8)).Add(sym.Int(4)).Min(sym.Int(504)))
	return h.add(cir.Load{Pos: here(), Dst: h.regs(0, 8), Src: from}) // BROKEN misaligned
}

func misalignedBase() *cir.Kernel {
	h := newHand("misaligned_base")
	h.b.Align = 8
	to := at(h.b, h.tid.Mul(sym.Int(8)))
	return h.add(cir.Store{Pos: here(), Src: h.regs(0, 8), Dst: to}) // BROKEN misaligned
}

func misalignedShared() *cir.Kernel {
	h := newHand("misaligned_shared")
	to := at(h.s, h.tid.Mul(sym.Int(6)))
	return h.add(cir.Store{Pos: here(), Src: h.regs(0, 4), Dst: to}) // BROKEN misaligned
}

var x4 = &cir.Op{Name: "SM75_U32x4_LDSM_N", PTX: "ldmatrix.sync.aligned.x4.m8n8.shared.b16", Class: cir.LdMatrix}

func (h *hand) ldmatrix(pos cir.Pos, index sym.Expr) *cir.Kernel {
	return h.add(cir.Store{Pos: pos, Src: h.regs(0, 8), Dst: at(h.s, h.tid.Mul(sym.Int(8)))}, cir.Barrier{Pos: pos},
		cir.LdMatrixStmt{Pos: pos, Op: x4, Src: at(h.s, index),
			Dst: []cir.RegRef{h.regs(0, 2), h.regs(2, 2), h.regs(4, 2), h.regs(6, 2)}})
}

func ldmatrixMisaligned() *cir.Kernel {
	h := newHand("ldmatrix_misaligned")
	return h.ldmatrix(here(), h.tid.Mul(sym.Int(8)).Add(sym.Int(4))) // BROKEN misaligned
}

// ldmatrixWrongLane takes the row's address from a stride that belongs to a larger array.
func ldmatrixWrongLane() *cir.Kernel {
	h := newHand("ldmatrix_wrong_lane")
	return h.ldmatrix(here(), h.tid.Mul(sym.Int(24))) // BROKEN out-of-bounds, uninitialised
}

var cp16 = &cir.Op{Name: "SM80_CP_ASYNC_CACHEGLOBAL_U128", PTX: "cp.async.cg.shared.global", Class: cir.CpAsync, Bytes: 16}

func misalignedAsync() *cir.Kernel {
	h := newHand("misaligned_async")
	from := at(h.a, h.tid.Mul(sym.Int(8)).Add(sym.Int(2)).Min(sym.Int(500)))
	return h.add(cir.CpAsyncStmt{Pos: here(), Op: cp16, Src: from, Dst: at(h.s, h.tid.Mul(sym.Int(8)))}, // BROKEN misaligned
		cir.CommitGroup{}, cir.WaitGroup{})
}

func sharedOutOfBounds() *cir.Kernel {
	h := newHand("shared_out_of_bounds")
	to := at(h.s, h.tid.Mul(sym.Int(24)))
	return h.add(cir.Store{Pos: here(), Src: h.regs(0, 8), Dst: to}) // BROKEN out-of-bounds
}

func registerOutOfBounds() *cir.Kernel {
	h := newHand("register_out_of_bounds")
	i := &sym.Symbol{Name: "i", Class: sym.Loop, Hi: 8}
	ref := cir.RegRef{Reg: h.r, Index: sym.New(i), Elems: 1}
	return h.add(cir.For{Sym: i, Hi: sym.Int(9), Unroll: true, Body: []cir.Stmt{
		cir.SetReg{Pos: here(), Dst: ref, Value: cir.Lit{Elem: elem.KF16}}}}) // BROKEN out-of-bounds
}

func overflowByHand() *cir.Kernel {
	h := newHand("overflow_by_hand")
	n := &sym.Symbol{Name: "n", Class: sym.Param, Lo: 1, Hi: 1 << 20}
	h.k.Params = append(h.k.Params, &cir.Param{Name: "n", Class: cir.Dim, Sym: n})
	h.b.Count = sym.New(n).Mul(sym.New(n))
	row := &sym.Symbol{Name: "row", Class: sym.Var, Hi: 100}
	index := sym.New(row).Mul(sym.New(n)).Add(h.tid)
	return h.add(cir.Let{Pos: here(), Sym: row, Value: sym.New(n).Sub(sym.Int(1))}, // BROKEN int-range
		cir.Store{Pos: here(), Src: h.regs(0, 1), Dst: at(h.b, index)}) // BROKEN overflow
}
