package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/modfile"
)

// TestForeignModule goes all the way in a module of a user's own, whose files nothing but -o is written to.
func TestForeignModule(t *testing.T) {
	dir := foreign(t, map[string]string{"scale/scale.go": scale})
	before := tree(t, dir)

	o := gocute(t, dir, "list", "./scale").ok(t)
	require.Equal(t, "KERNEL  FUNCTION  AT                 ARGUMENTS\n"+
		"scale   Scale     scale/scale.go:10  M, in f32 A (M,32):(32,1), out f32 B (M,32):(40,1), f32 alpha\n", o.stdout)
	require.Equal(t, before, tree(t, dir))

	o = gocute(t, dir, "run", "scale", "./scale", "-on", "cpu", "-set", "M=12,alpha=0.5", "-schedules", "0,7").ok(t)
	require.Equal(t, `scale
  args     M=12 alpha=0.5
  on       the emulator, 3 blocks, schedules [0 7]
  time     X (of the emulator)
  B        f32 (12,32): all 384 elements compared, largest error 0
PASS
`, replaceTime(o.stdout))
	require.Equal(t, before, tree(t, dir))

	// The function's name does, and so does the package of the folder here.
	o = gocute(t, filepath.Join(dir, "scale"), "run", "Scale", "--on=cpu").ok(t)
	require.Regexp(t, `  args     M=256 alpha=-0\.[0-9]+, by default: M alpha\n`, o.stdout)
	require.Equal(t, before, tree(t, dir))

	o = gocute(t, dir, "gen", "scale").ok(t)
	require.Equal(t, "out/scale\tnew\n", o.stdout)
	require.Equal(t, []string{"out/scale/bin/README", "out/scale/scale.cu", "out/scale/scale.go"}, names(tree(t, dir))[2:5])
	after := tree(t, dir)
	for name, text := range before {
		require.Equal(t, text, after[name], name)
	}
	require.Equal(t, "out/scale\tup to date\n", gocute(t, dir, "gen", "./...").ok(t).stdout)
	require.Equal(t, "out: 1 kernel, up to date\n", gocute(t, dir, "gen", "./scale", "--check").ok(t).stdout)
	require.Equal(t, after, tree(t, dir))
}

func replaceTime(s string) string {
	before, rest, _ := strings.Cut(s, "  time     ")
	_, after, _ := strings.Cut(rest, " ")
	return before + "  time     X " + after
}

// TestInternal imports packages below internal, each from where that is allowed, together with others.
func TestInternal(t *testing.T) {
	named := func(pkg, kernel string) string {
		return strings.NewReplacer("package scale", "package "+pkg, `"scale"`, `"`+kernel+`"`).Replace(scale)
	}
	dir := foreign(t, map[string]string{
		"scale/scale.go":        scale,
		"internal/one/one.go":   named("one", "one"),
		"a/internal/two/two.go": named("two", "two"),
		"b/internal/c/three.go": named("c", "three"),
		"cmd/tool/main.go":      "package main\n\nfunc main() {}\n",
	})
	o := gocute(t, dir, "gen", "./...").ok(t)
	require.ElementsMatch(t, []string{"out/scale\tnew", "out/one\tnew", "out/two\tnew", "out/three\tnew"}, strings.Split(strings.TrimSpace(o.stdout), "\n"))
	gocute(t, dir, "run", "three", "./...", "-on", "cpu", "-set", "M=4").ok(t)
}

// TestVendored works in a module with a folder vendor, and uses that only where it holds all that is needed.
func TestVendored(t *testing.T) {
	dir := foreign(t, map[string]string{"scale/scale.go": scale})
	cmd := exec.Command("go", "mod", "vendor")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOPROXY=off")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	gocute(t, dir, "run", "scale", "./scale", "-on", "cpu", "-set", "M=4").ok(t)

	s := &session{ctx: t.Context(), dir: dir}
	m, err := s.module(t.TempDir())
	require.NoError(t, err)
	require.Len(t, m.flags, 2)
	writeFiles(t, dir, map[string]string{"vendor/" + runnerPath + "/runner.go": "package runner\n"})
	m, err = s.module(t.TempDir())
	require.NoError(t, err)
	require.Empty(t, m.flags)
}

// TestReadOnly works on a module that cannot be written to.
func TestReadOnly(t *testing.T) {
	dir := foreign(t, map[string]string{"scale/scale.go": scale})
	for _, d := range []string{filepath.Join(dir, "scale"), dir} {
		require.NoError(t, os.Chmod(d, 0o555))
		t.Cleanup(func() { _ = os.Chmod(d, 0o755) })
	}
	out := filepath.Join(t.TempDir(), "deep", "out")
	gocute(t, dir, "gen", "./scale", "-o", out).ok(t)
	require.Len(t, names(tree(t, out)), 3)
}

// TestWorkspace takes a module from a workspace, in which -modfile does not exist.
func TestWorkspace(t *testing.T) {
	dir := foreign(t, map[string]string{"go.mod": "", "go.sum": ""})
	require.NoError(t, os.Remove(filepath.Join(dir, "go.mod")))
	writeFiles(t, dir, map[string]string{
		"go.work":              "go 1.26.0\n\nuse (\n\t./user\n\t./other\n)\n",
		"user/go.mod":          foreignMod(t, "example.com/user"),
		"user/go.sum":          foreignSum,
		"user/scale/k.go":      scale,
		"other/go.mod":         "module example.com/other\n\ngo 1.26.0\n",
		"other/plain/plain.go": "package plain\n",
	})
	before := tree(t, dir)
	gocute(t, dir, "run", "scale", "./user/scale", "-on", "cpu", "-set", "M=4").ok(t)
	gocute(t, filepath.Join(dir, "other"), "list", "example.com/user/scale").ok(t)
	require.Equal(t, before, tree(t, dir))
}

// A copy of go.work in another folder has absolute paths, and all else as it was.
func TestMakeAbsolute(t *testing.T) {
	w, err := modfile.ParseWork("go.work", []byte("go 1.26.0\n\ntoolchain go1.26.1\n\ngodebug default=go1.21\n\nuse (\n\t./a // here\n\t/b\n\t\"./with blank\"\n)\n\n"+
		"replace example.com/x v1.0.0 => ./x\n\nreplace example.com/y => example.com/z v1.2.3\n"), nil)
	require.NoError(t, err)
	makeAbsolute(w, "/root")
	again, err := modfile.ParseWork("go.work", modfile.Format(w.Syntax), nil)
	require.NoError(t, err)
	var uses []string
	for _, u := range again.Use {
		uses = append(uses, u.Path)
	}
	require.ElementsMatch(t, []string{"/root/a", "/b", "/root/with blank"}, uses)
	require.Equal(t, "go1.26.1", again.Toolchain.Name)
	require.Equal(t, "go1.21", again.Godebug[0].Value)
	require.Len(t, again.Replace, 2)
	require.Equal(t, "/root/x", again.Replace[0].New.Path)
	require.Equal(t, "v1.2.3", again.Replace[1].New.Version)
}
