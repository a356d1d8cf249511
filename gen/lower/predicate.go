package lower

import (
	"fmt"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/gen/cir"
)

// tail says which of n adjacent elements of a global view lie within the true extents.
type tail struct {
	all   cir.Cond   // none of the vector exists unless this holds; nil: always
	whole cir.Cond   // the whole vector exists, given all; nil: always
	valid *sym.Expr  // how many elements exist, given all; nil: n of them
	each  []cir.Cond // element i exists, given all; nil: as whole
}

// tail compares the coordinates of a view's n elements, the first at indices, with the extents. Mode 0 counts the
// elements.
func (s *state) tail(t *ir.Tensor, indices []sym.Expr, n int64) (tail, error) {
	var out tail
	for _, b := range t.Bounds {
		first, err := s.coord(t, b.Path, indices, 0)
		if err != nil {
			return out, err
		}
		last, err := s.coord(t, b.Path, indices, n-1)
		if err != nil {
			return out, err
		}
		below := func(e sym.Expr) cir.Cond {
			if yes, known := cir.Decide(cir.Cmp{Op: cir.LT, X: e, Y: b.Extent}); known && yes {
				return nil
			}
			return cir.Cmp{Op: cir.LT, X: s.hoist(coordName(t, b.Path), e, false), Y: b.Extent}
		}
		if lo, _ := first.Range(); lo < 0 {
			out.all = cir.Every(out.all, cir.Cmp{Op: cir.LE, X: sym.Int(0), Y: s.hoist(coordName(t, b.Path), first, false)})
		}
		if below(last) == nil {
			continue
		}
		span := last.Sub(first)
		switch d, isConst := span.IsConst(); {
		case isConst && (d == 0 || d == n-1 && b.Extent.DivisibleBy(n) && first.DivisibleBy(n)):
			out.all = cir.Every(out.all, below(first))
		case isConst && d == n-1 && out.valid == nil:
			v := b.Extent.Sub(s.hoist(coordName(t, b.Path), first, false)).Max(sym.Int(0)).Min(sym.Int(n))
			out.valid = &v
			out.whole = below(last)
			for i := range n {
				out.each = append(out.each, below(first.Add(sym.Int(i))))
			}
		default:
			return out, fmt.Errorf("the %d values of a vector of %s go from coordinate %s to %s in mode %v, past the extent %s in more than one direction", n, t.Name, first, last, b.Path, b.Extent)
		}
	}
	return out, nil
}

// coord is the coordinate in the root's mode path of the v-th element after indices.
func (s *state) coord(t *ir.Tensor, path []int, indices []sym.Expr, v int64) (sym.Expr, error) {
	moved := append([]sym.Expr{indices[0].Add(sym.Int(v))}, indices[1:]...)
	a, err := t.Ident.AtArith(at(moved))
	if err != nil {
		return sym.Expr{}, err
	}
	return a.Get(path...).Add(t.Coord.Get(path...)), nil
}

// coordName is CuTe's name of the coordinates of a view: tAcA for tAgA, with the mode.
func coordName(t *ir.Tensor, path []int) string {
	name := t.Name + "_c"
	if n := len(t.Name) - len(t.Base); n > 0 && t.Name[n:] == t.Base && t.Name[n-1] == 'g' {
		name = t.Name[:n-1] + "c" + t.Base
	}
	for _, p := range path {
		name += fmt.Sprint("_", p)
	}
	return name
}
