package emu_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/atoms"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/emu"
	"github.com/gocute/gocute/gen/cir"
)

// summed is a kernel of four blocks of 32 threads for each of two sums: every block writes its part, and finish, at the
// arrival of the last one, reads the four parts and writes the sum.
func summed(name string, body func(k *K, part func(), arrive func(of int) Expr, sum func())) *cir.Kernel {
	return lowered(Define(name, func(k *K) {
		parts := InOut[elem.F32](k, "parts", Shape(2, 4, 32).Strides(128, 32, 1))
		counters := InOut[elem.U32](k, "counters", Shape(2))
		out := InOut[elem.F32](k, "out", Shape(2, 32).Strides(32, 1))
		k.Threads(32)
		k.Grid(4, 2)
		k.Helper()
		g2r := NewTiledCopy[elem.F32](atoms.UniversalCopy[Gmem, Rmem](32), Shape(32), Shape(1))
		r2g := NewTiledCopy[elem.F32](atoms.UniversalCopy[Rmem, Gmem](32), Shape(32), Shape(1))
		to := r2g.Slice(k.Thread).PartitionD(out.At(k.BlockY, All))
		total, one := FragmentLike(to), FragmentLike(to)
		part := func() {
			k.Helper()
			Fill(one, 1)
			Copy(r2g, one, r2g.Slice(k.Thread).PartitionD(parts.At(k.BlockY, k.BlockX, All)))
		}
		arrive := func(of int) Expr {
			k.Helper()
			return Arrive(k, counters.At(k.BlockY), of)
		}
		sum := func() {
			k.Helper()
			Clear(total)
			k.Loop(0, 4, func(i Expr) {
				k.Helper()
				Copy(g2r, g2r.Slice(k.Thread).PartitionS(parts.At(k.BlockY, i, All)), one)
				Combine(total, one, func(t, v Val[elem.F32]) Val[elem.F32] { return t.Add(v) })
			})
			Copy(r2g, total, to)
		}
		body(k, part, arrive, sum)
	}))
}

func lastSums() *cir.Kernel {
	return summed("last_sums", func(k *K, part func(), arrive func(of int) Expr, sum func()) {
		part()
		k.If(arrive(4).Eq(3), sum, nil)
	})
}

func sumWithoutArrival() *cir.Kernel {
	return summed("sum_without_arrival", func(k *K, part func(), arrive func(of int) Expr, sum func()) {
		part()
		k.If(k.BlockX.Eq(3), func() {
			sum() // BROKEN global-race
		}, nil)
	})
}

func partAfterArrival() *cir.Kernel {
	return summed("part_after_arrival", func(k *K, part func(), arrive func(of int) Expr, sum func()) {
		come := arrive(4)
		part()
		k.If(come.Eq(3), func() {
			sum() // BROKEN global-race
		}, nil)
	})
}

func fourOfFive() *cir.Kernel {
	return summed("four_of_five", func(k *K, part func(), arrive func(of int) Expr, sum func()) {
		part()
		k.If(arrive(5).Eq(4), sum, nil) // BROKEN uncounted
	})
}

// The last block to come finds everything, in whatever order the blocks run.
func TestArrive(t *testing.T) {
	k := lastSums()
	for seed := range uint64(20) {
		args := arguments(t, k, nil)
		rep, err := emu.Run(context.Background(), k, args, emu.Options{Seed: seed})
		require.NoError(t, err)
		require.NoError(t, rep.Err())
		for _, v := range args["out"].(*emu.Buffer).Cells {
			assert.Equal(t, float32(4), math.Float32frombits(uint32(v)))
		}
		for _, v := range args["counters"].(*emu.Buffer).Cells {
			assert.Zero(t, v)
		}
	}
}
