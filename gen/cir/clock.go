package cir

import (
	"fmt"

	"github.com/gocute/gocute/elem"
)

// Clock names a counter of the hardware.
type Clock uint8

// The counters.
const (
	CycleClock Clock = iota // cycles of the multiprocessor
	TimerClock              // nanoseconds, of the whole GPU
)

var clockNames = [...]string{"cycles", "nanoseconds"}

func (c Clock) String() string { return clockNames[c] }

// ReadClock sets a register to a counter's value now: after the stores and barriers before it, before those after it.
type ReadClock struct {
	Pos
	Clock Clock
	Dst   RegRef // of one u64 element
}

func (ReadClock) stmt() {}

// CheckReadClock says why a statement reads no counter.
func CheckReadClock(s ReadClock) error {
	if int(s.Clock) >= len(clockNames) {
		return fmt.Errorf("there is no clock %d", s.Clock)
	}
	if s.Dst.Reg == nil || s.Dst.Elems != 1 || s.Dst.Reg.Elem != elem.KU64 {
		return fmt.Errorf("a clock is read into one u64, but got %d of %s", s.Dst.Elems, kindOf(s.Dst))
	}
	return nil
}

// kindOf is the kind of a reference's registers, for messages.
func kindOf(r RegRef) string {
	if r.Reg == nil {
		return "no register"
	}
	return r.Reg.Elem.String()
}
