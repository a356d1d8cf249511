package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gocute/gocute/cmd/gocute/runner"
	"github.com/gocute/gocute/internal/proc"
	"github.com/gocute/gocute/internal/scratch"
)

// program is a synthetic main program that imports packages with kernels. It exists as an overlay of the go
// command only: nothing is written to the user's module, which may be read-only.
type program struct {
	place string // the folder that it pretends to be in: one from which all its packages may be imported
	pkgs  []*kernelPackage
}

// ask has the kernels of the packages recorded in programs of their own and returns each one's answer.
func (s *session) ask(pkgs []*kernelPackage, req runner.Request) ([]runner.Response, error) {
	dir, err := scratch.New("", scratch.Prefix)
	if err != nil {
		return nil, unwritable(err)
	}
	defer dir.Remove()
	tmp := dir.Path
	mod, err := s.module(tmp)
	if err != nil {
		return nil, err
	}
	var out []runner.Response
	for _, p := range programs(pkgs, mod.dir) {
		res, err := s.execute(p, mod, tmp, req)
		if err != nil {
			return nil, err
		}
		out = append(out, res)
	}
	return out, nil
}

// programs groups packages so that each group has a place all of its packages may be imported from: what is
// below a folder internal can be imported only from beside that.
func programs(pkgs []*kernelPackage, otherwise string) []*program {
	var out []*program
	for _, p := range pkgs {
		place := placeOf(p, otherwise)
		i := slices.IndexFunc(out, func(g *program) bool { return within(g.place, place) || within(place, g.place) })
		if i < 0 {
			out = append(out, &program{place: place, pkgs: []*kernelPackage{p}})
			continue
		}
		g := out[i]
		g.pkgs = append(g.pkgs, p)
		if within(place, g.place) { // the deeper of both may import from either
			g.place = place
		}
	}
	return out
}

// placeOf is the highest folder of the module from which a package may be imported.
func placeOf(p *kernelPackage, otherwise string) string {
	if p.module == nil || !p.module.Main {
		return otherwise
	}
	rel := strings.Split(strings.TrimPrefix(strings.TrimPrefix(p.path, p.module.Path), "/"), "/")
	for i := len(rel) - 1; i >= 0; i-- {
		if rel[i] == "internal" {
			return filepath.Join(p.module.Dir, filepath.Join(rel[:i]...))
		}
	}
	return p.module.Dir
}

// within reports whether a folder is another or below it.
func within(dir, parent string) bool {
	return dir == parent || strings.HasPrefix(dir, strings.TrimSuffix(parent, "/")+"/")
}

// source is the program's text. The same packages give the same text, so that the go command finds the
// program in its cache.
func (p *program) source() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "package main\n\nimport (\n\t%q\n", runnerPath)
	for i, k := range p.pkgs {
		fmt.Fprintf(&b, "\tp%d %q\n", i, k.path)
	}
	fmt.Fprintf(&b, ")\n\nfunc main() {\n\trunner.Main(%d, []runner.Package{\n", runner.Protocol)
	for i, k := range p.pkgs {
		fmt.Fprintf(&b, "\t\t{Path: %q, Funcs: []runner.Func{\n", k.path)
		for _, f := range k.funcs {
			fmt.Fprintf(&b, "\t\t\t{Name: %q, Pos: %q, New: p%d.%s},\n", f.name, f.pos, i, f.name)
		}
		b.WriteString("\t\t}, Families: []runner.FamilyFunc{\n")
		for _, f := range k.families {
			fmt.Fprintf(&b, "\t\t\t{Name: %q, Pos: %q, New: p%d.%s},\n", f.name, f.pos, i, f.name)
		}
		b.WriteString("\t\t}},\n")
	}
	b.WriteString("\t})\n}\n")
	return b.Bytes()
}

// execute builds and runs a program with go run, which keeps the linked program for the next time.
func (s *session) execute(p *program, mod *module, tmp string, req runner.Request) (runner.Response, error) {
	var res runner.Response
	src := p.source()
	folder := filepath.Join(p.place, fmt.Sprintf("gocute_main_%x", sha256.Sum256(src))[:24])
	real, overlay := filepath.Join(tmp, "main.go"), filepath.Join(tmp, "overlay.json")
	request := filepath.Join(tmp, "request.json")
	req.Protocol, req.Response = runner.Protocol, filepath.Join(tmp, "response.json")
	req.Dir = s.dir
	_ = os.Remove(req.Response)
	_ = os.Remove(req.Response + runner.UnderWay)
	files := map[string]any{
		overlay: map[string]any{"Replace": map[string]string{filepath.Join(folder, "main.go"): real}},
		request: req,
	}
	for path, v := range files {
		data, err := json.Marshal(v)
		if err == nil {
			err = os.WriteFile(path, data, 0o600)
		}
		if err != nil {
			return res, err
		}
	}
	if err := os.WriteFile(real, src, 0o600); err != nil {
		return res, err
	}
	args := append([]string{"run", "-overlay=" + overlay}, mod.flags...)
	noise := &filter{to: s.stderr}
	// The go command does not pass signals on, so the program gets the interrupt with it.
	err := proc.Run(s.ctx, "go", append(args, folder, request), proc.Options{
		Dir: s.dir, Env: mod.env, Stdout: s.aside(), Stderr: noise, Interrupt: true,
	})
	noise.flush()
	if lost := s.lost(); lost != nil { // the program may have died of it
		return res, lost
	}
	data, readErr := os.ReadFile(req.Response)
	if readErr != nil {
		return res, s.failed(p, err, noise, req.Response)
	}
	_, _ = s.stderr.Write(noise.crash) // it was none
	if err := json.Unmarshal(data, &res); err != nil {
		return res, fmt.Errorf("internal error: response: %w", err)
	}
	return res, nil
}
