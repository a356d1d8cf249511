package kernels

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/check"
	"github.com/gocute/gocute/dsl"
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
	{kernel: RowSums(), dims: []map[string]int64{{"M": 1, "N": 1}, {"M": 9, "N": 600}}},
	{kernel: ColumnSums(), dims: []map[string]int64{{"M": 1, "N": 1}, {"M": 130, "N": 70}}},
	{kernel: RowSums(), dims: []map[string]int64{{"M": 4, "N": 256}}, counts: map[string]int64{"shuffle": 4 * 5, "atomic.global": 4}},
	{kernel: ColumnSums(), dims: []map[string]int64{{"M": 64, "N": 32}}, counts: map[string]int64{"atomic.shared": 4, "atomic.global": 1}},
	{kernel: GEMMF16(), dims: []map[string]int64{{"M": 130, "N": 70, "K": 72}}},
	{kernel: GEMMF16Out(), dims: []map[string]int64{{"M": 130, "N": 72, "K": 72}, {"M": 257, "N": 71, "K": 64}}},
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
