//go:build linux && (amd64 || arm64)

package cuda

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/internal/dl"
)

func TestNoDriver(t *testing.T) {
	_, err := openDriver([]string{"libcuda_absent.so.1"})
	require.ErrorIs(t, err, ErrNoDriver)
	assert.ErrorContains(t, err, "libcuda_absent.so.1")
	_, err = openDriver([]string{"libc.so.6"})
	require.ErrorIs(t, err, ErrNoDriver)
	assert.ErrorContains(t, err, "libc.so.6 lacks cuInit")
	// Whatever this machine has, Open answers with a device or with one of the two errors.
	d, err := Open(0)
	if err != nil {
		assert.True(t, errors.Is(err, ErrNoDriver) || errors.Is(err, ErrNoDevice), "%v", err)
		_, err = Count()
		assert.Error(t, err)
		_, err = DriverVersion()
		assert.Error(t, err)
		return
	}
	assert.NoError(t, d.Close())
}

func TestStart(t *testing.T) {
	f, drv := newFake(t)
	for code, want := range map[Result]error{NoDevice: ErrNoDevice, StubLibrary: ErrNoDriver, OutOfMemory: &Error{Code: OutOfMemory}} {
		f.fail["cuInit"] = code
		assert.ErrorIs(t, drv.start(), want)
	}
	f.fail["cuInit"] = Success
	require.NoError(t, drv.start())
	_, err := drv.open(2)
	assert.ErrorIs(t, err, ErrNoDevice)
	assert.ErrorContains(t, err, "number 2: expected one of 0 to 1")
	f.devices = 0
	_, err = drv.open(0)
	assert.ErrorIs(t, err, ErrNoDevice)
}

func TestOpenWith(t *testing.T) {
	f := &fake{devices: 1}
	f.reset()
	fns, without := f.functions(), ""
	for name, fn := range f.kernels() {
		fns[name] = fn
	}
	lookup := func(name string) uintptr {
		if fn, ok := fns[name]; ok && name != without {
			return dl.Callback(fn)
		}
		return 0
	}
	d, err := OpenWith(lookup, 0)
	require.NoError(t, err)
	assert.Equal(t, "Fake GPU (sm_90)", d.String())
	require.NoError(t, d.Close())
	_, err = OpenWith(lookup, 1)
	require.ErrorIs(t, err, ErrNoDevice)
	without = "cuFuncGetParamInfo" // optional
	_, err = OpenWith(lookup, 0)
	require.NoError(t, err)
	without = "cuLaunchKernel"
	_, err = OpenWith(lookup, 0)
	require.ErrorIs(t, err, ErrNoDriver)
	require.ErrorContains(t, err, "the one given lacks cuLaunchKernel")
}

func TestDevice(t *testing.T) {
	f, d := openFake(t)
	i := d.Info()
	assert.Equal(t, "Fake GPU (sm_90)", d.String())
	assert.Equal(t, 132, i.SMs)
	assert.Equal(t, 232448, i.SharedBlockOptin)
	assert.Zero(t, i.ClockKHz, "this driver does not tell it")
	assert.EqualValues(t, 141<<30, i.MemoryBytes)
	free, total, err := d.MemInfo()
	require.NoError(t, err)
	assert.Equal(t, [2]uint64{1, 2}, [2]uint64{free, total})
	require.NoError(t, d.Synchronize())
	assert.EqualValues(t, fakeContext, f.current)
	f.fail["cuCtxSynchronize"] = IllegalAddress
	err = d.Synchronize()
	assert.EqualError(t, err, "cuda: cuCtxSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered ("+sticky+")")
	f.fail["cuCtxSynchronize"] = 12345
	assert.ErrorContains(t, d.Synchronize(), "unknown CUDA error (12345)")

	called := false
	require.NoError(t, d.Do(func() error { called = true; return nil }))
	assert.True(t, called)
	require.NoError(t, d.Close())
	require.NoError(t, d.Close())
	assert.Equal(t, 1, f.calls["cuDevicePrimaryCtxRelease_v2"])
	assert.ErrorIs(t, d.Synchronize(), ErrClosed)
	assert.ErrorIs(t, d.Do(func() error { return nil }), ErrClosed)
}

func TestBuffer(t *testing.T) {
	f, d := openFake(t)
	host := []elem.F16{1, 2, 3, 4, 5}
	b, err := FromHost(d, host)
	require.NoError(t, err)
	assert.Equal(t, 5, b.Len())
	assert.Equal(t, 10, b.Bytes())
	back, err := b.Host()
	require.NoError(t, err)
	assert.Equal(t, host, back)

	v, err := b.Slice(1, 4)
	require.NoError(t, err)
	assert.Equal(t, b.Ptr()+2, v.Ptr())
	require.NoError(t, v.Set(0x3c01))
	require.NoError(t, b.CopyTo(back))
	assert.Equal(t, []elem.F16{1, 0x3c01, 0x3c01, 0x3c01, 5}, back)
	assert.ErrorContains(t, v.Free(), "view")
	_, err = b.Slice(3, 6)
	assert.ErrorContains(t, err, "0 <= lo <= hi <= 5, but got [3, 6)")
	assert.ErrorContains(t, b.CopyTo(back[:3]), "expects 5 elements, as the buffer has, but got 3")

	c, err := Alloc[elem.F16](d, 5)
	require.NoError(t, err)
	require.NoError(t, c.CopyBuffer(b))
	require.NoError(t, b.Zero())
	got, err := c.Host()
	require.NoError(t, err)
	assert.Equal(t, back, got)
	got, err = b.Host()
	require.NoError(t, err)
	assert.Equal(t, make([]elem.F16, 5), got)

	require.NoError(t, b.Free())
	require.NoError(t, b.Free())
	assert.Equal(t, 1, f.calls["cuMemFree_v2"])
	assert.ErrorIs(t, b.Zero(), ErrClosed)
	assert.ErrorIs(t, v.CopyFrom(host[:3]), ErrClosed)
	assert.ErrorIs(t, c.CopyBuffer(b), ErrClosed)
}

func TestSetEverySize(t *testing.T) {
	_, d := openFake(t)
	setOne(t, d, elem.E4M3(0x7e))
	setOne(t, d, elem.S16(-2))
	setOne(t, d, elem.F32(1.25))
	setOne(t, d, elem.S64(-3))
}

func setOne[E elem.Any](t *testing.T, d *Device, v E) {
	b, err := Alloc[E](d, 3)
	require.NoError(t, err)
	require.NoError(t, b.Set(v))
	got, err := b.Host()
	require.NoError(t, err)
	assert.Equal(t, []E{v, v, v}, got)
}

func TestAllocErrors(t *testing.T) {
	f, d := openFake(t)
	b, err := Alloc[elem.F32](d, 0)
	require.NoError(t, err)
	assert.Zero(t, b.Ptr())
	assert.NoError(t, b.CopyFrom(nil))
	assert.NoError(t, b.Free())
	_, err = Alloc[elem.F32](d, -1)
	assert.ErrorContains(t, err, "but got -1")
	_, err = Alloc[elem.F32](nil, 1)
	assert.ErrorContains(t, err, "got nil")
	f.fail["cuMemAlloc_v2"] = OutOfMemory
	_, err = Alloc[elem.F32](d, 100)
	assert.ErrorIs(t, err, &Error{Code: OutOfMemory})
	assert.NotErrorIs(t, err, &Error{Code: NotReady})
	assert.EqualError(t, err, "cuda: cuMemAlloc_v2 of 400 bytes (100 f32): CUDA_ERROR_OUT_OF_MEMORY (2): out of memory")
}

func TestStreamsAndEvents(t *testing.T) {
	f, d := openFake(t)
	s, err := d.NewStream()
	require.NoError(t, err)
	h, err := s.Handle(d)
	require.NoError(t, err)
	assert.Equal(t, s.h.Load(), h)
	e, err := d.NewEvent()
	require.NoError(t, err)
	require.NoError(t, e.Record(nil))
	require.NoError(t, e.Record(s))
	require.NoError(t, s.Wait(e))
	require.NoError(t, e.Synchronize())
	dt, err := e.Since(e)
	require.NoError(t, err)
	assert.Equal(t, 1500*time.Microsecond, dt)
	f.fail["cuStreamQuery"] = NotReady
	done, err := s.Done()
	require.NoError(t, err)
	assert.False(t, done)
	f.fail["cuStreamQuery"] = Success
	done, err = s.Done()
	require.NoError(t, err)
	assert.True(t, done)

	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	require.NoError(t, e.Close())
	require.NoError(t, e.Close())
	assert.ErrorIs(t, s.Synchronize(), ErrClosed)
	assert.ErrorIs(t, e.Record(nil), ErrClosed)
	_, err = e.Since(e)
	assert.ErrorIs(t, err, ErrClosed)
	assert.ErrorContains(t, (*Stream)(nil).Synchronize(), "got nil")
	h, err = (*Stream)(nil).Handle(d)
	require.NoError(t, err)
	assert.Zero(t, h)
	_, err = s.Handle(d)
	assert.ErrorIs(t, err, ErrClosed)
	b, err := Alloc[elem.U8](d, 4)
	require.NoError(t, err)
	assert.NoError(t, b.ZeroOn(nil))
	assert.ErrorIs(t, b.ZeroOn(s), ErrClosed)
}

// TestManyThreads: every call sets the context, whichever thread it runs on.
func TestManyThreads(t *testing.T) {
	f, d := openFake(t)
	before := f.calls["cuCtxSetCurrent"]
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				assert.NoError(t, d.Synchronize())
			}
		})
	}
	wg.Wait()
	assert.Equal(t, before+160, f.calls["cuCtxSetCurrent"])
}
