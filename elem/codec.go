package elem

import "math"

// format is a floating-point layout narrower than float64: sign, exponent, mantissa, from the top bit down.
type format struct {
	exp, man int    // bits of exponent and of mantissa
	low      int    // unused bits below the mantissa
	over     uint64 // what a magnitude beyond the largest becomes, unshifted and without sign
	nan      uint64 // the NaN that Encode writes, with its unused bits
	inf      bool   // the largest exponent holds infinity and NaN; else only the all-ones pattern is special, a NaN
}

// formats are the narrow floating-point kinds. What happens beyond the largest finite value is what the
// hardware's conversions do: 16-bit and wider kinds go to infinity, 8-bit ones stay at the largest value.
var formats = [numKinds]format{
	KF16:  {exp: 5, man: 10, over: 0x7c00, nan: 0x7fff, inf: true},
	KBF16: {exp: 8, man: 7, over: 0x7f80, nan: 0x7fff, inf: true},
	KTF32: {exp: 8, man: 10, low: 13, over: 0x3fc00, nan: 0x7fffffff, inf: true},
	KE4M3: {exp: 4, man: 3, over: 0x7e, nan: 0x7f},
	KE5M2: {exp: 5, man: 2, over: 0x7b, nan: 0x7f, inf: true},
}

// minExp is the exponent of the smallest normal number.
func (f *format) minExp() int { return 2 - 1<<(f.exp-1) }

// encode rounds v once, to nearest with ties to even.
func (f *format) encode(v float64) uint64 {
	const man64, bias64 = 52, 1023
	bits := math.Float64bits(v)
	sign := bits >> 63 << (f.exp + f.man + f.low)
	e := int(bits >> man64 & 0x7ff)
	sig := bits & (1<<man64 - 1)
	if e == 0x7ff {
		if sig != 0 {
			return f.nan
		}
		return sign | f.over<<f.low
	}
	if e == 0 { // zero, or so small that every format here rounds it to zero
		return sign
	}
	sig |= 1 << man64
	// above counts from the smallest normal exponent; below it, bits are lost one for one.
	above := e - bias64 - f.minExp()
	shift := man64 - f.man + max(-above, 0)
	if shift > man64+1 { // less than half of the smallest subnormal
		return sign
	}
	q := sig >> shift
	rest, half := sig&(1<<shift-1), uint64(1)<<(shift-1)
	if rest > half || rest == half && q&1 == 1 {
		q++
	}
	// The implicit bit of a normal number is 1 in the exponent's place, and a carry goes there by itself.
	if above > 0 {
		q += uint64(above) << f.man
	}
	return sign | min(q, f.over)<<f.low
}

// decode is exact: float64 holds every value of the narrow formats.
func (f *format) decode(bits uint64) float64 {
	bits >>= f.low
	man := bits & (1<<f.man - 1)
	e := int(bits >> f.man & (1<<f.exp - 1))
	top := e == 1<<f.exp-1
	var v float64
	switch {
	case top && f.inf && man == 0:
		v = math.Inf(1)
	case top && (f.inf || man == 1<<f.man-1):
		return math.NaN()
	case e == 0:
		v = math.Ldexp(float64(man), f.minExp()-f.man)
	default:
		v = math.Ldexp(float64(man|1<<f.man), f.minExp()+e-1-f.man)
	}
	if bits>>(f.exp+f.man)&1 == 1 {
		v = -v
	}
	return v
}

// Decode is the value of the lowest k.Bits() bits, exactly but for 64-bit integers, which round to float64.
// Of a tf32 it reads the upper 19 bits, as the tensor core does. It returns NaN for kinds without a numeric
// value, Invalid and u128.
func Decode(k Kind, bits uint64) float64 {
	switch {
	case k.Bits() == 0 || k.Bits() > 64:
		return math.NaN()
	case k == KF64:
		return math.Float64frombits(bits)
	case k == KF32:
		return float64(math.Float32frombits(uint32(bits)))
	case k.IsFloat():
		return formats[k].decode(bits)
	}
	spare := 64 - k.Bits()
	if k.IsSigned() {
		return float64(int64(bits<<spare) >> spare)
	}
	return float64(bits << spare >> spare)
}

// Encode is the bits of the value of kind k nearest to v, in the lowest k.Bits() bits.
//
// It rounds once, to nearest with ties to even. Beyond the largest finite value f16, bf16, tf32 and f32 become
// infinity, while e4m3 and e5m2 stay at the largest value, 448 and 57344, also for an infinite v (the hardware's
// satfinite). Integers round the same way and saturate; b1 is an integer from 0 to 1. NaN becomes the format's NaN with all bits
// set but the sign, and 0 in integers. For Invalid and u128 the result is 0.
func Encode(k Kind, v float64) uint64 {
	switch {
	case k.Bits() == 0 || k.Bits() > 64:
		return 0
	case k == KF64:
		return math.Float64bits(v)
	case k == KF32:
		if v != v {
			return 0x7fffffff
		}
		return uint64(math.Float32bits(float32(v)))
	case k.IsFloat():
		return formats[k].encode(v)
	}
	return encodeInt(k, v)
}

func encodeInt(k Kind, v float64) uint64 {
	n := k.Bits()
	mask := ^uint64(0) >> (64 - n)
	if v != v {
		return 0
	}
	v = math.RoundToEven(v)
	// Bounds are powers of two, so that the comparisons are exact also for 64 bits.
	if !k.IsSigned() {
		switch {
		case v <= 0:
			return 0
		case v >= math.Ldexp(1, n):
			return mask
		}
		return uint64(v)
	}
	limit := math.Ldexp(1, n-1)
	switch {
	case v >= limit:
		return mask >> 1
	case v < -limit:
		return mask &^ (mask >> 1)
	}
	return uint64(int64(v)) & mask
}
