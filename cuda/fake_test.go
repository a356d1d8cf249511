//go:build linux && (amd64 || arm64)

package cuda

import (
	"encoding/binary"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/internal/dl"
)

// fake stands in for libcuda: C function pointers to Go functions, so that calls take the real road.
type fake struct {
	mu       sync.Mutex
	calls    map[string]int
	fail     map[string]Result // what a function returns instead of doing anything
	mem      map[uint64][]byte
	next     uint64
	devices  int32
	current  uint64
	log      string // what the PTX compiler says
	image    []byte // what was loaded last
	params   []uint64
	launched [launchWords - 2]uint64
	args     [][]byte
	attrs    map[int32]int32
	maxDyn   int32
	encoded  []uint64 // what the last tensor map was made of
	checks
}

const fakeContext = 0xc0ffee

func newFake(t testing.TB) (*fake, *driver) {
	f := &fake{devices: 2}
	f.reset()
	t.Cleanup(func() { require.Empty(t, f.violations, "what reached the driver and must not") })
	fns := f.functions()
	for name, fn := range f.kernels() {
		fns[name] = fn
	}
	d := &driver{path: "fake"}
	for _, s := range d.symbols() {
		fn, ok := fns[s.Name]
		require.True(t, ok, "the fake lacks %s", s.Name)
		*s.Addr = dl.Callback(fn)
	}
	return f, d
}

// reset forgets all that happened.
func (f *fake) reset() {
	f.calls, f.fail, f.mem, f.next = map[string]int{}, map[string]Result{}, map[uint64][]byte{}, 0x7f0000000000
	f.attrs, f.current, f.checks = fakeAttributes(), 0, newChecks()
}

// fakeAttributes are the numbers of an H200, by CUdevice_attribute.
func fakeAttributes() map[int32]int32 {
	return map[int32]int32{1: 1024, 8: 49152, 10: 32, 16: 132, 38: 50 << 20, 39: 2048, 75: 9, 76: 0, 81: 233472, 82: 65536, 95: 1, 97: 232448}
}

func openFake(t testing.TB) (*fake, *Device) {
	f, drv := newFake(t)
	require.NoError(t, drv.start())
	d, err := drv.open(1)
	require.NoError(t, err)
	return f, d
}

// enter counts a call and returns the failure that the test asked for.
func (f *fake) enter(name string) Result {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[name]++
	return f.fail[name]
}

var errorTexts = map[Result][2]string{
	OutOfMemory:    {"CUDA_ERROR_OUT_OF_MEMORY\x00", "out of memory\x00"},
	InvalidValue:   {"CUDA_ERROR_INVALID_VALUE\x00", "invalid argument\x00"},
	NoDevice:       {"CUDA_ERROR_NO_DEVICE\x00", "no CUDA-capable device is detected\x00"},
	StubLibrary:    {"CUDA_ERROR_STUB_LIBRARY\x00", "CUDA driver is a stub library\x00"},
	NotReady:       {"CUDA_ERROR_NOT_READY\x00", "device not ready\x00"},
	InvalidPTX:     {"CUDA_ERROR_INVALID_PTX\x00", "a PTX JIT compilation failed\x00"},
	IllegalAddress: {"CUDA_ERROR_ILLEGAL_ADDRESS\x00", "an illegal memory access was encountered\x00"},
}

func text(which int) func(int32, **byte) int32 {
	return func(code int32, out **byte) int32 {
		s, ok := errorTexts[Result(code)]
		if !ok {
			*out = nil
			return int32(InvalidValue)
		}
		*out = unsafe.StringData(s[which])
		return 0
	}
}

// fillWith makes a memset of elements of a size.
func (f *fake) fillWith(name string, size int) func(p uint64, v uint32, n uint64) int32 {
	return func(p uint64, v uint32, n uint64) int32 {
		if r := f.enter(name); r != 0 {
			return int32(r)
		}
		m, ok := f.span(name, p, n*uint64(size))
		if !ok || p%uint64(size) != 0 {
			return f.bad("%s of %d elements at %#x", name, n, p)
		}
		var w [4]byte
		binary.LittleEndian.PutUint32(w[:], v)
		for i := range n {
			copy(m[i*uint64(size):(i+1)*uint64(size)], w[:])
		}
		return 0
	}
}

// ret makes a function of up to three arguments that only counts.
func (f *fake) ret(name string) func(a, b, c uint64) int32 {
	return func(_, _, _ uint64) int32 { return int32(f.enter(name)) }
}

// give makes a function that stores a new handle of a kind.
func (f *fake) give(name string, kind kind) func(*uint64) int32 {
	return func(out *uint64) int32 {
		r := f.enter(name)
		if r == 0 {
			*out = f.make(kind, 0)
		}
		return int32(r)
	}
}

func (f *fake) functions() map[string]any {
	set8 := f.fillWith("cuMemsetD8_v2", 1)
	m := map[string]any{
		"cuGetErrorName":   text(0),
		"cuGetErrorString": text(1),
		"cuDriverGetVersion": func(v *int32) int32 {
			*v = 13000
			return 0
		},
		"cuDeviceGetCount": func(n *int32) int32 { *n = f.devices; return 0 },
		"cuDeviceGet":      func(dev *int32, ordinal int32) int32 { *dev = ordinal; return 0 },
		"cuDeviceGetName": func(b *byte, n int32, dev int32) int32 {
			copy(unsafe.Slice(b, n), "Fake GPU\x00rest")
			return 0
		},
		"cuDeviceGetAttribute": func(v *int32, a, dev int32) int32 {
			x, ok := f.attrs[a]
			if !ok {
				return int32(InvalidValue)
			}
			*v = x
			return 0
		},
		"cuDeviceTotalMem_v2":      func(n *uint64, dev int32) int32 { *n = 141 << 30; return 0 },
		"cuDevicePrimaryCtxRetain": f.retain,
		"cuCtxSetCurrent": func(c uint64) int32 {
			r := f.enter("cuCtxSetCurrent")
			f.mu.Lock()
			f.current = c
			f.mu.Unlock()
			return int32(r)
		},
		"cuMemGetInfo_v2": func(free, total *uint64) int32 { *free, *total = 1, 2; return 0 },
		"cuMemsetD8_v2":   set8,
		"cuMemsetD16_v2":  f.fillWith("cuMemsetD16_v2", 2),
		"cuMemsetD32_v2":  f.fillWith("cuMemsetD32_v2", 4),
		"cuMemsetD8Async": func(p uint64, v uint32, n, stream uint64) int32 {
			f.live("cuMemsetD8Async", aStream, stream)
			return set8(p, v, n)
		},
		"cuStreamCreate": f.give("cuStreamCreate", aStream),
		"cuEventCreate":  f.give("cuEventCreate", anEvent),
		"cuEventElapsedTime": func(ms *float32, start, end uint64) int32 {
			f.live("cuEventElapsedTime", anEvent, start)
			f.live("cuEventElapsedTime", anEvent, end)
			*ms = 1.5
			return 0
		},
		"cuEventElapsedTime_v2": f.ret("cuEventElapsedTime_v2"),
	}
	for _, name := range []string{"cuInit", "cuCtxSynchronize"} {
		m[name] = f.ret(name)
	}
	f.checked(m)
	return m
}

func (f *fake) kernels() map[string]any {
	return map[string]any{
		"cuModuleLoadDataEx": func(out *uint64, image *byte, n uint32, keys *uint32, values *unsafe.Pointer) int32 {
			k, v := unsafe.Slice(keys, n), unsafe.Slice(values, n)
			room := int(uintptr(v[1]))
			if k[0] != 5 || k[1] != 6 || room < 100 {
				return int32(InvalidValue)
			}
			copy(unsafe.Slice((*byte)(v[0]), room), f.log)
			f.image = nil
			for p := image; *p != 0 && len(f.image) < 8; p = (*byte)(unsafe.Add(unsafe.Pointer(p), 1)) {
				f.image = append(f.image, *p)
			}
			*out = f.make(aModule, 0)
			return int32(f.enter("cuModuleLoadDataEx"))
		},
		"cuModuleGetFunction": func(out *uint64, mod uint64, name *byte) int32 {
			f.live("cuModuleGetFunction", aModule, mod)
			*out = f.make(aFunction, mod)
			return int32(f.enter("get " + string(unsafe.Slice(name, 3))))
		},
		"cuModuleGetGlobal_v2": func(p, n *uint64, mod uint64, name *byte) int32 {
			f.live("cuModuleGetGlobal_v2", aModule, mod)
			*p, *n = 0x1000, 64
			return 0
		},
		"cuFuncGetAttribute": func(v *int32, attr int32, fn uint64) int32 {
			f.live("cuFuncGetAttribute", aFunction, fn)
			*v = 100 + attr
			return 0
		},
		"cuFuncSetAttribute": func(fn uint64, attr, v int32) int32 {
			f.live("cuFuncSetAttribute", aFunction, fn)
			if v < 0 || v > f.attrs[97] {
				return f.bad("cuFuncSetAttribute to %d", v)
			}
			if attr == 8 {
				f.maxDyn = v
				f.shared[fn] = v
			}
			return int32(f.enter("cuFuncSetAttribute"))
		},
		"cuFuncGetParamInfo": func(fn, i uint64, off, size *uint64) int32 {
			if r := f.enter("cuFuncGetParamInfo"); r != 0 {
				return int32(r)
			}
			if i >= uint64(len(f.params)) {
				return int32(InvalidValue)
			}
			*size = f.params[i]
			return 0
		},
		"cuTensorMapEncodeTiled": f.encode,
		"cuOccupancyMaxActiveBlocksPerMultiprocessor": func(n *int32, fn uint64, threads int32, smem uint64) int32 {
			f.live("cuOccupancyMaxActiveBlocksPerMultiprocessor", aFunction, fn)
			if threads < 1 || threads > 1024 {
				return f.bad("occupancy of blocks of %d threads", threads)
			}
			*n = int32(2048 / threads)
			return 0
		},
		"cuLaunchKernel": func(fn uint64, gx, gy, gz, bx, by, bz, smem uint32, stream uint64, params *unsafe.Pointer, extra uint64) int32 {
			f.launched = [...]uint64{fn, uint64(gx), uint64(gy), uint64(gz), uint64(bx), uint64(by), uint64(bz), uint64(smem), stream}
			f.launchable()
			f.args = f.args[:0]
			for i, n := range f.params {
				p := *(*unsafe.Pointer)(unsafe.Add(unsafe.Pointer(params), 8*i))
				f.args = append(f.args, append([]byte(nil), unsafe.Slice((*byte)(p), n)...))
			}
			f.pointersLive()
			if extra != 0 {
				return int32(InvalidValue)
			}
			return int32(f.enter("cuLaunchKernel"))
		},
		"cuLaunchKernelEx": func(c *launchEx, fn uint64, params *unsafe.Pointer, extra uint64) int32 {
			f.launched = [...]uint64{fn, uint64(c.grid[0]), uint64(c.grid[1]), uint64(c.grid[2]),
				uint64(c.block[0]), uint64(c.block[1]), uint64(c.block[2]), uint64(c.shared), uint64(c.stream)}
			f.launchable()
			if c.attrs != uintptr(unsafe.Pointer(&c.id)) || c.count != 1 || c.id != 6 || c.value[0] != 1 || extra != 0 {
				return int32(InvalidValue)
			}
			f.args = f.args[:0]
			for i, n := range f.params {
				p := *(*unsafe.Pointer)(unsafe.Add(unsafe.Pointer(params), 8*i))
				f.args = append(f.args, append([]byte(nil), unsafe.Slice((*byte)(p), n)...))
			}
			f.pointersLive()
			return int32(f.enter("cuLaunchKernelEx"))
		},
	}
}
