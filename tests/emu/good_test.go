package emu_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/emu"
	"github.com/gocute/gocute/gen/cir"
	"github.com/gocute/gocute/kernels"
)

// sizes are those at which nothing may be found in a kernel of the library, by its name.
var sizes = map[string][]dims{
	"gemm_f16":     {{"M": 130, "N": 70, "K": 72}, {"M": 1, "N": 1, "K": 8}},
	"gemm_f16_out": {{"M": 72, "N": 130, "K": 136}},
	"gemm_bf16":    {{"M": 70, "N": 136, "K": 200}},
	"row_sums":     {{"M": 9, "N": 600}, {"M": 1, "N": 1}},
	"column_sums":  {{"M": 130, "N": 70}},
	"multi_stage":  {{"K": 8}, {"K": 136}},
}

// sizesOf are a kernel's sizes; nil stands for the defaults.
func sizesOf(name string) []dims {
	if s := sizes[name]; s != nil {
		return s
	}
	return []dims{nil}
}

// TestGood: no kernel of the library raises anything, and each gives the same bytes under every schedule.
func TestGood(t *testing.T) {
	seeds := uint64(20)
	if testing.Short() {
		seeds = 3
	}
	for _, lib := range kernels.Library() {
		t.Run(lib.Name(), func(t *testing.T) {
			t.Parallel()
			k := lowered(lib)
			for _, d := range sizesOf(lib.Name()) {
				var first map[string][]uint64
				for seed := range seeds {
					args := arguments(t, k, d)
					rep, err := emu.Run(context.Background(), k, args, emu.Options{Seed: seed})
					require.NoError(t, err)
					require.NoError(t, rep.Err())
					require.Empty(t, rep.Unwritten)
					if out := outputs(k, args); seed == 0 {
						first = out
					} else {
						require.Equal(t, first, out, "schedule %d", seed)
					}
				}
			}
		})
	}
}

// TestGoodRing: a pipeline with mbarriers is found to be right, however its warps drift apart.
func TestGoodRing(t *testing.T) {
	k := goodRing()
	var first map[string][]uint64
	for seed := range uint64(20) {
		args := arguments(t, k, dims{"K": 160})
		rep, err := emu.Run(context.Background(), k, args, emu.Options{Seed: seed})
		require.NoError(t, err)
		require.NoError(t, rep.Err())
		if out := outputs(k, args); seed == 0 {
			first = out
		} else {
			require.Equal(t, first, out, "schedule %d", seed)
		}
	}
}

func outputs(k *cir.Kernel, args emu.Args) map[string][]uint64 {
	out := map[string][]uint64{}
	for _, p := range k.Params {
		if p.Class == cir.Pointer && p.Write {
			out[p.Name] = args[p.Name].(*emu.Buffer).Cells
		}
	}
	return out
}
