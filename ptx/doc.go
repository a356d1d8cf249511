// Package ptx reads PTX, the assembly that every CUDA compiler emits, into a tree: declarations, functions and their
// instructions with resolved registers, labels and source lines.
//
// It knows the grammar of the PTX ISA and not its instructions: an opcode is its words between dots, and operands are
// registers, numbers, addresses, vectors and names. What an instruction means, and whether its operands fit, is the
// reader's business. Text that is no PTX is an *Error with its line.
//
// Registers that are declared in a scope of braces, as inline assembly does, are registers of their own.
package ptx
