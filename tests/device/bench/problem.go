package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gocute/gocute/cuda"
	"github.com/gocute/gocute/cuda/cublas"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/tests/device"
)

// size is the extents of a product, or of each of a batch of more than one.
type size struct{ m, n, k, batch int }

// String is MxNxK, or one number for a cube, after the batch and a star where it is one.
func (s size) String() string {
	text := fmt.Sprintf("%dx%dx%d", s.m, s.n, s.k)
	if s.m == s.n && s.n == s.k {
		text = strconv.Itoa(s.m)
	}
	if s.batch > 1 {
		return fmt.Sprintf("%d*%s", s.batch, text)
	}
	return text
}

// flops are the operations of the product.
func (s size) flops() float64 {
	return 2 * float64(s.batch) * float64(s.m) * float64(s.n) * float64(s.k)
}

// parseSizes reads a list such as 1024,16x4096x4096,64*512.
func parseSizes(list string) ([]size, error) {
	var out []size
	for text := range strings.SplitSeq(list, ",") {
		var x [3]int
		number, extents, batched := strings.Cut(strings.TrimSpace(text), "*")
		batch := 1
		if batched {
			var err error
			if batch, err = strconv.Atoi(number); err != nil || batch < 1 {
				return nil, fmt.Errorf("expected the number of products before a star, but got %q", text)
			}
		} else {
			extents = number
		}
		parts := strings.Split(extents, "x")
		if len(parts) == 1 {
			parts = []string{parts[0], parts[0], parts[0]}
		}
		for i, p := range parts {
			n, err := strconv.Atoi(p)
			if err != nil || n < 1 || len(parts) != 3 {
				return nil, fmt.Errorf("expected sizes as MxNxK, or one number for a cube, but got %q", text)
			}
			x[i] = n
		}
		out = append(out, size{x[0], x[1], x[2], batch})
	}
	return out, nil
}

// product is what candidates are compared at: the element types and the layout of the operands, in BLAS's letters. A is T
// and B is N where they are K-major.
type product struct {
	in, out elem.Kind
	layout  string
}

// types names the element types, such as f16-f32.
func (p product) types() string { return p.in.String() + "-" + p.out.String() }

func (p product) String() string { return p.types() + " " + p.layout }

// set is memory for one product, of which each has several in turn.
type set struct{ a, b, c *cuda.Buffer[elem.U8] }

// bytes are the sizes of A, B and C.
func (p product) bytes(s size) [3]int {
	in, out := p.in.Bits()/8, p.out.Bits()/8
	return [3]int{s.batch * s.m * s.k * in, s.batch * s.n * s.k * in, s.batch * s.m * s.n * out}
}

// gemm describes the product in a set for the reference.
func (p product) gemm(s size, x *set) device.GEMM {
	major := func(rows, cols int, kMajor bool) (row, col int) {
		if kMajor {
			return cols, 1
		}
		return 1, rows
	}
	g := device.GEMM{M: s.m, N: s.n, K: s.k, Batch: s.batch, A: device.Matrix{Kind: p.in, Ptr: x.a.Ptr(), Batch: s.m * s.k},
		B: device.Matrix{Kind: p.in, Ptr: x.b.Ptr(), Batch: s.n * s.k}, C: device.Matrix{Kind: p.out, Ptr: x.c.Ptr(), Row: s.n, Col: 1, Batch: s.m * s.n}}
	g.A.Row, g.A.Col = major(s.m, s.k, p.layout[0] == 'T')
	g.B.Row, g.B.Col = major(s.n, s.k, p.layout[1] == 'N')
	return g
}

// blas describes it for cuBLAS.
func (p product) blas(s size, x *set) cublas.Product {
	return cublas.Product{M: s.m, N: s.n, K: s.k, Batch: s.batch, Alpha: 1,
		A: cublas.Matrix{Kind: p.in, Ptr: x.a.Ptr(), Transposed: p.layout[0] == 'N'},
		B: cublas.Matrix{Kind: p.in, Ptr: x.b.Ptr(), Transposed: p.layout[1] == 'T'},
		C: cublas.Matrix{Kind: p.out, Ptr: x.c.Ptr()}}
}

// tolerance is how far ‖out−ref‖ / ‖ref‖ may be: the rounding of the output, or of sums in f32.
func (p product) tolerance() float64 {
	return map[elem.Kind]float64{elem.KF32: 5e-5, elem.KF16: 1e-3, elem.KBF16: 8e-3, elem.KS32: 0, elem.KS8: 2.5e-2}[p.out]
}

// alpha is 1, but where the results are of 8 bits, for which sums of random data of s8 have to be scaled down: a standard
// deviation of 74² in each product makes about 20 in the result.
func (p product) alpha(s size) float64 {
	if p.out != elem.KS8 {
		return 1
	}
	return math.Ldexp(1, -int(math.Round(math.Log2(74*74*math.Sqrt(float64(s.k))/20))))
}
