package algebra

import (
	"fmt"

	"github.com/gocute/gocute/algebra/sym"
)

// Cover is a layout that covers another, rounding up: coordinates of Layout at or past Extent, mode by mode,
// have no element.
type Cover struct {
	Layout
	Extent Shape // the shape of what is covered
}

// parts are the tiles and the rests that a tiler makes of a layout, each following the tiler's profile.
type parts struct {
	tile, rest Layout
	sub        []parts // of a tuple
	extra      []Layout
	whole      bool   // an Underscore: tile is the mode, rest is 1:0
	mode       Layout // the mode that an Underscore leaves alone
}

// splitBy applies one to each leaf of the tiler and the mode of l it stands at.
func splitBy(l Layout, t Tiler, one func(Layout, Layout) (tile, rest Layout, _ *Error)) (parts, *Error) {
	switch {
	case t.free:
		return parts{tile: l, rest: unit, whole: true, mode: l}, nil
	case t.sub == nil:
		if t.layout.sw.B != 0 {
			return parts{}, failf("the tiler %s is swizzled", t.layout)
		}
		tile, rest, e := one(l, t.layout)
		return parts{tile: tile, rest: rest}, e
	}
	if len(t.sub) > l.shape.rank() {
		return parts{}, failf("the tiler has %d modes, the layout only %d", len(t.sub), l.shape.rank())
	}
	ls := layoutModes(l)
	p := parts{sub: make([]parts, len(t.sub)), extra: ls[len(t.sub):]}
	tiles, rests := make([]Layout, len(t.sub)), make([]Layout, len(t.sub), len(ls))
	for i, x := range t.sub {
		var e *Error
		if p.sub[i], e = splitBy(ls[i], x, one); e != nil {
			return parts{}, e.inMode(i)
		}
		tiles[i], rests[i] = p.sub[i].tile, p.sub[i].rest
	}
	p.tile, p.rest = joinModes(tiles), joinModes(append(rests, p.extra...))
	return p, nil
}

// logical keeps each tile beside its rest.
func (p parts) logical() Layout {
	switch {
	case p.whole:
		return p.mode
	case p.sub == nil:
		return joinModes([]Layout{p.tile, p.rest})
	}
	ls := make([]Layout, len(p.sub), len(p.sub)+len(p.extra))
	for i, s := range p.sub {
		ls[i] = s.logical()
	}
	return joinModes(append(ls, p.extra...))
}

// zipped is ((tiles),(rests)).
func (p parts) zipped() Layout { return joinModes([]Layout{p.tile, p.rest}) }

// tiled is ((tiles),rest,rest…).
func (p parts) tiled() Layout { return joinModes(append([]Layout{p.tile}, spread(p, p.rest)...)) }

// flat is (tile,tile,…,rest,rest…).
func (p parts) flat() Layout { return joinModes(append(spread(p, p.tile), spread(p, p.rest)...)) }

// spread takes a mode apart, unless it has only one mode, which keeps its nesting, or is a whole mode.
func spread(p parts, l Layout) []Layout {
	if l.shape.rank() == 1 || p.whole {
		return []Layout{l}
	}
	return layoutModes(l)
}

// divideExact is A∘(B,B*): B* fills [0, size(A)) with B exactly.
func divideExact(a, b Layout) (tile, rest Layout, _ *Error) {
	if divideInt(place{&a.shape, &a.stride}, &b, place{&tile.shape, &tile.stride}, place{&rest.shape, &rest.stride}) {
		return tile, rest, nil
	}
	return divideGeneral(a, b)
}

func divideGeneral(a, b Layout) (tile, rest Layout, _ *Error) {
	n, nb := a.Size(), b.Size()
	c, e := translations(b, n)
	if e != nil || !c.fills || !filterZeros(b).Size().Equal(nb) {
		if c.r, e = exactRest(b, n, nb, e); e != nil {
			return a, b, e
		}
	}
	return composePair(a, b, c.r)
}

// exactRest looks for B* among the translations that fill [0, n) one by one, and says why there is none.
func exactRest(b Layout, n, nb sym.Expr, closed *Error) (Layout, *Error) {
	in, ok := n.IsConst()
	fb, static := intFn(b)
	if !ok || !static {
		if closed != nil {
			return Layout{}, closed
		}
		return Layout{}, failf("the tile %s must divide the extent %s", b, n).hint("state the fact %s %% %s == 0, or use the Ceil form", n, nb)
	}
	if in%fb.n != 0 {
		return Layout{}, failf("the tile %s has %d elements, which do not divide the %d of the layout", b, fb.n, in).hint("%s", neighbours(fb.n, in))
	}
	r, e := tile(fb, in)
	if e != nil {
		return Layout{}, failf("nothing completes the tile %s to [0,%d): %s", b, in, e.Condition)
	}
	if m, _ := r.IntSize(); m*fb.n != in {
		return Layout{}, failf("the tile %s does not divide [0,%d): %d copies of its %d elements are %d", b, in, m, fb.n, m*fb.n).hint("the Ceil form rounds up")
	}
	return r, nil
}

// neighbours names the sizes next to n that divide size, where they are near.
func neighbours(n, size int64) string {
	const near = 1 << 12
	if n > near || size > near*near {
		return "the Ceil form rounds up"
	}
	below, above := n-1, n+1
	for below > 1 && size%below != 0 {
		below--
	}
	for above < min(size, 2*near) && size%above != 0 {
		above++
	}
	if above > size || size%above != 0 {
		return fmt.Sprintf("%d divides; the Ceil form rounds up", min(below, size))
	}
	return fmt.Sprintf("%d and %d divide; the Ceil form rounds up", below, above)
}

func composePair(a, b, rest Layout) (tileOf, restOf Layout, _ *Error) {
	r, e := composePlain(a, joinModes([]Layout{b, rest}))
	if e != nil {
		return a, b, e
	}
	ls := layoutModes(r)
	return ls[0], ls[1], nil
}

// divideCeil is the same with as many copies of B as cover [0, size(A)).
func divideCeil(a, b Layout) (tile, rest Layout, _ *Error) {
	c, e := translations(b, a.Size())
	if e != nil {
		return a, b, e
	}
	if !c.whole {
		return a, b, failf("copies of the tile %s leave out offsets", b)
	}
	return composePair(a, b, c.r)
}

// form is how a divide or product arranges tiles and rests.
type form uint8

const (
	logical form = iota
	zipped
	tiled
	flat
)

var arrange = [...]func(parts) Layout{logical: parts.logical, zipped: parts.zipped, tiled: parts.tiled, flat: parts.flat}

func divide(op string, l Layout, t Tiler, as form) (Layout, error) {
	if l.err == nil && t.err == nil {
		if r, ok := divideFlat(&l, &t, as); ok {
			return l.rewrap(r), nil
		}
	}
	if e := bad(l, t); e != nil {
		return Layout{}, e.in(op, l, t)
	}
	p, e := splitBy(l.Plain(), t, divideExact)
	if e != nil {
		return Layout{}, e.in(op, l, t)
	}
	r, e := settled(l.rewrap(arrange[as](p)), nil)
	return r, e.in(op, l, t)
}

func divideUp(op string, l Layout, t Tiler, as form) (Cover, error) {
	if e := bad(l, t); e != nil {
		return Cover{}, e.in(op, l, t)
	}
	p, e := splitBy(l.Plain(), t, divideCeil)
	if e != nil {
		return Cover{}, e.in(op, l, t)
	}
	r, e := settled(l.rewrap(arrange[as](p)), nil)
	return Cover{r, l.Shape()}, e.in(op, l, t)
}

// LogicalDivide splits each mode that the tiler names into (tile, rest). The tile must divide it.
func LogicalDivide(l Layout, t Tiler) (Layout, error) {
	return divide("logical_divide", l, t, logical)
}

// ZippedDivide is LogicalDivide with the tiles and the rests gathered: ((tiles),(rests)).
func ZippedDivide(l Layout, t Tiler) (Layout, error) {
	return divide("zipped_divide", l, t, zipped)
}

// TiledDivide is LogicalDivide as ((tiles),rest,rest…).
func TiledDivide(l Layout, t Tiler) (Layout, error) { return divide("tiled_divide", l, t, tiled) }

// FlatDivide is LogicalDivide as (tile,tile,…,rest,rest…).
func FlatDivide(l Layout, t Tiler) (Layout, error) { return divide("flat_divide", l, t, flat) }

// LogicalDivideCeil is LogicalDivide with as many tiles as cover each mode.
func LogicalDivideCeil(l Layout, t Tiler) (Cover, error) {
	return divideUp("logical_divide_ceil", l, t, logical)
}

// ZippedDivideCeil is ZippedDivide with as many tiles as cover each mode: (M,K):(K,1) by (128,32) is
// ((128,32),(ceil_div(M,128),ceil_div(K,32))):((K,1),(128*K,32)), its Extent (M,K).
func ZippedDivideCeil(l Layout, t Tiler) (Cover, error) {
	return divideUp("zipped_divide_ceil", l, t, zipped)
}

// TiledDivideCeil is TiledDivide with as many tiles as cover each mode.
func TiledDivideCeil(l Layout, t Tiler) (Cover, error) {
	return divideUp("tiled_divide_ceil", l, t, tiled)
}

// FlatDivideCeil is FlatDivide with as many tiles as cover each mode.
func FlatDivideCeil(l Layout, t Tiler) (Cover, error) {
	return divideUp("flat_divide_ceil", l, t, flat)
}
