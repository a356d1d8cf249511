package selftest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/check"
	"github.com/gocute/gocute/kernels/selftest"
)

// TestInTheEmulator runs every instruction: each register of each lane is what its row's layouts predict, by the ISA's
// own lane formulas.
func TestInTheEmulator(t *testing.T) {
	tests, err := selftest.Everything()
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, x := range tests {
		require.False(t, seen[x.Atom], x.Atom)
		seen[x.Atom] = true
		res, err := check.Run(t.Context(), x.Kernel, check.Args{Tensors: x.Inputs}, check.Options{On: check.CPU})
		require.NoError(t, err, x.Atom)
		require.NoError(t, res.Err(), x.Atom)
	}
	for _, name := range selftest.Names() {
		require.True(t, seen[name] != (selftest.WhyNot(name) != ""), "%s has neither a test nor a reason, or both", name)
	}
	t.Logf("%d instructions", len(tests))
}
