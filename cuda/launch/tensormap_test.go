//go:build linux && (amd64 || arm64)

package launch

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/cuda"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/internal/dl"
)

// encoding is a device on a driver that only makes tensor maps, of the tensor's address; it counts them.
func encoding(t *testing.T) (*cuda.Device, *atomic.Int32) {
	made := new(atomic.Int32)
	one := func(v *int32, _, _ uint64) int32 { *v = 1; return 0 }
	known := map[string]any{
		"cuDeviceGetCount":     one,
		"cuDeviceGetAttribute": one,
		"cuDeviceTotalMem_v2":  func(n *uint64, _ int32) int32 { *n = 1 << 30; return 0 },
		"cuTensorMapEncodeTiled": func(out *cuda.TensorMap, typ, rank, addr, dims, strides, box, steps, interleave, swizzle, l2, fill uint64) int32 {
			made.Add(1)
			out[0] = addr
			return 0
		},
	}
	nothing := dl.Callback(func(_, _, _ uint64) int32 { return 0 })
	dev, err := cuda.OpenWith(func(name string) uintptr {
		if fn, ok := known[name]; ok {
			return dl.Callback(fn)
		}
		return nothing
	}, 0)
	require.NoError(t, err)
	return dev, made
}

// working is a device on a driver that says yes to all; memory lies at 0x10000.
func working(t *testing.T) *cuda.Device {
	one := func(v *int32, _, _ uint64) int32 { *v = 1024; return 0 }
	give := func(h *uint64, _, _ uint64) int32 { *h = 0x10000; return 0 }
	known := map[string]any{"cuDeviceGetCount": one, "cuDeviceGetAttribute": one, "cuMemAlloc_v2": give, "cuModuleLoadDataEx": give,
		"cuModuleGetFunction": give, "cuFuncGetParamInfo": func(_, _ uint64, _, _ *uint64) int32 { return 801 },
		"cuGetErrorName": func(_ int32, _ uint64) int32 { return 1 }, "cuGetErrorString": func(_ int32, _ uint64) int32 { return 1 }}
	nothing := dl.Callback(func(_, _, _ uint64) int32 { return 0 })
	dev, err := cuda.OpenWith(func(name string) uintptr {
		if fn, ok := known[name]; ok {
			return dl.Callback(fn)
		}
		return nothing
	}, 0)
	require.NoError(t, err)
	return dev
}

func row(addr cuda.DevicePtr, n int64) *cuda.TensorMapSpec {
	return &cuda.TensorMapSpec{Addr: addr, Elem: elem.KF32, Rank: 1, Extents: [cuda.MaxTensorRank]int64{n},
		Strides: [cuda.MaxTensorRank]int64{1}, Box: [cuda.MaxTensorRank]int{64}}
}

// TestMaps: a map is made once, by however many goroutines it is wanted, and never mistaken for another.
func TestMaps(t *testing.T) {
	dev, made := encoding(t)
	var c Maps
	args := cuda.NewArgs()
	for range 3 {
		require.NoError(t, c.Append(args, dev, row(16, 100)))
	}
	require.EqualValues(t, 1, made.Load())
	require.NoError(t, c.Append(args, dev, row(16, 101)))
	require.NoError(t, c.Append(args, dev, row(32, 100)))
	require.EqualValues(t, 3, made.Load())
	require.Equal(t, 5, args.Len())
	require.ErrorContains(t, c.Append(args, dev, row(8, 100)), "a multiple of 16 bytes")
	require.Equal(t, 5, args.Len())

	s := row(16, 100)
	require.NoError(t, c.Append(args, dev, s))
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if err := c.Append(args.Reset(), dev, s); err != nil {
			t.Error(err)
		}
	}))
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			mine := cuda.NewArgs()
			for i := range 200 {
				if err := c.Append(mine.Reset(), dev, row(cuda.DevicePtr(16+16*((i+g)%40)), 100)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func TestTensorMap(t *testing.T) {
	dev, made := encoding(t)
	k := &Kernel{name: "k", dev: dev}
	c := Call{k: k, args: cuda.NewArgs()}
	view := func(p cuda.DevicePtr) *cuda.Buffer[elem.F32] {
		b, err := cuda.View[elem.F32](dev, p, 100)
		require.NoError(t, err)
		return b
	}
	TensorMap(&c, "A", view(64), row(0, 100))
	TensorMap[elem.F32](&c, "B", nil, row(0, 0))
	require.NoError(t, c.err)
	require.Equal(t, 2, c.args.Len())
	require.EqualValues(t, 1, made.Load(), "none for a tensor without elements")
	TensorMap(&c, "C", view(72), row(0, 100))
	require.EqualError(t, c.err, "k: C: cuda: a tensor map expects an address that is a multiple of 16 bytes, but got 0x48")
	first := c.err
	TensorMap[elem.F32](&c, "D", nil, row(0, 1))
	require.Equal(t, first, c.err)
}
