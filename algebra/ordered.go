package algebra

import "github.com/gocute/gocute/algebra/sym"

// Ordered is the compact layout of s in which the mode with the smallest order number varies fastest. Order
// is weakly congruent to s; below one number, and among equal numbers, the left mode is faster.
func Ordered(s, order Shape) (Layout, error) {
	if e := bad(extents(s), integers(order)); e != nil {
		return Layout{}, e.in("make_ordered_layout", s, order)
	}
	l, e := settled(ordered(s, order))
	return l, e.in("make_ordered_layout", s, order)
}

type orderLeaf struct {
	order int64
	size  sym.Expr
}

func ordered(s, order Shape) (Layout, *Error) {
	var all []orderLeaf
	if e := orderLeaves(s.n, order.n, &all); e != nil {
		return Layout{}, e
	}
	next := 0
	return plain(s.n, orderStride(s.n, order.n, all, &next)), nil
}

func orderLeaves(s, o node[sym.Expr], all *[]orderLeaf) *Error {
	if o.isLeaf() {
		n, ok := o.v.IsConst()
		if !ok {
			return failf("the order %s must be constant", o.v)
		}
		*all = append(*all, orderLeaf{n, productOf(s)})
		return nil
	}
	if s.isLeaf() || len(s.sub) != len(o.sub) {
		return failf("the order %s does not fit the shape %s", Shape{n: o}, Shape{n: s})
	}
	for i := range o.sub {
		if e := orderLeaves(s.sub[i], o.sub[i], all); e != nil {
			return e
		}
	}
	return nil
}

func orderStride(s, o node[sym.Expr], all []orderLeaf, next *int) node[Step] {
	if o.isLeaf() {
		at := *next
		*next++
		start := sym.Int(1)
		for j, l := range all {
			if l.order < all[at].order || l.order == all[at].order && j < at {
				start = start.Mul(l.size)
			}
		}
		return compactLeft(s, &start)
	}
	sub := make([]node[Step], len(s.sub))
	for i := range s.sub {
		sub[i] = orderStride(s.sub[i], o.sub[i], all, next)
	}
	return node[Step]{sub: sub}
}
