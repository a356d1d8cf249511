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
	Type  string // "u32", "f32" or "f64"
	Count int
}

// Bits is the width of all of the operand's registers.
func (r Regs) Bits() int {
	return r.Count * map[string]int{"u32": 32, "s32": 32, "f32": 32, "f64": 64}[r.Type]
}

// String is the form "u32[4]".
func (r Regs) String() string { return fmt.Sprintf("%s[%d]", r.Type, r.Count) }

// MMARow is one matrix multiply-accumulate instruction: D = A*B + C over a tile of (M,N,K).
type MMARow struct {
	Name       string
	M, N, K    int
	ThrID      string // logical thread -> lane
	A, B, C    string // (T,V) -> m+M*k, n+N*k, m+M*n
	D, EA, EB  elem.Kind
	RD, RA, RB Regs // registers of D (and C), A and B
	PTX        string
	Arch       int
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
	DstRegs       Regs // registers that the instruction writes in one thread, if it writes registers
	VectorBits    int  // adjacent bits that each thread reads or writes in memory, aligned to as much
	ElemBits      int  // the width of what the instruction shuffles: wider elements would be torn; 0: any
	Asynchronous  bool // bytes arrive at a wait
	CacheOperator string
}

// CopyAtom is a copy instruction between two spaces.
type CopyAtom[S, D AnySpace] struct{ row *CopyRow }

// Row is the atom's row; nil for the zero atom.
func (a CopyAtom[S, D]) Row() *CopyRow { return a.row }

// MMAAtom is an MMA instruction for the given elements of D, A, B and C.
type MMAAtom[D, A, B, C elem.Any] struct{ row *MMARow }

// Row is the atom's row; nil for the zero atom.
func (a MMAAtom[D, A, B, C]) Row() *MMARow { return a.row }
