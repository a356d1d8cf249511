package machine

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
)

// bench is one or two blocks with a region of global memory.
type bench struct {
	t *testing.T
	m *Machine
	*Block
	other  *Block
	global *Region
	pc     int32
}

func newBench(t *testing.T, threads int) *bench {
	m, err := New(Config{Grid: [3]int{2, 1, 1}, Block: [3]int{threads, 1, 1}, SharedBytes: 4096})
	require.NoError(t, err)
	return &bench{t: t, m: m, Block: m.NewBlock(0), other: m.NewBlock(1), global: m.Alloc("A", 4096)}
}

func (x *bench) next() int32 {
	x.pc++
	x.Begin()
	x.other.Begin()
	return x.pc
}

func (x *bench) write(t int, s Space, off uint64, o ...Order) {
	x.Store(t, x.next(), s, x.base(s)+off, 4, append(o, Order{})[0], []byte{1, 2, 3, 4})
}

func (x *bench) read(t int, s Space, off uint64, o ...Order) []byte {
	out := make([]byte, 4)
	x.Load(t, x.next(), s, x.base(s)+off, 4, append(o, Order{})[0], out)
	return out
}

func (x *bench) base(s Space) uint64 {
	if s == Shared {
		return SharedBase
	}
	return x.global.Base
}

// finds compares the kinds of findings, each once in the order they came.
func (x *bench) finds(want ...Check) {
	x.t.Helper()
	got := []Check{}
	list, _ := x.m.Findings()
	for _, f := range list {
		got = append(got, f.Check)
	}
	require.Equal(x.t, append([]Check{}, want...), got)
}

// barrier brings every warp to barrier 0.
func (x *bench) barrier() {
	for w := range x.Warps {
		_, ok := x.Arrive(w, x.Full(w), x.next(), 0, 0, true)
		require.True(x.t, ok)
	}
}

func TestWritesAndReads(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(x *bench)
		want []Check
	}{
		"own value":               {func(x *bench) { x.write(0, Shared, 0); x.read(0, Shared, 0) }, nil},
		"nobody's":                {func(x *bench) { x.read(0, Shared, 0) }, []Check{Uninitialised}},
		"another's, no barrier":   {func(x *bench) { x.write(0, Shared, 0); x.read(40, Shared, 0) }, []Check{Race}},
		"another's, barrier":      {func(x *bench) { x.write(0, Shared, 0); x.barrier(); x.read(40, Shared, 0) }, nil},
		"in a warp, no sync":      {func(x *bench) { x.write(0, Shared, 0); x.read(1, Shared, 0) }, []Check{Race}},
		"in a warp, sync":         {func(x *bench) { x.write(0, Shared, 0); x.SyncWarp(0, 3); x.read(1, Shared, 0) }, nil},
		"in a warp, others' sync": {func(x *bench) { x.write(0, Shared, 0); x.SyncWarp(0, 6); x.read(1, Shared, 0) }, []Check{Race}},
		"write after read":        {func(x *bench) { x.write(0, Shared, 0); x.barrier(); x.read(40, Shared, 0); x.write(0, Shared, 0) }, []Check{Race}},
		"a part of it": {func(x *bench) {
			x.write(0, Shared, 0)
			x.Store(40, x.next(), Shared, SharedBase+2, 1, Order{}, []byte{9})
		}, []Check{Race}},
		"beside it":    {func(x *bench) { x.write(0, Shared, 0); x.write(40, Shared, 4) }, nil},
		"past the end": {func(x *bench) { x.write(0, Shared, 4096) }, []Check{OutOfBounds}},
		"no memory":    {func(x *bench) { x.write(0, Global, 1<<40) }, []Check{OutOfBounds}},
		"misaligned":   {func(x *bench) { x.write(0, Global, 2) }, []Check{Misaligned}},
		// The first of three readers is in no order with the writer, and later readers do not hide it.
		"a forgotten reader": {func(x *bench) {
			x.global.Defined = true
			for _, t := range []int{0, 33, 34} {
				x.read(t, Global, 0)
			}
			x.SyncWarp(1, 7<<1)
			x.write(35, Global, 0)
		}, []Check{Race}},
		"readers that are ordered": {func(x *bench) {
			x.global.Defined = true
			for _, t := range []int{33, 34} {
				x.read(t, Global, 0)
			}
			x.SyncWarp(1, 7<<1)
			x.write(35, Global, 0)
		}, nil},
		"two writes that a barrier orders": {func(x *bench) { x.write(0, Global, 0); x.barrier(); x.write(40, Global, 0) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			x := newBench(t, 64)
			c.do(x)
			x.finds(c.want...)
		})
	}
}

func TestLanesWriteOneByte(t *testing.T) {
	x := newBench(t, 32)
	x.Begin()
	x.Store(0, 1, Shared, SharedBase, 4, Order{}, make([]byte, 4))
	x.Store(1, 1, Shared, SharedBase, 4, Order{}, make([]byte, 4))
	x.finds(LaneConflict)
}

// TestBlocks: what one block writes another may read where a release and an acquire, or fences around strong accesses, meet.
func TestBlocks(t *testing.T) {
	count := func(b *Block, x *bench, o Order) uint64 {
		o.Strong, o.Scope = true, ScopeGPU
		old, ok := b.Atomic(0, x.next(), Global, x.global.Base+64, 4, o, func(old [2]uint64) [2]uint64 { return [2]uint64{old[0] + 1} })
		require.True(t, ok)
		return old[0] & 0xffffffff
	}
	for name, c := range map[string]struct {
		do   func(x *bench)
		want []Check
	}{
		"nothing between": {func(x *bench) {
			x.write(0, Global, 0)
			x.other.Load(0, x.next(), Global, x.global.Base, 4, Order{}, make([]byte, 4))
		}, []Check{Race}},
		"fences": {func(x *bench) {
			x.write(0, Global, 0)
			x.Fence(0)
			count(x.Block, x, Order{})
			count(x.other, x, Order{})
			x.other.Fence(0)
			x.other.Load(0, x.next(), Global, x.global.Base, 4, Order{}, make([]byte, 4))
		}, nil},
		"no fence of the reader": {func(x *bench) {
			x.write(0, Global, 0)
			x.Fence(0)
			count(x.Block, x, Order{})
			count(x.other, x, Order{})
			x.other.Load(0, x.next(), Global, x.global.Base, 4, Order{}, make([]byte, 4))
		}, []Check{Race}},
		"written after the fence": {func(x *bench) {
			x.Fence(0)
			x.write(0, Global, 0)
			count(x.Block, x, Order{})
			count(x.other, x, Order{})
			x.other.Fence(0)
			x.other.Load(0, x.next(), Global, x.global.Base, 4, Order{}, make([]byte, 4))
		}, []Check{Race}},
		"release and acquire": {func(x *bench) {
			x.write(0, Global, 0)
			count(x.Block, x, Order{Release: true})
			count(x.other, x, Order{Acquire: true})
			x.other.Load(0, x.next(), Global, x.global.Base, 4, Order{}, make([]byte, 4))
		}, nil},
		"a reader that arrives before it reads": {func(x *bench) { // the last block writes what others may still read
			x.Fence(0)
			count(x.Block, x, Order{})
			x.read(0, Global, 0)
			count(x.other, x, Order{})
			x.other.Fence(0)
			x.other.Store(0, x.next(), Global, x.global.Base, 4, Order{}, make([]byte, 4))
		}, []Check{Race}},
	} {
		t.Run(name, func(t *testing.T) {
			x := newBench(t, 32)
			x.global.Defined = true
			c.do(x)
			x.finds(c.want...)
		})
	}
}

// TestBarrierOrdersThreadsOfTheBlockBeforeAnArrival: one thread counts for all that a barrier brought together.
func TestBarrierThenArrival(t *testing.T) {
	x := newBench(t, 64)
	x.global.Defined = true
	x.write(40, Global, 0)
	x.barrier()
	x.Fence(0)
	x.Atomic(0, x.next(), Global, x.global.Base+64, 4, Order{Strong: true, Scope: ScopeGPU}, func(o [2]uint64) [2]uint64 { return o })
	x.other.Atomic(0, x.next(), Global, x.global.Base+64, 4, Order{Strong: true, Scope: ScopeGPU}, func(o [2]uint64) [2]uint64 { return o })
	x.other.Fence(0)
	for w := range x.other.Warps {
		x.other.Arrive(w, ^uint32(0), x.next(), 0, 0, true)
	}
	x.other.Load(50, x.next(), Global, x.global.Base, 4, Order{}, make([]byte, 4))
	x.finds()
}

// asyncTo starts a cp.async of 4 bytes.
func (x *bench) asyncTo(t int, off uint64) {
	c := x.NewCopy(t, x.next(), "an asynchronous copy", false)
	var buf [4]byte
	x.CopyRead(c, Global, x.global.Base, 4, buf[:])
	x.CopyWrite(c, Shared, SharedBase+off, 4, buf[:])
	x.Add(c, false)
}

func TestAsyncCopies(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(x *bench)
		want []Check
	}{
		"waited":             {func(x *bench) { x.asyncTo(0, 0); x.Commit(0, false); x.Wait(0, 0, false, false); x.read(0, Shared, 0) }, nil},
		"not waited":         {func(x *bench) { x.asyncTo(0, 0); x.Commit(0, false); x.read(0, Shared, 0) }, []Check{ReadInFlight}},
		"waited for too few": {func(x *bench) { x.asyncTo(0, 0); x.Commit(0, false); x.Wait(0, 1, false, false); x.read(0, Shared, 0) }, []Check{ReadInFlight}},
		"waited, no barrier": {func(x *bench) { x.asyncTo(0, 0); x.Commit(0, false); x.Wait(0, 0, false, false); x.read(40, Shared, 0) }, []Check{ReadInFlight}},
		"waited, barrier": {func(x *bench) {
			x.asyncTo(0, 0)
			x.Commit(0, false)
			x.Wait(0, 0, false, false)
			x.barrier()
			x.read(40, Shared, 0)
		}, nil},
		"written over":       {func(x *bench) { x.asyncTo(0, 0); x.write(0, Shared, 0); x.Commit(0, false); x.Wait(0, 0, false, false) }, []Check{WriteInFlight}},
		"its source changed": {func(x *bench) { x.asyncTo(0, 0); x.write(0, Global, 0); x.Commit(0, false); x.Wait(0, 0, false, false) }, []Check{WriteInFlight}},
		"its source, after":  {func(x *bench) { x.asyncTo(0, 0); x.Commit(0, false); x.Wait(0, 0, false, false); x.write(0, Global, 0) }, nil},
		"another's source": {func(x *bench) {
			x.asyncTo(0, 0)
			x.Commit(0, false)
			x.Wait(0, 0, false, false)
			x.write(40, Global, 0)
		}, []Check{WriteInFlight}},
		"never waited":      {func(x *bench) { x.asyncTo(0, 0); x.End(0, 1) }, []Check{Unwaited}},
		"over what is read": {func(x *bench) { x.write(40, Shared, 0); x.asyncTo(0, 0); x.WaitAll(0) }, []Check{Race}},
	} {
		t.Run(name, func(t *testing.T) {
			x := newBench(t, 64)
			x.global.Defined = true
			c.do(x)
			x.finds(c.want...)
		})
	}
}

func TestMBarriers(t *testing.T) {
	const bar = SharedBase + 2048
	made := func(x *bench, count uint32) { x.MBarrierInit(0, x.next(), bar, count); x.barrier() }
	test := func(x *bench, t int, parity uint64) bool {
		over, ok := x.MBarrierTest(t, x.next(), bar, parity, true)
		require.True(x.t, ok)
		return over
	}
	box := func(x *bench, t int, off uint64, bytes int) {
		c := x.NewCopy(t, x.next(), "a TMA copy", true)
		buf := make([]byte, bytes)
		for i := range buf {
			buf[i] = byte(i + 1)
		}
		x.CopyWrite(c, Shared, SharedBase+off, 16, buf)
		x.Counts(c, bar, bytes)
	}
	for name, c := range map[string]struct {
		do   func(x *bench)
		want []Check
	}{
		"arrivals hand on": {func(x *bench) {
			made(x, 1)
			x.write(0, Shared, 0)
			x.MBarrierArrive(0, x.next(), bar, 1, 0)
			require.True(t, test(x, 40, 0))
			x.read(40, Shared, 0)
		}, nil},
		"only who waits knows": {func(x *bench) {
			made(x, 1)
			x.write(0, Shared, 0)
			x.MBarrierArrive(0, x.next(), bar, 1, 0)
			require.True(t, test(x, 40, 0))
			x.read(41, Shared, 0)
		}, []Check{Race}},
		"the phase is open": {func(x *bench) {
			made(x, 2)
			x.MBarrierArrive(0, x.next(), bar, 1, 0)
			require.False(t, test(x, 40, 0))
		}, nil},
		"one arrival too many": {func(x *bench) { made(x, 1); x.MBarrierArrive(0, x.next(), bar, 2, 0) }, []Check{Barrier}},
		"its bytes as data":    {func(x *bench) { made(x, 1); x.write(0, Shared, 2048) }, []Check{Barrier}},
		"none there":           {func(x *bench) { x.MBarrierArrive(0, x.next(), bar, 1, 0) }, []Check{Barrier}},
		"made twice":           {func(x *bench) { made(x, 1); x.MBarrierInit(0, x.next(), bar, 1) }, []Check{Barrier}},
		"made unseen":          {func(x *bench) { x.MBarrierInit(0, x.next(), bar, 1); x.MBarrierArrive(40, x.next(), bar, 1, 0) }, []Check{Race}},
		"bytes": {func(x *bench) {
			made(x, 1)
			x.MBarrierArrive(0, x.next(), bar, 1, 32)
			box(x, 0, 0, 16)
			require.False(t, test(x, 40, 0))
			box(x, 0, 16, 16)
			require.True(t, test(x, 40, 0))
			require.Equal(t, uint32(0x04030201), binary.LittleEndian.Uint32(x.read(40, Shared, 0)))
		}, nil},
		"bytes, not waited for": {func(x *bench) {
			made(x, 1)
			x.MBarrierArrive(0, x.next(), bar, 1, 16)
			box(x, 0, 0, 16)
			x.read(40, Shared, 0)
		}, []Check{ReadInFlight}},
		"bytes over what others read": {func(x *bench) {
			made(x, 1)
			x.write(40, Shared, 0)
			x.MBarrierArrive(0, x.next(), bar, 1, 16)
			box(x, 0, 0, 16)
		}, []Check{Race}},
		"bytes over ordinary stores": {func(x *bench) {
			made(x, 1)
			x.write(0, Shared, 0)
			x.MBarrierArrive(0, x.next(), bar, 1, 16)
			box(x, 0, 0, 16)
		}, []Check{Proxy}},
		"bytes over ordinary stores, fenced": {func(x *bench) {
			made(x, 1)
			x.write(0, Shared, 0)
			x.FenceProxyAsync(0)
			x.MBarrierArrive(0, x.next(), bar, 1, 16)
			box(x, 0, 0, 16)
		}, nil},
		"fenced by the writer, handed on": {func(x *bench) {
			made(x, 1)
			x.write(40, Shared, 0)
			x.FenceProxyAsync(40)
			x.barrier()
			x.MBarrierArrive(0, x.next(), bar, 1, 16)
			box(x, 0, 0, 16)
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			x := newBench(t, 64)
			c.do(x)
			x.finds(c.want...)
		})
	}
}

func TestNamedBarriers(t *testing.T) {
	x := newBench(t, 128)
	x.write(0, Shared, 0)
	_, ok := x.Arrive(0, ^uint32(0), x.next(), 1, 64, false) // a producer goes on
	require.True(t, ok)
	phase, ok := x.Arrive(1, ^uint32(0), x.next(), 1, 64, true)
	require.True(t, ok)
	require.True(t, x.Passed(1, phase))
	x.read(40, Shared, 0)
	x.finds()
	x.read(70, Shared, 0)
	x.finds(Race)
}

// TestBarrierOfTwoGroups: two pairs of warps at one barrier may meet in each other's place.
func TestBarrierOfTwoGroups(t *testing.T) {
	come := func(x *bench, warps ...int) {
		for _, w := range warps {
			_, ok := x.Arrive(w, ^uint32(0), x.next(), 1, 64, true)
			require.True(t, ok)
		}
	}
	x := newBench(t, 128)
	come(x, 0, 1, 2, 3)
	x.finds(Race, Race) // both warps of the second pair
	x = newBench(t, 128)
	come(x, 0, 1)
	x.barrier()
	come(x, 2, 3, 2, 3)
	x.finds()
}
