// Package selftest has a kernel for each instruction that a warp can run. It fills the registers of every lane by a
// pattern, runs the instruction once and stores what every register of every lane holds; the expected values follow
// from the layouts of the instruction's row alone. Run on a GPU, such a kernel proves the row; run in the emulator,
// whose lane formulas are the ISA's, it does so without one.
package selftest

import (
	"fmt"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/atoms"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// Test is a kernel with its inputs; its outputs have references.
type Test struct {
	Atom   string // the row's name
	Arch   int    // the first architecture that has the instruction
	Kernel *Kernel
	Inputs map[string][]float64
}

const lanes = 32

// operand is one of an MMA's operands, as a test fills and reads it: one number for each value of each lane.
type operand struct {
	layout algebra.Layout
	kind   elem.Kind
	values int // of one thread
}

// numbers are how many numbers an element is.
func numbers(k elem.Kind) int {
	return map[elem.Kind]int{elem.KC64: 2, elem.KGC64: 3}[k] + map[bool]int{true: 1}[k != elem.KC64 && k != elem.KGC64]
}

func operandOf(row *atoms.MMARow, which byte) (operand, error) {
	l, err := row.Operand(which)
	if err != nil {
		return operand{}, err
	}
	n, _ := l.Mode(1).IntSize()
	return operand{layout: l, kind: map[byte]elem.Kind{'A': row.EA, 'B': row.EB, 'C': row.D}[which], values: int(n)}, nil
}

// at is the element of the tile that a lane's value is.
func (o operand) at(thread, value int64) int64 {
	e, _ := o.layout.At(algebra.C(thread, value))
	n, _ := e.IsConst()
	return n
}

// places maps lanes to (instance, thread): a warp holds as many instances of an atom as its threads repeat.
func places(row *atoms.MMARow) ([lanes][2]int64, error) {
	var out [lanes][2]int64
	ids, err := algebra.Parse(row.ThrID)
	if err != nil {
		return out, err
	}
	n, _ := ids.IntSize()
	taken := [lanes]bool{}
	instance := int64(0)
	for lane := range int64(lanes) {
		if taken[lane] {
			continue
		}
		for t := range n {
			at := lane + ids.AtInt(t) - ids.AtInt(0)
			out[at], taken[at] = [2]int64{instance, t}, true
		}
		instance++
	}
	return out, nil
}

// tile repeats the atom until it fills a warp.
func tile(row *atoms.MMARow) Layout {
	switch row.ThrID {
	case "1:0":
		return Shape(lanes, 1, 1)
	case "32:1":
		return Shape(1, 1, 1)
	}
	return Shape(2, 2, 1)
}

// kernelName makes an identifier of a row's name.
func kernelName(name string) string {
	out := []rune("test_")
	for _, r := range name {
		switch r {
		case '<', '.':
			out = append(out, '_')
		case '>':
		default:
			out = append(out, r)
		}
	}
	return string(out)
}

// mma makes the test of an MMA.
func mma[D, A, B, C elem.Any](atom atoms.MMAAtom[D, A, B, C]) (Test, error) {
	if atom.Row() == nil {
		return Test{}, fmt.Errorf("selftest: expects an atom, but got none")
	}
	return mmaAs(atom, atom.Row())
}

// mmaAs expects of an MMA what a row says.
func mmaAs[D, A, B, C elem.Any](atom atoms.MMAAtom[D, A, B, C], row *atoms.MMARow) (Test, error) {
	p, err := newProduct(row)
	if err != nil {
		return Test{}, err
	}
	k := Define(kernelName(row.Name), func(k *K) {
		k.Doc(fmt.Sprintf("Fills the registers of %s and stores those of its result.", row.Name))
		k.Threads(lanes)
		mma := NewTiledMMA(atom, tile(row))
		thr := mma.Slice(k.Thread)
		a, b, c := FragmentOfA(thr), FragmentOfB(thr), FragmentOfC(thr)
		load(k, "A", a)
		load(k, "B", b)
		load(k, "C", c)
		Gemm(mma, a, b, c)
		store(k, "D", c, p.expected)
	})
	return Test{Atom: row.Name, Arch: row.Arch, Kernel: k, Inputs: map[string][]float64{
		"A": packed(p.a.kind, p.inA), "B": packed(p.b.kind, p.inB), "C": packed(p.c.kind, p.inC)}}, k.Err()
}

// load fills a fragment from a tensor of (lane, value).
func load[E elem.Any](k *K, name string, frag Tensor[Rmem, E]) {
	switch x := any(frag).(type) {
	case Tensor[Rmem, elem.C64]:
		loadAs(k, name, Parts(x))
	case Tensor[Rmem, elem.GC64]:
		loadAs(k, name, Parts(x))
	default:
		if elem.KindOf[E]().Bits() < 8 {
			loadAs(k, name, Recast[elem.U32](frag))
			return
		}
		loadAs(k, name, frag)
	}
}

func loadAs[E elem.Any](k *K, name string, frag Tensor[Rmem, E]) {
	values := frag.At(All, 0, 0)
	n := values.Extent(0)
	src := In[E](k, name, Shape(lanes, n).Strides(n, 1))
	Map(src.At(k.Thread, All), values, same)
}

// store writes a fragment to a tensor of (lane, value), each of whose elements has an expected value.
func store[E elem.Any](k *K, name string, frag Tensor[Rmem, E], expected []float64) {
	switch x := any(frag).(type) {
	case Tensor[Rmem, elem.C64]:
		storeAs(k, name, Parts(x), expected)
	case Tensor[Rmem, elem.GC64]:
		storeAs(k, name, Parts(x), expected)
	default:
		storeAs(k, name, frag, expected)
	}
}

func storeAs[E elem.Any](k *K, name string, frag Tensor[Rmem, E], expected []float64) {
	values := frag.At(All, 0, 0)
	n := values.Extent(0)
	dst := Out[E](k, name, Shape(lanes, n).Strides(n, 1))
	Map(values, dst.At(k.Thread, All), same)
	expect(dst, n, expected)
}

func expect[E elem.Any](dst Tensor[Gmem, E], n int, expected []float64) {
	Expect(dst, 0, func(*Ref) func(at []int64) float64 {
		return func(at []int64) float64 { return expected[at[0]*int64(n)+at[1]] }
	})
}

func same[E elem.Any](v Val[E]) Val[E] { return v }

// packed joins elements smaller than a byte to words of 32 bits, the first one lowest.
func packed(k elem.Kind, values []float64) []float64 {
	if k.Bits() >= 8 {
		return values
	}
	per := 32 / k.Bits()
	out := make([]float64, len(values)/per)
	for i := range out {
		var word uint32
		for j := range per {
			word |= uint32(elem.Encode(k, values[i*per+j])) << (j * k.Bits())
		}
		out[i] = float64(word)
	}
	return out
}
