package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gocute/gocute/cmd/gocute/report"
	"github.com/gocute/gocute/cmd/gocute/runner"
	"github.com/gocute/gocute/cuda"
	"github.com/gocute/gocute/cuda/tuned"
	"github.com/gocute/gocute/internal/text"
	"github.com/gocute/gocute/tune"
)

// tuneCmd is gocute tune.
type tuneCmd struct {
	Family   string   `arg:"" optional:"" name:"FAMILY" help:"Name of a family (gemm) or of its function (GEMMFamily)."`
	Packages []string `arg:"" optional:"" name:"PKG" help:"The package with the family; the folder here if there is none."`
	Set      settings `placeholder:"M=512,N=512" help:"Dims and scalars; without dims, those of the family are tuned for."`
	Shapes   []string `name:"shape" sep:"none" placeholder:"M=512,N=512" help:"Dims to tune for; may be given several times."`
	Table    filePath `short:"o" placeholder:"FILE" help:"The table that results go to, and that an interrupted run goes on with; FAMILY.tune.json if not given."`
	Compiler string   `default:"nvcc" enum:"nvcc,nvrtc" placeholder:"NAME" help:"nvcc, which gocute build compiles with, or nvrtc."`
	Rounds   int      `default:"15" help:"Timed batches of launches of each candidate." placeholder:"N"`
	Zeros    bool     `help:"Measure on zeros instead of random numbers: the clock holds still, and only the schedule counts."`
	Again    bool     `help:"Measure anew what the table has already."`
	Seed     int64    `help:"Of the inputs, which are random." placeholder:"N"`
	Arch     string   `placeholder:"sm_90" help:"What to prune and compile for, in place of the GPU here."`
	DryRun   bool     `xor:"half" help:"Measure nothing: list the candidates and why some are left out."`
	Compile  bool     `help:"With --dry-run: compile them too, which tells registers and spills."`
	Bundle   filePath `xor:"half" placeholder:"DIR" help:"Measure nothing: write what is to be measured to a folder, for a machine with a GPU."`
	RunDir   filePath `name:"run" xor:"half" placeholder:"DIR" help:"Measure a folder that --bundle wrote; neither Go nor a compiler is needed."`
	jsonFlag
	installFlag
}

// Help is shown by --help.
func (tuneCmd) Help() string {
	return `A family is an exported function without parameters that returns *dsl.Family. Candidates that cannot be good are left
out, with the reason; the others are compiled, checked against their references and measured in turns. The table is
written after every round; the same command goes on where it was interrupted. Programs choose by it with cuda/tuned.

Examples:

  gocute tune gemm ./kernels -set M=4096,N=4096,K=4096
  gocute tune gemm ./kernels --dry-run --arch sm_90

On a machine without a GPU, and then on one with it:

  gocute tune gemm ./kernels --arch sm_90 --bundle gemm.bundle
  gocute tune --run gemm.bundle`
}

// Run prepares and measures, or does one half of it.
func (c *tuneCmd) Run(s *session) error {
	if c.Rounds < 1 {
		return exitError{fmt.Errorf("gocute: --rounds: expected at least 1, but got %d", c.Rounds), 2}
	}
	if err := c.ignored(); err != nil {
		return err
	}
	if c.RunDir != "" {
		if c.Family != "" || c.Arch != "" || len(c.Set)+len(c.Shapes) > 0 {
			return exitError{errors.New("gocute: --run measures a folder as it is: leave out FAMILY, --set, --shape and --arch"), 2}
		}
		b, err := tune.ReadBundle(absolute(s.dir, string(c.RunDir)))
		if err != nil {
			return err
		}
		dev, err := openGPU()
		if err != nil {
			return err
		}
		defer dev.Close()
		return c.measure(s, dev, b)
	}
	if c.Family == "" {
		return exitError{errors.New("gocute: expected \"FAMILY [PKG ...]\", or --run DIR\nRun gocute --help, or gocute COMMAND --help, for usage"), 2}
	}
	chip, dev, err := c.chip(s)
	if err != nil {
		return cmp.Or(c.known(s), err) // of two reasons, the one that a GPU would not help with
	}
	if dev != nil {
		defer dev.Close()
	}
	b, err := c.prepare(s, chip)
	if err != nil {
		return err
	}
	if !c.DryRun && c.Bundle == "" {
		return c.measure(s, dev, b)
	}
	out := object[report.Tune](s)
	prepared(out, b, s.shorten)
	candidateTable(s, b)
	if c.Bundle == "" {
		return nil
	}
	files, err := b.Files()
	if err == nil {
		err = tune.WriteFiles(absolute(s.dir, string(c.Bundle)), files)
	}
	if err == nil {
		out.Bundle = s.relative(absolute(s.dir, string(c.Bundle)))
	}
	return err
}

// openGPU opens the GPU, or says what can be done without one.
func openGPU() (*cuda.Device, error) {
	dev, err := cuda.Open(0)
	if err != nil {
		return nil, fmt.Errorf("gocute tune measures on a GPU: %w\nwithout one, --dry-run lists the candidates and --bundle DIR compiles them for a machine that has one", err)
	}
	return dev, nil
}

// chip is what to prune for: what was asked for, the GPU here, or an H200 where nothing is to be measured.
func (c *tuneCmd) chip(s *session) (tune.Chip, *cuda.Device, error) {
	measures := !c.DryRun && c.Bundle == ""
	if c.Arch != "" {
		chip, err := tune.ChipOf(c.Arch)
		if err != nil {
			return chip, nil, fmt.Errorf("--arch: %w", err)
		}
		if !measures {
			return chip, nil, nil
		}
	}
	dev, err := openGPU()
	switch {
	case err == nil:
		return tune.ChipFrom(dev.Info()), dev, nil
	case measures:
		return tune.Chip{}, nil, err
	}
	chip, err := tune.ChipOf("sm_90")
	fmt.Fprintf(s.stderr, "gocute: no GPU here: for %s (%s); --arch names another\n", chip.Name, chip.Arch)
	return chip, nil, err
}

// prepare has the family pruned and compiled in a program that imports its package.
func (c *tuneCmd) prepare(s *session, chip tune.Chip) (*tune.Bundle, error) {
	req := runner.Request{Action: "tune", Family: c.Family, Set: c.Set, Seed: c.Seed, Chip: chip, NoInstall: c.NoInstall}
	if !c.DryRun || c.Compile {
		req.Compiler = c.Compiler
	}
	for _, text := range c.Shapes {
		shape := settings{}
		if err := shape.add(text); err != nil {
			return nil, exitError{fmt.Errorf("gocute: --shape %s: %w", text, err), 2}
		}
		for name, value := range shape {
			if old, given := c.Set[name]; given {
				return nil, exitError{fmt.Errorf("gocute: --shape %s: expected one value of %s, but got %s, and %s by --set", text, name, value, old), 2}
			}
		}
		req.Shapes = append(req.Shapes, shape)
	}
	l, err := s.loadFamilies(c.Packages)
	if err != nil {
		return nil, err
	}
	answers, err := s.ask(l.families, req)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, a := range answers {
		switch {
		case len(a.Errors) > 0:
			return nil, failure(a.Errors)
		case a.Bundle != nil:
			return tune.FromFiles(a.Bundle)
		}
		names = append(names, a.Unknown...)
	}
	return nil, unknownFamily(c.Family, names)
}

// unknownFamily is the error about a name that no family has.
func unknownFamily(name string, names []string) error {
	text := fmt.Sprintf("there is no family %s", name)
	if near := nearest(name, names); len(near) > 0 {
		return fmt.Errorf("%s; did you mean %s?", text, strings.Join(near, " or "))
	}
	slices.Sort(names)
	return fmt.Errorf("%s; there are %s", text, strings.Join(slices.Compact(names), ", "))
}

// known reports that there is no family of the name, without tuning anything.
func (c *tuneCmd) known(s *session) error {
	l, err := s.loadFamilies(c.Packages)
	if err != nil {
		return err
	}
	answers, err := s.ask(l.families, runner.Request{Action: "list"})
	if err != nil {
		return err
	}
	var names []string
	for _, a := range answers {
		for _, f := range a.Families {
			if f.Name == c.Family || f.Func == c.Family {
				return nil
			}
			names = append(names, f.Name, f.Func)
		}
	}
	if len(names) == 0 { // all have mistakes, which are told elsewhere
		return nil
	}
	return unknownFamily(c.Family, names)
}

// ignored refuses the flags of one half of tuning for the other.
func (c *tuneCmd) ignored() error {
	measures := []given{{"--rounds", c.Rounds != 15}, {"--zeros", c.Zeros}, {"--again", c.Again}, {"-o", c.Table != ""}}
	switch {
	case c.RunDir != "":
		return meaningless("--run measures a folder as it is", given{"--seed", c.Seed != 0}, given{"--compiler", c.Compiler != "nvcc"}, given{"--compile", c.Compile})
	case c.DryRun:
		return meaningless("--dry-run measures nothing", measures...)
	case c.Bundle != "":
		return meaningless("--bundle measures nothing, and always compiles", append(measures, given{"--compile", c.Compile})...)
	}
	return meaningless("what is measured is compiled anyhow, so that it goes with --dry-run only", given{"--compile", c.Compile})
}

// loadTuned is load, and also of packages with families where tables are given: it returns their winners by family.
func (s *session) loadTuned(patterns, files []string) (*loaded, map[string][]string, error) {
	if len(files) == 0 {
		l, err := s.load(patterns)
		return l, nil, err
	}
	winners := map[string][]string{}
	for _, path := range files {
		data, err := s.readFile(path, maxText)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil, fmt.Errorf("--tuned %s: there is no such file: on a machine with a GPU, gocute tune FAMILY . -o %s writes it", path, text.Shell(path))
		}
		if err != nil {
			return nil, nil, fmt.Errorf("--tuned: %w", err)
		}
		t, err := tuned.Parse(data)
		if err != nil {
			return nil, nil, fmt.Errorf("--tuned %s: %w", path, err)
		}
		winners[t.Family] = slices.Compact(slices.Sorted(slices.Values(append(winners[t.Family], t.Winners()...))))
	}
	l, err := s.loadEither(patterns)
	if err != nil {
		return nil, nil, err
	}
	l.kernels = l.all()
	return l, winners, nil
}

// measure measures a bundle and writes the table as results come.
func (c *tuneCmd) measure(s *session, dev *cuda.Device, b *tune.Bundle) error {
	path := absolute(s.dir, cmp.Or(string(c.Table), b.Family+".tune.json"))
	table, err := tuned.Load(path, b.Family)
	if err != nil {
		return err
	}
	bar := newProgress(s.stderr)
	err = tune.Measure(s.ctx, dev, b, table, tune.MeasureOptions{Rounds: c.Rounds, Zeros: c.Zeros, Again: c.Again,
		Save: func(t *tuned.Table) error { return t.Save(path) }, Progress: bar.show})
	bar.end()
	if s.ctx.Err() != nil {
		fmt.Fprintf(s.stderr, "gocute: what was measured is in %s; the same command goes on from there\n", s.shorten(path))
		return err
	}
	if err != nil {
		return err
	}
	out := object[report.Tune](s)
	prepared(out, b, s.shorten)
	measured(out, table.On(dev.Info()), b, c.Zeros)
	out.Table = s.relative(path)
	resultTable(s, table.On(dev.Info()), b, c.Zeros)
	fmt.Fprintf(s.stdout, "%s\n", s.shorten(filepath.Clean(path)))
	return nil
}

// candidateTable lists the candidates of a bundle, and why some are left out.
func candidateTable(s *session, b *tune.Bundle) {
	fmt.Fprintf(s.stdout, "%s for %s (%s)\n", b.Family, b.Chip.Name, b.Chip.Arch)
	t := newTable(s.stdout, "CONFIG", "THREADS", "SMEM", "FRAGMENTS", "REGISTERS", "BLOCKS/SM", "LEFT OUT FOR")
	left := 0
	for _, c := range b.Candidates {
		registers, blocks := "?", "?"
		if c.Registers > 0 {
			registers, blocks = fmt.Sprint(c.Registers), fmt.Sprint(c.BlocksPerSM)
		}
		if c.Pruned == "" {
			left++
		}
		t.row(c.Config, c.Threads, c.Shared, c.Estimate, registers, blocks, s.shorten(c.Pruned))
	}
	t.flush()
	fmt.Fprintf(s.stdout, "%d of %d candidates are worth measuring\n", left, len(b.Candidates))
	for _, shape := range b.Shapes {
		note := ""
		if shape.Unreferenced != "" {
			note = "; the candidates are compared with each other: " + shape.Unreferenced
		}
		fmt.Fprintf(s.stdout, "%s%s\n", tune.DimsText(shape.Dims), note)
		for _, l := range shape.Launches {
			if l.Refused != "" {
				fmt.Fprintf(s.stdout, "  without %s: %s\n", l.Config, l.Refused)
			}
		}
	}
}

// resultTable lists what was measured for a bundle's shapes, the fastest first.
func resultTable(s *session, d *tuned.Device, b *tune.Bundle, zeros bool) {
	for _, shape := range b.Shapes {
		into := d.Shape(&tuned.Shape{Dims: shape.Dims, Scalars: shape.Scalars, Zeros: zeros})
		fmt.Fprintln(s.stdout, tune.DimsText(shape.Dims))
		t := newTable(s.stdout, "CONFIG", "MICROSECONDS", "GOP/S", "REGISTERS", "BLOCKS/SM", "CHECKED BY", "")
		for _, r := range into.Results {
			c := d.Candidate(r.Config)
			if c == nil {
				continue
			}
			time, rate := "-", "-"
			if r.Usable() {
				time = fmt.Sprintf("%.2f", r.Microseconds)
			}
			if r.Usable() && into.Work > 0 {
				rate = fmt.Sprintf("%.0f", into.Work/r.Microseconds/1e3)
			}
			note := ""
			if r.Wrong != "" {
				note = "WRONG: " + r.Wrong
			}
			t.row(r.Config, time, rate, c.Registers, c.BlocksPerSM, r.Checked, note)
		}
		t.flush()
	}
}
