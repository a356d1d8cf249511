package kernels

import (
	"errors"
	"math"

	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// Bias adds an input "bias", an element for each column of C.
func Bias[O elem.Any]() Epilogue[elem.F32, O] {
	return withInput(func(in *EpilogueInputs[elem.F32, O]) { in.Row("bias") }, Val[elem.F32].Add, func(x, y float64) float64 { return x + y })
}

// Residual adds an input "residual", a row-major matrix of C's extents.
func Residual[O elem.Any]() Epilogue[elem.F32, O] {
	return withInput(func(in *EpilogueInputs[elem.F32, O]) { in.Matrix("residual") }, Val[elem.F32].Add, func(x, y float64) float64 { return x + y })
}

// ScaleRows multiplies by an input "scale", an element for each row of C.
func ScaleRows[O elem.Any]() Epilogue[elem.F32, O] {
	return withInput(func(in *EpilogueInputs[elem.F32, O]) { in.Column("scale") }, Val[elem.F32].Mul, func(x, y float64) float64 { return x * y })
}

// Times multiplies by an input "factor", a row-major matrix of C's extents.
func Times[O elem.Any]() Epilogue[elem.F32, O] {
	return withInput(func(in *EpilogueInputs[elem.F32, O]) { in.Matrix("factor") }, Val[elem.F32].Mul, func(x, y float64) float64 { return x * y })
}

// ReLU is the greater of x and 0.
func ReLU[O elem.Any]() Epilogue[elem.F32, O] {
	return alone[O](func(x Val[elem.F32]) Val[elem.F32] { return x.Max(Lit[elem.F32](0)) }, func(x float64) float64 { return math.Max(x, 0) })
}

// SiLU is x times its logistic function, x/(1+exp(-x)).
func SiLU[O elem.Any]() Epilogue[elem.F32, O] {
	return alone[O](func(x Val[elem.F32]) Val[elem.F32] { return x.Mul(x.Sigmoid()) }, func(x float64) float64 { return x / (1 + math.Exp(-x)) })
}

// GELU is x/2*(1+tanh(u)) for u = sqrt(2/pi)*(x+0.044715*x^3), the usual approximation of x times the normal distribution.
// It is computed as x/(1+exp(-2u)), which is the same and does not cancel where x is negative.
func GELU[O elem.Any]() Epilogue[elem.F32, O] {
	const cubic = 0.044715
	scale := 2 * math.Sqrt(2/math.Pi)
	return alone[O](func(x Val[elem.F32]) Val[elem.F32] {
		return x.Mul(x.Mul(x).FMA(Lit[elem.F32](scale*cubic), Lit[elem.F32](scale)).Mul(x).Sigmoid())
	}, func(x float64) float64 { return x / (1 + math.Exp(-scale*(x+cubic*x*x*x))) })
}

// SiLUTimes is the gate of a feed-forward layer: SiLU(x), multiplied by an input "factor", a row-major matrix of C's
// extents.
func SiLUTimes[O elem.Any]() Epilogue[elem.F32, O] { return Chain(SiLU[O](), Times[O]()) }

// alone is an epilogue of x and nothing else.
func alone[O elem.Any](f func(Val[elem.F32]) Val[elem.F32], ref func(float64) float64) Epilogue[elem.F32, O] {
	return func(*EpilogueInputs[elem.F32, O]) (func(Val[elem.F32], []Val[elem.F32]) Val[elem.F32], func(float64, []float64) float64) {
		return func(x Val[elem.F32], _ []Val[elem.F32]) Val[elem.F32] { return f(x) }, func(x float64, _ []float64) float64 { return ref(x) }
	}
}

// withInput is an epilogue of x and the one input that declare declares.
func withInput[O elem.Any](declare func(*EpilogueInputs[elem.F32, O]), f func(x, y Val[elem.F32]) Val[elem.F32], ref func(x, y float64) float64) Epilogue[elem.F32, O] {
	return func(in *EpilogueInputs[elem.F32, O]) (func(Val[elem.F32], []Val[elem.F32]) Val[elem.F32], func(float64, []float64) float64) {
		in.k.Helper()
		declare(in)
		return func(x Val[elem.F32], in []Val[elem.F32]) Val[elem.F32] { return f(x, in[0]) }, func(x float64, in []float64) float64 { return ref(x, in[0]) }
	}
}

// Chain applies one epilogue after the other. Each declares its own inputs, in order, and is given those; their names must
// differ. A nil stage does nothing.
func Chain[Q, O elem.Any](stages ...Epilogue[Q, O]) Epilogue[Q, O] {
	return func(in *EpilogueInputs[Q, O]) (func(Val[Q], []Val[Q]) Val[Q], func(float64, []float64) float64) {
		in.k.Helper()
		type stage struct {
			f        func(Val[Q], []Val[Q]) Val[Q]
			ref      func(float64, []float64) float64
			from, to int // its inputs
		}
		var list []stage
		first := len(in.inputs) // not 0 within another chain
		for _, declare := range stages {
			if declare == nil {
				continue
			}
			s := stage{from: len(in.inputs) - first}
			s.f, s.ref = declare(in)
			s.to = len(in.inputs) - first
			if s.f == nil || s.ref == nil {
				if s.f != nil || s.ref != nil || s.to > s.from {
					in.k.Fail("Chain", errors.New("expects each stage to return a function and its reference, or neither and no inputs"))
				}
				continue // the identity
			}
			list = append(list, s)
		}
		f := func(x Val[Q], given []Val[Q]) Val[Q] {
			for _, s := range list {
				x = s.f(x, given[s.from:s.to])
			}
			return x
		}
		return f, func(x float64, given []float64) float64 {
			for _, s := range list {
				x = s.ref(x, given[s.from:s.to])
			}
			return x
		}
	}
}
