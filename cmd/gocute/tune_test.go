package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/build"
	"github.com/gocute/gocute/cuda"
	"github.com/gocute/gocute/cuda/tuned"
	"github.com/gocute/gocute/tune"
)

// copies is a package with a family: copies in blocks of 4, 8 and 64 rows, of which the last is too many threads, and
// a candidate that is a mistake.
const copies = `package copies

import (
	"fmt"

	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// Copies copies rows of 32.
func Copies() *dsl.Family {
	f := &dsl.Family{Name: "copies", Shapes: []map[string]int64{{"M": 64}, {"M": 1000}}}
	for _, rows := range []int{4, 8, 256} {
		f.Add(fmt.Sprintf("r%d", rows), func() *dsl.Kernel { return rowCopy(fmt.Sprintf("copy_r%d", rows), rows) })
	}
	return f
}

func rowCopy(name string, rows int) *dsl.Kernel {
	return dsl.Define(name, func(k *dsl.K) {
		m := k.Dim("M", dsl.Multiple(4))
		src := dsl.In[elem.F32](k, "A", dsl.Shape(m, 32).Strides(32, 1))
		dst := dsl.Out[elem.F32](k, "B", dsl.Shape(m, 32).Strides(32, 1))
		k.Threads(rows * 8)
		k.Grid(m.CeilDiv(rows))
		thr, val := dsl.Shape(rows, 8).Strides(8, 1), dsl.Shape(1, 4).Strides(4, 1)
		load := dsl.NewTiledCopy[elem.F32](atoms.UniversalCopy[dsl.Gmem, dsl.Rmem](128), thr, val)
		store := dsl.NewTiledCopy[elem.F32](atoms.UniversalCopy[dsl.Rmem, dsl.Gmem](128), thr, val)
		t := load.Slice(k.Thread).PartitionS(src.Tile(dsl.Tile(rows, 32), k.BlockX, 0))
		frag := dsl.FragmentLike(t)
		dsl.Copy(load, t, frag)
		dsl.Copy(store, frag, store.Slice(k.Thread).PartitionD(dst.Tile(dsl.Tile(rows, 32), k.BlockX, 0)))
		dsl.Expect(dst, 0, func(r *dsl.Ref) func(at []int64) float64 {
			a := r.Tensor("A")
			return func(at []int64) float64 { return a.At(at...) }
		})
	})
}
`

func TestTuneDryRun(t *testing.T) {
	dir := foreign(t, map[string]string{"copies/copies.go": copies})
	o := gocute(t, dir, "tune", "copies", "./copies", "--dry-run", "--arch", "sm_90").ok(t)
	require.Equal(t, `copies for NVIDIA H200 (sm_90)
CONFIG  THREADS  SMEM  FRAGMENTS  REGISTERS  BLOCKS/SM  LEFT OUT FOR
r4      32       0     0          ?          ?
r8      64       0     0          ?          ?
r256    0        0     0          ?          ?          refused: copies/copies.go:25: copy_r256: Threads: expects 1 to 1024 threads, but got 2048 (and 2 more)
2 of 3 candidates are worth measuring
M=64
M=1000
`, o.stdout)
	o = gocute(t, dir, "tune", "Copies", "./copies", "--dry-run", "--arch=sm_80", "-set", "M=8").ok(t)
	require.Contains(t, o.stdout, "copies for NVIDIA A100 (sm_80)\n")
	require.True(t, strings.HasSuffix(o.stdout, "measuring\nM=8\n"), o.stdout)
	o = gocute(t, dir, "tune", "copies", "./copies", "--dry-run", "--arch=sm_80", "--shape", "M=4", "--shape", "M=12").ok(t)
	require.True(t, strings.HasSuffix(o.stdout, "measuring\nM=4\nM=12\n"), o.stdout)
	require.NotContains(t, names(tree(t, dir)), "copies.tune.json")

	gocute(t, dir, "tune", "copie", "./copies", "--dry-run", "--arch=sm_80").fails(t, 1, "there is no family copie; did you mean Copies or copies?\n")
	gocute(t, dir, "tune", "gemm", "./copies", "--dry-run", "--arch=sm_80").fails(t, 1, "there is no family gemm; there are Copies, copies\n")
	gocute(t, dir, "tune", "copies", "./copies", "--dry-run", "--arch=sm_80", "-set", "N=8").fails(t, 1, "copy_r4: there is no dim or scalar N: expected one of M\n")
	gocute(t, dir, "tune", "copies", "./copies", "--dry-run", "--arch=sm_70").fails(t, 1,
		"--arch: expected one of the architectures sm_80, sm_86, sm_89, sm_90, but got \"sm_70\"\n")
	gocute(t, dir, "tune", "copies", "./copies", "--dry-run", "--arch=sm_80", "--shape", "M").fails(t, 2, "gocute: --shape M: expected NAME=VALUE,…, but got \"M\"\n")
	gocute(t, dir, "tune", "copies", "./copies", "--dry-run", "--arch=sm_80", "-set", "M=6").fails(t, 1,
		"tune: copies: no candidate takes these sizes: copy_r4: M = 6: must be a multiple of 4\n")
	gocute(t, dir, "gen", "./copies").fails(t, 1, "./copies: no kernels: expected exported functions without parameters that return *dsl.Kernel (of github.com/gocute/gocute/dsl)\n")
	const usage = "Run gocute --help, or gocute COMMAND --help, for usage.\n"
	for _, args := range [][]string{{"-set", "M=64,M=128"}, {"-set", "M=64", "-set", "M=128"}} {
		for _, command := range []string{"tune", "run", "check"} {
			gocute(t, dir, append([]string{command, "copies", "./copies"}, args...)...).fails(t, 2, "gocute: --set: expected one value of M, but got 64 and 128\n"+usage)
		}
	}
	gocute(t, dir, "tune", "copies", "./copies", "--dry-run", "--arch=sm_80", "--shape", "M=4,M=8").fails(t, 2,
		"gocute: --shape M=4,M=8: expected one value of M, but got 4 and 8\n")
	gocute(t, dir, "tune", "copies", "./copies", "--dry-run", "--arch=sm_80", "-set", "M=4", "--shape", "M=8").fails(t, 2,
		"gocute: --shape M=8: expected one value of M, but got 8, and 4 by --set\n")
	for _, n := range []string{"0", "-1"} {
		gocute(t, dir, "tune", "copies", "./copies", "--dry-run", "--rounds="+n).fails(t, 2, "gocute: --rounds: expected at least 1, but got "+n+"\n")
	}
	gocute(t, dir, "tune", "copies", "./copies", "--dry-run", "--bundle", "b").fails(t, 2, "gocute: --dry-run and --bundle can't be used together\n"+usage)
	gocute(t, dir, "tune", "--run", "b", "--dry-run").fails(t, 2, "gocute: --dry-run and --run can't be used together\n"+usage)
	require.Equal(t, 2, gocute(t, dir, "tune").status)
	require.Equal(t, 2, gocute(t, dir, "tune", "copies", "--run", "x").status)
}

// TestGenTuned generates the launchers of a table's winners beside those of the kernels.
func TestGenTuned(t *testing.T) {
	dir := foreign(t, map[string]string{"copies/copies.go": copies, "scale/scale.go": scale})
	table := tuned.New("copies")
	d := table.On(cuda.Info{Name: "GPU", Major: 9, SMs: 132})
	for m, config := range map[int64]string{64: "r8", 128: "r8"} {
		r := d.Shape(&tuned.Shape{Dims: map[string]int64{"M": m}}).Result(config)
		r.Add(3, 1)
	}
	require.NoError(t, table.Save(filepath.Join(dir, "copies.tune.json")))
	gocute(t, dir, "gen", "./copies", "./scale", "--tuned", "copies.tune.json").ok(t)
	all := names(tree(t, filepath.Join(dir, "out")))
	require.Contains(t, all, "copy_r8/copy_r8.go")
	require.Contains(t, all, "scale/scale.go")
	require.NotContains(t, all, "copy_r4/copy_r4.go")
	require.Equal(t, "out: 2 kernels, up to date\n", gocute(t, dir, "gen", "./copies", "./scale", "--tuned", "copies.tune.json", "--check").ok(t).stdout)
	gocute(t, dir, "gen", "./copies", "--tuned", "none.json").fails(t, 1, "--tuned none.json: there is no such file: on a machine with a GPU, gocute tune FAMILY . -o none.json writes it\n")
	d.Shape(&tuned.Shape{Dims: map[string]int64{"M": 64}}).Result("r7").Add(1, 1)
	require.NoError(t, table.Save(filepath.Join(dir, "copies.tune.json")))
	gocute(t, dir, "gen", "./copies", "--tuned", "copies.tune.json").fails(t, 1,
		"copies/copies.go:12: Copies: the table has the candidate r7, which the family copies has not: tune it anew\n")
}

func TestTuneRefuses(t *testing.T) {
	dir := foreign(t, map[string]string{"none/none.go": "package none\n\nimport \"github.com/gocute/gocute/dsl\"\n\nvar _ dsl.Family\n",
		"bad/bad.go": "package bad\n\nimport \"github.com/gocute/gocute/dsl\"\n\n// A panics.\nfunc A() *dsl.Family { panic(\"why\") }\n\n" +
			"// B is empty.\nfunc B() *dsl.Family { return &dsl.Family{Name: \"b\"} }\n"})
	gocute(t, dir, "tune", "x", "./none", "--dry-run", "--arch=sm_80").fails(t, 1,
		"./none: no families: expected exported functions without parameters that return *dsl.Family (of github.com/gocute/gocute/dsl)\n")
	gocute(t, dir, "tune", "b", "./bad", "--dry-run", "--arch=sm_80").fails(t, 1,
		"bad/bad.go:9: family \"b\": expects at least one candidate, but has none\n")
	gocute(t, dir, "tune", "A", "./bad", "--dry-run", "--arch=sm_80").fails(t, 1, "bad/bad.go:6: A panicked: why\n")
	gocute(t, dir, "tune", "--run", "none").fails(t, 1, "expected a folder that gocute tune --bundle wrote: open none/tune.json: no such file or directory\n")
}

// TestTuneShapes: what is wrong with a family's own shapes is told with the family's line.
func TestTuneShapes(t *testing.T) {
	for shape, want := range map[string]string{
		`"M": 0`:          "tune: copies: no candidate takes these sizes: copy_r4: M = 0: must be at least 1",
		`"M": -64`:        "tune: copies: no candidate takes these sizes: copy_r4: M = -64: must be at least 1",
		`"M": 6`:          "tune: copies: no candidate takes these sizes: copy_r4: M = 6: must be a multiple of 4",
		`"M": 64, "N": 8`: "copy_r4: there is no dim or scalar N: expected one of M",
		``:                `family "copies": shape (): expects a value of M too`,
	} {
		dir := foreign(t, map[string]string{"copies/copies.go": strings.Replace(copies, `"M": 1000`, shape, 1)})
		gocute(t, dir, "tune", "copies", "./copies", "--dry-run", "--arch=sm_80").fails(t, 1, "copies/copies.go:12: "+want+"\n")
	}
}

// TestTuneBundle compiles a family for a machine with a GPU; without one, measuring is refused.
func TestTuneBundle(t *testing.T) {
	if _, err := build.FindNVRTC(t.Context(), build.Options{NoInstall: true}); err != nil {
		t.Skip(err)
	}
	dir := foreign(t, map[string]string{"copies/copies.go": copies, "scale/scale.go": scale})
	o := gocute(t, dir, "tune", "copies", "./copies", "--compiler=nvrtc", "--bundle", "b", "--arch", "sm_90").ok(t)
	require.Regexp(t, `(?m)^r8 +64 +0 +0 +\d+ +\d+$`, o.stdout)
	b, err := tune.ReadBundle(filepath.Join(dir, "b"))
	require.NoError(t, err)
	require.Len(t, b.Images, 2)
	require.Len(t, b.Shapes, 2)
	require.Len(t, b.Shapes[1].Expected, 1)
	require.Equal(t, map[string]int64{"M": 8}, b.Candidate("r8").Tile)
	require.Equal(t, `KERNEL  FUNCTION  AT                   ARGUMENTS
scale   Scale     scale/scale.go:10    M, in f32 A (M,32):(32,1), out f32 B (M,32):(40,1), f32 alpha
copies  Copies    copies/copies.go:12  a family of 3
`, gocute(t, dir, "list", "./copies", "./scale").ok(t).stdout)

	if _, err := cuda.Count(); err == nil {
		t.Skip("there is a GPU here, and the rest is about machines without")
	}
	for _, args := range [][]string{{"tune", "--run", "b"}, {"tune", "copies", "./copies"}} {
		o := gocute(t, dir, args...)
		require.Equal(t, 1, o.status)
		require.Contains(t, o.stderr, "gocute tune measures on a GPU: cuda: no NVIDIA driver")
		require.Contains(t, o.stderr, "--dry-run lists the candidates and --bundle DIR compiles them")
	}
	require.NoFileExists(t, filepath.Join(dir, "copies.tune.json"))
}

func TestProgress(t *testing.T) {
	var b strings.Builder
	p := newProgress(&b)
	p.show("a: round", 0, 3)
	p.show("a: round", 1, 3)
	p.last = time.Now().Add(-time.Minute)
	p.show("a: round", 2, 3)
	p.show("b: round", 0, 3)
	p.end()
	require.Equal(t, "gocute: a: round 0 of 3\ngocute: a: round 2 of 3\ngocute: b: round 0 of 3\n", b.String())
	b.Reset()
	p = &progress{to: &b, terminal: true}
	p.show("long: round", 1, 2)
	p.show("b", 2, 2)
	p.end()
	require.Equal(t, "\rlong: round [===============               ] 1/2\rb [==============================] 2/2          \n", b.String())
	null, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer null.Close()
	require.True(t, newProgress(null).terminal, "a character device, as a terminal is")
}

// A table that is not there is told of with its flag, and with what writes it.
func TestNoTable(t *testing.T) {
	dir := foreign(t, map[string]string{"copies/copies.go": copies, "bad.json": "{"})
	for _, command := range []string{"gen", "build"} {
		gocute(t, dir, command, "./copies", "--tuned", "my t.json").fails(t, 1,
			"--tuned my t.json: there is no such file: on a machine with a GPU, gocute tune FAMILY . -o 'my t.json' writes it\n")
		o := gocute(t, dir, command, "./copies", "--tuned", "bad.json")
		require.Equal(t, 1, o.status)
		require.Contains(t, o.stderr, "--tuned bad.json: ")
	}
}
