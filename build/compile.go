package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// DefaultArchs returns what Compile makes cubins for when a Source names none.
// sm_90a is not among them: its instructions (wgmma) exist for it alone, so a
// kernel that has them asks for sm_90a and gets neither sm_80 nor portable PTX.
func DefaultArchs() []string { return []string{"sm_80", "sm_90"} }

// Source is one .cu file and what to make of it.
type Source struct {
	// Name is the kernel's name and, with .cu, the file's name while compiling:
	// letters, digits, _, - and . only.
	Name string
	// Code is the whole file.
	Code []byte
	// IncludeDirs are searched in order for #include. All files below them count
	// for the cache, so name small folders.
	IncludeDirs []string
	// Archs are the chips to make cubins for: sm_80, sm_90a, …. Nil is DefaultArchs;
	// an empty non-nil list is none.
	Archs []string
	// PTXArchs are the virtual chips whose PTX is wanted besides: compute_80, ….
	// Nil is that of the first of Archs.
	PTXArchs []string
	// LineInfo adds the source lines, for profilers and debuggers. The toolkit's
	// headers then show with their path on this machine.
	LineInfo bool
	// Flags are handed to nvcc after gocute's own, such as -DNAME=1.
	Flags []string
	// NoCache compiles in any case, one chip after the other; the result is stored
	// all the same.
	NoCache bool
}

// Result is what came of one Source.
type Result struct {
	Name     string
	Binaries []Binary // in the order of Source.Archs
	PTX      []PTX    // one for each virtual chip asked for, and for each cubin's
	Warnings []string // nvcc's and ptxas' warnings, and a cache that cannot be written
}

// Binary is a cubin for one chip.
type Binary struct {
	Arch    string  // such as sm_80
	Cubin   []byte  // an ELF file
	Report  Report  // of ptxas
	Hit     bool    // true if ptxas did not have to run
	Seconds float64 // wall time of ptxas when it did run, now or then
}

// PTX is the front end's output for one virtual chip.
type PTX struct {
	Arch    string // such as compute_80
	Code    []byte
	Hit     bool    // true if the front end did not have to run
	Seconds float64 // wall time of nvcc when it did run, now or then
}

// Binary returns the cubin for the chip.
func (r *Result) Binary(arch string) (Binary, bool) {
	for _, b := range r.Binaries {
		if b.Arch == arch {
			return b, true
		}
	}
	return Binary{}, false
}

// PTXFor returns the PTX for a chip, by its name (sm_80) or its virtual one
// (compute_80). The cubin of a chip is made from exactly this text.
func (r *Result) PTXFor(arch string) ([]byte, bool) {
	for _, p := range r.PTX {
		if p.Arch == virtual(arch) {
			return p.Code, true
		}
	}
	return nil, false
}

// Hit reports whether everything came from the cache.
func (r *Result) Hit() bool {
	return !slices.ContainsFunc(r.Binaries, func(b Binary) bool { return !b.Hit }) &&
		!slices.ContainsFunc(r.PTX, func(p PTX) bool { return !p.Hit })
}

// Seconds is the sum of nvcc's wall times over all steps; for steps that came
// from the cache it is the time of the run that filled it.
func (r *Result) Seconds() float64 {
	var s float64
	for _, b := range r.Binaries {
		s += b.Seconds
	}
	for _, p := range r.PTX {
		s += p.Seconds
	}
	return s
}

// virtual names the chip's instruction set: sm_90a is compute_90a.
func virtual(arch string) string {
	if n, ok := strings.CutPrefix(arch, "sm_"); ok {
		return "compute_" + n
	}
	return arch
}

// Compile compiles the source for all its chips, in parallel. The front end
// runs once for each virtual chip and ptxas once for each cubin, both through
// the cache. A source nvcc refuses gives a *CompileError.
func (t *Toolchain) Compile(ctx context.Context, src Source) (*Result, error) {
	jobs, err := t.plan(&src)
	if err != nil {
		return nil, fmt.Errorf("build: kernel %s: %w", src.Name, err)
	}
	var wg sync.WaitGroup
	for _, j := range jobs {
		if src.NoCache { // one after the other: the times are then comparable
			j.err = j.run(ctx)
		} else {
			wg.Go(func() { j.err = j.run(ctx) })
		}
	}
	wg.Wait()
	res := &Result{Name: src.Name}
	for _, j := range jobs {
		if j.err != nil {
			var ce *CompileError
			if errors.As(j.err, &ce) {
				return nil, ce
			}
			return nil, fmt.Errorf("build: kernel %s: %w", src.Name, j.err)
		}
		res.PTX = append(res.PTX, j.ptx)
		for _, w := range j.warnings {
			if !slices.Contains(res.Warnings, w) {
				res.Warnings = append(res.Warnings, w)
			}
		}
	}
	for _, arch := range src.Archs {
		for _, j := range jobs {
			for _, b := range j.binaries {
				if b.Arch == arch {
					res.Binaries = append(res.Binaries, b)
				}
			}
		}
	}
	return res, nil
}

// job is the work for one virtual chip.
type job struct {
	tc       *Toolchain
	src      *Source
	includes string // digest of the headers
	archs    []string
	ptx      PTX
	binaries []Binary
	warnings []string
	err      error
}

// plan checks the source, fills its defaults and splits it by virtual chip.
func (t *Toolchain) plan(src *Source) ([]*job, error) {
	if !regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`).MatchString(src.Name) {
		return nil, fmt.Errorf("expected a name of letters, digits, _, - and ., but got %q", src.Name)
	}
	if len(bytes.TrimSpace(src.Code)) == 0 {
		return nil, errors.New("expected source text, but got none")
	}
	if src.Archs == nil {
		src.Archs = DefaultArchs()
	}
	if src.PTXArchs == nil && len(src.Archs) > 0 {
		src.PTXArchs = []string{virtual(src.Archs[0])}
	}
	if err := checkArchs("sm_", src.Archs); err != nil {
		return nil, err
	}
	if err := checkArchs("compute_", src.PTXArchs); err != nil {
		return nil, err
	}
	includes, err := hashIncludes(src.IncludeDirs)
	if err != nil {
		return nil, err
	}
	var jobs []*job
	for _, arch := range slices.Concat(src.PTXArchs, src.Archs) {
		i := slices.IndexFunc(jobs, func(j *job) bool { return j.ptx.Arch == virtual(arch) })
		if i < 0 {
			i = len(jobs)
			jobs = append(jobs, &job{tc: t, src: src, includes: includes, ptx: PTX{Arch: virtual(arch)}})
		}
		if strings.HasPrefix(arch, "sm_") && !slices.Contains(jobs[i].archs, arch) {
			jobs[i].archs = append(jobs[i].archs, arch)
		}
	}
	if len(jobs) == 0 {
		return nil, errors.New("expected a chip to compile for, but got neither Archs nor PTXArchs")
	}
	return jobs, nil
}

func checkArchs(prefix string, archs []string) error {
	re := regexp.MustCompile(`^` + prefix + `[0-9]{2,3}[af]?$`)
	for i, a := range archs {
		if !re.MatchString(a) {
			return fmt.Errorf("expected a chip such as %s90, but got %q", prefix, a)
		}
		if slices.Contains(archs[:i], a) {
			return fmt.Errorf("expected each chip once, but got %s twice", a)
		}
	}
	return nil
}

// run makes the PTX of one virtual chip and the cubins of its chips.
func (j *job) run(ctx context.Context) error {
	var err error
	ptxKey := keyOf([]byte("ptx"), []byte(j.tc.identity), j.src.Code, []byte(j.includes),
		[]byte(j.src.Name), []byte(strings.Join(j.frontArgs(), "\x00")))
	e, hit, err := j.step(ctx, ptxKey, j.ptx.Arch, j.front)
	if err != nil {
		return err
	}
	j.ptx.Code, j.ptx.Hit, j.ptx.Seconds = e.payload, hit, e.Seconds
	j.warn(e.Log)
	for _, arch := range j.archs {
		key := keyOf([]byte("cubin"), []byte(j.tc.identity), j.ptx.Code,
			[]byte(j.src.Name), []byte(strings.Join(j.asmArgs(arch), "\x00")))
		e, hit, err := j.step(ctx, key, arch, j.assemble)
		if err != nil {
			return err
		}
		b := Binary{Arch: arch, Cubin: e.payload, Report: ParseReport(e.Log), Hit: hit, Seconds: e.Seconds}
		j.binaries = append(j.binaries, b)
		j.warnings = append(j.warnings, b.Report.Warnings...)
	}
	return nil
}

// warn keeps the front end's remarks, one Warnings element each run.
func (j *job) warn(log string) {
	if log = strings.TrimSpace(log); log != "" {
		j.warnings = append(j.warnings, log)
	}
}

// step takes a result from the cache or makes and stores it.
func (j *job) step(ctx context.Context, key, arch string, work func(context.Context, string) (entry, error)) (entry, bool, error) {
	if !j.src.NoCache {
		if e, ok := j.tc.load(key); ok {
			return e, true, nil
		}
	}
	select {
	case j.tc.slots <- struct{}{}:
		defer func() { <-j.tc.slots }()
	case <-ctx.Done():
		return entry{}, false, context.Cause(ctx)
	}
	e, err := work(ctx, arch)
	if err != nil {
		return entry{}, false, err
	}
	if err := j.tc.store(key, e); err != nil {
		j.warnings = append(j.warnings, fmt.Sprintf("the cache could not be written: %v", err))
	}
	return e, false, nil
}

func (j *job) commonArgs() []string {
	args := []string{"-O3"}
	if j.src.LineInfo {
		args = append(args, "-lineinfo")
	}
	return args
}

func (j *job) frontArgs() []string {
	// cicc's second level gives the same PTX as its third for kernels whose loops are unrolled already, a fifth sooner.
	args := append(j.commonArgs(), "-std=c++17", "-Xcicc", "-O2", "-arch="+j.ptx.Arch, "-ptx")
	for i := range j.src.IncludeDirs {
		args = append(args, "-I"+includeLink(i))
	}
	return append(args, j.src.Flags...)
}

func (j *job) asmArgs(arch string) []string {
	return append(append(j.commonArgs(), "-arch="+arch, "-Xptxas", "-v", "-cubin"), j.src.Flags...)
}

// includeLink names the link that stands for an include folder while compiling:
// __FILE__ then shows no path of this machine.
func includeLink(i int) string { return fmt.Sprintf("include%d", i) }

// front runs nvcc's preprocessor and optimiser: source to PTX.
func (j *job) front(ctx context.Context, arch string) (entry, error) {
	return j.nvcc(ctx, arch, j.frontArgs(), j.src.Name+".cu", j.src.Code, j.src.Name+".ptx")
}

// assemble runs ptxas through nvcc: PTX to cubin.
func (j *job) assemble(ctx context.Context, arch string) (entry, error) {
	return j.nvcc(ctx, arch, j.asmArgs(arch), j.src.Name+".ptx", j.ptx.Code, j.src.Name+".cubin")
}
