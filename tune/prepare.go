package tune

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"sync"

	"github.com/gocute/gocute/build"
	"github.com/gocute/gocute/check"
	"github.com/gocute/gocute/cuda/tuned"
	"github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/gen"
	"github.com/gocute/gocute/gen/cir"
	gencuda "github.com/gocute/gocute/gen/cuda"
)

// Options of Prepare.
type Options struct {
	Chip     Chip
	Args     []check.Args       // one for each shape; dims left open get defaults, scalars the family's or random ones
	Seed     int64              // of the inputs
	Compiler build.Compiler     // nil compiles nothing: what is pruned before is all there is to know
	Progress func(c *Candidate) // after each candidate was compiled or pruned; may be nil
}

// member is a candidate with its kernel.
type member struct {
	*Candidate
	kernel *dsl.Kernel
	c      *cir.Kernel
	code   []byte
}

// Prepare prunes and compiles the candidates and works out their launches. A candidate with a mistake is pruned, with the
// mistake as the reason; an error means that there is nothing to measure, or that the context ended.
func Prepare(ctx context.Context, f *dsl.Family, opt Options) (*Bundle, error) {
	if f == nil {
		return nil, errors.New("tune: expected a family, but got nil")
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	b := &Bundle{Manifest: Manifest{Format: bundleFormat, Family: f.Name, Chip: opt.Chip, Seed: opt.Seed}, Images: map[string][]byte{}}
	var members []*member
	for _, c := range f.Candidates {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		m := newMember(c, opt.Chip)
		b.Candidates = append(b.Candidates, m.Candidate)
		members = append(members, m)
	}
	if err := compileAll(ctx, b, members, opt); err != nil {
		return nil, err
	}
	var left []*member
	for _, m := range members {
		if m.Pruned == "" {
			left = append(left, m)
		}
	}
	if len(left) == 0 {
		return b, nil
	}
	for _, a := range opt.Args {
		s, err := newShape(ctx, f, left, a, opt)
		if err != nil {
			return nil, err
		}
		b.Shapes = append(b.Shapes, s)
	}
	for _, m := range left {
		if len(b.Shapes) > 0 {
			m.Tile = tiles(m.c, b.Shapes[0].Dims)
		}
	}
	return b, nil
}

// newMember records and lowers a candidate, and prunes it by what that shows.
func newMember(c dsl.Candidate, chip Chip) *member {
	m := &member{Candidate: &Candidate{Candidate: tuned.Candidate{Config: c.Config}}}
	k, err := record(c)
	if err == nil {
		m.kernel = k
		m.Kernel = k.Name()
		m.c, err = gen.Lower(k)
	}
	if err == nil {
		m.code, err = gencuda.Print(m.c, gencuda.Options{})
	}
	if err != nil {
		m.Pruned = "refused: " + oneLine(err)
		return m
	}
	m.Threads, m.Shared, m.Estimate = m.c.Threads, m.c.SmemBytes, fragments(k.IR())
	m.Tolerance = map[string]float64{}
	for _, e := range k.Expectations() {
		m.Tolerance[e.Output] = e.Tolerance
	}
	m.Pruned = prune(k.IR(), m.c, chip)
	return m
}

// oneLine is an error in one line: of several mistakes the first, of which the others often are consequences.
func oneLine(err error) string {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		if all := joined.Unwrap(); len(all) > 1 && strings.HasPrefix(err.Error(), all[0].Error()+"\n") {
			return fmt.Sprintf("%s (and %d more)", oneLine(all[0]), len(all)-1)
		}
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}

// record calls a candidate's function, whose panics are mistakes too, and so is runtime.Goexit, which ends a goroutine.
func record(c dsl.Candidate) (k *dsl.Kernel, err error) {
	err = errors.New("its function ended its goroutine (runtime.Goexit?): expected it to return")
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if r := recover(); r != nil {
				k, err = nil, fmt.Errorf("its function panicked: %v", r)
			}
		}()
		k = c.Kernel()
		err = nil
	}()
	<-done
	if err == nil && k == nil {
		err = errors.New("its function returned no kernel, but nil")
	}
	if err != nil {
		return nil, err
	}
	return k, k.Err()
}

// compileAll compiles what is left, in parallel, and prunes by the compiler's report.
func compileAll(ctx context.Context, b *Bundle, members []*member, opt Options) error {
	var wg sync.WaitGroup
	var mu sync.Mutex
	for _, m := range members {
		if m.Pruned != "" || opt.Compiler == nil {
			continue
		}
		wg.Go(func() {
			image := m.compile(ctx, opt)
			mu.Lock()
			defer mu.Unlock()
			if m.Pruned == "" {
				m.Image = m.Config + "." + build.ArchFor(opt.Chip.Arch, m.c.Exactly) + ".cubin"
				b.Images[m.Image] = image
			}
			if opt.Progress != nil && ctx.Err() == nil {
				opt.Progress(m.Candidate)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// compile makes the image, or a reason why there is none.
func (m *member) compile(ctx context.Context, opt Options) []byte {
	arch := build.ArchFor(opt.Chip.Arch, m.c.Exactly)
	res, err := opt.Compiler.Compile(ctx, build.Source{Name: m.Kernel, Code: m.code, Archs: []string{arch}, PTXArchs: []string{}})
	if err != nil {
		m.Pruned = "refused: " + oneLine(err)
		return nil
	}
	bin, ok := res.Binary(arch)
	report, known := bin.Report.Kernel(m.Kernel)
	if !ok || !known {
		m.Pruned = "refused: the compiler gave no report of " + m.Kernel
		return nil
	}
	about := opt.Compiler.About()
	m.Compiler = fmt.Sprintf("%s %s", about.Name, about.Version)
	m.Seconds, m.Registers = res.Seconds(), report.Registers
	m.Code = fmt.Sprintf("%x", sha256.Sum256(bin.Cubin))[:16]
	m.BlocksPerSM, _ = opt.Chip.BlocksPerSM(m.Threads, report.Registers, m.Shared+report.StaticSmem)
	m.Pruned = pruneCompiled(m.c, opt.Chip, report)
	return bin.Cubin
}

// newShape works out every candidate's launch for one set of arguments, and what the outputs must hold.
func newShape(ctx context.Context, f *dsl.Family, members []*member, args check.Args, opt Options) (*Shape, error) {
	args.Seed = opt.Seed
	scalars := maps.Clone(f.Scalars)
	if scalars == nil {
		scalars = map[string]float64{}
	}
	maps.Copy(scalars, args.Scalars)
	args.Scalars = scalars
	s := &Shape{}
	var first *member // whose tensors and references are the shape's
	var refusals []error
	for _, m := range members {
		p, err := check.Resolve(m.c, args)
		if err != nil {
			s.Launches = append(s.Launches, &Launch{Config: m.Config, Refused: oneLine(err)})
			refusals = append(refusals, err)
			continue
		}
		if first == nil || len(first.kernel.Expectations()) == 0 && len(m.kernel.Expectations()) > 0 {
			first = m
		}
		if s.Dims == nil {
			s.Dims, s.Scalars, args.Dims, args.Scalars = p.Dims, p.Scalars, p.Dims, p.Scalars
		}
		l := &Launch{Config: m.Config, Grid: p.Grid, Args: p.Args}
		for _, t := range p.Tensors {
			switch have := s.Tensor(t.Name); {
			case have == nil:
				s.Tensors = append(s.Tensors, t)
			case !reflect.DeepEqual(*have, t):
				l.Refused = fmt.Sprintf("its tensor %s is another one than that of the candidates before", t.Name)
			}
		}
		s.Launches = append(s.Launches, l)
	}
	if first == nil {
		return nil, fmt.Errorf("tune: %s: no candidate takes these sizes: %w", f.Name, cmp.Or(refusals...))
	}
	if f.Work != nil {
		s.Work = f.Work(s.Dims)
	}
	var err error
	if opt.Compiler == nil { // nothing will be measured
		return s, nil
	}
	if s.Expected, err = check.Expected(ctx, first.kernel, first.c, args); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		s.Expected, s.Unreferenced = nil, err.Error()
	} else if len(s.Expected) == 0 {
		s.Unreferenced = "the kernels have no references (dsl.Expect)"
	}
	return s, nil
}
