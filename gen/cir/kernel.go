// Package cir is the C IR: what a kernel is after lowering, and all that the CUDA printer, the Go launcher
// printer and the emulator know of it. It has threads, integers, register arrays, memory, barriers and
// intrinsics, and nothing of layouts: what was emulated is what is printed.
package cir

import (
	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/elem"
)

// Kernel is one __global__ function with all that its launcher has to know.
type Kernel struct {
	Name      string
	Doc       []string     // lines of comment for the top of the emitted file
	Params    []*Param     // in the order of the function's arguments
	Maps      []*TensorMap // arguments after those
	Threads   int          // threads of a block, along x
	MinBlocks int          // second argument of __launch_bounds__; 0 leaves it out
	Grid      [3]sym.Expr
	Shared    []*Mem // arrays in dynamic shared memory, with their offsets
	SmemBytes int    // of dynamic shared memory, the arrays' padding included
	Requires  []Require
	Arch      int  // the least architecture, such as 80
	Exactly   bool // only Arch itself runs it, by instructions of its own (sm_90a)
	Body      []Stmt
}

// Pos is the line of the user's code that a node comes from. It never reaches the emitted files.
type Pos struct {
	File string
	Line int
}

// Position returns the node's line; nodes embed Pos.
func (p Pos) Position() Pos { return p }

// Class says what an argument of the kernel is.
type Class uint8

// The classes of arguments.
const (
	Pointer Class = iota // a global tensor; Mem is set
	Dim                  // an int extent or stride; Sym is set
	Scalar               // a value of type Elem
)

// Param is an argument of the kernel.
type Param struct {
	Pos    // of its declaration
	Name   string
	Class  Class
	Elem   elem.Kind   // of Pointer and Scalar
	Mem    *Mem        // of Pointer
	Sym    *sym.Symbol // of Dim: its Lo, Hi and Multiple are checked by the launcher
	Layout string      // of Pointer: shape:stride in the launcher's documentation, such as (M,K):(K,1)
	Write  bool        // of Pointer: the kernel writes it
	Read   bool        // of Pointer: the kernel reads it

	// Of Pointer: the layout's leaves, for whoever makes data for the kernel or judges its results. Nothing that
	// is emitted depends on them.
	Extents, Strides []sym.Expr
}

// Require is a condition on the Dims without which the emitted code would be wrong.
type Require struct {
	Cond    Cond
	Message string // what is expected, such as "K must be a multiple of 8"
}

// Space is where a Mem lives.
type Space uint8

// The memory spaces that have addresses.
const (
	Global Space = iota
	Shared
)

func (s Space) String() string { return [...]string{"global", "shared"}[s] }

// Mem is an array of elements in global or shared memory.
type Mem struct {
	Name   string
	Space  Space
	Elem   elem.Kind
	Count  sym.Expr // elements; a constant in shared memory
	Align  int      // bytes that divide the base address
	Offset int      // in bytes from the start of dynamic shared memory
}

// Reg is an array of registers of one thread, only ever indexed by constants once loops are unrolled.
type Reg struct {
	Name  string
	Elem  elem.Kind
	Count int // elements
}

// Addr is an element of a Mem.
type Addr struct {
	Mem   *Mem
	Index sym.Expr // in elements
}

// RegRef is Elems adjacent elements of a Reg, starting at Index; what one operand register holds, or one vector.
type RegRef struct {
	Reg   *Reg
	Index sym.Expr // in elements; constants and variables of unrolled loops only
	Elems int
}

// Bits is the width of the referenced registers.
func (r RegRef) Bits() int { return r.Elems * r.Reg.Elem.Bits() }

// sharedLimits are the most bytes of shared memory that a block can have, by architecture, least capable first.
var sharedLimits = []struct{ arch, bytes int }{{80, 163 << 10}, {90, 227 << 10}}

// SharedArch is the first architecture on which a block can have so many bytes of shared memory.
func SharedArch(bytes int) (arch int, ok bool) {
	for _, l := range sharedLimits {
		if bytes <= l.bytes {
			return l.arch, true
		}
	}
	return 0, false
}

// MaxShared is the most bytes of shared memory that a block can have on any architecture.
func MaxShared() int { return sharedLimits[len(sharedLimits)-1].bytes }

// OpClass groups the intrinsics by what they do with their operands.
type OpClass uint8

// The classes of intrinsics.
const (
	MMA        OpClass = iota // D, A, B, C registers
	LdMatrix                  // registers from a row address in shared memory
	CpAsync                   // shared from global memory, asynchronously
	Dot                       // D, A, B, C registers of single threads
	StMatrix                  // registers to a row address in shared memory
	WarpMove                  // D from A, registers of the lanes of a warp
	TensorCopy                // shared memory from a box of a global tensor, by one thread
	GMMA                      // D registers, A and B in shared memory, by four warps
)

// Op is an intrinsic: one row of the instruction table, without its layouts.
type Op struct {
	Name  string // the atom's name, verbatim CuTe
	PTX   string // mnemonic with all qualifiers
	Class OpClass
	D     Operand // registers of one thread: results, or what StMatrix stores
	A     Operand // MMA, Dot, WarpMove
	B     Operand // MMA, Dot
	C     Operand // MMA, Dot
	Times int     // MMA of complex numbers: how many of the instruction make one product; else 0
	Bytes int     // CpAsync: bytes moved by one thread
	Arch  int     // the least architecture
	Tail  string  // GMMA: the instruction's immediates after the predicate that accumulates, such as ", 1, 1, 0, 0"
}

// Operand is what one thread passes for one operand: Count registers of type Type ("u32", "f32", "f64", "s32").
type Operand struct {
	Type  string
	Count int
}
