package algebra

import (
	"fmt"
	"math"
	"slices"

	"github.com/gocute/gocute/algebra/sym"
)

// values prepares A for evaluation as vectors over generators: constants are multiples of 1, each basis and
// each symbolic stride is a generator of its own. Two layouts that agree in every generator agree for every
// value of the symbols.
type values struct {
	gens  []Step // the generators
	parts []part // one for each target
}

type part struct {
	path []int
	ext  []int64 // digits are taken mod these; the last is endless
	vec  [][]int64
}

// newValues fails if an extent of A that matters is symbolic.
func newValues(c *composer) (*values, *Error) {
	v := &values{}
	for _, t := range c.targets {
		if !t.ok {
			return nil, failf("the extents of %s must be constants", c.a)
		}
		p := part{path: t.path, ext: t.ext}
		for _, m := range t.ms {
			p.vec = append(p.vec, v.vector(m.d))
		}
		v.parts = append(v.parts, p)
	}
	return v, nil
}

// monomial is one term of a stride: a constant times a product of symbols.
type monomial struct {
	gen  Step
	coef int64
}

func monomials(d Step) []monomial {
	if n, ok := d.Coef.IsConst(); ok {
		return []monomial{{Step{sym.Int(1), d.Basis}, n}}
	}
	var out []monomial
	for _, t := range d.Coef.Terms() {
		fs, n, _ := factors(t)
		out = append(out, monomial{Step{sym.Product(fs...), d.Basis}, n})
	}
	return out
}

// vector writes d as a vector, adding the generators that are new. Vectors may be shorter than gens: what is
// missing is 0.
func (v *values) vector(d Step) []int64 {
	var vec []int64
	for _, m := range monomials(d) {
		i := slices.IndexFunc(v.gens, m.gen.Equal)
		if i < 0 {
			i = len(v.gens)
			v.gens = append(v.gens, m.gen)
		}
		for len(vec) <= i {
			vec = append(vec, 0)
		}
		vec[i] += m.coef
	}
	return vec
}

// step turns a vector back into a stride; a sum of unlike generators is none.
func (v *values) step(vec []int64) (Step, bool) {
	var out Step
	for i, n := range vec {
		if n == 0 {
			continue
		}
		s := v.gens[i].Times(sym.Int(n))
		if !out.Coef.Is(0) {
			if !slices.Equal(out.Basis, s.Basis) {
				return Step{}, false
			}
			s.Coef = s.Coef.Add(out.Coef)
		}
		out = s
	}
	return out, true
}

// within reports whether no value of A at the indices of B's leaves is beyond 63 bits.
func (v *values) within(leaves []bLeaf) bool {
	sum := 0.0
	for p, part := range v.parts {
		reach := 0.0
		for _, l := range leaves {
			if l.part == p {
				reach += float64(l.s-1) * math.Abs(float64(l.d))
			}
		}
		for k, vec := range part.vec {
			digit := reach
			if k < len(part.vec)-1 {
				digit = min(reach, float64(part.ext[k]-1))
			}
			for _, n := range vec {
				sum += digit * math.Abs(float64(n))
			}
		}
	}
	return sum < sym.Unbounded
}

// add adds the value of A at the index i of a part.
func (v *values) add(out []int64, p *part, i int64) {
	last := len(p.ext) - 1
	for k, vec := range p.vec {
		digit := i
		if k < last {
			digit = i % p.ext[k]
			i /= p.ext[k]
		}
		for g, n := range vec {
			out[g] += digit * n
		}
	}
}

// bLeaf is one leaf of B and where its index goes.
type bLeaf struct {
	s, d int64
	part int
}

func (v *values) leaves(b Layout, targets []*target) ([]bLeaf, int64, *Error) {
	var out []bLeaf
	size := int64(1)
	for _, m := range flatModes(b.shape, b.stride) {
		n, ok1 := m.s.IsConst()
		d, ok2 := m.d.Coef.IsConst()
		if !ok1 || !ok2 {
			return nil, 0, failf("%s:%s is symbolic, and facts do not prove the closed form", m.s, m.d)
		}
		p := slices.IndexFunc(targets, func(t *target) bool { return slices.Equal(t.path, m.d.Basis) })
		out, size = append(out, bLeaf{n, d, p}), size*n // within 2^48, as B was bounded
	}
	return out, size, nil
}

const noLayout = "no layout expresses A∘B: "

// verify checks the closed form r of A∘B at every coordinate; if it is wrong, or there is none, it fits the
// values leaf by leaf. What no fit expresses, no layout does.
func (c *composer) verify(b, r Layout) (Layout, *Error) {
	v, e := newValues(c)
	if e != nil {
		return Layout{}, c.because(e)
	}
	leaves, size, e := v.leaves(b, c.targets)
	if e != nil {
		return Layout{}, c.because(e)
	}
	if size > EvalLimit {
		return Layout{}, c.because(failf("%d coordinates are too many to verify (limit %d)", size, EvalLimit))
	}
	if !v.within(leaves) {
		return Layout{}, c.because(failf("a value%s", beyond))
	}
	ref := &composed{v: v, leaves: leaves, size: size}
	var wrong *Error
	if c.fail == nil {
		if wrong = ref.compare(r); wrong == nil {
			return r, nil
		}
	} else {
		wrong = c.fail
	}
	s, d, e := c.fitWalk(ref, b.shape, new(int))
	if e == nil {
		fit := plain(s, d)
		if e = ref.compare(fit); e == nil {
			return fit, nil
		}
		e.hint("%s", ref.nearby())
	}
	if wrong.HasCoord {
		e.HasCoord, e.Coord, e.Got, e.Want = true, wrong.Coord, wrong.Got, wrong.Want
	}
	e.Condition = noLayout + e.Condition
	return Layout{}, e
}

// because reports e, or the condition of the closed form that failed before it.
func (c *composer) because(e *Error) *Error {
	if c.fail != nil {
		return c.fail
	}
	return failf("the leaves of B carry into one another in A, and %s", e.Condition)
}

// composed is the function A∘B.
type composed struct {
	v      *values
	leaves []bLeaf
	size   int64
}

// at is the value at the 1-D coordinate i.
func (f *composed) at(i int64, idx, out []int64) {
	clear(idx)
	clear(out)
	for _, l := range f.leaves {
		if l.part >= 0 {
			idx[l.part] += i % l.s * l.d
		}
		i /= l.s
	}
	for p := range f.v.parts {
		f.v.add(out, &f.v.parts[p], idx[p])
	}
}

// image is f and r, if A has one part and one generator, which is 1, and all is static.
func (f *composed) image(rm []mode) (m *image, r *fn) {
	if len(f.v.gens) != 1 || len(f.v.gens[0].Basis) > 0 || !f.v.gens[0].Coef.Is(1) || len(f.v.parts) != 1 {
		return nil, nil
	}
	p := &f.v.parts[0]
	a, b, r := &fn{s: p.ext, d: make([]int64, len(p.ext))}, &fn{n: f.size}, &fn{n: f.size}
	for k, v := range p.vec {
		a.d[k] = v[0]
	}
	for _, l := range f.leaves {
		b.s, b.d = append(b.s, l.s), append(b.d, l.d)
	}
	for _, x := range rm {
		s, ok1 := x.s.IsConst()
		d, ok2 := x.d.IsConst()
		if !ok1 || !ok2 {
			return nil, nil
		}
		r.s, r.d = append(r.s, s), append(r.d, d)
	}
	return newImage(a, b, Swizzle{}, 0), r
}

// compare returns the first coordinate at which r differs from f.
func (f *composed) compare(r Layout) *Error {
	rm := flatModes(r.shape, r.stride)
	if len(rm) == 0 {
		return nil
	}
	first := int64(0)
	if m, to := f.image(rm); m != nil {
		if first = m.unlike(to); first < 0 {
			return nil
		}
	}
	rv := make([][]int64, len(rm))
	ext := make([]int64, len(rm))
	for k, m := range rm {
		ext[k], _ = m.s.IsConst()
		rv[k] = f.v.vector(m.d)
	}
	g := len(f.v.gens)
	idx, want, got := make([]int64, len(f.v.parts)), make([]int64, g), make([]int64, g)
	for i := first; i < f.size; i++ {
		f.at(i, idx, want)
		clear(got)
		rest := i
		for k, vec := range rv {
			digit := rest % ext[k]
			rest /= ext[k]
			for j, n := range vec {
				got[j] += digit * n
			}
		}
		if !slices.Equal(got, want) {
			gs, ws := f.v.text(got), f.v.text(want)
			return failf("coordinate %d gives %s where A(B(%d)) is %s", i, gs, i, ws).at(i, gs, ws)
		}
	}
	return nil
}

func (v *values) text(vec []int64) string {
	var a Arith
	for i, n := range vec {
		a = a.addStep(v.gens[i].Times(sym.Int(n)))
	}
	return a.String()
}

func (c *composer) fitWalk(f *composed, s node[sym.Expr], leaf *int) (node[sym.Expr], node[Step], *Error) {
	if s.isLeaf() {
		l := f.leaves[*leaf]
		*leaf++
		return f.fitLeaf(l)
	}
	ss, ds := make([]node[sym.Expr], len(s.sub)), make([]node[Step], len(s.sub))
	for i := range s.sub {
		var e *Error
		if ss[i], ds[i], e = c.fitWalk(f, s.sub[i], leaf); e != nil {
			return s, node[Step]{}, e
		}
	}
	return node[sym.Expr]{sub: ss}, node[Step]{sub: ds}, nil
}

// fitLeaf fits the values along one leaf of B, the others at 0.
func (f *composed) fitLeaf(l bLeaf) (node[sym.Expr], node[Step], *Error) {
	if l.part < 0 || l.s == 1 {
		return leafOf(sym.Int(l.s)), leafOf(Step{}), nil
	}
	vals, g := f.values(l)
	ext, vec, ok := fit(vals, g)
	if !ok {
		return node[sym.Expr]{}, node[Step]{}, failf("the values along %d:%d, %s, are those of no layout", l.s, l.d, f.v.sample(vals, g)).hint("%s", f.nearLeaf(l))
	}
	ss, ds := make([]sym.Expr, len(ext)), make([]Step, len(ext))
	for i := range ext {
		ss[i] = sym.Int(ext[i])
		if ds[i], ok = f.v.step(vec[i]); !ok {
			return node[sym.Expr]{}, node[Step]{}, failf("the step %s mixes modes of the coordinate", f.v.text(vec[i])).hint("%s", f.nearLeaf(l))
		}
	}
	if len(ss) == 1 {
		return leafOf(ss[0]), leafOf(ds[0]), nil
	}
	return flatTuple(ss), flatTuple(ds), nil
}

func (v *values) sample(vals []int64, g int) string {
	out := ""
	for i := 0; i < len(vals)/g && i < 8; i++ {
		if i > 0 {
			out += " "
		}
		out += v.text(vals[i*g : (i+1)*g])
	}
	if len(vals)/g > 8 {
		out += fmt.Sprintf(" … (%d)", len(vals)/g)
	}
	return out
}

// fit finds extents and steps of a layout with the given values (g numbers each, the first all 0): an n that
// divides their number with f(i + n*j) = i*f(1) + f(n*j), and so on for f(n*j). It tries every such n, the
// largest first, so failing is a proof.
func fit(vals []int64, g int) (ext []int64, vec [][]int64, ok bool) {
	count := len(vals) / g
	if count == 1 {
		return nil, nil, true
	}
	d := vals[g : 2*g]
	for n := count; n > 1; n-- {
		if count%n != 0 || !linearBlocks(vals, g, n, d) {
			continue
		}
		if n == count {
			return []int64{int64(n)}, [][]int64{d}, true
		}
		next := make([]int64, 0, len(vals)/n)
		for j := 0; j < count; j += n {
			next = append(next, vals[j*g:(j+1)*g]...)
		}
		if e, v, found := fit(next, g); found {
			return append([]int64{int64(n)}, e...), append([][]int64{d}, v...), true
		}
	}
	return nil, nil, false
}

func linearBlocks(vals []int64, g, n int, d []int64) bool {
	for i := 0; i < len(vals)/g; i++ {
		base := i - i%n
		for k := range g {
			if vals[i*g+k] != vals[base*g+k]+int64(i-base)*d[k] {
				return false
			}
		}
	}
	return true
}
