//go:build linux && (amd64 || arm64)

package cuda

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/internal/dl"
)

func loadFake(t testing.TB, params ...uint64) (*fake, *Device, *Function) {
	f, d := openFake(t)
	f.params = params
	m, err := d.LoadModule([]Image{{Arch: "sm_90", Data: []byte("a cubin")}})
	require.NoError(t, err)
	fn, err := m.Function("add")
	require.NoError(t, err)
	return f, d, fn
}

func TestLaunch(t *testing.T) {
	f, d, fn := loadFake(t, 8, 4, 2, 1, 12, 4, 8)
	s, err := d.NewStream()
	require.NoError(t, err)
	a := fn.Args()
	defer a.Release()
	a.Ptr(0x1122334455667788).I32(-2).U16(0xabcd).Bool(true).Bytes([]byte("twelve bytes")).F32(1.5)
	Put(a, elem.F64(-0.5))
	require.NoError(t, fn.Launch(LaunchConfig{Grid: D2(3, 5), Block: Dim3{X: 128}, Shared: 1024, Stream: s}, a))
	assert.Equal(t, [...]uint64{uint64(fn.h), 3, 5, 1, 128, 1, 1, 1024, uint64(s.h.Load())}, f.launched)
	assert.Equal(t, [][]byte{
		{0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11},
		{0xfe, 0xff, 0xff, 0xff},
		{0xcd, 0xab},
		{1},
		[]byte("twelve bytes"),
		{0, 0, 0xc0, 0x3f},
		{0, 0, 0, 0, 0, 0, 0xe0, 0xbf},
	}, f.args)
	assert.Zero(t, f.calls["cuFuncSetAttribute"])
}

// An overlapping launch is asked for where the device has it, and gives the kernel the same.
func TestLaunchOverlap(t *testing.T) {
	f, d, fn := loadFake(t, 8, 4)
	cfg := LaunchConfig{Grid: D2(3, 4), Block: D1(32), Shared: 64, Overlap: true}
	require.NoError(t, fn.Launch(cfg, NewArgs().Ptr(7).I32(9)))
	assert.Equal(t, 1, f.calls["cuLaunchKernelEx"])
	assert.Zero(t, f.calls["cuLaunchKernel"])
	assert.Equal(t, []uint64{3, 4, 1, 32, 1, 1, 64, 0}, f.launched[1:])
	assert.Equal(t, [][]byte{{7, 0, 0, 0, 0, 0, 0, 0}, {9, 0, 0, 0}}, f.args)
	assert.EqualValues(t, 56, unsafe.Offsetof(launchEx{}.id), "CUlaunchConfig's size")
	d.info.Major = 8
	require.NoError(t, fn.Launch(cfg, NewArgs().Ptr(7).I32(9)))
	assert.Equal(t, 1, f.calls["cuLaunchKernel"])
}

func TestLaunchRaisesSharedMemory(t *testing.T) {
	f, d, fn := loadFake(t)
	cfg := LaunchConfig{Grid: D1(1), Block: D3(32, 1, 1), Shared: 100 << 10}
	require.NoError(t, fn.Launch(cfg, nil))
	require.NoError(t, fn.Launch(cfg, nil))
	assert.EqualValues(t, 100<<10, f.maxDyn)
	assert.Equal(t, 1, f.calls["cuFuncSetAttribute"])
	cfg.Shared = 300 << 10
	assert.ErrorContains(t, fn.Launch(cfg, nil), "expected 0 to 232448 bytes of shared memory, which a block on Fake GPU (sm_90) can have, but got 307200")
	n, err := fn.BlocksPerSM(256, 0)
	require.NoError(t, err)
	assert.Equal(t, 8, n)
	attrs, err := fn.Attributes()
	require.NoError(t, err)
	assert.Equal(t, FunctionAttributes{104, 103, 101, 102, 100, 108, 105, 106}, attrs)
	assert.Equal(t, d, fn.Module().Device())
}

func TestLaunchRefusals(t *testing.T) {
	f, d, fn := loadFake(t, 8, 4)
	cfg := LaunchConfig{Grid: D1(1), Block: D1(32)}
	err := fn.Launch(cfg, NewArgs().Ptr(1))
	assert.ErrorIs(t, err, ErrArgs)
	assert.ErrorContains(t, err, "kernel add: expected 2 of [8 4] bytes, but got 1 of [8]")
	assert.ErrorIs(t, fn.Launch(cfg, NewArgs().Ptr(1).I64(1)), ErrArgs)
	ok := NewArgs().Ptr(1).I32(1)
	assert.ErrorContains(t, fn.Launch(LaunchConfig{Block: D1(32)}, ok), "a grid of 1 to (2147483647,65535,65535) blocks, but got add<<<(0,1,1), (32,1,1), 0 bytes>>>")
	f.fail["cuLaunchKernel"] = InvalidValue
	assert.EqualError(t, fn.Launch(cfg, ok), "cuda: cuLaunchKernel add<<<(1,1,1), (32,1,1), 0 bytes>>>: CUDA_ERROR_INVALID_VALUE (1): invalid argument")
	s, err := d.NewStream()
	require.NoError(t, err)
	require.NoError(t, s.Close())
	cfg.Stream = s
	assert.ErrorIs(t, fn.Launch(cfg, ok), ErrClosed)
	cfg.Stream = nil
	require.NoError(t, fn.Module().Unload())
	require.NoError(t, fn.Module().Unload())
	assert.ErrorIs(t, fn.Launch(cfg, ok), ErrClosed)
	_, err = fn.Module().Function("add")
	assert.ErrorIs(t, err, ErrClosed)
	_, _, err = fn.Module().Global("x")
	assert.ErrorIs(t, err, ErrClosed)
}

// TestUnknownParams: a driver that cannot tell the parameters leaves the arguments unchecked.
func TestUnknownParams(t *testing.T) {
	f, d := openFake(t)
	f.fail["cuFuncGetParamInfo"] = 801
	m, err := d.LoadData([]byte("cubin of some kind"))
	require.NoError(t, err)
	fn, err := m.Function("any")
	require.NoError(t, err)
	_, known := fn.Params()
	assert.False(t, known)
	require.NoError(t, fn.Launch(LaunchConfig{Grid: D1(1), Block: D1(1)}, NewArgs().I32(1)))
	p, n, err := m.Global("table")
	require.NoError(t, err)
	assert.Equal(t, DevicePtr(0x1000), p)
	assert.Equal(t, 64, n)
}

// bare makes a kernel whose driver calls are C functions that do next to nothing and return 0: the fake's
// callbacks allocate, which the driver does not.
func bare(t testing.TB) *Function {
	_, d, fn := loadFake(t, 8, 4)
	lib, err := dl.Open("libc.so.6")
	if err != nil {
		t.Skip("no glibc here:", err)
	}
	// Of the fake's handles, the kernel's is not a letter and the context's is not in ASCII.
	require.NoError(t, lib.Bind([]dl.Sym{{Name: "isalpha", Addr: &d.drv.launchKernel}, {Name: "isascii", Addr: &d.drv.ctxSetCurrent}}))
	return fn
}

func TestLaunchDoesNotAllocate(t *testing.T) {
	fn := bare(t)
	cfg := LaunchConfig{Grid: D1(1), Block: D1(32)}
	a := fn.Args()
	defer a.Release()
	launch := func() {
		if err := fn.Launch(cfg, a.Reset().Ptr(1).I32(2)); err != nil {
			t.Error(err)
		}
	}
	launch()
	assert.Zero(t, testing.AllocsPerRun(100, launch))
}

// BenchmarkLaunch is the cost of a launch on this side of the driver.
func BenchmarkLaunch(b *testing.B) {
	fn := bare(b)
	cfg := LaunchConfig{Grid: D1(1), Block: D1(32)}
	b.ReportAllocs()
	for b.Loop() {
		a := fn.Args()
		if err := fn.Launch(cfg, a.Ptr(1).I32(2)); err != nil {
			b.Fatal(err)
		}
		a.Release()
	}
}

func TestPack(t *testing.T) {
	_, d := openFake(t)
	b, err := Alloc[elem.F32](d, 1)
	require.NoError(t, err)
	a, err := Pack(b, DevicePtr(1), true, int8(-1), uint8(1), int16(1), uint16(1), int32(1), uint32(1), int64(1), uint64(1),
		float32(1), float64(1), elem.F16(1), elem.E4M3(1), elem.S64(1), elem.F32(2), []byte{1, 2, 3})
	require.NoError(t, err)
	var sizes []int
	for _, s := range a.spans {
		sizes = append(sizes, s.bytes)
	}
	assert.Equal(t, []int{8, 8, 1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 2, 1, 8, 4, 3}, sizes)
	assert.EqualValues(t, b.Ptr(), a.words[0])
	_, err = Pack(int32(1), 7)
	assert.ErrorIs(t, err, ErrArgs)
	assert.ErrorContains(t, err, "argument 1: expected a type of fixed width")
	assert.ErrorContains(t, err, "but got int")
}

func TestLoadErrors(t *testing.T) {
	f, d := openFake(t)
	f.log = "ptxas application ptx input, line 3; error : Unexpected instruction\n\x00old rubbish"
	f.fail["cuModuleLoadDataEx"] = InvalidPTX
	_, err := d.LoadModule([]Image{{Arch: "sm_80", Data: []byte(".version 7.0\n"), PTX: true}})
	var e *Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, InvalidPTX, e.Code)
	assert.Equal(t, "ptxas application ptx input, line 3; error : Unexpected instruction", e.Log)
	assert.ErrorContains(t, err, "loading the image sm_80 PTX: cuda: cuModuleLoadDataEx of 13 bytes on Fake GPU (sm_90): CUDA_ERROR_INVALID_PTX (218)")
	_, err = d.LoadData(nil)
	assert.ErrorContains(t, err, "got no bytes")
	_, err = d.LoadModule([]Image{{Arch: "sm_80", Data: []byte("x")}})
	assert.ErrorIs(t, err, ErrNoImage)
}

func TestForcePTX(t *testing.T) {
	f, d := openFake(t)
	images := []Image{{Arch: "sm_90", Data: []byte("cubin...")}, {Arch: "sm_80", Data: []byte("PTX....."), PTX: true}}
	m, err := d.LoadModule(images)
	require.NoError(t, err)
	assert.Equal(t, "cubin...", string(f.image))
	assert.Equal(t, "sm_90 cubin", m.Image().String())
	t.Setenv(forcePTX, "1")
	m, err = d.LoadModule(images)
	require.NoError(t, err)
	assert.Equal(t, "PTX.....", string(f.image))
	assert.Equal(t, "sm_80 PTX", m.Image().String())
	_, err = d.LoadModule(images[:1])
	assert.ErrorIs(t, err, ErrNoImage)
	assert.ErrorContains(t, err, "GOCUTE_FORCE_PTX=1")
}
