package sym

import (
	"math"
	"math/bits"
	"slices"
	"sort"
	"strings"
)

// FloorDiv is floor(e / f). It requires f > 0 wherever it is evaluated.
func (e Expr) FloorDiv(f Expr) Expr {
	if e.TooLarge() || f.TooLarge() {
		return tooLarge
	}
	c, ok := f.IsConst()
	if !ok {
		return e.divExpr(f)
	}
	if c == 1 {
		return e
	}
	q, r := e.split(c)
	if lo, hi := r.Range(); r.p == nil || below(lo, hi, c) {
		return q
	}
	// (g*r' + k) / (g*c') = (r' + floor(k/g)) / c'
	if g := r.gcdTerms(c); g > 1 {
		return q.Add(r.shrink(g).FloorDiv(Int(c / g)))
	}
	if a, ok := r.single(); ok {
		d, isConst := divisor(a)
		if both, fits := mulInt(d, c); isConst && fits && a.op == Div {
			return q.Add(a.args[0].FloorDiv(Int(both))) // (x/d)/c = x/(d*c)
		} else if isConst && a.op == Mod && d%c == 0 {
			return q.Add(a.args[0].FloorDiv(Int(c)).Mod(Int(d / c))) // (x%(c*n))/c = (x/c)%n
		}
	}
	lo, hi := r.Range()
	return q.Add(fromAtom(&atom{op: Div, args: []Expr{r, f}, key: "(" + r.Key() + ")/" + f.Key(),
		lo: quotientBound(lo, c), hi: quotientBound(hi, c), mult: max(1, r.known()/c*b2i(r.known()%c == 0))}))
}

// Mod is e - f*floor(e/f), which is never negative. It requires f > 0 wherever it is evaluated.
func (e Expr) Mod(f Expr) Expr {
	if e.TooLarge() || f.TooLarge() {
		return tooLarge
	}
	c, ok := f.IsConst()
	if !ok {
		return e.modExpr(f)
	}
	_, r := e.split(c)
	if lo, hi := r.Range(); r.p == nil || below(lo, hi, c) {
		return r
	}
	if r.DivisibleBy(c) {
		return Expr{}
	}
	// (g*r' + k1*g + k0) % (g*c') = g*((r'+k1) % c') + k0
	if g := r.gcdTerms(c); g > 1 {
		k0 := r.k - floorDiv(r.k, g)*g
		return r.shrink(g).Mod(Int(c / g)).scale(g).Add(Int(k0))
	}
	if a, ok := r.single(); ok && a.op == Mod {
		if d, isConst := divisor(a); isConst && d%c == 0 {
			return a.args[0].Mod(f) // (x%(c*n))%c = x%c
		}
	}
	lo, hi := r.Range()
	if lo < 0 { // a negative number wraps around to the top
		hi = c - 1
	}
	return fromAtom(&atom{op: Mod, args: []Expr{r, f}, key: "(" + r.Key() + ")%" + f.Key(),
		lo: 0, hi: min(c-1, hi), mult: gcd(r.known(), c)})
}

// CeilDiv is ceil(e / f). It requires f > 0 wherever it is evaluated.
func (e Expr) CeilDiv(f Expr) Expr {
	if e.p == nil && f.p == nil { // e + f may not fit
		q := floorDiv(e.k, f.k)
		return Int(q + b2i(q*f.k != e.k))
	}
	return e.Add(f).Sub(Int(1)).FloorDiv(f)
}

// lastBelow is the bound hi - 1; what saturates stays no bound.
func lastBelow(hi int64) int64 {
	if hi >= Unbounded {
		return hi
	}
	return max(hi-1, 0)
}

func (e Expr) divExpr(f Expr) Expr {
	if e.Equal(f) {
		return Int(1)
	}
	lo, hi := e.Range()
	flo, fhi := f.Range()
	if below(lo, hi, flo) {
		return Expr{}
	}
	if fhi < 1 {
		flo, fhi = 1, 1
	}
	flo = max(flo, 1)
	return fromAtom(&atom{op: Div, args: []Expr{e, f}, key: "(" + e.Key() + ")/(" + f.Key() + ")",
		lo: min(quotientBound(lo, flo), quotientBound(lo, fhi)), hi: max(quotientBound(hi, flo), quotientBound(hi, fhi)), mult: 1})
}

func (e Expr) modExpr(f Expr) Expr {
	if e.Equal(f) || e.Is(0) {
		return Expr{}
	}
	lo, hi := e.Range()
	flo, fhi := f.Range()
	if below(lo, hi, flo) {
		return e
	}
	return fromAtom(&atom{op: Mod, args: []Expr{e, f}, key: "(" + e.Key() + ")%(" + f.Key() + ")",
		lo: 0, hi: lastBelow(fhi), mult: 1})
}

// split writes e as c*q + r with the terms of r not divisible by c and 0 <= r's constant < c.
func (e Expr) split(c int64) (q, r Expr) {
	q.k = floorDiv(e.k, c)
	r.k = e.k - q.k*c
	var qt, rt []term
	for _, t := range e.terms() {
		if t.coef%c == 0 {
			qt = append(qt, term{coef: t.coef / c, fac: t.fac, key: t.key})
		} else {
			rt = append(rt, t)
		}
	}
	return newExpr(q.k, qt), newExpr(r.k, rt)
}

// gcdTerms is the greatest divisor that c shares with every coefficient of e's terms (not its constant).
func (e Expr) gcdTerms(c int64) int64 {
	g := c
	for _, t := range e.terms() {
		g = gcd(g, t.coef)
	}
	return g
}

// shrink divides the coefficients of e by g and its constant by g rounding down.
func (e Expr) shrink(g int64) Expr {
	ts := slices.Clone(e.terms())
	for i := range ts {
		ts[i].coef /= g
	}
	out := newExpr(floorDiv(e.k, g), ts)
	return out
}

// single returns the atom that e consists of.
func (e Expr) single() (*atom, bool) {
	if e.k == 0 && len(e.terms()) == 1 && e.terms()[0].coef == 1 && len(e.terms()[0].fac) == 1 {
		return e.terms()[0].fac[0], true
	}
	return nil, false
}

func divisor(a *atom) (int64, bool) {
	if len(a.args) != 2 {
		return 0, false
	}
	return a.args[1].IsConst()
}

// Xor is the bitwise exclusive or of two expressions that are never negative.
func (e Expr) Xor(f Expr) Expr {
	if e.TooLarge() || f.TooLarge() {
		return tooLarge
	}
	if e.Bits()&f.Bits() == 0 {
		return e.Add(f)
	}
	for _, x := range [2][2]Expr{{e, f}, {f, e}} {
		if low, high := x[0].above(x[1]); !high.Is(0) {
			return low.Xor(x[1]).Add(high)
		}
	}
	var args []Expr
	k := int64(0)
	for _, x := range []Expr{e, f} {
		if c, ok := x.IsConst(); ok {
			k ^= c
		} else if a, ok := x.single(); ok && a.op == Xor {
			for _, y := range a.args {
				if c, ok := y.IsConst(); ok {
					k ^= c
				} else {
					args = append(args, y)
				}
			}
		} else {
			args = append(args, x)
		}
	}
	return xorAll(args, k)
}

// above splits e into a part that is not negative and one of multiples of a power of two that f stays below: an
// exclusive or with f leaves the latter as it is, whatever carries there are into it.
func (e Expr) above(f Expr) (low, high Expr) {
	_, hi := f.Range()
	if f.Bits() == math.MaxUint64 || hi >= Unbounded {
		return e, Expr{}
	}
	n := int64(1) << bits.Len64(uint64(hi))
	_, low = e.split(n)
	low = newExpr(low.k, slices.DeleteFunc(slices.Clone(low.terms()), func(t term) bool { return newExpr(0, []term{t}).DivisibleBy(n) }))
	if lo, _ := low.Range(); lo < 0 {
		return e, Expr{}
	}
	return low, e.Sub(low)
}

// xorAll combines terms and a constant into what reading the result's text term by term gives again: terms whose bits are
// not those of any term before them are added.
func xorAll(args []Expr, k int64) Expr {
	for {
		sort.SliceStable(args, func(i, j int) bool { return args[i].Key() < args[j].Key() })
		for i := 0; i+1 < len(args); { // x ^ x = 0
			if args[i].Equal(args[i+1]) {
				args = slices.Delete(args, i, i+2)
			} else {
				i++
			}
		}
		all := args
		if k != 0 {
			all = append(slices.Clone(args), Int(k))
		}
		if len(all) == 0 {
			return Expr{}
		}
		n, bits := 1, all[0].Bits()
		for ; n < len(all) && bits&all[n].Bits() != 0; n++ {
			bits |= all[n].Bits()
		}
		before := all[0]
		if n > 1 {
			before = xorAtom(all[:n:n])
		}
		switch {
		case n == len(all):
			return before
		case n == len(args): // only the constant is left
			return before.Add(Int(k))
		}
		args = append([]Expr{before.Add(all[n])}, args[n+1:]...)
	}
}

func xorAtom(args []Expr) Expr {
	keys, all, mult, least := make([]string, len(args)), uint64(0), int64(0), int64(0)
	for i, x := range args {
		if lo, _ := x.Range(); lo < 0 {
			least = -Unbounded
		}
		keys[i] = x.Key()
		all |= x.Bits()
		mult = gcd(mult, x.known()&-x.known()) // only powers of two survive an exclusive or
	}
	return fromAtom(&atom{op: Xor, args: args, key: "xor(" + strings.Join(keys, ",") + ")",
		lo: least, hi: highest(all), mult: max(1, mult)})
}

// Field is the bits [lo, lo+n) of e, which is never negative, shifted down to bit 0.
func (e Expr) Field(lo, n int) Expr {
	return e.FloorDiv(Int(int64(1) << lo)).Mod(Int(int64(1) << n))
}

// Min is the lesser of e and f.
func (e Expr) Min(f Expr) Expr { return pick(Min, e, f) }

// Max is the greater of e and f.
func (e Expr) Max(f Expr) Expr { return pick(Max, e, f) }

func pick(op Op, e, f Expr) Expr {
	if e.TooLarge() || f.TooLarge() {
		return tooLarge
	}
	elo, ehi := e.bounds()
	flo, fhi := f.bounds()
	if e.Equal(f) || op == Min && ehi <= flo || op == Max && elo >= fhi {
		return e
	}
	if op == Min && fhi <= elo || op == Max && flo >= ehi {
		return f
	}
	if e.Key() > f.Key() {
		e, f, elo, flo, ehi, fhi = f, e, flo, elo, fhi, ehi
	}
	a := &atom{op: op, args: []Expr{e, f}, key: op.String() + "(" + e.Key() + "," + f.Key() + ")",
		mult: gcd(e.known(), f.known())}
	if op == Min {
		a.lo, a.hi = min(elo, flo), min(ehi, fhi)
	} else {
		a.lo, a.hi = max(elo, flo), max(ehi, fhi)
	}
	return fromAtom(a)
}
