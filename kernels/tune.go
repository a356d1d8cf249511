package kernels

import (
	"fmt"

	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// GEMMFamily is the f16 GEMM into f16, in the blocks that are worth trying: gocute tune gemm ./kernels.
func GEMMFamily() *Family {
	f := &Family{
		Name:    "gemm",
		Scalars: map[string]float64{"alpha": 1, "beta": 0},
		Work:    func(d map[string]int64) float64 { return 2 * float64(d["M"]) * float64(d["N"]) * float64(d["K"]) },
	}
	for _, n := range []int64{512, 1000, 1024, 2008, 2048, 4088, 4096, 8192} { // 1000, 2008 and 4088: rows that begin in the middle of sectors
		f.Shapes = append(f.Shapes, map[string]int64{"M": n, "N": n, "K": n})
	}
	for _, b := range []struct{ bm, bn, bk, warpM, warpN int }{
		{64, 64, 128, 2, 2}, {64, 128, 64, 2, 2}, {64, 128, 128, 1, 4}, {128, 64, 128, 2, 2}, {128, 64, 64, 2, 2}, {128, 128, 32, 2, 2}, {128, 128, 64, 2, 2},
		{128, 128, 64, 2, 4}, {128, 256, 64, 2, 4}, {256, 128, 64, 4, 2}, {64, 256, 64, 1, 4}, {256, 64, 64, 4, 1},
	} {
		for stages := 3; stages <= 5; stages++ {
			g := GEMMConfig{BM: b.bm, BN: b.bn, BK: b.bk, WarpM: b.warpM, WarpN: b.warpN, Stages: stages, Group: 8}
			addGEMM(f, g)
		}
	}
	for _, g := range []GEMMConfig{
		{BM: 64, BN: 128, BK: 128, WarpM: 1, WarpN: 4, Stages: 3, Group: 8}, {BM: 64, BN: 128, BK: 64, WarpM: 1, WarpN: 4, Stages: 5, Group: 8},
		{BM: 64, BN: 64, BK: 128, WarpM: 2, WarpN: 2, Stages: 3, Group: 8}, {BM: 128, BN: 128, BK: 64, WarpM: 2, WarpN: 2, Stages: 3, Group: 8},
	} {
		g.CacheAlways = true
		addGEMM(f, g)
	}
	for _, g := range []GEMMConfig{
		{BM: 128, BN: 128, BK: 64, WarpM: 2, WarpN: 2, Stages: 3, Group: 8}, {BM: 128, BN: 256, BK: 64, WarpM: 2, WarpN: 4, Stages: 4, Group: 8},
		{BM: 256, BN: 128, BK: 64, WarpM: 4, WarpN: 2, Stages: 3, Group: 8}, {BM: 256, BN: 128, BK: 64, WarpM: 4, WarpN: 2, Stages: 4, Group: 8},
	} {
		g.OneAddress = true
		addGEMM(f, g)
	}
	for _, b := range []struct{ bm, bn, warps, stages int }{ // by the instructions of sm_90
		{128, 256, 8, 4}, {256, 128, 8, 4}, {128, 192, 8, 5}, {128, 128, 8, 3}, {128, 128, 8, 6}, {128, 64, 8, 8}, {64, 256, 4, 5}, {64, 128, 4, 4}, {64, 128, 4, 8},
	} {
		addGEMM(f, GEMMConfig{BM: b.bm, BN: b.bn, BK: 64, WarpM: b.warps, WarpN: 1, Stages: b.stages, Group: 8, Sync: TMALoads, WGMMA: true})
	}
	for _, b := range []struct{ bm, bn, warpM, warpN, stages int }{{256, 128, 4, 2, 4}, {128, 256, 2, 4, 4}, {128, 128, 2, 2, 3}} {
		addGEMM(f, GEMMConfig{BM: b.bm, BN: b.bn, BK: 64, WarpM: b.warpM, WarpN: b.warpN, Stages: b.stages, Group: 8, Sync: TMALoads})
	}
	return f
}

// addGEMM adds the member of the family with the configuration, which its name tells.
func addGEMM(f *Family, g GEMMConfig) {
	config := fmt.Sprintf("%dx%dx%d_w%dx%d_s%d", g.BM, g.BN, g.BK, g.WarpM, g.WarpN, g.Stages)
	if g.CacheAlways {
		config += "_l1"
	}
	if g.OneAddress {
		config += "_one"
	}
	if g.Sync == TMALoads {
		config += map[bool]string{true: "_wgmma", false: "_tma"}[g.WGMMA]
	}
	f.Add(config, func() *Kernel { return GEMM[elem.F16, elem.F16]("gemm_"+config, g) })
}
