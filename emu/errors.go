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

// KernelError is a kernel that cannot be run at all: its C IR is malformed or uses an unknown instruction.
type KernelError struct {
	Pos             cir.Pos
	Kernel, Message string
}

func (e *KernelError) Error() string {
	return fmt.Sprintf("%s: %s: %s", place(e.Pos), e.Kernel, e.Message)
}

// InternalError is a mistake of the emulator.
type InternalError struct {
	Pos    cir.Pos // the statement that was running, if any
	Kernel string
	Cause  any // what was recovered
}

func (e *InternalError) Error() string {
	return fmt.Sprintf("internal error: emu: %s: %s: %v", place(e.Pos), e.Kernel, e.Cause)
}
