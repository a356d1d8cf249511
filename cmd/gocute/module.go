package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gocute/gocute/internal/proc"
)

// module says how the go command is to see the user's module (or workspace) without ever writing to it: it may
// lack requirements and checksums that the synthetic program needs, so copies of its files are completed instead.
type module struct {
	dir   string   // a folder of a main module
	flags []string // for go run
	env   []string // besides that of this process
}

// goEnv is what the go command says about the working folder.
type goEnv struct{ GOMOD, GOWORK, GOFLAGS string }

// output runs the go command in the working folder.
func (s *session) output(args ...string) ([]byte, error) {
	var out, stderr bytes.Buffer
	err := proc.Run(s.ctx, "go", args, proc.Options{Dir: s.dir, Stdout: &out, Stderr: &stderr})
	if err != nil && stderr.Len() > 0 {
		err = fmt.Errorf("go %s: %s", args[0], bytes.TrimSpace(stderr.Bytes()))
	}
	return out.Bytes(), err
}

// goEnv asks the go command.
func (s *session) goEnv() (env goEnv, err error) {
	data, err := s.output("env", "-json", "GOMOD", "GOWORK", "GOFLAGS")
	if err == nil {
		err = json.Unmarshal(data, &env)
	}
	if env.GOWORK == "off" {
		env.GOWORK = ""
	}
	return env, err
}

// module prepares the copies in a temporary folder.
func (s *session) module(tmp string) (*module, error) {
	env, err := s.goEnv()
	if err != nil {
		return nil, err
	}
	m := &module{dir: filepath.Dir(env.GOMOD)}
	workspace := env.GOWORK != ""
	root := m.dir
	if workspace {
		root = filepath.Dir(env.GOWORK)
	}
	if _, err := os.Stat(filepath.Join(root, "vendor", runnerPath)); err == nil {
		return m, nil // all that is needed is vendored
	}
	if workspace {
		return m, s.workspace(tmp, env, m)
	}
	return m, s.single(tmp, env, m)
}

// single copies go.mod and go.sum for -modfile; -mod=mod lets the go command complete the copies.
func (s *session) single(tmp string, env goEnv, m *module) error {
	path := env.GOMOD
	for _, f := range strings.Fields(env.GOFLAGS) {
		if p, ok := strings.CutPrefix(f, "-modfile="); ok {
			path = p
		}
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.dir, path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return s.explain(errNoModule)
	}
	if err := os.WriteFile(filepath.Join(tmp, "go.mod"), data, 0o600); err != nil {
		return err
	}
	m.flags = []string{"-modfile=" + filepath.Join(tmp, "go.mod"), "-mod=mod"}
	return s.sums(filepath.Join(tmp, "go.sum"), strings.TrimSuffix(path, ".mod")+".sum")
}

// sums joins a file of checksums with gocute's own, which vouch for the modules that gocute uses.
func (s *session) sums(to, from string) error {
	all := []string{from}
	if dir, err := s.output("list", "-m", "-f", "{{.Dir}}", modulePath); err == nil {
		all = append(all, filepath.Join(strings.TrimSpace(string(dir)), "go.sum"))
	}
	var b bytes.Buffer
	for _, path := range all {
		data, err := os.ReadFile(path)
		if err != nil { // a module without dependencies has none
			continue
		}
		b.Write(data)
		b.WriteByte('\n')
	}
	return os.WriteFile(to, b.Bytes(), 0o600)
}

// work is a go.work file, as go work edit -json prints it.
type work struct {
	Go, Toolchain string
	Godebug       []struct{ Key, Value string }
	Use           []struct{ DiskPath string }
	Replace       []struct {
		Old, New struct{ Path, Version string }
	}
}

// workspace copies go.work and go.work.sum, with its paths made absolute.
func (s *session) workspace(tmp string, env goEnv, m *module) error {
	data, err := s.output("work", "edit", "-json", env.GOWORK)
	if err != nil {
		return err
	}
	var w work
	if err := json.Unmarshal(data, &w); err != nil {
		return fmt.Errorf("internal error: go work edit: %w", err)
	}
	root := filepath.Dir(env.GOWORK)
	if env.GOMOD == os.DevNull && len(w.Use) > 0 {
		m.dir = absolute(root, w.Use[0].DiskPath)
	}
	path := filepath.Join(tmp, "go.work")
	if err := os.WriteFile(path, w.text(root), 0o600); err != nil {
		return err
	}
	m.env = append(m.env, "GOWORK="+path)
	return s.sums(path+".sum", env.GOWORK+".sum")
}

// text prints the file.
func (w *work) text(root string) []byte {
	var b bytes.Buffer
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	if w.Go != "" {
		line("go %s", w.Go)
	}
	if w.Toolchain != "" {
		line("toolchain %s", w.Toolchain)
	}
	for _, g := range w.Godebug {
		line("godebug %s=%s", g.Key, g.Value)
	}
	for _, u := range w.Use {
		line("use %q", absolute(root, u.DiskPath))
	}
	for _, r := range w.Replace {
		target := fmt.Sprintf("%s %s", r.New.Path, r.New.Version)
		if r.New.Version == "" {
			target = fmt.Sprintf("%q", absolute(root, r.New.Path))
		}
		line("replace %s %s => %s", r.Old.Path, r.Old.Version, target)
	}
	return b.Bytes()
}

func absolute(root, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(root, path)
}
