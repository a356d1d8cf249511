package dsl

import (
	"math"

	"github.com/gocute/gocute/elem"
)

// Ref gives a reference function the arguments of one run, as float64: the inputs as they were before the run.
type Ref struct {
	Tensors map[string]RefTensor
	Dims    map[string]int64
	Scalars map[string]float64
}

// RefTensor reads one global tensor by its coordinates.
type RefTensor struct {
	Extents []int64
	Strides []int64
	Data    []float64 // by offset
}

// At is the element at a coordinate, which must lie within the extents.
func (t RefTensor) At(coord ...int64) float64 {
	if len(t.Extents) == 0 {
		panic(referenceErrorf("the reference reads at %v, in a RefTensor that was never set", coord))
	}
	if len(coord) != len(t.Extents) {
		panic(referenceErrorf("the reference reads a tensor of rank %d at %v", len(t.Extents), coord))
	}
	at := int64(0)
	for i, c := range coord {
		if c < 0 || c >= t.Extents[i] {
			panic(referenceErrorf("the reference reads at %v, outside of a tensor of extents %v", coord, t.Extents))
		}
		at += c * t.Strides[i]
	}
	return t.Data[at]
}

// Expectation is how an output's elements are computed in float64.
type Expectation struct {
	Output string
	// Element binds the arguments of a run and returns the function from a coordinate to the expected value.
	Element func(r *Ref) func(at []int64) float64
	// Tolerance is the allowed error relative to the root mean square of the expected values; 0 means exact.
	Tolerance float64
}

// Expect states what an output must hold: element binds the arguments of a run and returns a function from a
// coordinate of the output to the expected value. `gocute run` and package check compare with it.
// The tolerance is relative to the root mean square of the expected values; 0 demands equality, and any other
// lets an element be the next one that its type has.
func Expect[E elem.Any](out Tensor[Gmem, E], tolerance float64, element func(r *Ref) func(at []int64) float64) {
	k := together("Expect", origin(out))
	if k == nil || !k.function("Expect", element == nil) {
		return
	}
	if tolerance < 0 || math.IsNaN(tolerance) {
		k.errorf("Expect", "expects a tolerance of 0 or more, but got %v", tolerance)
		return
	}
	if out.t.Name != out.t.Storage.Name {
		k.errorf("Expect", "expects the whole tensor %s, but got the view %s", out.t.Storage.Name, out.t.Name)
		return
	}
	if !out.t.Storage.Param.Write {
		k.errorf("Expect", "expects an output, but %s was declared with In", out.t.Name)
		return
	}
	for _, e := range k.kernel.expects {
		if e.Output == out.t.Storage.Name {
			k.errorf("Expect", "expects one reference for each output, but %s has one already", e.Output)
			return
		}
	}
	k.kernel.expects = append(k.kernel.expects, Expectation{Output: out.t.Storage.Name, Element: element, Tolerance: tolerance})
}

// Expectations lists the references given with Expect.
func (k *Kernel) Expectations() []Expectation {
	if k == nil {
		return nil
	}
	return k.expects
}

// Tensor is the argument of that name; it panics with a clear text where there is none, which Expect's callers
// report as the reference's own mistake.
func (r *Ref) Tensor(name string) RefTensor {
	if r == nil {
		panic(referenceErrorf("the reference asks for a tensor %q of a Ref that is nil", name))
	}
	t, ok := r.Tensors[name]
	if !ok {
		panic(referenceErrorf("the reference asks for a tensor %q, which the kernel does not have", name))
	}
	return t
}
