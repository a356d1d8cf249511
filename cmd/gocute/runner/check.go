package runner

import (
	"context"

	"github.com/gocute/gocute/check"
	"github.com/gocute/gocute/cmd/gocute/report"
	"github.com/gocute/gocute/dsl"
)

// inspect checks one kernel in the emulator, or judges its mutants.
func inspect(ctx context.Context, req Request, pkgs []Package) Response {
	f, names, err := find(req.Kernel, pkgs)
	if err != nil {
		return Response{Errors: lines(err)}
	}
	if f.New == nil {
		return Response{Unknown: names}
	}
	k, err := record(f)
	if err == nil {
		err = k.Err()
	}
	if err != nil {
		return Response{Errors: lines(err)}
	}
	args, err := arguments(k, req)
	if err != nil {
		return Response{Errors: lines(err)}
	}
	if req.Mutate {
		return mutate(ctx, k, args, reporterFor(f, req), len(req.Set) > 0)
	}
	in, err := check.Inspect(ctx, k, args, check.Options{EmuSeeds: req.EmuSeeds})
	if err != nil {
		return Response{Errors: lines(err)}
	}
	in.Compile(ctx)
	return Response{Failed: in.Err() != nil, Found: []string{f.Pos}, Text: in.String() + "\n", Check: reporterFor(f, req).checked(in)}
}

// mutate tells what becomes of the kernel's mutants, at the sizes given or at those that exercise its tails.
func mutate(ctx context.Context, k *dsl.Kernel, args check.Args, r reporter, given bool) Response {
	sizes := []check.Args{args}
	if !given {
		sizes = check.MutationSizes(k)
		for i := range sizes {
			sizes[i].Seed = args.Seed
		}
	}
	verdicts, err := check.Mutate(ctx, k, sizes)
	if err != nil {
		return Response{Errors: lines(err)}
	}
	table, _ := check.MutantTable(verdicts)
	return Response{Text: table, Mutants: &report.Mutants{Kernel: k.Name(), Mutants: r.mutants(verdicts)}}
}
