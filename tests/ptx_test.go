package tests

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/check"
	"github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/gen"
	"github.com/gocute/gocute/kernels"
)

func TestLibraryPTX(t *testing.T) {
	for _, k := range kernels.Library() {
		t.Run(k.Name(), func(t *testing.T) {
			c, err := gen.Lower(k)
			require.NoError(t, err)
			files, _ := filepath.Glob("/work/main/out/" + k.Name() + "/bin/*.ptx")
			code, err := os.ReadFile(files[0])
			require.NoError(t, err)
			r, err := check.RunPTX(context.Background(), c, files[0], code, check.Args{Dims: small(k)}, 0)
			require.NoError(t, err)
			for _, f := range r.Findings {
				line, _ := r.Line(f.PC)
				t.Error(fmt.Sprintf("%s:%d: %s: %s (thread %d)", filepath.Base(files[0]), line, f.Check, f.Message, f.Thread))
			}
			for _, d := range r.Differ {
				t.Errorf("%+v", d)
			}
			t.Log(r.Steps, r.CIR.Elapsed)
		})
	}
}

// small are dims that keep kernels quick whose blocks share sums or are many.
func small(k *dsl.Kernel) map[string]int64 {
	dims := map[string]int64{}
	for _, p := range k.IR().Params {
		switch p.Name {
		case "splits", "L":
			dims[p.Name] = 2
		}
	}
	return dims
}
