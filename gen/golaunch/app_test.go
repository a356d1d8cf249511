package golaunch

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/gen/cir"
)

// writeApp makes a module that uses printed launchers the way a user's does, found offline.
func writeApp(t *testing.T, kernels ...*cir.Kernel) string {
	t.Helper()
	dir := t.TempDir()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	write := func(data []byte, path ...string) {
		file := filepath.Join(append([]string{dir}, path...)...)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o777))
		require.NoError(t, os.WriteFile(file, data, 0o666))
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	mod = regexp.MustCompile(`(?m)^module .*$`).ReplaceAll(mod, []byte("module example.com/app"))
	mod = append(mod, "\nrequire github.com/gocute/gocute v0.0.0\nreplace github.com/gocute/gocute => "+root+"\n"...)
	write(mod, "go.mod")
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	require.NoError(t, err)
	write(sum, "go.sum")
	for _, k := range kernels {
		out := filepath.Join("out", PackageName(k.Name))
		write(printed(t, k), out, FileName(k.Name))
		write([]byte("// the kernel\n"), out, k.Name+".cu")
		write(PlaceholderText(k.Name), out, "bin", Placeholder)
	}
	for _, name := range []string{"fake.go", "app_test.go"} {
		src, err := os.ReadFile(filepath.Join("testdata", "app", name))
		require.NoError(t, err)
		write(src, name)
	}
	return dir
}

// goRun runs the go command without a network and without cgo.
func goRun(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off", "CGO_ENABLED=0")
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "go %s:\n%s", strings.Join(args, " "), out)
	return string(out)
}

// The printed packages build on a fresh clone, and their checks work on a machine without a GPU.
func TestPrintedPackages(t *testing.T) {
	dir := writeApp(t, copyKernel(), gemmKernel(), tensorKernel(), oddKernel())
	goRun(t, dir, nil, "build", "./...")
	goRun(t, dir, nil, "vet", "./...")
	out := goRun(t, dir, nil, "test", "-count=1", "./...")
	t.Log(out)
	// A kernel named after a platform is built on all of them.
	for _, goos := range []string{"linux", "windows"} {
		files := goRun(t, dir, []string{"GOOS=" + goos}, "list", "-f", "{{.GoFiles}}", "./out/odd_linux")
		require.Contains(t, files, "odd_linux_launch.go")
	}
}
