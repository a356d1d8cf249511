package build

import (
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

	"github.com/gocute/gocute/internal/proc"
)

// Environment variables that steer Find and FindNVRTC.
const (
	EnvNVCC  = "GOCUTE_NVCC"  // path of the nvcc to use, and no other
	EnvNVRTC = "GOCUTE_NVRTC" // path of the libnvrtc to use, and no other
	EnvCache = "GOCUTE_CACHE" // folder for the installed toolchain and compiled objects
)

// Options of Find and FindNVRTC. The zero value looks everywhere, installs if it must and
// tells about it on standard error.
type Options struct {
	Progress  io.Writer // lines about an installation; nil is os.Stderr
	NoInstall bool      // never download: fail with *NotFoundError instead
	CacheDir  string    // the cache folder; empty is $GOCUTE_CACHE, else gocute in the user's cache folder

	system string // stands for systemCUDA in tests
	tree   string // stands for the pinned digest of the installed files in tests
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
	cache, err := cacheDir(opt)
	if err != nil {
		return nil, err
	}
	sweepLeftovers(cache)
	nf := &NotFoundError{Compiler: NameNVCC}
	for _, c := range candidates(opt) {
		if c.reason == "" {
			tc, err := probe(ctx, c.path, c.origin, cache)
			if err == nil {
				return tc, nil
			}
			if ctx.Err() != nil {
				return nil, fmt.Errorf("build: looking for nvcc: %w", context.Cause(ctx))
			}
			c.reason = err.Error()
		}
		nf.Tried = append(nf.Tried, Attempt{c.origin, c.path, c.reason})
		if c.origin == EnvNVCC {
			nf.Hint = "unset " + EnvNVCC + " to let gocute look elsewhere"
			return nil, nf
		}
	}
	return findInstalled(ctx, opt, cache, nf)
}

// findInstalled takes the wheels in the cache folder, installing them if allowed.
func findInstalled(ctx context.Context, opt Options, cache string, nf *NotFoundError) (*Toolchain, error) {
	in := newInstaller(nvccPack(), opt, cache)
	if err := in.ensure(ctx, nf); err != nil {
		return nil, err
	}
	tc, err := probe(ctx, in.path(), "installed", cache)
	if err != nil {
		if err := in.reinstall(ctx, nf, err); err != nil {
			return nil, err
		}
		if tc, err = probe(ctx, in.path(), "installed", cache); err != nil {
			nf.Err = err
			return nil, nf
		}
	}
	tc.healer = &healer{in: in}
	return tc, nil
}

// notAbsolute refuses a folder of code that would be another one in each working folder.
const notAbsolute = "expected an absolute path, but got a relative one"

type candidate struct{ origin, path, reason string }

// candidates lists the places outside the cache folder; a reason marks those
// that cannot be it.
func candidates(opt Options) []candidate {
	var list []candidate
	add := func(origin, path string) {
		c := candidate{origin: origin, path: path}
		if abs, err := filepath.Abs(path); err == nil {
			c.path = abs
		}
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			c.reason = "no such file"
		case err != nil:
			c.reason = err.Error()
		case info.IsDir():
			c.reason = "expected the program nvcc, but got a folder"
		}
		list = append(list, c)
	}
	if p := os.Getenv(EnvNVCC); p != "" {
		add(EnvNVCC, p)
		return list
	}
	if home := os.Getenv("CUDA_HOME"); home != "" && !filepath.IsAbs(home) {
		list = append(list, candidate{origin: "CUDA_HOME", path: home, reason: notAbsolute})
	} else if home != "" {
		add("CUDA_HOME", filepath.Join(home, "bin", exe("nvcc")))
	} else {
		list = append(list, candidate{origin: "CUDA_HOME", reason: "not set"})
	}
	if p, err := proc.LookPath("nvcc"); err == nil {
		add("PATH", p)
	} else {
		list = append(list, candidate{origin: "PATH", reason: "no nvcc in any of its folders"})
	}
	system := opt.system
	if system == "" {
		system = systemCUDA
	}
	add(systemCUDA, filepath.Join(system, "bin", exe("nvcc")))
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
func probe(ctx context.Context, path, origin, cache string) (*Toolchain, error) {
	text, err := proc.Output(ctx, path, []string{"--version"}, proc.Options{})
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
	list, err := proc.Output(ctx, path, []string{"--list-gpu-code"}, proc.Options{})
	if err != nil {
		return nil, err
	}
	tc := &Toolchain{NVCC: path, Common: Common{
		Name: NameNVCC, Version: v, Origin: origin, Targets: strings.Fields(list), CacheDir: cache,
		slots: make(chan struct{}, runtime.GOMAXPROCS(0)),
	}}
	if err := tc.checkTargets(); err != nil {
		return nil, err
	}
	tc.warnNewer()
	tc.identity = identify(ctx, text)
	return tc, nil
}

// checkTargets refuses a compiler that cannot serve the chips gocute generates for.
func (c *Common) checkTargets() error {
	for _, want := range []string{"sm_80", "sm_90"} {
		if !slices.Contains(c.Targets, want) {
			return fmt.Errorf("expected %s %s to compile for %s, but got only %s", c.Name, c.Version, want, strings.Join(c.Targets, " "))
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
