package dsl

import (
	"fmt"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/gen/cir"
)

// origin is where an operand comes from: its kernel, and the view itself, which is nil after a mistake that has been
// reported. An operand that was never set has neither.
type origin struct {
	k *K
	t *ir.Tensor
}

// never is a use of something that was never set, where no operand knows a kernel to report it to. It and
// referenceError are the panics of this package: Define turns them into errors at the user's line.
type never struct{ op, what, got string }

const neverSet = "that was never set"

func (n never) String() string {
	return fmt.Sprintf("expects %s, but got one %s", n.what, n.got)
}

// referenceError is what a reference function does that its arguments do not have. It is a panic, for those functions return
// numbers only; whoever calls one reports it.
type referenceError string

func referenceErrorf(format string, args ...any) referenceError {
	return referenceError(fmt.Sprintf(format, args...))
}

// together returns the kernel that all operands belong to, or nil where there is nothing to record: after a mistake
// that was reported before, or is reported now.
func together(op string, operands ...origin) *K {
	var k *K
	for _, o := range operands {
		if o.k != nil && (k == nil || k.closed) {
			k = o.k
		}
	}
	if k == nil {
		panic(never{op, "a tensor", neverSet})
	}
	ok := true
	for _, o := range operands {
		switch {
		case o.k == nil:
			k.errorf(op, "expects a tensor, but got one that was never set")
			return nil
		case o.k != k:
			k.errorf(op, "expects tensors of one kernel, but got one of kernel %s", o.k.kernel.ir.Name)
			return nil
		case o.t == nil:
			ok = false
		}
	}
	if !ok || !k.recording(op) {
		return nil
	}
	return k
}

// recording reports a use after Define has returned.
func (k *K) recording(op string) bool {
	if k.closed {
		k.errorf(op, "expects to be called by the kernel's function, but Define(%q) has returned", k.kernel.ir.Name)
	}
	return !k.closed
}

// made reports an object that was never made: the zero TiledCopy or TiledMMA.
func (k *K) made(op, what string, isMade bool, err error) bool {
	if !isMade && err == nil {
		k.errorf(op, "expects a %s, but got one that was never set", what)
	}
	return isMade
}

// function reports a function that is nil.
func (k *K) function(op string, isNil bool) bool {
	if isNil {
		k.errorf(op, "expects a function, but got nil")
	}
	return !isNil
}

// ownValues reports a value that an element function did not compute itself, from its own arguments: one that was kept
// from another function would be computed anew, from this one's elements.
func (k *K) ownValues(op string, v cir.Value, own ...*cir.Reg) bool {
	ok, ints := true, []sym.Expr{}
	cir.WalkValue(v, func(v cir.Value) {
		if n, isInt := v.(cir.IntValue); isInt {
			ints = append(ints, n.Expr)
		}
		r, isElem := v.(cir.RegElem)
		if !isElem || !ok {
			return
		}
		for _, reg := range own {
			if r.Ref.Reg == reg {
				return
			}
		}
		ok = false
	})
	if !ok {
		k.errorf(op, "expects a value that the function computes from its arguments, but it uses an element that was kept from another function: pass that tensor to this operation too")
	}
	return ok && k.inScope(op, ints...)
}

// ofData reports whether a condition depends on an element of a tensor.
func ofData(c cir.Cond) bool {
	found := false
	cir.WalkValue(cir.Select{Cond: c}, func(v cir.Value) {
		switch v.(type) {
		case cir.RegElem, cir.MemElem:
			found = true
		}
	})
	return found
}

// given stops a use of a K that is nil, or that Define did not make.
func given(op string, k *K) {
	switch {
	case k == nil:
		panic(never{op, "the K of the kernel's function", "that is nil"})
	case k.kernel == nil:
		panic(never{op, "the K of the kernel's function", "that Define did not make"})
	}
}

// sliced reports a slice of a tiled copy or MMA by another kernel's thread.
func (k *K) sliced(op string, slice *K) bool {
	if slice != nil && slice != k {
		k.errorf(op, "expects a slice by this kernel's thread, but got one of kernel %s", slice.kernel.ir.Name)
		return false
	}
	return true
}
