package cuda

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gocute/gocute/elem"
)

// helper is a small function of the emitted files.
type helper struct{ name, text string }

// helperFile is the header that holds the helpers.
const helperFile = "gocute/gocute.cuh"

const fn = "__device__ __forceinline__ "

// helpers lists all helper functions, in the order in which they are printed.
var helpers = slices.Concat([]helper{
	{"half_t", `// The bits of an f16.
struct half_t {
  uint16_t bits;
};`},
	{"bfloat16_t", `// The bits of a bf16.
struct bfloat16_t {
  uint16_t bits;
};`},
	{"smem_u32", `// The address that ldmatrix and cp.async take.
` + fn + `uint32_t smem_u32(const void* p) {
  return (uint32_t)__cvta_generic_to_shared(p);
}`},
	{"floor_div", `// Division that rounds down, for b > 0.
` + fn + `int floor_div(int a, int b) {
  return a / b - (a % b < 0);
}`},
	{"floor_mod", `// The remainder of floor_div, for b > 0: never negative.
` + fn + `int floor_mod(int a, int b) {
  const int r = a % b;
  return r < 0 ? r + b : r;
}`},
	{"floor_div64", fn + `int64_t floor_div64(int64_t a, int64_t b) {
  return a / b - (a % b < 0);
}`},
	{"floor_mod64", fn + `int64_t floor_mod64(int64_t a, int64_t b) {
  const int64_t r = a % b;
  return r < 0 ? r + b : r;
}`},
	{"round_tf32", `// Rounds to the nearest tf32, ties to even.
` + fn + `float round_tf32(float x) {
  const uint32_t u = __float_as_uint(x);
  const uint32_t rounded = (u + 0xfffu + (u >> 13 & 1u)) & 0xffffe000u;
  return x == x ? __uint_as_float(rounded) : __uint_as_float(0x7fffffffu);
}`},
	{"round_s8", `// Rounds to the nearest integer of 8 bits, ties to even.
` + fn + `int8_t round_s8(float x) {
  int r;
  asm("cvt.rni.sat.s8.f32 %0, %1;" : "=r"(r) : "f"(x));
  return (int8_t)r;
}`},
	{"round_u8", `// Rounds to the nearest integer of 8 bits without a sign, ties to even.
` + fn + `uint8_t round_u8(float x) {
  unsigned r;
  asm("cvt.rni.sat.u8.f32 %0, %1;" : "=r"(r) : "f"(x));
  return (uint8_t)r;
}`},
	{"sigmoid_f32", `// 1/(1 + e to the -x), by the machine's own power of two and reciprocal: it errs by at most 2^-21 + |x|*2^-23 of itself.
` + fn + `float sigmoid_f32(float x) {
  float power, r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(__fmul_rn(x, -1.44269504f)));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(1.0f + power));
  return r;
}`},
	{"sigmoid_f64", `// 1/(1 + e to the -x).
` + fn + `double sigmoid_f64(double x) {
  return 1.0 / (1.0 + exp(-x));
}`},
	{"round4_s8", round4("s8", "")},
	{"round4_u8", round4("u8", " without a sign")},
	{"round2_f16", round2("f16")},
	{"round2_bf16", round2("bf16")},
}, mbarrierHelpers(), hopperHelpers(), gridHelpers(), packedHelpers(), halfHelpers(), vectorHelpers())

// round4 is a function that rounds four numbers to integers of 8 bits in one register, two with each instruction of the chip.
func round4(kind, sign string) string {
	return `// Rounds to the nearest integers of 8 bits` + sign + `, ties to even; x is the lowest.
` + fn + `uint32_t round4_` + kind + `(float x, float y, float z, float w) {
  uint32_t r;
  asm("{.reg .b32 high;\n"
      "cvt.pack.sat.` + kind + `.s32.b32 high, %4, %3, 0;\n"
      "cvt.pack.sat.` + kind + `.s32.b32 %0, %2, %1, high;}"
      : "=r"(r)
      : "r"(__float2int_rn(x)), "r"(__float2int_rn(y)), "r"(__float2int_rn(z)), "r"(__float2int_rn(w)));
  return r;
}`
}

// round2 is a function that rounds two numbers to 16-bit floats in one register.
func round2(kind string) string {
	return `// Rounds to the nearest ` + kind + `, ties to even; x is the lower one.
` + fn + `uint32_t round2_` + kind + `(float x, float y) {
  uint32_t r;
  asm("cvt.rn.` + kind + `x2.f32 %0, %1, %2;" : "=r"(r) : "f"(y), "f"(x));
  return r;
}`
}

// packings says how elements narrower than 32 bits leave and enter their register: the type that they have in
// expressions, that value from the register shifted right, and the bits of a value v.
var packings = []struct {
	name  string
	bits  int
	ctype string
	get   string
	set   string
}{
	{"f16", 16, "half_t", "half_t{(uint16_t)(%s)}", "(uint32_t)v.bits"},
	{"bf16", 16, "bfloat16_t", "bfloat16_t{(uint16_t)(%s)}", "(uint32_t)v.bits"},
	{"s16", 16, "int16_t", "(int16_t)(%s)", "(uint32_t)(uint16_t)v"},
	{"u16", 16, "uint16_t", "(uint16_t)(%s)", "(uint32_t)v"},
	{"s8", 8, "int8_t", "(int8_t)(%s)", "(uint32_t)(uint8_t)v"},
	{"u8", 8, "uint8_t", "(uint8_t)(%s)", "(uint32_t)v"},
	{"s4", 4, "int", "(int)((%s) << 28) >> 28", "((uint32_t)v & 0xfu)"},
	{"u4", 4, "uint32_t", "(%s) & 0xfu", "(v & 0xfu)"},
	{"b1", 1, "uint32_t", "(%s) & 1u", "(v & 1u)"},
}

// packedName names the helpers of a kind: those of its bits where C++ has no such type.
func packedName(k elem.Kind) string {
	if k == elem.KE4M3 || k == elem.KE5M2 {
		return elem.KU8.String()
	}
	return k.String()
}

// packedHelpers makes get and set for each row of packings.
func packedHelpers() []helper {
	var out []helper
	for _, k := range packings {
		n := 32 / k.bits
		shift := fmt.Sprintf("%d * (i %% %d)", k.bits, n)
		get := fmt.Sprintf(k.get, fmt.Sprintf("r[i / %d] >> %s", n, shift))
		out = append(out, helper{"get_" + k.name, fmt.Sprintf(`%s%s get_%s(const uint32_t* r, int i) {
  return %s;
}`, fn, k.ctype, k.name, get)}, helper{"set_" + k.name, fmt.Sprintf(`%svoid set_%s(uint32_t* r, int i, %s v) {
  const int s = %s;
  r[i / %d] = (r[i / %[5]d] & ~(0x%[6]xu << s)) | %[7]s << s;
}`, fn, k.name, k.ctype, shift, n, 1<<k.bits-1, k.set)})
	}
	return out
}

// vectorTypes gives, for registers of a C type, the vectors that move them: by bits, with their members, the type of one in PTX
// and what holds one in asm.
var vectorTypes = []vectorType{
	{"uint32_t", 32, 1, "u32", "r"}, {"uint32_t", 64, 2, "u32", "r"}, {"uint32_t", 128, 4, "u32", "r"},
	{"float", 32, 1, "f32", "f"}, {"float", 64, 2, "f32", "f"}, {"float", 128, 4, "f32", "f"},
	{"int32_t", 32, 1, "s32", "r"}, {"int32_t", 64, 2, "s32", "r"}, {"int32_t", 128, 4, "s32", "r"},
	{"double", 64, 1, "f64", "d"}, {"double", 128, 2, "f64", "d"},
	{"int64_t", 64, 1, "s64", "l"}, {"int64_t", 128, 2, "s64", "l"},
	{"uint64_t", 64, 1, "u64", "l"}, {"uint64_t", 128, 2, "u64", "l"},
	{"uint4", 128, 1, "u32", "r"},
}

type vectorType struct {
	reg             string
	bits, members   int
	ptx, constraint string
}

// vectorName tells the overloads of a vector helper apart.
func vectorName(name, reg string) string { return name + "/" + reg }

// vectorHelpers makes load, store and clear for each row of vectorTypes, for each memory. One word of global memory is moved as
// C++ does. Vectors are moved by asm: nvcc takes such an assignment apart and does not always find all of it again. Conditions are
// the instruction's own there: around asm, nvcc branches.
func vectorHelpers() []helper {
	var out []helper
	for _, v := range vectorTypes {
		zero, members := "0", make([]string, v.members)
		for i := range v.members {
			members[i] = fmt.Sprintf("r[%d]", i)
		}
		clears := strings.Join(members, " = ") + " = "
		if v.reg == "uint4" {
			zero, members = "make_uint4(0, 0, 0, 0)", []string{"r[0].x", "r[0].y", "r[0].z", "r[0].w"}
		}
		for _, h := range append(v.global(members), v.shared(members)...) {
			h.args = strings.ReplaceAll(h.args, "REG", v.reg)
			name := fmt.Sprintf("%s_b%d", h.what, v.bits)
			out = append(out, helper{vectorName(name, v.reg), fmt.Sprintf("%svoid %s(%s) {\n%s}", fn, name, h.args, h.body)})
		}
		name := fmt.Sprintf("clear_b%d", v.bits)
		out = append(out, helper{vectorName(name, v.reg), fmt.Sprintf("%svoid %s(%s* r) {\n  %s%s;\n}", fn, name, v.reg, clears, zero)})
	}
	return out
}

// vectorHelper moves a vector, at REG.
type vectorHelper struct{ what, args, body string }

// shared moves by asm: to nvcc's optimiser each access of shared memory is one that it cannot tell from others anyway, as their addresses
// are exclusive ors; comparing each with each took it a quarter of its time.
func (v vectorType) shared(members []string) []vectorHelper {
	read, written := v.asm(".shared", "r", "p", members)
	return []vectorHelper{{"load_shared", "uint32_t p, REG* r", read}, {"store_shared", "const REG* r, uint32_t p", written}}
}

// global also has reads of what the kernel does not write, and conditions: a vector that is not read is zero.
func (v vectorType) global(members []string) []vectorHelper {
	const load, loadIf, store, storeIf = "const void* p, REG* r", "bool yes, const void* p, REG* r", "const REG* r, void* p", "bool yes, const REG* r, void* p"
	if len(members) == 1 {
		from, to := fmt.Sprintf("*static_cast<const %s*>(p)", v.reg), fmt.Sprintf("*static_cast<%s*>(p) = r[0];\n", v.reg)
		read, readIf := "  r[0] = "+from+";\n", "  r[0] = yes ? "+from+" : 0;\n"
		return []vectorHelper{{"load", load, read}, {"load_if", loadIf, readIf}, {"load_constant", load, read}, {"load_constant_if", loadIf, readIf},
			{"store", store, "  " + to}, {"store_if", storeIf, "  if (yes) " + to}}
	}
	const address = "__cvta_generic_to_global(p)"
	read, written := v.asm(".global", "l", address, members)
	constant, _ := v.asm(".global.nc", "l", address, members)
	readIf, writtenIf := v.asmIf(".global", address, members)
	constantIf, _ := v.asmIf(".global.nc", address, members)
	return []vectorHelper{{"load", load, read}, {"load_if", loadIf, readIf}, {"load_constant", load, constant}, {"load_constant_if", loadIf, constantIf},
		{"store", store, written}, {"store_if", storeIf, writtenIf}}
}

// asm moves the members of a vector from and to memory at an address.
func (v vectorType) asm(space, constraint, address string, members []string) (read, written string) {
	n := len(members)
	at := fmt.Sprintf(`"%s"(%s)`, constraint, address)
	return volatile(fmt.Sprintf("ld%s%s.%s %s, [%%%d];", space, width(n), v.ptx, slots(0, n), n), v.bind("=", members), at),
		volatile(fmt.Sprintf("st%s%s.%s [%%0], %s;", space, width(n), v.ptx, slots(1, n)), "", at+", "+v.bind("", members))
}

// asmIf does so where "yes" holds, and else reads zeros.
func (v vectorType) asmIf(space, address string, members []string) (read, written string) {
	n := len(members)
	zero := map[string]string{"f": "0.0f", "d": "0.0"}[v.constraint]
	if zero == "" {
		zero = "0"
	}
	when, at, yes := fmt.Sprintf("{ .reg .pred p; setp.ne.s32 p, %%%d, 0; @p ", n+1), fmt.Sprintf(`"l"(%s)`, address), `"r"((int)yes)`
	return "  " + strings.Join(members, " = ") + " = " + zero + ";\n" +
			volatile(fmt.Sprintf("%sld%s%s.%s %s, [%%%d]; }", when, space, width(n), v.ptx, slots(0, n), n), v.bind("+", members), at+", "+yes),
		volatile(fmt.Sprintf("%sst%s%s.%s [%%0], %s; }", when, space, width(n), v.ptx, slots(1, n)), "", at+", "+v.bind("", members)+", "+yes)
}

// volatile is a statement of asm that touches memory.
func volatile(code, outputs, inputs string) string {
	line := fmt.Sprintf("  asm volatile(\"%s\" : %s : %s : \"memory\");\n", code, outputs, inputs)
	if outputs == "" {
		line = strings.Replace(line, " :  :", " : :", 1)
	}
	if len(line) <= maxWidth {
		return line
	}
	const indent = "\n               : "
	return "  asm volatile(\"" + code + "\"" + strings.TrimRight(indent+outputs, " ") + indent + inputs + indent + "\"memory\");\n"
}

// width is the modifier of n members.
func width(n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf(".v%d", n)
}

// slots are n operands of asm from the first-th on.
func slots(first, n int) string {
	s := make([]string, n)
	for i := range s {
		s[i] = fmt.Sprintf("%%%d", first+i)
	}
	if n == 1 {
		return s[0]
	}
	return "{" + strings.Join(s, ", ") + "}"
}

// bind gives members to asm, for out "=" and "+" to be written.
func (v vectorType) bind(out string, members []string) string {
	s := make([]string, len(members))
	for i, m := range members {
		s[i] = fmt.Sprintf(`"%s%s"(%s)`, out, v.constraint, m)
	}
	return strings.Join(s, ", ")
}
