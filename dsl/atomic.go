package dsl

import (
	"fmt"

	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// AtomicNumber are the types that AtomicAdd adds.
type AtomicNumber interface {
	elem.S32 | elem.U32 | elem.F32 | elem.F64 | elem.F16 | elem.BF16
}

// AtomicInt are the types that AtomicMin, AtomicMax and AtomicCAS compare.
type AtomicInt interface{ elem.S32 | elem.U32 }

// AtomicWord are the types that AtomicExch exchanges.
type AtomicWord interface{ elem.S32 | elem.U32 | elem.F32 }

// AtomicAdd adds every element of a fragment to dst's element at the same coordinate, each in one step that no other
// thread's can come between. It orders nothing else: before others read the sums there must be a barrier, or the end of
// the kernel. old, if given, receives what dst held before. The order of the additions is open, and with it the last
// places of floating-point sums; in global memory, sums of f32 take subnormal numbers for zero.
func AtomicAdd[S Gmem | Smem, E AtomicNumber](dst Tensor[S, E], src Tensor[Rmem, E], old ...Tensor[Rmem, E]) {
	atomic("AtomicAdd", cir.AtomicAdd, origin(dst), origin(src), nil, optional(old))
}

// AtomicMin replaces dst's elements by the lesser of them and of the fragment's, as AtomicAdd adds.
func AtomicMin[S Gmem | Smem, E AtomicInt](dst Tensor[S, E], src Tensor[Rmem, E], old ...Tensor[Rmem, E]) {
	atomic("AtomicMin", cir.AtomicMin, origin(dst), origin(src), nil, optional(old))
}

// AtomicMax replaces dst's elements by the greater of them and of the fragment's, as AtomicAdd adds.
func AtomicMax[S Gmem | Smem, E AtomicInt](dst Tensor[S, E], src Tensor[Rmem, E], old ...Tensor[Rmem, E]) {
	atomic("AtomicMax", cir.AtomicMax, origin(dst), origin(src), nil, optional(old))
}

// AtomicExch exchanges dst's elements for the fragment's; old receives what dst held.
func AtomicExch[S Gmem | Smem, E AtomicWord](dst Tensor[S, E], src, old Tensor[Rmem, E]) {
	atomic("AtomicExch", cir.AtomicExch, origin(dst), origin(src), nil, &origin{old.k, old.t})
}

// AtomicCAS replaces dst's elements by the fragment's where they equal those of compare; old receives what dst held.
func AtomicCAS[S Gmem | Smem, E AtomicInt](dst Tensor[S, E], compare, src, old Tensor[Rmem, E]) {
	atomic("AtomicCAS", cir.AtomicCAS, origin(dst), origin(src), &origin{compare.k, compare.t}, &origin{old.k, old.t})
}

// optional is the last of the fragments that a caller may leave out.
func optional[E elem.Any](given []Tensor[Rmem, E]) *origin {
	if len(given) == 0 {
		return nil
	}
	o := origin(given[len(given)-1])
	return &o
}

// atomic records an operation; it has no compare or old where those are nil.
func atomic(op string, o cir.AtomicOp, dst, src origin, compare, old *origin) {
	all := []origin{dst, src}
	for _, x := range []*origin{compare, old} {
		if x != nil {
			all = append(all, *x)
		}
	}
	k := together(op, all...)
	if k == nil {
		return
	}
	var fragments []*ir.Tensor
	for _, x := range all[1:] {
		fragments = append(fragments, x.t)
	}
	err := cir.CanAtomic(o, dst.t.Elem)
	if p := dst.t.Storage.Param; p != nil && !(p.Read && p.Write) {
		err = fmt.Errorf("expects a tensor that may be read and written, since it changes what is there, but %s was not declared with InOut", p.Name)
	}
	if !k.fragments(op, err, dst.t, fragments...) {
		return
	}
	rec := ir.AtomicOp{Pos: k.position(), Op: o, Dst: dst.t, Src: src.t}
	if compare != nil {
		rec.Compare = compare.t
	}
	if old != nil {
		rec.Old = old.t
	}
	if k.knownAll(op, &rec.Dst) {
		k.add(rec)
	}
}
