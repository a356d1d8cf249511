package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestCommandProcess is no test: it is the command as a process of its own, for the tests below.
func TestCommandProcess(t *testing.T) {
	args := os.Getenv("GOCUTE_TEST_ARGS")
	if args == "" {
		t.Skip("only runs as a child of other tests")
	}
	os.Args = append([]string{"gocute"}, strings.Fields(args)...)
	main()
}

// process is such a process, not started.
func process(t *testing.T, dir, args string, env ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self, "-test.run=^TestCommandProcess$")
	cmd.Dir, cmd.Env = dir, append(append(os.Environ(), "GOCUTE_TEST_ARGS="+args), env...)
	return cmd
}

const doubled = `package p

import . "github.com/gocute/gocute/dsl"
import "github.com/gocute/gocute/elem"

func Twice() *Kernel {
	return Define("twice", func(k *K) {
		a := In[elem.F32](k, "a", Shape(32).Strides(1))
		b := Out[elem.F32](k, "b", Shape(32).Strides(1))
		k.Threads(32)
		_, _ = a, b
	})
}
`

// TestProgramsOfTheCurrentFolderDoNotRun puts programs of the names that gocute starts into the module.
func TestProgramsOfTheCurrentFolderDoNotRun(t *testing.T) {
	dir := foreign(t, map[string]string{"p.go": doubled})
	trap := filepath.Join(t.TempDir(), "sprung")
	for _, name := range []string{"go", "git", "gcc", "nvcc", "python3", "gopackagesdriver"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho "+name+" >> "+trap+"\n"), 0o777))
	}
	for _, path := range []string{".:", ":", ".::"} {
		out, err := process(t, dir, "list .", "PATH="+path+os.Getenv("PATH")).CombinedOutput()
		require.NoError(t, err, string(out))
		require.Contains(t, string(out), "twice")
		require.NoFileExists(t, trap)
	}
}

// TestKilledCommand kills the command while a kernel's program runs: it ends too, and the next command sweeps.
func TestKilledCommand(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("the test reads /proc")
	}
	pidFile := filepath.Join(t.TempDir(), "pid")
	dir := foreign(t, map[string]string{"p.go": doubled, "hang.go": `package p

import ("fmt"; "os"; "time")

func init() {
	_ = os.WriteFile("` + pidFile + `", fmt.Append(nil, os.Getpid(), " "), 0o600)
	time.Sleep(time.Hour)
}
`})
	tmp := t.TempDir()
	folders := func() []string {
		list, err := filepath.Glob(filepath.Join(tmp, "gocute-*"))
		require.NoError(t, err)
		return list
	}
	cmd := process(t, dir, "list .", "TMPDIR="+tmp)
	require.NoError(t, cmd.Start())
	var pid string
	require.Eventually(t, func() bool {
		data, _ := os.ReadFile(pidFile)
		text, whole := strings.CutSuffix(string(data), " ")
		pid = text
		return whole
	}, time.Minute, 10*time.Millisecond)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	require.Eventually(t, func() bool {
		data, err := os.ReadFile("/proc/" + pid + "/stat")
		return err != nil || strings.Contains(string(data), ") Z ")
	}, 5*time.Second, 10*time.Millisecond, "the program of the kernels lives")
	require.Len(t, folders(), 1)
	out, err := process(t, dir, "version", "TMPDIR="+tmp).CombinedOutput()
	require.NoError(t, err, string(out))
	require.Empty(t, folders())
}
