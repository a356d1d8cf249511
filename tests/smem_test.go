package tests

import (
	"fmt"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/elem"
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
		if x.major == atoms.MajorK {
			v.t.Swizzle = algebra.Swizzle{B: bits, M: log2(128 / k.Bits()), S: 3}
			if bits == 0 {
				v.t.Swizzle = algebra.Swizzle{}
			}
			d = append(d, descriptorDiffers(m, v.t)...)
		}
	}
	return d, nil
}

func log2(n int) int { return bits.Len(uint(n)) - 1 }

// descriptorDiffers compares where the descriptors of a partition of shared memory have each instruction's elements with
// where the partition has them. A partition that is not swizzled is refused.
func descriptorDiffers(m *ir.TiledMMA, part *ir.Tensor) differ {
	desc, err := ir.SmemMatrix(m, part)
	if part.Swizzle.B == 0 {
		if err == nil {
			return differ{"a descriptor of rows that are not swizzled"}
		}
		return nil
	}
	if err != nil {
		return differ{err.Error()}
	}
	var d differ
	bytes, depth, mode := int64(part.Elem.Bits()/8), int64(m.Row.K), part.Layout.Mode(0)
	base, _ := part.Offset.IsConst()
	for first := range size(part.Layout) / size(mode) {
		start := base + part.Layout.AtInt(first*size(mode)) // of an instruction's elements
		for r := range size(mode) / depth {
			for k := range depth {
				at := start*bytes + r/8*int64(desc.Stride) + r%8*(16<<desc.Swizzle) + k*bytes
				at ^= at >> 7 & (1<<desc.Swizzle - 1) << 4
				if want := part.Swizzle.Apply(start + mode.AtInt(r+size(mode)/depth*k)); at != want*bytes {
					d = append(d, fmt.Sprintf("descriptor %+v of %s %s at %d: element (%d,%d) of instruction %d is at byte %d and not at %d", desc, part.Swizzle, part.Layout, base, r, k, first, at, want*bytes))
					return d
				}
			}
		}
	}
	return d
}

// TestDescriptors: descriptors find each element of operands whose rows, blocks of K and stages are drawn.
func TestDescriptors(t *testing.T) {
	count := 0
	for _, spec := range []atoms.GMMASpec{
		{N: 8, D: elem.KF32, A: elem.KF16, B: elem.KF16}, {N: 96, D: elem.KF16, A: elem.KF16, B: elem.KF16}, {N: 256, D: elem.KF32, A: elem.KBF16, B: elem.KBF16},
		{N: 24, D: elem.KF32, A: elem.KTF32, B: elem.KTF32}, {N: 32, D: elem.KS32, A: elem.KS8, B: elem.KU8},
	} {
		row, err := atoms.GMMA(spec)
		require.NoError(t, err)
		none := algebra.Underscore
		m, err := ir.NewTiledMMA(row, parse("(1,1,1):(0,0,0)"), [3]any{none, none, none})
		require.NoError(t, err)
		for _, o := range []ir.Operand{ir.A, ir.B} {
			for swizzle := 1; swizzle <= 3; swizzle++ {
				width := int64(128<<swizzle) / int64(spec.A.Bits())
				for _, blocks := range []int64{1, 2, 3} {
					rows := int64(map[ir.Operand]int{ir.A: 128, ir.B: 2 * spec.N}[o])
					for _, block := range []algebra.Layout{algebra.MustLayout(algebra.S(8, width), algebra.D(width, 1)), algebra.MustLayout(algebra.S(rows, width), algebra.D(width, 1))} {
						smem, err := algebra.TileToShape(block, algebra.S(rows, width*blocks, 2))
						require.NoError(t, err)
						x := probe(smem, false)
						x.Elem, x.Swizzle = m.Elem(o), algebra.Swizzle{B: swizzle, M: log2(128 / spec.A.Bits()), S: 3}
						for stage := range 2 {
							here, err := x.At(algebra.C(none, none, stage))
							require.NoError(t, err)
							part, err := here.PartitionMMA("tCsX", m, o, sym.Int(5))
							require.NoError(t, err)
							require.Empty(t, descriptorDiffers(m, part))
							count++
						}
					}
				}
			}
		}
	}
	t.Logf("%d operands", count)
}
