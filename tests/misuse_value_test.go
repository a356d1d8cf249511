package tests

import (
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// Values of element types that cannot do what is asked of them, and values that cannot be.

// each makes a kernel that maps one fragment of E onto one of O.
func each[O, E elem.Any](name string, f func(k *K, v Val[E]) Val[O]) bool {
	return misuse(name, func(k *K) {
		k.Helper()
		A, B := In[E](k, "A", Shape(32)), Out[O](k, "B", Shape(32))
		k.Threads(32)
		Map(FragmentLike(A), FragmentLike(B), func(v Val[E]) Val[O] { return f(k, v) })
	})
}

var _ = each("fp8_arithmetic", func(_ *K, v Val[elem.E4M3]) Val[elem.E4M3] {
	return v.Add(v) // ERROR "^Add: elements of type e4m3 have no arithmetic: only MMA instructions compute with them$"
})

var _ = each("fp8_fma", func(_ *K, v Val[elem.E5M2]) Val[elem.E5M2] {
	return v.FMA(v, v). // ERROR "^FMA: elements of type e5m2 have no arithmetic"
				Neg().Exp() // silent: what they depend on is reported
})

var _ = each("fp8_functions", func(_ *K, v Val[elem.E5M2]) Val[elem.E5M2] {
	return v.Tanh() // ERROR "^Tanh: elements of type e5m2 have no arithmetic"
})

var _ = each("fp8_compared", func(_ *K, v Val[elem.E4M3]) Val[elem.E4M3] {
	return Select(v.Lt(Lit[elem.E4M3](1)), // ERROR "^Lt: elements of type e4m3 have no comparison: only MMA"
		v, v)
})

var _ = each("fp8_widened", func(_ *K, v Val[elem.E4M3]) Val[elem.F32] {
	return To[elem.F32](v) // ERROR "^To: e4m3 does not convert to f32: sm_80 has no instruction for e4m3"
})

var _ = each("fp8_rounded", func(_ *K, v Val[elem.F16]) Val[elem.E5M2] {
	return To[elem.E5M2](v) // ERROR "^To: f16 does not convert to e5m2: sm_80 has no instruction for e5m2"
})

var _ = each("tf32_twice", func(_ *K, v Val[elem.F64]) Val[elem.TF32] {
	return To[elem.TF32](v) // ERROR "^To: f64 does not convert to tf32 with one rounding: convert it to f32 first$"
})

var _ = each("tf32_integer", func(k *K, v Val[elem.TF32]) Val[elem.TF32] {
	return v.Add(ToVal[elem.TF32](k.Thread)) // ERROR "^ToVal: s64 does not convert to tf32 with one rounding"
})

var _ = each("s8_literal", func(_ *K, v Val[elem.S8]) Val[elem.S8] {
	return v.Max(Lit[elem.S8](1000)) // ERROR "^Lit: 1000 is not a value of type s8, which holds the integers -128 to 127$"
})

var _ = each("s8_fraction", func(_ *K, v Val[elem.S8]) Val[elem.S8] {
	return Lit[elem.S8](1.5).Mul(v) // ERROR "^Lit: 1.5 is not a value of type s8, which holds the integers"
})

var _ = each("s64_literal", func(_ *K, v Val[elem.S64]) Val[elem.S64] {
	return v.Max(Lit[elem.S64](1 << 63)) // ERROR "^Lit: 9.22\d+e\+18 is not a value of type s64, which holds the integers -9223372036854775808 to 9223372036854775807$"
})

var _ = each("s8_exp", func(_ *K, v Val[elem.S8]) Val[elem.S8] {
	return v.Exp() // ERROR "^Exp: elements of type s8 have no exp: convert them to f32 first$"
})

var _ = each("u16_abs", func(_ *K, v Val[elem.U16]) Val[elem.U16] {
	return v.Abs() // ERROR "^Abs: elements of type u16 are never negative$"
})

var _ = each("u4_arithmetic", func(k *K, v Val[elem.S32]) Val[elem.S32] {
	u := ToVal[elem.U4](k.Thread)
	return v.Add(To[elem.S32](u.Sub(u))) // ERROR "^Sub: elements of type u4 have no arithmetic: convert them to s32 first$"
})

var _ = misuse("scalars", func(k *K) {
	In[elem.F32](k, "A", Shape(32))
	k.Threads(32)
	a, b := Scalar[elem.E4M3](k, "a"), Scalar[elem.U8](k, "b")
	Scalar[elem.S4](k, "c")            // ERROR "^Scalar: c: elements of type s4 are smaller than a byte"
	c := b.Eq(Lit[elem.U8](256)).Not() // ERROR "^Lit: 256 is not a value of type u8, which holds the integers 0 to 255$"
	k.If(c, func() {}, nil)
	k.If(a.Eq(a), func() {}, nil)              // ERROR "^Eq: elements of type e4m3 have no comparison"
	k.If(b.Eq(b).And(a.Ne(a)), func() {}, nil) // ERROR "^Ne: elements of type e4m3 have no comparison"
	k.Require(a.Le(a), "never")                // ERROR "^Le: elements of type e4m3 have no comparison"
	var none Val[elem.U8]
	k.If(b.Lt(none), func() {}, nil) // ERROR "^Lt: expects a value, but got one that was never set$"
})

var _ = misuse("whole_tensors", func(k *K) {
	A := In[elem.F32](k, "A", Shape(32))
	B := Out[elem.E4M3](k, "B", Shape(32))
	C := In[elem.S8](k, "C", Shape(32))
	k.Threads(32)
	a, c := FragmentLike(A), FragmentLike(C)
	Store(a, B, keepSum)      // ERROR "^Store: f32 does not convert to e4m3: sm_80"
	Convert[elem.E5M2](a)     // ERROR "^Convert: f32 does not convert to e5m2: sm_80"
	Fill(c, 200)              // ERROR "^Fill: 200 is not a value of type s8, which holds the integers -128 to 127$"
	Fill(FragmentLike(B), -1) // fine: e4m3 holds it
})

// keepSum keeps the sum.
func keepSum(acc, _ Val[elem.F32]) Val[elem.F32] { return acc }

var _ = misuse("value_outside", func(k *K) {
	A := Out[elem.S32](k, "A", Shape(32))
	k.Threads(32)
	frag := FragmentLike(A)
	var last, never Expr
	k.Loop(0, 4, func(i Expr) { last = i })
	Combine(frag, frag, func(old, _ Val[elem.S32]) Val[elem.S32] { return old.Add(ToVal[elem.S32](last)) }) // ERROR "^Combine: t belongs to the body that starts at line \d+ and cannot be used outside of it$"
	Combine(frag, frag, func(old, _ Val[elem.S32]) Val[elem.S32] {
		return old.Add(ToVal[elem.S32](never)) // ERROR "^ToVal: expects a value, but got an Expr that was never set"
	})
	var none Val[elem.S32]
	Combine(frag, frag, func(old, _ Val[elem.S32]) Val[elem.S32] {
		return old.Add(none) // ERROR "^Add: expects a value, but got one that was never set$"
	})
})

var _ = each("fp8_sigmoid", func(_ *K, v Val[elem.E5M2]) Val[elem.E5M2] {
	return v.Sigmoid() // ERROR "^Sigmoid: elements of type e5m2 have no arithmetic"
})

var _ = misuse("mapped_by_nothing", func(k *K) {
	A := In[elem.F16](k, "A", Shape(32, 4).Strides(4, 1))
	k.Threads(32)
	x := FragmentLike(A.At(k.Thread, All))
	Mapped[elem.F32](x, nil)                       // ERROR "^Mapped: expects a function, but got nil$"
	FragmentAs[elem.F32](Tensor[Rmem, elem.F16]{}) // ERROR "FragmentAs: "
})
