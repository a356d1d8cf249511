package ptxemu

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gocute/gocute/emu/machine"
	"github.com/gocute/gocute/ptx"
	"github.com/gocute/gocute/ptx/alu"
)

// compiler compiles one instruction.
type compiler struct {
	p      *program
	in     *ptx.Instr
	pc     int32
	reads  []int
	writes []int
}

// run is what an instruction does.
type run = func(w *warp, mask uint32) outcome

// instructions are those that are more than arithmetic, by the words that their opcodes begin with; the longest match counts.
var instructions = map[string]func(c *compiler) (run, error){}

// register adds instructions; each file has its own, in init order that does not matter.
func register(m map[string]func(c *compiler) (run, error)) bool {
	for name, f := range m {
		instructions[name] = f
	}
	return true
}

// compile compiles the instruction.
func (c *compiler) compile() (inst, error) {
	out := inst{guard: c.in.Guard, not: c.in.Not, line: c.in.Line}
	for n := len(c.in.Words); n > 0; n-- {
		f, ok := instructions[strings.Join(c.in.Words[:n], ".")]
		if !ok {
			continue
		}
		run, err := f(c)
		if err != nil {
			return out, fmt.Errorf("%s: %w", c.in.Op, err)
		}
		out.run, out.reads = run, c.reads
		out.touches = slices.Concat(c.reads, c.writes)
		return out, nil
	}
	run, err := c.arithmetic()
	out.run, out.reads = run, c.reads
	out.touches = slices.Concat(c.reads, c.writes)
	return out, err
}

// source is a value of each lane.
type source func(w *warp) *lanes

// arithmetic compiles what package alu computes.
func (c *compiler) arithmetic() (run, error) {
	op, ok, err := alu.Compile(c.p.f, c.in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.in.Op, err)
	}
	if !ok {
		return nil, fmt.Errorf("the instruction %s is not supported", c.in.Op)
	}
	in := make([]source, len(op.In))
	for i, v := range op.In {
		if in[i], err = c.aluSource(v); err != nil {
			return nil, fmt.Errorf("%s: %w", c.in.Op, err)
		}
	}
	out := op.Out
	for _, r := range out {
		if r >= 0 {
			c.writes = append(c.writes, r)
		}
	}
	return func(w *warp, mask uint32) outcome {
		var from, to [8]*lanes
		for i, f := range in {
			from[i] = f(w)
		}
		for i, r := range out {
			switch r {
			case alu.Unwanted:
				to[i] = &w.sink
			case alu.Carry:
				to[i] = &w.carry
			default:
				to[i] = &w.regs[r]
				w.wrote[r] |= mask
			}
		}
		op.Run(from[:len(in)], to[:len(out)], mask)
		return outcome{}
	}, nil
}

// aluSource compiles what an arithmetic instruction reads.
func (c *compiler) aluSource(s alu.Source) (source, error) {
	switch s.Kind {
	case alu.RegisterSource:
		return c.read(s.Reg), nil
	case alu.ImmediateSource:
		return constant(s.Bits), nil
	case alu.CarrySource:
		return func(w *warp) *lanes { return &w.carry }, nil
	case alu.SpecialSource:
		return c.special(s.Name)
	}
	return c.symbol(&ptx.Operand{Kind: ptx.NameOperand, Name: s.Name, Offset: s.Offset})
}

// register compiles a register operand of at most bits.
func (c *compiler) register(o *ptx.Operand) (int, error) {
	if o.Kind != ptx.RegisterOperand || o.Not || o.Pair || o.Field != "" {
		return 0, fmt.Errorf("expected a register")
	}
	c.writes = append(c.writes, o.Reg)
	return o.Reg, nil
}

// args checks how many operands there are.
func (c *compiler) args(counts ...int) error {
	if !slices.Contains(counts, len(c.in.Args)) {
		return fmt.Errorf("expected %d operands, but got %d", counts[0], len(c.in.Args))
	}
	return nil
}

// read is a register's values; reading it before it was written is found.
func (c *compiler) read(r int) source {
	c.reads = append(c.reads, r)
	return func(w *warp) *lanes { return &w.regs[r] }
}

// constant is the same value in all lanes.
func constant(v uint64) source {
	var p lanes
	for i := range p {
		p[i] = v
	}
	return func(*warp) *lanes { return &p }
}

// value compiles an operand that is a register, a number or a symbol, of a type of so many bits.
func (c *compiler) value(o *ptx.Operand, bits int) (source, error) {
	switch o.Kind {
	case ptx.RegisterOperand:
		if o.Not || o.Pair || o.Field != "" {
			return nil, fmt.Errorf("expected a register")
		}
		return c.read(o.Reg), nil
	case ptx.NumberOperand:
		return constant(truncate(o.Bits, bits)), nil
	case ptx.FloatOperand:
		return constant(o.Bits), nil
	case ptx.SpecialOperand:
		return c.special(o.Name)
	case ptx.NameOperand:
		return c.symbol(o)
	}
	return nil, fmt.Errorf("expected a register or a number")
}

func truncate(v uint64, bits int) uint64 {
	if bits < 64 {
		v &= 1<<bits - 1
	}
	return v
}

// symbol is the address of a variable.
func (c *compiler) symbol(o *ptx.Operand) (source, error) {
	if o.Name == "WARP_SZ" {
		return constant(32), nil
	}
	s, ok := c.p.symbols[o.Name]
	if !ok {
		return nil, fmt.Errorf("the address of %s is not supported", o.Name)
	}
	if s.space != machine.Global {
		return constant(s.addr + uint64(o.Offset)), nil
	}
	name, off := o.Name, uint64(o.Offset)
	return func(w *warp) *lanes {
		return constant(w.p.symbols[name].addr + off)(w)
	}, nil
}

// address is a compiled address operand.
type address struct {
	base   source
	offset uint64
	space  machine.Space
}

// of computes the addresses of the lanes.
func (a *address) of(w *warp, mask uint32, out *lanes) {
	base := a.base(w)
	for i := range out {
		out[i] = base[i] + a.offset
		if a.space == machine.Shared {
			out[i] &= 1<<32 - 1
		}
	}
}

// address compiles [base+offset].
func (c *compiler) address(o *ptx.Operand, s machine.Space) (*address, error) {
	if o.Kind != ptx.AddressOperand {
		return nil, fmt.Errorf("expected an address in brackets")
	}
	base, err := c.value(o.Base, 64)
	if err != nil {
		return nil, err
	}
	if o.Base.Kind == ptx.NameOperand {
		if v, ok := c.p.symbols[o.Base.Name]; ok && v.space != s && s != machine.Generic {
			return nil, fmt.Errorf("%s is not in the space of the instruction", o.Base.Name)
		}
	}
	return &address{base, uint64(o.Offset), s}, nil
}

// specials are the registers that the hardware sets, by what they hold in a lane.
var specials = map[string]func(w *warp, lane int) uint64{
	"%laneid":            func(_ *warp, l int) uint64 { return uint64(l) },
	"%warpid":            func(w *warp, _ int) uint64 { return uint64(w.id) },
	"%nwarpid":           func(w *warp, _ int) uint64 { return uint64(w.b.Warps) },
	"%smid":              func(*warp, int) uint64 { return 0 },
	"%nsmid":             func(*warp, int) uint64 { return 132 },
	"%gridid":            func(*warp, int) uint64 { return 0 },
	"%lanemask_eq":       func(_ *warp, l int) uint64 { return 1 << l },
	"%lanemask_lt":       func(_ *warp, l int) uint64 { return 1<<l - 1 },
	"%lanemask_le":       func(_ *warp, l int) uint64 { return 2<<l - 1 },
	"%lanemask_gt":       func(_ *warp, l int) uint64 { return ^uint64(2<<l-1) & (1<<32 - 1) },
	"%lanemask_ge":       func(_ *warp, l int) uint64 { return ^uint64(1<<l-1) & (1<<32 - 1) },
	"%total_smem_size":   func(w *warp, _ int) uint64 { return uint64(len(w.b.Shared().Data)) },
	"%dynamic_smem_size": func(w *warp, _ int) uint64 { return uint64(len(w.b.Shared().Data) - w.p.dynamic) },
	"WARP_SZ":            func(*warp, int) uint64 { return 32 },
}

// vectors are special registers with a part for each dimension.
var vectors = map[string]func(w *warp, lane, dim int) uint64{
	"%ntid":   func(w *warp, _, d int) uint64 { return uint64(w.b.Config().Block[d]) },
	"%nctaid": func(w *warp, _, d int) uint64 { return uint64(w.b.Config().Grid[d]) },
	"%ctaid":  func(w *warp, _, d int) uint64 { return uint64(w.b.At[d]) },
	"%tid": func(w *warp, l, d int) uint64 {
		t, n := w.thread(l), w.b.Config().Block
		return uint64([3]int{t % n[0], t / n[0] % n[1], t / (n[0] * n[1])}[d])
	},
}

// special compiles a special register. What it holds does not change while a block runs, but for clocks.
func (c *compiler) special(name string) (source, error) {
	base, part, _ := strings.Cut(name, ".")
	d := strings.Index("xyz", part)
	if f, ok := vectors[base]; ok && part != "" && d >= 0 && len(part) == 1 {
		return fixed(func(w *warp, l int) uint64 { return f(w, l, d) }), nil
	}
	if f, ok := specials[name]; ok {
		return fixed(f), nil
	}
	if strings.HasPrefix(name, "%clock") || strings.HasPrefix(name, "%globaltimer") {
		return func(w *warp) *lanes { return constant(uint64(*w.steps))(w) }, nil
	}
	return nil, fmt.Errorf("the register %s is not supported", name)
}

// fixed computes a special register anew each time: warps of other blocks share the instruction.
func fixed(f func(w *warp, lane int) uint64) source {
	return func(w *warp) *lanes {
		out := w.scratch()
		for l := range out {
			out[l] = f(w, l)
		}
		return out
	}
}
