package ir

import (
	"fmt"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/algebra/sym"
)

// canEmit refuses the copies that a kernel cannot start yet, and spaces that the instruction does not join.
func (c *TiledCopy) canEmit(src, dst *Tensor) error {
	if c.Row.Bulk > 0 || c.Row.Chooses && c.Row.Arch > 0 {
		return fmt.Errorf("%s is started by one thread for a whole tile and completes at an mbarrier, which Copy does not do: use TMALoad in the Fill of a Pipeline", c.Row.Name)
	}
	for _, x := range []struct {
		t    *Tensor
		side Side
		want string
	}{{src, Source, c.Row.Src}, {dst, Destination, c.Row.Dst}} {
		if have := x.t.Storage.Space.String(); x.want != "any" && x.want != have {
			return fmt.Errorf("%s expects its %s in %s memory, but %s is in %s memory", c.Row.Name, x.side, x.want, x.t.Name, have)
		}
	}
	return nil
}

// Vector is how many adjacent elements a copy that chooses its width moves at once: the most of which both sides are
// known to be contiguous and aligned.
func (c *TiledCopy) Vector(src, dst *Tensor) int64 {
	n := int64(max(1, c.Row.VectorBits/c.Elem.Bits()))
	for ; n > 1; n /= 2 {
		if src.vectors(n, c.Row.Name) && dst.vectors(n, c.Row.Name) {
			break
		}
	}
	return max(n, 1)
}

// vectors reports whether mode 0 is made of runs of n elements that one access can move.
func (t *Tensor) vectors(n int64, atom string) bool {
	l := t.Layout.Mode(0)
	if sizeOf(l)%n != 0 || t.Elem.Bits() != t.Storage.Elem.Bits() {
		return false
	}
	at := func(l algebra.Layout, v int64) sym.Expr { e, _ := l.At(algebra.CoordOf(v)); return e }
	for v := range sizeOf(l) {
		if d := at(l, v).Sub(at(l, v-v%n)); !d.Is(v % n) {
			return false
		}
	}
	if t.Storage.Space != Register {
		return t.checkAlignment(n, n, atom) == nil && t.oneDirection(n)
	}
	word := min(n, int64(max(1, 32/t.Elem.Bits())))
	if !t.Layout.IsStatic() || !t.Offset.DivisibleBy(word) {
		return false
	}
	for i := int64(0); i < sizeOf(t.Layout); i += n { // vectors begin a register, or the half or quarter that they fill
		if t.Layout.AtInt(i)%word != 0 {
			return false
		}
	}
	return true
}

// oneDirection reports whether the coordinates of a vector of a global tensor go along one mode, so that its tail can
// be cut off.
func (t *Tensor) oneDirection(n int64) bool {
	moving := 0
	for _, b := range t.Bounds {
		id, err := t.Ident.Mode(0).AtArith(algebra.CoordOf(0))
		if err != nil {
			return false
		}
		last, err := t.Ident.Mode(0).AtArith(algebra.CoordOf(n - 1))
		if err != nil {
			return false
		}
		switch d := last.Get(b.Path...).Sub(id.Get(b.Path...)); {
		case d.Is(n - 1):
			moving++
		case !d.Is(0):
			return false
		}
	}
	return moving <= 1
}

// PartitionShape is the shape of a thread's part of a tensor over the operand's modes (partition_shape_A, _B, _C).
func (m *TiledMMA) PartitionShape(shape algebra.Shape, o Operand) (algebra.Shape, error) {
	l, err := m.part(shape, o)
	return l.Shape(), err
}

// part is the layout of a thread's part of a compact tensor.
func (m *TiledMMA) part(shape algebra.Shape, o Operand) (algebra.Layout, error) {
	div, err := m.Divided(algebra.Compact(shape), o, false)
	if err != nil {
		return algebra.Layout{}, err
	}
	l, _, err := m.Slice(div, o, sym.Int(0), shape.Rank())
	return l, err
}

// HasFragment says why an operand has no registers: wgmma reads it from shared memory.
func (m *TiledMMA) HasFragment(o Operand) error {
	if m.Regs(o).Type == "u64" {
		return fmt.Errorf("%s reads operand %c from shared memory, through a descriptor: it has no fragment", m.Row.Name, o)
	}
	return nil
}

// FragmentOf is the layout of an operand's fragment for a tensor of the given shape (partition_fragment_A, _B, _C of
// its compact layout).
func (m *TiledMMA) FragmentOf(shape algebra.Shape, o Operand) (algebra.Layout, error) {
	if err := m.HasFragment(o); err != nil {
		return algebra.Layout{}, err
	}
	l, err := m.part(shape, o)
	if err != nil {
		return l, err
	}
	return OperandLayout(l, o)
}
