package kernels

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/check"
	"github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// smallWGMMA is a block of one warpgroup.
var smallWGMMA = GEMMConfig{BM: 64, BN: 64, BK: 64, WarpM: 4, WarpN: 1, Stages: 3, Group: 2, Sync: dsl.TMALoads, WGMMA: true}

// byWGMMA is a product by the wgmma instruction of an N.
func byWGMMA[E, Acc, Q, O elem.Any](name string, n int, g GEMMConfig, f Epilogue[Q, O]) *dsl.Kernel {
	atom, err := atoms.GMMAOf[Acc, E, E](g.GMMASpec(n))
	if err != nil {
		panic(err)
	}
	return Product(name, atom, g, f)
}

// with is a configuration with some fields changed.
func (g GEMMConfig) with(change func(g *GEMMConfig)) GEMMConfig {
	change(&g)
	return g
}

// runProducts runs a product of each size M, N, K, and of L matrices or in parts where the kernel has such dims.
func runProducts(t *testing.T, k *dsl.Kernel, sizes ...[4]int64) {
	t.Helper()
	require.NoError(t, k.Err())
	for i, s := range sizes {
		args := check.Args{Dims: map[string]int64{"M": s[0], "N": s[1], "K": s[2]}, Scalars: map[string]float64{"alpha": 1, "beta": float64(i % 2)}, Seed: int64(i)}
		for _, p := range k.IR().Params {
			switch p.Name {
			case "splits":
				args.Dims[p.Name] = s[3]
			case "L":
				args.Dims["L"], args.Dims["strideA"], args.Dims["strideB"] = s[3], s[0]*s[2]+16, 0
			}
		}
		check.Kernel(t, k, args, check.Options{On: check.CPU, EmuSeeds: []uint64{uint64(i)}})
	}
}

// TestWGMMAProducts: every type, epilogues, ways to store, layouts of C and N of the instruction.
func TestWGMMAProducts(t *testing.T) {
	type (
		f16  = elem.F16
		bf16 = elem.BF16
		f32  = elem.F32
		tf32 = elem.TF32
		s8   = elem.S8
		s32  = elem.S32
	)
	g := smallWGMMA
	g32, g8 := g.with(func(g *GEMMConfig) { g.BK = 32 }), g.with(func(g *GEMMConfig) { g.BK = 128 })
	column := g.with(func(g *GEMMConfig) { g.ColumnC = true })
	ragged := [][4]int64{{77, 96, 200}, {3, 32, 8}, {64, 64, 64}}
	for name, c := range map[string]struct {
		kernel *dsl.Kernel
		sizes  [][4]int64
	}{
		"f16_f16":      {byWGMMA[f16, f32, f32, f16]("wgmma", 64, g, nil), ragged},
		"bf16_bf16":    {byWGMMA[bf16, f32, f32, bf16]("wgmma", 64, g, nil), ragged},
		"f16_sums_f16": {byWGMMA[f16, f16, f32, f16]("wgmma", 64, g, nil), ragged},
		"f16_f32":      {byWGMMA[f16, f32, f32, f32]("wgmma", 64, g, nil), [][4]int64{{77, 91, 200}, {1, 1, 8}, {65, 68, 72}}},
		"bf16_f32":     {byWGMMA[bf16, f32, f32, f32]("wgmma", 32, g, nil), [][4]int64{{77, 91, 200}}},
		"tf32_f32":     {byWGMMA[tf32, f32, f32, f32]("wgmma", 64, g32, nil), [][4]int64{{77, 91, 100}, {5, 64, 4}}},
		"tf32_f16":     {byWGMMA[tf32, f32, f32, f16]("wgmma", 64, g32, nil), [][4]int64{{77, 96, 100}}},
		"s8_s32":       {byWGMMA[s8, s32, s32, s32]("wgmma", 64, g8, nil), [][4]int64{{77, 91, 208}, {5, 64, 16}}},
		"s8_s8":        {byWGMMA[s8, s32, f32, s8]("wgmma", 64, g8, nil), [][4]int64{{77, 128, 208}}},
		"s8_f16":       {byWGMMA[s8, s32, f32, f16]("wgmma", 32, g8, nil), [][4]int64{{77, 96, 208}}},
		"bias GELU":    {byWGMMA[f16, f32, f32, f16]("wgmma", 64, g, Chain(Bias[f16](), GELU[f16]())), ragged},
		"residual f32": {byWGMMA[bf16, f32, f32, f32]("wgmma", 64, g, Chain(Residual[f32](), ScaleRows[f32]())), [][4]int64{{77, 91, 72}, {64, 64, 72}}},
		"residual f16": {byWGMMA[f16, f32, f32, f16]("wgmma", 64, g, Residual[f16]()), ragged},
		"column":       {byWGMMA[f16, f32, f32, f16]("wgmma", 64, column, nil), [][4]int64{{96, 77, 200}, {32, 3, 8}}},
		"column f32":   {byWGMMA[f16, f32, f32, f32]("wgmma", 64, column, Bias[f32]()), [][4]int64{{91, 77, 200}}},
		"N 8":          {byWGMMA[f16, f32, f32, f16]("wgmma", 8, g, nil), ragged[:1]},
		"N 16":         {byWGMMA[f16, f32, f32, f16]("wgmma", 16, g, Bias[f16]()), ragged[:1]},
		"N 48":         {byWGMMA[f16, f32, f32, f32]("wgmma", 48, g.with(func(g *GEMMConfig) { g.BM, g.BN, g.WarpM = 192, 96, 12 }), nil), [][4]int64{{77, 91, 72}}},
		"N 8 f32":      {byWGMMA[bf16, f32, f32, f32]("wgmma", 8, g, nil), [][4]int64{{77, 91, 72}}},
		"long tiles":   {byWGMMA[f16, f32, f32, f16]("wgmma", 64, g.with(func(g *GEMMConfig) { g.BK, g.Stages = 128, 2 }), nil), ragged},
		"short rows":   {byWGMMA[f16, f32, f32, f16]("wgmma", 64, g.with(func(g *GEMMConfig) { g.BK, g.Stages = 32, 5 }), nil), ragged},
		"warpgroups":   {byWGMMA[f16, f32, f32, f16]("wgmma", 32, g.with(func(g *GEMMConfig) { g.BM, g.WarpM = 256, 8 }), nil), [][4]int64{{300, 96, 136}}},
	} {
		t.Run(name, func(t *testing.T) { runProducts(t, c.kernel, c.sizes...) })
	}
}

// TestHopperLayouts: 16-bit operands of every layout, by wgmma and by mma.sync, whose columns fill one run of shared memory,
// a part of one, or several; and several runs of them in an instruction.
func TestHopperLayouts(t *testing.T) {
	warps := smallWGMMA.with(func(g *GEMMConfig) { g.WGMMA, g.WarpM, g.WarpN = false, 2, 2 })
	wide := smallWGMMA.with(func(g *GEMMConfig) { g.BM, g.BN, g.WarpM, g.Stages = 128, 128, 8, 2 })
	narrow := smallWGMMA.with(func(g *GEMMConfig) { g.BN, g.BK = 32, 32 })
	for name, g := range map[string]GEMMConfig{"wgmma": smallWGMMA, "mma.sync": warps, "wide": wide, "narrow": narrow} {
		for _, layout := range []struct {
			name string
			a, b Major
		}{{"NN", MNMajor, KMajor}, {"NT", MNMajor, MNMajor}, {"TT", KMajor, MNMajor}} {
			for _, column := range []bool{false, true} {
				h := g.with(func(g *GEMMConfig) { g.A, g.B, g.ColumnC = layout.a, layout.b, column })
				t.Run(fmt.Sprint(name, " ", layout.name, " ", column), func(t *testing.T) {
					runProducts(t, GEMM[elem.F16, elem.F16]("layouts", h), [4]int64{192, 64, 200}, [4]int64{64, 256, 8})
					runProducts(t, GEMM[elem.BF16, elem.F32]("layouts", h), [4]int64{72, 200, 72})
				})
			}
		}
	}
	split := smallWGMMA.with(func(g *GEMMConfig) { g.A, g.B, g.SplitK = MNMajor, MNMajor, true })
	runProducts(t, GEMM[elem.F16, elem.F16]("parts", split), [4]int64{72, 88, 333, 3})
	batched := smallWGMMA.with(func(g *GEMMConfig) { g.A, g.B, g.Batched = MNMajor, MNMajor, true })
	runProducts(t, GEMM[elem.F16, elem.F32]("batches", batched), [4]int64{72, 88, 77, 3})
}

// TestHopperParts: batches and shared sums, by wgmma and by mma.sync, of one tile of K, of less than one, of parts without
// a tile, and of more stages than tiles.
func TestHopperParts(t *testing.T) {
	warps := smallWGMMA.with(func(g *GEMMConfig) { g.WGMMA, g.WarpM, g.WarpN, g.Stages = false, 2, 2, 4 })
	batches := [][4]int64{{70, 64, 72, 3}, {3, 128, 8, 2}, {64, 64, 264, 1}}
	parts := [][4]int64{{70, 64, 328, 3}, {3, 128, 8, 4}, {64, 64, 64, 1}, {64, 64, 200, 6}, {65, 64, 128, 5}}
	for name, g := range map[string]GEMMConfig{"wgmma": smallWGMMA, "mma.sync": warps, "two stages": smallWGMMA.with(func(g *GEMMConfig) { g.Stages = 2 }),
		"two stages of warps": warps.with(func(g *GEMMConfig) { g.Stages = 2 }), "seven stages": smallWGMMA.with(func(g *GEMMConfig) { g.Stages, g.BN = 7, 32 })} {
		t.Run(name, func(t *testing.T) {
			for _, form := range []func(g *GEMMConfig){func(g *GEMMConfig) {}, func(g *GEMMConfig) { g.Batched = true }, func(g *GEMMConfig) { g.SplitK = true },
				func(g *GEMMConfig) { g.Batched, g.ColumnC = true, true }} {
				h, sizes := g.with(form), parts
				if h.Batched {
					sizes = batches
				}
				if h.ColumnC {
					sizes = [][4]int64{{64, 70, 72, 3}}
				}
				runProducts(t, GEMM[elem.F16, elem.F16]("parts", h), sizes...)
				if h.SplitK {
					runProducts(t, GEMM[elem.BF16, elem.F32]("parts", h), sizes[:2]...)
				}
			}
		})
	}
}

// TestHopperRefusals: what the copy engine and wgmma do not do is refused at once, in words of the configuration.
func TestHopperRefusals(t *testing.T) {
	type (
		f16 = elem.F16
		f32 = elem.F32
	)
	for want, change := range map[string]func(g *GEMMConfig){
		"expected TMALoads without CacheAlways, but got both":                                                   func(g *GEMMConfig) { g.CacheAlways = true },
		"expected TMALoads without OneAddress, but got both":                                                    func(g *GEMMConfig) { g.OneAddress = true },
		"expected BK to be a multiple of 16, the elements in 32 bytes, one step of the instruction, but got 40": func(g *GEMMConfig) { g.BK, g.A, g.B = 40, MNMajor, MNMajor },
		"expected BM and BN of at most 256 with TMALoads, the extents of a box, but got 512 and 64":             func(g *GEMMConfig) { g.BM = 512 },
		"expected BM and BN of at most 256 with TMALoads, the extents of a box, but got 64 and 320":             func(g *GEMMConfig) { g.BN = 320 },
		"expected TMALoads with WGMMA, but got Sync=0":                                                          func(g *GEMMConfig) { g.Sync = dsl.Groups },
		"expected TMALoads with WGMMA, but got Sync=1":                                                          func(g *GEMMConfig) { g.Sync = dsl.MBarriers },
		"expected WarpM to be a multiple of 4, and WarpN to be 1, with WGMMA, but got 2 and 1":                  func(g *GEMMConfig) { g.WarpM = 2 },
		"expected WarpM to be a multiple of 4, and WarpN to be 1, with WGMMA, but got 4 and 2":                  func(g *GEMMConfig) { g.WarpN = 2 },
		"expected StreamK alone, without SplitK and Batched and with Sync Groups, but got":                      func(g *GEMMConfig) { g.StreamK = true },
		"expected BM to be a multiple of 128, 16 for each of WarpM=8 warps, but got 64":                         func(g *GEMMConfig) { g.WarpM = 8 },
		"expected BK to be a power of two or a multiple of 64, rows of at most 128 bytes of shared memory":      func(g *GEMMConfig) { g.BK = 96 },
		"expected stages in at most 232448 bytes of shared memory, but Stages=20 of (BM+BN)*BK=(64+64)*64":      func(g *GEMMConfig) { g.Stages = 20 },
	} {
		g := smallWGMMA.with(change)
		require.ErrorContains(t, CheckGEMM[f16, f32, f16](g), want)
		err := GEMM[f16, f16]("refused", g).Err()
		require.ErrorContains(t, err, "refused: Product: "+want)
		require.Len(t, strings.Split(err.Error(), "\n"), 1)
	}
}

// TestHopperColumns: only operands of 16 bits are brought along M or N.
func TestHopperColumns(t *testing.T) {
	g := smallWGMMA.with(func(g *GEMMConfig) { g.BK, g.B = 32, MNMajor })
	require.EqualError(t, CheckGEMM[elem.TF32, elem.F32, elem.F32](g), "expected KMajor operands of tf32 with TMALoads, but got A=0, B=1: those of 16 bits may be MNMajor")
}

// TestHopperAtoms: an instruction that is not of the configuration's kind is one mistake.
func TestHopperAtoms(t *testing.T) {
	type (
		f16 = elem.F16
		f32 = elem.F32
	)
	warps := smallWGMMA.with(func(g *GEMMConfig) { g.WGMMA = false })
	atom := func(s atoms.GMMASpec) atoms.MMAAtom[f32, f16, f16, f32] {
		a, err := atoms.GMMAOf[f32, f16, f16](s)
		require.NoError(t, err)
		return a
	}
	for _, c := range []struct {
		atom atoms.MMAAtom[f32, f16, f16, f32]
		g    GEMMConfig
		want string
	}{
		{atoms.MMA16816[f16](), smallWGMMA, "expected a wgmma instruction of operands in shared memory with WGMMA (atoms.GMMAOf), but got SM80_16x8x16_F32F16F16F32_TN"},
		{atom(atoms.GMMASpec{N: 64}), warps, "expected an instruction of a warp without WGMMA, but got SM90_64x64x16_F32F16F16_SS"},
		{atom(atoms.GMMASpec{N: 64}), GEMMConfig{BM: 64, BN: 64, BK: 64, WarpM: 2, WarpN: 2, Stages: 3, Group: 2}, "expected an instruction of a warp without WGMMA, but got SM90_64x64x16_F32F16F16_SS"},
		{atom(atoms.GMMASpec{N: 64, Registers: true}), smallWGMMA, "but got SM90_64x64x16_F32F16F16_RS with A K-major and B K-major"},
		{atom(atoms.GMMASpec{N: 64, MajorB: atoms.MajorMN}), smallWGMMA, "expected an instruction with A K-major and B K-major, as the configuration's operands, but got SM90_64x64x16_F32F16F16_SS with A K-major and B MN-major"},
		{atom(atoms.GMMASpec{N: 48, MajorB: atoms.MajorMN}), smallWGMMA.with(func(g *GEMMConfig) { g.B = MNMajor }), "expected an instruction whose N divides or is a multiple of the 64 columns that are adjacent in shared memory, but got SM90_64x48x16"},
		{atom(atoms.GMMASpec{N: 128}), smallWGMMA, "expected BN to be a multiple of 128, N of SM90_64x128x16_F32F16F16_SS, but got 64"},
		{atom(atoms.GMMASpec{N: 24}), smallWGMMA.with(func(g *GEMMConfig) { g.BN = 96 }), "expected an instruction whose N divides or is a multiple of 32 columns, which are dealt out together, but got SM90_64x24x16"},
		{atoms.MMAAtom[f32, f16, f16, f32]{}, smallWGMMA, "expected an MMA atom, but got none"},
	} {
		err := Product[f16, f32, f32, f16]("refused", c.atom, c.g, nil).Err()
		require.ErrorContains(t, err, "refused: Product: ")
		require.ErrorContains(t, err, c.want)
		require.Len(t, strings.Split(err.Error(), "\n"), 1, err)
	}
}

// TestHopperExtents: where columns are dealt out to the copy engine, N is a multiple of them.
func TestHopperExtents(t *testing.T) {
	run := func(k *dsl.Kernel, n int64) error {
		_, err := check.Run(t.Context(), k, check.Args{Dims: map[string]int64{"M": 64, "N": n, "K": 64}}, check.Options{On: check.CPU})
		return err
	}
	narrow, wide := GEMM[elem.F16, elem.F16]("narrow", smallWGMMA), GEMM[elem.F16, elem.F32]("wide", smallWGMMA)
	require.ErrorContains(t, run(narrow, 72), "N")
	require.ErrorContains(t, run(narrow, 72), "32")
	require.NoError(t, run(narrow, 96))
	require.NoError(t, run(wide, 71))
}
