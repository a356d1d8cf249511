package cuda

import (
	"fmt"
	"strings"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// access prints the statements that touch memory or run an intrinsic.
func (p *printer) access(s cir.Stmt) {
	switch s := s.(type) {
	case cir.Load:
		p.load(s)
	case cir.Store:
		p.store(s)
	case cir.StoreValue:
		dst := p.element(s.Dst, true)
		p.line("%s%s = %s;", p.when(s.Pred), dst, p.value(s.Value).s)
	case cir.MMAStmt:
		p.mma(s)
	case cir.LdMatrixStmt:
		p.ldmatrix(s)
	case cir.CpAsyncStmt:
		p.cpAsync(s)
	case cir.StMatrixStmt:
		if p.opOf(s.Op, cir.StMatrix) {
			p.intrinsic(s.Op, "copy", p.shared(s.Dst), arguments{"S", s.Op.D, s.Src, false})
		}
	case cir.WarpMoveStmt:
		if p.opOf(s.Op, cir.WarpMove) {
			p.intrinsic(s.Op, "copy", "", arguments{"S", s.Op.A, s.Src, false}, arguments{"D", s.Op.D, s.Dst, true})
		}
	default:
		p.fail("expected a statement of package cir, but got %T", s)
	}
}

// when is the condition in front of a statement.
func (p *printer) when(c cir.Cond) string {
	if c == nil {
		return ""
	}
	return "if (" + p.cond(c).s + ") "
}

// guarded prints a call where a condition holds.
func (p *printer) guarded(c cir.Cond, name string, args ...string) {
	one := p.when(c) + fmt.Sprintf("%s(%s);", name, strings.Join(args, ", "))
	if c == nil || len(one) <= maxWidth {
		p.call(p.when(c)+name, args...)
		return
	}
	p.line("%s{", p.when(c))
	p.indent++
	p.call(name, args...)
	p.indent--
	p.line("}")
}

// mem notes the use of an array.
func (p *printer) mem(a cir.Addr, write bool) *memory {
	u := p.mems[a.Mem]
	switch {
	case a.Mem == nil || u == nil:
		p.fail("expected an address in an argument or a shared array of the kernel")
		return &memory{}
	case write && !u.write:
		p.fail("expected an argument that the kernel writes, but %s is read-only", a.Mem.Name)
	}
	return u
}

// unit is the index in what the pointer points to: elements, or bytes where elements are smaller.
func (p *printer) unit(a cir.Addr) sym.Expr {
	n := int64(max(1, 8/max(1, a.Mem.Elem.Bits())))
	if !a.Index.DivisibleBy(n) {
		p.fail("expected an index of %s that begins a byte, but got %s", a.Mem.Name, a.Index)
	}
	return a.Index.FloorDiv(sym.Int(n))
}

// element is one element of memory as an lvalue.
func (p *printer) element(a cir.Addr, write bool) string {
	p.mem(a, write).pointer = true
	if p.err != nil {
		return ""
	}
	if a.Mem.Elem.Bits() < 8 {
		p.fail("expected whole bytes of %s, but got one element of kind %s", a.Mem.Name, a.Mem.Elem)
	}
	return fmt.Sprintf("%s[%s]", a.Mem.Name, p.expr(a.Index).s)
}

// pointer is the address of an element. What is constant after unrolling is added last and to the pointer,
// so that it becomes the instruction's immediate.
func (p *printer) pointer(a cir.Addr, write bool) string {
	p.mem(a, write).pointer = true
	if p.err != nil {
		return ""
	}
	run, fixed := p.split(p.unit(a))
	base := a.Mem.Name
	if len(run) > 0 {
		base += " + " + p.expr(sym.Sum(run...)).at(precMul)
	}
	if rest := sym.Sum(fixed...); !rest.Is(0) {
		return p.sum(base, rest).s
	}
	return base
}

// bytes is the index in bytes.
func (p *printer) bytes(a cir.Addr) sym.Expr {
	var bytes sym.Expr
	for _, t := range p.unit(a).Terms() { // one by one: a power of two then moves into an exclusive or
		bytes = bytes.Add(t.Mul(sym.Int(max(1, a.Mem.Elem.Bits()/8))))
	}
	return bytes
}

// shared is the 32-bit address of an element of shared memory.
func (p *printer) shared(a cir.Addr) string {
	u := p.mem(a, false)
	if p.err != nil {
		return ""
	}
	if a.Mem.Space != cir.Shared {
		p.fail("expected an address in shared memory, but %s is in %s memory", a.Mem.Name, a.Mem.Space)
		return ""
	}
	u.address = true
	bytes := p.bytes(a)
	base := a.Mem.Name + "_u32"
	if bytes.Is(0) {
		return base
	}
	return p.sum(base, bytes).s
}

// width checks that a vector is one that a single access can move.
func (p *printer) width(r cir.RegRef, a cir.Addr) int {
	if a.Mem != nil && a.Mem.Elem.Bits() != r.Reg.Elem.Bits() {
		p.fail("expected registers and memory of one width, but got %s and %s", r.Reg.Elem, a.Mem.Elem)
	}
	switch r.Bits() {
	case 8, 16, 32, 64, 128:
		return r.Bits()
	}
	p.fail("expected a vector of 8, 16, 32, 64 or 128 bits, but got %d elements of kind %s", r.Elems, r.Reg.Elem)
	return 0
}

// plain reports whether a vector is one element that its array holds as memory does.
func plain(r cir.RegRef, a cir.Addr) bool {
	return r.Elems == 1 && r.Reg.Elem.Bits() >= 8 && a.Mem != nil && a.Mem.Elem == r.Reg.Elem
}

func (p *printer) load(s cir.Load) {
	if !p.checkRef(s.Dst) {
		return
	}
	w := p.width(s.Dst, s.Src)
	switch {
	case p.err != nil:
	case plain(s.Dst, s.Src):
		v := text{s: p.element(s.Src, false), prec: precPrimary}
		if s.Pred != nil {
			v = text{s: p.cond(s.Pred).at(precOr) + " ? " + v.s + " : " + p.literal(s.Dst.Reg.Elem, 0).s}
		}
		p.setElem(s.Dst, v)
	case w < 32:
		v := fmt.Sprintf("*reinterpret_cast<const uint%d_t*>(%s)", w, p.pointer(s.Src, false))
		if s.Pred != nil {
			v = p.cond(s.Pred).at(precOr) + " ? " + v + " : 0"
		}
		p.call(p.packed("set", subwords[w]), s.Dst.Reg.Name+", "+p.subword(s.Dst, w), v)
	default:
		what, from := p.place("load", s.Src, false)
		if s.Pred != nil && s.Src.Mem.Space == cir.Global {
			p.call(p.vector(what+"_if", s.Dst, w), p.cond(s.Pred).s, from, p.wordsAt(s.Dst))
			return
		}
		if s.Pred != nil {
			p.line("%s(%s);", p.vector("clear", s.Dst, w), p.wordsAt(s.Dst))
		}
		p.guarded(s.Pred, p.vector(what, s.Dst, w), from, p.wordsAt(s.Dst))
	}
}

func (p *printer) store(s cir.Store) {
	if !p.checkRef(s.Src) {
		return
	}
	w := p.width(s.Src, s.Dst)
	switch {
	case p.err != nil:
	case plain(s.Src, s.Dst):
		p.line("%s%s = %s;", p.when(s.Pred), p.element(s.Dst, true), p.getElem(s.Src).s)
	case w < 32:
		p.line("%s*reinterpret_cast<uint%d_t*>(%s) = %s(%s, %s);", p.when(s.Pred), w, p.pointer(s.Dst, true),
			p.packed("get", subwords[w]), s.Src.Reg.Name, p.subword(s.Src, w))
	default:
		what, to := p.place("store", s.Dst, true)
		if s.Pred != nil && s.Dst.Mem.Space == cir.Global {
			p.call(p.vector(what+"_if", s.Src, w), p.cond(s.Pred).s, p.wordsAt(s.Src), to)
			return
		}
		p.guarded(s.Pred, p.vector(what, s.Src, w), p.wordsAt(s.Src), to)
	}
}

// place is the helper that moves a vector to or from memory, and its address: in shared memory one of 32 bits.
func (p *printer) place(what string, a cir.Addr, write bool) (helper, address string) {
	if a.Mem.Space == cir.Shared {
		return what + "_shared", p.shared(a)
	}
	if !write && !p.mems[a.Mem].write { // const __restrict__
		what += "_constant"
	}
	return what, p.pointer(a, write)
}

// subwords are the kinds in whose guise vectors narrower than 32 bits enter and leave their register.
var subwords = map[int]elem.Kind{8: elem.KU8, 16: elem.KU16}

// subword is the index, in units of w bits, of elements that share a register with others.
func (p *printer) subword(r cir.RegRef, w int) string {
	n := int64(w / r.Reg.Elem.Bits())
	if !r.Index.DivisibleBy(n) {
		p.fail("expected an index of register array %s that is a multiple of %d, but got %s", r.Reg.Name, n, r.Index)
	}
	return p.expr(r.Index.FloorDiv(sym.Int(n))).s
}

// vector notes and names the helper that moves w bits to or from registers.
func (p *printer) vector(what string, r cir.RegRef, w int) string {
	name := fmt.Sprintf("%s_b%d", what, w)
	p.use.helper(vectorName(name, storageOf(r.Reg.Elem).ctype))
	p.use.include("cstdint")
	return name
}
