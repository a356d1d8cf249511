package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/gocute/gocute/check"
	"github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// run runs one kernel and compares it with its references.
func run(ctx context.Context, req Request, pkgs []Package) Response {
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
	on, err := check.ParseWhere(req.On)
	if err != nil {
		return Response{Errors: lines(err)}
	}
	result, err := check.Run(ctx, k, args, check.Options{On: on, EmuSeeds: req.EmuSeeds, ForcePTX: req.ForcePTX,
		NoInstall: req.NoInstall, Progress: os.Stderr})
	if err != nil {
		return Response{Errors: lines(err)}
	}
	return Response{Failed: result.Err() != nil, Found: []string{f.Pos}, Text: result.String() + "\n",
		Run: reporterFor(f, req).outcome(result, result.Verdict(), result.Faults())}
}

// arguments sorts the settings into dims and scalars.
func arguments(k *dsl.Kernel, req Request) (check.Args, error) {
	args := check.Args{Dims: map[string]int64{}, Scalars: map[string]float64{}, Seed: req.Seed}
	var names []string
	params := map[string]*cir.Param{}
	for _, q := range k.IR().Params {
		if q.Class != cir.Pointer {
			params[q.Name] = q
			names = append(names, q.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(req.Set)) {
		p, ok := params[name]
		if !ok {
			what := "it takes none"
			if len(names) > 0 {
				what = "expected one of " + strings.Join(names, ", ")
			}
			return args, fmt.Errorf("%s: there is no dim or scalar %s: %s", k.Name(), name, what)
		}
		var err error
		want := "an integer"
		if p.Class == cir.Dim {
			args.Dims[name], err = strconv.ParseInt(req.Set[name], 0, 64)
		} else {
			want = "a number"
			args.Scalars[name], err = scalar(req.Set[name], p.Elem)
		}
		if errors.Is(err, strconv.ErrRange) {
			want = fmt.Sprintf("%s that fits %s", want, map[bool]string{true: "64 bits", false: p.Elem.String()}[p.Class == cir.Dim])
		}
		if err != nil {
			return args, fmt.Errorf("%s: %s = %q: must be %s", k.Name(), name, req.Set[name], want)
		}
	}
	return args, nil
}

// scalar reads a number, which must not become infinite in its kind. What is written as infinite may be.
func scalar(text string, kind elem.Kind) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err == nil && !math.IsInf(v, 0) && math.IsInf(elem.Decode(kind, elem.Encode(kind, v)), 0) {
		err = strconv.ErrRange
	}
	return v, err
}
