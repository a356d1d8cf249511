package ir

import (
	"fmt"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/elem"
)

// DescriptorSteps is how the descriptor of a wgmma operand in shared memory moves from one instruction to the next, in
// units of 16 bytes: the partition (MMA,MMA_I,MMA_K,…) with mode 0, which one descriptor covers, as one value.
func DescriptorSteps(part algebra.Layout, k elem.Kind) (algebra.Layout, error) {
	modes := []algebra.Layout{algebra.MustParse("1:0")}
	for i := 1; i < part.Rank(); i++ {
		mode := part.Mode(i)
		steps, err := inUnits(mode, int64(128/k.Bits()))
		if err != nil {
			return algebra.Layout{}, fmt.Errorf("mode %d of %s: %w", i, part, err)
		}
		modes = append(modes, steps)
	}
	return algebra.Make(modes...), nil
}

// inUnits divides a layout's strides.
func inUnits(l algebra.Layout, unit int64) (algebra.Layout, error) {
	return eachStride(l, func(step int64) (int64, error) {
		if step%unit != 0 {
			return 0, fmt.Errorf("expects steps of whole 16 bytes (%d elements), which a wgmma descriptor takes, but got %d elements", unit, step)
		}
		return step / unit, nil
	})
}

// eachStride replaces the strides of a static layout.
func eachStride(l algebra.Layout, f func(int64) (int64, error)) (algebra.Layout, error) {
	if !l.Shape().IsLeaf() {
		var modes []algebra.Layout
		for i := range l.Rank() {
			m, err := eachStride(l.Mode(i), f)
			if err != nil {
				return m, err
			}
			modes = append(modes, m)
		}
		return algebra.Make(modes...), nil
	}
	step, ok := l.Stride().Leaves()[0].IsConst()
	if !ok {
		return l, fmt.Errorf("expects static strides, but got %s", l)
	}
	step, err := f(step)
	if err != nil {
		return l, err
	}
	return algebra.NewLayout(l.Shape(), algebra.D(step).Mode(0))
}

// Parts shows the numbers that each element of a static layout is, in front of mode 0: ((parts,V),…).
func Parts(l algebra.Layout, parts int64) (algebra.Layout, error) {
	wide, err := eachStride(l, func(step int64) (int64, error) { return step * parts, nil })
	if err != nil {
		return wide, err
	}
	modes := []algebra.Layout{algebra.Make(algebra.MustLayout(algebra.S(parts), algebra.D(1)).Mode(0), wide.Mode(0))}
	for i := 1; i < wide.Rank(); i++ {
		modes = append(modes, wide.Mode(i))
	}
	return algebra.Make(modes...), nil
}
