package lower

import (
	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/gen/cir"
)

// shuffle lowers to one shuffle for each element.
func (s *state) shuffle(op ir.ShuffleOp) ([]cir.Stmt, error) {
	return s.nest(op.Pos, extents(op.Dst, 1), func(x []sym.Expr) ([]cir.Stmt, error) {
		src, err := s.reg(op.Src, x, 1)
		if err != nil {
			return nil, err
		}
		dst, err := s.reg(op.Dst, x, 1)
		return []cir.Stmt{cir.Shuffle{Pos: op.Pos, Mode: op.Mode, Mask: cir.AllLanes, Lane: op.Lane, Dst: dst, Src: src}}, err
	})
}

// vote lowers to one vote for each element.
func (s *state) vote(op ir.VoteOp) ([]cir.Stmt, error) {
	return s.nest(op.Pos, extents(op.Dst, 1), func(x []sym.Expr) ([]cir.Stmt, error) {
		src, err := s.reg(op.Src, x, 1)
		if err != nil {
			return nil, err
		}
		dst, err := s.reg(op.Dst, x, 1)
		return []cir.Stmt{cir.Vote{Pos: op.Pos, Op: op.Op, Mask: cir.AllLanes, Cond: again(op.Pos, func() cir.Cond { return op.F(cir.RegElem{Ref: src}) }), Dst: dst}}, err
	})
}

// atomic lowers to one atomic operation for each element.
func (s *state) atomic(op ir.AtomicOp) ([]cir.Stmt, error) {
	return s.nest(op.Pos, extents(op.Dst, 1), func(x []sym.Expr) ([]cir.Stmt, error) {
		dst, err := s.addr(op.Dst, x)
		if err != nil {
			return nil, err
		}
		edge, err := s.tail(op.Dst, x, 1)
		if err != nil {
			return nil, err
		}
		src, err := s.reg(op.Src, x, 1)
		if err != nil {
			return nil, err
		}
		out := cir.Atomic{Pos: op.Pos, Op: op.Op, Dst: dst, Src: cir.RegElem{Ref: src}, Pred: edge.all}
		if op.Compare != nil {
			ref, err := s.reg(op.Compare, x, 1)
			if err != nil {
				return nil, err
			}
			out.Compare = cir.RegElem{Ref: ref}
		}
		if op.Old != nil {
			ref, err := s.reg(op.Old, x, 1)
			if err != nil {
				return nil, err
			}
			out.Old = &ref
		}
		return []cir.Stmt{out}, nil
	})
}

// arrive lowers an arrival, whose number the following code may use.
func (s *state) arrive(op ir.ArriveOp) ([]cir.Stmt, error) {
	counter, err := s.addr(op.Counter, []sym.Expr{sym.Int(0)})
	if err != nil {
		return nil, err
	}
	word, err := s.addr(op.Word, []sym.Expr{sym.Int(0)})
	return []cir.Stmt{cir.Arrive{Pos: op.Pos, Sym: op.Sym, Counter: counter, Word: word, Count: op.Count}}, err
}

// readClock lowers to one reading for each element.
func (s *state) readClock(op ir.ClockOp) ([]cir.Stmt, error) {
	return s.nest(op.Pos, extents(op.Dst, 1), func(x []sym.Expr) ([]cir.Stmt, error) {
		dst, err := s.reg(op.Dst, x, 1)
		return []cir.Stmt{cir.ReadClock{Pos: op.Pos, Clock: op.Clock, Dst: dst}}, err
	})
}
