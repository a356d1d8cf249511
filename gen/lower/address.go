package lower

import (
	"fmt"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/gen/cir"
)

// at is the coordinate (indices[0], indices[1], …) with one index for each mode of a view.
func at(indices []sym.Expr) algebra.Coord {
	modes := make([]any, len(indices))
	for i, e := range indices {
		modes[i] = e
	}
	return algebra.C(modes...)
}

// index is the offset in the storage, in its own elements, of a view's element.
func (s *state) index(t *ir.Tensor, indices []sym.Expr) (sym.Expr, error) {
	e, err := t.Layout.At(at(indices))
	if err != nil {
		return e, err
	}
	e = e.Add(t.Offset)
	if t.Swizzle.B > 0 {
		e = swizzle(t.Swizzle, e)
	}
	view, store := int64(t.Elem.Bits()), int64(t.Storage.Elem.Bits())
	if view == store {
		return e, nil
	}
	return e.Mul(sym.Int(view)).FloorDiv(sym.Int(store)), nil
}

// addr is the address of a view's element; what does not change in the kernel is computed once, at its top.
func (s *state) addr(t *ir.Tensor, indices []sym.Expr) (cir.Addr, error) {
	e, err := s.index(t, indices)
	return cir.Addr{Mem: s.mem(t.Storage), Index: s.hoist(t.Name, e)}, err
}

// regs is the register reference to n elements of a view.
func (s *state) reg(t *ir.Tensor, indices []sym.Expr, n int64) (cir.RegRef, error) {
	e, err := s.index(t, indices)
	n = n * int64(t.Elem.Bits()) / int64(t.Storage.Elem.Bits())
	return cir.RegRef{Reg: s.regs[t.Storage], Index: e, Elems: int(n)}, err
}

// swizzle applies Sw<B,M,S> to an offset. Terms that share no bits with the others are kept apart, so that
// constants stay constants: an exclusive or works bit by bit, and where bits are disjoint a sum is one.
func swizzle(sw algebra.Swizzle, e sym.Expr) sym.Expr {
	mask := int64(1)<<sw.B - 1
	from, to := mask<<(sw.M+max(sw.S, 0)), mask<<(sw.M-min(sw.S, 0))
	read, written, rest := sym.Int(0), sym.Int(0), sym.Int(0)
	var others uint64
	for _, t := range e.Terms() {
		b := t.Bits()
		if b&others != 0 { // carries may cross: take the sum as a whole
			return sw.ApplyExpr(e)
		}
		others |= b
		if b&uint64(from) != 0 {
			read = read.Add(t)
		}
		if b&uint64(to) != 0 {
			written = written.Add(t)
		} else {
			rest = rest.Add(t)
		}
	}
	if written.Bits()&rest.Bits() != 0 {
		return sw.ApplyExpr(e)
	}
	flip := read.Field(sw.M+max(sw.S, 0), sw.B).Mul(sym.Int(int64(1) << (sw.M - min(sw.S, 0))))
	for _, t := range written.Terms() { // t ^ flip ^ …: one by one, for loop variables and thread indices to part
		flip = flip.Xor(t)
	}
	return rest.Add(flip)
}

// hoist replaces the sum of e's terms that are a thread's own (they depend on its index or its block's, and on no
// loop) by a variable that is computed once. Terms of arguments alone stay: nvcc knows what to do with them.
func (s *state) hoist(name string, e sym.Expr) sym.Expr {
	var own, rest sym.Expr
	for _, t := range e.Terms() {
		if _, _, xor := xorOf(t); !xor && s.fixed(t) && s.threadly(t) {
			own = own.Add(t)
		} else {
			rest = rest.Add(s.hoistXor(name, t))
		}
	}
	return s.bind(name, own).Add(rest)
}

// fixed reports whether an expression has one value throughout a thread's run of the kernel.
func (s *state) fixed(e sym.Expr) bool {
	for _, x := range e.Symbols() {
		if x.Class == sym.Loop || x.Class == sym.Var && !s.isLet(x) {
			return false
		}
	}
	return true
}

// threadly reports whether an expression depends on the thread or its block.
func (s *state) threadly(e sym.Expr) bool {
	for _, x := range e.Symbols() {
		if x.Class != sym.Param {
			return true
		}
	}
	return false
}

func (s *state) isLet(x *sym.Symbol) bool { _, ok := s.seen["let "+x.Name]; return ok }

// xorOf takes a term c*(a ^ b ^ …) apart.
func xorOf(t sym.Expr) (args []sym.Expr, scale sym.Expr, ok bool) {
	v := t.View()
	scale = sym.Int(1)
	if v.Op == sym.Mul && len(v.Args) == 2 {
		scale, v = v.Args[1], v.Args[0].View()
	}
	return v.Args, scale, v.Op == sym.Xor
}

// hoistXor does the same inside an exclusive or: constants and loops' variables stay outside, so that all steps of a
// loop share one variable.
func (s *state) hoistXor(name string, t sym.Expr) sym.Expr {
	args, scale, ok := xorOf(t)
	if !ok {
		return t
	}
	var own, rest sym.Expr
	for _, a := range args {
		if _, isConst := a.IsConst(); !isConst && s.fixed(a) {
			own = own.Xor(a)
		} else {
			rest = rest.Xor(a)
		}
	}
	return s.bind(name+"x", own).Xor(rest).Mul(scale)
}

// bind gives an invariant a variable, unless it is as simple as one.
func (s *state) bind(name string, e sym.Expr) sym.Expr {
	if simple(e) {
		return e
	}
	if v, ok := s.seen[e.Key()]; ok {
		return v
	}
	e = e.Subst(s.everywhere)
	lo, hi := e.Range()
	x := &sym.Symbol{Name: s.fresh(name), Class: sym.Var, Lo: lo, Hi: hi, Multiple: e.Multiple()}
	return s.let(cir.Let{Sym: x, Value: e})
}

// everywhere takes back what only a branch knows of an argument: a variable at the top holds outside of it too.
func (s *state) everywhere(x *sym.Symbol) (sym.Expr, bool) {
	for _, p := range s.in.Params {
		if p.Sym != nil && p.Sym.Name == x.Name {
			return sym.New(p.Sym), true
		}
	}
	return sym.Expr{}, false
}

// let declares a variable at the top of the kernel.
func (s *state) let(l cir.Let) sym.Expr {
	s.lets = append(s.lets, l)
	v := sym.New(l.Sym)
	s.seen[l.Value.Key()], s.seen["let "+l.Sym.Name] = v, v
	return v
}

// simple expressions are constants, variables, and multiples of one by a constant.
func simple(e sym.Expr) bool {
	v := e.View()
	if v.Op == sym.Mul && len(v.Args) == 2 {
		if _, ok := v.Args[1].IsConst(); ok {
			v = v.Args[0].View()
		}
	}
	return v.Op == sym.Const || v.Op == sym.Sym
}

func (s *state) fresh(name string) string {
	out := name
	for i := 1; s.used[out]; i++ {
		out = fmt.Sprintf("%s_%d", name, i)
	}
	s.used[out] = true
	return out
}
