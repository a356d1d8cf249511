package algebra

import (
	"math"

	"github.com/gocute/gocute/algebra/sym"
)

// At is the offset at a coordinate: a tuple congruent to the shape, or an index wherever the shape has a
// tuple (CuTe's crd2idx: the left mode varies fastest, the last mode takes what is left).
func (l Layout) At(c Coord) (sym.Expr, error) {
	a, err := l.AtArith(c)
	if err != nil {
		return sym.Expr{}, err
	}
	if !a.IsPlain() {
		return sym.Expr{}, failf("the value %s is a coordinate, not an offset", a).hint("use AtArith").in("at", l, c)
	}
	return a.plain, nil
}

// AtIndex is the offset at a 1-D index, which may be symbolic.
func (l Layout) AtIndex(i sym.Expr) (sym.Expr, error) { return l.At(CoordOf(i)) }

// AtArith is the value at a coordinate; with basis strides it is a coordinate itself.
func (l Layout) AtArith(c Coord) (Arith, error) {
	if err := l.err; err != nil {
		return Arith{}, asError(err).in("at", l, c)
	}
	if e := bad(c); e != nil {
		return Arith{}, e.in("at", l, c)
	}
	if productOf(l.shape).Is(0) {
		return Arith{}, failf("the layout has no coordinates").in("at", l, c)
	}
	var a Arith
	if e := addAt(&a, c.n, l.shape, l.stride); e != nil {
		return Arith{}, e.in("at", l, c)
	}
	if l.sw.B == 0 {
		return a, nil
	}
	if !a.IsPlain() {
		return Arith{}, failf("a swizzle applies to offsets, not to coordinates").in("at", l, c)
	}
	at, ok := a.plain.AddOK(l.off)
	if !ok {
		return Arith{}, failf("%s + %s does not fit 63 bits, or is too large an expression", exprText(l.off), a).in("at", l, c)
	}
	return Arith{plain: l.sw.ApplyExpr(at)}, nil
}

func addAt(a *Arith, c node[index], s node[sym.Expr], d node[Step]) *Error {
	if c.isLeaf() {
		if c.v.free {
			return failf("an Underscore has no value").hint("use Slice")
		}
		return addIndex(a, c.v.e, s, d)
	}
	if s.isLeaf() || len(c.sub) != len(s.sub) {
		return failf("coordinate %s does not fit shape %s", Coord{n: c}, Shape{n: s})
	}
	for i := range c.sub {
		if e := addAt(a, c.sub[i], s.sub[i], d.sub[i]); e != nil {
			return e
		}
	}
	return nil
}

// addIndex adds the value at the 1-D index i.
func addIndex(a *Arith, i sym.Expr, s node[sym.Expr], d node[Step]) *Error {
	if s.isLeaf() {
		return addSteps(a, i, d.v)
	}
	for k := range s.sub {
		if k == len(s.sub)-1 {
			return addIndex(a, i, s.sub[k], d.sub[k])
		}
		n := productOf(s.sub[k])
		q, r := divMod(i, n)
		if e := addIndex(a, r, s.sub[k], d.sub[k]); e != nil {
			return e
		}
		i = q
	}
	return nil
}

// addSteps adds i steps.
func addSteps(a *Arith, i sym.Expr, d Step) *Error {
	way, ok := i.MulOK(d.Coef)
	if ok {
		_, ok = a.Get(d.Basis...).AddOK(way)
	}
	if !ok {
		return failf("%s + %s*%s does not fit 63 bits, or is too large an expression", a, exprText(i), d)
	}
	*a = a.addStep(Step{way, d.Basis}.norm())
	return nil
}

// divMod divides as C does where both are constants (negative indices included).
func divMod(i, n sym.Expr) (q, r sym.Expr) {
	a, ok1 := i.IsConst()
	b, ok2 := n.IsConst()
	if ok1 && ok2 {
		return sym.Int(a / b), sym.Int(a % b)
	}
	return i.FloorDiv(n), i.Mod(n)
}

// AtInt is the offset at a 1-D index of a static layout (IsStatic), and math.MinInt64 for any other and for an offset that
// does not fit 63 bits.
func (l Layout) AtInt(i int64) int64 {
	v, ok := int64(0), true
	intAt(l.shape, l.stride, &i, &v, true, &ok)
	off, okOff := l.off.IsConst()
	if !ok || !okOff {
		return math.MinInt64
	}
	if l.sw.B == 0 {
		return v
	}
	if v, ok = sym.MulAdd(v, 1, off); !ok {
		return math.MinInt64
	}
	return l.sw.Apply(v)
}

func intAt(s node[sym.Expr], d node[Step], i, v *int64, last bool, ok *bool) {
	if s.isLeaf() {
		n, ok1 := s.v.IsConst()
		step, ok2 := d.v.IsConst()
		if !ok1 || !ok2 || n == 0 {
			*ok = false
			return
		}
		at := *i
		if !last {
			at, *i = at%n, at/n
		}
		if *v, ok1 = sym.MulAdd(at, step, *v); !ok1 {
			*ok = false
		}
		return
	}
	for k := range s.sub {
		intAt(s.sub[k], d.sub[k], i, v, last && k == len(s.sub)-1, ok)
	}
}

// fn is a static layout prepared for evaluation at many indices.
type fn struct {
	s, d []int64
	sw   Swizzle
	off  int64
	n    int64 // the size
}

// intFn prepares l, if it is static.
func intFn(l Layout) (*fn, bool) {
	f := &fn{sw: l.sw, n: 1}
	var ok bool
	if f.off, ok = l.off.IsConst(); !ok {
		return nil, false
	}
	if !intLeaves(l.shape, l.stride, f) {
		return nil, false
	}
	for _, n := range f.s {
		if n < 1 {
			return nil, false
		}
	}
	return f, true
}

func intLeaves(s node[sym.Expr], d node[Step], f *fn) bool {
	if s.isLeaf() {
		n, ok1 := s.v.IsConst()
		step, ok2 := d.v.IsConst()
		f.s, f.d, f.n = append(f.s, n), append(f.d, step), f.n*n
		return ok1 && ok2 && n != 0
	}
	for k := range s.sub {
		if !intLeaves(s.sub[k], d.sub[k], f) {
			return false
		}
	}
	return true
}

func (f *fn) at(i int64) int64 {
	v, last := int64(0), len(f.s)-1
	for k := 0; k < last; k++ {
		n := f.s[k]
		q := i / n
		v += (i - q*n) * f.d[k]
		i = q
	}
	if last >= 0 {
		v += i * f.d[last]
	}
	if f.sw.B != 0 {
		v = f.sw.Apply(v + f.off)
	}
	return v
}

// Cosize is one more than the largest offset of the inner layout, each stride taken positive; for basis
// strides it is the product of that over the modes of the coordinate.
func (l Layout) Cosize() (sym.Expr, error) {
	if e := bad(l); e != nil {
		return sym.Expr{}, e.in("cosize", l)
	}
	e, err := cosize(l)
	if err == nil && e.TooLarge() {
		err = failf("the result%s", beyond)
	}
	return e, err.in("cosize", l)
}

func cosize(l Layout) (sym.Expr, *Error) {
	var a Arith
	one := sym.Int(1)
	for _, m := range flatModes(l.shape, l.stride) {
		d := m.d
		if lo, hi := d.Coef.Range(); hi <= 0 {
			d.Coef = d.Coef.Neg()
		} else if lo < 0 {
			return sym.Expr{}, failf("the sign of stride %s is not known", d)
		}
		a = a.addStep(d.Times(m.s.Sub(one)))
	}
	if len(a.parts) == 0 {
		return a.plain.Add(one), nil
	}
	out := one
	for _, p := range a.parts {
		out = out.Mul(p.Coef.Add(one))
	}
	return out, nil
}
