package ptxemu

import (
	"fmt"

	"github.com/gocute/gocute/emu/machine"
	"github.com/gocute/gocute/ptx"
)

// lanes is a value of each lane.
type lanes = [32]uint64

// inst is a compiled instruction. run executes it for the lanes of a mask and says what becomes of them.
type inst struct {
	guard   int // predicate register; -1 for none
	not     bool
	run     func(w *warp, mask uint32) outcome
	reads   []int // registers, checked to have been written
	touches []int // registers that products in flight must not change
	line    int
}

// outcome says how a split goes on.
type outcome struct {
	kind   outcomeKind
	target int         // of jump: where the lanes go on
	until  func() bool // of wait: whether the wait is over
	why    string
}

type outcomeKind uint8

const (
	next  outcomeKind = iota // at the next instruction
	jump                     // at target
	ended                    // nowhere
	again                    // at the same instruction, when until holds; then it is executed anew
	wait                     // at the next one, when until holds
	spin                     // at the next one, after the others had a turn
	meet                     // at the same one, when more lanes of the warp have come
)

// program is a compiled kernel.
type program struct {
	m       *ptx.Module
	f       *ptx.Func
	code    []inst
	symbols map[string]symbol // variables in memory, by name
	shared  int               // bytes of static shared memory
	dynamic int               // where dynamic shared memory begins
	local   int               // bytes of local memory
	params  int               // bytes of parameters
	image   []byte            // parameters, then constants
	globals []*ptx.Var
}

// symbol is a variable's place.
type symbol struct {
	v     *ptx.Var
	space machine.Space
	addr  uint64 // in its space; of global variables set when the machine has them
}

// errorAt is an error with the line of the text.
func (p *program) errorAt(line int, format string, args ...any) error {
	return &ptx.Error{File: p.m.File, Line: line, Message: fmt.Sprintf(format, args...)}
}

// compile makes a program of a kernel.
func compile(m *ptx.Module, f *ptx.Func) (*program, error) {
	p := &program{m: m, f: f, symbols: map[string]symbol{}}
	if err := p.layOut(); err != nil {
		return nil, err
	}
	for i := range f.Body {
		c := &compiler{p: p, in: &f.Body[i], pc: int32(i)}
		in, err := c.compile()
		if err != nil {
			return nil, p.errorAt(f.Body[i].Line, "%v", err)
		}
		p.code = append(p.code, in)
	}
	return p, nil
}

func align(n, to int) int {
	to = max(to, 1)
	return (n + to - 1) / to * to
}

// layOut gives variables their places.
func (p *program) layOut() error {
	place := func(v *ptx.Var, s machine.Space, size *int, base uint64) {
		*size = align(*size, max(v.Align, v.Type.Bytes()*v.Vector))
		p.symbols[v.Name] = symbol{v, s, base + uint64(*size)}
		*size += v.Bytes()
	}
	for _, v := range p.f.Params {
		place(v, machine.Const, &p.params, 0)
	}
	p.image = make([]byte, p.params)
	var dynamic []*ptx.Var
	for _, v := range append(append([]*ptx.Var(nil), p.m.Vars...), p.f.Vars...) {
		switch v.Space {
		case ptx.Shared:
			if v.Array && v.Count == 0 {
				dynamic = append(dynamic, v)
				continue
			}
			place(v, machine.Shared, &p.shared, machine.SharedBase)
		case ptx.Local:
			place(v, machine.Local, &p.local, 0)
		case ptx.Const:
			n := len(p.image)
			place(v, machine.Const, &n, 0)
			p.image = append(p.image, make([]byte, n-len(p.image))...)
			if err := initial(p.image[p.symbols[v.Name].addr:], v); err != nil {
				return p.errorAt(v.Line, "%v", err)
			}
		case ptx.Global:
			p.symbols[v.Name] = symbol{v, machine.Global, 0}
			p.globals = append(p.globals, v)
		default:
			return p.errorAt(v.Line, "variables in .%s are not supported", v.Space)
		}
	}
	p.dynamic = p.shared
	for _, v := range dynamic {
		p.dynamic = align(p.dynamic, max(v.Align, 16))
	}
	for _, v := range dynamic {
		p.symbols[v.Name] = symbol{v, machine.Shared, machine.SharedBase + uint64(p.dynamic)}
	}
	return nil
}

// initial writes a variable's initial values.
func initial(to []byte, v *ptx.Var) error {
	size := v.Type.Bytes()
	for i, in := range v.Init {
		if in.Symbol != "" {
			return fmt.Errorf("the initial value of %s is an address, which is not supported", v.Name)
		}
		for j := range size {
			to[i*size+j] = byte(in.Bits >> (8 * j))
		}
	}
	return nil
}
