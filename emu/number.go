package emu

import (
	"math"
	"sync"

	"github.com/gocute/gocute/elem"
)

// tableF16 has the value of every f16. It is computed at its first use.
var tableF16 = sync.OnceValue(func() *[1 << 16]float32 {
	t := new([1 << 16]float32)
	for i := range t {
		t[i] = elem.F16(i).Float32()
	}
	return t
})

// chain is multiply with a fused multiply-add each step, as the f64 instructions do it.
func (m *matrices) chain(t *mmaShape) {
	for i := range t.m {
		for j := range t.n {
			s := m.c[i*t.n+j]
			for k := range t.k {
				s = math.FMA(m.a[i*t.k+k], m.b[j*t.k+k], s)
			}
			m.c[i*t.n+j] = s
		}
	}
}

// operandDecoder puts the values of a register's lanes at their places in a matrix.
type operandDecoder func(out []float64, place *[32]uint16, plane *[32]uint64)

// operandDecoders are those of the kinds that mma.sync takes.
var operandDecoders = map[elem.Kind]operandDecoder{
	elem.KF16: func(out []float64, place *[32]uint16, plane *[32]uint64) {
		t := tableF16()
		for l, v := range plane {
			out[place[l]] = float64(t[v&0xffff])
		}
	},
	elem.KBF16: func(out []float64, place *[32]uint16, plane *[32]uint64) {
		for l, v := range plane {
			out[place[l]] = float64(math.Float32frombits(uint32(v) << 16))
		}
	},
	elem.KTF32: func(out []float64, place *[32]uint16, plane *[32]uint64) { // reads the upper 19 bits
		for l, v := range plane {
			out[place[l]] = float64(math.Float32frombits(uint32(v) &^ 0x1fff))
		}
	},
	elem.KF32: func(out []float64, place *[32]uint16, plane *[32]uint64) {
		for l, v := range plane {
			out[place[l]] = float64(math.Float32frombits(uint32(v)))
		}
	},
	elem.KF64: func(out []float64, place *[32]uint16, plane *[32]uint64) {
		for l, v := range plane {
			out[place[l]] = math.Float64frombits(v)
		}
	},
	elem.KS32: intDecoder(elem.KS32),
	elem.KS8:  intDecoder(elem.KS8),
	elem.KU8:  intDecoder(elem.KU8),
	elem.KS4:  intDecoder(elem.KS4),
	elem.KU4:  intDecoder(elem.KU4),
}

func intDecoder(k elem.Kind) operandDecoder {
	return func(out []float64, place *[32]uint16, plane *[32]uint64) {
		for l, v := range plane {
			out[place[l]] = float64(signExtend(k, v))
		}
	}
}

// encodeResult rounds a sum to the kind of D; s32 wraps, as it does without .satfinite.
func encodeResult(k elem.Kind, v float64) uint64 {
	switch k {
	case elem.KF32:
		return uint64(math.Float32bits(float32(v)))
	case elem.KS32:
		return uint64(uint32(int64(v)))
	}
	return elem.Encode(k, v)
}

// signExtend is the integer that the lowest bits of v are.
func signExtend(k elem.Kind, v uint64) int64 {
	spare := 64 - k.Bits()
	if k.IsSigned() {
		return int64(v<<spare) >> spare
	}
	return int64(v << spare >> spare)
}

// decode is the value of an element in arithmetic. A tf32 is a float there: only mma.sync drops its lowest bits.
func decode(k elem.Kind, v uint64) float64 {
	switch k {
	case elem.KF32, elem.KTF32:
		return float64(math.Float32frombits(uint32(v)))
	case elem.KF16:
		return float64(tableF16()[v&0xffff])
	case elem.KBF16:
		return float64(math.Float32frombits(uint32(v) << 16))
	}
	return elem.Decode(k, v)
}

// rounder returns the function that rounds to a floating-point kind; nil for f64.
func rounder(k elem.Kind) func(float64) float64 {
	switch k {
	case elem.KF64:
		return nil
	case elem.KF32, elem.KTF32: // arithmetic on tf32 is arithmetic on floats
		return func(v float64) float64 { return float64(float32(v)) }
	}
	return func(v float64) float64 { return decode(k, elem.Encode(k, v)) }
}

// fmaTo rounds x*y + z once: float64 holds the product of two narrower numbers exactly, and its sum is rounded to
// odd, so that rounding it again to the narrower kind gives what one rounding would.
func fmaTo(x, y, z float64) float64 {
	p := x * y
	s := p + z
	if math.IsInf(s, 0) || s != s {
		return s
	}
	t := s - p // the error of the sum, exactly (Knuth)
	e := (p - (s - t)) + (z - t)
	if b := math.Float64bits(s); e != 0 && b&1 == 0 {
		if (e > 0) == (s > 0) {
			b++
		} else {
			b--
		}
		return math.Float64frombits(b)
	}
	return s
}
