package emu

import (
	"math"
	"testing"

	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
	"github.com/stretchr/testify/require"
)

// evaluate computes a value of x and y, buffers of kind k with 32 elements, in each of 32 threads.
func evaluate(t *testing.T, k elem.Kind, xs, ys []float64, value func(x, y cir.Value, p *cir.Param) cir.Value) []float64 {
	t.Helper()
	m := newMaker("value", 32)
	x, y := m.global("x", k, n(32), "r"), m.global("y", k, n(32), "r")
	p := &cir.Param{Name: "p", Class: cir.Scalar, Elem: k}
	m.k.Params = append(m.k.Params, p)
	var body []cir.Stmt
	r := m.reg(&body, "r", k, 1)
	body = append(body, cir.SetReg{Pos: m.at(), Dst: ref(r, 0, 1), Value: cir.MemElem{Addr: addr(y, tid)}})
	v := value(cir.MemElem{Addr: addr(x, tid)}, cir.RegElem{Ref: ref(r, 0, 1)}, p)
	out := m.global("out", v.Kind(), n(32), "w")
	m.k.Body = append(body, cir.StoreValue{Pos: m.at(), Dst: addr(out, tid), Value: v})
	args := Args{"x": BufferFromFloat64s(k, xs), "y": BufferFromFloat64s(k, ys), "p": Scalar(2), "out": NewBuffer(v.Kind(), 32)}
	require.NoError(t, run(t, m.k, args, Options{}).Err())
	return args["out"].(*Buffer).Float64s()
}

func TestFloatOperations(t *testing.T) {
	for _, k := range []elem.Kind{elem.KF16, elem.KBF16, elem.KF32, elem.KF64} {
		round := func(v float64) float64 { return elem.Decode(k, elem.Encode(k, v)) }
		xs, ys := make([]float64, 32), make([]float64, 32)
		for i := range xs {
			xs[i], ys[i] = round(float64(i)*1.37-9.3), round(float64(31-i)*0.77-4.1)
		}
		for op, f := range map[cir.BinaryOp]func(x, y float64) float64{
			cir.AddOp: func(x, y float64) float64 { return x + y }, cir.SubOp: func(x, y float64) float64 { return x - y },
			cir.MulOp: func(x, y float64) float64 { return x * y }, cir.DivOp: func(x, y float64) float64 { return x / y },
			cir.MinOp: math.Min, cir.MaxOp: math.Max,
		} {
			got := evaluate(t, k, xs, ys, func(x, y cir.Value, _ *cir.Param) cir.Value { return cir.Binary{Op: op, X: x, Y: y} })
			for i := range got {
				require.Equal(t, round(f(xs[i], ys[i])), got[i], "%s %s %v %v", k, op, xs[i], ys[i])
			}
		}
		for op, f := range map[cir.UnaryOp]func(x float64) float64{
			cir.NegOp: func(x float64) float64 { return -x }, cir.AbsOp: math.Abs, cir.SqrtOp: math.Sqrt, cir.ExpOp: math.Exp, cir.TanhOp: math.Tanh,
			cir.SigmoidOp: func(x float64) float64 { return 1 / (1 + math.Exp(-x)) },
		} {
			got := evaluate(t, k, xs, ys, func(x, _ cir.Value, _ *cir.Param) cir.Value {
				return cir.Unary{Op: op, X: cir.Unary{Op: cir.AbsOp, X: x}}
			})
			for i := range got {
				require.Equal(t, round(f(math.Abs(xs[i]))), got[i], "%s %s %v", k, op, xs[i])
			}
		}
		got := evaluate(t, k, xs, ys, func(x, y cir.Value, p *cir.Param) cir.Value {
			return cir.Select{Cond: cir.ValCmp{Op: cir.LT, X: x, Y: y}, X: cir.ParamValue{Param: p},
				Y: cir.Select{Cond: lt(tid, n(20)), X: cir.IntValue{Elem: k, Expr: tid}, Y: cir.Lit{Elem: k, V: 0.5}}}
		})
		for i := range got {
			want := 0.5
			if xs[i] < ys[i] {
				want = 2
			} else if i < 20 {
				want = float64(i)
			}
			require.Equal(t, want, got[i])
		}
	}
}

func TestIntOperations(t *testing.T) {
	xs, ys := make([]float64, 32), make([]float64, 32)
	for i := range xs {
		xs[i], ys[i] = float64(i*8-128), float64(i-40)
	}
	wrap := func(v int) float64 { return float64(int8(v)) }
	for op, f := range map[cir.BinaryOp]func(x, y int) int{
		cir.AddOp: func(x, y int) int { return x + y }, cir.SubOp: func(x, y int) int { return x - y },
		cir.MulOp: func(x, y int) int { return x * y }, cir.DivOp: func(x, y int) int { return x / y },
		cir.MinOp: func(x, y int) int { return min(x, y) }, cir.MaxOp: func(x, y int) int { return max(x, y) },
	} {
		got := evaluate(t, elem.KS8, xs, ys, func(x, y cir.Value, _ *cir.Param) cir.Value { return cir.Binary{Op: op, X: x, Y: y} })
		for i := range got {
			require.Equal(t, wrap(f(int(int8(xs[i])), int(int8(ys[i])))), got[i], "%s %v %v", op, xs[i], ys[i])
		}
	}
}

func TestConversions(t *testing.T) {
	xs := make([]float64, 32)
	for i := range xs {
		xs[i] = float64(i-16) * 17.25
	}
	xs[3] = math.NaN()
	for _, to := range []elem.Kind{elem.KS8, elem.KU8, elem.KF16, elem.KBF16, elem.KS64, elem.KTF32} {
		got := evaluate(t, elem.KF32, xs, xs, func(x, _ cir.Value, _ *cir.Param) cir.Value { return cir.Convert{To: to, X: x} })
		for i := range got {
			want := elem.Decode(to, elem.Encode(to, xs[i]))
			if i == 3 && to == elem.KS64 { // of the NaN
				want = math.MinInt64
			}
			require.True(t, want == got[i] || want != want && got[i] != got[i], "%s %v: %v", to, xs[i], got[i])
		}
	}
	for i := range xs {
		xs[i] = float64(i*20 - 300)
	}
	for _, to := range []elem.Kind{elem.KS8, elem.KU8, elem.KU64, elem.KF32} {
		got := evaluate(t, elem.KS16, xs, xs, func(x, _ cir.Value, _ *cir.Param) cir.Value { return cir.Convert{To: to, X: x} })
		for i := range got {
			require.Equal(t, elem.Decode(to, elem.Encode(to, xs[i])), got[i], "%s %v", to, xs[i])
		}
	}
}

func TestIntDivisionByZero(t *testing.T) {
	m := newMaker("div", 32)
	out := m.global("out", elem.KS32, n(32), "w")
	m.mark("div")
	m.k.Body = []cir.Stmt{cir.StoreValue{Pos: m.at(), Dst: addr(out, tid), Value: cir.Binary{Op: cir.DivOp,
		X: cir.Lit{Elem: elem.KS32, V: 7}, Y: cir.IntValue{Elem: elem.KS32, Expr: tid}}}}
	m.wantOnly(t, run(t, m.k, Args{"out": NewBuffer(elem.KS32, 32)}, Options{}), "div", Division)
}
