package lower

import (
	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/gen/cir"
)

// gemm lowers to one MMA instruction for each fragment of C and each step along K.
func (s *state) gemm(op ir.GemmOp) ([]cir.Stmt, error) {
	each := repeats(op.A, op.B)
	return s.nest(op.Pos, each, func(x []sym.Expr) ([]cir.Stmt, error) {
		m, n, k := serpentine(x[0], each[0], x[1]), x[1], x[2]
		a, err := s.operand(op.MMA, ir.A, op.A, []sym.Expr{m, k})
		if err != nil {
			return nil, err
		}
		b, err := s.operand(op.MMA, ir.B, op.B, []sym.Expr{n, k})
		if err != nil {
			return nil, err
		}
		c, err := s.operand(op.MMA, ir.C, op.C, []sym.Expr{m, n})
		if err != nil {
			return nil, err
		}
		return []cir.Stmt{s.product(op, a, b, c)}, nil
	})
}

// repeats are the extents of MMA_M, MMA_N and MMA_K, whose mode may have been selected away.
func repeats(a, b *ir.Tensor) []int64 {
	of := extents(a, 1)
	k := int64(1)
	if len(of) == 3 {
		k = of[2]
	}
	return []int64{of[1], extents(b, 1)[1], k}
}

// serpentine walks the rows of A up and down in turn, so that neighbouring instructions share an operand also where
// n changes.
func serpentine(m sym.Expr, extent int64, n sym.Expr) sym.Expr {
	if extent&(extent-1) != 0 {
		return m
	}
	return m.Xor(n.Mod(sym.Int(2)).Mul(sym.Int(extent - 1)))
}

// operand lists the registers of one instruction's operand.
func (s *state) operand(m *ir.TiledMMA, o ir.Operand, t *ir.Tensor, rest []sym.Expr) ([]cir.RegRef, error) {
	regs := m.Regs(o)
	per := int64(regs.Bits() / regs.Count / t.Elem.Bits())
	rest = rest[:t.Layout.Rank()-1]
	out := make([]cir.RegRef, regs.Count)
	for r := range out {
		ref, err := s.reg(t, append([]sym.Expr{sym.Int(int64(r) * per)}, rest...), per)
		if err != nil {
			return nil, err
		}
		out[r] = ref
	}
	return parts(out, max(1, numbers[regs.Type].n)), nil
}

// fill sets a whole array at once, or a part of it element by element.
func (s *state) fill(op ir.FillOp) ([]cir.Stmt, error) {
	st := op.Dst.Storage
	whole := func(n int64) bool { return n*int64(op.Dst.Elem.Bits()) == st.Count*int64(st.Elem.Bits()) }
	if n, ok := op.Dst.Layout.IntSize(); ok && whole(n) && (op.Dst.Elem == st.Elem || op.Value == 0) {
		return []cir.Stmt{cir.Fill{Pos: op.Pos, Reg: s.regs[op.Dst.Storage], Value: op.Value}}, nil
	}
	return s.nest(op.Pos, extents(op.Dst, 1), func(x []sym.Expr) ([]cir.Stmt, error) {
		ref, err := s.reg(op.Dst, x, 1)
		return []cir.Stmt{cir.SetReg{Pos: op.Pos, Dst: ref, Value: lit(op.Dst, op.Value)}}, err
	})
}

func lit(t *ir.Tensor, v float64) cir.Value { return cir.Lit{Elem: t.Elem, V: v} }

// mapValues computes one element after the other, or one register after the other.
func (s *state) mapValues(op ir.MapOp) ([]cir.Stmt, error) {
	if s.byWord(op) {
		return s.mapWords(op)
	}
	return s.nest(op.Pos, extents(op.Dst, 1), func(x []sym.Expr) ([]cir.Stmt, error) {
		var srcs []cir.Value
		for _, t := range op.Srcs {
			v, err := s.read(t, x)
			if err != nil {
				return nil, err
			}
			srcs = append(srcs, v)
		}
		if op.Dst.Storage.Space == ir.Register {
			ref, err := s.reg(op.Dst, x, 1)
			return []cir.Stmt{cir.SetReg{Pos: op.Pos, Dst: ref, Value: again(op.Pos, func() cir.Value { return op.F(cir.RegElem{Ref: ref}, srcs) })}}, err
		}
		a, err := s.addr(op.Dst, x)
		if err != nil {
			return nil, err
		}
		t, err := s.tail(op.Dst, x, 1)
		value := again(op.Pos, func() cir.Value { return op.F(cir.MemElem{Addr: a}, srcs) }) // only evaluated where the predicate holds
		return []cir.Stmt{cir.StoreValue{Pos: op.Pos, Dst: a, Value: value, Pred: t.all}}, err
	})
}

// read is one element of a view; beyond the extents of a global tensor it is zero.
func (s *state) read(t *ir.Tensor, x []sym.Expr) (cir.Value, error) {
	if t.Storage.Space == ir.Register {
		ref, err := s.reg(t, x, 1)
		return cir.RegElem{Ref: ref}, err
	}
	a, err := s.addr(t, x)
	if err != nil {
		return nil, err
	}
	edge, err := s.tail(t, x, 1)
	if err != nil || edge.all == nil {
		return cir.MemElem{Addr: a}, err
	}
	return cir.Select{Cond: edge.all, X: cir.MemElem{Addr: a}, Y: lit(t, 0)}, nil
}

// mbarrier lowers one step of a synchronisation.
func (s *state) mbarrier(op ir.MBarrierOp) ([]cir.Stmt, error) {
	bar, err := s.addr(op.Bar, []sym.Expr{sym.Int(0)})
	if err != nil {
		return nil, err
	}
	return []cir.Stmt{map[ir.MBarrierStep]cir.Stmt{
		ir.MBarrierInit:         cir.MBarrierInit{Pos: op.Pos, Bar: bar, Count: op.Count},
		ir.MBarrierArrive:       cir.MBarrierArrive{Pos: op.Pos, Bar: bar, OncePerWarp: true},
		ir.MBarrierArriveCopies: cir.CpAsyncArrive{Pos: op.Pos, Bar: bar},
		ir.MBarrierWait:         cir.MBarrierWait{Pos: op.Pos, Bar: bar, Parity: op.Parity},
		ir.MBarrierExpect:       cir.MBarrierExpect{Pos: op.Pos, Bar: bar, Bytes: op.Count},
	}[op.Step]}, nil
}
