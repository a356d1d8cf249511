package emu_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/emu"
)

// TestClocks: the readings of each warp count up in each block, in program order and under every schedule.
func TestClocks(t *testing.T) {
	k := lowered(Define("clocks", func(k *K) {
		B := Out[elem.U64](k, "B", Shape(2, 64, 3).Strides(192, 3, 1)) // (block,thread,reading)
		k.Threads(64)
		k.Grid(2)
		mine := B.Tile(Tile(1, 1, 1), k.BlockX, k.Thread, All) // (1,1,1,reading)
		take := func(r Tensor[Rmem, elem.U64], i int) { Map(r, mine.At(0, 0, All, i), same) }
		take(Clock64(k), 0)
		k.Barrier()
		k.If(k.Thread.Lt(32), func() { take(GlobalTimer(k), 1) }, func() { take(Clock64(k), 1) })
		k.Loop(0, 3, func(Expr) { take(GlobalTimer(k), 2) }) // the last round's stays
	}))
	for i, x := range results(t, k, func() emu.Args { return emu.Args{"B": emu.NewBuffer(elem.KU64, 2*64*3)} }) {
		require.EqualValues(t, []int{1, 2, 5}[i%3], x, "element %d", i)
	}
	rep, err := emu.Run(t.Context(), k, emu.Args{"B": emu.NewBuffer(elem.KU64, 2*64*3)}, emu.Options{})
	require.NoError(t, err)
	require.EqualValues(t, 2*2*5, rep.Counts.Instructions["clock"])
}
