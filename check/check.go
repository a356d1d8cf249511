// Package check runs a kernel, in the emulator or on a GPU, and compares what it wrote with the references that
// its author gave with dsl.Expect, computed in float64. It is for tests of kernels, in any module:
//
//	func TestGEMM(t *testing.T) {
//		check.Kernel(t, kernels.GEMMF16(), check.Args{Dims: map[string]int64{"M": 200, "N": 136, "K": 64}}, check.Options{})
//	}
//
// Inputs are made from a seed, the same on every machine. Outputs that the kernel only writes start as a pattern
// that no kernel computes, and so do the gaps of layouts: elements that nobody wrote and writes beside the tensor
// are found. On a GPU, guards before and behind every buffer are checked as well.
package check

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gocute/gocute/cuda"
	"github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/gen"
)

// Args are the arguments of one run. What is missing gets a default, which the Result tells.
type Args struct {
	Dims    map[string]int64
	Scalars map[string]float64 // rounded to the parameter's kind
	Seed    int64              // of the generated inputs
	// Tensors gives the contents of inputs by offset, rounded to the parameter's kind; the others are generated.
	Tensors map[string][]float64
}

// Where says what runs a kernel.
type Where uint8

// The places to run at.
const (
	Auto Where = iota // the GPU if there is one, else the emulator
	GPU
	CPU // the emulator
)

var whereNames = [...]string{Auto: "auto", GPU: "gpu", CPU: "cpu"}

func (w Where) String() string { return whereNames[w] }

// ParseWhere is the inverse of Where.String.
func ParseWhere(name string) (Where, error) {
	for w, n := range whereNames {
		if n == name {
			return Where(w), nil
		}
	}
	return Auto, fmt.Errorf("expected auto, gpu or cpu, but got %q", name)
}

// Options of a run. The zero value takes the GPU if there is one, else the emulator with its warps in order.
type Options struct {
	On       Where
	Device   int      // ordinal of the GPU
	ForcePTX bool     // on a GPU, let the driver compile PTX even where a cubin could be made
	EmuSeeds []uint64 // schedules of the emulator, which have to agree; nil is the one with the warps in order
	// Progress takes lines about which nvcc is used, about an installation, and about runs that take long; nil is standard
	// error, without the first.
	Progress  io.Writer
	NoInstall bool // never download nvcc
}

// Run runs the kernel once, or once for each schedule of the emulator, and compares.
//
// An error is returned where it could not be run: mistakes in the kernel or in the arguments, no GPU, no compiler.
// A kernel that ran and is wrong gives a Result whose Err is not nil.
func Run(ctx context.Context, k *dsl.Kernel, args Args, opt Options) (*Result, error) {
	if k == nil {
		return nil, errors.New("check: expected a kernel, but got nil")
	}
	c, err := gen.Lower(k)
	if err != nil {
		return nil, err
	}
	dev, note, err := open(opt)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	}
	if dev != nil {
		defer dev.Close()
	}
	use := inEmulator
	if dev != nil {
		use = onDevice
	}
	p, err := newPlan(c, args, use)
	if err != nil {
		return nil, err
	}
	res := &Result{Kernel: c.Name, Dims: p.dims, Scalars: p.scalars, Defaults: p.defaults, Seed: args.Seed, Note: note, params: c.Params, expects: len(k.Expectations())}
	if p.grid.Empty() {
		res.Where, res.Empty = "nowhere", true
		return res, nil
	}
	if dev != nil {
		err = p.onGPU(ctx, dev, opt, res)
	} else {
		res.work = p.work() * float64(max(len(opt.EmuSeeds), 1))
		stop := watch(opt.progress(), c.Name, res.work, stillRunning)
		defer stop()
		err = p.onCPU(ctx, opt, res)
	}
	if err != nil {
		return nil, err
	}
	if err := p.compare(ctx, k.Expectations(), res); err != nil {
		return nil, named(c.Name, err)
	}
	return res, nil
}

// open returns the GPU to run on, nil for the emulator, and why it is not a GPU where one was wished for.
func open(opt Options) (*cuda.Device, string, error) {
	if opt.On == CPU {
		return nil, "", nil
	}
	dev, err := cuda.Open(opt.Device)
	if err == nil || opt.On == GPU {
		return dev, "", err
	}
	for _, known := range []error{cuda.ErrNoDriver, cuda.ErrNoDevice} {
		if errors.Is(err, known) {
			return nil, known.Error(), nil
		}
	}
	return nil, err.Error(), nil
}

// TB is the part of testing.TB that Kernel needs.
type TB interface {
	Helper()
	Context() context.Context
	Logf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Kernel is Run for tests: what is wrong fails the test.
func Kernel(t TB, k *dsl.Kernel, args Args, opt Options) *Result {
	t.Helper()
	res, err := Run(t.Context(), k, args, opt)
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	if res.Err() != nil {
		t.Fatalf("\n%s", res)
		return res
	}
	t.Logf("\n%s", res)
	return res
}
