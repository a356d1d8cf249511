package build

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSaidIsBounded: of what a compiler prints without end, the beginning and the end are kept, and less is shown.
func TestSaidIsBounded(t *testing.T) {
	var s said
	s.Write([]byte("first\n"))
	for range 100 {
		n, err := s.Write([]byte(strings.Repeat("x", 1<<20)))
		require.NoError(t, err)
		require.Equal(t, 1<<20, n)
	}
	s.Write([]byte("\nlast"))
	text := s.String()
	require.Less(t, len(text), mostSaid+100)
	require.True(t, strings.HasPrefix(text, "first\n") && strings.HasSuffix(text, "\nlast"))
	require.Contains(t, text, "bytes left out)")
	require.Less(t, len(shown(text)), 4000)

	lines := strings.Split(shown(strings.Repeat("warning\n", 100_000)), "\n")
	require.Len(t, lines, firstLines+finalLines+1)
	require.Equal(t, "(99750 lines left out)", lines[firstLines])
	require.Equal(t, "a\nb", shown("a\r\nb\n"))
	require.NotContains(t, shown("\x1b[31mred"), "\x1b")
}

// TestReadOutput: what a compiler wrote is a plain file, and no larger than an image can be.
func TestReadOutput(t *testing.T) {
	dir := t.TempDir()
	_, err := readOutput(dir, "k.ptx")
	require.ErrorContains(t, err, "expected the file k.ptx, but got none")
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(dir, "link")))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder"), 0o777))
	for _, name := range []string{"link", "folder"} {
		_, err := readOutput(dir, name)
		require.ErrorContains(t, err, "expected the plain file "+name)
	}
	f, err := os.Create(filepath.Join(dir, "huge"))
	require.NoError(t, err)
	require.NoError(t, f.Truncate(5<<30))
	require.NoError(t, f.Close())
	_, err = readOutput(dir, "huge")
	require.ErrorContains(t, err, "at most 268435456 bytes, but got 5368709120")
}

// TestNamedCompilers: GOCUTE_NVCC is an absolute path or a name on PATH, and no file of the current folder.
func TestNamedCompilers(t *testing.T) {
	m := newMachine(t)
	m.nvcc(filepath.Join(m.bin, "nvcc"), "13.0.88")
	trap := t.TempDir()
	m.write(filepath.Join(trap, "nvcc"), "#!/bin/sh\ntouch "+filepath.Join(trap, "sprung")+"\n")
	m.write(filepath.Join(trap, "sub", "nvcc"), "#!/bin/sh\ntouch "+filepath.Join(trap, "sprung")+"\n")
	t.Chdir(trap)
	t.Setenv(EnvNVCC, "nvcc")
	tc, err := Find(t.Context(), m.options())
	require.NoError(t, err)
	require.Equal(t, filepath.Join(m.bin, "nvcc"), tc.NVCC)
	for _, relative := range []string{"sub/nvcc", "./nvcc"} {
		t.Setenv(EnvNVCC, relative)
		_, err = Find(t.Context(), m.options())
		require.ErrorContains(t, err, notAbsolute)
	}
	t.Setenv(EnvNVRTC, "sub/libnvrtc.so")
	_, err = FindNVRTC(t.Context(), m.options())
	require.ErrorContains(t, err, notAbsolute)
	require.NoFileExists(t, filepath.Join(trap, "sprung"))
}

// TestCacheKnowsTheCompiler: what a wrapper around a compiler made is not taken for the compiler's own.
func TestCacheKnowsTheCompiler(t *testing.T) {
	m := newMachine(t)
	genuine := m.nvcc(filepath.Join(m.dir, "genuine", "nvcc"), "13.0.88")
	wrapper := m.write(filepath.Join(m.dir, "wrapper", "nvcc"), "#!/bin/sh\nexec "+genuine+" \"$@\"\n")
	for i, path := range []string{wrapper, genuine, wrapper} {
		t.Setenv(EnvNVCC, path)
		tc, err := Find(t.Context(), m.options())
		require.NoError(t, err)
		res := compile(t, tc, Source{Name: "k", Code: []byte("body\n"), Archs: []string{"sm_80"}})
		require.Equal(t, i == 2, res.Hit(), path)
	}
}
