//go:build !linux || !(amd64 || arm64)

package dl

func open(string) (uintptr, error) { return 0, ErrUnsupported }

func symbol(uintptr, string) (uintptr, error) { return 0, ErrUnsupported }

// Call is never reached: Open fails on this platform. It reports a non-zero C result.
func Call(uintptr, ...uintptr) uintptr { return ^uintptr(0) }

// CallFrame is never reached either.
func CallFrame(uintptr, []uintptr) uintptr { return ^uintptr(0) }

// Callback returns 0: there is nothing on this platform that could call it.
func Callback(any) uintptr { return 0 }
