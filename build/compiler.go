package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// The compilers by the names that commands and errors use.
const (
	NameNVCC  = "nvcc"
	NameNVRTC = "nvrtc"
)

// Compiler makes cubins and PTX of CUDA C++: nvcc (a *Toolchain) or NVRTC (an *NVRTC). Both are safe for
// concurrent use and keep what they compiled in the same cache.
type Compiler interface {
	// Compile compiles the source for all its chips. A source that is refused gives a *CompileError.
	Compile(ctx context.Context, src Source) (*Result, error)
	// About says what the compiler is.
	About() *Common
}

// Common is what the compilers say of themselves.
type Common struct {
	Name     string    // NameNVCC or NameNVRTC
	Version  Version   // such as 13.0.88
	Path     string    // of the program or the library; the library's name if the loader knows where it is
	Origin   string    // where it was found: an environment variable, PATH, a folder or installed
	Targets  []string  // what it compiles for: sm_80, sm_90, …
	CacheDir string    // absolute path; its folder objects holds compiled kernels
	Warnings []string  // one line each, also about what was to be used and could not; usable all the same
	Passed   []Attempt // places that were looked at before

	identity string        // everything about the machine that can change the output
	slots    chan struct{} // one per compile that may run at a time
	healer   *healer       // of a compiler that gocute installed
	progress io.Writer
	patience time.Duration // with a compile, before it is told that it still runs
	stored   *stored       // what this process added to the cache
}

// About returns c.
func (c *Common) About() *Common { return c }

// Supports reports whether the compiler makes cubins for a chip, such as sm_90. Variants such as sm_90a, which compilers do
// not list, are supported with their chip.
func (c *Common) Supports(arch string) bool {
	return slices.Contains(c.Targets, arch) || slices.Contains(c.Targets, strings.TrimRight(arch, "af"))
}

// FindCompiler finds or installs the compiler of that name, NameNVCC or NameNVRTC.
func FindCompiler(ctx context.Context, name string, opt Options) (Compiler, error) {
	switch name {
	case NameNVCC:
		tc, err := Find(ctx, opt)
		if err != nil { // not a nil *Toolchain in an interface that is not nil
			return nil, err
		}
		return tc, nil
	case NameNVRTC:
		n, err := FindNVRTC(ctx, opt)
		if err != nil {
			return nil, err
		}
		return n, nil
	}
	return nil, fmt.Errorf("build: expected the compiler %s or %s, but got %q", NameNVCC, NameNVRTC, name)
}

// compile splits a source into jobs, does them with run, in parallel, and joins their results.
func (c *Common) compile(ctx context.Context, src Source, run func(context.Context, *job) error) (*Result, error) {
	jobs, err := c.plan(&src)
	if err != nil {
		return nil, fmt.Errorf("build: kernel %s: %w", src.Name, err)
	}
	var wg sync.WaitGroup
	for _, j := range jobs {
		if src.NoCache { // one after the other: the times are then comparable
			j.err = run(ctx, j)
		} else {
			wg.Go(func() { j.err = run(ctx, j) })
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
