package lower

import (
	"fmt"
	"slices"

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
	return cir.Addr{Mem: s.mem(t.Storage), Index: s.hoist(t.Name, e, t.Swizzle.B > 0)}, err
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
// loop) by a variable that is computed once, at the top, and where an opaque value is added to it, by another one after
// that. Terms of arguments alone stay: nvcc knows what to do with them.
func (s *state) hoist(name string, e sym.Expr, swizzled bool) sym.Expr {
	var rest sym.Expr
	own := make([]sym.Expr, s.depth+1) // by the depth of the body
	for _, t := range e.Terms() {
		if _, _, xor := xorOf(t); !xor && s.fixed(t) && s.threadly(t) {
			d := s.home(t).depthOf()
			own[d] = own[d].Add(t)
		} else {
			rest = rest.Add(s.hoistXor(name, t, swizzled))
		}
	}
	var sum sym.Expr
	for _, x := range own {
		if !x.Is(0) {
			sum = s.bind(name, sum.Add(x), swizzled)
		}
	}
	return sum.Add(rest)
}

// fixed reports whether an expression has one value throughout a thread's run of the kernel, or from an opaque value on.
func (s *state) fixed(e sym.Expr) bool {
	for _, x := range e.Symbols() {
		if x.Class == sym.Loop || x.Class == sym.Var && !s.isLet(x) && s.opaqueOf(x) == nil {
			return false
		}
	}
	return true
}

// opaque is an opaque value and what was computed from it right after it.
type opaque struct {
	sym   *sym.Symbol
	depth int // of its body
	lets  []cir.Stmt
	keys  []string // in state.seen
}

// depthOf is 0 for the top.
func (o *opaque) depthOf() int {
	if o == nil {
		return 0
	}
	return o.depth
}

func (s *state) opaqueOf(x *sym.Symbol) *opaque {
	for _, o := range s.opaques {
		if o.sym.Name == x.Name {
			return o
		}
	}
	return nil
}

// home is the last opaque value that an invariant depends on, or nil: it can be computed at the top.
func (s *state) home(e sym.Expr) *opaque {
	for _, o := range slices.Backward(s.opaques) {
		if slices.ContainsFunc(e.Symbols(), func(x *sym.Symbol) bool { return x.Name == o.sym.Name || slices.Contains(o.keys, "let "+x.Name) }) {
			return o
		}
	}
	return nil
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
func (s *state) hoistXor(name string, t sym.Expr, swizzled bool) sym.Expr {
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
	return s.bind(name+"x", own, swizzled).Xor(rest).Mul(scale)
}

// bind gives an invariant a variable, unless it is as simple as one. After an opaque value the parts of swizzled addresses are
// opaque, too: nvcc would join their bits with those of each step and keep all of these.
func (s *state) bind(name string, e sym.Expr, swizzled bool) sym.Expr {
	if simple(e) {
		return e
	}
	if v, ok := s.seen[e.Key()]; ok {
		return v
	}
	e = e.Subst(s.everywhere)
	lo, hi := e.Range()
	x := &sym.Symbol{Name: s.fresh(name), Class: sym.Var, Lo: lo, Hi: hi, Multiple: e.Multiple()}
	o := s.home(e)
	if o == nil {
		return s.let(cir.Let{Sym: x, Value: e})
	}
	o.lets, o.keys = append(o.lets, cir.Let{Sym: x, Value: e, Opaque: swizzled}), append(o.keys, e.Key(), "let "+x.Name)
	return s.know(x, e)
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
	return s.know(l.Sym, l.Value)
}

func (s *state) know(x *sym.Symbol, value sym.Expr) sym.Expr {
	v := sym.New(x)
	s.seen[value.Key()], s.seen["let "+x.Name] = v, v
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
