package algebra

import (
	"slices"

	"github.com/gocute/gocute/algebra/sym"
)

// productOne is A and A*∘B: A* lists the translations that put copies of A side by side.
func productOne(a, b Layout) (block, rest Layout, _ *Error) {
	if b.sw.B != 0 {
		return a, b, failf("the tiler %s is swizzled", b)
	}
	cb, e := cosize(b)
	if e != nil {
		return a, b, e
	}
	na, _ := a.IntSize()
	need, ok := cb.IsConst()
	if float64(na)*float64(need) > 1<<61 {
		return a, b, failf("%d copies of %d elements are too many", need, na)
	}
	r, e := closedCopies(a, b, cb)
	if e == nil {
		return a, r, nil
	}
	if r, fits := fittedCopies(a, b, need); ok && fits {
		return a, r, nil
	}
	return a, b, e
}

// closedCopies is A*∘B with A* by CuTe's rule.
func closedCopies(a, b Layout, cb sym.Expr) (Layout, *Error) {
	c, e := translations(a, a.Size().Mul(cb))
	if e != nil {
		return Layout{}, e
	}
	size, ok := c.r.IntSize()
	need, _ := cb.IsConst()
	if ok && size < need && !c.open {
		return Layout{}, failf("only %d translations of %s are known to be disjoint, and %s asks for %d", size, a, b, need)
	}
	return composePlain(c.r, b)
}

// fittedCopies lists the translations one by one, where they fill [0, …) without a hole, and fits B's choice of
// them. Blocks that repeat offsets, and lists that are no layout as a whole, have no other way.
func fittedCopies(a, b Layout, need int64) (Layout, bool) {
	fa, ok1 := intFn(a)
	fb, ok2 := intFn(b)
	if !ok1 || !ok2 || need < 1 || need > EvalLimit || fa.n > EvalLimit || fb.n > EvalLimit || need*fa.n > EvalLimit {
		return Layout{}, false
	}
	image := fa.table(fa.n)
	slices.Sort(image)
	image = slices.Compact(image)
	list, ok := sideBySide(image, need)
	if !ok {
		return Layout{}, false
	}
	vals := fb.table(fb.n)
	for i, v := range vals {
		if v < 0 || v >= need {
			return Layout{}, false
		}
		vals[i] = list[v]
	}
	return fitShape(b.shape, vals)
}

// sideBySide lists the first need translations of a sorted image with which it fills [0, …): the least free
// offset can only be reached by moving the image's least there.
func sideBySide(image []int64, need int64) (list []int64, ok bool) {
	top := image[len(image)-1]
	if image[0] != 0 || top > EvalLimit {
		return nil, false
	}
	taken := make([]bool, 0, 4*(top+1))
	for free := int64(0); int64(len(list)) < need || free <= list[need-1]+top; free++ {
		for int64(len(taken)) <= free+top {
			taken = append(taken, false)
		}
		if taken[free] {
			continue
		}
		for _, v := range image {
			if taken[free+v] {
				return nil, false
			}
			taken[free+v] = true
		}
		list = append(list, free)
	}
	return list, true
}

// fitShape is the layout that refines the shape and has the values.
func fitShape(shape node[sym.Expr], vals []int64) (Layout, bool) {
	unit := int64(1)
	var walk func(s node[sym.Expr]) (Layout, bool)
	walk = func(s node[sym.Expr]) (Layout, bool) {
		if s.isLeaf() {
			n, _ := s.v.IsConst()
			along := make([]int64, n)
			for i := range along {
				along[i] = vals[int64(i)*unit]
			}
			unit *= n
			return fitted(along)
		}
		ls := make([]Layout, len(s.sub))
		for i := range ls {
			var ok bool
			if ls[i], ok = walk(s.sub[i]); !ok {
				return Layout{}, false
			}
		}
		return joinModes(ls), true
	}
	r, ok := walk(shape)
	if !ok {
		return r, false
	}
	f, ok := intFn(r)
	return r, ok && slices.Equal(f.table(f.n), vals)
}

// fitted is the flat layout with the values, the first of which is 0; 1:0 of a single one.
func fitted(vals []int64) (Layout, bool) {
	ext, vec, ok := fit(vals, 1)
	if !ok {
		return Layout{}, false
	}
	ms := make([]imode, len(ext))
	for i := range ext {
		ms[i] = imode{ext[i], vec[i][0]}
	}
	return layoutOfInt(ms), true
}

func product(op string, l Layout, t Tiler, as form) (Layout, error) {
	if e := bad(l, t); e != nil {
		return Layout{}, e.in(op, l, t)
	}
	p, e := splitBy(l.Plain(), t, productOne)
	if e != nil {
		return Layout{}, e.in(op, l, t)
	}
	r, e := settled(l.rewrap(arrange[as](p)), nil)
	return r, e.in(op, l, t)
}

// LogicalProduct repeats the block l: (l, its translations in the order of the tiler), by mode for a tuple.
func LogicalProduct(l Layout, t Tiler) (Layout, error) {
	return product("logical_product", l, t, logical)
}

// ZippedProduct is LogicalProduct as ((blocks),(translations)).
func ZippedProduct(l Layout, t Tiler) (Layout, error) {
	return product("zipped_product", l, t, zipped)
}

// TiledProduct is LogicalProduct as ((blocks),translation,translation…).
func TiledProduct(l Layout, t Tiler) (Layout, error) {
	return product("tiled_product", l, t, tiled)
}

// FlatProduct is LogicalProduct as (block,block,…,translation,translation…).
func FlatProduct(l Layout, t Tiler) (Layout, error) {
	return product("flat_product", l, t, flat)
}

// BlockedProduct repeats a block mode by mode: mode i is (block i, tiler i).
func BlockedProduct(block, tiler Layout) (Layout, error) {
	if e := bad(block, tiler); e != nil {
		return Layout{}, e.in("blocked_product", block, tiler)
	}
	a, b, e := rankedProduct(block.Plain(), tiler)
	if e != nil {
		return Layout{}, e.in("blocked_product", block, tiler)
	}
	r, e := settled(block.rewrap(zipPair(a, b)), nil)
	return r, e.in("blocked_product", block, tiler)
}

// RakedProduct interleaves the copies of a block mode by mode: mode i is (tiler i, block i).
func RakedProduct(block, tiler Layout) (Layout, error) {
	if e := bad(block, tiler); e != nil {
		return Layout{}, e.in("raked_product", block, tiler)
	}
	a, b, e := rankedProduct(block.Plain(), tiler)
	if e != nil {
		return Layout{}, e.in("raked_product", block, tiler)
	}
	r, e := settled(block.rewrap(zipPair(b, a)), nil)
	return r, e.in("raked_product", block, tiler)
}

func rankedProduct(block, tiler Layout) (a, b Layout, _ *Error) {
	if tiler.sw.B != 0 { // padTo would drop it
		return a, b, failf("the tiler %s is swizzled", tiler)
	}
	r := max(block.shape.rank(), tiler.shape.rank())
	return productOne(padTo(block, r), padTo(tiler, r))
}

// padTo appends modes 1:0 up to rank r. An integer layout becomes a tuple of one.
func padTo(l Layout, r int) Layout {
	ls := append([]Layout(nil), layoutModes(l)...)
	for len(ls) < r {
		ls = append(ls, unit)
	}
	return joinModes(ls)
}

// zipPair pairs the modes of two layouts of the same rank.
func zipPair(a, b Layout) Layout {
	as, bs := layoutModes(a), layoutModes(b)
	out := make([]Layout, len(as))
	for i := range out {
		out[i] = joinModes([]Layout{as[i], bs[i]})
	}
	return joinModes(out)
}

// TileToShape repeats a block until the result has the shape, the first mode first.
func TileToShape(block Layout, shape Shape) (Layout, error) {
	if e := bad(block, extents(shape)); e != nil {
		return Layout{}, e.in("tile_to_shape", block, shape)
	}
	r, e := settled(tileToShape(block, shape, nil))
	return r, e.in("tile_to_shape", block, shape)
}

// TileToShapeOrder is TileToShape with the order of the modes: the block is repeated along the mode with the
// smallest number first.
func TileToShapeOrder(block Layout, shape, order Shape) (Layout, error) {
	if e := bad(block, extents(shape), integers(order)); e != nil {
		return Layout{}, e.in("tile_to_shape", block, shape, order)
	}
	r, e := settled(tileToShape(block, shape, &order))
	return r, e.in("tile_to_shape", block, shape, order)
}

func tileToShape(block Layout, shape Shape, order *Shape) (Layout, *Error) {
	r := shape.Rank()
	if block.shape.rank() > r {
		return Layout{}, failf("the block has %d modes, the shape only %d", block.shape.rank(), r)
	}
	b := padTo(block.Plain(), r)
	counts := make([]node[sym.Expr], r)
	for i, m := range layoutModes(b) {
		want, have := productOf(shape.n.mode(i)), m.Size()
		q, ok := divides(have, want)
		if !ok {
			return Layout{}, failf("mode %d of the block, %s, does not divide %s", i, have, want)
		}
		counts[i] = leafOf(q)
	}
	tiles := Compact(Shape{n: node[sym.Expr]{sub: counts}})
	if order != nil {
		var e *Error
		if tiles, e = ordered(tiles.Shape(), *order); e != nil {
			return Layout{}, e
		}
	}
	x, y, e := productOne(b, tiles)
	if e != nil {
		return Layout{}, e
	}
	return block.rewrap(zipPair(x, y)), nil
}
