package launch

import (
	"errors"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/cuda"
	"github.com/gocute/gocute/elem"
)

// axpy is y += a*x over n elements, one a thread.
const axpy = `.version 7.0
.target sm_80
.address_size 64
.visible .entry axpy(.param .u64 x, .param .u64 y, .param .u32 n, .param .f32 a)
{
	.reg .pred %p; .reg .b32 %r<6>; .reg .f32 %f<4>; .reg .b64 %d<6>;
	ld.param.u64 %d1, [x]; ld.param.u64 %d2, [y]; ld.param.u32 %r1, [n]; ld.param.f32 %f1, [a];
	mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mad.lo.u32 %r4, %r3, 128, %r2;
	setp.ge.u32 %p, %r4, %r1; @%p ret;
	mul.wide.u32 %d3, %r4, 4; add.u64 %d4, %d1, %d3; add.u64 %d5, %d2, %d3;
	ld.global.f32 %f2, [%d4]; ld.global.f32 %f3, [%d5]; fma.rn.f32 %f3, %f2, %f1, %f3; st.global.f32 [%d5], %f3;
	ret;
}
`

func gpu(t testing.TB) *cuda.Device {
	t.Helper()
	d, err := cuda.Open(0)
	if errors.Is(err, cuda.ErrNoDriver) || errors.Is(err, cuda.ErrNoDevice) {
		t.Skip("no CUDA device")
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

// setup loads axpy with so much shared memory that it has to be asked for, and returns its launch.
func setup(t testing.TB, n int) (y *cuda.Buffer[elem.F32], launch func() error) {
	d := gpu(t)
	b := Bundle{
		Name: "axpy", Arch: 80, Threads: 128, SharedBytes: 64 << 10,
		Bin: fstest.MapFS{"bin/axpy.compute_80.ptx": {Data: []byte(axpy)}},
	}
	k, err := b.Load(d)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, k.Close()) })
	host := make([]elem.F32, n)
	for i := range host {
		host[i] = elem.F32(i)
	}
	x, err := cuda.FromHost(d, host)
	require.NoError(t, err)
	y, err = cuda.FromHost(d, host)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, errors.Join(x.Free(), y.Free())) })
	return y, func() error {
		grid, err := NewGrid("axpy", int64(n+127)/128, 1, 1)
		if err != nil {
			return err
		}
		c := k.Begin("axpy")
		Buffer(&c, "x", x)
		Buffer(&c, "y", y)
		c.Dim(n)
		Scalar(&c, elem.F32(0.5))
		return c.Launch(nil, grid)
	}
}

func TestLaunchOnGPU(t *testing.T) {
	const n = 1000
	y, launch := setup(t, n)
	require.NoError(t, launch())
	require.NoError(t, launch())
	got, err := y.Host()
	require.NoError(t, err)
	for i := range got {
		require.Equal(t, elem.F32(2*i), got[i])
	}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if err := launch(); err != nil {
			t.Error(err)
		}
	}))
}

func TestClosedKernel(t *testing.T) {
	d := gpu(t)
	k, err := Bundle{Name: "axpy", Arch: 80, Threads: 128,
		Bin: fstest.MapFS{"bin/axpy.compute_80.ptx": {Data: []byte(axpy)}}}.Load(d)
	require.NoError(t, err)
	require.NoError(t, k.Close())
	require.NoError(t, k.Close())
	c := k.Begin("axpy")
	c.args.Ptr(0).Ptr(0).I32(0).F32(0)
	require.ErrorIs(t, c.Launch(nil, Grid{1, 1, 1}), cuda.ErrClosed)
}

func BenchmarkLaunch(b *testing.B) {
	_, launch := setup(b, 1000)
	b.ReportAllocs()
	for b.Loop() {
		if err := launch(); err != nil {
			b.Fatal(err)
		}
	}
}
