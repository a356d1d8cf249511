package alu

import "math/bits"

// bitRows are the integer instructions that count and move bits.
func bitRows() map[string][]row {
	const four = "u32|u64|s32|s64"
	return map[string][]row{
		"popc": {{form: "b32|b64", operands: "u32 T", make: fixed(f1(func(a uint64) uint64 { return uint64(bits.OnesCount64(a)) }))}},
		"clz": {{form: "b32|b64", operands: "u32 T", make: func(c *call) any {
			spare := 64 - c.t.Bits
			return f1(func(a uint64) uint64 { return uint64(bits.LeadingZeros64(a) - spare) })
		}}},
		"bfind": {{form: "shiftamt? " + four, operands: "u32 T", make: bfind}},
		"brev": {{form: "b32|b64", operands: "T T", make: func(c *call) any {
			spare := 64 - c.t.Bits
			return f1(func(a uint64) uint64 { return bits.Reverse64(a) >> spare })
		}}},
		"bfe":   {{form: four, operands: "T T u32 u32", make: bfe}},
		"bfi":   {{form: "b32|b64", operands: "T T T u32 u32", make: bfi}},
		"szext": {{form: "clamp|wrap u32|s32", operands: "T T u32", make: szext}},
		"bmsk":  {{form: "clamp|wrap b32", operands: "T u32 u32", make: bmsk}},
		"fns":   {{form: "b32", operands: "T T b32 s32", make: fixed(f3(fns))}},
		"prmt": {
			{form: "b32", operands: "T T T T", make: fixed(f3(func(a, b, c uint64) uint64 { return permute(a|b<<32, c) }))},
			{form: "f4e|b4e|rc8|ecl|ecr|rc16 b32", operands: "T T T T", make: prmtMode},
		},
	}
}

// bfind finds the highest 1 of an unsigned number and the highest bit of a signed one that differs from its sign.
func bfind(c *call) any {
	n, signed, amount := c.t.Bits, c.t.Name[0] == 's', c.has("shiftamt")
	extend := widen(true, n)
	return f1(func(a uint64) uint64 {
		if signed {
			a = extend(a)
			a ^= uint64(int64(a) >> 63)
		}
		at := bits.Len64(a) - 1
		switch {
		case at < 0:
			return 0xffffffff
		case amount:
			return uint64(n - 1 - at)
		}
		return uint64(at)
	})
}

// bfe extracts a field; what is above the word's top is copies of the sign.
func bfe(c *call) any {
	n, signed := c.t.Bits, c.t.Name[0] == 's'
	m, extend := mask(n), widen(true, n)
	return f3(func(a, b, c uint64) uint64 {
		at, count := b&0xff, c&0xff
		if count == 0 {
			return 0
		}
		if signed {
			a = extend(a)
			a = uint64(int64(a) >> at)
		} else {
			a >>= at
		}
		if count >= 64 {
			return a & m
		}
		a <<= 64 - count
		if signed {
			return uint64(int64(a)>>(64-count)) & m
		}
		return a >> (64 - count) & m
	})
}

// bfi puts the low bits of a into b.
func bfi(c *call) any {
	m := mask(c.t.Bits)
	return f4(func(a, b, c, d uint64) uint64 {
		field := (uint64(1)<<(d&0xff) - 1) << (c & 0xff) & m
		return b&^field | a<<(c&0xff)&field
	})
}

// szext extends the low b bits of a.
func szext(c *call) any {
	clamp, signed := c.has("clamp"), c.t.Name == "s32"
	return f2(func(a, b uint64) uint64 {
		if clamp && b >= 32 {
			return a
		}
		n := b & 31
		low := a & mask(int(n))
		if signed && n > 0 && a>>(n-1)&1 == 1 {
			return a | ^mask(int(n))&0xffffffff
		}
		return low
	})
}

// bmsk has b ones from bit a upwards.
func bmsk(c *call) any {
	clamp := c.has("clamp")
	return f2(func(a, b uint64) uint64 {
		if clamp {
			a, b = min(a, 32), min(b, 32)
		} else {
			a, b = a&31, b&31
		}
		return (uint64(1)<<b - 1) << a & 0xffffffff
	})
}

// fns finds the n-th 1 of a mask from a bit upwards, or downwards for negative n; n is 0 for that very bit.
func fns(set, base, n uint64) uint64 {
	const none = 0xffffffff
	at, left, step := int64(base), int64(int32(n)), int64(1)
	if left < 0 {
		left, step = -left, -1
	}
	if left == 0 {
		if at < 32 && set>>at&1 == 1 {
			return base
		}
		return none
	}
	for ; at >= 0 && at < 32; at += step {
		if set>>at&1 == 1 {
			if left--; left == 0 {
				return uint64(at)
			}
		}
	}
	return none
}

// permute chooses four of eight bytes by the nibbles of c, whose highest bits ask for the sign of the byte in all bits.
func permute(ab, c uint64) uint64 {
	var d uint64
	for i := 0; i < 4; i++ {
		nibble := c >> (4 * i)
		v := ab >> (8 * (nibble & 7)) & 0xff
		if nibble&8 != 0 {
			v = -(v >> 7) & 0xff
		}
		d |= v << (8 * i)
	}
	return d
}

// modes are the nibbles that the low two bits of c stand for in each mode of prmt.
var modes = map[string][4]uint64{
	"f4e":  {0x3210, 0x4321, 0x5432, 0x6543},
	"b4e":  {0x5670, 0x6701, 0x7012, 0x0123},
	"rc8":  {0x0000, 0x1111, 0x2222, 0x3333},
	"ecl":  {0x3210, 0x3211, 0x3222, 0x3333},
	"ecr":  {0x0000, 0x1110, 0x2210, 0x3210},
	"rc16": {0x1010, 0x3232, 0x1010, 0x3232},
}

func prmtMode(c *call) any {
	nibbles := modes[c.one("f4e", "b4e", "rc8", "ecl", "ecr", "rc16")]
	return f3(func(a, b, c uint64) uint64 { return permute(a|b<<32, nibbles[c&3]) })
}
