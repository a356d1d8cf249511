package check

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/emu"
	"github.com/gocute/gocute/gen"
	"github.com/gocute/gocute/gen/cir"
	"github.com/gocute/gocute/internal/text"
)

// Mutant is a kernel from which one barrier, wait, predicate or copy of a box was taken away, or moved.
type Mutant struct {
	What   string  // such as "barrier removed"
	Pos    cir.Pos // of the statement
	Nth    int     // of the statement among all, from 0
	kernel *cir.Kernel
}

// Verdict is what became of a mutant.
type Verdict struct {
	Mutant
	Caught string // the check that found it, or "wrong-value"; empty where nothing did
	Detail string // its message
}

// String is the verdict as a line of a table.
func (v Verdict) String() string {
	how := v.Caught
	if how == "" && strings.Contains(v.What, " moved ") {
		how = "not caught: as good there"
	} else if how == "" {
		how = "not caught: redundant"
	}
	return fmt.Sprintf("%-24s %-34s %s", fmt.Sprintf("%s:%d", filepath.Base(v.Pos.File), v.Pos.Line), v.What, how)
}

// Mutants makes all mutants of a kernel's C IR.
func Mutants(k *cir.Kernel) []Mutant {
	m := &mutator{k: k}
	n := 0
	cir.Walk(k.Body, func(cir.Stmt) { n++ })
	for i := range n {
		m.at(i)
	}
	return m.out
}

type mutator struct {
	k   *cir.Kernel
	out []Mutant
}

// at adds the mutants of the i-th statement.
func (m *mutator) at(i int) {
	s := nth(m.k.Body, i)
	add := func(what string, body []cir.Stmt) {
		k := *m.k
		k.Body = body
		m.out = append(m.out, Mutant{What: what, Pos: s.Position(), Nth: i, kernel: &k})
	}
	for _, c := range changes(s) {
		add(c.what, replace(m.k.Body, i, c.to...))
	}
	if synchronises(s) {
		for _, by := range []int{-1, 1} {
			if body, past := move(m.k.Body, i, by); past != "" {
				add(fmt.Sprintf("%s moved %s %s", name(s), map[int]string{-1: "before", 1: "behind"}[by], past), body)
			}
		}
	}
}

// change is a statement that takes another's place; none removes it.
type change struct {
	what string
	to   []cir.Stmt
}

// synchronises reports whether a statement orders others.
func synchronises(s cir.Stmt) bool {
	switch s.(type) {
	case cir.Barrier, cir.NamedBarrier, cir.SyncWarp, cir.CommitGroup, cir.WaitGroup, cir.MBarrierArrive, cir.CpAsyncArrive, cir.MBarrierWait,
		cir.MBarrierExpect, cir.WarpgroupArrive, cir.WarpgroupCommit, cir.WarpgroupWait:
		return true
	}
	return false
}

// name is a statement's kind in words.
func name(s cir.Stmt) string {
	return strings.ToLower(strings.TrimSuffix(reflect.TypeOf(s).Name(), "Stmt"))
}

// changes lists what can be taken from one statement.
func changes(s cir.Stmt) []change {
	var out []change
	if synchronises(s) {
		out = append(out, change{what: name(s) + " removed"})
	}
	less := func(c cir.Cond, what string, with func(cir.Cond) cir.Stmt) {
		for i, rest := range weaker(c) {
			out = append(out, change{fmt.Sprintf("%s %s %d removed", name(s), what, i), []cir.Stmt{with(rest)}})
		}
	}
	switch x := s.(type) {
	case cir.WaitGroup:
		y := x
		y.Pending++
		out = append(out, change{"waitgroup leaves one more group", []cir.Stmt{y}})
	case cir.WarpgroupWait:
		y := x
		y.Pending++
		out = append(out, change{"warpgroupwait leaves one more group", []cir.Stmt{y}})
	case cir.MBarrierExpect:
		y := x
		y.Bytes += 16
		out = append(out, change{"mbarrierexpect expects 16 bytes more", []cir.Stmt{y}})
	case cir.TensorLoad:
		out = append(out, boxes(x)...)
	case cir.If:
		less(x.Cond, "condition", func(c cir.Cond) cir.Stmt { y := x; y.Cond = always(c); return y })
	case cir.Load:
		less(x.Pred, "predicate", func(c cir.Cond) cir.Stmt { y := x; y.Pred = c; return y })
	case cir.Store:
		less(x.Pred, "predicate", func(c cir.Cond) cir.Stmt { y := x; y.Pred = c; return y })
	case cir.StoreValue:
		less(x.Pred, "predicate", func(c cir.Cond) cir.Stmt { y := x; y.Pred = c; return y })
	case cir.Atomic:
		less(x.Pred, "predicate", func(c cir.Cond) cir.Stmt { y := x; y.Pred = c; return y })
	case cir.SetReg:
		if v, ok := x.Value.(cir.Select); ok {
			less(v.Cond, "predicate", func(c cir.Cond) cir.Stmt {
				y, w := x, v
				w.Cond = always(c)
				y.Value = w
				return y
			})
		}
	case cir.CpAsyncStmt:
		less(x.Pred, "predicate", func(c cir.Cond) cir.Stmt { y := x; y.Pred = c; return y })
		if x.Valid != nil {
			y := x
			y.Valid = nil
			out = append(out, change{"cpasync clamp removed", []cir.Stmt{y}})
		}
	}
	return out
}

// boxes lists copies of no box, and of one that begins an element further.
func boxes(s cir.TensorLoad) []change {
	out := []change{{what: "tensorload removed"}}
	for i := range s.Coords {
		y := s
		y.Coords = slices.Clone(s.Coords)
		y.Coords[i] = s.Coords[i].Add(sym.Int(1))
		out = append(out, change{fmt.Sprintf("tensorload coordinate %d one further", i), []cir.Stmt{y}})
	}
	return out
}

// always is a condition in a place that needs one.
func always(c cir.Cond) cir.Cond {
	if c == nil {
		return cir.And{}
	}
	return c
}

// weaker lists a condition without each of its parts: of one part, nothing is left.
func weaker(c cir.Cond) []cir.Cond {
	if c == nil {
		return nil
	}
	and, ok := c.(cir.And)
	if !ok {
		return []cir.Cond{nil}
	}
	var out []cir.Cond
	for i := range and {
		rest := append(append(cir.And{}, and[:i]...), and[i+1:]...)
		out = append(out, cir.Every(rest...))
	}
	return out
}

// nth is the i-th statement in the order of Walk.
func nth(body []cir.Stmt, i int) (found cir.Stmt) {
	n := 0
	cir.Walk(body, func(s cir.Stmt) {
		if n == i {
			found = s
		}
		n++
	})
	return found
}

// judge runs a mutant in exact mode with the emulator's checks, at each of the sizes, until something catches it.
func judge(ctx context.Context, m Mutant, cases []*exact) (Verdict, error) {
	v := Verdict{Mutant: m}
	for _, x := range cases {
		for _, seed := range []uint64{0, 1} {
			res, err := x.run(ctx, m.kernel, emu.Options{Seed: seed, Workers: 1, MaxFindings: 1})
			if err != nil {
				return v, fmt.Errorf("%s: %s: %w", m.kernel.Name, m.What, err)
			}
			switch {
			case len(res.Findings) > 0:
				v.Caught, v.Detail = string(res.Findings[0].Check), res.Findings[0].Error()
				return v, nil
			case len(res.Mismatches) > 0:
				v.Caught, v.Detail = "wrong-value", res.Mismatches[0].Error()
				return v, nil
			}
		}
	}
	return v, nil
}

// Mutate makes and judges every mutant of a kernel, which has to be right itself and linear in its inputs.
func Mutate(ctx context.Context, k *dsl.Kernel, sizes []Args) ([]Verdict, error) {
	c, err := gen.Lower(k)
	if err != nil {
		return nil, err
	}
	if len(sizes) == 0 {
		sizes = []Args{{}}
	}
	var cases []*exact
	for _, args := range sizes {
		x, err := newExact(ctx, c, k.Expectations(), args)
		if err != nil {
			return nil, err
		}
		cases = append(cases, x)
	}
	for _, x := range cases { // what the kernel need not read, a mutant may not
		x.undefined = true
		if v, err := judge(ctx, Mutant{What: "nothing", kernel: c}, []*exact{x}); err != nil || v.Caught != "" {
			x.undefined = false
		}
	}
	whole, err := judge(ctx, Mutant{What: "nothing", kernel: c}, cases)
	if err != nil {
		return nil, err
	}
	if whole.Caught != "" {
		return nil, fmt.Errorf("%s: before any mutation: %s", k.Name(), whole.Detail)
	}
	mutants := Mutants(c)
	out, errs := make([]Verdict, len(mutants)), make([]error, len(mutants))
	parallel(int64(len(mutants)), 1, func() func(lo, hi int64) {
		return func(lo, hi int64) {
			for i := lo; i < hi; i++ {
				out[i], errs[i] = judge(ctx, mutants[i], cases)
			}
		}
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// MutantTable prints verdicts, those that are alike in one line, and the number that nothing caught.
func MutantTable(verdicts []Verdict) (table string, survivors int) {
	var b strings.Builder
	counts, order := map[string]int{}, []string{}
	for _, v := range verdicts {
		line := v.String()
		if counts[line]++; counts[line] == 1 {
			order = append(order, line)
		}
		if v.Caught == "" {
			survivors++
		}
	}
	for _, line := range order {
		fmt.Fprintf(&b, "%4d  %s\n", counts[line], line)
	}
	fmt.Fprintf(&b, "%s, %d caught, %d not\n", text.Count(len(verdicts), "mutant"), len(verdicts)-survivors, survivors)
	return b.String(), survivors
}

// mutationExtents are the extents of the first, second, … dim in the runs that mutants have to survive: tails, whole
// tiles, fewer tiles than stages, and a last row in each part of a tile, at each depth.
func mutationExtents() [][]int64 {
	out := [][]int64{{130, 70, 200}, {132, 72, 136}, {128, 128, 64}, {7, 5, 8}, {5, 7, 72}, {7, 5, 200}}
	for _, depth := range []int64{8, 72, 136} {
		for rows := int64(16); rows <= 128; rows += 16 {
			out = append(out, []int64{rows, rows, depth})
		}
	}
	return out
}

// MutationSizes are arguments that exercise a kernel's tails and loops, whatever its dims are called. In one of them
// the last scalar is 0.
func MutationSizes(k *dsl.Kernel) []Args {
	var out []Args
	for n, extents := range mutationExtents() {
		a := Args{Dims: map[string]int64{}, Scalars: map[string]float64{}}
		i, last := 0, ""
		for _, p := range k.IR().Params {
			switch p.Class {
			case cir.Dim:
				a.Dims[p.Name] = defaultExtent(p.Sym, extents[i%len(extents)])
				i++
			case cir.Scalar:
				last = p.Name
			}
		}
		if n == 1 && last != "" {
			a.Scalars[last] = 0
		}
		out = append(out, a)
		if i == 0 && last == "" {
			break // nothing can differ
		}
	}
	return out
}
