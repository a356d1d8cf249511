package emu

import (
	"math"

	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// allow refuses what the C IR does not let values do: there is no text for it to agree with.
func (c *compiler) allow(v cir.Value) {
	if err := cir.Allowed(v); err != nil {
		c.fail("%v", err)
	}
}

// toInt compiles a conversion to an integer kind: to nearest even, saturating.
func (c *compiler) toInt(v cir.Convert, depth int) intFn {
	to, from := v.To, v.X.Kind()
	if from.IsFloat() {
		x, nan := c.float(v.X, depth), intOfNaN(from, to)
		return func(w *warp, m uint32) *[32]int64 {
			out := &w.t[depth]
			for i, v := range x(w, m) {
				if v != v {
					out[i] = nan
					continue
				}
				out[i] = signExtend(to, elem.Encode(to, v))
			}
			return out
		}
	}
	x := c.int(v.X, depth)
	lo, hi := intRange(to)
	return func(w *warp, m uint32) *[32]int64 {
		out := x(w, m)
		for i, v := range out {
			out[i] = saturate(from, to, v, lo, hi)
		}
		return out
	}
}

// intOfNaN is what the chip's cvt makes of a NaN: zero where neither side has 64 bits, else only the top bit. There
// are cvts to integers of 32 and of 64 bits here; what is narrower comes from an s32 and saturates.
func intOfNaN(from, to elem.Kind) int64 {
	switch {
	case to.Bits() == 64:
		return math.MinInt64 // as bits, of a u64 too
	case from != elem.KF64:
		return 0
	case to.Bits() == 32:
		return signExtend(to, 1<<31)
	}
	lo, hi := intRange(to)
	return min(max(math.MinInt32, lo), hi)
}

// intRange is the least and the largest value of a kind, as far as int64 holds them.
func intRange(k elem.Kind) (lo, hi int64) {
	n := k.Bits()
	switch {
	case k.IsSigned():
		return math.MinInt64 >> (64 - n), math.MaxInt64 >> (64 - n)
	case n == 64:
		return 0, math.MaxInt64
	}
	return 0, 1<<n - 1
}

func saturate(from, to elem.Kind, v, lo, hi int64) int64 {
	if from == elem.KU64 && v < 0 { // beyond int64
		if to == elem.KU64 {
			return v
		}
		return hi
	}
	return min(max(v, lo), hi)
}

func (c *compiler) floatOfInts(from, to elem.Kind, depth int, f intFn) floatFn {
	return func(w *warp, m uint32) *[32]float64 {
		out := &w.f[depth]
		for i, x := range f(w, m) {
			out[i] = fromInt(from, to, x)
		}
		return out
	}
}

// fromInt rounds an integer once to a floating-point kind.
func fromInt(from, to elem.Kind, v int64) float64 {
	unsigned := from == elem.KU64 && v < 0
	if to != elem.KF64 && (unsigned || v >= 1<<53 || v <= -1<<53) {
		v = oddMultiple(v)
	}
	x := float64(v)
	if unsigned {
		x = float64(uint64(v))
	}
	return decode(to, elem.Encode(to, x))
}

// oddMultiple replaces the lowest 11 bits, which float64 does not hold, by a one above them if they are not all zero:
// rounding that to a kind of far fewer digits gives what rounding the integer itself would.
func oddMultiple(v int64) int64 {
	const low = 1<<11 - 1
	if v&low != 0 {
		return v&^low | (low + 1)
	}
	return v
}
