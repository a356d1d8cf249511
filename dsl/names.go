package dsl

import (
	"fmt"
	"go/token"
	"strings"

	"github.com/gocute/gocute/internal/text"
)

// reserved are the names that mean something in the emitted code: C++'s keywords and alternative tokens, CUDA's
// variables and types, macros, and the functions that the code calls.
var reserved = words(`
	alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class compl
	concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default delete
	do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable
	namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast
	requires return short signed sizeof static static_assert static_cast struct switch template this thread_local throw
	true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq

	tid bx by bz smem smem_u32 gocute half half_t bfloat16_t threadIdx blockIdx blockDim gridDim warpSize main std cuda
	dim3 uint uchar ushort ulong int2 int3 int4 uint2 uint3 uint4 float2 float3 float4 double2 longlong2 ulonglong2 char4
	size_t ptrdiff_t intptr_t uintptr_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t float_t double_t

	NULL EOF NAN INFINITY HUGE_VAL HUGE_VALF M_E M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI M_SQRT2 M_LN2 M_LN10 assert errno I
	printf INT_MAX INT_MIN UINT_MAX LONG_MAX FLT_MAX FLT_MIN DBL_MAX DBL_MIN RAND_MAX CHAR_BIT stdin stdout stderr linux unix

	min max abs fabs fabsf fma fmaf fmin fminf fmax fmaxf exp expf tanh tanhf sqrt sqrtf floor_div floor_mod
	sigmoid_f32 sigmoid_f64
	floor_div64 floor_mod64 round_tf32 make_uint2 make_uint4 make_float2 make_float4 mbarrier_init mbarrier_arrive
	mbarrier_arrive_warp mbarrier_wait cp_async_arrive cp_async_fence cp_async_wait
	load_b8 load_b16 load_b32 load_b64 load_b128 store_b8 store_b16 store_b32 store_b64 store_b128 clear_b8 clear_b16
	clear_b32 clear_b64 clear_b128 load_shared_b32 load_shared_b64 load_shared_b128 store_shared_b32 store_shared_b64
	store_shared_b128 load_if_b32 load_if_b64 load_if_b128 load_constant_b32 load_constant_b64 load_constant_b128 load_constant_if_b32
	load_constant_if_b64 load_constant_if_b128 store_if_b32 store_if_b64 store_if_b128 get_b1 get_bf16 get_f16 get_s16 get_s4 get_s8 get_u16
	get_u4 get_u8 set_b1 set_bf16 set_f16 set_s16 set_s4 set_s8 set_u16 set_u4 set_u8 round_s8 round_u8 round4_s8 round4_u8
	arrive fence_barrier_init gmma_desc grid_trigger grid_wait mbarrier_arrive_expect_tx warpgroup_arrive warpgroup_commit
	warpgroup_fence_operand
	round2_f16 round2_bf16 f16_to_f32 bf16_to_f32 f32_to_f16 f64_to_f16 s32_to_f16 u32_to_f16 s64_to_f16 u64_to_f16 f32_to_bf16 f64_to_odd
	s32_to_odd u32_to_odd s64_to_odd u64_to_odd add_f16 sub_f16 mul_f16 min_f16 max_f16 neg_f16 abs_f16 fma_f16 add_bf16
	sub_bf16 mul_bf16 min_bf16 max_bf16 neg_bf16 abs_bf16 fma_bf16 shfl_sync_f16 shfl_up_sync_f16
	shfl_down_sync_f16 shfl_xor_sync_f16 shfl_sync_bf16 shfl_up_sync_bf16 shfl_down_sync_bf16 shfl_xor_sync_bf16
	atomic_add_f16 atomic_add_bf16`)

// libraryNames are functions that CUDA's headers declare, with which nvcc refuses a kernel of the same name.
var libraryNames = words(`
	abort abs acos acosf acosh acoshf alloca asin asinf asinh atan atan2 atan2f atanf atanh atexit atof atoi atol
	bcmp bsearch bzero calloc cbrt cbrtf ceil ceilf clock clock64 copysign cos cosf cosh coshf cospi div erf erfc
	erfcx erfinv exit exp10 exp2 exp2f expm1 fclose fdim fflush floor floorf fmod fmodf fopen fprintf fputs fread
	free frexp fwrite gamma getchar getenv hypot hypotf isalpha isdigit isspace j0 j0f j1 j1f jn jnf labs ldexp
	ldiv lgamma llabs llrint llround log log10 log10f log1p log2 log2f logb logf lrint lround malloc memcmp memcpy
	memmove memset modf nan nanf nearbyint nextafter norm norm3d norm4d normcdf pow powf printf putchar puts qsort
	rand random realloc remainder remove remquo rename rint rintf rnorm3d rnorm4d round roundf rsqrt rsqrtf scalbln
	scalbn scanf select sin sincos sincosf sinf sinh sinhf sinpi sprintf srand sscanf strcat strcmp strcpy strlen
	strncpy strtod strtok strtol system tan tanf tgamma time trunc truncf umax umin vprintf y0 y0f y1 y1f yn ynf`)

// devices are file names that Windows keeps for itself, whatever their case; Go refuses them in import paths.
var devices = words(`con prn aux nul com1 com2 com3 com4 com5 com6 com7 com8 com9 lpt1 lpt2 lpt3 lpt4 lpt5 lpt6 lpt7 lpt8 lpt9`)

func words(list string) map[string]bool {
	out := map[string]bool{}
	for _, n := range strings.Fields(list) {
		out[n] = true
	}
	return out
}

const (
	maxName = 100     // letters of a name: it becomes the name of files, with more behind it
	maxText = 1 << 16 // bytes of a Doc, of a Comment and of a Require's message
)

// badName says why a name cannot be one of C, or nothing.
func badName(name string) string {
	switch {
	case len(name) > maxName:
		return fmt.Sprintf("expects a name of at most %d letters, but got %d: %q", maxName, len(name), text.Short(name, 40))
	case !identifier.MatchString(name):
		return fmt.Sprintf("expects a name that is an identifier (a letter, then letters of ASCII, digits and _), but got %q", name)
	}
	return ""
}

// fits reports a text that is too long for the emitted files.
func (k *K) fits(op, s string, before int) bool {
	if n := before + len(s); n > maxText {
		k.errorf(op, "expects texts of at most %d bytes, but got %d: %q", maxText, n, text.Short(s, 40))
		return false
	}
	return true
}

// kernelName says why a kernel cannot have a name, or nothing.
func kernelName(name string) string {
	switch {
	case len(name) > maxName:
		return fmt.Sprintf("it has %d letters, of at most %d", len(name), maxName)
	case !identifier.MatchString(name):
		return "it starts with a letter and has letters of ASCII, digits and underscores only"
	case reserved[name] || token.IsKeyword(name):
		return "it is a name of the language or of the emitted code"
	case libraryNames[name]:
		return "it is a function of the C library or of CUDA"
	case devices[strings.ToLower(name)]:
		return "a folder cannot have this name on Windows, and Go refuses it everywhere"
	}
	return ""
}
