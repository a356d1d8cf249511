package algebra

import "github.com/gocute/gocute/algebra/sym"

// productOne is A and A*∘B: A* lists the translations that put copies of A side by side.
func productOne(a, b Layout) (block, rest Layout, _ *Error) {
	if b.sw.B != 0 {
		return a, b, failf("the tiler %s is swizzled", b)
	}
	cb, e := cosize(b)
	if e != nil {
		return a, b, e
	}
	na, ok1 := a.IntSize()
	need, ok2 := cb.IsConst()
	if ok1 && ok2 && float64(na)*float64(need) > 1<<61 {
		return a, b, failf("%d copies of %d elements are too many", need, na)
	}
	c, e := translations(a, a.Size().Mul(cb))
	if e != nil {
		if c.r, e = copies(a, need, e); e != nil {
			return a, b, e
		}
		c.open = true
	}
	size, ok1 := c.r.IntSize()
	if ok1 && ok2 && size < need && !c.open {
		return a, b, failf("only %d translations of %s are known to be disjoint, and %s asks for %d", size, a, b, need)
	}
	r, e := composePlain(c.r, b)
	return a, r, e
}

// copies lists the translations of a block that repeats offsets, which CuTe's rule does not take: those with
// which its offsets fill a range.
func copies(a Layout, need int64, closed *Error) (Layout, *Error) {
	f, ok := intFn(a)
	if !ok || need < 1 || f.n*need > EvalLimit {
		return Layout{}, closed
	}
	r, e := tile(f, distinct(f)*need)
	if e != nil {
		return Layout{}, closed
	}
	return r, nil
}

func product(op string, l Layout, t Tiler, form func(parts) Layout) (Layout, error) {
	if e := bad(l, t); e != nil {
		return Layout{}, e.in(op, l, t)
	}
	p, e := splitBy(l.Plain(), t, productOne)
	if e != nil {
		return Layout{}, e.in(op, l, t)
	}
	return l.rewrap(form(p)), nil
}

// LogicalProduct repeats the block l: (l, its translations in the order of the tiler), by mode for a tuple.
func LogicalProduct(l Layout, t Tiler) (Layout, error) {
	return product("logical_product", l, t, parts.logical)
}

// ZippedProduct is LogicalProduct as ((blocks),(translations)).
func ZippedProduct(l Layout, t Tiler) (Layout, error) {
	return product("zipped_product", l, t, parts.zipped)
}

// TiledProduct is LogicalProduct as ((blocks),translation,translation…).
func TiledProduct(l Layout, t Tiler) (Layout, error) {
	return product("tiled_product", l, t, parts.tiled)
}

// FlatProduct is LogicalProduct as (block,block,…,translation,translation…).
func FlatProduct(l Layout, t Tiler) (Layout, error) {
	return product("flat_product", l, t, parts.flat)
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
	return block.rewrap(zipPair(a, b)), nil
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
	return block.rewrap(zipPair(b, a)), nil
}

func rankedProduct(block, tiler Layout) (a, b Layout, _ *Error) {
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
	r, e := tileToShape(block, shape, nil)
	return r, e.in("tile_to_shape", block, shape)
}

// TileToShapeOrder is TileToShape with the order of the modes: the block is repeated along the mode with the
// smallest number first.
func TileToShapeOrder(block Layout, shape, order Shape) (Layout, error) {
	if e := bad(block, extents(shape), order); e != nil {
		return Layout{}, e.in("tile_to_shape", block, shape, order)
	}
	r, e := tileToShape(block, shape, &order)
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
