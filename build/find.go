package build

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gocute/gocute/internal/proc"
)

// Environment variables that steer Find and FindNVRTC.
const (
	EnvNVCC      = "GOCUTE_NVCC"        // path of the nvcc to use, and no other
	EnvNVRTC     = "GOCUTE_NVRTC"       // path of the libnvrtc to use, and no other
	EnvCache     = "GOCUTE_CACHE"       // folder for the installed toolchain and compiled objects
	EnvLimit     = "GOCUTE_CACHE_LIMIT" // size of the compiled objects, such as 500MB; 0 is no limit
	EnvNoInstall = "GOCUTE_NO_INSTALL"  // 1 means Options.NoInstall
)

const (
	// askLimit is how long a program may take to tell what it is.
	askLimit = 20 * time.Second
	// patience is how long a compile may take without a word.
	patience = 30 * time.Second
)

// Options of Find and FindNVRTC. The zero value looks everywhere, installs if it must and
// tells about it on standard error.
type Options struct {
	Progress  io.Writer // lines about an installation and about compiles that take long; nil is os.Stderr
	NoInstall bool      // never download: fail with *NotFoundError instead; $GOCUTE_NO_INSTALL=1 says the same
	CacheDir  string    // the cache folder; empty is $GOCUTE_CACHE, else gocute in the user's cache folder

	system string // stands for systemCUDA in tests
	tree   string // stands for the pinned digest of the installed files in tests
	// In tests, in place of the constants.
	askLimit, patience time.Duration
}

// settled fills in what is not given and what the environment says.
func (o Options) settled() (Options, error) {
	if o.Progress == nil {
		o.Progress = os.Stderr
	}
	o.Progress = &lockedWriter{to: o.Progress}
	o.askLimit, o.patience = cmp.Or(o.askLimit, askLimit), cmp.Or(o.patience, patience)
	o.system = cmp.Or(o.system, systemCUDA)
	switch v := os.Getenv(EnvNoInstall); v {
	case "", "0":
	case "1":
		o.NoInstall = true
	default:
		return o, fmt.Errorf("build: %s: expected 1 or 0, but got %q", EnvNoInstall, v)
	}
	var err error
	if o.CacheDir, err = cacheDir(o); err != nil {
		return o, err
	}
	if _, err = cacheLimit(); err != nil {
		return o, err
	}
	return o, nil
}

// lockedWriter takes whole lines from several goroutines.
type lockedWriter struct {
	mu sync.Mutex
	to io.Writer
}

func (w *lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(p)
}

const systemCUDA = "/usr/local/cuda"

// Toolchain is a usable nvcc with a cache folder. It is safe for concurrent use;
// all compiles of one Toolchain together run at most GOMAXPROCS processes.
//
// Before a whole kernel as gocute printed it, nvcc reads a few declarations of ours in place of the toolkit's headers, which take
// it longer than the kernel: the PTX is the same (a test holds that). A kernel that uses more than they have is compiled
// once more, after the headers; what was edited or has IncludeDirs, Flags or LineInfo, after the headers only.
type Toolchain struct {
	NVCC        string // absolute path
	FullHeaders bool   // reads the toolkit's headers before every source
	Common
}

// Find returns the first usable nvcc in the order given in the package's
// documentation, installing the pinned one if there is none and opt allows it.
// The error is a *NotFoundError listing each place looked at, unless the
// context ended or the cache folder cannot be named.
func Find(ctx context.Context, opt Options) (*Toolchain, error) {
	opt, err := opt.settled()
	if err != nil {
		return nil, err
	}
	sweepLeftovers(opt.CacheDir)
	nf := &NotFoundError{Compiler: NameNVCC}
	for _, c := range candidates(opt) {
		if c.reason == "" {
			tc, err := probe(ctx, c.path, c.origin, opt)
			if err == nil {
				tc.chosen(nf.Tried)
				return tc, nil
			}
			if ctx.Err() != nil {
				return nil, fmt.Errorf("build: looking for nvcc: %w", context.Cause(ctx))
			}
			c.unusable(err)
		}
		nf.Tried = append(nf.Tried, c.attempt())
		if c.origin == EnvNVCC {
			nf.Hint = "unset " + EnvNVCC + " to let gocute look elsewhere"
			return nil, nf
		}
	}
	return findInstalled(ctx, opt, nf)
}

// findInstalled takes the wheels in the cache folder, installing them if allowed.
func findInstalled(ctx context.Context, opt Options, nf *NotFoundError) (*Toolchain, error) {
	in := newInstaller(nvccPack(), opt, opt.CacheDir)
	passed := slices.Clone(nf.Tried)
	if err := in.ensure(ctx, nf); err != nil {
		return nil, err
	}
	tc, err := probe(ctx, in.path(), originInstalled, opt)
	if err != nil {
		if err := in.reinstall(ctx, nf, err); err != nil {
			return nil, err
		}
		if tc, err = probe(ctx, in.path(), originInstalled, opt); err != nil {
			nf.Err = err
			return nil, nf
		}
	}
	tc.chosen(passed)
	tc.healer = &healer{in: in}
	return tc, nil
}

// notAbsolute refuses a folder of code that would be another one in each working folder.
const notAbsolute = "expected an absolute path, but got a relative one"

const notSet = "not set"

type candidate struct {
	origin, path, reason string
	wanted               bool // somebody means it to be used, so that passing over it is worth a warning
}

// unusable notes why what is there cannot be used, which nobody would guess.
func (c *candidate) unusable(err error) { c.reason, c.wanted = err.Error(), true }

func (c candidate) attempt() Attempt { return Attempt{c.origin, c.path, c.reason, c.wanted} }

// candidates lists the places outside the cache folder; a reason marks those
// that cannot be it.
func candidates(opt Options) []candidate {
	var list []candidate
	add := func(origin, path string) {
		c := candidate{origin: origin, path: path, wanted: origin != systemCUDA}
		if abs, err := filepath.Abs(path); err == nil {
			c.path = abs
		}
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
			c.reason = "no such file"
		case err != nil:
			c.reason = err.Error()
		case info.IsDir():
			c.reason = "expected the program nvcc, but got a folder"
		}
		list = append(list, c)
	}
	if p := os.Getenv(EnvNVCC); p != "" {
		switch found, err := proc.LookPath(p); {
		case filepath.IsAbs(p):
			add(EnvNVCC, p)
		case filepath.Base(p) != p:
			list = append(list, candidate{origin: EnvNVCC, path: p, reason: notAbsolute, wanted: true})
		case err != nil: // a name, which no folder of PATH has
			list = append(list, candidate{origin: EnvNVCC, path: p, reason: "expected an absolute path, or the name of a program on PATH", wanted: true})
		default:
			add(EnvNVCC, found)
		}
		return list
	}
	if home := os.Getenv("CUDA_HOME"); home != "" && !filepath.IsAbs(home) {
		list = append(list, candidate{origin: "CUDA_HOME", path: home, reason: notAbsolute, wanted: true})
	} else if home != "" {
		add("CUDA_HOME", filepath.Join(home, "bin", exe("nvcc")))
	} else {
		list = append(list, candidate{origin: "CUDA_HOME", reason: notSet})
	}
	if p, err := proc.LookPath("nvcc"); err == nil {
		add(originPATH, p)
	} else {
		list = append(list, candidate{origin: originPATH, reason: "no nvcc in any of its folders"})
	}
	add(systemCUDA, filepath.Join(opt.system, "bin", exe("nvcc")))
	return list
}

func exe(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}

// cacheDir returns the absolute cache folder; it need not exist yet.
func cacheDir(opt Options) (string, error) {
	dir := opt.CacheDir
	if dir == "" {
		dir = os.Getenv(EnvCache)
	}
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("build: no cache folder (set %s to one): %w", EnvCache, err)
		}
		dir = filepath.Join(user, "gocute")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("build: cache folder %s: %w", dir, err)
	}
	return abs, nil
}

// probe asks an nvcc for its version and targets and refuses an unusable one.
func probe(ctx context.Context, path, origin string, opt Options) (*Toolchain, error) {
	text, err := ask(ctx, opt, path, []string{"--version"}, nil)
	if err != nil {
		return nil, err
	}
	v, err := parseVersion(text)
	if err != nil {
		return nil, err
	}
	if v.less(Version{Major: minMajor, Minor: minMinor}) {
		return nil, fmt.Errorf("expected nvcc %d.%d or newer, but got %s", minMajor, minMinor, v)
	}
	list, err := ask(ctx, opt, path, []string{"--list-gpu-code"}, nil)
	if err != nil {
		return nil, err
	}
	tc := &Toolchain{NVCC: path, Common: newCommon(NameNVCC, path, origin, v, opt)}
	tc.Targets = slices.DeleteFunc(strings.Fields(list), func(t string) bool { return checkArchs("sm_", []string{t}) != nil })
	if err := tc.checkTargets(); err != nil {
		return nil, err
	}
	tc.warnNewer()
	tc.identity = identify(ctx, opt, text)
	if origin != originInstalled { // what gocute installed is known by its version
		tc.identity += fileIdentity(path)
	}
	return tc, nil
}

func newCommon(name, path, origin string, v Version, opt Options) Common {
	return Common{
		Name: name, Path: path, Version: v, Origin: origin, CacheDir: opt.CacheDir,
		slots: make(chan struct{}, runtime.GOMAXPROCS(0)), progress: opt.Progress, patience: opt.patience, stored: &stored{},
	}
}

// checkTargets refuses a compiler that cannot serve the chips gocute generates for.
func (c *Common) checkTargets() error {
	for _, want := range []string{"sm_80", "sm_90"} {
		if !slices.Contains(c.Targets, want) {
			return fmt.Errorf("expected %s %s to compile for %s, but it lists %s", c.Name, c.Version, want, cmp.Or(strings.Join(c.Targets, " "), "none"))
		}
	}
	return nil
}

// warnNewer tells of a compiler whose PTX old drivers refuse.
func (c *Common) warnNewer() {
	if v := c.Version; (Version{Major: pinnedMajor, Minor: pinnedMinor, Build: v.Build}).less(v) {
		c.Warnings = append(c.Warnings, fmt.Sprintf(
			"%s %s writes PTX that needs a driver for CUDA %d.%d or newer (the pinned release %d.%d asks for less); cubins are not affected",
			c.Name, v, v.Major, v.Minor, pinnedMajor, pinnedMinor))
	}
}
