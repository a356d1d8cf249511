package emu

import (
	"fmt"
	"testing"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
	"github.com/stretchr/testify/require"
)

// boxed copies a box of a tensor through shared memory: a thread starts the copy, and all write what has come.
type boxed struct {
	kind             elem.Kind
	extents, strides []int
	box, from        []int
	swizzle          int
	count            int // elements of the tensor's buffer; 0 means just enough
}

type boxedBuilder struct {
	*maker
	boxed
	in, out, s, bar            *cir.Mem
	tensor                     *cir.TensorMap
	copy                       cir.TensorLoad
	first, start, await, reads []cir.Stmt
}

func consts(xs []int) (out []sym.Expr) {
	for _, x := range xs {
		out = append(out, n(x))
	}
	return out
}

func (x boxed) elems() int {
	count := 1
	for i, e := range x.extents {
		count += (e - 1) * x.strides[i]
	}
	return max(count, x.count)
}

func (x boxed) build(changes ...func(*boxedBuilder)) *boxedBuilder {
	b := &boxedBuilder{maker: newMaker("boxed", 64), boxed: x}
	count := x.elems()
	if x.count > 0 {
		count = x.count
	}
	b.in = b.global("in", x.kind, n(count), "r")
	b.tensor = &cir.TensorMap{Name: "map", Of: b.k.Params[0], Extents: consts(x.extents), Strides: consts(x.strides), Box: x.box, Swizzle: x.swizzle}
	b.k.Maps = []*cir.TensorMap{b.tensor}
	elems := b.tensor.Elems()
	b.out = b.global("out", x.kind, n(elems), "w")
	b.s = b.aligned("s", x.kind, 2*elems, 1024)
	b.bar = b.shared("bar", elem.KU64, 2)
	var body []cir.Stmt
	r := b.reg(&body, "r", x.kind, 1)
	bar := addr(b.bar, n(1))
	b.first = append(body, cir.If{Pos: b.at(), Cond: lt(tid, n(1)), Then: []cir.Stmt{
		cir.MBarrierInit{Pos: b.at(), Bar: bar, Count: 1}}}, cir.Barrier{Pos: b.at()})
	b.mark("copy")
	b.copy = cir.TensorLoad{Pos: b.at(), Op: tensorOp, Map: b.tensor, Coords: consts(x.from), Dst: addr(b.s, n(elems)), Bar: bar}
	b.start = []cir.Stmt{cir.MBarrierExpect{Pos: b.at(), Bar: bar, Bytes: b.tensor.Bytes()}, nil}
	b.mark("await")
	b.await = []cir.Stmt{cir.MBarrierWait{Pos: b.at(), Bar: bar}}
	i := &sym.Symbol{Name: "i", Class: sym.Loop, Hi: 1 << 20}
	at := sym.New(i).Mul(n(64)).Add(tid)
	b.mark("read")
	b.marks["read"]++
	b.reads = []cir.Stmt{cir.For{Pos: b.at(), Sym: i, Hi: n((elems + 63) / 64), Body: []cir.Stmt{
		cir.Load{Pos: b.at(), Dst: ref(r, 0, 1), Src: addr(b.s, at.Add(n(elems))), Pred: lt(at, n(elems))},
		cir.If{Pos: b.at(), Cond: lt(at, n(elems)), Then: []cir.Stmt{cir.Store{Pos: b.at(), Dst: addr(b.out, at), Src: ref(r, 0, 1)}}},
	}}}
	for _, change := range changes {
		change(b)
	}
	for j, s := range b.start {
		if s == nil {
			b.start[j] = b.copy
		}
	}
	b.k.Body = append(b.first, cir.If{Pos: b.at(), Cond: lt(tid, n(1)), Then: b.start}, cir.Barrier{Pos: b.at()})
	b.k.Body = append(append(b.k.Body, b.await...), b.reads...)
	return b
}

func (x boxed) args() Args {
	in, elems := NewBuffer(x.kind, x.elems()), 1
	for i := range in.Cells {
		in.Cells[i] = uint64(i*7+1) & (1<<x.kind.Bits() - 1)
	}
	for _, e := range x.box {
		elems *= e
	}
	return Args{"in": in, "out": NewBuffer(x.kind, elems)}
}

// want is the box as it lies in shared memory: byte by byte, the address' bits 4 to 6 exclusively ored with bits 7 to 9.
func (x boxed) want(in []uint64) []uint64 {
	elems := 1
	for _, e := range x.box {
		elems *= e
	}
	out, size := make([]uint64, elems), x.kind.Bits()/8
	for j := range elems {
		rest, offset, inside := j, 0, true
		for d, e := range x.box {
			c := x.from[d] + rest%e
			rest /= e
			inside = inside && c >= 0 && c < x.extents[d]
			offset += c * x.strides[d]
		}
		at := j * size
		for bit := range x.swizzle {
			at ^= at >> (7 + bit) & 1 << (4 + bit)
		}
		if inside {
			out[at/size] = in[offset]
		}
	}
	return out
}

var plainBox = boxed{kind: elem.KF16, extents: []int{64, 16}, strides: []int{1, 64}, box: []int{64, 16}, from: []int{0, 0}, swizzle: 3}

func TestTensorLoad(t *testing.T) {
	for _, x := range []boxed{
		plainBox,
		{kind: elem.KF32, extents: []int{100}, strides: []int{1}, box: []int{256}, from: []int{-30}},
		{kind: elem.KF16, extents: []int{50, 9}, strides: []int{1, 56}, box: []int{64, 16}, from: []int{8, 3}, swizzle: 3},
		{kind: elem.KF16, extents: []int{50, 9}, strides: []int{1, 56}, box: []int{32, 8}, from: []int{-5, -2}, swizzle: 2},
		{kind: elem.KU8, extents: []int{50, 9}, strides: []int{1, 64}, box: []int{32, 24}, from: []int{3, 1}, swizzle: 1},
		{kind: elem.KTF32, extents: []int{16, 5, 3}, strides: []int{1, 16, 80}, box: []int{32, 4, 2}, from: []int{4, 2, 1}, swizzle: 3},
		{kind: elem.KF64, extents: []int{6, 5, 3, 2}, strides: []int{1, 6, 30, 90}, box: []int{2, 4, 2, 2}, from: []int{1, 1, 1, 1}},
		{kind: elem.KF16, extents: []int{8, 2, 2, 2, 3}, strides: []int{1, 8, 16, 32, 64}, box: []int{8, 2, 1, 2, 2}, from: []int{0, 1, 1, 0, 1}},
		{kind: elem.KF16, extents: []int{8, 4}, strides: []int{1, 8}, box: []int{16, 4}, from: []int{100, 0}},
	} {
		t.Run(fmt.Sprint(x), func(t *testing.T) {
			for _, opt := range []Options{{}, {Seed: 1}, {NoChecks: true}, {Exact: true}} {
				args := x.args()
				require.NoError(t, run(t, x.build().k, args, opt).Err())
				require.Equal(t, x.want(args["in"].(*Buffer).Cells), args["out"].(*Buffer).Cells)
			}
		})
	}
}

// TestTensorLoadFirst: bytes may land before they are expected, as long as the phase lasts.
func TestTensorLoadFirst(t *testing.T) {
	b := plainBox.build(func(b *boxedBuilder) { b.start[0], b.start[1] = b.start[1], b.start[0] })
	args := plainBox.args()
	require.NoError(t, run(t, b.k, args, Options{}).Err())
	require.Equal(t, plainBox.want(args["in"].(*Buffer).Cells), args["out"].(*Buffer).Cells)
}

// TestTensorLoadOfWritten: another block's row is a race, one of uninitialised elements a finding.
func TestTensorLoadOfWritten(t *testing.T) {
	b := plainBox.build(func(b *boxedBuilder) {
		b.k.Params[0].Write = true
		b.k.Grid[0] = n(2)
		b.reads = append(b.reads, cir.StoreValue{Pos: b.at(), Dst: addr(b.in, tid), Value: cir.Lit{Elem: elem.KF16}})
	})
	rep := run(t, b.k, plainBox.args(), Options{})
	found := map[Check]int{}
	for _, f := range rep.Findings {
		found[f.Check] = f.Pos.Line
	}
	require.Equal(t, b.marks["copy"], found[GlobalRace], "%v", rep.Err())
	args := plainBox.args()
	args["in"].(*Buffer).Undefined = true
	b = plainBox.build(func(b *boxedBuilder) { b.k.Params[0].Write = true })
	rep = run(t, b.k, args, Options{})
	b.wantOnly(t, rep, "copy", Uninitialised, NotWritten)
}

func expectOf(b *boxedBuilder, bytes int) cir.Stmt {
	e := b.start[0].(cir.MBarrierExpect)
	e.Bytes = bytes
	return e
}

func TestBrokenTensorLoad(t *testing.T) {
	store := func(b *boxedBuilder) cir.Stmt {
		b.mark("store")
		return cir.StoreValue{Pos: b.at(), Dst: addr(b.s, n(b.tensor.Elems()+3)), Value: cir.Lit{Elem: elem.KF16}}
	}
	for name, c := range map[string]struct {
		change  func(b *boxedBuilder)
		mark    string
		checks  []Check
		message string
	}{
		"no wait": {func(b *boxedBuilder) { b.await = nil }, "read", []Check{ReadInFlight},
			"reads s[1024], whose asynchronous copy is in flight, started by thread 0 at k.go:5"},
		"a wait for another copy of the thread": {func(b *boxedBuilder) {
			other, w := addr(b.bar, n(0)), b.await[0].(cir.MBarrierWait)
			b.first = append([]cir.Stmt{cir.If{Pos: b.at(), Cond: lt(tid, n(1)), Then: []cir.Stmt{
				cir.MBarrierInit{Pos: b.at(), Bar: other, Count: 1}}}}, b.first...)
			second, expect := b.copy, expectOf(b, b.tensor.Bytes()).(cir.MBarrierExpect)
			second.Dst, second.Bar, expect.Bar, w.Bar = addr(b.s, n(0)), other, other, other
			b.start = append(b.start, expect, second)
			b.await[0] = w
		}, "read", []Check{ReadInFlight}, ""},
		"nobody waits": {func(b *boxedBuilder) { b.await, b.reads = nil, nil }, "copy", []Check{Unwaited, NotWritten}, ""},
		"a store before it landed": {func(b *boxedBuilder) { b.start = append(b.start, store(b)) }, "store", []Check{WriteInFlight},
			"writes s[1027], whose asynchronous copy is in flight, started by thread 0 at k.go:5"},
		"a copy before it landed": {func(b *boxedBuilder) { b.start = []cir.Stmt{expectOf(b, 2*b.tensor.Bytes()), nil, nil} }, "copy", []Check{WriteInFlight}, ""},
		"a copy into what is read": {func(b *boxedBuilder) {
			again := cir.If{Pos: b.at(), Cond: lt(tid, n(1)), Then: []cir.Stmt{b.start[0], b.copy}}
			wait := b.await[0].(cir.MBarrierWait)
			wait.Parity = n(1)
			b.reads = append(b.reads, again, wait)
		}, "copy", []Check{Race, Deadlock}, ""},
		"a store into what is copied": {func(b *boxedBuilder) {
			b.first = append(b.first, cir.If{Pos: b.at(), Cond: lt(n(62), tid), Then: []cir.Stmt{store(b)}})
		}, "store", []Check{WriteInFlight}, ""},
		"a barrier set up anew": {func(b *boxedBuilder) {
			init := cir.If{Pos: b.at(), Cond: lt(tid, n(1)), Then: []cir.Stmt{cir.MBarrierInit{Pos: b.at(), Bar: b.copy.Bar, Count: 1}}}
			second := b.copy
			second.Dst.Index = n(0)
			again := cir.If{Pos: b.at(), Cond: lt(tid, n(1)), Then: []cir.Stmt{b.start[0], second}}
			b.await = append(b.await, cir.Barrier{Pos: b.at()}, init, cir.Barrier{Pos: b.at()}, again, cir.Barrier{Pos: b.at()})
			load := b.reads[0].(cir.For).Body[0].(cir.Load)
			load.Src.Index, load.Pred = tid, nil
			b.reads = append([]cir.Stmt{load}, b.reads...)
		}, "read", []Check{ReadInFlight}, ""},
		"no expectation": {func(b *boxedBuilder) { b.start[0] = cir.MBarrierArrive{Pos: b.at(), Bar: b.copy.Bar} }, "read", []Check{ReadInFlight}, ""},
		"a few bytes too many": {func(b *boxedBuilder) { b.start[0] = expectOf(b, b.tensor.Bytes()+16) }, "await", []Check{Deadlock},
			"waits at mbarrier bar[1] for its phase of parity 0, which has 1 of 1 arrivals and lacks 16 bytes"},
		"a few bytes too few": {func(b *boxedBuilder) { b.start[0] = expectOf(b, b.tensor.Bytes()-32) }, "await", []Check{Deadlock},
			"waits at mbarrier bar[1] for its phase of parity 0, which has 1 of 1 arrivals and has 32 bytes more than it expects"},
		"a copy too many":            {func(b *boxedBuilder) { b.start = append(b.start, nil) }, "copy", []Check{WriteInFlight, ReadInFlight}, ""},
		"in the middle of a swizzle": {func(b *boxedBuilder) { b.copy.Dst.Index = n(256) }, "copy", []Check{Misaligned, Deadlock}, ""},
		"beyond the array":           {func(b *boxedBuilder) { b.copy.Dst.Index = n(1536) }, "copy", []Check{OutOfBounds, Deadlock}, ""},
		"beyond the buffer":          {func(b *boxedBuilder) { b.tensor.Extents[1], b.copy.Coords[1] = n(17), n(1) }, "copy", []Check{OutOfBounds}, ""},
		"no barrier":                 {func(b *boxedBuilder) { b.copy.Bar.Index = n(0) }, "copy", []Check{Uninitialised, Deadlock}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := plainBox.build(c.change)
			rep := run(t, b.k, plainBox.args(), Options{})
			sortCauses(rep)
			f := b.wantOnly(t, rep, c.mark, c.checks...)
			t.Log(f)
			if c.message != "" {
				require.Equal(t, c.message, f.Message)
			}
		})
	}
}

// sortCauses puts what a kernel does wrong before what it then waits for.
func sortCauses(rep *Report) {
	if len(rep.Findings) > 1 && rep.Findings[0].Check == Deadlock {
		rep.Findings = append(rep.Findings[1:], rep.Findings[0])
	}
}

func TestTensorMapErrors(t *testing.T) {
	for want, change := range map[string]func(b *boxedBuilder){
		"the tensor map map or its tensor is no argument of the kernel":                          func(b *boxedBuilder) { b.k.Maps = nil },
		"a tensor map expects contiguous elements in its first dimension, but got a stride of 2": func(b *boxedBuilder) { b.tensor.Strides[0] = n(2) },
		"a tensor map expects whole bytes, aligned to 16, but got f16 aligned to 8":              func(b *boxedBuilder) { b.in.Align = 8 },
		"a TMA load expects a tensor map and a coordinate for each of its dimensions":            func(b *boxedBuilder) { b.copy.Coords = b.copy.Coords[:1] },
		"a TMA load of f16 expects shared memory of that kind, but got u64":                      func(b *boxedBuilder) { b.copy.Dst = addr(b.bar, n(0)) },
		"expects an mbarrier to wait for 1 to 1048575 bytes, but got 0":                          func(b *boxedBuilder) { b.start[0] = expectOf(b, 0) },
		"an mbarrier expects a 64-bit word in shared memory, but got s":                          func(b *boxedBuilder) { b.copy.Bar = addr(b.s, n(0)) },
	} {
		b := plainBox.build(change)
		_, err := Run(t.Context(), b.k, plainBox.args(), Options{})
		var kernel *KernelError
		require.ErrorAs(t, err, &kernel)
		require.Equal(t, want, kernel.Message)
	}
	b := plainBox.build(func(b *boxedBuilder) { b.tensor.Extents[1] = sym.New(&sym.Symbol{Name: "M", Class: sym.Param, Hi: 9}) })
	_, err := Run(t.Context(), b.k, plainBox.args(), Options{})
	var arg *ArgError
	require.ErrorAs(t, err, &arg)
	require.Equal(t, "map", arg.Name)
}
