package emu

import (
	"math"
	"math/bits"
)

// Prime is the order of the field that the exact mode computes in, 2^61-1.
const Prime uint64 = 1<<61 - 1

// Field is the arithmetic of the exact mode, for references. Its operands are less than Prime.
type Field struct{}

// Add is x + y.
func (Field) Add(x, y uint64) uint64 { return fieldAdd(x, y) }

// Sub is x - y.
func (Field) Sub(x, y uint64) uint64 { return fieldSub(x, y) }

// Mul is x * y.
func (Field) Mul(x, y uint64) uint64 { return fieldMul(x, y) }

// Residue is the field's element for a number: floats are integers times powers of two, so each finite one has one.
// That of an infinity or a NaN is 0 and false.
func Residue(v float64) (r uint64, ok bool) {
	if math.IsInf(v, 0) || v != v {
		return 0, false
	}
	frac, exp := math.Frexp(v) // v = frac * 2^exp
	m := int64(frac * (1 << 53))
	exp -= 53
	r = residueOf(m)
	for exp %= 61; exp < 0; { // 2^61 is 1
		exp += 61
	}
	return fieldMul(r, 1<<exp%Prime), true
}

// residueOf is the field's element for an integer.
func residueOf(v int64) uint64 {
	if v >= 0 {
		return uint64(v) % Prime
	}
	return fieldNeg(uint64(-(v+1))%Prime + 1)
}

func reduce(x uint64) uint64 {
	x = x&Prime + x>>61
	if x >= Prime {
		x -= Prime
	}
	return x
}

// reduce128 reduces hi*2^64 + lo, where hi may be any number.
func reduce128(hi, lo uint64) uint64 {
	return reduce(lo&Prime + (lo>>61 | hi&(1<<58-1)<<3) + hi>>58)
}

func fieldAdd(x, y uint64) uint64 { return reduce(x + y) }

func fieldNeg(x uint64) uint64 {
	if x = reduce(x); x == 0 {
		return 0
	}
	return Prime - x
}

func fieldSub(x, y uint64) uint64 { return fieldAdd(x, fieldNeg(y)) }

func fieldMul(x, y uint64) uint64 { return reduce128(bits.Mul64(x, y)) }

// fieldInverse is 1/x, and 0 for 0 (Fermat).
func fieldInverse(x uint64) uint64 {
	out := uint64(1)
	for e := Prime - 2; e > 0; e >>= 1 {
		if e&1 == 1 {
			out = fieldMul(out, x)
		}
		x = fieldMul(x, x)
	}
	return out
}

// fieldMatrices are the operands of an MMA in the field: A by rows, B by columns, C and D by rows.
type fieldMatrices struct {
	a [16 * 64]uint64
	b [8 * 64]uint64
	c [16 * 8]uint64
}

// multiply adds A*B to C: at most 64 products of 122 bits fit 128.
func (m *fieldMatrices) multiply(t *mmaShape) {
	for i := range t.m {
		a := m.a[i*t.k : i*t.k+t.k]
		for j := range t.n {
			b := m.b[j*t.k:][:t.k]
			hi, lo := uint64(0), m.c[i*t.n+j]
			for x, v := range a {
				h, l := bits.Mul64(v, b[x])
				var carry uint64
				lo, carry = bits.Add64(lo, l, 0)
				hi += h + carry
			}
			m.c[i*t.n+j] = reduce128(hi, lo)
		}
	}
}
