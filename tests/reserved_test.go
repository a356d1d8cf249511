package tests

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen"
)

// TestHelpersAreReserved: no argument may be called as a function of the emitted code, and no integer is.
func TestHelpersAreReserved(t *testing.T) {
	header, err := os.ReadFile("../out/include/gocute/gocute.cuh")
	require.NoError(t, err)
	names := regexp.MustCompile(`(?m)^(?:static )?__device__ __forceinline__ [\w ]+[ *&](\w+)\(`).FindAllStringSubmatch(string(header), -1)
	require.Greater(t, len(names), 100)
	for _, n := range names {
		k := Define("word", func(k *K) {
			k.Dim(n[1])
			k.Threads(32)
		})
		require.ErrorContains(t, k.Err(), "is used by the emitted code itself", n[1])
		k = Define("word", func(k *K) {
			y := Out[elem.S32](k, "y", Shape(64))
			k.Threads(32)
			y.At(k.Opaque(n[1], k.Thread))
		})
		out, err := gen.Generate(k, gen.Options{})
		require.NoError(t, err)
		require.NotRegexp(t, `int `+n[1]+`\b`, string(out.CUDA))
	}
}
