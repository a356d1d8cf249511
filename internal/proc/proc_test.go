package proc

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/internal/scratch"
)

func TestClean(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "gcc"), nil, 0o777))
	for _, c := range []struct{ env, want string }{
		{"PATH=.:/usr/bin", "PATH=/usr/bin"},
		{"PATH=:/usr/bin:", "PATH=/usr/bin"},
		{"PATH=bin", "PATH=" + defaultPath},
		{"PATH=", "PATH=" + defaultPath},
		{"LD_LIBRARY_PATH=:/a:b", "LD_LIBRARY_PATH=/a"},
		{"LD_LIBRARY_PATH=/a;;b", "LD_LIBRARY_PATH=/a"},
		{"LD_LIBRARY_PATH=.", ""},
		{"LD_PRELOAD=./mine.so", "LD_PRELOAD=./mine.so"},
		{"PYTHONPATH=lib:/a", "PYTHONPATH=/a"},
		{"PYTHONHOME=py", ""},
		{"CPATH=", ""},
		{"COMPILER_PATH=bin:/b", "COMPILER_PATH=/b"},
		{"NVCC_CCBIN=gcc", "NVCC_CCBIN=gcc"}, // the one on PATH
		{"NVCC_CCBIN=./gcc", "NVCC_CCBIN=" + dir + "/gcc"},
		{"NVCC_CCBIN=/usr/bin/gcc", "NVCC_CCBIN=/usr/bin/gcc"},
		{"PIP_CONFIG_FILE=pip.conf", "PIP_CONFIG_FILE=" + dir + "/pip.conf"},
		{"PIP_FIND_LINKS=wheels https://x/y ~/w", "PIP_FIND_LINKS=" + dir + "/wheels https://x/y ~/w"},
		{"PIP_INDEX_URL=https://x/simple", "PIP_INDEX_URL=https://x/simple"},
		{"PIP_INDEX_URL=mirror", "PIP_INDEX_URL=" + dir + "/mirror"},
		{"TMPDIR=", "TMPDIR="},
		{"OTHER=a:.", "OTHER=a:."},
	} {
		env := []string{c.env}
		var want []string
		if c.want != "" {
			want = append(want, c.want)
		}
		if !strings.HasPrefix(c.env, "PATH=") {
			env, want = append(env, "PATH=/p"), append(want, "PATH=/p")
		}
		require.Equal(t, want, clean(env, dir), c.env)
	}
}

func script(t *testing.T, path, text string) string {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o777))
	return path
}

func TestLookPathPassesOverTheCurrentFolder(t *testing.T) {
	here, there := t.TempDir(), t.TempDir()
	t.Chdir(here)
	script(t, filepath.Join(here, "tool"), "")
	for _, path := range []string{".", "", ":", ".:" + there, ":" + there, "bin:" + there} {
		t.Setenv("PATH", path)
		_, err := LookPath("tool")
		require.ErrorIs(t, err, exec.ErrNotFound, path)
		require.ErrorIs(t, Run(t.Context(), "tool", nil, Options{}), exec.ErrNotFound, path)
	}
	want := script(t, filepath.Join(there, "tool"), "")
	for _, path := range []string{".:" + there, ":" + there} {
		t.Setenv("PATH", path)
		got, err := LookPath("tool")
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err := LookPath("./tool")
	require.ErrorContains(t, err, "absolute path")
}

func TestRunInAnEmptyFolder(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	tool := script(t, filepath.Join(t.TempDir(), "tool"), "pwd; echo $PWD; ls; echo rest; sleep 60 &")
	out, err := Output(t.Context(), tool, nil, Options{})
	require.NoError(t, err)
	lines := strings.Fields(out)
	require.Len(t, lines, 3)
	require.Equal(t, lines[0], lines[1])
	require.Equal(t, os.Getenv("TMPDIR"), filepath.Dir(lines[0]))
	require.NoDirExists(t, lines[0])
}

func TestRunErrors(t *testing.T) {
	fails := script(t, filepath.Join(t.TempDir(), "fails"), "echo why; exit 3")
	_, err := Output(t.Context(), fails, []string{"-x"}, Options{})
	require.EqualError(t, err, "fails -x: exit status 3: why")
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.ErrorContains(t, Run(t.Context(), fails, nil, Options{Dir: "relative"}), "absolute folder")

	hangs := script(t, filepath.Join(t.TempDir(), "hangs"), "sleep 60")
	start := time.Now()
	err = Run(t.Context(), hangs, []string{"--version"}, Options{Timeout: 100 * time.Millisecond})
	require.EqualError(t, err, "hangs --version: expected it to end within 100ms, but it still ran and was killed")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, Run(ctx, hangs, nil, Options{Timeout: time.Hour}), context.DeadlineExceeded)
	require.Less(t, time.Since(start), 3*time.Second)
}

func TestInterrupt(t *testing.T) {
	ready := filepath.Join(t.TempDir(), "ready")
	polite := script(t, filepath.Join(t.TempDir(), "polite"), `trap "echo bye; exit 0" INT; touch "$1"; while :; do sleep 0.01; done`)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for _, err := os.Stat(ready); errors.Is(err, os.ErrNotExist); _, err = os.Stat(ready) {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	var out bytes.Buffer
	require.ErrorIs(t, Run(ctx, polite, []string{ready}, Options{Stdout: &out, Interrupt: true}), context.Canceled)
	require.Equal(t, "bye\n", out.String())
}

// TestHelper is no test: it is the parent that the tests below kill.
func TestHelper(t *testing.T) {
	tool := os.Getenv("GOCUTE_TEST_PARENT")
	if tool == "" {
		t.Skip("only runs as a child of other tests")
	}
	_ = Run(context.Background(), tool, nil, Options{})
}

// TestKilledParent kills a parent in the middle: its child, and what that started, end, and the next run sweeps the folder.
func TestKilledParent(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("the test reads /proc")
	}
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	list := filepath.Join(t.TempDir(), "pids")
	t.Setenv("GOCUTE_TEST_PARENT", script(t, filepath.Join(t.TempDir(), "tool"),
		"sleep 300 & echo $! >>"+list+"; (sleep 300 & echo $! >>"+list+"; wait) & echo $$ >>"+list+"; wait"))
	self, err := os.Executable()
	require.NoError(t, err)
	parent := exec.Command(self, "-test.run=^TestHelper$")
	require.NoError(t, parent.Start())
	var pids []string
	require.Eventually(t, func() bool {
		data, _ := os.ReadFile(list)
		pids = strings.Fields(string(data))
		return len(pids) == 3
	}, 10*time.Second, 10*time.Millisecond)
	for _, pid := range pids {
		require.True(t, alive(pid), pid)
	}
	folders := func() []string {
		list, err := filepath.Glob(filepath.Join(tmp, scratch.Prefix+"*"))
		require.NoError(t, err)
		return list
	}
	scratch.Sweep("", scratch.Prefix)
	require.Len(t, folders(), 1, "its owner lives")
	require.NoError(t, parent.Process.Kill())
	_ = parent.Wait()
	require.Eventually(t, func() bool { return !alive(pids[0]) && !alive(pids[1]) && !alive(pids[2]) }, 5*time.Second, 10*time.Millisecond)
	require.Len(t, folders(), 1)
	scratch.Sweep("", scratch.Prefix)
	require.Empty(t, folders())
}

// alive reports whether a process runs: one that ended and waits to be noticed does not.
func alive(pid string) bool {
	data, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return false
	}
	_, state, _ := bytes.Cut(data, []byte(") "))
	return len(state) > 0 && state[0] != 'Z' && state[0] != 'X'
}

func BenchmarkRun(b *testing.B) {
	for b.Loop() {
		require.NoError(b, Run(b.Context(), "/bin/true", nil, Options{Dir: "/"}))
	}
}

func BenchmarkWithoutWatchdog(b *testing.B) {
	for b.Loop() {
		require.NoError(b, exec.Command("/bin/true").Run())
	}
}
