// Package cublas calls cuBLAS without cgo, as a yardstick for benchmarks: it has a matrix product and no more.
package cublas

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"
	"unsafe"

	"github.com/gocute/gocute/cuda"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/internal/dl"
)

// ErrNotFound says that no cuBLAS library could be loaded; it lists the places that were tried.
var ErrNotFound = errors.New("cublas: library not found")

// pathVar is the environment variable that names the library or the folder it is in.
const pathVar = "GOCUTE_CUBLAS"

// Error is a cuBLAS call that failed.
type Error struct {
	Op     string
	Status int32 // cublasStatus_t
}

var statusNames = map[int32]string{
	1: "NOT_INITIALIZED", 3: "ALLOC_FAILED", 7: "INVALID_VALUE", 8: "ARCH_MISMATCH",
	11: "MAPPING_ERROR", 13: "EXECUTION_FAILED", 14: "INTERNAL_ERROR", 15: "NOT_SUPPORTED", 16: "LICENSE_ERROR",
}

// Error tells the operation and the status with its name.
func (e *Error) Error() string {
	name := statusNames[e.Status]
	if name == "" {
		name = "unknown"
	}
	return fmt.Sprintf("cublas: %s: CUBLAS_STATUS_%s (%d)", e.Op, name, e.Status)
}

type library struct {
	path                       string
	create, destroy, setStream uintptr
	gemmEx, gemmBatched        uintptr
}

func (l *library) symbols() []dl.Sym {
	return []dl.Sym{
		{Name: "cublasCreate_v2", Addr: &l.create},
		{Name: "cublasDestroy_v2", Addr: &l.destroy},
		{Name: "cublasSetStream_v2", Addr: &l.setStream},
		{Name: "cublasGemmEx", Addr: &l.gemmEx},
		{Name: "cublasGemmStridedBatchedEx", Addr: &l.gemmBatched},
	}
}

var theLibrary = sync.OnceValues(func() (*library, error) { return load(folders()) })

// names are the library with the one that it needs, newest first.
var names = []struct{ blas, lt string }{
	{"libcublas.so.13", "libcublasLt.so.13"},
	{"libcublas.so.12", "libcublasLt.so.12"},
}

// folders lists where to look, "" being the loader's own path.
func folders() []string {
	var dirs []string
	if p := os.Getenv(pathVar); p != "" {
		if info, err := os.Stat(p); err == nil && !info.IsDir() {
			p = filepath.Dir(p)
		}
		if abs, err := filepath.Abs(p); err == nil { // the user named it on purpose
			dirs = append(dirs, abs)
		}
	}
	dirs = append(dirs, "")
	for _, v := range []string{"CUDA_HOME", "CUDA_PATH"} {
		if p := os.Getenv(v); p != "" {
			dirs = append(dirs, filepath.Join(p, "lib64"), filepath.Join(p, "lib"))
		}
	}
	dirs = append(dirs, "/usr/local/cuda/lib64")
	if p := os.Getenv("VIRTUAL_ENV"); p != "" { // where NVIDIA's Python packages put it
		found, _ := filepath.Glob(filepath.Join(p, "lib/python3*/site-packages/nvidia/*/lib"))
		dirs = append(dirs, found...)
	}
	return dirs
}

func load(dirs []string) (*library, error) {
	why := make([]error, 0, len(dirs))
	for _, dir := range dirs {
		for _, n := range names {
			// Loaded first, and by its place, so that the main library finds it without a search path.
			_, _ = dl.Open(filepath.Join(dir, n.lt))
			lib, err := dl.Open(filepath.Join(dir, n.blas))
			if err != nil {
				why = append(why, err)
				continue
			}
			l := &library{path: lib.Path()}
			return l, lib.Bind(l.symbols())
		}
	}
	return nil, fmt.Errorf("%w (%s may name its folder): %w", ErrNotFound, pathVar, dl.Reasons(why))
}

// Handle is a cuBLAS context on a device, for one goroutine at a time.
type Handle struct {
	lib *library
	dev *cuda.Device
	h   uintptr

	stream *cuda.Stream // nil is the default one
}

// Create loads cuBLAS, once in the process, and makes a handle. It looks in GOCUTE_CUBLAS, on the
// loader's path, in CUDA_HOME, in /usr/local/cuda and in the active Python environment, and returns ErrNotFound
// if it is in none. Destroy frees the handle.
func Create(d *cuda.Device) (*Handle, error) {
	if d.Ordinal() < 0 {
		return nil, errors.New("cublas: Create expects a device from cuda.Open, but got nil or an empty one")
	}
	lib, err := theLibrary()
	if err != nil {
		return nil, err
	}
	h := &Handle{lib: lib, dev: d}
	if err := h.call("cublasCreate_v2", lib.create, uintptr(unsafe.Pointer(&h.h))); err != nil {
		return nil, err
	}
	return h, nil
}

// call runs a function with the device's context current.
//
//go:uintptrescapes
func (h *Handle) call(op string, fn uintptr, args ...uintptr) error {
	return h.dev.Do(func() error {
		if s := int32(dl.Call(fn, args...)); s != 0 {
			return &Error{op, s}
		}
		return nil
	})
}

// live refuses a handle that does not come from Create, or was destroyed.
func (h *Handle) live(op string) error {
	switch {
	case h == nil:
		return fmt.Errorf("cublas: %s expects a handle from Create, but got nil", op)
	case h.h == 0:
		return fmt.Errorf("cublas: %s: %w", op, cuda.ErrClosed)
	}
	return nil
}

// Library is the name under which cuBLAS was found; empty for a Handle that does not come from Create.
func (h *Handle) Library() string {
	if h == nil || h.lib == nil {
		return ""
	}
	return h.lib.path
}

// Destroy frees the handle. A second Destroy, and that of a nil Handle, do nothing.
func (h *Handle) Destroy() error {
	if h == nil || h.h == 0 {
		return nil
	}
	p := h.h
	h.h = 0
	return h.call("cublasDestroy_v2", h.lib.destroy, p)
}

// SetStream makes products run on s, a stream of the handle's device; nil is the default stream. Products on a stream
// that was closed since are an error.
func (h *Handle) SetStream(s *cuda.Stream) error {
	if err := h.live("SetStream"); err != nil {
		return err
	}
	stream, err := s.Handle(h.dev)
	if err != nil {
		return fmt.Errorf("cublas: SetStream: %w", err)
	}
	h.stream = s
	return h.call("cublasSetStream_v2", h.lib.setStream, h.h, stream)
}

// Numbers of cuBLAS' enumerations.
const (
	opN, opT    = 0, 1
	gemmDefault = 1<<32 - 1 // CUBLAS_GEMM_DEFAULT is -1
)

// In and Out are the element types of a product's operands and of its result.
type (
	In interface {
		elem.F16 | elem.BF16 | elem.F32
	}
	Out interface {
		elem.F16 | elem.BF16 | elem.F32
	}
)

// Gemm computes C = alpha*A*Bᵀ + beta*C in f32 arithmetic and does not wait: A is (M,K), B is (N,K), both
// K-major without gaps, and C is (M,N) row by row. cuBLAS takes results of f32, or of the operands' type. Multiply has
// other layouts and types.
func Gemm[I In, O Out](h *Handle, m, n, k int, alpha float32, a, b *cuda.Buffer[I], beta float32, c *cuda.Buffer[O]) error {
	if err := h.live("Gemm"); err != nil {
		return err
	}
	if min(m, n, k) < 1 || max(m, n, k) > math.MaxInt32 {
		return fmt.Errorf("cublas: Gemm expects extents of 1 to %d, but got M=%d N=%d K=%d", math.MaxInt32, m, n, k)
	}
	for _, row := range []struct {
		name      string
		got, want int
		live      error
		dev       *cuda.Device
	}{{"A", a.Len(), m * k, a.Live(), a.Device()}, {"B", b.Len(), n * k, b.Live(), b.Device()}, {"C", c.Len(), m * n, c.Live(), c.Device()}} {
		switch {
		case row.live != nil:
			return fmt.Errorf("cublas: Gemm: %s: %w", row.name, row.live)
		case row.dev.Ordinal() != h.dev.Ordinal():
			return fmt.Errorf("cublas: Gemm: expected %s on device %d, where the handle is, but got one on device %d", row.name, h.dev.Ordinal(), row.dev.Ordinal())
		case row.got < row.want:
			return fmt.Errorf("cublas: Gemm of M=%d N=%d K=%d: expected %s of %d elements, but got %d", m, n, k, row.name, row.want, row.got)
		}
	}
	in, out := elem.KindOf[I](), elem.KindOf[O]()
	return h.Multiply(Product{M: m, N: n, K: k, Alpha: float64(alpha), Beta: float64(beta),
		A: Matrix{Kind: in, Ptr: a.Ptr()}, B: Matrix{Kind: in, Ptr: b.Ptr()}, C: Matrix{Kind: out, Ptr: c.Ptr()}})
}
