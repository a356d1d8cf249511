package alu

// logicRows are the instructions on bits, of words and of predicates.
func logicRows() map[string][]row {
	const words = "pred|b16|b32|b64"
	return map[string][]row{
		"and":  {{form: words, operands: "T T T", make: fixed(f2(func(a, b uint64) uint64 { return a & b }))}},
		"or":   {{form: words, operands: "T T T", make: fixed(f2(func(a, b uint64) uint64 { return a | b }))}},
		"xor":  {{form: words, operands: "T T T", make: fixed(f2(func(a, b uint64) uint64 { return a ^ b }))}},
		"not":  {{form: words, operands: "T T", make: not}},
		"cnot": {{form: "b16|b32|b64", operands: "T T", make: fixed(f1(func(a uint64) uint64 { return truth(a == 0) }))}},
		"lop3": {
			{form: "b32", operands: "T T T T #", make: lop3},
			{form: "or|and b32", operands: "T|pred T T T # pred", make: lop3},
		},
		"shl": {{form: "b16|b32|b64", operands: "T T u32", make: func(c *call) any {
			m := mask(c.t.Bits)
			return f2(func(a, b uint64) uint64 { return a << b & m }) // Go shifts everything out, as PTX does
		}}},
		"shr": {{form: "b16|b32|b64|" + allInts, operands: "T T u32", make: func(c *call) any {
			if c.t.Name[0] != 's' {
				return f2(func(a, b uint64) uint64 { return a >> b })
			}
			m, extend := mask(c.t.Bits), widen(true, c.t.Bits)
			return f2(func(a, b uint64) uint64 { return uint64(int64(extend(a))>>b) & m })
		}}},
		"shf": {{form: "l|r wrap|clamp b32", operands: "T T T u32", make: shf}},
	}
}

// truth is 1 for true.
func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func not(c *call) any {
	m := mask(c.t.Bits)
	return f1(func(a uint64) uint64 { return ^a & m })
}

// lop3 is any function of three bits: bit 4a+2b+c of the constant.
func lop3(c *call) any {
	lut := c.consts[0]
	if lut > 255 {
		return fail("expected a table from 0 to 255, but got %d", int64(lut))
	}
	terms := [8]uint64{}
	for i := range terms {
		terms[i] = -(lut >> i & 1)
	}
	f := func(a, b, c uint64) uint64 {
		var d uint64
		for i, t := range &terms {
			i := uint64(i)
			// Each operand or its complement, by the bit of i.
			d |= t & (a ^ (i>>2 - 1)) & (b ^ (i>>1&1 - 1)) & (c ^ (i&1 - 1))
		}
		return d & 0xffffffff
	}
	switch {
	case c.has("or"):
		return g4(func(a, b, c, q uint64) (uint64, uint64) { d := f(a, b, c); return d, truth(d != 0) | q })
	case c.has("and"):
		return g4(func(a, b, c, q uint64) (uint64, uint64) { d := f(a, b, c); return d, truth(d != 0) & q })
	}
	return f
}

// shf shifts the 64 bits of b above a and takes the upper half to the left, the lower half to the right.
func shf(c *call) any {
	left, clamp := c.has("l"), c.has("clamp")
	return f3(func(a, b, c uint64) uint64 {
		if clamp {
			c = min(c, 32)
		} else {
			c &= 31
		}
		v := b<<32 | a
		if left {
			return v << c >> 32
		}
		return v >> c & 0xffffffff
	})
}
