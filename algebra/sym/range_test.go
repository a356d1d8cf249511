package sym

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRangeFarOut: no bound that saturated comes back by what is added to it, in whichever order.
func TestRangeFarOut(t *testing.T) {
	x := New(&Symbol{Name: "x", Class: Var, Lo: -1, Hi: 30})
	lo, hi := x.Mul(Int(1 << 57)).Sub(Int(1 << 62)).Range()
	require.EqualValues(t, -Unbounded, lo)
	require.EqualValues(t, Unbounded, hi)

	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		e, least, most := Int(0), new(big.Int), new(big.Int)
		for i := range 1 + r.IntN(4) {
			c := (r.Int64N(15) - 7) << r.IntN(60)
			a, b := r.Int64N(9)-4, r.Int64N(9)-4
			s := &Symbol{Name: string(rune('a' + i)), Class: Var, Lo: min(a, b), Hi: max(a, b) + 1}
			e = e.Add(New(s).Mul(Int(c)))
			p, q := new(big.Int).Mul(big.NewInt(c), big.NewInt(s.Lo)), new(big.Int).Mul(big.NewInt(c), big.NewInt(s.Hi))
			if c < 0 {
				p, q = q, p
			}
			least.Add(least, p)
			most.Add(most, q)
		}
		lo, hi := e.Range()
		if lo > -Unbounded {
			require.LessOrEqual(t, big.NewInt(lo).Cmp(least), 0, "%s: %d is above %s", e, lo, least)
		}
		if hi < Unbounded {
			require.GreaterOrEqual(t, big.NewInt(hi).Cmp(most), 0, "%s: %d is below %s", e, hi, most)
		}
	}
}
