package kernels

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/emu"
	"github.com/gocute/gocute/gen"
	"github.com/gocute/gocute/gen/cir"
)

// library is every kernel, the sizes to run it with, and how many instructions of a kind the emulator must count:
// elements over the elements that a warp's instruction moves.
var library = []struct {
	kernel *dsl.Kernel
	dims   []map[string]int64
	counts map[string]int64
}{
	{kernel: Copy4x32(), counts: map[string]int64{"load.global": 4 * 32 / (32 * 4), "store.global": 4 * 32 / (32 * 4)}},
	{kernel: Copy8x128(), counts: map[string]int64{"load.global": 8 * 128 / (32 * 4), "store.global": 8 * 128 / (32 * 4)}},
	{kernel: Copy4x64(), counts: map[string]int64{"load.global": 4 * 64 / (32 * 4), "store.global": 4 * 64 / (32 * 4)}},
	{kernel: LdmatrixAx1(), counts: map[string]int64{"ldmatrix": 16 * 16 / 64}},
	{kernel: LdmatrixAx2(), counts: map[string]int64{"ldmatrix": 16 * 16 / (2 * 64)}},
	{kernel: LdmatrixAx4(), counts: map[string]int64{"ldmatrix": 16 * 16 / (4 * 64)}},
	{kernel: LdmatrixBx1(), counts: map[string]int64{"ldmatrix": 8 * 16 / 64}},
	{kernel: LdmatrixBx2(), counts: map[string]int64{"ldmatrix": 8 * 16 / (2 * 64)}},
	{kernel: LdmatrixBGather(), counts: map[string]int64{"ldmatrix": 32 * 32 / (4 * 64)}},
	{kernel: LdmatrixBroadcast(), counts: map[string]int64{"ldmatrix": 2 * 32 * 16 / (2 * 64)}}, // each warp along N loads all of A
	{kernel: MMATile(), counts: map[string]int64{"ldmatrix": 2, "mma": 1}},
	{kernel: AsyncCopy(), counts: map[string]int64{"cp.async": 128 * 128 / (32 * 8)}},
	{kernel: LdmatrixRows(), counts: map[string]int64{"ldmatrix": 1}},
	{kernel: CustomPattern(), counts: map[string]int64{"load.global": 128 * 128 / 32}},
	{kernel: Pipeline(), dims: []map[string]int64{{"K": 8}, {"K": 16}, {"K": 40}, {"K": 136}}},
	{kernel: GEMMF16(), dims: []map[string]int64{{"M": 130, "N": 70, "K": 72}}},
	{kernel: GEMMBF16(), dims: []map[string]int64{{"M": 1, "N": 129, "K": 200}}},
}

// TestKernels runs the library in the emulator: right by each kernel's own reference, with nothing found.
func TestKernels(t *testing.T) {
	for _, c := range library {
		t.Run(c.kernel.Name(), func(t *testing.T) {
			if c.dims == nil {
				c.dims = []map[string]int64{nil}
			}
			for i, dims := range c.dims {
				rep := emulate(t, c.kernel, dims, uint64(i))
				for kind, want := range c.counts {
					require.Equal(t, want, rep.Counts.Instructions[kind], "%s in %v", kind, rep.Counts.Instructions)
				}
			}
		})
	}
}

// TestConflictFree: the kernels that say so have no bank conflicts.
func TestConflictFree(t *testing.T) {
	rep := emulate(t, Pipeline(), map[string]int64{"K": 64}, 1)
	require.Equal(t, rep.Counts.LeastWavefronts, rep.Counts.Wavefronts)
}

// emulate runs a kernel on random whole numbers, of which every sum is exact, and compares its outputs.
func emulate(t *testing.T, k *dsl.Kernel, dims map[string]int64, seed uint64) *emu.Report {
	t.Helper()
	c, err := gen.Lower(k)
	require.NoError(t, err)
	ref, args := arguments(t, c, dims, rand.New(rand.NewPCG(seed, 1)))
	rep, err := emu.Run(context.Background(), c, args, emu.Options{Seed: seed})
	require.NoError(t, err)
	require.NoError(t, rep.Err())
	require.Empty(t, rep.Unwritten)
	require.NotEmpty(t, k.Expectations())
	for _, e := range k.Expectations() {
		want, in := e.Element(ref), ref.Tensors[e.Output]
		got := args[e.Output].(*emu.Buffer).Float64s()
		compact := algebra.Compact(algebra.S(anys(in.Extents)...))
		size, _ := compact.IntSize()
		for i := range size {
			at, off := make([]int64, len(in.Extents)), int64(0)
			rest := i
			for j, n := range in.Extents {
				at[j], rest = rest%n, rest/n
				off += at[j] * in.Strides[j]
			}
			if w := want(at); math.Abs(got[off]-w) > e.Tolerance*max(1, math.Abs(w)) {
				t.Fatalf("%s%v with %v is %v, want %v", e.Output, at, dims, got[off], w)
			}
		}
	}
	return rep
}

// arguments makes random inputs, both for the reference and for the emulator.
func arguments(t *testing.T, c *cir.Kernel, dims map[string]int64, r *rand.Rand) (*dsl.Ref, emu.Args) {
	t.Helper()
	value := func(s *sym.Symbol) (int64, bool) { n, ok := dims[s.Name]; return n, ok }
	ref := &dsl.Ref{Tensors: map[string]dsl.RefTensor{}, Dims: dims, Scalars: map[string]float64{}}
	args := emu.Args{}
	for _, p := range c.Params {
		switch p.Class {
		case cir.Dim:
			args[p.Name] = emu.Dim(dims[p.Name])
		case cir.Scalar:
			ref.Scalars[p.Name] = float64(r.IntN(3) - 1)
			args[p.Name] = emu.Scalar(ref.Scalars[p.Name])
		case cir.Pointer:
			n, err := p.Mem.Count.Eval(value)
			require.NoError(t, err)
			x := dsl.RefTensor{Data: make([]float64, n)}
			for i := range x.Data {
				x.Data[i] = float64(r.IntN(9) - 4)
			}
			l, err := algebra.Parse(p.Layout)
			require.NoError(t, err)
			steps := l.Stride().Leaves()
			for i, e := range l.Shape().Leaves() {
				ext, err := e.Eval(value)
				require.NoError(t, err)
				step, err := steps[i].Coef.Eval(value)
				require.NoError(t, err)
				x.Extents, x.Strides = append(x.Extents, ext), append(x.Strides, step)
			}
			ref.Tensors[p.Name] = x
			args[p.Name] = emu.BufferFromFloat64s(p.Elem, x.Data)
		}
	}
	return ref, args
}

func anys(xs []int64) []any {
	out := make([]any, len(xs))
	for i, x := range xs {
		out[i] = x
	}
	return out
}
