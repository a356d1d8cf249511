package dsl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// In is a global tensor that the kernel reads.
func In[E elem.Any](k *K, name string, l Layout) Tensor[Gmem, E] {
	return global[E](k, "In", name, l, true, false)
}

// Out is a global tensor that the kernel writes.
func Out[E elem.Any](k *K, name string, l Layout) Tensor[Gmem, E] {
	return global[E](k, "Out", name, l, false, true)
}

// InOut is a global tensor that the kernel reads and writes.
func InOut[E elem.Any](k *K, name string, l Layout) Tensor[Gmem, E] {
	return global[E](k, "InOut", name, l, true, true)
}

func global[E elem.Any](k *K, op, name string, l Layout, read, write bool) Tensor[Gmem, E] {
	given(op, k)
	none := Tensor[Gmem, E]{k: k}
	lay, err := l.Algebra()
	if err != nil {
		k.errorf(op, "%s: %v", name, err)
		return none
	}
	if lay.IsSwizzled() || lay.HasBasis() {
		k.errorf(op, "%s expects a plain layout in global memory, but got %s", name, lay)
		return none
	}
	if !k.argument(op, name) {
		return none
	}
	count, err := lay.Cosize()
	if err != nil {
		k.errorf(op, "%s: %v", name, err)
		return none
	}
	kind := elem.KindOf[E]()
	if _, words := wordOf(kind); words {
		k.errorf(op, "%s: elements of type %s live in registers only; declare the words that hold them and Recast the fragment", name, kind)
		return none
	}
	mem := &cir.Mem{Name: name, Space: cir.Global, Elem: kind, Count: count, Align: max(1, kind.Bits()/8)}
	p := &cir.Param{Pos: k.position(), Name: name, Class: cir.Pointer, Elem: kind, Mem: mem, Layout: lay.String(), Read: read, Write: write}
	p.Extents = lay.Shape().Leaves()
	for _, d := range lay.Stride().Leaves() {
		p.Strides = append(p.Strides, d.Coef)
	}
	for _, e := range slices.Concat(p.Extents, p.Strides) {
		if !ofDims(e) {
			k.errorf(op, "%s expects extents and strides of Dims, which the caller gives, but got %s", name, e)
			return none
		}
	}
	k.kernel.ir.Params = append(k.kernel.ir.Params, p)
	t := &ir.Tensor{Name: name, Base: name, Elem: kind, Layout: lay, Ident: algebra.Identity(lay.Shape()),
		Storage: &ir.Storage{Name: name, Space: ir.Global, Elem: kind, Param: p, Align: mem.Align}}
	t.Bounds = bounds(lay.Shape(), nil)
	return Tensor[Gmem, E]{k: k, t: t}
}

// ofDims reports whether an expression is one of the kernel's arguments alone.
func ofDims(e sym.Expr) bool {
	return !slices.ContainsFunc(e.Symbols(), func(x *sym.Symbol) bool { return x.Class != sym.Param })
}

// bounds lists the extents of a shape's leaves with their paths.
func bounds(s algebra.Shape, path []int) []ir.Bound {
	if s.IsLeaf() {
		return []ir.Bound{{Path: path, Extent: s.Leaf()}}
	}
	var out []ir.Bound
	for i := range s.Rank() {
		out = append(out, bounds(s.Mode(i), append(append([]int{}, path...), i))...)
	}
	return out
}

// Scalar is a value that the launcher passes.
func Scalar[E elem.Any](k *K, name string) Val[E] {
	given("Scalar", k)
	kind := elem.KindOf[E]()
	if !k.argument("Scalar", name) {
		return Val[E]{k: k, err: errReported}
	}
	if err := cir.CanAddress(kind); err != nil {
		k.errorf("Scalar", "%s: %v", name, err)
		return Val[E]{k: k, err: errReported}
	}
	p := &cir.Param{Pos: k.position(), Name: name, Class: cir.Scalar, Elem: kind}
	k.kernel.ir.Params = append(k.kernel.ir.Params, p)
	return Val[E]{k: k, v: cir.ParamValue{Param: p}}
}

// MaxShared is the most bytes of shared memory that a block can have on any architecture.
func MaxShared() int { return cir.MaxShared() }

// Shared is an array in the block's shared memory. Its layout is static and may be swizzled.
func Shared[E elem.Any](k *K, name string, l Layout) Tensor[Smem, E] {
	return shared[E](k, name, l, ir.Storage{})
}

// SharedOver is an array in shared memory that starts where another one does, over it and over what was declared
// after it, as far as it reaches. Only one of them may be in use at a time, which barriers have to see to.
func SharedOver[E, O elem.Any](k *K, name string, l Layout, over Tensor[Smem, O]) Tensor[Smem, E] {
	if over.t == nil {
		return Tensor[Smem, E]{k: k}
	}
	return shared[E](k, name, l, ir.Storage{Over: over.t.Storage})
}

// shared declares an array of a layout, placed as the storage says.
func shared[E elem.Any](k *K, name string, l Layout, place ir.Storage) Tensor[Smem, E] {
	given("Shared", k)
	none := Tensor[Smem, E]{k: k}
	lay, err := l.Algebra()
	if err != nil {
		k.errorf("Shared", "%s: %v", name, err)
		return none
	}
	if !lay.IsStatic() || lay.HasBasis() {
		k.errorf("Shared", "%s expects a static layout of integers, but got %s", name, lay)
		return none
	}
	if !k.argument("Shared", name) {
		return none
	}
	kind := elem.KindOf[E]()
	if _, words := wordOf(kind); words {
		k.errorf("Shared", "%s: elements of type %s live in registers only; declare the words that hold them", name, kind)
		return none
	}
	if n, err := lay.Plain().Cosize(); err == nil { // too large to look at every element
		if c, _ := n.IsConst(); c > int64(cir.MaxShared()*8/kind.Bits()) {
			k.errorf("Shared", "%s takes %d bytes, %d elements of type %s, but a block has at most %d bytes of shared memory", name, c*int64(kind.Bits())/8, c, kind, cir.MaxShared())
			return none
		}
	}
	last := int64(0)
	for i, n := int64(0), size(lay); i < n; i++ {
		last = max(last, lay.AtInt(i))
	}
	st := &ir.Storage{Name: name, Space: ir.Shared, Elem: kind, Count: last + 1, Align: 16, Over: place.Over, Alone: place.Alone}
	all := append(slices.Clone(k.kernel.ir.Storages), st)
	if _, total := ir.PlaceShared(all); total > cir.MaxShared() {
		k.errorf("Shared", "%s brings the block to %d bytes of shared memory, but it has at most %d", name, total, cir.MaxShared())
		return none
	}
	k.kernel.ir.Storages = all
	t := &ir.Tensor{Name: name, Base: strings.TrimPrefix(name, "s"), Storage: st, Elem: kind,
		Layout: lay.Plain(), Swizzle: lay.Swizzle(), Offset: lay.Offset()}
	return Tensor[Smem, E]{k: k, t: t}
}

// align has an array in shared memory begin at a multiple of so many bytes.
func (k *K) align(op string, t *ir.Tensor, bytes int) bool {
	st := t.Storage
	if st.Align >= bytes {
		return true
	}
	st.Align = bytes
	_, total := ir.PlaceShared(k.kernel.ir.Storages)
	if total > cir.MaxShared() {
		k.errorf(op, "%s at a multiple of %d bytes brings the block to %d bytes of shared memory, but it has at most %d", st.Name, bytes, total, cir.MaxShared())
	}
	return total <= cir.MaxShared()
}

// wordOf is what registers of a kind are declared as, where that is not the kind itself: elements smaller than a byte
// are packed, complex numbers are several.
func wordOf(kind elem.Kind) (elem.Kind, bool) {
	w, ok := map[elem.Kind]elem.Kind{elem.KS4: elem.KU32, elem.KU4: elem.KU32, elem.KB1: elem.KU32,
		elem.KC64: elem.KF64, elem.KGC64: elem.KF64}[kind]
	return w, ok
}

func size(l algebra.Layout) int64 { n, _ := l.IntSize(); return n }

// maxRegisterBits bounds one fragment to what could never stay in registers but is still worth an error of nvcc's.
const maxRegisterBits = 1024 * 32

// registers declares a register array and the tensor over it.
func (k *K) registers(name, base string, kind elem.Kind, l algebra.Layout, values *ir.Provenance) (*ir.Tensor, error) {
	n, err := l.Cosize()
	if err != nil {
		return nil, err
	}
	count, _ := n.IsConst()
	if most := int64(maxRegisterBits / kind.Bits()); count > most {
		return nil, fmt.Errorf("a thread has 255 registers of 32 bits, but this fragment would have %d elements of type %s", count, kind)
	}
	st := &ir.Storage{Name: k.fresh(name), Space: ir.Register, Elem: kind, Count: count}
	if w, ok := wordOf(kind); ok { // whole registers, which Recast shows
		st.Elem, st.Count = w, (count*int64(kind.Bits())+int64(w.Bits())-1)/int64(w.Bits())
	}
	k.kernel.ir.Storages = append(k.kernel.ir.Storages, st)
	return &ir.Tensor{Name: st.Name, Base: base, Storage: st, Elem: kind, Layout: l, Values: values}, nil
}
