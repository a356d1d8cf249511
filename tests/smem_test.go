package tests

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/dsl/ir"
)

// checkSmemFragment lays wgmma's operands out in shared memory and walks them in steps of one instruction.
func checkSmemFragment(t *testing.T, g *goldenPartition) (differ, error) {
	s := &g.Setup
	row, ok := (&goldenMMA{Name: s.Atom, MajorA: s.MajorA, MajorB: s.MajorB}).ours()
	require.True(t, ok, s.Atom)
	none := algebra.Underscore
	m, err := ir.NewTiledMMA(row, parse("(1,1,1):(0,0,0)"), [3]any{none, none, none})
	if err != nil {
		return nil, err
	}
	var d differ
	for _, x := range []struct {
		o                       ir.Operand
		major                   atoms.Major
		shape, smem, part, desc string
	}{
		{ir.A, s.MajorA, s.ShapeA, g.Result.SmemA, g.Result.PartA, g.Result.DescA},
		{ir.B, s.MajorB, s.ShapeB, g.Result.SmemB, g.Result.PartB, g.Result.DescB},
	} {
		k, name := m.Elem(x.o), string(rune(x.o))
		block, bits, err := atoms.GMMASmem(s.Swizzle, x.major, k)
		if err != nil {
			return nil, err
		}
		shape, err := algebra.ParseShape(x.shape)
		if err != nil {
			return nil, err
		}
		smem, err := algebra.TileToShape(block, shape)
		if err != nil {
			return nil, err
		}
		d.value("layout of "+name, x.smem, atoms.ByteSwizzled(smem, bits, k))
		v, err := mmaView(m, x.o, probe(smem, false), 0)
		if err != nil {
			return nil, err
		}
		d.text("partition of "+name, x.part, v.t.Layout, nil)
		desc, err := ir.DescriptorSteps(v.t.Layout, k)
		d.text("descriptors of "+name, x.desc, desc, err)
	}
	return d, nil
}
