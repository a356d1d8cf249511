package sym

import "math"

// maxTerms bounds the sums that the checked operations make, so that a short text cannot ask for a huge one.
const maxTerms = 256

// norm is the sum of the magnitudes of all coefficients: a product's is at most the product of its factors'.
func (e Expr) norm() float64 {
	n := math.Abs(float64(e.k))
	for _, t := range e.terms() {
		n += math.Abs(float64(t.coef))
	}
	return n
}

func constants(e, f Expr) bool { return e.p == nil && f.p == nil }

// AddOK is e + f, or false if a coefficient does not fit 63 bits or the sum has too many terms.
func (e Expr) AddOK(f Expr) (Expr, bool) {
	if constants(e, f) {
		s := e.k + f.k
		return Expr{k: s}, (e.k < 0) != (f.k < 0) || (s < 0) == (e.k < 0)
	}
	if e.norm()+f.norm() >= Unbounded || len(e.terms())+len(f.terms()) > maxTerms {
		return Expr{}, false
	}
	return e.Add(f), true
}

// SubOK is e - f, or false if that is too large.
func (e Expr) SubOK(f Expr) (Expr, bool) {
	if f.k == math.MinInt64 {
		return Expr{}, false
	}
	return e.AddOK(f.Neg())
}

// MulOK is e * f, or false if that is too large.
func (e Expr) MulOK(f Expr) (Expr, bool) {
	if constants(e, f) {
		p := e.k * f.k
		return Expr{k: p}, e.k == 0 || p/e.k == f.k && !(e.k == -1 && f.k == math.MinInt64)
	}
	if e.norm()*f.norm() >= Unbounded || (len(e.terms())+1)*(len(f.terms())+1) > maxTerms || e.degree()+f.degree() > maxTerms {
		return Expr{}, false
	}
	return e.Mul(f), true
}

// degree is the largest number of factors of a term.
func (e Expr) degree() int {
	d := 0
	for _, t := range e.terms() {
		d = max(d, len(t.fac))
	}
	return d
}
