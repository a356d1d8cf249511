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
	for _, n := range []int64{512, 1024, 2048, 4096, 8192} {
		f.Shapes = append(f.Shapes, map[string]int64{"M": n, "N": n, "K": n})
	}
	for _, b := range []struct{ bm, bn, bk, warpM, warpN int }{
		{64, 64, 128, 2, 2}, {64, 128, 64, 2, 2}, {64, 128, 128, 1, 4}, {128, 64, 128, 2, 2}, {128, 64, 64, 2, 2}, {128, 128, 32, 2, 2}, {128, 128, 64, 2, 2},
		{128, 128, 64, 2, 4}, {128, 256, 64, 2, 4}, {256, 128, 64, 4, 2}, {64, 256, 64, 1, 4}, {256, 64, 64, 4, 1},
	} {
		for stages := 3; stages <= 5; stages++ {
			g := GEMMConfig{BM: b.bm, BN: b.bn, BK: b.bk, WarpM: b.warpM, WarpN: b.warpN, Stages: stages, Group: 8}
			config := fmt.Sprintf("%dx%dx%d_w%dx%d_s%d", g.BM, g.BN, g.BK, g.WarpM, g.WarpN, g.Stages)
			f.Add(config, func() *Kernel { return GEMM[elem.F16, elem.F16]("gemm_"+config, g) })
		}
	}
	return f
}
