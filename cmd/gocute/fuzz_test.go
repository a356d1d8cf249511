package main

import (
	"bytes"
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra/calc"
)

const (
	fuzzTime   = 10 * time.Second // that one input may take, on a busy machine too
	fuzzMemory = 1 << 30          // bytes that it may allocate altogether
)

// bounded runs the command on arguments that write no files: no panic, no hang, no more memory than there should be, and
// an error wherever the status is not 0.
func bounded(t *testing.T, args ...string) (stdout string, ok bool) {
	ctx, cancel := context.WithTimeout(t.Context(), fuzzTime)
	defer cancel()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var out, errs bytes.Buffer
	status := run(ctx, t.TempDir(), args, &out, &errs)
	runtime.ReadMemStats(&after)
	require.NoError(t, ctx.Err(), "%q took longer than %v", args, fuzzTime)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(fuzzMemory), "%q", args)
	require.NotContains(t, errs.String(), "internal error", "%q", args)
	require.Equal(t, status != 0, errs.Len() > 0, "%q: %s", args, &errs)
	require.Contains(t, []int{0, 1, 2}, status)
	return out.String(), status == 0
}

// FuzzEvalArgs: what gocute eval prints reads as the same again, and a line of its standard input gives one line.
func FuzzEvalArgs(f *testing.F) {
	for _, s := range []string{"(4,8):(8,1)", "A=(8,64):(64,1); zipped_divide(A,(4,8))", "-1*4", "-M", "--", "-", "((((", "print_layout((4,8):(8,1))",
		"size((1000000,1000000):(1,1))", "Sw<3,3,3> o 0 o (8,64):(64,1)", "9223372036854775807+1", "\x00", "a\nb", "1,é", "tile_to_shape((8,8):(8,1),(64,1000000000))"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if s == "-" { // standard input
			t.Skip()
		}
		out, ok := bounded(t, "eval", "--", s)
		var lines bytes.Buffer
		require.NoError(t, evalLines(strings.NewReader(strings.ReplaceAll(s, "\n", " ")+"\n"), &lines))
		require.Equal(t, 1, strings.Count(lines.String(), "\n"), "%q: %q", s, &lines)
		if !ok {
			return
		}
		v, err := calc.Eval(s)
		require.NoError(t, err)
		switch v.(type) {
		case calc.Picture, calc.Cover, calc.Bool: // no literals
			return
		}
		again, ok := bounded(t, "eval", "--", strings.TrimSuffix(out, "\n"))
		require.True(t, ok, "%q gives %q, which is refused", s, out)
		require.Equal(t, out, again, "%q", s)
	})
}

// FuzzFindArgs: a layout that was found reads again.
func FuzzFindArgs(f *testing.F) {
	for _, s := range [][3]string{{"(64,64):(64,1)", "f16", ""}, {"(64,64):(1000000000000,1)", "f16", ""}, {"(64,64):(64,1)", "f16", "((8,16),8):((512,1),64)"},
		{"(8,7264):(7264,1)", "f32", ""}, {"(64,64):(9223372036854775807,1)", "e4m3", ""}, {"(8,8):(1,8)", "f64", "(8,8):(8,1)"}, {"(M,8):(8,1)", "f16", ""},
		{"128,64", "f16", ""}, {"", "", ""}} {
		f.Add(s[0], s[1], s[2])
	}
	f.Fuzz(func(t *testing.T, layout, kind, stores string) {
		args := []string{"--type=" + kind, "--ldmatrix"}
		if stores != "" {
			args = append(args, "--stores="+stores)
		}
		for _, what := range []string{"swizzle", "padding"} {
			out, ok := bounded(t, append(append([]string{"find", what}, args...), "--", layout)...)
			if !ok {
				continue
			}
			first, _, _ := strings.Cut(out, "\n")
			_, err := calc.Eval(first)
			require.NoError(t, err, "%q gives %q", layout, first)
		}
		bounded(t, "find", "copy", "--type="+kind, "--", layout)
	})
}

// FuzzShowArgs: a picture is whole.
func FuzzShowArgs(f *testing.F) {
	for _, s := range [][2]string{{"(4,8):(8,1)", "4,32"}, {"((8,4),4):((16,1),4)", "4,32"}, {"(1000000,1000000):(1,1)", "1000000,1000000"},
		{"Sw<3,3,3> o 0 o (8,64):(64,1)", "8,64"}, {"(32768,1):(1,1)", "1"}, {"(256,128):(9223372036854775,1)", "(256,128)"}, {"4:1@0", "_"}, {"", ""}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, layout, tile string) {
		for _, args := range [][]string{{"layout", "--", layout}, {"tv", "--", layout, tile}, {"smem", "--", layout},
			{"copy", "--elem=f32", "--thr=" + layout, "--val=" + tile, "--", "UniversalCopy<u128>"},
			{"tiled-mma", "--warps=" + layout, "--tile=" + tile, "--", "SM80_16x8x16_F32F16F16F32_TN"}} {
			if out, ok := bounded(t, append([]string{"show"}, args...)...); ok {
				require.True(t, strings.HasSuffix(strings.TrimSpace(out), "</svg>"), "%q", args)
			}
		}
	})
}
