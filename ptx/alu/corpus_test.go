package alu

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/ptx"
)

// elsewhere are the opcodes of memory, control flow and what lies between lanes.
var elsewhere = strings.Fields("atom bar barrier bra call cp cvta elect fence griddepcontrol ld ldmatrix mapa mbarrier membar mma red redux ret " +
	"shfl st stmatrix trap vote wgmma")

// TestGeneratedKernels compiles every instruction of the PTX of the library's kernels, where it has been built.
func TestGeneratedKernels(t *testing.T) {
	files, err := filepath.Glob("../../out/*/bin/*.ptx")
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skip("no PTX in out: run gocute build ./kernels")
	}
	unknown, compiled := map[string]bool{}, 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		m, err := ptx.Parse(file, text)
		require.NoError(t, err)
		for _, f := range m.Funcs {
			for i := range f.Body {
				_, ok, err := Compile(f, &f.Body[i])
				require.NoError(t, err, "%s:%d", file, f.Body[i].Line)
				if !ok {
					unknown[f.Body[i].Words[0]] = true
				}
				compiled += int(truth(ok))
			}
		}
	}
	t.Logf("%d arithmetic instructions in %d files; others: %v", compiled, len(files), slices.Sorted(maps.Keys(unknown)))
	for op := range unknown {
		require.Contains(t, elsewhere, op)
	}
	require.Greater(t, compiled, 1000)
}

// benchmark runs an instruction on all lanes of a warp and reports the time of one.
func benchmark(b *testing.B, text string, mask uint32) {
	op := compile(b, text)
	in, out := make([]*Lanes, len(op.In)), make([]*Lanes, len(op.Out))
	for i := range in {
		in[i] = new(Lanes)
		for j := range in[i] {
			in[i][j] = uint64(0x3f800000 + 12345*i + 777*j)
		}
	}
	for i := range out {
		out[i] = new(Lanes)
	}
	b.Run(strings.Fields(text)[0], func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			op.Run(in, out, mask)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/Warp, "ns/lane")
	})
	one, results := make([]uint64, len(in)), make([]uint64, len(out))
	for i := range in {
		one[i] = in[i][0]
	}
	b.Run(strings.Fields(text)[0]+"/Eval", func(b *testing.B) {
		for b.Loop() {
			op.Eval(one, results)
		}
	})
}

func BenchmarkLanes(b *testing.B) {
	for _, text := range []string{"add.s32 b32_0, b32_1, b32_2;", "fma.rn.f32 f32_0, f32_1, f32_2, f32_3;", "cvt.rn.f16x2.f32 b32_0, f32_1, f32_2;",
		"setp.lt.s32 pred_0, b32_1, b32_2;", "setp.lt.f32 pred_0, f32_1, f32_2;", "mov.b32 b32_0, b32_1;", "mul.f32 f32_0, f32_1, f32_2;",
		"fma.rn.f16x2 f16x2_0, f16x2_1, f16x2_2, f16x2_3;", "ex2.approx.ftz.f32 f32_0, f32_1;", "add.rz.f64 f64_0, f64_1, f64_2;"} {
		benchmark(b, text, 1<<Warp-1)
	}
}

func BenchmarkCompile(b *testing.B) {
	f := parse(b, "setp.lt.and.ftz.f32 pred_0, f32_1, f32_2, !pred_1;")
	for b.Loop() {
		if _, ok, err := Compile(f, &f.Body[0]); !ok || err != nil {
			b.Fatal(err)
		}
	}
}
