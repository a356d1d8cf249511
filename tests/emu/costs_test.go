package emu_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/check"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/kernels"
)

// transposed reads shared memory down columns of 32 words, all in one bank, and global memory down columns.
func transposed(name string, pad int, budgets ...Budget) *Kernel {
	return Define(name, func(k *K) {
		A, B := In[elem.F32](k, "A", Shape(32, 32).Strides(32, 1)), Out[elem.F32](k, "B", Shape(32, 32).Strides(32, 1))
		k.Threads(32)
		k.Budget(budgets...)
		s := Shared[elem.F32](k, "s", Shape(32, 32).Strides(32+pad, 1))
		one := Tile(1, 1)
		r := FragmentLike(A.Tile(one, 0, 0))
		k.Loop(0, 32, func(i Expr) {
			Map(A.Tile(one, i, k.Thread), r, same)
			Map(r, s.Tile(one, i, k.Thread), same)
		})
		k.Barrier()
		k.Loop(0, 32, func(i Expr) {
			Map(s.Tile(one, k.Thread, i), r, same)
			Map(r, B.Tile(one, i, k.Thread), same)
		})
		Expect(B, 0, func(r *Ref) func([]int64) float64 {
			a := r.Tensor("A")
			return func(at []int64) float64 { return a.At(at[1], at[0]) }
		})
	})
}

func TestBudgets(t *testing.T) {
	for _, c := range []struct {
		k    *Kernel
		want string // part of the error; empty if the budget is met
	}{
		{transposed("transpose_padded", 1, NoBankConflicts, Coalesced), ""},
		{transposed("transpose", 0, NoBankConflicts), "budget: expected no bank conflicts, but costs_test.go:29: load.shared of s: 992 bank conflicts in 32 requests"},
		{transposed("transpose_free", 0, Coalesced), ""},
		{columns(Coalesced), "budget: expected fully coalesced, but costs_test.go:66: load.global of A: 28 sectors beyond the least in 1 request"},
	} {
		in, err := check.Inspect(t.Context(), c.k, check.Args{}, check.Options{})
		require.NoError(t, err)
		if c.want == "" {
			require.NoError(t, in.Err())
			require.Contains(t, in.String(), "PASS")
			continue
		}
		require.ErrorContains(t, in.Err(), c.want)
	}
}

func columns(budgets ...Budget) *Kernel {
	return Define("columns", func(k *K) {
		A, B := In[elem.F32](k, "A", Shape(32, 32).Strides(32, 1)), Out[elem.F32](k, "B", Shape(32))
		k.Threads(32)
		k.Budget(budgets...)
		r := FragmentLike(B.Tile(Tile(1), 0))
		Map(A.Tile(Tile(1, 1), k.Thread, 0).At(0, All), r, same)
		put(k, r, B, k.Thread)
	})
}

// TestNotLinear: what has no meaning in a field is refused, not computed.
func TestNotLinear(t *testing.T) {
	unary := func(name string, f func(v Val[elem.F32]) Val[elem.F32]) *Kernel {
		return Define(name, func(k *K) {
			A, B := In[elem.F32](k, "A", Shape(32)), Out[elem.F32](k, "B", Shape(32))
			k.Threads(32)
			Map(A.Tile(Tile(1), k.Thread), B.Tile(Tile(1), k.Thread), f)
		})
	}
	for name, f := range map[string]func(v Val[elem.F32]) Val[elem.F32]{
		"computes exp":           Val[elem.F32].Exp,
		"computes max":           func(v Val[elem.F32]) Val[elem.F32] { return v.Max(Lit[elem.F32](0)) },
		"compares values by <":   func(v Val[elem.F32]) Val[elem.F32] { return Select(v.Lt(Lit[elem.F32](0)), v.Neg(), v) },
		"rounds f32 to s32":      func(v Val[elem.F32]) Val[elem.F32] { return To[elem.F32](To[elem.S32](v)) },
		"divides f32 by a value": func(v Val[elem.F32]) Val[elem.F32] { return Lit[elem.F32](1).Div(v) },
	} {
		_, err := check.Exact(t.Context(), unary("not_linear", f), check.Args{})
		require.ErrorContains(t, err, "the kernel "+name)
	}
	squares := unary("squares", func(v Val[elem.F32]) Val[elem.F32] { return v.Mul(v) })
	_, err := check.Exact(t.Context(), squares, check.Args{})
	require.NoError(t, err, "a polynomial has a meaning; without a reference nothing is compared")
	check.ExactKernel(t, kernels.MMATile(), check.Args{})
}
