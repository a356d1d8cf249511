package device

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/check"
	"github.com/gocute/gocute/gen/cir"
)

// randomSeed begins all draws; GOCUTE_SEED gives others.
func randomSeed(t *testing.T) uint64 {
	text := os.Getenv("GOCUTE_SEED")
	if text == "" {
		return 1
	}
	n, err := strconv.ParseUint(text, 10, 64)
	require.NoError(t, err)
	return n
}

// runRandom draws a kernel and runs it on so many problems against its float64 reference.
func runRandom(t *testing.T, of []variant, seed uint64, number, problems, most int, opt check.Options) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, uint64(number)))
	v := of[number%len(of)]
	d := v.draw(r, fmt.Sprintf("gemm_%s_%d", v.name, number))
	require.NoError(t, d.kernel.Err(), d.config)
	for range problems {
		args := drawArgs(r, d, most)
		res, err := check.Run(t.Context(), d.kernel, args, opt)
		require.NoError(t, err, "GOCUTE_SEED=%d: %s %s: %v %v", seed, v.name, d.config, args.Dims, args.Scalars)
		require.NoError(t, res.Err(), "GOCUTE_SEED=%d: %s %s: %v %v", seed, v.name, d.config, args.Dims, args.Scalars)
	}
}

// TestRandomGEMM runs 100 random kernels in the emulator, with all its checks, each on a random problem and schedule.
func TestRandomGEMM(t *testing.T) {
	seed, count := randomSeed(t), 100
	if testing.Short() {
		count = 20
	}
	for i := range count {
		runRandom(t, variants, seed, i, 1, 150, check.Options{On: check.CPU, EmuSeeds: []uint64{uint64(i)}})
	}
}

// TestRandomHopper runs random kernels of sm_90 so.
func TestRandomHopper(t *testing.T) {
	seed, count := randomSeed(t), 200
	if testing.Short() {
		count = 36
	}
	for i := range count {
		runRandom(t, hopperVariants, seed, i, 1, 150, check.Options{On: check.CPU, EmuSeeds: []uint64{uint64(i)}})
	}
}

// TestRandomGEMMGPU runs random kernels on the GPU, each compiled there, on many problems: 504 in all, or, for
// compute-sanitizer, ten small ones of ten kernels.
func TestRandomGEMMGPU(t *testing.T) {
	open(t)
	randomGPU(t, variants)
}

// TestRandomHopperGPU does so with those of sm_90.
func TestRandomHopperGPU(t *testing.T) {
	hopper(t)
	randomGPU(t, hopperVariants)
}

func randomGPU(t *testing.T, of []variant) {
	seed, count, problems, most, step := randomSeed(t), 24, 21, 700, 1
	if os.Getenv("GOCUTE_TEST_SMALL") != "" {
		count, problems, most, step = 10, 1, 200, 7 // of all types
	}
	slots := make(chan bool, max(1, min(8, runtime.NumCPU()/2)))
	for i := range count {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			slots <- true
			defer func() { <-slots }()
			runRandom(t, of, seed, step*i, problems, most, check.Options{On: check.GPU})
		})
	}
}

// TestDraws: the draws reach edges and every form of the family, and stay within what a dim allows.
func TestDraws(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	seen := map[string]map[int64]bool{"M": {}, "K": {}, "splits": {}, "L": {}, "gap": {}}
	var configs strings.Builder
	all := slices.Concat(variants, hopperVariants)
	for i := range 10 * len(all) {
		d := all[i%len(all)].draw(r, "gemm")
		fmt.Fprintln(&configs, d.config)
		for range 30 {
			args := drawArgs(r, d, 150)
			m, n, k := args.Dims["M"], args.Dims["N"], args.Dims["K"]
			seen["M"][m%32], seen["K"][k%32], seen["splits"][args.Dims["splits"]], seen["L"][args.Dims["L"]] = true, true, true, true
			for _, p := range d.kernel.IR().Params {
				if v := args.Dims[p.Name]; p.Class == cir.Dim {
					require.Zero(t, v%multiple(p), p.Name)
					require.Positive(t, v, p.Name)
				}
			}
			if args.Dims["L"] > 0 {
				gap := args.Dims["strideA"] - m*k
				require.GreaterOrEqual(t, min(gap, args.Dims["strideB"]-n*k), int64(0))
				seen["gap"][min(gap, 1)] = true
			}
			require.GreaterOrEqual(t, m*n, d.least)
		}
	}
	for name, n := range map[string]int{"M": 32, "K": 32, "splits": 7, "L": 4, "gap": 2} {
		require.Len(t, seen[name], n, name)
	}
	for _, form := range []string{"ColumnC:true", "Batched:true", "SplitK:true", "A:0 B:0", "A:0 B:1", "A:1 B:0", "A:1 B:1", "Sync:1", "Sync:2", "WGMMA:true", "SM80_16x8x32", "SM90_64x", "bias", "GELU", ", SiLU"} {
		require.Contains(t, configs.String(), form)
	}
}
