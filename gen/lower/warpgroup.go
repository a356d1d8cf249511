package lower

import (
	"fmt"
	"strings"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// tensorCopy lowers to one copy of a box.
func (s *state) tensorCopy(op ir.TensorCopyOp) ([]cir.Stmt, error) {
	name, _, _ := strings.Cut(op.Row.Name, "<") // whatever its size
	intrinsic := s.intrinsicNamed(name, func() *cir.Op {
		return &cir.Op{Name: name, PTX: op.Row.PTX, Class: cir.TensorCopy, Arch: op.Row.Arch}
	})
	dst, err := s.addr(op.Dst, make([]sym.Expr, op.Dst.Layout.Rank()))
	if err != nil {
		return nil, err
	}
	bar, err := s.addr(op.Bar, []sym.Expr{sym.Int(0)})
	return []cir.Stmt{cir.TensorLoad{Pos: op.Pos, Op: intrinsic, Map: op.Map, Coords: op.Coords, Dst: dst, Bar: bar}}, err
}

// GMMAOp is the C IR's row for a wgmma instruction with both operands in shared memory.
func GMMAOp(row *atoms.MMARow) *cir.Op {
	name := row.Name
	if row.MajorA != atoms.MajorK || row.MajorB != atoms.MajorK { // which CuTe's name has as arguments
		name += fmt.Sprintf("_%s_%s", row.MajorA, row.MajorB)
	}
	return &cir.Op{Name: name, PTX: row.PTX, Class: cir.GMMA, Arch: row.Arch, Tail: gmmaTail(row),
		D: cir.Operand{Type: row.RD.Type, Count: row.RD.Count}}
}

// gmmaTail is the instruction's immediates: the signs of A and B, and along which mode they are contiguous.
func gmmaTail(row *atoms.MMARow) string {
	text := ""
	if row.D != elem.KS32 {
		text = ", 1, 1"
	}
	if row.EA.Bits() == 16 {
		if row.RA.Type == "u64" {
			text += majorBit[row.MajorA]
		}
		text += majorBit[row.MajorB]
	}
	return text
}

// warpgroupGemm lowers to one wgmma instruction for each tile of C and each step along K, the steps outermost.
func (s *state) warpgroupGemm(op ir.WarpgroupGemmOp) ([]cir.Stmt, error) {
	intrinsic := GMMAOp(op.MMA.Row)
	intrinsic = s.intrinsicNamed(intrinsic.Name, func() *cir.Op { return intrinsic })
	s.out.Exactly = true
	return s.nest(op.Pos, repeats(op.A, op.B), func(x []sym.Expr) ([]cir.Stmt, error) {
		a, err := s.smemMatrix(op.MMA, op.A, x[0], x[2])
		if err != nil {
			return nil, err
		}
		b, err := s.smemMatrix(op.MMA, op.B, x[1], x[2])
		if err != nil {
			return nil, err
		}
		d, err := s.operand(op.MMA, ir.C, op.C, []sym.Expr{x[0], x[1]})
		return []cir.Stmt{cir.WarpgroupMMA{Pos: op.Pos, Op: intrinsic, D: d, A: a, B: b}}, err
	})
}

// smemMatrix is one instruction's operand: its address is that of the first element without the swizzle, which the
// instruction applies itself.
func (s *state) smemMatrix(m *ir.TiledMMA, t *ir.Tensor, i, k sym.Expr) (cir.SmemMatrix, error) {
	out, err := ir.SmemMatrix(m, t)
	if err != nil {
		return out, err
	}
	plain := *t
	plain.Swizzle.B = 0
	out.At, err = s.addr(&plain, []sym.Expr{sym.Int(0), i, k}[:t.Layout.Rank()])
	return out, err
}

func (s *state) warpgroupWait(op ir.WarpgroupWaitOp) ([]cir.Stmt, error) {
	w := cir.WarpgroupWait{Pos: op.Pos, Pending: op.Pending}
	for _, st := range op.Accs {
		w.Regs = append(w.Regs, s.regs[st])
	}
	return []cir.Stmt{w}, nil
}
