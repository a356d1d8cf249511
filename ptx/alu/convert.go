package alu

import (
	"math"
	"math/big"
	"strings"

	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/ptx"
)

const (
	numbers = "u8|u16|u32|u64|s8|s16|s32|s64|f16|bf16|f32|f64"
	toWhole = "rni|rzi|rmi|rpi"
	eights  = "e4m3x2|e5m2x2"
)

// convertRows are cvt and cvt.pack.
func convertRows() map[string][]row {
	return map[string][]row{"cvt": {
		{form: toWhole + "|" + anyRounding + "? ftz? sat? " + numbers + " " + numbers, operands: "D T", make: convert},
		{form: "rn|rz relu? satfinite? f16|bf16 f32", operands: "D T", make: narrow},
		{form: "rn|rz relu? satfinite? f16x2|bf16x2 f32", operands: "D T T", make: narrow2},
		{form: "rna satfinite? tf32 f32", operands: "D T", make: narrow},
		{form: "rn|rz relu? satfinite? tf32 f32", operands: "D T", make: narrow},
		{form: "rn satfinite relu? " + eights + " f32", operands: "b16 T T", make: narrow2},
		{form: "rn satfinite relu? e2m1x2 f32", operands: "b8 T T", make: narrow2},
		{form: "rn satfinite relu? e2m3x2|e3m2x2 f32", operands: "b16 T T", make: narrow2},
		{form: "rn satfinite relu? " + eights + " f16x2", operands: "b16 T", make: repack},
		{form: "rn relu? f16x2 " + eights, operands: "D b16", make: repack},
		{form: "rn relu? f16x2 e2m1x2", operands: "D b8", make: repack},
		{form: "rn relu? f16x2 e2m3x2|e3m2x2", operands: "D b16", make: repack},
		{form: "rz|rp satfinite? ue8m0x2 f32", operands: "b16 T T", make: narrow2},
		{form: "rz|rp satfinite? ue8m0x2 bf16x2", operands: "b16 T", make: repack},
		{form: "rn bf16x2 ue8m0x2", operands: "D b16", make: repack},
		{form: "pack sat u16|s16 s32", operands: "b32 T T", make: pack},
		{form: "pack sat u8|s8|u4|s4|u2|s2 s32 b32", operands: "b32 s32 s32 T", make: pack},
	}}
}

// extend is what a conversion's result becomes in its register: of a wider one, signed types fill the upper bits.
func (c *call) extend() f1 {
	m, reg := mask(c.d.Bits), mask(c.regs[0].Bits)
	if c.d.Class != ptx.Signed {
		return func(a uint64) uint64 { return a & m }
	}
	signed := widen(true, c.d.Bits)
	return func(a uint64) uint64 { return signed(a) & reg }
}

// convert chooses by the classes of both types.
func convert(c *call) any {
	if c.has("sat") && !saturates(c.d, c.t) {
		return fail("a conversion of %s to %s takes no .sat", c.t, c.d)
	}
	whole, rounds := c.one("rni", "rzi", "rmi", "rpi"), c.one("rn", "rz", "rm", "rp")
	from, to := c.t.Class == ptx.Float, c.d.Class == ptx.Float
	if c.has("ftz") && c.t.Name != "f32" && c.d.Name != "f32" {
		return fail(".ftz needs .f32 on one side")
	}
	needs := ""
	switch {
	case from && !to:
		needs = "rni"
	case !from && to, from && to && !holdsAll(c.d.Name, c.t.Name):
		needs = "rn"
	}
	same := from && c.d == c.t
	switch {
	case needs == "rni" && whole == "":
		return fail("a conversion of %s to %s needs .rni, .rzi, .rmi or .rpi", c.t, c.d)
	case needs == "rn" && rounds == "":
		return fail("a conversion of %s to %s needs .rn, .rz, .rm or .rp", c.t, c.d)
	case needs != "rn" && rounds != "" && (c.t.Name != "bf16" || !to || same):
		return fail("a conversion of %s to %s takes no .%s", c.t, c.d, rounds)
	case needs != "rni" && whole != "" && !same:
		return fail("a conversion of %s to %s takes no .%s", c.t, c.d, whole)
	}
	switch {
	case from && to:
		return floatToFloat(c, whole)
	case from:
		return floatToInt(c, whole)
	case to:
		return intToFloat(c)
	}
	return intToInt(c)
}

// saturates tells whether .sat fits a conversion: of integers only where a value may be out of range.
func saturates(d, t ptx.Type) bool {
	if d.Class == ptx.Float || t.Class == ptx.Float {
		return d.Name != "bf16" && t.Name != "bf16"
	}
	if d.Class == ptx.Unsigned {
		return t.Class == ptx.Signed || d.Bits < t.Bits
	}
	return d.Bits < t.Bits || d.Bits == t.Bits && t.Class == ptx.Unsigned
}

// holdsAll tells whether each value of one type is one of another.
func holdsAll(to, from string) bool {
	f, g := formats[to], formats[from]
	return f.man >= g.man && f.minExp-f.man <= g.minExp-g.man && f.largest >= g.largest
}

func intToInt(c *call) any {
	read, write := widen(c.t.Class == ptx.Signed, c.t.Bits), c.extend()
	if !c.has("sat") {
		if c.t.Class != ptx.Signed && c.d.Bits >= c.t.Bits {
			m, reg := mask(c.t.Bits), mask(c.regs[0].Bits)
			if c.d.Class != ptx.Signed || c.d.Bits > c.t.Bits || c.regs[0].Bits == c.d.Bits {
				return f1(func(a uint64) uint64 { return a & m & reg })
			}
		}
		return f1(func(a uint64) uint64 { return write(read(a)) })
	}
	signed := c.t.Class == ptx.Signed
	least, most := limits(c.d)
	return f1(func(a uint64) uint64 {
		v := read(a)
		switch {
		case signed && int64(v) < 0:
			if least == 0 || int64(v) < least {
				v = uint64(least)
			}
		case v > most:
			v = most
		}
		return write(v)
	})
}

// limits are the least and the greatest value of an integer type.
func limits(t ptx.Type) (least int64, most uint64) {
	if t.Class == ptx.Signed {
		return -1 << (t.Bits - 1), 1<<(t.Bits-1) - 1
	}
	return 0, mask(t.Bits)
}

func intToFloat(c *call) any {
	read, signed := widen(c.t.Class == ptx.Signed, c.t.Bits), c.t.Class == ptx.Signed
	f, m, sat := formats[c.d.Name], c.rounding(), c.has("sat")
	enc := f.encode
	if sat {
		enc = func(v float64) uint64 { return f.encode(clamp(v)) }
	}
	if c.d.Name == "f64" {
		return f1(func(a uint64) uint64 { return enc(m.integer64(read(a), signed)) })
	}
	return f1(func(a uint64) uint64 {
		n := read(a)
		negative := signed && int64(n) < 0
		if negative {
			n = -n
		}
		v := oddInteger(n, negative)
		if m != nearest {
			v = f.round(v, m)
		}
		return enc(v)
	})
}

// integer64 is the float64 of an integer.
func (m mode) integer64(n uint64, signed bool) float64 {
	if !signed {
		r := float64(n)
		if m == nearest {
			return r
		}
		return m.direct(r, compare(new(big.Float).SetPrec(64).SetUint64(n), r))
	}
	r := float64(int64(n))
	if m == nearest {
		return r
	}
	return m.direct(r, compare(new(big.Float).SetPrec(64).SetInt64(int64(n)), r))
}

// rounders make a number whole.
var rounders = map[string]func(float64) float64{"rni": math.RoundToEven, "rzi": math.Trunc, "rmi": math.Floor, "rpi": math.Ceil,
	"": func(v float64) float64 { return v }}

// reader decodes a floating-point operand, chopped to its type.
func (c *call) reader() func(uint64) float64 {
	f, m := formats[c.t.Name], mask(c.t.Bits)
	if c.has("ftz") && c.t.Name == "f32" {
		return func(a uint64) float64 { return float64(single(flush32(a & m))) }
	}
	return func(a uint64) float64 { return f.decode(a & m) }
}

func floatToInt(c *call, whole string) any {
	read, round, write := c.reader(), rounders[whole], c.extend()
	least, most := limits(c.d)
	var nan uint64
	if c.t.Name == "f64" || c.d.Bits == 64 {
		nan = 1 << (c.d.Bits - 1)
	}
	low, high := float64(least), float64(most) // of 64 bits, high is one more than most
	return f1(func(a uint64) uint64 {
		v := round(read(a))
		switch {
		case v != v:
			return write(nan)
		case v <= low:
			return write(uint64(least))
		case v >= high:
			return write(most)
		case v < 0:
			return write(uint64(int64(v)))
		}
		return write(uint64(v))
	})
}

func floatToFloat(c *call, whole string) any {
	f, m := formats[c.d.Name], c.rounding()
	plain := !c.has("ftz") && !c.has("sat") && whole == ""
	switch {
	case plain && c.t.Name == "f32" && m == nearest && c.d.Bits == 16:
		return quick[c.d.Name]
	case plain && c.d == c.t:
		n := mask(c.t.Bits)
		return f1(func(a uint64) uint64 { return f.encode(f.decode(a & n)) })
	}
	read, round := c.reader(), rounders[whole]
	ftz, sat := c.has("ftz") && c.d.Name == "f32", c.has("sat")
	return f1(func(a uint64) uint64 {
		v := round(read(a))
		if m != nearest {
			v = f.round(v, m)
		}
		if sat {
			v = clamp(v)
		}
		d := f.encode(v)
		if ftz {
			d = flush32(d)
		}
		return d
	})
}

// quick rounds f32 to nearest.
var quick = map[string]f1{
	"f16":  func(a uint64) uint64 { return uint64(elem.NewF16(single(a))) },
	"bf16": func(a uint64) uint64 { return uint64(elem.NewBF16(single(a))) },
}

// narrower rounds one number to the format of a lane of type name, with .relu and .satfinite.
func (c *call) narrower(name string) func(float64) uint64 {
	name = strings.TrimSuffix(name, "x2")
	if name == "ue8m0" {
		return c.power()
	}
	f, m := formats[name], c.rounding()
	rectify, satfinite := c.has("relu"), c.has("satfinite")
	return func(v float64) uint64 {
		switch {
		case v != v:
			return f.nan
		case rectify && (v < 0 || v == 0):
			return 0
		}
		v = f.round(v, m)
		if satfinite && math.Abs(v) > f.largest {
			v = math.Copysign(f.largest, v)
		}
		return f.encode(v)
	}
}

func narrow(c *call) any {
	f := c.narrower(c.d.Name)
	return f1(func(a uint64) uint64 { return f(float64(single(a))) })
}

// narrow2 puts two numbers of 32 bits into one word, the first above the second.
func narrow2(c *call) any {
	n := c.d.Bits / 2
	if q := quick[strings.TrimSuffix(c.d.Name, "x2")]; q != nil && c.has("rn") && !c.has("relu") && !c.has("satfinite") {
		return f2(func(a, b uint64) uint64 { return q(a)<<16 | q(b) })
	}
	f := c.narrower(c.d.Name)
	return f2(func(a, b uint64) uint64 { return f(float64(single(a)))<<n | f(float64(single(b))) })
}

// repack converts both lanes of a word.
func repack(c *call) any {
	from, to := c.t.Bits/2, c.d.Bits/2
	dec, enc := decoder(strings.TrimSuffix(c.t.Name, "x2")), c.narrower(c.d.Name)
	m := mask(from)
	if c.t.Name == "e2m3x2" || c.t.Name == "e3m2x2" {
		m = mask(6) // the upper two bits of each byte are not read
	}
	return f1(func(a uint64) uint64 { return enc(dec(a>>from&m))<<to | enc(dec(a&m)) })
}

func decoder(name string) func(uint64) float64 {
	if name == "ue8m0" {
		return func(a uint64) float64 {
			if a == 0xff {
				return math.NaN()
			}
			return math.Ldexp(1, int(a)-127)
		}
	}
	return formats[name].decode
}

// power rounds magnitudes to powers of two, written as their exponent.
func (c *call) power() func(float64) uint64 {
	rise, satfinite := c.has("rp"), c.has("satfinite")
	return func(v float64) uint64 {
		v = math.Abs(v)
		switch {
		case v != v, math.IsInf(v, 0) && !satfinite:
			return 0xff
		case v == 0:
			return 0
		}
		frac, e := math.Frexp(v)
		if !rise || frac == 0.5 {
			e--
		}
		if e+127 > 0xfe && !satfinite {
			return 0xff
		}
		return uint64(min(max(e+127, 0), 0xfe))
	}
}

// pack saturates two integers and puts them below the low bits of the third.
func pack(c *call) any {
	name := c.one("u16", "s16", "u8", "s8", "u4", "s4", "u2", "s2")
	n := map[byte]int{'6': 16, '8': 8, '4': 4, '2': 2}[name[len(name)-1]]
	least, most := int32(0), int32(1)<<n-1
	if name[0] == 's' {
		least, most = -1<<(n-1), 1<<(n-1)-1
	}
	m := mask(n)
	two := func(a, b uint64) uint64 {
		return uint64(min(max(int32(a), least), most))&m<<n | uint64(min(max(int32(b), least), most))&m
	}
	if n == 16 {
		return f2(two)
	}
	return f3(func(a, b, c uint64) uint64 { return c<<(2*n)&0xffffffff | two(a, b) })
}
