package calc

import (
	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/algebra/sym"
)

var shapeOps = map[string]operation{
	"size":  ofExtents(measure("the number of coordinates", algebra.Layout.Size, algebra.Shape.Size)),
	"rank":  measure("the number of modes", func(l algebra.Layout) sym.Expr { return sym.Int(l.Rank()) }, func(s algebra.Shape) sym.Expr { return sym.Int(s.Rank()) }),
	"depth": measure("the depth of nesting", func(l algebra.Layout) sym.Expr { return sym.Int(l.Depth()) }, func(s algebra.Shape) sym.Expr { return sym.Int(s.Depth()) }),
	"cosize": {"layout", 1, 1, "1 + the largest offset if each stride were positive, without a swizzle and its offset; with basis strides the product of that over the modes of the coordinate", func(a *args) Value {
		l := a.layout(0)
		if !a.ok() {
			return nil
		}
		e, err := l.Cosize()
		return give(a, e, err)
	}},
	"product_each": {"shape", 1, 1, "the size of each mode", func(a *args) Value {
		s := algebra.ProductEach(a.shape(0))
		return give(a, s, s.Err())
	}},
	"product":   ofExtents(measure("the number of coordinates", algebra.Layout.Size, algebra.Shape.Size)),
	"shape_div": shapes("shapes that divide one another", algebra.ShapeDiv),
	"ceil_div":  shapes("how many b cover a", algebra.CeilDiv),
	"min":       arithmetic("the smaller one", func(a, b sym.Expr) (sym.Expr, bool) { return a.Min(b), true }),
	"max":       arithmetic("the greater one", func(a, b sym.Expr) (sym.Expr, bool) { return a.Max(b), true }),
	"xor": {"a, b…", 2, many, "bitwise exclusive or", func(a *args) Value {
		e := a.expr(0)
		for i := 1; i < a.len() && a.ok(); i++ {
			e = e.Xor(a.expr(i))
		}
		return e
	}},
	"congruent":        relation("the same profile", algebra.Congruent),
	"weakly_congruent": relation("b has the profile of a, with anything in the place of a's integers", algebra.WeaklyCongruent),
	"compatible":       decided("b refines a", algebra.CheckCompatible),
	"evenly_divides":   decided("tiles of shape b fill a", algebra.CheckEvenlyDivides),
}

func arithmetic(means string, f func(a, b sym.Expr) (sym.Expr, bool)) operation {
	return operation{"a, b", 2, 2, means, func(a *args) Value {
		x, y := a.expr(0), a.expr(1)
		if !a.ok() {
			return nil
		}
		r, ok := f(x, y)
		if !ok {
			a.refuse("the result does not fit 63 bits")
		}
		return r
	}}
}

var coordOps = map[string]operation{
	"slice_and_offset": {"coord, layout", 2, 2, "what _ keeps, and the offset of the fixed coordinates", slice},
	"slice":            {"coord, layout", 2, 2, "what _ keeps", sliceOnly},
	"crd2idx":          {"coord, layout | coord, shape | coord, shape, stride", 2, 3, "the offset, or the index, of a coordinate", crd2idx},
	"idx2crd":          {"index, shape[, stride]", 2, 3, "the coordinate of an index, or of an offset", idx2crd},
	"crd2crd": {"coord, from, to", 3, 3, "the coordinate of another shape: mode by mode where all three are tuples (of the same rank), else the one with the same index", func(a *args) Value {
		c, from, to := a.coord(0), a.shape(1), a.shape(2)
		if !a.ok() {
			return nil
		}
		r, err := algebra.CrdToCrd(c, from, to)
		return give(a, r, err)
	}},
	"swizzle_apply": {"swizzle, offset", 2, 2, "the swizzled offset", func(a *args) Value {
		w, e := a.swizzle(0), a.expr(1)
		if !a.ok() {
			return nil
		}
		return w.ApplyExpr(e)
	}},
}

func slice(a *args) Value {
	c, l := a.coord(0), a.layout(1)
	if !a.ok() {
		return nil
	}
	return sliced(a, c, l)
}

// sliced is the value where every coordinate is fixed, and otherwise the slice.
func sliced(a *args, c algebra.Coord, l algebra.Layout) Value {
	_, free := c.Leaves()
	keeps := false
	for _, f := range free {
		keeps = keeps || f
	}
	if !keeps {
		v, err := l.AtArith(c)
		if err == nil && v.IsPlain() {
			return v.Offset()
		}
		return give(a, v, err)
	}
	kept, off, err := algebra.Slice(l, c)
	return give(a, Slice{kept, off}, err)
}

func sliceOnly(a *args) Value {
	c, l := a.coord(0), a.layout(1)
	if !a.ok() {
		return nil
	}
	kept, _, err := algebra.Slice(l, c)
	return give(a, kept, err)
}

func crd2idx(a *args) Value {
	c := a.coord(0)
	switch {
	case a.len() == 3:
		s, d := a.extents(1), a.stride(2)
		if !a.ok() {
			return nil
		}
		l, err := algebra.NewLayout(s, d)
		if a.fail(err); err != nil {
			return nil
		}
		e, err := algebra.CrdToIdx(c, l)
		return give(a, e, err)
	case a.isLayout(1):
		l := a.layout(1)
		if a.extents(1); !a.ok() {
			return nil
		}
		e, err := algebra.CrdToIdx(c, l)
		return give(a, e, err)
	}
	s := a.shape(1)
	if !a.ok() {
		return nil
	}
	e, err := algebra.CrdToIndex(c, s)
	return give(a, e, err)
}

func idx2crd(a *args) Value {
	if a.len() == 3 {
		i, s, d := a.int64(0), a.shape(1), a.stride(2)
		if !a.ok() {
			return nil
		}
		l, err := algebra.NewLayout(s, d)
		if a.fail(err); err != nil {
			return nil
		}
		c, err := algebra.IdxToCrdIn(i, l)
		return give(a, c, err)
	}
	c, s := a.coord(0), a.shape(1)
	if !a.ok() {
		return nil
	}
	r, err := algebra.IdxToCrd(c, s)
	return give(a, r, err)
}
