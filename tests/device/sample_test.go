package device

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/cuda"
	"github.com/gocute/gocute/elem"
)

func TestDistance(t *testing.T) {
	good := []Element{{Sum: 3, Got: 6}, {Sum: -4, Got: -8}}
	far, err := Distance(good, 2)
	require.NoError(t, err)
	require.Zero(t, far)
	far, err = Distance(append(good, Element{Sum: 0, Got: 1}), 2)
	require.NoError(t, err)
	require.InDelta(t, 0.1, far, 1e-12)
	_, err = Distance(append(good, Element{Batch: 1, M: 2, N: 3, Got: math.NaN()}), 2)
	require.ErrorContains(t, err, "element (2,3) of matrix 1 is NaN")
}

// TestSampleGPU: the reference's sums are those of the host, for both majors, gaps and a batch, and its sample has every
// element where it may.
func TestSampleGPU(t *testing.T) {
	dev := open(t)
	ref, err := NewReference(t.Context(), dev)
	require.NoError(t, err)
	const m, n, k, batch = 5, 7, 33, 2
	a, err := cuda.Alloc[elem.S8](dev, batch*40*m)
	require.NoError(t, err)
	defer a.Free()
	b, err := cuda.Alloc[elem.S8](dev, batch*k*n)
	require.NoError(t, err)
	defer b.Free()
	c, err := cuda.Alloc[elem.S32](dev, batch*m*n)
	require.NoError(t, err)
	defer c.Free()
	require.NoError(t, ref.Fill(elem.KS8, a.Ptr(), a.Len(), 1))
	require.NoError(t, ref.Fill(elem.KS8, b.Ptr(), b.Len(), 2))
	want := make([]elem.S32, c.Len())
	for i := range want {
		want[i] = elem.S32(i - 20)
	}
	require.NoError(t, c.CopyFrom(want))
	p := GEMM{M: m, N: n, K: k, Batch: batch, A: Matrix{elem.KS8, a.Ptr(), 40, 1, 40 * m},
		B: Matrix{elem.KS8, b.Ptr(), 1, n, k * n}, C: Matrix{elem.KS32, c.Ptr(), n, 1, m * n}}
	ha, err := a.Host()
	require.NoError(t, err)
	hb, err := b.Host()
	require.NoError(t, err)
	for _, count := range []int{1000, 20} {
		got, err := ref.Sample(p, count, 3)
		require.NoError(t, err)
		require.Len(t, got, min(count, batch*m*n))
		seen := map[[3]int]bool{}
		for _, e := range got {
			seen[[3]int{e.Batch, e.M, e.N}] = true
			sum, all := 0.0, 0.0
			for i := range k {
				v := float64(ha[e.Batch*40*m+40*e.M+i]) * float64(hb[e.Batch*k*n+n*i+e.N])
				sum, all = sum+v, all+math.Abs(v)
			}
			require.Equal(t, []float64{sum, all}, []float64{e.Sum, e.Magnitude}, "%+v", e)
			require.EqualValues(t, e.Batch*m*n+e.M*n+e.N-20, e.Got)
		}
		if count > batch*m*n {
			require.Len(t, seen, batch*m*n)
		}
	}
}
