package algebra

import (
	"slices"

	"github.com/gocute/gocute/algebra/sym"
)

// EvalLimit is the largest number of coordinates that a result is verified over by evaluation. A larger
// result needs a closed form that is proved to be right, or is refused.
const EvalLimit = 1 << 22

// Compose is A∘B: the layout R, compatible with B, for which R(c) = A(B(c)). The last mode of A counts as
// endless, as in CuTe.
func Compose(a, b Layout) (Layout, error) {
	if a.err == nil && b.err == nil && b.sw.B == 0 {
		if r, ok := composeInt(&a, &b); ok {
			return a.rewrap(r), nil
		}
	}
	if e := bad(a, b); e != nil {
		return Layout{}, e.in("composition", a, b)
	}
	r, e := settled(compose(a, b))
	if e != nil {
		return Layout{}, e.in("composition", a, b)
	}
	return r, nil
}

// WithShape is l seen in another shape of the same index order: l ∘ Compact(shape).
func WithShape(l Layout, shape Shape) (Layout, error) {
	if e := bad(l, extents(shape)); e != nil {
		return Layout{}, e.in("with_shape", l, shape)
	}
	r, e := settled(compose(l, Compact(shape)))
	return r, e.in("with_shape", l, shape)
}

func compose(a, b Layout) (Layout, *Error) {
	if b.sw.B != 0 {
		return composeSwizzled(a, b)
	}
	r, e := composePlain(a.Plain(), b)
	if e != nil {
		return Layout{}, e
	}
	return a.rewrap(r), nil
}

// target is one coalesced part of A that B's steps run through: all of A for plain steps, a mode of A for
// basis steps.
type target struct {
	path []int
	ms   []mode
	ext  []int64 // the extents, if all but the last are constant
	ok   bool
	top  []int64 // the greatest digit in each mode, summed over B's leaves
}

type composer struct {
	a       Layout
	targets []*target
	exact   bool   // every leaf's closed form is proved for itself
	fail    *Error // the first leaf that has no closed form
}

func (c *composer) target(path []int) (*target, *Error) {
	for _, t := range c.targets {
		if slices.Equal(t.path, path) {
			return t, nil
		}
	}
	s, ok := c.a.shape.path(path)
	d, _ := c.a.stride.path(path)
	if !ok {
		return nil, failf("basis %v leads to no mode of %s", path, c.a)
	}
	t := &target{path: path, ms: mergeModes(flatModes(s, d), true), ok: true}
	if len(t.ms) == 0 {
		t.ms = []mode{{s: sym.Int(1)}} // an empty tuple has one coordinate
	}
	t.top = make([]int64, len(t.ms))
	t.ext = make([]int64, len(t.ms))
	for i, m := range t.ms {
		n, ok := m.s.IsConst()
		t.ext[i] = n
		t.ok = t.ok && (ok || i == len(t.ms)-1)
	}
	c.targets = append(c.targets, t)
	return t, nil
}

// composePlain tries CuTe's rule on each leaf of B, proves that it holds for all leaves together (no
// digit of A overflows), and otherwise verifies it, then fits the values.
func composePlain(a, b Layout) (Layout, *Error) {
	if r, ok := composeInt(&a, &b); ok {
		return r, nil
	}
	return composeGeneral(a, b)
}

func composeGeneral(a, b Layout) (Layout, *Error) {
	c := &composer{a: a, exact: true}
	s, d, e := c.walk(b.shape, b.stride)
	if e != nil {
		return Layout{}, e
	}
	r := plain(s, d)
	if c.fail == nil && c.exact && c.carryFree() {
		return r, nil
	}
	return c.verify(b, r)
}

// carryFree reports whether the digits that B's leaves set in each mode of A never add up to a carry.
func (c *composer) carryFree() bool {
	for _, t := range c.targets {
		for k := 0; k+1 < len(t.ms); k++ {
			if !t.ok || t.top[k] >= t.ext[k] {
				if t.top[k] >= least(t.ms[k].s) {
					return false
				}
			}
		}
	}
	return true
}

func (c *composer) walk(s node[sym.Expr], d node[Step]) (node[sym.Expr], node[Step], *Error) {
	if s.isLeaf() {
		return c.leaf(s.v, d.v)
	}
	ss, ds := make([]node[sym.Expr], len(s.sub)), make([]node[Step], len(s.sub))
	for i := range s.sub {
		var e *Error
		if ss[i], ds[i], e = c.walk(s.sub[i], d.sub[i]); e != nil {
			return s, d, e
		}
	}
	return node[sym.Expr]{sub: ss}, node[Step]{sub: ds}, nil
}

func (c *composer) leaf(s sym.Expr, d Step) (node[sym.Expr], node[Step], *Error) {
	if d.Coef.Is(0) {
		return leafOf(s), leafOf(Step{}), nil
	}
	t, e := c.target(d.Basis)
	if e != nil {
		return node[sym.Expr]{}, node[Step]{}, e
	}
	n, ok1 := s.IsConst()
	step, ok2 := d.Coef.IsConst()
	if len(t.ms) == 1 && !ok2 {
		return leafOf(s), leafOf(t.ms[0].d.Times(d.Coef)), nil
	}
	if len(t.ms) == 1 {
		r, e := scaled(t.ms[0].d, step)
		return leafOf(s), leafOf(r), e
	}
	var rs []sym.Expr
	var rd []Step
	if ok1 && ok2 && t.ok {
		rs, rd, e = c.leafInt(t, n, step)
	} else {
		rs, rd, e = c.leafSym(t, s, d.Coef)
		if e != nil {
			return node[sym.Expr]{}, node[Step]{}, e
		}
	}
	if e != nil {
		if c.fail == nil {
			c.fail = e
		}
		return leafOf(s), leafOf(Step{}), nil // a placeholder: verify fits this leaf
	}
	if len(rs) == 1 {
		return leafOf(rs[0]), leafOf(rd[0]), nil
	}
	return flatTuple(rs), flatTuple(rd), nil
}

func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }

// leafInt is CuTe's rule for s:d through the modes of A with constant extents: skip what d steps over,
// take what is left of each mode, carry into the next.
func (c *composer) leafInt(t *target, s, d int64) ([]sym.Expr, []Step, *Error) {
	var rs []sym.Expr
	var rd []Step
	last := len(t.ms) - 1
	sign := int64(1)
	if d < 0 {
		c.exact, sign, d = false, -1, -d // digits of negative indices: left to verification
	}
	rest := s
	for k := 0; k < last; k++ {
		a := t.ext[k]
		if d%a != 0 && d > a && sign > 0 {
			return nil, nil, failf("stride %d of %d:%d steps across mode %d of extent %d, and neither divides the other", d, s, d, k, a)
		}
		n, next := ceilDiv(a, d), ceilDiv(d, a)
		if n == 1 || rest == 1 {
			d = next
			continue
		}
		n = min(n, rest)
		if rest%n != 0 {
			return nil, nil, failf("extent %d does not divide %d where mode %d of extent %d ends", n, rest, k, a)
		}
		if rest > n && a%d != 0 {
			c.exact = false // a carry that is not a whole step
		}
		t.top[k] += (n - 1) * d
		r, e := scaled(t.ms[k].d, sign*d)
		if e != nil {
			return nil, nil, e
		}
		rs, rd = append(rs, sym.Int(n)), append(rd, r)
		rest, d = rest/n, next
	}
	if len(rs) == 0 || rest != 1 {
		r, e := scaled(t.ms[last].d, sign*d)
		if e != nil {
			return nil, nil, e
		}
		rs, rd = append(rs, sym.Int(rest)), append(rd, r)
	}
	return rs, rd, nil
}

// leafSym is the same rule where extents or steps are symbolic. It takes a step only if facts prove it,
// and names the missing one otherwise.
func (c *composer) leafSym(t *target, s, d sym.Expr) ([]sym.Expr, []Step, *Error) {
	var rs []sym.Expr
	var rd []Step
	one := sym.Int(1)
	last := len(t.ms) - 1
	rest := s
	for k := 0; k < last && !rest.Is(1); k++ {
		a := t.ms[k].s
		if fits(rest.Sub(one).Mul(d), a) { // everything stays inside this mode
			if _, hi := rest.Sub(one).Mul(d).Range(); hi < sym.Unbounded {
				t.top[k] = min(t.top[k]+hi, sym.Unbounded)
			} else {
				c.exact = false
			}
			rs, rd, rest = append(rs, rest), append(rd, t.ms[k].d.Times(d)), one
			break
		}
		if q, ok := divides(a, d); ok { // d steps over this mode
			d = q
			continue
		}
		n, ok := divides(d, a)
		if !ok {
			return nil, nil, failf("stride %s and the extent %s of mode %d are not known to divide one another", d, a, k).hint("state the fact %s %% %s == 0", a, d)
		}
		q, ok := divides(n, rest)
		if !ok {
			e := failf("it is not known whether the %s steps of %s stay inside mode %d of extent %s", rest, d, k, a)
			if _, isConst := rest.Mul(d).IsConst(); isConst {
				return nil, nil, e.hint("state the fact %s %% %s == 0", a, rest.Mul(d))
			}
			return nil, nil, e.hint("state the fact %s %% %s == 0", rest, n)
		}
		if _, hi := a.Sub(d).Range(); hi < sym.Unbounded {
			t.top[k] = min(t.top[k]+hi, sym.Unbounded)
		} else {
			c.exact = false
		}
		rs, rd, rest, d = append(rs, n), append(rd, t.ms[k].d.Times(d)), q, one
	}
	if len(rs) == 0 || !rest.Is(1) {
		rs, rd = append(rs, rest), append(rd, t.ms[last].d.Times(d))
	}
	return rs, rd, nil
}

// fits reports whether the index i, never negative, is known to stay below n.
func fits(i, n sym.Expr) bool {
	lo, _ := i.Range()
	gap, _ := n.Sub(i).Range()
	if lo < 0 {
		return false
	}
	if gap >= 1 {
		return true
	}
	_, hi := i.Range()
	return hi < least(n)
}

// least is a lower bound of e: what is positive and a multiple of m is at least m.
func least(e sym.Expr) int64 {
	lo, _ := e.Range()
	if lo >= 1 {
		lo = max(lo, e.Multiple())
	}
	return lo
}

// divides returns b / a if a is known to divide b.
func divides(a, b sym.Expr) (sym.Expr, bool) {
	if a.Equal(b) {
		return sym.Int(1), true
	}
	if n, ok := a.IsConst(); ok {
		if n < 1 || !b.DivisibleBy(n) {
			return sym.Expr{}, false
		}
		return b.FloorDiv(a), true
	}
	if q, ok := quotient(b, a); ok {
		return q, true
	}
	return sym.Expr{}, false
}

// quotient is b / a where every term of b has a's only term as a factor.
func quotient(b, a sym.Expr) (sym.Expr, bool) {
	fa, ca, ok := factors(a)
	if !ok {
		return sym.Expr{}, false
	}
	var out sym.Expr
	for _, t := range b.Terms() {
		ft, ct, ok := factors(t)
		if !ok || ct%ca != 0 {
			return sym.Expr{}, false
		}
		for _, f := range fa {
			i := slices.IndexFunc(ft, f.Equal)
			if i < 0 {
				return sym.Expr{}, false
			}
			ft = slices.Delete(slices.Clone(ft), i, i+1)
		}
		out = out.Add(sym.Product(ft...).Mul(sym.Int(ct / ca)))
	}
	return out, true
}

// factors takes a single product apart into its constant and its other factors.
func factors(e sym.Expr) ([]sym.Expr, int64, bool) {
	switch v := e.View(); v.Op {
	case sym.Const:
		return nil, v.Value, v.Value != 0
	case sym.Add:
		return nil, 0, false
	case sym.Mul:
		coef := int64(1)
		var fs []sym.Expr
		for _, f := range v.Args {
			if n, ok := f.IsConst(); ok {
				coef *= n
			} else {
				fs = append(fs, f)
			}
		}
		return fs, coef, true
	}
	return []sym.Expr{e}, 1, true
}
