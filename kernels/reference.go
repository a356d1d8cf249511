package kernels

import (
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// expectGEMM states C = f(alpha*A*B + beta*C), of which C is not read where beta is 0.
func expectGEMM[Acc, O, Q elem.Any](C Tensor[Gmem, O], rows, cols string, g GEMMConfig, in *EpilogueInputs[Q, O]) {
	allowed := tolerance[O, Acc]()
	if in.ref != nil && elem.KindOf[Q]().IsFloat() && !elem.KindOf[O]().IsFloat() { // a function may end beside where two integers are as near
		allowed = 1e-6
	}
	Expect(C, allowed, func(r *Ref) func(at []int64) float64 {
		a, b, c := r.Tensor(rows), r.Tensor(cols), r.Tensor("C")
		round := steps[O, Q]()
		depth, alpha, beta := r.Dims["K"], round(r.Scalars["alpha"]), round(r.Scalars["beta"])
		return func(at []int64) float64 {
			sum, l := 0.0, at[2:]
			for k := range depth {
				sum += a.At(append([]int64{at[0], k}, l...)...) * b.At(append([]int64{at[1], k}, l...)...)
			}
			sum = round(round(sum) * alpha)
			if beta != 0 {
				sum = round(sum + round(beta*c.At(at...)))
			}
			if in.ref == nil {
				return sum
			}
			var given []float64
			for _, x := range in.inputs {
				given = append(given, r.Tensor(x.name).At(at[:2]...))
			}
			return in.ref(sum, given)
		}
	})
}

// steps is the rounding of each step from a sum to a result. Integers are compared exactly, and a step that rounds as Q does
// decides what is nearest where two are as near; of other results the tolerance has room for it.
func steps[O, Q elem.Any]() func(float64) float64 {
	if elem.KindOf[O]().IsFloat() || elem.KindOf[Q]() != elem.KF32 {
		return func(x float64) float64 { return x }
	}
	return func(x float64) float64 { return float64(float32(x)) }
}
