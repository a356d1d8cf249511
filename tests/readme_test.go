package tests

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadme compares the README's kernel and CUDA with the files they are from, and its size and links.
func TestReadme(t *testing.T) {
	data, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	readme := string(data)
	require.Less(t, len(data), 10_000, "the README must stay under 10 KB")
	read := func(path string) string {
		b, err := os.ReadFile("../" + path)
		require.NoError(t, err)
		return string(b)
	}
	blocks := regexp.MustCompile("(?s)```(go|cuda)\n(.*?)```").FindAllStringSubmatch(readme, -1)
	sources := map[string]string{"go": read("kernels/copy.go"), "cuda": read("out/copy_4x32/copy_4x32.cu")}
	seen := map[string]bool{}
	for _, b := range blocks {
		if !seen[b[1]] { // the first block of each language is quoted
			require.Contains(t, sources[b[1]], strings.TrimSpace(b[2]), "the README's %s block", b[1])
		}
		seen[b[1]] = true
	}
	require.Len(t, seen, 2)
	for _, m := range regexp.MustCompile(`\]\(([^)#]+)\)`).FindAllStringSubmatch(regexp.MustCompile("(?s)```.*?```").ReplaceAllString(readme, ""), -1) {
		_, err := os.Stat("../" + m[1])
		require.NoError(t, err, "a link of the README")
	}
}

// TestOwnKernelPage compares the kernel and the test of docs/own-kernel.md with the example they are from.
func TestOwnKernelPage(t *testing.T) {
	page, err := os.ReadFile("../docs/own-kernel.md")
	require.NoError(t, err)
	source := ""
	for _, f := range []string{"saxpy.go", "saxpy_test.go"} {
		b, err := os.ReadFile("../examples/saxpy/" + f)
		require.NoError(t, err)
		source += string(b)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	require.Len(t, blocks, 4)
	for _, b := range blocks[:3] { // the last one is a program of the reader's
		require.Contains(t, source, strings.TrimSpace(b[1]))
	}
}

// TestSM90Page compares the pieces of docs/sm90.md with the kernel that they are from, in its order.
func TestSM90Page(t *testing.T) {
	page, err := os.ReadFile("../docs/sm90.md")
	require.NoError(t, err)
	source, err := os.ReadFile("../kernels/warpgroup.go")
	require.NoError(t, err)
	rest := string(source)
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	require.Len(t, blocks, 3)
	for _, b := range blocks {
		_, after, found := strings.Cut(rest, b[1])
		require.True(t, found, "%s", b[1])
		rest = after
	}
}
