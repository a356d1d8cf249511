package alu

import (
	"math"
	"slices"

	"github.com/gocute/gocute/ptx"
)

const (
	anyRounding = "rn|rz|rm|rp"
	half        = "f16|f16x2"
	brain       = "bf16|bf16x2"
)

// floatRows are sums, products, quotients, roots and signs.
func floatRows() map[string][]row {
	m := map[string][]row{}
	for _, op := range []string{"add", "sub", "mul"} {
		m[op] = []row{
			{form: anyRounding + "? ftz? sat? f32", operands: "T T T", make: arith2},
			{form: anyRounding + "? f64", operands: "T T T", make: arith2},
			{form: anyRounding + "? ftz? f32x2", operands: "T T T", make: arith2},
			{form: "rn? ftz? sat? " + half, operands: "T T T", make: arith2},
			{form: "rn? " + brain, operands: "T T T", make: arith2},
		}
		if op != "mul" {
			m[op] = append(m[op], row{form: anyRounding + "? sat? f32 f16|bf16", operands: "D T D", make: mixed2})
		}
	}
	m["fma"] = []row{
		{form: anyRounding + " ftz? sat? f32", operands: "T T T T", make: arith3},
		{form: anyRounding + " f64", operands: "T T T T", make: arith3},
		{form: anyRounding + " ftz? f32x2", operands: "T T T T", make: arith3},
		{form: "rn ftz? sat? " + half, operands: "T T T T", make: arith3},
		{form: "rn ftz? relu " + half, operands: "T T T T", make: arith3},
		{form: "rn relu? " + brain, operands: "T T T T", make: arith3},
		{form: anyRounding + " sat? f32 f16|bf16", operands: "D T T D", make: mixed3},
	}
	m["mad"] = slices.Clone(m["fma"][:2])
	m["div"] = []row{{form: anyRounding + " ftz? f32", operands: "T T T", make: arith2}, {form: anyRounding + " f64", operands: "T T T", make: arith2}}
	one := []row{{form: anyRounding + " ftz? f32", operands: "T T", make: arith1}, {form: anyRounding + " f64", operands: "T T", make: arith1}}
	m["rcp"], m["sqrt"] = one, slices.Clone(one)
	for _, op := range []string{"neg", "abs"} {
		m[op] = []row{{form: "ftz? f32", operands: "T T", make: sign}, {form: "f64", operands: "T T", make: sign},
			{form: "ftz? " + half, operands: "T T", make: sign}, {form: brain, operands: "T T", make: sign}}
	}
	m["copysign"] = []row{{form: "f32|f64", operands: "T T T", make: func(c *call) any {
		top := uint64(1) << (c.t.Bits - 1)
		return f2(func(a, b uint64) uint64 { return a&top | b&^top })
	}}}
	return m
}

// element is the type of one lane of a packed type, and the function that lifts what computes one.
func element(t ptx.Type) (name string, lift func(any) any) {
	switch {
	case t.Name == "f32x2":
		return "f32", words
	case t.Lanes == 2:
		return t.Name[:len(t.Name)-2], func(f any) any {
			switch f := f.(type) {
			case f1:
				return halves1(f)
			case f2:
				return halves2(f)
			}
			return halves3(f.(f3))
		}
	}
	return t.Name, func(f any) any { return f }
}

// words applies a function of 32 bits to both halves of 64.
func words(f any) any {
	const low = 0xffffffff
	if f, ok := f.(f2); ok {
		return f2(func(a, b uint64) uint64 { return f(a&low, b&low) | f(a>>32, b>>32)<<32 })
	}
	g := f.(f3)
	return f3(func(a, b, c uint64) uint64 { return g(a&low, b&low, c&low) | g(a>>32, b>>32, c>>32)<<32 })
}

// finish applies .ftz, .sat and .relu to operands and results of a format.
func (c *call) finish(name string, f any) any {
	ftz, sat, rectify := c.has("ftz"), c.has("sat"), c.has("relu")
	if !ftz && !sat && !rectify {
		return f
	}
	fm := formats[name]
	flush := func(a uint64) uint64 { return a }
	if ftz {
		flush = fm.flush
	}
	top := uint64(1) << (fm.kind.Bits() - 1)
	after := func(d uint64) uint64 {
		d = flush(d)
		switch {
		case sat:
			return fm.encode(clamp(fm.decode(d)))
		case rectify && d&top != 0: // results have no negative NaN
			return 0
		}
		return d
	}
	switch f := f.(type) {
	case f1:
		return f1(func(a uint64) uint64 { return after(f(flush(a))) })
	case f2:
		return f2(func(a, b uint64) uint64 { return after(f(flush(a), flush(b))) })
	}
	g := f.(f3)
	return f3(func(a, b, c uint64) uint64 { return after(g(flush(a), flush(b), flush(c))) })
}

// arith2 computes add, sub, mul and div.
func arith2(c *call) any {
	name, lift := element(c.t)
	return lift(c.finish(name, binary(c.in.Words[0], name, c.rounding())))
}

// binary is one operation in one format.
func binary(op, name string, m mode) any {
	switch name {
	case "f64":
		return binary64(op, m)
	case "f32":
		if m == nearest {
			return binary32[op]
		}
		return directed32(op, m)
	}
	f := formats[name]
	dec, enc := f.decode, f.encode
	switch op {
	case "add":
		return f2(func(a, b uint64) uint64 { return enc(oddSum(dec(a), dec(b))) })
	case "sub":
		return f2(func(a, b uint64) uint64 { return enc(oddSum(dec(a), -dec(b))) })
	}
	return f2(func(a, b uint64) uint64 { return enc(dec(a) * dec(b)) }) // exact before it is rounded
}

// binary32 rounds to nearest, as Go's own float32 does.
var binary32 = map[string]f2{
	"add": func(a, b uint64) uint64 { return bits32(single(a) + single(b)) },
	"sub": func(a, b uint64) uint64 { return bits32(single(a) - single(b)) },
	"mul": func(a, b uint64) uint64 { return bits32(single(a) * single(b)) },
	"div": func(a, b uint64) uint64 { return bits32(single(a) / single(b)) },
}

func directed32(op string, m mode) any {
	sum := func(x, y float64) uint64 {
		return bits32(m.round32(m.zeroSum(oddSum(x, y), x, y)))
	}
	switch op {
	case "add":
		return f2(func(a, b uint64) uint64 { return sum(float64(single(a)), float64(single(b))) })
	case "sub":
		return f2(func(a, b uint64) uint64 { return sum(float64(single(a)), -float64(single(b))) })
	case "mul":
		return f2(func(a, b uint64) uint64 { return bits32(m.round32(float64(single(a)) * float64(single(b)))) })
	}
	return f2(func(a, b uint64) uint64 {
		return bits32(m.round32(oddQuotient(float64(single(a)), float64(single(b)))))
	})
}

func binary64(op string, m mode) any {
	switch op {
	case "add":
		return f2(func(a, b uint64) uint64 { return result2(m.fma64(double(a), 1, double(b)), a, b) })
	case "sub":
		return f2(func(a, b uint64) uint64 { return result2(m.fma64(double(a), 1, -double(b)), a, b) })
	case "mul":
		return f2(func(a, b uint64) uint64 { return result2(m.mul64(double(a), double(b)), a, b) })
	}
	return f2(func(a, b uint64) uint64 { return result2(m.div64(double(a), double(b)), a, b) })
}

// result2 keeps the operands off the heap unless the result is NaN.
func result2(v float64, a, b uint64) uint64 {
	if v == v {
		return math.Float64bits(v)
	}
	return bits64(v, a, b)
}

// arith3 computes fma and mad of floating-point types.
func arith3(c *call) any {
	name, lift := element(c.t)
	return lift(c.finish(name, fma(name, c.rounding())))
}

func fma(name string, m mode) any {
	switch {
	case name == "f64":
		return f3(func(a, b, c uint64) uint64 {
			v := m.fma64(double(a), double(b), double(c))
			if v == v {
				return math.Float64bits(v)
			}
			return bits64(v, a, b, c)
		})
	case name == "f32" && m == nearest:
		return f3(fma32)
	case name == "f32":
		return f3(func(a, b, c uint64) uint64 {
			p, z := float64(single(a))*float64(single(b)), float64(single(c))
			return bits32(m.round32(m.zeroSum(oddSum(p, z), p, z)))
		})
	}
	f := formats[name]
	dec, enc := f.decode, f.encode
	return f3(func(a, b, c uint64) uint64 { return enc(oddSum(float64(dec(a)*dec(b)), dec(c))) })
}

// fma32 rounds once: the product is exact in float64, and the sum is rounded to odd before it is rounded to nearest.
func fma32(a, b, c uint64) uint64 {
	p := float64(single(a)) * float64(single(b))
	return bits32(float32(oddSum(p, float64(single(c)))))
}

// mixed2 and mixed3 widen the first operands to f32.
func mixed2(c *call) any {
	dec := formats[c.t.Name].decode
	f := c.finish("f32", binary(c.in.Words[0], "f32", c.rounding())).(f2)
	return f2(func(a, b uint64) uint64 { return f(bits32(float32(dec(a))), b) })
}

func mixed3(c *call) any {
	dec := formats[c.t.Name].decode
	f := c.finish("f32", fma("f32", c.rounding())).(f3)
	return f3(func(a, b, c uint64) uint64 { return f(bits32(float32(dec(a))), bits32(float32(dec(b))), c) })
}

// arith1 computes rcp and sqrt with a rounding.
func arith1(c *call) any {
	m, reciprocal := c.rounding(), c.in.Words[0] == "rcp"
	switch {
	case c.t.Name == "f64" && reciprocal:
		return f1(func(a uint64) uint64 { return result2(m.div64(1, double(a)), a, a) })
	case c.t.Name == "f64":
		return f1(func(a uint64) uint64 { return result2(m.sqrt64(double(a)), a, a) })
	case reciprocal:
		return c.finish("f32", f1(func(a uint64) uint64 { return bits32(m.round32(oddQuotient(1, float64(single(a))))) }))
	}
	return c.finish("f32", f1(func(a uint64) uint64 { return bits32(m.round32(oddRoot(float64(single(a))))) }))
}

// sign computes neg and abs, on the sign bits alone.
func sign(c *call) any {
	bit := uint64(1) << (c.t.Bits/c.t.Lanes - 1)
	if c.t.Lanes == 2 {
		bit |= bit << 16
	}
	f := f1(func(a uint64) uint64 { return a ^ bit })
	if c.in.Words[0] == "abs" {
		f = func(a uint64) uint64 { return a &^ bit }
	}
	if !c.has("ftz") {
		return f
	}
	name, lift := element(c.t)
	flush := lift(f1(formats[name].flush)).(f1)
	return f1(func(a uint64) uint64 { return f(flush(a)) })
}
