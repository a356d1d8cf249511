package check_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/check"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// TestNeverWritten is about an output that no statement writes: the finding stands at its declaration.
func TestNeverWritten(t *testing.T) {
	k := Define("silent", func(k *K) {
		In[elem.F32](k, "A", Shape(32))
		k.Threads(32)
		Out[elem.F32](k, "B", Shape(32)) // the finding
	})
	res := result(t, k, check.Args{})
	require.Len(t, res.Findings, 1)
	require.Regexp(t, "^words_test.go:19: silent: unwritten: ", res.Err().Error())
	require.ErrorContains(t, res.Err(), "32 of B's elements are never written, the first is B[0]: no statement of the kernel writes to it")
	require.NotContains(t, res.Err().Error(), "?")
}

// TestNearest tells a result that passes from one that fails by the numbers that decided.
func TestNearest(t *testing.T) {
	off := func(by float64) func(a RefTensor) func(at []int64) float64 {
		return func(a RefTensor) func(at []int64) float64 {
			return func(at []int64) float64 {
				if at[0] == 3 && at[1] == 5 {
					return 2*a.At(at...) + by
				}
				return 2 * a.At(at...)
			}
		}
	}
	res := result(t, doubleWithin(0.25, 8, 2, off(0.125)), check.Args{})
	require.NoError(t, res.Err())
	e := res.Outputs[0].Nearest
	require.Equal(t, []int64{3, 5}, e.At)
	require.InDelta(t, 0.125, e.Error, 1e-6)
	require.Less(t, e.Share(), 1.0)
	require.Regexp(t, `nearest to its limit \(3,5\): got [-\d.]+, expected [-\d.]+, error 0\.125 of [\d.]+ allowed there \(\d\d? %\)\nPASS$`, res.String())

	res = result(t, doubleWithin(0, 8, 2, off(0.125)), check.Args{})
	require.Error(t, res.Err())
	require.Contains(t, res.String(), "error 0.125, none allowed\n")
}

// TestBudgetCountsAsTheTable finds one number of bank conflicts in the budget and in the table above it.
func TestBudgetCountsAsTheTable(t *testing.T) {
	k := Define("columns", func(k *K) {
		a, b := In[elem.F32](k, "A", Shape(32, 32)), Out[elem.F32](k, "B", Shape(32, 32))
		k.Threads(32)
		k.Budget(NoBankConflicts)
		s := Shared[elem.F32](k, "s", Shape(32, 32).Strides(32, 1))
		same := func(v Val[elem.F32]) Val[elem.F32] { return v }
		r := FragmentLike(a.Tile(Tile(1, 1), k.Thread, 0))
		for j := range 3 {
			Map(a.Tile(Tile(1, 1), k.Thread, j), r, same)
			Map(r, s.Tile(Tile(1, 1), k.Thread, j), same) // all in one bank, three statements of one line
			Map(r, b.Tile(Tile(1, 1), k.Thread, j), same)
		}
	})
	in, err := check.Inspect(t.Context(), k, check.Args{}, onCPU)
	require.NoError(t, err)
	require.Contains(t, in.Budgets[0].Problem, ": 93 bank conflicts in 3 requests")
	for line := range strings.Lines(in.String()) {
		if strings.Contains(line, "store.shared") && !strings.Contains(line, "budget") && strings.Contains(line, "words_test.go") {
			require.True(t, strings.HasSuffix(line, " 93\n"), line)
		}
	}
}
