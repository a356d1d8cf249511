package runner

import (
	"context"
	"fmt"

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
			out.Threads, out.Doc = k.IR().Threads, k.IR().Doc
			for _, q := range k.IR().Params {
				out.Params = append(out.Params, describe(q))
			}
			res.Kernels = append(res.Kernels, out)
		}
	}
	return res
}

// describe is a parameter in a few words.
func describe(q *cir.Param) string {
	switch q.Class {
	case cir.Pointer:
		access := map[[2]bool]string{{true, false}: "in", {false, true}: "out", {true, true}: "inout"}[[2]bool{q.Read, q.Write}]
		return fmt.Sprintf("%s %s %s %s", access, q.Elem, q.Name, q.Layout)
	case cir.Scalar:
		return fmt.Sprintf("%s %s", q.Elem, q.Name)
	}
	return q.Name
}

// generate makes the files of every kernel.
func generate(ctx context.Context, req Request, pkgs []Package) Response {
	var res Response
	var ops []*cir.Op
	for _, p := range pkgs {
		for _, f := range p.Funcs {
			if ctx.Err() != nil {
				return Response{Errors: []string{context.Cause(ctx).Error()}}
			}
			out, used, err := one(p, f, req)
			if err != nil {
				res.Errors = append(res.Errors, lines(err)...)
				continue
			}
			res.Kernels = append(res.Kernels, out)
			ops = append(ops, used...)
		}
	}
	if req.Header && len(res.Errors) == 0 {
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
		Threads: g.Kernel.Threads, Arch: g.Kernel.Arch, SharedBytes: g.Kernel.SmemBytes}
	return out, cir.Ops(g.Kernel), nil
}

// find looks a kernel up by its function's or its own name.
func find(name string, pkgs []Package) (Func, []string) {
	var names []string
	for _, p := range pkgs {
		for _, f := range p.Funcs {
			names = append(names, f.Name)
			if f.Name == name {
				return f, nil
			}
		}
	}
	for _, p := range pkgs {
		for _, f := range p.Funcs {
			k, err := record(f)
			if err != nil { // a mistake elsewhere does not concern this kernel
				continue
			}
			names = append(names, k.Name())
			if k.Name() == name {
				return f, nil
			}
		}
	}
	return Func{}, names
}
