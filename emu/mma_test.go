package emu

import (
	"fmt"
	"math"
	"testing"

	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
	"github.com/stretchr/testify/require"
)

// The lane formulas as the PTX ISA prints them, one function an operand of a shape: element i of a lane lies at
// the given row and column. g is groupID, t is threadID_in_group.
type lanePlace func(g, t, i int) (row, col int)

func iff(c bool, yes, no int) int {
	if c {
		return yes
	}
	return no
}

var (
	cFour = func(g, t, i int) (int, int) { return iff(i < 2, g, g+8), t*2 + i&1 } // c0..c3, m16
	cTwo  = func(g, t, i int) (int, int) { return g, t*2 + i&1 }                  // c0, c1, m8
)

var isaFormulas = map[string][3]lanePlace{ // by shape and bits of A: A, B, C
	"m16n8k8/16": {
		func(g, t, i int) (int, int) { return iff(i < 2, g, g+8), t*2 + i&1 },
		func(g, t, i int) (int, int) { return t*2 + i, g }, cFour},
	"m16n8k16/16": {
		func(g, t, i int) (int, int) {
			return iff(i < 2 || i >= 4 && i < 6, g, g+8), iff(i < 4, t*2+i&1, t*2+i&1+8)
		},
		func(g, t, i int) (int, int) { return iff(i < 2, t*2+i&1, t*2+i&1+8), g }, cFour},
	"m16n8k4/32": {
		func(g, t, i int) (int, int) { return iff(i == 0, g, g+8), t },
		func(g, t, i int) (int, int) { return t, g }, cFour},
	"m16n8k8/32": {
		func(g, t, i int) (int, int) { return iff(i == 0 || i == 2, g, g+8), iff(i < 2, t, t+4) },
		func(g, t, i int) (int, int) { return iff(i == 0, t, t+4), g }, cFour},
	"m8n8k4/64": {
		func(g, t, i int) (int, int) { return g, t },
		func(g, t, i int) (int, int) { return t, g }, cTwo},
	"m16n8k4/64": {
		func(g, t, i int) (int, int) { return iff(i == 0, g, g+8), t },
		func(g, t, i int) (int, int) { return t, g }, cFour},
	"m16n8k8/64": {
		func(g, t, i int) (int, int) { return iff(i == 0 || i == 2, g, g+8), iff(i < 2, t, t+4) },
		func(g, t, i int) (int, int) { return iff(i == 0, t, t+4), g }, cFour},
	"m16n8k16/64": {
		func(g, t, i int) (int, int) { return iff(i%2 == 0, g, g+8), iff(i%2 == 0, i*2+t, i*2-2+t) },
		func(g, t, i int) (int, int) { return t + i*4, g }, cFour},
	"m8n8k16/8": {
		func(g, t, i int) (int, int) { return g, t*4 + i },
		func(g, t, i int) (int, int) { return t*4 + i, g }, cTwo},
	"m16n8k16/8": {
		func(g, t, i int) (int, int) { return iff(i < 4, g, g+8), t*4 + i&3 },
		func(g, t, i int) (int, int) { return t*4 + i, g }, cFour},
	"m16n8k32/8": {
		func(g, t, i int) (int, int) {
			return iff(i < 4 || i >= 8 && i < 12, g, g+8), iff(i < 8, t*4+i&3, t*4+i&3+16)
		},
		func(g, t, i int) (int, int) { return iff(i < 4, t*4+i&3, t*4+i&3+16), g }, cFour},
	"m8n8k32/4": {
		func(g, t, i int) (int, int) { return g, t*8 + i },
		func(g, t, i int) (int, int) { return t*8 + i, g }, cTwo},
	"m16n8k32/4": {
		func(g, t, i int) (int, int) { return iff(i < 8, g, g+8), t*8 + i&7 },
		func(g, t, i int) (int, int) { return t*8 + i, g }, cFour},
	"m16n8k64/4": {
		func(g, t, i int) (int, int) {
			return iff(i < 8 || i >= 16 && i < 24, g, g+8), iff(i < 16, t*8+i&7, t*8+i&7+32)
		},
		func(g, t, i int) (int, int) { return iff(i < 8, t*8+i&7, t*8+i&7+32), g }, cFour},
}

// operandTest loads and stores one operand by a table of the lanes' indices, which lies in global memory order:
// element i of lane l of the register array comes from cell l*count+i.
func (m *maker) operandTest(body *[]cir.Stmt, mem *cir.Mem, count, per int) (*cir.Reg, []cir.RegRef) {
	r := m.reg(body, "r"+mem.Name, mem.Elem, count)
	var refs []cir.RegRef
	for i := 0; i < count; i += per {
		refs = append(refs, ref(r, i, per))
		*body = append(*body, cir.Load{Pos: m.at(), Dst: ref(r, i, per), Src: addr(mem, tid.Mul(n(count)).Add(n(i)))})
	}
	return r, refs
}

// byLane lays a matrix out as operandTest reads it.
func byLane(xs []float64, cols, count int, at lanePlace) []float64 {
	out := make([]float64, count*32)
	for i := range count {
		for l := range 32 {
			row, col := at(l>>2, l%4, i)
			out[l*count+i] = xs[row*cols+col]
		}
	}
	return out
}

func TestEveryMMA(t *testing.T) {
	require.Len(t, mmaTable, 2+2+2+2+4+3*4+3*4)
	for ptx, s := range mmaTable {
		t.Run(ptx, func(t *testing.T) {
			f, ok := isaFormulas[fmt.Sprintf("m%dn%dk%d/%d", s.m, s.n, s.k, s.a.Bits())]
			require.True(t, ok)
			m := newMaker("mma", 32)
			nA, nB, nC := s.m*s.k/32, s.k*s.n/32, s.m*s.n/32
			A, B := m.global("A", s.a, n(nA*32), "r"), m.global("B", s.b, n(nB*32), "r")
			C, D := m.global("C", s.c, n(nC*32), "r"), m.global("D", s.d, n(nC*32), "w")
			var body []cir.Stmt
			_, ra := m.operandTest(&body, A, nA, inRegister(s.a))
			_, rb := m.operandTest(&body, B, nB, inRegister(s.b))
			rC, rc := m.operandTest(&body, C, nC, inRegister(s.c))
			body = append(body, cir.MMAStmt{Pos: m.at(), Op: mmaOp(ptx), D: rc, C: rc, A: ra, B: rb})
			for i := range nC {
				body = append(body, cir.StoreValue{Pos: m.at(), Dst: addr(D, tid.Mul(n(nC)).Add(n(i))), Value: cir.RegElem{Ref: ref(rC, i, 1)}})
			}
			m.k.Body = body
			a, b, c := ints(s.m*s.k, 3), ints(s.k*s.n, 4), ints(s.m*s.n, 5)
			clampTo(a, s.a)
			clampTo(b, s.b)
			args := Args{
				"A": BufferFromFloat64s(s.a, byLane(a, s.k, nA, f[0])), "B": BufferFromFloat64s(s.b, byLane(b, s.n, nB, f[1])),
				"C": BufferFromFloat64s(s.c, byLane(c, s.n, nC, f[2])), "D": NewBuffer(s.d, nC*32)}
			rep := run(t, m.k, args, Options{})
			require.NoError(t, rep.Err())
			require.Empty(t, rep.Unwritten)
			want := make([]float64, s.m*s.n)
			for i := range s.m {
				for j := range s.n {
					want[i*s.n+j] = c[i*s.n+j]
					for k := range s.k {
						want[i*s.n+j] += a[i*s.k+k] * b[k*s.n+j]
					}
				}
			}
			require.Equal(t, byLane(want, s.n, nC, f[2]), args["D"].(*Buffer).Float64s())
		})
	}
}

func clampTo(xs []float64, k elem.Kind) {
	for i, x := range xs {
		if !k.IsSigned() {
			xs[i] = math.Abs(x)
		}
	}
}

func TestUnknownInstructions(t *testing.T) {
	m := newMaker("mma", 32)
	m.k.Body = []cir.Stmt{cir.MMAStmt{Pos: m.at(), Op: mmaOp("mma.sync.aligned.m8n8k99.row.col.f16.f16.f16.f16")}}
	_, err := Run(t.Context(), m.k, nil, Options{})
	var kernel *KernelError
	require.ErrorAs(t, err, &kernel)
	require.EqualError(t, err, "internal error: emu: k.go:1: mma: instruction mma.sync.aligned.m8n8k99.row.col.f16.f16.f16.f16 cannot be emulated")
}

func TestMMAWithoutAllLanes(t *testing.T) {
	m := newMaker("mma", 32)
	var body []cir.Stmt
	r := m.reg(&body, "r", elem.KF64, 4)
	m.mark("mma")
	one := []cir.RegRef{ref(r, 0, 1)}
	two := []cir.RegRef{ref(r, 2, 1), ref(r, 3, 1)}
	mma := cir.MMAStmt{Pos: m.at(), Op: mmaOp("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64"), D: two, C: two, A: one, B: one}
	m.k.Body = append(body, cir.Fill{Pos: m.at(), Reg: r}, cir.If{Pos: m.at(), Cond: lt(tid, n(31)), Then: []cir.Stmt{mma}})
	m.wantOnly(t, run(t, m.k, nil, Options{}), "mma", Divergent)
}

// TestLdMatrix checks every form against the ISA's picture: matrix m's rows are at the addresses of lanes 8m to 8m+7.
func TestLdMatrix(t *testing.T) {
	for _, trans := range []bool{false, true} {
		for _, x := range []int{1, 2, 4} {
			for _, kind := range []elem.Kind{elem.KU16, elem.KU8, elem.KU32} {
				if trans && kind == elem.KU32 {
					continue // halves of an element: no number to compare
				}
				t.Run(fmt.Sprintf("x%d trans=%v %s", x, trans, kind), func(t *testing.T) { testLdMatrix(t, x, trans, kind) })
			}
		}
	}
}

func testLdMatrix(t *testing.T, x int, trans bool, kind elem.Kind) {
	per := 128 / kind.Bits() // elements a row
	m := newMaker("ldsm", 32)
	in := m.global("in", kind, n(32*per), "r")
	out := m.global("out", kind, n(x*32*per/4), "w")
	s := m.shared("s", kind, 32*per)
	var body []cir.Stmt
	r := m.reg(&body, "r", kind, x*per/4)
	tmp := m.reg(&body, "tmp", kind, per)
	body = append(body, cir.Load{Pos: m.at(), Dst: ref(tmp, 0, per), Src: addr(in, tid.Mul(n(per)))},
		cir.Store{Pos: m.at(), Dst: addr(s, tid.Mul(n(per))), Src: ref(tmp, 0, per)}, cir.Barrier{Pos: m.at()})
	op := &cir.Op{PTX: fmt.Sprintf("ldmatrix.sync.aligned.x%d.m8n8.shared.b16", x), Class: cir.LdMatrix}
	if trans {
		op.PTX = fmt.Sprintf("ldmatrix.sync.aligned.m8n8.x%d.trans.shared.b16", x)
	}
	var dst []cir.RegRef
	for i := range x {
		dst = append(dst, ref(r, i*per/4, per/4))
	}
	// Lane l gives row (l+5)%32 of the memory, so that addresses and lanes differ.
	row := tid.Add(n(5)).Mod(n(32))
	body = append(body, cir.LdMatrixStmt{Pos: m.at(), Op: op, Dst: dst, Src: addr(s, row.Mul(n(per)))},
		cir.Store{Pos: m.at(), Dst: addr(out, tid.Mul(n(per/4))), Src: ref(r, 0, per/4)})
	for i := 1; i < x; i++ {
		body = append(body, cir.Store{Pos: m.at(), Dst: addr(out, n(i*32).Add(tid).Mul(n(per/4))), Src: ref(r, i*per/4, per/4)})
	}
	m.k.Body = body
	buf := NewBuffer(kind, 32*per)
	for i := range buf.Cells {
		buf.Cells[i] = uint64(i*7919+13) & (1<<kind.Bits() - 1)
	}
	args := Args{"in": buf, "out": NewBuffer(kind, x*32*per/4)}
	require.NoError(t, run(t, m.k, args, Options{}).Err())
	raw, got := buf.Bytes(), args["out"].(*Buffer).Bytes()
	half := func(row, col int) [2]byte { at := row*16 + col*2; return [2]byte{raw[at], raw[at+1]} }
	for i := range x {
		for l := range 32 {
			for h := range 2 {
				r, c := l/4, l%4*2+h
				if trans {
					r, c = c, r
				}
				at := (i*32+l)*4 + h*2
				require.Equal(t, half((8*i+r+5)%32, c), [2]byte{got[at], got[at+1]}, "matrix %d lane %d half %d", i, l, h)
			}
		}
	}
}

// TestFMAOnce compares with sums whose second rounding would be wrong.
func TestFMAOnce(t *testing.T) {
	m := newMaker("fma", 32)
	x, y, z := m.global("x", elem.KF32, n(32), "r"), m.global("y", elem.KF32, n(32), "r"), m.global("z", elem.KF32, n(32), "r")
	out := m.global("out", elem.KF32, n(32), "w")
	at := func(mem *cir.Mem) cir.Value { return cir.MemElem{Addr: addr(mem, tid)} }
	m.k.Body = []cir.Stmt{cir.StoreValue{Pos: m.at(), Dst: addr(out, tid), Value: cir.FMA{X: at(x), Y: at(y), Z: at(z)}}}
	var xs, ys, zs []elem.F32
	for i := range 32 {
		xs = append(xs, elem.F32(1+float32(i)*0x1p-23))
		ys = append(ys, elem.F32(1-float32(i)*0x1p-24))
		zs = append(zs, elem.F32(math.Ldexp(1, -24-i)*float64(1-i&1*2)))
	}
	args := Args{"x": BufferOf(xs), "y": BufferOf(ys), "z": BufferOf(zs), "out": NewBuffer(elem.KF32, 32)}
	require.NoError(t, run(t, m.k, args, Options{}).Err())
	for i, got := range args["out"].(*Buffer).Float64s() {
		want := exactFMA(float64(xs[i]), float64(ys[i]), float64(zs[i]))
		require.Equal(t, want, float32(got), "%d", i)
	}
}
