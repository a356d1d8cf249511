package cublas

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/cuda"
	"github.com/gocute/gocute/elem"
)

// at is where a matrix has its element of a row and a column, by the meaning of Matrix.
func (m *Matrix) at(batch, row, col int) int {
	if m.Transposed {
		row, col = col, row
	}
	return batch*m.Stride + row*m.Leading + col
}

// take is where BLAS finds an element of op(X): column by column, transposed or not.
func (s side) take(batch, row, col int) int {
	if s.op == opT {
		row, col = col, row
	}
	return batch*int(s.steps) + col*int(s.lead) + row
}

// TestSides: what cuBLAS is asked for is the product, element by element, for all layouts.
func TestSides(t *testing.T) {
	for layout := range 4 {
		p := Product{M: 5, N: 3, K: 7, Batch: 2, A: Matrix{Kind: elem.KF16, Ptr: 4, Transposed: layout&1 != 0, Leading: 9},
			B: Matrix{Kind: elem.KF16, Ptr: 8, Transposed: layout&2 != 0}, C: Matrix{Kind: elem.KF32, Ptr: 12, Leading: 4, Stride: 40}}
		require.NoError(t, p.complete())
		x, y, z := p.sides()
		require.Equal(t, []uintptr{8, 4, 12}, []uintptr{x.ptr, y.ptr, z.ptr})
		for i := range p.Batch * p.M * p.N * p.K {
			b, m, n, k := i%p.Batch, i/p.Batch%p.M, i/(p.Batch*p.M)%p.N, i/(p.Batch*p.M*p.N)
			require.Equal(t, p.B.at(b, n, k), x.take(b, n, k), "B of layout %d", layout)
			require.Equal(t, p.A.at(b, m, k), y.take(b, k, m), "A of layout %d", layout)
			require.Equal(t, p.C.at(b, m, n), z.take(b, n, m), "C of layout %d", layout)
		}
	}
}

func TestProductRefusals(t *testing.T) {
	f16, f32, s8 := Matrix{Kind: elem.KF16, Ptr: 4}, Matrix{Kind: elem.KF32, Ptr: 4}, Matrix{Kind: elem.KS8, Ptr: 4}
	for want, p := range map[string]Product{
		"expected positive extents":                              {M: 4, N: 4, A: f16, B: f16, C: f32},
		"expected A and B of one type":                           {M: 4, N: 4, K: 4, A: f16, B: f32, C: f32},
		"expected C row by row":                                  {M: 4, N: 4, K: 4, A: f16, B: f16, C: Matrix{Kind: elem.KF32, Ptr: 4, Transposed: true}},
		"or of s32 for s8, but got f32 for s8":                   {M: 4, N: 4, K: 4, A: s8, B: s8, C: f32},
		"expected whole numbers alpha and beta for s8":           {M: 4, N: 4, K: 4, A: s8, B: s8, C: Matrix{Kind: elem.KS32, Ptr: 4}, Alpha: 0.5},
		"expected A in memory with at least 8 elements from row": {M: 4, N: 4, K: 8, A: Matrix{Kind: elem.KF16, Ptr: 4, Leading: 7}, B: f16, C: f32},
	} {
		require.ErrorContains(t, p.complete(), want)
	}
	require.ErrorIs(t, (&Handle{}).Multiply(Product{}), cuda.ErrClosed)
}

// multiplied runs a batch of products of random matrices with gaps and compares.
func multiplied[I, O elem.Any](t *testing.T, h *Handle, p Product, tolerance float64) {
	t.Helper()
	p.A.Kind, p.B.Kind, p.C.Kind = elem.KindOf[I](), elem.KindOf[I](), elem.KindOf[O]()
	p.A.Ptr, p.B.Ptr, p.C.Ptr = 4, 4, 4
	require.NoError(t, p.complete())
	values := func(m *Matrix) []float64 {
		out := make([]float64, p.Batch*m.Stride)
		for i := range out {
			out[i] = float64(i*7919%61-30) / 32 // exact in every type but s8, for which they become -1, 0 and 1
		}
		return out
	}
	ha, hb, hc := elem.FromFloat64s[I](values(&p.A)), elem.FromFloat64s[I](values(&p.B)), elem.FromFloat64s[O](values(&p.C))
	a, err := cuda.FromHost(h.dev, ha)
	require.NoError(t, err)
	b, err := cuda.FromHost(h.dev, hb)
	require.NoError(t, err)
	c, err := cuda.FromHost(h.dev, hc)
	require.NoError(t, err)
	p.A.Ptr, p.B.Ptr, p.C.Ptr = a.Ptr(), b.Ptr(), c.Ptr()
	require.NoError(t, h.Multiply(p))
	got, err := c.Host()
	require.NoError(t, err)
	fa, fb, old := elem.ToFloat64s(ha), elem.ToFloat64s(hb), elem.ToFloat64s(hc)
	for i := range p.Batch * p.M * p.N {
		l, m, n := i/(p.M*p.N), i/p.N%p.M, i%p.N
		at, want := p.C.at(l, m, n), 0.0
		for k := range p.K {
			want += fa[p.A.at(l, m, k)] * fb[p.B.at(l, n, k)]
		}
		want = p.Alpha*want + p.Beta*old[at]
		require.InDelta(t, want, elem.ToFloat64(got[at]), tolerance*math.Sqrt(float64(p.K)), "C[%d,%d,%d]", l, m, n)
	}
	require.NoError(t, errors.Join(a.Free(), b.Free(), c.Free()))
}

func TestGPUMultiply(t *testing.T) {
	h := handle(t)
	for layout := range 4 {
		p := Product{M: 64, N: 96, K: 128, Alpha: 1, Beta: 2, A: Matrix{Transposed: layout&1 != 0, Leading: 136},
			B: Matrix{Transposed: layout&2 != 0}, C: Matrix{Leading: 104}}
		for _, batch := range []int{1, 3} {
			p.Batch = batch
			multiplied[elem.F16, elem.F32](t, h, p, 1e-5)
			multiplied[elem.BF16, elem.BF16](t, h, p, 4e-2)
			multiplied[elem.TF32, elem.F32](t, h, p, 1e-5)
		}
	}
	multiplied[elem.S8, elem.S32](t, h, Product{M: 64, N: 96, K: 128, Alpha: 3, Beta: -1}, 0)
}

// TestContract: every exported method, on a nil and an empty Handle, answers with an error if it has one, and so do the
// functions on what they cannot use.
func TestContract(t *testing.T) {
	for _, h := range []*Handle{nil, {}} {
		v := reflect.ValueOf(h)
		for i := range v.NumMethod() {
			name := v.Type().Method(i).Name
			var args, out []reflect.Value
			for j := range v.Method(i).Type().NumIn() {
				args = append(args, reflect.Zero(v.Method(i).Type().In(j)))
			}
			require.NotPanics(t, func() { out = v.Method(i).Call(args) }, name)
			if last := out[len(out)-1]; name != "Destroy" && last.Type() == reflect.TypeFor[error]() {
				require.False(t, last.IsNil(), name)
			}
		}
		require.Error(t, Gemm[elem.F16, elem.F32](h, 1, 1, 1, 1, nil, nil, 0, nil))
	}
	for _, d := range []*cuda.Device{nil, {}} {
		_, err := Create(d)
		require.ErrorContains(t, err, "Create expects a device")
	}
	none := &Handle{h: 1, dev: &cuda.Device{}} // reaches the checks of arguments, and no driver
	require.ErrorContains(t, Gemm[elem.F16, elem.F32](none, 1<<32+1, 1, 1, 1, nil, nil, 0, nil), "extents of 1 to 2147483647, but got M=4294967297")
	require.ErrorContains(t, Gemm[elem.F16, elem.F32](none, 1, 1, 1, 1, nil, nil, 0, nil), "Gemm: A: cuda: use expects a buffer from Alloc, but got nil")
	good := func() Product {
		return Product{M: 4, N: 4, K: 4, A: Matrix{Kind: elem.KF16, Ptr: 4}, B: Matrix{Kind: elem.KF16, Ptr: 4}, C: Matrix{Kind: elem.KF32, Ptr: 4}}
	}
	for want, change := range map[string]func(p *Product){
		"extents of at most 2147483647":                              func(p *Product) { p.M = 1<<32 + 4 },
		"and a batch of 2147483648":                                  func(p *Product) { p.Batch = 1 << 31 },
		"row to row and at most 2147483647, but got 4294967300":      func(p *Product) { p.B.Leading = 1<<32 + 4 },
		"a stride of A":                                              func(p *Product) { p.A.Stride = -4 },
		"keeps matrices of C apart":                                  func(p *Product) { p.Batch, p.C.Stride = 2, 8 },
		"alpha and beta of 32 bits":                                  func(p *Product) { p.Alpha = 1e300 },
		"C at an address that is a multiple of 4 bytes, but got 0x6": func(p *Product) { p.C.Ptr = 6 },
	} {
		p := good()
		require.NoError(t, p.complete())
		p = good()
		change(&p)
		require.ErrorContains(t, p.complete(), want)
	}
}
