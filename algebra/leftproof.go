package algebra

import (
	"slices"

	"github.com/gocute/gocute/algebra/sym"
)

// Every layout is one whose extents are primes (n:d is p:d and then n/p:p*d), so a search through the orders of
// prime extents, with the steps as unknowns of a linear system, finds a layout with given values at given points
// or proves that there is none.

const (
	proofVars = 12      // unknown steps
	proofTop  = 1 << 12 // the greatest point
	proofWork = 1 << 23 // points looked at
)

// equation is Σ c[j]*d[j] = k.
type equation struct {
	c [proofVars]int64
	k int64
}

// lead is the first unknown of an equation, or -1.
func (e *equation) lead() int {
	return slices.IndexFunc(e.c[:], func(c int64) bool { return c != 0 })
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

// unknowns is a point (x, y) of which Σ c[j]*d[j] is taken out already.
type unknowns struct {
	x int64
	e equation
}

// proof searches; exact stays true as long as what was left out cannot be a layout.
type proof struct {
	primes []int64
	work   int
	exact  bool
}

// add reduces an equation and keeps it if it says something new; consistent is false for a contradiction.
func (p *proof) add(rows []equation, e equation) (_ []equation, consistent bool) {
	for i := range rows {
		if at := rows[i].lead(); e.c[at] != 0 && !e.cancel(&rows[i], at) {
			p.exact = false
			return rows, false
		}
	}
	at := e.lead()
	if at < 0 {
		return rows, e.k == 0
	}
	rows = append(rows, e)
	slices.SortFunc(rows, func(a, b equation) int { return a.lead() - b.lead() })
	return rows, true
}

// steps solves for integers, the unknowns that nothing fixes being 0.
func (p *proof) steps(rows []equation, vars int) ([]int64, bool) {
	d := make([]int64, vars)
	for i := len(rows) - 1; i >= 0; i-- {
		r := &rows[i]
		at, k := r.lead(), r.k
		for j := at + 1; j < vars; j++ {
			k -= r.c[j] * d[j]
		}
		if k%r.c[at] != 0 {
			p.exact = p.exact && len(rows) == vars // other values of free unknowns might do
			return nil, false
		}
		d[at] = k / r.c[at]
	}
	return d, true
}

// search splits the points further: they have vars unknowns so far and satisfy rows.
func (p *proof) search(pts []unknowns, rows []equation, ext []int64) ([]int64, []int64, bool) {
	vars := len(ext)
	if p.work -= len(pts); p.work < 0 || vars == proofVars {
		p.exact = false
		return nil, nil, false
	}
	if d, ok := p.last(pts, rows, vars); ok {
		return append(slices.Clone(ext), pts[len(pts)-1].x+1), d, true
	}
	for _, n := range p.primes {
		if n > pts[len(pts)-1].x {
			break
		}
		next, more, ok := p.split(pts, rows, n, vars)
		if !ok {
			continue
		}
		if e, d, ok := p.search(next, more, append(slices.Clone(ext), n)); ok {
			return e, d, true
		}
	}
	return nil, nil, false
}

// last tries one step for all that is left.
func (p *proof) last(pts []unknowns, rows []equation, vars int) ([]int64, bool) {
	rows = slices.Clone(rows)
	for _, q := range pts {
		e := q.e
		e.c[vars] = q.x
		var ok bool
		if rows, ok = p.add(rows, e); !ok {
			return nil, false
		}
	}
	return p.steps(rows, vars+1)
}

// split takes the digit x mod n out, whose step is a new unknown.
func (p *proof) split(pts []unknowns, rows []equation, n int64, vars int) (next []unknowns, _ []equation, ok bool) {
	rows = slices.Clone(rows)
	for _, q := range pts {
		q.e.c[vars] = q.x % n
		q.x /= n
		if len(next) == 0 || next[len(next)-1].x != q.x {
			next = append(next, q)
			continue
		}
		first, e := &next[len(next)-1], q.e
		for j := range e.c {
			e.c[j] -= first.e.c[j]
		}
		e.k -= first.e.k
		if rows, ok = p.add(rows, e); !ok {
			return nil, nil, false
		}
	}
	return next, rows, true
}

// proveLeft looks for a layout with the values of the points, sorted by x from 0 on. exact tells that there is
// none if none was found.
func proveLeft(pts []point) (r Layout, found, exact bool) {
	top := pts[len(pts)-1].x
	if top > proofTop {
		return Layout{}, false, false
	}
	p := &proof{work: proofWork, exact: true}
	for n := int64(2); n <= top; n++ {
		if !slices.ContainsFunc(p.primes, func(q int64) bool { return n%q == 0 }) {
			p.primes = append(p.primes, n)
		}
	}
	start := make([]unknowns, len(pts))
	for i, q := range pts {
		start[i] = unknowns{q.x, equation{k: q.y}}
	}
	ext, d, ok := p.search(start, nil, nil)
	if !ok {
		return Layout{}, false, p.exact
	}
	ms := make([]mode, len(ext))
	for i := range ext {
		ms[i] = mode{sym.Int(ext[i]), Step{Coef: sym.Int(d[i])}}
	}
	return coalesce(layoutOf(ms)), true, true
}
