package cublas

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/gocute/gocute/cuda"
	"github.com/gocute/gocute/elem"
)

// Matrix is an operand in device memory. Its leading dimension is the distance, in elements, between its rows (or, where
// it is Transposed, its columns), and Stride that between the matrices of a batch. Zeros mean no gaps.
type Matrix struct {
	Kind       elem.Kind
	Ptr        cuda.DevicePtr
	Transposed bool // stored column by column
	Leading    int
	Stride     int
}

// Product is C = Alpha*A*Bᵀ + Beta*C, of each of a batch of matrices: A is (M,K), B is (N,K), C is (M,N). In BLAS's words,
// which count columns first, the product of rows by rows is TN, and A and B Transposed make it NT.
type Product struct {
	M, N, K     int
	Batch       int // matrices; 0 is one
	A, B, C     Matrix
	Alpha, Beta float64
}

// Numbers of cublasComputeType_t.
const (
	compute32F  = 68
	compute32I  = 72
	computeTF32 = 77 // f32 matrices whose elements are rounded to tf32
)

// dataTypes are the cudaDataType_t of the kinds that products take.
var dataTypes = map[elem.Kind]uintptr{elem.KF32: 0, elem.KTF32: 0, elem.KF16: 2, elem.KBF16: 14, elem.KS8: 3, elem.KS32: 10}

// computes says in what arithmetic operands are multiplied.
var computes = map[elem.Kind]uintptr{elem.KF32: compute32F, elem.KF16: compute32F, elem.KBF16: compute32F,
	elem.KTF32: computeTF32, elem.KS8: compute32I}

// Multiply puts the product on the handle's stream and does not wait. It takes f16 and bf16 to themselves or to f32, f32
// and tf32 to f32, accumulating in f32, and s8 to s32. Beyond that cuBLAS has limits of its own, such as extents of s8
// matrices that are multiples of 4, and answers NOT_SUPPORTED or INVALID_VALUE.
func (h *Handle) Multiply(p Product) error {
	if err := h.live("Multiply"); err != nil {
		return err
	}
	if _, err := h.stream.Handle(h.dev); err != nil {
		return fmt.Errorf("cublas: Multiply: %w", err)
	}
	if err := p.complete(); err != nil {
		return fmt.Errorf("cublas: Multiply of M=%d N=%d K=%d: %w", p.M, p.N, p.K, err)
	}
	err := h.multiply(&p)
	if e, ok := err.(*Error); ok {
		e.Op += fmt.Sprintf(" of %s to %s, M=%d N=%d K=%d", p.A.Kind, p.C.Kind, p.M, p.N, p.K)
	}
	return err
}

// complete fills in what was left open and refuses what cuBLAS would misread.
func (p *Product) complete() error {
	if p.Batch == 0 {
		p.Batch = 1
	}
	if min(p.M, p.N, p.K, p.Batch) < 1 || max(p.M, p.N, p.K, p.Batch) > math.MaxInt32 {
		return fmt.Errorf("expected positive extents of at most %d, but got M=%d N=%d K=%d and a batch of %d", math.MaxInt32, p.M, p.N, p.K, p.Batch)
	}
	if computes[p.A.Kind] == 0 || p.A.Kind != p.B.Kind {
		return fmt.Errorf("expected A and B of one type of f16, bf16, tf32, f32 and s8, but got %s and %s", p.A.Kind, p.B.Kind)
	}
	if p.C.Transposed {
		return fmt.Errorf("expected C row by row")
	}
	if _, ok := dataTypes[p.C.Kind]; !ok || (p.A.Kind == elem.KS8) != (p.C.Kind == elem.KS32) {
		return fmt.Errorf("expected C of f16, bf16 or f32, or of s32 for s8, but got %s for %s", p.C.Kind, p.A.Kind)
	}
	for _, x := range []float64{p.Alpha, p.Beta} {
		if p.A.Kind == elem.KS8 && (x < math.MinInt32 || x > math.MaxInt32) || math.Abs(x) > math.MaxFloat32 && !math.IsInf(x, 0) {
			return fmt.Errorf("expected alpha and beta of 32 bits, but got %v and %v", p.Alpha, p.Beta)
		}
	}
	if p.A.Kind == elem.KS8 && (p.Alpha != math.Trunc(p.Alpha) || p.Beta != math.Trunc(p.Beta)) {
		return fmt.Errorf("expected whole numbers alpha and beta for s8, but got %v and %v", p.Alpha, p.Beta)
	}
	for _, x := range []struct {
		name       string
		m          *Matrix
		rows, cols int
	}{{"A", &p.A, p.M, p.K}, {"B", &p.B, p.N, p.K}, {"C", &p.C, p.M, p.N}} {
		rows, cols := x.rows, x.cols
		if x.m.Transposed {
			rows, cols = cols, rows
		}
		if x.m.Leading == 0 {
			x.m.Leading = cols
		}
		if x.m.Ptr == 0 || x.m.Leading < cols || x.m.Leading > math.MaxInt32 {
			return fmt.Errorf("expected %s in memory with at least %d elements from row to row and at most %d, but got %d", x.name, cols, math.MaxInt32, x.m.Leading)
		}
		if x.m.Stride == 0 {
			x.m.Stride = rows * x.m.Leading
		}
		if x.m.Stride < 0 || x.name == "C" && p.Batch > 1 && x.m.Stride < (rows-1)*x.m.Leading+cols || x.m.Stride > math.MaxInt64/16/p.Batch {
			return fmt.Errorf("expected a stride of %s from matrix to matrix that is not negative, keeps matrices of C apart and fits 64 bits, but got %d", x.name, x.m.Stride)
		}
		if size := max(x.m.Kind.Bits()/8, 1); uint64(x.m.Ptr)%uint64(size) != 0 {
			return fmt.Errorf("expected %s at an address that is a multiple of %d bytes, but got %#x", x.name, size, uint64(x.m.Ptr))
		}
	}
	return nil
}

// side is an operand as cuBLAS sees it: column by column.
type side struct {
	op          uintptr
	ptr         uintptr
	kind        uintptr
	lead, steps uintptr
}

func (m *Matrix) side(transpose bool) side {
	s := side{op: opN, ptr: uintptr(m.Ptr), kind: dataTypes[m.Kind], lead: uintptr(m.Leading), steps: uintptr(m.Stride)}
	if transpose {
		s.op = opT
	}
	return s
}

// sides are the operands of Cᵀ = B*Aᵀ, (N,K) times (K,M) to (N,M): cuBLAS sees each of the three matrices transposed,
// and so B as (K,N), unless it is Transposed, and A as (K,M).
func (p *Product) sides() (x, y, z side) {
	return p.B.side(!p.B.Transposed), p.A.side(p.A.Transposed), p.C.side(false)
}

func (h *Handle) multiply(p *Product) error {
	f32, s32 := [2]float32{float32(p.Alpha), float32(p.Beta)}, [2]int32{int32(p.Alpha), int32(p.Beta)}
	alpha, beta := unsafe.Pointer(&f32[0]), unsafe.Pointer(&f32[1])
	compute := computes[p.A.Kind]
	if compute == compute32I {
		alpha, beta = unsafe.Pointer(&s32[0]), unsafe.Pointer(&s32[1])
	}
	m, n, k := uintptr(p.M), uintptr(p.N), uintptr(p.K)
	x, y, z := p.sides()
	if p.Batch == 1 {
		return h.call("cublasGemmEx", h.lib.gemmEx, h.h, x.op, y.op, n, m, k, uintptr(alpha), x.ptr, x.kind, x.lead,
			y.ptr, y.kind, y.lead, uintptr(beta), z.ptr, z.kind, z.lead, compute, gemmDefault)
	}
	return h.call("cublasGemmStridedBatchedEx", h.lib.gemmBatched, h.h, x.op, y.op, n, m, k,
		uintptr(alpha), x.ptr, x.kind, x.lead, x.steps, y.ptr, y.kind, y.lead, y.steps,
		uintptr(beta), z.ptr, z.kind, z.lead, z.steps, uintptr(p.Batch), compute, gemmDefault)
}
