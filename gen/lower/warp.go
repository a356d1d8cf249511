package lower

import (
	"fmt"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/gen/cir"
)

// emitter lowers one atom of a copy, whose views' elements start at src and dst.
type emitter func(op ir.CopyOp, src, dst []sym.Expr) ([]cir.Stmt, error)

// copyEmitter chooses by what the instruction joins.
func (s *state) copyEmitter(op ir.CopyOp) (emitter, error) {
	row := op.Copy.Row
	switch {
	case row.PTX == "":
		return s.move, nil
	case row.Asynchronous:
		return s.cpAsync, nil
	case row.Bulk == 0:
		for class, emit := range map[cir.OpClass]emitter{cir.LdMatrix: s.ldmatrix, cir.StMatrix: s.stmatrix, cir.WarpMove: s.warpMove} {
			if CopyOp(row).Class == class {
				return emit, nil
			}
		}
	}
	return nil, fmt.Errorf("no lowering for %s", row.Name)
}

// words are the 32-bit registers of a view from an element on.
func (s *state) words(t *ir.Tensor, at []sym.Expr, n int) ([]cir.RegRef, error) {
	per := int64(32 / t.Elem.Bits())
	var out []cir.RegRef
	for r := range int64(n) {
		ref, err := s.reg(t, append([]sym.Expr{at[0].Add(sym.Int(r * per))}, at[1:]...), per)
		if err != nil {
			return nil, err
		}
		out = append(out, ref)
	}
	return out, nil
}

func (s *state) stmatrix(op ir.CopyOp, src, dst []sym.Expr) ([]cir.Stmt, error) {
	to, err := s.addr(op.Dst, dst)
	if err != nil {
		return nil, err
	}
	regs, err := s.words(op.Src, src, op.Copy.Row.SrcRegs.Count)
	return []cir.Stmt{cir.StMatrixStmt{Pos: op.Pos, Op: s.intrinsic(op.Copy.Row, cir.StMatrix), Dst: to, Src: regs}}, err
}

func (s *state) warpMove(op ir.CopyOp, src, dst []sym.Expr) ([]cir.Stmt, error) {
	from, err := s.words(op.Src, src, op.Copy.Row.SrcRegs.Count)
	if err != nil {
		return nil, err
	}
	to, err := s.words(op.Dst, dst, op.Copy.Row.DstRegs.Count)
	return []cir.Stmt{cir.WarpMoveStmt{Pos: op.Pos, Op: s.intrinsic(op.Copy.Row, cir.WarpMove), Dst: to, Src: from}}, err
}

// numbers are how many registers of a type hold one of a row's: complex numbers are several.
var numbers = map[string]struct {
	of string
	n  int
}{"c64": {"f64", 2}, "gc64": {"f64", 3}}

// MMAOp is the C IR's row for an MMA atom.
func MMAOp(row *atoms.MMARow) *cir.Op {
	operand := func(r atoms.Regs) cir.Operand {
		if x, ok := numbers[r.Type]; ok {
			return cir.Operand{Type: x.of, Count: x.n * r.Count}
		}
		return cir.Operand{Type: r.Type, Count: r.Count}
	}
	op := &cir.Op{Name: row.Name, PTX: row.PTX, Class: cir.MMA, Arch: row.Arch, Times: row.Times,
		D: operand(row.RD), A: operand(row.RA), B: operand(row.RB), C: operand(row.RD)}
	if row.ThrID == "1:0" {
		op.Class = cir.Dot
	}
	return op
}

// parts splits references to whole complex numbers into those of their numbers.
func parts(refs []cir.RegRef, n int) []cir.RegRef {
	if n == 1 {
		return refs
	}
	var out []cir.RegRef
	for _, r := range refs {
		for i := range n {
			out = append(out, cir.RegRef{Reg: r.Reg, Index: r.Index.Add(sym.Int(i)), Elems: 1})
		}
	}
	return out
}

// product is one instruction of an MMA, or the language's own arithmetic where there is none.
func (s *state) product(op ir.GemmOp, a, b, c []cir.RegRef) cir.Stmt {
	row := op.MMA.Row
	if row.PTX == "" {
		value := func(r []cir.RegRef) cir.Value { return cir.RegElem{Ref: r[0]} }
		return cir.SetReg{Pos: op.Pos, Dst: c[0], Value: cir.FMA{X: value(a), Y: value(b), Z: value(c)}}
	}
	intrinsic := s.intrinsicNamed(row.Name, func() *cir.Op { return MMAOp(row) })
	return cir.MMAStmt{Pos: op.Pos, Op: intrinsic, D: c, A: a, B: b, C: c}
}
