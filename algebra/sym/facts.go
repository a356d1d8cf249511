package sym

import (
	"math"
	"math/bits"
)

// Unbounded is the magnitude at which ranges saturate: a bound this far out is no bound.
const Unbounded = math.MaxInt64 / 4

// Range returns inclusive bounds of e; a bound of ±Unbounded means that none is known.
func (e Expr) Range() (lo, hi int64) {
	lo, hi = e.k, e.k
	if e.p == nil {
		return lo, hi
	}
	low, high := float64(lo), float64(hi) // about as much, without an end
	for _, t := range e.terms() {
		a, b := t.bounds()
		lo, hi, low, high = lo+a, hi+b, low+float64(a), high+float64(b)
		if a <= -Unbounded { // nothing that is added brings a bound back
			low = math.Inf(-1)
		}
		if b >= Unbounded {
			high = math.Inf(1)
		}
	}
	return clamp(low, lo), clamp(high, hi)
}

// bounds is Range with a bound that saturates as far out as integers go.
func (e Expr) bounds() (lo, hi int64) {
	lo, hi = e.Range()
	if e.p != nil && lo <= -Unbounded {
		lo = math.MinInt64
	}
	if e.p != nil && hi >= Unbounded {
		hi = math.MaxInt64
	}
	return lo, hi
}

func (t term) bounds() (lo, hi int64) {
	lo, hi = t.coef, t.coef
	for _, a := range t.fac {
		p := [4]int64{satMul(lo, a.lo), satMul(lo, a.hi), satMul(hi, a.lo), satMul(hi, a.hi)}
		lo, hi = min(p[0], p[1], p[2], p[3]), max(p[0], p[1], p[2], p[3])
	}
	return lo, hi
}

// DivisibleBy reports whether n is known to divide e.
func (e Expr) DivisibleBy(n int64) bool {
	if n == 1 {
		return true
	}
	k := e.known()
	return k == 0 || k%n == 0
}

// known is a number that divides e (0 for the constant 0).
func (e Expr) known() int64 {
	g := e.k
	for _, t := range e.terms() {
		m := t.coef
		for _, a := range t.fac {
			if p, ok := mulInt(m, a.mult); ok { // what does not fit still has m as a divisor
				m = p
			}
		}
		g = gcd(g, m)
	}
	return g
}

// Multiple is the greatest number that is known to divide every value of e (0 if e is the constant 0).
func (e Expr) Multiple() int64 { return e.known() }

// Bits is the set of bits that a value of e can have, all bits if e may be negative.
func (e Expr) Bits() uint64 {
	lo, hi := e.Range()
	if lo < 0 || hi >= Unbounded {
		return math.MaxUint64
	}
	full := uint64(1)<<bits.Len64(uint64(hi)) - 1
	got := uint64(e.k)
	for _, t := range e.terms() {
		m := t.bits()
		if got&m != 0 || t.coef < 0 || e.k < 0 {
			return full & lowMask(e.known())
		}
		got |= m
	}
	return got & full
}

func (t term) bits() uint64 {
	lo, hi := t.bounds()
	if lo < 0 || hi >= Unbounded {
		return math.MaxUint64
	}
	full := uint64(1)<<bits.Len64(uint64(hi)) - 1
	if len(t.fac) == 1 && pow2(t.coef) {
		a := t.fac[0]
		if a.op == Xor {
			var m uint64
			for _, x := range a.args {
				m |= x.Bits()
			}
			return m << bits.TrailingZeros64(uint64(t.coef))
		}
	}
	return full & lowMask(newExpr(0, []term{t}).known())
}

// lowMask clears the bits that a multiple of m never has.
func lowMask(m int64) uint64 {
	if m == 0 {
		return 0
	}
	return math.MaxUint64 << bits.TrailingZeros64(uint64(m))
}

func satMul(a, b int64) int64 { return clamp(float64(a)*float64(b), a*b) }

func clamp(approx float64, exact int64) int64 {
	if approx >= Unbounded {
		return Unbounded
	}
	if approx <= -Unbounded {
		return -Unbounded
	}
	return exact
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	if a < 0 {
		return -a
	}
	return a
}

func b2i(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
