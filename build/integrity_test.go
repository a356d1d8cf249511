package build

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

// installed is a machine with an installation, and options that forbid another one.
func installed(t *testing.T) (*machine, Options) {
	t.Helper()
	m := newMachine(t)
	m.python("")
	opt := m.options()
	_, err := Find(t.Context(), opt)
	require.NoError(t, err)
	opt.NoInstall = true
	return m, opt
}

// file is one of the installation's.
func (m *machine) file(parts ...string) string {
	return filepath.Join(append([]string{m.cache, installName}, parts...)...)
}

func TestListIsRebuiltWithoutDownload(t *testing.T) {
	for name, harm := range map[string]func(t *testing.T, path string) error{
		"missing": func(_ *testing.T, path string) error { return os.Remove(path) },
		"cut off": func(_ *testing.T, path string) error { return os.Truncate(path, 10) },
		"empty":   func(_ *testing.T, path string) error { return os.Truncate(path, 0) },
		"changed": func(_ *testing.T, path string) error { return os.WriteFile(path, []byte("{}"), 0o666) },
	} {
		t.Run(name, func(t *testing.T) {
			m, opt := installed(t)
			whole, err := os.ReadFile(m.file(listName))
			require.NoError(t, err)
			require.NoError(t, harm(t, m.file(listName)))
			_, err = Find(t.Context(), opt)
			require.NoError(t, err)
			got, err := os.ReadFile(m.file(listName))
			require.NoError(t, err)
			require.Equal(t, string(whole), string(got))
			require.Equal(t, 1, m.calls("pip"))
		})
	}
}

func TestDamageIsExplainedAndRepaired(t *testing.T) {
	const ptxas = wheelRoot + "/bin/ptxas"
	for name, c := range map[string]struct {
		harm func(m *machine) error
		want string
	}{
		"truncated":      {func(m *machine) error { return os.Truncate(m.file(ptxas), 3) }, "bin/ptxas: expected 15 bytes, but got 3"},
		"missing":        {func(m *machine) error { return os.Remove(m.file(ptxas)) }, "bin/ptxas: no such file"},
		"not executable": {func(m *machine) error { return os.Chmod(m.file(ptxas), 0o666) }, "bin/ptxas: expected a program"},
		"a folder": {func(m *machine) error {
			return errors.Join(os.Remove(m.file(ptxas)), os.Mkdir(m.file(ptxas), 0o777))
		}, "bin/ptxas: expected a plain file"},
		"no link": {func(m *machine) error { return os.Remove(m.file(libLink)) }, "lib64: no such file"},
		"list and file": {func(m *machine) error {
			return errors.Join(os.Remove(m.file(listName)), os.WriteFile(m.file(ptxas), []byte("broken bin/ptxa"), 0o777))
		}, "but got 10 files whose list has"},
		"several": {func(m *machine) error {
			return errors.Join(os.Truncate(m.file(ptxas), 3), os.Truncate(m.file(wheelRoot, "bin/nvcc.profile"), 3))
		}, "(and 1 other files)"},
	} {
		t.Run(name, func(t *testing.T) {
			m, opt := installed(t)
			require.NoError(t, c.harm(m))
			_, err := Find(t.Context(), opt)
			require.ErrorContains(t, err, "it is damaged: ")
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, "allow gocute to install one")
			opt.NoInstall = false
			var told bytes.Buffer
			opt.Progress = &told
			_, err = Find(t.Context(), opt)
			require.NoError(t, err)
			require.Contains(t, told.String(), "the nvcc that gocute installed cannot be used: it is damaged: ")
			require.Equal(t, 2, m.calls("pip"))
			require.Empty(t, m.leftovers())
			data, err := os.ReadFile(m.file(ptxas))
			require.NoError(t, err)
			require.Equal(t, "whole bin/ptxas", string(data))
		})
	}
}

// crashing makes the fake nvcc call the ptxas beside it, whose crash it reports as the real one does.
const crashing = `
if [ "$(cat "${0%/*}/ptxas")" != "whole bin/ptxas" ]; then echo "nvcc error   : 'ptxas' died due to signal 11 (Invalid memory reference)"; exit 139; fi
`

// A file that has its size and other bytes shows itself by a crash only.
func TestCrashOfADamagedCompilerIsRepaired(t *testing.T) {
	m := newMachine(t)
	m.python("")
	nvcc := filepath.Join(m.tree(), wheelRoot, "bin/nvcc")
	data, err := os.ReadFile(nvcc)
	require.NoError(t, err)
	m.write(nvcc, strings.Replace(string(data), "for a in", crashing+"for a in", 1))
	opt := m.options()
	tc, err := Find(t.Context(), opt)
	require.NoError(t, err)
	ptxas := m.file(wheelRoot, "bin/ptxas")
	src := Source{Name: "k", Code: []byte("x"), NoCache: true}
	damage := func() { require.NoError(t, os.WriteFile(ptxas, []byte("WHOLE bin/ptxas"), 0o777)) }

	damage()
	_, err = tc.Compile(t.Context(), src)
	require.NoError(t, err)
	require.Equal(t, 2, m.calls("pip"), "once, whatever number of steps failed")

	opt.NoInstall = true
	tc, err = Find(t.Context(), opt)
	require.NoError(t, err)
	damage()
	_, err = tc.Compile(t.Context(), src)
	var ce *CompileError
	require.ErrorAs(t, err, &ce)
	require.ErrorContains(t, err, "died due to signal 11")
	require.ErrorContains(t, err, "it is damaged: "+ptxas+": expected the SHA-256")
	require.ErrorContains(t, err, "allow gocute to install it anew")
	require.Equal(t, 2, m.calls("pip"))

	m.python("offline")
	opt.NoInstall, opt.tree = false, tc.healer.in.digest
	tc, err = Find(t.Context(), opt)
	require.NoError(t, err)
	_, err = tc.Compile(t.Context(), src)
	require.ErrorContains(t, err, "it could not be installed anew")
	require.ErrorContains(t, err, "ERROR: No matching distribution found")
}

// The file of the compiler itself may have its size and not work.
func TestDamagedNVCCIsRepaired(t *testing.T) {
	m, opt := installed(t)
	nvcc := m.file(wheelRoot, "bin/nvcc")
	data, err := os.ReadFile(nvcc)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(nvcc, bytes.Replace(data, []byte("#!/bin/sh"), []byte("#!/bin/xx"), 1), 0o777))
	_, err = Find(t.Context(), opt)
	require.ErrorContains(t, err, "bin/nvcc: expected the SHA-256")
	opt.NoInstall = false
	_, err = Find(t.Context(), opt)
	require.NoError(t, err)
	require.Equal(t, 2, m.calls("pip"))
}

// A source's own fault is no reason to doubt the installation.
func TestRefusalsAreNotSuspicious(t *testing.T) {
	h := &healer{in: installer{dir: "/cache/cuda"}}
	failed := exec.Command("/bin/sh", "-c", "exit 2").Run()
	killed := exec.Command("/bin/sh", "-c", "kill -SEGV $$").Run()
	for _, c := range []struct {
		err    error
		output string
		want   bool
	}{
		{failed, "k.cu(3): error: identifier \"x\" is undefined", false},
		{failed, "ptxas k.ptx, line 12; error   : Unknown symbol 'x'", false},
		{failed, "ptxas fatal   : Ptx assembly aborted due to errors", false},
		{failed, "nvcc fatal   : Unknown option '-foo'", false},
		{failed, "/cache/cuda/nvidia/cu13/include/cuda_fp16.h(8): error: expected a \";\"", true},
		{failed, "nvcc error   : 'cicc' died due to signal 11 (Invalid memory reference)", true},
		{failed, "sh: 1: cicc: not found", true},
		{failed, "", true},
		{killed, "k.cu(3): error: x", true},
		{os.ErrPermission, "", true},
	} {
		require.Equal(t, c.want, h.unexpected(c.err, c.output), c.output)
	}
	require.False(t, (*healer)(nil).unexpected(killed, ""), "not of our installing")
}

// Whatever pip says, other files than the pinned wheels' are refused before anything of them runs.
func TestOtherWheelsAreRefused(t *testing.T) {
	for mode, want := range map[string]string{
		"other":  "expected the files of the pinned wheels",
		"more":   "expected the files of the pinned wheels",
		"hashes": "has other files by these names; nothing was installed\n    Downloading some_wheel.whl (1.0 MB)\n    ERROR: THESE PACKAGES DO NOT MATCH THE HASHES",
	} {
		t.Run(mode, func(t *testing.T) {
			m := newMachine(t)
			m.python(mode)
			_, err := Find(t.Context(), m.options())
			require.ErrorContains(t, err, want)
			require.NoFileExists(t, m.log("pip")+".ran")
			require.NoDirExists(t, m.file())
			require.Empty(t, m.leftovers())
			asked, err := os.ReadFile(m.log("pip") + ".wheels")
			require.NoError(t, err)
			require.Equal(t, nvccPack().requirements(), string(asked))
			require.Equal(t, 5, strings.Count(string(asked), " --hash=sha256:"))
		})
	}
}

// TestKilledInstall kills the process during pip: pip and its children end, and the next run of any kind sweeps.
func TestKilledInstall(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("the test reads /proc")
	}
	m := newMachine(t)
	t.Setenv("TMPDIR", t.TempDir())
	m.python("hang")
	cmd := m.helper()
	require.NoError(t, cmd.Start())
	var pids []string
	require.Eventually(t, func() bool {
		data, _ := os.ReadFile(m.log("pip") + ".pid")
		pids = strings.Fields(string(data))
		return len(pids) == 2
	}, 10*time.Second, 10*time.Millisecond)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	require.Eventually(t, func() bool { return !running(pids[0]) && !running(pids[1]) }, 5*time.Second, 10*time.Millisecond)
	require.Len(t, m.leftovers(), 1)
	m.write(filepath.Join(m.cache, installName+".tmp-mine", "file"), "not gocute's")
	opt := m.options()
	opt.NoInstall = true
	_, err := Find(t.Context(), opt)
	require.ErrorContains(t, err, "nothing installed there")
	require.Equal(t, []string{filepath.Join(m.cache, installName+".tmp-mine")}, m.leftovers())
	left, err := filepath.Glob(filepath.Join(os.TempDir(), scratch.Prefix+"*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// running reports whether a process runs: one that ended and waits to be noticed does not.
func running(pid string) bool {
	data, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return false
	}
	_, state, _ := bytes.Cut(data, []byte(") "))
	return len(state) > 0 && state[0] != 'Z' && state[0] != 'X'
}

// TestNothingOfTheCurrentFolderRuns leaves traps in it.
func TestNothingOfTheCurrentFolderRuns(t *testing.T) {
	for _, path := range []string{".:", ":"} {
		t.Run(path, func(t *testing.T) {
			m := newMachine(t)
			m.python("")
			trap := filepath.Join(m.dir, "sprung")
			here := t.TempDir()
			for _, name := range []string{"nvcc", "gcc", "python3", "sh", "cat", "cicc", "bin/nvcc"} {
				m.write(filepath.Join(here, name), "#!/bin/sh\necho "+name+" >> "+trap+"\n")
			}
			t.Chdir(here)
			t.Setenv("PATH", path+m.bin)
			t.Setenv("CUDA_HOME", ".")
			tc, err := Find(t.Context(), m.options())
			require.NoError(t, err)
			require.Equal(t, "installed", tc.Origin)
			_, err = tc.Compile(t.Context(), Source{Name: "k", Code: []byte("x")})
			require.NoError(t, err)
			t.Setenv("PATH", path)
			_, err = Find(t.Context(), Options{NoInstall: true, system: m.dir, tree: "none"})
			require.ErrorContains(t, err, "PATH: no nvcc in any of its folders")
			require.ErrorContains(t, err, "CUDA_HOME (.): expected an absolute path, but got a relative one")
			_, err = FindNVRTC(t.Context(), Options{NoInstall: true, system: m.dir, tree: "none"})
			require.ErrorContains(t, err, "CUDA_HOME (.): expected an absolute path")
			require.NoFileExists(t, trap)
		})
	}
}

// realPython finds the machine's own python3 with pip.
func realPython(t *testing.T) string {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err == nil {
		cmd := exec.Command(python, "-m", "pip", "--version")
		cmd.Dir = t.TempDir()
		err = cmd.Run()
	}
	if err != nil {
		t.Skipf("no python3 with pip: %v", err)
	}
	return python
}

// traps for the real Python: modules that python3 -m pip and python3 -c would import from the current folder.
func TestNoModuleOfTheCurrentFolderRuns(t *testing.T) {
	realPython(t)
	trap := filepath.Join(t.TempDir(), "sprung")
	here := t.TempDir()
	for _, module := range []string{"pip", "site", "json", "runpy", "sitecustomize", "usercustomize", "encodings"} {
		text := "open(" + `"` + trap + `", "a").write("` + module + `")` + "\n"
		require.NoError(t, os.WriteFile(filepath.Join(here, module+".py"), []byte(text), 0o666))
	}
	t.Chdir(here)
	for _, pythonPath := range []string{"", ":/nowhere", ".", "x:."} {
		if t.Setenv("PYTHONPATH", pythonPath); pythonPath == "" {
			require.NoError(t, os.Unsetenv("PYTHONPATH"))
		}
		in := newInstaller(nvccPack(), Options{Progress: t.Output()}, t.TempDir())
		in.host = false
		_, err := in.prerequisites(t.Context())
		require.NoError(t, err)
		folders, err := sitePackages(t.Context(), Options{askLimit: askLimit})
		require.NoError(t, err)
		require.NotEmpty(t, folders)
		require.NoFileExists(t, trap, "PYTHONPATH=%s", pythonPath)
	}
}

// TestFakeWheels has the real pip offered wheels of ours by the right names.
func TestFakeWheels(t *testing.T) {
	python := realPython(t)
	folder := t.TempDir()
	const write = `
import sys, zipfile
for name, version in (a.split("==") for a in sys.argv[2:]):
    dist, info = name.replace("-", "_"), name.replace("-", "_") + "-" + version
    with zipfile.ZipFile(f"{sys.argv[1]}/{info}-py3-none-any.whl", "w") as z:
        z.writestr("nvidia/cu13/bin/nvcc", "#!/bin/sh\necho fake\n")
        z.writestr(info + ".dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        z.writestr(info + ".dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        z.writestr(info + ".dist-info/RECORD", "")
`
	args := []string{"-c", write, folder}
	for _, w := range nvccPack().wheels {
		args = append(args, w.pin)
	}
	out, err := exec.Command(python, args...).CombinedOutput()
	require.NoError(t, err, string(out))
	t.Setenv("PIP_NO_INDEX", "1")
	t.Chdir(filepath.Dir(folder))
	t.Setenv("PIP_FIND_LINKS", filepath.Base(folder)) // relative, and pip is to find it all the same
	cache := t.TempDir()
	in := newInstaller(nvccPack(), Options{Progress: t.Output()}, cache)
	in.host = false
	err = in.install(context.Background(), in.missing)
	require.ErrorContains(t, err, "check the wheels' hashes: expected the pinned wheels")
	require.ErrorContains(t, err, wheelNVCC.hash.get(), "what was expected")
	require.Regexp(t, `Got +[0-9a-f]{64}`, err.Error(), "what came")
	left, err := filepath.Glob(filepath.Join(cache, "*"))
	require.NoError(t, err)
	require.Equal(t, []string{in.dir + ".lock"}, left)
}
