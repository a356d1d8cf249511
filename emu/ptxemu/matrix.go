package ptxemu

import (
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/emu/machine"
	"github.com/gocute/gocute/ptx"
)

var _ = register(map[string]func(c *compiler) (run, error){
	"ldmatrix.sync": (*compiler).loadMatrix, "stmatrix.sync": (*compiler).storeMatrix, "mma.sync": (*compiler).mma,
})

// matrices reads the modifiers of ldmatrix and stmatrix: how many 8x8 matrices of 16 bits, and whether transposed.
func (c *compiler) matrices() (n int, trans bool, err error) {
	for _, w := range c.in.Words[2:] {
		switch w {
		case "aligned", "m8n8", "shared", "shared::cta", "b16":
		case "x1", "x2", "x4":
			n = int(w[1] - '0')
		case "trans":
			trans = true
		default:
			return 0, false, fmt.Errorf("the modifier .%s is not supported", w)
		}
	}
	if n == 0 {
		return 0, false, fmt.Errorf("expected .x1, .x2 or .x4")
	}
	return n, trans, nil
}

func (c *compiler) registers(o *ptx.Operand, n int) ([]int, error) {
	l := list(o)
	if len(l) != n {
		return nil, fmt.Errorf("expected %d registers, but got %d", n, len(l))
	}
	out := make([]int, n)
	for i := range l {
		r, err := c.register(&l[i])
		if err != nil {
			return nil, err
		}
		out[i] = r
	}
	return out, nil
}

// loadMatrix compiles ldmatrix. Lane i of the first 8 gives the address of row i of the first matrix, and so on; of row r,
// lanes 4r to 4r+3 get a pair each, or, transposed, what they would get of the transposed matrix.
func (c *compiler) loadMatrix() (run, error) {
	n, trans, err := c.matrices()
	if err != nil {
		return nil, err
	}
	if err := c.args(2); err != nil {
		return nil, err
	}
	to, err := c.registers(&c.in.Args[0], n)
	if err != nil {
		return nil, err
	}
	from, err := c.barrier(&c.in.Args[1])
	if err != nil {
		return nil, err
	}
	pc := c.pc
	return func(w *warp, mask uint32) outcome {
		if o, ok := w.all(mask, c.in.Op); !ok {
			return o
		}
		var at lanes
		from.of(w, mask, &at)
		for i := range 8 * n {
			if at[i]%16 != 0 {
				w.b.Report(machine.Misaligned, w.thread(i), pc, fmt.Sprintf("gives the address %#x of a row, which is no multiple of 16", at[i]))
			}
		}
		w.b.Begin()
		for l := range 32 {
			for i, r := range to {
				var v uint64
				for h := range 2 {
					row, col := l/4, 2*(l%4)+h
					if trans {
						row, col = col, row
					}
					w.b.Load(w.thread(l), pc, machine.Shared, at[8*i+row]+uint64(2*col), 2, machine.Order{}, w.buf[:2])
					v |= little(w.buf[:2]) << (16 * h)
				}
				w.regs[r][l] = v
			}
		}
		for _, r := range to {
			w.wrote[r] |= mask
		}
		return outcome{}
	}, nil
}

// storeMatrix compiles stmatrix, which is ldmatrix backwards.
func (c *compiler) storeMatrix() (run, error) {
	n, trans, err := c.matrices()
	if err != nil {
		return nil, err
	}
	if err := c.args(2); err != nil {
		return nil, err
	}
	to, err := c.barrier(&c.in.Args[0])
	if err != nil {
		return nil, err
	}
	from := list(&c.in.Args[1])
	if len(from) != n {
		return nil, fmt.Errorf("expected %d registers, but got %d", n, len(from))
	}
	values := make([]source, n)
	for i := range from {
		if values[i], err = c.value(&from[i], 32); err != nil {
			return nil, err
		}
	}
	pc := c.pc
	return func(w *warp, mask uint32) outcome {
		if o, ok := w.all(mask, c.in.Op); !ok {
			return o
		}
		var at lanes
		to.of(w, mask, &at)
		for l := range 32 {
			for i, f := range values {
				v := f(w)[l]
				for h := range 2 {
					row, col := l/4, 2*(l%4)+h
					if trans {
						row, col = col, row
					}
					put(w.buf[:2], v>>(16*h))
					w.b.Store(w.thread(l), pc, machine.Shared, at[8*i+row]+uint64(2*col), 2, machine.Order{}, w.buf[:2])
				}
			}
		}
		return outcome{}
	}, nil
}

// kinds are elements by their names in PTX.
var kinds = map[string]elem.Kind{"f16": elem.KF16, "bf16": elem.KBF16, "tf32": elem.KTF32, "f32": elem.KF32, "f64": elem.KF64,
	"s8": elem.KS8, "u8": elem.KU8, "s32": elem.KS32, "e4m3": elem.KE4M3, "e5m2": elem.KE5M2}

// mmaShapes are the extents of mma.sync by the bits of A's elements: M, N, K.
var mmaShapes = map[int][][3]int{
	16: {{16, 8, 8}, {16, 8, 16}}, 32: {{16, 8, 4}, {16, 8, 8}}, 8: {{8, 8, 16}, {16, 8, 16}, {16, 8, 32}}, 64: {{8, 8, 4}, {16, 8, 4}, {16, 8, 8}, {16, 8, 16}},
}

// mma compiles mma.sync D, A, B, C: dense, row by col. Products are exact; a floating-point result is C and the products
// added in float64 in order of k and rounded once, f64 a chain of fused multiply-adds; integers wrap or saturate.
func (c *compiler) mma() (run, error) {
	var m, n, k int
	var types []elem.Kind
	clamp := false
	for _, word := range c.in.Words[2:] {
		kind, isKind := kinds[word]
		switch {
		case word == "aligned", word == "row", word == "col", word == "rn":
		case word == "satfinite":
			clamp = true
		case isKind:
			types = append(types, kind)
		case strings.HasPrefix(word, "m"):
			if _, err := fmt.Sscanf(word, "m%dn%dk%d", &m, &n, &k); err != nil {
				return nil, fmt.Errorf("the modifier .%s is not supported", word)
			}
		default:
			return nil, fmt.Errorf("the modifier .%s is not supported", word)
		}
	}
	if len(types) != 4 || !strings.Contains(c.in.Op, ".row.col.") {
		return nil, fmt.Errorf("expected the types of D, A, B and C, of rows by columns")
	}
	if err := c.args(4); err != nil {
		return nil, err
	}
	x := &product{m: m, n: n, k: k, d: types[0], a: types[1], b: types[2], c: types[3], clamp: clamp}
	known := false
	for _, s := range mmaShapes[x.a.Bits()] {
		known = known || s == [3]int{m, n, k}
	}
	if !known || x.b.Bits() != x.a.Bits() {
		return nil, fmt.Errorf("an MMA of m%dn%dk%d of %s is not supported", m, n, k, x.a)
	}
	var in [3][]source
	for i, want := range []int{x.regs(x.a, m*k), x.regs(x.b, k*n), x.regs(x.c, m*n)} {
		l := list(&c.in.Args[i+1])
		if len(l) != want {
			return nil, fmt.Errorf("operand %d: expected %d registers, but got %d", i+2, want, len(l))
		}
		for j := range l {
			v, err := c.value(&l[j], 64)
			if err != nil {
				return nil, err
			}
			in[i] = append(in[i], v)
		}
	}
	to, err := c.registers(&c.in.Args[0], x.regs(x.d, m*n))
	if err != nil {
		return nil, err
	}
	return func(w *warp, mask uint32) outcome {
		if o, ok := w.all(mask, c.in.Op); !ok {
			return o
		}
		a, b, d := w.matrix(0, m*k), w.matrix(1, k*n), w.matrix(2, m*n)
		x.gather(w, in[0], x.a, a, x.placeA, k)
		x.gather(w, in[1], x.b, b, x.placeB, k)
		x.gather(w, in[2], x.c, d, x.placeC, n)
		x.multiply(a, b, d)
		x.scatter(w, to, d)
		for _, r := range to {
			w.wrote[r] |= mask
		}
		return outcome{}
	}, nil
}

// product is the shape of a product D (m,n) = A (m,k) B (k,n) + C.
type product struct {
	m, n, k    int
	d, a, b, c elem.Kind
	clamp      bool
}

// regs is how many registers a lane has of so many elements.
func (x *product) regs(k elem.Kind, elements int) int {
	if k == elem.KF64 {
		return elements / 32
	}
	return elements * k.Bits() / 32 / 32
}

// per is how many elements a register has.
func per(k elem.Kind) int { return max(1, 32/k.Bits()) }

// placeA is the row and column of A that element i of a lane's register r is: PTX ISA, "Matrix Fragments for mma".
func (x *product) placeA(lane, r, i int) (int, int) {
	p := per(x.a)
	if x.m == 8 {
		return lane / 4, lane%4*p + i
	}
	return lane/4 + 8*(r&1), lane%4*p + i + r>>1*4*p
}

// placeB is column n and row k of B.
func (x *product) placeB(lane, r, i int) (int, int) {
	p := per(x.b)
	return lane / 4, lane%4*p + i + r*4*p
}

// placeC is the row and column of C or D, of which a lane has pairs of neighbours.
func (x *product) placeC(lane, r, i int) (int, int) {
	e := r*per(x.c) + i
	return lane/4 + 8*(e>>1), lane%4*2 + e&1
}

// gather puts the registers' elements into a matrix of rows of so many.
func (x *product) gather(w *warp, from []source, k elem.Kind, to []float64, place func(lane, r, i int) (int, int), row int) {
	p := per(k)
	for r, f := range from {
		v := f(w)
		for l := range 32 {
			for i := range p {
				y, z := place(l, r, i)
				to[y*row+z] = number(k, v[l]>>(i*k.Bits()))
			}
		}
	}
}

// number is an element's value. A tf32 is the upper 19 bits of its word.
func number(k elem.Kind, v uint64) float64 {
	switch k {
	case elem.KF32:
		return float64(math.Float32frombits(uint32(v)))
	case elem.KTF32:
		return float64(math.Float32frombits(uint32(v) &^ 0x1fff))
	case elem.KF64:
		return math.Float64frombits(v)
	case elem.KS32:
		return float64(int32(v))
	case elem.KS8:
		return float64(int8(v))
	case elem.KU8:
		return float64(uint8(v))
	case elem.KF16:
		return halfValue(uint16(v))
	case elem.KBF16:
		return float64(math.Float32frombits(uint32(v) << 16))
	}
	return elem.Decode(k, truncate(v, k.Bits()))
}

// multiply adds A B to D. B is stored by columns.
func (x *product) multiply(a, b, d []float64) {
	for i := range x.m {
		row := a[i*x.k : (i+1)*x.k]
		for j := range x.n {
			col, sum := b[j*x.k:(j+1)*x.k], d[i*x.n+j]
			if x.d == elem.KF64 {
				for e, v := range row {
					sum = math.FMA(v, col[e], sum)
				}
			} else {
				for e, v := range row {
					sum += v * col[e]
				}
			}
			if x.clamp {
				sum = min(max(sum, math.MinInt32), math.MaxInt32)
			}
			d[i*x.n+j] = sum
		}
	}
}

// encode rounds a result to its kind; integers wrap.
func encode(k elem.Kind, v float64) uint64 {
	switch k {
	case elem.KF32:
		return uint64(math.Float32bits(float32(v)))
	case elem.KF64:
		return math.Float64bits(v)
	case elem.KS32:
		return uint64(uint32(int64(v)))
	}
	return elem.Encode(k, v)
}

// scatter puts D into registers.
func (x *product) scatter(w *warp, to []int, d []float64) {
	p := per(x.d)
	for r, reg := range to {
		for l := range 32 {
			var v uint64
			for i := range p {
				e := r*p + i
				y, z := l/4+8*(e>>1), l%4*2+e&1
				v |= encode(x.d, d[y*x.n+z]) << (i * x.d.Bits())
			}
			w.regs[reg][l] = v
		}
	}
}

// matrix is scratch memory for operand i.
func (w *warp) matrix(i, n int) []float64 {
	if len(w.mats[i]) < n {
		w.mats[i] = make([]float64, n)
	}
	return w.mats[i][:n]
}

// halves has the value of every f16. It is computed at its first use.
var halves = sync.OnceValue(func() *[1 << 16]float64 {
	t := new([1 << 16]float64)
	for i := range t {
		t[i] = elem.Decode(elem.KF16, uint64(i))
	}
	return t
})

func halfValue(v uint16) float64 { return halves()[v] }
