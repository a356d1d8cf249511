package golaunch

import (
	"math"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// dim makes a Dim parameter and its expression.
func dim(name string, lo, hi, multiple int64) (*cir.Param, sym.Expr) {
	s := &sym.Symbol{Name: name, Class: sym.Param, Lo: lo, Hi: hi, Multiple: multiple}
	return &cir.Param{Name: name, Class: cir.Dim, Sym: s}, sym.New(s)
}

func pointer(name string, e elem.Kind, layout, access string, count sym.Expr, align int) *cir.Param {
	return &cir.Param{
		Name: name, Class: cir.Pointer, Elem: e, Layout: layout,
		Mem:  &cir.Mem{Name: name, Space: cir.Global, Elem: e, Count: count, Align: align},
		Read: access != "out", Write: access != "in",
	}
}

func scalar(name string, e elem.Kind) *cir.Param {
	return &cir.Param{Name: name, Class: cir.Scalar, Elem: e}
}

// copyKernel has no dims.
func copyKernel() *cir.Kernel {
	return &cir.Kernel{
		Name:    "copy_f32",
		Doc:     []string{"Copies a tile."},
		Threads: 256, Arch: 80,
		Grid: [3]sym.Expr{sym.Int(4), {}, {}},
		Params: []*cir.Param{
			pointer("src", elem.KF32, "(32,32):(32,1)", "in", sym.Int(1024), 16),
			pointer("dst", elem.KF32, "(32,32):(32,1)", "out", sym.Int(1024), 16),
		},
	}
}

// gemmKernel is a GEMM with a leading dimension of its own for C.
func gemmKernel() *cir.Kernel {
	pm, m := dim("M", 0, math.MaxInt32, 1)
	pn, n := dim("N", 0, math.MaxInt32, 1)
	pk, k := dim("K", 0, 1<<20, 8)
	pl, ldc := dim("ldc", 1, sym.Unbounded, 1)
	return &cir.Kernel{
		Name:    "gemm_f16",
		Doc:     []string{"C = alpha*A*B + beta*C, accumulated in f32.", "Block tile 128x256x64."},
		Threads: 256, Arch: 80, SmemBytes: 98304,
		Grid: [3]sym.Expr{m.CeilDiv(sym.Int(128)), n.CeilDiv(sym.Int(256)), sym.Int(1)},
		Params: []*cir.Param{
			pointer("A", elem.KF16, "(M,K):(K,1)", "in", m.Mul(k), 16),
			pointer("B", elem.KF16, "(N,K):(K,1)", "in", n.Mul(k), 16),
			pointer("C", elem.KF32, "(M,N):(ldc,1)", "inout", m.Sub(sym.Int(1)).Mul(ldc).Add(n), 4),
			pm, pn, pk, pl,
			scalar("alpha", elem.KF32), scalar("beta", elem.KF32),
		},
		Requires: []cir.Require{
			{Cond: cir.Cmp{Op: cir.LE, X: n, Y: ldc}, Message: "ldc must be at least N"},
			{Cond: cir.Cmp{Op: cir.EQ, X: k.Mod(sym.Int(8))}, Message: "K must be a multiple of 8"},
		},
	}
}

// tensorKernel reads its operands by the copy engine, and has instructions of sm_90a. Four dims in one stride may leave 64 bits.
func tensorKernel() *cir.Kernel {
	pm, m := dim("M", 1, math.MaxInt32, 1)
	pk, k := dim("K", 0, 1<<20, 8)
	pb, b := dim("batch", 1, math.MaxInt32, 1)
	ps, s := dim("specs", 1, math.MaxInt32, 8)
	x := &cir.Kernel{
		Name:    "gemm_sm90",
		Threads: 384, Arch: 90, Exactly: true, SmemBytes: 98304,
		Grid: [3]sym.Expr{m.CeilDiv(sym.Int(128)), b, sym.Int(1)},
		Params: []*cir.Param{pm, pk, pb, ps,
			pointer("A", elem.KF16, "(M,K,batch):(K,1,M*K*batch*specs)", "in", m.Mul(k).Mul(b), 16),
			pointer("B", elem.KS8, "(K):(1)", "in", k, 16),
			pointer("C", elem.KF32, "(M):(1)", "out", m, 4)},
	}
	x.Maps = []*cir.TensorMap{
		{Name: "A_map", Of: x.Params[4], Extents: []sym.Expr{k, m, b}, Strides: []sym.Expr{sym.Int(1), k, m.Mul(k).Mul(b).Mul(s)}, Box: []int{64, 128, 1}, Swizzle: 3},
		{Name: "B_map", Of: x.Params[5], Extents: []sym.Expr{k}, Strides: []sym.Expr{sym.Int(1)}, Box: []int{256}},
	}
	return x
}

// oddKernel has everything that needs care: names that mean something to Go, four dims in one product,
// types without a Go counterpart, conditions of every form, divisions of what may be negative.
func oddKernel() *cir.Kernel {
	pb, b := dim("a", 1, sym.Unbounded, 0)
	pr, r := dim("range", 1, sym.Unbounded, 0)
	pm, m := dim("min", 1, sym.Unbounded, 0)
	pn, n := dim("n", -16, 1<<16, 4)
	po, o := dim("one", 5, 5, 0)
	all := b.Mul(r).Mul(m)
	return &cir.Kernel{
		Name:    "Odd_linux",
		Threads: 32, Arch: 90,
		Grid: [3]sym.Expr{b, r, m.Min(n.Max(sym.Int(1)))},
		Params: []*cir.Param{
			pointer("_x", elem.KS4, "", "in", all, 16),
			pointer("wide", elem.KU128, "", "out", n.FloorDiv(sym.Int(3)).Add(sym.Int(8)), 16),
			pb, pr, pm, pn, po,
			scalar("check", elem.KBF16), scalar("Check", elem.KU8), scalar("tf", elem.KTF32),
			scalar("seed", elem.KU64), scalar("lo", elem.KS16), scalar("d", elem.KF64),
		},
		Requires: []cir.Require{
			{Cond: cir.Cmp{Op: cir.LT, X: all, Y: sym.Int(int64(1) << 40)}, Message: "a*range*min must be less than 2^40"},
			{Cond: cir.Or{
				cir.And{cir.Cmp{Op: cir.NE, X: n, Y: m.Add(o)}, cir.Cmp{Op: cir.LE, X: m, Y: r.Mul(sym.Int(2))}},
				cir.Not{X: cir.Cmp{Op: cir.EQ, X: b.Xor(r).Mod(sym.Int(2)), Y: sym.Int(1)}},
			}, Message: "an odd rule"},
			{Cond: nil, Message: "nothing"},
		},
	}
}
