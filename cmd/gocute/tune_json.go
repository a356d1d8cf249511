package main

import (
	"github.com/gocute/gocute/cmd/gocute/report"
	"github.com/gocute/gocute/cuda/tuned"
	"github.com/gocute/gocute/tune"
)

// prepared fills in what is known before anything is measured.
func prepared(out *report.Tune, b *tune.Bundle, shorten func(string) string) {
	out.Family, out.Device, out.Arch = b.Family, b.Chip.Name, b.Chip.Arch
	for _, c := range b.Candidates {
		out.Candidates = append(out.Candidates, report.TuneCandidate{Config: c.Config, LeftOut: shorten(c.Pruned), Threads: c.Threads,
			Shared: c.Shared, Fragments: c.Estimate, Registers: c.Registers, Blocks: c.BlocksPerSM})
	}
	for _, shape := range b.Shapes {
		x := report.TuneShape{Dims: shape.Dims, Scalars: report.Numbers(shape.Scalars), Unreferenced: shape.Unreferenced}
		for _, l := range shape.Launches {
			if l.Refused != "" {
				x.Refused = append(x.Refused, report.TuneRefused{Config: l.Config, Reason: l.Refused})
			}
		}
		out.Shapes = append(out.Shapes, x)
	}
}

// measured adds what was measured of a bundle's shapes.
func measured(out *report.Tune, d *tuned.Device, b *tune.Bundle, zeros bool) {
	out.Measured, out.Device, out.Arch = true, d.Name, d.Arch
	for i, shape := range b.Shapes {
		from := d.Shape(&tuned.Shape{Dims: shape.Dims, Scalars: shape.Scalars, Zeros: zeros})
		for _, r := range from.Results {
			if d.Candidate(r.Config) == nil {
				continue
			}
			x := report.TuneResult{Config: r.Config, Checked: r.Checked, Wrong: r.Wrong}
			if r.Usable() {
				x.Seconds = report.Number(r.Microseconds * 1e-6)
			}
			if r.Usable() && from.Work > 0 {
				x.Rate = report.Number(from.Work / r.Microseconds * 1e6)
			}
			out.Shapes[i].Results = append(out.Shapes[i].Results, x)
		}
	}
}
