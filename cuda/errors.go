package cuda

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"github.com/gocute/gocute/internal/dl"
)

var (
	// ErrNoDriver says that the machine has no usable NVIDIA driver library.
	ErrNoDriver = errors.New("cuda: no NVIDIA driver")
	// ErrNoDevice says that the driver is there and sees no GPU, or not the one asked for.
	ErrNoDevice = errors.New("cuda: no CUDA device")
	// ErrClosed says that the device, module, buffer, stream or event was closed before the call.
	ErrClosed = errors.New("cuda: used after it was closed")
	// ErrNoImage says that none of a module's images runs on the device.
	ErrNoImage = errors.New("cuda: no image for this device")
	// ErrArgs says that a launch's arguments are not what the kernel takes.
	ErrArgs = errors.New("cuda: wrong kernel arguments")
)

// Result is a code of the driver's CUresult.
type Result int32

// The codes that programs most often tell apart; the driver has many more.
const (
	Success              Result = 0
	InvalidValue         Result = 1
	OutOfMemory          Result = 2
	StubLibrary          Result = 34
	NoDevice             Result = 100
	InvalidDevice        Result = 101
	InvalidImage         Result = 200
	NoBinaryForGPU       Result = 209
	InvalidPTX           Result = 218
	UnsupportedPTX       Result = 222
	NotFound             Result = 500
	NotReady             Result = 600
	IllegalAddress       Result = 700
	LaunchOutOfResources Result = 701
	MisalignedAddress    Result = 716
	LaunchFailed         Result = 719
	DriverMismatch       Result = 803
)

// sticky is the hint for failures that take the context with them.
const sticky = "a kernel that ran before this call did it; the context is lost and every later call fails too"

// hints says what a code means for whoever reads the error.
var hints = map[Result]string{
	NoBinaryForGPU:       "the cubin is for another architecture",
	UnsupportedPTX:       "the PTX is of a newer CUDA than this driver: update the driver, or ship a cubin",
	InvalidPTX:           "the PTX does not compile, or is for a newer architecture than the device's",
	LaunchOutOfResources: "too many threads, registers or bytes of shared memory for one block",
	IllegalAddress:       sticky,
	MisalignedAddress:    sticky,
	LaunchFailed:         sticky,
}

// Error is a driver call that failed.
type Error struct {
	Op      string // the driver function, and what it was asked for
	Code    Result
	Name    string // the code's name, such as CUDA_ERROR_OUT_OF_MEMORY
	Message string // the driver's description of the code
	Log     string // what the driver's PTX compiler said; empty for other calls
}

// Error tells the operation, the code with its name and description, a hint where there is one, and the log.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "cuda: %s: %s (%d)", e.Op, e.Name, e.Code)
	if e.Message != "" {
		b.WriteString(": " + e.Message)
	}
	if h := hints[e.Code]; h != "" {
		b.WriteString(" (" + h + ")")
	}
	if e.Log != "" {
		b.WriteString("\n" + e.Log)
	}
	return b.String()
}

// Is matches a target *Error that holds a code only: errors.Is(err, &cuda.Error{Code: cuda.OutOfMemory}).
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && *t == Error{Code: t.Code} && t.Code == e.Code
}

// fail makes the error of result r, asking the driver for the code's name.
func (d *driver) fail(r Result, op string) *Error {
	e := &Error{Op: op, Code: r, Name: d.errorText(d.getErrorName, r), Message: d.errorText(d.getErrorString, r)}
	if e.Name == "" {
		e.Name = "unknown CUDA error"
	}
	return e
}

// errorText calls one of the two functions that describe a code; "" where the driver does not know it.
func (d *driver) errorText(fn uintptr, r Result) string {
	if fn == 0 {
		return ""
	}
	// The driver stores a pointer to its own static text here, so it is not the collector's business.
	var p *byte
	if dl.Call(fn, uintptr(uint32(r)), uintptr(unsafe.Pointer(&p))) != 0 || p == nil {
		return ""
	}
	const longest = 4096
	n := 0
	for n < longest && *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}

// annotate adds what a call was asked for to an error that was just made.
func annotate(err error, format string, args ...any) error {
	if e, ok := err.(*Error); ok {
		e.Op += " " + fmt.Sprintf(format, args...)
		return e
	}
	return fmt.Errorf(format+": %w", append(args, err)...)
}

// cString is the text in b up to its NUL.
func cString(b []byte) string {
	s, _, _ := strings.Cut(string(b), "\x00")
	return strings.TrimSpace(s)
}
