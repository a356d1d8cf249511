package cuda

import (
	"fmt"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// storage is what an array of registers is declared as.
type storage struct {
	ctype string
	bits  int
}

// storages lists the kinds that have registers of their own type; elements narrower than 32 bits are packed
// into uint32_t, which is what the instructions take. The same holds for tf32, of which they take the bits.
var storages = map[elem.Kind]storage{
	elem.KF32:  {"float", 32},
	elem.KTF32: {"uint32_t", 32},
	elem.KF64:  {"double", 64},
	elem.KS32:  {"int32_t", 32},
	elem.KU32:  {"uint32_t", 32},
	elem.KS64:  {"int64_t", 64},
	elem.KU64:  {"uint64_t", 64},
	elem.KU128: {"uint4", 128},
}

func storageOf(k elem.Kind) storage {
	if s, ok := storages[k]; ok {
		return s
	}
	return storage{"uint32_t", 32}
}

// perWord is the number of elements in one register: more than 1 exactly for packed kinds.
func perWord(k elem.Kind) int { return max(1, storageOf(k).bits/max(1, k.Bits())) }

func words(r *cir.Reg) int { return (r.Count + perWord(r.Elem) - 1) / perWord(r.Elem) }

// memType notes and names the C++ type of elements in memory.
func (p *printer) memType(k elem.Kind) string {
	t := k.CType()
	if t == "" { // elements smaller than a byte are addressed by the byte
		t = "uint8_t"
	}
	p.use.helper(t)
	if t != "float" && t != "double" && t != "uint4" {
		p.use.include("cstdint")
	}
	return t
}

func (p *printer) declareReg(r *cir.Reg) {
	s := storageOf(r.Elem)
	if s.ctype != "float" && s.ctype != "double" && s.ctype != "uint4" {
		p.use.include("cstdint")
	}
	p.line("%s %s[%d];", s.ctype, r.Name, words(r))
}

// checkRef makes sure that a reference is in scope, in bounds, and a constant after unrolling; otherwise
// nvcc would put the array into local memory.
func (p *printer) checkRef(r cir.RegRef) bool {
	if r.Reg == nil {
		p.fail("expected a register array, but got none")
		return false
	}
	if p.regs[r.Reg.Name] != r.Reg {
		p.fail("register array %s is not declared before this use", r.Reg.Name)
		return false
	}
	if !p.isFixed(r.Index) {
		p.fail("expected the index of register array %s to be a constant after unrolling, but got %s", r.Reg.Name, r.Index)
		return false
	}
	if lo, hi := r.Index.Range(); lo < 0 || hi+int64(r.Elems) > int64(r.Reg.Count) || r.Elems < 1 {
		p.fail("%d elements at index %s (%d to %d) leave register array %s of %d elements",
			r.Elems, r.Index, lo, hi, r.Reg.Name, r.Reg.Count)
		return false
	}
	return true
}

// word prints the index of the register that holds the first element of r, which must be its lowest.
func (p *printer) wordIndex(r cir.RegRef) sym.Expr {
	n := int64(perWord(r.Reg.Elem))
	if !r.Index.DivisibleBy(n) {
		p.fail("expected a reference to register array %s that begins a 32-bit register, but got index %s of %s",
			r.Reg.Name, r.Index, r.Reg.Elem)
	}
	return r.Index.FloorDiv(sym.Int(n))
}

// word is the register that holds the elements of r.
func (p *printer) word(r cir.RegRef) string {
	if !p.checkRef(r) {
		return ""
	}
	return fmt.Sprintf("%s[%s]", r.Reg.Name, p.expr(p.wordIndex(r)).s)
}

// wordsAt is a pointer to the register that holds the first element of r.
func (p *printer) wordsAt(r cir.RegRef) string {
	if !p.checkRef(r) {
		return ""
	}
	i := p.wordIndex(r)
	if i.Is(0) {
		return r.Reg.Name
	}
	return p.sum(r.Reg.Name, i).s
}

// getElem reads one element of a register array.
func (p *printer) getElem(r cir.RegRef) text {
	if !p.checkRef(r) || !p.one(r) {
		return text{}
	}
	k := r.Reg.Elem
	index := p.expr(r.Index)
	if perWord(k) > 1 {
		return call(p.packed("get", k), text{s: r.Reg.Name}, index)
	}
	w := fmt.Sprintf("%s[%s]", r.Reg.Name, index.s)
	if k == elem.KTF32 {
		w = "__uint_as_float(" + w + ")"
	}
	return text{s: w, prec: precPrimary}
}

// setElem prints the statement that writes one element of a register array.
func (p *printer) setElem(r cir.RegRef, v text) {
	if !p.checkRef(r) || !p.one(r) {
		return
	}
	k := r.Reg.Elem
	index := p.expr(r.Index).s
	switch {
	case perWord(k) > 1:
		p.call(p.packed("set", k), r.Reg.Name+", "+index, v.s)
	case k == elem.KTF32:
		p.line("%s[%s] = __float_as_uint(%s);", r.Reg.Name, index, v.s)
	default:
		p.line("%s[%s] = %s;", r.Reg.Name, index, v.s)
	}
}

// wordSetters compute a whole register from as many values of a kind, each converted with one rounding.
var wordSetters = map[pair]string{
	{elem.KF32, elem.KS8}:   "round4_s8",
	{elem.KF32, elem.KU8}:   "round4_u8",
	{elem.KF32, elem.KF16}:  "round2_f16",
	{elem.KF32, elem.KBF16}: "round2_bf16",
}

// setWord prints the statement that sets all elements of a register.
func (p *printer) setWord(s cir.SetWord) {
	word := p.word(s.Dst)
	var xs []string
	for _, v := range s.Values {
		c, ok := v.(cir.Convert)
		if !ok || wordSetters[pair{c.X.Kind(), c.To}] == "" || c.To != s.Dst.Reg.Elem {
			p.fail("no way to set the %s of a register at once from %T", s.Dst.Reg.Elem, v)
			return
		}
		xs = append(xs, p.value(c.X).s)
	}
	name := wordSetters[pair{elem.KF32, s.Dst.Reg.Elem}]
	p.use.helper(name)
	p.call(word+" = "+name, xs...)
}

// packed notes and names the helper that gets or sets an element narrower than 32 bits.
func (p *printer) packed(what string, k elem.Kind) string {
	p.memType(k)
	p.use.include("cstdint")
	name := what + "_" + packedName(k)
	p.use.helper(name)
	return name
}

func (p *printer) one(r cir.RegRef) bool {
	if r.Elems != 1 {
		p.fail("expected one element of register array %s, but got %d", r.Reg.Name, r.Elems)
		return false
	}
	return true
}

// fill sets all elements of an array, whole registers at a time.
func (p *printer) fill(s cir.Fill) {
	r := s.Reg
	if r == nil || p.regs[r.Name] != r {
		p.fail("expected a declared register array to fill")
		return
	}
	v := p.fillWord(r.Elem, s.Value)
	if n := words(r); n > 1 {
		p.line("#pragma unroll")
		p.line("for (int i = 0; i < %d; ++i) %s[i] = %s;", n, r.Name, v)
		return
	}
	p.line("%s[0] = %s;", r.Name, v)
}

// fillWord is one register of equal elements.
func (p *printer) fillWord(k elem.Kind, v float64) string {
	if k == elem.KU128 {
		if v != 0 {
			p.fail("expected 0 for registers of kind u128, but got %g", v)
		}
		return "make_uint4(0, 0, 0, 0)"
	}
	if perWord(k) == 1 && k != elem.KTF32 {
		return p.literal(k, v).s
	}
	b, err := literalBits(k, v)
	if err != nil {
		p.fail("%w", err)
	}
	var w uint32
	for i := range perWord(k) {
		w |= uint32(b) << (i * k.Bits())
	}
	if w == 0 {
		return "0"
	}
	return fmt.Sprintf("0x%08xu", w)
}
