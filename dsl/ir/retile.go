package ir

import (
	"fmt"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/algebra/sym"
)

// Retile regroups the layout of a register fragment into (atom values,repeats) and the rest: what the copy reads
// or writes. It does not check that the fragment's value order is the copy's; see CheckRetile.
func (c *TiledCopy) Retile(frag algebra.Layout) (algebra.Layout, error) {
	none := algebra.Layout{}
	v := sizeOf(frag.Mode(0))
	inv, err := algebra.RightInverse(c.TV)
	if err != nil {
		return none, err
	}
	mn, err := algebra.WithShape(inv, c.TileShape) // (M,N) -> thr + NumThr*val
	if err != nil {
		return none, err
	}
	up, err := algebra.UpcastCeil(mn, c.NumThr*v) // (M,N) -> fragment
	if err != nil {
		return none, err
	}
	upInv, err := algebra.RightInverse(up.Layout)
	if err != nil {
		return none, err
	}
	prod, err := algebra.LogicalProduct(algebra.Compact(algebra.Extent(v)), algebra.TileBy(upInv)) // (V,fragments)
	if err != nil {
		return none, err
	}
	groups, err := algebra.ZippedDivide(prod, algebra.TileBy(c.AtomNumVal)) // (AtomV,repeats)
	if err != nil {
		return none, fmt.Errorf("the copy moves %d values at a time, but the fragment %s has %d in groups of %d: %w", c.AtomNumVal, frag, sizeOf(prod), v, err)
	}
	gather := []any{v}
	each := algebra.ProductEach(up.Layout.Shape())
	for i := range each.Rank() {
		n, _ := each.Mode(i).IntSize()
		gather = append(gather, n)
	}
	tiles, err := algebra.ZippedDivide(frag, algebra.T(gather...)) // ((V,M,N),(1,RestM,RestN))
	if err != nil {
		return none, fmt.Errorf("the copy fills %v fragments at a time, which do not divide the fragment %s: %w", gather[1:], frag, err)
	}
	out, err := algebra.ComposeTiler(tiles, algebra.T(groups, algebra.Underscore))
	if err != nil {
		return none, err
	}
	rest := []any{0}
	for range frag.Rank() - 1 {
		rest = append(rest, algebra.Underscore)
	}
	out, _, err = algebra.Slice(out, algebra.C(algebra.Underscore, algebra.C(rest...))) // ((AtomV,repeats),RestM,RestN)
	return out, err
}

// CheckRetile says whether a fragment whose values were numbered by p holds them in the order in which the copy moves
// them: in memory that both partition, every value of every thread must be the same element for both.
func (c *TiledCopy) CheckRetile(p *Provenance, s Side) error {
	theirs, ours, extents, err := both(p, &Provenance{Copy: c, Side: s})
	if err != nil {
		return err
	}
	if theirs.Layout, err = c.Retile(theirs.Layout); err != nil {
		return err
	}
	return sameElements(theirs, ours, c.NumThr, extents, "the fragment", "the copy")
}

// CheckSame says whether two partitions give every thread the same elements in the same order.
func (p *Provenance) CheckSame(q *Provenance) error {
	if *p == *q {
		return nil
	}
	a, b, extents, err := both(p, q)
	if err != nil {
		return err
	}
	threads, _ := p.whole()
	return sameElements(a, b, threads, extents, "the first", "the second")
}

// both partitions the least tensor that two partitions divide, for a symbolic thread.
func both(p, q *Provenance) (a, b *Tensor, extents algebra.Shape, err error) {
	np, wp := p.whole()
	nq, wq := q.whole()
	if np != nq {
		return nil, nil, extents, fmt.Errorf("one is spread over %d threads, the other over %d", np, nq)
	}
	if extents, err = commonMultiple(wp, wq); err != nil {
		return nil, nil, extents, err
	}
	thread := sym.New(&sym.Symbol{Name: "t", Class: sym.Thread, Hi: np - 1})
	if a, err = p.partition(algebra.Compact(extents), thread); err == nil {
		b, err = q.partition(algebra.Compact(extents), thread)
	}
	return a, b, extents, err
}

// sameElements compares the views of every thread, value by value.
func sameElements(a, b *Tensor, threads int64, extents algebra.Shape, nameA, nameB string) error {
	if n, m := sizeOf(a.Layout), sizeOf(b.Layout); n != m {
		return fmt.Errorf("%s has %d values in each thread, but %s %d", nameA, n, nameB, m)
	}
	for t := range threads {
		at := func(*sym.Symbol) (int64, bool) { return t, true }
		offA, err := a.Offset.Eval(at)
		if err != nil {
			return fmt.Errorf("internal error: %w", err)
		}
		offB, err := b.Offset.Eval(at)
		if err != nil {
			return fmt.Errorf("internal error: %w", err)
		}
		for v := range sizeOf(a.Layout) {
			if x, y := offA+a.Layout.AtInt(v), offB+b.Layout.AtInt(v); x != y {
				return fmt.Errorf("value %d of thread %d is element %d of the tile %s for %s, but element %d for %s", v, t, y, extents, nameB, x, nameA)
			}
		}
	}
	return nil
}

// whole is the number of threads of a partition and the extents that it repeats over.
func (p *Provenance) whole() (threads int64, within algebra.Shape) {
	if p.MMA != nil {
		i, j, _ := p.Operand.modes()
		return p.MMA.NumThr, algebra.S(p.MMA.Tile[i], p.MMA.Tile[j])
	}
	return p.Copy.NumThr, p.Copy.Within
}

// partition is a thread's part of a tensor.
func (p *Provenance) partition(l algebra.Layout, thread sym.Expr) (*Tensor, error) {
	t := &Tensor{Name: "the tile", Layout: l}
	if p.MMA != nil {
		t.Elem = p.MMA.Elem(p.Operand)
		return t.PartitionMMA("", p.MMA, p.Operand, thread)
	}
	t.Elem = p.Copy.Elem
	return t.Partition("", p.Copy, p.Side, thread)
}

// commonMultiple is the least extents that both divide, mode by mode.
func commonMultiple(a, b algebra.Shape) (algebra.Shape, error) {
	if a.Rank() != b.Rank() {
		return algebra.Shape{}, fmt.Errorf("one has a tile of rank %d, the other of rank %d", a.Rank(), b.Rank())
	}
	modes := make([]any, a.Rank())
	for i := range modes {
		x, _ := a.Mode(i).IntSize()
		y, _ := b.Mode(i).IntSize()
		modes[i] = x / gcd(x, y) * y
	}
	return algebra.S(modes...), nil
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
