package tune

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gocute/gocute/cuda"
	"github.com/gocute/gocute/cuda/tuned"
)

// MeasureOptions of Measure.
type MeasureOptions struct {
	Rounds   int                             // timed batches of launches of each candidate; 0 is 15
	Zeros    bool                            // measure on zeros: the clock then holds still, and only the schedule counts
	Again    bool                            // measure anew what the table has already
	Save     func(*tuned.Table) error        // called whenever the table has news; may be nil
	Progress func(what string, done, of int) // of the current shape; may be nil
}

const (
	defaultRounds = 15
	warmups       = 2
	batchTime     = 4 * time.Millisecond
	maxBatch      = 100
)

// ErrFailed is part of the error of a kernel that did not run, after which the device's context is of no use.
var ErrFailed = errors.New("the kernel did not run")

// Measure checks and times the bundle's candidates, shape by shape, and puts what comes of it into the table as it
// comes: candidates take turns, round by round, and each round is saved. What the table has already is not done again,
// so that an interrupted run continues where it was. A wrong candidate is noted as such and not timed.
func Measure(ctx context.Context, dev *cuda.Device, b *Bundle, table *tuned.Table, opt MeasureOptions) error {
	if opt.Rounds <= 0 {
		opt.Rounds = defaultRounds
	}
	if have, want := dev.Info().Arch(), b.Chip.Arch; have != want {
		return fmt.Errorf("the candidates were compiled for %s, but this GPU is %s", want, dev)
	}
	on := table.On(dev.Info())
	on.Arch, on.SMs = dev.Info().Arch(), dev.Info().SMs
	for _, s := range b.Shapes {
		m := &measuring{dev: dev, bundle: b, shape: s, opt: opt, on: on, table: table}
		if err := m.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", DimsText(s.Dims), err)
		}
	}
	return nil
}

// DimsText is dims as the command line has them: K=64,M=128.
func DimsText(dims map[string]int64) string {
	var parts []string
	for _, n := range slices.Sorted(maps.Keys(dims)) {
		parts = append(parts, fmt.Sprintf("%s=%d", n, dims[n]))
	}
	return strings.Join(parts, ",")
}

// measuring is the work on one shape.
type measuring struct {
	dev    *cuda.Device
	bundle *Bundle
	shape  *Shape
	opt    MeasureOptions
	table  *tuned.Table
	on     *tuned.Device
	into   *tuned.Shape
	memory *memory
	loaded []*runner
}

// run does what is left of the shape.
func (m *measuring) run(ctx context.Context) (err error) {
	m.into = m.on.Shape(&tuned.Shape{Dims: m.shape.Dims, Scalars: m.shape.Scalars, Zeros: m.opt.Zeros, Work: m.shape.Work})
	pending := 0
	var launches []*Launch
	for _, l := range m.shape.Launches {
		c := m.bundle.Candidate(l.Config)
		if l.Refused != "" || c == nil || c.Image == "" {
			continue
		}
		m.on.Put(&c.Candidate)
		r := m.into.Result(l.Config)
		if m.opt.Again {
			*r = tuned.Result{Config: l.Config}
		}
		if r.Wrong == "" {
			launches = append(launches, l)
		}
		if !r.Done(m.opt.Rounds) {
			pending++
		}
	}
	if pending == 0 {
		return nil
	}
	defer func() { err = errors.Join(err, m.close()) }()
	if err := m.load(launches); err != nil {
		return err
	}
	if m.memory, err = newMemory(m.dev, m.shape, m.bundle.Seed); err != nil {
		return err
	}
	if err := m.check(ctx); err != nil {
		return err
	}
	if m.opt.Zeros {
		if err := m.memory.zero(); err != nil {
			return err
		}
	}
	return m.time(ctx)
}

// load puts the candidates' code on the device.
func (m *measuring) load(launches []*Launch) error {
	for _, l := range launches {
		c := m.bundle.Candidate(l.Config)
		r := &runner{Launch: l, c: c, result: m.into.Result(l.Config)}
		var err error
		if r.mod, err = m.dev.LoadData(m.bundle.Images[c.Image]); err == nil {
			m.loaded = append(m.loaded, r)
			r.fn, err = r.mod.Function(c.Kernel)
		}
		if err == nil && c.Shared > defaultShared {
			err = r.fn.SetMaxDynamicShared(c.Shared)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", l.Config, err)
		}
	}
	return nil
}

func (m *measuring) close() error {
	var errs []error
	if m.memory != nil {
		errs = append(errs, m.memory.free())
	}
	for _, r := range m.loaded {
		errs = append(errs, r.mod.Unload())
	}
	return errors.Join(errs...)
}

// save hands the table out, which has news.
func (m *measuring) save() error {
	if m.opt.Save == nil {
		return nil
	}
	return m.opt.Save(m.table)
}

func (m *measuring) progress(what string, done, of int) {
	if m.opt.Progress != nil {
		m.opt.Progress(DimsText(m.shape.Dims)+": "+what, done, of)
	}
}

// failed notes a candidate whose launch broke the context, so that the next run leaves it out.
func (m *measuring) failed(r *runner, err error) error {
	r.result.Wrong = "it did not run: " + oneLine(err)
	return errors.Join(fmt.Errorf("%s: %w: %w; run it again to go on without this candidate", r.Config, ErrFailed, err), m.save())
}

// time measures the candidates that have rounds to go, in turns.
func (m *measuring) time(ctx context.Context) (err error) {
	var list []*runner
	for _, r := range m.loaded {
		if !r.result.Done(m.opt.Rounds) {
			list = append(list, r)
		}
	}
	start, err := m.dev.NewEvent()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, start.Close()) }()
	stop, err := m.dev.NewEvent()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop.Close()) }()
	for round := 0; len(list) > 0; round++ {
		m.progress("round", round, warmups+m.opt.Rounds)
		for i, r := range list {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			d, err := r.batchOn(m.memory, round*len(list)+i, start, stop)
			if err != nil {
				return m.failed(r, err)
			}
			if round < warmups {
				r.calibrate(d)
			} else {
				r.result.Add(float64(d)/float64(time.Microsecond), m.opt.Rounds)
			}
		}
		if round >= warmups {
			if err := m.save(); err != nil {
				return err
			}
		}
		list = slices.DeleteFunc(list, func(r *runner) bool { return r.result.Done(m.opt.Rounds) })
	}
	m.progress("round", warmups+m.opt.Rounds, warmups+m.opt.Rounds)
	return nil
}
