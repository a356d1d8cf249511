package emu

import (
	"slices"
	"testing"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
	"github.com/stretchr/testify/require"
)

// single is one product of a warpgroup, 64x16x64 of f16, whose parts tests change.
type single struct {
	*maker
	sA, sB, bar, C              *cir.Mem
	acc, tmp                    *cir.Reg
	mapA, mapB                  *cir.TensorMap
	loads                       []cir.Stmt // by thread 0
	await, fill, arrive, mma    []cir.Stmt
	commit, wait, before, after []cir.Stmt // before: all others; after: behind the wait
}

const singleCols, singleK = 16, 64

func newSingle(changes ...func(*single)) *single {
	b := &single{maker: newMaker("single", 128)}
	box := func(name string, rows int) (*cir.Mem, *cir.TensorMap) {
		b.global(name, elem.KF16, n(rows*singleK), "r")
		m := &cir.TensorMap{Name: "map" + name, Of: b.k.Params[len(b.k.Params)-1], Extents: consts([]int{singleK, rows}),
			Strides: consts([]int{1, singleK}), Box: []int{singleK, rows}, Swizzle: 3}
		b.k.Maps = append(b.k.Maps, m)
		return b.aligned("s"+name, elem.KF16, 2*rows*singleK, 1024), m
	}
	b.sA, b.mapA = box("A", 64)
	b.sB, b.mapB = box("B", singleCols)
	b.C = b.global("C", elem.KF32, n(64*singleCols), "w")
	b.bar = b.shared("bar", elem.KU64, 1)
	bar := addr(b.bar, n(0))
	var body []cir.Stmt
	b.acc, b.tmp = b.reg(&body, "acc", elem.KF32, singleCols), b.reg(&body, "tmp", elem.KF32, 1)
	init := cir.If{Pos: b.at(), Cond: lt(tid, n(1)), Then: []cir.Stmt{cir.MBarrierInit{Pos: b.at(), Bar: bar, Count: 1}}}
	barrier := cir.Barrier{Pos: b.at()}
	b.loads = []cir.Stmt{cir.MBarrierExpect{Pos: b.at(), Bar: bar, Bytes: b.mapA.Bytes() + b.mapB.Bytes()}, b.load(b.mapA, b.sA, 0), b.load(b.mapB, b.sB, 0)}
	b.await = []cir.Stmt{cir.MBarrierWait{Pos: b.at(), Bar: bar}}
	b.mark("fill")
	b.fill = []cir.Stmt{cir.Fill{Pos: b.at(), Reg: b.acc}}
	b.arrive = []cir.Stmt{cir.WarpgroupArrive{Pos: b.at()}}
	b.mark("mma")
	at := b.at()
	for k := 0; k < singleK; k += 16 {
		mma := b.mmaAt(k)
		mma.Pos = at
		b.mma = append(b.mma, mma)
	}
	b.commit = []cir.Stmt{cir.WarpgroupCommit{Pos: b.at()}}
	b.wait = []cir.Stmt{cir.WarpgroupWait{Pos: b.at(), Regs: []*cir.Reg{b.acc}}}
	b.mark("epilogue")
	at = b.at()
	for i := range singleCols / 2 {
		row := tid.FloorDiv(n(4)).Mod(n(8)).Add(tid.FloorDiv(n(32)).Mul(n(16))).Add(n(i / 2 % 2 * 8))
		col := tid.Mod(n(4)).Mul(n(2)).Add(n(i%2 + i/4*8))
		b.after = append(b.after, cir.StoreValue{Pos: at, Dst: addr(b.C, row.Mul(n(singleCols)).Add(col)), Value: cir.RegElem{Ref: ref(b.acc, i, 1)}})
	}
	for _, change := range changes {
		change(b)
	}
	b.k.Body = append(body, init, barrier)
	for _, part := range [][]cir.Stmt{{cir.If{Pos: b.at(), Cond: lt(tid, n(1)), Then: b.loads}}, b.before, b.await, b.fill, b.arrive, b.mma, b.commit, b.wait, b.after} {
		b.k.Body = append(b.k.Body, part...)
	}
	return b
}

func (b *single) load(m *cir.TensorMap, to *cir.Mem, at int) cir.Stmt {
	b.mark("load")
	return cir.TensorLoad{Pos: b.at(), Op: tensorOp, Map: m, Coords: consts([]int{0, 0}), Dst: addr(to, n(at)), Bar: addr(b.bar, n(0))}
}

func (b *single) mmaAt(k int) cir.WarpgroupMMA {
	h := halves
	h.cols = singleCols
	s := cir.WarpgroupMMA{Op: h.op(), A: cir.SmemMatrix{At: addr(b.sA, n(k)), Stride: 1024, Swizzle: 3}, B: cir.SmemMatrix{At: addr(b.sB, n(k)), Stride: 1024, Swizzle: 3}}
	for i := range singleCols / 2 {
		s.D = append(s.D, ref(b.acc, i, 1))
	}
	return s
}

// edit changes the second product.
func (b *single) edit(f func(*cir.WarpgroupMMA)) {
	s := b.mma[1].(cir.WarpgroupMMA)
	s.D = append([]cir.RegRef{}, s.D...)
	f(&s)
	b.mma[1] = s
}

func singleArgs() Args {
	return Args{"A": BufferFromFloat64s(elem.KF16, ints(64*singleK, 1)), "B": BufferFromFloat64s(elem.KF16, ints(singleCols*singleK, 2)),
		"C": NewBuffer(elem.KF32, 64*singleCols)}
}

func TestSingleProduct(t *testing.T) {
	args := singleArgs()
	require.NoError(t, run(t, newSingle().k, args, Options{}).Err())
	require.Equal(t, product64(args, 64, singleCols, singleK), args["C"].(*Buffer).Float64s())
}

func TestBrokenProducts(t *testing.T) {
	use := func(b *single, s cir.Stmt) { b.commit = append(b.commit, s) }
	first := func(b *single) cir.RegRef { return ref(b.acc, 3, 1) }
	store := func(b *single, to *cir.Mem, i int) cir.Stmt {
		b.mark("store")
		b.marks["store"]++
		return cir.If{Pos: b.at(), Cond: cir.Cmp{Op: cir.EQ, X: tid, Y: n(i % 128)}, Then: []cir.Stmt{
			cir.StoreValue{Pos: b.at(), Dst: addr(to, n(i)), Value: cir.Lit{Elem: elem.KF16}}}}
	}
	mark := func(b *single, name string) cir.Pos { b.mark(name); return b.at() }
	one := cir.Lit{Elem: elem.KF32, V: 1}
	for name, c := range map[string]struct {
		change  func(b *single)
		mark    string
		checks  []Check
		message string
	}{
		"no fence":          {func(b *single) { b.arrive = nil }, "mma", []Check{Unfenced}, "accumulates into acc[0], with no WarpgroupArrive since its use at k.go:10"},
		"a fence too early": {func(b *single) { b.fill, b.arrive = b.arrive, b.fill }, "mma", []Check{Unfenced}, ""},
		"a read before the product": {func(b *single) {
			b.arrive = append(b.arrive, cir.SetReg{Pos: b.at(), Dst: ref(b.tmp, 0, 1), Value: cir.RegElem{Ref: first(b)}})
		}, "mma", []Check{Unfenced}, ""},
		"a read in flight": {func(b *single) {
			use(b, cir.SetReg{Pos: mark(b, "use"), Dst: ref(b.tmp, 0, 1), Value: cir.RegElem{Ref: first(b)}})
		}, "use", []Check{RegisterInFlight}, "reads register acc[3], which a wgmma in flight accumulates into, started at k.go:12"},
		"a write in flight": {func(b *single) { use(b, cir.SetReg{Pos: mark(b, "use"), Dst: first(b), Value: one}) }, "use", []Check{RegisterInFlight}, ""},
		"a fill in flight":  {func(b *single) { use(b, cir.Fill{Pos: mark(b, "use"), Reg: b.acc}) }, "use", []Check{RegisterInFlight}, ""},
		"a load in flight": {func(b *single) {
			b.k.Params[2].Read = true
			use(b, cir.Load{Pos: mark(b, "use"), Dst: first(b), Src: addr(b.C, tid)})
		}, "use", []Check{RegisterInFlight, Race}, ""},
		"a declaration in flight": {func(b *single) { use(b, cir.DeclReg{Pos: mark(b, "use"), Reg: b.acc}) }, "use", []Check{RegisterInFlight, Uninitialised}, ""},
		"no wait":                 {func(b *single) { b.wait = nil }, "epilogue", []Check{RegisterInFlight}, ""},
		"a wait one too shallow": {func(b *single) {
			b.wait = []cir.Stmt{cir.WarpgroupWait{Pos: b.at(), Pending: 1, Regs: []*cir.Reg{b.acc}}}
		}, "epilogue", []Check{RegisterInFlight}, ""},
		"a wait for the first of two groups": {func(b *single) {
			b.mma = append(b.mma[:2:2], append([]cir.Stmt{b.commit[0]}, b.mma[2:]...)...)
			b.wait = []cir.Stmt{cir.WarpgroupWait{Pos: b.at(), Pending: 1, Regs: []*cir.Reg{b.acc}}}
		}, "epilogue", []Check{RegisterInFlight}, "reads register acc[0], which a wgmma in flight accumulates into, started at k.go:12"},
		"a wait that names nothing": {func(b *single) { b.wait = []cir.Stmt{cir.WarpgroupWait{Pos: b.at()}} }, "epilogue", []Check{RegisterInFlight},
			"reads register acc[0], whose wgmma was waited for, but by no WarpgroupWait for this accumulator, started at k.go:12"},
		"no commit":        {func(b *single) { b.commit = nil }, "epilogue", []Check{RegisterInFlight}, ""},
		"never waited for": {func(b *single) { b.wait, b.after = nil, nil }, "mma", []Check{Unwaited, NotWritten}, ""},
		"never committed":  {func(b *single) { b.commit, b.wait, b.after = nil, nil, nil }, "mma", []Check{Unwaited, NotWritten}, ""},
		"other accumulators": {func(b *single) {
			b.edit(func(s *cir.WarpgroupMMA) { s.D[0], s.D[1] = s.D[1], s.D[0] })
		}, "mma", []Check{RegisterInFlight}, "accumulates into acc[1], which a wgmma in flight accumulates into as part of another accumulator, started at k.go:12"},
		"some other accumulators": {func(b *single) {
			b.edit(func(s *cir.WarpgroupMMA) { s.D[7] = ref(b.acc, 15, 1) })
		}, "mma", []Check{RegisterInFlight}, ""},
		"nothing accumulated":  {func(b *single) { b.fill = nil }, "mma", []Check{Uninitialised}, ""},
		"an operand too early": {func(b *single) { b.await = []cir.Stmt{cir.Barrier{Pos: b.at()}} }, "mma", []Check{ReadInFlight}, ""},
		"an operand from nowhere": {func(b *single) {
			b.edit(func(s *cir.WarpgroupMMA) { s.B.At.Index = n(singleCols*singleK + 16) })
		}, "mma", []Check{Uninitialised}, ""},
		"an operand of stores": {func(b *single) {
			b.before = append(b.await, store(b, b.sB, 5), cir.Barrier{Pos: b.at()})
			b.await = nil
		}, "mma", []Check{Proxy}, "wgmma reads sB[5], which no TMALoad wrote, but an ordinary store by thread 5 at k.go:17"},
		"a store into an operand": {func(b *single) { b.after = append([]cir.Stmt{store(b, b.sA, 77)}, b.after...) }, "store", []Check{Race}, ""},
		"a store into an operand in flight": {func(b *single) {
			use(b, cir.SyncWarp{Pos: b.at()})
			use(b, store(b, b.sA, 0))
		}, "store", []Check{Race}, ""},
		"a store into an operand in flight that was read too": {func(b *single) {
			r := b.reg(&b.before, "r", elem.KF16, 1)
			use(b, cir.Load{Pos: b.at(), Dst: ref(r, 0, 1), Src: addr(b.sA, n(77))})
			use(b, cir.Barrier{Pos: b.at()})
			use(b, store(b, b.sA, 77))
		}, "store", []Check{Race}, ""},
		"a copy into an operand in flight": {func(b *single) {
			expect := b.loads[0].(cir.MBarrierExpect)
			expect.Bytes = b.mapA.Bytes()
			again := []cir.Stmt{expect, b.load(b.mapA, b.sA, 0)}
			use(b, cir.Barrier{Pos: b.at()})
			use(b, cir.If{Pos: b.at(), Cond: lt(tid, n(1)), Then: again})
			use(b, cir.MBarrierWait{Pos: b.at(), Bar: addr(b.bar, n(0)), Parity: n(1)})
		}, "load", []Check{Race}, ""},
		"a lane less": {func(b *single) {
			b.mma[1] = cir.If{Pos: b.at(), Cond: lt(tid, n(127)), Then: []cir.Stmt{b.mma[1]}}
		}, "mma", []Check{Divergent}, "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 is executed by 31 of 32 threads"},
		"a warp less": {func(b *single) {
			b.mma[3] = cir.If{Pos: b.at(), Cond: lt(tid, n(96)), Then: []cir.Stmt{b.mma[3]}}
			b.commit, b.wait, b.after = nil, nil, nil
		}, "mma", []Check{Divergent, Unwaited}, "warp 3 ends without this statement, which other warps of its warpgroup execute"},
		"a warp astray": {func(b *single) {
			b.commit[0] = cir.If{Pos: b.at(), Cond: lt(tid, n(96)), Then: []cir.Stmt{cir.WarpgroupCommit{Pos: mark(b, "commit")}}}
			b.mark("wait")
			b.wait = []cir.Stmt{cir.WarpgroupWait{Pos: b.at(), Regs: []*cir.Reg{b.acc}}}
		}, "wait", []Check{Divergent}, "this warp is here, but other warps of its warpgroup are at k.go:17"},
		"operands by warp": {func(b *single) {
			b.edit(func(s *cir.WarpgroupMMA) { s.A.At.Index = tid.FloorDiv(n(32)).Mul(n(16)) })
		}, "mma", []Check{Divergent}, "this warp's wgmma has other operands than that of other warps of its warpgroup"},
		"operands by lane": {func(b *single) {
			b.edit(func(s *cir.WarpgroupMMA) { s.B.At.Index = tid.Mod(n(2)).Mul(n(16)) })
		}, "mma", []Check{Divergent}, "a wgmma whose operand begins at sB[0] in one thread and at [16] in another"},
		"an operand between chunks": {func(b *single) { b.edit(func(s *cir.WarpgroupMMA) { s.A.At.Index = n(4) }) }, "mma", []Check{Misaligned}, ""},
		"an operand over its row":   {func(b *single) { b.edit(func(s *cir.WarpgroupMMA) { s.A.At.Index = n(56) }) }, "mma", []Check{Misaligned}, ""},
		"an operand of later rows":  {func(b *single) { b.edit(func(s *cir.WarpgroupMMA) { s.B.At.Index = n(64) }) }, "mma", []Check{Misaligned}, ""},
		"an operand beyond the array": {func(b *single) {
			b.edit(func(s *cir.WarpgroupMMA) { s.A.Stride = 1 << 17 })
		}, "mma", []Check{OutOfBounds}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(3) {
				b := newSingle(c.change)
				rep := run(t, b.k, singleArgs(), Options{Seed: seed})
				rep.Findings = slices.CompactFunc(rep.Findings, func(x, y *Finding) bool { return x.Check == y.Check }) // of several registers
				f := b.wantOnly(t, rep, c.mark, c.checks...)
				if seed == 0 {
					t.Log(f)
				}
				if c.message != "" {
					require.Equal(t, c.message, f.Message)
				}
			}
		})
	}
}

// TestProductsOfBlocks: what a block leaves in flight is not the next one's.
func TestProductsOfBlocks(t *testing.T) {
	b := newSingle(func(b *single) { b.wait, b.after = nil, nil })
	b.k.Grid[0] = n(3)
	rep := run(t, b.k, singleArgs(), Options{Workers: 1})
	f := b.wantOnly(t, rep, "mma", Unwaited, NotWritten)
	require.EqualValues(t, 3*4, f.Count)
}

// TestBrokenHopper: what comes of steps that a pipeline leaves out, under every schedule.
func TestBrokenHopper(t *testing.T) {
	arrive := func(b *hopperBuilder, stage sym.Expr) []cir.Stmt {
		return []cir.Stmt{cir.MBarrierArrive{Pos: b.at(), Bar: addr(b.empty, stage), OncePerWarp: true}}
	}
	for name, c := range map[string]struct {
		change func(b *hopperBuilder)
		checks []Check // any of which is the first
		marks  []string
	}{
		"no acquire":         {func(b *hopperBuilder) { b.acquire = nil }, []Check{Race, WriteInFlight}, []string{"loadA", "loadB", "product"}},
		"released too early": {func(b *hopperBuilder) { b.done = arrive(b, b.kt.Mod(n(b.stages))) }, []Check{Race}, []string{"loadA", "loadB", "product"}},
		"a wait too shallow": {func(b *hopperBuilder) { b.wait = []cir.Stmt{cir.WarpgroupWait{Pos: b.at(), Pending: 2}} }, []Check{Race}, []string{"loadA", "loadB", "product"}},
		"no wait":            {func(b *hopperBuilder) { b.wait = nil }, []Check{Race}, []string{"loadA", "loadB", "product"}},
		"no commit":          {func(b *hopperBuilder) { b.commit = nil }, []Check{Race}, []string{"loadA", "loadB", "product"}},
		"no await":           {func(b *hopperBuilder) { b.await = nil }, []Check{Race, ReadInFlight, Uninitialised}, []string{"loadA", "loadB", "product"}},
		"no release":         {func(b *hopperBuilder) { b.done = nil }, []Check{Deadlock}, []string{"acquire", "await"}},
		"no expectation":     {func(b *hopperBuilder) { b.copy = b.copy[1:] }, []Check{Deadlock}, []string{"acquire", "await"}},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(5) {
				h := halves
				h.change = c.change
				b := h.build()
				rep := run(t, b.k, h.args(128, 64, 384), Options{Seed: seed})
				require.NotEmpty(t, rep.Findings)
				sortCauses(rep)
				f := rep.Findings[0]
				if seed == 0 {
					t.Log(f)
				}
				require.Contains(t, c.checks, f.Check, "%v", rep.Err())
				var lines []int
				for _, m := range c.marks {
					lines = append(lines, b.marks[m])
				}
				require.Contains(t, lines, f.Pos.Line, "%v", rep.Err())
			}
		})
	}
}

func TestProductErrors(t *testing.T) {
	const ptx = "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16"
	for want, change := range map[string]func(b *single){
		"instruction wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 cannot be emulated": func(b *single) {
			b.edit(func(s *cir.WarpgroupMMA) {
				s.Op = &cir.Op{Class: cir.GMMA, PTX: "wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16"}
			})
		},
		"instruction " + ptx + ", 1, 1, 0, 1 cannot be emulated":               func(b *single) { b.edit(func(s *cir.WarpgroupMMA) { s.Op.Tail = ", 1, 1, 0, 1" }) },
		"expects a wgmma instruction":                                          func(b *single) { b.edit(func(s *cir.WarpgroupMMA) { s.Op = cp16 }) },
		ptx + " expects whole warpgroups of 128 threads, but the block has 96": func(b *single) { b.k.Threads = 96 },
		ptx + " expects f16 in shared memory, but got u64":                     func(b *single) { b.edit(func(s *cir.WarpgroupMMA) { s.A.At = addr(b.bar, n(0)) }) },
		ptx + " expects swizzled rows, 8 of them every whole 16 bytes, but got a swizzle of 0 bits and 1024 bytes": func(b *single) {
			b.edit(func(s *cir.WarpgroupMMA) { s.A.Swizzle = 0 })
		},
		ptx + " expects 4 registers for D, but got 3": func(b *single) { b.edit(func(s *cir.WarpgroupMMA) { s.D = s.D[:6] }) },
		ptx + " has 7 registers for D":                func(b *single) { b.edit(func(s *cir.WarpgroupMMA) { s.D = s.D[:7] }) },
		ptx + " expects shared memory aligned to 1024 bytes, but sB is at 16512": func(b *single) {
			b.sB.Align, b.sB.Offset = 128, b.sB.Offset+128
			b.k.SmemBytes += 128
			b.bar.Offset += 128
		},
		"expects a number of pending groups, but got -1": func(b *single) { b.wait = []cir.Stmt{cir.WarpgroupWait{Pending: -1}} },
	} {
		b := newSingle(change)
		_, err := Run(t.Context(), b.k, singleArgs(), Options{})
		var kernel *KernelError
		require.ErrorAs(t, err, &kernel)
		require.Equal(t, want, kernel.Message)
	}
}
