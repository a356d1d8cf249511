package runner

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gocute/gocute/check"
	"github.com/gocute/gocute/cmd/gocute/report"
	"github.com/gocute/gocute/gen/cir"
)

// reporter makes the objects of --json. Its paths are relative to dir where they are below it.
type reporter struct {
	dir string
	at  report.Position // of the kernel's function, for findings without a line
}

func reporterFor(f Func, req Request) reporter {
	r := reporter{dir: req.Dir}
	file, line, _ := cutLast(f.Pos, ":")
	n, _ := strconv.Atoi(line)
	r.at = r.place(cir.Pos{File: file, Line: n})
	return r
}

func cutLast(text, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(text, sep); i >= 0 {
		return text[:i], text[i+len(sep):], true
	}
	return text, "", false
}

// place is a position with its file relative to the command's working folder.
func (r reporter) place(p cir.Pos) report.Position {
	return report.Position{File: Relative(r.dir, p.File), Line: p.Line}
}

// Relative makes a path below a folder relative to it, with slashes, and leaves others alone.
func Relative(dir, path string) string {
	if dir == "" || !filepath.IsAbs(path) {
		return path
	}
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// outcome is what a run came to.
func (r reporter) outcome(res *check.Result, verdict string, faults []check.Fault) *report.Outcome {
	out := &report.Outcome{Kernel: res.Kernel, Verdict: verdict, Dims: res.Dims, Scalars: report.Numbers(res.Scalars),
		Defaults: res.Defaults, Seed: res.Seed, On: res.Where, Note: res.Note, Image: res.Image,
		Seconds: report.Number(res.Time.Seconds()), Runs: res.Runs, Schedules: res.EmuSeeds, Further: res.More}
	if res.Report != nil {
		out.Blocks = res.Report.Counts.Blocks
	}
	for _, o := range res.Outputs {
		out.Outputs = append(out.Outputs, output(o))
	}
	for _, f := range faults {
		out.Findings = append(out.Findings, r.finding(res.Kernel, f))
	}
	return out
}

func output(o *check.Output) report.Output {
	out := report.Output{Name: o.Name, Elem: o.Kind.String(), Extents: o.Extents, Elements: o.Elements,
		Compared: o.Compared, Wrong: o.Wrong, Unwritten: o.Unwritten, Outside: o.Outside}
	if o.Reference {
		out.Comparison = &report.Comparison{MaxError: report.Number(o.MaxAbs), At: o.At, Got: report.Number(o.Got),
			Expected: report.Number(o.Want), Relative: report.Number(o.Relative), RMS: report.Number(o.RMS), NaNs: o.NaNs, Infs: o.Infinities,
			Allowed: report.Number(o.Tolerance * o.RMS)}
	}
	return out
}

// finding is a fault; the kernel's function stands in for a line that is not known.
func (r reporter) finding(kernel string, f check.Fault) report.Finding {
	out := report.Finding{Kind: f.Kind, Kernel: kernel, Position: r.at, Message: f.Message, Memory: f.Memory, At: f.Index, Count: f.Count}
	if f.Pos.File != "" {
		out.Position = r.place(f.Pos)
	}
	e := f.Finding
	if e == nil {
		return out
	}
	out.Remedy, out.Block, out.Threads = e.Remedy, &e.Block, e.Threads
	if e.Index >= 0 {
		out.Index = &e.Index
	}
	if e.Other.File != "" && e.Other != e.Pos {
		other := r.place(e.Other)
		out.Related = &other
	}
	return out
}

// checked is an inspection.
func (r reporter) checked(in *check.Inspection) *report.Checked {
	out := &report.Checked{Outcome: *r.outcome(in.Result, in.Verdict(), in.Faults())}
	switch {
	case in.Exact != nil:
		out.Exact = &report.Exact{Compared: in.Exact.Compared, Wrong: in.Exact.Wrong}
	case in.NotExact != nil:
		out.NotExact = in.NotExact.Error()
	}
	for _, b := range in.Budgets {
		out.Budgets = append(out.Budgets, report.Budget{Budget: b.Budget.String(), Met: b.Problem == "", Problem: b.Problem})
	}
	if in.Result.Report != nil {
		out.Cost = r.cost(in)
	}
	return out
}

func (r reporter) cost(in *check.Inspection) *report.Cost {
	out := &report.Cost{Instructions: in.Result.Report.Counts.Instructions, Threads: in.Threads, Shared: in.Shared}
	for _, t := range in.Traffic {
		out.Traffic = append(out.Traffic, report.Traffic(t))
	}
	for _, c := range in.Compiled {
		out.Compiled = append(out.Compiled, report.Compiled{Arch: c.Arch, Resources: report.Resources{Registers: c.Registers, SpillStores: c.SpillStores,
			SpillLoads: c.SpillLoads, Stack: max(c.StackFrame, c.CumulativeStack), Shared: c.StaticSmem + in.Shared}})
	}
	for _, o := range in.Occupancies() {
		out.Occupancy = append(out.Occupancy, report.Occupancy{Arch: o.Arch, Blocks: o.Blocks, Fraction: report.Number(o.Fraction)})
	}
	for _, a := range in.Accesses() {
		x := report.Access{Position: r.place(a.Pos), Kind: a.Kind, Space: "shared", Memory: a.Mem, Width: a.Width, Requests: a.Requests, Bytes: a.Bytes}
		if a.Space == cir.Global {
			x.Space, x.Sectors, x.LeastSectors = "global", &a.Sectors, &a.LeastSectors
		} else {
			conflicts := a.Conflicts()
			x.Conflicts = &conflicts
		}
		out.Accesses = append(out.Accesses, x)
	}
	return out
}

// mutants are the verdicts on a kernel's mutants.
func (r reporter) mutants(verdicts []check.Verdict) []report.Mutant {
	out := make([]report.Mutant, len(verdicts))
	for i, v := range verdicts {
		out[i] = report.Mutant{What: v.What, Position: r.place(v.Pos), Caught: v.Caught, Detail: v.Detail}
	}
	return out
}

// describeAll describes a kernel's parameters.
func describeAll(params []*cir.Param) []report.Argument {
	var out []report.Argument
	for _, q := range params {
		a := report.Argument{Name: q.Name}
		switch q.Class {
		case cir.Pointer:
			a.Kind, a.Elem, a.Access, a.Layout = "tensor", q.Elem.String(), access(q), q.Layout
		case cir.Scalar:
			a.Kind, a.Elem = "scalar", q.Elem.String()
		case cir.Dim:
			a.Kind, a.MultipleOf, a.AtLeast, a.AtMost = "dim", max(q.Sym.Multiple, 1), q.Sym.Lo, q.Sym.Hi
		}
		out = append(out, a)
	}
	return out
}
