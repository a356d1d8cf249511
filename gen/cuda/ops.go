package cuda

import (
	"fmt"
	"strings"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/gen/cir"
)

// form is one of the functions of an instruction's wrapper.
type form uint16

const (
	byPointer  form = 1 << iota // operands are adjacent registers: fma(d, a, b, c) and copy(src, d)
	byRegister                  // one argument a register
	whole                       // cp.async of all bytes
	partly                      // cp.async of the first bytes, zeros behind them
	allForms   = byPointer | byRegister | whole | partly | anyDims
)

// instr is a used instruction with the functions of it that are used.
type instr struct {
	op    *cir.Op
	forms form
}

// instr notes the use of an instruction.
func (u *usage) instr(op *cir.Op, f form) error {
	in := u.instrs[op.Name]
	switch {
	case in == nil:
		in = &instr{op: op}
		u.instrs[op.Name] = in
	case *in.op != *op:
		return fmt.Errorf("two different instructions are called %s", op.Name)
	}
	in.forms |= f
	u.include("cstdint")
	return nil
}

// operandTypes gives the C type and the asm constraint of an operand's registers.
var operandTypes = map[string]struct{ ctype, constraint string }{
	"u32": {"uint32_t", "r"},
	"s32": {"int32_t", "r"},
	"f32": {"float", "f"},
	"u64": {"uint64_t", "l"},
	"f64": {"double", "d"},
}

// casts reinterpret a register of the first C type as the second.
var casts = map[[2]string]string{
	{"float", "uint32_t"}:   "__float_as_uint(%s)",
	{"uint32_t", "float"}:   "__uint_as_float(%s)",
	{"int32_t", "uint32_t"}: "(uint32_t)%s",
	{"uint32_t", "int32_t"}: "(int32_t)%s",
	{"float", "int32_t"}:    "__float_as_int(%s)",
	{"int32_t", "float"}:    "__int_as_float(%s)",
}

// arguments are the registers of one operand of a statement.
type arguments struct {
	letter string
	op     cir.Operand
	refs   []cir.RegRef
	out    bool
}

// checkOperand compares the registers given with those that the instruction takes.
func (p *printer) checkOperand(name string, a arguments) {
	t, ok := operandTypes[a.op.Type]
	if !ok {
		p.fail("%s: operand %s has the unknown register type %q", name, a.letter, a.op.Type)
		return
	}
	if len(a.refs) != a.op.Count {
		p.fail("%s: operand %s takes %d registers, but got %d", name, a.letter, a.op.Count, len(a.refs))
	}
	for _, r := range a.refs {
		if p.checkRef(r) && r.Bits() != storageBits(t.ctype) {
			p.fail("%s: operand %s takes registers of %s, but got %d elements of kind %s",
				name, a.letter, a.op.Type, r.Elems, r.Reg.Elem)
		}
	}
}

func storageBits(ctype string) int {
	for _, s := range storages {
		if s.ctype == ctype {
			return s.bits
		}
	}
	return 0
}

// adjacent reports whether an operand's registers follow each other and have its type.
func adjacent(a arguments) bool {
	for i, r := range a.refs {
		first := a.refs[0]
		if r.Reg != first.Reg || !r.Index.Equal(first.Index.Add(sym.Int(int64(i*first.Elems)))) {
			return false
		}
		if storageOf(r.Reg.Elem).ctype != operandTypes[a.op.Type].ctype {
			return false
		}
	}
	return len(a.refs) > 0
}

// intrinsic prints the call of an instruction's wrapper; before goes in front of the registers.
func (p *printer) intrinsic(op *cir.Op, name, before string, operands ...arguments) {
	f := byPointer
	for _, a := range operands {
		p.checkOperand(op.Name, a)
		if p.err != nil {
			return
		}
		if !adjacent(a) {
			f = byRegister
		}
	}
	var groups []string
	if before != "" {
		groups = append(groups, before)
	}
	for _, a := range operands {
		if f == byPointer {
			groups = append(groups, p.wordsAt(a.refs[0]))
			continue
		}
		regs := make([]string, len(a.refs))
		for i, r := range a.refs {
			regs[i] = p.operandRegister(r, a)
		}
		groups = append(groups, strings.Join(regs, ", "))
	}
	p.note(op, f)
	p.call(op.Name+"::"+name, groups...)
}

func (p *printer) note(op *cir.Op, f form) {
	if err := p.use.instr(op, f); err != nil {
		p.fail("%w", err)
	}
}

// operandRegister is one register as the wrapper takes it.
func (p *printer) operandRegister(r cir.RegRef, a arguments) string {
	w, have, want := p.word(r), storageOf(r.Reg.Elem).ctype, operandTypes[a.op.Type].ctype
	if have == want {
		return w
	}
	c, ok := casts[[2]string{have, want}]
	switch {
	case !ok:
		p.fail("operand %s takes %s, but register array %s is of %s", a.letter, want, r.Reg.Name, have)
		return w
	case a.out:
		return fmt.Sprintf("reinterpret_cast<%s&>(%s)", want, w)
	}
	return fmt.Sprintf(c, w)
}

// opOf checks that a statement has an instruction of its class.
func (p *printer) opOf(op *cir.Op, class cir.OpClass) bool {
	if op == nil || op.Class != class || !identifier.MatchString(op.Name) {
		p.fail("expected an instruction of the statement's class, but got %v", op)
		return false
	}
	return true
}

func (p *printer) mma(s cir.MMAStmt) {
	if s.Op != nil && s.Op.Class == cir.Dot || p.opOf(s.Op, cir.MMA) {
		p.intrinsic(s.Op, "fma", "",
			arguments{"D", s.Op.D, s.D, true}, arguments{"A", s.Op.A, s.A, false},
			arguments{"B", s.Op.B, s.B, false}, arguments{"C", s.Op.C, s.C, false})
	}
}

func (p *printer) ldmatrix(s cir.LdMatrixStmt) {
	if p.opOf(s.Op, cir.LdMatrix) {
		p.intrinsic(s.Op, "copy", p.shared(s.Src), arguments{"D", s.Op.D, s.Dst, true})
	}
}

func (p *printer) cpAsync(s cir.CpAsyncStmt) {
	if !p.opOf(s.Op, cir.CpAsync) {
		return
	}
	src, dst := p.pointer(s.Src, false), p.shared(s.Dst)
	if s.Valid == nil && s.Pred == nil {
		p.note(s.Op, whole)
		p.call(s.Op.Name+"::copy", src, dst)
		return
	}
	bytes := sym.Int(s.Op.Bytes)
	if s.Valid != nil && s.Src.Mem != nil {
		bytes = s.Valid.Mul(sym.Int(s.Src.Mem.Elem.Bits())).FloorDiv(sym.Int(8))
	}
	size := p.expr(bytes)
	if s.Pred != nil {
		size = text{s: p.cond(s.Pred).at(precOr) + " ? " + size.at(precOr) + " : 0"}
	}
	p.note(s.Op, partly)
	p.call(s.Op.Name+"::copy_zfill", src, dst, size.s)
}
