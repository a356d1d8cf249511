// Command bench times the library's GEMM beside cuBLAS on the GPU of this machine, interleaved in one run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gocute/gocute/cuda"
	"github.com/gocute/gocute/cuda/cublas"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/out/gemm_f16"
	"github.com/gocute/gocute/out/gemm_f16_f16"
	"github.com/gocute/gocute/tests/device"
)

func main() {
	sizes := flag.String("sizes", "1024,2048,4096,8192", "cubes to time")
	rounds := flag.Int("rounds", 15, "timed batches of launches of each candidate and size")
	flag.Parse()
	if err := run(*sizes, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// candidate is one implementation of C = A*B on given buffers.
type candidate struct {
	name   string
	launch func(n int, a, b *cuda.Buffer[elem.F16], c *cuda.Buffer[elem.F32]) error
}

func run(sizes string, rounds int) error {
	dev, err := cuda.Open(0)
	if err != nil {
		return err
	}
	defer dev.Close()
	ours, err := gemm_f16.Load(dev)
	if err != nil {
		return err
	}
	large, err := gemm_f16_f16.Load(dev)
	if err != nil {
		return err
	}
	list := []candidate{{"f16 to f16", func(n int, a, b *cuda.Buffer[elem.F16], c *cuda.Buffer[elem.F32]) error {
		half := cuda.View[elem.F16](dev, c.Ptr(), n*n)
		return large.Launch(nil, &gemm_f16_f16.Args{M: n, N: n, K: n, A: a, B: b, C: half, Alpha: 1})
	}}, {"f16 to f32", func(n int, a, b *cuda.Buffer[elem.F16], c *cuda.Buffer[elem.F32]) error {
		return ours.Launch(nil, &gemm_f16.Args{M: n, N: n, K: n, A: a, B: b, C: c, Alpha: 1})
	}}}
	if blas, err := cublas.Create(dev); err != nil {
		fmt.Fprintln(os.Stderr, "bench: without cuBLAS:", err)
	} else {
		list = append(list, candidate{"cuBLAS f32 out", func(n int, a, b *cuda.Buffer[elem.F16], c *cuda.Buffer[elem.F32]) error {
			return cublas.Gemm(blas, n, n, n, 1, a, b, 0, c)
		}})
	}
	ref, err := device.NewReference(context.Background(), dev)
	if err != nil {
		return err
	}
	fmt.Printf("%s, f16 in, f32 accumulate, medians of %d batches of launches, TFLOP/s\n%-8s %-7s", dev.Info().Name, rounds, "data", "size")
	for _, c := range list {
		fmt.Printf(" %15s", c.name)
	}
	fmt.Println()
	for _, data := range []string{"zeros", "random"} {
		for _, s := range strings.Split(sizes, ",") {
			n, err := strconv.Atoi(strings.TrimSpace(s))
			if err != nil {
				return err
			}
			times, err := measure(dev, ref, list, n, rounds, data == "random")
			if err != nil {
				return err
			}
			fmt.Printf("%-8s %-7d", data, n)
			for _, t := range times {
				fmt.Printf(" %15.1f", 2*float64(n)*float64(n)*float64(n)/t.Seconds()/1e12)
			}
			fmt.Println()
		}
	}
	return nil
}

// inputs are buffers in rotation, so that one round's data is not in the cache in the next.
type inputs struct {
	a, b []*cuda.Buffer[elem.F16]
	c    []*cuda.Buffer[elem.F32]
}

func newInputs(dev *cuda.Device, ref *device.Reference, n int, random bool) (*inputs, error) {
	const cacheBytes = 256 << 20 // several times the largest L2
	in := &inputs{}
	for i := range max(2, min(32, cacheBytes/(4*n*n))) {
		a, err := cuda.Alloc[elem.F16](dev, n*n)
		if err != nil {
			return in, err
		}
		in.a = append(in.a, a)
		b, err := cuda.Alloc[elem.F16](dev, n*n)
		if err != nil {
			return in, err
		}
		in.b = append(in.b, b)
		c, err := cuda.Alloc[elem.F32](dev, n*n)
		if err != nil {
			return in, err
		}
		in.c = append(in.c, c)
		if random {
			err = errors.Join(device.FillRandom(ref, a, 2*i), device.FillRandom(ref, b, 2*i+1))
		} else {
			err = errors.Join(a.Zero(), b.Zero())
		}
		if err != nil {
			return in, err
		}
	}
	return in, nil
}

func (in *inputs) free() {
	for _, b := range slices.Concat(in.a, in.b) {
		b.Free()
	}
	for _, b := range in.c {
		b.Free()
	}
}

// measure returns each candidate's median time of one launch. The candidates take turns.
func measure(dev *cuda.Device, ref *device.Reference, list []candidate, n, rounds int, random bool) ([]time.Duration, error) {
	in, err := newInputs(dev, ref, n, random)
	defer in.free()
	if err != nil {
		return nil, err
	}
	start, err := dev.NewEvent()
	if err != nil {
		return nil, err
	}
	defer start.Close()
	stop, err := dev.NewEvent()
	if err != nil {
		return nil, err
	}
	defer stop.Close()
	batch := int(min(50, max(1, 2e12/(2*float64(n)*float64(n)*float64(n))))) // a few milliseconds
	times := make([][]time.Duration, len(list))
	for round := range rounds + 2 { // the first two warm up
		for i, c := range list {
			if err := start.Record(nil); err != nil {
				return nil, err
			}
			for r := range batch { // back to back, so that the launch is not part of the time
				s := (round*len(list) + i + r) % len(in.a)
				if err := c.launch(n, in.a[s], in.b[s], in.c[s]); err != nil {
					return nil, fmt.Errorf("%s: %w", c.name, err)
				}
			}
			if err := errors.Join(stop.Record(nil), stop.Synchronize()); err != nil {
				return nil, err
			}
			d, err := stop.Since(start)
			if err != nil {
				return nil, err
			}
			if round >= 2 {
				times[i] = append(times[i], d/time.Duration(batch))
			}
		}
	}
	medians := make([]time.Duration, len(list))
	for i, t := range times {
		slices.Sort(t)
		medians[i] = t[len(t)/2]
	}
	return medians, nil
}
