package ptxemu

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"strings"

	"github.com/gocute/gocute/emu/machine"
	"github.com/gocute/gocute/ptx"
)

var _ = register(map[string]func(c *compiler) (run, error){
	"ld": (*compiler).load, "ldu": (*compiler).load, "st": (*compiler).store,
	"prefetch": (*compiler).nothing, "prefetchu": (*compiler).nothing, "applypriority": (*compiler).nothing,
	"cvta": (*compiler).convertAddress, "isspacep": (*compiler).isSpace,
})

// nothing is an instruction without a meaning here: it is for speed alone.
func (c *compiler) nothing() (run, error) {
	return func(*warp, uint32) outcome { return outcome{} }, nil
}

var machineSpaces = map[ptx.Space]machine.Space{ptx.Generic: machine.Generic, ptx.Global: machine.Global, ptx.Shared: machine.Shared,
	ptx.Local: machine.Local, ptx.Const: machine.Const, ptx.Param: machine.Const}

var scopes = map[string]machine.Scope{"cta": machine.ScopeCTA, "cluster": machine.ScopeCluster, "gpu": machine.ScopeGPU, "sys": machine.ScopeSystem}

// access is what the modifiers of a load, store or atomic operation say.
type access struct {
	space machine.Space
	order machine.Order
	vec   int
	typ   ptx.Type
	op    string // of atomics
	hint  bool   // a cache policy follows the operands
}

// speed are modifiers that change nothing but speed.
func speed(word string) bool {
	switch word {
	case "nc", "ca", "cg", "cs", "lu", "cv", "wb", "wt", "unified":
		return true
	}
	return strings.HasPrefix(word, "L1::") || strings.HasPrefix(word, "L2::")
}

// access reads the modifiers; atomics are the operations that are allowed among them.
func (c *compiler) access(atomics map[string]bool) (access, error) {
	a := access{vec: 1}
	for _, w := range c.in.Words[1:] {
		space, sub, isSpace := ptx.SpaceOf(w)
		typ, isType := ptx.TypeOf(w)
		scope, isScope := scopes[w]
		switch {
		case isSpace:
			if sub == "cluster" {
				return a, fmt.Errorf("shared memory of other blocks is not supported")
			}
			a.space = machineSpaces[space]
		case isType:
			a.typ = typ
		case isScope:
			a.order.Scope = scope
		case atomics[w]:
			a.op = w
		case w == "weak", w == "noftz" && atomics != nil: // f16 knows nothing else
		case w == "volatile", w == "relaxed", w == "mmio":
			a.order.Strong = true
		case w == "acquire":
			a.order.Strong, a.order.Acquire = true, true
		case w == "release":
			a.order.Strong, a.order.Release = true, true
		case w == "acq_rel":
			a.order.Strong, a.order.Acquire, a.order.Release = true, true, true
		case w == "v2", w == "v4", w == "v8":
			a.vec = int(w[1] - '0')
		case speed(w):
			a.hint = a.hint || w == "L2::cache_hint"
		default:
			return a, fmt.Errorf("the modifier .%s is not supported", w)
		}
	}
	if a.typ.Name == "" || a.typ.Bits < 8 {
		return a, fmt.Errorf("expected a type such as .u32")
	}
	if a.order.Strong && a.order.Scope == machine.ScopeNone {
		a.order.Scope = machine.ScopeSystem // volatile
	}
	return a, nil
}

// list are the parts of a vector operand, or the operand itself.
func list(o *ptx.Operand) []ptx.Operand {
	if o.Kind == ptx.VectorOperand {
		return o.List
	}
	return []ptx.Operand{*o}
}

// extended is what a register gets of loaded bits: signed types fill a wider register with their sign.
func (c *compiler) extended(v uint64, t ptx.Type, r int) uint64 {
	if t.Class == ptx.Signed && t.Bits < 64 {
		v = uint64(int64(v<<(64-t.Bits)) >> (64 - t.Bits))
	}
	return truncate(v, c.p.f.Registers[r].Type.Bits)
}

func (c *compiler) load() (run, error) {
	a, err := c.access(nil)
	if err != nil {
		return nil, err
	}
	if len(c.in.Args) < 2 || len(c.in.Args) > 2 && !a.hint {
		return nil, fmt.Errorf("expected 2 operands, but got %d", len(c.in.Args))
	}
	to, size := list(&c.in.Args[0]), a.typ.Bytes()
	if len(to) != a.vec {
		return nil, fmt.Errorf("expected %d registers, but got %d", a.vec, len(to))
	}
	regs := make([]int, len(to))
	for i := range to {
		regs[i] = -1
		if to[i].Kind == ptx.SinkOperand {
			continue
		}
		if regs[i], err = c.register(&to[i]); err != nil {
			return nil, err
		}
		if c.p.f.Registers[regs[i]].Type.Bits < a.typ.Bits {
			return nil, fmt.Errorf("expected a register of %d bits or more", a.typ.Bits)
		}
	}
	from, err := c.address(&c.in.Args[1], a.space)
	if err != nil {
		return nil, err
	}
	pc, n := c.pc, size*a.vec
	return func(w *warp, mask uint32) outcome {
		var at lanes
		from.of(w, mask, &at)
		for m := mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			buf := w.buf[:n]
			w.b.Load(w.thread(l), pc, a.space, at[l], n, a.order, buf)
			for i, r := range regs {
				if r >= 0 {
					w.regs[r][l] = c.extended(little(buf[i*size:(i+1)*size]), a.typ, r)
				}
			}
		}
		for _, r := range regs {
			if r >= 0 {
				w.wrote[r] |= mask
			}
		}
		return outcome{}
	}, nil
}

// little reads up to 8 bytes.
func little(b []byte) uint64 {
	var v [8]byte
	copy(v[:], b)
	return binary.LittleEndian.Uint64(v[:])
}

// put writes the low bytes of a value.
func put(b []byte, v uint64) {
	for i := range b {
		b[i] = byte(v >> (8 * i))
	}
}

func (c *compiler) store() (run, error) {
	a, err := c.access(nil)
	if err != nil {
		return nil, err
	}
	if len(c.in.Args) < 2 || len(c.in.Args) > 2 && !a.hint {
		return nil, fmt.Errorf("expected 2 operands, but got %d", len(c.in.Args))
	}
	to, err := c.address(&c.in.Args[0], a.space)
	if err != nil {
		return nil, err
	}
	from, size := list(&c.in.Args[1]), a.typ.Bytes()
	if len(from) != a.vec {
		return nil, fmt.Errorf("expected %d values, but got %d", a.vec, len(from))
	}
	values := make([]source, len(from))
	for i := range from {
		if values[i], err = c.value(&from[i], a.typ.Bits); err != nil {
			return nil, err
		}
	}
	pc, n := c.pc, size*a.vec
	return func(w *warp, mask uint32) outcome {
		var at lanes
		to.of(w, mask, &at)
		var planes [8]*lanes
		for i, f := range values {
			planes[i] = f(w)
		}
		for m := mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			buf := w.buf[:n]
			for i := range values {
				put(buf[i*size:(i+1)*size], planes[i][l])
			}
			w.b.Store(w.thread(l), pc, a.space, at[l], n, a.order, buf)
		}
		return outcome{}
	}, nil
}

// windows are where spaces lie among generic addresses.
var windows = map[string]uint64{"global": 0, "shared": machine.SharedWindow, "local": machine.LocalWindow, "const": machine.ConstWindow, "param": machine.ConstWindow}

// convertAddress compiles cvta: from a space to generic addresses, or back with .to.
func (c *compiler) convertAddress() (run, error) {
	if err := c.args(2); err != nil {
		return nil, err
	}
	to, err := c.register(&c.in.Args[0])
	if err != nil {
		return nil, err
	}
	from, err := c.value(&c.in.Args[1], 64)
	if err != nil {
		return nil, err
	}
	add, known := uint64(0), false
	for _, word := range c.in.Words[1:] {
		name, sub, _ := strings.Cut(word, "::")
		if sub == "cluster" {
			return nil, fmt.Errorf("shared memory of other blocks is not supported")
		}
		if base, ok := windows[name]; ok {
			add, known = base, true
		}
	}
	if !known {
		return nil, fmt.Errorf("expected a space")
	}
	if c.in.Has("to") {
		add = -add
	}
	width := c.p.f.Registers[to].Type.Bits
	return func(w *warp, mask uint32) outcome {
		v := from(w)
		for m := mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			w.regs[to][l] = truncate(v[l]+add, width)
		}
		w.wrote[to] |= mask
		return outcome{}
	}, nil
}

// isSpace compiles isspacep.
func (c *compiler) isSpace() (run, error) {
	if err := c.args(2); err != nil {
		return nil, err
	}
	to, err := c.register(&c.in.Args[0])
	if err != nil {
		return nil, err
	}
	from, err := c.value(&c.in.Args[1], 64)
	if err != nil {
		return nil, err
	}
	name, _, _ := strings.Cut(c.in.Words[1], "::")
	base, ok := windows[name]
	if !ok {
		return nil, fmt.Errorf("expected a space, but got %s", name)
	}
	return func(w *warp, mask uint32) outcome {
		v := from(w)
		for m := mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			is := v[l]>>56 == base>>56
			w.regs[to][l] = 0
			if is {
				w.regs[to][l] = 1
			}
		}
		w.wrote[to] |= mask
		return outcome{}
	}, nil
}
