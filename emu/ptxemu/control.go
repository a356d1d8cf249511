package ptxemu

import (
	"fmt"
	"math/bits"

	"github.com/gocute/gocute/emu/machine"
	"github.com/gocute/gocute/ptx"
)

var _ = register(map[string]func(c *compiler) (run, error){
	"bra": (*compiler).branch, "ret": (*compiler).leave, "exit": (*compiler).leave, "trap": (*compiler).trap, "brkpt": (*compiler).trap,
	"bar.sync": (*compiler).blockBarrier, "bar.arrive": (*compiler).blockBarrier, "barrier.sync": (*compiler).blockBarrier, "barrier.arrive": (*compiler).blockBarrier,
	"barrier.cta.sync": (*compiler).blockBarrier, "barrier.cta.arrive": (*compiler).blockBarrier, "bar.cta.sync": (*compiler).blockBarrier, "bar.cta.arrive": (*compiler).blockBarrier,
	"bar.warp.sync": (*compiler).warpBarrier, "membar": (*compiler).fence, "fence": (*compiler).fence,
	"fence.proxy": (*compiler).proxyFence, "fence.mbarrier_init": (*compiler).nothing,
	"griddepcontrol": (*compiler).nothing, "setmaxnreg": (*compiler).nothing, "nanosleep": (*compiler).sleep, "pmevent": (*compiler).nothing,
})

func (c *compiler) branch() (run, error) {
	if err := c.args(1); err != nil {
		return nil, err
	}
	o := &c.in.Args[0]
	to, ok := c.p.f.Label(o.Name)
	if o.Kind != ptx.NameOperand || !ok {
		return nil, fmt.Errorf("expected a label")
	}
	return func(*warp, uint32) outcome { return outcome{kind: jump, target: to} }, nil
}

func (c *compiler) leave() (run, error) {
	return func(*warp, uint32) outcome { return outcome{kind: ended} }, nil
}

func (c *compiler) trap() (run, error) {
	pc := c.pc
	return func(w *warp, mask uint32) outcome {
		w.b.Report(machine.Unsupported, w.thread(bits.TrailingZeros32(mask)), pc, "the kernel stops itself ("+c.in.Op+")")
		return outcome{kind: ended}
	}, nil
}

// sleep gives way, as those do that wait for others.
func (c *compiler) sleep() (run, error) {
	return func(*warp, uint32) outcome { return outcome{kind: spin} }, nil
}

// all waits until every lane of the warp is here; it is true if they are. Lanes that have ended cannot come.
func (w *warp) all(mask uint32, what string) (outcome, bool) {
	o, ok := w.these(mask, w.b.Alive(w.id), what)
	if gone := w.b.Full(w.id) &^ w.b.Alive(w.id); ok && gone != 0 {
		w.b.Report(machine.Divergent, w.thread(bits.TrailingZeros32(mask)), int32(w.splits[w.cur].pc),
			fmt.Sprintf("executes %s, which is for all lanes of a warp, of which %#x have ended", what, gone))
	}
	return o, ok
}

// these waits until the lanes of want that have not ended are here.
func (w *warp) these(mask, want uint32, what string) (outcome, bool) {
	want &= w.b.Alive(w.id)
	if mask&want == want {
		return outcome{}, true
	}
	return outcome{kind: meet, why: fmt.Sprintf("%s waits for the lanes %#x of warp %d, which do not come", what, want&^mask, w.id)}, false
}

// blockBarrier compiles bar and barrier: a barrier's number, and how many threads it is for.
func (c *compiler) blockBarrier() (run, error) {
	if err := c.args(1, 2); err != nil {
		return nil, err
	}
	id, err := c.value(&c.in.Args[0], 32)
	if err != nil {
		return nil, err
	}
	threads := constant(0)
	if len(c.in.Args) == 2 {
		if threads, err = c.value(&c.in.Args[1], 32); err != nil {
			return nil, err
		}
	}
	aligned := c.in.Words[0] == "bar" || c.in.Has("aligned")
	waits := !c.in.Has("arrive")
	if !waits && len(c.in.Args) < 2 {
		return nil, fmt.Errorf("expected the number of threads")
	}
	pc := c.pc
	return func(w *warp, mask uint32) outcome {
		if aligned {
			if o, ok := w.all(mask, c.in.Op); !ok {
				return o
			}
		}
		l := bits.TrailingZeros32(mask)
		n := int(id(w)[l])
		phase, ok := w.b.Arrive(w.id, mask, pc, n, int(threads(w)[l]), waits)
		if !ok || !waits || w.b.Passed(n, phase) {
			return outcome{}
		}
		b := w.b
		return outcome{kind: wait, until: func() bool { return b.Passed(n, phase) }, why: fmt.Sprintf("warp %d waits at barrier %d", w.id, n)}
	}, nil
}

func (c *compiler) warpBarrier() (run, error) {
	if err := c.args(1); err != nil {
		return nil, err
	}
	members, err := c.value(&c.in.Args[0], 32)
	if err != nil {
		return nil, err
	}
	return func(w *warp, mask uint32) outcome {
		want := uint32(members(w)[bits.TrailingZeros32(mask)])
		if o, ok := w.these(mask, want, c.in.Op); !ok {
			return o
		}
		w.b.SyncWarp(w.id, mask)
		return outcome{}
	}, nil
}

func (c *compiler) fence() (run, error) {
	return func(w *warp, mask uint32) outcome {
		each(mask, func(l int) { w.b.Fence(w.thread(l)) })
		return outcome{}
	}, nil
}

// proxyFence compiles fence.proxy, of which .async has a meaning here.
func (c *compiler) proxyFence() (run, error) {
	for _, word := range c.in.Words[2:] {
		switch word {
		case "async", "async::generic", "async.global":
		case "alias", "tensormap::generic":
			return nil, fmt.Errorf("the modifier .%s is not supported", word)
		}
	}
	return func(w *warp, mask uint32) outcome {
		each(mask, func(l int) { w.b.FenceProxyAsync(w.thread(l)) })
		return outcome{}
	}, nil
}
