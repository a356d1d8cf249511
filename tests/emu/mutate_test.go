package emu_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/check"
	"github.com/gocute/gocute/kernels"
)

// TestMutants: of a kernel of the library, no barrier, wait or predicate can be taken away without being caught.
func TestMutants(t *testing.T) {
	k := kernels.MultiStage()
	verdicts, err := check.Mutate(t.Context(), k, []check.Args{{Dims: dims{"K": 136}}, {Dims: dims{"K": 8}}, {Dims: dims{"K": 24}}})
	require.NoError(t, err)
	table, _ := check.MutantTable(verdicts)
	t.Logf("\n%s", table)
	for _, v := range verdicts {
		if strings.HasSuffix(v.What, "barrier removed") || strings.HasSuffix(v.What, "wait removed") {
			require.NotEmpty(t, v.Caught, "%v", v)
		}
	}
}
