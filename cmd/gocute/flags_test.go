package main

import "testing"

// TestEmptyPath gives an empty path to every flag that takes one, before anything is loaded or written.
func TestEmptyPath(t *testing.T) {
	for _, c := range []struct {
		flag string
		args []string
	}{
		{"out", []string{"gen", ".", "-o", ""}},
		{"out", []string{"build", ".", "--out="}},
		{"out", []string{"show", "layout", "8:1", "-o", ""}},
		{"out", []string{"show", "page", "x.md", "-o", ""}},
		{"table", []string{"tune", "gemm", ".", "-o", ""}},
		{"bundle", []string{"tune", "gemm", ".", "--bundle", ""}},
		{"run", []string{"tune", "--run", ""}},
	} {
		gocute(t, t.TempDir(), c.args...).fails(t, 2, "gocute: --"+c.flag+": expected a path, but got \"\"\nRun gocute --help, or gocute COMMAND --help, for usage.\n")
	}
}
