package device

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/check"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// stopwatch takes the clocks before and after a chain of so many dependent additions of each thread.
func stopwatch() *Kernel {
	return Define("stopwatch", func(k *K) {
		rounds := k.Dim("rounds")
		x, y := In[elem.F32](k, "X", Shape(128)), Out[elem.F32](k, "Y", Shape(128))
		times := Out[elem.U64](k, "times", Shape(4)) // cycles, nanoseconds, then the same afterwards
		k.Threads(128)
		note := func(at int) {
			for i, now := range []Tensor[Rmem, elem.U64]{Clock64(k), GlobalTimer(k)} {
				k.If(k.Thread.Eq(0), func() { Map(now, times.Tile(Tile(1), at+i), keep) }, nil)
			}
		}
		mine := x.Tile(Tile(1), k.Thread)
		sum := FragmentLike(mine)
		note(0)
		Map(mine, sum, keep) // the loads and stores keep the chain between the readings
		k.Loop(0, rounds, func(Expr) { Map(sum, sum, func(v Val[elem.F32]) Val[elem.F32] { return v.Add(Lit[elem.F32](1)) }) })
		Map(sum, y.Tile(Tile(1), k.Thread), keep)
		note(2)
		Expect(y, 0, func(r *Ref) func(at []int64) float64 {
			return func(at []int64) float64 { return r.Tensor("X").At(at[0]) + float64(r.Dims["rounds"]) }
		})
	})
}

func keep[E elem.Any](v Val[E]) Val[E] { return v }

// wholeNumbers are 0, 1, 2, …: their sums are exact.
func wholeNumbers(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(i)
	}
	return out
}

// ticks are how far the two clocks went in a run of the stopwatch.
func ticks(t *testing.T, rounds int64, on check.Where) (cycles, nanoseconds float64) {
	args := check.Args{Dims: map[string]int64{"rounds": rounds}, Tensors: map[string][]float64{"X": wholeNumbers(128)}}
	res, err := check.Run(t.Context(), stopwatch(), args, check.Options{On: on})
	require.NoError(t, err)
	require.NoError(t, res.Err())
	raw, err := check.RunRaw(t.Context(), stopwatch(), args, check.Options{On: on})
	require.NoError(t, err)
	times := raw.Tensor("times")
	at := func(i int64) float64 { return elem.Decode(elem.KU64, times.After(i)) }
	return at(2) - at(0), at(3) - at(1)
}

// TestClocks: in the emulator each reading is one later than the one before it.
func TestClocks(t *testing.T) {
	cycles, ns := ticks(t, 100, check.CPU)
	require.EqualValues(t, 2, cycles)
	require.EqualValues(t, 2, ns)
}

// TestClocksGPU: the cycles of a run over its nanoseconds are the chip's clock, and both grow with the work.
func TestClocksGPU(t *testing.T) {
	open(t)
	const rounds = 400_000 // of 4 cycles or so: a millisecond
	ticks(t, rounds, check.GPU)
	cycles, ns := ticks(t, rounds, check.GPU)
	require.Greater(t, cycles, 2.0*rounds)
	require.InDelta(t, 1.75, cycles/ns, 1.25, "GHz: %g cycles in %g ns", cycles, ns)
	half, _ := ticks(t, rounds/2, check.GPU)
	require.InEpsilon(t, cycles/2, half, 0.2)
	t.Logf("%.3f GHz, %.2f cycles a round", cycles/ns, cycles/rounds)
}
