package algebra

import (
	"slices"

	"github.com/gocute/gocute/algebra/sym"
)

// Complement is the ordered list of translations with which l fills [0, cotarget): l's offsets plus those
// of the result are disjoint and cover every offset below cotarget. It may cover a little more.
func Complement(l Layout, cotarget Shape) (Layout, error) {
	if l.err == nil && cotarget.err == nil && l.sw.B == 0 && positive(&cotarget.n) {
		if c, ok := staticTranslations(&l, productOf(cotarget.n)); ok && c.whole {
			return c.r, nil
		}
	}
	if e := bad(l, extents(cotarget)); e != nil {
		return Layout{}, e.in("complement", l, cotarget)
	}
	r, e := settled(complementExact(l, cotarget))
	return r, e.in("complement", l, cotarget)
}

// ComplementSelf is the complement up to the cosize of l without its stride-0 modes.
func ComplementSelf(l Layout) (Layout, error) {
	if e := bad(l); e != nil {
		return Layout{}, e.in("complement", l)
	}
	n, e := cosize(filter(l.Plain()))
	if e != nil {
		return Layout{}, e.in("complement", l)
	}
	r, e := settled(complementExact(l, Shape{n: leafOf(n)}))
	return r, e.in("complement", l)
}

// complemented is what CuTe's rule makes of a layout, and what is known about it.
type complemented struct {
	r     Layout
	whole bool // every gap between strides is a whole number of blocks: nothing below the cotarget is left out
	fills bool // and the cotarget is reached exactly
	open  bool // the last mode of r is what is left of the cotarget, so r may be continued past its end
}

// translations is CuTe's complement of the filtered layout: the gaps between its sorted strides, then what
// is left of the cotarget. The strides must be positive constants unless there is only one.
func translations(l Layout, cotarget sym.Expr) (c complemented, _ *Error) {
	if c, ok := staticTranslations(&l, cotarget); ok {
		return c, nil
	}
	return translationsGeneral(l, cotarget)
}

func translationsGeneral(l Layout, cotarget sym.Expr) (c complemented, _ *Error) {
	f := filter(l)
	ms := flatModes(f.shape, f.stride)
	if len(ms) == 1 && ms[0].d.Coef.Is(0) {
		return complemented{Compact(Shape{n: leafOf(cotarget)}), true, true, true}, nil
	}
	ms, e := sortByStride(ms)
	if e != nil {
		return c, e
	}
	out := make([]mode, 0, len(ms)+1)
	cur := sym.Int(1)
	c.whole = true
	for _, m := range ms {
		if !m.d.IsPlain() {
			return c, failf("the stride %s has a basis", m.d)
		}
		n, exact := m.d.Coef, true
		if !cur.Is(1) {
			n, exact = gap(m.d.Coef, cur)
		}
		if lo, _ := n.Range(); lo < 1 && !constant(m.d.Coef, cur) {
			return c, failf("it is not known whether stride %s steps over the %s offsets below it", m.d, cur).hint("state the fact %s %% %s == 0", m.d, cur)
		} else if lo < 1 {
			return c, failf("stride %s lies within the %s offsets below it: the layout is not injective", m.d, cur)
		}
		c.whole = c.whole && exact
		out = append(out, mode{n, Step{Coef: cur}})
		cur = m.d.Coef.Mul(m.s)
	}
	rest, exact := divides(cur, cotarget)
	if !exact {
		rest = cotarget.CeilDiv(cur)
		if lo, _ := cur.Sub(cotarget).Range(); lo >= 0 { // nothing is left
			rest = sym.Int(1)
		}
	}
	c.fills = c.whole && exact
	c.open = !rest.Is(1)
	if c.open {
		out = append(out, mode{rest, Step{Coef: cur}})
	}
	c.r = layoutOf(mergeModes(out, false))
	if n, ok := c.r.IntSize(); ok && n == 1 {
		c.r = unit
	}
	return c, nil
}

func constant(es ...sym.Expr) bool {
	for _, e := range es {
		if _, ok := e.IsConst(); !ok {
			return false
		}
	}
	return true
}

// gap is how many blocks of b fit below stride d, and whether they fill it.
func gap(d, b sym.Expr) (sym.Expr, bool) {
	x, ok1 := d.IsConst()
	y, ok2 := b.IsConst()
	if ok1 && ok2 {
		return sym.Int(x / y), x%y == 0
	}
	if q, ok := divides(b, d); ok {
		return q, true
	}
	return d.FloorDiv(b), false
}

// sortByStride orders modes by their strides, as CuTe takes the least first. Symbolic strides need facts that
// order them.
func sortByStride(ms []mode) ([]mode, *Error) {
	if len(ms) < 2 {
		return ms, nil
	}
	out := append([]mode(nil), ms...)
	for i := range out {
		for at := i; at > 0; at-- {
			less, e := before(out[at], out[at-1])
			if e != nil {
				return nil, e
			}
			if !less {
				break
			}
			out[at-1], out[at] = out[at], out[at-1]
		}
	}
	return out, nil
}

// before reports whether x's stride is less than y's.
func before(x, y mode) (bool, *Error) {
	for _, m := range []mode{x, y} {
		if !m.d.IsPlain() {
			return false, failf("the stride %s has a basis", m.d)
		}
	}
	lo, hi := x.d.Coef.Sub(y.d.Coef).Range()
	switch {
	case lo >= 0:
		return false, nil
	case hi <= 0: // where they are equal the layout repeats offsets, which is noticed
		return true, nil
	}
	return false, failf("it is not known which of the strides %s and %s is the greater", y.d, x.d).hint("state the fact %s >= %s", y.d, x.d)
}

// complementExact adds to CuTe's rule that no offset below the cotarget is left out. Where the rule does not
// hold, because of gaps or because l repeats offsets, [0, cotarget) has to be filled exactly.
func complementExact(l Layout, cotarget Shape) (Layout, *Error) {
	c, e := translations(l.Plain(), productOf(cotarget.n))
	if e == nil && c.whole && l.sw.B == 0 {
		return c.r, nil
	}
	fl, ok1 := intFn(l)
	n, ok2 := cotarget.IntSize()
	if ok1 && ok2 && e == nil && c.whole && fills(fl, c.r, n) { // a swizzle may or may not keep it right
		return c.r, nil
	}
	if !ok1 || !ok2 {
		if e == nil {
			e = failf("the gaps between the strides of %s are not proved to be filled", l).hint("state the fact that each stride is a multiple of the offsets below it")
		}
		return Layout{}, e
	}
	fit, fe := tile(fl, n)
	if fe == nil {
		return fit, nil
	}
	return Layout{}, fe
}

// fills reports whether l moved by the offsets of r reaches every offset of [0, n), and none twice.
func fills(l *fn, r Layout, n int64) bool {
	fr, ok := intFn(r)
	if !ok || l.n > EvalLimit || fr.n > EvalLimit || l.n*fr.n > EvalLimit {
		return false
	}
	all := make([]int64, 0, l.n*fr.n)
	image := l.table(l.n)
	slices.Sort(image)
	for j := range fr.n {
		for _, v := range slices.Compact(slices.Clone(image)) {
			all = append(all, v+fr.at(j))
		}
	}
	slices.Sort(all)
	for i, v := range all {
		if int64(i) < n && v != int64(i) || i > 0 && v == all[i-1] {
			return false
		}
	}
	return int64(len(all)) >= n
}

// tile finds the translations by force: the least offset that is still free can only be reached by moving
// l's least offset there, so the list is unique.
func tile(l *fn, n int64) (Layout, *Error) {
	if l.n > EvalLimit || n > EvalLimit {
		return Layout{}, failf("%d offsets are too many to fill one by one (limit %d)", max(l.n, n), EvalLimit)
	}
	image := make([]int64, l.n)
	for i := range l.n {
		if image[i] = l.at(i); image[i] < 0 {
			return Layout{}, failf("offset %d is negative", image[i]).at(i, image[i], "an offset of at least 0")
		}
	}
	slices.Sort(image)
	image = slices.Compact(image)
	if image[len(image)-1] >= n {
		return Layout{}, failf("offset %d lies outside [0,%d)", image[len(image)-1], n)
	}
	if image[0] > 0 { // a translation back would be negative
		return Layout{}, failf("offset 0 of [0,%d) is never reached: the layout's least offset is %d", n, image[0])
	}
	var list []int64
	taken := make([]bool, n)
	for free := range n {
		if taken[free] {
			continue
		}
		for _, v := range image {
			if free+v >= n {
				return Layout{}, failf("offset %d of [0,%d) is never reached: moving the layout there leads past the end", free, n)
			}
			if taken[free+v] {
				return Layout{}, failf("offset %d of [0,%d) is never reached: moving the layout there reaches offset %d twice", free, n, free+v)
			}
			taken[free+v] = true
		}
		list = append(list, free)
	}
	r, ok := fitted(list)
	if !ok {
		return Layout{}, failf("the translations that fill [0,%d) are those of no layout", n)
	}
	return r, nil
}
