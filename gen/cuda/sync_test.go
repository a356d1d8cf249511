package cuda_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
	"github.com/gocute/gocute/gen/cuda"
)

// together has every statement in which several threads take part, on every kind.
func together() *cir.Kernel {
	k := &cir.Kernel{Name: "together", Threads: 64, Shared: []*cir.Mem{shared("sC", elem.KU32, 32, 0)}, SmemBytes: 128}
	add := func(s ...cir.Stmt) { k.Body = append(k.Body, s...) }
	for kind := elem.KF16; kind <= elem.KU64; kind++ {
		if cir.CanShuffle(kind) != nil {
			continue
		}
		name := kind.String()
		m := pointer(name, kind, true)
		k.Params = append(k.Params, m)
		r := &cir.Reg{Name: "r_" + name, Elem: kind, Count: 2}
		at := cir.Addr{Mem: m.Mem, Index: cs(thread(64), 2)}
		add(cir.DeclReg{Reg: r}, cir.Load{Dst: ref(r, c(0), 2), Src: at})
		for mode := cir.ShuffleIdx; mode <= cir.ShuffleXor; mode++ {
			add(cir.Shuffle{Mode: mode, Mask: cir.AllLanes, Lane: c(1 + int(mode)), Dst: ref(r, c(1), 1), Src: ref(r, c(0), 1)})
		}
		add(cir.Store{Dst: at, Src: ref(r, c(0), 2)})
		for op := cir.AtomicAdd; op <= cir.AtomicCAS; op++ {
			if cir.CanAtomic(op, kind) != nil {
				continue
			}
			old := ref(r, c(1), 1)
			a := cir.Atomic{Op: op, Dst: at, Src: elemOf(r, c(0))}
			if op == cir.AtomicCAS {
				a.Compare = elemOf(r, c(1))
			}
			add(a)
			a.Old = &old
			add(a)
			a.Pred = cir.Cmp{Op: cir.LT, X: thread(64), Y: sym.Int(9)}
			add(a)
		}
	}
	u := &cir.Reg{Name: "votes", Elem: elem.KU32, Count: 1}
	add(cir.DeclReg{Reg: u})
	for op := cir.VoteAny; op <= cir.VoteBallot; op++ {
		add(cir.Vote{Op: op, Mask: cir.AllLanes >> 8, Cond: cir.Cmp{Op: cir.LT, X: thread(64), Y: sym.Int(int(op) + 3)}, Dst: ref(u, c(0), 1)},
			cir.Atomic{Op: cir.AtomicMax, Dst: cir.Addr{Mem: k.Shared[0], Index: c(int(op))}, Src: elemOf(u, c(0))})
	}
	now := &cir.Reg{Name: "now", Elem: elem.KU64, Count: 2}
	times := pointer("times", elem.KU64, true)
	k.Params = append(k.Params, times)
	add(cir.DeclReg{Reg: now}, cir.ReadClock{Clock: cir.CycleClock, Dst: ref(now, c(0), 1)}, cir.SyncWarp{},
		cir.NamedBarrier{ID: 3, Threads: 64}, cir.ReadClock{Clock: cir.TimerClock, Dst: ref(now, c(1), 1)},
		cir.Store{Dst: cir.Addr{Mem: times.Mem, Index: cs(thread(64), 2)}, Src: ref(now, c(0), 2)})
	return k
}

// TestTogether prints and compiles what the verifier lets pass.
func TestTogether(t *testing.T) {
	k := together()
	require.NoError(t, cir.Verify(k))
	code, err := cuda.Print(k, cuda.Options{})
	require.NoError(t, err)
	golden(t, "together.cu", code)
	instrs := compile(t, "together", code, "")
	for prefix, n := range map[string]int{"bar.sync": 1, "bar.warp.sync": 1, "vote.sync": 3, "atom.shared.max.u32": 3, "mov.u64": 2} {
		require.Equal(t, n, count(instrs, prefix), prefix)
	}
	for _, prefix := range []string{"shfl.sync.idx", "shfl.sync.up", "shfl.sync.down", "shfl.sync.bfly"} {
		require.NotZero(t, count(instrs, prefix), prefix)
	}
}

// TestTogetherRefused: the verifier and the printer refuse what the machine has not.
func TestTogetherRefused(t *testing.T) {
	r := &cir.Reg{Name: "r", Elem: elem.KF32, Count: 2}
	b := &cir.Reg{Name: "b", Elem: elem.KS8, Count: 4}
	m := shared("sF", elem.KF32, 8, 0)
	one := ref(r, c(0), 1)
	for want, s := range map[string]cir.Stmt{
		"a shuffle of some lanes":                      cir.Shuffle{Dst: one, Src: one},
		"a shuffle moves single elements":              cir.Shuffle{Mask: 1, Dst: ref(b, c(0), 1), Src: ref(b, c(1), 1)},
		"a vote of some lanes sets one u32":            cir.Vote{Mask: 1, Dst: one},
		"the number of a barrier from 1 to 15":         cir.NamedBarrier{ID: 16, Threads: 32},
		"a multiple of 32 threads, but got 40":         cir.NamedBarrier{ID: 1, Threads: 40},
		"no more than the block's 64 threads":          cir.NamedBarrier{ID: 1, Threads: 96},
		"there is no atomic min of f32":                cir.Atomic{Op: cir.AtomicMin, Dst: cir.Addr{Mem: m}, Src: elemOf(r, c(0))},
		"an atomic cas lacks an operand":               cir.Atomic{Op: cir.AtomicCAS, Dst: cir.Addr{Mem: m}, Src: elemOf(r, c(0))},
		"a clock is read into one u64, but got 1 of f": cir.ReadClock{Dst: one},
		"there is no clock 2":                          cir.ReadClock{Clock: 2, Dst: one},
		"an atomic add on f32 takes operands of that":  cir.Atomic{Dst: cir.Addr{Mem: m}, Src: elemOf(b, c(0))},
	} {
		k := &cir.Kernel{Name: "k", Threads: 64, Shared: []*cir.Mem{m}, SmemBytes: 128,
			Body: []cir.Stmt{cir.DeclReg{Reg: r}, cir.DeclReg{Reg: b}, s}}
		require.ErrorContains(t, cir.Verify(k), want)
	}
}
