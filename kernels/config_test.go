package kernels

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen"
)

// family is a kernel of each combination of element sizes.
var family = []struct {
	in, acc, out elem.Kind
	make         func(g GEMMConfig) *dsl.Kernel
}{
	{elem.KF16, elem.KF32, elem.KF32, func(g GEMMConfig) *dsl.Kernel { return GEMM[elem.F16, elem.F32]("gemm", g) }},
	{elem.KBF16, elem.KF32, elem.KBF16, func(g GEMMConfig) *dsl.Kernel { return GEMM[elem.BF16, elem.BF16]("gemm", g) }},
	{elem.KF16, elem.KF16, elem.KF16, ofEither[elem.F16, elem.F16, elem.F32, elem.F16](atoms.SM80_16x8x16_F16F16F16F16_TN)},
	{elem.KTF32, elem.KF32, elem.KF32, ofEither[elem.TF32, elem.F32, elem.F32, elem.F32](atoms.SM80_16x8x8_F32TF32TF32F32_TN)},
	{elem.KS8, elem.KS32, elem.KS32, ofEither[elem.S8, elem.S32, elem.S32, elem.S32](atoms.SM80_16x8x32_S32S8S8S32_TN)},
	{elem.KS8, elem.KS32, elem.KF16, ofEither[elem.S8, elem.S32, elem.F32, elem.F16](atoms.SM80_16x8x32_S32S8S8S32_TN)},
}

// ofEither makes products by the instruction or, where the configuration says so, by a wgmma of all columns of a block.
func ofEither[E, Acc, Q, O elem.Any](atom atoms.MMAAtom[Acc, E, E, Acc]) func(g GEMMConfig) *dsl.Kernel {
	return func(g GEMMConfig) *dsl.Kernel {
		atom := atom
		if g.WGMMA {
			atom, _ = atoms.GMMAOf[Acc, E, E](atoms.GMMASpec{N: g.BN})
		}
		return Product[E, Acc, Q, O]("gemm", atom, g, nil)
	}
}

// drawConfig draws fields that seldom fit each other.
func drawConfig(r *rand.Rand, in elem.Kind) GEMMConfig {
	of := func(values ...int) int { return values[r.IntN(len(values))] }
	g := GEMMConfig{BM: of(8, 16, 32, 48, 64, 96, 128, 160, 192, 256), BN: of(8, 16, 32, 48, 64, 96, 128, 192, 256),
		BK: 128 / in.Bits() * of(1, 2, 4, 6, 8, 8, 8, 12, 16), WarpM: of(1, 2, 3, 4), WarpN: of(1, 2, 3, 4), Stages: of(1, 2, 2, 3, 4), Group: of(1, 8),
		Sync: []dsl.Sync{dsl.Groups, dsl.Groups, dsl.MBarriers, dsl.TMALoads, dsl.TMALoads}[r.IntN(5)], A: Major(r.IntN(2)), B: Major(r.IntN(2)),
		ColumnC: r.IntN(3) == 0, Batched: r.IntN(3) == 0, SplitK: r.IntN(2) == 0}
	if g.Sync == dsl.TMALoads {
		g.A, g.B = Major(r.IntN(8)/7), Major(r.IntN(8)/7)
		if g.WGMMA = r.IntN(2) == 0; g.WGMMA {
			g.WarpM, g.WarpN = of(4, 4, 8, 2), of(1, 1, 1, 2)
		}
	}
	return g
}

// stricter are the refusals of what could be generated: see CheckGEMM, and a pipeline of mbarriers without slack, which stops.
var stricter = []string{"half of what each of", "power of two", "two steps of the instruction", "one of them slack"}

// TestCheckAgrees: what a configuration's check lets through is generated, within the shared memory that it foresees; what it
// refuses is refused while generating, too, unless the check says that it is stricter.
func TestCheckAgrees(t *testing.T) {
	count := 1200
	if testing.Short() {
		count = 150
	}
	r := rand.New(rand.NewPCG(3, 5))
	good, kinds := 0, map[[2]bool]int{}
	for i := range count {
		v := family[i%len(family)]
		g := drawConfig(r, v.in)
		wrong := g.check(v.in, v.acc, v.out)
		if wrong != nil && containsAny(wrong.Error(), stricter) {
			continue
		}
		k, err := gen.Lower(v.make(g))
		if wrong != nil {
			require.Error(t, err, "%s to %s: %+v: %v", v.in, v.out, g, wrong)
			continue
		}
		good++
		cols := g.B
		if g.ColumnC {
			cols = g.A
		}
		kinds[[2]bool{g.Sync == dsl.TMALoads, g.WGMMA}]++
		require.NoError(t, err, "%s to %s: %+v", v.in, v.out, g)
		foreseen := max(g.sharedBytes(v.in, v.acc, newColumns(v.in, v.out, g, cols)))
		require.InDelta(t, foreseen, k.SmemBytes, 64, "%s to %s: %+v", v.in, v.out, g)
		require.GreaterOrEqual(t, foreseen, k.SmemBytes, "%s to %s: %+v", v.in, v.out, g)
	}
	require.Greater(t, good, count/60)
	require.Len(t, kinds, 3)
	t.Logf("%d of %d fit: %v", good, count, kinds)
}

func containsAny(text string, parts []string) bool {
	for _, p := range parts {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}

// TestCheckMessages: each rule says what was expected and what came.
func TestCheckMessages(t *testing.T) {
	good := GEMMConfig{BM: 128, BN: 128, BK: 64, WarpM: 2, WarpN: 2, Stages: 3, Group: 8}
	require.NoError(t, CheckGEMM[elem.F16, elem.F32, elem.F32](good))
	for want, change := range map[string]func(g *GEMMConfig){
		"expected BM of at least 16, but got 0":                                                                       func(g *GEMMConfig) { g.BM = 0 },
		"expected Group of at most 8192, but got 4611686018427387904":                                                 func(g *GEMMConfig) { g.Group = 1 << 62 },
		"expected Stages of at most 8192, but got 4503599627370496":                                                   func(g *GEMMConfig) { g.Stages = 1 << 52 },
		"expected BM of at most 8192":                                                                                 func(g *GEMMConfig) { g.BM, g.BN, g.BK = 1<<62, 1<<62, 1<<62 },
		"expected WarpM of at most 8192":                                                                              func(g *GEMMConfig) { g.WarpM = 1 << 59 },
		"expected Sync Groups, MBarriers or TMALoads, and A and B KMajor or MNMajor, but got Sync=9, A=0, B=0":        func(g *GEMMConfig) { g.Sync = 9 },
		"but got Sync=0, A=7, B=0":                                                                                    func(g *GEMMConfig) { g.A = 7 },
		"expected Group of at least 1, but got 0":                                                                     func(g *GEMMConfig) { g.Group = 0 },
		"expected Stages of at least 2, but got 1":                                                                    func(g *GEMMConfig) { g.Stages = 1 },
		"expected Stages of at least 3 with MBarriers, one of them slack between warps, but got 2":                    func(g *GEMMConfig) { g.Stages, g.Sync = 2, dsl.MBarriers },
		"expected at most 32 warps in a block, but WarpM=8 times WarpN=8 makes 64":                                    func(g *GEMMConfig) { g.WarpM, g.WarpN = 8, 8 },
		"expected BM to be a multiple of 48, 16 for each of WarpM=3 warps, but got 128":                               func(g *GEMMConfig) { g.WarpM = 3 },
		"expected BN to be a multiple of 48, 16 for each of WarpN=3 warps, but got 128":                               func(g *GEMMConfig) { g.WarpN = 3 },
		"expected BK to be a multiple of 16, the elements in 32 bytes, one step of the instruction, but got 72":       func(g *GEMMConfig) { g.BK = 72 },
		"expected BK of at least 32, two steps of the instruction, but got 16":                                        func(g *GEMMConfig) { g.BK = 16 },
		"expected BK to be a power of two or a multiple of 64, rows of at most 128 bytes of shared memory":            func(g *GEMMConfig) { g.BK = 96 },
		"expected BM to be a multiple of 64, the rows that a copy by all 256 threads fills, but got 32":               func(g *GEMMConfig) { g.BM, g.BK, g.WarpN = 32, 32, 4 },
		"expected WarpN=3 warps, which take 48 elements of BN, to divide rows of 64 elements of an MN-major operand":  func(g *GEMMConfig) { g.BM, g.BN, g.WarpN, g.B = 96, 192, 3, MNMajor },
		"expected the 24 vectors of 16 bytes along BM=192 to divide the 128 threads":                                  func(g *GEMMConfig) { g.BM, g.A = 192, MNMajor },
		"expected BK to be a multiple of 64, the columns of BM=32 elements that a copy by all 256 threads fills":      func(g *GEMMConfig) { g.BM, g.BK, g.WarpN, g.A = 32, 32, 4, MNMajor },
		"expected accumulators in at most 128 registers, half of what each of 128 threads may have, but BM*BN=256*12": func(g *GEMMConfig) { g.BM = 256 },
		"expected accumulators in at most 64 registers, half of what each of 512 threads may have, but BM*BN=256*256": func(g *GEMMConfig) { g.BM, g.BN, g.WarpM, g.WarpN = 256, 256, 4, 4 },
		"expected stages in at most 232448 bytes of shared memory, but Stages=8 of (BM+BN)*BK=(128+128)*64 elements":  func(g *GEMMConfig) { g.Stages = 8 },
		"expected the 24 vectors of f32 along BN=96, which the epilogue stores, to divide the 128 threads":            func(g *GEMMConfig) { g.BN = 96 },
		"expected the 60 vectors of f32 along BN=240, which the epilogue stores, to divide the 96 threads":            func(g *GEMMConfig) { g.BM, g.BN, g.WarpM, g.WarpN = 48, 240, 1, 3 },
		"expected BN to be a multiple of 32, the threads of a warp, which store elements beside each other, but":      func(g *GEMMConfig) { g.BN, g.WarpN = 16, 1 },
	} {
		g := good
		change(&g)
		require.ErrorContains(t, CheckGEMM[elem.F16, elem.F32, elem.F32](g), want)
	}
	column := GEMMConfig{BM: 192, BN: 128, BK: 64, WarpM: 2, WarpN: 2, Stages: 3, Group: 8, A: MNMajor, ColumnC: true}
	require.ErrorContains(t, CheckGEMM[elem.F16, elem.F16, elem.F16](GEMMConfig{BM: 192, BN: 128, BK: 64, WarpM: 2, WarpN: 2, Stages: 3, Group: 8, A: MNMajor}), "along BM=192")
	require.NoError(t, CheckGEMM[elem.F16, elem.F16, elem.F16](column), "of a column-major C, a block has BM rows of B")
}

// What a fuzzed configuration showed: columns of an MN-major copy that do not go into the rows of shared memory.
func TestCheckColumns(t *testing.T) {
	g := GEMMConfig{BM: 48, BN: 64, BK: 96, WarpM: 3, WarpN: 1, Stages: 3, Group: 2, A: MNMajor, ColumnC: true}
	require.ErrorContains(t, CheckGEMM[elem.TF32, elem.F32, elem.F32](g), "expected the 6 columns of BN=64 elements that a copy by all 96 threads fills to divide 8")
}

// Epilogues that are not whole are refused.
func TestEpilogueRefusals(t *testing.T) {
	type f32 = elem.F32
	g := GEMMConfig{BM: 64, BN: 64, BK: 32, WarpM: 2, WarpN: 2, Stages: 3, Group: 1}
	double := func(x dsl.Val[f32], _ []dsl.Val[f32]) dsl.Val[f32] { return x.Add(x) }
	twice := func(x float64, _ []float64) float64 { return 2 * x }
	for want, f := range map[string]Epilogue[f32, f32]{
		"but the function is nil": func(*EpilogueInputs[f32, f32]) (func(dsl.Val[f32], []dsl.Val[f32]) dsl.Val[f32], func(float64, []float64) float64) {
			return nil, twice
		},
		"but the reference is nil": func(*EpilogueInputs[f32, f32]) (func(dsl.Val[f32], []dsl.Val[f32]) dsl.Val[f32], func(float64, []float64) float64) {
			return double, nil
		},
		"a function of the inputs that it declares": func(in *EpilogueInputs[f32, f32]) (func(dsl.Val[f32], []dsl.Val[f32]) dsl.Val[f32], func(float64, []float64) float64) {
			in.Row("bias")
			return nil, nil
		},
		"but late comes later": func(in *EpilogueInputs[f32, f32]) (func(dsl.Val[f32], []dsl.Val[f32]) dsl.Val[f32], func(float64, []float64) float64) {
			return func(x dsl.Val[f32], _ []dsl.Val[f32]) dsl.Val[f32] { in.Row("late"); return x }, twice
		},
		"expects each stage to return a function and its reference": Chain(ReLU[f32](), func(*EpilogueInputs[f32, f32]) (func(dsl.Val[f32], []dsl.Val[f32]) dsl.Val[f32], func(float64, []float64) float64) {
			return double, nil
		}),
	} {
		k := Product[elem.F16, f32, f32, f32]("refused", atoms.MMA16816[elem.F16](), g, f)
		require.ErrorContains(t, k.Err(), want)
	}
	require.ErrorContains(t, Product[elem.F16, f32, elem.S32, f32]("refused", atoms.MMA16816[elem.F16](), g, nil).Err(),
		"expects sums of f32 to be followed by floating-point numbers, but got s32")
	nothing := func(*EpilogueInputs[f32, f32]) (func(dsl.Val[f32], []dsl.Val[f32]) dsl.Val[f32], func(float64, []float64) float64) {
		return nil, nil
	}
	require.NoError(t, Product[elem.F16, f32, f32, f32]("identity", atoms.MMA16816[elem.F16](), g, Chain(ReLU[f32](), nothing)).Err())
}
