//go:build linux && (amd64 || arm64)

package dl

import (
	"errors"
	"io"
	"os"
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

func TestLibC(t *testing.T) {
	lib, err := Open("libnone.so.77", "libc.so.6")
	if err != nil {
		t.Skip("no glibc here:", err)
	}
	var strlen, absent uintptr
	require.NoError(t, lib.Bind([]Sym{{"strlen", &strlen, false}, {"gocute_absent", &absent, true}}))
	require.Zero(t, absent)
	require.ErrorContains(t, lib.Bind([]Sym{{"gocute_absent", &absent, false}}), "libc.so.6 lacks gocute_absent")

	s := []byte("four\x00")
	require.EqualValues(t, 4, Call(strlen, uintptr(unsafe.Pointer(&s[0]))))
	// A launch may not allocate, so a call with a frame may not either.
	frame := []uintptr{uintptr(unsafe.Pointer(&s[0]))}
	require.Zero(t, testing.AllocsPerRun(200, func() { CallFrame(strlen, frame) }))
	require.EqualValues(t, 4, CallFrame(strlen, frame))
	runtime.KeepAlive(s)
}

func TestOpenSaysWhy(t *testing.T) {
	_, err := Open("libnone.so.1", "libnone.so.2")
	require.ErrorContains(t, err, "libnone.so.1")
	require.ErrorContains(t, err, "libnone.so.2")
}

func BenchmarkCall(b *testing.B) {
	lib, err := Open("libc.so.6")
	if err != nil {
		b.Skip(err)
	}
	var strlen uintptr
	require.NoError(b, lib.Bind([]Sym{{"strlen", &strlen, false}}))
	s := []byte("four\x00")
	b.ReportAllocs()
	frame := make([]uintptr, 11) // as many words as cuLaunchKernel takes
	frame[0] = uintptr(unsafe.Pointer(&s[0]))
	for b.Loop() {
		CallFrame(strlen, frame)
	}
	runtime.KeepAlive(s)
}

// A library by a relative path, or by a name that the loader would find in the current folder, is not loaded.
func TestNothingOfTheCurrentFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("libmine.so.1", nil, 0o666))
	require.NoError(t, os.Mkdir("sub", 0o777))
	require.NoError(t, os.WriteFile("sub/libmine.so.1", nil, 0o666))
	for _, path := range []string{"./libmine.so.1", "sub/libmine.so.1", "../libmine.so.1"} {
		_, err := Open(path)
		require.ErrorContains(t, err, path+": expected an absolute path, or a library's name, but got a relative path")
	}
	for _, search := range []string{":/usr/lib", "/usr/lib:", "/usr/lib;.", "/usr/lib::/lib", "sub", "."} {
		require.ErrorContains(t, here("libmine.so.1", search), "LD_LIBRARY_PATH has the relative entry", search)
		require.NoError(t, here("libother.so.1", search), search)
	}
	require.NoError(t, here("libmine.so.1", ""))
	require.NoError(t, here("libmine.so.1", "/usr/lib:/lib"))
	t.Setenv("LD_LIBRARY_PATH", ":/usr/lib")
	_, err := Open("libmine.so.1")
	require.ErrorContains(t, err, "remove the entry")
}

// The reasons of several tries are one line.
func TestReasons(t *testing.T) {
	_, err := Open("/nowhere/a.so", "/nowhere/b.so")
	require.Error(t, err)
	require.NotContains(t, err.Error(), "\n")
	require.ErrorIs(t, Reasons{io.EOF, os.ErrNotExist}, os.ErrNotExist)
	require.Equal(t, "a; b", Reasons{errors.New("a"), errors.New("b")}.Error())
}
