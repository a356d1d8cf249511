package cuda

import (
	"fmt"
	"strings"

	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// halfTypes are our own types of 16-bit floats. CUDA's come with headers that take longer to compile than most kernels;
// what is computed with ours is the same instruction as there.
var halfTypes = map[elem.Kind]string{elem.KF16: "half_t", elem.KBF16: "bfloat16_t"}

// halfOps are the operations on values of a 16-bit float: the name before _f16, their operands, and the instruction.
// Products and sums name their rounding, so that none are contracted.
var halfOps = []struct {
	name, args string
	f16        string
	bf16       string // a product or a sum by fma, which all chips have: a sum of bf16 is an instruction from sm_90 on
}{
	{"add", "x y", "add.rn.f16 %0, %1, %2;", "{.reg .b16 one; mov.b16 one, 0x3f80; fma.rn.bf16 %0, %1, one, %2;}"},
	{"sub", "x y", "sub.rn.f16 %0, %1, %2;", "{.reg .b16 one; mov.b16 one, 0xbf80; fma.rn.bf16 %0, %2, one, %1;}"},
	{"mul", "x y", "mul.rn.f16 %0, %1, %2;", "{.reg .b16 zero; mov.b16 zero, 0x8000; fma.rn.bf16 %0, %1, %2, zero;}"},
	{"min", "x y", "min.f16 %0, %1, %2;", "min.bf16 %0, %1, %2;"},
	{"max", "x y", "max.f16 %0, %1, %2;", "max.bf16 %0, %1, %2;"},
	{"neg", "x", "neg.f16 %0, %1;", "neg.bf16 %0, %1;"},
	{"abs", "x", "abs.f16 %0, %1;", "abs.bf16 %0, %1;"},
	{"fma", "x y z", "fma.rn.f16 %0, %1, %2, %3;", "fma.rn.bf16 %0, %1, %2, %3;"},
}

// halfSources are what becomes a 16-bit float with one rounding, as C and asm name it.
var halfSources = []struct {
	kind              elem.Kind
	ctype, constraint string
}{
	{elem.KF32, "float", "f"}, {elem.KF64, "double", "d"}, {elem.KS32, "int32_t", "r"},
	{elem.KU32, "uint32_t", "r"}, {elem.KS64, "int64_t", "l"}, {elem.KU64, "uint64_t", "l"},
}

// towardsZero are the functions that round to f32 as the functions f64_to_odd and the like need it.
var towardsZero = map[elem.Kind]string{elem.KF64: "__double2float_rz", elem.KS32: "__int2float_rz", elem.KU32: "__uint2float_rz",
	elem.KS64: "__ll2float_rz", elem.KU64: "__ull2float_rz"}

// halfArithmetic says how a 16-bit float computes; division and what follows it by way of f32.
func halfArithmetic(kind string) arithmetic {
	return arithmetic{
		[6]string{"add_" + kind, "sub_" + kind, "mul_" + kind, "", "min_" + kind, "max_" + kind},
		[6]string{"neg_" + kind, "abs_" + kind, "", "", "", ""}, "fma_" + kind}
}

// halfHelpers are the functions on 16-bit floats.
func halfHelpers() []helper {
	out := []helper{
		{"f16_to_f32", fn + `float f16_to_f32(half_t x) {
  float r;
  asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(x.bits));
  return r;
}`},
		{"bf16_to_f32", fn + `float bf16_to_f32(bfloat16_t x) {
  return __uint_as_float((uint32_t)x.bits << 16);
}`},
	}
	for _, s := range halfSources {
		out = append(out, cvtHelper(elem.KF16, s.kind, s.ctype, s.constraint))
		if f := towardsZero[s.kind]; f != "" {
			out = append(out, oddHelper(s.kind, s.ctype, f))
		} else {
			out = append(out, cvtHelper(elem.KBF16, s.kind, s.ctype, s.constraint))
		}
	}
	for _, op := range halfOps {
		out = append(out, halfOp(op.name+"_f16", "half_t", op.args, op.f16), halfOp(op.name+"_bf16", "bfloat16_t", op.args, op.bf16))
	}
	return append(out, halfWarpHelpers()...)
}

// cvtHelper is a conversion that is one instruction.
func cvtHelper(to, from elem.Kind, ctype, constraint string) helper {
	name := fmt.Sprintf("%s_to_%s", from, to)
	return helper{name, fmt.Sprintf(`%s%s %s(%s x) {
  %[2]s r;
  asm("cvt.rn.%[5]s.%[6]s %%0, %%1;" : "=h"(r.bits) : "%[7]s"(x));
  return r;
}`, fn, halfTypes[to], name, ctype, to, from, constraint)}
}

// oddName is the function that keeps in an f32 all that a further rounding to bf16 asks of a value.
func oddName(from elem.Kind) string { return from.String() + "_to_odd" }

func oddHelper(from elem.Kind, ctype, rz string) helper {
	return helper{oddName(from), fmt.Sprintf(`// Rounds to a float that is odd where it is not exact; rounded once more to fewer bits, it is rounded as x would be.
%sfloat %s(%s x) {
  const float f = %s(x);
  return (%[3]s)f == x ? f : __uint_as_float(__float_as_uint(f) | 1u);
}`, fn, oddName(from), ctype, rz)}
}

// halfOp is a function that is one instruction.
func halfOp(name, ctype, args, asm string) helper {
	var params, bindings []string
	for _, a := range strings.Fields(args) {
		params = append(params, ctype+" "+a)
		bindings = append(bindings, `"h"(`+a+`.bits)`)
	}
	return helper{name, fmt.Sprintf(`%s%s %s(%s) {
  %[2]s r;
  asm("%[5]s" : "=h"(r.bits) : %[6]s);
  return r;
}`, fn, ctype, name, strings.Join(params, ", "), asm, strings.Join(bindings, ", "))}
}

// halfWarpHelpers are the shuffles, by 32 bits, and the atomic sums.
func halfWarpHelpers() []helper {
	var out []helper
	for _, k := range []elem.Kind{elem.KF16, elem.KBF16} {
		for _, m := range []cir.ShuffleMode{cir.ShuffleIdx, cir.ShuffleUp, cir.ShuffleDown, cir.ShuffleXor} {
			f := shuffleFunctions[m]
			name := ofKind(f, k)
			out = append(out, helper{name, fmt.Sprintf(`%s%s %s(uint32_t mask, %[2]s x, int lane) {
  return %[2]s{(uint16_t)%[4]s(mask, (uint32_t)x.bits, lane)};
}`, fn, halfTypes[k], name, f)})
		}
	}
	return append(out, helper{"atomic_add_f16", fn + `half_t atomic_add_f16(half_t* p, half_t x) {
  half_t r;
  asm volatile("atom.add.noftz.f16 %0, [%1], %2;" : "=h"(r.bits) : "l"(p), "h"(x.bits) : "memory");
  return r;
}`}, helper{"atomic_add_bf16", fn + `bfloat16_t atomic_add_bf16(bfloat16_t* p, bfloat16_t x) {
#if __CUDA_ARCH__ >= 900
  bfloat16_t r;
  asm volatile("atom.add.noftz.bf16 %0, [%1], %2;" : "=h"(r.bits) : "l"(p), "h"(x.bits) : "memory");
  return r;
#else
  uint16_t old = p->bits, seen, sum;
  do {
    seen = old;
    asm("{.reg .b16 one; mov.b16 one, 0x3f80; fma.rn.bf16 %0, %1, one, %2;}" : "=h"(sum) : "h"(x.bits), "h"(seen));
    old = atomicCAS(&p->bits, seen, sum);
  } while (old != seen);
  return bfloat16_t{old};
#endif
}`})
}

// halfNames are our own functions on 16-bit floats in place of CUDA's.
var halfNames = map[string]string{"atomicAdd": "atomic_add_", "__shfl_sync": "shfl_sync_", "__shfl_up_sync": "shfl_up_sync_",
	"__shfl_down_sync": "shfl_down_sync_", "__shfl_xor_sync": "shfl_xor_sync_"}

// ofKind is the function on values of a kind that does what CUDA's of that name does.
func ofKind(name string, k elem.Kind) string {
	if halfTypes[k] == "" {
		return name
	}
	return halfNames[name] + k.String()
}
