package machine

import "slices"

// Check names what a finding found.
type Check string

// The checks.
const (
	OutOfBounds   Check = "out-of-bounds"   // an address outside of every region, or past the end of its own
	Misaligned    Check = "misaligned"      // an address that is no multiple of what the instruction needs
	ReadOnly      Check = "read-only"       // a write to a kernel's parameters or constants
	Uninitialised Check = "uninitialised"   // a read of what nobody wrote
	Race          Check = "race"            // two accesses of a byte in no order, one of them a write
	LaneConflict  Check = "lane-conflict"   // two lanes write a byte in one instruction
	ReadInFlight  Check = "read-in-flight"  // a read of bytes that an asynchronous copy is still to fill
	WriteInFlight Check = "write-in-flight" // a write to such bytes, or to those that one still reads
	Unwaited      Check = "unwaited"        // a copy or product in flight when its thread or block ends
	Proxy         Check = "proxy"           // an asynchronous access of what ordinary stores wrote, with no proxy fence between
	Barrier       Check = "mbarrier"        // an mbarrier used wrongly, or its bytes used as data
	Divergent     Check = "divergent"       // an instruction for whole warps or blocks that some threads do not execute
	Deadlock      Check = "deadlock"        // threads wait for what never comes
	NoLane        Check = "inactive-lane"   // a shuffle or vote among lanes that do not execute it
	WrongScope    Check = "scope"           // strong accesses whose scopes do not contain each other's threads
	Descriptor    Check = "descriptor"      // a descriptor or tensor map that the hardware refuses
	Register      Check = "register"        // a register read before it was written, or while a product changes it
	Unsupported   Check = "unsupported"     // what this machine cannot run
	Endless       Check = "endless"         // more steps than the limit
)

// Finding is one mistake, as first seen.
type Finding struct {
	Check       Check
	PC          int32 // of the instruction, as the front end numbers them
	Other       int32 // of the other access; -1 for none
	Block       [3]int
	Thread      int // in the block, x fastest
	OtherThread int // -1 for none
	OtherBlock  [3]int
	Region      string // the memory's name; empty for none
	Offset      int64  // of the first byte in it
	Bytes       int
	Message     string // what is wrong, in one line
	Count       int64  // how many accesses it stands for
}

type findingKey struct {
	check     Check
	pc, other int32
	region    string
}

// findings keep each kind at each place once.
type findings struct {
	list []*Finding
	at   map[findingKey]*Finding
	max  int
	more int64
}

// structural findings end the run: others would be their consequences.
func (c Check) structural() bool {
	return slices.Contains([]Check{Divergent, Deadlock, NoLane, Unsupported, Endless}, c)
}

// add returns a new finding to fill in, or nil where it is known or there is no room.
func (s *findings) add(c Check, pc, other int32, region string) *Finding {
	k := findingKey{c, pc, other, region}
	if c == Race { // in whichever order the two were seen
		k.pc, k.other = min(pc, other), max(pc, other)
	}
	if f := s.at[k]; f != nil {
		f.Count++
		return nil
	}
	if len(s.list) >= s.max && !c.structural() {
		s.more++
		return nil
	}
	f := &Finding{Check: c, PC: pc, Other: other, Region: region, Thread: -1, OtherThread: -1, Count: 1}
	if s.at == nil {
		s.at = map[findingKey]*Finding{}
	}
	s.at[k] = f
	if c.structural() { // causes before consequences
		s.list = slices.Insert(s.list, 0, f)
	} else {
		s.list = append(s.list, f)
	}
	return f
}
