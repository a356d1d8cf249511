package algebra

import (
	"slices"

	"github.com/gocute/gocute/algebra/sym"
)

// Slice keeps the modes that c has an Underscore for and fixes the others: l(c with free parts i) =
// kept(i) + offset. The indices may be symbolic. A swizzled layout stays swizzled: the offset goes inside it,
// and the one returned is 0. With basis strides the offset is a coordinate.
func Slice(l Layout, c Coord) (kept Layout, offset Arith, err error) {
	if e := bad(l, c); e != nil {
		return Layout{}, Arith{}, e.in("slice_and_offset", c, l)
	}
	s, d, e := sliceNode(c.n, l.shape, l.stride, &offset, true)
	if e != nil {
		return Layout{}, Arith{}, e.in("slice_and_offset", c, l)
	}
	kept = l.rewrap(plain(s, d))
	if l.sw.B == 0 {
		return kept, offset, nil
	}
	if !offset.IsPlain() {
		return Layout{}, Arith{}, failf("a swizzle applies to offsets, not to coordinates").in("slice_and_offset", c, l)
	}
	if kept.off = kept.off.Add(offset.plain); kept.off.TooLarge() {
		return Layout{}, Arith{}, failf("the offset%s", beyond).in("slice_and_offset", c, l)
	}
	return kept, Arith{}, nil
}

// sliceNode lifts what is kept out of fixed tuples: below the outermost tuple, kept modes follow one another
// without nesting, as CuTe's slice has them.
func sliceNode(c node[index], s node[sym.Expr], d node[Step], off *Arith, top bool) (node[sym.Expr], node[Step], *Error) {
	if c.isLeaf() {
		if c.v.free {
			if top {
				return s, d, nil
			}
			return tupleOf(s), tupleOf(d), nil
		}
		return tupleOf[sym.Expr](), tupleOf[Step](), addIndex(off, c.v.e, s, d)
	}
	if s.isLeaf() || len(c.sub) != len(s.sub) {
		return s, d, failf("coordinate %s does not fit shape %s", Coord{n: c}, Shape{n: s})
	}
	ss, ds := []node[sym.Expr]{}, []node[Step]{}
	for i := range c.sub {
		a, b, e := sliceNode(c.sub[i], s.sub[i], d.sub[i], off, false)
		if e != nil {
			return s, d, e
		}
		ss, ds = append(ss, a.sub...), append(ds, b.sub...)
	}
	return node[sym.Expr]{sub: ss}, node[Step]{sub: ds}, nil
}

// CrdToIdx is the offset of a coordinate in a layout (crd2idx with a stride).
func CrdToIdx(c Coord, l Layout) (sym.Expr, error) {
	e, err := l.At(c)
	if err != nil {
		return e, rename(err, "crd2idx", c, l)
	}
	return e, nil
}

func rename(err error, op string, args ...any) error {
	if e, ok := err.(*Error); ok {
		out := *e
		out.Op = ""
		return out.in(op, args...)
	}
	return err
}

// CrdToIndex is the 1-D index of a coordinate, the left mode varying fastest (crd2idx of a shape). An index
// wherever the shape has a tuple counts as it is.
func CrdToIndex(c Coord, s Shape) (sym.Expr, error) {
	if e := bad(c, extents(s)); e != nil {
		return sym.Expr{}, e.in("crd2idx", c, s)
	}
	i, e := crdIndex(c.n, s.n)
	if e == nil && i.TooLarge() {
		e = failf("the index%s", beyond)
	}
	return i, e.in("crd2idx", c, s)
}

func crdIndex(c node[index], s node[sym.Expr]) (sym.Expr, *Error) {
	if c.isLeaf() {
		if c.v.free {
			return sym.Expr{}, failf("an Underscore has no index")
		}
		return c.v.e, nil
	}
	if s.isLeaf() || len(c.sub) != len(s.sub) {
		return sym.Expr{}, failf("coordinate %s does not fit shape %s", Coord{n: c}, Shape{n: s})
	}
	var sum sym.Expr
	scale := sym.Int(1)
	for i := range c.sub {
		x, e := crdIndex(c.sub[i], s.sub[i])
		if e != nil {
			return sum, e
		}
		sum = sum.Add(x.Mul(scale))
		scale = scale.Mul(productOf(s.sub[i]))
	}
	return sum, nil
}

// within refuses an index that is known to lie outside a mode of n coordinates. Others are taken to lie in it.
func within(i, n sym.Expr, what string, s node[sym.Expr]) *Error {
	_, hi := i.Range()
	if over, _ := i.Sub(n).Range(); hi < 0 || over >= 0 {
		return failf("the %s %s lies outside %s", what, i, Shape{n: s})
	}
	return nil
}

// IdxToCrd splits a 1-D index, or a tuple of them, into a coordinate congruent to the shape (idx2crd). It refuses an index
// that is known to be none of the shape.
func IdxToCrd(idx Coord, s Shape) (Coord, error) {
	if e := bad(idx, extents(s)); e != nil {
		return Coord{}, e.in("idx2crd", idx, s)
	}
	n, e := idxCoord(idx.n, s.n)
	if e != nil {
		return Coord{}, e.in("idx2crd", idx, s)
	}
	return Coord{n: n}, nil
}

func idxCoord(i node[index], s node[sym.Expr]) (node[index], *Error) {
	if i.isLeaf() {
		if i.v.free {
			return i, failf("an Underscore has no index")
		}
		return splitIndex(i.v.e, s), within(i.v.e, productOf(s), "index", s)
	}
	if s.isLeaf() || len(i.sub) != len(s.sub) {
		return i, failf("index %s does not fit shape %s", Coord{n: i}, Shape{n: s})
	}
	sub := make([]node[index], len(i.sub))
	for k := range sub {
		var e *Error
		if sub[k], e = idxCoord(i.sub[k], s.sub[k]); e != nil {
			return i, e
		}
	}
	return node[index]{sub: sub}, nil
}

func splitIndex(i sym.Expr, s node[sym.Expr]) node[index] {
	if s.isLeaf() {
		return leafOf(index{e: i})
	}
	sub := make([]node[index], len(s.sub))
	for k := range s.sub {
		if k == len(s.sub)-1 {
			sub[k] = splitIndex(i, s.sub[k])
			break
		}
		q, r := divMod(i, productOf(s.sub[k]))
		sub[k] = splitIndex(r, s.sub[k])
		i = q
	}
	return node[index]{sub: sub}
}

// IdxToCrdIn finds the coordinate at which a static layout has the offset idx, (idx / d) % s in every mode
// (idx2crd with a stride). It refuses an offset that the layout does not have there.
func IdxToCrdIn(idx int64, l Layout) (Coord, error) {
	if e := bad(l); e != nil {
		return Coord{}, e.in("idx2crd", idx, l)
	}
	if !l.IsStatic() || l.sw.B != 0 {
		return Coord{}, failf("the layout must be static and not swizzled").in("idx2crd", idx, l)
	}
	ms := flatModes(l.shape, l.stride)
	leaves := make([]index, len(ms))
	for i, m := range ms {
		s, _ := m.s.IsConst()
		d, _ := m.d.IsConst()
		if s > 1 && d != 0 {
			leaves[i].e = sym.Int(idx / d % s)
		}
		if e := within(leaves[i].e, m.s, "digit", leafOf(m.s)); e != nil {
			return Coord{}, failf("the layout does not have %d at a coordinate: %s", idx, e.Condition).hint("only compact layouts invert digit by digit").in("idx2crd", idx, l)
		}
	}
	c := Coord{n: like(l.shape, leaves)}
	v, err := l.At(c)
	if err != nil {
		return Coord{}, rename(err, "idx2crd", idx, l)
	}
	if !v.Is(idx) {
		return Coord{}, failf("the layout has %s at %s, not %d", v, c, idx).hint("only compact layouts invert digit by digit").in("idx2crd", idx, l)
	}
	return c, nil
}

// CrdToCrd turns a coordinate of one shape into the coordinate of another: mode by mode where the coordinate and both shapes
// are tuples (of the same rank), and otherwise the one with the same index. It refuses what is known to lie outside a mode.
func CrdToCrd(c Coord, from, to Shape) (Coord, error) {
	if e := bad(c, extents(from), extents(to)); e != nil {
		return Coord{}, e.in("crd2crd", c, from, to)
	}
	n, e := crdCrd(c.n, from.n, to.n)
	if e != nil {
		return Coord{}, e.in("crd2crd", c, from, to)
	}
	return Coord{n: n}, nil
}

func crdCrd(c node[index], from, to node[sym.Expr]) (node[index], *Error) {
	if c.isLeaf() || from.isLeaf() || to.isLeaf() {
		i, e := crdIndex(c, from)
		if e == nil {
			e = coordWithin(c, from)
		}
		if e == nil {
			e = within(i, productOf(to), "coordinate", to)
		}
		return splitIndex(i, to), e
	}
	if len(c.sub) != len(from.sub) || len(c.sub) != len(to.sub) {
		return c, failf("ranks %d, %d and %d differ", len(c.sub), len(from.sub), len(to.sub))
	}
	sub := slices.Clone(c.sub)
	for i := range sub {
		var e *Error
		if sub[i], e = crdCrd(c.sub[i], from.sub[i], to.sub[i]); e != nil {
			return c, e
		}
	}
	return node[index]{sub: sub}, nil
}

// coordWithin refuses a coordinate that is known to lie outside a mode of its shape.
func coordWithin(c node[index], s node[sym.Expr]) *Error {
	if c.isLeaf() {
		return within(c.v.e, productOf(s), "coordinate", s)
	}
	for i := range c.sub {
		if e := coordWithin(c.sub[i], s.sub[i]); e != nil {
			return e
		}
	}
	return nil
}
