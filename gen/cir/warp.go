package cir

import "fmt"

// StMatrixStmt stores 8x8 matrices of 16-bit elements; each thread gives the address of one row (16 bytes).
type StMatrixStmt struct {
	Pos
	Op  *Op
	Dst Addr
	Src []RegRef // one 32-bit register each
}

// WarpMoveStmt moves registers between the lanes of a warp, as the instruction says.
type WarpMoveStmt struct {
	Pos
	Op       *Op
	Dst, Src []RegRef // 32-bit registers
}

func (StMatrixStmt) stmt() {}
func (WarpMoveStmt) stmt() {}

// OpOf is the intrinsic of a statement, or nil.
func OpOf(s Stmt) *Op {
	switch s := s.(type) {
	case MMAStmt:
		return s.Op
	case LdMatrixStmt:
		return s.Op
	case CpAsyncStmt:
		return s.Op
	case StMatrixStmt:
		return s.Op
	case WarpMoveStmt:
		return s.Op
	case TensorLoad:
		return s.Op
	case WarpgroupMMA:
		return s.Op
	}
	return nil
}

// warpAccess checks the statements that move matrices out of registers.
func (v *verifier) warpAccess(s Stmt) error {
	switch s := s.(type) {
	case StMatrixStmt:
		if len(s.Src) != s.Op.D.Count || s.Dst.Mem == nil || s.Dst.Mem.Space != Shared {
			return fmt.Errorf("%s stores %d registers to shared memory, but got %d", s.Op.Name, s.Op.D.Count, len(s.Src))
		}
		return first(v.refs(s.Src...), v.addr(s.Dst))
	case WarpMoveStmt:
		if len(s.Dst) != s.Op.D.Count || len(s.Src) != s.Op.A.Count {
			return fmt.Errorf("%s moves %d registers to %d, but got %d to %d", s.Op.Name, s.Op.A.Count, s.Op.D.Count, len(s.Src), len(s.Dst))
		}
		return first(v.refs(s.Dst...), v.refs(s.Src...))
	}
	return v.synced(s)
}
