package check

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// TestHopperWork: a product of warpgroups is shared by 128 threads, a box by all.
func TestHopperWork(t *testing.T) {
	wgmma := cir.WarpgroupMMA{Op: &cir.Op{PTX: "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16"}}
	require.EqualValues(t, 64*256*16/128, elements(wgmma))
	load := cir.TensorLoad{Map: &cir.TensorMap{Of: &cir.Param{Elem: elem.KF16}, Box: []int{64, 128}}}
	require.EqualValues(t, 64*128/128, elements(load))
}

// TestHopperMutants: what orders boxes and products is taken away, moved and changed, and boxes are copied from elsewhere.
func TestHopperMutants(t *testing.T) {
	k := &cir.Kernel{Name: "k", Body: []cir.Stmt{
		cir.MBarrierExpect{Bytes: 32},
		cir.TensorLoad{Coords: []sym.Expr{sym.Int(0), sym.Int(8)}},
		cir.WarpgroupArrive{},
		cir.WarpgroupMMA{},
		cir.WarpgroupCommit{},
		cir.WarpgroupWait{Pending: 1},
	}}
	var what []string
	for _, m := range Mutants(k) {
		what = append(what, m.What)
	}
	require.Equal(t, []string{
		"mbarrierexpect removed", "mbarrierexpect expects 16 bytes more", "mbarrierexpect moved behind tensorload",
		"tensorload removed", "tensorload coordinate 0 one further", "tensorload coordinate 1 one further",
		"warpgrouparrive removed", "warpgrouparrive moved before tensorload", "warpgrouparrive moved behind warpgroupmma",
		"warpgroupcommit removed", "warpgroupcommit moved before warpgroupmma", "warpgroupcommit moved behind warpgroupwait",
		"warpgroupwait removed", "warpgroupwait leaves one more group", "warpgroupwait moved before warpgroupcommit",
	}, what)
	load := Mutants(k)[5].kernel.Body[1].(cir.TensorLoad)
	require.True(t, load.Coords[0].Is(0) && load.Coords[1].Is(9))
	require.True(t, k.Body[1].(cir.TensorLoad).Coords[1].Is(8), "the kernel is as it was")
	require.Equal(t, 48, Mutants(k)[1].kernel.Body[0].(cir.MBarrierExpect).Bytes)
	require.Equal(t, 2, Mutants(k)[13].kernel.Body[5].(cir.WarpgroupWait).Pending)
}
