package alu

import (
	"fmt"
	"math/bits"

	"github.com/gocute/gocute/ptx"
)

// Warp is the number of lanes that Op.Warp runs over.
const Warp = 32

// Lanes is one register of all lanes of a warp.
type Lanes = [Warp]uint64

// Register numbers in Op.Out that are no register of the function.
const (
	Unwanted = -1 // the result is not wanted
	Carry    = -2 // the hidden carry
)

// SourceKind says what a Source reads.
type SourceKind uint8

// The kinds of sources.
const (
	RegisterSource  SourceKind = iota // register Reg of the function
	ImmediateSource                   // Bits
	SpecialSource                     // the special register Name, such as %tid.x, which the caller knows
	SymbolSource                      // the address of the variable or function Name plus Offset, which the caller knows
	CarrySource                       // the hidden carry
)

// Source is an operand that an instruction reads.
type Source struct {
	Kind   SourceKind
	Reg    int
	Bits   uint64 // encoded for the instruction's type
	Name   string
	Offset int64
}

// Op is a compiled instruction.
type Op struct {
	In  []Source // what to read, in the order of Eval's in
	Out []int    // registers to write, or Unwanted or Carry, in the order of Eval's out

	// Approx is set where the ISA allows an error, which Bound describes.
	Approx bool
	Bound  string

	run any // one of the types f1 to h1
}

// What an instruction computes in one lane: f has one result, g two, h four.
type (
	f1 = func(a uint64) uint64
	f2 = func(a, b uint64) uint64
	f3 = func(a, b, c uint64) uint64
	f4 = func(a, b, c, d uint64) uint64
	g1 = func(a uint64) (uint64, uint64)
	g2 = func(a, b uint64) (uint64, uint64)
	g3 = func(a, b, c uint64) (uint64, uint64)
	g4 = func(a, b, c, d uint64) (uint64, uint64)
	h1 = func(a uint64) (uint64, uint64, uint64, uint64)
)

// Eval computes one lane: in has a word for each of Op.In, and out room for one for each of Op.Out.
func (op *Op) Eval(in, out []uint64) {
	switch f := op.run.(type) {
	case f1:
		out[0] = f(in[0])
	case f2:
		out[0] = f(in[0], in[1])
	case f3:
		out[0] = f(in[0], in[1], in[2])
	case f4:
		out[0] = f(in[0], in[1], in[2], in[3])
	case g1:
		out[0], out[1] = f(in[0])
	case g2:
		out[0], out[1] = f(in[0], in[1])
	case g3:
		out[0], out[1] = f(in[0], in[1], in[2])
	case g4:
		out[0], out[1] = f(in[0], in[1], in[2], in[3])
	case h1:
		out[0], out[1], out[2], out[3] = f(in[0])
	}
}

// Run computes the lanes whose bits are set in mask and leaves the others of out alone. Registers of in and out may be
// the same; an immediate is a register with the same word in all lanes. Out needs lanes for each result, wanted or not.
func (op *Op) Run(in, out []*Lanes, mask uint32) {
	switch f := op.run.(type) {
	case f1:
		a, d := in[0], out[0]
		if mask == 1<<Warp-1 {
			for i := range d {
				d[i] = f(a[i])
			}
			return
		}
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) % Warp
			d[i] = f(a[i])
		}
	case f2:
		a, b, d := in[0], in[1], out[0]
		if mask == 1<<Warp-1 {
			for i := range d {
				d[i] = f(a[i], b[i])
			}
			return
		}
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) % Warp
			d[i] = f(a[i], b[i])
		}
	case f3:
		a, b, c, d := in[0], in[1], in[2], out[0]
		if mask == 1<<Warp-1 {
			for i := range d {
				d[i] = f(a[i], b[i], c[i])
			}
			return
		}
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) % Warp
			d[i] = f(a[i], b[i], c[i])
		}
	default:
		op.runMany(in, out, mask)
	}
}

// runMany is Run for four operands or several results.
func (op *Op) runMany(in, out []*Lanes, mask uint32) {
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) % Warp
		switch f := op.run.(type) {
		case f4:
			out[0][i] = f(in[0][i], in[1][i], in[2][i], in[3][i])
		case g1:
			out[0][i], out[1][i] = f(in[0][i])
		case g2:
			out[0][i], out[1][i] = f(in[0][i], in[1][i])
		case g3:
			out[0][i], out[1][i] = f(in[0][i], in[1][i], in[2][i])
		case g4:
			out[0][i], out[1][i] = f(in[0][i], in[1][i], in[2][i], in[3][i])
		case h1:
			out[0][i], out[1][i], out[2][i], out[3][i] = f(in[0][i])
		}
	}
}

// invert makes a function that sees the predicate of operand i negated.
func invert(run any, i int) any {
	not := func(j int) uint64 {
		if i == j {
			return 1
		}
		return 0
	}
	p, q, r, s := not(0), not(1), not(2), not(3)
	switch f := run.(type) {
	case f1:
		return f1(func(a uint64) uint64 { return f(a ^ p) })
	case f2:
		return f2(func(a, b uint64) uint64 { return f(a^p, b^q) })
	case f3:
		return f3(func(a, b, c uint64) uint64 { return f(a^p, b^q, c^r) })
	case f4:
		return f4(func(a, b, c, d uint64) uint64 { return f(a^p, b^q, c^r, d^s) })
	case g3:
		return g3(func(a, b, c uint64) (uint64, uint64) { return f(a^p, b^q, c^r) })
	case g4:
		return g4(func(a, b, c, d uint64) (uint64, uint64) { return f(a^p, b^q, c^r, d^s) })
	}
	panic(fmt.Sprintf("internal error: no predicate among the operands of %T", run))
}

// Compile returns what an instruction of f computes. It is not ok if the package does not have the opcode at all; the
// error, for the user and without a line, is of a modifier or an operand that does not fit the opcode.
func Compile(f *ptx.Func, in *ptx.Instr) (op *Op, ok bool, err error) {
	rows, ok := table[in.Words[0]]
	if !ok {
		return nil, false, nil
	}
	c := &call{f: f, in: in}
	r, err := c.match(rows)
	if err != nil {
		return nil, true, err
	}
	op, err = c.bind(r)
	return op, true, err
}

// Known reports whether the package has the opcode, the first word of an instruction.
func Known(opcode string) bool { return table[opcode] != nil }
