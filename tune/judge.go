package tune

import (
	"context"
	"fmt"
	"slices"

	"github.com/gocute/gocute/check"
)

// voteTolerance is how far results may differ that are compared with each other, relative to their root mean square:
// candidates add in different orders.
const voteTolerance = 0.01

// check runs every candidate once and judges its outputs, by the references where there are any, else by what the
// candidates have in common.
func (m *measuring) check(ctx context.Context) error {
	votes := map[string]*vote{}
	for i, r := range m.loaded {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		m.progress("check", i, len(m.loaded))
		if err := m.memory.reset(); err != nil {
			return err
		}
		if err := r.launch(m.memory, 0); err != nil {
			return m.failed(r, err)
		}
		if err := m.dev.Synchronize(); err != nil {
			return m.failed(r, err)
		}
		if err := m.judge(r, votes); err != nil {
			return fmt.Errorf("%s: %w", r.Config, err)
		}
	}
	for _, t := range m.memory.tensors {
		if v := votes[t.Name]; v != nil {
			v.decide()
		}
	}
	m.progress("check", len(m.loaded), len(m.loaded))
	return m.save()
}

// judge compares the outputs of a run with what is expected, and keeps those without a reference for the vote.
func (m *measuring) judge(r *runner, votes map[string]*vote) error {
	r.result.Checked = ""
	for i := range m.memory.tensors {
		t := &m.memory.tensors[i]
		if !t.Write || !slices.ContainsFunc(r.Args, func(a check.ProblemArg) bool { return a.Tensor == t.Name }) {
			continue
		}
		mem, whole, err := m.memory.download(t.Name)
		if err != nil {
			return err
		}
		if !whole {
			r.wrong("it writes beside " + t.Name)
			continue
		}
		if s := m.expected(t.Name); s != nil {
			got, err := s.Values(t, mem)
			if err != nil {
				return err
			}
			r.wrong(s.Judge(t, got, r.c.Tolerance[t.Name]))
			r.checked("reference")
			continue
		}
		if votes[t.Name] == nil {
			s, err := t.Pick()
			if err != nil {
				return err
			}
			votes[t.Name] = &vote{tensor: t, sample: s}
		}
		got, err := votes[t.Name].sample.Values(t, mem)
		if err != nil {
			return err
		}
		votes[t.Name].add(r, got)
	}
	return nil
}

func (m *measuring) expected(output string) *check.Sample {
	for i := range m.shape.Expected {
		if m.shape.Expected[i].Output == output {
			return &m.shape.Expected[i]
		}
	}
	return nil
}

// wrong keeps the first reason why a candidate is out.
func (r *runner) wrong(why string) {
	if r.result.Wrong == "" && why != "" {
		r.result.Wrong = why
		r.result.Samples, r.result.Rounds, r.result.Microseconds = nil, 0, 0
	}
}

// checked notes what the results were compared with; the weakest comparison counts.
func (r *runner) checked(with string) {
	rank := []string{"", "reference", "the other candidates", "nothing"}
	if slices.Index(rank, with) > slices.Index(rank, r.result.Checked) {
		r.result.Checked = with
	}
}

// vote is an output without a reference, as the candidates computed it.
type vote struct {
	tensor *check.ProblemTensor
	sample check.Sample
	who    []*runner
	got    [][]float64
}

func (v *vote) add(r *runner, got []float64) {
	v.who, v.got = append(v.who, r), append(v.got, got)
}

// decide takes the median of the candidates for the truth. Two that differ are both out, for nothing says which is right.
func (v *vote) decide() {
	if len(v.who) == 1 {
		v.who[0].checked("nothing")
		return
	}
	want := make([]float64, len(v.sample.Offsets))
	for i := range want {
		column := make([]float64, len(v.got))
		for n := range v.got {
			column[n] = v.got[n][i]
		}
		slices.Sort(column)
		want[i] = column[len(column)/2]
	}
	s := v.sample
	s.Expect(want)
	out := make([]string, len(v.who))
	for n := range v.who {
		out[n] = s.Judge(v.tensor, v.got[n], voteTolerance)
	}
	if len(v.who) == 2 && (out[0] != "" || out[1] != "") {
		why := "the two candidates differ and nothing says which is right: " + out[0] + out[1]
		out = []string{why, why}
	}
	for n, r := range v.who {
		r.wrong(out[n])
		r.checked("the other candidates")
	}
}
