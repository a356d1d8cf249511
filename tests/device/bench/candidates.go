package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/gocute/gocute/cuda"
	"github.com/gocute/gocute/cuda/cublas"
	"github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen"
	"github.com/gocute/gocute/gen/cir"
	"github.com/gocute/gocute/kernels"
	"github.com/gocute/gocute/tests/device"
)

// ours are the kernels to time, a line each. Their parameters are M, N, K, A, B, C, alpha and beta.
var ours = []struct {
	product
	kernel func() *dsl.Kernel
}{
	{product{elem.KF16, elem.KF32, "TN"}, kernels.GEMMF16},
	{product{elem.KF16, elem.KF16, "TN"}, kernels.GEMMF16Out},
	{product{elem.KBF16, elem.KF32, "TN"}, kernels.GEMMBF16},
}

// prefix begins the names of our own candidates in the results.
const prefix = "gocute "

// candidate is one implementation of a product.
type candidate struct {
	name string
	product
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
	for _, o := range ours {
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

// candidates compiles our kernels for the products, each also with clocks, and adds cuBLAS where it is there.
func candidates(ctx context.Context, dev *cuda.Device, list []product) ([]*candidate, error) {
	var irs []*cir.Kernel
	var of []product
	for _, o := range ours {
		if !slices.Contains(list, o.product) {
			continue
		}
		of = append(of, o.product)
		k, err := gen.Lower(o.kernel())
		if err != nil {
			return nil, err
		}
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
	for i, p := range of {
		name := prefix + programs[2*i].IR.Name
		timed := &clocks{buffer: buffer, of: name}
		out = append(out, &candidate{name: name, product: p, bind: binder(programs[2*i], nil)},
			&candidate{name: name + " with clocks", product: p, bind: binder(programs[2*i+1], timed), clocks: timed})
	}
	blas, err := cublas.Create(dev)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench: without cuBLAS:", err)
		return out, nil
	}
	for _, p := range list {
		out = append(out, &candidate{name: "cuBLAS", product: p, bind: func(s size, x *set) (func() error, error) {
			q := p.blas(s, x)
			return func() error { return blas.Multiply(q) }, nil
		}})
	}
	return out, nil
}

// binder launches a program on a set's memory.
func binder(p *device.Program, c *clocks) func(s size, x *set) (func() error, error) {
	return func(s size, x *set) (func() error, error) {
		args := device.Arguments{Dims: map[string]int{"M": s.m, "N": s.n, "K": s.k}, Scalars: map[string]float64{"alpha": 1, "beta": 0},
			Tensors: map[string]cuda.DevicePtr{"A": x.a.Ptr(), "B": x.b.Ptr(), "C": x.c.Ptr()}}
		if c != nil {
			args.Tensors["clocks"] = c.buffer.Ptr()
			grid, err := device.Grid(p.IR, args)
			if err != nil {
				return nil, err
			}
			if c.blocks = int(grid.X) * int(grid.Y) * int(grid.Z); c.blocks > mostBlocks {
				return nil, fmt.Errorf("%s: expected at most %d blocks to read clocks in, but got %d", p.IR.Name, mostBlocks, c.blocks)
			}
		}
		return p.Bind(args)
	}
}
