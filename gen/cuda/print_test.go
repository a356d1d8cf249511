package cuda_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
	"github.com/gocute/gocute/gen/cuda"
)

var goldens = map[string]func() *cir.Kernel{
	"copy_f16":   vectorCopy,
	"warp_gemm":  warpGEMM,
	"wide":       wideOffsets,
	"epilogue":   epilogue,
	"other_mmas": otherMMAs,
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o777))
		require.NoError(t, os.WriteFile(file, got, 0o666))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "run with UPDATE=1 if the change is meant")
}

func TestGolden(t *testing.T) {
	for name, build := range goldens {
		t.Run(name, func(t *testing.T) {
			got, err := cuda.Print(build(), cuda.Options{})
			require.NoError(t, err)
			golden(t, name+".cu", got)
			for range 20 { // maps must not show
				again, err := cuda.Print(build(), cuda.Options{})
				require.NoError(t, err)
				require.Equal(t, string(got), string(again))
			}
		})
	}
}

func allOps() []*cir.Op {
	return []*cir.Op{mma16816, mma1688, mma884, mma8816, ldsm4, ldsm2, cpAsync16, cpAsync4}
}

func TestHeaders(t *testing.T) {
	files, err := cuda.Headers(allOps())
	require.NoError(t, err)
	require.Equal(t, []string{"gocute/copy_sm75.cuh", "gocute/copy_sm80.cuh", "gocute/gocute.cuh",
		"gocute/mma_sm80.cuh"}, slices.Sorted(maps.Keys(files)))
	for name, text := range files {
		golden(t, name, text)
	}
	got, err := cuda.Print(warpGEMM(), cuda.Options{Header: true})
	require.NoError(t, err)
	golden(t, "warp_gemm_header.cu", got)
}

// with is a kernel of 32 threads with the given statements around what the broken ones need.
func with(change func(k *cir.Kernel, r *cir.Reg), body ...func(*cir.Reg, *cir.Kernel) cir.Stmt) *cir.Kernel {
	r := &cir.Reg{Name: "r", Elem: elem.KF16, Count: 8}
	k := &cir.Kernel{Name: "k", Threads: 32, Params: []*cir.Param{pointer("A", elem.KF16, false), dim("N", 99, 1)},
		Shared: []*cir.Mem{shared("sA", elem.KF16, 64, 0)}, SmemBytes: 128, Body: []cir.Stmt{cir.DeclReg{Reg: r}}}
	for _, s := range body {
		k.Body = append(k.Body, s(r, k))
	}
	if change != nil {
		change(k, r)
	}
	return k
}

func TestBrokenKernels(t *testing.T) {
	pos := cir.Pos{File: "user.go", Line: 41}
	load := func(index sym.Expr, n int) func(*cir.Reg, *cir.Kernel) cir.Stmt {
		return func(r *cir.Reg, k *cir.Kernel) cir.Stmt {
			return cir.Load{Pos: pos, Dst: ref(r, index, n), Src: cir.Addr{Mem: k.Params[0].Mem, Index: thread(32)}}
		}
	}
	i := loopSym("i", 4)
	n := sym.New(dim("N", 99, 1).Sym)
	for _, c := range []struct {
		name, want string
		kernel     *cir.Kernel
	}{
		{"run-time index", "user.go:41: expected the index of register array r to be a constant after unrolling, but got N",
			with(nil, load(n, 1))},
		{"loop index", "constant after unrolling, but got 2*i", with(nil, func(r *cir.Reg, k *cir.Kernel) cir.Stmt {
			return cir.For{Sym: i, Hi: sym.Int(4), Body: []cir.Stmt{load(sym.New(i).Mul(sym.Int(2)), 2)(r, k)}}
		})},
		{"alignment", "begins a 32-bit register, but got index 1 of f16", with(nil, load(sym.Int(1), 4))},
		{"bounds", "8 elements at index 4 (4 to 4) leave register array r of 8 elements", with(nil, load(sym.Int(4), 8))},
		{"width", "expected a vector of 8, 16, 32, 64 or 128 bits, but got 6 elements of kind f16", with(nil, load(sym.Int(0), 6))},
		{"undeclared", "register array q is not declared", with(nil, func(_ *cir.Reg, k *cir.Kernel) cir.Stmt {
			return load(sym.Int(0), 2)(&cir.Reg{Name: "q", Elem: elem.KF16, Count: 2}, k)
		})},
		{"out of scope", `expected a symbol in scope, but got "i"`, with(nil, func(r *cir.Reg, k *cir.Kernel) cir.Stmt {
			return cir.Store{Dst: cir.Addr{Mem: k.Shared[0], Index: sym.New(i)}, Src: ref(r, sym.Int(0), 2)}
		})},
		{"twice", "name r is declared twice", with(nil, func(r *cir.Reg, _ *cir.Kernel) cir.Stmt { return cir.DeclReg{Reg: r} })},
		{"read-only", "expected an argument that the kernel writes, but A is read-only", with(nil, func(r *cir.Reg, k *cir.Kernel) cir.Stmt {
			return cir.Store{Dst: cir.Addr{Mem: k.Params[0].Mem, Index: sym.Int(0)}, Src: ref(r, sym.Int(0), 2)}
		})},
		{"smem", "shared array sA ends at byte 128 of 64", with(func(k *cir.Kernel, _ *cir.Reg) { k.SmemBytes = 64 })},
		{"keyword", `"float" cannot name a variable`, with(func(k *cir.Kernel, r *cir.Reg) { r.Name = "float" })},
		{"bounds of a loop", "leaves the variable's declared bounds 0 and 3", with(nil, func(*cir.Reg, *cir.Kernel) cir.Stmt {
			return cir.For{Sym: i, Hi: sym.Int(5)}
		})},
		{"operands", "SM75_U32x2_LDSM_N: operand D takes 2 registers, but got 4", with(nil, func(r *cir.Reg, k *cir.Kernel) cir.Stmt {
			return cir.LdMatrixStmt{Op: ldsm2, Dst: refs(r, sym.Int(0), 4, 2), Src: cir.Addr{Mem: k.Shared[0]}}
		})},
		{"global", "expected an address in shared memory, but A is in global memory", with(nil, func(r *cir.Reg, k *cir.Kernel) cir.Stmt {
			return cir.LdMatrixStmt{Op: ldsm2, Dst: refs(r, sym.Int(0), 2, 2), Src: cir.Addr{Mem: k.Params[0].Mem}}
		})},
		{"no instruction", "expected an instruction of the statement's class", with(nil, func(r *cir.Reg, k *cir.Kernel) cir.Stmt {
			return cir.LdMatrixStmt{Op: mma884}
		})},
		{"no statement", "expected a statement, but got none", with(nil, func(*cir.Reg, *cir.Kernel) cir.Stmt { return nil })},
		{"missing parts", "user.go:41: a part of the statement is missing", with(nil, func(*cir.Reg, *cir.Kernel) cir.Stmt {
			return cir.Let{Pos: pos}
		})},
		{"double rounding", "f64 does not convert to tf32 with one rounding", with(nil, func(r *cir.Reg, _ *cir.Kernel) cir.Stmt {
			return cir.SetReg{Dst: ref(r, sym.Int(0), 1), Value: cir.Convert{To: elem.KTF32, X: cir.Lit{Elem: elem.KF64}}}
		})},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := cuda.Print(c.kernel, cuda.Options{})
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, "internal error: kernel k: ")
		})
	}
	_, err := cuda.Print(nil, cuda.Options{})
	require.ErrorContains(t, err, "internal error:")
}
