package cir

import (
	"fmt"
	"slices"

	"github.com/gocute/gocute/algebra/sym"
)

// GridWait waits until the kernel before this one on the stream is over and its writes can be seen, where the launch let
// this kernel start early (griddepcontrol.wait, sm_90); elsewhere it does nothing.
type GridWait struct{ Pos }

// GridTrigger says that this block does not mind if the next kernel on the stream starts (griddepcontrol.launch_dependents,
// sm_90); elsewhere it does nothing.
type GridTrigger struct{ Pos }

// Arrive counts the block in at a counter in global memory, which is back at zero after Count blocks have come. What the
// block's threads wrote to global memory before is visible to all blocks that come later. Sym is how many came before.
// It includes a barrier on both sides.
type Arrive struct {
	Pos
	Sym     *sym.Symbol
	Counter Addr // a u32 in global memory
	Word    Addr // a u32 in shared memory, for nothing else
	Count   sym.Expr
}

func (GridWait) stmt()    {}
func (GridTrigger) stmt() {}
func (Arrive) stmt()      {}

// Overlaps reports whether a launch may let the kernel start before the one before it has ended.
func (k *Kernel) Overlaps() bool {
	found := false
	Walk(k.Body, func(s Stmt) {
		if _, ok := s.(GridWait); ok {
			found = true
		}
	})
	return found
}

// verifyWait checks that nothing touches global memory before a GridWait, which stands at the top level.
func verifyWait(k *Kernel) error {
	touched, waits := false, 0
	for _, s := range k.Body {
		if _, ok := s.(GridWait); ok {
			if waits++; touched || waits > 1 {
				return fmt.Errorf("GridDependencySynchronize comes after an access to global memory, or twice")
			}
		}
		Walk([]Stmt{s}, func(s Stmt) { touched = touched || touchesGlobal(s) })
	}
	nested := 0
	Walk(k.Body, func(s Stmt) {
		if _, ok := s.(GridWait); ok {
			nested++
		}
	})
	if nested != waits {
		return fmt.Errorf("GridDependencySynchronize is in a loop or a branch")
	}
	return nil
}

// touchesGlobal reports whether a statement itself reads or writes global memory.
func touchesGlobal(s Stmt) bool {
	global := func(v Value) bool {
		found := false
		WalkValue(v, func(v Value) {
			if m, ok := v.(MemElem); ok && m.Addr.Mem.Space == Global {
				found = true
			}
		})
		return found
	}
	switch s := s.(type) {
	case Load:
		return s.Src.Mem.Space == Global
	case Store:
		return s.Dst.Mem.Space == Global
	case StoreValue:
		return s.Dst.Mem.Space == Global || global(s.Value)
	case SetReg:
		return global(s.Value)
	case SetWord:
		return slices.ContainsFunc(s.Values, global)
	case Atomic:
		return s.Dst.Mem.Space == Global
	case CpAsyncStmt, TensorLoad, Arrive:
		return true
	}
	return false
}

// Counters lists the memories that Arrive counts in, which are zero between launches.
func (k *Kernel) Counters() map[*Mem]bool {
	out := map[*Mem]bool{}
	Walk(k.Body, func(s Stmt) {
		if a, ok := s.(Arrive); ok {
			out[a.Counter.Mem] = true
		}
	})
	return out
}
