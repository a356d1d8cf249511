package ir

import "github.com/gocute/gocute/gen/cir"

// ClockOp sets a fragment of one u64 to a counter of the hardware.
type ClockOp struct {
	cir.Pos
	Clock cir.Clock
	Dst   *Tensor
}

func (ClockOp) op() {}
