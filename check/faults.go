package check

import (
	"fmt"

	"github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/emu"
	"github.com/gocute/gocute/gen/cir"
)

// The kinds of faults beside the emulator's checks.
const (
	WrongValue     = "wrong-value"     // an element is not the reference's
	OutsideWrite   = "outside-write"   // elements beside a tensor, or of an input, were written
	Unstable       = "unstable"        // an output depends on the order in which warps run
	BudgetExceeded = "budget-exceeded" // the kernel costs more than it states
)

// Fault is one thing that is wrong with a kernel.
type Fault struct {
	Kind    string  // an emu.Check, or one of the kinds above
	Pos     cir.Pos // zero where no line is known
	Memory  string  // the tensor, array or fragment; empty where none is concerned
	Index   []int64 // coordinate of the element in it; nil where none is concerned
	Message string  // in one line, without the place
	Count   int64   // occurrences
	Finding *emu.Finding
}

// finding is a fault that the emulator found.
func finding(f *emu.Finding) Fault {
	return Fault{Kind: string(f.Check), Pos: f.Pos, Memory: f.Mem, Message: f.Message, Count: f.Count, Finding: f}
}

// Faults lists what Err tells, with its kinds and places.
func (r *Result) Faults() []Fault {
	var out []Fault
	for _, f := range r.Findings {
		out = append(out, finding(f))
	}
	for _, u := range r.Unstable {
		out = append(out, Fault{Kind: Unstable, Message: u, Count: 1})
	}
	for _, o := range r.Outputs {
		for _, p := range o.problems(r.missed(o.Name)) {
			f := Fault{Kind: p.kind, Memory: o.Name, Message: o.Name + ": " + p.text, Count: p.count, Index: p.at}
			if p.kind == WrongValue {
				f.Pos = o.writer
			}
			out = append(out, f)
		}
	}
	return out
}

// problem is what is wrong with an output.
type problem struct {
	kind, text string
	count      int64
	at         []int64 // the element that the text names; nil where it names none
}

// Faults lists what Err tells, with its kinds and places. What the exact run finds again is listed once.
func (in *Inspection) Faults() []Fault {
	out := in.Result.Faults()
	if in.Exact != nil {
		out = append(out, in.Exact.faults(out)...)
	}
	for _, b := range in.Budgets {
		if b.Problem != "" {
			f := Fault{Kind: BudgetExceeded, Message: fmt.Sprintf("expected %s, but %s", b.Budget, b.Problem), Count: 1}
			if a := in.excess(b.Budget); a != nil {
				f.Pos, f.Memory = a.Pos, a.Mem
			}
			out = append(out, f)
		}
	}
	return out
}

// faults are those of the exact run that are not among the known ones.
func (r *ExactResult) faults(known []Fault) []Fault {
	var out []Fault
	have := map[string]bool{}
	key := func(f *emu.Finding) string { return fmt.Sprint(f.Check, f.Pos, f.Other, f.Mem) }
	for _, f := range known {
		if f.Finding != nil {
			have[key(f.Finding)] = true
		}
	}
	for _, f := range r.Findings {
		if !have[key(f)] {
			out = append(out, finding(f))
		}
	}
	written := map[string]int{}
	for _, m := range r.Mismatches { // one for each statement and output
		k := fmt.Sprint(m.Pos, m.Output)
		if i, ok := written[k]; ok {
			out[i].Count++
			continue
		}
		written[k] = len(out)
		text := fmt.Sprintf("%s%s is not the reference's in the field of 2^61-1", m.Output, coord(m.At))
		out = append(out, Fault{Kind: WrongValue, Pos: m.Pos, Memory: m.Output, Index: m.At, Message: text, Count: 1})
	}
	return out
}

// excess is the access that exceeds a budget by most, nil where none does.
func (in *Inspection) excess(b dsl.Budget) *emu.Access {
	beyond := map[dsl.BudgetKind]func(a *emu.Access) int64{
		dsl.ConflictBudget: func(a *emu.Access) int64 { return a.Conflicts() },
		dsl.SectorBudget:   func(a *emu.Access) int64 { return a.Sectors - a.LeastSectors },
	}[b.Kind()]
	if beyond == nil || in.Result.Report == nil {
		return nil
	}
	var most *emu.Access
	for _, a := range in.Accesses() {
		if beyond(&a) > 0 && (most == nil || beyond(&a) > beyond(most)) {
			most = &a
		}
	}
	return most
}

// Verdict is pass, fail, or ran where nothing is wrong and there is no reference to compare with.
func (r *Result) Verdict() string {
	switch {
	case r.Err() != nil:
		return "fail"
	case r.expects == 0:
		return "ran"
	}
	return "pass"
}

// Verdict is that of the result, or fail where a budget or the exact run fails.
func (in *Inspection) Verdict() string {
	if in.Err() != nil {
		return "fail"
	}
	return in.Result.Verdict()
}

// Accesses are what each line's accesses to each memory cost: statements of one line are added up.
func (in *Inspection) Accesses() []emu.Access {
	if in.Result.Report == nil {
		return nil
	}
	return merged(in.Result.Report.Accesses)
}

// Occupancy is how many blocks of the kernel an SM of an architecture holds.
type Occupancy struct {
	Arch     string
	Blocks   int
	Fraction float64 // of the threads that the SM can hold
}

// Occupancies are those of the architectures that run the kernel. Registers that are not known do not bound them.
func (in *Inspection) Occupancies() []Occupancy {
	var out []Occupancy
	for _, c := range chips {
		if in.kernel != nil && c.arch < in.kernel.Arch {
			continue
		}
		n := c.blocks(in.Threads, in.registersOn(c), in.Shared)
		out = append(out, Occupancy{c.name(), n, float64(n*in.Threads) / float64(c.threads)})
	}
	return out
}
