package tests

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/check"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen"
)

// switched stores the logistic function of twice its input by a loop at run time, whose steps take different registers.
func switched() *Kernel {
	const steps, vec = 3, 4
	return Define("switched", func(k *K) {
		A := In[elem.F16](k, "A", Shape(32, Nest(vec, steps)).Strides(vec*steps, Nest(1, vec)))
		B := Out[elem.F32](k, "B", Shape(32, Nest(vec, steps)).Strides(vec*steps, Nest(1, vec)))
		k.Threads(32)
		mine, out := A.At(k.Thread, All), B.At(k.Thread, All) // ((4,3))
		frag := FragmentLike(mine)                            // ((4,3))
		Map(mine, frag, keep[elem.F16])
		part := func(i int) Tensor[Rmem, elem.F16] { return frag.Tile(Tile(vec), i) } // (4)
		k.Loop(0, steps, func(i Expr) {
			x := FragmentAs[elem.F32](part(0)) // (4)
			k.Switch(i, steps, func(i int) {
				twice := Mapped(part(i), func(v Val[elem.F16]) Val[elem.F32] { return To[elem.F32](v).Mul(Lit[elem.F32](2)) })
				Map(twice, x, keep[elem.F32])
			})
			Map(x, out.Tile(Tile(vec), i), Val[elem.F32].Sigmoid)
		})
		Expect(B, 1e-5, func(r *Ref) func(at []int64) float64 {
			a := r.Tensor("A")
			return func(at []int64) float64 { return 1 / (1 + math.Exp(-2*a.At(at...))) }
		})
	})
}

func TestSwitch(t *testing.T) {
	k := switched()
	check.Kernel(t, k, check.Args{Seed: 5}, check.Options{On: check.CPU})
	out, err := gen.Generate(k, gen.Options{})
	require.NoError(t, err)
	require.Regexp(t, `(?s)if \(t == 0\) \{.*\} else if \(t == 1\) \{.*\} else \{`, string(out.CUDA))
}

// TestSingleElements: a view of one element is one, wherever it lies.
func TestSingleElements(t *testing.T) {
	k := Define("single_elements", func(k *K) {
		A := In[elem.F32](k, "A", Shape(8, Nest(2, 16)).Strides(32, Nest(16, 1)))
		B := Out[elem.F32](k, "B", Shape(256))
		k.Threads(256)
		s := Shared[elem.F32](k, "s", Swizzle(2, 1, 3, Shape(8, 32).Strides(32, 1)))
		row, col := k.Thread.Div(32), k.Thread.Mod(32)
		Map(A.At(row, col), s.At(row, col), keep[elem.F32])
		k.Barrier()
		one := FragmentLike(s.At(row, col))
		Map(s.At(row, col.Sub(31).Mul(-1)), one, keep[elem.F32]) // the row's columns in reverse
		Combine(one.At(0), A.At(row, 0), func(v, w Val[elem.F32]) Val[elem.F32] { return v.Add(w) })
		Map(one, B.At(k.Thread), keep[elem.F32])
		Expect(B, 0, func(r *Ref) func(at []int64) float64 {
			a := r.Tensor("A")
			return func(at []int64) float64 {
				row, col := at[0]/32, 31-at[0]%32
				return a.At(row, col%2, col/2) + a.At(row, 0, 0)
			}
		})
	})
	check.Kernel(t, k, check.Args{Seed: 1}, check.Options{On: check.CPU})
}

// TestSigmoidOfHalves: 16-bit floats compute it by way of f32, whose function is then printed.
func TestSigmoidOfHalves(t *testing.T) {
	k := Define("halves", func(k *K) {
		A, B := In[elem.BF16](k, "A", Shape(32)), Out[elem.BF16](k, "B", Shape(32))
		k.Threads(32)
		Map(A.At(k.Thread), B.At(k.Thread), Val[elem.BF16].Sigmoid)
		Expect(B, 4e-3, func(r *Ref) func(at []int64) float64 {
			a := r.Tensor("A")
			return func(at []int64) float64 { return 1 / (1 + math.Exp(-a.At(at...))) }
		})
	})
	check.Kernel(t, k, check.Args{Seed: 2}, check.Options{On: check.CPU})
	out, err := gen.Generate(k, gen.Options{})
	require.NoError(t, err)
	require.Contains(t, string(out.CUDA), "float sigmoid_f32(float x) {")
}

// TestLoopsLeaveNames: the loops that steps are printed as have other names than the kernel's own integers.
func TestLoopsLeaveNames(t *testing.T) {
	k := Define("names", func(k *K) {
		A, B := In[elem.F32](k, "A", Shape(128)), Out[elem.F32](k, "B", Shape(128))
		k.Threads(32)
		from, to := A.LocalPartition(Shape(32), k.Thread), B.LocalPartition(Shape(32), k.Thread)
		frag := FragmentLike(from)
		Map(from, frag, keep[elem.F32])
		k.If(k.Thread.Lt(40), func() { k.Var("j", k.Thread, 0, 31) }, nil)
		k.Let("i", k.Thread.Mod(4))
		Map(frag, to, keep[elem.F32])
		expectSame(B, "A")
	})
	check.Kernel(t, k, check.Args{Seed: 2}, check.Options{On: check.CPU})
}

// TestLoopEnds: a loop goes as far as its bound said when it began, also where its body sets a variable of the bound.
func TestLoopEnds(t *testing.T) {
	k := Define("loop_ends", func(k *K) {
		y := Out[elem.S32](k, "y", Shape(32))
		k.Threads(32)
		v := k.Var("v", 5, 0, 10)
		n := FragmentLike(y.At(k.Thread))
		Clear(n)
		one := func(x Val[elem.S32]) Val[elem.S32] { return x.Add(Lit[elem.S32](1)) }
		k.Loop(0, v.Expr, func(Expr) {
			k.If(k.Thread.Lt(40), func() { v.Set(v.Sub(1).Max(0)) }, nil)
			Map(n, n, one)
		})
		k.Loop(0, v.Add(2), func(Expr) { Map(n, n, one) })
		Map(n, y.At(k.Thread), keep[elem.S32])
		Expect(y, 0, func(*Ref) func(at []int64) float64 { return func([]int64) float64 { return 7 } })
	})
	check.Kernel(t, k, check.Args{Seed: 1}, check.Options{On: check.CPU})
	out, err := gen.Generate(k, gen.Options{})
	require.NoError(t, err)
	require.Contains(t, string(out.CUDA), "  const int end = v;\n")
	require.Contains(t, string(out.CUDA), "t < end;")
	require.Contains(t, string(out.CUDA), "t1 < v + 2;") // nothing sets it there
}
