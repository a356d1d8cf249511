package dsl

import (
	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// Clock64 declares a fragment of one element and sets it, each time it runs, to the cycles that the thread's
// multiprocessor has counted: differences in one block are times, counters of different multiprocessors are not related.
// Stores and barriers stay on their side of the reading; arithmetic on registers alone, and loads of what the kernel only
// reads, may pass it. Map stores it:
//
//	now := Clock64(k) // (1)
//	Map(now, out.Tile(Tile(1), 0), func(v Val[elem.U64]) Val[elem.U64] { return v })
//
// The emulator has no time: there, the readings of either clock by the threads of a warp count 1, 2, 3, … in each block.
func Clock64(k *K) Tensor[Rmem, elem.U64] { return k.readClock("Clock64", "cycles", cir.CycleClock) }

// GlobalTimer is Clock64 for the GPU's timer of nanoseconds, which all multiprocessors share. It advances in steps, of
// 32 ns to 1 µs by GPU and driver.
func GlobalTimer(k *K) Tensor[Rmem, elem.U64] {
	return k.readClock("GlobalTimer", "nanoseconds", cir.TimerClock)
}

func (k *K) readClock(op, name string, c cir.Clock) Tensor[Rmem, elem.U64] {
	out := Tensor[Rmem, elem.U64]{k: k}
	given(op, k)
	if !k.recording(op) {
		return out
	}
	t, err := k.registers(name, name, elem.KU64, algebra.Compact(algebra.S(1)), nil)
	if err != nil {
		k.errorf(op, "%v", err)
		return out
	}
	out.t = t
	k.add(ir.ClockOp{Pos: k.position(), Clock: c, Dst: t})
	return out
}
