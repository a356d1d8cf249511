package algebra

import (
	"slices"

	"github.com/gocute/gocute/algebra/sym"
)

// Every layout is one whose extents are primes (n:d is p:d and then n/p:p*d), so a search through the orders of
// prime extents, with the steps as unknowns of a linear system, finds a layout with given values at given points
// or proves that there is none.

const (
	proofVars = 18      // unknown steps
	proofTop  = 1 << 16 // the greatest prime tried, and the greatest offset of a proof
	proofWork = 1 << 16 // spots looked at
)

// coefs are those of the unknown steps, and last that of a number that is asked for.
type coefs [proofVars + 1]int64

// equation is Σ c[j]*d[j] = k.
type equation struct {
	c coefs
	k int64
}

// lead is the first unknown of an equation, or -1.
func (e *equation) lead() int {
	return slices.IndexFunc(e.c[:proofVars], func(c int64) bool { return c != 0 })
}

// cancel removes the unknown that row leads with; ok is false if numbers grow too large.
func (e *equation) cancel(row *equation, at int) (ok bool) {
	g := gcd(e.c[at], row.c[at])
	x, y := row.c[at]/g, e.c[at]/g
	h := int64(0)
	for j := range e.c {
		e.c[j] = e.c[j]*x - row.c[j]*y
		h = gcd(h, e.c[j])
	}
	e.k = e.k*x - row.k*y
	if h = gcd(h, e.k); h > 1 {
		for j := range e.c {
			e.c[j] /= h
		}
		e.k /= h
	}
	for _, c := range append(e.c[:], e.k) {
		if c > 1<<30 || c < -1<<30 {
			return false
		}
	}
	return true
}

// spot is where a function may have any of some values.
type spot struct {
	x  int64
	ys []int64
}

// unknowns is a spot of which Σ c[j]*d[j] is taken out already: it is y - Σ c[j]*d[j] for one y of ys.
type unknowns struct {
	x  int64
	c  coefs
	ys []int64
}

// proof searches; exact stays true as long as what was left out cannot be a layout.
type proof struct {
	primes []int64
	work   int
	exact  bool
	found  []mode
}

// digit is an extent and its unknown step, or -1.
type digit struct {
	n       int64
	unknown int
}

// reduce takes out what the rows lead with; ok is false if numbers grow too large.
func (p *proof) reduce(rows []equation, e *equation) (ok bool) {
	for i := range rows {
		if at := rows[i].lead(); e.c[at] != 0 && !e.cancel(&rows[i], at) {
			p.exact = false
			return false
		}
	}
	return true
}

// implied is the k with Σ c[j]*d[j] = k that rows imply. Where they imply none, free is true; without either there is
// no integer.
func (p *proof) implied(rows []equation, c *coefs) (k int64, ok, free bool) {
	e := equation{c: *c}
	e.c[proofVars] = -1
	if !p.reduce(rows, &e) {
		return 0, false, false
	}
	if e.lead() >= 0 {
		return 0, false, true
	}
	a := e.c[proofVars]
	return e.k / a, e.k%a == 0, false
}

// with lists rows with Σ c[j]*d[j] = k, which they do not imply.
func (p *proof) with(rows []equation, c *coefs, k int64) ([]equation, bool) {
	e := equation{*c, k}
	if p.work--; p.work < 0 || !p.reduce(rows, &e) {
		p.exact = false
		return nil, false
	}
	return append(slices.Clone(rows), e), true
}

// steps solves for integers. Adding multiples of columns to others, which changes the unknowns d to y with
// d = u*y, leaves one coefficient more in each row than in the row before, so that each row gives one y.
func (p *proof) steps(rows []equation, vars int) ([]int64, bool) {
	a, u, y := make([]coefs, len(rows)), make([]coefs, vars), make([]int64, vars)
	for i := range rows {
		a[i] = rows[i].c
	}
	for i := range u {
		u[i][i] = 1
	}
	for r := range a {
		if !clearBeyond(a[r:], u, r, vars) {
			p.exact = false
			return nil, false
		}
		k := rows[r].k
		for j := range r {
			k -= a[r][j] * y[j]
		}
		if k%a[r][r] != 0 {
			return nil, false
		}
		y[r] = k / a[r][r]
	}
	d := make([]int64, vars)
	for i := range d {
		for j := range y {
			d[i] += u[i][j] * y[j]
		}
	}
	return d, true
}

// clearBeyond makes the coefficients of the first row of a behind column r zero; ok is false if numbers grow too large.
func clearBeyond(a, u []coefs, r, vars int) (ok bool) {
	for j := r + 1; j < vars; j++ {
		for a[0][j] != 0 {
			q := a[0][r] / a[0][j]
			for _, m := range [][]coefs{a, u} {
				for i := range m {
					m[i][r], m[i][j] = m[i][j], m[i][r]-q*m[i][j]
					if m[i][j] > 1<<30 || m[i][j] < -1<<30 {
						return false
					}
				}
			}
		}
	}
	return true
}

// search splits the spots further: they satisfy rows, with an unknown for each of the extents so far, except those
// whose digit is 0 at every spot.
func (p *proof) search(pts []unknowns, rows []equation, ext []digit, vars int) bool {
	if p.work -= len(pts); p.work < 0 || vars == proofVars {
		p.exact = false
		return false
	}
	top := pts[len(pts)-1].x
	if p.last(pts, rows, vars, func(d []int64) bool {
		for _, e := range append(slices.Clone(ext), digit{top + 1, vars}) {
			m := mode{s: sym.Int(e.n)}
			if e.unknown >= 0 {
				m.d = Step{Coef: sym.Int(d[e.unknown])}
			}
			p.found = append(p.found, m)
		}
		return true
	}) {
		return true
	}
	for _, n := range p.primes {
		if n > top {
			break
		}
		if p.work < 0 {
			p.exact = false
			break
		}
		unknown, used := -1, vars
		if slices.ContainsFunc(pts, func(q unknowns) bool { return q.x%n != 0 }) {
			unknown, used = vars, vars+1
		}
		if p.split(pts, nil, rows, n, vars, func(next []unknowns, rows []equation) bool {
			return p.search(next, rows, append(slices.Clone(ext), digit{n, unknown}), used)
		}) {
			return true
		}
	}
	return false
}

// last tries one step for all that is left.
func (p *proof) last(pts []unknowns, rows []equation, vars int, then func(d []int64) bool) bool {
	for i := range pts {
		c := pts[i].c
		c[vars] = pts[i].x
		k, ok, free := p.implied(rows, &c)
		if free {
			return slices.ContainsFunc(pts[i].ys, func(y int64) bool {
				more, ok := p.with(rows, &c, y)
				return ok && p.last(pts[i+1:], more, vars, then)
			})
		}
		if _, has := slices.BinarySearch(pts[i].ys, k); !ok || !has {
			return false
		}
	}
	d, ok := p.steps(rows, vars+1)
	return ok && then(d)
}

// split takes the digit x mod n out, whose step is a new unknown. Spots of one quotient become one; next is its own.
func (p *proof) split(pts, next []unknowns, rows []equation, n int64, vars int, then func([]unknowns, []equation) bool) bool {
	for i, q := range pts {
		p.work--
		q.c[vars] = q.x % n
		q.x /= n
		at := len(next) - 1
		if at < 0 || next[at].x != q.x {
			next = append(next, q)
			continue
		}
		for j := range q.c {
			q.c[j] -= next[at].c[j]
		}
		first := next[at].ys
		k, ok, free := p.implied(rows, &q.c)
		if free {
			return slices.ContainsFunc(differences(q.ys, first), func(k int64) bool {
				more, ok := p.with(rows, &q.c, k)
				p.work -= len(next) // what copying them costs
				both := slices.Clone(next)
				both[at].ys = common(first, q.ys, k)
				return ok && p.split(pts[i+1:], both, more, n, vars, then)
			})
		}
		if next[at].ys = common(first, q.ys, k); !ok || len(next[at].ys) == 0 {
			return false
		}
	}
	return then(next, rows)
}

// common lists the numbers of a that are d less than one of b. All are sorted.
func common(a, b []int64, d int64) (out []int64) {
	for _, y := range a {
		for len(b) > 0 && b[0] < y+d {
			b = b[1:]
		}
		if len(b) > 0 && b[0] == y+d {
			out = append(out, y)
		}
	}
	return out
}

// differences lists what a number of a can be more than one of b.
func differences(a, b []int64) []int64 {
	out := make([]int64, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			out = append(out, x-y)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// proveLeft looks for a layout that has one of its values at each spot, sorted by x from 0 on. exact tells that
// there is none if none was found.
func proveLeft(spots []spot) (r Layout, found, exact bool) {
	top := spots[len(spots)-1].x
	p := &proof{work: proofWork, exact: top <= proofTop, primes: primesTo(min(top, proofTop))}
	start := make([]unknowns, len(spots))
	for i, q := range spots {
		start[i] = unknowns{x: q.x, ys: q.ys}
	}
	if !p.search(start, nil, nil, 0) {
		return Layout{}, false, p.exact
	}
	return coalesce(layoutOf(p.found)), true, true
}

func primesTo(top int64) (out []int64) {
	composite := make([]bool, top+1)
	for n := int64(2); n <= top; n++ {
		if composite[n] {
			continue
		}
		out = append(out, n)
		for k := n * n; k <= top; k += n {
			composite[k] = true
		}
	}
	return out
}
