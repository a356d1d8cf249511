package check

import (
	"context"
	"fmt"
	"slices"

	"github.com/gocute/gocute/emu"
	"github.com/gocute/gocute/gen/cir"
)

// onCPU runs the kernel in the emulator, under every schedule asked for; the first one's results count.
func (p *plan) onCPU(ctx context.Context, opt Options, res *Result) error {
	res.Where = "emulator"
	seeds := opt.EmuSeeds
	if len(seeds) == 0 {
		seeds = []uint64{0}
	}
	res.EmuSeeds = seeds
	for n, seed := range seeds {
		args, err := p.emuArgs()
		if err != nil {
			return err
		}
		rep, err := emu.Run(ctx, p.c, args, emu.Options{Seed: seed})
		if err != nil {
			return err
		}
		if n == 0 {
			res.Time, res.Runs, res.Report = rep.Elapsed, 1, rep
		}
		res.addFindings(rep)
		for _, t := range p.tensors {
			got := args[t.p.Name].(*emu.Buffer).Bytes()
			if n == 0 {
				t.after = got
			} else if !slices.Equal(got, t.after) {
				res.Unstable = append(res.Unstable, fmt.Sprintf("%s differs between the emulator's schedules %d and %d", t.p.Name, seeds[0], seed))
			}
		}
	}
	return nil
}

// emuArgs are the arguments of one run, with buffers of its own.
func (p *plan) emuArgs() (emu.Args, error) {
	args := emu.Args{}
	for _, q := range p.c.Params {
		switch q.Class {
		case cir.Dim:
			args[q.Name] = emu.Dim(p.dims[q.Sym.Name])
		case cir.Scalar:
			args[q.Name] = emu.Scalar(p.scalars[q.Name])
		}
	}
	for _, t := range p.tensors {
		b, err := emu.BufferFromBytes(t.p.Elem, t.before)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", p.c.Name, t.p.Name, err)
		}
		args[t.p.Name] = b
	}
	return args, nil
}

// addFindings keeps each mistake once, however many schedules find it.
func (r *Result) addFindings(rep *emu.Report) {
	for _, f := range rep.Findings {
		same := func(g *emu.Finding) bool { return g.Check == f.Check && g.Pos == f.Pos && g.Mem == f.Mem }
		if !slices.ContainsFunc(r.Findings, same) {
			r.Findings = append(r.Findings, f)
		}
	}
	r.More = max(r.More, rep.More)
}
