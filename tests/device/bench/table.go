package main

import (
	"fmt"
	"strings"

	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/kernels"
)

// entry is one of our kernels. Its parameters are M, N, K, A, B, C, alpha and beta, and those of batches and of split sums
// where it has them.
type entry struct {
	product
	name    string
	kernel  func() *dsl.Kernel
	use     func(s size) bool // the sizes to time it at
	batched bool
	depth   int // of a block along K
	wgmma   bool
}

// block is a configuration without types and layouts.
type block struct {
	suffix       string
	m, n         int
	bytes        int // along K
	warpM, warpN int
	stages       int
	batched      bool
	split        bool
	cacheAlways  bool
	oneAddress   bool // where A is K-major and elements have more than 8 bits
	tma, wgmma   bool // the instructions of sm_90
	use          func(s size) bool
}

// The blocks that have proved themselves, the larger for the larger products.
var (
	large      = block{m: 256, n: 128, bytes: 128, warpM: 4, warpN: 2, stages: 4, oneAddress: true, use: wide}
	medium     = block{m: 128, n: 128, bytes: 128, warpM: 2, warpN: 2, stages: 3, oneAddress: true, use: wide}
	small      = block{m: 64, n: 128, bytes: 256, warpM: 1, warpN: 4, stages: 3, use: little}
	unaligned  = block{suffix: "_l1", m: 64, n: 128, bytes: 256, warpM: 1, warpN: 4, stages: 3, cacheAlways: true, use: littleUnaligned}
	splitLarge = block{suffix: "_split", m: 256, n: 128, bytes: 128, warpM: 4, warpN: 2, stages: 4, oneAddress: true, split: true, use: fewRows(128, 511)}
	split      = block{suffix: "_split", m: 64, n: 128, bytes: 128, warpM: 1, warpN: 4, stages: 4, split: true, use: fewRows(1, 511)}
	skinny64   = block{suffix: "_split", m: 64, n: 64, bytes: 128, warpM: 2, warpN: 2, stages: 6, split: true, use: fewRows(17, 64)}
	skinny32   = block{suffix: "_split", m: 16, n: 32, bytes: 256, warpM: 1, warpN: 2, stages: 6, split: true, use: fewRows(1, 16)}
	skinny16   = block{suffix: "_split", m: 16, n: 64, bytes: 256, warpM: 1, warpN: 4, stages: 4, split: true, use: fewRows(1, 16)}
)

// The same by the instructions of sm_90: mma.sync on what the copy engine brings, and wgmma.
var (
	tmaLarge       = block{suffix: "_tma", m: 256, n: 128, bytes: 128, warpM: 4, warpN: 2, stages: 4, tma: true, use: wide}
	wgmmaLarge     = block{suffix: "_wgmma", m: 128, n: 256, bytes: 128, warpM: 8, warpN: 1, stages: 4, wgmma: true, use: wide}
	wgmmaSmall     = block{suffix: "_wgmma", m: 64, n: 128, bytes: 128, warpM: 4, warpN: 1, stages: 8, wgmma: true, use: little}
	wgmmaSplit     = block{suffix: "_wgmma_split", m: 256, n: 96, bytes: 128, warpM: 8, warpN: 1, stages: 4, wgmma: true, split: true, use: fewRows(128, 511)}
	wgmmaSplitWide = block{suffix: "_wgmma_split", m: 128, n: 192, bytes: 128, warpM: 8, warpN: 1, stages: 5, wgmma: true, split: true, use: fewRows(128, 511)}
	wgmmaSplitEven = block{suffix: "_wgmma_split", m: 128, n: 256, bytes: 128, warpM: 8, warpN: 1, stages: 4, wgmma: true, split: true, use: fewRows(128, 511)}
	wgmmaSquare    = block{suffix: "_wgmma", m: 128, n: 128, bytes: 128, warpM: 8, warpN: 1, stages: 3, wgmma: true, use: wide}
	wgmmaSkinny    = block{suffix: "_wgmma_split", m: 64, n: 128, bytes: 128, warpM: 4, warpN: 1, stages: 8, wgmma: true, split: true, use: fewRows(1, 64)}
)

func wide(s size) bool { return s.m > 511 || s.batch > 1 }

func little(s size) bool { return s.m > 16 && s.m*s.n*s.k <= 3<<30 }

// littleUnaligned products have rows of A and B that begin in the middle of sectors.
func littleUnaligned(s size) bool { return little(s) && s.k%16 != 0 }

func fewRows(least, most int) func(s size) bool {
	return func(s size) bool { return s.batch == 1 && s.m >= least && s.m <= most }
}

// inBatches is a block for several products at once.
func (b block) inBatches() block {
	b.batched, b.suffix = true, b.suffix+"_batched"
	return b
}

// ours lists the kernels to time: to add one, add a block.
func ours() []entry {
	of := func(in, out elem.Kind) product { return product{in, out, "TN"} }
	list := []entry{{product: of(elem.KF16, elem.KF16), name: "gemm_f16_f16", kernel: kernels.GEMMF16Out, use: wide}}
	f16, bf16 := atoms.MMA16816[elem.F16](), atoms.MMA16816[elem.BF16]()
	list = append(list, entries[elem.F16, elem.F32, elem.F32, elem.F16](f16, "TN", medium, small, unaligned, splitLarge, split, skinny64, skinny16, skinny32,
		large.inBatches(), medium.inBatches(), small.inBatches(), wgmmaLarge.inBatches(), wgmmaSquare.inBatches(), tmaLarge, wgmmaLarge, wgmmaSmall, wgmmaSplit, wgmmaSplitWide, wgmmaSkinny)...)
	for _, layout := range []string{"NN", "NT", "TT"} {
		list = append(list, entries[elem.F16, elem.F32, elem.F32, elem.F16](f16, layout, large, small, split, tmaLarge, wgmmaLarge, wgmmaSmall, wgmmaSplitEven)...)
		list = append(list, entries[elem.BF16, elem.F32, elem.F32, elem.BF16](bf16, layout, large, tmaLarge, wgmmaLarge)...)
	}
	list = append(list, entries[elem.BF16, elem.F32, elem.F32, elem.BF16](bf16, "TN", large, small, split, skinny16, tmaLarge, wgmmaLarge, wgmmaSmall, wgmmaSplitWide)...)
	list = append(list, entry{product: of(elem.KF16, elem.KF32), name: "gemm_f16", kernel: kernels.GEMMF16, use: wide})
	list = append(list, entries[elem.F16, elem.F32, elem.F32, elem.F32](f16, "TN", large, small, split, skinny16, tmaLarge, wgmmaLarge, wgmmaSmall, wgmmaSplitEven)...)
	list = append(list, entry{product: of(elem.KBF16, elem.KF32), name: "gemm_bf16", kernel: kernels.GEMMBF16, use: wide})
	list = append(list, entries[elem.TF32, elem.F32, elem.F32, elem.F32](atoms.SM80_16x8x8_F32TF32TF32F32_TN, "TN", large, small, split, tmaLarge, wgmmaLarge)...)
	list = append(list, entries[elem.S8, elem.S32, elem.S32, elem.S32](atoms.SM80_16x8x32_S32S8S8S32_TN, "TN", large, medium, split, skinny16, tmaLarge, wgmmaLarge)...)
	return append(list, entries[elem.S8, elem.S32, elem.F32, elem.S8](atoms.SM80_16x8x32_S32S8S8S32_TN, "TN", large, medium, tmaLarge, wgmmaLarge)...)
}

// entries are those of the blocks for a product.
func entries[E, Acc, Q, O elem.Any](atom atoms.MMAAtom[Acc, E, E, Acc], layout string, blocks ...block) []entry {
	p := product{elem.KindOf[E](), elem.KindOf[O](), layout}
	var out []entry
	for _, b := range blocks {
		g := kernels.GEMMConfig{BM: b.m, BN: b.n, BK: b.bytes * 8 / p.in.Bits(), WarpM: b.warpM, WarpN: b.warpN, Stages: b.stages, Group: 8,
			Batched: b.batched, SplitK: b.split, CacheAlways: b.cacheAlways, WGMMA: b.wgmma}
		g.OneAddress = b.oneAddress && layout[0] == 'T' && p.in.Bits() > 8
		if b.tma || b.wgmma {
			g.Sync = dsl.TMALoads
		}
		if layout[0] == 'N' {
			g.A = kernels.MNMajor
		}
		if layout[1] == 'T' {
			g.B = kernels.MNMajor
		}
		name := fmt.Sprintf("gemm_%s_%s_%s_%dx%dx%d%s", p.in, p.out, strings.ToLower(layout), g.BM, g.BN, g.BK, b.suffix)
		out = append(out, entry{product: p, name: name, use: b.use, batched: b.batched, depth: g.BK, wgmma: b.wgmma,
			kernel: func() *dsl.Kernel { return kernels.Product[E, Acc, Q, O](name, instruction(g, atom), g, nil) }})
	}
	return out
}

// instruction is what a block multiplies by: the atom, or wgmma of as many columns as the block has.
func instruction[E, Acc elem.Any](g kernels.GEMMConfig, atom atoms.MMAAtom[Acc, E, E, Acc]) atoms.MMAAtom[Acc, E, E, Acc] {
	if !g.WGMMA {
		return atom
	}
	wide, err := atoms.GMMAOf[Acc, E, E](g.GMMASpec(g.BN))
	if err != nil {
		panic(err) // of our own table
	}
	return wide
}

// defaultSizes are those of a product to time where none are asked for: cubes, one that no tile divides, products with few
// rows, and batches.
func (p product) defaultSizes() string {
	switch {
	case p.types() == "f16-f16" && p.layout == "TN":
		return "1024,2048,4096,8192,1000,16x4096x4096,64x11008x4096,256x4096x11008,256*256,64*512,16*1024"
	case p.types() == "f16-f32":
		return "1024,2048,4096,8192,16x4096x4096,256x4096x11008"
	case p.types() == "bf16-f32":
		return "4096"
	case p.types() == "s8-s8":
		return "2048,4096,8192"
	case p.layout != "TN" && p.in == elem.KBF16:
		return "4096,8192"
	case p.layout != "TN":
		return "1024,4096,8192,256x4096x11008"
	}
	return "1024,2048,4096,8192,16x4096x4096,256x4096x11008"
}

// splits is how many blocks share a tile of the result: as many as the GPU has places for at once, but none with fewer than
// four tiles of K.
func splits(tiles, tilesK, places int) int { return max(1, min(places/max(tiles, 1), tilesK/4)) }
