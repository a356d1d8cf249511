package main

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// outcome is what a run of the command did.
type outcome struct {
	status         int
	stdout, stderr string
}

// gocute runs the command in a folder.
func gocute(t *testing.T, dir string, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status := run(t.Context(), dir, args, &stdout, &stderr)
	return outcome{status, stdout.String(), stderr.String()}
}

// ok asserts success.
func (o outcome) ok(t *testing.T) outcome {
	t.Helper()
	require.Zero(t, o.status, "%s%s", o.stdout, o.stderr)
	return o
}

// fails asserts failure with exactly these lines on standard error.
func (o outcome) fails(t *testing.T, status int, stderr string) {
	t.Helper()
	require.Equal(t, stderr, o.stderr, "%s", o.stdout)
	require.Equal(t, status, o.status)
}

// repository is the root of gocute's own module.
func repository(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	return root
}

// writeFiles writes files by path below a folder.
func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
}

// tree lists the files below a folder with their contents.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil || d.IsDir() {
			out[rel+"/"] = ""
			return err
		}
		data, err := os.ReadFile(path)
		out[rel] = string(data)
		return err
	}))
	return out
}

// names are the files of a tree.
func names(tree map[string]string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(tree)), func(n string) bool { return n[len(n)-1] == '/' })
}

// foreign makes a module of a user's, with the files and kernel packages given by text, and returns its folder.
func foreign(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	t.Setenv("GOWORK", "")
	t.Setenv("GOFLAGS", "")
	writeFiles(t, dir, map[string]string{"go.mod": foreignMod(t, "example.com/user"), "go.sum": foreignSum})
	writeFiles(t, dir, files)
	return dir
}

// foreignMod is what go mod tidy makes for a module that imports dsl.
func foreignMod(t *testing.T, path string) string {
	return "module " + path + "\n\ngo 1.26.0\n\nrequire github.com/gocute/gocute v0.0.0\n\n" +
		"require github.com/x448/float16 v0.8.4 // indirect\n\nreplace github.com/gocute/gocute => " + repository(t) + "\n"
}

const foreignSum = `github.com/x448/float16 v0.8.4 h1:qLwI1I70+NjRFUR3zs1JPUCgaCXSh3SW62uAKT1mSBM=
github.com/x448/float16 v0.8.4/go.mod h1:14CWIYCyZA/cWjXOioeEpHeN/83MdbZDRQHoFcYsOfg=
`

// scale is a kernel package of a user's: gap is the distance of the output's rows, and body is put before the
// loads.
const scale = `package scale

import (
	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// Scale multiplies by a scalar.
func Scale() *dsl.Kernel { return scaled("scale") }

func scaled(name string) *dsl.Kernel {
	return dsl.Define(name, func(k *dsl.K) {
		m := k.Dim("M", dsl.Multiple(4), dsl.AtMost(4096))
		src := dsl.In[elem.F32](k, "A", dsl.Shape(m, 32).Strides(32, 1))
		dst := dsl.Out[elem.F32](k, "B", dsl.Shape(m, 32).Strides(40, 1))
		alpha := dsl.Scalar[elem.F32](k, "alpha")
		k.Threads(32)
		k.Grid(m.CeilDiv(4))
		thr, val := dsl.Shape(4, 8).Strides(8, 1), dsl.Shape(1, 4).Strides(4, 1)
		load := dsl.NewTiledCopy[elem.F32](atoms.UniversalCopy[dsl.Gmem, dsl.Rmem](128), thr, val)
		t := load.Slice(k.Thread).PartitionS(src.Tile(dsl.Tile(4, 32), k.BlockX, 0))
		frag := dsl.FragmentLike(t)
		dsl.Copy(load, t, frag)
		dsl.Store(frag, load.Slice(k.Thread).PartitionS(dst.Tile(dsl.Tile(4, 32), k.BlockX, 0)), func(x, _ dsl.Val[elem.F32]) dsl.Val[elem.F32] {
			return x.Mul(alpha)
		})
		dsl.Expect(dst, 0, func(r *dsl.Ref) func(at []int64) float64 {
			a, al := r.Tensor("A"), r.Scalars["alpha"]
			return func(at []int64) float64 { return a.At(at...) * al }
		})
	})
}

// Helper is no kernel, for it takes an argument.
func Helper(name string) *dsl.Kernel { return scaled(name) }
`
