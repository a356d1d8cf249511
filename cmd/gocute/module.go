package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"

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
type goEnv struct{ GOMOD, GOWORK, GOFLAGS, GO111MODULE string }

// output runs the go command in the working folder.
func (s *session) output(args ...string) ([]byte, error) {
	if err := s.temporary(); err != nil {
		return nil, err
	}
	var out, stderr bytes.Buffer
	err := proc.Run(s.ctx, "go", args, proc.Options{Dir: s.dir, Stdout: &out, Stderr: &stderr})
	if err != nil && stderr.Len() > 0 {
		err = fmt.Errorf("go %s: %s", args[0], bytes.TrimSpace(stderr.Bytes()))
	}
	return out.Bytes(), err
}

// goEnv asks the go command.
func (s *session) goEnv() (env goEnv, err error) {
	data, err := s.output("env", "-json", "GOMOD", "GOWORK", "GOFLAGS", "GO111MODULE")
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
	m := &module{dir: filepath.Dir(env.GOMOD), env: hostEnv()}
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

// workspace copies go.work and go.work.sum, with its paths made absolute.
func (s *session) workspace(tmp string, env goEnv, m *module) error {
	data, err := os.ReadFile(env.GOWORK)
	if err != nil {
		return err
	}
	w, err := modfile.ParseWork(env.GOWORK, data, nil)
	if err != nil {
		return err
	}
	root := filepath.Dir(env.GOWORK)
	if env.GOMOD == os.DevNull && len(w.Use) > 0 {
		m.dir = absolute(root, w.Use[0].Path)
	}
	makeAbsolute(w, root)
	path := filepath.Join(tmp, "go.work")
	if err := os.WriteFile(path, modfile.Format(w.Syntax), 0o600); err != nil {
		return err
	}
	m.env = append(m.env, "GOWORK="+path)
	return s.sums(path+".sum", env.GOWORK+".sum")
}

// makeAbsolute gives a workspace absolute paths, for a copy of its file in another folder. A path is the last word of its line.
func makeAbsolute(w *modfile.WorkFile, root string) {
	set := func(line *modfile.Line, path string) {
		line.Token[len(line.Token)-1] = modfile.AutoQuote(filepath.ToSlash(absolute(root, path)))
	}
	for _, u := range w.Use {
		set(u.Syntax, u.Path)
	}
	for _, r := range w.Replace {
		if r.New.Version == "" {
			set(r.Syntax, r.New.Path)
		}
	}
}

func absolute(root, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(root, path)
}
