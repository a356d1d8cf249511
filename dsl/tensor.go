package dsl

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
	"github.com/gocute/gocute/internal/text"
)

// Memory spaces are types.
type (
	Gmem = atoms.Gmem // global memory
	Smem = atoms.Smem // shared memory
	Rmem = atoms.Rmem // registers of one thread
	// Space is the set of memory spaces.
	Space = atoms.AnySpace
)

// Tensor is a view of elements of type E in space S.
type Tensor[S Space, E elem.Any] struct {
	k *K
	t *ir.Tensor // nil after a mistake that has been reported
}

// Fact is something known about a Dim; the launcher checks it.
type Fact func(*sym.Symbol)

// Multiple states that n divides the extent.
func Multiple(n int) Fact {
	return func(s *sym.Symbol) {
		if s.Multiple = int64(n); n == 0 { // no fact at all has that value
			s.Multiple = multipleOfZero
		}
	}
}

// multipleOfZero stands for Multiple(0), which Dim refuses.
const multipleOfZero = math.MinInt64

// AtMost bounds the extent; offsets of tensors with small extents stay within 32 bits.
func AtMost(n int) Fact { return func(s *sym.Symbol) { s.Hi = int64(n) } }

// AtLeast bounds the extent from below; it is 1 without this.
func AtLeast(n int) Fact { return func(s *sym.Symbol) { s.Lo = int64(n) } }

// Dim is an extent or a stride that the launcher passes, from 1 to MaxExtent unless facts say otherwise.
func (k *K) Dim(name string, facts ...Fact) Expr {
	given("Dim", k)
	if !k.argument("Dim", name) {
		return Expr{k: k, err: errReported}
	}
	s := &sym.Symbol{Name: name, Class: sym.Param, Lo: 1, Hi: MaxExtent}
	for i, f := range facts {
		if f == nil {
			k.errorf("Dim", "expects facts (AtLeast, AtMost, Multiple), but fact %d of %s is nil", i, name)
			return Expr{k: k, err: errReported}
		}
		f(s)
	}
	if s.Multiple == multipleOfZero {
		k.errorf("Dim", "expects Multiple of 1 or more for %s, but got Multiple(0)", name)
		return Expr{k: k, err: errReported}
	}
	if s.Multiple < 0 || s.Lo < 0 || s.Hi > MaxExtent || s.Lo >= s.Hi {
		k.errorf("Dim", "%s expects AtLeast of 0 or more, a greater AtMost of at most %d, and Multiple of 1 or more, but got AtLeast(%d), AtMost(%d) and Multiple(%d)", name, MaxExtent, s.Lo, s.Hi, s.Multiple)
		return Expr{k: k, err: errReported}
	}
	if m := max(s.Multiple, 1); (s.Lo+m-1)/m*m > s.Hi {
		k.errorf("Dim", "expects bounds that some value meets, but no multiple of %d lies within %d to %d, those of %s", m, s.Lo, s.Hi, name)
		return Expr{k: k, err: errReported}
	}
	k.kernel.ir.Params = append(k.kernel.ir.Params, &cir.Param{Pos: k.position(), Name: name, Class: cir.Dim, Sym: s})
	return Expr{e: sym.New(s), k: k}
}

type reported struct{}

func (reported) Error() string { return "depends on a value that could not be made" }

var errReported error = reported{}

// argument checks the name of an argument of the kernel.
func (k *K) argument(op, name string) bool {
	switch why := badName(name); {
	case why != "":
		k.errorf(op, "%s", why)
	case reserved[name]:
		k.errorf(op, "the name %s is used by the emitted code itself; choose another", name)
	case k.names[name]:
		k.errorf(op, "the name %s is already used in this kernel", name)
	default:
		k.names[name] = true
		return true
	}
	return false
}

// Require states a condition on Dims that the launcher checks; message says what is expected.
func (k *K) Require(c Cond, message string) {
	given("Require", k)
	if err := c.mistake(); err != nil {
		k.errorf("Require", "%v", err)
		return
	}
	for _, e := range c.use {
		for _, s := range e.Symbols() {
			if s.Class != sym.Param {
				k.errorf("Require", "expects a condition on Dims, but got one on %s", s.Name)
				return
			}
		}
	}
	if !k.fits("Require", message, 0) {
		return
	}
	if !ofIntegers(c.c) {
		k.errorf("Require", "expects a condition on Dims, but got one on elements or scalars")
		return
	}
	if holds, known := cir.Decide(c.c); known && !holds {
		k.errorf("Require", "expects a condition that some sizes meet, but %q never holds within the bounds of its Dims", text.Short(message, 60))
		return
	}
	k.kernel.ir.Requires = append(k.kernel.ir.Requires, cir.Require{Cond: c.c, Message: text.Visible(message)})
}

// ofIntegers reports whether a condition compares integers only.
func ofIntegers(c cir.Cond) bool {
	switch c := c.(type) {
	case cir.Cmp:
		return true
	case cir.And:
		return !slices.ContainsFunc(c, func(c cir.Cond) bool { return !ofIntegers(c) })
	case cir.Or:
		return !slices.ContainsFunc(c, func(c cir.Cond) bool { return !ofIntegers(c) })
	case cir.Not:
		return ofIntegers(c.X)
	}
	return false
}

// Layout is the layout of the view, in elements, without its swizzle and offset.
func (t Tensor[S, E]) Layout() Layout {
	if t.t == nil {
		return Layout{err: errReported}
	}
	return Layout{l: t.t.Layout}
}

// String shows the name and layout of the view.
func (t Tensor[S, E]) String() string {
	if t.t == nil {
		return "(invalid tensor)"
	}
	return t.t.Name + " " + t.t.Layout.String()
}

// Size is the number of elements in a mode, or in the whole view.
func (t Tensor[S, E]) Size(mode ...int) Expr {
	if together("Size", origin(t)) == nil {
		return Expr{k: t.k, err: errReported}
	}
	if len(mode) == 0 {
		return Expr{e: t.t.Layout.Size(), k: t.k}
	}
	if r := t.t.Layout.Rank(); len(mode) > 1 || mode[0] < 0 || mode[0] >= r {
		t.k.errorf("Size", "expects one mode below %d, the rank of %s, but got %v", r, t.t.Name, mode)
		return Expr{k: t.k, err: errReported}
	}
	return Expr{e: t.t.Layout.Mode(mode[0]).Size(), k: t.k}
}

// Extent is the number of elements in a mode whose extent is known while generating.
func (t Tensor[S, E]) Extent(mode int) int {
	e := t.Size(mode)
	n, isConst := e.e.IsConst()
	if !isConst {
		t.k.errorf("Extent", "mode %d of %s expects an extent known while generating, but has %s", mode, t.t.Name, e)
	}
	return int(n)
}

// coordinates converts All, ints and Exprs.
func (k *K) coordinates(op string, coord []any) ([]any, bool) {
	out := make([]any, len(coord))
	for i, c := range coord {
		if _, ok := c.(all); ok {
			out[i] = algebra.Underscore
			continue
		}
		e, ok := k.expr(op, c)
		if !ok {
			return nil, false
		}
		out[i] = e
	}
	return out, true
}

// At fixes the modes that have an index and keeps those that have All.
func (t Tensor[S, E]) At(coord ...any) Tensor[S, E] {
	if together("At", origin(t)) == nil {
		return Tensor[S, E]{k: t.k}
	}
	bad := Tensor[S, E]{k: t.k}
	if r := t.t.Layout.Rank(); len(coord) != r {
		t.k.errorf("At", "expects %d coordinates, one for each mode of %s %s, but got %d", r, t.t.Name, t.t.Layout.Shape(), len(coord))
		return bad
	}
	cs, ok := t.k.coordinates("At", coord)
	if !ok || !t.k.checkIndices(t.t, cs) {
		return bad
	}
	out, err := t.t.At(algebra.C(cs...))
	if err != nil {
		t.k.errorf("At", "%s: %v", t.t.Name, err)
		return bad
	}
	return Tensor[S, E]{k: t.k, t: out}
}

// checkIndices refuses run-time indices of fragments and indices out of the extents.
func (k *K) checkIndices(t *ir.Tensor, coord []any) bool {
	for i, c := range coord {
		e, ok := c.(sym.Expr)
		if !ok {
			continue
		}
		if t.Storage.Space == ir.Register {
			for _, s := range e.Symbols() {
				if sc := k.symbols[s.Name]; sc == nil || !sc.unroll {
					k.errorf("At", "mode %d of the fragment %s expects an index known to nvcc (a constant or the variable of Unroll), but got the run-time value %s", i, t.Name, e)
					return false
				}
			}
		}
		if t.Storage.Space == ir.Global && i >= t.Inner { // beyond the extents of a global tensor are zeros
			continue
		}
		lo, hi := e.Range()
		if n, isConst := t.Layout.Mode(i).Size().IsConst(); isConst && (lo < 0 || hi >= n) {
			got := fmt.Sprintf("got %s", e)
			if lo != hi {
				got = fmt.Sprintf("%s may reach %d", e, map[bool]int64{true: hi, false: lo}[hi >= n])
			}
			k.errorf("At", "mode %d of %s expects an index from 0 to %d, but %s", i, t.Name, n-1, got)
			return false
		}
	}
	return true
}

// Tile cuts the tensor into tiles that cover it and selects those at the coordinate (local_tile): the modes of
// the tile, then one mode for each All. Tails need no mask: the tensor's own extents are the truth.
func (t Tensor[S, E]) Tile(tile Tiler, coord ...any) Tensor[S, E] {
	if together("Tile", origin(t)) == nil {
		return Tensor[S, E]{k: t.k}
	}
	bad := Tensor[S, E]{k: t.k}
	if tile.err != nil {
		t.k.errorf("Tile", "%v", tile.err)
		return bad
	}
	cs, ok := t.k.coordinates("Tile", coord)
	if !ok {
		return bad
	}
	out, err := t.t.LocalTile("g"+t.t.Base, algebra.T(tile.modes...), len(tile.modes), cs)
	if err != nil {
		t.k.errorf("Tile", "%v", err)
		return bad
	}
	if t.t.Storage.Space != ir.Global {
		out.Name = t.t.Name
	}
	return Tensor[S, E]{k: t.k, t: out}
}

// Clear sets every element of a fragment to zero.
func Clear[E elem.Any](t Tensor[Rmem, E]) { Fill(t, 0) }

// Fill sets every element of a fragment.
func Fill[E elem.Any](t Tensor[Rmem, E], value float64) {
	if k := together("Fill", origin(t)); k != nil && k.usable("Fill", t.t) {
		if err := cir.IsValue(t.t.Elem, value); err != nil && value != 0 {
			k.errorf("Fill", "%v", err)
			return
		}
		t.k.add(ir.FillOp{Pos: t.k.position(), Dst: t.t, Value: value})
	}
}

// usable checks that the views use no variable whose body has ended.
func (k *K) usable(op string, ts ...*ir.Tensor) bool {
	for _, t := range ts {
		if !k.inScope(op, t.Offset) {
			return false
		}
		for _, b := range t.Bounds {
			if !k.inScope(op, t.Coord.Get(b.Path...)) {
				return false
			}
		}
	}
	return true
}

// FragmentLike declares registers for the elements of a partition: its mode 0 compact, the others in the order
// of their strides. As in CuTe, what has stride 0 in mode 0 shares a register; not so in global memory, where an element
// may lie within the extents and another that is at the same address beyond them.
func FragmentLike[S Space, E elem.Any](t Tensor[S, E]) Tensor[Rmem, E] {
	bad := Tensor[Rmem, E]{k: t.k}
	if together("FragmentLike", origin(t)) == nil {
		return bad
	}
	l, err := t.t.FragmentLayout()
	if err == nil {
		var out *ir.Tensor
		if out, err = t.k.registers(fragmentName(t.t), t.t.Base, t.t.Elem, l, t.t.Values); err == nil {
			return Tensor[Rmem, E]{k: t.k, t: out}
		}
	}
	t.k.errorf("FragmentLike", "%s: %v", t.t.Name, err)
	return bad
}

// fragmentName turns tAgA into tArA, and gA into rA.
func fragmentName(t *ir.Tensor) string {
	if prefix, ok := strings.CutSuffix(t.Name, t.Base); ok && strings.HasPrefix(prefix, "t") && len(prefix) > 2 {
		return prefix[:len(prefix)-1] + "r" + t.Base
	}
	return "r" + t.Base
}

// Recast views the same storage as elements of type O, which must not be narrower than the storage's.
func Recast[O elem.Any, S Space, E elem.Any](t Tensor[S, E]) Tensor[S, O] {
	bad := Tensor[S, O]{k: t.k}
	if together("Recast", origin(t)) == nil {
		return bad
	}
	kind := elem.KindOf[O]()
	out := *t.t
	from, to := int64(t.t.Elem.Bits()), int64(kind.Bits())
	if to < int64(t.t.Storage.Elem.Bits()) || to%from != 0 && from%to != 0 {
		t.k.errorf("Recast", "expects a type at least as wide as the %s that %s stores, but got %s", t.t.Storage.Elem, t.t.Name, kind)
		return bad
	}
	if n := to / from; from < to && !t.t.Offset.DivisibleBy(n) {
		t.k.errorf("Recast", "%s starts at offset %s, which is not known to be a multiple of the %d elements that one %s holds", t.t.Name, t.t.Offset, n, kind)
		return bad
	}
	l, err := algebra.Recast(t.t.Layout, from, to)
	if err == nil && t.t.Swizzle.B > 0 {
		sw := t.t.Layout.WithSwizzle(t.t.Swizzle, sym.Expr{})
		var cast algebra.Layout
		if cast, err = algebra.Recast(sw, from, to); err == nil {
			out.Swizzle = cast.Swizzle()
		}
	}
	if err != nil {
		t.k.errorf("Recast", "%s cannot be read as %s: %v", t.t.Name, kind, err)
		return bad
	}
	out.Elem, out.Layout, out.Bounds, out.Values = kind, l, nil, nil
	if len(t.t.Bounds) > 0 {
		t.k.errorf("Recast", "expects a tensor in shared memory or registers, but %s is in global memory, where tails are counted in elements", t.t.Name)
		return bad
	}
	out.Offset = t.t.Offset.Mul(sym.Int(from)).FloorDiv(sym.Int(to))
	return Tensor[S, O]{k: t.k, t: &out}
}

// Within ends the tensor early: what lies at or beyond extent in a mode counts as outside of it, as what lies beyond its
// own extent does. Parts of a sum that different blocks compute end so. The mode must be a whole one of the tensor: call it
// before Tile.
func (t Tensor[S, E]) Within(mode int, extent any) Tensor[S, E] {
	if t.t == nil {
		return t
	}
	none := Tensor[S, E]{k: t.k}
	e, ok := t.k.expr("Within", extent)
	if !ok {
		return none
	}
	out := *t.t
	out.Bounds = slices.Clone(t.t.Bounds)
	for i, b := range out.Bounds {
		if len(b.Path) == 1 && wholeMode(t.t, mode, b.Path[0]) {
			out.Bounds[i].Extent = b.Extent.Min(e)
			return Tensor[S, E]{k: t.k, t: &out}
		}
	}
	t.k.errorf("Within", "expects a mode that is a whole one of a tensor in global memory, not cut by Tile or At, but mode %d of %s %s is none", mode, t.t.Name, t.t.Layout.Shape())
	return none
}

// wholeMode reports whether a mode of a view is all of a mode of the tensor itself.
func wholeMode(t *ir.Tensor, mode, root int) bool {
	extents := t.Storage.Param.Extents
	return mode >= 0 && mode < t.Ident.Rank() && root < len(extents) && t.Coord.Get(root).Is(0) &&
		t.Ident.Mode(mode).String() == fmt.Sprintf("%s:1@%d", extents[root], root)
}
