package runner

import (
	"context"
	"fmt"
	"slices"

	"github.com/gocute/gocute/gen"
	"github.com/gocute/gocute/gen/cir"
	"github.com/gocute/gocute/gen/cuda"
)

// list records every kernel and says what it is.
func list(ctx context.Context, _ Request, pkgs []Package) Response {
	var res Response
	for _, p := range pkgs {
		for _, f := range p.Funcs {
			k, err := record(f)
			if err == nil {
				err = k.Err()
			}
			if err != nil {
				res.Errors = append(res.Errors, lines(err)...)
			}
			if k == nil {
				continue
			}
			out := Kernel{Package: p.Path, Func: f.Name, Pos: f.Pos, Name: k.Name()}
			out.Threads, out.Doc, out.Arguments = k.IR().Threads, k.IR().Doc, describeAll(k.IR().Params)
			for _, q := range k.IR().Params {
				out.Params = append(out.Params, describe(q))
			}
			res.Kernels = append(res.Kernels, out)
		}
		for _, f := range p.Families {
			fam, err := declare(f)
			if err != nil {
				res.Errors = append(res.Errors, lines(err)...)
				continue
			}
			res.Families = append(res.Families, Family{Package: p.Path, Func: f.Name, Pos: f.Pos, Name: fam.Name, Candidates: len(fam.Candidates)})
		}
	}
	return res
}

// describe is a parameter in a few words.
func describe(q *cir.Param) string {
	switch q.Class {
	case cir.Pointer:
		return fmt.Sprintf("%s %s %s %s", access(q), q.Elem, q.Name, q.Layout)
	case cir.Scalar:
		return fmt.Sprintf("%s %s", q.Elem, q.Name)
	}
	return q.Name
}

// access says whether a tensor is read or written.
func access(q *cir.Param) string {
	return map[[2]bool]string{{true, false}: "in", {false, true}: "out", {true, true}: "inout"}[[2]bool{q.Read, q.Write}]
}

// generate makes the files of every kernel.
func generate(ctx context.Context, req Request, pkgs []Package) Response {
	var res Response
	var ops []*cir.Op
	pkgs, err := withTuned(pkgs, req.Tuned)
	if err != nil {
		return Response{Errors: lines(err)}
	}
	wanted := func(string, Func) bool { return true }
	if len(req.Only) > 0 {
		wanted, res.Found, res.Unknown = choose(req.Only, pkgs)
	}
	for _, p := range pkgs {
		for _, f := range p.Funcs {
			if ctx.Err() != nil {
				return Response{Errors: []string{context.Cause(ctx).Error()}}
			}
			chosen := wanted(p.Path, f)
			if !chosen && (!req.Header || len(res.Found) == 0) {
				continue
			}
			out, used, err := one(p, f, req)
			if err == nil { // the headers keep what the other kernels include
				ops = append(ops, used...)
			}
			switch {
			case !chosen:
			case err != nil:
				res.Errors = append(res.Errors, lines(err)...)
			default:
				res.Kernels = append(res.Kernels, out)
			}
		}
	}
	if req.Header && len(res.Errors) == 0 && len(res.Kernels) > 0 {
		var err error
		if res.Headers, err = cuda.Headers(ops); err != nil {
			res.Errors = lines(err)
		}
	}
	return res
}

// one generates one kernel.
func one(p Package, f Func, req Request) (Kernel, []*cir.Op, error) {
	k, err := record(f)
	if err != nil {
		return Kernel{}, nil, err
	}
	g, err := gen.Generate(k, gen.Options{Header: req.Header})
	if err != nil {
		return Kernel{}, nil, err
	}
	out := Kernel{Package: p.Path, Func: f.Name, Pos: f.Pos, Name: g.Name, Folder: g.Package, Files: g.Files,
		Threads: g.Kernel.Threads, Arch: g.Kernel.Arch, Exactly: g.Kernel.Exactly, SharedBytes: g.Kernel.SmemBytes}
	return out, cir.Ops(g.Kernel), nil
}

// choose finds the kernels with one of the names, their functions' or their own, and says which names it found, and
// which there are. A mistake in a kernel that is not wanted does not matter.
func choose(only []string, pkgs []Package) (wanted func(path string, f Func) bool, found, names []string) {
	type key struct{ path, name string }
	chosen, have := map[key]bool{}, map[string]bool{}
	each := func(look func(p Package, f Func)) {
		for _, p := range pkgs {
			for _, f := range p.Funcs {
				look(p, f)
			}
		}
	}
	each(func(p Package, f Func) {
		names = append(names, f.Name)
		if slices.Contains(only, f.Name) {
			chosen[key{p.Path, f.Name}], have[f.Name] = true, true
		}
	})
	rest := slices.DeleteFunc(slices.Clone(only), func(n string) bool { return have[n] })
	if len(rest) > 0 {
		each(func(p Package, f Func) {
			k, err := record(f)
			if err != nil {
				return
			}
			names = append(names, k.Name())
			if slices.Contains(rest, k.Name()) {
				chosen[key{p.Path, f.Name}], have[k.Name()] = true, true
			}
		})
	}
	for _, n := range only {
		if have[n] {
			found = append(found, n)
		}
	}
	return func(path string, f Func) bool { return chosen[key{path, f.Name}] }, found, names
}

// find looks a kernel up by its function's or its own name. Several of one name are an error, as they are for gen.
func find(name string, pkgs []Package) (f Func, names []string, err error) {
	var hits []Func
	each := func(look func(f Func)) {
		for _, p := range pkgs {
			for _, f := range p.Funcs {
				look(f)
			}
		}
	}
	each(func(f Func) {
		names = append(names, f.Name)
		if f.Name == name {
			hits = append(hits, f)
		}
	})
	if len(hits) == 0 {
		each(func(f Func) {
			k, err := record(f)
			if err != nil { // a mistake elsewhere does not concern this kernel
				return
			}
			names = append(names, k.Name())
			if k.Name() == name {
				hits = append(hits, f)
			}
		})
	}
	if len(hits) == 0 {
		return Func{}, names, nil
	}
	return hits[0], nil, several("kernel", name, len(hits), func(i int) string { return hits[i].Pos })
}

// several is the error about a name that more than one kernel or family has.
func several(what, name string, n int, pos func(i int) string) error {
	if n < 2 {
		return nil
	}
	return fmt.Errorf("%s: %s: the name is already that of the %s at %s: name one of them otherwise, or give only the package with the one that is meant",
		pos(1), name, what, pos(0))
}
