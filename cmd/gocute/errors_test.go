package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// edit replaces text in the kernel package.
func edit(t *testing.T, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		require.Contains(t, scale, pairs[i])
	}
	return strings.NewReplacer(pairs...).Replace(scale)
}

// mistake is a command line with what comes of it.
type mistake struct {
	args   string
	status int
	stderr string
}

// refused runs commands, each of which leaves no trace.
func refused(t *testing.T, dir string, all map[string]mistake) {
	t.Helper()
	before := tree(t, dir)
	for name, c := range all {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			gocute(t, dir, strings.Fields(c.args)...).fails(t, c.status, c.stderr)
			require.Equal(t, before, tree(t, dir))
		})
	}
}

// TestMistakes makes one mistake at a time, in one module. Each gives one clear message and leaves no trace.
func TestMistakes(t *testing.T) {
	two := edit(t, "// Helper is", "// Other has the same name.\nfunc Other() *dsl.Kernel { return scaled(\"scale\") }\n\n// Helper is")
	dir := foreign(t, map[string]string{
		"scale/scale.go":          scale,
		"main/main.go":            edit(t, "package scale", "package main") + "\nfunc main() {}\n",
		"broken/k.go":             edit(t, "package scale", "package broken", "load.Slice(k.Thread).PartitionS(src", "load.Slise(k.Thread).PartitionS(src"),
		"syntax/k.go":             "package syntax\n\nfunc Bad( {\n",
		"depends/k.go":            edit(t, "package scale", "package depends", "import (", "import (\n\t_ \"example.com/user/broken\""),
		"twice/k.go":              strings.Replace(two, "package scale", "package twice", 1),
		"again/k.go":              edit(t, "package scale", "package again"),
		"folder/k.go":             edit(t, "package scale", "package folder", `"scale"`, `"Scale"`),
		"wrong/k.go":              edit(t, "package scale", "package wrong", "dsl.FragmentLike(t)", "dsl.FragmentLike(t.At(0))"),
		"panics/k.go":             "package panics\n\nimport \"github.com/gocute/gocute/dsl\"\n\n// K panics.\nfunc K() *dsl.Kernel { panic(\"oh\\nno\") }\n",
		"null/k.go":               "package null\n\nimport \"github.com/gocute/gocute/dsl\"\n\n// K is nil.\nfunc K() *dsl.Kernel { return nil }\n",
		"exits/k.go":              "package exits\n\nimport (\n\t\"os\"\n\t\"github.com/gocute/gocute/dsl\"\n)\n\nfunc K() *dsl.Kernel { os.Exit(3); return nil }\n",
		"none/k.go":               "package none\n",
		"handmade/scale/scale.cu": "// by hand\n",
		"file":                    "",
	})
	refused(t, dir, map[string]mistake{
		"package main": {"gen ./main", 1, "main: package main cannot be imported, and gocute imports the package whose kernels it generates: " +
			"move the kernel functions to a package of their own\n"},
		"does not compile":  {"gen ./broken", 1, "broken/k.go:22:13: load.Slise undefined (type dsl.TiledCopy[dsl.Gmem, dsl.Rmem, elem.F32] has no field or method Slise)\n"},
		"syntax":            {"list ./syntax", 1, "syntax/k.go:3:11: expected ')', found '{'\n"},
		"dependency":        {"gen ./depends", 1, "broken/k.go:22:13: load.Slise undefined (type dsl.TiledCopy[dsl.Gmem, dsl.Rmem, elem.F32] has no field or method Slise)\n"},
		"no such package":   {"gen ./nowhere", 1, "./nowhere: there is no such folder: " + whatIsPKG + "\n"},
		"no such tree":      {"gen ./nowhere/...", 1, "./nowhere/...: there is no such folder: " + whatIsPKG + "\n"},
		"no such name":      {"list nowhere", 1, "nowhere: there is neither such a folder nor such a package: " + whatIsPKG + "\n"},
		"no kernels":        {"gen ./none", 1, "./none: no kernels: expected exported functions without parameters that return *dsl.Kernel (of github.com/gocute/gocute/dsl)\n"},
		"name clash":        {"gen ./twice", 1, "twice/k.go:36: scale: the name is already that of the kernel at twice/k.go:10; names have to be unique\n"},
		"clash of packages": {"gen ./scale ./again", 1, "again/k.go:10: scale: the name is already that of the kernel at scale/scale.go:10; names have to be unique\n"},
		"clash of folders": {"gen ./scale ./folder", 1, "folder/k.go:10: Scale: the kernel would share the package scale with the kernel scale at scale/scale.go:10; " +
			"names have to differ in more than case\n"},
		"wrong kernel":     {"gen ./scale ./wrong", 1, "wrong/k.go:23: scale: At: expects 3 coordinates, one for each mode of tAgA ((4,1),1,1), but got 1\n"},
		"run wrong kernel": {"run scale ./wrong -on cpu", 1, "wrong/k.go:23: scale: At: expects 3 coordinates, one for each mode of tAgA ((4,1),1,1), but got 1\n"},
		"panic":            {"gen ./panics", 1, "panics/k.go:6: K panicked: oh no\n"},
		"nil":              {"gen ./null", 1, "null/k.go:6: K returned no kernel, but nil\n"},
		"exits":            {"gen ./exits", 1, "exits/k.go:8: K ended the program (os.Exit, log.Fatal?) with exit status 3: expected it to return; return nil or panic where there is nothing to generate\n"},
		"into the package": {"gen ./scale -o scale", 1, "output folder scale: it is a package whose kernels are generated; generated files go to packages of their own: choose another -o\n"},
		"over the package": {"gen ./scale -o .", 1, "output folder scale: it is a package whose kernels are generated; generated files go to packages of their own: choose another -o\n"},
		"out is a file":    {"gen ./scale -o file", 1, "output folder file: it is a file\n"},
		"by hand":          {"gen ./scale -o handmade", 1, "handmade/scale/scale.cu was not generated by gocute: move it away, or choose another output folder\n"},
		"unknown kernel":   {"run scael ./scale -on cpu", 1, "there is no kernel scael in example.com/user/scale; did you mean Scale or scale?\n"},
		"nothing near":     {"run gemm_f16 ./scale -on cpu", 1, "there is no kernel gemm_f16 in example.com/user/scale; there are Scale, scale\nscale/scale.go:36: Helper takes parameters: call it from an exported function without any\n"},
		"unknown dim":      {"run scale ./scale -on cpu -set Q=1", 1, "scale: there is no dim or scalar Q: expected one of M, alpha\n"},
		"not a multiple":   {"run scale ./scale -on cpu -set M=1001", 1, "scale: M = 1001: must be a multiple of 4\n"},
		"zero":             {"run scale ./scale -on cpu -set M=0", 1, "scale: M = 0: must be at least 1\n"},
		"negative":         {"run scale ./scale -on cpu -set M=-4", 1, "scale: M = -4: must be at least 1\n"},
		"too large":        {"run scale ./scale -on cpu -set M=8192", 1, "scale: M = 8192: must be at most 4096\n"},
		"a long integer":   {"run scale ./scale -on cpu -set M=99999999999999999999", 1, "scale: M = \"99999999999999999999\": must be an integer that fits 64 bits\n"},
		"no integer":       {"run scale ./scale -on cpu -set M=4.5", 1, "scale: M = \"4.5\": must be an integer\n"},
		"infinite":         {"run scale ./scale -on cpu -set alpha=1e39", 1, "scale: alpha = \"1e39\": must be a number that fits f32\n"},
		"no number":        {"run scale ./scale -on cpu -set alpha=x", 1, "scale: alpha = \"x\": must be a number\n"},
		"check": {"gen ./scale --check", 1, "out/scale/bin/README: missing\nout/scale/scale.cu: missing\nout/scale/scale.go: missing\n" +
			"out is not up to date: run gocute gen with these packages\n"},
		"usage":       {"genn", 2, "gocute: unexpected argument genn, did you mean one of \"gen\", \"env\"?\nRun gocute --help, or gocute COMMAND --help, for usage.\n"},
		"wrong place": {"run scale ./scale -on tpu", 2, "gocute: --on must be one of \"auto\",\"gpu\",\"cpu\" but got \"tpu\"\nRun gocute --help, or gocute COMMAND --help, for usage.\n"},
	})
}

// TestNoModule runs outside of any module.
func TestNoModule(t *testing.T) {
	t.Setenv("GOWORK", "off")
	gocute(t, t.TempDir(), "gen").fails(t, 1,
		"there is no go.mod in this folder or above: run go mod init, then go get github.com/gocute/gocute\n")
}

// TestUnwritable writes nothing where it cannot write everything.
func TestUnwritable(t *testing.T) {
	if os.Getuid() == 0 {
		t.Log("root may write anywhere; a file in the place of a folder stands for one that cannot be written")
	}
	dir := foreign(t, map[string]string{"scale/scale.go": scale, "out/scale/bin": "in the way"})
	before := tree(t, dir)
	o := gocute(t, dir, "gen", "./scale")
	require.Equal(t, 1, o.status)
	require.Equal(t, 1, strings.Count(o.stderr, "\n"), o.stderr)
	require.Contains(t, o.stderr, "out/scale/bin")
	require.Equal(t, before, tree(t, dir))

	locked := filepath.Join(dir, "locked")
	require.NoError(t, os.Mkdir(locked, 0o555))
	if os.Getuid() != 0 {
		gocute(t, dir, "gen", "./scale", "-o", "locked/out").fails(t, 1, "output folder locked/out: nothing was written: mkdir locked/out: permission denied\n")
	}
}

// TestStale finds and removes what is left of kernels that are no more, and nothing else.
func TestStale(t *testing.T) {
	dir := foreign(t, map[string]string{"scale/scale.go": scale})
	gocute(t, dir, "gen", "./scale").ok(t)
	writeFiles(t, dir, map[string]string{
		"scale/scale.go":                     edit(t, `"scale"`, `"times"`),
		"out/scale/bin/scale.sm_90.cubin":    "compiled",
		"out/scale/bin/scale.compute_80.ptx": "compiled",
		"out/mine/mine.go":                   "package mine\n",
	})
	before := tree(t, dir)
	gocute(t, dir, "gen", "./scale", "--check").fails(t, 1, "out/times/bin/README: missing\nout/times/times.cu: missing\nout/times/times.go: missing\n"+
		"out/scale: left over\nout is not up to date: run gocute gen with these packages\n")
	require.Equal(t, before, tree(t, dir))
	o := gocute(t, dir, "gen", "./scale").ok(t)
	require.Equal(t, "gocute: out/scale is left over from a kernel that is not in these packages; gocute gen --prune removes it\n", o.stderr)
	o = gocute(t, dir, "gen", "./scale", "--prune").ok(t)
	require.Equal(t, "out/times\tup to date\nout/scale\tremoved\n", o.stdout)
	require.Equal(t, []string{"mine/mine.go", "times/bin/README", "times/times.cu", "times/times.go"}, names(tree(t, filepath.Join(dir, "out"))))

	// What a person put into a generated folder stays.
	writeFiles(t, dir, map[string]string{"scale/scale.go": scale, "out/times/notes.txt": "mine"})
	o = gocute(t, dir, "gen", "./scale", "--prune").ok(t)
	require.Equal(t, "gocute: out/times/notes.txt was not generated by gocute and stays\n", o.stderr)
	require.Equal(t, []string{"mine/mine.go", "scale/bin/README", "scale/scale.cu", "scale/scale.go", "times/notes.txt"}, names(tree(t, filepath.Join(dir, "out"))))

	// Images of another code must not be loaded any more.
	writeFiles(t, dir, map[string]string{"scale/scale.go": edit(t, "x.Mul(alpha)", "x.Mul(alpha).Add(x)"), "out/scale/bin/scale.sm_90.cubin": "compiled"})
	gocute(t, dir, "gen", "./scale", "--check").fails(t, 1, "out/scale/scale.cu: differs\nout/scale/bin/scale.sm_90.cubin: outdated image\n"+
		"out is not up to date: run gocute gen with these packages\n")
	require.Equal(t, "out/scale\tchanged\n", gocute(t, dir, "gen", "./scale").ok(t).stdout)
	require.Equal(t, []string{"bin/README", "scale.cu", "scale.go"}, names(tree(t, filepath.Join(dir, "out/scale"))))
}

// TestWrongResult runs kernels whose references do not agree, or have a mistake themselves.
func TestWrongResult(t *testing.T) {
	dir := foreign(t, map[string]string{"scale/scale.go": edit(t, "a.At(at...) * al", "a.At(at...) * al * (1 + float64(at[0]/3))")})
	o := gocute(t, dir, "run", "scale", "./scale", "-on", "cpu", "-set", "M=4,alpha=1")
	require.Equal(t, 1, o.status)
	require.Empty(t, o.stderr)
	require.Regexp(t, `\n  scale: B: 32 of 128 elements are wrong, the worst at \(3,[0-9]+\): expected [-0-9.]+, but got [-0-9.]+\nFAIL\n$`, o.stdout)

	writeFiles(t, dir, map[string]string{"scale/scale.go": edit(t, `r.Tensor("A")`, `r.Tensor("X")`)})
	gocute(t, dir, "run", "scale", "./scale", "-on", "cpu").fails(t, 1,
		"scale/scale.go:29: scale: the reference of B panicked: the reference asks for a tensor \"X\", which the kernel does not have\n")
	writeFiles(t, dir, map[string]string{"scale/scale.go": edit(t, "a.At(at...) * al", "a.At(at[0], 32) * al")})
	gocute(t, dir, "run", "scale", "./scale", "-on", "cpu", "-set", "M=4").fails(t, 1,
		"scale/scale.go:30: scale: the reference of B panicked: the reference reads at [0 32], outside of a tensor of extents [4 32]\n")
}

// TestInterrupt stops a run that takes long.
func TestInterrupt(t *testing.T) {
	dir := foreign(t, map[string]string{"scale/scale.go": edit(t, "return func(at []int64) float64 {", "for {\n\t\t\t}\n\t\t\treturn func(at []int64) float64 {")})
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	var out strings.Builder
	start := time.Now()
	require.Equal(t, 1, run(ctx, dir, []string{"run", "scale", "./scale", "-on", "cpu"}, &out, &out))
	require.Equal(t, "gocute: interrupted\n", out.String())
	require.Less(t, time.Since(start), 12*time.Second)
}
