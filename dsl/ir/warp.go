package ir

import (
	"fmt"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/gen/cir"
)

type (
	// ShuffleOp sets every element of Dst to another lane's element of Src at the same coordinate.
	ShuffleOp struct {
		cir.Pos
		Mode     cir.ShuffleMode
		Lane     sym.Expr
		Src, Dst *Tensor // fragments
	}
	// VoteOp sets every element of Dst to a vote of F of the elements of Src at the same coordinate.
	VoteOp struct {
		cir.Pos
		Op       cir.VoteOp
		Src, Dst *Tensor // fragments
		F        func(cir.Value) cir.Cond
	}
	// AtomicOp changes every element of Dst atomically by the element of Src at the same coordinate. What lies outside of
	// the tensor's extents is left alone.
	AtomicOp struct {
		cir.Pos
		Op           cir.AtomicOp
		Dst          *Tensor // in memory
		Src          *Tensor // a fragment, as are the others
		Compare, Old *Tensor // nil where the operation has none
	}
	// ArriveOp counts the block in at Counter; Sym is how many came before, of Count.
	ArriveOp struct {
		cir.Pos
		Sym           *sym.Symbol
		Counter, Word *Tensor // of one element, in global and in shared memory
		Count         sym.Expr
	}
)

func (ArriveOp) op()  {}
func (ShuffleOp) op() {}
func (VoteOp) op()    {}
func (AtomicOp) op()  {}

// CheckElements says why the elements of views do not belong together one by one, or are not those that are stored.
func CheckElements(dst *Tensor, srcs ...*Tensor) error {
	for _, src := range srcs {
		if err := CheckMap(dst, src); err != nil {
			return err
		}
	}
	for _, t := range append(srcs, dst) {
		if t.Elem != t.Storage.Elem {
			return fmt.Errorf("expects elements as they are stored, but %s reads %s as %s", t.Name, t.Storage.Elem, t.Elem)
		}
	}
	return nil
}
