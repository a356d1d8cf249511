package cir

import (
	"fmt"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/elem"
)

// SyncWarp waits for all threads of the warp and makes their accesses to memory visible to each other.
type SyncWarp struct{ Pos }

// NamedBarriers is how many named barriers a block has beside Barrier; their numbers start at 1.
const NamedBarriers = 15

// NamedBarrier waits at one of the block's numbered barriers until Threads threads have come, in whole warps, and makes
// their accesses to memory visible to each other.
type NamedBarrier struct {
	Pos
	ID      int
	Threads int
}

// AllLanes is the mask of a whole warp.
const AllLanes = 0xffffffff

// ShuffleMode says from which lane a shuffle takes its value.
type ShuffleMode uint8

// The modes of shuffles; n is the shuffle's Lane.
const (
	ShuffleIdx  ShuffleMode = iota // lane n
	ShuffleUp                      // n lanes below; the first n lanes keep their own value
	ShuffleDown                    // n lanes above; the last n lanes keep their own value
	ShuffleXor                     // the lane whose number differs in the bits of n
)

var shuffleNames = [...]string{"idx", "up", "down", "xor"}

func (m ShuffleMode) String() string { return shuffleNames[m] }

// Shuffle gives each lane the value of a register of another lane. All lanes of Mask execute it together.
type Shuffle struct {
	Pos
	Mode     ShuffleMode
	Mask     uint32
	Lane     sym.Expr
	Dst, Src RegRef // of one element
}

// VoteOp says what a vote tells of a condition of all lanes.
type VoteOp uint8

// The votes.
const (
	VoteAny    VoteOp = iota // 1 where the condition holds in any lane, else 0
	VoteAll                  // 1 where the condition holds in all lanes, else 0
	VoteBallot               // a bit for each lane
)

var voteNames = [...]string{"any", "all", "ballot"}

func (o VoteOp) String() string { return voteNames[o] }

// Vote tells each lane what a condition is in all of them. All lanes of Mask execute it together.
type Vote struct {
	Pos
	Op   VoteOp
	Mask uint32
	Cond Cond
	Dst  RegRef // of one u32 element
}

// AtomicOp is what an atomic operation makes of the old value and of its operand.
type AtomicOp uint8

// The atomic operations.
const (
	AtomicAdd AtomicOp = iota
	AtomicMin
	AtomicMax
	AtomicExch // the operand
	AtomicCAS  // the operand where the old value equals Compare, else the old value
)

var atomicNames = [...]string{"add", "min", "max", "exch", "cas"}

func (o AtomicOp) String() string { return atomicNames[o] }

// Atomic changes one element of memory in one step, where Pred (if any) is true. It orders no other accesses.
type Atomic struct {
	Pos
	Op      AtomicOp
	Dst     Addr
	Src     Value
	Compare Value   // of AtomicCAS
	Old     *RegRef // one element that receives the old value; may be nil
	Pred    Cond
}

func (SyncWarp) stmt()     {}
func (NamedBarrier) stmt() {}
func (Shuffle) stmt()      {}
func (Vote) stmt()         {}
func (Atomic) stmt()       {}

// shuffled are the kinds that a shuffle moves.
var shuffled = map[elem.Kind]bool{elem.KF16: true, elem.KBF16: true, elem.KTF32: true, elem.KF32: true, elem.KF64: true,
	elem.KS32: true, elem.KU32: true, elem.KS64: true, elem.KU64: true}

// CanShuffle returns nil if shuffles move elements of the kind, or why they do not.
func CanShuffle(k elem.Kind) error {
	if !shuffled[k] {
		return fmt.Errorf("a shuffle moves single elements of 32 or 64 bits, f16 and bf16, but got %s", k)
	}
	return nil
}

// atomics lists the kinds of each atomic operation, those of sm_80.
var atomics = map[AtomicOp][]elem.Kind{
	AtomicAdd:  {elem.KS32, elem.KU32, elem.KF32, elem.KF64, elem.KF16, elem.KBF16},
	AtomicMin:  {elem.KS32, elem.KU32},
	AtomicMax:  {elem.KS32, elem.KU32},
	AtomicExch: {elem.KS32, elem.KU32, elem.KF32},
	AtomicCAS:  {elem.KS32, elem.KU32},
}

// CanAtomic returns nil if there is an atomic operation on the kind, or why there is none.
func CanAtomic(op AtomicOp, k elem.Kind) error {
	for _, have := range atomics[op] {
		if have == k {
			return nil
		}
	}
	return fmt.Errorf("there is no atomic %s of %s, only of %v", op, k, atomics[op])
}

// synced checks the statements in which several threads take part.
func (v *verifier) synced(s Stmt) error {
	switch s := s.(type) {
	case NamedBarrier:
		return CheckNamedBarrier(s.ID, s.Threads, v.k.Threads)
	case Shuffle:
		k := s.Src.Reg.Elem
		if s.Mask == 0 || s.Dst.Elems != 1 || s.Src.Elems != 1 || s.Dst.Reg.Elem != k {
			return fmt.Errorf("a shuffle of some lanes moves one element to one of its kind, but got %d of %s to %d of %s by %#x",
				s.Src.Elems, k, s.Dst.Elems, s.Dst.Reg.Elem, s.Mask)
		}
		return first(CanShuffle(k), v.refs(s.Dst, s.Src), v.exprs(s.Lane))
	case Vote:
		if s.Mask == 0 || s.Dst.Elems != 1 || s.Dst.Reg.Elem != elem.KU32 {
			return fmt.Errorf("a vote of some lanes sets one u32, but got %d of %s by %#x", s.Dst.Elems, s.Dst.Reg.Elem, s.Mask)
		}
		return first(v.refs(s.Dst), v.cond(s.Cond))
	case Atomic:
		return v.atomic(s)
	case ReadClock:
		return first(CheckReadClock(s), v.refs(s.Dst))
	case TensorLoad, MBarrierExpect, WarpgroupMMA, WarpgroupArrive, WarpgroupCommit, WarpgroupWait:
		return v.hopper(s)
	}
	return nil
}

// CheckNamedBarrier says why a block of so many threads has no such barrier.
func CheckNamedBarrier(id, threads, block int) error {
	switch {
	case id < 1 || id > NamedBarriers:
		return fmt.Errorf("expects the number of a barrier from 1 to %d, but got %d", NamedBarriers, id)
	case threads < 32 || threads%32 != 0:
		return fmt.Errorf("expects whole warps, a multiple of 32 threads, but got %d", threads)
	case threads >= block+32:
		return fmt.Errorf("expects no more than the block's %d threads, but got %d", block, threads)
	}
	return nil
}

func (v *verifier) atomic(s Atomic) error {
	if s.Dst.Mem == nil || s.Src == nil || (s.Compare != nil) != (s.Op == AtomicCAS) {
		return fmt.Errorf("an atomic %s lacks an operand or has one too many", s.Op)
	}
	k := s.Dst.Mem.Elem
	for _, x := range []Value{s.Src, s.Compare} {
		if x != nil && x.Kind() != k {
			return fmt.Errorf("an atomic %s on %s takes operands of that kind, but got %s", s.Op, k, x.Kind())
		}
	}
	if s.Old != nil {
		if s.Old.Elems != 1 || s.Old.Reg.Elem != k {
			return fmt.Errorf("an atomic %s on %s gives one element of that kind, but got %d of %s", s.Op, k, s.Old.Elems, s.Old.Reg.Elem)
		}
		if err := v.refs(*s.Old); err != nil {
			return err
		}
	}
	if s.Compare != nil {
		if err := v.value(s.Compare); err != nil {
			return err
		}
	}
	return first(CanAtomic(s.Op, k), v.addr(s.Dst), v.value(s.Src), v.cond(s.Pred))
}
