#!/usr/bin/env python3
"""Times torch and a Triton kernel at the products of the command bench beside this file, by the same method, and writes
the same CSV, for bench -plot. C (M,N) is A (M,K) times the transpose of B (N,K): torch's a @ b.t(), BLAS's TN.

    compare.py [--sizes 1024,16x4096x4096] [--types f16-f16] [--csv FILE]
"""
import argparse
import csv
import sys

import torch
import triton
import triton.language as tl

HEAD = "device,data,type,layout,m,n,k,candidate,median_us,p10_us,p90_us,tflops,ghz,pipe_share,batch".split(",")
SIZES = "1024,2048,4096,8192,1000,16x4096x4096,64x11008x4096,256x4096x11008"
TYPES = {  # of the operands and of the result, and how far ‖out−ref‖ / ‖ref‖ may be
    "f16-f32": (torch.float16, torch.float32, 5e-5), "f16-f16": (torch.float16, torch.float16, 1e-3),
    "bf16-f32": (torch.bfloat16, torch.float32, 5e-5), "bf16-bf16": (torch.bfloat16, torch.bfloat16, 8e-3),
    "tf32-f32": (torch.float32, torch.float32, 1e-3), "s8-s32": (torch.int8, torch.int32, 0.0),
}
WARMUPS = 2


def config(bm, bn, bk, stages, warps):
    return triton.Config({"BM": bm, "BN": bn, "BK": bk, "BAND": 8}, num_stages=stages, num_warps=warps)


CONFIGS = [config(128, 256, 64, 3, 8), config(256, 128, 64, 3, 8), config(128, 128, 64, 4, 8), config(128, 128, 64, 4, 4),
           config(128, 128, 32, 4, 4), config(64, 256, 64, 4, 4), config(128, 64, 64, 4, 4), config(64, 128, 64, 4, 4),
           config(64, 64, 128, 4, 4), config(32, 64, 128, 5, 4), config(16, 128, 128, 4, 4), config(16, 64, 128, 5, 4),
           config(16, 32, 256, 4, 2)]


@triton.autotune(configs=CONFIGS, key=["M", "N", "K"])
@triton.heuristics({"WHOLE": lambda args: args["K"] % args["BK"] == 0})
@triton.jit
def product(A, B, C, M, N, K, SUM: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
            BAND: tl.constexpr, WHOLE: tl.constexpr):
    tiles_m, tiles_n, tile = tl.cdiv(M, BM), tl.cdiv(N, BN), tl.program_id(0)
    first = tile // (BAND * tiles_n) * BAND  # row of tiles that begins a band, whose tiles go column by column
    rows = min(tiles_m - first, BAND)
    m = (first + tile % (BAND * tiles_n) % rows) * BM + tl.arange(0, BM)
    n = tile % (BAND * tiles_n) // rows * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    a = A + (m % M)[:, None] * K + k[None, :]  # rows past the end are some other's, and not stored
    b = B + (n % N)[None, :] * K + k[:, None]
    total = tl.zeros((BM, BN), dtype=SUM)
    for at in range(0, K, BK):
        if WHOLE:
            x, y = tl.load(a), tl.load(b)
        else:
            x = tl.load(a, mask=k[None, :] < K - at, other=0)
            y = tl.load(b, mask=k[:, None] < K - at, other=0)
        total = tl.dot(x, y, total, out_dtype=SUM)
        a += BK
        b += BK
    tl.store(C + m[:, None] * N + n[None, :], total.to(C.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


def by_triton(a, b, c):
    (m, k), n = a.shape, b.shape[0]
    whole = tl.int32 if a.dtype == torch.int8 else tl.float32
    product[lambda o: (triton.cdiv(m, o["BM"]) * triton.cdiv(n, o["BN"]),)](a, b, c, m, n, k, SUM=whole)


def by_torch(a, b, c):
    if a.dtype == torch.int8:
        torch._int_mm(a, b.t(), out=c)
    elif a.dtype == c.dtype:
        torch.matmul(a, b.t(), out=c)
    else:
        torch.mm(a, b.t(), out_dtype=c.dtype, out=c)


def matrix(rows, cols, dtype, data):
    if data == "zeros":
        return torch.zeros(rows, cols, dtype=dtype, device="cuda")
    if dtype == torch.int8:
        return torch.randint(-128, 128, (rows, cols), dtype=dtype, device="cuda")
    return (torch.rand(rows, cols, device="cuda") * 2 - 1).to(dtype)


def sets(m, n, k, types, data, most):
    """Matrices so many times that what one launch leaves in the cache is gone when its turn comes again."""
    one = sum(x * torch.empty(0, dtype=t).element_size() for x, t in ((m * k + n * k, types[0]), (m * n, types[1])))
    l2 = max(getattr(torch.cuda.get_device_properties(0), "L2_cache_size", 0), 50 << 20)
    return [(matrix(m, k, types[0], data), matrix(n, k, types[0], data), torch.empty(m, n, dtype=types[1], device="cuda"))
            for _ in range(min(most, max(2, min(64, 5 * l2 // one))))], one


def check(run, m, n, k, types):
    """Runs once, which also tunes, and compares a sample of the result with sums in float64."""
    ((a, b, c),), _ = sets(m, n, k, types, "random", 1)
    run(a, b, c)
    run(a, b, c.fill_(-77))
    i, j = (torch.randint(0, extent, (1024,), device="cuda") for extent in (m, n))
    want = (a[i].double() * b[j].double()).sum(1)
    far = ((c[i, j].double() - want).norm() / want.norm()).item()
    if not far <= types[2]:
        raise ValueError(f"expected results within {types[2]} of the reference, but they are {far:.2g} away")


def measure(runs, m, n, k, types, data, rounds):
    """Times in microseconds of one launch, a list for each of the runs, which take turns."""
    memory, size = sets(m, n, k, types, data, 64)
    seconds = max(2 * m * n * k / 5e14, size / 3e12) + 3e-6
    batch = int(min(50, max(1, 4e-3 / seconds)))
    start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    times, turn = [[] for _ in runs], 0
    for r in range(WARMUPS + rounds):
        for i, run in enumerate(runs):
            if seconds < 200e-6:  # hold the GPU until all launches are queued
                torch.cuda._sleep(int(batch * 60e-6 * 2e9))
            start.record()
            for _ in range(batch):
                run(*memory[turn % len(memory)])
                turn += 1
            stop.record()
            stop.synchronize()
            if r >= WARMUPS:
                times[i].append(start.elapsed_time(stop) * 1e3 / batch)
    return times


def rows(sizes, types, kinds, rounds):
    device = torch.cuda.get_device_name()
    for name in types:
        for m, n, k in sizes:
            good = {}
            for candidate, run in (("torch", by_torch), ("Triton", by_triton)):
                try:
                    check(run, m, n, k, TYPES[name])
                    good[candidate] = run
                except Exception as e:  # one that cannot run must not end the others
                    print(f"compare: {candidate}, {name}, {m}x{n}x{k}: {type(e).__name__}: {str(e)[:300]}", file=sys.stderr)
            for data in kinds if good else ():
                try:
                    times = measure(list(good.values()), m, n, k, TYPES[name], data, rounds)
                except Exception as e:
                    print(f"compare: {name}, {m}x{n}x{k}, {data}: {type(e).__name__}: {str(e)[:300]}", file=sys.stderr)
                    continue
                for candidate, t in zip(good, times):
                    p10, median, p90 = torch.tensor(t, dtype=torch.float64).quantile(torch.tensor([0.1, 0.5, 0.9], dtype=torch.float64)).tolist()
                    tflops = 2 * m * n * k / median / 1e6
                    print(f"{data:7} {name:9} {m}x{n}x{k:<8} {candidate:8} {median:9.1f} us ({p10:.1f} to {p90:.1f}) {tflops:7.1f} TFLOP/s", flush=True)
                    yield [device, data, name, "TN", m, n, k, candidate, f"{median:.3f}", f"{p10:.3f}", f"{p90:.3f}", f"{tflops:.2f}", "", "", 1]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--sizes", default=SIZES, help="MxNxK, or one number for a cube")
    p.add_argument("--types", default="f16-f32,f16-f16,bf16-f32", help="of " + ", ".join(TYPES))
    p.add_argument("--data", default="zeros,random")
    p.add_argument("--rounds", type=int, default=21)
    p.add_argument("--csv", help="write the results to this file, too")
    o = p.parse_args()
    cubes = [[int(x) for x in s.split("x")] for s in o.sizes.split(",")]
    torch.backends.cuda.matmul.allow_tf32 = True
    print(f"torch {torch.__version__}, Triton {triton.__version__}, {torch.cuda.get_device_name()}", flush=True)
    table = list(rows([c * 3 if len(c) == 1 else c for c in cubes], o.types.split(","), o.data.split(","), o.rounds))
    if o.csv:
        with open(o.csv, "w", newline="") as f:
            csv.writer(f, lineterminator="\n").writerows([HEAD] + table)
    sys.exit(0 if table else 1)


if __name__ == "__main__":
    main()
