package cuda_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/build"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
	"github.com/gocute/gocute/gen/cuda"
)

var tmaLoad = &cir.Op{Name: "SM90_TMA_LOAD", Class: cir.TensorCopy, Arch: 90,
	PTX: "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint"}

// gmmaOp is a product of 64 x n by a warpgroup.
func gmmaOp(name, ptx, tail, d string, count int) *cir.Op {
	return &cir.Op{Name: name, Class: cir.GMMA, Arch: 90, PTX: "wgmma.mma_async.sync.aligned." + ptx, Tail: tail,
		D: cir.Operand{Type: d, Count: count}, A: cir.Operand{Type: "u64", Count: 1}, B: cir.Operand{Type: "u64", Count: 1}}
}

var (
	gmmaF32 = gmmaOp("SM90_64x128x16_F32F16F16_SS", "m64n128k16.f32.f16.f16", ", 1, 1, 0, 0", "f32", 64)
	gmmaF16 = gmmaOp("SM90_64x32x16_F16F16F16_SS", "m64n32k16.f16.f16.f16", ", 1, 1, 0, 0", "u32", 8)
	gmmaS32 = gmmaOp("SM90_64x16x32_S32S8S8_SS_TN", "m64n16k32.s32.s8.s8", "", "u32", 8)
)

// box is a tensor map of the first extents of a tensor whose rows are apart by lda elements.
func box(of *cir.Param, lda sym.Expr, swizzle int, extents []sym.Expr, sizes ...int) *cir.TensorMap {
	m := &cir.TensorMap{Name: of.Name + "_map", Of: of, Extents: extents, Box: sizes, Swizzle: swizzle}
	stride := sym.Int(1)
	for i := range sizes {
		if i > 0 {
			stride = lda
		}
		if i > 1 {
			stride = lda.Mul(sym.Int(1024 * i))
		}
		m.Strides = append(m.Strides, stride)
	}
	return m
}

// wide128 is an array whose address 1024 divides.
func wide128(name string, k elem.Kind, count, offset int) *cir.Mem {
	m := shared(name, k, count, offset)
	m.Align = 1024
	return m
}

// gmmaTile multiplies tiles of 128x64 and 128x64 in a ring of two stages: a warp loads, two warpgroups multiply.
func gmmaTile() *cir.Kernel {
	pk := dim("K", 1<<20, 64)
	kk := sym.New(pk.Sym)
	a, b, out := pointer("A", elem.KF16, false), pointer("B", elem.KF16, false), pointer("C", elem.KF32, true)
	k := &cir.Kernel{Name: "gmma_tile", Threads: 384, MinBlocks: 1, Arch: 90, Exactly: true, Params: []*cir.Param{pk, a, b, out},
		Shared: []*cir.Mem{wide128("sA", elem.KF16, 2*8192, 0), wide128("sB", elem.KF16, 2*8192, 32768),
			shared("full", elem.KU64, 2, 65536), shared("empty", elem.KU64, 2, 65664)}, SmemBytes: 65792}
	k.Maps = []*cir.TensorMap{box(a, kk, 3, []sym.Expr{kk, c(128)}, 64, 128), box(b, kk, 3, []sym.Expr{kk, c(128)}, 64, 128)}
	tid := thread(384)
	at := func(m int, i sym.Expr) cir.Addr { return cir.Addr{Mem: k.Shared[m], Index: i} }
	is := func(x sym.Expr, n int) cir.Cond { return cir.Cmp{Op: cir.EQ, X: x, Y: c(n)} }
	var init []cir.Stmt
	for i := range 2 {
		init = append(init, cir.MBarrierInit{Bar: at(2, c(i)), Count: 1}, cir.MBarrierInit{Bar: at(3, c(i)), Count: 8})
	}
	step := &sym.Symbol{Name: "k", Class: sym.Loop, Hi: 1 << 14}
	s := sym.New(step)
	slot, parity := s.Mod(c(2)), s.FloorDiv(c(2)).Mod(c(2))
	load := []cir.Stmt{cir.MBarrierWait{Bar: at(3, slot), Parity: parity.Xor(c(1))}, cir.MBarrierExpect{Bar: at(2, slot), Bytes: 32768}}
	for i, m := range k.Maps {
		load = append(load, cir.TensorLoad{Op: tmaLoad, Map: m, Coords: []sym.Expr{cs(s, 64), c(0)}, Dst: at(i, cs(slot, 8192)), Bar: at(2, slot)})
	}
	acc := &cir.Reg{Name: "rC", Elem: elem.KF32, Count: 64}
	group := tid.FloorDiv(c(128)).Sub(c(1))
	j := loopSym("j", 4)
	matrix := func(m int, row sym.Expr) cir.SmemMatrix {
		return cir.SmemMatrix{At: at(m, row.Add(cs(slot, 8192)).Add(cs(sym.New(j), 16))), Stride: 1024, Swizzle: 3}
	}
	products := []cir.Stmt{cir.MBarrierWait{Bar: at(2, slot), Parity: parity}, cir.WarpgroupArrive{},
		cir.For{Sym: j, Hi: c(4), Unroll: true, Body: []cir.Stmt{
			cir.WarpgroupMMA{Op: gmmaF32, D: refs(acc, c(0), 64, 1), A: matrix(0, cs(group, 4096)), B: matrix(1, c(0))}}},
		cir.WarpgroupCommit{}, cir.WarpgroupWait{Pending: 1}, cir.If{Cond: cir.Cmp{Op: cir.LT, X: c(0), Y: s}, Then: []cir.Stmt{
			cir.MBarrierArrive{Bar: at(3, s.Add(c(1)).Mod(c(2))), OncePerWarp: true}}}}
	multiply := []cir.Stmt{cir.DeclReg{Reg: acc}, cir.Fill{Reg: acc}, cir.For{Sym: step, Hi: kk.FloorDiv(c(64)), Body: products}, cir.WarpgroupWait{Regs: []*cir.Reg{acc}}}
	for i := range 16 {
		row := cs(group, 64).Add(cs(tid.FloorDiv(c(32)).Mod(c(4)), 16)).Add(tid.FloorDiv(c(4)).Mod(c(8)))
		for half := range 2 {
			to := cs(row.Add(c(8*half)), 128).Add(cs(tid.Mod(c(4)), 2)).Add(c(8 * i))
			multiply = append(multiply, cir.Store{Dst: cir.Addr{Mem: out.Mem, Index: to}, Src: ref(acc, c(4*i+2*half), 2)})
		}
	}
	k.Body = []cir.Stmt{cir.If{Cond: is(tid, 0), Then: init}, cir.Barrier{},
		cir.If{Cond: cir.Cmp{Op: cir.LT, X: tid, Y: c(128)},
			Then: []cir.Stmt{cir.If{Cond: is(tid, 0), Then: []cir.Stmt{cir.For{Sym: step, Hi: kk.FloorDiv(c(64)), Body: load}}}},
			Else: multiply}}
	return k
}

// hopperAll has every statement of sm_90 in each of its forms.
func hopperAll() *cir.Kernel {
	a, out := pointer("T", elem.KS8, false), pointer("out", elem.KS32, true)
	half, quads, halves := pointer("H", elem.KF16, false), pointer("Q", elem.KF32, false), pointer("halves", elem.KF16, true)
	k := &cir.Kernel{Name: "hopper_all", Threads: 128, Arch: 90, Exactly: true, Params: []*cir.Param{a, half, quads, out, halves},
		Shared: []*cir.Mem{wide128("sT", elem.KS8, 8192, 0), wide128("sH", elem.KF16, 4096, 8192), wide128("sQ", elem.KF32, 1024, 16384),
			shared("bar", elem.KU64, 1, 20480)}, SmemBytes: 20608}
	lda := c(4096)
	k.Maps = []*cir.TensorMap{box(a, lda, 2, []sym.Expr{c(64), c(128)}, 64, 128), box(half, lda, 1, []sym.Expr{c(16), c(8), c(4), c(2), c(3)}, 16, 8, 4, 2, 1),
		box(quads, lda, 0, []sym.Expr{c(1024)}, 256)}
	at := func(m int, i int) cir.Addr { return cir.Addr{Mem: k.Shared[m], Index: c(i)} }
	by, bx := block("by"), block("bx")
	n := &cir.Reg{Name: "n", Elem: elem.KS32, Count: 8}
	h := &cir.Reg{Name: "h", Elem: elem.KF16, Count: 32}
	apart := append(refs(h, c(16), 4, 2), refs(h, c(28), 2, 2)...) // not in order: one argument a register
	apart = append(apart, refs(h, c(24), 2, 2)...)
	matrix := func(m, i, stride, swizzle int) cir.SmemMatrix {
		return cir.SmemMatrix{At: at(m, i), Stride: stride, Swizzle: swizzle}
	}
	k.Body = []cir.Stmt{cir.DeclReg{Reg: n}, cir.DeclReg{Reg: h}, cir.Fill{Reg: n}, cir.Fill{Reg: h},
		cir.If{Cond: cir.Cmp{Op: cir.EQ, X: thread(128)}, Then: []cir.Stmt{cir.MBarrierInit{Bar: at(3, 0), Count: 1}}}, cir.Barrier{},
		cir.If{Cond: cir.Cmp{Op: cir.EQ, X: thread(128)}, Then: []cir.Stmt{
			cir.MBarrierExpect{Bar: at(3, 0), Bytes: k.Maps[0].Bytes() + k.Maps[1].Bytes() + k.Maps[2].Bytes()},
			cir.TensorLoad{Op: tmaLoad, Map: k.Maps[0], Coords: []sym.Expr{c(0), by}, Dst: at(0, 0), Bar: at(3, 0)},
			cir.TensorLoad{Op: tmaLoad, Map: k.Maps[1], Coords: []sym.Expr{c(0), by, bx, c(0), c(2)}, Dst: at(1, 0), Bar: at(3, 0)},
			cir.TensorLoad{Op: tmaLoad, Map: k.Maps[2], Coords: []sym.Expr{cs(bx, 256)}, Dst: at(2, 0), Bar: at(3, 0)}}},
		cir.MBarrierWait{Bar: at(3, 0), Parity: c(0)}, cir.WarpgroupArrive{},
		cir.WarpgroupMMA{Op: gmmaS32, D: refs(n, c(0), 8, 1), A: matrix(0, 0, 512, 2), B: matrix(0, 4096+32, 512, 2)}, cir.WarpgroupCommit{},
		cir.WarpgroupArrive{}, cir.WarpgroupMMA{Op: gmmaF16, D: refs(h, c(0), 8, 2), A: matrix(1, 0, 256, 1), B: matrix(1, 1024, 256, 1)},
		cir.WarpgroupMMA{Op: gmmaF16, D: apart, A: matrix(1, 16, 256, 1), B: matrix(1, 1024, 256, 1)},
		cir.WarpgroupCommit{}, cir.WarpgroupWait{Pending: 1, Regs: []*cir.Reg{n}}, cir.WarpgroupWait{Regs: []*cir.Reg{h}}}
	for i := range 2 {
		k.Body = append(k.Body, cir.Store{Dst: cir.Addr{Mem: out.Mem, Index: cs(thread(128), 8).Add(c(4 * i))}, Src: ref(n, c(4*i), 4)},
			cir.Store{Dst: cir.Addr{Mem: halves.Mem, Index: cs(thread(128), 16).Add(c(8 * i))}, Src: ref(h, c(16*i), 8)})
	}
	return k
}

// compileFor90a runs nvcc and NVRTC, if they are there, and refuses spills and remarks, such as that products are serialised.
func compileFor90a(t *testing.T, k *cir.Kernel, code []byte) []build.Instr {
	t.Helper()
	tc, err := build.Find(t.Context(), build.Options{NoInstall: true})
	if err != nil {
		t.Skip("no nvcc")
	}
	src := build.Source{Name: k.Name, Code: code, Archs: []string{"sm_90a"}}
	res, err := tc.Compile(t.Context(), src)
	require.NoError(t, err, "%s", code)
	require.Empty(t, res.Warnings)
	report, ok := res.Binaries[0].Report.Kernel(k.Name)
	require.True(t, ok)
	require.Zero(t, report.StackFrame)
	require.False(t, report.Spills())
	withNVRTC(t, src)
	t.Logf("%s: %d registers, %.2f s", k.Name, report.Registers, res.Seconds())
	entries, err := build.ScanPTX(res.PTX[0].Code)
	require.NoError(t, err)
	return entries[0].Instrs
}

// TestHopper prints and compiles kernels with the statements of sm_90.
func TestHopper(t *testing.T) {
	for _, c := range []struct {
		kernel *cir.Kernel
		want   map[string]int
	}{
		{gmmaTile(), map[string]int{"wgmma.mma_async": 4, "cp.async.bulk.tensor.2d.shared::cta.global": 2, "wgmma.fence": 1,
			"wgmma.commit_group": 1, "wgmma.wait_group": 2, "mbarrier.arrive.expect_tx": 1, "fence.mbarrier_init": 1}},
		{hopperAll(), map[string]int{"wgmma.mma_async": 3, "cp.async.bulk.tensor.1d": 1, "cp.async.bulk.tensor.2d": 1,
			"cp.async.bulk.tensor.5d": 1, "wgmma.wait_group": 2}},
	} {
		t.Run(c.kernel.Name, func(t *testing.T) {
			require.NoError(t, cir.Verify(c.kernel))
			code, err := cuda.Print(c.kernel, cuda.Options{})
			require.NoError(t, err)
			golden(t, c.kernel.Name+".cu", code)
			instrs := compileFor90a(t, c.kernel, code)
			for prefix, n := range c.want {
				require.Equal(t, n, count(instrs, prefix), prefix)
			}
		})
	}
}

// TestHopperRefused: the printer refuses what the machine has not.
func TestHopperRefused(t *testing.T) {
	for want, break_ := range map[string]func(k *cir.Kernel){
		"expected a tensor map of the kernel":        func(k *cir.Kernel) { k.Maps = k.Maps[1:] },
		"name T_map is declared twice":               func(k *cir.Kernel) { k.Maps[1].Name = "T_map" },
		"expected a tensor map, but got none":        func(k *cir.Kernel) { k.Maps[1] = nil },
		"takes 8 registers, but got 4":               func(k *cir.Kernel) { change(k, func(s *cir.WarpgroupMMA) { s.D = s.D[:4] }) },
		"expected swizzled rows in shared memory":    func(k *cir.Kernel) { change(k, func(s *cir.WarpgroupMMA) { s.B.Swizzle = 0 }) },
		"expected a declared register array":         func(k *cir.Kernel) { change(k, func(s *cir.WarpgroupWait) { s.Regs = []*cir.Reg{{Name: "x"}} }) },
		"expected an instruction of the statement's": func(k *cir.Kernel) { change(k, func(s *cir.WarpgroupMMA) { s.Op = tmaLoad }) },
	} {
		k := hopperAll()
		break_(k)
		_, err := cuda.Print(k, cuda.Options{})
		require.ErrorContains(t, err, want)
	}
}

// change changes each statement of a type in the body itself.
func change[S cir.Stmt](k *cir.Kernel, f func(s *S)) {
	for i, s := range k.Body {
		if x, ok := s.(S); ok {
			f(&x)
			k.Body[i] = x
		}
	}
}
