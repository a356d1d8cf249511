package check

import (
	"context"
	"errors"
	"fmt"

	"github.com/gocute/gocute/cuda"
	"github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/emu"
	"github.com/gocute/gocute/gen"
)

// Raw is what one run left in memory, bit by bit and without a judgement: for comparing one place with another.
type Raw struct {
	Where   string
	Dims    map[string]int64
	Scalars map[string]float64
	Tensors []RawTensor // in the order of the parameters
}

// RawTensor is a tensor before and after a run.
type RawTensor struct {
	Name    string
	Kind    elem.Kind
	Extents []int64
	Written bool  // declared as an output
	Guards  int64 // bytes around the buffer that the run changed; always 0 in the emulator, which reports them itself

	t *tensor
}

// Each calls f with every coordinate and its offset, the last mode fastest. The coordinate's slice is used again.
func (r *RawTensor) Each(f func(at []int64, offset int64)) {
	r.t.each(func(at []int64, offset int64) bool { f(at, offset); return true })
}

// Offset is where a coordinate lies, in elements.
func (r *RawTensor) Offset(at ...int64) int64 { return r.t.offset(at) }

// Before and After are the bits of the element at an offset.
func (r *RawTensor) Before(offset int64) uint64 { return r.t.bits(r.t.before, offset) }

// After is Before, but once the kernel has run.
func (r *RawTensor) After(offset int64) uint64 { return r.t.bits(r.t.after, offset) }

// Values are the contents before the run, by offset.
func (r *RawTensor) Values() []float64 { return r.t.values() }

// Tensor returns the tensor of a name, nil if there is none.
func (r *Raw) Tensor(name string) *RawTensor {
	for i := range r.Tensors {
		if r.Tensors[i].Name == name {
			return &r.Tensors[i]
		}
	}
	return nil
}

// RunRaw runs the kernel exactly once, and compares with nothing. The inputs depend on args alone, so that two places
// get the same ones if args has all dims: the extents of those left open depend on the place. The emulator runs
// without its checks; use Run for them.
func RunRaw(ctx context.Context, k *dsl.Kernel, args Args, opt Options) (*Raw, error) {
	if k == nil {
		return nil, errors.New("check: expected a kernel, but got nil")
	}
	c, err := gen.Lower(k)
	if err != nil {
		return nil, err
	}
	dev, _, err := open(opt)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	}
	use := inEmulator
	if dev != nil {
		defer dev.Close()
		use = onDevice
	}
	p, err := newPlan(c, args, use)
	if err != nil {
		return nil, err
	}
	raw := &Raw{Where: "emulator", Dims: p.dims, Scalars: p.scalars}
	switch {
	case p.grid.Empty():
		raw.Where = "nowhere"
		for _, t := range p.tensors {
			t.after = t.before
		}
	case dev != nil:
		raw.Where = dev.String()
		err = p.onceOnGPU(ctx, dev, opt)
	default:
		err = p.onceOnCPU(ctx, opt)
	}
	if err != nil {
		return nil, err
	}
	for _, t := range p.tensors {
		raw.Tensors = append(raw.Tensors, RawTensor{Name: t.p.Name, Kind: t.p.Elem, Extents: t.extents, Written: t.p.Write, Guards: t.guards, t: t})
	}
	return raw, nil
}

func (p *plan) onceOnCPU(ctx context.Context, opt Options) error {
	args, err := p.emuArgs()
	if err != nil {
		return err
	}
	o := emu.Options{NoChecks: true}
	if len(opt.EmuSeeds) > 0 {
		o.Seed = opt.EmuSeeds[0]
	}
	rep, err := emu.Run(ctx, p.c, args, o)
	if err == nil {
		err = rep.Err()
	}
	if err != nil {
		return err
	}
	for _, t := range p.tensors {
		t.after = args[t.p.Name].(*emu.Buffer).Bytes()
	}
	return nil
}

// onceOnGPU is onGPU without the measurement: a profiler around it sees a single launch.
func (p *plan) onceOnGPU(ctx context.Context, dev *cuda.Device, opt Options) (err error) {
	needs := needsOf(p.c)
	if err := needs.Fits(dev.Info()); err != nil {
		return err
	}
	images, err := p.images(ctx, dev, opt)
	if err != nil {
		return err
	}
	mod, err := dev.LoadModule(images)
	if err != nil {
		return fmt.Errorf("%s: %w", p.c.Name, err)
	}
	defer closing(&err, mod.Unload)
	fn, err := mod.Function(p.c.Name)
	if err != nil {
		return fmt.Errorf("%s: %w", p.c.Name, err)
	}
	r := &gpuRun{plan: p, dev: dev, fn: fn}
	defer closing(&err, r.free)
	if err = r.upload(); err == nil {
		err = errors.Join(r.launch(), dev.Synchronize())
	}
	if err == nil {
		err = r.download()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p.c.Name, err)
	}
	return nil
}
