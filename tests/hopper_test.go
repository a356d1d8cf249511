package tests

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/build"
	"github.com/gocute/gocute/gen/lower"
)

// inline is a kernel of one asm statement.
func inline(out *bytes.Buffer, name, ptx string) {
	fmt.Fprintf(out, "extern \"C\" __global__ void %s() {\n  asm volatile(", name)
	for line := range strings.Lines(ptx) {
		fmt.Fprintf(out, "\n    \"%s\\n\"", strings.TrimSpace(line))
	}
	out.WriteString(" ::: \"memory\");\n}\n")
}

// TestHopperAssembles: ptxas takes every wgmma instruction of the smallest, the largest and two common N, for each type,
// source and major, and every bulk and tensor copy.
func TestHopperAssembles(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles for sm_90a")
	}
	var code bytes.Buffer
	rows := atoms.AllGMMA(8, 64, 128, 256)
	for i, row := range rows {
		ptx, err := lower.GMMAStatement(row)
		require.NoError(t, err)
		inline(&code, fmt.Sprintf("gmma%d", i), ptx)
	}
	copies := 0
	for _, kind := range atoms.BulkKinds() {
		row, err := atoms.Bulk(kind, 4096)
		require.NoError(t, err)
		dims := 5
		if !strings.Contains(row.PTX, ".2d.") {
			dims = 1
		}
		for d := range dims {
			ptx, err := lower.BulkStatement(row, d+1)
			require.NoError(t, err)
			inline(&code, fmt.Sprintf("bulk%d", copies), ptx)
			copies++
		}
	}
	tc := tools(t)
	res, err := tc.Compile(t.Context(), build.Source{Name: "hopper", Code: code.Bytes(), Archs: []string{"sm_90a"}})
	require.NoError(t, err)
	require.Len(t, res.Binaries, 1)
	t.Logf("%d wgmma instructions and %d copies", len(rows), copies)
}

func TestHopperRefuses(t *testing.T) {
	row, _ := atoms.FindMMA("SM80_16x8x16_F32F16F16F32_TN")
	_, err := lower.GMMAStatement(row)
	require.EqualError(t, err, "expects a wgmma instruction, but got SM80_16x8x16_F32F16F16F32_TN")
	load, err := atoms.Bulk("SM90_TMA_LOAD", 4096)
	require.NoError(t, err)
	_, err = lower.BulkStatement(load, 6)
	require.EqualError(t, err, "expects a bulk copy of 1 to 5 dimensions, but got SM90_TMA_LOAD<4096> of 6")
}
