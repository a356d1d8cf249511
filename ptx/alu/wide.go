package alu

import "math/bits"

const carryInts = "u32|s32|u64|s64"

// wideRows are the instructions with products and those with the carry.
func wideRows() map[string][]row {
	m := map[string][]row{
		"mul": {
			{form: "lo " + allInts, operands: "T T T", make: ints(mulLo[uint16], mulLo[uint32], mulLo[uint64], mulLo[uint16], mulLo[uint32], mulLo[uint64])},
			{form: "hi " + allInts, operands: "T T T", make: func(c *call) any { return hi[c.t.Name] }},
			{form: "wide u16|u32|s16|s32", operands: "W T T", make: func(c *call) any { return wide[c.t.Name] }},
		},
		"mad": {
			{form: "lo " + allInts, operands: "T T T T", make: func(c *call) any { return c.mad(lo[c.t.Name], c.t.Bits) }},
			{form: "hi " + allInts, operands: "T T T T", make: func(c *call) any { return c.mad(hi[c.t.Name], c.t.Bits) }},
			{form: "wide u16|u32|s16|s32", operands: "W T T W", make: func(c *call) any { return c.mad(wide[c.t.Name], 2*c.t.Bits) }},
			{form: "hi sat s32", operands: "T T T T", make: fixed(f3(func(a, b, c uint64) uint64 {
				return saturate32(int64(int32(a))*int64(int32(b))>>32 + int64(int32(c)))
			}))},
			{form: "lo|hi cc " + carryInts, operands: "T T T T", make: madCarry},
		},
		"madc": {{form: "lo|hi cc? " + carryInts, operands: "T T T T", make: madCarry}},
		"mul24": {{form: "lo|hi u32|s32", operands: "T T T", make: func(c *call) any {
			return mul24[c.one("lo", "hi")+c.t.Name]
		}}},
		"mad24": {
			{form: "lo|hi u32|s32", operands: "T T T T", make: func(c *call) any { return c.mad(mul24[c.one("lo", "hi")+c.t.Name], 32) }},
			{form: "hi sat s32", operands: "T T T T", make: fixed(f3(func(a, b, c uint64) uint64 {
				return saturate32(int64(int32(mul24["his32"](a, b))) + int64(int32(c)))
			}))},
		},
		"dp4a": {{form: "u32|s32 u32|s32", operands: "dot u32 u32 dot", make: dp4a}},
		"dp2a": {{form: "lo|hi u32|s32 u32|s32", operands: "dot u32 u32 dot", make: dp2a}},
	}
	for op, f := range map[string]struct{ narrow, wide g3 }{"add": {sum32, sum64}, "sub": {difference32, difference64}} {
		choose := func(c *call) g3 {
			if c.t.Bits == 64 {
				return f.wide
			}
			return f.narrow
		}
		m[op] = append(m[op], row{form: "cc " + carryInts, operands: "T T T", make: func(c *call) any {
			sum := choose(c)
			return g2(func(a, b uint64) (uint64, uint64) { return sum(a, b, 0) })
		}})
		m[op+"c"] = []row{
			{form: carryInts, operands: "T T T", make: func(c *call) any {
				sum := choose(c)
				return f3(func(a, b, carry uint64) uint64 { d, _ := sum(a, b, carry); return d })
			}},
			{form: "cc " + carryInts, operands: "T T T", make: func(c *call) any { return choose(c) }},
		}
	}
	return m
}

func mulLo[U unsigned](a, b uint64) uint64 { return uint64(U(a) * U(b)) }

// lo, hi and wide are the halves of products and whole ones, by type.
var (
	lo = map[string]f2{"u16": mulLo[uint16], "u32": mulLo[uint32], "u64": mulLo[uint64], "s16": mulLo[uint16], "s32": mulLo[uint32], "s64": mulLo[uint64]}
	hi = map[string]f2{
		"u16": func(a, b uint64) uint64 { return a * b >> 16 },
		"s16": func(a, b uint64) uint64 { return uint64(uint16(int32(int16(a)) * int32(int16(b)) >> 16)) },
		"u32": func(a, b uint64) uint64 { return a * b >> 32 },
		"s32": func(a, b uint64) uint64 { return uint64(uint32(int64(int32(a)) * int64(int32(b)) >> 32)) },
		"u64": func(a, b uint64) uint64 { h, _ := bits.Mul64(a, b); return h },
		"s64": func(a, b uint64) uint64 {
			h, _ := bits.Mul64(a, b)
			// A negative operand counts 2^64 too much.
			return h - uint64(int64(a)>>63)&b - uint64(int64(b)>>63)&a
		},
	}
	wide = map[string]f2{
		"u16": func(a, b uint64) uint64 { return a * b },
		"s16": func(a, b uint64) uint64 { return uint64(uint32(int32(int16(a)) * int32(int16(b)))) },
		"u32": func(a, b uint64) uint64 { return a * b },
		"s32": func(a, b uint64) uint64 { return uint64(int64(int32(a)) * int64(int32(b))) },
	}
	mul24 = map[string]f2{
		"lou32": func(a, b uint64) uint64 { return a & mask(24) * (b & mask(24)) & mask(32) },
		"hiu32": func(a, b uint64) uint64 { return a & mask(24) * (b & mask(24)) >> 16 & mask(32) },
		"los32": func(a, b uint64) uint64 { return uint64(int64(a)<<40>>40*(int64(b)<<40>>40)) & mask(32) },
		"his32": func(a, b uint64) uint64 { return uint64(int64(a)<<40>>40*(int64(b)<<40>>40)>>16) & mask(32) },
	}
)

// dp4a adds four products of bytes.
func dp4a(c *call) any {
	x, y := widen(c.d.Name == "s32", 8), widen(c.t.Name == "s32", 8)
	return f3(func(a, b, c uint64) uint64 {
		for i := 0; i < 32; i += 8 {
			c += x(a>>i) * y(b>>i)
		}
		return c & 0xffffffff
	})
}

// dp2a adds two products of 16 bits by two bytes, of b's lower or upper half.
func dp2a(c *call) any {
	x, y := widen(c.d.Name == "s32", 16), widen(c.t.Name == "s32", 8)
	from := 0
	if c.has("hi") {
		from = 16
	}
	return f3(func(a, b, c uint64) uint64 {
		b >>= from
		return (c + x(a)*y(b) + x(a>>16)*y(b>>8)) & 0xffffffff
	})
}

// mad adds to a product, in n bits.
func (c *call) mad(product f2, n int) any {
	if c.has("lo") && n == 32 && c.in.Words[0] == "mad" {
		return f3(func(a, b, c uint64) uint64 { return uint64(uint32(a)*uint32(b) + uint32(c)) })
	}
	m := mask(n)
	return f3(func(a, b, c uint64) uint64 { return (product(a, b) + c) & m })
}

// madCarry is mad and madc with the carry read, written or both.
func madCarry(c *call) any {
	product, sum := hi[c.t.Name], g3(sum32)
	if c.has("lo") {
		product = lo[c.t.Name]
	}
	if c.t.Bits == 64 {
		sum = sum64
	}
	switch {
	case c.in.Words[0] == "mad":
		return g3(func(a, b, c uint64) (uint64, uint64) { return sum(product(a, b), c, 0) })
	case c.has("cc"):
		return g4(func(a, b, c, carry uint64) (uint64, uint64) { return sum(product(a, b), c, carry) })
	}
	return f4(func(a, b, c, carry uint64) uint64 { d, _ := sum(product(a, b), c, carry); return d })
}

// widen extends the low n bits to 64.
func widen(signed bool, n int) f1 {
	spare := 64 - n
	if signed {
		return func(a uint64) uint64 { return uint64(int64(a<<spare) >> spare) }
	}
	return func(a uint64) uint64 { return a << spare >> spare }
}
