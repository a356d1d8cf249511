// Command mutate changes one operator or constant of package algebra at a time and runs its tests: a mutant that
// no test notices is a place that no test looks at.
//
//	go run ./algebra/internal/mutate -list                 how many mutants there are
//	go run ./algebra/internal/mutate -every 5 -tests 'TestGolden|TestLaw'
//
// All mutants are built into one test binary, each behind a switch, and an environment variable selects one.
// Mutated are: comparisons (to their neighbours), + - * / % and bit operators (to their partners), && and ||,
// min and max, calls that round up, and integer constants (plus one).
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

func main() {
	dir := flag.String("dir", "algebra", "the package's folder")
	list := flag.Bool("list", false, "only list the mutants")
	every := flag.Int("every", 1, "run every n-th mutant only")
	from := flag.Int("from", 0, "the first mutant to run")
	match := flag.String("match", "", "a regular expression that a mutant's line of -list must match")
	tests := flag.String("tests", ".", "the tests to run; with commas, several groups one after the other while they pass")
	limit := flag.Duration("timeout", 60*time.Second, "after which a mutant counts as noticed")
	flag.Parse()
	if err := run(*dir, *list, *match, *from, *every, *tests, *limit); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run(dir string, list bool, match string, from, every int, tests string, limit time.Duration) error {
	tmp, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	files, sites, err := instrument(dir)
	if err != nil {
		return err
	}
	fmt.Printf("%d mutants\n", len(sites))
	only, err := regexp.Compile(match)
	if err != nil {
		return err
	}
	var chosen []int
	for i, s := range sites {
		if only.MatchString(s.String()) {
			chosen = append(chosen, i)
		}
	}
	if list {
		for _, i := range chosen {
			fmt.Printf("%d\t%s\n", i, sites[i])
		}
		return nil
	}
	binary, err := build(dir, tmp, files)
	if err != nil {
		return err
	}
	if out, ok := try(binary, dir, -1, tests, 5*limit); !ok {
		return fmt.Errorf("the tests fail without a mutation:\n%s", out)
	}
	ran, alive := 0, 0
	for k := from; k < len(chosen); k += every {
		i := chosen[k]
		ran++
		if _, ok := try(binary, dir, i, tests, limit); ok {
			alive++
			fmt.Printf("survived %d\t%s\n", i, sites[i])
		}
	}
	fmt.Printf("%d run, %d survived\n", ran, alive)
	return nil
}

// build makes the test binary of the changed files, which replace the package's by an overlay.
func build(dir, tmp string, files map[string][]byte) (string, error) {
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for path, code := range files {
		to := filepath.Join(tmp, filepath.Base(path))
		if err := os.WriteFile(to, code, 0o644); err != nil {
			return "", err
		}
		abs, err := filepath.Abs(path)
		if err != nil {
			return "", err
		}
		overlay.Replace[abs] = to
	}
	data, err := json.Marshal(overlay)
	if err != nil {
		return "", err
	}
	config, binary := filepath.Join(tmp, "overlay.json"), filepath.Join(tmp, "algebra.test")
	if err := os.WriteFile(config, data, 0o644); err != nil {
		return "", err
	}
	out, err := exec.Command("go", "test", "-c", "-vet=off", "-overlay", config, "-o", binary, "./"+filepath.ToSlash(dir)).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return binary, nil
}

// try runs the tests with one mutant; ok means that they pass.
func try(binary, dir string, mutant int, tests string, limit time.Duration) (out string, ok bool) {
	for _, group := range strings.Split(tests, ",") {
		if out, ok = tryGroup(binary, dir, mutant, group, limit); !ok {
			break
		}
	}
	return out, ok
}

func tryGroup(binary, dir string, mutant int, tests string, limit time.Duration) (string, bool) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "-test.run", tests, "-test.failfast", "-test.short")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), fmt.Sprintf("GOCUTE_MUTANT=%d", mutant), "GOMEMLIMIT=2GiB")
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	text := out.String()
	return text[:min(len(text), 4000)], err == nil && !strings.Contains(text, "no tests to run")
}
