package cir

import (
	"fmt"

	"github.com/gocute/gocute/algebra/sym"
)

// TensorMap describes boxes of a global tensor to the copy engine of sm_90 (a CUtensorMap). The launcher makes it of the
// tensor's address and of the Dims; the kernel takes it as an argument of its own, after the others.
type TensorMap struct {
	Name    string     // of the argument
	Of      *Param     // the tensor, a Pointer
	Extents []sym.Expr // of 1 to 5 dimensions, the adjacent one first; on Dims alone
	Strides []sym.Expr // in elements; that of the adjacent dimension is 1, the others are whole 16 bytes
	Box     []int      // elements of each dimension that one copy moves, 1 to 256
	Swizzle int        // what of the shared address is swizzled: Sw<Swizzle,4,3> on bytes, 0 to 3
}

// Elems is the number of elements in a box.
func (m *TensorMap) Elems() int {
	n := 1
	for _, b := range m.Box {
		n *= b
	}
	return n
}

// Bytes is the size of a box, which counts in full where it reaches beyond the tensor.
func (m *TensorMap) Bytes() int { return m.Elems() * m.Of.Elem.Bits() / 8 }

// Align is the bytes that divide the address of a box in shared memory: a whole period of the swizzle, at least 128.
func (m *TensorMap) Align() int { return 128 << m.Swizzle }

// TensorLoad starts a copy of a box of a global tensor into shared memory, in the order of the box (the adjacent
// dimension first), by each active thread (it is meant for one). Elements beyond the tensor's extents become zeros. Its
// bytes count towards the current phase of an mbarrier, and are visible to those that wait for the phase.
type TensorLoad struct {
	Pos
	Op     *Op // of class TensorCopy
	Map    *TensorMap
	Coords []sym.Expr // of the box's first element, one for each dimension
	Dst    Addr
	Bar    Addr
}

// MBarrierExpect arrives at an mbarrier, whose current phase then lasts until Bytes bytes more have landed, too.
type MBarrierExpect struct {
	Pos
	Bar   Addr
	Bytes int
}

// SmemMatrix is an operand of wgmma in shared memory: what its descriptor says. Rows (of A along M, of B along N) are
// adjacent along K, have 16<<Swizzle bytes and are swizzled by Sw<Swizzle,4,3> on bytes; every 8 of them lie together, and
// Stride bytes further are the next 8. At is where the first row's elements of this instruction lie without the swizzle;
// the array begins at a whole period of the swizzle.
//
// With Columns the same holds with the modes exchanged: what is adjacent lies along M or N, 16<<Swizzle bytes of it, 8 such
// runs along K lie together, Stride bytes further are the next 8; and Lead bytes further is what follows along M or N.
type SmemMatrix struct {
	At      Addr
	Stride  int  // bytes, whole 16
	Swizzle int  // 1 to 3
	Columns bool // of 16-bit elements
	Lead    int  // bytes, whole 16; of Columns
}

// WarpgroupMMA starts D += A*B in four adjacent warps, which begin at a multiple of four: the rows of D, M of 64, are those
// of the warps in order, 16 each. Until a WarpgroupWait for its group, nothing may touch D but the same accumulators of
// further products, nor write what the operands are read from.
type WarpgroupMMA struct {
	Pos
	Op   *Op      // of class GMMA
	D    []RegRef // one register each
	A, B SmemMatrix
}

// WarpgroupArrive orders registers that were written before products that accumulate into them (wgmma.fence).
type WarpgroupArrive struct{ Pos }

// WarpgroupCommit closes the warpgroup's current group of products (wgmma.commit_group).
type WarpgroupCommit struct{ Pos }

// WarpgroupWait waits until at most Pending groups of the warpgroup's products are in flight (wgmma.wait_group). Regs are
// the accumulators that are complete afterwards.
type WarpgroupWait struct {
	Pos
	Pending int
	Regs    []*Reg
}

func (TensorLoad) stmt()      {}
func (MBarrierExpect) stmt()  {}
func (WarpgroupMMA) stmt()    {}
func (WarpgroupArrive) stmt() {}
func (WarpgroupCommit) stmt() {}
func (WarpgroupWait) stmt()   {}

// CheckTensorMap says why the copy engine has no such map.
func CheckTensorMap(m *TensorMap) error {
	n := len(m.Box)
	switch {
	case m.Of == nil || m.Of.Class != Pointer:
		return fmt.Errorf("a tensor map expects a global tensor")
	case n < 1 || n > 5 || len(m.Extents) != n || len(m.Strides) != n:
		return fmt.Errorf("a tensor map has 1 to 5 dimensions, but got %d extents, %d strides and a box of %d", len(m.Extents), len(m.Strides), n)
	case !m.Strides[0].Is(1):
		return fmt.Errorf("a tensor map expects contiguous elements in its first dimension, but got a stride of %s", m.Strides[0])
	case m.Swizzle < 0 || m.Swizzle > 3:
		return fmt.Errorf("a tensor map swizzles 0 to 3 bits, but got %d", m.Swizzle)
	}
	size := m.Of.Elem.Bits() / 8
	row := m.Box[0] * size
	switch {
	case row%16 != 0:
		return fmt.Errorf("a tensor map expects rows of its box of a multiple of 16 bytes, but got %d", row)
	case m.Swizzle > 0 && row != 16<<m.Swizzle:
		return fmt.Errorf("a tensor map expects rows of its box of %d bytes with a swizzle of %d bits, but got %d", 16<<m.Swizzle, m.Swizzle, row)
	}
	for i, b := range m.Box {
		if b < 1 || b > 256 {
			return fmt.Errorf("a tensor map expects 1 to 256 elements in each dimension of its box, but got %d", b)
		}
		if i > 0 && !m.Strides[i].Mul(sym.Int(int64(size))).DivisibleBy(16) {
			return fmt.Errorf("a tensor map expects strides of a multiple of 16 bytes, but got %s elements of %d bytes (state it with Multiple?)", m.Strides[i], size)
		}
	}
	return nil
}

// hopper checks the statements of sm_90.
func (v *verifier) hopper(s Stmt) error {
	switch s := s.(type) {
	case TensorLoad:
		if s.Op == nil || s.Op.Class != TensorCopy || s.Map == nil || s.Dst.Mem == nil || s.Dst.Mem.Space != Shared || len(s.Coords) != len(s.Map.Box) {
			return fmt.Errorf("a TMA load expects a tensor map, a coordinate for each dimension and shared memory")
		}
		if s.Dst.Mem.Elem != s.Map.Of.Elem || s.Dst.Mem.Align%s.Map.Align() != 0 {
			return fmt.Errorf("a TMA load of %s expects shared memory of that kind, aligned to %d bytes, but got %s aligned to %d",
				s.Map.Of.Elem, s.Map.Align(), s.Dst.Mem.Elem, s.Dst.Mem.Align)
		}
		return first(v.isMap(s.Map), CheckTensorMap(s.Map), v.addr(s.Dst), v.addr(s.Bar), v.exprs(s.Coords...))
	case MBarrierExpect:
		if s.Bytes < 1 || s.Bytes >= 1<<20 {
			return fmt.Errorf("an mbarrier expects 1 to %d bytes, but got %d", 1<<20-1, s.Bytes)
		}
		return v.addr(s.Bar)
	case WarpgroupMMA:
		if s.Op == nil || s.Op.Class != GMMA || v.k.Threads%128 != 0 {
			return fmt.Errorf("a wgmma statement expects a wgmma instruction and whole warpgroups of 128 threads, but the block has %d threads", v.k.Threads)
		}
		if len(s.D) != s.Op.D.Count {
			return fmt.Errorf("%s takes %d registers, but got %d", s.Op.Name, s.Op.D.Count, len(s.D))
		}
		for _, m := range []SmemMatrix{s.A, s.B} {
			if m.At.Mem == nil || m.At.Mem.Space != Shared || m.Swizzle < 1 || m.Swizzle > 3 || m.Stride < 16 || m.Stride%16 != 0 || m.Stride >= 1<<18 || m.At.Mem.Align%(128<<m.Swizzle) != 0 {
				return fmt.Errorf("%s expects swizzled rows in shared memory", s.Op.Name)
			}
			if m.Columns && (m.At.Mem.Elem.Bits() != 16 || m.Lead < 16 || m.Lead%16 != 0 || m.Lead >= 1<<18) {
				return fmt.Errorf("%s expects columns of 16-bit elements", s.Op.Name)
			}
		}
		return first(v.refs(s.D...), v.addr(s.A.At), v.addr(s.B.At))
	case WarpgroupArrive, WarpgroupCommit:
		return nil
	case WarpgroupWait:
		for _, r := range s.Regs {
			if !v.regs[r] {
				return fmt.Errorf("register array %s is not declared", r.Name)
			}
		}
		return nil
	}
	return fmt.Errorf("no check for %T", s)
}

func (v *verifier) isMap(m *TensorMap) error {
	for _, have := range v.k.Maps {
		if have == m {
			return nil
		}
	}
	return fmt.Errorf("the tensor map %s is no argument of the kernel", m.Name)
}
