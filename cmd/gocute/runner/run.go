package runner

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gocute/gocute/check"
	"github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/gen/cir"
)

// run runs one kernel and prints what came of it.
func run(ctx context.Context, req Request, pkgs []Package) Response {
	f, names := find(req.Kernel, pkgs)
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
	on, err := check.ParseWhere(req.On)
	if err != nil {
		return Response{Errors: lines(err)}
	}
	result, err := check.Run(ctx, k, args, check.Options{On: on, EmuSeeds: req.EmuSeeds, ForcePTX: req.ForcePTX})
	if err != nil {
		return Response{Errors: lines(err)}
	}
	fmt.Println(result)
	return Response{Failed: result.Err() != nil}
}

// arguments sorts the settings into dims and scalars.
func arguments(k *dsl.Kernel, req Request) (check.Args, error) {
	args := check.Args{Dims: map[string]int64{}, Scalars: map[string]float64{}, Seed: req.Seed}
	var names []string
	class := map[string]cir.Class{}
	for _, q := range k.IR().Params {
		if q.Class != cir.Pointer {
			class[q.Name] = q.Class
			names = append(names, q.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(req.Set)) {
		c, ok := class[name]
		if !ok {
			what := "it takes none"
			if len(names) > 0 {
				what = "expected one of " + strings.Join(names, ", ")
			}
			return args, fmt.Errorf("%s: there is no dim or scalar %s: %s", k.Name(), name, what)
		}
		var err error
		want := "an integer"
		if c == cir.Dim {
			args.Dims[name], err = strconv.ParseInt(req.Set[name], 0, 64)
		} else {
			want = "a number"
			args.Scalars[name], err = strconv.ParseFloat(req.Set[name], 64)
		}
		if err != nil {
			return args, fmt.Errorf("%s: %s = %q: must be %s", k.Name(), name, req.Set[name], want)
		}
	}
	return args, nil
}
