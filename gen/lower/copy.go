package lower

import (
	"fmt"
	"strings"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/gen/cir"
)

// nest makes unrolled loops over the extents; body gets one index for each, constant where the extent is 1.
func (s *state) nest(pos cir.Pos, extents []int64, body func([]sym.Expr) ([]cir.Stmt, error)) ([]cir.Stmt, error) {
	indices := make([]sym.Expr, len(extents))
	var build func(d int) ([]cir.Stmt, error)
	build = func(d int) ([]cir.Stmt, error) {
		if d < 0 {
			return body(indices)
		}
		if extents[d] == 1 {
			indices[d] = sym.Int(0)
			return build(d - 1)
		}
		x := &sym.Symbol{Name: s.loopName(), Class: sym.Loop, Hi: extents[d] - 1}
		indices[d] = sym.New(x)
		s.open[x.Name] = true
		inner, err := build(d - 1)
		delete(s.open, x.Name)
		return []cir.Stmt{cir.For{Pos: pos, Sym: x, Hi: sym.Int(extents[d]), Unroll: true, Body: inner}}, err
	}
	return build(len(extents) - 1)
}

// loopName is the first short name that is free here; loops side by side may share one.
func (s *state) loopName() string {
	for n := 0; ; n++ {
		name := string("ijmnpquv"[n%8])
		if n >= 8 {
			name = fmt.Sprintf("%s%d", name, n/8)
		}
		if !s.open[name] && !s.used[name] {
			return name
		}
	}
}

// extents are the atoms of mode 0 and the extents of the other modes.
func extents(t *ir.Tensor, perAtom int64) []int64 {
	out := make([]int64, t.Layout.Rank())
	for i := range out {
		out[i], _ = t.Layout.Mode(i).IntSize()
	}
	out[0] /= perAtom
	return out
}

// copy lowers a tiled copy to one instruction for each atom.
func (s *state) copy(op ir.CopyOp) ([]cir.Stmt, error) {
	ns, nd := op.Copy.NumVal(ir.Source), op.Copy.NumVal(ir.Destination)
	emit, err := s.copyEmitter(op)
	if err != nil {
		return nil, err
	}
	if op.Copy.Row.Chooses {
		ns = op.Copy.Vector(op.Src, op.Dst)
		nd = ns
	}
	return s.nest(op.Pos, extents(op.Src, ns), func(indices []sym.Expr) ([]cir.Stmt, error) {
		src := append([]sym.Expr{indices[0].Mul(sym.Int(ns))}, indices[1:]...)
		dst := append([]sym.Expr{indices[0].Mul(sym.Int(nd))}, indices[1:]...)
		return emit(op, src, dst)
	})
}

// intrinsic is the C IR's name for a copy row.
func (s *state) intrinsic(row *atoms.CopyRow, class cir.OpClass) *cir.Op {
	return s.intrinsicNamed(row.Name, func() *cir.Op {
		op := CopyOp(row)
		op.Class = class
		return op
	})
}

// CopyOp is the C IR's row for a copy atom that is an instruction.
func CopyOp(row *atoms.CopyRow) *cir.Op {
	name := strings.NewReplacer("<", "_", ">", "", "u", "U", ".", "_").Replace(row.Name)
	if row.PTX != "" && !row.Asynchronous {
		name = row.Name // CuTe's, which is an identifier already
	}
	op := &cir.Op{Name: name, PTX: row.PTX, Arch: row.Arch, D: cir.Operand{Type: row.DstRegs.Type, Count: row.DstRegs.Count}}
	switch {
	case row.Asynchronous:
		op.Class, op.Bytes = cir.CpAsync, row.VectorBits/8
	case row.Src == "register" && row.Dst == "register":
		op.Class, op.A = cir.WarpMove, cir.Operand{Type: row.SrcRegs.Type, Count: row.SrcRegs.Count}
	case row.Src == "register":
		op.Class, op.D = cir.StMatrix, cir.Operand{Type: row.SrcRegs.Type, Count: row.SrcRegs.Count}
	default:
		op.Class = cir.LdMatrix
	}
	return op
}

func (s *state) cpAsync(op ir.CopyOp, src, dst []sym.Expr) ([]cir.Stmt, error) {
	from, err := s.addr(op.Src, src)
	if err != nil {
		return nil, err
	}
	to, err := s.addr(op.Dst, dst)
	if err != nil {
		return nil, err
	}
	t, err := s.tail(op.Src, src, op.Copy.NumVal(ir.Source))
	if err != nil {
		return nil, err
	}
	if op.Copy.Row.ZeroFill && t.valid == nil {
		n := sym.Int(op.Copy.NumVal(ir.Source))
		t.valid = &n
	}
	return []cir.Stmt{cir.CpAsyncStmt{Pos: op.Pos, Op: s.intrinsic(op.Copy.Row, cir.CpAsync), Dst: to, Src: from, Valid: t.valid, Pred: t.all}}, nil
}

func (s *state) ldmatrix(op ir.CopyOp, src, dst []sym.Expr) ([]cir.Stmt, error) {
	from, err := s.addr(op.Src, src)
	if err != nil {
		return nil, err
	}
	regs, err := s.words(op.Dst, dst, op.Copy.Row.DstRegs.Count)
	if err != nil {
		return nil, err
	}
	return []cir.Stmt{cir.LdMatrixStmt{Pos: op.Pos, Op: s.intrinsic(op.Copy.Row, cir.LdMatrix), Dst: regs, Src: from}}, nil
}

// move lowers a plain assignment: a load, a store, or both through registers of its own.
func (s *state) move(op ir.CopyOp, src, dst []sym.Expr) ([]cir.Stmt, error) {
	n := op.Copy.NumVal(ir.Source)
	if op.Copy.Row.Chooses {
		n = op.Copy.Vector(op.Src, op.Dst)
	}
	fromReg, toReg := op.Src.Storage.Space == ir.Register, op.Dst.Storage.Space == ir.Register
	switch {
	case fromReg && toReg:
		return s.moveRegisters(op, src, dst, n)
	case toReg:
		ref, err := s.reg(op.Dst, dst, n)
		if err != nil {
			return nil, err
		}
		return s.load(op, src, ref, n)
	case fromReg:
		ref, err := s.reg(op.Src, src, n)
		if err != nil {
			return nil, err
		}
		return s.store(op, dst, ref, n)
	}
	elems := n * int64(op.Src.Elem.Bits()) / int64(op.Src.Storage.Elem.Bits())
	tmp := &cir.Reg{Name: s.fresh("tmp"), Elem: op.Src.Storage.Elem, Count: int(roundUp(elems, int64(max(1, 32/op.Src.Storage.Elem.Bits()))))}
	ref := cir.RegRef{Reg: tmp, Elems: int(elems)}
	in, err := s.load(op, src, ref, n)
	if err != nil {
		return nil, err
	}
	out, err := s.store(op, dst, ref, n)
	return append(append([]cir.Stmt{cir.DeclReg{Pos: op.Pos, Reg: tmp}}, in...), out...), err
}

func (s *state) moveRegisters(op ir.CopyOp, src, dst []sym.Expr, n int64) ([]cir.Stmt, error) {
	var out []cir.Stmt
	for v := range n {
		from, err := s.reg(op.Src, append([]sym.Expr{src[0].Add(sym.Int(v))}, src[1:]...), 1)
		if err != nil {
			return nil, err
		}
		to, err := s.reg(op.Dst, append([]sym.Expr{dst[0].Add(sym.Int(v))}, dst[1:]...), 1)
		if err != nil {
			return nil, err
		}
		out = append(out, cir.SetReg{Pos: op.Pos, Dst: to, Value: cir.RegElem{Ref: from}})
	}
	return out, nil
}

// load reads one vector; where it straddles an edge, element by element with zeros beyond.
func (s *state) load(op ir.CopyOp, src []sym.Expr, to cir.RegRef, n int64) ([]cir.Stmt, error) {
	from, err := s.addr(op.Src, src)
	if err != nil {
		return nil, err
	}
	t, err := s.tail(op.Src, src, n)
	if err != nil {
		return nil, err
	}
	if t.whole == nil {
		return []cir.Stmt{cir.Load{Pos: op.Pos, Dst: to, Src: from, Pred: t.all}}, nil
	}
	var each []cir.Stmt
	for i := range n {
		one := cir.RegRef{Reg: to.Reg, Index: to.Index.Add(sym.Int(i)), Elems: 1}
		at := cir.Addr{Mem: from.Mem, Index: from.Index.Add(sym.Int(i))}
		v := cir.Select{Cond: cir.Every(t.all, t.each[i]), X: cir.MemElem{Addr: at}, Y: cir.Lit{Elem: from.Mem.Elem}}
		each = append(each, cir.SetReg{Pos: op.Pos, Dst: one, Value: v})
	}
	if n == 1 {
		return each, nil
	}
	return []cir.Stmt{cir.If{Pos: op.Pos, Cond: cir.Every(t.all, t.whole), Then: []cir.Stmt{cir.Load{Pos: op.Pos, Dst: to, Src: from}}, Else: each}}, nil
}

// store writes one vector; where it straddles an edge, those elements that exist.
func (s *state) store(op ir.CopyOp, dst []sym.Expr, from cir.RegRef, n int64) ([]cir.Stmt, error) {
	to, err := s.addr(op.Dst, dst)
	if err != nil {
		return nil, err
	}
	t, err := s.tail(op.Dst, dst, n)
	if err != nil {
		return nil, err
	}
	if t.whole == nil {
		return []cir.Stmt{cir.Store{Pos: op.Pos, Dst: to, Src: from, Pred: t.all}}, nil
	}
	var each []cir.Stmt
	for i := range n {
		one := cir.RegRef{Reg: from.Reg, Index: from.Index.Add(sym.Int(i)), Elems: 1}
		at := cir.Addr{Mem: to.Mem, Index: to.Index.Add(sym.Int(i))}
		each = append(each, cir.StoreValue{Pos: op.Pos, Dst: at, Value: cir.RegElem{Ref: one}, Pred: cir.Every(t.all, t.each[i])})
	}
	if n == 1 {
		return each, nil
	}
	return []cir.Stmt{cir.If{Pos: op.Pos, Cond: cir.Every(t.all, t.whole), Then: []cir.Stmt{cir.Store{Pos: op.Pos, Dst: to, Src: from}}, Else: each}}, nil
}
