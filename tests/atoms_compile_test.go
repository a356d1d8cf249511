package tests

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/build"
	"github.com/gocute/gocute/gen"
	"github.com/gocute/gocute/kernels/selftest"
)

// TestIncludeIsCurrent fails where out/include is not what the atoms' tables make; UPDATE=1 writes it.
func TestIncludeIsCurrent(t *testing.T) {
	const dir = "../out/include"
	headers, err := gen.AtomHeaders()
	require.NoError(t, err)
	again, err := gen.AtomHeaders()
	require.NoError(t, err)
	require.Equal(t, headers, again)
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.RemoveAll(dir))
		for name, data := range headers {
			require.NoError(t, gen.WriteFile(filepath.Join(dir, name), data))
		}
	}
	for name, data := range headers {
		got, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err, "run make generate")
		require.True(t, bytes.Equal(got, data), "out/include/%s is stale: run make generate", name)
	}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		require.Contains(t, headers, filepath.ToSlash(rel), "nothing generates it")
		return err
	})
	require.NoError(t, err)
}

// TestEveryAtomCompiles puts the self-tests of all atoms that an architecture has into one file and compiles it, with
// the wrappers of out/include: no spills, no stack.
func TestEveryAtomCompiles(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles for several architectures")
	}
	tc := tools(t)
	list, err := selftest.Everything()
	require.NoError(t, err)
	for _, arch := range []int{75, 80, 89, 90} {
		var code bytes.Buffer
		var names []string
		for _, x := range list {
			if x.Arch <= arch {
				o, err := gen.Generate(x.Kernel, gen.Options{Header: true})
				require.NoError(t, err)
				code.Write(o.CUDA)
				names = append(names, o.Name)
			}
		}
		name := fmt.Sprintf("sm_%d", arch)
		res, err := tc.Compile(t.Context(), build.Source{Name: "atoms_" + name, Code: code.Bytes(), IncludeDirs: []string{"../out/include"}, Archs: []string{name}})
		require.NoError(t, err)
		for _, b := range res.Binaries {
			require.Empty(t, b.Report.Warnings, name)
			for _, k := range names {
				r, ok := b.Report.Kernel(k)
				require.True(t, ok, "%s for %s: no report", k, name)
				require.False(t, r.Spills(), "%s for %s spills", k, name)
				require.Zero(t, r.StackFrame, "%s for %s has a stack", k, name)
			}
		}
		t.Logf("%s: %d atoms", name, len(names))
	}
}
