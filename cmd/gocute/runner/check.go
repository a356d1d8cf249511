package runner

import (
	"context"
	"fmt"

	"github.com/gocute/gocute/check"
	"github.com/gocute/gocute/dsl"
)

// inspect checks one kernel in the emulator and prints the report, or the table of its mutants.
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
		return mutate(ctx, k, args, len(req.Set) > 0)
	}
	in, err := check.Inspect(ctx, k, args, check.Options{EmuSeeds: req.EmuSeeds})
	if err != nil {
		return Response{Errors: lines(err)}
	}
	in.Compile(ctx)
	return print(Response{Failed: in.Err() != nil, Found: []string{f.Pos}}, fmt.Sprintln(in))
}

// mutate prints what becomes of the kernel's mutants, at the sizes given or at those that exercise its tails.
func mutate(ctx context.Context, k *dsl.Kernel, args check.Args, given bool) Response {
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
	return print(Response{}, table)
}
