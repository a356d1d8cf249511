package main

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"
)

// full is a disk with so many bytes left.
type full struct {
	left int
	err  error
}

func (f *full) Write(data []byte) (int, error) {
	n := min(len(data), f.left)
	f.left -= n
	if n < len(data) {
		return n, f.err
	}
	return n, nil
}

// printing lists an invocation of every command that prints something, by the command's path.
var printing = map[string][]string{
	"list":             {"list", "./scale"},
	"gen":              {"gen", "./scale", "-o", "out"},
	"build":            {"build", "./scale", "-o", "out"},
	"run":              {"run", "scale", "./scale", "-on", "cpu"},
	"check":            {"check", "scale", "./scale", "-schedules", "0"},
	"tune":             {"tune", "copies", "./copies", "--dry-run", "--arch", "sm_90"},
	"eval":             {"eval", "(4,8):(8,1)"},
	"find swizzle":     {"find", "swizzle", "(64,64):(64,1)", "--ldmatrix"},
	"find padding":     {"find", "padding", "(64,64):(64,1)", "--ldmatrix"},
	"find copy":        {"find", "copy", "128,64"},
	"show layout":      {"show", "layout", "(4,8):(8,1)"},
	"show tv":          {"show", "tv", "((8,4),4):((16,1),4)", "4,32"},
	"show mma":         {"show", "mma", "SM80_16x8x16_F32F16F16F32_TN"},
	"show tiled-mma":   {"show", "tiled-mma", "SM80_16x8x16_F32F16F16F32_TN"},
	"show copy":        {"show", "copy", "UniversalCopy<u128>", "--elem", "f32", "--thr", "(4,8):(8,1)", "--val", "(1,4):(4,1)"},
	"show smem":        {"show", "smem", "(8,64):(64,1)"},
	"show page":        {"show", "page", "page.md"},
	"version":          {"version"},
	"env":              {"env"},
	"clean":            {"clean"},
	"help":             {"help"},
	"help run":         {"help", "run"},
	"help findings":    {"help", "findings"},
	"completion":       {"completion", "bash"},
	"__complete":       {"__complete", "--", "r"},
	"list --json":      {"list", "./scale", "--json"},
	"eval --json":      {"eval", "1+1", "--json"},
	"check --json":     {"check", "scale", "./scale", "-schedules", "0", "--json"},
	"check --sarif":    {"check", "scale", "./scale", "-schedules", "0", "--sarif", "-"},
	"--help":           {"--help"},
	"eval --help":      {"eval", "--help"},
	"eval --explain":   {"eval", "--explain", "size((4,8):(8,1))+1"},
	"gen --check":      {"gen", "./scale", "-o", "made", "--check"},
	"check --mutate":   {"check", "scale", "./scale", "--mutate"},
	"show layout html": {"show", "layout", "(4,8):(8,1)", "--html"},
}

// A command whose output could not be written, from the first byte or after some, exits 1 and says so.
func TestLostOutput(t *testing.T) {
	var c cli
	parser, err := kong.New(&c, kong.Name("gocute"))
	require.NoError(t, err)
	for _, leaf := range parser.Model.Leaves(false) {
		path := strings.TrimPrefix(leaf.Path(), "gocute ")
		path, _, _ = strings.Cut(path, " <")
		path, _, _ = strings.Cut(path, " [")
		require.Contains(t, printing, path, "a command without an entry")
	}
	dir := foreign(t, map[string]string{"scale/scale.go": scale, "copies/copies.go": copies,
		"page.md": "gocute show layout '(4,8):(8,1)'\n"})
	gocute(t, dir, "gen", "./scale", "-o", "made").ok(t)
	heavy := map[string]bool{"build": true, "check": true, "check --mutate": true}
	for name, args := range printing {
		t.Run(name, func(t *testing.T) {
			if heavy[name] && testing.Short() {
				t.Skip("needs nvcc")
			}
			for _, left := range []int{0, 3} {
				var stderr bytes.Buffer
				status := run(t.Context(), dir, args, &full{left, syscall.ENOSPC}, &stderr)
				require.Equal(t, 1, status, "%d bytes fit: %s", left, &stderr)
				require.Contains(t, stderr.String(), "gocute: standard output is incomplete: no space left on device\n")
				require.Equal(t, 1, strings.Count(stderr.String(), "no space left"), "told once: %s", &stderr)
			}
		})
	}
}

// A reader that has read enough is no mistake to tell of.
func TestClosedPipe(t *testing.T) {
	var stderr bytes.Buffer
	status := run(t.Context(), t.TempDir(), []string{"version"}, &full{0, &os.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}}, &stderr)
	require.Empty(t, stderr.String())
	require.Equal(t, 1, status)
}

// short writes less than it is given, without an error.
type short struct{}

func (short) Write(data []byte) (int, error) { return len(data) / 2, nil }

func TestShortWrite(t *testing.T) {
	var stderr bytes.Buffer
	require.Equal(t, 1, run(t.Context(), t.TempDir(), []string{"eval", "1+1"}, short{}, &stderr))
	require.Equal(t, "gocute: standard output is incomplete: short write\n", stderr.String())
}

// The first error stays, whatever is written afterwards.
func TestCheckedWriterKeepsTheFirstError(t *testing.T) {
	f := &full{2, errors.New("first")}
	w := &checkedWriter{to: f}
	_, err := w.Write([]byte("abc"))
	require.ErrorContains(t, err, "first")
	f.left = 100
	_, err = w.Write([]byte("abc"))
	require.ErrorContains(t, err, "first")
	require.Equal(t, 100, f.left, "nothing is written behind a gap")
}

// The process itself, on a device that is full.
func TestFullDevice(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full")
	}
	device, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	defer device.Close()
	var stderr bytes.Buffer
	require.Equal(t, 1, run(t.Context(), t.TempDir(), []string{"eval", "1+1"}, device, &stderr))
	require.Equal(t, "gocute: standard output is incomplete: write /dev/full: no space left on device\n", stderr.String())
}
