package ir

import (
	"fmt"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/algebra/sym"
)

// NumVal is the number of values that one thread moves in one atom, on a side.
func (c *TiledCopy) NumVal(s Side) int64 { return sizeOf(c.Atom(s).Mode(1)) }

// CheckCopy says why an atom cannot move src to dst: sizes, value order, contiguity or alignment.
func CheckCopy(c *TiledCopy, src, dst *Tensor) error {
	if src.Elem != c.Elem || dst.Elem != c.Elem {
		return fmt.Errorf("expects elements of type %s, but got %s to %s", c.Elem, src.Elem, dst.Elem)
	}
	if src.Layout.Rank() != dst.Layout.Rank() {
		return fmt.Errorf("expects views of one rank, but %s has shape %s and %s has %s", src.Name, src.Layout.Shape(), dst.Name, dst.Layout.Shape())
	}
	if err := c.canEmit(src, dst); err != nil {
		return err
	}
	sides := []struct {
		side Side
		t    *Tensor
	}{{Source, src}, {Destination, dst}}
	var repeats [2]int64
	for i, x := range sides {
		if err := x.t.Static(); err != nil {
			return err
		}
		nv, n := c.NumVal(x.side), sizeOf(x.t.Layout.Mode(0))
		if n%nv != 0 {
			return fmt.Errorf("mode 0 of the %s %s expects a multiple of %d values, which %s moves at once, but has %d", x.side, x.t.Name, nv, c.Row.Name, n)
		}
		repeats[i] = n / nv
		if err := c.checkOrder(x.t, x.side); err != nil {
			return err
		}
		if err := c.checkVector(x.t, x.side, nv); err != nil {
			return err
		}
	}
	if repeats[0] != repeats[1] {
		return fmt.Errorf("mode 0 expects as many atoms in both views, but %s has %d and %s has %d", src.Name, repeats[0], dst.Name, repeats[1])
	}
	for i := 1; i < src.Layout.Rank(); i++ {
		if a, b := sizeOf(src.Layout.Mode(i)), sizeOf(dst.Layout.Mode(i)); a != b {
			return fmt.Errorf("mode %d expects one extent in both views, but %s %s has %d and %s %s has %d", i, src.Name, src.Layout.Shape(), a, dst.Name, dst.Layout.Shape(), b)
		}
	}
	if p := dst.Storage.Param; p != nil && !p.Write {
		return fmt.Errorf("expects an output as destination, but %s was declared with In", p.Name)
	}
	if p := src.Storage.Param; p != nil && !p.Read {
		return fmt.Errorf("expects an input as source, but %s was declared with Out", p.Name)
	}
	return nil
}

// checkOrder compares the value order of a view with that of the copy's side, where they come from different
// partitions.
func (c *TiledCopy) checkOrder(t *Tensor, s Side) error {
	p := t.Values
	if p == nil || p.Copy == c && p.Side == s {
		return nil
	}
	if p.MMA != nil {
		return fmt.Errorf("%s is a view of the MMA's, not of this copy's: Retile it (a fragment) or partition with the copy (memory)", t.Name)
	}
	theirs, err := p.Copy.SideTV(p.Side)
	if err != nil {
		return err
	}
	ours, err := c.SideTV(s)
	if err != nil {
		return err
	}
	if p.Copy.Tiler.String() != c.Tiler.String() || sizeOf(theirs) != sizeOf(ours) {
		return fmt.Errorf("%s is a partition by another copy, of tile %s and layout %s, but this copy's %s side has tile %s and layout %s", t.Name, p.Copy.Tiler, theirs, s, c.Tiler, ours)
	}
	for i := range sizeOf(ours) {
		if a, b := ours.AtInt(i), theirs.AtInt(i); a != b {
			return fmt.Errorf("%s is a partition by another copy: thread %d, value %d is element %d of the tile there, but element %d on this copy's %s side",
				t.Name, i%c.NumThr, i/c.NumThr, b, a, s)
		}
	}
	return nil
}

// checkVector checks that each atom's values are adjacent, and aligned where they are in memory.
func (c *TiledCopy) checkVector(t *Tensor, s Side, nv int64) error {
	if c.Row.Chooses { // it takes what there is
		return nil
	}
	if t.Storage.Space == Register && c.Row.DstRegs.Count+c.Row.SrcRegs.Count > 0 {
		return c.checkRegisters(t, nv)
	}
	n := int64(c.Row.VectorBits / c.Elem.Bits())
	at := func(i int64) sym.Expr { e, _ := t.Layout.At(algebra.CoordOf(pad(i, t.Layout.Rank()))); return e }
	for v := int64(1); v < nv; v++ {
		if d := at(v).Sub(at(0)); !d.Is(v) {
			return fmt.Errorf("mode 0 of the %s %s expects %d adjacent elements (%d bits, for %s), but element %d is %s away from the first: layout %s",
				s, t.Name, nv, c.Row.VectorBits, c.Row.Name, v, d, t.Layout)
		}
	}
	if t.Storage.Space == Register || n == 1 {
		return nil
	}
	return t.checkAlignment(n, nv, c.Row.Name)
}

// pad is the coordinate (i,0,0,…) of a view of the given rank.
func pad(i int64, rank int) any {
	modes := []any{i}
	for range rank - 1 {
		modes = append(modes, 0)
	}
	return algebra.C(modes...)
}

// checkAlignment checks that every vector of n elements starts at a multiple of n.
func (t *Tensor) checkAlignment(n, nv int64, atom string) error {
	if !t.Offset.DivisibleBy(n) {
		return fmt.Errorf("%s expects vectors of %d elements to start at multiples of %d in %s, but the thread's offset %s is not known to be one", atom, n, n, t.Name, t.Offset)
	}
	if sw := t.Swizzle; sw.B > 0 && int64(1)<<sw.M < n {
		return fmt.Errorf("%s expects vectors of %d elements to stay whole in %s, but its swizzle %s moves runs of %d", atom, n, t.Name, sw, int64(1)<<sw.M)
	}
	seen := int64(1)
	steps := t.Layout.Stride().Leaves()
	for i, e := range t.Layout.Shape().Leaves() {
		ext, _ := e.IsConst()
		inVector := seen < nv
		seen *= ext
		if ext > 1 && !inVector && !steps[i].Coef.DivisibleBy(n) {
			return fmt.Errorf("%s expects vectors of %d elements to start at multiples of %d in %s, but stride %s of layout %s is not known to be one (state it with Multiple?)", atom, n, n, t.Name, steps[i], t.Layout)
		}
	}
	return nil
}

// checkRegisters checks that each 32-bit register of an intrinsic's result holds adjacent elements.
func (c *TiledCopy) checkRegisters(t *Tensor, nv int64) error {
	per := int64(32 / c.Elem.Bits())
	if !t.Layout.IsStatic() {
		return fmt.Errorf("expects a static layout of registers, but got %s", t.Layout)
	}
	return adjacent(t, per, c.Row.Name)
}

// adjacent checks that runs of per elements of mode 0 fill whole registers.
func adjacent(t *Tensor, per int64, what string) error {
	l := t.Layout.Mode(0)
	for v := range sizeOf(l) {
		base := v - v%per
		if d := l.AtInt(v) - l.AtInt(base); d != v-base || l.AtInt(base)%per != 0 {
			return fmt.Errorf("%s expects registers of %d adjacent elements in %s, but value %d lies at %d and value %d at %d: layout %s",
				what, per, t.Name, base, l.AtInt(base), v, l.AtInt(v), t.Layout)
		}
	}
	if !t.Offset.DivisibleBy(per) {
		return fmt.Errorf("%s expects registers of %d adjacent elements in %s, but it starts at element %s", what, per, t.Name, t.Offset)
	}
	return nil
}

// WholeWords reports whether runs of elements of mode 0 fill whole registers of 32 bits.
func (t *Tensor) WholeWords() bool {
	per := int64(32 / t.Elem.Bits())
	return t.Layout.IsStatic() && sizeOf(t.Layout.Mode(0))%per == 0 && adjacent(t, per, "") == nil
}

// CheckGemm says why an MMA cannot accumulate a*b into c.
func CheckGemm(m *TiledMMA, a, b, c *Tensor) error {
	if m.Row.IsGMMA() {
		return fmt.Errorf("%s is asynchronous and reads shared memory: WarpgroupGemm issues it", m.Row.Name)
	}
	for _, x := range []struct {
		t *Tensor
		o Operand
	}{{a, A}, {b, B}, {c, C}} {
		if p := x.t.Values; p == nil || p.MMA != m || p.Operand != x.o {
			return fmt.Errorf("expects a fragment of operand %c of this MMA (Fragment%c), but %s is another view", x.o, x.o, x.t.Name)
		}
		regs := m.Regs(x.o)
		per := int64(regs.Bits() / regs.Count / x.t.Elem.Bits())
		if err := adjacent(x.t, per, m.Row.Name); err != nil {
			return err
		}
		if n := sizeOf(x.t.Layout.Mode(0)); n != per*int64(regs.Count) {
			return fmt.Errorf("mode 0 of %s expects %d values, those of %s, but has %d", x.t.Name, per*int64(regs.Count), m.Row.Name, n)
		}
	}
	return checkModes(a, b, c)
}

// CheckMap says why the elements of two views do not belong together one by one.
func CheckMap(dst, src *Tensor) error {
	for _, t := range []*Tensor{dst, src} {
		if err := t.Static(); err != nil {
			return err
		}
		if t.Elem.Bits() != t.Storage.Elem.Bits() {
			return fmt.Errorf("expects elements as they are stored, but %s reads %s as %s", t.Name, t.Storage.Elem, t.Elem)
		}
	}
	if p, q := dst.Values, src.Values; p != nil && q != nil {
		if err := p.CheckSame(q); err != nil {
			return fmt.Errorf("the elements of %s and %s do not belong together: of their partitions, %w", dst.Name, src.Name, err)
		}
	}
	return sameExtents("views", dst, src)
}

// sameExtents says why two views do not have the same extents, mode by mode.
func sameExtents(what string, dst, src *Tensor) error {
	if dst.Layout.Rank() != src.Layout.Rank() {
		return fmt.Errorf("expects %s of one rank, but %s has shape %s and %s has %s", what, src.Name, src.Layout.Shape(), dst.Name, dst.Layout.Shape())
	}
	for i := range dst.Layout.Rank() {
		if a, b := sizeOf(src.Layout.Mode(i)), sizeOf(dst.Layout.Mode(i)); a != b {
			return fmt.Errorf("mode %d expects one extent, but %s %s has %d and %s %s has %d", i, src.Name, src.Layout.Shape(), a, dst.Name, dst.Layout.Shape(), b)
		}
	}
	return nil
}
