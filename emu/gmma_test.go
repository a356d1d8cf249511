package emu

import (
	"context"
	"fmt"
	"testing"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
	"github.com/stretchr/testify/require"
)

// hopper is a GEMM of copies of boxes and products of warpgroups, C = A*B' with A (M,K):(K,1), B (N,K):(K,1) and
// C (M,N):(N,1). Each of its groups of 128 threads has 64 rows of a block's C; one more thread copies.
type hopper struct {
	d, a, b    elem.Kind
	groups     int
	cols       int // of a block
	swizzle    int
	stages     int
	change     func(*hopperBuilder) // of the parts, before they are put together
	saturation bool
}

type hopperBuilder struct {
	*maker
	hopper
	M, N, K              sym.Expr
	sA, sB, full, empty  *cir.Mem
	mapA, mapB           *cir.TensorMap
	acc                  *cir.Reg
	bK                   int // elements of a row of a stage
	kt                   sym.Expr
	acquire, copy        []cir.Stmt
	fill, await, product []cir.Stmt
	commit, wait, done   []cir.Stmt
	drain                []cir.Stmt
}

var tensorOp = &cir.Op{Name: "SM90_TMA_LOAD_2D", PTX: "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes", Class: cir.TensorCopy}

// dims of multiples of 16 bytes.
func (b *hopperBuilder) extent(name string) sym.Expr {
	s := &sym.Symbol{Name: name, Class: sym.Param, Lo: 1, Hi: 1 << 20, Multiple: int64(128 / b.a.Bits())}
	b.k.Params = append(b.k.Params, &cir.Param{Name: name, Class: cir.Dim, Sym: s})
	return sym.New(s)
}

func (b *hopperBuilder) tensor(name string, k elem.Kind, rows sym.Expr, box int) (*cir.Mem, *cir.TensorMap) {
	mem := b.global(name, k, rows.Mul(b.K), "r")
	of := b.k.Params[len(b.k.Params)-1]
	m := &cir.TensorMap{Name: "map" + name, Of: of, Extents: []sym.Expr{b.K, rows}, Strides: []sym.Expr{n(1), b.K},
		Box: []int{b.bK, box}, Swizzle: b.swizzle}
	b.k.Maps = append(b.k.Maps, m)
	return mem, m
}

// aligned is shared memory for boxes.
func (m *maker) aligned(name string, k elem.Kind, count, align int) *cir.Mem {
	m.k.SmemBytes = (m.k.SmemBytes + align - 1) / align * align
	mem := m.shared(name, k, count)
	mem.Align = align
	return mem
}

func (h hopper) op() *cir.Op {
	op := &cir.Op{Name: "SM90_64xN", Class: cir.GMMA, D: cir.Operand{Type: "f32", Count: h.cols / 2},
		PTX: fmt.Sprintf("wgmma.mma_async.sync.aligned.m64n%dk%d.%s.%s.%s", h.cols, 256/h.a.Bits(), h.d, h.a, h.b)}
	if h.d == elem.KF16 {
		op.D = cir.Operand{Type: "u32", Count: h.cols / 4}
	}
	if h.saturation {
		op.PTX += ".satfinite"
	}
	op.Tail = gmmaTail(&gmmaShape{d: h.d, a: h.a}, false, false)
	return op
}

func (h hopper) build() *hopperBuilder {
	b := &hopperBuilder{maker: newMaker("hopper", 128*h.groups+128), hopper: h}
	b.bK = (16 << h.swizzle) * 8 / h.a.Bits()
	b.M, b.N, b.K = b.extent("M"), b.extent("N"), b.extent("K")
	_, b.mapA = b.tensor("A", h.a, b.M, 64*h.groups)
	_, b.mapB = b.tensor("B", h.b, b.N, h.cols)
	C := b.global("C", h.d, b.M.Mul(b.N), "w")
	rows := 64 * h.groups
	b.k.Grid = [3]sym.Expr{b.M.CeilDiv(n(rows)), b.N.CeilDiv(n(h.cols)), n(1)}
	b.sA = b.aligned("sA", h.a, h.stages*rows*b.bK, 128<<h.swizzle)
	b.sB = b.aligned("sB", h.b, h.stages*h.cols*b.bK, 128<<h.swizzle)
	b.full, b.empty = b.shared("full", elem.KU64, h.stages), b.shared("empty", elem.KU64, h.stages)
	var body, init []cir.Stmt
	b.acc = b.reg(&body, "acc", h.d, h.cols/2)
	for s := range h.stages {
		init = append(init, cir.MBarrierInit{Pos: b.at(), Bar: addr(b.full, n(s)), Count: 1},
			cir.MBarrierInit{Pos: b.at(), Bar: addr(b.empty, n(s)), Count: 4 * h.groups})
	}
	body = append(body, cir.If{Pos: b.at(), Cond: lt(tid, n(1)), Then: init}, cir.Barrier{Pos: b.at()})
	kt := &sym.Symbol{Name: "kt", Class: sym.Loop, Hi: 1 << 20}
	b.kt = sym.New(kt)
	b.parts()
	if h.change != nil {
		h.change(b)
	}
	loop := func(parts ...[]cir.Stmt) cir.Stmt {
		var all []cir.Stmt
		for _, p := range parts {
			all = append(all, p...)
		}
		return cir.For{Pos: b.at(), Sym: kt, Hi: b.K.CeilDiv(n(b.bK)), Body: all}
	}
	work := append(append([]cir.Stmt{}, b.fill...), loop(b.await, b.product, b.commit, b.wait, b.done))
	work = append(append(work, b.drain...), b.epilogue(C)...)
	copies := cir.If{Pos: b.at(), Cond: cir.Cmp{Op: cir.EQ, X: tid, Y: n(128 * h.groups)}, Then: []cir.Stmt{loop(b.acquire, b.copy)}}
	b.k.Body = append(body, cir.If{Pos: b.at(), Cond: lt(tid, n(128*h.groups)), Then: work, Else: []cir.Stmt{copies}})
	return b
}

// parts makes the parts of the loops: one group of products is in flight while the next one starts.
func (b *hopperBuilder) parts() {
	stage, turn := b.kt.Mod(n(b.stages)), b.kt.FloorDiv(n(b.stages))
	rows := 64 * b.groups
	b.mark("acquire")
	b.acquire = []cir.Stmt{cir.MBarrierWait{Pos: b.at(), Bar: addr(b.empty, stage), Parity: turn.Add(n(1)).Mod(n(2))}}
	b.mark("expect")
	b.copy = []cir.Stmt{cir.MBarrierExpect{Pos: b.at(), Bar: addr(b.full, stage), Bytes: b.mapA.Bytes() + b.mapB.Bytes()}}
	load := func(mark string, m *cir.TensorMap, to *cir.Mem, rows int, block sym.Expr) {
		b.mark(mark)
		b.copy = append(b.copy, cir.TensorLoad{Pos: b.at(), Op: tensorOp, Map: m, Coords: []sym.Expr{b.kt.Mul(n(b.bK)), block.Mul(n(rows))},
			Dst: addr(to, stage.Mul(n(rows*b.bK))), Bar: addr(b.full, stage)})
	}
	load("loadA", b.mapA, b.sA, rows, bid("x"))
	load("loadB", b.mapB, b.sB, b.cols, bid("y"))
	b.mark("fill")
	b.fill = []cir.Stmt{cir.Fill{Pos: b.at(), Reg: b.acc}}
	b.mark("await")
	b.await = []cir.Stmt{cir.MBarrierWait{Pos: b.at(), Bar: addr(b.full, stage), Parity: turn.Mod(n(2))}}
	b.mark("arrive")
	b.product = []cir.Stmt{cir.WarpgroupArrive{Pos: b.at()}}
	b.mark("product")
	at := b.at()
	op, group := b.op(), tid.FloorDiv(n(128))
	per := 256 / b.a.Bits()
	for k := 0; k < b.bK; k += per {
		s := cir.WarpgroupMMA{Pos: at, Op: op,
			A: cir.SmemMatrix{At: addr(b.sA, stage.Mul(n(rows)).Add(group.Mul(n(64))).Mul(n(b.bK)).Add(n(k))), Stride: 128 << b.swizzle, Swizzle: b.swizzle},
			B: cir.SmemMatrix{At: addr(b.sB, stage.Mul(n(b.cols*b.bK)).Add(n(k))), Stride: 128 << b.swizzle, Swizzle: b.swizzle}}
		elems := b.acc.Count / op.D.Count
		for i := 0; i < b.acc.Count; i += elems {
			s.D = append(s.D, ref(b.acc, i, elems))
		}
		b.product = append(b.product, s)
	}
	b.commit = []cir.Stmt{cir.WarpgroupCommit{Pos: b.at()}}
	b.mark("wait")
	b.wait = []cir.Stmt{cir.WarpgroupWait{Pos: b.at(), Pending: 1}}
	before := b.kt.Add(n(b.stages - 1)).Mod(n(b.stages))
	b.mark("done")
	b.done = []cir.Stmt{cir.If{Pos: b.at(), Cond: lt(n(0), b.kt), Then: []cir.Stmt{
		cir.MBarrierArrive{Pos: b.at(), Bar: addr(b.empty, before), OncePerWarp: true}}}}
	b.drain = []cir.Stmt{cir.WarpgroupWait{Pos: b.at(), Pending: 0, Regs: []*cir.Reg{b.acc}}}
}

// epilogue stores D by its layout as CuTe gives it, ((4,8,4),(2,2,N/8)):((128,1,16),(64,8,512)).
func (b *hopperBuilder) epilogue(C *cir.Mem) []cir.Stmt {
	var out []cir.Stmt
	b.mark("epilogue")
	at := b.at()
	for i := range b.acc.Count {
		thread := tid.Mod(n(128))
		row := thread.FloorDiv(n(4)).Mod(n(8)).Add(thread.FloorDiv(n(32)).Mul(n(16))).Add(n(i / 2 % 2 * 8))
		row = row.Add(tid.FloorDiv(n(128)).Mul(n(64))).Add(bid("x").Mul(n(64 * b.groups)))
		col := thread.Mod(n(4)).Mul(n(2)).Add(n(i%2 + i/4*8)).Add(bid("y").Mul(n(b.cols)))
		out = append(out, cir.StoreValue{Pos: at, Dst: addr(C, row.Mul(b.N).Add(col)), Value: cir.RegElem{Ref: ref(b.acc, i, 1)},
			Pred: cir.And{lt(row, b.M), lt(col, b.N)}})
	}
	return out
}

func (h hopper) args(m, nn, k int) Args {
	xs, ys := ints(m*k, 1), ints(nn*k, 2)
	clampTo(xs, h.a)
	clampTo(ys, h.b)
	return Args{"M": Dim(m), "N": Dim(nn), "K": Dim(k), "C": NewBuffer(h.d, m*nn),
		"A": BufferFromFloat64s(h.a, xs), "B": BufferFromFloat64s(h.b, ys)}
}

func product64(args Args, m, nn, k int) []float64 {
	a, b := args["A"].(*Buffer).Float64s(), args["B"].(*Buffer).Float64s()
	want := make([]float64, m*nn)
	for i := range m {
		for j := range nn {
			for x := range k {
				want[i*nn+j] += a[i*k+x] * b[j*k+x]
			}
		}
	}
	return want
}

var halves = hopper{d: elem.KF32, a: elem.KF16, b: elem.KF16, groups: 2, cols: 64, swizzle: 3, stages: 2}

// TestHopperGEMM: whole blocks and edges beyond the tensors, in every kind and swizzle and under every schedule.
func TestHopperGEMM(t *testing.T) {
	for i, h := range []hopper{
		halves,
		{d: elem.KF16, a: elem.KF16, b: elem.KF16, groups: 1, cols: 256, swizzle: 3, stages: 2},
		{d: elem.KF32, a: elem.KBF16, b: elem.KBF16, groups: 1, cols: 8, swizzle: 2, stages: 3},
		{d: elem.KF32, a: elem.KTF32, b: elem.KTF32, groups: 1, cols: 40, swizzle: 1, stages: 2},
		{d: elem.KF32, a: elem.KTF32, b: elem.KTF32, groups: 2, cols: 128, swizzle: 3, stages: 4},
		{d: elem.KS32, a: elem.KS8, b: elem.KS8, groups: 1, cols: 32, swizzle: 3, stages: 2},
		{d: elem.KS32, a: elem.KU8, b: elem.KS8, groups: 1, cols: 64, swizzle: 2, stages: 2, saturation: true},
		{d: elem.KF32, a: elem.KE4M3, b: elem.KE5M2, groups: 1, cols: 16, swizzle: 1, stages: 2},
	} {
		for _, e := range [][3]int{{64 * h.groups, h.cols, 128}, {80, 48, 208}, {144, 272, 16}} {
			t.Run(fmt.Sprintf("%d %s %s %s %v", i, h.d, h.a, h.b, e), func(t *testing.T) {
				for _, opt := range []Options{{}, {Seed: 1}, {NoChecks: true}} {
					args := h.args(e[0], e[1], e[2])
					rep := run(t, h.build().k, args, opt)
					require.NoError(t, rep.Err())
					require.Equal(t, product64(args, e[0], e[1], e[2]), args["C"].(*Buffer).Float64s())
				}
			})
		}
	}
}

// TestHopperSaturates: sums of 32 bits stop at the largest where the instruction says so, and wrap where it does not.
func TestHopperSaturates(t *testing.T) {
	const most = 1<<31 - 1
	for _, saturation := range []bool{false, true} {
		h := hopper{d: elem.KS32, a: elem.KU8, b: elem.KU8, groups: 1, cols: 8, swizzle: 1, stages: 2, saturation: saturation,
			change: func(b *hopperBuilder) { b.fill[0] = cir.Fill{Pos: b.at(), Reg: b.acc, Value: most} }}
		args := h.args(64, 16, 32)
		require.NoError(t, run(t, h.build().k, args, Options{}).Err())
		for i, sum := range product64(args, 64, 16, 32) {
			want := int32(most)
			if !saturation {
				want += int32(sum)
			}
			require.EqualValues(t, want, args["C"].(*Buffer).Float64s()[i])
		}
	}
}

// TestHopperTF32: a product reads the upper 19 bits.
func TestHopperTF32(t *testing.T) {
	h := hopper{d: elem.KF32, a: elem.KTF32, b: elem.KTF32, groups: 1, cols: 8, swizzle: 1, stages: 2}
	args := h.args(64, 8, 8)
	want := product64(args, 64, 8, 8)
	for _, name := range []string{"A", "B"} {
		for i := range args[name].(*Buffer).Cells {
			args[name].(*Buffer).Cells[i] |= 0x1fff
		}
	}
	require.NoError(t, run(t, h.build().k, args, Options{}).Err())
	require.Equal(t, want, args["C"].(*Buffer).Float64s())
}

// TestHopperExpectTells: who waits for a phase knows what those that expected bytes of it had done.
func TestHopperExpectTells(t *testing.T) {
	h := halves
	h.change = func(b *hopperBuilder) {
		word, out := b.shared("word", elem.KU32, b.stages), b.reg(&b.fill, "word", elem.KU32, 1)
		at := addr(word, b.kt.Mod(n(b.stages)))
		b.copy = append([]cir.Stmt{cir.StoreValue{Pos: b.at(), Dst: at, Value: cir.Lit{Elem: elem.KU32, V: 1}}}, b.copy...)
		b.await = append(b.await, cir.Load{Pos: b.at(), Dst: ref(out, 0, 1), Src: at})
	}
	require.NoError(t, run(t, h.build().k, h.args(128, 64, 384), Options{}).Err())
}

// TestHopperExact: the same in the field.
func TestHopperExact(t *testing.T) {
	for _, h := range []hopper{halves, {d: elem.KF32, a: elem.KTF32, b: elem.KTF32, groups: 1, cols: 64, swizzle: 2, stages: 2},
		{d: elem.KF16, a: elem.KF16, b: elem.KF16, groups: 1, cols: 64, swizzle: 3, stages: 2}} {
		const M, N, K = 80, 72, 200
		args := h.args(M, N, K)
		for i, name := range []string{"A", "B"} {
			cells := args[name].(*Buffer).Cells
			for j := range cells {
				cells[j] = uint64(j*7919+i+1) * 0x9e3779b97f4a7c15 % Prime
			}
		}
		require.NoError(t, run(t, h.build().k, args, Options{Exact: true}).Err())
		a, b, c := args["A"].(*Buffer).Cells, args["B"].(*Buffer).Cells, args["C"].(*Buffer).Cells
		for i := range M {
			for j := range N {
				sum := uint64(0)
				for x := range K {
					sum = fieldAdd(sum, fieldMul(a[i*K+x], b[j*K+x]))
				}
				require.Equal(t, sum, c[i*N+j], "%d,%d", i, j)
			}
		}
	}
}

// TestHopperCounts: bytes of boxes in full, of the tensor as far as it reaches, and of operands once a warpgroup.
func TestHopperCounts(t *testing.T) {
	const M, N, K = 120, 64, 136 // the last of three boxes has 8 columns, and 120 rows of 128
	rep := run(t, halves.build().k, halves.args(M, N, K), Options{})
	require.NoError(t, rep.Err())
	c := rep.Counts
	boxes := int64(3 * (128 + 64) * 128)
	require.Equal(t, boxes, c.Async)
	require.EqualValues(t, (M+N)*K*2, c.GlobalRead)
	require.EqualValues(t, 2*3, c.Instructions["tensor.load"])
	require.EqualValues(t, 8*4*3, c.Instructions["wgmma"])
	require.EqualValues(t, 8*3, c.Instructions["wgmma.fence"])
	require.EqualValues(t, 8*3, c.Instructions["wgmma.commit"])
	require.EqualValues(t, 8*4, c.Instructions["wgmma.wait"])
	require.EqualValues(t, 4*3*2*(64+64)*32, c.SharedRead)
	require.Equal(t, c.LeastWavefronts, c.Wavefronts)
	require.Equal(t, (c.SharedRead+c.SharedWrite)/128, c.Wavefronts)
	for _, a := range rep.Accesses {
		if a.Kind == "tensor.load" && a.Mem == "A" {
			require.EqualValues(t, M/2*(4+4+1+5+5+1), a.Sectors, "rows of 272 bytes, in pieces of 128 and the last 16: every other is in the middle of a sector")
			require.EqualValues(t, (M*128/32)*2+M*16/32, a.LeastSectors)
		}
	}
}

func BenchmarkHopperGEMM(b *testing.B) {
	h := hopper{d: elem.KF32, a: elem.KF16, b: elem.KF16, groups: 2, cols: 256, swizzle: 3, stages: 4}
	k := h.build().k
	for _, opt := range []Options{{Workers: 1}, {NoChecks: true, Workers: 1}} {
		b.Run(fmt.Sprintf("nochecks=%v", opt.NoChecks), func(b *testing.B) {
			args := h.args(128, 256, 512) // 8 steps
			for b.Loop() {
				if _, err := Run(context.Background(), k, args, opt); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
