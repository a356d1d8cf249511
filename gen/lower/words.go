package lower

import (
	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// perWord is how many elements of 8 bits a register holds.
const perWord = 4

// byWord reports whether a fragment is set register by register: integers of 8 bits, rounded from f32, for which there
// are instructions that round two at once into the bytes of a register.
func (s *state) byWord(op ir.MapOp) bool {
	d := op.Dst
	if d.Storage.Space != ir.Register || d.Elem != elem.KS8 && d.Elem != elem.KU8 || d.Storage.Elem != d.Elem || !d.WholeWords() {
		return false
	}
	var srcs []cir.Value
	for _, t := range op.Srcs {
		if t.Storage == d.Storage || t.Storage.Space != ir.Register {
			return false
		}
		srcs = append(srcs, cir.RegElem{Ref: cir.RegRef{Reg: &cir.Reg{Elem: t.Elem}, Index: sym.Int(0), Elems: 1}})
	}
	own := &cir.Reg{Elem: d.Elem}
	v, ok := op.F(cir.RegElem{Ref: cir.RegRef{Reg: own, Index: sym.Int(0), Elems: 1}}, srcs).(cir.Convert)
	return ok && v.To == d.Elem && v.X.Kind() == elem.KF32
}

// mapWords computes one register after the other.
func (s *state) mapWords(op ir.MapOp) ([]cir.Stmt, error) {
	return s.nest(op.Pos, extents(op.Dst, perWord), func(x []sym.Expr) ([]cir.Stmt, error) {
		set := cir.SetWord{Pos: op.Pos}
		for i := range int64(perWord) {
			at := append([]sym.Expr{x[0].Mul(sym.Int(perWord)).Add(sym.Int(i))}, x[1:]...)
			dst, err := s.reg(op.Dst, at, 1)
			if err != nil {
				return nil, err
			}
			if i == 0 {
				set.Dst = cir.RegRef{Reg: dst.Reg, Index: dst.Index, Elems: perWord}
			}
			var srcs []cir.Value
			for _, t := range op.Srcs {
				v, err := s.read(t, at)
				if err != nil {
					return nil, err
				}
				srcs = append(srcs, v)
			}
			set.Values = append(set.Values, op.F(cir.RegElem{Ref: dst}, srcs))
		}
		return []cir.Stmt{set}, nil
	})
}
