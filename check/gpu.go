package check

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/gocute/gocute/build"
	"github.com/gocute/gocute/cuda"
	"github.com/gocute/gocute/cuda/launch"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
	gencuda "github.com/gocute/gocute/gen/cuda"
)

// guardBytes lie before and behind every buffer on the GPU; a multiple of every alignment that kernels ask for.
const guardBytes = 4096

const guardByte = 0xa5

// The measurement: runs are timed one by one until either limit is met.
const (
	warmups    = 2
	timedRuns  = 11
	timeBudget = time.Second
)

// onGPU compiles the kernel for the device, runs it once on the data and some more times for its speed.
func (p *plan) onGPU(ctx context.Context, dev *cuda.Device, opt Options, res *Result) (err error) {
	res.Where = dev.String()
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
	res.Image = mod.Image().String()
	fn, err := mod.Function(p.c.Name)
	if err != nil {
		return fmt.Errorf("%s: %w", p.c.Name, err)
	}
	r := &gpuRun{plan: p, dev: dev, fn: fn}
	defer closing(&err, r.free)
	if err := r.upload(); err != nil {
		return fmt.Errorf("%s: %w", p.c.Name, err)
	}
	if err := errors.Join(r.launch(), dev.Synchronize()); err != nil {
		return fmt.Errorf("%s: %w", p.c.Name, err)
	}
	if err := r.download(); err != nil {
		return fmt.Errorf("%s: %w", p.c.Name, err)
	}
	res.Time, res.Runs, err = r.measure(ctx)
	return err
}

// needsOf is what a kernel asks of a device.
func needsOf(c *cir.Kernel) launch.Bundle {
	return launch.Bundle{Name: c.Name, Arch: c.Arch, Exactly: c.Exactly, Threads: c.Threads, SharedBytes: c.SmemBytes}
}

// closing reports a failure to release something, unless a failure that is likely its cause came before.
func closing(err *error, f func() error) {
	if e := f(); *err == nil {
		*err = e
	}
}

// images compiles the kernel: a cubin for the device where nvcc can make one, and PTX.
func (p *plan) images(ctx context.Context, dev *cuda.Device, opt Options) ([]cuda.Image, error) {
	code, err := gencuda.Print(p.c, gencuda.Options{})
	if err != nil {
		return nil, err
	}
	tc, err := build.Find(ctx, build.Options{Progress: opt.Progress, NoInstall: opt.NoInstall})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.c.Name, err)
	}
	if opt.Progress != nil {
		build.Announce(opt.Progress, tc)
	}
	arch := build.ArchFor(dev.Info().Arch(), p.c.Exactly)
	src := build.Source{Name: p.c.Name, Code: code, Archs: []string{arch}, PTXArchs: []string{}}
	if opt.ForcePTX || os.Getenv(launch.EnvForcePTX) == "1" || !tc.Supports(arch) {
		_, ptx := build.ArchsOf(p.c.Arch, p.c.Exactly)
		src.Archs, src.PTXArchs = []string{}, []string{ptx}
	}
	out, err := tc.Compile(ctx, src)
	if err != nil {
		return nil, err
	}
	if b, ok := out.Binary(arch); ok {
		return []cuda.Image{{Arch: arch, Data: b.Cubin}}, nil
	}
	var images []cuda.Image
	for _, x := range out.PTX {
		images = append(images, cuda.Image{Arch: x.Arch, Data: x.Code, PTX: true})
	}
	return images, nil
}

// gpuRun is a kernel with its arguments on a device.
type gpuRun struct {
	plan *plan
	dev  *cuda.Device
	fn   *cuda.Function
	bufs []*cuda.Buffer[elem.U8] // by tensor, guards included
	maps launch.Maps
}

func (r *gpuRun) free() error {
	var err error
	for _, b := range r.bufs {
		err = errors.Join(err, b.Free())
	}
	return err
}

// upload copies the tensors, each between two guards.
func (r *gpuRun) upload() error {
	for _, t := range r.plan.tensors {
		host := make([]elem.U8, len(t.before)+2*guardBytes)
		for i := range guardBytes {
			host[i], host[len(host)-1-i] = guardByte, guardByte
		}
		for i, b := range t.before {
			host[guardBytes+i] = elem.U8(b)
		}
		b, err := cuda.FromHost(r.dev, host)
		if err != nil {
			return fmt.Errorf("%s: %w", t.p.Name, err)
		}
		r.bufs = append(r.bufs, b)
	}
	return nil
}

// download fetches the tensors and looks at their guards.
func (r *gpuRun) download() error {
	for n, t := range r.plan.tensors {
		host, err := r.bufs[n].Host()
		if err != nil {
			return fmt.Errorf("%s: %w", t.p.Name, err)
		}
		for i := range guardBytes {
			for _, g := range []elem.U8{host[i], host[len(host)-1-i]} {
				if g != guardByte {
					t.guards++
				}
			}
		}
		t.after = make([]byte, len(t.before))
		for i := range t.after {
			t.after[i] = byte(host[guardBytes+i])
		}
	}
	return nil
}

// launch packs the arguments in the order of the parameters and starts the kernel.
func (r *gpuRun) launch() error {
	args := r.fn.Args()
	defer args.Release()
	tensor := 0
	for _, q := range r.plan.c.Params {
		switch q.Class {
		case cir.Pointer:
			args.Ptr(r.bufs[tensor].Ptr() + guardBytes)
			tensor++
		case cir.Dim:
			args.I32(int32(r.plan.dims[q.Sym.Name]))
		default:
			bits := elem.Encode(q.Elem, r.plan.scalars[q.Name])
			put, ok := putBits[q.Elem.Bits()]
			if !ok {
				return fmt.Errorf("%s: a scalar of %s cannot be passed", q.Name, q.Elem)
			}
			put(args, bits)
		}
	}
	if err := r.tensorMaps(args); err != nil {
		return err
	}
	return r.fn.Launch(cuda.LaunchConfig{Grid: cuda.Dim3(r.plan.grid),
		Block: cuda.D1(r.plan.c.Threads), Shared: r.plan.c.SmemBytes}, args)
}

// tensorMaps appends the arguments after the parameters.
func (r *gpuRun) tensorMaps(args *cuda.Args) error {
	specs, err := TensorMaps(r.plan.c, r.plan.value)
	if err != nil {
		return err
	}
	for i, m := range r.plan.c.Maps {
		t := slices.IndexFunc(r.plan.tensors, func(t *tensor) bool { return t.p == m.Of })
		specs[i].Addr = r.bufs[t].Ptr() + guardBytes
		if err := r.maps.Append(args, r.dev, &specs[i]); err != nil {
			return fmt.Errorf("%s: %w", m.Of.Name, err)
		}
	}
	return nil
}

// putBits appends a scalar by its width.
var putBits = map[int]func(a *cuda.Args, bits uint64){
	8:  func(a *cuda.Args, bits uint64) { a.U8(uint8(bits)) },
	16: func(a *cuda.Args, bits uint64) { a.U16(uint16(bits)) },
	32: func(a *cuda.Args, bits uint64) { a.U32(uint32(bits)) },
	64: func(a *cuda.Args, bits uint64) { a.U64(bits) },
}

// measure is the median time of several runs, by the GPU's own clock.
func (r *gpuRun) measure(ctx context.Context) (median time.Duration, runs int, err error) {
	start, err := r.dev.NewEvent()
	if err != nil {
		return 0, 0, err
	}
	defer closing(&err, start.Close)
	stop, err := r.dev.NewEvent()
	if err != nil {
		return 0, 0, err
	}
	defer closing(&err, stop.Close)
	var times []time.Duration
	for began := time.Now(); len(times) < warmups+timedRuns; {
		if ctx.Err() != nil {
			return 0, 0, context.Cause(ctx)
		}
		if len(times) > warmups && time.Since(began) > timeBudget {
			break
		}
		if err := errors.Join(start.Record(nil), r.launch(), stop.Record(nil), stop.Synchronize()); err != nil {
			return 0, 0, err
		}
		d, err := stop.Since(start)
		if err != nil {
			return 0, 0, err
		}
		times = append(times, d)
	}
	times = times[warmups:]
	slices.Sort(times)
	return times[len(times)/2], len(times), nil
}
