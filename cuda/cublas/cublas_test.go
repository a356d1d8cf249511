package cublas

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/cuda"
	"github.com/gocute/gocute/elem"
)

func TestNotFound(t *testing.T) {
	_, err := load([]string{t.TempDir()})
	require.ErrorIs(t, err, ErrNotFound)
	assert.ErrorContains(t, err, "GOCUTE_CUBLAS")
}

func TestFolders(t *testing.T) {
	dir := t.TempDir()
	site := filepath.Join(dir, "lib/python3.12/site-packages/nvidia/cu13/lib")
	require.NoError(t, os.MkdirAll(site, 0o755))
	file := filepath.Join(site, "libcublas.so.13")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	t.Setenv("GOCUTE_CUBLAS", file)
	t.Setenv("CUDA_HOME", "/opt/cuda")
	t.Setenv("CUDA_PATH", "")
	t.Setenv("VIRTUAL_ENV", dir)
	assert.Equal(t, []string{site, "", "/opt/cuda/lib64", "/opt/cuda/lib", "/usr/local/cuda/lib64", site}, folders())
	t.Setenv("GOCUTE_CUBLAS", dir)
	assert.Equal(t, dir, folders()[0])
}

func TestError(t *testing.T) {
	assert.EqualError(t, &Error{"cublasGemmEx", 7}, "cublas: cublasGemmEx: CUBLAS_STATUS_INVALID_VALUE (7)")
	assert.EqualError(t, &Error{"cublasGemmEx", 99}, "cublas: cublasGemmEx: CUBLAS_STATUS_unknown (99)")
}

// handle makes one on the first device, or skips the test.
func handle(t *testing.T) *Handle {
	d, err := cuda.Open(0)
	if errors.Is(err, cuda.ErrNoDriver) || errors.Is(err, cuda.ErrNoDevice) {
		t.Skip("no CUDA device")
	}
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, d.Close()) })
	h, err := Create(d)
	if errors.Is(err, ErrNotFound) {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Log("cuBLAS from", h.Library())
	t.Cleanup(func() { assert.NoError(t, h.Destroy()) })
	return h
}

func random[E elem.Any](n int) []E {
	x := make([]E, n)
	for i := range x {
		x[i] = elem.FromFloat64[E](rand.Float64()*2 - 1)
	}
	return x
}

func checkGemm[I In, O Out](t *testing.T, h *Handle, m, n, k int, tolerance float64) {
	t.Helper()
	ha, hb := random[I](m*k), random[I](n*k)
	a, err := cuda.FromHost(h.dev, ha)
	require.NoError(t, err)
	b, err := cuda.FromHost(h.dev, hb)
	require.NoError(t, err)
	c, err := cuda.Alloc[O](h.dev, m*n)
	require.NoError(t, err)
	require.NoError(t, Gemm(h, m, n, k, 2, a, b, 0, c))
	got, err := c.Host()
	require.NoError(t, err)
	fa, fb := elem.ToFloat64s(ha), elem.ToFloat64s(hb)
	for i := range m {
		for j := range n {
			want := 0.0
			for l := range k {
				want += fa[i*k+l] * fb[j*k+l]
			}
			require.InDelta(t, 2*want, elem.ToFloat64(got[i*n+j]), tolerance*math.Sqrt(float64(k)), "C[%d,%d]", i, j)
		}
	}
	assert.ErrorContains(t, Gemm(h, m+1, n, k, 1, a, b, 0, c), "expected A of")
	require.NoError(t, errors.Join(a.Free(), b.Free(), c.Free()))
}

func TestGPUGemm(t *testing.T) {
	h := handle(t)
	checkGemm[elem.F16, elem.F32](t, h, 64, 96, 128, 1e-5)
	checkGemm[elem.BF16, elem.F32](t, h, 128, 32, 64, 1e-5)
	checkGemm[elem.F16, elem.F16](t, h, 64, 96, 32, 5e-3)
	checkGemm[elem.BF16, elem.BF16](t, h, 64, 96, 32, 4e-2)
	checkGemm[elem.F32, elem.F32](t, h, 40, 24, 56, 1e-3)
	s, err := h.dev.NewStream()
	require.NoError(t, err)
	require.NoError(t, h.SetStream(s))
	checkGemm[elem.F16, elem.F32](t, h, 256, 8, 512, 1e-5)
	require.NoError(t, h.SetStream(nil))
	require.NoError(t, s.Close())
}
