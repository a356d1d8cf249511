// What nvcc reads in place of the toolkit's cuda_runtime.h before a kernel that is as gocute printed it: CUDA's declarations
// of all that such kernels use, and of nothing else. An overloaded name is here with all its overloads or not at all:
// a call must mean what it means after the toolkit's headers, or not compile.
#pragma once

#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __grid_constant__ __attribute__((grid_constant))
#define __align__(n) __attribute__((aligned(n)))
#define __device_builtin__ __attribute__((device_builtin))

#define GOCUTE_BUILTIN extern "C" __device__ __device_builtin__
#define GOCUTE_INLINE static __device__ __forceinline__

typedef unsigned long size_t;

struct __device_builtin__ __align__(16) uint4 { unsigned x, y, z, w; };
GOCUTE_INLINE uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

struct __device_builtin__ uint3 { unsigned x, y, z; };
struct __device_builtin__ dim3 { unsigned x, y, z; };
extern const uint3 __device_builtin__ threadIdx;
extern const uint3 __device_builtin__ blockIdx;
extern const dim3 __device_builtin__ blockDim;
extern const dim3 __device_builtin__ gridDim;
#define warpSize 32

// Barriers, fences and address spaces.
GOCUTE_BUILTIN void __syncthreads();
GOCUTE_BUILTIN void __threadfence();
GOCUTE_BUILTIN void __nvvm_bar_warp_sync(unsigned mask);
extern "C" __device__ size_t __nv_cvta_generic_to_shared_impl(const void* p);
extern "C" __device__ size_t __nv_cvta_generic_to_global_impl(const void* p);
GOCUTE_INLINE void __syncwarp(unsigned mask = 0xffffffff) { __nvvm_bar_warp_sync(mask); }
GOCUTE_INLINE size_t __cvta_generic_to_shared(const void* p) { return __nv_cvta_generic_to_shared_impl(p); }
GOCUTE_INLINE size_t __cvta_generic_to_global(const void* p) { return __nv_cvta_generic_to_global_impl(p); }

// Bits and conversions.
GOCUTE_BUILTIN unsigned __float_as_uint(float x);
GOCUTE_BUILTIN int __float_as_int(float x);
GOCUTE_BUILTIN float __uint_as_float(unsigned x);
GOCUTE_BUILTIN float __int_as_float(int x);
GOCUTE_BUILTIN long long __double_as_longlong(double x);
GOCUTE_BUILTIN double __longlong_as_double(long long x);
GOCUTE_BUILTIN float __double2float_rn(double x);
GOCUTE_BUILTIN float __double2float_rz(double x);
GOCUTE_BUILTIN float __int2float_rn(int x);
GOCUTE_BUILTIN float __int2float_rz(int x);
GOCUTE_BUILTIN float __uint2float_rn(unsigned x);
GOCUTE_BUILTIN float __uint2float_rz(unsigned x);
GOCUTE_BUILTIN float __ll2float_rn(long long x);
GOCUTE_BUILTIN float __ll2float_rz(long long x);
GOCUTE_BUILTIN float __ull2float_rn(unsigned long long x);
GOCUTE_BUILTIN float __ull2float_rz(unsigned long long x);
GOCUTE_BUILTIN double __ll2double_rn(long long x);
GOCUTE_BUILTIN double __ull2double_rn(unsigned long long x);
GOCUTE_BUILTIN int __float2int_rn(float x);
GOCUTE_BUILTIN unsigned __float2uint_rn(float x);
GOCUTE_BUILTIN long long __float2ll_rn(float x);
GOCUTE_BUILTIN unsigned long long __float2ull_rn(float x);
GOCUTE_BUILTIN int __double2int_rn(double x);
GOCUTE_BUILTIN unsigned __double2uint_rn(double x);
GOCUTE_BUILTIN long long __double2ll_rn(double x);
GOCUTE_BUILTIN unsigned long long __double2ull_rn(double x);

// Arithmetic. What C++ overloads beside these for other types (sqrt of a float) is missing, and so are the names.
GOCUTE_BUILTIN float __fmul_rn(float x, float y);
GOCUTE_BUILTIN double __dmul_rn(double x, double y);
GOCUTE_BUILTIN float fmaf(float x, float y, float z);
GOCUTE_BUILTIN float fminf(float x, float y);
GOCUTE_BUILTIN float fmaxf(float x, float y);
GOCUTE_BUILTIN float fabsf(float x);
GOCUTE_BUILTIN float sqrtf(float x);
GOCUTE_BUILTIN float expf(float x);
GOCUTE_BUILTIN float tanhf(float x);

// Minima and maxima are integers' here; those of floats, which printed kernels call by other names, do not compile.
#define GOCUTE_ORDER(name) \
  GOCUTE_BUILTIN int name(int x, int y); \
  GOCUTE_BUILTIN unsigned u##name(unsigned x, unsigned y); \
  GOCUTE_BUILTIN long long ll##name(long long x, long long y); \
  GOCUTE_BUILTIN unsigned long long ull##name(unsigned long long x, unsigned long long y); \
  GOCUTE_SIGNS(name, unsigned, int, unsigned, u) \
  GOCUTE_INLINE long name(long x, long y) { return ll##name(x, y); } \
  GOCUTE_SIGNS(name, unsigned long, long, unsigned long long, ull) \
  GOCUTE_INLINE long long name(long long x, long long y) { return ll##name(x, y); } \
  GOCUTE_SIGNS(name, unsigned long long, long long, unsigned long long, ull) \
  __device__ float name(float, float) = delete; \
  __device__ double name(double, double) = delete; \
  __device__ double name(float, double) = delete; \
  __device__ double name(double, float) = delete;
#define GOCUTE_SIGNS(name, U, S, builtin, prefix) \
  GOCUTE_INLINE U name(U x, U y) { return prefix##name((builtin)x, (builtin)y); } \
  GOCUTE_INLINE U name(U x, S y) { return prefix##name((builtin)x, (builtin)(U)y); } \
  GOCUTE_INLINE U name(S x, U y) { return prefix##name((builtin)(U)x, (builtin)y); }
GOCUTE_ORDER(min)
GOCUTE_ORDER(max)

GOCUTE_BUILTIN int abs(int x);
GOCUTE_BUILTIN long labs(long x);
GOCUTE_BUILTIN long long llabs(long long x);
GOCUTE_INLINE long abs(long x) { return labs(x); }
GOCUTE_INLINE long long abs(long long x) { return llabs(x); }
__device__ float abs(float) = delete;
__device__ double abs(double) = delete;

// Atomic functions, of all types that the architecture has but f16, bf16 and vectors.
GOCUTE_BUILTIN unsigned __uAtomicInc(unsigned* p, unsigned x);
GOCUTE_INLINE unsigned atomicInc(unsigned* p, unsigned x) { return __uAtomicInc(p, x); }
#define GOCUTE_ATOMIC(name, builtin, T) \
  GOCUTE_BUILTIN T builtin(T* p, T x); \
  GOCUTE_INLINE T name(T* p, T x) { return builtin(p, x); }
GOCUTE_ATOMIC(atomicAdd, __iAtomicAdd, int)
GOCUTE_ATOMIC(atomicAdd, __uAtomicAdd, unsigned)
GOCUTE_ATOMIC(atomicAdd, __ullAtomicAdd, unsigned long long)
GOCUTE_ATOMIC(atomicAdd, __fAtomicAdd, float)
GOCUTE_ATOMIC(atomicAdd, __dAtomicAdd, double)
GOCUTE_ATOMIC(atomicExch, __iAtomicExch, int)
GOCUTE_ATOMIC(atomicExch, __uAtomicExch, unsigned)
GOCUTE_ATOMIC(atomicExch, __ullAtomicExch, unsigned long long)
GOCUTE_ATOMIC(atomicExch, __fAtomicExch, float)
GOCUTE_ATOMIC(atomicMin, __iAtomicMin, int)
GOCUTE_ATOMIC(atomicMin, __uAtomicMin, unsigned)
GOCUTE_ATOMIC(atomicMin, __illAtomicMin, long long)
GOCUTE_ATOMIC(atomicMin, __ullAtomicMin, unsigned long long)
GOCUTE_ATOMIC(atomicMax, __iAtomicMax, int)
GOCUTE_ATOMIC(atomicMax, __uAtomicMax, unsigned)
GOCUTE_ATOMIC(atomicMax, __illAtomicMax, long long)
GOCUTE_ATOMIC(atomicMax, __ullAtomicMax, unsigned long long)
#define GOCUTE_SWAP(builtin, T) \
  GOCUTE_BUILTIN T builtin(T* p, T compare, T x); \
  GOCUTE_INLINE T atomicCAS(T* p, T compare, T x) { return builtin(p, compare, x); }
GOCUTE_SWAP(__iAtomicCAS, int)
GOCUTE_SWAP(__uAtomicCAS, unsigned)
GOCUTE_SWAP(__ullAtomicCAS, unsigned long long)
GOCUTE_SWAP(__usAtomicCAS, unsigned short)

// Votes and shuffles of a warp. The last operand of a shuffle holds the end of the lane's segment, and from bit 8 its width.
GOCUTE_BUILTIN int __nvvm_vote_any_sync(unsigned mask, int p);
GOCUTE_BUILTIN int __nvvm_vote_all_sync(unsigned mask, int p);
GOCUTE_BUILTIN unsigned __nvvm_vote_ballot_sync(unsigned mask, int p);
GOCUTE_INLINE int __any_sync(unsigned mask, int p) { return __nvvm_vote_any_sync(mask, p); }
GOCUTE_INLINE int __all_sync(unsigned mask, int p) { return __nvvm_vote_all_sync(mask, p); }
GOCUTE_INLINE unsigned __ballot_sync(unsigned mask, int p) { return __nvvm_vote_ballot_sync(mask, p); }
#define GOCUTE_SHUFFLE(name, mode, end) \
  GOCUTE_BUILTIN unsigned __nvvm_shfl_##mode##_sync(unsigned mask, unsigned x, unsigned lane, unsigned segment); \
  GOCUTE_INLINE int name(unsigned mask, int x, int lane, int width = warpSize) { \
    return (int)__nvvm_shfl_##mode##_sync(mask, (unsigned)x, (unsigned)lane, ((warpSize - width) << 8) | end); \
  } \
  GOCUTE_SHUFFLE_AS(unsigned, name, (int), (unsigned)) \
  GOCUTE_SHUFFLE_AS(float, name, __float_as_int, __int_as_float) \
  GOCUTE_SHUFFLE_HALVES(long long, name, "l") \
  GOCUTE_SHUFFLE_AS(unsigned long long, name, (long long), (unsigned long long)) \
  GOCUTE_SHUFFLE_AS(long, name, (long long), (long)) \
  GOCUTE_SHUFFLE_AS(unsigned long, name, (long long), (unsigned long)) \
  GOCUTE_SHUFFLE_HALVES(double, name, "d")
#define GOCUTE_SHUFFLE_AS(T, name, to, from) \
  GOCUTE_INLINE T name(unsigned mask, T x, int lane, int width = warpSize) { return from(name(mask, to(x), lane, width)); }
#define GOCUTE_SHUFFLE_HALVES(T, name, constraint) \
  GOCUTE_INLINE T name(unsigned mask, T x, int lane, int width = warpSize) { \
    int low, high; \
    asm volatile("mov.b64 {%0,%1}, %2;" : "=r"(low), "=r"(high) : constraint(x)); \
    high = name(mask, high, lane, width); \
    low = name(mask, low, lane, width); \
    asm volatile("mov.b64 %0, {%1,%2};" : "=" constraint(x) : "r"(low), "r"(high)); \
    return x; \
  }
GOCUTE_SHUFFLE(__shfl_sync, idx, 0x1f)
GOCUTE_SHUFFLE(__shfl_up_sync, up, 0)
GOCUTE_SHUFFLE(__shfl_down_sync, down, 0x1f)
GOCUTE_SHUFFLE(__shfl_xor_sync, bfly, 0x1f)
