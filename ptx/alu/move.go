package alu

import (
	"fmt"

	"github.com/gocute/gocute/ptx"
)

// moveRows has mov in both of its forms.
func moveRows() map[string][]row {
	return map[string][]row{"mov": {{form: "pred|b16|b32|b64|b128|u16|u32|u64|s16|s32|s64|f32|f64", operands: "vector T", make: nil}}}
}

// vector compiles a mov: of one register, or one that packs or unpacks a vector.
func (c *call) vector(op *Op) (*Op, error) {
	d, a := c.in.Args[0], c.in.Args[1]
	if c.t.Bits > 64 {
		return nil, fmt.Errorf("%s: values of 128 bits are not supported", c.in.Op)
	}
	var err error
	switch {
	case a.Kind == ptx.VectorOperand:
		err = c.pack(op, d, a.List)
	case d.Kind == ptx.VectorOperand:
		err = c.unpack(op, d.List, a)
	default:
		if err = c.result(op, d, "T"); err != nil {
			break
		}
		m := mask(c.t.Bits)
		if a.Kind == ptx.RegisterOperand && a.Not && c.t.Class == ptx.Predicate {
			a.Not = false
			op.run = f1(func(a uint64) uint64 { return a ^ 1 })
		} else {
			op.run = f1(func(a uint64) uint64 { return a & m }) // a special register may be wider
		}
		err = c.source(op, a, c.t)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.in.Op, err)
	}
	return op, nil
}

// part is the type of one of n elements of the vector.
func (c *call) part(n int) (ptx.Type, error) {
	if c.t.Class != ptx.Untyped || n != 2 && n != 4 || c.t.Bits/n < 8 {
		return ptx.Type{}, fmt.Errorf("expected 2 or 4 elements of 8, 16 or 32 bits and a type such as .b32, but got %d elements of %s", n, c.t)
	}
	t, _ := ptx.TypeOf(fmt.Sprintf("b%d", c.t.Bits/n))
	return t, nil
}

func (c *call) pack(op *Op, d ptx.Operand, list []ptx.Operand) error {
	t, err := c.part(len(list))
	if err != nil {
		return err
	}
	if err := c.result(op, d, "T"); err != nil {
		return err
	}
	for _, o := range list {
		if err := c.source(op, o, t); err != nil {
			return err
		}
	}
	n := t.Bits
	op.run = f2(func(a, b uint64) uint64 { return a | b<<n })
	if len(list) == 4 {
		op.run = f4(func(a, b, c, d uint64) uint64 { return a | b<<n | c<<(2*n) | d<<(3*n) })
	}
	return nil
}

func (c *call) unpack(op *Op, list []ptx.Operand, a ptx.Operand) error {
	t, err := c.part(len(list))
	if err != nil {
		return err
	}
	for _, o := range list {
		if o.Kind == ptx.SinkOperand {
			op.Out = append(op.Out, Unwanted)
			continue
		}
		if err := c.result(op, o, t.Name); err != nil {
			return err
		}
	}
	n, m := t.Bits, mask(t.Bits)
	op.run = g1(func(a uint64) (uint64, uint64) { return a & m, a >> n })
	if len(list) == 4 {
		op.run = h1(func(a uint64) (uint64, uint64, uint64, uint64) {
			return a & m, a >> n & m, a >> (2 * n) & m, a >> (3 * n) & m
		})
	}
	return c.source(op, a, c.t)
}
