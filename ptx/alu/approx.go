package alu

import "math"

// approximation is a function that the hardware only comes near to.
type approximation struct {
	f     func(float64) float64
	bound string // for 32 bits
}

var approximations = map[string]approximation{
	"rcp":   {func(x float64) float64 { return 1 / x }, "1 ulp"},
	"sqrt":  {math.Sqrt, "relative error 2^-23"},
	"rsqrt": {func(x float64) float64 { return 1 / math.Sqrt(x) }, "relative error 2^-22.9"},
	"ex2":   {math.Exp2, "2 ulp"},
	"lg2":   {math.Log2, "absolute error 2^-22 between 0.5 and 2, else relative error 2^-22"},
	"sin":   {math.Sin, "absolute error 2^-20.5 between -pi and pi"},
	"cos":   {math.Cos, "absolute error 2^-20.5 between -pi and pi"},
	"tanh":  {math.Tanh, "relative error 2^-11"},
}

// approxRows are the functions with .approx and .full.
func approxRows() map[string][]row {
	m := map[string][]row{}
	for op := range approximations {
		m[op] = []row{{form: "approx ftz? f32", operands: "T T", make: approx}}
	}
	m["tanh"] = []row{{form: "approx f32|" + half + "|" + brain, operands: "T T", make: approx}}
	m["ex2"] = append(m["ex2"], row{form: "approx " + half, operands: "T T", make: approx},
		row{form: "approx ftz " + brain, operands: "T T", make: approx})
	m["rcp"] = append(m["rcp"], row{form: "approx ftz f64", operands: "T T", make: gross})
	m["rsqrt"] = append(m["rsqrt"], row{form: "approx ftz f64", operands: "T T", make: gross},
		row{form: "approx f64", operands: "T T", make: approx})
	m["div"] = []row{{form: "approx|full ftz? f32", operands: "T T T", make: approxDiv}}
	return m
}

// narrowBounds are the errors of 16 bits, and of 64.
var narrowBounds = map[string]string{
	"ex2f16": "relative error 2^-9.9", "ex2bf16": "relative error 2^-7", "tanhf16": "absolute error 2^-10.987", "tanhbf16": "absolute error 2^-8",
	"rsqrtf64": "relative error 2^-52",
}

func approx(c *call) any {
	name, lift := element(c.t)
	a := approximations[c.in.Words[0]]
	c.bound = a.bound
	if b, ok := narrowBounds[c.in.Words[0]+name]; ok {
		c.bound = b
	}
	f, dec, enc := a.f, formats[name].decode, formats[name].encode
	if name == "f64" {
		return f1(func(a uint64) uint64 { return result2(f(double(a)), a, a) })
	}
	return lift(c.finish(name, f1(func(a uint64) uint64 { return enc(f(dec(a))) })))
}

// gross reads and writes the upper halves of numbers of 64 bits, without subnormals.
func gross(c *call) any {
	f := approximations[c.in.Words[0]].f
	c.bound = "relative error 2^-20"
	upper := func(a uint64) uint64 {
		a &^= 0xffffffff
		if a>>52&0x7ff == 0 {
			a &= 1 << 63
		}
		return a
	}
	return f1(func(a uint64) uint64 {
		if math.IsNaN(double(a)) {
			return a | 1<<51
		}
		return upper(bits64(f(double(upper(a)))))
	})
}

// approxDiv is div.approx and div.full: quotients by great divisors are zero in the former.
func approxDiv(c *call) any {
	great := c.has("approx")
	c.bound = "2 ulp"
	return c.finish("f32", f2(func(a, b uint64) uint64 {
		x, y := float64(single(a)), float64(single(b))
		if great && math.Abs(y) > 0x1p126 && !math.IsInf(y, 0) {
			return bits32(float32(x * math.Copysign(0, y)))
		}
		return bits32(float32(x / y))
	}))
}
