// Package atoms holds the instruction tables: one Go literal a row for every copy and MMA atom. A row is the
// constructor, the documentation and the meaning of an instruction: its PTX, the registers it takes, and how
// threads and values map to the tile, as layouts in text form. Rows are checked over All in the tests.
package atoms

import (
	"fmt"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/elem"
)

// Memory spaces, as types: the spaces of tensors and of a copy's two sides.
type (
	Gmem struct{} // global memory
	Smem struct{} // shared memory
	Rmem struct{} // registers of one thread
	// AnySpace is the set of memory spaces.
	AnySpace interface{ Gmem | Smem | Rmem }
)

// Regs is what one thread passes for one operand: Count registers of type Type.
type Regs struct {
	Type  string // "u32", "f32" or "f64"; "u64" for the descriptor of an operand in shared memory
	Count int
}

// registerBits are the widths of the types of registers.
var registerBits = map[string]int{"u16": 16, "f16": 16, "u32": 32, "s32": 32, "f32": 32, "u64": 64, "f64": 64,
	"u128": 128, "c64": 128, "gc64": 192}

// Bits is the width of all of the operand's registers.
func (r Regs) Bits() int { return r.Count * registerBits[r.Type] }

// String is the form "u32[4]".
func (r Regs) String() string { return fmt.Sprintf("%s[%d]", r.Type, r.Count) }

// MMARow is one matrix multiply-accumulate instruction: D = A*B + C over a tile of (M,N,K).
type MMARow struct {
	Name           string
	M, N, K        int
	ThrID          string // logical thread -> lane
	A, B, C        string // (T,V) -> m+M*k, n+N*k, m+M*n
	D, EA, EB      elem.Kind
	RD, RA, RB     Regs   // registers of D (and C), A and B
	PTX            string // empty: the arithmetic of the language
	Times          int    // how many of the PTX instruction make one of the row's: complex products take several; else 0
	Arch           int
	MajorA, MajorB Major // of wgmma
}

// Major says along which mode an operand in shared memory is contiguous.
type Major string

// The majors of wgmma's operands.
const (
	MajorK  Major = "K"
	MajorMN Major = "MN"
)

// IsGMMA reports whether the instruction is wgmma: asynchronous, of 128 threads, its B in shared memory.
func (r *MMARow) IsGMMA() bool { return r.MajorB != "" }

// ArchName is the first architecture that has the instruction; wgmma is one of sm_90's own.
func (r *MMARow) ArchName() string {
	switch {
	case r.Arch == 0:
		return "any"
	case r.IsGMMA():
		return fmt.Sprintf("sm_%da", r.Arch)
	}
	return fmt.Sprintf("sm_%d", r.Arch)
}

// Operand returns the TV layout of 'A', 'B' or 'C'.
func (r *MMARow) Operand(which byte) (algebra.Layout, error) {
	text, ok := map[byte]string{'A': r.A, 'B': r.B, 'C': r.C}[which]
	if !ok {
		return algebra.Layout{}, fmt.Errorf("atoms: %s has no operand %q", r.Name, which)
	}
	return algebra.Parse(text)
}

// CopyRow is one copy instruction. Its layouts map (thread, value) to bits of what the atom moves: on the
// source side, on the destination side, and on the reference side, by which tiled copies are laid out.
type CopyRow struct {
	Name          string
	Src, Dst      string // memory space: "any", "global", "shared", "register"
	ThrID         string
	SrcBits       string
	DstBits       string
	RefBits       string
	PTX           string // empty: a plain assignment
	Arch          int
	SrcRegs       Regs // registers that the instruction reads in one thread, if it reads registers
	DstRegs       Regs // registers that the instruction writes in one thread, if it writes registers
	VectorBits    int  // adjacent bits that each thread reads or writes in memory, aligned to as much
	ElemBits      int  // the width of what the instruction shuffles: wider elements would be torn; 0: any
	Asynchronous  bool // bytes arrive at a wait
	CacheOperator string
	ZeroFill      bool   // a predicate of the thread decides between the bytes and zeros
	Bulk          int    // bits that one call of a bulk or tensor copy moves
	Chooses       bool   // one element each; the copy takes the widest vector that it can prove, up to VectorBits
	Holds         string // the type of a plain assignment that is not of raw bits
}

// Side is what one thread passes on one side, source or destination: its registers, or one vector of memory. It is
// zero where the instruction does not say.
func (r *CopyRow) Side(regs Regs) Regs {
	switch {
	case regs.Count > 0:
		return regs
	case r.Bulk > 0 || r.Chooses:
		return Regs{}
	case r.Holds != "":
		return Regs{r.Holds, 1}
	}
	return Regs{fmt.Sprintf("u%d", r.VectorBits), 1}
}

// CopyAtom is a copy instruction between two spaces.
type CopyAtom[S, D AnySpace] struct{ row *CopyRow }

// Row is the atom's row; nil for the zero atom.
func (a CopyAtom[S, D]) Row() *CopyRow { return a.row }

// MMAAtom is an MMA instruction for the given elements of D, A, B and C.
type MMAAtom[D, A, B, C elem.Any] struct{ row *MMARow }

// Row is the atom's row; nil for the zero atom.
func (a MMAAtom[D, A, B, C]) Row() *MMARow { return a.row }
