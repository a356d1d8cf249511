package alu

import "math"

// minMaxRows are min and max of floating-point types.
func minMaxRows() map[string][]row {
	m := map[string][]row{}
	for _, op := range []string{"min", "max"} {
		for _, sign := range []string{"", " xorsign abs"} {
			m[op] = append(m[op],
				row{form: "ftz? NaN?" + sign + " f32", operands: "T T T", make: minMax},
				row{form: "ftz? NaN?" + sign + " " + half, operands: "T T T", make: minMax},
				row{form: "NaN?" + sign + " " + brain, operands: "T T T", make: minMax})
		}
		m[op] = append(m[op],
			row{form: "f64", operands: "T T T", make: minMax},
			row{form: "ftz? NaN? abs? f32", operands: "T T T T", make: minMax3})
	}
	return m
}

// lesser is min or max of two numbers, -0 below +0; of a NaN and a number the number, unless strict.
func lesser(max, strict bool) func(x, y float64) float64 {
	return func(x, y float64) float64 {
		switch {
		case x != x:
			if strict {
				return x
			}
			return y
		case y != y:
			if strict {
				return y
			}
			return x
		case max:
			return math.Max(x, y)
		}
		return math.Min(x, y)
	}
}

func minMax(c *call) any {
	name, lift := element(c.t)
	f, pick := formats[name], lesser(c.in.Words[0] == "max", c.has("NaN"))
	dec, enc, flush := f.decode, f.encode, f.flush
	if name == "f64" {
		return f2(func(a, b uint64) uint64 { return result2(pick(double(a), double(b)), a, b) })
	}
	if !c.has("ftz") {
		flush = func(a uint64) uint64 { return a }
	}
	if !c.has("xorsign") {
		return lift(f2(func(a, b uint64) uint64 { return enc(pick(dec(flush(a)), dec(flush(b)))) }))
	}
	top := uint64(1) << (f.kind.Bits() - 1)
	return lift(f2(func(a, b uint64) uint64 {
		d := enc(pick(dec(flush(a)&^top), dec(flush(b)&^top)))
		if d == f.nan {
			return d
		}
		return d | (a^b)&top
	}))
}

// minMax3 is min or max of three numbers of 32 bits.
func minMax3(c *call) any {
	pick := lesser(c.in.Words[0] == "max", c.has("NaN"))
	read := func(a uint64) float64 { return float64(single(a)) }
	if c.has("ftz") {
		read = func(a uint64) float64 { return float64(single(flush32(a))) }
	}
	if c.has("abs") {
		signed := read
		read = func(a uint64) float64 { return math.Abs(signed(a)) }
	}
	return f3(func(a, b, c uint64) uint64 { return bits32(float32(pick(pick(read(a), read(b)), read(c)))) })
}
