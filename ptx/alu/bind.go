package alu

import (
	"fmt"
	"math"
	"strings"

	"github.com/gocute/gocute/ptx"
)

// bind checks the operands and puts the Op together.
func (c *call) bind(r *row) (*Op, error) {
	spec := strings.Fields(r.operands)
	if n := len(c.in.Args); n != len(spec) {
		return nil, fmt.Errorf("%s: expected %d operands, but got %d", c.in.Op, len(spec), n)
	}
	op := &Op{}
	var not []int
	for i, arg := range c.in.Args {
		word := spec[i]
		var err error
		switch {
		case i == 0 && word == "vector": // mov packs or unpacks
			return c.vector(op)
		case i == 0:
			err = c.result(op, arg, word)
		case word == "#":
			err = c.constant(arg)
		default:
			t := c.typeOf(word)
			if arg.Not && arg.Kind == ptx.RegisterOperand && t.Class == ptx.Predicate {
				arg.Not = false
				not = append(not, len(op.In))
			}
			err = c.source(op, arg, t)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: operand %d: %w", c.in.Op, i+1, err)
		}
	}
	run := r.make(c)
	if err, bad := run.(error); bad {
		return nil, fmt.Errorf("%s: %w", c.in.Op, err)
	}
	for _, i := range not {
		run = invert(run, i)
	}
	op.run, op.Approx, op.Bound = run, c.bound != "", c.bound
	op.carry(c)
	return op, nil
}

// carry adds the hidden register to what is read and written.
func (op *Op) carry(c *call) {
	if w := c.in.Words[0]; w == "addc" || w == "subc" || w == "madc" {
		op.In = append(op.In, Source{Kind: CarrySource})
	}
	if c.has("cc") {
		op.Out = append(op.Out, Carry)
	}
}

// typeOf is the type that a word of a row's operands stands for.
func (c *call) typeOf(word string) ptx.Type {
	switch word {
	case "T":
		return c.t
	case "D":
		return c.d
	case "W":
		t, _ := ptx.TypeOf(fmt.Sprintf("%c%d", c.t.Name[0], 2*c.t.Bits))
		return t
	case "dot": // of dp4a and dp2a
		word = "u32"
		if c.d.Name == "s32" || c.t.Name == "s32" {
			word = "s32"
		}
	}
	t, ok := ptx.TypeOf(word)
	if !ok {
		panic("internal error: " + word + " is no type")
	}
	return t
}

// wide reports whether a register may be wider than the type, as in most conversions.
func (c *call) wide(t ptx.Type) bool {
	return c.in.Words[0] == "cvt" && !c.has("pack") && t.Class != ptx.Untyped && t.Name != "bf16" && t.Name != "bf16x2" && t.Name != "tf32"
}

// fits tells whether a register of type reg holds a value of type t.
func (c *call) fits(reg, t ptx.Type) bool {
	switch {
	case (reg.Class == ptx.Predicate) != (t.Class == ptx.Predicate):
		return false
	case c.wide(t) && reg.Bits > t.Bits && (reg.Class == ptx.Untyped || t.Class != ptx.Float && reg.Class != ptx.Float):
		return true
	case reg.Bits != t.Bits:
		return false
	case reg.Class == ptx.Float && t.Class == ptx.Float:
		return reg.Name == t.Name
	case t.Class == ptx.Float && t.Name != "f16" && t.Bits == 16:
		return reg.Class == ptx.Untyped
	}
	return reg.Class == ptx.Untyped || t.Class == ptx.Untyped || (reg.Class == ptx.Float) == (t.Class == ptx.Float)
}

// register checks a register operand.
func (c *call) register(o ptx.Operand, t ptx.Type) (int, error) {
	reg := c.f.Registers[o.Reg]
	switch {
	case o.Field != "":
		return 0, fmt.Errorf("expected a register, but got a part of one, %s.%s", reg.Name, o.Field)
	case o.Not:
		return 0, fmt.Errorf("expected %s, but got !%s", reg.Name, reg.Name)
	case !c.fits(reg.Type, t):
		return 0, fmt.Errorf("expected a register for %s, but %s is of type %s", t, reg.Name, reg.Type)
	}
	c.regs = append(c.regs, reg.Type)
	return o.Reg, nil
}

// result adds a register that is written: one, or p|q of two.
func (c *call) result(op *Op, o ptx.Operand, word string) error {
	first, second, both := strings.Cut(word, "|")
	if word == "P" {
		first, second = "pred", "pred"
	}
	switch {
	case o.Kind != ptx.RegisterOperand && (o.Kind != ptx.SinkOperand || second == ""):
		return fmt.Errorf("expected a register for the result, but got %s", what(o))
	case o.Pair && second == "":
		return fmt.Errorf("expected one register, but got two with |")
	case both && !o.Pair:
		return fmt.Errorf("expected a register and a predicate, as in d|p")
	}
	reg := Unwanted
	if o.Kind == ptx.RegisterOperand {
		var err error
		if reg, err = c.register(o, c.typeOf(first)); err != nil {
			return err
		}
	} else {
		c.regs = append(c.regs, c.typeOf(first))
	}
	op.Out = append(op.Out, reg)
	if o.Pair || both {
		reg = Unwanted
		if o.Pair && o.Second >= 0 {
			if t := c.f.Registers[o.Second].Type; t.Class != ptx.Predicate {
				return fmt.Errorf("expected a predicate after |, but %s is of type %s", c.f.Registers[o.Second].Name, t)
			}
			reg = o.Second
		}
		op.Out = append(op.Out, reg)
	}
	return nil
}

// constant keeps the number of a # operand.
func (c *call) constant(o ptx.Operand) error {
	if o.Kind != ptx.NumberOperand {
		return fmt.Errorf("expected a constant, but got %s", what(o))
	}
	c.consts = append(c.consts, o.Bits)
	return nil
}

// source adds an operand that is read.
func (c *call) source(op *Op, o ptx.Operand, t ptx.Type) error {
	s := Source{}
	if o.Kind != ptx.RegisterOperand {
		c.regs = append(c.regs, t)
	}
	if o.Pair {
		return fmt.Errorf("expected one register, but got two with |")
	}
	if o.Not && o.Kind != ptx.RegisterOperand {
		return fmt.Errorf("expected a predicate after !, but got %s", what(o))
	}
	switch o.Kind {
	case ptx.RegisterOperand:
		r, err := c.register(o, t)
		if err != nil {
			return err
		}
		s.Reg = r
	case ptx.SpecialOperand:
		if t.Class == ptx.Float || t.Class == ptx.Predicate {
			return fmt.Errorf("expected a value of %s, but got the special register %s", t, o.Name)
		}
		s.Kind, s.Name = SpecialSource, o.Name
	case ptx.NameOperand:
		if o.Name == "WARP_SZ" && o.Offset == 0 {
			s.Kind, s.Bits = ImmediateSource, Warp
			break
		}
		if c.in.Words[0] != "mov" || t.Class == ptx.Float || t.Bits < 32 {
			return fmt.Errorf("expected a register or a number, but got the name %s, whose address only a mov of 32 or 64 bits takes", o.Name)
		}
		s.Kind, s.Name, s.Offset = SymbolSource, o.Name, o.Offset
	case ptx.NumberOperand, ptx.FloatOperand:
		n, err := immediate(o, t)
		if err != nil {
			return err
		}
		s.Kind, s.Bits = ImmediateSource, n
	default:
		return fmt.Errorf("expected a register or a number, but got %s", what(o))
	}
	op.In = append(op.In, s)
	return nil
}

// immediate encodes a number for a type.
func immediate(o ptx.Operand, t ptx.Type) (uint64, error) {
	if o.Kind == ptx.NumberOperand {
		switch t.Class {
		case ptx.Float:
			return 0, fmt.Errorf("expected a floating-point number such as 0f3F800000 for %s, but got the integer %d", t, int64(o.Bits))
		case ptx.Predicate:
			if o.Bits != 0 {
				return 1, nil
			}
			return 0, nil
		}
		return o.Bits & mask(t.Bits), nil // as ptxas, which drops what is above
	}
	v := math.Float64frombits(o.Bits)
	if o.Single {
		v = float64(math.Float32frombits(uint32(o.Bits)))
	}
	switch {
	case t.Name == "f64" && o.Single:
		return math.Float64bits(v), nil
	case t.Name == "f64", t.Name == "b64" && !o.Single, t.Name == "b32" && o.Single, t.Name == "f32" && o.Single:
		return o.Bits, nil
	case t.Name == "f32":
		return uint64(math.Float32bits(float32(v))), nil
	}
	return 0, fmt.Errorf("expected a value of %s, but got the floating-point number %g of %d bits", t, v, map[bool]int{true: 32, false: 64}[o.Single])
}

// mask has the low bits set.
func mask(n int) uint64 { return 1<<n - 1 }

// what names an operand of a wrong kind.
func what(o ptx.Operand) string {
	switch o.Kind {
	case ptx.RegisterOperand:
		return "a register"
	case ptx.SpecialOperand, ptx.NameOperand:
		return o.Name
	case ptx.NumberOperand:
		return fmt.Sprintf("the number %d", int64(o.Bits))
	case ptx.FloatOperand:
		return "a floating-point number"
	case ptx.AddressOperand:
		return "an address"
	case ptx.VectorOperand:
		return "a vector"
	case ptx.SinkOperand:
		return "_"
	}
	return "several operands"
}
