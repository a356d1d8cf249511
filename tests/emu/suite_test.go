// Package emu_test runs broken kernels in the emulator: each is reported by the right check at the right line. The
// lines carry a comment, `// BROKEN check`, with the names of the checks that have to find them.
package emu_test

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/emu"
	"github.com/gocute/gocute/gen"
	"github.com/gocute/gocute/gen/cir"
)

// broken is a kernel with one mistake; its function has the marks.
type broken struct {
	name string
	make func() *cir.Kernel
	dims map[string]int64
}

// lowered is a DSL kernel that its own checks accept.
func lowered(k *dsl.Kernel) *cir.Kernel {
	c, err := gen.Lower(k)
	if err != nil {
		panic(err)
	}
	return c
}

// marks are the checks that must find something, by line, in a kernel's function.
func marks(t *testing.T, f func() *cir.Kernel) (file string, want []string) {
	t.Helper()
	fn := runtime.FuncForPC(reflect.ValueOf(f).Pointer())
	file, _ = fn.FileLine(fn.Entry())
	set := token.NewFileSet()
	src, err := parser.ParseFile(set, file, nil, parser.ParseComments)
	require.NoError(t, err)
	name := fn.Name()[strings.LastIndex(fn.Name(), ".")+1:]
	for _, d := range src.Decls {
		decl, ok := d.(*ast.FuncDecl)
		if !ok || decl.Name.Name != name {
			continue
		}
		for _, g := range src.Comments {
			for _, c := range g.List {
				checks, ok := strings.CutPrefix(c.Text, "// BROKEN ")
				if ok && c.Pos() > decl.Pos() && c.End() < decl.End() {
					for _, check := range strings.Split(checks, ", ") {
						want = append(want, fmt.Sprintf("%d %s", set.Position(c.Pos()).Line, check))
					}
				}
			}
		}
	}
	require.NotEmpty(t, want, "%s has no line marked as broken", name)
	slices.Sort(want)
	return file, want
}

// matches holds findings against the marks: each has one, by the check and the line. Of two racing accesses, which
// comes first depends on the schedule, so a race may be marked at either line.
func matches(t *testing.T, file string, want []string, rep *emu.Report) {
	t.Helper()
	met := map[string]bool{}
	for _, f := range rep.Findings {
		require.Equal(t, filepath.Base(file), filepath.Base(f.Pos.File), "%v", f)
		require.NotEmpty(t, f.Remedy)
		require.NotEmpty(t, f.Message)
		require.Positive(t, f.Pos.Line, "%v", f)
		if len(f.Threads) > 1 && f.Check != emu.Deadlock { // there the other warp has ended
			require.Equal(t, filepath.Base(file), filepath.Base(f.Other.File), "%v", f)
			require.Positive(t, f.Other.Line, "%v", f)
		}
		mark := fmt.Sprintf("%d %s", f.Pos.Line, f.Check)
		if other := fmt.Sprintf("%d %s", f.Other.Line, f.Check); (f.Check == emu.Race || f.Check == emu.GlobalRace) && slices.Contains(want, other) {
			mark = other
		}
		require.Contains(t, want, mark, "%v", rep.Err())
		met[mark] = true
	}
	require.Len(t, met, len(want), "wanted %v, but got %v", want, rep.Err())
}

func TestBroken(t *testing.T) {
	require.GreaterOrEqual(t, len(suite), 40)
	for _, b := range suite {
		t.Run(b.name, func(t *testing.T) {
			file, want := marks(t, b.make)
			k := b.make()
			for seed := range uint64(4) {
				rep, err := emu.Run(context.Background(), k, arguments(t, k, b.dims), emu.Options{Seed: seed})
				require.NoError(t, err)
				matches(t, file, want, rep)
				if seed == 0 {
					t.Log(rep.Findings[0])
				}
			}
		})
	}
}

// arguments are small whole numbers; dims that are not given are 64 (or what comes next).
func arguments(t *testing.T, k *cir.Kernel, dims map[string]int64) emu.Args {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	args := emu.Args{}
	value := func(s *sym.Symbol) (int64, bool) { d, ok := args[s.Name].(emu.Dim); return int64(d), ok }
	for _, p := range k.Params {
		switch p.Class {
		case cir.Dim:
			n, ok := dims[p.Name]
			if !ok {
				n = 64
			}
			args[p.Name] = emu.Dim(n)
		case cir.Scalar:
			args[p.Name] = emu.Scalar(r.IntN(5) - 2)
		}
	}
	for _, p := range k.Params {
		if p.Class != cir.Pointer {
			continue
		}
		n, err := p.Mem.Count.Eval(value)
		require.NoError(t, err)
		if p.Name == "counters" {
			args[p.Name] = emu.NewBuffer(p.Elem, int(n))
			continue
		}
		if n > 1<<24 {
			args[p.Name] = emu.NewSparseBuffer(p.Elem, n)
			continue
		}
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(r.IntN(7) - 3)
		}
		args[p.Name] = emu.BufferFromFloat64s(p.Elem, x)
	}
	return args
}
