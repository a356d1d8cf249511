package cir

import "github.com/gocute/gocute/algebra/sym"

// Stmt is a statement of a kernel. Every one has a Position.
type Stmt interface {
	stmt()
	Position() Pos
}

// Comment is a line of comment in the emitted code.
type Comment struct {
	Pos
	Text string
}

// Let binds an integer once; it is visible to the end of the enclosing body. An opaque one is a value that nvcc knows
// nothing of, so that it cannot compute what depends on it any earlier.
type Let struct {
	Pos
	Sym    *sym.Symbol
	Value  sym.Expr
	Opaque bool
}

// Var declares an integer variable that Assign may change.
type Var struct {
	Pos
	Sym  *sym.Symbol
	Init sym.Expr
}

// Assign changes a Var.
type Assign struct {
	Pos
	Sym   *sym.Symbol
	Value sym.Expr
}

// DeclReg declares a register array; its elements are not initialised.
type DeclReg struct {
	Pos
	Reg *Reg
}

// Fill sets every element of a register array.
type Fill struct {
	Pos
	Reg   *Reg
	Value float64
}

// For runs its body for Sym = Lo, Lo+1, …, Hi-1.
type For struct {
	Pos
	Sym    *sym.Symbol
	Lo, Hi sym.Expr
	Unroll bool // nvcc unrolls it wholly: Lo and Hi are constants and Sym may index registers
	Body   []Stmt
}

// If runs one of two bodies.
type If struct {
	Pos
	Cond Cond
	Then []Stmt
	Else []Stmt
}

// Barrier waits for all threads of the block (and makes their shared memory accesses visible).
type Barrier struct{ Pos }

// CommitGroup closes the thread's current group of asynchronous copies.
type CommitGroup struct{ Pos }

// WaitGroup waits until at most Pending of the thread's groups are still in flight.
type WaitGroup struct {
	Pos
	Pending int
}

// MBarrierInit sets up an mbarrier, a 64-bit word in shared memory, for Count arrivals a phase, in phase 0. One thread
// executes it, before a Barrier.
type MBarrierInit struct {
	Pos
	Bar   Addr
	Count int
}

// MBarrierArrive arrives at an mbarrier; what the thread did before is visible to those that wait for the phase. Lane
// says which lanes arrive: with OncePerWarp one lane does for its whole warp, after the others have come this far.
type MBarrierArrive struct {
	Pos
	Bar         Addr
	OncePerWarp bool
}

// CpAsyncArrive arrives at an mbarrier as soon as all asynchronous copies that the thread has started have landed;
// their bytes are visible to those that wait for the phase. It counts as one of the phase's arrivals.
type CpAsyncArrive struct {
	Pos
	Bar Addr
}

// MBarrierWait waits until the phase with the given parity (0 or 1) is over; it returns at once where the current
// phase has the other parity.
type MBarrierWait struct {
	Pos
	Bar    Addr
	Parity sym.Expr
}

// Load reads Dst.Elems adjacent elements with one vector access. Without Pred it always does; with Pred it
// sets the registers to zero where Pred is false.
type Load struct {
	Pos
	Dst  RegRef
	Src  Addr
	Pred Cond
}

// Store writes Src.Elems adjacent elements with one vector access, where Pred (if any) is true.
type Store struct {
	Pos
	Dst  Addr
	Src  RegRef
	Pred Cond
}

// SetReg sets one element of a register array.
type SetReg struct {
	Pos
	Dst   RegRef // of one element
	Value Value
}

// SetWord sets all elements of one 32-bit register at once: the values are computed before any of them is set.
type SetWord struct {
	Pos
	Dst    RegRef // of the elements that a register holds
	Values []Value
}

// StoreValue writes one element of memory, where Pred (if any) is true.
type StoreValue struct {
	Pos
	Dst   Addr
	Value Value
	Pred  Cond
}

// MMAStmt runs a warp-wide matrix multiply-accumulate: D = A*B + C. Each RegRef is one operand register.
type MMAStmt struct {
	Pos
	Op         *Op
	D, A, B, C []RegRef
}

// LdMatrixStmt loads 8x8 matrices of 16-bit elements; each thread gives the address of one row (16 bytes).
type LdMatrixStmt struct {
	Pos
	Op  *Op
	Dst []RegRef // one 32-bit register each
	Src Addr
}

// CpAsyncStmt starts an asynchronous copy of Op.Bytes bytes into shared memory, in the thread's open group.
// Only the first Valid elements come from Src (all of them if Valid is nil, none where Pred is false); the
// rest of the destination is filled with zeros, and Src is not accessed beyond them.
type CpAsyncStmt struct {
	Pos
	Op       *Op
	Dst, Src Addr
	Valid    *sym.Expr // elements, already clamped to [0, Op.Bytes/size]
	Pred     Cond
}

func (Comment) stmt()        {}
func (Let) stmt()            {}
func (Var) stmt()            {}
func (Assign) stmt()         {}
func (DeclReg) stmt()        {}
func (Fill) stmt()           {}
func (For) stmt()            {}
func (If) stmt()             {}
func (Barrier) stmt()        {}
func (CommitGroup) stmt()    {}
func (WaitGroup) stmt()      {}
func (MBarrierInit) stmt()   {}
func (MBarrierArrive) stmt() {}
func (CpAsyncArrive) stmt()  {}
func (MBarrierWait) stmt()   {}
func (Load) stmt()           {}
func (Store) stmt()          {}
func (SetReg) stmt()         {}
func (SetWord) stmt()        {}
func (StoreValue) stmt()     {}
func (MMAStmt) stmt()        {}
func (LdMatrixStmt) stmt()   {}
func (CpAsyncStmt) stmt()    {}

// Bodies returns the statement lists nested in s.
func Bodies(s Stmt) [][]Stmt {
	switch s := s.(type) {
	case For:
		return [][]Stmt{s.Body}
	case If:
		return [][]Stmt{s.Then, s.Else}
	}
	return nil
}

// Walk calls visit for every statement, outer ones first, in program order.
func Walk(body []Stmt, visit func(Stmt)) {
	for _, s := range body {
		visit(s)
		for _, b := range Bodies(s) {
			Walk(b, visit)
		}
	}
}
