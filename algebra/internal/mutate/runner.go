package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gocute/gocute/internal/proc"
)

// runner runs mutants of one test binary in the package's folder.
type runner struct {
	binary, dir string
	memory      int
	groups      []group
}

// group is some of the tests, without those of the groups before it.
type group struct {
	run, skip string
	limit     time.Duration
}

// outcome of one mutant: survived, killed or timeout, and by which group of tests.
type outcome struct {
	verdict string
	group   int
	output  string
	took    time.Duration
}

// try runs the chosen mutants, several at a time, after the tests have passed without a mutation.
func try(ctx context.Context, o options, sites []site, binary, dir string) error {
	chosen, err := o.choose(sites)
	if err != nil {
		return err
	}
	f, done, err := openVerdicts(o.out, sites)
	if err != nil {
		return err
	}
	defer f.Close()
	if binary, err = filepath.Abs(binary); err != nil {
		return err
	}
	r := &runner{binary: binary, dir: dir, memory: o.memory, groups: groupsOf(o.tests, o.limit)}
	for i := range r.groups { // the limits follow from what the tests take
		one := *r
		one.groups = []group{r.groups[i]}
		one.groups[0].limit *= 5
		got := one.mutant(ctx, -1)
		if got.verdict != "survived" {
			return fmt.Errorf("the tests fail without a mutation (%s):\n%s", got.verdict, got.output)
		}
		r.groups[i].limit = min(o.limit, max(10*time.Second, 10*got.took))
	}
	counts, keys := map[string]int{}, keysOf(sites)
	var mu sync.Mutex
	r.all(ctx, o.jobs, chosen, done, func(i int, got outcome) {
		mu.Lock()
		defer mu.Unlock()
		counts[got.verdict]++
		line := fmt.Sprintf("%s\t%d\tgroup %d\t%.1fs\t%s\t%s\n", got.verdict, i, got.group, got.took.Seconds(), sites[i].pos, keys[i])
		_, werr := f.WriteString(line)
		err = errors.Join(err, werr)
		if got.verdict == "survived" {
			_, werr = fmt.Print(line)
			err = errors.Join(err, werr)
		}
	})
	_, werr := fmt.Printf("%d mutants, %d chosen, %d had verdicts; now %d killed, %d ran out of time, %d survived\n", len(sites), len(chosen), len(done), counts["killed"], counts["timeout"], counts["survived"])
	return errors.Join(err, werr, ctx.Err())
}

// all runs the mutants that are not done on some goroutines; a mutant that is interrupted has no verdict.
func (r *runner) all(ctx context.Context, jobs int, chosen []int, done map[int]bool, report func(int, outcome)) {
	todo := make(chan int)
	var wg sync.WaitGroup
	for range max(1, jobs) {
		wg.Go(func() {
			for i := range todo {
				if got := r.mutant(ctx, i); ctx.Err() == nil {
					report(i, got)
				}
			}
		})
	}
	for _, i := range chosen {
		if !done[i] && ctx.Err() == nil {
			todo <- i
		}
	}
	close(todo)
	wg.Wait()
}

func groupsOf(tests string, limit time.Duration) (out []group) {
	parts := strings.Split(tests, ",")
	for i, p := range parts {
		out = append(out, group{p, strings.Join(parts[:i], "|"), limit})
	}
	return out
}

// mutant runs the groups of tests with one mutant while they pass.
func (r *runner) mutant(ctx context.Context, i int) outcome {
	start := time.Now()
	got := outcome{verdict: "survived"}
	for k, g := range r.groups {
		if got = r.tests(ctx, i, g); got.verdict != "survived" {
			got.group = k
			break
		}
	}
	got.took = time.Since(start)
	return got
}

func (r *runner) tests(ctx context.Context, i int, g group) outcome {
	ctx, cancel := context.WithTimeout(ctx, g.limit)
	defer cancel()
	args := []string{"-c", `ulimit -v "$0"; exec "$@"`, strconv.Itoa(r.memory << 10), r.binary,
		"-test.run", g.run, "-test.skip", g.skip, "-test.failfast", "-test.short", "-test.timeout", (2 * g.limit).String()}
	env := []string{fmt.Sprintf("GOCUTE_MUTANT=%d", i), fmt.Sprintf("GOMEMLIMIT=%dMiB", r.memory/2), "GOMAXPROCS=2"}
	var out bytes.Buffer
	dir, err := filepath.Abs(r.dir)
	if err == nil {
		err = proc.Run(ctx, "/bin/sh", args, proc.Options{Dir: dir, Env: env, Stdout: &out, Stderr: &out})
	}
	text := out.String()
	got := outcome{verdict: "survived", output: text[:min(len(text), 4000)]}
	switch {
	case ctx.Err() != nil:
		got.verdict = "timeout"
	case err != nil || strings.Contains(text, "no tests to run"):
		got.verdict = "killed"
	}
	return got
}

// openVerdicts opens the file to append to, and gives the mutants that it has verdicts on.
func openVerdicts(path string, sites []site) (*os.File, map[int]bool, error) {
	if path == "" {
		path = os.DevNull
	}
	h := fnv.New64a()
	for _, s := range sites {
		fmt.Fprintln(h, s)
	}
	head := fmt.Sprintf("# %d mutants %x\n", len(sites), h.Sum64())
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, nil, err
	}
	if len(old) > 0 && !bytes.HasPrefix(old, []byte(head)) {
		return nil, nil, fmt.Errorf("%s has verdicts on other mutants (-again FILE finds those that survived)", path)
	}
	done := map[int]bool{}
	for _, line := range strings.SplitAfter(string(old), "\n") {
		if f := strings.Split(line, "\t"); len(f) > 1 && strings.HasSuffix(line, "\n") {
			n, _ := strconv.Atoi(f[1])
			done[n] = true
		}
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil && len(old) == 0 {
		_, err = f.WriteString(head)
	} else if err == nil && old[len(old)-1] != '\n' { // the end of a run that was cut off
		_, err = f.WriteString("\n")
	}
	return f, done, err
}

// readKeys adds the keys of the mutants with one of the verdicts in some files.
func readKeys(keys map[string]bool, paths string, verdicts ...string) error {
	for path := range strings.SplitSeq(paths, ",") {
		if path == "" {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			if f := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 6); len(f) == 6 && slices.Contains(verdicts, f[0]) {
				keys[f[5]] = true
			}
		}
	}
	return nil
}
