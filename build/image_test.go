package build

import (
	"bytes"
	"debug/elf"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/internal/fakecubin"
)

// TestOutputIsLookedAt: a compiler that returns something else than PTX and cubins of what was asked for is told of, and
// nothing of it is cached.
func TestOutputIsLookedAt(t *testing.T) {
	for _, c := range []struct{ word, want string }{
		{"PTX_GARBAGE", `expected PTX, which begins with .version, but got 17 bytes that begin with "I am no compiler\n"`},
		{"PTX_NONE", "but got nothing (0 bytes)"},
		{"PTX_NOTHING", "expected the file k.ptx, but got"},
		{"PTX_VERSION", "expected PTX, which begins with .version"},
		{"PTX_TARGET", "expected PTX with .target sm_80, but got sm_70"},
		{"PTX_ENTRY", "expected PTX with a kernel (.entry), but got none"},
		{"PTX_CUT", "it is cut off"},
		{"CUBIN_GARBAGE", `expected an ELF file, but got 17 bytes that begin with "I am no compiler\n"`},
		{"CUBIN_NONE", "but got nothing (0 bytes)"},
		{"CUBIN_ARCH", "expected a cubin of sm_80, but got one of sm_100"},
		{"CUBIN_KERNEL", "expected code of the kernel k, but got only stranger"},
		{"CUBIN_HOST", "expected a 64-bit ELF file for CUDA (machine 190), but got ELFCLASS64 for machine 62"},
		{"CUBIN_CUT", "expected an ELF file, but got a damaged one of 400 bytes"},
	} {
		t.Run(c.word, func(t *testing.T) {
			m, tc := fakeToolchain(t)
			_, err := tc.Compile(t.Context(), Source{Name: "k", Code: []byte(c.word + "\n"), Archs: []string{"sm_80"}})
			var oe *OutputError
			require.ErrorAs(t, err, &oe)
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, "nvcc 13.0.88 at "+filepath.Join(m.bin, "nvcc")+" (found on PATH; CUDA_HOME is not set)")
			require.ErrorContains(t, err, "set GOCUTE_NVCC to another")
			files, err := filepath.Glob(filepath.Join(m.cache, "objects/*/*"))
			require.NoError(t, err)
			want := 0
			if oe.What == "cubin" { // the PTX was right
				want = 1
			}
			require.Len(t, files, want)
		})
	}
	t.Run("printed source has its kernel", func(t *testing.T) {
		_, tc := fakeToolchain(t)
		src := Source{Name: "k", Code: printed("PTX_KERNEL\n"), Archs: []string{"sm_80"}}
		_, err := tc.Compile(t.Context(), src)
		require.ErrorContains(t, err, "expected PTX with the kernel k, but got only stranger")
		src.Code = []byte("PTX_KERNEL\n")
		compile(t, tc, src) // somebody else's file may be named as they like
	})
	t.Run("no report", func(t *testing.T) {
		_, tc := fakeToolchain(t)
		res := compile(t, tc, Source{Name: "k", Code: []byte("NO_REPORT\n"), Archs: []string{"sm_80"}})
		require.Equal(t, []string{"sm_80: expected ptxas' report on the kernel k with its registers, but got none; they are not known"}, res.Warnings)
	})
}

// TestOutputOfOldCache: what a former release believed is a miss now.
func TestOutputOfOldCache(t *testing.T) {
	m, tc := fakeToolchain(t)
	src := Source{Name: "k", Code: []byte("body\n"), Archs: []string{"sm_80"}}
	want := compile(t, tc, src)
	files, err := filepath.Glob(filepath.Join(m.cache, "objects/*/*"))
	require.NoError(t, err)
	require.Len(t, files, 2)
	for _, path := range files {
		require.NoError(t, tc.store(filepath.Base(path), entry{payload: []byte("I am no compiler\n")}))
	}
	got := compile(t, tc, src)
	require.False(t, got.Hit())
	require.Equal(t, want.Binaries[0].Cubin, got.Binaries[0].Cubin)
	require.True(t, compile(t, tc, src).Hit())
}

func TestCheckCubin(t *testing.T) {
	good := fakecubin.New("sm_90a", "k")
	require.NoError(t, CheckCubin(good, "sm_90a", "k"))
	old := fakecubin.With(elf.Header64{Machine: uint16(machineCUDA), Flags: 0x00500550}, osabiCUDA12, "k")
	require.NoError(t, CheckCubin(old, "sm_80", "k"))
	require.ErrorContains(t, CheckCubin(old, "sm_90", "k"), "expected a cubin of sm_90, but got one of sm_80")
	for n := range len(good) { // however it is cut off
		require.Error(t, CheckCubin(good[:n], "sm_90", "k"), n)
	}
}

func TestRealOutputIsLookedAt(t *testing.T) {
	withReal(t, func(t *testing.T, c Compiler) {
		res := compile(t, c, realSource(t))
		for _, b := range res.Binaries {
			require.NoError(t, CheckCubin(b.Cubin, b.Arch, "k"))
			other := "sm_80"
			if b.Arch == other {
				other = "sm_90"
			}
			require.ErrorContains(t, CheckCubin(b.Cubin, other, "k"), "expected a cubin of "+other+", but got one of ")
			require.ErrorContains(t, CheckCubin(b.Cubin, b.Arch, "other"), "but got only k")
			require.Error(t, CheckCubin(b.Cubin[:len(b.Cubin)-100], b.Arch, "k"))
		}
		for _, p := range res.PTX {
			require.NoError(t, CheckPTX(p.Code, p.Arch, "k"))
			require.ErrorContains(t, CheckPTX(p.Code, "compute_86"), "expected PTX with .target sm_86, but got ")
			require.ErrorContains(t, CheckPTX(p.Code[:len(p.Code)*2/3], p.Arch), "cut off")
		}
	})
}

// TestChoiceIsTold: what was meant to be used and is not is a warning, and which compiler is used is said.
func TestChoiceIsTold(t *testing.T) {
	m, tc := fakeToolchain(t)
	var told bytes.Buffer
	Announce(&told, tc)
	path := filepath.Join(m.bin, "nvcc")
	require.Equal(t, "gocute: nvcc 13.0.88 at "+path+" (found on PATH; CUDA_HOME is not set)\n", told.String())

	t.Setenv("CUDA_HOME", "/nonexistent")
	tc, err := Find(t.Context(), m.options())
	require.NoError(t, err)
	require.Equal(t, []string{"CUDA_HOME (/nonexistent/bin/nvcc) is not used: no such file; nvcc 13.0.88 at " + path + " is used in its place"}, tc.Warnings)

	m.write(path, "#!/bin/sh\necho broken >&2; exit 3\n")
	m.python("")
	tc, err = Find(t.Context(), m.options())
	require.NoError(t, err)
	require.Len(t, tc.Warnings, 2)
	require.Contains(t, tc.Warnings[1], "PATH ("+path+") is not used: nvcc --version: exit status 3: broken")
	require.Contains(t, tc.Describe(), "(installed by gocute; that of CUDA_HOME cannot be used, that of PATH cannot be used)")
}

// TestAskHasLimits: a compiler or a Python that hangs, or never stops talking, is given up.
func TestAskHasLimits(t *testing.T) {
	m, opt := rtcMachine(t)
	opt.NoInstall, opt.askLimit = true, 300*time.Millisecond
	m.write(filepath.Join(m.bin, "nvcc"), "#!/bin/sh\nsleep 40\n")
	m.write(filepath.Join(m.bin, "python3"), "#!/bin/sh\nsleep 40\n")
	start := time.Now()
	_, err := Find(t.Context(), opt)
	require.ErrorContains(t, err, "nvcc --version: expected it to end within 300ms, but it still ran and was killed")
	_, err = FindNVRTC(t.Context(), opt)
	require.ErrorContains(t, err, "expected it to end within 300ms")
	require.Less(t, time.Since(start), 15*time.Second)

	m.write(filepath.Join(m.bin, "nvcc"), "#!/bin/sh\nwhile :; do cat \"$0\" \"$0\" \"$0\" \"$0\"; done\n")
	opt.askLimit = 30 * time.Second
	_, err = Find(t.Context(), opt)
	require.ErrorContains(t, err, "more than a megabyte")
}

// TestSlowCompileIsTold: one waits for a compile without end, but not without a word.
func TestSlowCompileIsTold(t *testing.T) {
	m := newMachine(t)
	m.nvcc(filepath.Join(m.bin, "nvcc"), "13.0.88")
	var told bytes.Buffer
	opt := m.options()
	opt.Progress, opt.patience = &told, 20*time.Millisecond
	tc, err := Find(t.Context(), opt)
	require.NoError(t, err)
	compile(t, tc, Source{Name: "k", Code: []byte("LATE\n"), Archs: []string{"sm_80"}})
	require.Contains(t, told.String(), "gocute: still waiting for nvcc ("+tc.Path+"), which compiles k for ")
}

func TestNoInstall(t *testing.T) {
	m := newMachine(t)
	m.python("")
	t.Setenv(EnvNoInstall, "1")
	_, err := Find(t.Context(), m.options())
	require.ErrorContains(t, err, "set GOCUTE_NVCC to an nvcc of CUDA 12.4 or newer, or allow gocute to install one: leave out --no-install and unset GOCUTE_NO_INSTALL")
	require.Zero(t, m.calls("pip"))
	t.Setenv(EnvNoInstall, "yes")
	_, err = Find(t.Context(), m.options())
	require.ErrorContains(t, err, `GOCUTE_NO_INSTALL: expected 1 or 0, but got "yes"`)
}

func TestTrim(t *testing.T) {
	m, tc := fakeToolchain(t)
	var paths []string
	for i := range 10 {
		key := keyOf([]byte{byte(i)})
		require.NoError(t, tc.store(key, entry{payload: bytes.Repeat([]byte{1}, 1000)}))
		paths = append(paths, tc.objectPath(key))
		old := time.Now().Add(time.Duration(i-100) * time.Hour)
		require.NoError(t, os.Chtimes(paths[i], old, old))
	}
	_, hit := tc.load(keyOf([]byte{0}))
	require.True(t, hit)
	info, err := os.Stat(paths[0])
	require.NoError(t, err)
	require.Less(t, time.Since(info.ModTime()), time.Minute, "it was used just now")
	writing := m.write(filepath.Join(filepath.Dir(paths[0]), tmpObject+"1"), "another process writes this")
	dead := m.write(filepath.Join(filepath.Dir(paths[0]), tmpObject+"2"), "another process wrote this")
	long := time.Now().Add(-48 * time.Hour)
	require.NoError(t, os.Chtimes(dead, long, long))

	t.Setenv(EnvLimit, "6KB")
	tc, err = Find(t.Context(), m.options()) // another process
	require.NoError(t, err)
	require.NoError(t, tc.store(keyOf([]byte("new")), entry{payload: []byte("new")}))
	require.FileExists(t, paths[0])
	require.NoFileExists(t, paths[1])
	require.NoFileExists(t, paths[2])
	require.FileExists(t, paths[9])
	require.FileExists(t, writing)
	require.NoFileExists(t, dead)
	list, _, err := listObjects(m.cache)
	require.NoError(t, err)
	var size int64
	for _, o := range list {
		size += o.size
	}
	require.LessOrEqual(t, size, int64(6<<10))

	for text, want := range map[string]int64{"0": 0, "17": 17, "500MB": 500 << 20, "2 GiB": 2 << 30, "1k": 1 << 10} {
		got, err := parseSize(text)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, text := range []string{"-1", "much", "1.5GB", "99999999999999999999", "99999999999T", "1PB"} {
		t.Setenv(EnvLimit, text)
		_, err := Find(t.Context(), m.options())
		require.ErrorContains(t, err, "GOCUTE_CACHE_LIMIT: expected a size such as 500MB, 2GB or 0, but got ")
	}
}

func TestClean(t *testing.T) {
	m := newMachine(t)
	m.python("")
	tc, err := Find(t.Context(), m.options())
	require.NoError(t, err)
	compile(t, tc, Source{Name: "k", Code: []byte("body\n"), Archs: []string{"sm_80"}})
	foreign := m.write(filepath.Join(m.cache, "objects/ab/thesis.txt"), "years of work")
	_, err = Clean(t.Context(), m.options(), true)
	require.ErrorContains(t, err, foreign+"; nothing was removed")
	require.True(t, compile(t, tc, Source{Name: "k", Code: []byte("body\n"), Archs: []string{"sm_80"}}).Hit())
	require.NoError(t, os.Remove(foreign))
	toolkit := m.write(filepath.Join(m.cache, "cuda-12.9/bin/nvcc"), "of somebody else")
	_, err = Clean(t.Context(), m.options(), true)
	require.ErrorContains(t, err, "cuda-12.9; nothing was removed")

	done, err := Clean(t.Context(), m.options(), false)
	require.NoError(t, err)
	require.Equal(t, 2, done.Objects)
	require.Positive(t, done.Bytes)
	require.FileExists(t, tc.NVCC)
	require.NoError(t, os.RemoveAll(filepath.Dir(filepath.Dir(toolkit))))
	other := m.write(filepath.Join(m.cache, "notes.txt"), "not ours")
	done, err = Clean(t.Context(), m.options(), true)
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(m.cache, installName)}, done.Toolchains)
	require.NoFileExists(t, tc.NVCC)
	require.FileExists(t, other)
}
