package emu

import (
	"fmt"

	"github.com/gocute/gocute/gen/cir"
)

// ArgError is an argument that the kernel cannot be run with: missing, unknown, of another kind, too short, or
// outside of the bounds that the launcher checks.
type ArgError struct {
	Kernel, Name, Message string
}

func (e *ArgError) Error() string { return fmt.Sprintf("emu: %s: %s: %s", e.Kernel, e.Name, e.Message) }

// RequireError is a condition of the kernel on its dims that the arguments do not meet.
type RequireError struct {
	Kernel, Message string
}

func (e *RequireError) Error() string { return fmt.Sprintf("emu: %s: %s", e.Kernel, e.Message) }

// KernelError is a kernel that cannot be run at all: its grid leaves the bounds that it was generated for, it does what
// exact mode has not, or its C IR is malformed or uses an unknown instruction, which is an internal error.
type KernelError struct {
	Pos             cir.Pos
	Kernel, Message string

	malformed bool
}

func (e *KernelError) Error() string {
	if e.malformed {
		return "internal error: emu: " + at(e.Pos) + e.Kernel + ": " + e.Message
	}
	return at(e.Pos) + e.Kernel + ": " + e.Message
}

// at is a position before a message, or nothing where there is none.
func at(p cir.Pos) string {
	if p.File == "" {
		return ""
	}
	return place(p) + ": "
}

// InternalError is a mistake of the emulator.
type InternalError struct {
	Pos    cir.Pos // the statement that was running, if any
	Kernel string
	Cause  any // what was recovered
}

func (e *InternalError) Error() string {
	return fmt.Sprintf("internal error: emu: %s%s: %v", at(e.Pos), e.Kernel, e.Cause)
}
