package ir

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/gen/cir"
)

// TensorCopyOp starts a copy of a box of a global tensor into a tile of shared memory by the copy engine.
type TensorCopyOp struct {
	cir.Pos
	Row    *atoms.CopyRow
	Map    *cir.TensorMap
	Coords []sym.Expr // of the box's first element
	Dst    *Tensor
	Bar    *Tensor // the mbarrier that its bytes count at, of one element
}

// boxDim is one dimension of a box: as many steps of so many coordinates in a mode of the tensor.
type boxDim struct {
	root   int // the tensor's mode, of those that are not nested
	count  int64
	step   int64    // coordinates
	stride sym.Expr // elements
}

// NewTensorMap describes a tile of a global tensor as a box whose elements, adjacent dimension first, fill a tile of
// shared memory in the order of its addresses, and the coordinates of the box (as make_tma_copy does). It refuses tiles
// that are no box, whose swizzle is not the engine's, or whose edges the tensor's extents would not cut.
func NewTensorMap(src, dst *Tensor) (*cir.TensorMap, []sym.Expr, error) {
	p := src.Storage.Param
	if p == nil || len(p.Extents) != len(src.Bounds) {
		return nil, nil, fmt.Errorf("expects a tensor in global memory, but got %s", src.Name)
	}
	dims, err := boxDims(src, dst)
	if err != nil {
		return nil, nil, err
	}
	m := &cir.TensorMap{Of: p}
	if m.Swizzle, err = engineSwizzle(dst); err != nil {
		return nil, nil, err
	}
	var coords []sym.Expr
	for i, d := range dims {
		extent, at, err := dimExtent(src, dims, i)
		if err != nil {
			return nil, nil, err
		}
		m.Extents, m.Strides = append(m.Extents, extent), append(m.Strides, d.stride)
		m.Box = append(m.Box, int(d.count))
		coords = append(coords, at)
	}
	for root := range p.Extents { // modes that the tile is cut from at one place
		if slices.ContainsFunc(dims, func(d boxDim) bool { return d.root == root }) || src.Coord.Get(src.Bounds[root].Path...).Is(0) {
			continue
		}
		m.Extents, m.Strides = append(m.Extents, p.Extents[root]), append(m.Strides, p.Strides[root])
		m.Box = append(m.Box, 1)
		coords = append(coords, src.Coord.Get(src.Bounds[root].Path...))
	}
	if err := cir.CheckTensorMap(m); err != nil {
		return nil, nil, fmt.Errorf("%s %s to %s %s: %w", src.Name, src.Layout, dst.Name, dst.Layout, err)
	}
	if per := int64(m.Align() * 8 / dst.Elem.Bits()); !dst.Offset.DivisibleBy(per) {
		return nil, nil, fmt.Errorf("expects the tile to begin at a multiple of %d elements (%d bytes) of shared memory, but %s begins at %s", per, m.Align(), dst.Name, dst.Offset)
	}
	for i, b := range src.Bounds {
		if !b.Extent.Equal(p.Extents[i]) {
			return nil, nil, fmt.Errorf("expects the tensor's own extents, which TMA takes, but %s ends at %s (narrowed by Within?)", src.Name, b.Extent)
		}
	}
	return m, coords, oneCopy(src, coords)
}

// oneCopy says why the copy engine cannot make the copy: where coordinates do not fit the instruction's 32 bits, and where
// the kernel writes the tensor, which the engine may not see.
func oneCopy(src *Tensor, coords []sym.Expr) error {
	if p := src.Storage.Param; p.Write {
		return fmt.Errorf("expects a tensor that the kernel only reads (In): nothing orders TMA after what threads of the kernel write, but %s was declared with InOut", p.Name)
	}
	for _, e := range coords {
		switch lo, hi := e.Range(); {
		case hi > math.MaxInt32:
			return fmt.Errorf("expects coordinates within 32 bits, which TMA takes, but %s may reach %d (state the extent's bound with AtMost?)", e, hi)
		case lo < math.MinInt32:
			return fmt.Errorf("expects coordinates within 32 bits, which TMA takes, but %s may reach %d", e, lo)
		}
	}
	return nil
}

// boxDims lists the dimensions of the tile in the order of its addresses in shared memory.
func boxDims(src, dst *Tensor) ([]boxDim, error) {
	if err := checkTiles(src, dst); err != nil {
		return nil, err
	}
	inverse, err := algebra.RightInverse(dst.Layout) // address -> coordinate
	if err == nil {
		inverse, err = algebra.Flatten(inverse)
	}
	if err != nil {
		return nil, err
	}
	if a, b := sizeOf(inverse), sizeOf(dst.Layout); a != b {
		return nil, fmt.Errorf("expects a tile that fills a stretch of shared memory, but the %d elements of %s %s have only %d in a row", b, dst.Name, dst.Layout, a)
	}
	var out []boxDim
	for i := range inverse.Rank() {
		dims, err := boxDimsOf(src, inverse.Mode(i))
		if err != nil {
			return nil, err
		}
		out = append(out, dims...)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("expects a tile of more than one element, but got %s %s", src.Name, src.Layout)
	}
	return out, nil
}

// boxDimsOf is what one run of coordinates is in the tensor: steps along one mode after the other.
func boxDimsOf(src *Tensor, run algebra.Layout) ([]boxDim, error) {
	part, err := algebra.Compose(src.Ident, run)
	if err == nil {
		part, err = algebra.Flatten(part)
	}
	if err != nil {
		return nil, err
	}
	var out []boxDim
	for i, n := range part.Shape().Leaves() {
		count, _ := n.IsConst()
		if count == 1 {
			continue
		}
		along := part.Stride().Leaves()[i]
		step, known := along.Coef.IsConst()
		root := slices.IndexFunc(src.Bounds, func(b Bound) bool { return slices.Equal(b.Path, along.Basis) })
		if !known || step < 1 || root < 0 {
			return nil, fmt.Errorf("expects a tile whose coordinates go up by constants, one mode at a time, but those of %s are %s", src.Name, part)
		}
		out = append(out, boxDim{root: root, count: count, step: step, stride: src.Storage.Param.Strides[root].Mul(sym.Int(step))})
	}
	return out, nil
}

// dimExtent is the extent of the i-th dimension of the tensor that the box is cut from, and where the box begins in it. A
// mode that is several dimensions of the box must be whole in all of them: then its edge is that of the outermost one.
func dimExtent(src *Tensor, dims []boxDim, i int) (extent, at sym.Expr, err error) {
	d := dims[i]
	inner := int64(1) // what the finer dimensions of the mode cover
	outermost := true
	for j, o := range dims {
		if j != i && o.root == d.root && o.step < d.step {
			inner *= o.count
		}
		outermost = outermost && !(j != i && o.root == d.root && o.step > d.step)
	}
	if inner != d.step {
		return extent, at, fmt.Errorf("expects a tile of adjacent rows, but the steps of %d in mode %d of %s leave some out", d.step, d.root, src.Name)
	}
	b := src.Bounds[d.root]
	first := src.Coord.Get(b.Path...)
	switch {
	case !outermost:
		return sym.Int(d.count), sym.Int(0), nil
	case d.step == 1:
		return b.Extent, first, nil
	case !b.Extent.DivisibleBy(d.step):
		return extent, at, fmt.Errorf("expects an extent of mode %d of %s that is a multiple of %d, as the tile's order of elements needs, but %s is not known to be one (state it with Multiple?)", d.root, src.Name, d.step, b.Extent)
	case !first.DivisibleBy(d.step):
		return extent, at, fmt.Errorf("expects a tile that begins at a multiple of %d in mode %d of %s, but got %s", d.step, d.root, src.Name, first)
	}
	return b.Extent.FloorDiv(sym.Int(d.step)), first.FloorDiv(sym.Int(d.step)), nil
}

// engineSwizzle is the number of bits that a tile's swizzle exclusively ors, where it is one of the copy engine's: of
// units of 16 bytes by the eight rows of 16, 32, 64 or 128 bytes that they are in.
func engineSwizzle(t *Tensor) (int, error) {
	sw := t.Swizzle
	if sw.B == 0 {
		return 0, nil
	}
	if m := bits.Len(uint(128/t.Elem.Bits())) - 1; sw.B < 0 || sw.B > 3 || sw.M != m || sw.S != 3 {
		return 0, fmt.Errorf("expects a swizzle Sw<1,%[1]d,3>, Sw<2,%[1]d,3> or Sw<3,%[1]d,3> of elements of %[2]s, which TMA and wgmma have, but %[3]s has %[4]s", m, t.Elem, t.Name, sw)
	}
	return sw.B, nil
}

// checkTiles says why two tiles do not have the same elements.
func checkTiles(src, dst *Tensor) error {
	if src.Elem != dst.Elem || src.Elem != src.Storage.Elem || dst.Elem != dst.Storage.Elem {
		return fmt.Errorf("expects elements of one type, as they are stored, but got %s of %s, stored as %s, to %s of %s, stored as %s",
			src.Name, src.Elem, src.Storage.Elem, dst.Name, dst.Elem, dst.Storage.Elem)
	}
	for _, t := range []*Tensor{src, dst} {
		if err := t.Static(); err != nil {
			return err
		}
	}
	if err := sameExtents("tiles", dst, src); err != nil {
		return err
	}
	if p := src.Storage.Param; p != nil && !p.Read {
		return fmt.Errorf("expects an input as source, but %s was declared with Out", p.Name)
	}
	return nil
}
