package sym

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var (
	tid = &Symbol{Name: "tid", Class: Thread, Lo: 0, Hi: 127}
	ext = &Symbol{Name: "K", Class: Param, Lo: 1, Hi: 1 << 20, Multiple: 8}
	idx = &Symbol{Name: "i", Class: Loop, Lo: 0, Hi: 3}
)

func TestSimplification(t *testing.T) {
	x, k, i := New(tid), New(ext), New(idx)
	for _, c := range []struct {
		got  Expr
		want string
	}{
		{x.Mul(Int(4)).FloorDiv(Int(4)), "tid"},
		{x.Mul(Int(4)).Add(Int(3)).FloorDiv(Int(4)), "tid"},
		{x.FloorDiv(Int(128)), "0"},
		{x.Mod(Int(128)), "tid"},
		{x.FloorDiv(Int(4)).FloorDiv(Int(8)), "tid/32"},
		{x.Mod(Int(32)).FloorDiv(Int(4)), "tid/4%8"},
		{x.Mod(Int(32)).Mod(Int(4)), "tid%4"},
		{x.Mul(Int(2)).Mod(Int(8)), "2*(tid%4)"},
		{k.Mod(Int(8)), "0"},
		{k.Add(Int(127)).FloorDiv(Int(128)), "ceil_div(K,128)"},
		{k.Mul(x).Sub(x.Mul(k)), "0"},
		{x.Mod(Int(8)).Mul(Int(8)).Xor(i.Mul(Int(64))), "8*(tid%8)+64*i"},
		{x.Xor(x), "0"},
		{x.Mod(Int(10)).Xor(Int(1)).Xor(Int(33)), "tid%10+32"}, // and not an xor, as which the text would not be read
		{i.Min(Int(7)), "i"},
		{i.Max(Int(7)), "7"},
		{x.Xor(Int(3)).Mul(Int(2)), "xor(2*tid,6)"},
		{x.Add(i.Mul(Int(24))).Xor(x.Mod(Int(8))), "24*i+xor(tid%8,tid)"}, // multiples of 8 stay as they are, carries or not
		{k.Add(x).Xor(x.FloorDiv(Int(32)).Mul(Int(2))), "K+xor(tid,2*(tid/32))"},
		{i.Add(Int(29)).Xor(i.Mul(Int(2))), "xor(i+5,2*i)+24"},
		{Int(-1).Mod(k).Add(x), "(-1)%K+tid"},
		{Int(-3).FloorDiv(k).Add(x), "(-3)/K+tid"},
		{x.Mul(Int(-2)).Mod(k).Add(x), "(-2*tid)%K+tid"},
	} {
		require.Equal(t, c.want, c.got.String())
	}
}

// TestSimplificationKeepsValues builds random expressions twice, as Exprs and as plain integers.
func TestSimplificationKeepsValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vals := map[string]int64{
			"tid": rapid.Int64Range(0, 127).Draw(t, "tid"),
			"K":   8 * rapid.Int64Range(1, 99).Draw(t, "K"),
			"i":   rapid.Int64Range(0, 3).Draw(t, "i"),
		}
		type both struct {
			e Expr
			v int64
		}
		pool := []both{{New(tid), vals["tid"]}, {New(ext), vals["K"]}, {New(idx), vals["i"]}}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			a := pool[rapid.IntRange(0, len(pool)-1).Draw(t, "a")]
			b := pool[rapid.IntRange(0, len(pool)-1).Draw(t, "b")]
			c := rapid.Int64Range(1, 40).Draw(t, "c")
			var n both
			switch rapid.IntRange(0, 8).Draw(t, "op") {
			case 0:
				n = both{a.e.Add(b.e), a.v + b.v}
			case 1:
				n = both{a.e.Sub(b.e), a.v - b.v}
			case 2:
				n = both{a.e.Mul(Int(c)), a.v * c}
			case 3:
				n = both{a.e.FloorDiv(Int(c)), floorDiv(a.v, c)}
			case 4:
				n = both{a.e.Mod(Int(c)), a.v - c*floorDiv(a.v, c)}
			case 5:
				if a.v < 0 || b.v < 0 {
					continue
				}
				if lo, _ := a.e.Range(); lo < 0 {
					continue
				}
				if lo, _ := b.e.Range(); lo < 0 {
					continue
				}
				n = both{a.e.Xor(b.e), a.v ^ b.v}
			case 6:
				n = both{a.e.Min(b.e), min(a.v, b.v)}
			case 7:
				n = both{a.e.Max(b.e), max(a.v, b.v)}
			case 8:
				n = both{a.e.CeilDiv(Int(c)), floorDiv(a.v+c-1, c)}
			}
			if n.v > 1<<40 || n.v < -1<<40 {
				continue
			}
			got, err := n.e.Eval(func(s *Symbol) (int64, bool) { v, ok := vals[s.Name]; return v, ok })
			require.NoError(t, err)
			require.Equal(t, n.v, got, "%s", n.e)
			lo, hi := n.e.Range()
			require.LessOrEqual(t, lo, n.v, "lower bound of %s", n.e)
			require.GreaterOrEqual(t, hi, n.v, "upper bound of %s", n.e)
			if m := n.e.Multiple(); m != 0 {
				require.Zero(t, n.v%m, "%s is said to be a multiple of %d", n.e, m)
			}
			if lo >= 0 {
				require.Zero(t, uint64(n.v)&^n.e.Bits(), "bits of %s", n.e)
			}
			sub := n.e.Subst(func(s *Symbol) (Expr, bool) { return Int(vals[s.Name]), true })
			require.True(t, sub.Is(n.v), "substitution into %s", n.e)
			pool = append(pool, n)
		}
	})
}
