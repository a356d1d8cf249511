//go:build linux && (amd64 || arm64)

package tune

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/build"
	"github.com/gocute/gocute/cuda"
	"github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/internal/dl"
	"github.com/gocute/gocute/internal/fakecubin"
)

// scaled is B = alpha*A over M rows of 32, in blocks of so many rows; ref is whether it has a reference.
func scaled(name string, rows int, ref bool) func() *dsl.Kernel {
	return func() *dsl.Kernel {
		return dsl.Define(name, func(k *dsl.K) {
			m := k.Dim("M", dsl.Multiple(4))
			src := dsl.In[elem.F32](k, "A", dsl.Shape(m, 32).Strides(32, 1))
			dst := dsl.Out[elem.F32](k, "B", dsl.Shape(m, 32).Strides(32, 1))
			alpha := dsl.Scalar[elem.F32](k, "alpha")
			k.Threads(rows * 8)
			k.Grid(m.CeilDiv(rows))
			thr, val := dsl.Shape(rows, 8).Strides(8, 1), dsl.Shape(1, 4).Strides(4, 1)
			load := dsl.NewTiledCopy[elem.F32](atoms.UniversalCopy[dsl.Gmem, dsl.Rmem](128), thr, val)
			t := load.Slice(k.Thread).PartitionS(src.Tile(dsl.Tile(rows, 32), k.BlockX, 0))
			frag := dsl.FragmentLike(t)
			dsl.Copy(load, t, frag)
			dsl.Store(frag, load.Slice(k.Thread).PartitionS(dst.Tile(dsl.Tile(rows, 32), k.BlockX, 0)), func(x, _ dsl.Val[elem.F32]) dsl.Val[elem.F32] {
				return x.Mul(alpha)
			})
			if ref {
				dsl.Expect(dst, 1e-6, func(r *dsl.Ref) func(at []int64) float64 {
					a, al := r.Tensor("A"), r.Scalars["alpha"]
					return func(at []int64) float64 { return a.At(at...) * al }
				})
			}
		})
	}
}

// family has candidates of 4, 8 and so on rows, named r4, r8, ….
func family(ref bool, rows ...int) *dsl.Family {
	f := &dsl.Family{Name: "scale", Scalars: map[string]float64{"alpha": 2}, Work: func(d map[string]int64) float64 { return float64(32 * d["M"]) }}
	for _, n := range rows {
		f.Add(fmt.Sprintf("r%d", n), scaled(fmt.Sprintf("scale_r%d", n), n, ref))
	}
	return f
}

// fakeCompiler gives cubins that only the fake GPU understands: the kernel's name.
type fakeCompiler struct {
	build.Common
	reports map[string]build.KernelReport // by kernel; others have 32 registers
	refuse  string                        // a kernel's name
	version string                        // part of every image
}

func (c *fakeCompiler) Compile(_ context.Context, src build.Source) (*build.Result, error) {
	if src.Name == c.refuse {
		return nil, &build.CompileError{Compiler: "fake", Kernel: src.Name, Arch: src.Archs[0], Output: "k.cu(1): error: refused"}
	}
	r, ok := c.reports[src.Name]
	if !ok {
		r = build.KernelReport{Registers: 32}
	}
	r.Name = src.Name
	bin := build.Binary{Arch: src.Archs[0], Cubin: append(fakecubin.New(src.Archs[0], src.Name), "image of "+src.Name+c.version...), Report: build.Report{Kernels: []build.KernelReport{r}}}
	return &build.Result{Name: src.Name, Binaries: []build.Binary{bin}}, nil
}

// fakeGPU stands in for libcuda: its kernels are scaled's, computed here, with a clock of its own.
type fakeGPU struct {
	mem      map[uint64][]byte
	next     uint64
	clock    float64 // microseconds
	events   map[uint64]float64
	handles  []string           // modules, and their functions, by handle-1
	speed    map[string]float64 // microseconds of a kernel's launch
	broken   map[string]string  // kernels that are "wrong", "beside" their output, or "fail"
	launches []string           // kernels in order
	used     map[uint64]bool    // addresses of inputs
	loads    int
	l2       int32
}

func newFakeGPU() *fakeGPU {
	return &fakeGPU{mem: map[uint64][]byte{}, next: 0x10000, events: map[uint64]float64{}, speed: map[string]float64{},
		broken: map[string]string{}, used: map[uint64]bool{}, l2: 1 << 16}
}

func (f *fakeGPU) open(t *testing.T) *cuda.Device {
	t.Helper()
	fns := f.functions()
	d, err := cuda.OpenWith(func(name string) uintptr {
		if fn, ok := fns[name]; ok {
			return dl.Callback(fn)
		}
		return dl.Callback(func(_, _, _ uint64) int32 { return 0 })
	}, 0)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, d.Close())
		require.Empty(t, f.mem, "all memory was freed")
	})
	return d
}

func (f *fakeGPU) find(p uint64) []byte {
	for base, m := range f.mem {
		if p >= base && p < base+uint64(len(m)) {
			return m[p-base:]
		}
	}
	return nil
}

const failure = 719 // CUDA_ERROR_LAUNCH_FAILED

func (f *fakeGPU) functions() map[string]any {
	attrs := map[int32]int32{1: 1024, 8: 49152, 10: 32, 16: 132, 39: 2048, 75: 9, 76: 0, 81: 233472, 82: 65536, 97: 232448}
	return map[string]any{
		"cuDeviceGetCount": func(n *int32) int32 { *n = 1; return 0 },
		"cuDeviceGetName":  func(b *byte, n, _ int32) int32 { copy(unsafe.Slice(b, n), "Fake H200\x00"); return 0 },
		"cuDeviceGetAttribute": func(v *int32, a, _ int32) int32 {
			*v = attrs[a]
			if a == 38 {
				*v = f.l2
			}
			return 0
		},
		"cuMemGetInfo_v2": func(free, total *uint64) int32 { *free, *total = 1<<30, 1<<30; return 0 },
		"cuMemAlloc_v2": func(p *uint64, n uint64) int32 {
			*p, f.mem[f.next] = f.next, make([]byte, n)
			f.next += (n + 511) &^ 255
			return 0
		},
		"cuMemFree_v2":       func(p uint64) int32 { delete(f.mem, p); return 0 },
		"cuMemcpyHtoD_v2":    func(dst uint64, src *byte, n uint64) int32 { copy(f.find(dst)[:n], unsafe.Slice(src, n)); return 0 },
		"cuMemcpyDtoH_v2":    func(dst *byte, src, n uint64) int32 { copy(unsafe.Slice(dst, n), f.find(src)[:n]); return 0 },
		"cuMemcpyDtoD_v2":    func(dst, src, n uint64) int32 { copy(f.find(dst)[:n], f.find(src)[:n]); return 0 },
		"cuMemsetD8_v2":      f.set,
		"cuEventCreate":      func(e *uint64) int32 { f.next++; *e = f.next; return 0 },
		"cuEventRecord":      func(e, _ uint64) int32 { f.events[e] = f.clock; return 0 },
		"cuEventElapsedTime": func(ms *float32, a, b uint64) int32 { *ms = float32((f.events[b] - f.events[a]) / 1000); return 0 },
		"cuModuleLoadDataEx": func(out *uint64, image *byte) int32 {
			f.loads++
			var text []byte
			for p := image; *p != 0 || !strings.Contains(string(text), "image of "); p = (*byte)(unsafe.Add(unsafe.Pointer(p), 1)) {
				text = append(text, *p)
			}
			_, name, _ := strings.Cut(string(text), "image of ")
			name, _, _ = strings.Cut(name, " ")
			f.handles = append(f.handles, name)
			*out = uint64(len(f.handles))
			return 0
		},
		"cuModuleGetFunction": func(out *uint64, mod uint64, _ *byte) int32 { *out = mod; return 0 },
		"cuFuncGetParamInfo":  func(_, _ uint64, _, _ *uint64) int32 { return 801 },
		"cuGetErrorName":      func(_ int32, _ **byte) int32 { return 1 },
		"cuGetErrorString":    func(_ int32, _ **byte) int32 { return 1 },
		"cuLaunchKernel":      f.launch,
	}
}

func (f *fakeGPU) set(p uint64, v uint32, n uint64) int32 {
	m := f.find(p)[:n]
	for i := range m {
		m[i] = byte(v)
	}
	return 0
}

// launch runs a kernel: M, A, B, alpha.
func (f *fakeGPU) launch(fn uint64, gx, _, _, threads, _, _, _ uint32, _ uint64, params *[4]unsafe.Pointer, _ uint64) int32 {
	name := f.handles[fn-1]
	f.launches = append(f.launches, name)
	f.clock += f.speed[name]
	if f.broken[name] == "fail" {
		return failure
	}
	m := int(*(*int32)(params[0]))
	from, to := *(*uint64)(params[1]), *(*uint64)(params[2])
	alpha := *(*float32)(params[3])
	f.used[from] = true
	a, b := f.find(from), f.find(to)
	if rows := int(threads) / 8; int(gx)*rows < m || (int(gx)-1)*rows >= m {
		return 1
	}
	for i := range 32 * m {
		x := math.Float32frombits(binary.LittleEndian.Uint32(a[4*i:]))
		if f.broken[name] == "wrong" && i == 32*m-1 {
			x++
		}
		binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(alpha*x))
	}
	if f.broken[name] == "beside" {
		b[4*32*m] = 0
	}
	return 0
}
