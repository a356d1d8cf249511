package device

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/build"
	"github.com/gocute/gocute/gen"
	"github.com/gocute/gocute/kernels"
)

// TestCompileTime holds nvcc to a second for each kernel of the library and architecture, nothing else running: the
// median of three compilations, from the source to the cubin.
func TestCompileTime(t *testing.T) {
	open(t)
	tools, err := build.Find(t.Context(), build.Options{NoInstall: true})
	require.NoError(t, err)
	tools.CacheDir = t.TempDir()
	var table, slow []string
	for _, k := range kernels.Library() {
		made, err := gen.Generate(k, gen.Options{})
		require.NoError(t, err)
		archs, _ := build.ArchsOf(made.Kernel.Arch, made.Kernel.Exactly)
		for _, arch := range archs {
			src := build.Source{Name: k.Name(), Code: made.CUDA, Archs: []string{arch}, PTXArchs: []string{}, NoCache: true}
			front, back, both := []float64{}, []float64{}, []float64{}
			for range 3 {
				res, err := tools.Compile(t.Context(), src)
				require.NoError(t, err)
				require.Truef(t, res.PTX[0].Prelude, "%s needs the toolkit's headers", k.Name())
				front, back = append(front, res.PTX[0].Seconds), append(back, res.Binaries[0].Seconds)
				both = append(both, res.Seconds())
			}
			for _, s := range [][]float64{front, back, both} {
				slices.Sort(s)
			}
			line := fmt.Sprintf("%-26s %-6s front end %.2f  ptxas %.2f  both %.2f s (%.2f to %.2f)", k.Name(), arch, front[1], back[1], both[1], both[0], both[2])
			table = append(table, line)
			if both[1] > 1 {
				slow = append(slow, line)
			}
		}
	}
	t.Logf("\n%s", strings.Join(table, "\n"))
	require.Empty(t, slow, "expected at most a second")
}
