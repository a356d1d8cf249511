package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gocute/gocute/cuda"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/tests/device"
)

// The data of a measurement.
const (
	zeros  = "zeros"
	random = "random"
)

// bench is a device with what measures on it.
type bench struct {
	dev         *cuda.Device
	ref         *device.Reference
	hold        *device.Program
	holdBuffer  *cuda.Buffer[elem.F32]
	start, stop *cuda.Event
	rounds      int
	limits      map[pipe]float64 // operations a cycle of one multiprocessor
}

const (
	warmups     = 2 // rounds that do not count
	clocksEvery = 3 // rounds of which one times the kernels with clocks, too
)

// sets makes memory for a product so many times that what one launch leaves in the cache is gone when its set comes
// again: several times the L2 in all.
func (b *bench) sets(p product, s size, data string, most int) (list []*set, err error) {
	sizes := p.bytes(s)
	l2 := max(b.dev.Info().L2Bytes, 50<<20)
	n := max(2, min(64, 5*l2/(sizes[0]+sizes[1]+sizes[2])))
	for i := range min(n, most) {
		x := &set{}
		list = append(list, x)
		for j, to := range []**cuda.Buffer[elem.U8]{&x.a, &x.b, &x.c} {
			if *to, err = cuda.Alloc[elem.U8](b.dev, sizes[j]); err != nil {
				return list, err
			}
			switch {
			case j == 2:
				err = (*to).Set(0xff) // NaN, where nobody writes
			case data == zeros:
				err = (*to).Zero()
			default:
				err = b.ref.Fill(p.in, (*to).Ptr(), sizes[j]/(p.in.Bits()/8), 2*i+j)
			}
			if err != nil {
				return list, err
			}
		}
	}
	return list, nil
}

func free(list []*set) {
	for _, x := range list {
		for _, b := range []*cuda.Buffer[elem.U8]{x.a, x.b, x.c} {
			if b != nil {
				b.Free()
			}
		}
	}
}

// right runs a candidate once on random data and compares elements of the result with the reference in float64.
func (b *bench) right(c *candidate, s size) error {
	list, err := b.sets(c.product, s, random, 1)
	defer free(list)
	if err != nil {
		return err
	}
	launch, err := c.bind(s, list[0])
	if err == nil {
		err = launch()
	}
	if err != nil {
		return err
	}
	sample, err := b.ref.Sample(c.gemm(s, list[0]), 1<<14, 1)
	if err != nil {
		return err
	}
	far, err := device.Distance(sample, c.alpha(s))
	if err == nil && !(far <= c.tolerance()) {
		err = fmt.Errorf("expected results within %.2g of the reference, but they are %.2g away", c.tolerance(), far)
	}
	return err
}

// timing is what was measured of a candidate: times of one launch, one of each round, and the clock, if it reads it.
type timing struct {
	times []time.Duration
	ghz   []float64
}

// measure times the candidates, which take turns, each with a batch of launches.
func (b *bench) measure(list []*candidate, s size, data string) ([]timing, error) {
	sets, err := b.sets(list[0].product, s, data, 1<<30)
	defer free(sets)
	if err != nil {
		return nil, err
	}
	launches := make([][]func() error, len(list))
	for i, c := range list {
		for _, x := range sets {
			launch, err := c.bind(s, x)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
			launches[i] = append(launches[i], launch)
		}
	}
	n, wait := batch(list[0].product, s)
	out := make([]timing, len(list))
	next := 0
	for round := range warmups + b.rounds {
		for i, c := range list {
			if c.clocks != nil && round%clocksEvery != 0 {
				continue
			}
			d, err := b.once(launches[i], next, n, wait)
			if err != nil {
				return nil, fmt.Errorf("%s at %s: %w", c.name, s, err)
			}
			next += n
			if round < warmups {
				continue
			}
			out[i].times = append(out[i].times, d/time.Duration(n))
			if c.clocks == nil {
				continue
			}
			ghz, err := c.clocks.ghz()
			if err != nil {
				return nil, err
			}
			out[i].ghz = append(out[i].ghz, ghz)
		}
	}
	return out, nil
}

// batch is how many launches make a few milliseconds, and how long the GPU has to be held for all of them to be queued
// before the first one starts: nothing where they take longer than their queueing.
func batch(p product, s size) (launches int, wait time.Duration) {
	bytes := p.bytes(s)
	seconds := max(s.flops()/5e14, float64(bytes[0]+bytes[1]+bytes[2])/3e12) + 3e-6
	launches = int(min(50, max(1, 4e-3/seconds)))
	if seconds < 60e-6 {
		wait = time.Duration(launches) * 15 * time.Microsecond
	}
	return launches, wait
}

// once times n launches back to back, from the first-th set on.
func (b *bench) once(launches []func() error, first, n int, wait time.Duration) (time.Duration, error) {
	if wait > 0 {
		if err := b.holdFor(wait); err != nil {
			return 0, err
		}
	}
	if err := b.start.Record(nil); err != nil {
		return 0, err
	}
	for i := range n {
		if err := launches[(first+i)%len(launches)](); err != nil {
			return 0, err
		}
	}
	if err := errors.Join(b.stop.Record(nil), b.stop.Synchronize()); err != nil {
		return 0, err
	}
	return b.stop.Since(b.start)
}

// holding is a kernel that keeps the GPU's queue waiting by a chain of additions.
func holding() *Kernel {
	return Define("hold", func(k *K) {
		rounds := k.Dim("rounds")
		x := InOut[elem.F32](k, "X", Shape(32))
		k.Threads(32)
		mine := x.Tile(Tile(1), k.Thread)
		sum := FragmentLike(mine)
		Map(mine, sum, func(v Val[elem.F32]) Val[elem.F32] { return v })
		k.Loop(0, rounds, func(Expr) { Map(sum, sum, func(v Val[elem.F32]) Val[elem.F32] { return v.Add(Lit[elem.F32](1)) }) })
		Map(sum, mine, func(v Val[elem.F32]) Val[elem.F32] { return v })
	})
}

// holdFor queues the kernel for at least the time.
func (b *bench) holdFor(d time.Duration) error {
	const nanoseconds = 2 // of one addition, which takes 4 cycles, at 2 GHz
	launch, err := b.hold.Bind(device.Arguments{Dims: map[string]int{"rounds": int(d.Nanoseconds() / nanoseconds)},
		Tensors: map[string]cuda.DevicePtr{"X": b.holdBuffer.Ptr()}})
	if err != nil {
		return err
	}
	return launch()
}

// quantile is the q-th quantile of the values, between the nearest two of them in order.
func quantile[T ~float64 | ~int64](values []T, q float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	at := q * float64(len(sorted)-1)
	i := min(int(at), len(sorted)-1)
	j := min(i+1, len(sorted)-1)
	return float64(sorted[i]) + (at-float64(i))*float64(sorted[j]-sorted[i])
}
