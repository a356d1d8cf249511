package ir

import (
	"fmt"
	"strings"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/gen/cir"
)

type (
	// WarpgroupGemmOp starts C += A*B over operands in shared memory (MMA,MMA_M,MMA_K), (MMA,MMA_N,MMA_K) and
	// accumulators (MMA,MMA_M,MMA_N).
	WarpgroupGemmOp struct {
		cir.Pos
		MMA     *TiledMMA
		A, B, C *Tensor
	}
	// WarpgroupWaitOp waits for products; the accumulators are complete afterwards.
	WarpgroupWaitOp struct {
		cir.Pos
		Pending int
		Accs    []*Storage
	}
)

func (TensorCopyOp) op()    {}
func (WarpgroupGemmOp) op() {}
func (WarpgroupWaitOp) op() {}

// CheckWarpgroupGemm says why a wgmma instruction cannot accumulate a*b into c.
func CheckWarpgroupGemm(m *TiledMMA, a, b, c *Tensor) error {
	if !m.Row.IsGMMA() || m.Row.RA.Type != "u64" {
		return fmt.Errorf("expects a wgmma instruction with both operands in shared memory, but got %s", m.Row.Name)
	}
	size := func(o Operand) int64 {
		i, j, _ := o.modes()
		mnk := [3]int{m.Row.M, m.Row.N, m.Row.K}
		return int64(mnk[i] * mnk[j])
	}
	for _, x := range []struct {
		t *Tensor
		o Operand
	}{{a, A}, {b, B}} {
		if p := x.t.Values; p == nil || p.MMA != m || p.Operand != x.o || x.t.Storage.Space != Shared {
			return fmt.Errorf("expects a view of operand %c of this MMA in shared memory (Partition%c), but got %s", x.o, x.o, x.t.Name)
		}
		if n := sizeOf(x.t.Layout.Mode(0)); n != size(x.o) {
			return fmt.Errorf("mode 0 of %s expects %d values, those of %s, but has %d", x.t.Name, size(x.o), m.Row.Name, n)
		}
		if _, err := SmemMatrix(m, x.t); err != nil {
			return err
		}
	}
	regs := m.Regs(C)
	per := int64(regs.Bits() / regs.Count / c.Elem.Bits())
	if p := c.Values; p == nil || p.MMA != m || p.Operand != C {
		return fmt.Errorf("expects a fragment of operand C of this MMA (FragmentC), but %s is another view", c.Name)
	}
	if err := adjacent(c, per, m.Row.Name); err != nil {
		return err
	}
	if n := sizeOf(c.Layout.Mode(0)); n != per*int64(regs.Count) {
		return fmt.Errorf("mode 0 of %s expects %d values, those of %s, but has %d", c.Name, per*int64(regs.Count), m.Row.Name, n)
	}
	return checkModes(a, b, c)
}

// checkModes compares the repeats of operands.
func checkModes(a, b, c *Tensor) error {
	ra, rb, rc := a.Layout.Rank(), b.Layout.Rank(), c.Layout.Rank()
	if ra != rb || ra < 2 || ra > 3 || rc != 3 {
		return fmt.Errorf("expects A (MMA,MMA_M,MMA_K), B (MMA,MMA_N,MMA_K) and C (MMA,MMA_M,MMA_N), or A and B without their K mode, but got %s, %s and %s",
			a.Layout.Shape(), b.Layout.Shape(), c.Layout.Shape())
	}
	same := func(name string, x *Tensor, i int, y *Tensor, j int) error {
		if p, q := sizeOf(x.Layout.Mode(i)), sizeOf(y.Layout.Mode(j)); p != q {
			return fmt.Errorf("%s expects one extent, but %s has %d in mode %d and %s has %d in mode %d", name, x.Name, p, i, y.Name, q, j)
		}
		return nil
	}
	if err := same("MMA_M", a, 1, c, 1); err != nil {
		return err
	}
	if err := same("MMA_N", b, 1, c, 2); err != nil {
		return err
	}
	if ra == 3 {
		return same("MMA_K", a, 2, b, 2)
	}
	return nil
}

// SmemMatrix is what a wgmma descriptor says of an operand in shared memory, but where it is. Rows along K, or columns
// along M or N where the instruction is of that major, have one of the three canonical swizzles; those that are not
// swizzled are refused.
func SmemMatrix(m *TiledMMA, t *Tensor) (cir.SmemMatrix, error) {
	none := cir.SmemMatrix{}
	swizzle, err := engineSwizzle(t)
	if err == nil && swizzle == 0 {
		err = fmt.Errorf("expects rows of 32, 64 or 128 bytes that are swizzled, but %s is not swizzled", t.Name)
	}
	if err != nil {
		return none, err
	}
	mode := t.Layout.Mode(0)
	if !mode.IsStatic() {
		return none, fmt.Errorf("expects a static layout, but %s is %s", t.Name, t.Layout)
	}
	out := cir.SmemMatrix{Swizzle: swizzle, Columns: m.Row.MajorA == atoms.MajorMN}
	if t.Values != nil && t.Values.Operand == B {
		out.Columns = m.Row.MajorB == atoms.MajorMN
	}
	c := canonical{mode: mode, rows: sizeOf(mode) / int64(m.Row.K), run: int64(16 << swizzle * 8 / t.Elem.Bits())}
	along, across := int64(m.Row.K), c.rows // of what is adjacent
	c.step, c.next, c.what = c.rows, 1, fmt.Sprintf("rows of %d elements along K", c.run)
	if out.Columns {
		along, across, c.step, c.next = c.rows, int64(m.Row.K), 1, c.rows
		c.what = fmt.Sprintf("columns of %d elements along M or N", c.run)
	}
	eight, lead, err := c.strides(t, along, across)
	if err != nil {
		return none, err
	}
	size := int64(t.Elem.Bits() / 8)
	out.Stride, out.Lead = int(eight*size), int(lead*size)
	for _, bytes := range []int{out.Stride, out.Lead} {
		if bytes%(128<<swizzle) != 0 {
			return none, fmt.Errorf("expects each eight %s to lie a multiple of %d bytes from the eight before, but those of %s lie %d bytes from them", strings.Fields(c.what)[0], 128<<swizzle, t.Name, bytes)
		}
	}
	return out, firstRows(t, c.run, min(along, c.run))
}

// canonical is an instruction's elements of an operand, m+M*k or n+N*k to the place in memory: runs of adjacent elements,
// in which the index goes up by step, of which eight lie together, where it goes up by next.
type canonical struct {
	mode       algebra.Layout
	rows       int64 // of the operand, M or N
	run        int64
	step, next int64
	what       string
}

// strides are how far it is from eight runs to the next eight, and from a run to what continues it.
func (c canonical) strides(t *Tensor, along, across int64) (eight, lead int64, err error) {
	eight, lead = c.run*8, c.run*8
	if across > 8 {
		eight = c.mode.AtInt(8 * c.next)
	}
	if along > c.run {
		lead = c.mode.AtInt(c.run * c.step)
	}
	for i := range along {
		for j := range across {
			want := i/c.run*lead + i%c.run + j/8*eight + j%8*c.run
			if got := c.mode.AtInt(i*c.step + j*c.next); got != want {
				at := i*c.step + j*c.next
				return 0, 0, fmt.Errorf("expects %s, eight of them adjacent and each eight as far from the eight before, as a wgmma descriptor has them, but element (%d,%d) of %s %s lies at %d and not at %d",
					c.what, at%c.rows, at/c.rows, t.Name, algebra.Make(c.mode), got, want)
			}
		}
	}
	return eight, lead, nil
}

// firstRows says why an instruction's elements do not begin in the first of eight rows, which a descriptor can say of any
// step along the other modes only if it is so for all of them.
func firstRows(t *Tensor, row, depth int64) error {
	steps := []int64{0}
	for i := 1; i < t.Layout.Rank(); i++ {
		mode := t.Layout.Mode(i)
		var all []int64
		for j := range sizeOf(mode) {
			for _, s := range steps {
				all = append(all, s+mode.AtInt(j))
			}
		}
		steps = all
	}
	unit := int64(128 / t.Elem.Bits())
	for _, s := range steps {
		at := t.Offset.Add(sym.Int(s))
		if _, last := at.Mod(sym.Int(8 * row)).Range(); !at.DivisibleBy(unit) || last+depth > row {
			return fmt.Errorf("expects an operand to begin within the first of eight rows of %d elements, at a multiple of 16 bytes, but %s begins at element %s", row, t.Name, at)
		}
	}
	return nil
}
