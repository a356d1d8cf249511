package cuda

import (
	"fmt"

	"github.com/gocute/gocute/gen/cir"
)

// voteForms are the votes, with what makes 0 or 1 of the results that C gives as any other number.
var voteForms = map[cir.VoteOp]string{
	cir.VoteAny:    "__any_sync(0x%08xu, %s) != 0",
	cir.VoteAll:    "__all_sync(0x%08xu, %s) != 0",
	cir.VoteBallot: "__ballot_sync(0x%08xu, %s)",
}

var atomicFunctions = map[cir.AtomicOp]string{cir.AtomicAdd: "atomicAdd", cir.AtomicMin: "atomicMin", cir.AtomicMax: "atomicMax",
	cir.AtomicExch: "atomicExch", cir.AtomicCAS: "atomicCAS"}

var shuffleFunctions = map[cir.ShuffleMode]string{cir.ShuffleIdx: "__shfl_sync", cir.ShuffleUp: "__shfl_up_sync",
	cir.ShuffleDown: "__shfl_down_sync", cir.ShuffleXor: "__shfl_xor_sync"}

// clockRegisters are PTX's names of the counters.
var clockRegisters = map[cir.Clock]string{cir.CycleClock: "clock64", cir.TimerClock: "globaltimer"}

// synced prints a statement in which several threads take part and reports whether it is one.
func (p *printer) synced(s cir.Stmt) bool {
	switch s := s.(type) {
	case cir.SyncWarp:
		p.line("__syncwarp();")
	case cir.NamedBarrier:
		p.line(`asm volatile("bar.sync %d, %d;" ::: "memory");`, s.ID, s.Threads)
	case cir.Shuffle:
		p.shuffle(s)
	case cir.Vote:
		cond := "true"
		if s.Cond != nil {
			cond = p.cond(s.Cond).s
		}
		p.setElem(s.Dst, text{s: fmt.Sprintf(voteForms[s.Op], s.Mask, cond), prec: precCompare})
	case cir.Atomic:
		p.atomic(s)
	case cir.ReadClock:
		p.readClock(s)
	default:
		return false
	}
	return true
}

func (p *printer) shuffle(s cir.Shuffle) {
	if err := cir.CanShuffle(s.Src.Reg.Elem); err != nil {
		p.fail("%w", err)
		return
	}
	if s.Src.Reg.Elem != s.Dst.Reg.Elem || s.Mask == 0 {
		p.fail("expected a shuffle of some lanes between registers of one kind, but got %s to %s by %#x", s.Src.Reg.Elem, s.Dst.Reg.Elem, s.Mask)
		return
	}
	f := ofKind(shuffleFunctions[s.Mode], s.Src.Reg.Elem)
	p.use.helper(f)
	p.setElem(s.Dst, call(f, text{s: fmt.Sprintf("0x%08xu", s.Mask)}, p.getElem(s.Src), p.expr(s.Lane)))
}

// atomic prints a call where the predicate holds; its result goes to a register or nowhere.
func (p *printer) atomic(s cir.Atomic) {
	k := s.Dst.Mem.Elem
	if err := cir.CanAtomic(s.Op, k); err != nil {
		p.fail("%w", err)
		return
	}
	args := []text{{s: "&" + p.element(s.Dst, true)}}
	for _, x := range []cir.Value{s.Compare, s.Src} {
		if x != nil {
			args = append(args, p.value(x))
		}
	}
	f := ofKind(atomicFunctions[s.Op], k)
	p.use.helper(f)
	change := call(f, args...)
	if s.Old == nil {
		p.line("%s%s;", p.when(s.Pred), change.s)
		return
	}
	if s.Pred == nil {
		p.setElem(*s.Old, change)
		return
	}
	p.line("%s{", p.when(s.Pred))
	p.indent++
	p.setElem(*s.Old, change)
	p.indent--
	p.line("}")
}

// readClock names memory, so that nvcc moves no access past the reading.
func (p *printer) readClock(s cir.ReadClock) {
	if err := cir.CheckReadClock(s); err != nil {
		p.fail("%w", err)
		return
	}
	p.line(`asm volatile("mov.u64 %%0, %%%%%s;" : "=l"(%s) :: "memory");`, clockRegisters[s.Clock], p.getElem(s.Dst).s)
}
