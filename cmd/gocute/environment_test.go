package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What keeps the go command from working is told in its own words, or in one line of ours.
func TestGoFails(t *testing.T) {
	dir := foreign(t, map[string]string{"scale/scale.go": scale})
	for _, c := range []struct {
		name string
		env  map[string]string
		want string
	}{
		{"no cache", map[string]string{"HOME": "", "GOCACHE": "", "XDG_CACHE_HOME": "", "GOPATH": "", "GOMODCACHE": ""}, "set HOME, or GOCACHE and GOPATH"},
		{"cache off", map[string]string{"GOCACHE": "off"}, "build cache is disabled by GOCACHE=off"},
		{"no modules", map[string]string{"GO111MODULE": "off"}, "GO111MODULE=off: gocute works on modules: unset GO111MODULE, or run: go env -u GO111MODULE\n"},
		{"no go", map[string]string{"PATH": t.TempDir()}, "gocute needs the go command, which is not in a folder of PATH"},
		{"flag", map[string]string{"GOFLAGS": "-nonsense"}, "loading ./scale: go: parsing $GOFLAGS: unknown flag -nonsense\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, value := range c.env {
				t.Setenv(name, value)
			}
			o := gocute(t, dir, "list", "./scale")
			require.Equal(t, 1, o.status)
			require.Contains(t, o.stderr, c.want)
			require.NotContains(t, o.stderr, "no kernels")
			require.NotContains(t, o.stderr, "could not import")
		})
	}
}

// The program that records kernels is built for this machine.
func TestForeignTarget(t *testing.T) {
	dir := foreign(t, map[string]string{"scale/scale.go": scale})
	t.Setenv("GOOS", "windows")
	t.Setenv("GOARCH", "arm64")
	gocute(t, dir, "run", "scale", "./scale", "-on", "cpu", "-set", "M=4").ok(t)
}

// Only whole paths below the working folder are made relative.
func TestShorten(t *testing.T) {
	for _, c := range [][3]string{
		{"/home/ab", "/home/ab/k.go:3: x", "k.go:3: x"},
		{"/home/ab", "see \"/home/ab/k.go\" (/home/ab/l.go)", "see \"k.go\" (l.go)"},
		{"/home/ab", "/x/home/ab/k.go", "/x/home/ab/k.go"},
		{"/home/ab", "x/home/ab/k.go ./home/ab/k.go ~/home/ab/k.go", "x/home/ab/k.go ./home/ab/k.go ~/home/ab/k.go"},
		{"/home/ab", "/home/abc/k.go", "/home/abc/k.go"},
		{"/home/ab", "/home/ab/ is full, and /home/ab/", "/home/ab/ is full, and /home/ab/"},
		{"/home/ab", "/home/ab/home/ab/k.go", "home/ab/k.go"},
		{"/home/ab", "-I/home/ab/include file=/home/ab/k.go:1", "-I/home/ab/include file=k.go:1"},
		{"/", "/home/ab: 3 / 4", "/home/ab: 3 / 4"},
		{"/é", "ü/é/k.go /é/k.go", "ü/é/k.go k.go"},
	} {
		require.Equal(t, c[2], (&session{dir: c[0]}).shorten(c[1]), "in %s", c[0])
	}
}

// Two kernels of one name are refused, whichever of them would come first.
func TestTwoOfOneName(t *testing.T) {
	other := "package two\n\nimport (\n\t\"example.com/user/scale\"\n\t\"github.com/gocute/gocute/dsl\"\n)\n\n// Double is named as Scale is.\nfunc Double() *dsl.Kernel { return scale.Helper(\"scale\") }\n"
	family := "package fam\n\nimport \"github.com/gocute/gocute/dsl\"\n\n// Other is a family named as Copies is.\nfunc Other() *dsl.Family { return &dsl.Family{Name: \"copies\"} }\n"
	dir := foreign(t, map[string]string{"scale/scale.go": scale, "two/two.go": other, "a/internal/two/two.go": other,
		"copies/copies.go": copies, "fam/fam.go": family})
	for _, command := range []string{"run", "check"} {
		gocute(t, dir, command, "scale", "./scale", "./two").fails(t, 1,
			"two/two.go:9: scale: the name is already that of the kernel at scale/scale.go:10: name one of them otherwise, or give only the package with the one that is meant\n")
		gocute(t, dir, command, "scale", "./scale", "./scale").ok(t)
		o := gocute(t, dir, command, "scale", "./two", "./a/internal/two", "-set", "M=4")
		require.Equal(t, 1, o.status, "%s%s", o.stdout, o.stderr)
		require.Contains(t, o.stderr, "two/two.go:9")
		require.Contains(t, o.stderr, "a/internal/two/two.go:9")
	}
	o := gocute(t, dir, "tune", "copies", "./copies", "./fam", "--dry-run", "--arch", "sm_90")
	require.Equal(t, 1, o.status)
	require.Contains(t, o.stderr, "fam/fam.go:6: copies: the name is already that of the family at copies/copies.go:")
}

// Without a GPU, a family that is not there is told of first.
func TestTuneUnknownFamily(t *testing.T) {
	dir := foreign(t, map[string]string{"copies/copies.go": copies, "scale/scale.go": scale})
	gocute(t, dir, "tune", "copie", "./copies").fails(t, 1, "there is no family copie; did you mean Copies or copies?\n")
	o := gocute(t, dir, "tune", "scale", "./scale")
	require.Equal(t, 1, o.status)
	require.Contains(t, o.stderr, "./scale: no families")
}

// A flag that would be ignored is wrong usage.
func TestIgnoredFlags(t *testing.T) {
	dir := foreign(t, map[string]string{"scale/scale.go": scale, "copies/copies.go": copies})
	gocute(t, dir, "gen", "./scale").ok(t)
	copyArgs := []string{"show", "copy", "UniversalCopy<u128>", "--elem", "f32"}
	thrVal := append(copyArgs[:len(copyArgs):len(copyArgs)], "--thr", "(4,8):(8,1)", "--val", "(1,4):(4,1)")
	tv := append(copyArgs[:len(copyArgs):len(copyArgs)], "--tv", "((8,4),4):((16,1),4)", "--tile", "4,32")
	for _, c := range []struct {
		args []string
		flag string
	}{
		{[]string{"run", "scale", "./scale", "-on", "cpu", "--ptx"}, "--ptx"},
		{[]string{"run", "scale", "./scale", "-on", "gpu", "--schedules", "1"}, "--schedules"},
		{[]string{"run", "scale", "./scale", "--ptx", "--schedules", "1"}, "--ptx"},
		{[]string{"check", "scale", "./scale", "--mutate", "--schedules", "1"}, "--schedules"},
		{[]string{"build", "./out/scale", "--header"}, "--header"},
		{[]string{"build", "./out/scale", "-o", "other"}, "-o"},
		{[]string{"find", "swizzle", "(64,64):(64,1)", "--ldmatrix", "--vector", "64"}, "--vector"},
		{[]string{"tune", "copies", "./copies", "--compile"}, "--compile"},
		{[]string{"tune", "copies", "./copies", "--dry-run", "--rounds", "3"}, "--rounds"},
		{[]string{"tune", "copies", "./copies", "--dry-run", "--zeros"}, "--zeros"},
		{[]string{"tune", "copies", "./copies", "--dry-run", "-o", "t.json"}, "-o"},
		{[]string{"tune", "copies", "./copies", "--bundle", "b", "--again"}, "--again"},
		{[]string{"tune", "--run", "b", "--seed", "3"}, "--seed"},
		{[]string{"tune", "--run", "b", "--compiler", "nvrtc"}, "--compiler"},
		{append(thrVal[:len(thrVal):len(thrVal)], "--operand", "A"), "--operand"},
		{append(thrVal[:len(thrVal):len(thrVal)], "--tile", "4,32"), "--tile"},
		{append(tv[:len(tv):len(tv)], "--given", "source"), "--given"},
		{append(tv[:len(tv):len(tv)], "--warps", "2,1,1"), "--warps"},
	} {
		o := gocute(t, dir, c.args...)
		require.Equal(t, 2, o.status, "%v: %s%s", c.args, o.stdout, o.stderr)
		require.Contains(t, o.stderr, "gocute: "+c.flag, "%v", c.args)
	}
	gocute(t, dir, thrVal...).ok(t)
	gocute(t, dir, tv...).ok(t)
}

// A folder for temporary files that the go command cannot use is named with its variable.
func TestTemporaryFolder(t *testing.T) {
	dir := foreign(t, map[string]string{"scale/scale.go": scale, "file": ""})
	const rest = ": set %s to another folder, or unset it\n"
	for _, c := range []struct{ name, value, fault string }{
		{"TMPDIR", dir, "it has a go.mod, which the go command ignores in the folder for temporary files"},
		{"TMPDIR", "/nowhere", "there is no such folder"},
		{"TMPDIR", filepath.Join(dir, "file"), "it is a file"},
		{"GOTMPDIR", "/nowhere", "there is no such folder"},
	} {
		t.Run(c.name+c.value, func(t *testing.T) {
			t.Setenv(c.name, c.value)
			value, _ := strings.CutPrefix(c.value, dir+"/")
			gocute(t, dir, "list", "./scale").fails(t, 1, fmt.Sprintf("%s: the folder for temporary files is %s, but %s"+rest, c.name, value, c.fault, c.name))
		})
	}
	t.Setenv("TMPDIR", ".") // is that of the working folder
	o := gocute(t, dir, "list", "./scale")
	require.Equal(t, 1, o.status)
	require.Contains(t, o.stderr, "TMPDIR: the folder for temporary files is "+dir+", but it has a go.mod")
}
