package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/gocute/gocute/build"
	"github.com/gocute/gocute/cmd/gocute/report"
	"github.com/gocute/gocute/cuda"
	"github.com/gocute/gocute/internal/text"
)

// envCmd is gocute env.
type envCmd struct {
	jsonFlag
}

// Help is shown by --help.
func (envCmd) Help() string {
	return `Tells which compilers, host compiler, cache and GPU gocute uses and why. It downloads and installs nothing. The exit
status is 1 if something is broken: no compiler that can be used or installed, a variable that points nowhere, a
damaged installation, a cache that cannot be written. A machine without a GPU is in order.

Examples:

  gocute env
  gocute env --json`
}

// Run looks and tells; what is broken is the error.
func (c *envCmd) Run(s *session) error {
	r := object[report.Env](s)
	broken := s.look(r)
	printEnv(s, r)
	if len(broken) > 0 {
		return broken
	}
	return nil
}

// look asks everything and returns what is broken.
func (s *session) look(r *report.Env) (all failure) {
	r.Version, r.Variables = version().String(), map[string]string{}
	broken := func(err error) {
		if err != nil && !slices.Contains(all, "broken: "+err.Error()) {
			all = append(all, "broken: "+err.Error())
		}
	}
	for _, v := range variables {
		if value := os.Getenv(v.name); value != "" && !v.general {
			r.Variables[v.name] = value
		}
	}
	if out, err := s.output("version"); err != nil {
		broken(fmt.Errorf("the go command, which gocute builds kernels' packages with, does not answer: %w", err))
	} else {
		r.Go = strings.TrimSpace(string(out))
		env, err := s.goEnv()
		broken(err)
		if r.Module = env.GOWORK; r.Module == "" && env.GOMOD != os.DevNull {
			r.Module = env.GOMOD
		}
	}
	for _, name := range []string{build.NameNVCC, build.NameNVRTC} {
		found, err := build.Look(s.ctx, name, build.Options{Progress: s.stderr})
		broken(err)
		if found == nil {
			continue
		}
		e := report.EnvCompiler{Name: name}
		if u := found.Used; u != nil {
			e.Version, e.Path, e.Origin = u.Version.String(), u.Path, u.Origin
		}
		for _, p := range found.Places {
			e.Places = append(e.Places, report.EnvPlace(p))
		}
		r.Compilers = append(r.Compilers, e)
		for _, fault := range found.Broken {
			broken(errors.New(fault))
		}
	}
	path, version, err := build.LookHost(s.ctx)
	if broken(err); err == nil {
		r.HostCompiler = path + ": " + version
	}
	cache, err := build.LookCache(build.Options{})
	broken(err)
	r.Cache = report.EnvCache{Dir: cache.Dir, Objects: cache.Objects, Bytes: cache.Bytes, LimitBytes: cache.Limit}
	if dev, err := cuda.Open(0); err != nil {
		r.NoGPU = err.Error()
	} else {
		r.GPU = fmt.Sprintf("%s (%s)", dev.Info().Name, dev.Info().Arch())
		broken(dev.Close())
	}
	return all
}

// printEnv writes it for people.
func printEnv(s *session, r *report.Env) {
	line := func(name, format string, args ...any) {
		value := strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "\n"+strings.Repeat(" ", 15)) // of errors, some have lines
		fmt.Fprintf(s.stdout, "%-14s %s\n", name, value)
	}
	line("gocute", "%s", r.Version)
	line("go", "%s", r.Go)
	line("module", "%s", orNone(r.Module))
	for _, c := range r.Compilers {
		if c.Path != "" {
			line(c.Name, "%s at %s (%s)", c.Version, c.Path, c.Origin)
		} else {
			line(c.Name, "none")
		}
		for _, p := range c.Places {
			why := p.Reason
			if why == "" {
				why = "used"
			}
			line("", "%s", strings.TrimSpace(fmt.Sprintf("%s %s %s", p.Origin, p.Path, p.Version))+": "+why)
		}
	}
	line("host compiler", "%s", orNone(r.HostCompiler))
	limit := "no limit"
	if r.Cache.LimitBytes > 0 {
		limit = "limit " + sizeText(r.Cache.LimitBytes)
	}
	line("cache", "%s: %s, %s, %s", r.Cache.Dir, text.Count(r.Cache.Objects, "object"), sizeText(r.Cache.Bytes), limit)
	if r.GPU != "" {
		line("GPU", "%s", r.GPU)
	} else {
		line("GPU", "none: %s", r.NoGPU)
	}
	for _, v := range variables {
		if value, ok := r.Variables[v.name]; ok {
			line("variable", "%s=%s", v.name, value)
		}
	}
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}
