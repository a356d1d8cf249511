package tests

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/dsl/ir"
)

// goldenPartition is a row of partition.jsonl.
type goldenPartition struct {
	ID    string `json:"id"`
	Kind  string `json:"kind"`
	Setup struct {
		Copy    *copySpec         `json:"tiled_copy"`
		MMA     *mmaSpec          `json:"tiled_mma"`
		Tensor  tensorSpec        `json:"tensor"`
		Op      string            `json:"op"`
		Operand string            `json:"operand"`
		Shape   string            `json:"shape"`
		Tiler   string            `json:"tiler"`
		Coord   string            `json:"coord"`
		Proj    string            `json:"proj"`
		Thr     string            `json:"thr_layout"`
		Atom    string            `json:"atom"`
		MajorA  atoms.Major       `json:"major_a"`
		MajorB  atoms.Major       `json:"major_b"`
		Swizzle atoms.SmemSwizzle `json:"swizzle"`
		ShapeA  string            `json:"a_shape"`
		ShapeB  string            `json:"b_shape"`
	} `json:"setup"`
	Result struct {
		Tensor         string             `json:"tensor_layout"`
		Shape          string             `json:"shape"`
		Stride         string             `json:"stride"`
		Same           bool               `json:"layout_same_for_all_threads"`
		Offsets        []int64            `json:"offsets"`
		Elems          map[string][]int64 `json:"elems"`
		FNV            string             `json:"fnv64"`
		Fragment       string             `json:"fragment"`
		PartitionShape string             `json:"partition_shape"`
		RetileS        string             `json:"retile_S"`
		RetileD        string             `json:"retile_D"`
		SShape         string             `json:"partition_S_shape"`
		DShape         string             `json:"partition_D_shape"`
		Coords         [][3]any           `json:"coords"`
		Layout         string             `json:"layout"`
		Offset         int64              `json:"offset"`
		SmemA          string             `json:"a_smem"`
		SmemB          string             `json:"b_smem"`
		PartA          string             `json:"partition_A"`
		PartB          string             `json:"partition_B"`
		DescA          string             `json:"desc_A"`
		DescB          string             `json:"desc_B"`
	} `json:"result"`
}

// partitionKinds check the rows of each kind.
var partitionKinds = map[string]func(*testing.T, *goldenPartition) (differ, error){
	"copy": checkCopyPartition, "mma": checkMMAPartition, "retile": checkRetile, "retile_like": checkRetileLike,
	"identity": checkIdentity, "local_tile": checkLocalTile, "local_partition": checkLocalPartition,
	"gmma_smem_fragment": checkSmemFragment,
}

// TestPartition: every thread's view of a tensor is CuTe's: its layout, and where each of its values lies.
func TestPartition(t *testing.T) {
	c := tally{}
	for _, g := range golden[goldenPartition](t, "partition.jsonl") {
		f := partitionKinds[g.Kind]
		require.NotNil(t, f, g.Kind)
		bad, err := f(t, &g)
		if err != nil {
			t.Errorf("%s: %v", g.ID, err)
			continue
		}
		if len(bad) > 0 {
			t.Errorf("%s %s\n  %s", g.ID, g.Setup.Op, strings.Join(bad, "\n  "))
			continue
		}
		c[g.Kind]++
	}
	c.log(t)
}

// view is one thread's view of a tensor, for every thread.
type view struct {
	t      *ir.Tensor
	thread *sym.Symbol
}

// probe is a tensor of a layout; outer extents that nothing divides are covered, as those of global tensors are.
func probe(l algebra.Layout, global bool) *ir.Tensor {
	out := &ir.Tensor{Name: "X", Base: "X", Layout: l.Plain(), Swizzle: l.Swizzle(), Offset: l.Offset()}
	if global {
		out.Ident = algebra.Identity(l.Shape())
		for i := range l.Rank() {
			out.Bounds = append(out.Bounds, ir.Bound{Path: []int{i}, Extent: l.Mode(i).Size()})
		}
	}
	return out
}

func copyView(c *ir.TiledCopy, s ir.Side, x *ir.Tensor) (view, error) {
	x.Elem = c.Elem
	v := view{thread: &sym.Symbol{Name: "t", Class: sym.Thread, Hi: c.NumThr - 1}}
	var err error
	v.t, err = x.Partition("tX", c, s, sym.New(v.thread))
	return v, err
}

// mmaView also takes threads beyond those of the MMA, up to last, which share the values of others.
func mmaView(m *ir.TiledMMA, o ir.Operand, x *ir.Tensor, last int64) (view, error) {
	x.Elem = m.Elem(o)
	v := view{thread: &sym.Symbol{Name: "t", Class: sym.Thread, Hi: max(last, m.NumThr-1)}}
	var err error
	v.t, err = x.PartitionMMA("tX", m, o, sym.New(v.thread))
	return v, err
}

// offsets are where a thread's values lie, in the order of the view.
func (v view) offsets(thread int64) ([]int64, error) {
	base, err := v.t.Offset.Eval(func(*sym.Symbol) (int64, bool) { return thread, true })
	if err != nil {
		return nil, err
	}
	out := make([]int64, size(v.t.Layout))
	for i := range out {
		out[i] = v.t.Swizzle.Apply(base + v.t.Layout.AtInt(int64(i)))
	}
	return out, nil
}

// compare checks a view against all that a row says of it.
func (v view) compare(d *differ, g *goldenPartition) {
	r := &g.Result
	sameShape(d, "shape", v.t.Swizzle.B > 0, r.Shape, v.t.Layout.Shape())
	if r.Stride != "" && v.t.Swizzle.B == 0 {
		d.text("stride", r.Stride, v.t.Layout.Stride(), nil)
	}
	var hash fnv
	for thread := range int64(len(r.Offsets)) {
		all, err := v.offsets(thread)
		if err != nil {
			*d = append(*d, err.Error())
			return
		}
		if all[0] != r.Offsets[thread] {
			d.value(fmt.Sprintf("first offset of thread %d", thread), fmt.Sprint(r.Offsets[thread]), all[0])
			return
		}
		if want, ok := r.Elems[strconv.FormatInt(thread, 10)]; ok && !slices.Equal(want, all[:min(len(all), len(want))]) {
			d.value(fmt.Sprintf("offsets of thread %d", thread), fmt.Sprint(want), all)
			return
		}
		hash.add(all)
	}
	d.value("hash of all offsets", r.FNV, hash)
}

// fnv is the golden rows' hash of offsets: FNV-1a over 4 bytes each, from a basis of its own.
type fnv struct{ sum uint64 }

func (h *fnv) add(offsets []int64) {
	if h.sum == 0 {
		h.sum = 1469598103934665603
	}
	for _, x := range offsets {
		for range 4 {
			h.sum = (h.sum ^ uint64(x&0xff)) * 1099511628211
			x >>= 8
		}
	}
}

func (h fnv) String() string { return fmt.Sprintf("%016x", h.sum) }

// sameShape compares the extents of the top modes where CuTe may have split them because it gave up a swizzle for
// plain strides, else the whole shape.
func sameShape(d *differ, name string, swizzled bool, want string, got algebra.Shape) {
	if swizzled {
		s, err := algebra.ParseShape(want)
		d.text(name, algebra.ProductEach(s).String(), algebra.ProductEach(got), err)
		return
	}
	d.text(name, want, got, nil)
}

func side(op string) ir.Side {
	if strings.HasSuffix(op, "_S") {
		return ir.Source
	}
	return ir.Destination
}

func checkCopyPartition(t *testing.T, g *goldenPartition) (differ, error) {
	c, err := g.Setup.Copy.build()
	if err != nil {
		return nil, err
	}
	v, err := copyView(c, side(g.Setup.Op), probe(g.Setup.Tensor.build(t, g.Result.Tensor), false))
	if err != nil {
		return nil, err
	}
	var d differ
	d.value("threads", strconv.Itoa(len(g.Result.Offsets)), c.NumThr)
	v.compare(&d, g)
	return d, nil
}

func checkMMAPartition(t *testing.T, g *goldenPartition) (differ, error) {
	m, err := g.Setup.MMA.build()
	if err != nil {
		return nil, err
	}
	l := g.Setup.Tensor.build(t, g.Result.Tensor)
	o := ir.Operand(g.Setup.Op[len(g.Setup.Op)-1])
	v, err := mmaView(m, o, probe(l, false), int64(len(g.Result.Offsets)-1))
	if err != nil {
		return nil, err
	}
	var d differ
	v.compare(&d, g)
	if g.Result.Fragment != "" {
		frag, err := ir.OperandLayout(v.t.Layout, o)
		sameFragment(&d, l, g.Result.Fragment, frag, err)
	}
	flat, err := mmaView(m, o, probe(algebra.Compact(algebra.ProductEach(l.Shape())), false), 0)
	if err != nil {
		return nil, err
	}
	d.text("partition_shape", g.Result.PartitionShape, flat.t.Layout.Shape(), nil)
	return d, nil
}

// sameFragment compares a fragment's layout; of a swizzled tensor's only the shape, since ours follows the strides
// before the swizzle.
func sameFragment(d *differ, tensor algebra.Layout, want string, got algebra.Layout, err error) {
	if err == nil && tensor.IsSwizzled() {
		sameShape(d, "fragment's shape", true, parse(want).Shape().String(), got.Shape())
		return
	}
	d.text("fragment", want, got, err)
}

func checkRetile(t *testing.T, g *goldenPartition) (differ, error) {
	m, err := g.Setup.Copy.MMA.build()
	if err != nil {
		return nil, err
	}
	c, err := g.Setup.Copy.build()
	if err != nil {
		return nil, err
	}
	l := g.Setup.Tensor.build(t, g.Result.Tensor)
	o := ir.Operand(g.Setup.Operand[0])
	v, err := mmaView(m, o, probe(l, false), 0)
	if err != nil {
		return nil, err
	}
	var d differ
	frag, err := ir.OperandLayout(v.t.Layout, o)
	sameFragment(&d, l, g.Result.Fragment, frag, err)
	retiled(&d, c, l, frag, g)
	for _, x := range []struct {
		side, fragment ir.Side
		want           string
	}{{ir.Source, ir.Destination, g.Result.SShape}, {ir.Destination, ir.Source, g.Result.DShape}} {
		if x.want != "" {
			if err := c.CheckRetile(&ir.Provenance{MMA: m, Operand: o}, x.fragment); err != nil {
				d = append(d, err.Error())
			}
			p, err := copyView(c, x.side, probe(l, false))
			if err != nil {
				return nil, err
			}
			sameShape(&d, "memory's partition", l.IsSwizzled(), x.want, p.t.Layout.Shape())
		}
	}
	return d, nil
}

func retiled(d *differ, c *ir.TiledCopy, tensor, frag algebra.Layout, g *goldenPartition) {
	got, err := c.Retile(frag)
	sameFragment(d, tensor, g.Result.RetileS, got, err)
	sameFragment(d, tensor, g.Result.RetileD, got, err)
}

func checkRetileLike(t *testing.T, g *goldenPartition) (differ, error) {
	c, err := g.Setup.Copy.build()
	if err != nil {
		return nil, err
	}
	l := g.Setup.Tensor.build(t, g.Result.Tensor)
	v, err := copyView(c, ir.Destination, probe(l, false))
	if err != nil {
		return nil, err
	}
	var d differ
	frag, err := ir.FragmentLayout(v.t.Layout)
	sameFragment(&d, l, g.Result.Fragment, frag, err)
	retiled(&d, c, l, frag, g)
	return d, nil
}

// checkIdentity partitions a tensor of coordinates whose extents the tile need not divide.
func checkIdentity(t *testing.T, g *goldenPartition) (differ, error) {
	shape, err := algebra.ParseShape(g.Setup.Shape)
	require.NoError(t, err)
	x := probe(algebra.Compact(shape), true)
	var v view
	if g.Setup.Copy != nil {
		c, err := g.Setup.Copy.build()
		if err != nil {
			return nil, err
		}
		v, err = copyView(c, side(g.Setup.Op), x)
		if err != nil {
			return nil, err
		}
	} else {
		m, err := g.Setup.MMA.build()
		if err != nil {
			return nil, err
		}
		last := int64(0)
		for _, c := range g.Result.Coords {
			last = max(last, int64(c[0].(float64)))
		}
		v, err = mmaView(m, ir.Operand(g.Setup.Op[len(g.Setup.Op)-1]), x, last)
		if err != nil {
			return nil, err
		}
	}
	var d differ
	d.text("shape", g.Result.Shape, v.t.Ident.Shape(), nil)
	d.text("stride", g.Result.Stride, v.t.Ident.Stride(), nil)
	for _, c := range g.Result.Coords {
		thread, value := int64(c[0].(float64)), int64(c[1].(float64))
		d.value(fmt.Sprintf("coordinate of value %d of thread %d", value, thread), fmt.Sprint(c[2]), v.coord(t, shape.Rank(), thread, value))
	}
	return d, nil
}

// coord is the coordinate in the whole tensor of a thread's value.
func (v view) coord(t *testing.T, rank int, thread, value int64) algebra.Coord {
	t.Helper()
	a, err := v.t.Ident.AtArith(algebra.CoordOf(value))
	require.NoError(t, err)
	out := make([]any, rank)
	for i := range out {
		n, err := a.Get(i).Add(v.t.Coord.Get(i)).Eval(func(*sym.Symbol) (int64, bool) { return thread, true })
		require.NoError(t, err)
		out[i] = n
	}
	return algebra.C(out...)
}
