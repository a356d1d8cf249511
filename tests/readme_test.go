package tests

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadme looks at the README's size and links.
func TestReadme(t *testing.T) {
	data, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	readme := string(data)
	require.Less(t, len(data), 10_000, "the README must stay under 10 KB")
	for _, m := range regexp.MustCompile(`\]\(([^)#]+)\)`).FindAllStringSubmatch(regexp.MustCompile("(?s)```.*?```").ReplaceAllString(readme, ""), -1) {
		_, err := os.Stat("../" + m[1])
		require.NoError(t, err, "a link of the README")
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
