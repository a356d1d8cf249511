package algebra_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTutorialIsExamples: every block of Go in the tutorial is the body of an Example, output included.
func TestTutorialIsExamples(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "docs", "layouts.md"))
	require.NoError(t, err)
	code, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	blocks := strings.Split(string(doc), "```go\n")[1:]
	require.Len(t, blocks, strings.Count(string(code), "\nfunc Example"))
	for _, b := range blocks {
		body, _, ok := strings.Cut(b, "```\n")
		require.True(t, ok)
		lines := strings.Split(strings.TrimSuffix(body, "\n"), "\n")
		for i, l := range lines {
			lines[i] = "\t" + l
		}
		require.Contains(t, string(code), strings.Join(lines, "\n")+"\n}\n", "a block of docs/layouts.md is no Example")
	}
}
