package device

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/check"
	"github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
	"github.com/gocute/gocute/kernels"
)

// variants draw a random kernel each, of one kind: add a kind, add a line. They take turns.
var variants = []struct {
	name string
	draw func(r *rand.Rand, name string) (k *dsl.Kernel, config string)
}{
	{"f16_f32", drawGEMM[elem.F16, elem.F32]},
	{"f16_f16", drawGEMM[elem.F16, elem.F16]},
	{"bf16_f32", drawGEMM[elem.BF16, elem.F32]},
	{"bf16_bf16", drawGEMM[elem.BF16, elem.BF16]},
	{"f16_bf16", drawGEMM[elem.F16, elem.BF16]},
	{"bf16_f16", drawGEMM[elem.BF16, elem.F16]},
}

// pick is one of the values.
func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// drawGEMM draws blocks, warps and pipelines until they fit each other.
func drawGEMM[E elem.Half, O elem.F32 | elem.Half](r *rand.Rand, name string) (*dsl.Kernel, string) {
	for {
		g := kernels.GEMMConfig{BM: pick(r, 32, 64, 96, 128, 256), BN: pick(r, 32, 64, 128, 256), BK: pick(r, 32, 64, 128),
			WarpM: pick(r, 1, 2, 3, 4), WarpN: pick(r, 1, 2, 4), Stages: pick(r, 2, 3, 4), Group: pick(r, 1, 2, 3, 8),
			Sync: pick(r, dsl.Groups, dsl.Groups, dsl.MBarriers)}
		if fits(g, elem.KindOf[O]().Bits()) {
			return kernels.GEMM[E, O](name, g), fmt.Sprintf("%+v", g)
		}
	}
}

// fits says which configurations GEMM promises: whole MMA tiles for each warp, in registers; whole copies of all threads,
// in and out; as much shared memory as a block may have.
func fits(g kernels.GEMMConfig, outBits int) bool {
	threads := 32 * g.WarpM * g.WarpN
	in, out, vecs := min(g.BK, 64)/8, g.BN*outBits/128, 128/outBits // vectors in a row, coming and going, and elements of one
	rows := func(vectors int) bool {                                // of all threads' vectors fill the block
		return vectors > 0 && threads%vectors == 0 && g.BM%(threads/vectors) == 0
	}
	return g.BM%(16*g.WarpM) == 0 && g.BN%(16*g.WarpN) == 0 && g.BM*g.BN/threads <= 128 &&
		rows(in) && g.BN%(threads/in) == 0 && rows(out) && g.BN%vecs == 0 && rows(32) &&
		(g.Sync == dsl.Groups || g.Stages > 2) &&
		max((g.BM+g.BN)*g.BK*2*g.Stages, g.BM*(g.BN+8)*4)+64 <= cir.MaxShared()
}

// drawExtent is a random extent of a dim: one, small, or about the multiple of a tile, as the dim allows.
func drawExtent(r *rand.Rand, p *cir.Param, most int) int64 {
	n := pick(r, 1, 2+r.IntN(30), 32*(1+r.IntN(most/32))+pick(r, -1, 0, 0, 1), 1+r.IntN(most))
	multiple := max(p.Sym.Multiple, 1)
	v := max(int64(n), p.Sym.Lo)
	return min(max(v-v%multiple, multiple), p.Sym.Hi)
}

// drawArgs draws extents up to most, scalars and data.
func drawArgs(r *rand.Rand, k *dsl.Kernel, most int) check.Args {
	args := check.Args{Dims: map[string]int64{}, Scalars: map[string]float64{}, Seed: int64(r.Uint32())}
	for _, p := range k.IR().Params {
		switch p.Class {
		case cir.Dim:
			args.Dims[p.Name] = drawExtent(r, p, most)
		case cir.Scalar:
			args.Scalars[p.Name] = pick(r, 0, 0, 1, 1, -1, 0.5, -1.25, 2.75)
		}
	}
	return args
}

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
func runRandom(t *testing.T, seed uint64, number, problems, most int, opt check.Options) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, uint64(number)))
	v := variants[number%len(variants)]
	k, config := v.draw(r, fmt.Sprintf("gemm_%s_%d", v.name, number))
	require.NoError(t, k.Err(), config)
	for range problems {
		args := drawArgs(r, k, most)
		res, err := check.Run(t.Context(), k, args, opt)
		require.NoError(t, err, "%s: %v", config, args)
		require.NoError(t, res.Err(), "GOCUTE_SEED=%d: %s: %v %v", seed, config, args.Dims, args.Scalars)
	}
}

// TestRandomGEMM runs 100 random kernels in the emulator, with all its checks, each on a random problem and schedule.
func TestRandomGEMM(t *testing.T) {
	seed, count := randomSeed(t), 100
	if testing.Short() {
		count = 20
	}
	for i := range count {
		runRandom(t, seed, i, 1, 150, check.Options{On: check.CPU, EmuSeeds: []uint64{uint64(i)}})
	}
}

// TestRandomGEMMGPU runs random kernels on the GPU, each compiled there, on many problems: 504 in all.
func TestRandomGEMMGPU(t *testing.T) {
	open(t)
	seed, count, problems := randomSeed(t), 24, 21
	slots := make(chan bool, max(1, min(8, runtime.NumCPU()/2)))
	for i := range count {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			slots <- true
			defer func() { <-slots }()
			runRandom(t, seed, i, problems, 700, check.Options{On: check.GPU})
		})
	}
}

// TestDraws: the draws reach edges and both ways of synchronising, and stay within what a dim allows.
func TestDraws(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	configs, seen := map[string]bool{}, map[string]map[int64]bool{"M": {}, "K": {}}
	for i := range 30 {
		k, config := variants[i%len(variants)].draw(r, "gemm")
		configs[config] = true
		for range 30 {
			args := drawArgs(r, k, 150)
			seen["M"][args.Dims["M"]%32] = true
			seen["K"][args.Dims["K"]%32] = true
			require.Zero(t, args.Dims["K"]%8)
			require.Positive(t, args.Dims["K"])
		}
	}
	require.Greater(t, len(configs), 20)
	require.Len(t, seen["M"], 32)
	require.Len(t, seen["K"], 4)
}
