package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/gen"
	"github.com/gocute/gocute/gen/cir"
	"github.com/gocute/gocute/gen/golaunch"
)

// TestReadGenerated: a package tells what its kernel is compiled for.
func TestReadGenerated(t *testing.T) {
	for _, c := range []struct {
		arch    int
		exactly bool
		archs   []string
		ptx     string
	}{{80, false, []string{"sm_80", "sm_90"}, "compute_80"}, {90, false, []string{"sm_90"}, "compute_90"}, {90, true, []string{"sm_90a"}, "compute_90a"}} {
		k := &cir.Kernel{Name: "k", Threads: 32, Arch: c.arch, Exactly: c.exactly, SmemBytes: 64, Grid: [3]sym.Expr{sym.Int(1)}}
		launcher, err := golaunch.Print(k, golaunch.Options{})
		require.NoError(t, err)
		dir := t.TempDir()
		require.NoError(t, gen.WriteFile(filepath.Join(dir, "k.go"), launcher))
		require.NoError(t, gen.WriteFile(filepath.Join(dir, "k.cu"), []byte("// k\n")))
		g := readGenerated("k", dir)
		require.NotNil(t, g)
		require.Equal(t, []any{"k", c.arch, c.exactly, 64}, []any{g.name, g.arch, g.exactly, g.shared})
		u := &unit{arch: g.arch, exactly: g.exactly}
		require.Equal(t, c.archs, u.archs())
		require.Equal(t, c.ptx, u.ptx())
	}
}
