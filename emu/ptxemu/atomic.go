package ptxemu

import (
	"fmt"
	"math"

	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/emu/machine"
	"github.com/gocute/gocute/ptx"
)

var _ = register(map[string]func(c *compiler) (run, error){
	"atom": (*compiler).atomic, "red": (*compiler).atomic,
})

var atomicWords = map[string]bool{"add": true, "min": true, "max": true, "and": true, "or": true, "xor": true, "exch": true, "cas": true, "inc": true, "dec": true}

// atomicOp is what an operation leaves in place of the old value, of its operand a and, of cas, of b: it stores b where the old
// value is a.
func atomicOp(op string, t ptx.Type) (func(old, a, b uint64) uint64, error) {
	bitsOf, signed := t.Bits, t.Class == ptx.Signed
	widen := func(v uint64) int64 { return int64(v<<(64-bitsOf)) >> (64 - bitsOf) }
	less := func(a, b uint64) bool {
		if signed {
			return widen(a) < widen(b)
		}
		return a < b
	}
	float := t.Class == ptx.Float
	switch {
	case op == "exch":
		return func(_, a, _ uint64) uint64 { return a }, nil
	case op == "cas":
		return func(old, a, b uint64) uint64 {
			if old == a {
				return b
			}
			return old
		}, nil
	case op == "add" && float:
		return floatAdd(t)
	case float:
	case op == "add":
		return func(old, a, _ uint64) uint64 { return truncate(old+a, bitsOf) }, nil
	case op == "and":
		return func(old, a, _ uint64) uint64 { return old & a }, nil
	case op == "or":
		return func(old, a, _ uint64) uint64 { return old | a }, nil
	case op == "xor":
		return func(old, a, _ uint64) uint64 { return old ^ a }, nil
	case op == "min", op == "max":
		return func(old, a, _ uint64) uint64 {
			if less(a, old) == (op == "min") {
				return a
			}
			return old
		}, nil
	case op == "inc":
		return func(old, a, _ uint64) uint64 {
			if old >= a {
				return 0
			}
			return old + 1
		}, nil
	case op == "dec":
		return func(old, a, _ uint64) uint64 {
			if old == 0 || old > a {
				return a
			}
			return old - 1
		}, nil
	}
	return nil, fmt.Errorf("the operation .%s on %s is not supported", op, t)
}

// floatAdd adds numbers. Those of f32 in global memory take and give zero for subnormal ones, which is left out here.
func floatAdd(t ptx.Type) (func(old, a, b uint64) uint64, error) {
	half := func(k elem.Kind) func(old, a, _ uint64) uint64 {
		return func(old, a, _ uint64) uint64 { return elem.Encode(k, elem.Decode(k, old)+elem.Decode(k, a)) }
	}
	pair := func(f func(old, a, _ uint64) uint64) func(old, a, _ uint64) uint64 {
		return func(old, a, _ uint64) uint64 { return f(old&0xffff, a&0xffff, 0) | f(old>>16, a>>16, 0)<<16 }
	}
	switch t.Name {
	case "f32":
		return func(old, a, _ uint64) uint64 {
			return uint64(math.Float32bits(math.Float32frombits(uint32(old)) + math.Float32frombits(uint32(a))))
		}, nil
	case "f64":
		return func(old, a, _ uint64) uint64 {
			return math.Float64bits(math.Float64frombits(old) + math.Float64frombits(a))
		}, nil
	case "f16":
		return half(elem.KF16), nil
	case "bf16":
		return half(elem.KBF16), nil
	case "f16x2":
		return pair(half(elem.KF16)), nil
	case "bf16x2":
		return pair(half(elem.KBF16)), nil
	}
	return nil, fmt.Errorf("the operation .add on %s is not supported", t)
}

// atomicOperands reads d (of atom alone; -1 for none), [a], b and, of cas, c.
func (c *compiler) atomicOperands(a access) (d int, at *address, x, y source, err error) {
	args, d, y := c.in.Args, -1, constant(0)
	want := 2
	for _, more := range []bool{c.in.Words[0] == "atom", a.op == "cas", a.hint} {
		if more {
			want++
		}
	}
	if err = c.args(want); err != nil {
		return
	}
	if c.in.Words[0] == "atom" {
		if args[0].Kind != ptx.SinkOperand {
			if d, err = c.register(&args[0]); err != nil {
				return
			}
		}
		args = args[1:]
	}
	if at, err = c.address(&args[0], a.space); err != nil {
		return
	}
	if x, err = c.value(&args[1], a.typ.Bits); err == nil && a.op == "cas" {
		y, err = c.value(&args[2], a.typ.Bits)
	}
	return
}

// atomic compiles atom d, [a], b, c and red [a], b.
func (c *compiler) atomic() (run, error) {
	a, err := c.access(atomicWords)
	if err != nil {
		return nil, err
	}
	if a.vec != 1 || a.op == "" {
		return nil, fmt.Errorf("expected one of the operations add, min, max, and, or, xor, exch, cas, inc and dec")
	}
	d, at, x, y, err := c.atomicOperands(a)
	if err != nil {
		return nil, err
	}
	f, err := atomicOp(a.op, a.typ)
	if err != nil {
		return nil, err
	}
	a.order.Strong = true
	if a.order.Scope == machine.ScopeNone || a.order.Scope == machine.ScopeSystem && !c.in.Has("sys") {
		a.order.Scope = machine.ScopeGPU
	}
	pc, size := c.pc, a.typ.Bytes()
	return func(w *warp, mask uint32) outcome {
		var addr lanes
		at.of(w, mask, &addr)
		vx, vy := x(w), y(w)
		for _, l := range w.order {
			if mask>>l&1 == 0 {
				continue
			}
			old, _ := w.b.Atomic(w.thread(l), pc, a.space, addr[l], size, a.order, func(old [2]uint64) [2]uint64 {
				return [2]uint64{f(truncate(old[0], a.typ.Bits), vx[l], vy[l])}
			})
			if d >= 0 {
				w.regs[d][l] = c.extended(old[0], a.typ, d)
			}
		}
		if d >= 0 {
			w.wrote[d] |= mask
		}
		return outcome{}
	}, nil
}
