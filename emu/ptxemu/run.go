package ptxemu

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/gocute/gocute/emu/machine"
	"github.com/gocute/gocute/ptx"
)

// Kernel is a compiled kernel.
type Kernel struct{ p *program }

// Compile compiles the kernel of that name. The error is a *ptx.Error with the line of what is not supported.
func Compile(m *ptx.Module, entry string) (*Kernel, error) {
	f, ok := m.Func(entry)
	if !ok || !f.Entry {
		return nil, fmt.Errorf("%s: there is no kernel %s", m.File, entry)
	}
	p, err := compile(m, f)
	if err != nil {
		return nil, err
	}
	return &Kernel{p}, nil
}

// Params are the kernel's parameters.
func (k *Kernel) Params() []*ptx.Var { return k.p.f.Params }

// Arg is an argument: a buffer, whose address is passed, a tensor map, or the bytes of a scalar.
type Arg struct {
	Buffer *Buffer
	Bytes  []byte
	Map    *TensorMap
}

// Buffer is memory of the caller's, which the kernel changes in place.
type Buffer struct {
	Name    string
	Data    []byte
	Defined bool // it holds values; else what nobody wrote is reported when it is read
}

// Launch is how a kernel is launched.
type Launch struct {
	Grid, Block [3]int
	Shared      int // bytes of dynamic shared memory
	Args        []Arg
}

// Options of a run. The zero value runs warps and blocks in order.
type Options struct {
	Seed        uint64 // order of lanes in atomic operations, of warps and of blocks; 0 means in order
	MaxFindings int    // kept at most; 0 means 20
	MaxSteps    int64  // of all warps together; 0 means 2^36
}

// Report is what came of a run.
type Report struct {
	Findings []*machine.Finding
	More     int64 // findings beyond those kept
	Steps    int64 // instructions of warps
	Counts   []int64
	kernel   *Kernel
	regions  []*machine.Region
}

// resident is how many blocks run at a time, once those before wait for others.
const resident = 264

// Run launches the kernel. Mistakes that it makes while running are findings and no error.
func (k *Kernel) Run(ctx context.Context, l Launch, opt Options) (*Report, error) {
	if opt.MaxSteps <= 0 {
		opt.MaxSteps = 1 << 36
	}
	if want := k.p.f.Directives["reqntid"]; len(want) > 0 {
		for i, n := range append(want, 1, 1)[:3] {
			if l.Block[i] != n {
				return nil, fmt.Errorf("%s asks for blocks of %v threads (.reqntid), but got %v", k.p.f.Name, want, l.Block)
			}
		}
	}
	if most := k.p.f.Directives["maxntid"]; len(most) > 0 {
		n := 1
		for _, x := range most {
			n *= x
		}
		if l.Block[0]*l.Block[1]*l.Block[2] > n {
			return nil, fmt.Errorf("%s is compiled for blocks of at most %d threads (.maxntid), but got %v", k.p.f.Name, n, l.Block)
		}
	}
	m, err := machine.New(machine.Config{Grid: l.Grid, Block: l.Block, SharedBytes: k.p.dynamic + l.Shared, LocalBytes: k.p.local, MaxFindings: opt.MaxFindings})
	if err != nil {
		return nil, err
	}
	r := &runner{ctx: ctx, k: k, m: m, opt: opt, rep: &Report{kernel: k, Counts: make([]int64, len(k.p.code))}}
	if err := r.memory(l.Args); err != nil {
		return nil, err
	}
	if err := r.blocks(); err != nil {
		return nil, err
	}
	r.rep.Findings, r.rep.More = m.Findings()
	return r.rep, nil
}

// runner is a run.
type runner struct {
	ctx  context.Context
	k    *Kernel
	m    *machine.Machine
	opt  Options
	rep  *Report
	maps []*TensorMap
	prog program // with the addresses of this run
}

// memory gives buffers their regions and writes the parameters.
func (r *runner) memory(args []Arg) error {
	p := r.k.p
	if len(args) != len(p.f.Params) {
		return fmt.Errorf("%s takes %d arguments, but got %d", p.f.Name, len(p.f.Params), len(args))
	}
	r.prog = *p
	r.prog.symbols = map[string]symbol{}
	for name, s := range p.symbols {
		r.prog.symbols[name] = s
	}
	image := append([]byte(nil), p.image...)
	known := map[*Buffer]*machine.Region{}
	for i, v := range p.f.Params {
		at, a := p.symbols[v.Name].addr, args[i]
		switch {
		case a.Buffer != nil:
			region := known[a.Buffer]
			if region == nil {
				region = r.m.Alloc(a.Buffer.Name, len(a.Buffer.Data))
				region.Data, region.Defined = a.Buffer.Data, a.Buffer.Defined
				known[a.Buffer] = region
			}
			r.rep.regions = append(r.rep.regions, region)
			if v.Bytes() != 8 {
				return fmt.Errorf("parameter %d of %s has %d bytes, but an address has 8", i, p.f.Name, v.Bytes())
			}
			put(image[at:at+8], region.Base)
		case a.Map != nil:
			if v.Bytes() != mapBytes {
				return fmt.Errorf("parameter %d of %s has %d bytes, but a tensor map has %d", i, p.f.Name, v.Bytes(), mapBytes)
			}
			if err := a.Map.check(known); err != nil {
				return fmt.Errorf("parameter %d of %s: %w", i, p.f.Name, err)
			}
			r.maps = append(r.maps, a.Map)
			put(image[at:at+8], mapMagic)
			put(image[at+8:at+16], uint64(len(r.maps)-1))
		default:
			if len(a.Bytes) != v.Bytes() {
				return fmt.Errorf("parameter %d of %s has %d bytes, but got %d", i, p.f.Name, v.Bytes(), len(a.Bytes))
			}
			copy(image[at:], a.Bytes)
		}
	}
	for _, v := range p.globals {
		region := r.m.Alloc(v.Name, v.Bytes())
		region.Defined = true
		if err := initial(region.Data, v); err != nil {
			return err
		}
		s := r.prog.symbols[v.Name]
		s.addr = region.Base
		r.prog.symbols[v.Name] = s
	}
	r.m.Constants(image)
	return nil
}

// running is a block with its warps.
type runningBlock struct {
	b     *machine.Block
	warps []*warp
	rng   *rand.Rand
}

// blocks runs all of them.
func (r *runner) blocks() error {
	n := r.m.Blocks()
	order := make([]int, 0)
	if r.opt.Seed != 0 && n <= 1<<20 {
		order = rand.New(rand.NewPCG(r.opt.Seed, 1)).Perm(n)
	}
	var live []*runningBlock
	started, idle := 0, 0
	for {
		before := r.m.Progress()
		ended := false
		for i := 0; i < len(live); {
			over, err := r.turn(live[i])
			if err != nil {
				return err
			}
			if live[i].b.Stopped {
				return nil
			}
			if over {
				live = append(live[:i], live[i+1:]...)
				ended = true
				continue
			}
			i++
		}
		if r.m.Progress() != before || ended {
			idle = 0
		} else {
			idle++
		}
		switch {
		case started == n && len(live) == 0:
			return nil
		case started < n && len(live) < resident && (len(live) == 0 || idle > 2):
			id := started
			if len(order) > 0 {
				id = order[started]
			}
			live = append(live, r.start(id))
			started++
			idle = 0
		case idle > 100:
			r.stuck(live)
			return nil
		}
	}
}

func (r *runner) start(id int) *runningBlock {
	b := &runningBlock{b: r.m.NewBlock(id)}
	if r.opt.Seed != 0 {
		b.rng = rand.New(rand.NewPCG(r.opt.Seed, uint64(id)))
	}
	for i := range b.b.Warps {
		w := newWarp(b.b, &r.prog, i, &r.rep.Steps, r.rep.Counts)
		w.maps = r.maps
		if b.rng != nil {
			copy(w.order[:], b.rng.Perm(32))
		}
		b.warps = append(b.warps, w)
	}
	return b
}

// turn gives each warp of a block a turn; over says that all have ended.
func (r *runner) turn(b *runningBlock) (over bool, err error) {
	order := make([]int, len(b.warps))
	for i := range order {
		order[i] = i
	}
	if b.rng != nil {
		order = b.rng.Perm(len(b.warps))
	}
	over = true
	for _, i := range order {
		if len(b.warps[i].splits) == 0 {
			continue
		}
		over = b.warps[i].run() == done && over
		if b.b.Stopped {
			return false, nil
		}
	}
	if err := r.ctx.Err(); err != nil {
		return false, err
	}
	if r.rep.Steps > r.opt.MaxSteps {
		w := b.warps[0]
		b.b.Report(machine.Endless, w.first, w.place(), fmt.Sprintf("the kernel goes on after %d instructions of its warps", r.rep.Steps))
	}
	return over, nil
}

// place is where a warp is.
func (w *warp) place() int32 {
	if len(w.splits) == 0 {
		return 0
	}
	return int32(w.splits[0].pc)
}

// stuck reports what the first warp that waits waits for.
func (r *runner) stuck(live []*runningBlock) {
	for _, b := range live {
		for _, w := range b.warps {
			if len(w.splits) > 0 {
				w.stuck()
				return
			}
		}
	}
}

// stuck reports what the warp's first split waits for.
func (w *warp) stuck() {
	s := w.splits[0]
	pc, why, check := s.pc, s.why, machine.Deadlock
	if s.until != nil && pc > 0 {
		pc--
	}
	if why == "" {
		why = w.waits
	}
	if why == "" {
		why = fmt.Sprintf("warp %d goes round and nothing happens that could end it", w.id)
	}
	if s.meets {
		check = machine.Divergent
	}
	w.b.Report(check, w.first, int32(pc), why)
}

// Line is the line of the PTX that an instruction of a finding stands in, and the source line where .loc gives one.
func (rep *Report) Line(pc int32) (line int, loc ptx.Loc) {
	if pc < 0 || int(pc) >= len(rep.kernel.p.f.Body) {
		return 0, ptx.Loc{}
	}
	in := &rep.kernel.p.f.Body[pc]
	return in.Line, in.Loc
}
