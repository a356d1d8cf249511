package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLayoutsTutorial runs every command of docs/layouts.md and compares what it prints.
func TestLayoutsTutorial(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "layouts.md"))
	require.NoError(t, err)
	for _, block := range strings.Split(string(doc), "```console\n")[1:] {
		block, _, _ = strings.Cut(block, "```\n")
		for _, command := range strings.Split("\n"+block, "\n$ gocute ")[1:] {
			line, want, _ := strings.Cut(command, "\n")
			var args []string
			for i, part := range strings.Split(line, "'") { // what is quoted is one argument
				if i%2 == 1 {
					args = append(args, part)
				} else {
					args = append(args, strings.Fields(part)...)
				}
			}
			var stdout, stderr bytes.Buffer
			require.Zero(t, run(context.Background(), t.TempDir(), args, &stdout, &stderr), stderr.String())
			require.Equal(t, strings.TrimRight(want, "\n"), strings.TrimRight(stdout.String(), "\n"), line)
		}
	}
}

func TestFindRefuses(t *testing.T) {
	for _, args := range [][]string{
		{"find", "swizzle", "(64,64):(64,1)"},
		{"find", "swizzle", "(64,64):(64,2)", "--ldmatrix"},
		{"find", "padding", "size(4:1)", "--ldmatrix"},
		{"find", "swizzle", "(64,64):(64,1)", "--ldmatrix", "--type", "f17"},
		{"find", "copy", "128,60", "--threads", "256"},
		{"find", "copy", "128", "--threads", "256"},
	} {
		var stdout, stderr bytes.Buffer
		require.Equal(t, 1, run(context.Background(), t.TempDir(), args, &stdout, &stderr), args)
		require.NotEmpty(t, stderr.String())
		require.Empty(t, stdout.String())
	}
}
