package emu

import (
	"context"
	"testing"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
	"github.com/stretchr/testify/require"
)

// maker builds kernels by hand. Every statement gets a line of its own, which mark remembers by name.
type maker struct {
	k     *cir.Kernel
	line  int
	marks map[string]int
}

func newMaker(name string, threads int) *maker {
	return &maker{k: &cir.Kernel{Name: name, Threads: threads, Arch: 80}, marks: map[string]int{}}
}

func (m *maker) at() cir.Pos { m.line++; return cir.Pos{File: "/some/where/k.go", Line: m.line} }

// mark names the line of the next statement.
func (m *maker) mark(name string) { m.marks[name] = m.line + 1 }

var tid = sym.New(&sym.Symbol{Name: "threadIdx.x", Class: sym.Thread, Hi: 1023})

func bid(axis string) sym.Expr {
	return sym.New(&sym.Symbol{Name: "blockIdx." + axis, Class: sym.Block, Hi: 1 << 30})
}

func n[N ~int | ~int64](x N) sym.Expr { return sym.Int(x) }

func (m *maker) dim(name string) sym.Expr {
	s := &sym.Symbol{Name: name, Class: sym.Param, Lo: 1, Hi: 1 << 30}
	m.k.Params = append(m.k.Params, &cir.Param{Name: name, Class: cir.Dim, Sym: s})
	return sym.New(s)
}

func (m *maker) global(name string, k elem.Kind, count sym.Expr, mode string) *cir.Mem {
	mem := &cir.Mem{Name: name, Space: cir.Global, Elem: k, Count: count, Align: 16}
	m.k.Params = append(m.k.Params, &cir.Param{Pos: cir.Pos{File: "/some/where/k.go", Line: 1}, Name: name, Class: cir.Pointer, Elem: k, Mem: mem,
		Read: mode != "w", Write: mode != "r"})
	return mem
}

func (m *maker) shared(name string, k elem.Kind, count int) *cir.Mem {
	mem := &cir.Mem{Name: name, Space: cir.Shared, Elem: k, Count: n(count), Align: 16, Offset: m.k.SmemBytes}
	m.k.SmemBytes += (count*k.Bits()/8 + 15) / 16 * 16
	m.k.Shared = append(m.k.Shared, mem)
	return mem
}

func (m *maker) reg(body *[]cir.Stmt, name string, k elem.Kind, count int) *cir.Reg {
	r := &cir.Reg{Name: name, Elem: k, Count: count}
	*body = append(*body, cir.DeclReg{Pos: m.at(), Reg: r})
	return r
}

func ref(r *cir.Reg, i, elems int) cir.RegRef { return cir.RegRef{Reg: r, Index: n(i), Elems: elems} }

func refAt(r *cir.Reg, i sym.Expr, elems int) cir.RegRef {
	return cir.RegRef{Reg: r, Index: i, Elems: elems}
}

func addr(m *cir.Mem, i sym.Expr) cir.Addr { return cir.Addr{Mem: m, Index: i} }

func lt(x, y sym.Expr) cir.Cond { return cir.Cmp{Op: cir.LT, X: x, Y: y} }

func run(t *testing.T, k *cir.Kernel, args Args, opt Options) *Report {
	t.Helper()
	rep, err := Run(context.Background(), k, args, opt)
	require.NoError(t, err)
	placed(t, rep)
	return rep
}

// placed asserts that every finding says where it is, and where the other access is if there is one.
func placed(t *testing.T, rep *Report) {
	t.Helper()
	for _, f := range rep.Findings {
		require.NotEmpty(t, f.Pos.File, "%v", f)
		require.Positive(t, f.Pos.Line, "%v", f)
		require.NotEmpty(t, f.Kernel, "%v", f)
		require.NotEmpty(t, f.Message, "%v", f)
		require.NotEmpty(t, f.Remedy, "%v", f)
		if len(f.Threads) > 1 && f.Check != Deadlock { // there the other warp has ended
			require.Positive(t, f.Other.Line, "%v", f)
		}
	}
}

// wantOnly asserts that the run found exactly these checks, the first at the marked line.
func (m *maker) wantOnly(t *testing.T, rep *Report, mark string, checks ...Check) *Finding {
	t.Helper()
	require.NotEmpty(t, rep.Findings, "no finding")
	var got []Check
	for _, f := range rep.Findings {
		got = append(got, f.Check)
	}
	require.Equal(t, checks, got, "%v", rep.Err())
	require.Equal(t, m.marks[mark], rep.Findings[0].Pos.Line, "%v", rep.Err())
	require.NotEmpty(t, rep.Findings[0].Remedy)
	return rep.Findings[0]
}

var ldsmX4 = &cir.Op{Name: "SM75_U32x4_LDSM_N", PTX: "ldmatrix.sync.aligned.x4.m8n8.shared.b16", Class: cir.LdMatrix}

var cp16 = &cir.Op{Name: "SM80_CP_ASYNC_CACHEGLOBAL_ZFILL", PTX: "cp.async.cg.shared.global", Class: cir.CpAsync, Bytes: 16}

func mmaOp(ptx string) *cir.Op { return &cir.Op{Name: ptx, PTX: ptx, Class: cir.MMA} }

// ints are n numbers that f16 holds exactly, and whose products sum up exactly.
func ints(n, seed int) []float64 {
	out := make([]float64, n)
	x := uint32(seed)*2654435761 + 12345
	for i := range out {
		x = x*1664525 + 1013904223
		out[i] = float64(int(x>>24)%7 - 3)
	}
	return out
}
