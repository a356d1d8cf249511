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

// vectorTypes gives, for registers of a C type, the vectors that move them: by bits, with the type in memory, and the type
// of a member and what holds one in asm.
var vectorTypes = []struct {
	reg             string
	bits            int
	vector          string
	members         int
	ptx, constraint string
}{
	{"uint32_t", 32, "uint32_t", 1, "u32", "r"}, {"uint32_t", 64, "uint2", 2, "u32", "r"}, {"uint32_t", 128, "uint4", 4, "u32", "r"},
	{"float", 32, "float", 1, "f32", "f"}, {"float", 64, "float2", 2, "f32", "f"}, {"float", 128, "float4", 4, "f32", "f"},
	{"int32_t", 32, "int32_t", 1, "s32", "r"}, {"int32_t", 64, "int2", 2, "s32", "r"}, {"int32_t", 128, "int4", 4, "s32", "r"},
	{"double", 64, "double", 1, "f64", "d"}, {"double", 128, "double2", 2, "f64", "d"},
	{"int64_t", 64, "int64_t", 1, "s64", "l"}, {"int64_t", 128, "longlong2", 2, "s64", "l"},
	{"uint64_t", 64, "uint64_t", 1, "u64", "l"}, {"uint64_t", 128, "ulonglong2", 2, "u64", "l"},
	{"uint4", 128, "uint4", 1, "u32", "r"},
}

// vectorName tells the overloads of a vector helper apart.
func vectorName(name, reg string) string { return name + "/" + reg }

// vectorHelpers makes load, store and clear for each row of vectorTypes.
func vectorHelpers() []helper {
	var out []helper
	for _, v := range vectorTypes {
		zero, load, members := "0", make([]string, v.members), make([]string, v.members)
		if v.reg == "uint4" {
			zero = "make_uint4(0, 0, 0, 0)"
		}
		clears := make([]string, v.members)
		for i := range v.members {
			load[i] = fmt.Sprintf("  r[%d] = v.%c;\n", i, "xyzw"[i])
			members[i] = fmt.Sprintf("r[%d]", i)
			clears[i] = members[i] + " = "
		}
		read, written := fmt.Sprintf("  const %s v = *static_cast<const %s*>(p);\n%s", v.vector, v.vector, strings.Join(load, "")),
			fmt.Sprintf("make_%s(%s)", v.vector, strings.Join(members, ", "))
		if v.members == 1 {
			read, written = fmt.Sprintf("  r[0] = *static_cast<const %s*>(p);\n", v.vector), "r[0]"
		}
		if v.reg == "uint4" {
			members = []string{"r[0].x", "r[0].y", "r[0].z", "r[0].w"}
		}
		sharedRead, sharedWritten := sharedVector(v.ptx, v.constraint, members)
		for _, h := range []struct{ what, args, body string }{
			{"load", fmt.Sprintf("const void* p, %s* r", v.reg), read},
			{"store", fmt.Sprintf("const %s* r, void* p", v.reg), fmt.Sprintf("  *static_cast<%s*>(p) = %s;\n", v.vector, written)},
			{"load_shared", fmt.Sprintf("uint32_t p, %s* r", v.reg), sharedRead},
			{"store_shared", fmt.Sprintf("const %s* r, uint32_t p", v.reg), sharedWritten},
			{"clear", v.reg + "* r", "  " + strings.Join(clears, "") + zero + ";\n"},
		} {
			name := fmt.Sprintf("%s_b%d", h.what, v.bits)
			out = append(out, helper{vectorName(name, v.reg),
				fmt.Sprintf("%svoid %s(%s) {\n%s}", fn, name, h.args, h.body)})
		}
	}
	return out
}

// sharedVector is the asm that moves a vector of members from and to shared memory. To nvcc's optimiser each access is
// one that it cannot tell from others anyway, as their addresses are exclusive ors; comparing each with each took it a
// quarter of its time.
func sharedVector(ptx, constraint string, members []string) (read, written string) {
	n, v := len(members), ""
	if n > 1 {
		v = fmt.Sprintf(".v%d", n)
	}
	slots := func(first int) string {
		s := make([]string, n)
		for i := range s {
			s[i] = fmt.Sprintf("%%%d", first+i)
		}
		if n == 1 {
			return s[0]
		}
		return "{" + strings.Join(s, ", ") + "}"
	}
	bind := func(out string) string {
		s := make([]string, n)
		for i, m := range members {
			s[i] = fmt.Sprintf(`"%s%s"(%s)`, out, constraint, m)
		}
		return strings.Join(s, ", ")
	}
	return fmt.Sprintf(`  asm volatile("ld.shared%s.%s %s, [%%%d];" : %s : "r"(p) : "memory");`+"\n", v, ptx, slots(0), n, bind("=")),
		fmt.Sprintf(`  asm volatile("st.shared%s.%s [%%0], %s;" : : "r"(p), %s : "memory");`+"\n", v, ptx, slots(1), bind(""))
}
