package tests

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// numbers are the values of symbols.
type numbers map[*sym.Symbol]int64

func (n numbers) of(t *testing.T, e sym.Expr) int64 {
	t.Helper()
	v, err := e.Eval(func(s *sym.Symbol) (int64, bool) { v, ok := n[s]; return v, ok })
	require.NoError(t, err)
	return v
}

// dim is a Dim of a value, of which it is known what divides it.
func (n numbers) dim(value, multiple int64) sym.Expr {
	s := &sym.Symbol{Name: fmt.Sprintf("d%d", len(n)), Class: sym.Param, Lo: 1, Hi: 1 << 30, Multiple: multiple}
	n[s] = value
	return sym.New(s)
}

// index is a number of a tile.
func (n numbers) index(value int64) sym.Expr {
	s := &sym.Symbol{Name: fmt.Sprintf("i%d", len(n)), Class: sym.Loop, Lo: -1, Hi: 9}
	n[s] = value
	return sym.New(s)
}

// globalTensor is a tensor in global memory as the DSL declares it.
func globalTensor(k elem.Kind, l algebra.Layout) *ir.Tensor {
	p := &cir.Param{Name: "A", Class: cir.Pointer, Elem: k, Read: true, Extents: l.Shape().Leaves()}
	for _, d := range l.Stride().Leaves() {
		p.Strides = append(p.Strides, d.Coef)
	}
	return &ir.Tensor{Name: "A", Base: "A", Elem: k, Layout: l, Ident: algebra.Identity(l.Shape()), Bounds: leafBounds(l.Shape(), nil),
		Storage: &ir.Storage{Name: "A", Space: ir.Global, Elem: k, Param: p}}
}

func leafBounds(s algebra.Shape, path []int) []ir.Bound {
	if s.IsLeaf() {
		return []ir.Bound{{Path: path, Extent: s.Leaf()}}
	}
	var out []ir.Bound
	for i := range s.Rank() {
		out = append(out, leafBounds(s.Mode(i), append(append([]int{}, path...), i))...)
	}
	return out
}

// sharedTensor is an array in shared memory.
func sharedTensor(k elem.Kind, l algebra.Layout, sw algebra.Swizzle, offset int64) *ir.Tensor {
	return &ir.Tensor{Name: "sA", Base: "A", Elem: k, Layout: l, Swizzle: sw, Offset: sym.Int(offset), Storage: &ir.Storage{Name: "sA", Space: ir.Shared, Elem: k}}
}

// outside stands for the zeros that are beyond a tensor.
const outside = -1 << 40

// byViews is where each place of shared memory gets its element from, as the views say.
func byViews(t *testing.T, n numbers, src, dst *ir.Tensor) map[int64]int64 {
	src, err := src.Subst(func(s *sym.Symbol) (sym.Expr, bool) { v, ok := n[s]; return sym.Int(v), ok })
	require.NoError(t, err)
	out := map[int64]int64{}
	base, first := n.of(t, dst.Offset), n.of(t, src.Offset)
	for i := range size(dst.Layout) {
		out[dst.Swizzle.Apply(base+dst.Layout.AtInt(i))] = first + src.Layout.AtInt(i)
	}
	for _, b := range src.Bounds {
		along, start, extent := coordinates(t, src, b.Path), n.of(t, src.Coord.Get(b.Path...)), n.of(t, b.Extent)
		for i := range size(dst.Layout) {
			if x := start + along.AtInt(i); x < 0 || x >= extent {
				out[dst.Swizzle.Apply(base+dst.Layout.AtInt(i))] = outside
			}
		}
	}
	return out
}

// coordinates is what a view's elements have as coordinate in one mode of the tensor.
func coordinates(t *testing.T, src *ir.Tensor, path []int) algebra.Layout {
	t.Helper()
	var steps func(d algebra.Stride) algebra.Stride
	steps = func(d algebra.Stride) algebra.Stride {
		if d.IsLeaf() {
			if s := d.Leaves()[0]; slices.Equal(s.Basis, path) {
				return algebra.StrideOf(s.Coef)
			}
			return algebra.StrideOf(0)
		}
		modes := make([]any, d.Rank())
		for i := range modes {
			modes[i] = steps(d.Mode(i))
		}
		return algebra.D(modes...)
	}
	l, err := algebra.NewLayout(src.Ident.Shape(), steps(src.Ident.Stride()))
	require.NoError(t, err)
	return l
}

// byEngine is the same as the copy engine does it: the box row by row, its bytes swizzled.
func byEngine(t *testing.T, n numbers, m *cir.TensorMap, coords []sym.Expr, dst *ir.Tensor) map[int64]int64 {
	out := map[int64]int64{}
	bytes := int64(m.Of.Elem.Bits() / 8)
	base := n.of(t, dst.Offset)
	require.Zero(t, base*bytes%int64(m.Align()))
	dims := make([][3]int64, len(m.Box)) // where the box begins, extent, stride
	for d := range m.Box {
		dims[d] = [3]int64{n.of(t, coords[d]), n.of(t, m.Extents[d]), n.of(t, m.Strides[d])}
	}
	for i := range int64(m.Elems()) {
		rest, from, inside := i, int64(0), true
		for d, b := range m.Box {
			x := dims[d][0] + rest%int64(b)
			inside = inside && x >= 0 && x < dims[d][1]
			from += x * dims[d][2]
			rest /= int64(b)
		}
		at := (base + i) * bytes
		at ^= at >> 7 & (1<<m.Swizzle - 1) << 4
		if !inside {
			from = outside
		}
		out[at/bytes] = from
	}
	return out
}

func requireSameBox(t *testing.T, n numbers, src, dst *ir.Tensor) *cir.TensorMap {
	t.Helper()
	m, coords, err := ir.NewTensorMap(src, dst)
	require.NoError(t, err, "%s offset %s to %s", src.Layout, src.Coord, dst.Layout)
	require.NoError(t, cir.CheckTensorMap(m))
	require.Equal(t, byViews(t, n, src, dst), byEngine(t, n, m, coords, dst), "%s at %s to %s %s: box %v, extents %v, strides %v, at %v",
		src.Layout, src.Coord, dst.Swizzle, dst.Layout, m.Box, m.Extents, m.Strides, coords)
	return m
}

func pickOf[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// drawnBox is a random tile and where it goes: a tensor of rank 1 to 3, adjacent in a random mode, rows in an order of
// their own, one mode fixed, and a stage of shared memory.
type drawnBox struct {
	src, dst *ir.Tensor
	n        numbers
	form     string
}

func drawBox(t *testing.T, r *rand.Rand) drawnBox {
	k := pickOf(r, elem.KS8, elem.KF16, elem.KF32, elem.KTF32)
	unit := int64(128 / k.Bits())
	d := drawnBox{n: numbers{}}
	rank, sw := 1+r.IntN(3), r.IntN(4)
	width := unit << sw // of a row in shared memory
	if sw == 0 {
		width = unit * int64(1+r.IntN(4))
	}
	rows := 8 * int64(1+r.IntN(4))
	batch := rank > 1 && r.IntN(3) == 0
	permuted := rank > 1 && r.IntN(2) == 0
	tiles := []int64{width, rows, 1 + r.Int64N(3)}[:rank]
	if batch {
		tiles[rank-1] = 1
		permuted = permuted && rank > 2
	}
	order := algebra.MustParse("(2,4,4):(1,8,2)") // (pair,lane,instruction)
	if permuted {
		tiles[1] = size(order)
	}
	// Extents and strides: mode 0 is adjacent, others in their order; where is each mode in the tensor is drawn.
	extents, strides := make([]sym.Expr, rank), make([]sym.Expr, rank)
	stride := sym.Int(1)
	for i, tile := range tiles {
		known := pickOf[int64](r, 1, 1, 2)
		if permuted && i == 1 {
			known = 32
		}
		value := known * (1 + r.Int64N(3*tile/known+3))
		extents[i], strides[i] = d.n.dim(value, known), stride
		padded := d.n.dim((value+unit-1)/unit*unit+unit*r.Int64N(3), unit)
		stride = stride.Mul(padded)
	}
	perm := r.Perm(rank)
	modes, tiler, coord, smem := make([]algebra.Layout, rank), make([]any, rank), make([]any, rank), make([]algebra.Layout, rank)
	below := []int64{1, width, width * tiles[min(1, rank-1)]}
	for i, at := range perm {
		modes[at] = leaf(t, extents[i], strides[i])
		tiler[at], coord[at] = tiles[i], d.n.index(r.Int64N(5)-1)
		if permuted && i == 1 {
			tiler[at] = order
		}
		smem[at] = algebra.MustLayout(algebra.S(tiles[i]), algebra.D(below[i]))
	}
	var err error
	d.src = globalTensor(k, algebra.Make(modes...))
	if batch {
		fixed := make([]any, rank)
		for i := range fixed {
			fixed[i] = algebra.Underscore
		}
		at := perm[rank-1]
		fixed[at] = d.n.index(r.Int64N(4))
		d.src, err = d.src.At(algebra.C(fixed...))
		require.NoError(t, err)
		tiler, coord, smem = append(tiler[:at], tiler[at+1:]...), append(coord[:at], coord[at+1:]...), append(smem[:at], smem[at+1:]...)
	}
	d.src, err = d.src.LocalTile("gA", algebra.T(tiler...), len(tiler), coord)
	require.NoError(t, err)
	unitBits := bits.Len(uint(unit)) - 1
	elems := tiles[0]
	for _, n := range tiles[1:] {
		elems *= n
	}
	period := int64(128<<sw) / int64(k.Bits()/8)
	d.dst = sharedTensor(k, algebra.Make(smem...), algebra.Swizzle{B: sw, M: unitBits, S: 3}, period*r.Int64N(4))
	d.form = fmt.Sprintf("rank %d, swizzle %d, %d bits, permuted %t, one mode fixed %t", rank, sw, k.Bits(), permuted, batch)
	return d
}

// leaf is a mode of one extent and stride.
func leaf(t *testing.T, extent, stride sym.Expr) algebra.Layout {
	l, err := algebra.NewLayout(algebra.Extent(extent), algebra.StrideOf(stride))
	require.NoError(t, err)
	return l
}

// TestTensorMaps: the copy engine moves each element of a box where the views have it, and zeros for those that the views
// know beyond the tensor.
func TestTensorMaps(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 5))
	forms := map[string]int{}
	count := 1000
	if testing.Short() {
		count = 200
	}
	for range count {
		d := drawBox(t, r)
		requireSameBox(t, d.n, d.src, d.dst)
		forms[d.form]++
	}
	t.Logf("%d forms", len(forms))
}

// TestTensorMapCases has boxes that the draws above do not have.
func TestTensorMapCases(t *testing.T) {
	n := numbers{}
	at := func(values ...int64) []any {
		out := make([]any, len(values))
		for i, v := range values {
			out[i] = n.index(v)
		}
		return out
	}
	m, k := n.dim(77, 1), n.dim(192, 64)
	plain := algebra.Make(leaf(t, m, k), leaf(t, k, sym.Int(1)))
	for name, c := range map[string]struct {
		tensor, shared string
		tile           algebra.Tiler
		at             []any
		swizzle        algebra.Swizzle
		box            []int
	}{
		"blocks along K":     {shared: "(64,(64,2)):(64,(1,4096))", tile: algebra.T(64, 128), at: at(1, 1), swizzle: algebra.Swizzle{B: 3, M: 3, S: 3}, box: []int{64, 64, 2}},
		"nested mode":        {tensor: "((4,6),32):((32,256),1)", shared: "(8,16):(16,1)", tile: algebra.T(8, 16), at: at(1, 1), box: []int{16, 4, 2}},
		"part of it":         {tensor: "((4,6),32):((32,256),1)", shared: "(2,16):(16,1)", tile: algebra.T(2, 16), at: at(3, 1), box: []int{16, 2, 1}},
		"nested mode behind": {tensor: "(32,(4,6)):(1,(32,256))", shared: "(16,8):(1,16)", tile: algebra.T(16, 8), at: at(1, 2), box: []int{16, 4, 2}},
		"modes beside":       {tensor: "(16,(2,3),5):(1,(16,32),96)", shared: "(16,2,5):(1,16,32)", tile: algebra.T(16, 2, 5), at: at(0, 2, 0), box: []int{16, 2, 5, 1}},
		"adjacent rows":      {tensor: "(8,16):(16,1)", shared: "(8,16):(16,1)", tile: algebra.T(8, 16), at: at(0, 0), box: []int{16, 8}},
		"rows of rows":       {tensor: "(4,4,8):(32,8,1)", shared: "(4,4,8):(32,8,1)", tile: algebra.T(4, 4, 8), at: at(0, 0, 0), box: []int{8, 4, 4}},
		"all of a tensor":    {tensor: "(8,4):(32,1)", shared: "(8,4):(4,1)", tile: algebra.T(8, 4), at: at(0, 0), box: []int{4, 8}},
	} {
		t.Run(name, func(t *testing.T) {
			l, kind := plain, elem.KF16
			if c.tensor != "" {
				l, kind = algebra.MustParse(c.tensor), elem.KF32
			}
			src, err := globalTensor(kind, l).LocalTile("gA", c.tile, c.tile.Rank(), c.at)
			require.NoError(t, err)
			require.Equal(t, c.box, requireSameBox(t, n, src, sharedTensor(kind, algebra.MustParse(c.shared), c.swizzle, 0)).Box)
		})
	}
}
