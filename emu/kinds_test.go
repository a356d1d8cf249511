package emu

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
	"github.com/stretchr/testify/require"
)

// runs returns the error of a kernel that computes one value of registers of a kind, or whose branch tests a condition.
func runs(t *testing.T, k elem.Kind, value func(x cir.Value) cir.Value, cond func(x cir.Value) cir.Cond) error {
	t.Helper()
	m := newMaker("kinds", 32)
	var body []cir.Stmt
	r := m.reg(&body, "r", k, 32)
	body = append(body, cir.Fill{Pos: m.at(), Reg: r})
	x := cir.RegElem{Ref: ref(r, 0, 1)}
	if value != nil {
		v := value(x)
		out := m.reg(&body, "out", v.Kind(), 32)
		body = append(body, cir.SetReg{Pos: m.at(), Dst: ref(out, 0, 1), Value: v})
	} else {
		body = append(body, cir.If{Pos: m.at(), Cond: cond(x)})
	}
	m.k.Body = body
	_, err := Run(t.Context(), m.k, Args{}, Options{})
	return err
}

// TestKinds runs every operation and conversion on every kind: those that the C IR allows, and no others.
func TestKinds(t *testing.T) {
	check := func(want, got error, what ...any) {
		t.Helper()
		if want == nil {
			require.NoError(t, got, what...)
			return
		}
		var kernel *KernelError
		require.ErrorAs(t, got, &kernel, what...)
		require.ErrorContains(t, got, want.Error(), what...)
	}
	for k := elem.KF16; k < elem.KU128; k++ {
		for to := elem.KF16; to < elem.KU128; to++ {
			check(cir.CanConvert(k, to), runs(t, k, func(x cir.Value) cir.Value { return cir.Convert{To: to, X: x} }, nil), "%s to %s", k, to)
		}
		for op := cir.AddOp; op <= cir.MaxOp; op++ {
			check(cir.CanCompute(op, k), runs(t, k, func(x cir.Value) cir.Value { return cir.Binary{Op: op, X: x, Y: x} }, nil), "%s %s", op, k)
		}
		for op := cir.NegOp; op <= cir.SigmoidOp; op++ {
			check(cir.CanCompute(op, k), runs(t, k, func(x cir.Value) cir.Value { return cir.Unary{Op: op, X: x} }, nil), "%s %s", op, k)
		}
		for op := cir.LT; op <= cir.NE; op++ {
			check(cir.CanCompute(op, k), runs(t, k, nil, func(x cir.Value) cir.Cond { return cir.ValCmp{Op: op, X: x, Y: x} }), "%s %s", op, k)
		}
		check(cir.CanCompute(cir.FMAOp, k), runs(t, k, func(x cir.Value) cir.Value { return cir.FMA{X: x, Y: x, Z: x} }, nil), "fma %s", k)
		check(cir.CanCompute(cir.SelectOp, k), runs(t, k, func(x cir.Value) cir.Value { return cir.Select{Cond: lt(tid, n(3)), X: x, Y: x} }, nil), "select %s", k)
		check(cir.CanCount(k), runs(t, k, func(cir.Value) cir.Value { return cir.IntValue{Elem: k, Expr: tid} }, nil), "int %s", k)
		for _, v := range []float64{0, 1, -1, 1.5, 300, 1 << 40, 0x1p64} {
			check(cir.IsValue(k, v), runs(t, k, func(cir.Value) cir.Value { return cir.Lit{Elem: k, V: v} }, nil), "%v %s", v, k)
		}
	}
}

// TestIntsRoundOnce compares with math/big: 64-bit integers have more digits than float64.
func TestIntsRoundOnce(t *testing.T) {
	digits := map[elem.Kind]uint{elem.KF16: 11, elem.KBF16: 8, elem.KF32: 24, elem.KF64: 53}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		v := r.Uint64()
		switch r.IntN(4) {
		case 0: // near a tie of f32
			v = v>>40<<40 | 1<<39 + uint64(r.IntN(3)) - 1
		case 1:
			v >>= r.IntN(60)
		case 2: // near 1<<64
			v = ^uint64(0)<<(20+r.IntN(24)) + uint64(r.IntN(3)) - 1
		}
		for to, d := range digits {
			for from, exact := range map[elem.Kind]*big.Int{elem.KU64: new(big.Int).SetUint64(v), elem.KS64: big.NewInt(int64(v))} {
				want, _ := new(big.Float).SetPrec(d).SetMode(big.ToNearestEven).SetInt(exact).Float64()
				want = decode(to, elem.Encode(to, want)) // beyond f16's range
				require.Equal(t, want, fromInt(from, to, int64(v)), "%s %s to %s", from, exact, to)
			}
		}
	}
}
