package algebra

import (
	"fmt"
	"math/bits"

	"github.com/gocute/gocute/algebra/sym"
)

// Swizzle exchanges B bits: bits [M, M+B) of an offset are xored with bits [M+S, M+S+B) for positive S;
// for negative S, bits [M-S, M-S+B) are xored with bits [M, M+B).
type Swizzle struct{ B, M, S int }

// String is Sw<B,M,S>.
func (w Swizzle) String() string { return fmt.Sprintf("Sw<%d,%d,%d>", w.B, w.M, w.S) }

// maxBits bounds the bits of a swizzle.
const maxBits = 62

func (w Swizzle) check() *Error {
	switch {
	case w.B < 0 || w.M < 0:
		return failf("B = %d and M = %d must not be negative", w.B, w.M)
	case max(w.S, -w.S) < w.B:
		return failf("|S| = %d must be at least B = %d", max(w.S, -w.S), w.B)
	case w.B+w.M+max(w.S, -w.S) > maxBits:
		return failf("bits up to %d do not fit", w.B+w.M+max(w.S, -w.S))
	}
	return nil
}

// Err is what is wrong with the numbers, or nil.
func (w Swizzle) Err() error { return w.check().in("swizzle", w) }

// from and to are the masks of the bits that are read and of those that change.
func (w Swizzle) from() int64 { return (int64(1)<<w.B - 1) << (w.M + max(w.S, 0)) }
func (w Swizzle) to() int64   { return (int64(1)<<w.B - 1) << (w.M - min(w.S, 0)) }

// Apply swizzles one offset.
func (w Swizzle) Apply(x int64) int64 {
	y := x & w.from()
	if w.S >= 0 {
		return x ^ y>>w.S
	}
	return x ^ y<<-w.S
}

// ApplyExpr swizzles an offset that is never negative.
func (w Swizzle) ApplyExpr(x sym.Expr) sym.Expr {
	if n, ok := x.IsConst(); ok {
		return sym.Int(w.Apply(n))
	}
	if w.B == 0 {
		return x
	}
	return x.Xor(x.Field(w.M+max(w.S, 0), w.B).Mul(sym.Int(int64(1) << (w.M - min(w.S, 0)))))
}

// swizzleOf finds the swizzle that reads the bits y and changes the bits z.
func swizzleOf(y, z int64) (Swizzle, *Error) {
	if y < 0 || z < 0 {
		return Swizzle{}, failf("the offsets %d and %d of the bits read and changed make no swizzle, as one is negative", y, z)
	}
	ny, nz := bits.OnesCount64(uint64(y)), bits.OnesCount64(uint64(z))
	if ny != nz {
		return Swizzle{}, failf("%d bits read (%#x) and %d bits changed (%#x) make no swizzle", ny, y, nz, z)
	}
	if ny == 0 {
		return Swizzle{}, nil
	}
	ty, tz := bits.TrailingZeros64(uint64(y)), bits.TrailingZeros64(uint64(z))
	w := Swizzle{ny, min(ty, tz), ty - tz}
	if e := w.check(); e != nil {
		return Swizzle{}, e
	}
	if w.from() != y || w.to() != z {
		return Swizzle{}, failf("the bits read (%#x) and changed (%#x) are not two runs", y, z)
	}
	return w, nil
}

// ComposeSwizzle is the swizzle a∘b, if there is one. Both must have the same shift.
func ComposeSwizzle(a, b Swizzle) (Swizzle, error) {
	w, e := composeSwizzle(a, b)
	return w, e.in("composition", a, b)
}

func composeSwizzle(a, b Swizzle) (Swizzle, *Error) {
	for _, w := range []Swizzle{a, b} {
		if e := w.check(); e != nil {
			return Swizzle{}, e
		}
	}
	if a.S != b.S {
		return Swizzle{}, failf("swizzles of different shifts %d and %d do not merge", a.S, b.S)
	}
	// A bit that a changes and b reads would be read and changed by the merged one, too, which is then no swizzle.
	return swizzleOf(a.from()^b.from(), a.to()^b.to())
}
