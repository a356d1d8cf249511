package device

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/check"
	"github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
	"github.com/gocute/gocute/kernels"
)

// drawn is a random kernel.
type drawn struct {
	kernel  *dsl.Kernel
	config  string
	scalars []float64 // of which alpha and beta are drawn
	least   int64     // elements of C: of fewer, a small sum of large products may be all
}

// variant draws a random kernel of one kind.
type variant struct {
	name string
	draw func(r *rand.Rand, name string) drawn
}

// variants are the kinds: add a kind, add a line. They take turns.
var variants = []variant{
	{"f16_f32", family(atoms.MMA16816[elem.F16](), drawEpilogue[elem.F32])},
	{"f16_f16", family(atoms.MMA16816[elem.F16](), drawEpilogue[elem.F16])},
	{"bf16_f32", family(atoms.MMA16816[elem.BF16](), drawEpilogue[elem.F32])},
	{"bf16_bf16", family(atoms.MMA16816[elem.BF16](), drawEpilogue[elem.BF16])},
	{"f16_bf16", family(atoms.MMA16816[elem.F16](), drawEpilogue[elem.BF16])},
	{"bf16_f16", family(atoms.MMA16816[elem.BF16](), drawEpilogue[elem.F16])},
	{"f16_sums_f16", family(atoms.SM80_16x8x16_F16F16F16F16_TN, drawEpilogue[elem.F16])},
	{"tf32_f32", family(atoms.SM80_16x8x8_F32TF32TF32F32_TN, drawEpilogue[elem.F32])},
	{"tf32_f16", family(atoms.SM80_16x8x8_F32TF32TF32F32_TN, drawEpilogue[elem.F16])},
	{"s8_s32", family(atoms.SM80_16x8x32_S32S8S8S32_TN, noEpilogue[elem.S32, elem.S32])},
	{"s8_s8", family(atoms.SM80_16x8x32_S32S8S8S32_TN, noEpilogue[elem.F32, elem.S8])},
	{"s8_f32", family(atoms.SM80_16x8x32_S32S8S8S32_TN, drawEpilogue[elem.F32])},
	{"s8_f16", family(atoms.SM80_16x8x32_S32S8S8S32_TN, drawEpilogue[elem.F16])},
}

// hopperVariants are those that the copy engine of sm_90 feeds, some of them by wgmma.
var hopperVariants = []variant{
	{"f16_f16", hopperFamily(atoms.MMA16816[elem.F16](), drawEpilogue[elem.F16])},
	{"bf16_f32", hopperFamily(atoms.MMA16816[elem.BF16](), drawEpilogue[elem.F32])},
	{"f16_bf16", hopperFamily(atoms.MMA16816[elem.F16](), drawEpilogue[elem.BF16])},
	{"f16_sums_f16", hopperFamily(atoms.SM80_16x8x16_F16F16F16F16_TN, drawEpilogue[elem.F16])},
	{"tf32_f32", hopperFamily(atoms.SM80_16x8x8_F32TF32TF32F32_TN, drawEpilogue[elem.F32])},
	{"tf32_f16", hopperFamily(atoms.SM80_16x8x8_F32TF32TF32F32_TN, drawEpilogue[elem.F16])},
	{"s8_s32", hopperFamily(atoms.SM80_16x8x32_S32S8S8S32_TN, noEpilogue[elem.S32, elem.S32])},
	{"s8_s8", hopperFamily(atoms.SM80_16x8x32_S32S8S8S32_TN, noEpilogue[elem.F32, elem.S8])},
	{"s8_f16", hopperFamily(atoms.SM80_16x8x32_S32S8S8S32_TN, drawEpilogue[elem.F16])},
}

// pick is one of the values.
func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// family draws blocks, warps and pipelines in every layout, and an epilogue.
func family[E, Acc, Q, O elem.Any](atom atoms.MMAAtom[Acc, E, E, Acc], epilogue func(*rand.Rand) (kernels.Epilogue[Q, O], string)) func(*rand.Rand, string) drawn {
	return drawing(drawConfig, func(*rand.Rand, kernels.GEMMConfig) atoms.MMAAtom[Acc, E, E, Acc] { return atom }, epilogue)
}

// hopperFamily draws those of sm_90, half of them by wgmma instructions whose N divides the block's.
func hopperFamily[E, Acc, Q, O elem.Any](atom atoms.MMAAtom[Acc, E, E, Acc], epilogue func(*rand.Rand) (kernels.Epilogue[Q, O], string)) func(*rand.Rand, string) drawn {
	return drawing(drawHopperConfig, func(r *rand.Rand, g kernels.GEMMConfig) atoms.MMAAtom[Acc, E, E, Acc] {
		if !g.WGMMA {
			return atom
		}
		n := g.BN
		for _, part := range []int{32, 16, 8} { // which also fit the order of columns
			if g.BN%part == 0 && r.IntN(6) == 0 {
				n = part
			}
		}
		wide, err := atoms.GMMAOf[Acc, E, E](g.GMMASpec(n))
		if err != nil {
			panic(err)
		}
		return wide
	}, epilogue)
}

// drawConfig draws fields that may not fit each other, for elements of which a vector has vec.
func drawConfig(r *rand.Rand, vec int) kernels.GEMMConfig {
	return kernels.GEMMConfig{BM: pick(r, 16, 32, 64, 96, 128, 192, 256), BN: pick(r, 16, 32, 64, 96, 128, 256), BK: vec * pick(r, 4, 8, 16),
		WarpM: pick(r, 1, 2, 3, 4), WarpN: pick(r, 1, 2, 3, 4), Stages: pick(r, 2, 3, 4), Group: pick(r, 1, 2, 3, 8),
		Sync: pick(r, dsl.Groups, dsl.Groups, dsl.MBarriers), A: pick(r, kernels.KMajor, kernels.MNMajor), B: pick(r, kernels.KMajor, kernels.MNMajor),
		ColumnC: r.IntN(4) == 0, Batched: r.IntN(4) == 0, SplitK: r.IntN(3) == 0, CacheAlways: r.IntN(3) == 0, OneAddress: r.IntN(3) == 0}
}

// drawHopperConfig does so for TMALoads.
func drawHopperConfig(r *rand.Rand, vec int) kernels.GEMMConfig {
	g := drawConfig(r, vec)
	g.CacheAlways, g.OneAddress = false, false
	if g.Sync, g.Stages = dsl.TMALoads, pick(r, 2, 3, 4, 6); vec != 8 { // 16-bit operands of any layout
		g.A, g.B = kernels.KMajor, kernels.KMajor
	}
	if g.WGMMA = r.IntN(2) == 0; g.WGMMA {
		g.BM, g.WarpM, g.WarpN = pick(r, 64, 128, 192, 256), pick(r, 4, 4, 8), 1
	}
	return g
}

// drawing draws configurations until their fields fit each other, an instruction for them and an epilogue.
func drawing[E, Acc, Q, O elem.Any](config func(*rand.Rand, int) kernels.GEMMConfig, atom func(*rand.Rand, kernels.GEMMConfig) atoms.MMAAtom[Acc, E, E, Acc],
	epilogue func(*rand.Rand) (kernels.Epilogue[Q, O], string)) func(*rand.Rand, string) drawn {
	return func(r *rand.Rand, name string) drawn {
		for {
			g := config(r, 128/elem.KindOf[E]().Bits())
			if kernels.CheckGEMM[E, Acc, O](g) != nil {
				continue
			}
			f, text := epilogue(r)
			instruction := atom(r, g)
			d := drawn{kernel: kernels.Product(name, instruction, g, f), config: fmt.Sprintf("%s %+v %s", instruction.Row().Name, g, text), scalars: []float64{0, 0, 1, 1, -1, 0.5, -1.25, 2.75}}
			switch {
			case !elem.KindOf[Q]().IsFloat():
				d.scalars = []float64{0, 0, 1, 1, -1, 3}
			case !elem.KindOf[Acc]().IsFloat(): // large sums, of which small results show how they were rounded
				d.scalars = []float64{0, 0, 1, 1. / 64, -1. / 128, 3. / 1024, 1. / 4096}
			case text != "": // small x, of which activations keep something
				d.scalars = []float64{0, 0, 0.125, 0.125, -0.125, 0.0625, -0.0625}
			}
			if elem.KindOf[Acc]().Bits() == 16 {
				d.least = 64
			}
			return d
		}
	}
}

func noEpilogue[Q, O elem.Any](*rand.Rand) (kernels.Epilogue[Q, O], string) { return nil, "" }

// drawEpilogue chains up to three stages, none in half of the draws.
func drawEpilogue[O elem.Any](r *rand.Rand) (kernels.Epilogue[elem.F32, O], string) {
	if r.IntN(2) == 0 {
		return nil, ""
	}
	stages := []struct {
		name string
		f    func() kernels.Epilogue[elem.F32, O]
	}{{"bias", kernels.Bias[O]}, {"scale", kernels.ScaleRows[O]}, {"residual", kernels.Residual[O]}, {"ReLU", kernels.ReLU[O]},
		{"GELU", kernels.GELU[O]}, {"SiLU", kernels.SiLU[O]}, {"SiLU times", kernels.SiLUTimes[O]}}
	var list []kernels.Epilogue[elem.F32, O]
	var names []string
	for _, i := range r.Perm(len(stages))[:1+r.IntN(3)] {
		list, names = append(list, stages[i].f()), append(names, stages[i].name)
	}
	return kernels.Chain(list...), strings.Join(names, ", ")
}

// drawExtent is a random extent of a dim: one, small, or about the multiple of a tile, as the dim allows.
func drawExtent(r *rand.Rand, p *cir.Param, most int) int64 {
	n := pick(r, 1, 2+r.IntN(30), 32*(1+r.IntN(most/32))+pick(r, -1, 0, 0, 1), 1+r.IntN(most))
	return roundUp(max(int64(n)-int64(multiple(p))+1, p.Sym.Lo), p)
}

func multiple(p *cir.Param) int64 { return max(p.Sym.Multiple, 1) }

// roundUp is the next multiple that a dim allows.
func roundUp(n int64, p *cir.Param) int64 { return max((n+multiple(p)-1)/multiple(p), 1) * multiple(p) }

// drawArgs draws extents up to most, scalars and data. Matrices of a batch may have gaps between them.
func drawArgs(r *rand.Rand, d drawn, most int) check.Args {
	args := check.Args{Dims: map[string]int64{}, Scalars: map[string]float64{}, Seed: int64(r.Uint32())}
	dims := map[string]*cir.Param{}
	for _, p := range d.kernel.IR().Params {
		switch p.Class {
		case cir.Dim:
			dims[p.Name] = p
		case cir.Scalar:
			args.Scalars[p.Name] = pick(r, d.scalars...)
		}
	}
	for _, name := range []string{"M", "N", "K"} {
		args.Dims[name] = drawExtent(r, dims[name], most)
	}
	if m := args.Dims["M"]; m*args.Dims["N"] < d.least {
		args.Dims["N"] = roundUp((d.least+m-1)/m, dims["N"])
	}
	for name, size := range map[string]int64{"strideA": args.Dims["M"] * args.Dims["K"], "strideB": args.Dims["N"] * args.Dims["K"]} {
		if p := dims[name]; p != nil {
			args.Dims[name] = roundUp(size, p)
		}
	}
	if p := dims["L"]; p != nil {
		args.Dims["L"] = 1 + r.Int64N(3)
		args.Dims["strideA"] += multiple(dims["strideA"]) * pick[int64](r, 0, 0, 1, 5)
		args.Dims["strideB"] += multiple(dims["strideB"]) * pick[int64](r, 0, 0, 1, 5)
	}
	if dims["splits"] != nil {
		args.Dims["splits"] = 1 + r.Int64N(6)
	}
	return args
}
