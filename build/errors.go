package build

import (
	"fmt"
	"os"
	"strings"

	"github.com/gocute/gocute/internal/text"
)

// Attempt is one place where a compiler was looked for.
type Attempt struct {
	Origin string // such as GOCUTE_NVCC, CUDA_HOME, PATH, /usr/local/cuda or installed
	Path   string // the file looked at; empty if the origin named none
	Reason string // why it was not taken
	Wanted bool   // a variable names it or a compiler is there, so somebody means it to be used
}

// NotFoundError says that no usable compiler exists and none was installed.
type NotFoundError struct {
	Compiler string    // NameNVCC or NameNVRTC
	Tried    []Attempt // in the order of looking
	Hint     string    // what the user can do
	Err      error     // why installing failed; nil if it was not tried
}

// Error lists every place looked at with the reason it was not taken.
func (e *NotFoundError) Error() string {
	var b strings.Builder
	b.WriteString("build: no usable " + e.Compiler)
	for _, a := range e.Tried {
		b.WriteString("\n  " + a.Origin)
		if a.Path != "" {
			b.WriteString(" (" + a.Path + ")")
		}
		b.WriteString(": " + a.Reason)
	}
	if e.Err != nil {
		b.WriteString("\n  " + e.Err.Error())
	}
	if e.Hint != "" {
		b.WriteString("\n" + e.Hint)
	}
	return b.String()
}

// Unwrap returns the error of the installation, if one was tried.
func (e *NotFoundError) Unwrap() error { return e.Err }

// InstallError says at which step installing a compiler's wheels failed.
type InstallError struct {
	Step   string // what was being done, such as "run pip"
	Dir    string // the folder that would have held the toolchain
	Output string // the tool's own last lines, if a tool failed
	Err    error
}

// Error shows the step, the cause and the tool's own last lines.
func (e *InstallError) Error() string {
	s := fmt.Sprintf("install of CUDA %s into %s: %s: %v", pinnedRelease, e.Dir, e.Step, e.Err)
	if e.Output != "" {
		s += "\n" + indent(e.Output)
	}
	return s
}

// Unwrap returns the cause.
func (e *InstallError) Unwrap() error { return e.Err }

// CompileError is a compiler's refusal of a kernel's source.
type CompileError struct {
	Compiler string // NameNVCC or NameNVRTC
	Kernel   string // Source.Name
	Arch     string // compute_80 for the front end, sm_80 for ptxas
	Args     []string
	Output   string // what the compiler printed, whole
	Err      error  // how it ended
	Hint     string // why it may not be the source's fault; empty if nothing says so
}

// Error names the kernel and the target and shows the compiler's own output.
func (e *CompileError) Error() string {
	s := fmt.Sprintf("build: %s failed on kernel %s for %s (%v)", e.Compiler, e.Kernel, e.Arch, e.Err)
	if out := shown(strings.TrimSpace(e.Output)); out != "" {
		s += ":\n" + indent(out)
	} else {
		s += " and printed nothing; its arguments were: " + text.Shell(e.Args...)
	}
	if e.Hint != "" {
		s += "\n" + e.Hint
	}
	if hint := compileHint(e.Output); hint != "" {
		s += "\n" + hint
	}
	return s
}

// Unwrap returns how it ended: of nvcc usually an *exec.ExitError, of NVRTC an *NVRTCError.
func (e *CompileError) Unwrap() error { return e.Err }

// OutputError says that a compiler ended as if all were well and what it returned is not what it must be. Such results are
// not cached.
type OutputError struct {
	Compiler string // its name, version and path, and how it was chosen
	Variable string // the environment variable that names another
	Kernel   string // Source.Name
	What     string // PTX or cubin
	Arch     string // compute_80 of PTX, sm_80 of a cubin
	Err      error  // what was expected and what came
	Hint     string // what was found wrong with the compiler; empty if nothing
}

// Error says what was expected, what came, from where, and what can be done.
func (e *OutputError) Error() string {
	s := fmt.Sprintf("the %s for %s that the compiler returned is not right: %v\nthe compiler is %s",
		e.What, e.Arch, e.Err, e.Compiler)
	if e.Hint != "" {
		return s + "\n" + e.Hint
	}
	return s + "\nset " + e.Variable + " to another, or repair it"
}

// Unwrap returns what was expected and what came.
func (e *OutputError) Unwrap() error { return e.Err }

// compileHint explains failures that are the machine's fault, not the kernel's.
func compileHint(output string) string {
	switch {
	case strings.Contains(output, "Failed to preprocess host compiler properties"):
		return hostHint()
	case strings.Contains(output, "No space left on device"):
		return "the disk is full: set TMPDIR to a folder with room"
	case strings.Contains(output, `could not open source file "cuda_`):
		return nvrtcHeadersHint
	}
	return ""
}

const nvrtcHeadersHint = "NVRTC found no toolkit with CUDA's headers: set CUDA_HOME to one, or let gocute install NVRTC with them"

const hostCompilerHint = "nvcc preprocesses with a host C++ compiler: install g++, or set NVCC_CCBIN to one"

// hostHint names what the user chose, if that is why.
func hostHint() string {
	for _, name := range []string{"NVCC_CCBIN", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"} {
		if v := os.Getenv(name); v != "" && (name == "NVCC_CCBIN" || strings.Contains(v, "-ccbin") || strings.Contains(v, "compiler-bindir")) {
			return fmt.Sprintf("nvcc preprocesses with the host C++ compiler that %s names, %q: name one that works, or unset it", name, v)
		}
	}
	return hostCompilerHint
}

// indent sets a tool's output apart from our own words.
func indent(s string) string {
	return "    " + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n    ")
}

// lastLines returns the last n non-empty lines of a tool's output.
func lastLines(s string, n int) string {
	var lines []string
	for line := range strings.Lines(s) {
		if line = strings.TrimRight(line, "\r\n\t "); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
