//go:build linux && (amd64 || arm64)

package dl

import (
	"runtime"

	"github.com/ebitengine/purego"
)

// globalScope makes a library's symbols visible to those loaded after it, as a plain link would.
const globalScope = purego.RTLD_NOW | purego.RTLD_GLOBAL

func open(path string) (uintptr, error) {
	return onOneThread(func() (uintptr, error) { return purego.Dlopen(path, globalScope) })
}

func symbol(handle uintptr, name string) (uintptr, error) {
	return onOneThread(func() (uintptr, error) { return purego.Dlsym(handle, name) })
}

// onOneThread keeps a call on the thread on which it failed: dlerror, which says why, is each thread's own.
func onOneThread(f func() (uintptr, error)) (uintptr, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return f()
}

// Call runs the C function at fn, all of whose parameters are integers or pointers, and returns the
// integer it returns. Pointers written as uintptr(unsafe.Pointer(p)) in the call itself stay valid
// until it returns. fn must not be 0.
//
//go:uintptrescapes
func Call(fn uintptr, args ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(fn, args...)
	return r
}

// CallFrame is Call with the arguments in a slice of the caller's, which it neither keeps nor changes:
// it allocates nothing, where Call allocates its argument list. Whatever the words point to must be
// kept alive by the caller.
func CallFrame(fn uintptr, frame []uintptr) uintptr {
	r, _, _ := purego.SyscallN(fn, frame...)
	return r
}

// Callback makes a C function pointer of a Go function, for tests that stand in for a library. It is never freed.
func Callback(fn any) uintptr { return purego.NewCallback(fn) }
