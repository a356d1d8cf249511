package lower

import (
	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// perWord is how many elements a register holds, for the kinds to which instructions round two f32 at once.
var perWord = map[elem.Kind]int64{elem.KS8: 4, elem.KU8: 4, elem.KF16: 2, elem.KBF16: 2}

// byWord reports whether a fragment is set register by register: narrow elements that are rounded from f32.
func (s *state) byWord(op ir.MapOp) bool {
	d := op.Dst
	if d.Storage.Space != ir.Register || perWord[d.Elem] == 0 || d.Storage.Elem != d.Elem || !d.WholeWords() {
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
	value := again(op.Pos, func() cir.Value {
		return op.F(cir.RegElem{Ref: cir.RegRef{Reg: own, Index: sym.Int(0), Elems: 1}}, srcs)
	})
	v, ok := value.(cir.Convert)
	return ok && v.To == d.Elem && v.X.Kind() == elem.KF32
}

// mapWords computes one register after the other.
func (s *state) mapWords(op ir.MapOp) ([]cir.Stmt, error) {
	n := perWord[op.Dst.Elem]
	return s.nest(op.Pos, extents(op.Dst, n), func(x []sym.Expr) ([]cir.Stmt, error) {
		set := cir.SetWord{Pos: op.Pos}
		for i := range n {
			at := append([]sym.Expr{x[0].Mul(sym.Int(n)).Add(sym.Int(i))}, x[1:]...)
			dst, err := s.reg(op.Dst, at, 1)
			if err != nil {
				return nil, err
			}
			if i == 0 {
				set.Dst = cir.RegRef{Reg: dst.Reg, Index: dst.Index, Elems: int(n)}
			}
			var srcs []cir.Value
			for _, t := range op.Srcs {
				v, err := s.read(t, at)
				if err != nil {
					return nil, err
				}
				srcs = append(srcs, v)
			}
			set.Values = append(set.Values, again(op.Pos, func() cir.Value { return op.F(cir.RegElem{Ref: dst}, srcs) }))
		}
		return []cir.Stmt{set}, nil
	})
}
