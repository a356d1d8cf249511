package device

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/build"
	"github.com/gocute/gocute/check"
	"github.com/gocute/gocute/cuda"
	"github.com/gocute/gocute/cuda/launch"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
	gencuda "github.com/gocute/gocute/gen/cuda"
)

// Program is a kernel that this machine's nvcc compiled for a device.
type Program struct {
	IR   *cir.Kernel
	dev  *cuda.Device
	fn   *cuda.Function
	info cuda.Info
}

// Compile compiles kernels for a device, several at a time, and loads them.
func Compile(ctx context.Context, dev *cuda.Device, kernels ...*cir.Kernel) ([]*Program, error) {
	tools, err := build.Find(ctx, build.Options{NoInstall: true})
	if err != nil {
		return nil, err
	}
	cubins, errs := make([][]byte, len(kernels)), make([]error, len(kernels))
	slots := make(chan bool, max(1, runtime.NumCPU()/2))
	var wait sync.WaitGroup
	for i, k := range kernels {
		wait.Go(func() {
			slots <- true
			defer func() { <-slots }()
			if errs[i] = needs(k).Fits(dev.Info()); errs[i] == nil {
				cubins[i], errs[i] = cubin(ctx, tools, k, build.ArchFor(dev.Info().Arch(), k.Exactly))
			}
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	out := make([]*Program, len(kernels))
	for i, k := range kernels {
		mod, err := dev.LoadData(cubins[i])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.Name, err)
		}
		fn, err := mod.Function(k.Name)
		if err != nil {
			return nil, err
		}
		out[i] = &Program{IR: k, dev: dev, fn: fn, info: dev.Info()}
	}
	return out, nil
}

// Fits says why the device cannot run a kernel, or nil.
func Fits(dev *cuda.Device, k *cir.Kernel) error { return needs(k).Fits(dev.Info()) }

// needs is what a kernel asks of a device.
func needs(k *cir.Kernel) launch.Bundle {
	return launch.Bundle{Name: k.Name, Arch: k.Arch, Exactly: k.Exactly, Threads: k.Threads, SharedBytes: k.SmemBytes}
}

func cubin(ctx context.Context, tools *build.Toolchain, k *cir.Kernel, arch string) ([]byte, error) {
	code, err := gencuda.Print(k, gencuda.Options{})
	if err != nil {
		return nil, err
	}
	res, err := tools.Compile(ctx, build.Source{Name: k.Name, Code: code, Archs: []string{arch}, PTXArchs: []string{}})
	if err != nil {
		return nil, err
	}
	bin, ok := res.Binary(arch)
	if !ok {
		return nil, fmt.Errorf("%s: no binary for %s", k.Name, arch)
	}
	return bin.Cubin, nil
}

// Close unloads the program.
func (p *Program) Close() error { return p.fn.Module().Unload() }

// Resident is how many blocks a multiprocessor holds at once, by their threads, registers and shared memory.
func (p *Program) Resident() (int, error) {
	attr, err := p.fn.Attributes()
	if err != nil {
		return 0, err
	}
	const (
		ownShared = 1 << 10 // bytes of a block that the driver takes for itself
		unit      = 8       // registers of a thread come in eights
	)
	registers := (max(attr.Registers, 1) + unit - 1) / unit * unit * p.IR.Threads
	return min(p.info.MaxThreadsSM/p.IR.Threads, p.info.RegistersSM/registers, p.info.SharedSM/(p.IR.SmemBytes+attr.StaticShared+ownShared)), nil
}

// Arguments are those of a launch, by the names of the kernel's parameters.
type Arguments struct {
	Dims    map[string]int
	Scalars map[string]float64
	Tensors map[string]cuda.DevicePtr
}

func (a Arguments) value(s *sym.Symbol) (int64, bool) {
	v, ok := a.Dims[s.Name]
	return int64(v), ok
}

// Elements is how many elements the memory of a tensor has.
func Elements(p *cir.Param, a Arguments) (int, error) {
	n, err := p.Mem.Count.Eval(a.value)
	return int(n), err
}

// Grid checks arguments as the kernel's launcher would and returns the blocks of a launch.
func Grid(k *cir.Kernel, a Arguments) (launch.Grid, error) {
	var none launch.Grid
	for _, p := range k.Params {
		ok := true
		switch p.Class {
		case cir.Dim:
			var v int
			if v, ok = a.Dims[p.Name]; ok {
				if err := launch.CheckDim(k.Name, p.Name, int64(v), p.Sym.Lo, p.Sym.Hi, max(p.Sym.Multiple, 1)); err != nil {
					return none, err
				}
			}
		case cir.Scalar:
			_, ok = a.Scalars[p.Name]
		case cir.Pointer:
			_, ok = a.Tensors[p.Name]
		}
		if !ok {
			return none, fmt.Errorf("%s: expected an argument %s, but got %v", k.Name, p.Name,
				slices.Concat(slices.Sorted(maps.Keys(a.Dims)), slices.Sorted(maps.Keys(a.Scalars)), slices.Sorted(maps.Keys(a.Tensors))))
		}
	}
	for _, r := range k.Requires {
		if ok, err := cir.Holds(r.Cond, a.value); err != nil || !ok {
			return none, errors.Join(fmt.Errorf("%s: %s", k.Name, r.Message), err)
		}
	}
	var xyz [3]int64
	for i, e := range k.Grid {
		if e.Is(0) { // an extent that nobody set
			e = sym.Int(1)
		}
		var err error
		if xyz[i], err = e.Eval(a.value); err != nil {
			return none, fmt.Errorf("%s: grid: %w", k.Name, err)
		}
	}
	return launch.NewGrid(k.Name, xyz[0], xyz[1], xyz[2])
}

// Bind makes a launch on the default stream of the arguments, as the kernel's launcher would, which can be done again and
// again.
func (p *Program) Bind(a Arguments) (func() error, error) {
	grid, err := Grid(p.IR, a)
	if err != nil {
		return nil, err
	}
	args := cuda.NewArgs()
	for _, q := range p.IR.Params {
		switch q.Class {
		case cir.Pointer:
			args.Ptr(a.Tensors[q.Name])
		case cir.Dim:
			args.I32(int32(a.Dims[q.Name]))
		case cir.Scalar:
			if bits := elem.Encode(q.Elem, a.Scalars[q.Name]); q.Elem.Bits() == 64 {
				args.U64(bits)
			} else if q.Elem.Bits() == 32 {
				args.U32(uint32(bits))
			} else {
				args.U16(uint16(bits))
			}
		}
	}
	specs, err := check.TensorMaps(p.IR, a.value)
	if err != nil {
		return nil, err
	}
	for i, m := range p.IR.Maps {
		specs[i].Addr = a.Tensors[m.Of.Name]
		tm, err := p.dev.EncodeTensorMap(&specs[i])
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", p.IR.Name, m.Of.Name, err)
		}
		args.TensorMap(&tm)
	}
	cfg := cuda.LaunchConfig{Grid: cuda.Dim3(grid), Block: cuda.D1(p.IR.Threads), Shared: p.IR.SmemBytes, Overlap: p.IR.Overlaps()}
	if grid.Empty() {
		return func() error { return nil }, nil
	}
	return func() error { return p.fn.Launch(cfg, args) }, nil
}
