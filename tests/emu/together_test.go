package emu_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/emu"
	"github.com/gocute/gocute/gen/cir"
)

// results runs a kernel under several schedules without findings and returns its output B.
func results(t *testing.T, k *cir.Kernel, args func() emu.Args) []float64 {
	t.Helper()
	var first []float64
	for seed := range uint64(8) {
		a := args()
		rep, err := emu.Run(context.Background(), k, a, emu.Options{Seed: seed})
		require.NoError(t, err)
		require.NoError(t, rep.Err())
		if out := a["B"].(*emu.Buffer).Float64s(); seed == 0 {
			first = out
		} else {
			require.Equal(t, first, out, "schedule %d", seed)
		}
	}
	return first
}

// numbered are arguments in which A counts from 0.
func numbered(k elem.Kind, n int) func() emu.Args {
	return func() emu.Args {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(i)
		}
		return emu.Args{"A": emu.BufferFromFloat64s(k, x), "B": emu.BufferFromFloat64s(k, make([]float64, n))}
	}
}

// TestShuffles: each mode takes the value of the lane that it says, of all kinds.
func TestShuffles(t *testing.T) {
	shuffles[elem.F32](t, elem.KF32)
	shuffles[elem.F16](t, elem.KF16)
	shuffles[elem.S64](t, elem.KS64)
}

func shuffles[E elem.Any](t *testing.T, kind elem.Kind) {
	for name, c := range map[string]struct {
		do   func(k *K, r, o Tensor[Rmem, E])
		want func(lane int) int
	}{
		"idx":  {func(k *K, r, o Tensor[Rmem, E]) { ShuffleIdx(r, o, k.Thread.Mul(3).Mod(32)) }, func(l int) int { return 3 * l % 32 }},
		"up":   {func(_ *K, r, o Tensor[Rmem, E]) { ShuffleUp(r, o, 3) }, func(l int) int { return orOwn(l-3, l) }},
		"down": {func(_ *K, r, o Tensor[Rmem, E]) { ShuffleDown(r, o, 30) }, func(l int) int { return orOwn(l+30, l) }},
		"xor":  {func(_ *K, r, o Tensor[Rmem, E]) { ShuffleXor(r, o, 5) }, func(l int) int { return l ^ 5 }},
	} {
		got := results(t, fragmented("shuffle_"+name, 64, c.do), numbered(kind, 64))
		for i, x := range got {
			require.EqualValues(t, i/32*32+c.want(i%32), x, "%s of thread %d", name, i)
		}
	}
}

// orOwn is a lane of the warp, or the lane's own number where there is none.
func orOwn(lane, own int) int {
	if lane < 0 || lane > 31 {
		return own
	}
	return lane
}

func TestReduceWarp(t *testing.T) {
	k := fragmented("reduce", 32, func(k *K, r, o Tensor[Rmem, elem.S32]) {
		ReduceWarp(r, 8, func(x, y Val[elem.S32]) Val[elem.S32] { return x.Add(y) })
		Map(r, o, same)
	})
	for i, x := range results(t, k, numbered(elem.KS32, 32)) {
		require.EqualValues(t, i/8*8*8+28, x)
	}
}

func TestVotes(t *testing.T) {
	for _, c := range []struct {
		vote func(src, dst Tensor[Rmem, elem.U32], f func(Val[elem.U32]) Cond)
		want []float64 // of the warp with 0 to 31, and of that with 32 to 63
	}{
		{VoteAny[elem.U32], []float64{1, 0}},
		{VoteAll[elem.U32], []float64{0, 0}},
		{VoteBallot[elem.U32], []float64{1<<20 - 1, 0}},
	} {
		k := fragmented("vote", 64, func(k *K, r, o Tensor[Rmem, elem.U32]) {
			c.vote(r, o, func(v Val[elem.U32]) Cond { return v.Lt(Lit[elem.U32](20)) })
		})
		for i, x := range results(t, k, numbered(elem.KU32, 64)) {
			require.Equal(t, c.want[i/32], x)
		}
	}
}

// TestSyncWarp: threads of a warp may exchange through memory with a warp sync between.
func TestSyncWarp(t *testing.T) {
	k := reversal("sync_warp", 32, func(k *K, r Tensor[Rmem, elem.F32], s Tensor[Smem, elem.F32], t, back Expr) {
		put(k, r, s, t)
		k.SyncWarp()
		get(k, s, back, r)
	})
	for i, x := range results(t, k, numbered(elem.KF32, 32)) {
		require.EqualValues(t, 31-i, x)
	}
}

// TestNamedBarriers: two pairs of warps exchange round by round, each pair at a barrier of its own.
func TestNamedBarriers(t *testing.T) {
	k := reversal("named_pairs", 128, func(k *K, r Tensor[Rmem, elem.F32], s Tensor[Smem, elem.F32], t, back Expr) {
		partner := t.Div(64).Mul(64).Add(t.Mod(64).Mul(-1).Add(63))
		k.Loop(0, 3, func(Expr) {
			meet := func() {
				k.If(t.Lt(64), func() { k.NamedBarrier(1, 64) }, func() { k.NamedBarrier(2, 64) })
			}
			put(k, r, s, t)
			meet()
			get(k, s, partner, r)
			meet()
		})
	})
	for i, x := range results(t, k, numbered(elem.KF32, 128)) {
		require.EqualValues(t, i/64*64+63-i%64, x)
	}
}

// TestAtomics: sums and extremes of all threads, and old values.
func TestAtomics(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(s Tensor[Smem, elem.S32], r, old Tensor[Rmem, elem.S32])
		want float64
	}{
		{"add", func(s Tensor[Smem, elem.S32], r, _ Tensor[Rmem, elem.S32]) { AtomicAdd(s, r) }, 64 * 63 / 2},
		{"min", func(s Tensor[Smem, elem.S32], r, _ Tensor[Rmem, elem.S32]) { AtomicMin(s, r) }, 0},
		{"max", func(s Tensor[Smem, elem.S32], r, old Tensor[Rmem, elem.S32]) { AtomicMax(s, r, old) }, 63},
		{"cas", func(s Tensor[Smem, elem.S32], r, old Tensor[Rmem, elem.S32]) { AtomicCAS(s, r, r, old) }, 0},
	} {
		k := fragmented("atomic_"+c.name, 64, func(k *K, r, o Tensor[Rmem, elem.S32]) {
			s := Shared[elem.S32](k, "s", Shape(1))
			k.If(k.Thread.Eq(0), func() { Map(o, s, same) }, nil)
			k.Barrier()
			c.do(s, r, o)
			k.Barrier()
			Map(s, o, same)
		})
		for _, x := range results(t, k, numbered(elem.KS32, 64)) {
			require.Equal(t, c.want, x, c.name)
		}
	}
}

// TestTickets: old values are handed out once each; which thread gets which is open.
func TestTickets(t *testing.T) {
	k := lowered(Define("tickets", func(k *K) {
		A, B := InOut[elem.S32](k, "A", Shape(1)), Out[elem.S32](k, "B", Shape(128))
		k.Threads(64)
		k.Grid(2)
		one, old := FragmentLike(A), FragmentLike(A)
		Fill(one, 1)
		AtomicAdd(A, one, old)
		put(k, old, B, k.BlockX.Mul(64).Add(k.Thread))
	}))
	args := emu.Args{"A": emu.NewBuffer(elem.KS32, 1), "B": emu.NewBuffer(elem.KS32, 128)}
	rep, err := emu.Run(t.Context(), k, args, emu.Options{Seed: 3})
	require.NoError(t, err)
	require.NoError(t, rep.Err())
	seen := map[float64]bool{}
	for _, x := range args["B"].(*emu.Buffer).Float64s() {
		seen[x] = true
	}
	require.Len(t, seen, 128)
	require.Equal(t, []float64{128}, args["A"].(*emu.Buffer).Float64s())
}
