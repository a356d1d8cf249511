package kernels

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/check"
	"github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
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
	{kernel: MultiStage(), dims: []map[string]int64{{"K": 8}, {"K": 16}, {"K": 40}, {"K": 136}}},
	{kernel: WarpgroupPipeline(), dims: []map[string]int64{{"K": 8}, {"K": 64}, {"K": 200}, {"K": 520}}},
	{kernel: RowSums(), dims: []map[string]int64{{"M": 1, "N": 1}, {"M": 9, "N": 600}}},
	{kernel: ColumnSums(), dims: []map[string]int64{{"M": 1, "N": 1}, {"M": 130, "N": 70}}},
	{kernel: RowSums(), dims: []map[string]int64{{"M": 4, "N": 256}}, counts: map[string]int64{"shuffle": 4 * 5, "atomic.global": 4}},
	{kernel: ColumnSums(), dims: []map[string]int64{{"M": 64, "N": 32}}, counts: map[string]int64{"atomic.shared": 4, "atomic.global": 1}},
	{kernel: GEMMF16(), dims: []map[string]int64{{"M": 130, "N": 70, "K": 72}}},
	{kernel: GEMMF16Out(), dims: []map[string]int64{{"M": 130, "N": 72, "K": 72}, {"M": 257, "N": 71, "K": 64}}},
	{kernel: GEMMF16Small(), dims: []map[string]int64{{"M": 70, "N": 136, "K": 264}}},
	{kernel: GEMMF16Unaligned(), dims: []map[string]int64{{"M": 70, "N": 136, "K": 264}}},
	{kernel: GEMMF16NT(), dims: []map[string]int64{{"M": 136, "N": 72, "K": 71}}},
	{kernel: GEMMF16SplitK(), dims: []map[string]int64{{"M": 17, "N": 72, "K": 776, "splits": 3}, {"M": 16, "N": 33, "K": 128, "splits": 1}, {"M": 3, "N": 32, "K": 136, "splits": 5}}},
	{kernel: GEMMF16Batched(), dims: []map[string]int64{{"M": 40, "N": 136, "K": 72, "L": 3, "strideA": 40 * 72, "strideB": 136*72 + 8}}},
	{kernel: GEMMF16WGMMABatched(), dims: []map[string]int64{{"M": 150, "N": 288, "K": 136, "L": 3, "strideA": 150 * 136, "strideB": 288*136 + 8}}},
	{kernel: GEMMF16BiasGELU(), dims: []map[string]int64{{"M": 130, "N": 72, "K": 72}, {"M": 33, "N": 71, "K": 64}}},
	{kernel: GEMMF16TMA(), dims: []map[string]int64{{"M": 130, "N": 192, "K": 72}, {"M": 257, "N": 64, "K": 328}}},
	{kernel: GEMMF16WGMMA(), dims: []map[string]int64{{"M": 130, "N": 288, "K": 72}, {"M": 3, "N": 32, "K": 8}, {"M": 128, "N": 256, "K": 648}}},
	{kernel: GEMMF16WGMMASplitK(), dims: []map[string]int64{{"M": 17, "N": 224, "K": 776, "splits": 3}, {"M": 16, "N": 32, "K": 128, "splits": 1}, {"M": 3, "N": 32, "K": 136, "splits": 5}}},
	{kernel: GEMMTF32(), dims: []map[string]int64{{"M": 130, "N": 70, "K": 68}}},
	{kernel: GEMMS8(), dims: []map[string]int64{{"M": 130, "N": 70, "K": 272}}},
	{kernel: GEMMS8Out(), dims: []map[string]int64{{"M": 130, "N": 80, "K": 272}, {"M": 70, "N": 71, "K": 64}}},
	{kernel: GEMMBF16(), dims: []map[string]int64{{"M": 1, "N": 129, "K": 200}}},
}

// TestKernels runs the library in the emulator: right by each kernel's own reference whatever the order of its warps,
// with nothing found.
func TestKernels(t *testing.T) {
	for _, c := range library {
		t.Run(c.kernel.Name(), func(t *testing.T) {
			if c.dims == nil {
				c.dims = []map[string]int64{nil}
			}
			for _, dims := range c.dims {
				counts := run(t, c.kernel, dims).Report.Counts.Instructions
				for kind, want := range c.counts {
					require.Equal(t, want, counts[kind], "%s in %v", kind, counts)
				}
			}
		})
	}
}

// TestConflictFree: what says that it has no bank conflicts has none.
func TestConflictFree(t *testing.T) {
	counts := run(t, MultiStage(), map[string]int64{"K": 64}).Report.Counts
	require.Equal(t, counts.LeastWavefronts, counts.Wavefronts)
}

func run(t *testing.T, k *dsl.Kernel, dims map[string]int64) *check.Result {
	t.Helper()
	require.NotEmpty(t, k.Expectations(), "nothing to compare with")
	return check.Kernel(t, k, check.Args{Dims: dims, Seed: 1}, check.Options{On: check.CPU, EmuSeeds: []uint64{0, 1}})
}

// TestScaledIntegers: sums of integers are scaled before they are rounded, not after.
func TestScaledIntegers(t *testing.T) {
	g := GEMMConfig{BM: 64, BN: 64, BK: 64, WarpM: 2, WarpN: 2, Stages: 2, Group: 1}
	for _, k := range []*dsl.Kernel{Product[elem.S8, elem.S32, elem.F32, elem.F16]("scaled_f16", atoms.SM80_16x8x32_S32S8S8S32_TN, g, nil),
		Product[elem.S8, elem.S32, elem.F32, elem.S8]("scaled_s8", atoms.SM80_16x8x32_S32S8S8S32_TN, g, nil)} {
		for _, alpha := range []float64{1. / 4096, -3. / 1024, 1} {
			check.Kernel(t, k, check.Args{Dims: map[string]int64{"M": 64, "N": 64, "K": 96}, Scalars: map[string]float64{"alpha": alpha, "beta": 0}, Seed: 1},
				check.Options{On: check.CPU})
		}
	}
}

// TestNearestIntegers: where two integers are as near, it is what f32 makes of alpha that decides.
func TestNearestIntegers(t *testing.T) {
	check.Kernel(t, GEMMS8Out(), check.Args{Dims: map[string]int64{"M": 70, "N": 48, "K": 64}, Scalars: map[string]float64{"alpha": 0.01, "beta": 0.5}, Seed: 1},
		check.Options{On: check.CPU})
	check.Kernel(t, GEMMS8Out(), check.Args{Dims: map[string]int64{"M": 33, "N": 21, "K": 96}, Scalars: map[string]float64{"alpha": 0.1, "beta": 0}, Seed: 2},
		check.Options{On: check.CPU})
}

// TestWideResults: results that reach beyond the stages leave the word alone by which blocks learn how many came before.
func TestWideResults(t *testing.T) {
	k := GEMM[elem.BF16, elem.F32]("wide", GEMMConfig{BM: 256, BN: 128, BK: 32, WarpM: 4, WarpN: 2, Stages: 3, Group: 3, SplitK: true})
	check.Kernel(t, k, check.Args{Dims: map[string]int64{"M": 28, "N": 16, "K": 96, "splits": 3}, Scalars: map[string]float64{"alpha": 1, "beta": 0.125}, Seed: 1},
		check.Options{On: check.CPU, EmuSeeds: []uint64{0, 1, 2}})
}

// TestStreamK runs stream-K kernels: pieces that end within tiles, whole tiles after them, more blocks than tiles, and
// blocks with nothing to do. The seeds also run the blocks in other orders.
func TestStreamK(t *testing.T) {
	k := GEMM[elem.F16, elem.F16]("stream", GEMMConfig{BM: 64, BN: 64, BK: 64, WarpM: 2, WarpN: 2, Stages: 3, Group: 2, StreamK: true})
	for _, d := range [][5]int64{{77, 99, 272, 3, 4}, {80, 112, 272, 2, 0}, {80, 200, 528, 5, 7}, {64, 64, 272, 4, 1}, {80, 112, 272, 9, 0}, {130, 264, 144, 4, 9}} {
		for _, beta := range []float64{0, 2} {
			check.Kernel(t, k, check.Args{Dims: map[string]int64{"M": d[0], "N": d[1], "K": d[2], "blocks": d[3], "shared": d[4]},
				Scalars: map[string]float64{"alpha": 3, "beta": beta}, Seed: 1}, check.Options{On: check.CPU, EmuSeeds: []uint64{0, 1, 2}})
		}
	}
	_, err := check.Run(t.Context(), k, check.Args{Dims: map[string]int64{"M": 64, "N": 64, "K": 64, "blocks": 4, "shared": 1}}, check.Options{On: check.CPU})
	require.ErrorContains(t, err, "a tile of K for each block where tiles are shared")
	_, err = check.Run(t.Context(), k, check.Args{Dims: map[string]int64{"M": 64, "N": 64, "K": 64, "blocks": 1, "shared": 2}}, check.Options{On: check.CPU})
	require.ErrorContains(t, err, "no more shared tiles than C has")
}
