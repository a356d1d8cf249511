package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
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
	// for the cache, so name small folders. With NVRTC, headers in a subfolder
	// include each other by their paths from the folder.
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
	// Flags are handed to the compiler after gocute's own, such as -DNAME=1; those that both compilers take are
	// -D, -U, -maxrregcount=N, -use_fast_math, -std=c++17 (C++14 if none is named) and the like.
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
	Warnings []string // the compiler's and ptxas' warnings, and a cache that cannot be written
}

// Binary is a cubin for one chip.
type Binary struct {
	Arch    string  // such as sm_80
	Cubin   []byte  // an ELF file
	Report  Report  // of ptxas
	Hit     bool    // true if it came from the cache
	Seconds float64 // wall time of ptxas when it ran, now or then; 0 from NVRTC, whose one step counts for the PTX
}

// PTX is the front end's output for one virtual chip.
type PTX struct {
	Arch    string // such as compute_80
	Code    []byte
	Hit     bool    // true if it came from the cache
	Seconds float64 // wall time of the front end when it ran, now or then
	Prelude bool    // true if nvcc read gocute's declarations in place of the toolkit's headers; see Toolchain
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
// (compute_80). The cubin of a chip is made from exactly this text (by nvcc), or
// in the same step (by NVRTC).
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

// Seconds is the sum of the compiler's wall times over all steps; for steps that came
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

// job is the work for one virtual chip.
type job struct {
	from     *Common
	src      *Source
	includes string // digest of the headers
	archs    []string
	ptx      PTX
	binaries []Binary
	warnings []string
	err      error
}

// plan checks the source, fills its defaults and splits it by virtual chip.
func (c *Common) plan(src *Source) ([]*job, error) {
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
			jobs = append(jobs, &job{from: c, src: src, includes: includes, ptx: PTX{Arch: virtual(arch)}})
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

// warn keeps the front end's remarks, one Warnings element each run.
func (j *job) warn(log string) {
	if log = shown(strings.TrimSpace(log)); log != "" {
		j.warnings = append(j.warnings, log)
	}
}

// slot waits for the right to run one more compile; release gives it back.
func (j *job) slot(ctx context.Context) (release func(), err error) {
	select {
	case j.from.slots <- struct{}{}:
		return func() { <-j.from.slots }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// keep stores a result; a cache that cannot be written is only worth a warning.
func (j *job) keep(key string, e entry) {
	if err := j.from.store(key, e); err != nil {
		j.warnings = append(j.warnings, fmt.Sprintf("the cache could not be written: %v", err))
	}
}

// cached takes a result from the cache, unless the source asks to be compiled anew. One that is not right was stored
// before results were looked at, or by somebody else: it counts for nothing.
func (j *job) cached(key string, look func(entry) error) (entry, bool) {
	if j.src.NoCache {
		return entry{}, false
	}
	e, ok := j.from.load(key)
	return e, ok && look(e) == nil
}

// waiting tells now and then that a step still runs, until the function that it returns is called.
func (j *job) waiting(arch string) (done func()) {
	c := j.from
	if c.progress == nil || c.patience <= 0 {
		return func() {}
	}
	start, stop, ended := time.Now(), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		t := time.NewTicker(c.patience)
		defer t.Stop()
		for {
			select {
			case <-stop:
				return
			case <-t.C:
				fmt.Fprintf(c.progress, "gocute: still waiting for %s (%s), which compiles %s for %s, after %v\n",
					c.Name, c.Path, j.src.Name, arch, time.Since(start).Round(time.Second))
			}
		}
	}()
	return func() { close(stop); <-ended }
}

// standard is the language of emitted code, unless the flags choose another. C++17 would take nvcc a tenth of a second
// more: what every file includes, <cmath> among it, then has the special functions and much else.
func (j *job) standard() []string {
	if slices.ContainsFunc(j.src.Flags, func(f string) bool { return strings.HasPrefix(strings.TrimLeft(f, "-"), "std") }) {
		return nil
	}
	return []string{"-std=c++14"}
}

// key names a result in the cache by all that goes into it.
func (j *job) key(what string, parts ...[]byte) string {
	head := [][]byte{[]byte(what), []byte(j.from.identity), []byte(j.src.Name)}
	return keyOf(append(head, parts...)...)
}
