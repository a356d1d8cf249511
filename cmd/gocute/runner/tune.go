package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/gocute/gocute/build"
	"github.com/gocute/gocute/check"
	"github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/gen/cir"
	"github.com/gocute/gocute/tune"
)

// prepare prunes and compiles a family and returns what is to be measured.
func prepare(ctx context.Context, req Request, pkgs []Package) Response {
	f, pos, names, err := findFamily(req.Family, pkgs)
	if err != nil {
		return Response{Errors: lines(err)}
	}
	if f == nil {
		return Response{Unknown: names}
	}
	if err := f.Err(); err != nil {
		return Response{Errors: at(pos, err)}
	}
	args, own, err := shapes(f, req)
	where := lines
	if own { // what is wrong with a shape is wrong in the family
		where = func(err error) []string { return at(pos, err) }
	}
	if err != nil {
		return Response{Errors: where(err)}
	}
	opt := tune.Options{Chip: req.Chip, Args: args, Seed: req.Seed, Progress: progress()}
	if req.Compiler != "" {
		if opt.Compiler, err = build.FindCompiler(ctx, req.Compiler, build.Options{NoInstall: req.NoInstall}); err != nil {
			return Response{Errors: lines(err)}
		}
		build.Announce(os.Stderr, opt.Compiler)
	}
	b, err := tune.Prepare(ctx, f, opt)
	if err != nil {
		return Response{Errors: where(err)}
	}
	files, err := b.Files()
	if err != nil {
		return Response{Errors: lines(err)}
	}
	return Response{Bundle: files}
}

// at puts the function's line before each mistake.
func at(pos string, err error) []string {
	var out []string
	for _, l := range lines(err) {
		out = append(out, pos+": "+l)
	}
	return out
}

// progress tells now and then how many candidates are compiled.
func progress() func(*tune.Candidate) {
	n, last := 0, time.Now()
	return func(*tune.Candidate) {
		if n++; time.Since(last) > 2*time.Second {
			fmt.Fprintf(os.Stderr, "gocute: %d candidates compiled\n", n)
			last = time.Now()
		}
	}
}

// declare calls a family's function.
func declare(f FamilyFunc) (*dsl.Family, error) {
	fam, err := called(f.Pos, f.Name, f.New)
	if err == nil && fam == nil {
		err = fmt.Errorf("%s: %s returned no family, but nil", f.Pos, f.Name)
	}
	return fam, err
}

// withTuned adds the candidates of the configs to the functions of their packages.
func withTuned(pkgs []Package, tuned map[string][]string) ([]Package, error) {
	if len(tuned) == 0 {
		return pkgs, nil
	}
	out := slices.Clone(pkgs)
	var errs []error
	for i, p := range out {
		for _, f := range p.Families {
			fam, err := declare(f)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			for _, config := range tuned[fam.Name] {
				n := slices.IndexFunc(fam.Candidates, func(c dsl.Candidate) bool { return c.Config == config })
				if n < 0 {
					errs = append(errs, fmt.Errorf("%s: %s: the table has the candidate %s, which the family %s has not: tune it anew", f.Pos, f.Name, config, fam.Name))
					continue
				}
				out[i].Funcs = append(slices.Clone(out[i].Funcs), Func{Name: f.Name + ":" + config, Pos: f.Pos, New: fam.Candidates[n].Kernel})
			}
		}
	}
	return out, errors.Join(errs...)
}

// findFamily looks a family up by its function's or its own name. Several of one name are an error.
func findFamily(name string, pkgs []Package) (fam *dsl.Family, pos string, names []string, err error) {
	var errs []error
	var at []string
	for _, p := range pkgs {
		for _, f := range p.Families {
			one, err := declare(f)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			names = append(names, one.Name, f.Name)
			if f.Name != name && one.Name != name {
				continue
			}
			if at = append(at, f.Pos); fam == nil {
				fam, pos = one, f.Pos
			}
		}
	}
	if fam != nil {
		return fam, pos, nil, several("family", name, len(at), func(i int) string { return at[i] })
	}
	return nil, "", names, errors.Join(errs...)
}

// shapes are the arguments to tune for: those of the command line, or else the family's own.
func shapes(f *dsl.Family, req Request) (out []check.Args, own bool, err error) {
	k, err := sound(f)
	if err != nil {
		return nil, false, err
	}
	if _, err := arguments(k, Request{Set: req.Set}); err != nil {
		return nil, false, err
	}
	isDim := map[string]bool{}
	for _, q := range k.IR().Params {
		isDim[q.Name] = q.Class == cir.Dim
	}
	given := req.Shapes
	switch {
	case len(given) > 0:
	case slices.ContainsFunc(slices.Collect(maps.Keys(req.Set)), func(name string) bool { return isDim[name] }), len(f.Shapes) == 0:
		given = []map[string]string{{}} // one shape, all of it in Set
	default:
		own = true
		for _, s := range f.Shapes {
			for _, q := range k.IR().Params {
				if _, has := s[q.Name]; isDim[q.Name] && !has {
					return nil, own, fmt.Errorf("family %q: shape (%s): expects a value of %s too", f.Name, tune.DimsText(s), q.Name)
				}
			}
			set := map[string]string{}
			for name, v := range s {
				set[name] = fmt.Sprint(v)
			}
			given = append(given, set)
		}
	}
	for _, s := range given {
		set := maps.Clone(req.Set)
		if set == nil {
			set = map[string]string{}
		}
		maps.Copy(set, s)
		a, err := arguments(k, Request{Set: set, Seed: req.Seed})
		if err != nil {
			return nil, own, err
		}
		out = append(out, a)
	}
	return out, own, nil
}

// sound is the first candidate without a mistake, which knows the arguments of all.
func sound(f *dsl.Family) (*dsl.Kernel, error) {
	var first error
	for _, c := range f.Candidates {
		k, err := record(Func{Name: c.Config, Pos: "family " + f.Name, New: c.Kernel})
		if err == nil {
			err = k.Err()
		}
		if err == nil {
			return k, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, fmt.Errorf("every candidate of %s has a mistake, the first: %w", f.Name, first)
}
