package cuda

import (
	"embed"
	"errors"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/elem"
)

//go:embed testdata
var testdata embed.FS

// images are the test kernels, which testdata/kernels.ptx describes, as a launcher would have them.
func images(t testing.TB) []Image {
	t.Helper()
	list := []Image{{Arch: "sm_80"}, {Arch: "sm_90"}, {Arch: "sm_80", PTX: true}}
	for i, name := range []string{"kernels_sm80.cubin", "kernels_sm90.cubin", "kernels.ptx"} {
		data, err := testdata.ReadFile("testdata/" + name)
		require.NoError(t, err)
		list[i].Data = data
	}
	return list
}

// gpu opens the first device, or skips the test.
func gpu(t testing.TB) *Device {
	t.Helper()
	d, err := Open(0)
	if errors.Is(err, ErrNoDriver) || errors.Is(err, ErrNoDevice) {
		t.Skip("no CUDA device")
	}
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, d.Close()) })
	return d
}

func gpuKernel(t testing.TB, d *Device, name string) *Function {
	t.Helper()
	m, err := d.LoadModule(images(t)[2:])
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, m.Unload()) })
	f, err := m.Function(name)
	require.NoError(t, err)
	return f
}

func TestGPUInfo(t *testing.T) {
	d := gpu(t)
	v, err := DriverVersion()
	require.NoError(t, err)
	free, total, err := d.MemInfo()
	require.NoError(t, err)
	t.Logf("%s, CUDA %d.%d, %+v, %d of %d bytes free", d, v/1000, v%1000/10, d.Info(), free, total)
	i := d.Info()
	assert.Equal(t, 32, i.WarpSize)
	for _, n := range []int{i.Major, i.SMs, i.MaxThreadsBlock, i.MaxThreadsSM, i.RegistersSM, i.SharedBlock, i.SharedBlockOptin, i.SharedSM, i.L2Bytes} {
		assert.Positive(t, n)
	}
	assert.Greater(t, i.MemoryBytes, uint64(1<<30))
	assert.LessOrEqual(t, free, total)
	_, err = d.Attribute(99999)
	assert.ErrorIs(t, err, &Error{Code: InvalidValue})
	_, err = Open(1000)
	assert.ErrorIs(t, err, ErrNoDevice)
}

func gpuFill[E elem.Any](t *testing.T, d *Device, v E) {
	b, err := Alloc[E](d, 1001)
	require.NoError(t, err)
	defer func() { assert.NoError(t, b.Free()) }()
	require.NoError(t, b.Zero())
	mid, err := b.Slice(1, 1000)
	require.NoError(t, err)
	require.NoError(t, mid.Set(v))
	got, err := b.Host()
	require.NoError(t, err)
	for i, x := range got {
		want := v
		if i == 0 || i == 1000 {
			want = *new(E)
		}
		require.Equal(t, want, x, "element %d", i)
	}
}

func TestGPUMemory(t *testing.T) {
	d := gpu(t)
	gpuFill(t, d, elem.E5M2(0x3d))
	gpuFill(t, d, elem.NewBF16(-2.5))
	gpuFill(t, d, elem.F32(math.Pi))
	gpuFill(t, d, elem.S64(-1<<40+7))
	_, err := Alloc[elem.F64](d, math.MaxInt>>13)
	assert.ErrorIs(t, err, &Error{Code: OutOfMemory})
	t.Log(err)
}

func ramp(n int, step float32) []elem.F32 {
	x := make([]elem.F32, n)
	for i := range x {
		x[i] = elem.F32(float32(i) * step)
	}
	return x
}

// vadd runs the kernel on n elements and checks each.
func vadd(t testing.TB, f *Function, s *Stream, n int) {
	d := f.Module().Device()
	a, err := FromHost(d, ramp(n, 1))
	require.NoError(t, err)
	b, err := FromHost(d, ramp(n, 0.5))
	require.NoError(t, err)
	c, err := Alloc[elem.F32](d, n)
	require.NoError(t, err)
	args := f.Args().Ptr(a.Ptr()).Ptr(b.Ptr()).Ptr(c.Ptr()).U32(uint32(n))
	defer args.Release()
	require.NoError(t, f.Launch(LaunchConfig{Grid: D1((n + 127) / 128), Block: D1(128), Stream: s}, args))
	got, err := c.Host()
	require.NoError(t, err)
	for i, x := range got {
		require.Equal(t, elem.F32(float32(i)*1.5), x, "element %d", i)
	}
	for _, buf := range []*Buffer[elem.F32]{a, b, c} {
		require.NoError(t, buf.Free())
	}
}

func TestGPULaunch(t *testing.T) {
	d := gpu(t)
	f := gpuKernel(t, d, "vadd")
	sizes, known := f.Params()
	t.Log("parameters:", sizes, known)
	if known {
		assert.Equal(t, []int{8, 8, 8, 4}, sizes)
		assert.ErrorIs(t, f.Launch(LaunchConfig{Grid: D1(1), Block: D1(1)}, NewArgs().Ptr(0)), ErrArgs)
	}
	attrs, err := f.Attributes()
	require.NoError(t, err)
	t.Logf("%+v", attrs)
	assert.Positive(t, attrs.Registers)
	assert.Zero(t, attrs.LocalBytes)
	assert.Equal(t, 80, attrs.PTXVersion)
	n, err := f.BlocksPerSM(128, 0)
	require.NoError(t, err)
	assert.Positive(t, n)
	vadd(t, f, nil, 1000)
	s, err := d.NewStream()
	require.NoError(t, err)
	vadd(t, f, s, 100_003)
	require.NoError(t, s.Close())

	err = f.Launch(LaunchConfig{Grid: D1(1), Block: D1(4096)}, NewArgs().Ptr(0).Ptr(0).Ptr(0).U32(0))
	assert.ErrorContains(t, err, "a block of 1 to (1024,1024,64) threads")
}

// TestGPUImages runs the same kernel through the cubin that fits and through PTX.
func TestGPUImages(t *testing.T) {
	d := gpu(t)
	for _, force := range []string{"0", "1"} {
		t.Setenv(forcePTX, force)
		m, err := d.LoadModule(images(t))
		require.NoError(t, err)
		t.Log("took", m.Image())
		if major := d.Info().Major; major == 8 || major == 9 {
			assert.Equal(t, force == "1", m.Image().PTX)
		}
		f, err := m.Function("vadd")
		require.NoError(t, err)
		vadd(t, f, nil, 777)
		require.NoError(t, m.Unload())
	}
	if d.Info().Major != 8 {
		_, err := d.LoadData(images(t)[0].Data)
		assert.ErrorIs(t, err, &Error{Code: NoBinaryForGPU})
		t.Log(err)
	}
}

// TestGPUGoroutines launches from many goroutines, which move between threads.
func TestGPUGoroutines(t *testing.T) {
	f := gpuKernel(t, gpu(t), "vadd")
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for range 10 {
				vadd(t, f, nil, 5000+i)
			}
		})
	}
	wg.Wait()
}

func TestGPUSharedMemoryAndGlobals(t *testing.T) {
	d := gpu(t)
	f := gpuKernel(t, d, "tail")
	p, size, err := f.Module().Global("seen")
	require.NoError(t, err)
	assert.Equal(t, 4, size)
	seen, err := View[elem.U32](d, p, 1)
	require.NoError(t, err)
	for _, bytes := range []int{1024, 48 << 10, d.Info().SharedBlockOptin, 2048} {
		require.NoError(t, f.Launch(LaunchConfig{Grid: D1(1), Block: D1(1), Shared: bytes}, NewArgs().U32(uint32(bytes))))
		got, err := seen.Host()
		require.NoError(t, err)
		assert.EqualValues(t, bytes, got[0])
	}
	err = f.Launch(LaunchConfig{Grid: D1(1), Block: D1(1), Shared: d.Info().SharedBlockOptin + 1}, NewArgs().U32(0))
	assert.ErrorContains(t, err, "bytes of shared memory")
}

func TestGPUEventsAndStreams(t *testing.T) {
	d := gpu(t)
	f := gpuKernel(t, d, "spin")
	s, err := d.NewStream()
	require.NoError(t, err)
	start, err := d.NewEvent()
	require.NoError(t, err)
	end, err := d.NewEvent()
	require.NoError(t, err)
	// The first launch may still load the kernel; keep that out of the time.
	require.NoError(t, f.Launch(LaunchConfig{Grid: D1(1), Block: D1(1), Stream: s}, NewArgs().U64(0)))
	require.NoError(t, s.Synchronize())
	require.NoError(t, start.Record(s))
	require.NoError(t, f.Launch(LaunchConfig{Grid: D1(1), Block: D1(1), Stream: s}, NewArgs().U64(uint64(20*time.Millisecond))))
	require.NoError(t, end.Record(s))
	done, err := s.Done()
	require.NoError(t, err)
	assert.False(t, done)
	_, err = end.Since(start)
	assert.ErrorIs(t, err, &Error{Code: NotReady})
	require.NoError(t, end.Synchronize())
	took, err := end.Since(start)
	require.NoError(t, err)
	assert.InDelta(t, 20, float64(took)/1e6, 5)
	require.NoError(t, s.Wait(end))
	require.NoError(t, s.Synchronize())
	done, err = s.Done()
	require.NoError(t, err)
	assert.True(t, done)
	require.NoError(t, s.Close())
	require.NoError(t, start.Close())
	require.NoError(t, end.Close())
	require.NoError(t, d.Synchronize())
}

func TestGPULoadErrors(t *testing.T) {
	d := gpu(t)
	_, err := d.LoadData([]byte(".version 7.0\n.target sm_80\n.address_size 64\nrubbish;\n"))
	var e *Error
	require.ErrorAs(t, err, &e)
	assert.NotEmpty(t, e.Log)
	t.Log(err)
	_, err = gpuKernel(t, d, "vadd").Module().Function("absent")
	assert.ErrorIs(t, err, &Error{Code: NotFound})
	t.Log(err)
	_, _, err = gpuKernel(t, d, "vadd").Module().Global("absent")
	assert.ErrorIs(t, err, &Error{Code: NotFound})
}

// BenchmarkGPULaunch is the time of one asynchronous launch of an empty grid's worth of work.
func BenchmarkGPULaunch(b *testing.B) {
	d := gpu(b)
	f := gpuKernel(b, d, "vadd")
	cfg := LaunchConfig{Grid: D1(1), Block: D1(32)}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		a := f.Args().Ptr(0).Ptr(0).Ptr(0).U32(0)
		if err := f.Launch(cfg, a); err != nil {
			b.Fatal(err)
		}
		a.Release()
		if i%512 == 511 { // the queue is finite: do not measure it being full
			b.StopTimer()
			if err := d.Synchronize(); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
	}
	if err := d.Synchronize(); err != nil {
		b.Fatal(err)
	}
}

// TestGPUContract holds what this package refuses, or lets through, against a real driver.
func TestGPUContract(t *testing.T) {
	d := gpu(t)
	for _, im := range images(t) { // the checks for whole images know the real ones
		if !im.PTX && im.Arch != d.Info().Arch() {
			continue
		}
		m, err := d.LoadData(im.Data)
		require.NoError(t, err, im)
		require.NoError(t, m.Unload())
	}
	for attr, want := range map[Attribute]int{2: mostThreads.X, 3: mostThreads.Y, 4: mostThreads.Z, 5: mostBlocks.X, 6: mostBlocks.Y, 7: mostBlocks.Z} {
		got, err := d.Attribute(attr)
		require.NoError(t, err)
		assert.Equal(t, want, got, "limit %d", attr)
	}
	f := gpuKernel(t, d, "vadd")
	most := LaunchConfig{Grid: D1(1), Block: D3(1, d.Info().MaxThreadsBlock/64, 64)}
	none := func() *Args { return NewArgs().Ptr(0).Ptr(0).Ptr(0).U32(0) }
	require.NoError(t, f.Launch(most, none()), "no element: nothing is touched")
	require.NoError(t, f.Launch(LaunchConfig{Grid: D3(1, 65535, 1), Block: D1(1)}, none()))
	require.NoError(t, f.Launch(LaunchConfig{Grid: D1(1<<31 - 1), Block: D1(1)}, none()))
	require.NoError(t, d.Synchronize())

	b, err := Alloc[elem.F32](d, 64)
	require.NoError(t, err)
	part, err := b.Slice(8, 16)
	require.NoError(t, err)
	require.NoError(t, part.Set(3))
	require.NoError(t, b.Free())
	assert.ErrorIs(t, part.Zero(), ErrClosed)
	assert.Zero(t, part.Ptr())

	// Another Device of the same GPU shares the context: its streams and buffers serve, until it is closed.
	again, err := Open(d.Ordinal())
	require.NoError(t, err)
	s, err := again.NewStream()
	require.NoError(t, err)
	require.NoError(t, f.Launch(LaunchConfig{Grid: D1(1), Block: D1(1), Stream: s}, none()))
	require.NoError(t, s.Synchronize())
	require.NoError(t, again.Close())
	assert.ErrorIs(t, f.Launch(LaunchConfig{Grid: D1(1), Block: D1(1), Stream: s}, none()), ErrClosed)
	if n, err := Count(); err == nil && n > 1 {
		other, err := Open(1)
		require.NoError(t, err)
		foreign, err := other.NewStream()
		require.NoError(t, err)
		assert.ErrorContains(t, f.Launch(LaunchConfig{Grid: D1(1), Block: D1(1), Stream: foreign}, none()), "a stream of the same device")
		require.NoError(t, errors.Join(foreign.Close(), other.Close()))
	}
	_, _, err = f.Module().Global("absent")
	assert.ErrorIs(t, err, &Error{Code: NotFound})
}
