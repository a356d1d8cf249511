package atoms

import (
	"fmt"
	"strings"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/elem"
)

// Check says why a row cannot be right: a layout that does not fill its tile, registers that do not hold its values,
// or a mnemonic that takes other operands. A row that passes still has to agree with the machine, which the
// self-tests of package kernels/selftest see to.
func (r *MMARow) Check() error {
	threads, err := r.threads()
	if err != nil {
		return fmt.Errorf("%s: ThrID: %w", r.Name, err)
	}
	for _, o := range r.operands() {
		if err := o.check(r, threads); err != nil {
			return fmt.Errorf("%s: operand %c: %w", r.Name, o.letter, err)
		}
	}
	if err := r.checkPTX(threads); err != nil {
		return fmt.Errorf("%s: %w", r.Name, err)
	}
	return nil
}

// operand is one operand of a row.
type operand struct {
	letter     byte
	rows, cols int
	kind       elem.Kind
	regs       Regs
}

func (r *MMARow) operands() []operand {
	return []operand{{'A', r.M, r.K, r.EA, r.RA}, {'B', r.N, r.K, r.EB, r.RB}, {'C', r.M, r.N, r.D, r.RD}}
}

// threads is the number of threads, each of which must be another lane.
func (r *MMARow) threads() (int64, error) {
	l, err := algebra.Parse(r.ThrID)
	if err != nil {
		return 0, err
	}
	n := sizeOf(l)
	lanes := map[int64]bool{}
	for i := range n {
		lanes[l.AtInt(i)] = true
	}
	if int64(len(lanes)) != n {
		return 0, fmt.Errorf("%s names %d lanes for %d threads", l, len(lanes), n)
	}
	return n, nil
}

// described reports whether an operand is read through a descriptor of shared memory.
func (o operand) described() bool { return o.regs.Type == "u64" }

func (o operand) check(r *MMARow, threads int64) error {
	l, err := r.Operand(o.letter)
	switch {
	case err != nil:
		return err
	case l.Rank() != 2:
		return fmt.Errorf("expects a layout of rank 2, (T,V), but got %s", l)
	case sizeOf(l.Mode(0)) != threads:
		return fmt.Errorf("expects a layout of %d threads, but %s has %d", threads, l, sizeOf(l.Mode(0)))
	}
	seen := l
	if o.described() { // every thread sees the whole tile
		if seen = l.Mode(1); l.AtInt(threads-1) != 0 {
			return fmt.Errorf("expects a layout that is the same for all threads, but got %s", l)
		}
	}
	if err := covers(seen, int64(o.rows*o.cols), 1); err != nil {
		return fmt.Errorf("expects a layout of the %dx%d tile: %w", o.rows, o.cols, err)
	}
	if need := sizeOf(l.Mode(1)) * int64(o.kind.Bits()); !o.described() && int64(o.regs.Bits()) != need {
		return fmt.Errorf("expects registers of %d bits, those of a thread's %d values of %s, but %s has %d", need, sizeOf(l.Mode(1)), o.kind, o.regs, o.regs.Bits())
	}
	return nil
}

// covers says where a layout does not reach each of n places as often as it should.
func covers(l algebra.Layout, n, times int64) error {
	hits := make([]int64, n)
	for i := range sizeOf(l) {
		at := l.AtInt(i)
		if at < 0 || at >= n {
			return fmt.Errorf("%s reaches element %d of %d", l, at, n)
		}
		hits[at]++
	}
	for at, h := range hits {
		if h != times {
			return fmt.Errorf("%s reaches element %d %d times instead of %d", l, at, h, times)
		}
	}
	return nil
}

func sizeOf(l algebra.Layout) int64 { n, _ := l.IntSize(); return n }

// checkPTX compares the mnemonic with the name, and the registers that it takes with those of the row.
func (r *MMARow) checkPTX(threads int64) error {
	m, n, k, ok := shapeOf(r.PTX)
	if !ok {
		return nil // of single threads: nothing is spread
	}
	if m != r.M || n != r.N || k != r.K {
		return fmt.Errorf("the row is of shape %dx%dx%d, but %s is of %dx%dx%d", r.M, r.N, r.K, r.PTX, m, n, k)
	}
	kinds := strings.Split(r.PTX, ".")
	scale := int64(max(1, r.Times))
	for _, o := range r.operands() {
		if want := ptxRegisters(int64(o.rows*o.cols), threads, o, kinds); !o.described() && want.Bits() != 0 && scale == 1 && o.regs.Count != want.Count {
			return fmt.Errorf("operand %c: %s takes %d registers of a thread, but the row has %s", o.letter, r.PTX, want.Count, o.regs)
		}
	}
	if r.Times > 0 {
		return nil
	}
	want := []string{r.D.String(), r.EA.String(), r.EB.String()}
	if got := strings.Join(kinds, "."); !strings.Contains(got, strings.Join(want, ".")) {
		return fmt.Errorf("the row multiplies %s by %s into %s, but not %s", r.EA, r.EB, r.D, r.PTX)
	}
	return nil
}

// shapeOf reads the word m16n8k16 of a mnemonic.
func shapeOf(ptx string) (m, n, k int, ok bool) {
	for _, word := range strings.Split(ptx, ".") {
		if c, err := fmt.Sscanf(word, "m%dn%dk%d", &m, &n, &k); err == nil && c == 3 {
			return m, n, k, true
		}
	}
	return 0, 0, 0, false
}

// ptxRegisters are those that the ISA gives a thread for its part of an operand, whose kind the mnemonic names: one for
// each f32, f64 and s32, else as many elements as 32 bits hold.
func ptxRegisters(elements, threads int64, o operand, words []string) Regs {
	for _, w := range words {
		if k, err := elem.ParseKind(w); err == nil && w == o.kind.String() {
			per := int64(max(1, 32/k.Bits()))
			return Regs{map[bool]string{true: "f64", false: "u32"}[k.Bits() == 64], int(elements / threads / per)}
		}
	}
	return Regs{}
}

// Check says why a row cannot be right: sides that number other bits than the reference, or registers that do not
// hold what the layouts and the mnemonic say.
func (r *CopyRow) Check() error {
	if err := r.check(); err != nil {
		return fmt.Errorf("%s: %w", r.Name, err)
	}
	return nil
}

func (r *CopyRow) check() error {
	thr, err := algebra.Parse(r.ThrID)
	if err != nil {
		return err
	}
	ref, err := algebra.Parse(r.RefBits)
	if err != nil {
		return err
	}
	if err := covers(ref, sizeOf(ref), 1); err != nil && !r.Chooses {
		return fmt.Errorf("the reference expects every bit once: %w", err)
	}
	for _, s := range []struct {
		name, bits, space string
		regs              Regs
	}{{"source", r.SrcBits, r.Src, r.SrcRegs}, {"destination", r.DstBits, r.Dst, r.DstRegs}} {
		l, err := algebra.Parse(s.bits)
		if err != nil {
			return err
		}
		if sizeOf(l.Mode(0)) != sizeOf(thr) {
			return fmt.Errorf("the %s expects %d threads, but %s has %d", s.name, sizeOf(thr), l, sizeOf(l.Mode(0)))
		}
		if err := covers(l, sizeOf(ref), sizeOf(l)/max(1, sizeOf(ref))); err != nil {
			return fmt.Errorf("the %s: %w", s.name, err)
		}
		if n := sizeOf(l.Mode(1)); s.space == "register" && s.regs.Count > 0 && int64(s.regs.Bits()) != n {
			return fmt.Errorf("the %s expects registers of %d bits, those of its layout %s, but %s has %d", s.name, n, l, s.regs, s.regs.Bits())
		}
	}
	return r.checkMatrices()
}

// checkMatrices compares the number of matrices in the mnemonic with the registers: one each.
func (r *CopyRow) checkMatrices() error {
	for _, word := range strings.Split(r.PTX, ".") {
		var n int
		if c, err := fmt.Sscanf(word, "x%d", &n); err == nil && c == 1 && r.SrcRegs.Count+r.DstRegs.Count != n {
			return fmt.Errorf("%s takes %d registers of a thread, but the row has %d", r.PTX, n, r.SrcRegs.Count+r.DstRegs.Count)
		}
	}
	return nil
}
