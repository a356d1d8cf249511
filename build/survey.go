package build

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gocute/gocute/internal/proc"
)

// Survey is what there is of one compiler on this machine.
type Survey struct {
	Compiler string  // NameNVCC or NameNVRTC
	Used     *Common // the one that Find or FindNVRTC takes; nil if there is none
	Places   []Place // all that were looked at, in their order
	// Broken says what is wrong and what to do, a line each: nothing that can be used or installed, a variable that
	// points nowhere, a damaged installation.
	Broken []string
}

// Place is where a compiler was looked for.
type Place struct {
	Origin  string // as Common.Origin
	Path    string // the file looked at; empty if the origin named none
	Version string // of the compiler there, if it can be used
	Reason  string // why it is not used; empty for the one that is
}

// Look lists every place where the compiler of that name, NameNVCC or NameNVRTC, may be. It downloads and installs nothing.
func Look(ctx context.Context, name string, opt Options) (*Survey, error) {
	opt, err := opt.settled()
	if err != nil {
		return nil, err
	}
	s := &Survey{Compiler: name}
	list, pack := candidates(opt), nvccPack()
	try := func(path, origin string) (*Common, error) {
		tc, err := probe(ctx, path, origin, opt)
		if err != nil {
			return nil, err
		}
		return tc.About(), nil
	}
	if name == NameNVRTC {
		list, pack = rtcCandidates(ctx, opt), nvrtcPack()
		try = func(path, origin string) (*Common, error) {
			n, err := probeNVRTC(path, origin, opt)
			if err != nil {
				return nil, err
			}
			return n.About(), nil
		}
	}
	binding := os.Getenv(variableOf(name)) != ""
	for _, c := range list {
		if c.reason == "" {
			s.try(c, try)
		} else {
			s.pass(c)
		}
	}
	if !binding {
		s.installed(ctx, newInstaller(pack, opt, opt.CacheDir), try)
	}
	return s, context.Cause(ctx)
}

// try looks at a compiler.
func (s *Survey) try(c candidate, try func(path, origin string) (*Common, error)) {
	found, err := try(c.path, c.origin)
	if err != nil {
		if c.reason = err.Error(); c.origin != originLoader {
			c.wanted = true
		}
		s.pass(c)
		return
	}
	p := Place{Origin: c.origin, Path: c.path, Version: found.Version.String()}
	if s.Used == nil {
		s.Used = found
	} else {
		p.Reason = "it can be used, but " + s.Used.Origin + " comes first"
	}
	s.Places = append(s.Places, p)
}

// pass notes one that cannot be used.
func (s *Survey) pass(c candidate) {
	s.Places = append(s.Places, Place{Origin: c.origin, Path: c.path, Reason: c.reason})
	if c.wanted {
		s.Broken = append(s.Broken, fmt.Sprintf("%s: %s (%s) cannot be used: %s; correct it, or unset or remove it", s.Compiler, c.origin, c.path, c.reason))
	}
}

// installed looks at what gocute installed, and whether it could install.
func (s *Survey) installed(ctx context.Context, in installer, try func(path, origin string) (*Common, error)) {
	c := candidate{origin: originInstalled, path: in.path()}
	_, err := os.Stat(in.dir)
	there := err == nil
	switch c.reason = in.missing(); {
	case c.reason == "":
		s.try(c, try)
	case there:
		c.wanted = true
		s.pass(c)
	default:
		s.pass(c)
	}
	if s.Used != nil {
		return
	}
	if in.noInstall {
		s.Broken = append(s.Broken, s.Compiler+": there is none that can be used, and "+EnvNoInstall+" forbids to install one: set "+variableOf(s.Compiler)+" to one")
	} else if _, err := in.prerequisites(ctx); err != nil {
		s.Broken = append(s.Broken, fmt.Sprintf("%s: there is none that can be used, and gocute cannot install one: %v", s.Compiler, err))
	}
}

// CacheState is the cache folder with the compiled objects in it.
type CacheState struct {
	Dir     string
	Objects int
	Bytes   int64
	Limit   int64 // 0 is none
}

// LookCache tells how large the cache is. The error says that it cannot be written or that a variable is wrong.
func LookCache(opt Options) (CacheState, error) {
	var c CacheState
	var err error
	if c.Dir, err = cacheDir(opt); err != nil {
		return c, err
	}
	if c.Limit, err = cacheLimit(); err != nil {
		return c, err
	}
	list, _, err := listObjects(c.Dir)
	if err != nil {
		return c, err
	}
	for _, o := range list {
		c.Objects++
		c.Bytes += o.size
	}
	return c, writable(c.Dir)
}

// writable tries the nearest folder that there is, as gocute makes those below it.
func writable(dir string) error {
	at := dir
	for {
		_, err := os.Stat(at)
		if err == nil || !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			break
		}
		at = filepath.Dir(at)
	}
	f, err := os.CreateTemp(at, ".gocute-try-")
	if err != nil {
		return fmt.Errorf("build: the cache folder %s cannot be written (set %s to another): %w", dir, EnvCache, err)
	}
	_ = f.Close()
	return os.Remove(f.Name())
}

// LookHost asks the host compiler that nvcc needs what it is.
func LookHost(ctx context.Context) (path, version string, err error) {
	opt := Options{askLimit: askLimit}
	path, err = proc.LookPath(hostCompiler())
	if err == nil {
		version, err = ask(ctx, opt, path, []string{"--version"}, nil)
	}
	if err != nil {
		return path, "", fmt.Errorf("%s: %w", hostCompilerHint, err)
	}
	return path, lastLines(firstLine(version), 1), nil
}

func firstLine(text string) string {
	for i, c := range text {
		if c == '\n' {
			return text[:i]
		}
	}
	return text
}
