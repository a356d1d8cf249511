package cuda

import (
	"fmt"
	"strings"

	"github.com/gocute/gocute/gen/cir"
)

// names lists an operand's registers in the wrapper's function.
func (o operand) names(f form) []string {
	out := make([]string, o.op.Count)
	for i := range out {
		out[i] = fmt.Sprintf("%s%d", o.letter, i)
		if f == byPointer {
			out[i] = fmt.Sprintf("%s[%d]", o.letter, i)
		}
	}
	return out
}

// dots are the asm statements of the instructions of single threads, on operands %0 = %1 * %2 + %3.
var dots = map[string]string{
	"dp4a.s32.s32": "dp4a.s32.s32 %0, %1, %2, %3;",
	// The machine multiplies 16 bits by 8: B's upper and lower bytes take an instruction each.
	"dp2a.s32.s32": `{\n"
        ".reg .b32 lo, hi, d;\n"
        "prmt.b32 lo, %2, 0, 0x4420;\n"
        "prmt.b32 hi, %2, 0, 0x4431;\n"
        "dp2a.lo.s32.s32 d, %1, hi, 0;\n"
        "shl.b32 d, d, 8;\n"
        "dp2a.lo.s32.u32 d, %1, lo, d;\n"
        "add.s32 %0, d, %3;\n"
        "}`,
}

// dotText is a product of one thread.
func dotText(op *cir.Op, f form) string {
	d, a, b, c := operand{"d", op.D, true}, operand{"a", op.A, false}, operand{"b", op.B, false}, operand{"c", op.C, false}
	params := []string{d.params(f), a.params(f), b.params(f), c.params(f)}
	in := []string{a.bindings(f), b.bindings(f), c.bindings(f)}
	return fmt.Sprintf(`%sfma(%s) {
    asm("%s"
        : %s
        : %s);
  }`, member, strings.Join(params, ", "), dots[op.PTX], d.bindings(f), strings.Join(in, ", "))
}

// stmatrixText stays in its place among barriers, and nvcc must not move reads of what it writes before it.
func stmatrixText(op *cir.Op, f form) string {
	s := operand{"s", op.D, false}
	return fmt.Sprintf(`%scopy(uint32_t dst, %s) {
    asm volatile("%s [%%0], %s;"
                 :
                 : "r"(dst), %s
                 : "memory");
  }`, member, s.params(f), op.PTX, s.slots(1), s.bindings(f))
}

// warpMoves print the bodies of moves between lanes, from s to d.
var warpMoves = map[string]func(op *cir.Op, s, d []string) string{
	"movmatrix": func(op *cir.Op, s, d []string) string {
		return fmt.Sprintf("    asm volatile(\"%s %%0, %%1;\" : \"=r\"(%s) : \"r\"(%s));\n", op.PTX, d[0], s[0])
	},
	"shfl": func(op *cir.Op, s, d []string) string {
		distance := op.Name[strings.LastIndex(op.Name, "XOR")+len("XOR"):]
		return fmt.Sprintf(`    const bool upper = (threadIdx.x & %[1]s) != 0;
    const uint32_t mine = upper ? %[2]s : %[3]s;
    const uint32_t theirs = __shfl_xor_sync(0xffffffffu, mine, %[1]s);
    const uint32_t first = upper ? theirs : %[2]s, second = upper ? %[3]s : theirs;
    %[4]s = first;
    %[5]s = second;
`, distance, s[0], s[1], d[0], d[1])
	},
}

// warpMoveText moves registers between the lanes of a warp.
func warpMoveText(op *cir.Op, f form) string {
	s, d := operand{"s", op.A, false}, operand{"d", op.D, true}
	mnemonic, _, _ := strings.Cut(op.PTX, ".")
	return fmt.Sprintf("%scopy(%s, %s) {\n%s  }", member, s.params(f), d.params(f), warpMoves[mnemonic](op, s.names(f), d.names(f)))
}

// term is one of the real products that make a complex one: the number of D that it adds to, and those of A and B.
type term struct{ d, a, b string }

// terms lists the real products: of complex numbers (re, im), and of the three sums that make one by Gauss.
var terms = map[int][]term{
	4: {{"0", "%s0", "%s0"}, {"0", "-%s1", "%s1"}, {"1", "%s0", "%s1"}, {"1", "%s1", "%s0"}},
	3: {{"0", "%s0", "%s0"}, {"1", "%s1", "%s1"}, {"2", "%s0 + %s1", "%s0 + %s1"}},
}

// complexText makes a product of complex numbers of products of f64, one wrapper function for those.
func complexText(op *cir.Op, f form) string {
	parts := map[int]int{4: 2, 3: 3}[op.Times] // numbers in an element of D
	d, a, b, c := operand{"d", op.D, true}, operand{"a", op.A, false}, operand{"b", op.B, false}, operand{"c", op.C, false}
	count := op.D.Count / parts
	var body strings.Builder
	dn, cn := d.names(f), c.names(f)
	for i := range dn {
		fmt.Fprintf(&body, "    double t%d = %s;\n", i, cn[i])
	}
	for _, t := range terms[op.Times] {
		var args []string
		for range 2 { // as D and as C
			for i := range count {
				args = append(args, fmt.Sprintf("t%d", i*parts+int(t.d[0]-'0')))
			}
		}
		args = append(args[:count:count], append(numbersOf(t.a, a.names(f)), append(numbersOf(t.b, b.names(f)), args[count:]...)...)...)
		fmt.Fprintf(&body, "    part(%s);\n", strings.Join(args, ", "))
	}
	for i := range dn {
		fmt.Fprintf(&body, "    %s = t%d;\n", dn[i], i)
	}
	params := strings.Join([]string{d.params(f), a.params(f), b.params(f), c.params(f)}, separator(f))
	return fmt.Sprintf("%sfma(%s) {\n%s  }", member, params, body.String())
}

// partText is the real product that complex ones call.
func partText(op *cir.Op) string {
	parts := map[int]int{4: 2, 3: 3}[op.Times]
	real := *op
	real.Times = 0
	real.D.Count, real.C.Count, real.A.Count, real.B.Count = op.D.Count/parts, op.C.Count/parts, op.A.Count/2, op.B.Count/2
	return strings.Replace(mmaText(&real, byRegister), "void fma(", "void part(", 1)
}

// numbersOf fills a term's numbers, such as -%s1, from the pairs of an operand.
func numbersOf(pattern string, names []string) []string {
	var out []string
	for i := 0; i < len(names); i += 2 {
		out = append(out, strings.NewReplacer("%s0", names[i], "%s1", names[i+1]).Replace(pattern))
	}
	return out
}
