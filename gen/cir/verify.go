package cir

import (
	"fmt"

	"github.com/gocute/gocute/algebra/sym"
)

// Verify checks what every pass must keep: integers are declared before use and once, registers are declared and
// indexed within bounds by what nvcc knows, operands have the instruction's counts. Its errors are our own mistakes.
func Verify(k *Kernel) error {
	v := &verifier{k: k, ints: map[string]bool{}, unrolled: map[string]bool{}, regs: map[*Reg]bool{}}
	for _, p := range k.Params {
		if p.Class == Dim {
			v.ints[p.Name] = true
		}
	}
	for _, n := range []string{"tid", "bx", "by", "bz"} {
		v.ints[n] = true
	}
	for _, m := range k.Shared {
		n, ok := m.Count.IsConst()
		if !ok || m.Offset%m.Align != 0 || m.Offset+int(n)*m.Elem.Bits()/8 > k.SmemBytes {
			return fmt.Errorf("shared array %s of %s elements at %d does not fit %d bytes aligned to %d", m.Name, m.Count, m.Offset, k.SmemBytes, m.Align)
		}
	}
	return first(v.body(k.Body), verifyWait(k))
}

type verifier struct {
	k        *Kernel
	ints     map[string]bool
	unrolled map[string]bool
	regs     map[*Reg]bool
}

func (v *verifier) body(stmts []Stmt) error {
	var mine []string
	for _, s := range stmts {
		if err := v.stmt(s, &mine); err != nil {
			return fmt.Errorf("%s:%d: %T: %w", s.Position().File, s.Position().Line, s, err)
		}
	}
	for _, n := range mine {
		delete(v.ints, n)
	}
	return nil
}

func (v *verifier) declare(s *sym.Symbol, mine *[]string) error {
	if v.ints[s.Name] {
		return fmt.Errorf("integer %s is declared twice", s.Name)
	}
	v.ints[s.Name] = true
	*mine = append(*mine, s.Name)
	return nil
}

func (v *verifier) stmt(s Stmt, mine *[]string) error {
	switch s := s.(type) {
	case Let:
		if err := v.exprs(s.Value); err != nil {
			return err
		}
		return v.declare(s.Sym, mine)
	case Var:
		if err := v.exprs(s.Init); err != nil {
			return err
		}
		return v.declare(s.Sym, mine)
	case Assign:
		return v.exprs(sym.New(s.Sym), s.Value)
	case DeclReg:
		v.regs[s.Reg] = true
		return nil
	case Arrive:
		if err := first(v.addr(s.Counter), v.addr(s.Word), v.exprs(s.Count)); err != nil {
			return err
		}
		return v.declare(s.Sym, mine)
	case GridWait, GridTrigger:
		return nil
	case For:
		return v.loop(s)
	case If:
		if err := v.cond(s.Cond); err != nil {
			return err
		}
		if err := v.body(s.Then); err != nil {
			return err
		}
		return v.body(s.Else)
	default:
		return v.access(s)
	}
}

func (v *verifier) loop(s For) error {
	if err := v.exprs(s.Lo, s.Hi); err != nil {
		return err
	}
	_, lo := s.Lo.IsConst()
	_, hi := s.Hi.IsConst()
	if s.Unroll && !(lo && hi) {
		return fmt.Errorf("the unrolled loop over %s goes from %s to %s", s.Sym.Name, s.Lo, s.Hi)
	}
	var set string
	Walk(s.Body, func(st Stmt) {
		if a, ok := st.(Assign); ok && s.Hi.Mentions(a.Sym.Name) {
			set = a.Sym.Name
		}
	})
	if set != "" {
		return fmt.Errorf("the loop over %s goes to %s, of which it sets %s", s.Sym.Name, s.Hi, set)
	}
	var mine []string
	if err := v.declare(s.Sym, &mine); err != nil {
		return err
	}
	v.unrolled[s.Sym.Name] = s.Unroll
	err := v.body(s.Body)
	delete(v.unrolled, s.Sym.Name)
	delete(v.ints, s.Sym.Name)
	return err
}

// access checks the statements that touch memory or registers.
func (v *verifier) access(s Stmt) error {
	switch s := s.(type) {
	case Fill:
		if !v.regs[s.Reg] {
			return fmt.Errorf("register array %s is not declared", s.Reg.Name)
		}
		return nil
	case MBarrierInit:
		if s.Count < 1 || s.Bar.Mem == nil || s.Bar.Mem.Space != Shared || s.Bar.Mem.Elem.Bits() != 64 {
			return fmt.Errorf("an mbarrier for %d arrivals expects a 64-bit word in shared memory", s.Count)
		}
		return v.addr(s.Bar)
	case MBarrierArrive:
		return v.addr(s.Bar)
	case CpAsyncArrive:
		return v.addr(s.Bar)
	case MBarrierWait:
		return first(v.addr(s.Bar), v.exprs(s.Parity))
	case Load:
		return first(v.refs(s.Dst), v.addr(s.Src), v.cond(s.Pred))
	case Store:
		return first(v.refs(s.Src), v.addr(s.Dst), v.cond(s.Pred))
	case SetReg:
		return first(v.refs(s.Dst), v.value(s.Value))
	case SetWord:
		if len(s.Values) != s.Dst.Elems || s.Dst.Bits() != 32 {
			return fmt.Errorf("expected a value for each element of a 32-bit register, but got %d for %d bits", len(s.Values), s.Dst.Bits())
		}
		for _, x := range s.Values {
			if err := v.value(x); err != nil {
				return err
			}
		}
		return v.refs(s.Dst)
	case StoreValue:
		return first(v.addr(s.Dst), v.value(s.Value), v.cond(s.Pred))
	case MMAStmt:
		for _, x := range []struct {
			refs []RegRef
			op   Operand
		}{{s.D, s.Op.D}, {s.A, s.Op.A}, {s.B, s.Op.B}, {s.C, s.Op.C}} {
			if len(x.refs) != x.op.Count {
				return fmt.Errorf("%s takes %d registers, but got %d", s.Op.Name, x.op.Count, len(x.refs))
			}
			if err := v.refs(x.refs...); err != nil {
				return err
			}
		}
		return nil
	case LdMatrixStmt:
		if len(s.Dst) != s.Op.D.Count || s.Src.Mem.Space != Shared {
			return fmt.Errorf("%s fills %d registers from shared memory, but got %d from %s", s.Op.Name, s.Op.D.Count, len(s.Dst), s.Src.Mem.Space)
		}
		return first(v.refs(s.Dst...), v.addr(s.Src))
	case CpAsyncStmt:
		if s.Dst.Mem.Space != Shared || s.Src.Mem.Space != Global {
			return fmt.Errorf("%s copies global to shared memory, but got %s to %s", s.Op.Name, s.Src.Mem.Space, s.Dst.Mem.Space)
		}
		if s.Valid != nil {
			if err := v.exprs(*s.Valid); err != nil {
				return err
			}
		}
		return first(v.addr(s.Dst), v.addr(s.Src), v.cond(s.Pred))
	}
	return v.warpAccess(s)
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) exprs(es ...sym.Expr) error {
	for _, e := range es {
		for _, s := range e.Symbols() {
			if !v.ints[s.Name] {
				return fmt.Errorf("integer %s is used where it is not declared, in %s", s.Name, e)
			}
		}
	}
	return nil
}

func (v *verifier) addr(a Addr) error {
	if a.Mem == nil {
		return fmt.Errorf("an address without memory")
	}
	return v.exprs(a.Index)
}

func (v *verifier) refs(refs ...RegRef) error {
	for _, r := range refs {
		if !v.regs[r.Reg] {
			return fmt.Errorf("register array %s is not declared", r.Reg.Name)
		}
		for _, s := range r.Index.Symbols() {
			if !v.unrolled[s.Name] {
				return fmt.Errorf("register array %s is indexed by %s, which nvcc does not know", r.Reg.Name, r.Index)
			}
		}
		if lo, hi := r.Index.Range(); lo < 0 || hi+int64(r.Elems) > int64(r.Reg.Count) {
			return fmt.Errorf("register array %s of %d elements is indexed from %d to %d", r.Reg.Name, r.Reg.Count, lo, hi+int64(r.Elems)-1)
		}
	}
	return nil
}

func (v *verifier) value(x Value) error {
	switch x := x.(type) {
	case nil:
		return fmt.Errorf("a value is missing")
	case RegElem:
		return v.refs(x.Ref)
	case MemElem:
		return v.addr(x.Addr)
	case IntValue:
		return v.exprs(x.Expr)
	case Binary:
		return first(v.value(x.X), v.value(x.Y))
	case FMA:
		return first(v.value(x.X), v.value(x.Y), v.value(x.Z))
	case Unary:
		return v.value(x.X)
	case Convert:
		return v.value(x.X)
	case Select:
		return first(v.cond(x.Cond), v.value(x.X), v.value(x.Y))
	}
	return nil
}

func (v *verifier) cond(c Cond) error {
	switch c := c.(type) {
	case Cmp:
		return v.exprs(c.X, c.Y)
	case ValCmp:
		return first(v.value(c.X), v.value(c.Y))
	case And:
		for _, x := range c {
			if err := v.cond(x); err != nil {
				return err
			}
		}
	case Or:
		for _, x := range c {
			if err := v.cond(x); err != nil {
				return err
			}
		}
	case Not:
		return v.cond(c.X)
	}
	return nil
}
