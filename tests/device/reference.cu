// The reference of the device tests, written by hand and apart from the generator: fills buffers with random
// numbers, measures how far a GEMM's result is from the float64 product, and computes elements of it one by one.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>

__device__ double wide(__half x) { return (double)__half2float(x); }
__device__ double wide(__nv_bfloat16 x) { return (double)__bfloat162float(x); }
__device__ double wide(float x) { return (double)x; }
__device__ double wide(int8_t x) { return (double)x; }
__device__ double wide(int32_t x) { return (double)x; }
__device__ void narrow(float v, __half& x) { x = __float2half_rn(v); }
__device__ void narrow(float v, __nv_bfloat16& x) { x = __float2bfloat16_rn(v); }
__device__ void narrow(float v, float& x) { x = v; }
__device__ void narrow(float v, int8_t& x) { x = (int8_t)floorf(v * 128); }

__device__ uint32_t hash(uint32_t x) {
  x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; x ^= x >> 16;
  return x;
}

// Uniform in [-1, 1), a function of the seed and the index alone.
template <class T> __device__ void fill(long long n, int seed, T* p) {
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (long long)blockDim.x)
    narrow((float)(int)hash((uint32_t)i * 2654435761u + (uint32_t)seed) * (1.0f / 2147483648.0f), p[i]);
}

// stats: sum of squared differences, sum of squared references, number of elements that are not finite.
// Each block does 32x32 elements of C; the products are summed in float64 in order of k.
template <class T>
__device__ void compare(int M, int N, int K, const T* A, const T* B, const float* C0, const float* C, double alpha,
                        double beta, double* stats) {
  __shared__ double a[32][33], b[32][33];
  const int x = threadIdx.x % 32, y = threadIdx.x / 32;  // 32x8 threads, four rows each
  const int m0 = blockIdx.x * 32, n0 = blockIdx.y * 32;
  double sum[4] = {0, 0, 0, 0};
  for (int k0 = 0; k0 < K; k0 += 32) {
    for (int i = y; i < 32; i += 8) {
      a[i][x] = m0 + i < M && k0 + x < K ? wide(A[(long long)(m0 + i) * K + k0 + x]) : 0;
      b[i][x] = n0 + i < N && k0 + x < K ? wide(B[(long long)(n0 + i) * K + k0 + x]) : 0;
    }
    __syncthreads();
    for (int k = 0; k < 32; ++k)
      for (int r = 0; r < 4; ++r) sum[r] += a[y + 8 * r][k] * b[x][k];
    __syncthreads();
  }
  double diff = 0, ref = 0, bad = 0;
  for (int r = 0; r < 4; ++r) {
    const int m = m0 + y + 8 * r, n = n0 + x;
    if (m >= M || n >= N) continue;
    const double want = alpha * sum[r] + (beta != 0 ? beta * (double)C0[(long long)m * N + n] : 0);
    const double got = (double)C[(long long)m * N + n];
    if (!isfinite(got)) { bad += 1; continue; }
    diff += (got - want) * (got - want);
    ref += want * want;
  }
  atomicAdd(stats, diff);
  atomicAdd(stats + 1, ref);
  atomicAdd(stats + 2, bad);
}

// The i-th of count elements of L matrices (M,N): every one, or one drawn by a hash where there are more.
struct Place {
  long long at;
  int l, m, n;
};
__device__ Place place(long long i, int L, int M, int N, int count, int seed) {
  Place p;
  const long long total = (long long)L * M * N;
  const uint32_t x = hash((uint32_t)i * 2654435761u + (uint32_t)seed);
  p.at = total <= count ? i : (long long)((((unsigned long long)hash(x + 1) << 31) ^ x) % (unsigned long long)total);
  p.n = (int)(p.at % N), p.m = (int)(p.at / N % M), p.l = (int)(p.at / N / M);
  return p;
}

// A matrix: the elements from row to row, from column to column, and from one of a batch to the next.
struct Steps {
  long long row, col, next;
};

// out: of each element its index, the sum of the products and the sum of their magnitudes. A warp does one element.
template <class T>
__device__ void sums(int L, int M, int N, int K, const T* A, Steps a, const T* B, Steps b, int count, int seed,
                     double* out) {
  const long long i = (blockIdx.x * (long long)blockDim.x + threadIdx.x) / 32;
  if (i >= count) return;
  const Place p = place(i, L, M, N, count, seed);
  const T* x = A + p.l * a.next + p.m * a.row;
  const T* y = B + p.l * b.next + p.n * b.row;
  double sum = 0, all = 0;
  for (int k = threadIdx.x % 32; k < K; k += 32) {
    const double v = wide(x[k * a.col]) * wide(y[k * b.col]);
    sum += v, all += fabs(v);
  }
  for (int d = 16; d > 0; d /= 2) {
    sum += __shfl_xor_sync(0xffffffffu, sum, d);
    all += __shfl_xor_sync(0xffffffffu, all, d);
  }
  if (threadIdx.x % 32) return;
  out[3 * i] = (double)p.at, out[3 * i + 1] = sum, out[3 * i + 2] = all;
}

// out: the same elements of C.
template <class T>
__device__ void gather(int L, int M, int N, const T* C, Steps c, int count, int seed, double* out) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i >= count) return;
  const Place p = place(i, L, M, N, count, seed);
  out[i] = wide(C[p.l * c.next + p.m * c.row + p.n * c.col]);
}

// f32 numbers with the digits of a tf32.
extern "C" __global__ void fill_tf32(long long n, int seed, float* p) {
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (long long)blockDim.x)
    p[i] = (float)(int)(hash((uint32_t)i * 2654435761u + (uint32_t)seed) & 0xffe00000u) * (1.0f / 2147483648.0f);
}

#define FILL(T, NAME) \
  extern "C" __global__ void fill_##NAME(long long n, int seed, T* p) { fill<T>(n, seed, p); }
#define COMPARE(T, NAME)                                                                                        \
  extern "C" __global__ void compare_##NAME(int M, int N, int K, const T* A, const T* B, const float* C0,        \
                                            const float* C, double alpha, double beta, double* stats) {         \
    compare<T>(M, N, K, A, B, C0, C, alpha, beta, stats);                                                       \
  }
#define SUMS(T, NAME)                                                                                           \
  extern "C" __global__ void sums_##NAME(int L, int M, int N, int K, const T* A, Steps a, const T* B, Steps b,   \
                                         int count, int seed, double* out) {                                    \
    sums<T>(L, M, N, K, A, a, B, b, count, seed, out);                                                          \
  }
#define GATHER(T, NAME)                                                                                         \
  extern "C" __global__ void gather_##NAME(int L, int M, int N, const T* C, Steps c, int count, int seed,        \
                                           double* out) {                                                       \
    gather<T>(L, M, N, C, c, count, seed, out);                                                                 \
  }
#define FOR(T, NAME) FILL(T, NAME) COMPARE(T, NAME) SUMS(T, NAME) GATHER(T, NAME)
FOR(__half, f16)
FOR(__nv_bfloat16, bf16)
FOR(float, f32)
FILL(int8_t, s8)
SUMS(int8_t, s8)
GATHER(int8_t, s8)
GATHER(int32_t, s32)
