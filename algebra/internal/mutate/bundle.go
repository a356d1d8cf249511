package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gocute/gocute/internal/proc"
)

//go:embed run.sh
var script []byte

// writeBundle writes the mutants' binary, the tests' own, this command, and the files that the tests read.
func writeBundle(o options, files map[string][]byte, sites []site) error {
	tree := filepath.Join(o.bundle, "tree")
	home := filepath.Join(tree, filepath.Base(o.dir)) // where the tests run, so that their relative paths hold
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	var list strings.Builder
	for i, s := range sites {
		fmt.Fprintf(&list, "%d\t%s\n", i, s)
	}
	if err := os.WriteFile(filepath.Join(o.bundle, "mutants.txt"), []byte(list.String()), 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(o.bundle, "run.sh"), script, 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := build(o.dir, tmp, filepath.Join(tree, "mutants.test"), files); err != nil {
		return err
	}
	if err := static("test", "-c", "-o", filepath.Join(tree, "laws.test"), "./"+filepath.ToSlash(o.dir)); err != nil {
		return err
	}
	if err := static("build", "-o", filepath.Join(o.bundle, "mutate"), "./algebra/internal/mutate"); err != nil {
		return err
	}
	for from, to := range map[string]string{filepath.Join(o.dir, "testdata"): filepath.Join(home, "testdata"), "docs": filepath.Join(tree, "docs")} {
		if err := os.RemoveAll(to); err != nil {
			return err
		}
		if err := os.CopyFS(to, os.DirFS(from)); err != nil {
			return err
		}
	}
	code, err := os.ReadFile(filepath.Join(o.dir, "example_test.go")) // a test compares it with the tutorial
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(home, "example_test.go"), code, 0o644)
}

// build makes the test binary of the changed files, which replace the package's by an overlay.
func build(dir, tmp, binary string, files map[string][]byte) error {
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for path, code := range files {
		to := filepath.Join(tmp, filepath.Base(path))
		if err := os.WriteFile(to, code, 0o644); err != nil {
			return err
		}
		abs, err := filepath.Abs(path)
		if err != nil {
			return err
		}
		overlay.Replace[abs] = to
	}
	data, err := json.Marshal(overlay)
	if err != nil {
		return err
	}
	config := filepath.Join(tmp, "overlay.json")
	if err := os.WriteFile(config, data, 0o644); err != nil {
		return err
	}
	return static("test", "-c", "-vet=off", "-overlay", config, "-o", binary, "./"+filepath.ToSlash(dir))
}

// static runs go with the flags of a binary that needs nothing where it runs.
func static(verb string, args ...string) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	args = append([]string{verb, "-ldflags", "-s -w", "-trimpath"}, args...)
	var out bytes.Buffer
	err = proc.Run(context.Background(), "go", args, proc.Options{Dir: dir, Env: []string{"CGO_ENABLED=0"}, Stdout: &out, Stderr: &out})
	if err != nil {
		return fmt.Errorf("go %s: %w\n%s", verb, err, out.Bytes())
	}
	return nil
}

// readSites reads the list of a bundle.
func readSites(path string) ([]site, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var out []site
	for line := range strings.Lines(string(text)) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 5)
		if len(f) != 5 {
			return nil, fmt.Errorf("%s: %q is no mutant", path, line)
		}
		out = append(out, site{f[1], f[2], strings.TrimPrefix(f[3], "in "), f[4]})
	}
	return out, nil
}
