package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const actAsGocute = "GOCUTE_TEST_ACT_AS_COMMAND"

// TestMain lets the test's own binary be the command, for shells to call.
func TestMain(m *testing.M) {
	if os.Getenv(actAsGocute) != "" {
		dir, err := os.Getwd()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(run(context.Background(), dir, os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// completed is what TAB is to give behind the words, the last of which is typed so far.
var completed = []struct {
	words []string
	want  []string
}{
	{[]string{"che"}, []string{"check"}},
	{[]string{"fi"}, []string{"find"}},
	{[]string{"find", ""}, []string{"copy", "padding", "swizzle"}},
	{[]string{"help", "env"}, []string{"environment"}},
	{[]string{"completion", ""}, []string{"bash", "fish", "zsh"}},
	{[]string{"run", "--o"}, []string{"--on"}},
	{[]string{"run", "--on", ""}, []string{"auto", "cpu", "gpu"}},
	{[]string{"run", "-on", "g"}, []string{"gpu"}},
	{[]string{"run", "Sc"}, []string{"Scale"}},
	{[]string{"run", "-on", "cpu", "S"}, []string{"Scale"}},
	{[]string{"check", "-k", "S"}, []string{"Scale"}},
	{[]string{"tune", "C"}, []string{"Copies"}},
	{[]string{"list", "sc"}, []string{"scale"}},
	{[]string{"check", "Scale", "scale", "--sarif", "no"}, []string{"notes.txt"}},
}

// shellFolder is a module with a kernel and a family, and a folder for PATH in which gocute is this test's binary.
func shellFolder(t *testing.T) (dir, bin string) {
	t.Helper()
	dir = foreign(t, map[string]string{"scale/scale.go": scale, "copies/copies.go": copies, "notes.txt": ""})
	self, err := os.Executable()
	require.NoError(t, err)
	bin = t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\n%s=1 exec %q \"$@\"\n", actAsGocute, self)
	require.NoError(t, os.WriteFile(filepath.Join(bin, "gocute"), []byte(script), 0o755))
	return dir, bin
}

// shell runs a program in a shell that has gocute, and returns the words that it prints, a line each, sorted as they are.
func shell(t *testing.T, dir, bin, name, program string, args ...string) []string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skip(err)
	}
	file := filepath.Join(t.TempDir(), "program")
	require.NoError(t, os.WriteFile(file, []byte(program), 0o600))
	cmd := exec.CommandContext(t.Context(), path, append([]string{file}, args...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+t.TempDir())
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(t, cmd.Run(), "%s%s", stdout.String(), stderr.String())
	require.Empty(t, stderr.String())
	return strings.Fields(stdout.String())
}

// TestCompletionBash has bash complete by the script.
func TestCompletionBash(t *testing.T) {
	dir, bin := shellFolder(t)
	for _, c := range completed {
		got := shell(t, dir, bin, "bash", `source <(gocute completion bash)
COMP_WORDS=(gocute "$@"); COMP_CWORD=$#
_gocute
printf '%s\n' "${COMPREPLY[@]}" | sort
complete -p gocute >/dev/null || echo not registered`, c.words...)
		require.Equal(t, c.want, got, c.words)
	}
	// bash splits --on=c into three words, and replaces the last.
	got := shell(t, dir, bin, "bash", `source <(gocute completion bash)
COMP_WORDS=(gocute run --on = c); COMP_CWORD=4
_gocute
printf '%s\n' "${COMPREPLY[@]}"`)
	require.Equal(t, []string{"cpu"}, got)
}

// TestCompletionFish has fish complete by the script.
func TestCompletionFish(t *testing.T) {
	dir, bin := shellFolder(t)
	for _, c := range completed {
		got := shell(t, dir, bin, "fish", `gocute completion fish | source
complete -C "$argv" | string replace -r '\t.*' '' | sort`, "gocute "+strings.Join(c.words, " "))
		for i := range got {
			got[i] = strings.TrimSuffix(got[i], "/") // folders
		}
		require.Equal(t, c.want, got, c.words)
	}
}

// TestCompletionZsh has zsh complete by the script, in a pseudo-terminal of zsh's own.
func TestCompletionZsh(t *testing.T) {
	dir, bin := shellFolder(t)
	for _, c := range completed {
		got := shell(t, dir, bin, "zsh", `# the completion system needs an interactive shell: compadd tells what it is given instead
autoload -Uz compinit && compinit -u -d $HOME/dump
source <(gocute completion zsh)
[[ $_comps[gocute] == _gocute ]] || print not registered
_describe() { local -a all; all=("${(@P)2}"); local w=$words[CURRENT] a; for a in $all; do a=${a%%:*}; print -r -- $a; done }
_files() { print -rl -- ${words[CURRENT]}*(N$([[ $1 == -/ ]] && print /)) }
words=(gocute "$@"); CURRENT=$#words
_gocute | sort`, c.words...)
		require.Equal(t, c.want, got, c.words)
	}
}

// TestComplete asks the command itself.
func TestComplete(t *testing.T) {
	dir, _ := shellFolder(t)
	ask := func(words ...string) string {
		return gocute(t, dir, append([]string{"__complete", "--"}, words...)...).ok(t).stdout
	}
	require.Equal(t, "check\tCheck a kernel in the emulator, exactly where it is linear, and print what it costs.\n", ask("che"))
	require.Equal(t, "--on=gpu\n", ask("run", "--on=g"))
	require.Equal(t, ":files\n", ask("gen", "-o", ""))
	require.Equal(t, ":files\n", ask("show", "page", ""))
	require.Empty(t, ask("eval", ""))
	require.Empty(t, ask("run", "--", "--o"))
	require.NotContains(t, ask(""), "__complete")
}
