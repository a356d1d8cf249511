package device

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/cuda"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/out/gemm_bf16"
	"github.com/gocute/gocute/out/gemm_f16"
)

// The tile of the library's GEMMs, around which the sizes lie.
const tileM, tileN, tileK = 128, 128, 64

// open skips the test where there is no GPU.
func open(t *testing.T) *cuda.Device {
	dev, err := cuda.Open(0)
	if err != nil {
		t.Skip("needs a GPU: ", err)
	}
	t.Cleanup(func() { dev.Close() })
	return dev
}

// gemm is a launcher of either element type.
type gemm[E elem.Half] func(m, n, k int, a, b *cuda.Buffer[E], c *cuda.Buffer[elem.F32], alpha, beta float32) error

func loadF16(t *testing.T, dev *cuda.Device) gemm[elem.F16] {
	k, err := gemm_f16.Load(dev)
	require.NoError(t, err)
	t.Cleanup(func() { k.Close() })
	t.Log("image: ", k.Function().Module().Image().Arch)
	return func(m, n, kk int, a, b *cuda.Buffer[elem.F16], c *cuda.Buffer[elem.F32], alpha, beta float32) error {
		return k.Launch(nil, &gemm_f16.Args{M: m, N: n, K: kk, A: a, B: b, C: c, Alpha: alpha, Beta: beta})
	}
}

func loadBF16(t *testing.T, dev *cuda.Device) gemm[elem.BF16] {
	k, err := gemm_bf16.Load(dev)
	require.NoError(t, err)
	t.Cleanup(func() { k.Close() })
	return func(m, n, kk int, a, b *cuda.Buffer[elem.BF16], c *cuda.Buffer[elem.F32], alpha, beta float32) error {
		return k.Launch(nil, &gemm_bf16.Args{M: m, N: n, K: kk, A: a, B: b, C: c, Alpha: alpha, Beta: beta})
	}
}

func TestGEMM(t *testing.T) {
	dev := open(t)
	for _, ptx := range []bool{false, true} {
		t.Run(map[bool]string{false: "cubin", true: "ptx"}[ptx], func(t *testing.T) {
			if ptx {
				t.Setenv("GOCUTE_FORCE_PTX", "1")
			}
			t.Run("f16", func(t *testing.T) { sizes(t, dev, loadF16(t, dev)) })
			t.Run("bf16", func(t *testing.T) { sizes(t, dev, loadBF16(t, dev)) })
		})
	}
}

// sizes runs every combination around the tile, with alpha and beta that change from one to the next.
func sizes[E elem.Half](t *testing.T, dev *cuda.Device, run gemm[E]) {
	ref, err := NewReference(context.Background(), dev)
	require.NoError(t, err)
	ms, ks := []int{1, tileM - 1, tileM, tileM + 1, 333, 1000, 4096}, []int{8, tileK - 8, tileK, tileK + 8, 1000, 4096}
	if s := os.Getenv("GOCUTE_TEST_SMALL"); s != "" { // for compute-sanitizer
		ms, ks = []int{1, tileM + 1, 333}, []int{8, tileK + 8}
	}
	scales := [][2]float64{{1, 0}, {0.5, 2}, {-1.25, 1}}
	count, worst := 0, 0.0
	for _, m := range ms {
		for _, n := range ms {
			for _, k := range ks {
				s := scales[count%len(scales)]
				d := one(t, dev, ref, run, m, n, k, s[0], s[1], count)
				require.Zero(t, d.NotFinite, "%d x %d x %d, alpha %v, beta %v", m, n, k, s[0], s[1])
				require.Less(t, d.Relative, 1e-5, "%d x %d x %d, alpha %v, beta %v", m, n, k, s[0], s[1])
				worst = math.Max(worst, d.Relative)
				count++
			}
		}
	}
	t.Logf("%d sizes, worst ‖out−ref‖/‖ref‖ %.2g", count, worst)
}

func one[E elem.Half](t *testing.T, dev *cuda.Device, ref *Reference, run gemm[E], m, n, k int, alpha, beta float64, seed int) Difference {
	alloc := func(count int) *cuda.Buffer[E] {
		b, err := cuda.Alloc[E](dev, count)
		require.NoError(t, err)
		return b
	}
	a, b := alloc(m*k), alloc(n*k)
	defer a.Free()
	defer b.Free()
	// One element more than needed on both sides must stay as it was.
	guard, err := cuda.Alloc[elem.F32](dev, m*n+2*guardElems)
	require.NoError(t, err)
	defer guard.Free()
	nan := elem.F32(float32(math.NaN()))
	require.NoError(t, guard.Set(nan))
	c, err := guard.Slice(guardElems, guardElems+m*n)
	require.NoError(t, err)
	c0, err := cuda.Alloc[elem.F32](dev, m*n)
	require.NoError(t, err)
	defer c0.Free()
	require.NoError(t, FillRandom(ref, a, 3*seed))
	require.NoError(t, FillRandom(ref, b, 3*seed+1))
	require.NoError(t, FillRandom(ref, c0, 3*seed+2))
	if beta != 0 { // where beta is 0 C must not even be read: it stays poisoned
		require.NoError(t, c.CopyBuffer(c0))
	}
	require.NoError(t, run(m, n, k, a, b, c, float32(alpha), float32(beta)))
	d, err := Compare(ref, m, n, k, a, b, c0, c, alpha, beta)
	require.NoError(t, err)
	for _, lo := range []int{0, guardElems + m*n} {
		edge, err := guard.Slice(lo, lo+guardElems)
		require.NoError(t, err)
		host, err := edge.Host()
		require.NoError(t, err)
		for _, v := range host {
			require.True(t, v != v, "written outside of C, at %d x %d x %d", m, n, k)
		}
	}
	return d
}

// guardElems keeps C's 16-byte alignment.
const guardElems = 32

func TestGEMMRefusals(t *testing.T) {
	dev := open(t)
	run := loadF16(t, dev)
	buf := func(n int) *cuda.Buffer[elem.F16] {
		b, err := cuda.Alloc[elem.F16](dev, n)
		require.NoError(t, err)
		t.Cleanup(func() { b.Free() })
		return b
	}
	c, err := cuda.Alloc[elem.F32](dev, 1<<16)
	require.NoError(t, err)
	defer c.Free()
	ab := buf(1 << 16)
	odd, err := ab.Slice(1, 1<<15)
	require.NoError(t, err)
	for _, x := range []struct {
		name    string
		m, n, k int
		a       *cuda.Buffer[elem.F16]
		want    string
	}{
		{"K odd", 128, 128, 65, ab, "multiple of 8"},
		{"K 1", 128, 128, 1, ab, "multiple of 8"},
		{"M 0", 0, 128, 64, ab, "M"},
		{"negative", -1, 128, 64, ab, "M"},
		{"nil", 128, 128, 64, nil, "A"},
		{"too short", 1024, 128, 128, ab, "A"},
		{"misaligned", 64, 64, 64, odd, "multiple of 16 bytes"},
	} {
		err := run(x.m, x.n, x.k, x.a, ab, c, 1, 0)
		require.Error(t, err, x.name)
		require.True(t, strings.Contains(err.Error(), x.want), fmt.Sprintf("%s: %v", x.name, err))
		require.NotContains(t, err.Error(), "internal error")
	}
	require.NoError(t, dev.Synchronize())
}
