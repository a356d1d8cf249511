package cuda

import (
	"fmt"
	"strings"

	"github.com/gocute/gocute/gen/cir"
)

// text is the wrapper of an instruction: a struct with CuTe's name, and fma or copy in it.
func (in *instr) text() string {
	var fns []string
	if in.op.Times > 0 {
		fns = append(fns, partText(in.op))
	}
	for _, f := range []form{byPointer, byRegister, whole, partly, dims1, dims2, dims3, dims4, dims5} {
		if in.forms&f != 0 && forms[in.op.Class]&f != 0 {
			fns = append(fns, writers[in.op.Class](in.op, f))
		}
	}
	return fmt.Sprintf("struct %s {\n%s\n};", in.op.Name, strings.Join(fns, "\n\n"))
}

// forms says which functions an instruction of a class has.
var forms = map[cir.OpClass]form{
	cir.MMA:        byPointer | byRegister,
	cir.LdMatrix:   byPointer | byRegister,
	cir.CpAsync:    whole | partly,
	cir.Dot:        byPointer | byRegister,
	cir.StMatrix:   byPointer | byRegister,
	cir.WarpMove:   byPointer | byRegister,
	cir.TensorCopy: anyDims,
	cir.GMMA:       byPointer | byRegister,
}

// writers print one function of the wrapper.
var writers = map[cir.OpClass]func(*cir.Op, form) string{
	cir.MMA:        mmaText,
	cir.LdMatrix:   ldmatrixText,
	cir.CpAsync:    cpAsyncText,
	cir.Dot:        dotText,
	cir.StMatrix:   stmatrixText,
	cir.WarpMove:   warpMoveText,
	cir.TensorCopy: tensorCopyText,
	cir.GMMA:       gmmaText,
}

const member = "  static __device__ __forceinline__ void "

// operand is one operand of an asm statement.
type operand struct {
	letter string
	op     cir.Operand
	out    bool
}

// params declares an operand of the wrapper's function.
func (o operand) params(f form) string {
	t := operandTypes[o.op.Type].ctype
	if !o.out {
		t = "const " + t
	}
	if f == byPointer {
		return t + "* " + o.letter
	}
	regs := make([]string, o.op.Count)
	for i := range regs {
		regs[i] = fmt.Sprintf("%s& %s%d", t, o.letter, i)
	}
	return strings.Join(regs, ", ")
}

// slots are the places of the operand in the instruction, such as {%4, %5}.
func (o operand) slots(first int) string {
	regs := make([]string, o.op.Count)
	for i := range regs {
		regs[i] = fmt.Sprintf("%%%d", first+i)
	}
	return "{" + strings.Join(regs, ", ") + "}"
}

// bindings are the C++ sides of the slots, such as "r"(a[0]).
func (o operand) bindings(f form) string {
	c := operandTypes[o.op.Type].constraint
	if o.out {
		c = "=" + c
	}
	regs := make([]string, o.op.Count)
	for i := range regs {
		if f == byPointer {
			regs[i] = fmt.Sprintf("\"%s\"(%s[%d])", c, o.letter, i)
		} else {
			regs[i] = fmt.Sprintf("\"%s\"(%s%d)", c, o.letter, i)
		}
	}
	return strings.Join(regs, ", ")
}

// separator stands between the operands in the list of arguments.
func separator(f form) string {
	if f == byPointer {
		return ", "
	}
	return ",\n" + strings.Repeat(" ", len(member)+len("fma("))
}

// mmaText leaves out volatile: the instruction has no effect beyond its results.
func mmaText(op *cir.Op, f form) string {
	if op.Times > 0 {
		return complexText(op, f)
	}
	d, ins := operand{"d", op.D, true}, []operand{{"a", op.A, false}, {"b", op.B, false}, {"c", op.C, false}}
	params, slots, bindings := []string{d.params(f)}, []string{d.slots(0)}, []string{}
	n := op.D.Count
	for _, o := range ins {
		params = append(params, o.params(f))
		slots = append(slots, o.slots(n))
		bindings = append(bindings, o.bindings(f))
		n += o.op.Count
	}
	return fmt.Sprintf(`%sfma(%s) {
    asm("%s "
        "%s;"
        : %s
        : %s);
  }`, member, strings.Join(params, separator(f)), op.PTX, strings.Join(slots, ", "),
		d.bindings(f), strings.Join(bindings, ",\n          "))
}

// ldmatrixText stays in its place among barriers and waits: it reads memory that nvcc does not see it read.
func ldmatrixText(op *cir.Op, f form) string {
	d := operand{"d", op.D, true}
	return fmt.Sprintf(`%scopy(uint32_t src, %s) {
    asm volatile("%s %s, [%%%d];"
                 : %s
                 : "r"(src)
                 : "memory");
  }`, member, d.params(f), op.PTX, d.slots(0), op.D.Count, d.bindings(f))
}

// cpAsyncText prints copy, or copy_zfill with the number of bytes to read; zeros follow those.
func cpAsyncText(op *cir.Op, f form) string {
	name, size, slot := "copy", "", ""
	if f == partly {
		name, size, slot = "copy_zfill", ", int bytes", ", %2"
	}
	binding := map[bool]string{true: `, "r"(bytes)`}[f == partly]
	return fmt.Sprintf(`%s%s(const void* src, uint32_t dst%s) {
    asm volatile("%s [%%0], [%%1], %d%s;"
                 :
                 : "r"(dst), "l"(__cvta_generic_to_global(src))%s
                 : "memory");
  }`, member, name, size, op.PTX, op.Bytes, slot, binding)
}
