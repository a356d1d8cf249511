// Package ir is the tile IR: what a user's kernel function records. Its tensors still have layouts, and its
// operations work on whole views: copy, gemm, clear, map. Package lower turns it into C IR.
//
// Scalar expressions, conditions, positions and arguments are those of the C IR, which knows nothing of layouts.
package ir

import (
	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/gen/cir"
)

// Kernel is a recorded kernel.
type Kernel struct {
	Name      string
	Doc       []string
	Params    []*cir.Param
	Maps      []*cir.TensorMap
	Threads   int
	MinBlocks int
	Grid      [3]sym.Expr
	Storages  []*Storage // shared arrays and register arrays, in order of declaration
	Requires  []cir.Require
	Body      []Op
}

// Op is an operation of the tile IR.
type Op interface {
	op()
	Position() cir.Pos
}

type (
	// CopyOp moves every value of Src to its place in Dst, atom by atom.
	CopyOp struct {
		cir.Pos
		Copy     *TiledCopy
		Src, Dst *Tensor // ((AtomV,repeats),Rest…) each
	}
	// GemmOp is C += A*B over fragments (MMA,MMA_M,MMA_K), (MMA,MMA_N,MMA_K), (MMA,MMA_M,MMA_N).
	GemmOp struct {
		cir.Pos
		MMA     *TiledMMA
		A, B, C *Tensor
	}
	// FillOp sets every element of a register view.
	FillOp struct {
		cir.Pos
		Dst   *Tensor
		Value float64
	}
	// MapOp sets every element of Dst to F of the elements of Srcs at the same coordinate, and of Dst's own.
	// Where Dst lies outside of its tensor's extents nothing is read or written.
	MapOp struct {
		cir.Pos
		Dst  *Tensor
		Srcs []*Tensor
		F    func(old cir.Value, srcs []cir.Value) cir.Value
	}
	// LoopOp is a loop of the kernel; an unrolled one has constant bounds.
	LoopOp struct {
		cir.Pos
		Sym    *sym.Symbol
		Lo, Hi sym.Expr
		Unroll bool
		Body   []Op
	}
	// IfOp is a branch of the kernel.
	IfOp struct {
		cir.Pos
		Cond       cir.Cond
		Then, Else []Op
	}
	// MBarrierOp is one step of a synchronisation through an mbarrier, an element of a shared u64 array.
	MBarrierOp struct {
		cir.Pos
		Step   MBarrierStep
		Bar    *Tensor  // of rank 0 or one element
		Count  int      // of Init; the bytes of Expect
		Parity sym.Expr // of Wait
	}
	// StmtOp is a statement that needs no lowering: barriers, groups, variables, comments.
	StmtOp struct{ Stmt cir.Stmt }
)

// MBarrierStep says what an MBarrierOp does.
type MBarrierStep uint8

// The steps of a synchronisation.
const (
	MBarrierInit         MBarrierStep = iota
	MBarrierArrive                    // once for each warp
	MBarrierArriveCopies              // when the thread's asynchronous copies have landed
	MBarrierWait
	MBarrierExpect // arrives, and waits for Count bytes more
)

func (MBarrierOp) op() {}
func (CopyOp) op()     {}
func (GemmOp) op()     {}
func (FillOp) op()     {}
func (MapOp) op()      {}
func (LoopOp) op()     {}
func (IfOp) op()       {}
func (StmtOp) op()     {}

// Position of the statement.
func (o StmtOp) Position() cir.Pos { return o.Stmt.Position() }
