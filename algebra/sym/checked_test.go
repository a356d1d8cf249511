package sym

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestTooLarge: what does not fit 63 bits stays no number through every operation.
func TestTooLarge(t *testing.T) {
	big, k := Int(int64(math.MaxInt64)), New(ext)
	for name, e := range map[string]Expr{
		"sum": big.Add(Int(1)), "difference": big.Neg().Sub(Int(2)), "product": Int(1 << 32).Mul(Int(1 << 32)), "opposite": Int(int64(math.MinInt64)).Neg(),
		"coefficient": k.Mul(big).Mul(Int(2)), "coefficients": k.Mul(big).Add(k), "symbols": k.Mul(Int(1 << 32)).Mul(New(tid).Mul(Int(1 << 32))),
	} {
		require.True(t, e.TooLarge(), name)
		for op, r := range map[string]Expr{
			"+": e.Add(k), "-": e.Sub(e), "*0": e.Mul(Int(0)), "0*": Int(0).Mul(e), "*": k.Mul(e), "/": e.FloorDiv(Int(2)), "/e": e.FloorDiv(e), "k/e": k.FloorDiv(e),
			"%": e.Mod(Int(1)), "k%e": k.Mod(e), "ceil": e.CeilDiv(k), "xor": e.Xor(e), "min": Int(0).Min(e), "max": e.Max(e), "neg": e.Neg(),
			"subst": e.Subst(func(*Symbol) (Expr, bool) { return Int(1), true }),
		} {
			require.True(t, r.TooLarge(), "%s %s", name, op)
		}
		_, isConst := e.IsConst()
		require.False(t, isConst || e.Equal(e) || e.DivisibleBy(2))
		lo, hi := e.Range()
		require.True(t, lo <= -Unbounded && hi >= Unbounded)
		_, err := e.Eval(func(*Symbol) (int64, bool) { return 1, true })
		require.ErrorContains(t, err, "63 bits")
		require.Equal(t, Beyond, e.View().Op)
		require.Equal(t, "(beyond 63 bits)", e.String())
	}
	_, err := k.Mul(k).Eval(func(*Symbol) (int64, bool) { return 1 << 32, true })
	require.ErrorContains(t, err, "63 bits")
}

// TestUnboundedIsNoBound: a bound that saturates decides nothing.
func TestUnboundedIsNoBound(t *testing.T) {
	m := New(&Symbol{Name: "M", Lo: 1, Hi: Unbounded})
	far := Int(int64(1) << 62)
	for _, c := range []struct {
		got  Expr
		want string
	}{
		{m.FloorDiv(Int(1 << 40)).FloorDiv(Int(1 << 40)), "M/1099511627776/1099511627776"},
		{m.FloorDiv(far), "M/4611686018427387904"}, {m.Mod(far), "M%4611686018427387904"},
		{m.Max(far), "max(M,4611686018427387904)"}, {m.Min(far), "min(M,4611686018427387904)"},
		{m.FloorDiv(Int(4)).Min(far), "min(M/4,4611686018427387904)"},
		{far.FloorDiv(Int(int64(math.MaxInt64))), "0"}, {far.Mod(Int(int64(math.MaxInt64))), "4611686018427387904"},
		{m.Xor(Int(-1)).Max(Int(0)), "max(0,xor(M,-1))"},
		{Int(int64(math.MaxInt64)).CeilDiv(Int(2)), "4611686018427387904"}, {Int(int64(math.MinInt64)).CeilDiv(Int(3)), "-3074457345618258602"},
	} {
		require.Equal(t, c.want, c.got.String())
	}
}

// TestArithmeticIsExact compares sums and products of all magnitudes with those of package big.
func TestArithmeticIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Int64().Draw(t, "a"), rapid.Int64().Draw(t, "b")
		x, y := big.NewInt(a), big.NewInt(b)
		for _, c := range []struct {
			got  Expr
			want *big.Int
		}{
			{Int(a).Add(Int(b)), new(big.Int).Add(x, y)}, {Int(a).Sub(Int(b)), new(big.Int).Sub(x, y)}, {Int(a).Mul(Int(b)), new(big.Int).Mul(x, y)},
		} {
			n, ok := c.got.IsConst()
			require.Equal(t, c.want.IsInt64(), ok)
			if ok {
				require.Equal(t, c.want.Int64(), n)
			}
		}
	})
}
