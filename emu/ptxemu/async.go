package ptxemu

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/gocute/gocute/emu/machine"
	"github.com/gocute/gocute/ptx"
)

var _ = register(map[string]func(c *compiler) (run, error){
	"cp.async": (*compiler).asyncCopy, "cp.async.commit_group": commit(false), "cp.async.wait_group": waitGroup(false), "cp.async.wait_all": (*compiler).waitAll,
	"cp.async.mbarrier.arrive":   (*compiler).arriveAfterCopies,
	"cp.async.bulk.commit_group": commit(true), "cp.async.bulk.wait_group": waitGroup(true),
	"mbarrier.init": (*compiler).barrierInit, "mbarrier.inval": (*compiler).barrierInval, "mbarrier.arrive": (*compiler).barrierArrive,
	"mbarrier.expect_tx": (*compiler).barrierExpect, "mbarrier.test_wait": (*compiler).barrierTest, "mbarrier.try_wait": (*compiler).barrierTest,
})

// asyncCopy compiles cp.async [to], [from], size, source size; what the source lacks is zeros.
func (c *compiler) asyncCopy() (run, error) {
	if err := c.args(3, 4, 5); err != nil {
		return nil, err
	}
	for _, w := range c.in.Words[2:] {
		if w != "ca" && w != "cg" && w != "shared" && w != "shared::cta" && w != "global" && !strings.HasPrefix(w, "L2::") {
			return nil, fmt.Errorf("the modifier .%s is not supported", w)
		}
	}
	to, err := c.address(&c.in.Args[0], machine.Shared)
	if err != nil {
		return nil, err
	}
	from, err := c.address(&c.in.Args[1], machine.Global)
	if err != nil {
		return nil, err
	}
	size := c.in.Args[2]
	n := int(size.Bits)
	if size.Kind != ptx.NumberOperand || n != 4 && n != 8 && n != 16 || c.in.Has("cg") && n != 16 {
		return nil, fmt.Errorf("expected to copy 4, 8 or 16 bytes, by .cg 16")
	}
	valid, ignore := constant(uint64(n)), constant(0)
	if len(c.in.Args) > 3 && !(len(c.in.Args) == 4 && c.in.Has("L2::cache_hint")) {
		o := c.in.Args[3]
		predicate := o.Kind == ptx.RegisterOperand && c.p.f.Registers[o.Reg].Type.Class == ptx.Predicate
		if o.Not {
			return nil, fmt.Errorf("a negated predicate is not supported")
		}
		v, err := c.value(&o, 32)
		if err != nil {
			return nil, err
		}
		if predicate {
			ignore = v
		} else {
			valid = v
		}
	}
	pc := c.pc
	return func(w *warp, mask uint32) outcome {
		var dst, src lanes
		to.of(w, mask, &dst)
		from.of(w, mask, &src)
		some, none := valid(w), ignore(w)
		for m := mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			x := w.b.NewCopy(w.thread(l), pc, "an asynchronous copy", false)
			buf := w.buf[:n]
			clear(buf)
			k := int(uint32(some[l]))
			if none[l]&1 != 0 {
				k = 0
			}
			if k > n {
				w.b.Report(machine.OutOfBounds, w.thread(l), pc, fmt.Sprintf("copies %d valid bytes of %d", k, n))
				k = n
			}
			if k > 0 {
				if src[l]%uint64(n) != 0 {
					w.b.Report(machine.Misaligned, w.thread(l), pc, fmt.Sprintf("copies from the address %#x, which is no multiple of %d", src[l], n))
				}
				w.b.CopyRead(x, machine.Global, src[l], 1, buf[:k])
			}
			w.b.CopyWrite(x, machine.Shared, dst[l], n, buf)
			w.b.Add(x, false)
		}
		return outcome{}
	}, nil
}

func commit(bulk bool) func(c *compiler) (run, error) {
	return func(c *compiler) (run, error) {
		return func(w *warp, mask uint32) outcome {
			each(mask, func(l int) { w.b.Commit(w.thread(l), bulk) })
			return outcome{}
		}, nil
	}
}

func waitGroup(bulk bool) func(c *compiler) (run, error) {
	return func(c *compiler) (run, error) {
		if err := c.args(1); err != nil {
			return nil, err
		}
		if c.in.Args[0].Kind != ptx.NumberOperand {
			return nil, fmt.Errorf("expected a number of groups")
		}
		n, read := int(c.in.Args[0].Bits), c.in.Has("read")
		return func(w *warp, mask uint32) outcome {
			each(mask, func(l int) { w.b.Wait(w.thread(l), n, bulk, read) })
			return outcome{}
		}, nil
	}
}

func (c *compiler) waitAll() (run, error) {
	return func(w *warp, mask uint32) outcome {
		each(mask, func(l int) { w.b.WaitAll(w.thread(l)) })
		return outcome{}
	}, nil
}

// onBarrier compiles an instruction that does one thing to the mbarrier of each lane; with a value where it has an operand
// beside the barrier.
func (c *compiler) onBarrier(operands int, do func(w *warp, thread int, addr, value uint64)) (run, error) {
	if err := c.args(operands); err != nil {
		return nil, err
	}
	at, err := c.barrier(&c.in.Args[0])
	if err != nil {
		return nil, err
	}
	value := constant(0)
	if operands > 1 {
		if value, err = c.value(&c.in.Args[1], 32); err != nil {
			return nil, err
		}
	}
	return func(w *warp, mask uint32) outcome {
		var addr lanes
		at.of(w, mask, &addr)
		v := value(w)
		each(mask, func(l int) { do(w, w.thread(l), addr[l], v[l]) })
		return outcome{}
	}, nil
}

func (c *compiler) arriveAfterCopies() (run, error) {
	pc, noinc := c.pc, c.in.Has("noinc")
	return c.onBarrier(1, func(w *warp, t int, addr, _ uint64) { w.b.ArriveAfterCopies(t, pc, addr, noinc) })
}

// barrier compiles the address of an mbarrier, which the instruction may give as a generic one.
func (c *compiler) barrier(o *ptx.Operand) (*address, error) {
	a, err := c.address(o, machine.Generic)
	if err == nil { // shared addresses are what is left of generic ones
		a.space = machine.Shared
	}
	return a, err
}

func (c *compiler) barrierInit() (run, error) {
	pc := c.pc
	return c.onBarrier(2, func(w *warp, t int, addr, count uint64) { w.b.MBarrierInit(t, pc, addr, uint32(count)) })
}

func (c *compiler) barrierInval() (run, error) {
	pc := c.pc
	return c.onBarrier(1, func(w *warp, t int, addr, _ uint64) { w.b.MBarrierInval(t, pc, addr) })
}

// barrierWords are the modifiers of mbarrier instructions that need nothing here: release and acquire at the scope of a block.
func (c *compiler) barrierWords(more ...string) error {
	for _, w := range c.in.Words[2:] {
		switch w {
		case "shared", "shared::cta", "b64", "release", "acquire", "cta":
			continue
		}
		ok := false
		for _, m := range more {
			ok = ok || m == w
		}
		if !ok {
			return fmt.Errorf("the modifier .%s is not supported", w)
		}
	}
	return nil
}

// barrierArrive compiles mbarrier.arrive state, [bar], count and mbarrier.arrive.expect_tx state, [bar], bytes.
func (c *compiler) barrierArrive() (run, error) {
	if err := c.barrierWords("expect_tx"); err != nil {
		return nil, err
	}
	if err := c.args(2, 3, 1); err != nil {
		return nil, err
	}
	args, d := c.in.Args, -1
	if args[0].Kind != ptx.AddressOperand { // a state, or the sink
		var err error
		if args[0].Kind != ptx.SinkOperand {
			if d, err = c.register(&args[0]); err != nil {
				return nil, err
			}
		}
		args = args[1:]
	}
	at, err := c.barrier(&args[0])
	if err != nil {
		return nil, err
	}
	expect := c.in.Has("expect_tx")
	n := constant(1)
	if len(args) == 2 {
		if n, err = c.value(&args[1], 32); err != nil {
			return nil, err
		}
	} else if expect {
		return nil, fmt.Errorf("expected the number of bytes")
	}
	pc := c.pc
	return func(w *warp, mask uint32) outcome {
		var addr lanes
		at.of(w, mask, &addr)
		v := n(w)
		for m := mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			arrivals, bytes := uint32(v[l]), uint32(0)
			if expect {
				arrivals, bytes = 1, arrivals
			}
			state, _ := w.b.MBarrierArrive(w.thread(l), pc, addr[l], arrivals, bytes)
			if d >= 0 {
				w.regs[d][l] = state
			}
		}
		if d >= 0 {
			w.wrote[d] |= mask
		}
		return outcome{}
	}, nil
}

func (c *compiler) barrierExpect() (run, error) {
	if err := c.barrierWords("relaxed"); err != nil {
		return nil, err
	}
	pc := c.pc
	return c.onBarrier(2, func(w *warp, t int, addr, bytes uint64) { w.b.MBarrierExpect(t, pc, addr, uint32(bytes)) })
}

// barrierTest compiles mbarrier.test_wait and try_wait: p, [bar], state or parity. Where a phase goes on, the lanes give way.
func (c *compiler) barrierTest() (run, error) {
	if err := c.barrierWords("parity"); err != nil {
		return nil, err
	}
	if err := c.args(3, 4); err != nil {
		return nil, err
	}
	d, err := c.register(&c.in.Args[0])
	if err != nil {
		return nil, err
	}
	at, err := c.barrier(&c.in.Args[1])
	if err != nil {
		return nil, err
	}
	v, err := c.value(&c.in.Args[2], 64)
	if err != nil {
		return nil, err
	}
	pc, parity := c.pc, c.in.Has("parity")
	return func(w *warp, mask uint32) outcome {
		var addr, result lanes
		at.of(w, mask, &addr)
		phase, over := v(w), true
		for m := mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			yes, ok := w.b.MBarrierTest(w.thread(l), pc, addr[l], phase[l], parity)
			if yes {
				result[l] = 1
			}
			if over = over && yes; !yes && ok {
				w.waits = fmt.Sprintf("thread %d waits for a phase of the mbarrier at byte %d of shared memory: %s", w.thread(l), addr[l]-machine.SharedBase, w.b.MBarrierState(addr[l]))
			}
		}
		w.set(d, mask, &result)
		if !over {
			return outcome{kind: spin}
		}
		return outcome{}
	}, nil
}
