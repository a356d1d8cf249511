package check

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/build"
	"github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/emu"
	"github.com/gocute/gocute/gen"
	"github.com/gocute/gocute/gen/cir"
	gencuda "github.com/gocute/gocute/gen/cuda"
	"github.com/gocute/gocute/internal/text"
)

// Inspection is what a kernel does and costs, as `gocute check` prints it.
type Inspection struct {
	Result    *Result
	Exact     *ExactResult // nil where the kernel is not linear; NotExact says why
	NotExact  error
	Traffic   []Traffic            // of each tensor in global memory
	Registers int                  // of a thread, the most on any architecture; 0 before Compile or where no nvcc was found
	Compiled  []build.KernelReport // what ptxas says, for each architecture
	Threads   int
	Shared    int // bytes of a block
	Budgets   []BudgetResult

	kernel *cir.Kernel
}

// Traffic is what a kernel moves of one tensor, and the least that it could.
type Traffic struct {
	Name         string
	Bytes, Least int64
}

// BudgetResult is a budget and what exceeds it; Problem is empty where nothing does.
type BudgetResult struct {
	Budget  dsl.Budget
	Problem string
}

// Inspect runs a kernel in the emulator with all checks, in the field of exact mode if it is linear, and adds up
// what it costs.
func Inspect(ctx context.Context, k *dsl.Kernel, args Args, opt Options) (*Inspection, error) {
	opt.On = CPU
	res, err := Run(ctx, k, args, opt)
	if err != nil {
		return nil, err
	}
	c, err := gen.Lower(k)
	if err != nil {
		return nil, err
	}
	in := &Inspection{Result: res, Threads: c.Threads, Shared: c.SmemBytes}
	exactArgs := args
	exactArgs.Dims = res.Dims
	stop := watch(opt.progress(), c.Name, res.work, stillRunning)
	in.Exact, in.NotExact = Exact(ctx, k, exactArgs)
	stop()
	if in.NotExact != nil && ctx.Err() != nil {
		return nil, in.NotExact
	}
	in.kernel = c
	for _, b := range k.Budgets() {
		if b.Kind() == dsl.RegisterBudget {
			in.Compile(ctx)
		}
	}
	if res.Report != nil {
		in.traffic(c)
	}
	for _, b := range k.Budgets() {
		in.Budgets = append(in.Budgets, BudgetResult{b, budgetRules[b.Kind()](in, b)})
	}
	return in, nil
}

// Compile asks ptxas for the kernel's registers, spills and stack on every architecture that gocute build compiles for;
// they stay unknown where there is no nvcc.
func (in *Inspection) Compile(ctx context.Context) {
	if in.Compiled != nil {
		return
	}
	in.Compiled = compiled(ctx, in.kernel)
	for _, c := range in.Compiled {
		in.Registers = max(in.Registers, c.Registers)
	}
}

func compiled(ctx context.Context, c *cir.Kernel) (out []build.KernelReport) {
	code, err := gencuda.Print(c, gencuda.Options{})
	if err != nil {
		return nil
	}
	tc, err := build.Find(ctx, build.Options{NoInstall: true})
	if err != nil {
		return nil
	}
	archs, _ := build.ArchsOf(c.Arch, c.Exactly)
	res, err := tc.Compile(ctx, build.Source{Name: c.Name, Code: code, Archs: archs, PTXArchs: []string{}})
	if err != nil {
		return nil
	}
	for _, arch := range archs {
		if b, ok := res.Binary(arch); ok {
			if rep, ok := b.Report.Kernel(c.Name); ok {
				rep.Arch = arch
				out = append(out, rep)
			}
		}
	}
	return out
}

// registersOn is how many registers a thread has on a chip, which runs the newest image that is not newer than itself.
func (in *Inspection) registersOn(c chip) int {
	n := in.Registers
	for _, rep := range in.Compiled { // in ascending order
		if arch, err := strconv.Atoi(strings.TrimRight(strings.TrimPrefix(rep.Arch, "sm_"), "a")); err == nil && arch <= c.arch {
			n = rep.Registers
		}
	}
	return n
}

// traffic sums up the bytes of each tensor; at least each of its elements is moved once, in each direction declared.
func (in *Inspection) traffic(c *cir.Kernel) {
	for _, o := range c.Params {
		if o.Class != cir.Pointer {
			continue
		}
		t := Traffic{Name: o.Name}
		least := int64(o.Elem.Bits())
		for _, e := range o.Extents {
			n, err := e.Eval(func(s *sym.Symbol) (int64, bool) { v, ok := in.Result.Dims[s.Name]; return v, ok })
			if err != nil {
				return
			}
			least *= n
		}
		reads := false
		for _, a := range in.Result.Report.Accesses {
			if a.Mem == o.Name && a.Space == cir.Global {
				t.Bytes += a.Bytes
				reads = reads || !strings.HasPrefix(a.Kind, "store")
			}
		}
		if t.Least = least / 8; o.Write && reads {
			t.Least *= 2
		}
		in.Traffic = append(in.Traffic, t)
	}
}

// budgetRules say what exceeds a budget.
var budgetRules = [...]func(in *Inspection, b dsl.Budget) string{
	dsl.ConflictBudget: func(in *Inspection, _ dsl.Budget) string {
		return in.worst("bank conflicts", func(a *emu.Access) int64 { return a.Conflicts() })
	},
	dsl.SectorBudget: func(in *Inspection, _ dsl.Budget) string {
		return in.worst("sectors beyond the least", func(a *emu.Access) int64 { return a.Sectors - a.LeastSectors })
	},
	dsl.RegisterBudget: func(in *Inspection, b dsl.Budget) string {
		switch {
		case in.Registers == 0:
			return "not measured: no nvcc was found"
		case in.Registers > b.Limit():
			return fmt.Sprintf("ptxas gives a thread %d", in.Registers)
		}
		return ""
	},
}

// worst names the line with the largest excess, as the table of accesses counts it.
func (in *Inspection) worst(what string, excess func(*emu.Access) int64) string {
	if in.Result.Report == nil {
		return ""
	}
	var most *emu.Access
	accesses := merged(in.Result.Report.Accesses)
	for i := range accesses {
		if a := &accesses[i]; excess(a) > 0 && (most == nil || excess(a) > excess(most)) {
			most = a
		}
	}
	if most == nil {
		return ""
	}
	return fmt.Sprintf("%s:%d: %s of %s: %d %s in %s", filepath.Base(most.Pos.File), most.Pos.Line, most.Kind,
		most.Mem, excess(most), what, text.Count(most.Requests, "request"))
}

// Err is nil if the kernel is right and within its budgets.
func (in *Inspection) Err() error {
	errs := []error{in.Result.Err()}
	if in.Exact != nil {
		errs = append(errs, in.Exact.Err())
	}
	for _, b := range in.Budgets {
		if b.Problem != "" {
			errs = append(errs, fmt.Errorf("%s: budget: expected %s, but %s", in.Result.Kernel, b.Budget, b.Problem))
		}
	}
	return errors.Join(errs...)
}

// chip is what bounds the blocks on one SM.
type chip struct {
	arch                             int
	threads, registers, shared, most int
}

func (c chip) name() string { return fmt.Sprintf("sm_%d", c.arch) }

var chips = []chip{{80, 2048, 65536, 164 << 10, 32}, {86, 1536, 65536, 100 << 10, 16}, {90, 2048, 65536, 228 << 10, 32}}

const (
	reservedShared = 1 << 10 // bytes that the system takes of a block's shared memory
	registerUnit   = 256     // registers are given to warps in these units
)

// blocks estimates how many blocks an SM holds.
func (c chip) blocks(threads, registers, shared int) int {
	warps := (threads + 31) / 32
	n := min(c.most, c.threads/(warps*32), c.shared/(shared+reservedShared))
	if registers > 0 {
		perWarp := (registers*32 + registerUnit - 1) / registerUnit * registerUnit
		n = min(n, c.registers/(perWarp*warps))
	}
	return n
}

// String is the report.
func (in *Inspection) String() string {
	var b strings.Builder
	b.WriteString(in.Result.body())
	switch {
	case in.Exact == nil:
		fmt.Fprintf(&b, "  exact    not run: %v\n", in.NotExact)
	case in.Exact.Err() == nil && in.Result.expects == 0:
		b.WriteString("  exact    no reference to compare with\n")
	case in.Exact.Err() == nil:
		fmt.Fprintf(&b, "  exact    %d elements are right in the field of 2^61-1\n", in.Exact.Compared)
	default:
		fmt.Fprintf(&b, "  exact    %d of %d elements are wrong\n", in.Exact.Wrong, in.Exact.Compared)
		for _, f := range in.Exact.Findings {
			fmt.Fprintf(&b, "           %v\n", f)
		}
	}
	if rep := in.Result.Report; rep != nil {
		in.costs(&b, rep)
	}
	for _, x := range in.Budgets {
		state := "met"
		if x.Problem != "" {
			state = x.Problem
		}
		fmt.Fprintf(&b, "  budget   %s: %s\n", x.Budget, state)
	}
	if in.Err() != nil {
		return b.String() + "FAIL"
	}
	return b.String() + in.Result.passed()
}

func (in *Inspection) costs(b *strings.Builder, rep *emu.Report) {
	for _, t := range in.Traffic {
		fmt.Fprintf(b, "  global   %s: %d bytes moved, %.2f times the least possible %d\n", t.Name, t.Bytes, float64(t.Bytes)/float64(max(t.Least, 1)), t.Least)
	}
	var kinds []string
	for k, n := range rep.Counts.Instructions {
		kinds = append(kinds, fmt.Sprintf("%s %d", k, n))
	}
	slices.Sort(kinds)
	fmt.Fprintf(b, "  warps    %s\n", strings.Join(kinds, ", "))
	regs := ""
	if in.Registers == 0 {
		regs = ", registers unknown"
	}
	fmt.Fprintf(b, "  block    %s, %d bytes of shared memory%s\n", text.Count(in.Threads, "thread"), in.Shared, regs)
	for _, c := range in.Compiled {
		fmt.Fprintf(b, "  ptxas    %s: %s, %d bytes of spill stores, %d bytes of spill loads, %d bytes of stack\n", c.Arch,
			text.Count(c.Registers, "register"), c.SpillStores, c.SpillLoads, max(c.StackFrame, c.CumulativeStack))
	}
	for _, c := range chips {
		if in.kernel != nil && c.arch < in.kernel.Arch {
			continue // which does not run it
		}
		n := c.blocks(in.Threads, in.registersOn(c), in.Shared)
		fmt.Fprintf(b, "  %s    %s an SM, %.0f %% of its threads\n", c.name(), text.Count(n, "block"), 100*float64(n*in.Threads)/float64(c.threads))
	}
	fmt.Fprintf(b, "  %-18s %-13s %-6s %6s %9s %11s %17s %10s\n", "line", "access", "memory", "bytes", "requests", "moved", "sectors (least)", "conflicts")
	for _, a := range merged(rep.Accesses) {
		sectors, conflicts := "", ""
		if a.Space == cir.Global {
			sectors = fmt.Sprintf("%d (%d)", a.Sectors, a.LeastSectors)
		} else {
			conflicts = fmt.Sprint(a.Conflicts())
		}
		fmt.Fprintf(b, "  %-18s %-13s %-6s %6d %9d %11d %17s %10s\n", fmt.Sprintf("%s:%d", filepath.Base(a.Pos.File), a.Pos.Line),
			a.Kind, a.Mem, a.Width, a.Requests, a.Bytes, sectors, conflicts)
	}
}

// merged sums up the accesses of one line to one memory: a line of the DSL becomes many statements.
func merged(in []emu.Access) []emu.Access {
	var out []emu.Access
	for _, a := range in {
		i := slices.IndexFunc(out, func(b emu.Access) bool {
			return a.Pos == b.Pos && a.Kind == b.Kind && a.Mem == b.Mem && a.Space == b.Space && a.Width == b.Width
		})
		if i < 0 {
			out = append(out, a)
			continue
		}
		o := &out[i]
		o.Requests += a.Requests
		o.Bytes += a.Bytes
		o.Sectors += a.Sectors
		o.LeastSectors += a.LeastSectors
		o.Wavefronts += a.Wavefronts
		o.LeastWavefronts += a.LeastWavefronts
	}
	return out
}
