package sarif

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gocute/gocute/check"
	"github.com/gocute/gocute/emu"
)

// Kind explains a kind of finding.
type Kind struct {
	ID     string
	Title  string // in a few words
	Means  string // in a sentence or two
	Remedy string // what to do, as a sentence
}

// InvalidKernel is the kind of what keeps a kernel from being recorded.
const InvalidKernel = "invalid-kernel"

// kinds explains each kind; the remedies of the emulator's checks are the emulator's.
var kinds = []Kind{
	{ID: string(emu.OutOfBounds), Title: "Access out of bounds", Means: "A thread uses an index outside of a tensor, a shared array or a register array."},
	{ID: string(emu.Misaligned), Title: "Misaligned vector access", Means: "The address of a vector access is not a multiple of the vector's bytes."},
	{ID: string(emu.Uninitialised), Title: "Read of uninitialised memory", Means: "A thread reads an element that no thread wrote."},
	{ID: string(emu.ReadInFlight), Title: "Read of bytes in flight", Means: "A thread reads the destination of an asynchronous copy before it waits for the copy."},
	{ID: string(emu.Unpublished), Title: "Read of another thread's copy without a barrier",
		Means: "A thread reads what another thread's cp.async wrote. That thread has waited for the copy, but there was no barrier since."},
	{ID: string(emu.WriteInFlight), Title: "Write to bytes in flight", Means: "A thread writes to the destination of an asynchronous copy that has not completed."},
	{ID: string(emu.Race), Title: "Data race in shared memory", Means: "Two threads use the same element, at least one of them writes it, and no barrier orders the two accesses."},
	{ID: string(emu.Unwaited), Title: "Asynchronous operation that nobody waits for", Means: "A thread ends while a copy or a wgmma of its own is in flight."},
	{ID: string(emu.LaneConflict), Title: "Two lanes write one element", Means: "Two lanes of a warp write the same element in the same instruction."},
	{ID: string(emu.DoubleWrite), Title: "Two threads write one element", Means: "Two threads write the same element of global memory."},
	{ID: string(emu.NotWritten), Title: "Output that is not written", Means: "No thread writes some elements of an output."},
	{ID: string(emu.GlobalRace), Title: "Data race between blocks", Means: "A block reads an element of global memory that another block writes, and nothing orders the two."},
	{ID: string(emu.Uncounted), Title: "Wrong number of arrivals at a counter", Means: "The number of blocks that arrive at a counter is not the number that it counts."},
	{ID: string(emu.Unfenced), Title: "wgmma without a fence", Means: "Other statements used the registers of a wgmma, and no wgmma.fence follows them."},
	{ID: string(emu.Proxy), Title: "Accesses through different proxies", Means: "Ordinary stores wrote shared memory that a wgmma reads or that a TMA load overwrites, without a proxy fence."},
	{ID: string(emu.Divergent), Title: "Barrier in divergent code", Means: "Only some threads execute a barrier or a warp-wide instruction that needs all of them."},
	{ID: string(emu.Deadlock), Title: "Deadlock", Means: "Some warps wait at a barrier that the others never reach, or for a phase that never completes."},
	{ID: string(emu.NoLane), Title: "Shuffle or vote with an inactive lane", Means: "A lane outside of the mask executes a shuffle or a vote, or gives a value to one."},
	{ID: string(emu.Overflow), Title: "Integer overflow", Means: "The emitted code computes an integer in 32 bits, and its value does not fit."},
	{ID: string(emu.IntRange), Title: "Integer out of its declared range", Means: "An integer is outside of the bounds declared for it."},
	{ID: string(emu.RegisterInFlight), Title: "Use of an accumulator in flight", Means: "A thread uses an accumulator of a wgmma that it has not waited for."},
	{ID: string(emu.Division), Title: "Divisor that is not positive", Means: "An integer division or remainder has a divisor below 1, or a division of elements has the divisor 0."},
	{ID: check.WrongValue, Title: "Wrong result", Means: "An element of an output is not what the reference of dsl.Expect computes.",
		Remedy: "look for a wrong index, a k that is missed or taken twice, or a stale stage; if only rounding differs, state a larger tolerance"},
	{ID: check.OutsideWrite, Title: "Write outside of the outputs", Means: "The kernel changed elements beside a tensor, or elements of an input.",
		Remedy: "guard the store with the true extents, and declare what is written with Out or InOut"},
	{ID: check.Unstable, Title: "Result that depends on the schedule", Means: "An output differs when the warps run in another order.",
		Remedy: "order the accesses with a barrier, and do not let the order of atomic operations decide a value"},
	{ID: check.BudgetExceeded, Title: "Budget exceeded", Means: "The kernel costs more bank conflicts, sectors or registers than k.Budget allows.",
		Remedy: "change the layout or the copy at the line named, for example with gocute find, or state another budget"},
	{ID: InvalidKernel, Title: "Kernel that cannot be generated", Means: "The package does not compile, or the DSL refuses an operation of the kernel.",
		Remedy: "correct the line named: the message says what was expected"},
}

// Kinds lists every kind of finding, sorted by ID.
func Kinds() []Kind {
	out := slices.Clone(kinds)
	for i := range out {
		if out[i].Remedy == "" {
			out[i].Remedy = emu.Check(out[i].ID).Remedy()
		}
		out[i].Remedy = strings.ToUpper(out[i].Remedy[:min(1, len(out[i].Remedy))]) + out[i].Remedy[min(1, len(out[i].Remedy)):] + "."
	}
	slices.SortFunc(out, func(a, b Kind) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// HelpURI is where a kind is documented.
func (k Kind) HelpURI() string { return Project + "/blob/main/docs/findings.md#" + k.ID }

// rules are the kinds as rules.
func rules() []Rule {
	var out []Rule
	for _, k := range Kinds() {
		name := ""
		for word := range strings.SplitSeq(k.ID, "-") {
			name += strings.ToUpper(word[:1]) + word[1:]
		}
		out = append(out, Rule{ID: k.ID, Name: name, Short: Text{k.Title + "."}, Full: Text{k.Means},
			Help: Help{Text: k.Means + " " + k.Remedy, Markdown: k.Means + "\n\n" + k.Remedy}, HelpURI: k.HelpURI(),
			Configuration: Configuration{Level: "error"}})
	}
	return out
}
