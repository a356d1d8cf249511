package tests

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/check"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// waits is a kernel of a 64x64 A and two B of the same size, whose products body starts and stores.
func waits(body func(k *K, start func(n int), store func(n int))) *Kernel {
	return Define("waits", func(k *K) {
		atom, err := atoms.GMMAOf[elem.F32, elem.F16, elem.F16](atoms.GMMASpec{N: 64})
		k.Fail("GMMAOf", err)
		mma := NewTiledMMA(atom, Shape(1, 1))
		k.Threads(mma.Threads())
		row := TileToShape(Swizzle(3, 3, 3, Shape(8, 64).Strides(64, 1)), 64, 64)
		matrix := func(name string) (Tensor[Gmem, elem.F16], Tensor[Smem, elem.F16]) {
			return In[elem.F16](k, name, Shape(64, 64).Strides(64, 1)), Shared[elem.F16](k, "s"+name, row)
		}
		A, sA := matrix("A")
		B0, sB0 := matrix("B0")
		B1, sB1 := matrix("B1")
		pipe := NewPipeline(k, "pipe", 2, TMALoads)
		pipe.Fill(0, func(f *StageFill) {
			TMALoad(f, A, sA)
			TMALoad(f, B0, sB0)
			TMALoad(f, B1, sB1)
		})
		pipe.Wait(0)
		thr, sB := mma.Slice(k.Thread), []Tensor[Smem, elem.F16]{sB0, sB1}
		var acc []Tensor[Rmem, elem.F32]
		var out []Tensor[Gmem, elem.F32]
		for n, name := range []string{"C0", "C1"} {
			C := Out[elem.F32](k, name, Shape(64, 64).Strides(64, 1))
			acc, out = append(acc, FragmentC(thr, C)), append(out, PartitionC(thr, C))
			Expect(C, 1e-5, func(r *Ref) func(at []int64) float64 {
				a, b := r.Tensor("A"), r.Tensor([]string{"B0", "B1"}[n])
				return func(at []int64) float64 {
					sum := 0.0
					for i := range int64(64) {
						sum += a.At(at[0], i) * b.At(at[1], i)
					}
					return sum
				}
			})
		}
		start := func(n int) {
			Clear(acc[n])
			k.WarpgroupArrive()
			WarpgroupGemm(mma, PartitionA(thr, sA), PartitionB(thr, sB[n]), acc[n])
			k.WarpgroupCommitBatch()
		}
		body(k, start, func(n int) { Map(acc[n], out[n], func(v Val[elem.F32]) Val[elem.F32] { return v }) })
	})
}

// TestWarpgroupWaits: of two batches in flight the older one's accumulators can be used after a wait for it alone, not
// before; and a loop that begins with a wait completes the products of the round before.
func TestWarpgroupWaits(t *testing.T) {
	for name, c := range map[string]struct {
		body func(k *K, start, store func(n int))
		want string
	}{
		"older first": {body: func(k *K, start, store func(n int)) {
			start(0)
			start(1)
			k.WarpgroupWait(1)
			store(0)
			k.WarpgroupWait(0)
			store(1)
		}},
		"newer too early": {want: "register-in-flight", body: func(k *K, start, store func(n int)) {
			start(0)
			start(1)
			k.WarpgroupWait(1)
			store(1)
			k.WarpgroupWait(0)
			store(0)
		}},
		"of the round before": {body: func(k *K, start, store func(n int)) {
			start(0)
			k.Loop(0, 3, func(Expr) {
				k.WarpgroupWait(0)
				start(1)
			})
			k.WarpgroupWait(0)
			store(0)
			store(1)
		}},
		"not committed": {want: "register-in-flight", body: func(k *K, start, store func(n int)) {
			start(0)
			k.Loop(0, 2, func(Expr) {
				k.WarpgroupWait(1)
				start(1)
			})
			store(1)
			k.WarpgroupWait(0)
			store(0)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			k := waits(c.body)
			require.NoError(t, k.Err())
			res, err := check.Run(t.Context(), k, check.Args{}, check.Options{On: check.CPU})
			require.NoError(t, err)
			if c.want == "" {
				require.NoError(t, res.Err())
				return
			}
			require.ErrorContains(t, res.Err(), c.want)
		})
	}
}
