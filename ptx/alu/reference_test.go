package alu

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// layout is a floating-point format as its definition has it: bits of exponent and of mantissa.
type layout struct{ exp, man int }

var layouts = map[string]layout{"f16": {5, 10}, "bf16": {8, 7}, "f32": {8, 23}, "f64": {11, 52}, "tf32": {8, 10}}

func (l layout) bias() int { return 1<<(l.exp-1) - 1 }

func (l layout) width() int { return 1 + l.exp + l.man }

// special tells NaN and infinities.
func (l layout) special(a uint64) (nan, inf bool) {
	top := a>>l.man&(1<<l.exp-1) == 1<<l.exp-1
	man := a & (1<<l.man - 1)
	return top && man != 0, top && man == 0
}

func (l layout) negative(a uint64) bool { return a>>(l.exp+l.man)&1 == 1 }

// value is exact; of a finite number.
func (l layout) value(a uint64) *big.Rat {
	e, m := int(a>>l.man&(1<<l.exp-1)), new(big.Int).SetUint64(a&(1<<l.man-1))
	if e == 0 {
		e = 1
	} else {
		m.SetBit(m, l.man, 1)
	}
	r := new(big.Rat).SetInt(m)
	r.Mul(r, power2(e-l.bias()-l.man))
	if l.negative(a) {
		r.Neg(r)
	}
	return r
}

func power2(n int) *big.Rat {
	p := new(big.Int).Lsh(big.NewInt(1), uint(max(n, -n)))
	if n < 0 {
		return new(big.Rat).SetFrac(big.NewInt(1), p)
	}
	return new(big.Rat).SetInt(p)
}

// encode rounds an exact value that is not zero, by the definition of each mode: the multiple of the last place below,
// and whether to take the one above.
func (l layout) encode(q *big.Rat, m mode) uint64 {
	abs := new(big.Rat).Abs(q)
	e := abs.Num().BitLen() - abs.Denom().BitLen()
	if abs.Cmp(power2(e)) < 0 {
		e--
	}
	e = max(e, 1-l.bias())
	scaled := new(big.Rat).Mul(abs, power2(l.man-e))
	n, rest := new(big.Int).QuoRem(scaled.Num(), scaled.Denom(), new(big.Int))
	half := new(big.Int).Lsh(rest, 1).Cmp(scaled.Denom())
	return l.finish(q.Sign() < 0, n, e, rest.Sign() != 0, half, m)
}

// finish takes the last step of rounding: n units of the last place at exponent e, and what remains.
func (l layout) finish(negative bool, n *big.Int, e int, inexact bool, half int, m mode) uint64 {
	above := false
	switch m {
	case nearest:
		above = half > 0 || half == 0 && n.Bit(0) == 1
	case awayTies:
		above = half >= 0
	case down:
		above = inexact && negative
	case up:
		above = inexact && !negative
	}
	if above {
		n.Add(n, big.NewInt(1))
	}
	if n.BitLen() > l.man+1 {
		n.Rsh(n, 1)
		e++
	}
	var sign uint64
	if negative {
		sign = 1 << (l.exp + l.man)
	}
	inf := uint64(1<<l.exp-1) << l.man
	if e > l.bias() {
		if m == toZero || m == down && !negative || m == up && negative {
			return sign | (inf - 1)
		}
		return sign | inf
	}
	if n.BitLen() <= l.man { // subnormal or zero
		return sign | n.Uint64()
	}
	return sign | uint64(e+l.bias())<<l.man | n.Uint64()&(1<<l.man-1)
}

// root rounds the square root of a positive value.
func (l layout) root(q *big.Rat, m mode) uint64 {
	e := (q.Num().BitLen() - q.Denom().BitLen()) / 2
	for power2(2*e).Cmp(q) > 0 {
		e--
	}
	for power2(2*e+2).Cmp(q) <= 0 {
		e++
	}
	scaled := new(big.Rat).Mul(q, power2(2*(l.man-e)))
	n := new(big.Int).Sqrt(new(big.Int).Quo(scaled.Num(), scaled.Denom()))
	inexact := new(big.Rat).SetInt(new(big.Int).Mul(n, n)).Cmp(scaled) != 0
	mid := new(big.Rat).SetFrac(new(big.Int).Add(new(big.Int).Lsh(n, 1), big.NewInt(1)), big.NewInt(2))
	half := scaled.Cmp(mid.Mul(mid, mid))
	return l.finish(false, n, e, inexact, half, m)
}

// sample are words of n bits: small ones, those near the limits, powers of two, and random ones of the seed.
func sample(n, count int, seed uint64) []uint64 {
	m := mask(n)
	out := []uint64{0, 1, 2, 3, m, m - 1, m >> 1, m>>1 + 1, m>>1 - 1, m>>1 + 2, 5 & m, 0x55555555_55555555 & m}
	for i := 0; i < n; i += max(n/8, 1) {
		out = append(out, 1<<i)
	}
	r := rand.New(rand.NewPCG(seed, uint64(n)))
	for range count {
		out = append(out, r.Uint64()&m>>r.IntN(n))
	}
	return out
}

// floats are numbers of a format: the special ones and random ones, near one another and over the whole range.
func (l layout) floats(count int, seed uint64) []uint64 {
	inf, one, sign := uint64(1<<l.exp-1)<<l.man, uint64(l.bias())<<l.man, uint64(1)<<(l.exp+l.man)
	var out []uint64
	for _, a := range []uint64{0, 1, 2, 1<<l.man - 1, 1 << l.man, 1<<l.man + 1, one, one + 1, one - 1, 3<<(l.man-1) | one, inf - 1, inf, inf | 1<<(l.man-1), inf | 1} {
		out = append(out, a, a|sign)
	}
	r := rand.New(rand.NewPCG(seed, uint64(l.width())))
	for range count {
		a := r.Uint64() & mask(l.width())
		if r.IntN(2) == 0 { // near one
			a = a&(sign|1<<l.man-1) | uint64(l.bias()+r.IntN(7)-3)<<l.man
		}
		out = append(out, a)
	}
	return out
}

// canonical makes all NaNs one.
func (l layout) canonical(a uint64) uint64 {
	if nan, _ := l.special(a); nan {
		return math.MaxUint64
	}
	return a
}

// same compares results of which a NaN is as good as any other, but for its being one.
func (l layout) same(t *testing.T, want, got uint64, what string, in ...uint64) {
	t.Helper()
	if l.canonical(want) != l.canonical(got) {
		require.Failf(t, "differs", "%s of %#x: expected %#x, got %#x", what, in, want, got)
	}
	if nan, _ := l.special(got); nan && l.width() < 64 {
		require.Equal(t, mask(l.width()-1), got, "%s of %#x: NaN", what, in)
	}
}
