package emu

import (
	"testing"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
	"github.com/stretchr/testify/require"
)

// vectorCopy copies count elements by vectors of v, the last ones one by one; guard is what the vectors test.
func vectorCopy(k elem.Kind, v int, shift int, guarded bool) *maker {
	m := newMaker("copy", 64)
	count := m.dim("n")
	in, out := m.global("in", k, count, "r"), m.global("out", k, count, "w")
	m.k.Grid[0] = count.CeilDiv(n(64 * v))
	var body []cir.Stmt
	r := m.reg(&body, "r", k, v)
	i := &sym.Symbol{Name: "i", Class: sym.Var, Lo: 0, Hi: 1 << 40}
	body = append(body, cir.Let{Pos: m.at(), Sym: i, Value: bid("x").Mul(n(64 * v)).Add(tid.Mul(n(v))).Add(n(shift))})
	at := sym.New(i)
	whole := cir.Cmp{Op: cir.LE, X: at.Add(n(v)), Y: count}
	m.mark("load")
	load := cir.Load{Pos: m.at(), Dst: ref(r, 0, v), Src: addr(in, at)}
	store := cir.Store{Pos: m.at(), Dst: addr(out, at), Src: ref(r, 0, v)}
	if !guarded {
		m.k.Body = append(body, load, store)
		return m
	}
	j := &sym.Symbol{Name: "j", Class: sym.Loop, Hi: int64(v) - 1}
	x := at.Add(sym.New(j))
	one := cir.StoreValue{Pos: m.at(), Dst: addr(out, x), Value: cir.MemElem{Addr: addr(in, x)}, Pred: lt(x, count)}
	rest := []cir.Stmt{cir.For{Pos: m.at(), Sym: j, Hi: n(v), Body: []cir.Stmt{one}}}
	if k.Bits() < 8 { // these have no address of their own
		rest = nil
	}
	m.k.Body = append(body, cir.If{Pos: m.at(), Cond: whole, Then: []cir.Stmt{load, store}, Else: rest})
	return m
}

func copyArgs(k elem.Kind, count int) Args {
	in := NewBuffer(k, count)
	for i := range in.Cells {
		in.Cells[i] = uint64(i*i+3) & (1<<k.Bits() - 1)
	}
	return Args{"n": Dim(count), "in": in, "out": NewBuffer(k, count)}
}

func TestVectorCopy(t *testing.T) {
	for _, c := range []struct {
		kind elem.Kind
		v    int
	}{{elem.KF16, 8}, {elem.KF32, 4}, {elem.KF64, 2}, {elem.KS8, 16}, {elem.KS8, 1}, {elem.KU4, 8}, {elem.KB1, 32}} {
		for _, count := range []int{1, 7, 512, 1000, 4096, 5003} {
			if c.kind.Bits() < 8 {
				count = (count + c.v - 1) / c.v * c.v
			}
			args := copyArgs(c.kind, count)
			rep := run(t, vectorCopy(c.kind, c.v, 0, true).k, args, Options{})
			require.NoError(t, rep.Err(), "%s %d", c.kind, count)
			require.Empty(t, rep.Unwritten)
			require.Equal(t, args["in"].(*Buffer).Cells, args["out"].(*Buffer).Cells)
			require.EqualValues(t, count*c.kind.Bits()/8, rep.Counts.GlobalRead)
		}
	}
}

func TestCopyTail(t *testing.T) {
	m := vectorCopy(elem.KF32, 4, 0, false)
	f := m.wantOnly(t, run(t, m.k, copyArgs(elem.KF32, 254), Options{}), "load", OutOfBounds, OutOfBounds)
	require.Equal(t, "in", f.Mem)
	require.EqualValues(t, 252, f.Index)
	require.Equal(t, []int{63}, f.Threads)
	require.EqualError(t, f, "k.go:3: copy: out-of-bounds: accesses in[252] to [255], but in has 254 elements"+
		" (block 0,0,0, thread 63); guard the access with the true extents, or enlarge the array")
}

func TestMisaligned(t *testing.T) {
	m := vectorCopy(elem.KF32, 4, 2, true)
	f := m.wantOnly(t, run(t, m.k, copyArgs(elem.KF32, 1024), Options{}), "load", Misaligned, Misaligned)
	require.Contains(t, f.Message, "16 bytes at in[2], which is byte 8 and no multiple of 16")
	m = vectorCopy(elem.KF32, 4, 0, true)
	m.k.Params[1].Mem.Align = 4
	f = m.wantOnly(t, run(t, m.k, copyArgs(elem.KF32, 1024), Options{}), "load", Misaligned)
	require.Contains(t, f.Message, "the base of in is aligned to 4 bytes only")
}

func TestUnwritten(t *testing.T) {
	m := vectorCopy(elem.KF32, 4, 4, true)
	rep := run(t, m.k, copyArgs(elem.KF32, 256), Options{})
	m.marks["store"] = 5
	f := m.wantOnly(t, rep, "store", NotWritten)
	require.Contains(t, f.Message, "4 of out's elements are never written, the first is out[0]")
	require.Equal(t, []Unwritten{{Name: "out", Count: 4, First: 0}}, rep.Unwritten)
}

func TestDoubleWrite(t *testing.T) {
	m := newMaker("twice", 32)
	out := m.global("out", elem.KS32, n(16), "w")
	m.k.Grid[0] = n(3)
	m.mark("store")
	m.k.Body = []cir.Stmt{cir.StoreValue{Pos: m.at(), Dst: addr(out, tid.Mod(n(16))),
		Value: cir.IntValue{Elem: elem.KS32, Expr: bid("x").Mul(n(100)).Add(tid)}}}
	var first string
	for i := range 20 {
		args := Args{"out": NewBuffer(elem.KS32, 16)}
		rep := run(t, m.k, args, Options{Workers: 1 + i%4})
		f := m.wantOnly(t, rep, "store", DoubleWrite)
		if first == "" {
			first = f.Error()
			t.Log(first)
		}
		require.Equal(t, first, f.Error())
		require.Equal(t, []int{31 - 0, 0}, []int{f.Threads[0] + 15, f.Threads[1]})
		require.EqualValues(t, 216, args["out"].(*Buffer).Cells[0], "the last block wins")
	}
}

// reverse writes x in place, read from the element that another block writes.
func TestGlobalRace(t *testing.T) {
	m := newMaker("reverse", 32)
	x := m.global("x", elem.KF32, n(64), "rw")
	m.k.Grid[0] = n(2)
	at := bid("x").Mul(n(32)).Add(tid)
	m.mark("store")
	m.k.Body = []cir.Stmt{cir.StoreValue{Pos: m.at(), Dst: addr(x, at), Value: cir.MemElem{Addr: addr(x, n(63).Sub(at))}}}
	m.wantOnly(t, run(t, m.k, Args{"x": NewBuffer(elem.KF32, 64)}, Options{}), "store", GlobalRace)
	m.k.Body = []cir.Stmt{cir.StoreValue{Pos: m.at(), Dst: addr(x, at), Value: cir.MemElem{Addr: addr(x, at)}}}
	require.NoError(t, run(t, m.k, Args{"x": NewBuffer(elem.KF32, 64)}, Options{}).Err())
}

// exchange stores to shared memory and loads what thread to stored.
func exchange(barrier bool, from, to sym.Expr) *maker {
	m := newMaker("exchange", 64)
	out := m.global("out", elem.KS32, n(64), "w")
	s := m.shared("s", elem.KS32, 64)
	m.mark("store")
	body := []cir.Stmt{cir.StoreValue{Pos: m.at(), Dst: addr(s, from), Value: cir.IntValue{Elem: elem.KS32, Expr: tid}}}
	if barrier {
		body = append(body, cir.Barrier{Pos: m.at()})
	}
	m.mark("load")
	m.k.Body = append(body, cir.StoreValue{Pos: m.at(), Dst: addr(out, tid), Value: cir.MemElem{Addr: addr(s, to)}})
	return m
}

func TestSharedRaces(t *testing.T) {
	other := n(63).Sub(tid)
	args := func() Args { return Args{"out": NewBuffer(elem.KS32, 64)} }
	for seed := range uint64(8) {
		m := exchange(true, tid, other)
		require.NoError(t, run(t, m.k, args(), Options{Seed: seed}).Err())
		m = exchange(false, tid, other) // the same finding whichever warp comes first
		f := m.wantOnly(t, run(t, m.k, args(), Options{Seed: seed}), "load", Race)
		require.Equal(t, m.marks["store"], f.Other.Line)
		m = exchange(true, tid.Mod(n(32)), tid.Mod(n(32)))
		m.wantOnly(t, run(t, m.k, args(), Options{Seed: seed}), "store", Race)
		m = exchange(true, tid.FloorDiv(n(2)), tid.FloorDiv(n(2)))
		m.wantOnly(t, run(t, m.k, args(), Options{Seed: seed}), "store", LaneConflict)
		m = exchange(true, tid, tid.Mod(n(8)).Add(n(60)))
		f = m.wantOnly(t, run(t, m.k, args(), Options{Seed: seed}), "load", OutOfBounds)
		require.Equal(t, "s", f.Mem)
	}
	m := exchange(true, tid.FloorDiv(n(32)).Mul(n(32)).Add(tid.Mod(n(16)).Add(tid.FloorDiv(n(16)).Mod(n(2)).Mul(n(16)))), other)
	require.NoError(t, run(t, m.k, args(), Options{}).Err())
	m.k.Body = m.k.Body[1:]
	m.wantOnly(t, run(t, m.k, args(), Options{}), "load", Uninitialised)
}

// TestOverlappingArrays reads as bytes what was written as words.
func TestOverlappingArrays(t *testing.T) {
	m := newMaker("union", 32)
	out := m.global("out", elem.KU8, n(128), "w")
	words := m.shared("words", elem.KU32, 32)
	bytes := &cir.Mem{Name: "bytes", Space: cir.Shared, Elem: elem.KU8, Count: n(128), Align: 16}
	m.k.Shared = append(m.k.Shared, bytes)
	at := tid.Mul(n(4))
	var body []cir.Stmt
	r := m.reg(&body, "r", elem.KU32, 1)
	m.k.Body = append(body,
		cir.StoreValue{Pos: m.at(), Dst: addr(words, tid), Value: cir.IntValue{Elem: elem.KU32, Expr: tid.Mul(n(0x01010101)).Add(n(0x03020100))}},
		cir.Barrier{Pos: m.at()},
		cir.Load{Pos: m.at(), Dst: ref(r, 0, 1), Src: addr(bytes, at)},
		cir.Store{Pos: m.at(), Dst: addr(out, at), Src: ref(r, 0, 1)})
	args := Args{"out": NewBuffer(elem.KU8, 128)}
	require.NoError(t, run(t, m.k, args, Options{}).Err())
	for i, x := range args["out"].(*Buffer).Cells {
		require.EqualValues(t, i/4+i%4, x)
	}
}

// asyncTail copies rows of 8 f16 of which only some elements are valid, and reads another thread's row.
func TestAsyncZeroFill(t *testing.T) {
	build := func(pending int, barrier, clamp bool) *maker {
		m := newMaker("tail", 64)
		count := m.dim("n")
		in, out := m.global("in", elem.KF16, count, "r"), m.global("out", elem.KF16, n(512), "w")
		s := m.shared("s", elem.KF16, 512)
		valid := count.Sub(tid.Mul(n(8))).Min(n(8)).Max(n(0))
		if !clamp {
			valid = n(8)
		}
		m.mark("cp")
		body := []cir.Stmt{cir.CpAsyncStmt{Pos: m.at(), Op: cp16, Dst: addr(s, tid.Mul(n(8))), Src: addr(in, tid.Mul(n(8))), Valid: &valid},
			cir.CommitGroup{Pos: m.at()}, cir.WaitGroup{Pos: m.at(), Pending: pending}}
		if barrier {
			body = append(body, cir.Barrier{Pos: m.at()})
		}
		r := m.reg(&body, "r", elem.KF16, 8)
		m.mark("load")
		m.k.Body = append(body, cir.Load{Pos: m.at(), Dst: ref(r, 0, 8), Src: addr(s, n(504).Sub(tid.Mul(n(8))))},
			cir.Store{Pos: m.at(), Dst: addr(out, n(504).Sub(tid.Mul(n(8)))), Src: ref(r, 0, 8)})
		return m
	}
	args := func() Args {
		a := copyArgs(elem.KF16, 300)
		a["out"] = NewBuffer(elem.KF16, 512)
		return a
	}
	a := args()
	require.NoError(t, run(t, build(0, true, true).k, a, Options{}).Err())
	require.Equal(t, append(a["in"].(*Buffer).Cells, make([]uint64, 212)...), a["out"].(*Buffer).Cells)
	m := build(0, false, true)
	m.wantOnly(t, run(t, m.k, args(), Options{}), "load", Unpublished)
	m = build(1, true, true)
	m.wantOnly(t, run(t, m.k, args(), Options{}), "load", ReadInFlight)
	m = build(0, true, false)
	m.wantOnly(t, run(t, m.k, args(), Options{}), "cp", OutOfBounds)
}
