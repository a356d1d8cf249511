package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRefused is about output folders, functions that nearly are kernels, files, -k and programs that end early.
func TestRefused(t *testing.T) {
	dir := foreign(t, map[string]string{
		"scale/scale.go": scale,
		"none/k.go":      "package none\n",
		"wrong/k.go":     edit(t, "package scale", "package wrong", "dsl.FragmentLike(t)", "dsl.FragmentLike(t.At(0))"),
		"leaves/k.go":    "package leaves\n\nimport (\n\t\"os\"\n\t\"github.com/gocute/gocute/dsl\"\n)\n\nfunc K() *dsl.Kernel { os.Exit(0); return nil }\n",
		"logs/k.go":      "package logs\n\nimport (\n\t\"log\"\n\t\"github.com/gocute/gocute/dsl\"\n)\n\nfunc K() *dsl.Kernel { log.SetFlags(0); return dsl.Define(\"k\", func(*dsl.K) { log.Fatal(\"no\") }) }\n",
		"goes/k.go":      "package goes\n\nimport (\n\t\"runtime\"\n\t\"github.com/gocute/gocute/dsl\"\n)\n\nfunc K() *dsl.Kernel { runtime.Goexit(); return nil }\n",
		"family/k.go":    "package family\n\nimport (\n\t\"os\"\n\t\"github.com/gocute/gocute/dsl\"\n)\n\nfunc F() *dsl.Family {\n\tf := &dsl.Family{Name: \"f\"}\n\tf.Add(\"a\", func() *dsl.Kernel { os.Exit(4); return nil })\n\treturn f\n}\n",
		"inits/k.go":     "package inits\n\nimport (\n\t\"os\"\n\t\"github.com/gocute/gocute/dsl\"\n)\n\nfunc init() { os.Exit(5) }\n\nfunc K() *dsl.Kernel { return nil }\n",
		"crashes/k.go":   "package crashes\n\nimport \"github.com/gocute/gocute/dsl\"\n\nvar none map[string]int\n\nfunc init() { none[\"x\"] = 1 }\n\nfunc K() *dsl.Kernel { return nil }\n",
		"near/k.go":      near,
	})
	refused(t, dir, map[string]mistake{
		"exits well": {"gen ./leaves", 1, "leaves/k.go:8: K ended the program (os.Exit, log.Fatal?) with the status 0: expected it to return; return nil or panic where there is nothing to generate\n"},
		"log.Fatal":  {"list ./logs", 1, "no\nlogs/k.go:8: K ended the program (os.Exit, log.Fatal?) with exit status 1: expected it to return; return nil or panic where there is nothing to generate\n"},
		"Goexit":     {"gen ./goes", 1, "goes/k.go:8: K ended its goroutine (runtime.Goexit, or FailNow of a test?): expected it to return\n"},
		"candidate":  {"tune f ./family --dry-run --arch sm_90 --set n=4", 1, "family/k.go:8: F: candidate a ended the program (os.Exit, log.Fatal?) with exit status 4: expected it to return; return nil or panic where there is nothing to generate\n"},
		"init exits": {"gen ./inits", 1, "the program that records the kernels of example.com/user/inits did not finish: a package ended the program (os.Exit, log.Fatal?), outside of its kernel functions: exit status 5\n"},
		"crash":      {"gen ./crashes", 1, "the program that records the kernels of example.com/user/crashes did not finish: panic: assignment to entry in nil map, at crashes/k.go:7\n"},
		"a file":     {"gen ./scale/scale.go", 1, "./scale/scale.go: expected packages, but got a file; name its folder: ./scale\n"},
		"files":      {"run scale scale/scale.go ./none/nothing.go", 1, "scale/scale.go: expected packages, but got a file; name its folder: ./scale\n./none/nothing.go: expected packages, but got a file; name its folder: ./none\n"},
		"nearly kernels": {"gen ./near", 1, "./near: no kernels: expected exported functions without parameters that return *dsl.Kernel (of github.com/gocute/gocute/dsl)\n" +
			"near/k.go:14: Failing returns more than a kernel: call it from an exported function that returns *dsl.Kernel alone\n" +
			"near/k.go:5: GEMM takes parameters: call it from an exported function without any\n" +
			"near/k.go:8: Generic takes type parameters: call it from an exported function without any\n"},
		"takes parameters": {"run helper ./scale -on cpu", 1, "there is no kernel helper in example.com/user/scale; there are Scale, scale\nscale/scale.go:36: Helper takes parameters: call it from an exported function without any\n"},
		"vendor":           {"gen ./scale -o vendor", 1, "output folder vendor: Go does not import packages from a folder \"vendor\", for it is for copies of other modules: choose another -o\n"},
		"testdata":         {"gen ./scale -o a/testdata/b", 1, "output folder a/testdata/b: Go does not import packages from a folder \"testdata\", for it is for the data of tests: choose another -o\n"},
		"hidden":           {"build ./scale -o .out", 1, "output folder .out: Go does not import packages from a folder \".out\", for its name begins with .: choose another -o\n"},
		"underscore":       {"gen ./scale -o _out/x", 1, "output folder _out/x: Go does not import packages from a folder \"_out\", for its name begins with _: choose another -o\n"},
		"no letter":        {"gen ./scale -o out/ü", 1, "output folder out/ü: Go does not import packages from a folder \"ü\", for invalid char 'ü': choose another -o\n"},
		"kept by Windows":  {"gen ./scale -o con", 1, "output folder con: Go does not import packages from a folder \"con\", for \"con\" disallowed as path element component on Windows: choose another -o\n"},
		"-k with prune":    {"gen -k scale ./scale --prune", 2, "gocute: --prune removes the packages of kernels that no longer exist, and -k leaves those of other kernels alone: use one of both\n"},
		"-k unknown":       {"gen -k scale -k scael ./scale", 1, "there is no kernel scael in example.com/user/scale; did you mean Scale or scale?\n"},
		"-k wrong":         {"gen -k scale ./wrong", 1, "wrong/k.go:23: scale: At: expects 3 coordinates, one for each mode of tAgA ((4,1),1,1), but got 1\n"},
		"check of nothing": {"check", 2, "gocute: expected \"KERNEL [PKG ...]\", or -k NAME\nRun gocute --help, or gocute COMMAND --help, for usage\n"},
	})
}

// near is a package with functions that nearly are kernels, and helpers.
const near = `package near

import "github.com/gocute/gocute/dsl"

func GEMM(n int) *dsl.Kernel { return nil }

// Generic is a kernel for each type.
func Generic[T any]() *dsl.Kernel { return nil }

// Both are two.
func Both() []*dsl.Kernel { return nil }

// Failing may fail.
func Failing() (*dsl.Kernel, error) { return nil, nil }

func hidden() *dsl.Kernel { return nil }

var _ = hidden
`

// TestNear mentions the functions that nearly are kernels at the end of a list.
func TestNear(t *testing.T) {
	dir := foreign(t, map[string]string{"scale/scale.go": scale,
		"list/k.go":   "package list\n\nimport \"github.com/gocute/gocute/dsl\"\n\nfunc All() []*dsl.Kernel { return nil }\n",
		"hidden/k.go": "package hidden\n\nimport \"github.com/gocute/gocute/dsl\"\n\nfunc gemm() *dsl.Kernel { return nil }\n\nvar _ = gemm\n"})
	require.Equal(t, "scale/scale.go:36: Helper takes parameters: call it from an exported function without any\n", gocute(t, dir, "list", "./scale").ok(t).stderr)
	o := gocute(t, dir, "list", "./hidden")
	require.Contains(t, gocute(t, dir, "list", "./list").stderr, "list/k.go:5: All returns several kernels: each needs an exported function that returns *dsl.Kernel\n")
	require.Contains(t, o.stderr, "hidden/k.go:5: gemm is not exported: give it a name with a capital letter\n")
}

// TestBlank refuses a folder with a blank, in the module and in one that is not there yet.
func TestBlank(t *testing.T) {
	dir := foreign(t, map[string]string{"scale/scale.go": scale})
	before := tree(t, dir)
	gocute(t, dir, "gen", "./scale", "-o", "o2/a b").fails(t, 1,
		"output folder o2/a b: Go does not import packages from a folder \"a b\", for invalid char ' ': choose another -o\n")
	o := gocute(t, dir, "gen", "./scale", "-o", filepath.Join(t.TempDir(), "vendor"))
	require.Equal(t, 1, o.status)
	require.Equal(t, before, tree(t, dir))
}

// TestOnly generates and checks some kernels of a package in which others are wrong.
func TestOnly(t *testing.T) {
	bad := "\n// Bad has no threads.\nfunc Bad() *dsl.Kernel { return dsl.Define(\"bad\", func(k *dsl.K) { k.Threads(0) }) }\n" +
		"\n// Worse panics.\nfunc Worse() *dsl.Kernel { panic(\"oh\") }\n\n// Third is right.\nfunc Third() *dsl.Kernel { return scaled(\"third\") }\n"
	dir := foreign(t, map[string]string{"scale/scale.go": scale + bad})
	require.Equal(t, 1, gocute(t, dir, "gen", "./scale").status)
	o := gocute(t, dir, "gen", "-k", "scale", "./scale").ok(t)
	require.Equal(t, "out/scale\tnew\n", o.stdout)
	o = gocute(t, dir, "gen", "./scale", "-k", "Third").ok(t)
	require.Equal(t, "out/third\tnew\n", o.stdout)
	require.Empty(t, o.stderr)
	require.Equal(t, "out: 2 kernels, up to date\n", gocute(t, dir, "gen", "./scale", "-k", "third", "-k", "scale", "--check").ok(t).stdout)
	o = gocute(t, dir, "gen", "./scale", "-k", "bad")
	require.Contains(t, o.stderr, "bad: Threads: expects 1 to 1024 threads, but got 0")
	o = gocute(t, dir, "check", "-k", "scale", "-k", "third", "./scale", "-set", "M=4").ok(t)
	require.Equal(t, 2, strings.Count(o.stdout, "\nPASS\n"))
	o = gocute(t, dir, "check", "-k", "bad", "-k", "third", "./scale", "-set", "M=4")
	require.Equal(t, 1, o.status)
	require.Equal(t, 1, strings.Count(o.stdout, "\nPASS\n"))
	require.Contains(t, o.stderr, "bad: Threads: expects")
}

// TestOnlyHeader keeps the wrappers in the headers that other kernels include, wrong ones apart.
func TestOnlyHeader(t *testing.T) {
	dir := foreign(t, map[string]string{"mine/mine.go": `package mine

import (
	"github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/kernels"
)

func Tile() *dsl.Kernel { return kernels.MMATile() }

func Rows() *dsl.Kernel { return kernels.LdmatrixAx4() }
`})
	gocute(t, dir, "gen", "./mine", "--header").ok(t)
	before := tree(t, dir)
	gocute(t, dir, "gen", "./mine", "--header", "-k", "mma_tile").ok(t)
	gocute(t, dir, "gen", "./mine", "--header", "-k", "Rows", "-k", "mma_tile").ok(t)
	require.Equal(t, before, tree(t, dir))
}

// TestRan is about a kernel without a reference, and one whose sizes do not fit the machine.
func TestRan(t *testing.T) {
	i := strings.Index(scale, "\t\tdsl.Expect(")
	j := i + strings.Index(scale[i:], "\n\t\t})\n") + len("\n\t\t})\n")
	dir := foreign(t, map[string]string{"scale/scale.go": strings.Replace(scale[:i]+scale[j:], "dsl.AtMost(4096)", "dsl.AtMost(1<<30)", 1)})
	o := gocute(t, dir, "run", "scale", "./scale", "-on", "cpu", "-set", "M=4").ok(t)
	require.True(t, strings.HasSuffix(o.stdout, "\nRAN  no reference to compare with (state one with Expect)\n"), o.stdout)
	o = gocute(t, dir, "run", "scale", "./scale", "-on", "cpu", "-set", "M=1073741824")
	require.Equal(t, 1, o.status)
	require.Regexp(t, `^scale: B needs [0-9.e+]+ GB in the emulator, all tensors together [0-9.e+]+ GB; at most [0-9.]+ GB are allowed, half of this machine's memory: choose smaller sizes\n$`, o.stderr)
}
