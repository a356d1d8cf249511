package emu

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gocute/gocute/gen/cir"
)

// Check names what a finding found.
type Check string

// The checks.
const (
	OutOfBounds   Check = "out-of-bounds"   // an index outside of its memory or register array
	Misaligned    Check = "misaligned"      // a vector whose address is not a multiple of its bytes
	Uninitialised Check = "uninitialised"   // a read of what nobody wrote
	ReadInFlight  Check = "read-in-flight"  // a read of bytes whose asynchronous copy has not been waited for
	Unpublished   Check = "unpublished"     // a read of another thread's cp.async, waited for but with no barrier since
	WriteInFlight Check = "write-in-flight" // a write to bytes that an asynchronous copy is still to fill
	Race          Check = "race"            // two threads use an element, one writes, no barrier (in a warp: sync) between
	Unwaited      Check = "unwaited"        // a copy or a wgmma that is in flight when its thread ends
	LaneConflict  Check = "lane-conflict"   // two lanes write one element in the same instruction
	DoubleWrite   Check = "double-write"    // two threads write the same element of global memory
	NotWritten    Check = "unwritten"       // elements of an output that no thread writes
	GlobalRace    Check = "global-race"     // a block reads an element of global memory that another block writes
	Uncounted     Check = "uncounted"       // a counter that other than its number of blocks arrive at
	Unfenced      Check = "unfenced"        // a wgmma into registers that other statements used, with no fence since
	Proxy         Check = "proxy"           // a wgmma of, or a TMALoad over, shared memory that ordinary stores wrote
	Divergent     Check = "divergent"       // a barrier or a warp-wide instruction without all threads
	Deadlock      Check = "deadlock"        // a barrier that some warps never reach
	NoLane        Check = "inactive-lane"   // a shuffle or vote that a lane outside of its mask executes, or takes from one
	Overflow      Check = "overflow"        // an integer that the printed code computes in 32 bits and that needs more
	IntRange      Check = "int-range"       // an integer outside of the bounds its symbol promises
	// RegisterInFlight is a use of an accumulator of a wgmma that has not been waited for.
	RegisterInFlight Check = "register-in-flight"

	Division Check = "division-by-zero" // a divisor that is not positive (0 for element types)
)

// remedies says what to do about each finding.
var remedies = map[Check]string{
	OutOfBounds:   "guard the access with the true extents, or enlarge the array",
	Misaligned:    "use a narrower vector, or an offset and a base that are multiples of it",
	Uninitialised: "write the element on every path before this read",
	ReadInFlight:  "wait for the copy before this read: commit its cp.async group and leave fewer groups pending (CommitGroup, WaitGroup); of a TMA load, wait for the phase of its mbarrier",
	Unpublished:   "put a barrier between the wait and this read",
	WriteInFlight: "wait for the copy before its destination is used again",
	Race:          "put a barrier, or in one warp a warp sync, between the two accesses; after a wgmma, commit it and wait for it (WarpgroupCommitBatch, WarpgroupWait)",
	Unwaited:      "wait before the kernel ends: for cp.async with WaitGroup(0), for wgmma with WarpgroupCommitBatch and WarpgroupWait(0), for a TMA load for the phase of its mbarrier",
	LaneConflict:  "give every lane an element of its own",
	DoubleWrite:   "partition the tensor so that one thread owns each element",
	NotWritten:    "let the grid and the tiles cover the tensor, and guard by its true extents only",
	GlobalRace:    "read another buffer than the one that is written, order the blocks by a counter (Arrive), or split the kernel in two",
	Uncounted:     "let exactly as many blocks call Arrive on each counter as its count says",
	Unfenced:      "put a WarpgroupArrive between that use and the wgmma",
	Proxy:         "let only TMALoad write shared memory that TMALoad or wgmma uses: the DSL has no fence between ordinary stores and the async proxy",
	Divergent:     "move the statement out of the condition so that all threads execute it",
	Deadlock:      "let every warp of the block reach the barrier, and every phase of an mbarrier get the arrivals and the bytes that it expects",
	NoLane:        "let all lanes that give or take a value execute the statement, and let its mask have exactly those",
	Overflow:      "widen the bounds declared for its Dims and Vars to the values that occur: the printed code takes the width of integers from them",
	IntRange:      "correct the bounds declared for it; the printed code relies on them",

	RegisterInFlight: "commit the wgmma and wait for it first: WarpgroupCommitBatch, and a WarpgroupWait that covers its batch",

	Division: "give a divisor that is positive for all arguments and threads",
}

// Finding is one mistake of a kernel, as first seen; Count says how often it happened.
type Finding struct {
	Check   Check
	Pos     cir.Pos // the line of the access
	Other   cir.Pos // the line of the earlier access, where one is concerned
	Kernel  string
	Block   [3]int64 // blockIdx
	Threads []int    // threadIdx.x of the access, then of the other one
	Mem     string   // name of the memory or of the register array, else empty
	Index   int64    // of the element in Mem, -1 where none is concerned
	Message string   // what is wrong, in one line
	Remedy  string   // what to do about it
	Count   int64    // how many elements' accesses it stands for
}

// Error is the finding in one line: file:line: kernel: check: what, where; remedy.
func (f *Finding) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s: %s: %s", place(f.Pos), f.Kernel, f.Check, f.Message)
	if len(f.Threads) > 0 { // else it is of all blocks
		fmt.Fprintf(&b, " (block %d,%d,%d, thread %d)", f.Block[0], f.Block[1], f.Block[2], f.Threads[0])
	}
	if f.Count > 1 && f.Check != NotWritten { // whose message has it
		fmt.Fprintf(&b, ", %d times", f.Count)
	}
	fmt.Fprintf(&b, "; %s", f.Remedy)
	return b.String()
}

// place is a position as errors print it: the file without its folder.
func place(p cir.Pos) string {
	if p.File == "" { // only of C IR that no kernel function recorded
		return "(no line)"
	}
	return fmt.Sprintf("%s:%d", filepath.Base(p.File), p.Line)
}

// key is what makes two findings the same one: for a race, both statements, in whichever order they were seen.
type key struct {
	check Check
	stmt  int32
	other int32
	mem   string
}

func raceKey(stmt, other int32, mem string) key {
	return key{check: Race, stmt: min(stmt, other), other: max(stmt, other), mem: mem}
}

// findings are those of one block or of the whole run, each key once, in the order they were seen.
type findings struct {
	list []*Finding
	keys []key
	at   map[key]*Finding
	max  int
	more int64 // occurrences beyond max
}

// structural findings end their block, and others are often their consequences.
func structural(c Check) bool { return c == Divergent || c == Deadlock || c == NoLane }

// blocking reports whether a finding kept accesses from happening, so that elements not written are no news.
func (s *findings) blocking() bool {
	return slices.ContainsFunc(s.list, func(f *Finding) bool {
		return structural(f.Check) || f.Check == OutOfBounds || f.Check == Misaligned
	})
}

// add returns a new finding to fill in, or nil where the key is known or there is no room.
func (s *findings) add(k key) *Finding {
	if f := s.at[k]; f != nil {
		f.Count++
		return nil
	}
	if len(s.list) >= s.max && !structural(k.check) {
		s.more++
		return nil
	}
	f := &Finding{Check: k.check, Mem: k.mem, Index: -1, Remedy: remedies[k.check], Count: 1}
	s.insert(k, f)
	return f
}

func (s *findings) insert(k key, f *Finding) {
	if s.at == nil {
		s.at = map[key]*Finding{}
	}
	s.at[k] = f
	at := len(s.list)
	if structural(k.check) { // causes before consequences
		at = 0
	}
	s.list, s.keys = slices.Insert(s.list, at, f), slices.Insert(s.keys, at, k)
}

// raced turns a read of what was not written into a race, once the write comes that it should have waited for.
// It returns the finding if it is to be completed.
func (s *findings) raced(stmt, now int32, mem string) (f *Finding, known bool) {
	old, as := key{check: Uninitialised, stmt: stmt, mem: mem}, raceKey(stmt, now, mem)
	f = s.at[old]
	if f == nil || f.Check == Race {
		return nil, f != nil
	}
	i := slices.Index(s.list, f)
	if race := s.at[as]; race != nil {
		race.Count += f.Count
		s.list, s.keys = slices.Delete(s.list, i, i+1), slices.Delete(s.keys, i, i+1)
		s.at[old] = race
		return nil, true
	}
	f.Check, f.Remedy = Race, remedies[Race]
	s.keys[i], s.at[as] = as, f
	return f, true
}

// merge adds the findings of a later block.
func (s *findings) merge(t *findings) {
	s.more += t.more
	for i, f := range t.list {
		switch known := s.at[t.keys[i]]; {
		case known != nil:
			known.Count += f.Count
		case len(s.list) >= s.max && !structural(f.Check):
			s.more += f.Count
		default:
			s.insert(t.keys[i], f)
		}
	}
}
