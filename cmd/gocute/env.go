package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/gocute/gocute/build"
	"github.com/gocute/gocute/cuda"
)

// envCmd is gocute env.
type envCmd struct {
	JSON bool `name:"json" help:"Print one JSON object on standard output in place of text."`
}

// Help is shown by --help.
func (envCmd) Help() string {
	return `Tells which compilers, host compiler, cache and GPU gocute uses and why. It downloads and installs nothing. The exit
status is 1 if something is broken: no compiler that can be used or installed, a variable that points nowhere, a
damaged installation, a cache that cannot be written. A machine without a GPU is in order.

Example: gocute env
Example: gocute env --json`
}

// envReport is what gocute env --json prints.
type envReport struct {
	Version   string            `json:"version"`
	Go        string            `json:"go,omitempty"`
	Module    string            `json:"module,omitempty"` // path of the go.mod or go.work in use
	Compilers []envCompiler     `json:"compilers"`
	Host      string            `json:"hostCompiler,omitempty"`
	Cache     envCache          `json:"cache"`
	GPU       string            `json:"gpu,omitempty"`
	NoGPU     string            `json:"noGPU,omitempty"` // why there is none
	Variables map[string]string `json:"variables"`       // those of docs/environment.md that are set
	Broken    []string          `json:"broken"`
}

type envCompiler struct {
	Name    string     `json:"name"`
	Version string     `json:"version,omitempty"`
	Path    string     `json:"path,omitempty"`
	Origin  string     `json:"origin,omitempty"`
	Places  []envPlace `json:"places"`
}

type envPlace struct {
	Origin  string `json:"origin"`
	Path    string `json:"path,omitempty"`
	Version string `json:"version,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

type envCache struct {
	Dir        string `json:"dir"`
	Objects    int    `json:"objects"`
	Bytes      int64  `json:"bytes"`
	LimitBytes int64  `json:"limitBytes"`
}

// envVariables are those that gocute and its launchers read; docs/environment.md says what for.
var envVariables = []string{
	build.EnvNVCC, build.EnvNVRTC, build.EnvCache, build.EnvLimit, build.EnvNoInstall, "GOCUTE_FORCE_PTX", "GOCUTE_CUBLAS",
	"CUDA_HOME", "CUDA_PATH", "NVCC_CCBIN", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "VIRTUAL_ENV", "CONDA_PREFIX",
	"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LD_LIBRARY_PATH", "TMPDIR", "XDG_CACHE_HOME", "CUDA_VISIBLE_DEVICES",
}

// Run looks and tells; the error is silent, as what is broken has been said.
func (c *envCmd) Run(s *session) error {
	r := s.look()
	if c.JSON {
		data, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return fmt.Errorf("internal error: %w", err)
		}
		fmt.Fprintf(s.stdout, "%s\n", data)
	} else {
		r.print(s)
	}
	if len(r.Broken) > 0 {
		return errSilent
	}
	return nil
}

// look asks everything.
func (s *session) look() *envReport {
	r := &envReport{Version: version().String(), Variables: map[string]string{}, Broken: []string{}}
	broken := func(err error) {
		if err != nil && !contains(r.Broken, err.Error()) {
			r.Broken = append(r.Broken, err.Error())
		}
	}
	for _, name := range envVariables {
		if v := os.Getenv(name); v != "" {
			r.Variables[name] = v
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
		e := envCompiler{Name: name}
		if u := found.Used; u != nil {
			e.Version, e.Path, e.Origin = u.Version.String(), u.Path, u.Origin
		}
		for _, p := range found.Places {
			e.Places = append(e.Places, envPlace(p))
		}
		r.Compilers = append(r.Compilers, e)
		for _, text := range found.Broken {
			broken(errors.New(text))
		}
	}
	path, version, err := build.LookHost(s.ctx)
	if r.Host = path + ": " + version; err != nil {
		r.Host = ""
		broken(err)
	}
	cache, err := build.LookCache(build.Options{})
	broken(err)
	r.Cache = envCache{cache.Dir, cache.Objects, cache.Bytes, cache.Limit}
	if dev, err := cuda.Open(0); err != nil {
		r.NoGPU = err.Error()
	} else {
		r.GPU = fmt.Sprintf("%s (%s)", dev.Info().Name, dev.Info().Arch())
		broken(dev.Close())
	}
	return r
}

func contains(list []string, text string) bool {
	for _, l := range list {
		if l == text {
			return true
		}
	}
	return false
}

// print writes it for people.
func (r *envReport) print(s *session) {
	line := func(name, format string, args ...any) {
		fmt.Fprintf(s.stdout, "%-14s %s\n", name, fmt.Sprintf(format, args...))
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
	line("host compiler", "%s", orNone(r.Host))
	limit := "no limit"
	if r.Cache.LimitBytes > 0 {
		limit = "limit " + sizeText(r.Cache.LimitBytes)
	}
	line("cache", "%s: %d objects, %s, %s", r.Cache.Dir, r.Cache.Objects, sizeText(r.Cache.Bytes), limit)
	if r.GPU != "" {
		line("GPU", "%s", r.GPU)
	} else {
		line("GPU", "none: %s", r.NoGPU)
	}
	for _, name := range envVariables {
		if v, ok := r.Variables[name]; ok {
			line("variable", "%s=%s", name, v)
		}
	}
	for _, text := range r.Broken {
		line("BROKEN", "%s", text)
	}
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}
