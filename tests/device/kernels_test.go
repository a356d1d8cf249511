package device

import (
	"context"
	"fmt"
	"os"
	"testing"

	"example.com/tf32gemm"
	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/check"
	"github.com/gocute/gocute/kernels"
)

// TestKernels runs every kernel of the library, and one from another module, on the GPU against its own reference,
// through the cubin and through PTX.
func TestKernels(t *testing.T) {
	open(t)
	dims := []map[string]int64{
		{"M": 200, "N": 100, "K": 48}, {"M": 1, "N": 1, "K": 8}, {"M": 97, "N": 161, "K": 104}, {"M": 300, "N": 257, "K": 520},
	}
	list := append(kernels.Library(), tf32gemm.GEMM())
	for _, k := range list {
		for _, ptx := range []bool{false, true} {
			if ptx && os.Getenv("GOCUTE_TEST_SMALL") != "" {
				continue
			}
			t.Run(fmt.Sprintf("%s/%s", k.Name(), map[bool]string{false: "cubin", true: "ptx"}[ptx]), func(t *testing.T) {
				for i, d := range dims {
					mine := map[string]int64{}
					for _, p := range k.IR().Params {
						if v, ok := d[p.Name]; ok && p.Sym != nil {
							m := max(p.Sym.Multiple, 1)
							mine[p.Name] = (v + m - 1) / m * m
						}
					}
					res, err := check.Run(context.Background(), k, check.Args{Dims: mine, Seed: int64(i)}, check.Options{On: check.GPU, ForcePTX: ptx})
					require.NoError(t, err)
					require.NoError(t, res.Err())
					if len(mine) == 0 {
						break
					}
				}
			})
		}
	}
}
