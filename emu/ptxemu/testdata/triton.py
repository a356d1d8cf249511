"""Writes the PTX files of this folder: python3 triton.py FOLDER, with torch 2.11 and Triton 3.6 on a GPU of sm_90."""
import torch, triton, triton.language as tl, os, sys, json, numpy as np
out = sys.argv[1]; os.makedirs(out, exist_ok=True)
@triton.jit
def softmax(x, y, n, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + i, mask=i < n, other=-float('inf'))
    v = v - tl.max(v, 0)
    e = tl.exp(v)
    tl.store(y + row * stride + i, e / tl.sum(e, 0), mask=i < n)
@triton.jit
def layernorm(x, w, b, y, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    m = i < n
    v = tl.load(x + row * n + i, mask=m, other=0.).to(tl.float32)
    mean = tl.sum(v, 0) / n
    d = tl.where(m, v - mean, 0.)
    r = 1 / tl.sqrt(tl.sum(d * d, 0) / n + eps)
    tl.store(y + row * n + i, (d * r * tl.load(w + i, mask=m) + tl.load(b + i, mask=m)).to(tl.float16), mask=m)
@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm = tl.program_id(0); pn = tl.program_id(1)
    rm = pm * BM + tl.arange(0, BM); rn = pn * BN + tl.arange(0, BN); rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rm[:, None] * K + (k + rk)[None, :], mask=(rm[:, None] < M) & ((k + rk)[None, :] < K), other=0.)
        z = tl.load(b + (k + rk)[:, None] * N + rn[None, :], mask=((k + rk)[:, None] < K) & (rn[None, :] < N), other=0.)
        acc += tl.dot(x, z)
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(tl.float16), mask=(rm[:, None] < M) & (rn[None, :] < N))
@triton.jit
def attention(q, k, v, o, n, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    pm = tl.program_id(0); h = tl.program_id(1)
    base = h * n * D
    rm = pm * BM + tl.arange(0, BM); rd = tl.arange(0, D)
    x = tl.load(q + base + rm[:, None] * D + rd[None, :], mask=rm[:, None] < n, other=0.)
    mx = tl.full((BM,), -float('inf'), tl.float32); s = tl.zeros((BM,), tl.float32); acc = tl.zeros((BM, D), tl.float32)
    for j in range(0, n, BN):
        rn = j + tl.arange(0, BN)
        kk = tl.load(k + base + rn[:, None] * D + rd[None, :], mask=rn[:, None] < n, other=0.)
        vv = tl.load(v + base + rn[:, None] * D + rd[None, :], mask=rn[:, None] < n, other=0.)
        t = tl.dot(x, tl.trans(kk)) * scale
        t = tl.where(rn[None, :] < n, t, -float('inf'))
        m2 = tl.maximum(mx, tl.max(t, 1)); p = tl.exp(t - m2[:, None]); al = tl.exp(mx - m2)
        s = s * al + tl.sum(p, 1); acc = acc * al[:, None] + tl.dot(p.to(tl.float16), vv); mx = m2
    tl.store(o + base + rm[:, None] * D + rd[None, :], (acc / s[:, None]).to(tl.float16), mask=rm[:, None] < n)
info = {}
def keep(name, k, args, grid):
    open(f'{out}/{name}.ptx', 'w').write(k.asm['ptx'])
    md = k.metadata
    info[name] = dict(entry=md.name, warps=md.num_warps, shared=md.shared, grid=grid, scratch=getattr(md, 'global_scratch_size', 0))
def rnd(*s, t=torch.float16): return torch.randn(*s, device='cuda', dtype=t)
x = rnd(7, 1000, t=torch.float32); y = torch.empty_like(x)
keep('softmax', softmax[(7,)](x, y, 1000, 1000, BLOCK=1024, num_warps=4), 0, [7,1,1]); torch.testing.assert_close(y, torch.softmax(x, 1))
x = rnd(5, 777); w = rnd(777, t=torch.float32); b = rnd(777, t=torch.float32); y = torch.empty_like(x)
keep('layernorm', layernorm[(5,)](x, w, b, y, 777, 1e-5, BLOCK=1024, num_warps=8), 0, [5,1,1])
for name, (BM, BN, BK, warps, stages) in {'matmul_64x64': (64, 64, 32, 4, 3), 'matmul_128x128': (128, 128, 64, 4, 3)}.items():
    M, N, K = 200, 136, 200
    a, b, c = rnd(M, K), rnd(K, N), rnd(M, N)
    g = (triton.cdiv(M, BM), triton.cdiv(N, BN))
    keep(name, matmul[g](a, b, c, M, N, K, BM=BM, BN=BN, BK=BK, num_warps=warps, num_stages=stages), 0, [g[0], g[1], 1])
    torch.testing.assert_close(c.float(), a.float() @ b.float(), rtol=1e-2, atol=5e-2)
n, D, H = 150, 64, 2
q, k, v = rnd(H, n, D), rnd(H, n, D), rnd(H, n, D); o = torch.empty_like(q)
g = (triton.cdiv(n, 64), H)
keep('attention', attention[g](q, k, v, o, n, D ** -0.5, D=D, BM=64, BN=64, num_warps=4, num_stages=2), 0, [g[0], g[1], 1])
torch.testing.assert_close(o.float(), torch.nn.functional.scaled_dot_product_attention(q.float(), k.float(), v.float()), rtol=1e-2, atol=2e-2)
json.dump(info, open(f'{out}/info.json', 'w'), indent=1)
print(info)
