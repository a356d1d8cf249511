package build

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestFindOrder(t *testing.T) {
	m := newMachine(t)
	opt := m.options()
	opt.NoInstall = true
	opt.system = filepath.Join(m.dir, "system")
	find := func() *Toolchain {
		t.Helper()
		tc, err := Find(t.Context(), opt)
		require.NoError(t, err)
		return tc
	}
	m.nvcc(filepath.Join(opt.system, "bin/nvcc"), "12.4.131")
	require.Equal(t, "/usr/local/cuda", find().Origin)
	m.nvcc(filepath.Join(m.bin, "nvcc"), "12.8.93")
	tc := find()
	require.Equal(t, "PATH", tc.Origin)
	require.Equal(t, Version{12, 8, 93}, tc.Version)
	home := filepath.Join(m.dir, "home")
	m.nvcc(filepath.Join(home, "bin/nvcc"), "13.0.88")
	t.Setenv("CUDA_HOME", home)
	require.Equal(t, "CUDA_HOME", find().Origin)
	require.Empty(t, find().Warnings)
	t.Setenv(EnvNVCC, m.nvcc(filepath.Join(m.dir, "mine"), "13.5.37"))
	tc = find()
	require.Equal(t, EnvNVCC, tc.Origin)
	require.Len(t, tc.Warnings, 1, "PTX of 13.5 needs a newer driver")
	require.Contains(t, tc.Warnings[0], "driver for CUDA 13.5")
}

func TestFindPassesOverUnusable(t *testing.T) {
	m := newMachine(t)
	opt := m.options()
	opt.NoInstall = true
	m.nvcc(filepath.Join(m.bin, "nvcc"), "11.8.89")
	_, err := Find(t.Context(), opt)
	var nf *NotFoundError
	require.ErrorAs(t, err, &nf)
	require.ErrorContains(t, err, "expected nvcc 12.4 or newer, but got 11.8.89")
	require.ErrorContains(t, err, "nothing installed there")
	require.ErrorContains(t, err, "allow gocute to install one")

	m.write(filepath.Join(m.bin, "nvcc"), "#!/bin/sh\necho what\n")
	_, err = Find(t.Context(), opt)
	require.ErrorContains(t, err, `but got "what"`)

	m.write(filepath.Join(m.bin, "nvcc"), "#!/bin/sh\ncase $1 in --version) echo V13.0.1;; *) echo sm_90;; esac\n")
	_, err = Find(t.Context(), opt)
	require.ErrorContains(t, err, "to compile for sm_80, but it lists sm_90")

	// The same machine with python3 installs instead.
	m.python("")
	tc, err := Find(t.Context(), m.options())
	require.NoError(t, err)
	require.Equal(t, "installed", tc.Origin)
}

func TestFindNamedNVCCIsBinding(t *testing.T) {
	m := newMachine(t)
	m.nvcc(filepath.Join(m.bin, "nvcc"), "13.0.88")
	t.Setenv(EnvNVCC, filepath.Join(m.dir, "absent"))
	_, err := Find(t.Context(), m.options())
	require.ErrorContains(t, err, "no such file")
	require.ErrorContains(t, err, "unset GOCUTE_NVCC")
}

func TestInstallOnceThenReuse(t *testing.T) {
	m := newMachine(t)
	m.python("")
	var told bytes.Buffer
	opt := m.options()
	opt.Progress = &told
	tc, err := Find(t.Context(), opt)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(m.cache, installName, wheelRoot, "bin/nvcc"), tc.NVCC)
	require.Contains(t, told.String(), "Downloading some_wheel.whl")
	require.DirExists(t, filepath.Join(m.cache, installName, wheelRoot))
	link, err := os.Readlink(filepath.Join(m.cache, installName, wheelRoot, "lib64"))
	require.NoError(t, err)
	require.Equal(t, "lib", link)
	require.Empty(t, m.leftovers())

	told.Reset()
	opt.NoInstall = true // an installed one may still be used
	_, err = Find(t.Context(), opt)
	require.NoError(t, err)
	require.Empty(t, told.String())
	require.Equal(t, 1, m.calls("pip"))

	// A file that went missing is noticed and the whole is installed anew.
	require.NoError(t, os.Remove(filepath.Join(m.cache, installName, wheelRoot, "nvvm/bin/cicc")))
	_, err = Find(t.Context(), opt)
	require.ErrorContains(t, err, "nvvm/bin/cicc")
	opt.NoInstall = false
	_, err = Find(t.Context(), opt)
	require.NoError(t, err)
	require.Equal(t, 2, m.calls("pip"))
}

// leftovers are temporary folders of installations.
func (m *machine) leftovers() []string {
	list, err := filepath.Glob(filepath.Join(m.cache, installName+".tmp-*"))
	require.NoError(m.t, err)
	return list
}

func TestInstallFailures(t *testing.T) {
	for _, c := range []struct{ mode, want string }{
		{"nopip", "No module named pip"},
		{"offline", "ERROR: No matching distribution found"},
		{"partial", "expected the files of the pinned wheels"},
	} {
		t.Run(c.mode, func(t *testing.T) {
			m := newMachine(t)
			m.python(c.mode)
			_, err := Find(t.Context(), m.options())
			var ie *InstallError
			require.ErrorAs(t, err, &ie)
			require.ErrorContains(t, err, c.want)
			require.NoDirExists(t, filepath.Join(m.cache, installName))
			require.Empty(t, m.leftovers())
			m.python("")
			_, err = Find(t.Context(), m.options())
			require.NoError(t, err, "a later try must work")
		})
	}
	t.Run("no python", func(t *testing.T) {
		m := newMachine(t)
		_, err := Find(t.Context(), m.options())
		require.ErrorContains(t, err, "expected python3 with pip on PATH")
	})
	t.Run("no host compiler", func(t *testing.T) {
		m := newMachine(t)
		m.python("")
		require.NoError(t, os.Remove(filepath.Join(m.bin, "gcc")))
		_, err := Find(t.Context(), m.options())
		require.ErrorContains(t, err, "install g++")
		require.Zero(t, m.calls("pip"), "nothing may be downloaded in vain")
	})
	t.Run("wrong release", func(t *testing.T) {
		m := newMachine(t)
		m.python("")
		m.wheels("13.1.80")
		_, err := Find(t.Context(), m.options())
		require.ErrorContains(t, err, "expected release 13.0, but got 13.1.80")
		require.NoDirExists(t, filepath.Join(m.cache, installName))
	})
}

func TestInstallCancelled(t *testing.T) {
	m := newMachine(t)
	m.python("hang")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := Find(ctx, m.options())
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Less(t, time.Since(start), 3*time.Second, "pip's children must be stopped too")
	require.Empty(t, m.leftovers())
}

// TestHelperProcess is no test: it is the other process of the tests below.
func TestHelperProcess(t *testing.T) {
	system := os.Getenv("GOCUTE_TEST_HELPER")
	if system == "" {
		t.Skip("only runs as a child of other tests")
	}
	_, err := Find(context.Background(), Options{system: system, tree: os.Getenv("GOCUTE_TEST_TREE")})
	require.NoError(t, err)
}

func (m *machine) helper() *exec.Cmd {
	m.t.Helper()
	self, err := os.Executable()
	require.NoError(m.t, err)
	cmd := exec.Command(self, "-test.run=^TestHelperProcess$", "-test.count=1")
	cmd.Env = append(os.Environ(), "GOCUTE_TEST_HELPER="+m.options().system, "GOCUTE_TEST_TREE="+m.digest())
	return cmd
}

func TestInstallTwoProcesses(t *testing.T) {
	m := newMachine(t)
	m.python("")
	var cmds [3]*exec.Cmd
	var outs [3]bytes.Buffer
	for i := range cmds {
		cmds[i] = m.helper()
		cmds[i].Stdout, cmds[i].Stderr = &outs[i], &outs[i]
		require.NoError(t, cmds[i].Start())
	}
	for i, cmd := range cmds {
		require.NoError(t, cmd.Wait(), outs[i].String())
	}
	require.Equal(t, 1, m.calls("pip"), "one installs, the others wait for it")
	require.Empty(t, m.leftovers())
}

func TestInstallKilledThenRepeated(t *testing.T) {
	m := newMachine(t)
	m.python("hang")
	cmd := m.helper()
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool {
		found, _ := filepath.Glob(filepath.Join(m.cache, installName+".tmp-*", "target", wheelRoot, "bin/nvcc"))
		return len(found) == 1
	}, 5*time.Second, 10*time.Millisecond, "the half of an installation")
	require.NoError(t, cmd.Process.Kill())
	var exit *exec.ExitError
	require.True(t, errors.As(cmd.Wait(), &exit))
	require.NotEmpty(t, m.leftovers())
	require.NoDirExists(t, filepath.Join(m.cache, installName), "half of it must not look whole")

	m.python("")
	_, err := Find(t.Context(), m.options())
	require.NoError(t, err)
	require.Empty(t, m.leftovers())
}
