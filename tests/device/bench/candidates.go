package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/gocute/gocute/cuda"
	"github.com/gocute/gocute/cuda/cublas"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen"
	"github.com/gocute/gocute/gen/cir"
	"github.com/gocute/gocute/tests/device"
)

// prefix begins the names of our own candidates in the results.
const prefix = "gocute "

// candidate is one implementation of a product.
type candidate struct {
	name string
	product
	wgmma  bool                                       // by which its own instructions multiply
	takes  func(s size) bool                          // it is for products of this size
	bind   func(s size, x *set) (func() error, error) // makes the launch on the given memory
	clocks *clocks                                    // of a candidate that reads them, which is timed for that alone
}

// clocks are where a kernel leaves its readings, for as many blocks as were bound last.
type clocks struct {
	buffer *cuda.Buffer[elem.U64]
	of     string // the candidate whose clock it is
	blocks int
}

// mostBlocks is how many blocks a launch with clocks may have.
const mostBlocks = 1 << 17

// ghz is the clock during the last launch.
func (c *clocks) ghz() (float64, error) {
	part, err := c.buffer.Slice(0, 4*c.blocks)
	if err != nil {
		return 0, err
	}
	host, err := part.Host()
	return device.GHz(host), err
}

// products lists those of the table that the filter names, all of them where it is empty.
func products(filter string) ([]product, error) {
	var out []product
	for _, o := range ours() {
		if !slices.Contains(out, o.product) {
			out = append(out, o.product)
		}
	}
	if filter == "" {
		return out, nil
	}
	var some []product
	for want := range strings.SplitSeq(filter, ",") {
		n := len(some)
		for _, p := range out {
			if want == p.types() || want == p.String() {
				some = append(some, p)
			}
		}
		if len(some) == n {
			return nil, fmt.Errorf("expected products among %v, but got %q", out, want)
		}
	}
	return some, nil
}

// candidates compiles our kernels for the products, each also with clocks, and adds cuBLAS where it is there. With only, it
// compiles the kernel of that name and adds nothing.
func candidates(ctx context.Context, dev *cuda.Device, list []product, only string) ([]*candidate, error) {
	var irs []*cir.Kernel
	var of []entry
	for _, o := range ours() {
		if !slices.Contains(list, o.product) || only != "" && o.name != only {
			continue
		}
		k, err := gen.Lower(o.kernel())
		if err != nil {
			return nil, err
		}
		if device.Fits(dev, k) != nil {
			continue
		}
		of = append(of, o)
		irs = append(irs, k, device.Clocked(k))
	}
	programs, err := device.Compile(ctx, dev, irs...)
	if err != nil {
		return nil, err
	}
	buffer, err := cuda.Alloc[elem.U64](dev, 4*mostBlocks)
	if err != nil {
		return nil, err
	}
	var out []*candidate
	for i, o := range of {
		name := prefix + o.name
		timed := &clocks{buffer: buffer, of: name}
		for j, c := range []*candidate{{name: name, product: o.product, wgmma: o.wgmma}, {name: name + " with clocks", product: o.product, wgmma: o.wgmma, clocks: timed}} {
			l := launcher{dev: dev, program: programs[2*i+j], entry: o, clocks: c.clocks, space: map[string]*cuda.Buffer[elem.U8]{}}
			if l.resident, err = l.program.Resident(); err != nil {
				return nil, err
			}
			c.bind, c.takes = l.bind, l.takes
			out = append(out, c)
		}
	}
	if only != "" {
		return out, nil
	}
	blas, err := cublas.Create(dev)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench: without cuBLAS:", err)
		return out, nil
	}
	for _, p := range list {
		if p.out == elem.KS8 { // which cublasGemmEx does not write
			continue
		}
		out = append(out, &candidate{name: "cuBLAS", product: p, takes: func(size) bool { return true }, bind: func(s size, x *set) (func() error, error) {
			q := p.blas(s, x)
			return func() error { return blas.Multiply(q) }, nil
		}})
	}
	return out, nil
}

// launcher binds a program to memory.
type launcher struct {
	dev      *cuda.Device
	program  *device.Program
	entry    entry
	resident int // blocks on a multiprocessor
	clocks   *clocks
	space    map[string]*cuda.Buffer[elem.U8] // what the kernel needs besides the product, for one launch after the other
}

// takes reports whether the kernel is for such products, and its dims for such extents.
func (l *launcher) takes(s size) bool {
	dims := l.entry.dims(s)
	for _, p := range l.program.IR.Params {
		if p.Class == cir.Dim && int64(dims[p.Name])%max(p.Sym.Multiple, 1) != 0 {
			return false
		}
	}
	return l.entry.batched == (s.batch > 1) && l.entry.use(s)
}

// dims are those that follow from the size, with whole sums.
func (e entry) dims(s size) map[string]int {
	return map[string]int{"M": s.m, "N": s.n, "K": s.k, "L": s.batch, "strideA": s.m * s.k, "strideB": s.n * s.k, "splits": 1}
}

// bind makes a launch on a set's memory.
func (l *launcher) bind(s size, x *set) (func() error, error) {
	args := device.Arguments{Dims: l.entry.dims(s), Scalars: map[string]float64{"alpha": l.entry.alpha(s), "beta": 0},
		Tensors: map[string]cuda.DevicePtr{"A": x.a.Ptr(), "B": x.b.Ptr(), "C": x.c.Ptr()}}
	var space []*cir.Param
	for _, p := range l.program.IR.Params {
		if _, ok := args.Tensors[p.Name]; p.Class == cir.Pointer && !ok {
			args.Tensors[p.Name] = 1 // not known yet
			if p.Name != "clocks" {
				space = append(space, p)
			}
		}
	}
	grid, err := device.Grid(l.program.IR, args)
	if err != nil {
		return nil, err
	}
	if l.entry.depth > 0 {
		places := l.resident * l.dev.Info().SMs
		args.Dims["splits"] = splits(int(grid.X)*int(grid.Y)*int(grid.Z), (s.k+l.entry.depth-1)/l.entry.depth, places)
	}
	for _, p := range space {
		if args.Tensors[p.Name], err = l.workspace(p, args); err != nil {
			return nil, err
		}
	}
	if l.clocks != nil {
		args.Tensors["clocks"] = l.clocks.buffer.Ptr()
		if grid, err = device.Grid(l.program.IR, args); err != nil {
			return nil, err
		}
		if l.clocks.blocks = int(grid.X) * int(grid.Y) * int(grid.Z); l.clocks.blocks > mostBlocks {
			return nil, fmt.Errorf("%s: expected at most %d blocks to read clocks in, but got %d", l.entry.name, mostBlocks, l.clocks.blocks)
		}
	}
	return l.program.Bind(args)
}

// workspace is memory for a tensor that the kernel needs for itself, zero at first. It grows: launches that were bound
// before are then not to be used any more.
func (l *launcher) workspace(p *cir.Param, args device.Arguments) (cuda.DevicePtr, error) {
	n, err := device.Elements(p, args)
	if err != nil {
		return 0, err
	}
	n *= p.Elem.Bits() / 8
	if b := l.space[p.Name]; b != nil && b.Len() >= n {
		return b.Ptr(), nil
	} else if b != nil {
		if err := b.Free(); err != nil {
			return 0, err
		}
		delete(l.space, p.Name)
	}
	b, err := cuda.Alloc[elem.U8](l.dev, n)
	if err != nil {
		return 0, err
	}
	l.space[p.Name] = b
	return b.Ptr(), b.Zero()
}
