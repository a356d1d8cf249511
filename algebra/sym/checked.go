package sym

import "math"

const (
	maxTerms  = 256     // terms of a sum that the checked operations make, so that a short text cannot ask for a huge one
	mostTerms = 1 << 12 // terms of any sum, and factors of any product
)

// tooLarge is what sums, products and all that is made of them become where an integer does not fit 63 bits.
var tooLarge = fromAtom(&atom{op: Beyond, key: "(beyond 63 bits)", lo: -Unbounded, hi: Unbounded, mult: 1})

// TooLarge reports whether e is no number any more, because one that it is made of does not fit 63 bits or because the
// expression has too many terms. It stays so through every operation, has no bounds and is equal to nothing.
func (e Expr) TooLarge() bool { return e.p != nil && e.p == tooLarge.p }

// addInt is a + b, if that fits.
func addInt(a, b int64) (int64, bool) {
	s := a + b
	return s, (a < 0) != (b < 0) || (s < 0) == (a < 0)
}

// mulInt is a * b, if that fits.
func mulInt(a, b int64) (int64, bool) {
	p := a * b
	if a == int64(int32(a)) && b == int64(int32(b)) {
		return p, true
	}
	return p, a == 0 || p/a == b && !(a == -1 && b == math.MinInt64)
}

// MulAdd is a*b + c, if that and the product fit 63 bits.
func MulAdd(a, b, c int64) (int64, bool) {
	p, ok1 := mulInt(a, b)
	s, ok2 := addInt(p, c)
	return s, ok1 && ok2
}

// AddOK is e + f, or false if that is TooLarge or has many terms.
func (e Expr) AddOK(f Expr) (Expr, bool) {
	if len(e.terms())+len(f.terms()) > maxTerms {
		return tooLarge, false
	}
	r := e.Add(f)
	return r, !r.TooLarge()
}

// SubOK is e - f, or false if that is too large.
func (e Expr) SubOK(f Expr) (Expr, bool) {
	if len(e.terms())+len(f.terms()) > maxTerms {
		return tooLarge, false
	}
	r := e.Sub(f)
	return r, !r.TooLarge()
}

// MulOK is e * f, or false if that is TooLarge or has many terms or factors.
func (e Expr) MulOK(f Expr) (Expr, bool) {
	if (len(e.terms())+1)*(len(f.terms())+1) > maxTerms || e.degree()+f.degree() > maxTerms {
		return tooLarge, false
	}
	r := e.Mul(f)
	return r, !r.TooLarge()
}

// degree is the largest number of factors of a term.
func (e Expr) degree() int {
	d := 0
	for _, t := range e.terms() {
		d = max(d, len(t.fac))
	}
	return d
}

// below reports whether everything in [lo, hi] is an index below n; what saturates has no bound.
func below(lo, hi, n int64) bool { return lo >= 0 && hi < n && hi < Unbounded }

// quotientBound is the bound x divided by c, rounding down; what saturates stays no bound.
func quotientBound(x, c int64) int64 {
	if x >= Unbounded || x <= -Unbounded {
		return x
	}
	return floorDiv(x, c)
}

// highest is the largest number with bits among those of the set.
func highest(set uint64) int64 { return int64(min(set, Unbounded)) }
