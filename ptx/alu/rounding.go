package alu

import (
	"math"
	"math/big"

	"github.com/gocute/gocute/elem"
)

// The NaNs that arithmetic gives.
const (
	nan16 = 0x7fff
	nan32 = 0x7fffffff
	nan64 = 0xfff8000000000000
)

func single(a uint64) float32 { return math.Float32frombits(uint32(a)) }

func double(a uint64) float64 { return math.Float64frombits(a) }

// bits32 encodes a result of 32 bits.
func bits32(v float32) uint64 {
	if v != v {
		return nan32
	}
	return uint64(math.Float32bits(v))
}

// bits64 encodes a result of 64 bits; a NaN is the first one of the operands, if there is any.
func bits64(v float64, operands ...uint64) uint64 {
	if v == v {
		return math.Float64bits(v)
	}
	for _, a := range operands {
		if math.IsNaN(double(a)) {
			return a | 1<<51
		}
	}
	return nan64
}

func subnormal32(a uint64) bool { return a&0x7f800000 == 0 && a&0x7fffff != 0 }

// flush32, flush16 and flushBF16 make subnormals zero of their sign.
func flush32(a uint64) uint64 {
	if a&0x7f800000 == 0 {
		return a & 0x80000000
	}
	return a
}

func flush16(a uint64) uint64 {
	if a&0x7c00 == 0 {
		return a & 0x8000
	}
	return a
}

func flushBF16(a uint64) uint64 {
	if a&0x7f80 == 0 {
		return a & 0x8000
	}
	return a
}

// clamp is .sat: to 0 and 1, NaN to 0.
func clamp(v float64) float64 {
	switch {
	case v >= 1:
		return 1
	case v > 0:
		return v
	}
	return 0
}

// mode is a direction of rounding.
type mode uint8

const (
	nearest mode = iota
	toZero
	down
	up
	awayTies // nearest, ties away from zero: .rna
)

var modesOf = map[string]mode{"": nearest, "rn": nearest, "rz": toZero, "rm": down, "rp": up, "rna": awayTies}

// rounding is the mode that the instruction names.
func (c *call) rounding() mode { return modesOf[c.one("rz", "rm", "rp", "rna")] }

// wrongWay tells whether a value rounded to nearest lies on the wrong side of the exact one for a directed mode;
// above is the sign of the exact value less the rounded one.
func (m mode) wrongWay(negative bool, above int) (step int) {
	switch {
	case m == down && above < 0, m == toZero && above < 0 && !negative:
		return -1
	case m == up && above > 0, m == toZero && above > 0 && negative:
		return 1
	}
	return 0
}

// direct corrects a result that was rounded to nearest.
func (m mode) direct(r float64, above int) float64 {
	if s := m.wrongWay(math.Signbit(r), above); s != 0 {
		return math.Nextafter(r, math.Inf(s))
	}
	return r
}

// round32 rounds v once; v may be rounded to odd before.
func (m mode) round32(v float64) float32 {
	r := float32(v)
	if m == nearest || v != v {
		return r
	}
	above := 0
	switch w := float64(r); {
	case v > w:
		above = 1
	case v < w:
		above = -1
	}
	if s := m.wrongWay(math.Signbit(float64(r)), above); s != 0 {
		return math.Nextafter32(r, float32(math.Inf(s)))
	}
	return r
}

// toOdd makes the last bit of an inexact result 1: what is cut off is then seen by every narrower rounding. above is the
// sign of what the exact value has more than s.
func toOdd(s, above float64) float64 {
	if above == 0 || math.IsInf(s, 0) || s != s || above != above {
		return s
	}
	b := math.Float64bits(s)
	switch {
	case b&1 == 1:
		return s
	case above > 0 == (s > 0):
		return math.Float64frombits(b + 1)
	}
	return math.Float64frombits(b - 1)
}

// oddSingle is the float32 of v rounded to odd, which still has the bits that a rounding to 16 bits looks at.
func oddSingle(v float64) float32 {
	r := float32(v)
	w := float64(r)
	if w == v || w != w || math.IsInf(w, 0) {
		return r
	}
	b := math.Float32bits(r)
	switch {
	case b&1 == 1:
	case math.Abs(v) > math.Abs(w):
		b++
	default:
		b--
	}
	return math.Float32frombits(b)
}

// oddSum is x+y rounded to odd. Magnitudes must be so far from float64's limits as those of float32's products are.
func oddSum(x, y float64) float64 {
	s := x + y
	if math.IsInf(s, 0) {
		return s
	}
	z := s - x
	return toOdd(s, (x-(s-z))+(y-z))
}

// oddQuotient is x/y of two float32 rounded to odd.
func oddQuotient(x, y float64) float64 {
	q := x / y
	if y == 0 || math.IsInf(x, 0) || math.IsInf(y, 0) || q != q {
		return q
	}
	rest := math.FMA(-q, y, x)
	if y < 0 {
		rest = -rest
	}
	return toOdd(q, rest)
}

// oddRoot is the square root of a float32 rounded to odd.
func oddRoot(x float64) float64 {
	s := math.Sqrt(x)
	if s == 0 || math.IsInf(s, 0) || s != s {
		return s
	}
	return toOdd(s, math.FMA(-s, s, x))
}

// oddInteger is an integer rounded to odd.
func oddInteger(n uint64, negative bool) float64 {
	shift := 0
	for n>>shift >= 1<<53 {
		shift++
	}
	m := n >> shift
	if m<<shift != n {
		m |= 1
	}
	v := math.Ldexp(float64(m), shift)
	if negative {
		return -v
	}
	return v
}

// zeroSum is the sign of a sum that is exactly zero: negative in rounding down, unless both are +0.
func (m mode) zeroSum(r, x, y float64) float64 {
	if m == down && r == 0 && (math.Signbit(x) || math.Signbit(y)) {
		return math.Copysign(0, -1)
	}
	return r
}

// productBits hold every product of two float64 and its sum with a third exactly.
const productBits = 4400

func exactly(v float64) *big.Float { return new(big.Float).SetPrec(productBits).SetFloat64(v) }

func finite(vs ...float64) bool {
	for _, v := range vs {
		if v != v || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// compare is the sign of the exact value less the rounded r, which is infinite after an overflow.
func compare(exact *big.Float, r float64) int {
	if math.IsInf(r, 0) {
		return map[bool]int{true: -1, false: 1}[r > 0]
	}
	return exact.Cmp(exactly(r))
}

// fma64 is x*y+z; with y = 1 a sum.
func (m mode) fma64(x, y, z float64) float64 {
	r := math.FMA(x, y, z)
	if m == nearest || !finite(x, y, z) {
		return r
	}
	exact := exactly(x)
	exact.Mul(exact, exactly(y)).Add(exact, exactly(z))
	if exact.Sign() == 0 {
		return m.zeroSum(r, x*y, z)
	}
	return m.direct(r, compare(exact, r))
}

func (m mode) mul64(x, y float64) float64 {
	r := x * y
	if m == nearest || !finite(x, y) {
		return r
	}
	exact := exactly(x)
	return m.direct(r, compare(exact.Mul(exact, exactly(y)), r))
}

func (m mode) div64(x, y float64) float64 {
	r := x / y
	if m == nearest || !finite(x, y) || y == 0 {
		return r
	}
	back := exactly(r) // which may be infinite
	above := exactly(x).Cmp(back.Mul(back, exactly(y)))
	if y < 0 {
		above = -above
	}
	return m.direct(r, above)
}

func (m mode) sqrt64(x float64) float64 {
	r := math.Sqrt(x)
	if m == nearest || !finite(x, r) {
		return r
	}
	square := exactly(r)
	return m.direct(r, exactly(x).Cmp(square.Mul(square, square)))
}

// format is how a narrow floating-point type is read and written.
type format struct {
	kind    elem.Kind
	man     int // bits of mantissa
	minExp  int // exponent of the smallest normal number
	largest float64
	nan     uint64
	decode  func(uint64) float64
	encode  func(float64) uint64 // rounds to nearest
	flush   func(uint64) uint64
}

var formats = map[string]*format{
	"e2m1": tiny(2, 1), "e2m3": tiny(2, 3), "e3m2": tiny(3, 2),
	"f16": {kind: elem.KF16, man: 10, minExp: -14, largest: 65504, nan: nan16, flush: flush16,
		decode: func(a uint64) float64 { return float64(elem.F16(a).Float32()) },
		encode: func(v float64) uint64 { return uint64(elem.NewF16(oddSingle(v))) }},
	"bf16": {kind: elem.KBF16, man: 7, minExp: -126, largest: 0x1.fep127, nan: nan16, flush: flushBF16,
		decode: func(a uint64) float64 { return float64(elem.BF16(a).Float32()) },
		encode: func(v float64) uint64 { return uint64(elem.NewBF16(oddSingle(v))) }},
	"tf32": {kind: elem.KTF32, man: 10, minExp: -126, largest: 0x1.ffcp127, nan: nan32, flush: flush32,
		encode: func(v float64) uint64 { return elem.Encode(elem.KTF32, v) }},
	"f32": {kind: elem.KF32, man: 23, minExp: -126, largest: math.MaxFloat32, nan: nan32, flush: flush32,
		decode: func(a uint64) float64 { return float64(single(a)) },
		encode: func(v float64) uint64 { return bits32(float32(v)) }},
	"f64": {kind: elem.KF64, man: 52, minExp: -1022, largest: math.MaxFloat64, nan: nan64,
		decode: double, encode: func(v float64) uint64 { return bits64(v) }},
	"e4m3": {kind: elem.KE4M3, man: 3, minExp: -6, largest: 448, nan: 0x7f,
		decode: func(a uint64) float64 { return elem.Decode(elem.KE4M3, a) }, encode: func(v float64) uint64 { return elem.Encode(elem.KE4M3, v) }},
	"e5m2": {kind: elem.KE5M2, man: 2, minExp: -14, largest: 57344, nan: 0x7f,
		decode: func(a uint64) float64 { return elem.Decode(elem.KE5M2, a) }, encode: func(v float64) uint64 { return elem.Encode(elem.KE5M2, v) }},
}

// round rounds v, exact or rounded to odd, to a value of the format; beyond the largest it is that or infinity.
func (f *format) round(v float64, m mode) float64 {
	if v == 0 || v != v || math.IsInf(v, 0) || f.kind == elem.KF64 {
		return v
	}
	_, e := math.Frexp(v) // v = 0.5… * 2^e
	quantum := max(e-1, f.minExp) - f.man
	n := math.Ldexp(v, -quantum)
	switch m {
	case nearest:
		n = math.RoundToEven(n)
	case awayTies:
		n = math.Round(n)
	case toZero:
		n = math.Trunc(n)
	case down:
		n = math.Floor(n)
	case up:
		n = math.Ceil(n)
	}
	r := math.Copysign(math.Ldexp(n, quantum), v)
	if math.Abs(r) <= f.largest {
		return r
	}
	if m == toZero || m == down && v > 0 || m == up && v < 0 {
		return math.Copysign(f.largest, v)
	}
	return math.Copysign(math.Inf(1), v)
}
