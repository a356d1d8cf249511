// Command mutate changes one operator or constant of package algebra at a time and runs its tests: a mutant that
// no test notices is a place that no test looks at.
//
//	go run ./algebra/internal/mutate -list                     how many mutants there are
//	go run ./algebra/internal/mutate -every 5 -out verdicts    every fifth; run it again to continue
//	go run ./algebra/internal/mutate -again verdicts           those that survived, also after other lines have moved
//	go run ./algebra/internal/mutate -bundle DIR               everything to run elsewhere without Go: DIR/run.sh
//
// All mutants are built into one test binary, each behind a switch, and an environment variable selects one.
// Mutated are: comparisons (to their neighbours), + - * / % and bit operators (to their partners), && and ||,
// min and max, calls that round up, and integer constants (plus one).
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// quick first: what is broad and fast kills most mutants, and each group leaves out what the groups before it ran.
const quick = "Example|TestArith|TestB|TestC|TestDivi|TestFi|TestGrid|TestH|TestIn|TestLargeStays|TestLayout|TestLeftF|TestLi|TestNeig|TestNot|TestO|TestP|TestReach|TestRoom|TestShape|TestSide|TestSw|TestSymbolicT|TestSymbolicO|TestT|TestUnlike," +
	"TestRoadT|TestLawInverse|TestLawComplement|TestLawUpcast,TestLawSwi|TestR|TestSym|TestNearby,TestGolden,."

type options struct {
	dir, bundle, from, match, again, not, tests, out string
	first, every, jobs, memory                       int
	list                                             bool
	limit                                            time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.dir, "dir", "algebra", "the package's folder")
	flag.StringVar(&o.bundle, "bundle", "", "write what a run elsewhere needs into this folder")
	flag.StringVar(&o.from, "run", "", "run the mutants of this bundle")
	flag.BoolVar(&o.list, "list", false, "only list the mutants")
	flag.IntVar(&o.every, "every", 1, "run every n-th mutant only")
	flag.IntVar(&o.first, "from", 0, "the first mutant to run")
	flag.StringVar(&o.match, "match", "", "a regular expression that a mutant's line of -list must match")
	flag.StringVar(&o.again, "again", "", "run only the mutants that survived in this file of verdicts")
	flag.StringVar(&o.not, "killed", "", "leave out the mutants that were killed in these files of verdicts, with commas between")
	flag.StringVar(&o.tests, "tests", quick, "the tests to run; with commas, several groups one after the other while they pass")
	flag.StringVar(&o.out, "out", "", "append each verdict to this file, and leave out the mutants that it has")
	flag.IntVar(&o.jobs, "jobs", max(1, runtime.NumCPU()/2), "how many mutants run at a time")
	flag.IntVar(&o.memory, "memory", 4096, "MiB of addresses that one may take")
	flag.DurationVar(&o.limit, "timeout", 2*time.Minute, "after which a mutant counts as noticed; ten times what the tests take, if that is less")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	if o.from != "" {
		sites, err := readSites(filepath.Join(o.from, "mutants.txt"))
		if err != nil {
			return err
		}
		tree := filepath.Join(o.from, "tree")
		return try(ctx, o, sites, filepath.Join(tree, "mutants.test"), filepath.Join(tree, filepath.Base(o.dir)))
	}
	files, sites, err := instrument(o.dir)
	if err != nil {
		return err
	}
	if o.bundle != "" {
		return writeBundle(o, files, sites)
	}
	if o.list {
		chosen, err := o.choose(sites)
		for _, i := range chosen {
			if _, err := fmt.Printf("%d\t%s\n", i, sites[i]); err != nil {
				return err
			}
		}
		return err
	}
	tmp, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	binary := filepath.Join(tmp, "mutants.test")
	if err := build(o.dir, tmp, binary, files); err != nil {
		return err
	}
	return try(ctx, o, sites, binary, o.dir)
}

// choose gives the mutants that the flags ask for.
func (o options) choose(sites []site) ([]int, error) {
	only, err := regexp.Compile(o.match)
	if err != nil {
		return nil, err
	}
	again, not := map[string]bool{}, map[string]bool{}
	if err := readKeys(again, o.again, "survived"); err != nil {
		return nil, err
	}
	if err := readKeys(not, o.not, "killed", "timeout"); err != nil {
		return nil, err
	}
	keys := keysOf(sites)
	var out []int
	for i, s := range sites {
		if only.MatchString(s.String()) && (o.again == "" || again[keys[i]]) && !not[keys[i]] {
			out = append(out, i)
		}
	}
	kept := out[:0]
	for k := o.first; k < len(out); k += o.every {
		kept = append(kept, out[k])
	}
	return kept, nil
}

// keysOf names each mutant by its function, line of code and change, and by which of those that agree it is.
func keysOf(sites []site) []string {
	seen, out := map[string]int{}, make([]string, len(sites))
	for i, s := range sites {
		k := strings.Join([]string{s.where, s.line, s.change}, "\t")
		seen[k]++
		out[i] = fmt.Sprintf("%s\t%d", k, seen[k])
	}
	return out
}
