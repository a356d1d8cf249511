package ptxemu

import (
	"fmt"
	"math/bits"

	"github.com/gocute/gocute/emu/machine"
	"github.com/gocute/gocute/ptx"
)

var _ = register(map[string]func(c *compiler) (run, error){
	"shfl.sync": (*compiler).shuffle, "vote.sync": (*compiler).vote, "match.any.sync": (*compiler).match, "match.all.sync": (*compiler).match,
	"redux.sync": (*compiler).redux, "activemask": (*compiler).activeMask, "elect.sync": (*compiler).elect,
})

// members compiles a mask of lanes and gives what an instruction among them needs: the mask, and whether all are here.
func (c *compiler) members(o *ptx.Operand) (func(w *warp, mask uint32) (want uint32, o outcome, ok bool), error) {
	v, err := c.value(o, 32)
	if err != nil {
		return nil, err
	}
	pc := c.pc
	return func(w *warp, mask uint32) (uint32, outcome, bool) {
		plane := v(w)
		want := uint32(plane[bits.TrailingZeros32(mask)])
		o, ok := w.these(mask, want, c.in.Op)
		if !ok {
			return want, o, false
		}
		each(mask, func(l int) {
			if uint32(plane[l]) != want || want>>l&1 == 0 {
				w.b.Report(machine.NoLane, w.thread(l), pc, fmt.Sprintf("executes %s with the mask %#x, lane %d of it", c.in.Op, uint32(plane[l]), l))
			}
		})
		return want, o, true
	}, nil
}

// predicate splits d|p into its registers; -1 for none.
func (c *compiler) predicate(o *ptx.Operand) (d, p int, err error) {
	switch {
	case o.Kind == ptx.SinkOperand:
		return -1, -1, nil
	case o.Kind != ptx.RegisterOperand || o.Not || o.Field != "":
		return 0, 0, fmt.Errorf("expected a register")
	case o.Pair:
		return o.Reg, o.Second, nil
	}
	return o.Reg, -1, nil
}

// shuffle compiles shfl.sync: d|p, a, b, c, members.
func (c *compiler) shuffle() (run, error) {
	if err := c.args(5); err != nil {
		return nil, err
	}
	d, p, err := c.predicate(&c.in.Args[0])
	if err != nil {
		return nil, err
	}
	var v [3]source
	for i := range v {
		if v[i], err = c.value(&c.in.Args[i+1], 32); err != nil {
			return nil, err
		}
	}
	members, err := c.members(&c.in.Args[4])
	if err != nil {
		return nil, err
	}
	// from computes the lane to read and whether it is in range: PTX ISA, shfl.sync.
	var from func(lane, b, least, most int) (int, bool)
	switch mode := c.in.Words[2]; mode {
	case "up":
		from = func(lane, b, _, most int) (int, bool) { return lane - b, lane-b >= most }
	case "down":
		from = func(lane, b, _, most int) (int, bool) { return lane + b, lane+b <= most }
	case "bfly":
		from = func(lane, b, _, most int) (int, bool) { return lane ^ b, lane^b <= most }
	case "idx":
		from = func(lane, b, least, most int) (int, bool) { return least | b, least|b <= most }
	default:
		return nil, fmt.Errorf("the modifier .%s is not supported", mode)
	}
	idx, pc := c.in.Words[2] == "idx", c.pc
	return func(w *warp, mask uint32) outcome {
		if _, o, ok := members(w, mask); !ok {
			return o
		}
		a, b, k := *v[0](w), v[1](w), v[2](w)
		var out, in lanes
		each(mask, func(l int) {
			clamp, segment := int(k[l]&31), int(k[l]>>8&31)
			most := l&segment | clamp&^segment
			step := int(b[l] & 31)
			if idx {
				step &^= segment
			}
			j, ok := from(l, step, l&segment, most)
			if !ok {
				j = l
			} else {
				in[l] = 1
			}
			if mask>>j&1 == 0 {
				w.b.Report(machine.NoLane, w.thread(l), pc, fmt.Sprintf("takes a value from lane %d, which does not execute the shuffle", j))
			}
			out[l] = a[j]
		})
		w.set(d, mask, &out)
		w.set(p, mask, &in)
		return outcome{}
	}, nil
}

// vote compiles vote.sync: d, [!]p, members.
func (c *compiler) vote() (run, error) {
	if err := c.args(3); err != nil {
		return nil, err
	}
	d, err := c.register(&c.in.Args[0])
	if err != nil {
		return nil, err
	}
	from := c.in.Args[1]
	not := from.Not
	from.Not = false
	p, err := c.value(&from, 1)
	if err != nil {
		return nil, err
	}
	members, err := c.members(&c.in.Args[2])
	if err != nil {
		return nil, err
	}
	var result func(yes, mask uint32) bool
	ballot := false
	switch mode := c.in.Words[2]; mode {
	case "all":
		result = func(yes, mask uint32) bool { return yes == mask }
	case "any":
		result = func(yes, _ uint32) bool { return yes != 0 }
	case "uni":
		result = func(yes, mask uint32) bool { return yes == 0 || yes == mask }
	case "ballot":
		ballot = true
	default:
		return nil, fmt.Errorf("the modifier .%s is not supported", mode)
	}
	return func(w *warp, mask uint32) outcome {
		if _, o, ok := members(w, mask); !ok {
			return o
		}
		v, yes := p(w), uint32(0)
		each(mask, func(l int) {
			if v[l]&1 != 0 != not {
				yes |= 1 << l
			}
		})
		r := uint64(yes)
		if !ballot {
			r = 0
			if result(yes, mask) {
				r = 1
			}
		}
		w.set(d, mask, constant(r)(w))
		return outcome{}
	}, nil
}

// match compiles match.any and match.all: d[|p], a, members.
func (c *compiler) match() (run, error) {
	if err := c.args(3); err != nil {
		return nil, err
	}
	d, p, err := c.predicate(&c.in.Args[0])
	if err != nil {
		return nil, err
	}
	a, err := c.value(&c.in.Args[1], 64)
	if err != nil {
		return nil, err
	}
	members, err := c.members(&c.in.Args[2])
	if err != nil {
		return nil, err
	}
	every := c.in.Words[1] == "all"
	return func(w *warp, mask uint32) outcome {
		if _, o, ok := members(w, mask); !ok {
			return o
		}
		v := *a(w)
		var out, same lanes
		each(mask, func(l int) {
			equal := uint32(0)
			each(mask, func(j int) {
				if v[j] == v[l] {
					equal |= 1 << j
				}
			})
			switch {
			case !every:
				out[l] = uint64(equal)
			case equal == mask:
				out[l], same[l] = uint64(mask), 1
			}
		})
		w.set(d, mask, &out)
		w.set(p, mask, &same)
		return outcome{}
	}, nil
}

// reductions are the operations of redux.sync.
var reductions = map[string]func(a, b uint32, signed bool) uint32{
	"add": func(a, b uint32, _ bool) uint32 { return a + b },
	"and": func(a, b uint32, _ bool) uint32 { return a & b },
	"or":  func(a, b uint32, _ bool) uint32 { return a | b },
	"xor": func(a, b uint32, _ bool) uint32 { return a ^ b },
	"min": func(a, b uint32, signed bool) uint32 {
		if signed {
			return uint32(min(int32(a), int32(b)))
		}
		return min(a, b)
	},
	"max": func(a, b uint32, signed bool) uint32 {
		if signed {
			return uint32(max(int32(a), int32(b)))
		}
		return max(a, b)
	},
}

func (c *compiler) redux() (run, error) {
	if err := c.args(3); err != nil {
		return nil, err
	}
	d, err := c.register(&c.in.Args[0])
	if err != nil {
		return nil, err
	}
	a, err := c.value(&c.in.Args[1], 32)
	if err != nil {
		return nil, err
	}
	members, err := c.members(&c.in.Args[2])
	if err != nil {
		return nil, err
	}
	f := reductions[c.in.Words[2]]
	if f == nil || len(c.in.Words) != 4 || c.in.Has("f32") {
		return nil, fmt.Errorf("the modifier .%s is not supported", c.in.Words[2])
	}
	signed := c.in.Has("s32")
	return func(w *warp, mask uint32) outcome {
		if _, o, ok := members(w, mask); !ok {
			return o
		}
		v := a(w)
		l := bits.TrailingZeros32(mask)
		r := uint32(v[l])
		each(mask&(mask-1), func(l int) { r = f(r, uint32(v[l]), signed) })
		w.set(d, mask, constant(uint64(r))(w))
		return outcome{}
	}, nil
}

func (c *compiler) activeMask() (run, error) {
	if err := c.args(1); err != nil {
		return nil, err
	}
	d, err := c.register(&c.in.Args[0])
	if err != nil {
		return nil, err
	}
	return func(w *warp, mask uint32) outcome {
		w.set(d, mask, constant(uint64(mask))(w))
		return outcome{}
	}, nil
}

// elect compiles elect.sync: d|p, members. The first lane is elected.
func (c *compiler) elect() (run, error) {
	if err := c.args(2); err != nil {
		return nil, err
	}
	o := c.in.Args[0]
	d, p := -1, o.Second
	if o.Kind == ptx.RegisterOperand && o.Pair {
		d = o.Reg
	} else if o.Kind != ptx.SinkOperand {
		return nil, fmt.Errorf("expected a register and a predicate d|p")
	}
	members, err := c.members(&c.in.Args[1])
	if err != nil {
		return nil, err
	}
	return func(w *warp, mask uint32) outcome {
		if _, o, ok := members(w, mask); !ok {
			return o
		}
		first := bits.TrailingZeros32(mask)
		var chosen lanes
		chosen[first] = 1
		w.set(d, mask, constant(uint64(first))(w))
		w.set(p, mask, &chosen)
		return outcome{}
	}, nil
}
