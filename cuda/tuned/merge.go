package tuned

import (
	"maps"
	"math"
	"slices"

	"github.com/gocute/gocute/cuda"
)

// On returns the table's part of a kind of GPU, made if there is none yet. A nil table has no parts, and so on down to
// its results: all are nil.
func (t *Table) On(dev cuda.Info) *Device {
	if t == nil {
		return nil
	}
	for _, d := range t.Devices {
		if d.Name == dev.Name {
			return d
		}
	}
	d := &Device{Name: dev.Name, Arch: dev.Arch(), SMs: dev.SMs}
	t.Devices = append(t.Devices, d)
	return d
}

// Candidate returns the candidate of a config, nil if there is none.
func (d *Device) Candidate(config string) *Candidate {
	if d == nil {
		return nil
	}
	i := slices.IndexFunc(d.Candidates, func(c *Candidate) bool { return c.Config == config })
	if i < 0 {
		return nil
	}
	return d.Candidates[i]
}

// Put adds a candidate or replaces the one of its config. If the code is another one, what was measured is forgotten.
// A nil candidate is not one.
func (d *Device) Put(c *Candidate) {
	if d == nil || c == nil {
		return
	}
	old := d.Candidate(c.Config)
	switch {
	case old == nil:
		d.Candidates = append(d.Candidates, c)
		return
	case old.Code != c.Code:
		for _, s := range d.Shapes {
			s.Results = slices.DeleteFunc(s.Results, func(r *Result) bool { return r.Config == c.Config })
		}
	}
	*old = *c
}

// Shape returns what was measured for dims under the same circumstances, made if there is none yet; what was measured
// under others is forgotten.
func (d *Device) Shape(like *Shape) *Shape {
	if d == nil || like == nil {
		return nil
	}
	i := slices.IndexFunc(d.Shapes, func(s *Shape) bool { return maps.Equal(s.Dims, like.Dims) })
	if i >= 0 {
		s := d.Shapes[i]
		if !maps.Equal(s.Scalars, like.Scalars) || s.Zeros != like.Zeros {
			s.Scalars, s.Zeros, s.Results = maps.Clone(like.Scalars), like.Zeros, nil
		}
		if like.Work != 0 {
			s.Work = like.Work
		}
		return s
	}
	s := &Shape{Dims: maps.Clone(like.Dims), Scalars: maps.Clone(like.Scalars), Zeros: like.Zeros, Work: like.Work}
	d.Shapes = append(d.Shapes, s)
	return s
}

// Result returns what came of a config, made if there is nothing yet.
func (s *Shape) Result(config string) *Result {
	if s == nil {
		return nil
	}
	i := slices.IndexFunc(s.Results, func(r *Result) bool { return r.Config == config })
	if i >= 0 {
		return s.Results[i]
	}
	r := &Result{Config: config}
	s.Results = append(s.Results, r)
	return r
}

// Usable reports whether the result is right and has a time.
func (r *Result) Usable() bool { return r != nil && r.Wrong == "" && r.Microseconds > 0 }

// Add takes a round's time; once there are as many as wanted only their median stays.
func (r *Result) Add(microseconds float64, wanted int) {
	if r == nil {
		return
	}
	r.Samples = append(r.Samples, math.Round(microseconds*1000)/1000)
	r.Rounds = len(r.Samples)
	sorted := slices.Sorted(slices.Values(r.Samples))
	r.Microseconds = sorted[len(sorted)/2]
	if r.Rounds >= wanted {
		r.Samples = nil
	}
}

// Done reports whether nothing is left to measure: it is wrong, or has all rounds.
func (r *Result) Done(wanted int) bool {
	return r == nil || r.Wrong != "" || r.Rounds >= wanted || r.Rounds > 0 && len(r.Samples) == 0
}

// Merge takes everything of another table of the family; where both have a result, the other's counts.
func (t *Table) Merge(other *Table) {
	if t == nil || other == nil {
		return
	}
	for _, from := range other.Devices {
		to := t.On(cuda.Info{Name: from.Name, SMs: from.SMs})
		to.Arch, to.SMs = from.Arch, from.SMs
		for _, c := range from.Candidates {
			clone := *c
			to.Put(&clone)
		}
		for _, s := range from.Shapes {
			into := to.Shape(s)
			for _, r := range s.Results {
				*into.Result(r.Config) = *r
			}
		}
	}
	t.sort()
}
