// Command bench times the library's GEMMs beside cuBLAS on the GPU of this machine, interleaved in one run, and draws
// what it and compare.py, which times torch and Triton, have measured:
//
//	bench [-quick] [-sizes 1024,16x4096x4096,64*512] [-types f16-f32] [-csv FILE]
//	bench -plot a.csv,b.csv [-types f16-f32] [-data random] -o FILE.svg
//	bench -once gemm_f16 [-sizes 4096]   launches it once on zeros, for a profiler
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/gocute/gocute/cuda"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen"
	"github.com/gocute/gocute/tests/device"
)

// The rounds of timed batches, of which quick takes fewer.
const (
	defaultRounds = 21
	quickRounds   = 9
)

type options struct {
	sizes, types, data string
	rounds             int
	quick              bool
	csv, plot, out     string
	once               string
}

func main() {
	var o options
	flag.StringVar(&o.sizes, "sizes", "", "products to time, MxNxK, or one number for a cube, after L* those of a batch; by default some for each product")
	flag.StringVar(&o.types, "types", "", "products such as f16-f32, by the types of the operands and of the result; all by default")
	flag.StringVar(&o.data, "data", zeros+","+random, "contents of the matrices")
	flag.IntVar(&o.rounds, "rounds", defaultRounds, "timed batches of launches of each candidate and size")
	flag.BoolVar(&o.quick, "quick", false, fmt.Sprintf("%d rounds, of every other size where none are asked for, in less than half the time", quickRounds))
	flag.StringVar(&o.csv, "csv", "", "write the results to this file, too")
	flag.StringVar(&o.plot, "plot", "", "draw the results of these files, separated by commas, and measure nothing")
	flag.StringVar(&o.out, "o", "bench.svg", "the picture to write")
	flag.StringVar(&o.once, "once", "", "launch this kernel once, at the first size, and do nothing else")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(o options) error {
	if o.plot != "" {
		rows, err := readFiles(o.plot)
		if err != nil {
			return err
		}
		return os.WriteFile(o.out, chart(o.wanted(rows)), 0o666)
	}
	if o.quick {
		o.rounds = quickRounds
	}
	for data := range strings.SplitSeq(o.data, ",") {
		if data != zeros && data != random {
			return fmt.Errorf("expected data of %s or %s, but got %q", zeros, random, data)
		}
	}
	list, err := products(o.types)
	if err != nil {
		return err
	}
	sizes, err := o.sizesOf(list)
	if err != nil {
		return err
	}
	ctx := context.Background()
	b, err := open(ctx, o.rounds)
	if err != nil {
		return err
	}
	defer b.dev.Close()
	all, err := candidates(ctx, b.dev, list, o.once)
	if err != nil {
		return err
	}
	if o.once != "" {
		return b.launchOnce(all, prefix+o.once, sizes)
	}
	for _, p := range list {
		for _, of := range []pipe{{p.in, false}, {p.in, true}} {
			if err := b.limit(ctx, of); err != nil {
				return err
			}
		}
	}
	rows, wrong := b.all(all, list, sizes, strings.Split(o.data, ","))
	if o.csv != "" {
		f, err := os.Create(o.csv)
		if err != nil {
			return err
		}
		wrong = errors.Join(wrong, writeRows(f, rows), f.Close())
	}
	return wrong
}

// sizesOf are the sizes asked for, or else those of each product, every other one if it has to be quick.
func (o *options) sizesOf(list []product) (map[product][]size, error) {
	out := map[product][]size{}
	for _, p := range list {
		text := o.sizes
		if text == "" {
			text = p.defaultSizes()
		}
		list, err := parseSizes(text)
		if err != nil {
			return nil, err
		}
		for i, s := range list {
			if o.sizes != "" || !o.quick || i%2 == 0 {
				out[p] = append(out[p], s)
			}
		}
	}
	return out, nil
}

// wanted are the rows of the types and the data asked for.
func (o *options) wanted(rows []row) []row {
	has := func(list, x string) bool { return list == "" || slices.Contains(strings.Split(list, ","), x) }
	return slices.DeleteFunc(rows, func(r row) bool {
		return !has(o.data, r.data) || !has(o.types, r.types) && !has(o.types, r.types+" "+r.layout)
	})
}

// open takes the first GPU and what is needed to measure on it.
func open(ctx context.Context, rounds int) (*bench, error) {
	dev, err := cuda.Open(0)
	if err != nil {
		return nil, err
	}
	b := &bench{dev: dev, rounds: rounds, limits: map[pipe]float64{}}
	if b.ref, err = device.NewReference(ctx, dev); err != nil {
		return nil, err
	}
	k, err := gen.Lower(holding())
	if err != nil {
		return nil, err
	}
	programs, err := device.Compile(ctx, dev, k)
	if err != nil {
		return nil, err
	}
	b.hold = programs[0]
	if b.holdBuffer, err = cuda.Alloc[elem.F32](dev, 32); err != nil {
		return nil, err
	}
	if b.start, err = dev.NewEvent(); err != nil {
		return nil, err
	}
	b.stop, err = dev.NewEvent()
	return b, err
}

func (b *bench) launchOnce(all []*candidate, name string, sizes map[product][]size) error {
	i := slices.IndexFunc(all, func(c *candidate) bool { return c.name == name })
	if i < 0 {
		return fmt.Errorf("there is no candidate %q", name)
	}
	s := sizes[all[i].product][0]
	sets, err := b.sets(all[i].product, s, zeros, 1)
	defer free(sets)
	if err != nil {
		return err
	}
	launch, err := all[i].bind(s, sets[0])
	if err != nil {
		return err
	}
	return errors.Join(launch(), b.dev.Synchronize())
}

// all checks and measures every candidate of the products, and prints the results as they come. Those that are wrong, or
// that cannot run, are left out; ours make an error.
func (b *bench) all(all []*candidate, list []product, sizes map[product][]size, data []string) (rows []row, wrong error) {
	for _, p := range list {
		for _, s := range sizes[p] {
			var good []*candidate
			for _, c := range all {
				if c.product != p || !c.takes(s) {
					continue
				}
				if err := b.right(c, s); err != nil {
					err = fmt.Errorf("%s, %s, %s: %w", c.name, p, s, err)
					fmt.Fprintln(os.Stderr, "bench:", err)
					if strings.HasPrefix(c.name, prefix) {
						wrong = errors.Join(wrong, err)
					}
					continue
				}
				good = append(good, c)
			}
			for _, d := range data {
				more, err := b.rows(good, s, d)
				if err != nil {
					return rows, errors.Join(wrong, err)
				}
				for i := range more {
					if _, err := fmt.Println(more[i].line()); err != nil {
						return rows, errors.Join(wrong, err)
					}
				}
				rows = append(rows, more...)
			}
		}
	}
	return rows, wrong
}

// limit measures a pipe, once.
func (b *bench) limit(ctx context.Context, of pipe) error {
	if _, done := b.limits[of]; done {
		return nil
	}
	n, err := b.operations(ctx, of)
	b.limits[of] = n
	if n > 0 {
		_, printed := fmt.Printf("%s: %.0f operations a cycle and multiprocessor from %s alone, %.1f TFLOP/s for each GHz\n", of.in, n, limits[of].from, n*float64(b.dev.Info().SMs)/1e3)
		err = errors.Join(err, printed)
	}
	return err
}

// rows measures candidates of one product. Those with clocks give the others of their kernel theirs.
func (b *bench) rows(good []*candidate, s size, data string) ([]row, error) {
	if len(good) == 0 {
		return nil, nil
	}
	times, err := b.measure(good, s, data)
	if err != nil {
		return nil, err
	}
	ghz := map[string]float64{}
	medians := map[string]float64{}
	for i, c := range good {
		medians[c.name] = quantile(times[i].times, 0.5)
		if c.clocks != nil {
			ghz[c.clocks.of] = quantile(times[i].ghz, 0.5)
			if plain := medians[c.clocks.of]; plain > 0 && medians[c.name] > 1.03*plain { // it comes after the other
				fmt.Fprintf(os.Stderr, "bench: %s takes %.1f %% longer with clocks\n", c.clocks.of, 100*(medians[c.name]/plain-1))
			}
		}
	}
	info := b.dev.Info()
	var out []row
	for i, c := range good {
		if c.clocks != nil {
			continue
		}
		r := summary(info.Name, data, c, s, times[i], ghz[c.name])
		if most := b.limits[pipe{c.in, c.wgmma}] * float64(info.SMs) * r.ghz / 1e3; most > 0 {
			r.share = r.tflops / most
		}
		out = append(out, r)
	}
	markBest(out)
	return out, nil
}

// markBest marks the best of our kernels among the rows of one product, size and kind of data.
func markBest(rows []row) {
	var best, blas *row
	for i := range rows {
		r := &rows[i]
		if strings.HasPrefix(r.candidate, prefix) && (best == nil || r.tflops > best.tflops) {
			best = r
		}
		if r.candidate == "cuBLAS" {
			blas = r
		}
	}
	if best == nil {
		return
	}
	best.mark = "  best of ours"
	if blas != nil {
		best.mark += fmt.Sprintf(", %.0f %% of cuBLAS", 100*best.tflops/blas.tflops)
	}
}

// line is a row for people to read.
func (r *row) line() string {
	text := fmt.Sprintf("%-7s %-9s %s %-15s %-45s %9.1f us (%.1f to %.1f) %7.1f TFLOP/s", r.data, r.types, r.layout, r.size, r.candidate, r.median, r.p10, r.p90, r.tflops)
	if r.ghz > 0 {
		text += fmt.Sprintf("  %.3f GHz", r.ghz)
	}
	if r.share > 0 {
		text += fmt.Sprintf("  %.1f %% of the pipe", 100*r.share)
	}
	return text + r.mark
}
