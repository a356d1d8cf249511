package tests

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/build"
	"github.com/gocute/gocute/check"
	"github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/gen"
	"github.com/gocute/gocute/kernels"
)

// TestLibraryPTX runs the PTX that nvcc makes of each library kernel beside its C IR, on the same data: nothing is found, and
// the outputs are equal bit for bit. Where the PTX has an approximate function (ex2.approx, rcp.approx), elements may differ by
// two in the last place.
func TestLibraryPTX(t *testing.T) {
	tc, err := build.Find(t.Context(), build.Options{Progress: t.Output()})
	require.NoError(t, err)
	for _, k := range kernels.Library() {
		t.Run(k.Name(), func(t *testing.T) {
			out, err := gen.Generate(k, gen.Options{})
			require.NoError(t, err)
			_, arch := build.ArchsOf(out.Kernel.Arch, out.Kernel.Exactly)
			res, err := tc.Compile(t.Context(), build.Source{Name: k.Name(), Code: out.CUDA, Archs: []string{}, PTXArchs: []string{arch}})
			require.NoError(t, err)
			code := res.PTX[0].Code
			for seed := range uint64(2) {
				r, err := check.RunPTX(t.Context(), out.Kernel, k.Name()+".ptx", code, check.Args{Dims: ragged(k)}, seed)
				require.NoError(t, err)
				for _, f := range r.Findings {
					line, _ := r.Line(f.PC)
					t.Errorf("%s.ptx:%d: %s: %s (thread %d)", k.Name(), line, f.Check, f.Message, f.Thread)
				}
				most := int64(0)
				if strings.Contains(string(code), ".approx") {
					most = 2
				}
				for _, d := range r.Differ {
					require.LessOrEqual(t, d.MostULPs, most, fmt.Sprintf("%+v", d))
				}
			}
		})
	}
}

// ragged are dims that leave tails, and few of what only repeats.
func ragged(k *dsl.Kernel) map[string]int64 {
	dims := map[string]int64{}
	for _, p := range k.IR().Params {
		if p.Sym == nil {
			continue
		}
		switch p.Name {
		case "splits", "L":
			dims[p.Name] = 2
		case "M", "N", "K":
			dims[p.Name] = 152 // a multiple of 8 that no tile divides
		}
		if m := max(p.Sym.Multiple, 1); dims[p.Name]%m != 0 {
			dims[p.Name] = (dims[p.Name] + m - 1) / m * m
		}
	}
	return dims
}

// TestChangedPTX changes an instruction, which shows.
func TestChangedPTX(t *testing.T) {
	tc, err := build.Find(t.Context(), build.Options{Progress: t.Output()})
	require.NoError(t, err)
	k := kernels.Copy4x32()
	out, err := gen.Generate(k, gen.Options{})
	require.NoError(t, err)
	res, err := tc.Compile(t.Context(), build.Source{Name: k.Name(), Code: out.CUDA, Archs: []string{}, PTXArchs: []string{"compute_80"}})
	require.NoError(t, err)
	code := string(res.PTX[0].Code)
	for _, c := range [][2]string{{"and.b32", "or.b32"}, {"{%f1, %f2, %f3, %f4}", "{%f2, %f1, %f3, %f4}"}, {"st.global.v4.f32", "ld.global.v4.f32"}} {
		changed := strings.Replace(code, c[0], c[1], 1)
		require.NotEqual(t, code, changed, c[0])
		r, err := check.RunPTX(t.Context(), out.Kernel, "changed.ptx", []byte(changed), check.Args{}, 0)
		if err == nil {
			require.NotZero(t, len(r.Findings)+len(r.Differ), "%v", c)
		}
	}
}
