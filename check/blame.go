package check

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
)

// referenceError is a mistake of a reference, not of the kernel.
type referenceError struct {
	pos    string // file:line; empty where it is not known
	output string
	cause  string
}

// Error is the mistake in one line, without its place.
func (e *referenceError) Error() string {
	return fmt.Sprintf("the reference of %s panicked: %s", e.output, e.cause)
}

// blame makes an error of a reference's panic. It is called by the function that is deferred, and looks for the
// line in the frames that panicked.
func blame(output string, cause any) error {
	e := &referenceError{output: output, cause: strings.ReplaceAll(fmt.Sprint(cause), "\n", " ")}
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
	for panicking, more := false, true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		switch {
		case f.Function == "runtime.gopanic":
			panicking = true
		case !panicking || strings.HasPrefix(f.Function, "runtime.") || ofDSL(f.Function):
		case strings.HasPrefix(f.Function, ownPackage+".reference") || strings.HasPrefix(f.Function, ownPackage+".parallel"):
			return e // the reference's frames are above
		default:
			e.pos = fmt.Sprintf("%s:%d", f.File, f.Line)
			return e
		}
	}
	return e
}

const ownPackage = "github.com/gocute/gocute/check"

// ofDSL reports whether a function is a method of a reference's arguments, whose callers are meant.
func ofDSL(function string) bool {
	return strings.HasPrefix(function, "github.com/gocute/gocute/dsl.")
}

// named puts the kernel's name in front of an error, and before that the line where a reference panicked.
func named(kernel string, err error) error {
	var e *referenceError
	if errors.As(err, &e) && e.pos != "" {
		return fmt.Errorf("%s: %s: %w", e.pos, kernel, err)
	}
	return fmt.Errorf("%s: %w", kernel, err)
}
