package alu

import (
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// whole rounds an exact number to an integer.
func whole(v *big.Rat, mode string) *big.Int {
	floor := new(big.Int).Div(v.Num(), v.Denom()) // Euclidean: downwards for positive denominators
	rest := new(big.Rat).Sub(v, new(big.Rat).SetInt(floor))
	if rest.Sign() == 0 {
		return floor
	}
	half := rest.Cmp(big.NewRat(1, 2))
	if mode == "rpi" || mode == "rzi" && v.Sign() < 0 || mode == "rni" && (half > 0 || half == 0 && floor.Bit(0) == 1) {
		floor.Add(floor, big.NewInt(1))
	}
	return floor
}

// bounds are the least and greatest value of an integer type.
func bounds(typ string) (low, high *big.Int) {
	n := uint(typeNamed(typ).Bits)
	one := big.NewInt(1)
	if typ[0] == 'u' {
		return new(big.Int), new(big.Int).Sub(new(big.Int).Lsh(one, n), one)
	}
	return new(big.Int).Neg(new(big.Int).Lsh(one, n-1)), new(big.Int).Sub(new(big.Int).Lsh(one, n-1), one)
}

func clampTo(v *big.Int, typ string) *big.Int {
	low, high := bounds(typ)
	switch {
	case v.Cmp(low) < 0:
		return low
	case v.Cmp(high) > 0:
		return high
	}
	return v
}

const integers = "u8|u16|u32|u64|s8|s16|s32|s64"

// inRegister is a value in a register of n bits: of a wider one than its type, signed types fill the rest.
func inRegister(v *big.Int, typ string, n int) uint64 {
	cut := number(word(v, typeNamed(typ).Bits), typ)
	return word(cut, n)
}

// TestFloatToInteger compares with exact numbers, of all of f16 and into registers that are wider than the type.
func TestFloatToInteger(t *testing.T) {
	for _, from := range []string{"f16", "bf16", "f32", "f64"} {
		l := layouts[from]
		in := l.floats(150, 1)
		if from == "f16" {
			in = nil
			for a := uint64(0); a < 1<<16; a += 7 {
				in = append(in, a)
			}
		}
		for _, halves := range []int64{1, 3, 5, 255, 257, 511, 65535, 131071, 1<<32 - 1, 1<<33 - 1} { // ties and the last values of types
			v := big.NewRat(halves, 2)
			in = append(in, l.encode(v, toZero), l.encode(v.Neg(v), toZero))
		}
		for n := 7; n <= 64; n++ {
			in = append(in, l.encode(power2(n), toZero), l.encode(power2(n), toZero)-1)
		}
		for to := range strings.SplitSeq(integers, "|") {
			for _, reg := range []string{"b16_", "b32_", "b64_"} {
				size := map[string]int{"b16_": 16, "b32_": 32, "b64_": 64}[reg]
				if size < typeNamed(to).Bits || from == "f16" && size != 32 {
					continue
				}
				for mode := range strings.SplitSeq(toWhole, "|") {
					text := "cvt." + mode + "." + to + "." + from
					run := on(t, text, reg, registersOf(typeNamed(from)))
					for _, a := range in {
						nan, inf := l.special(a)
						var want *big.Int
						low, high := bounds(to)
						switch {
						case nan && (from == "f64" || typeNamed(to).Bits == 64):
							want = new(big.Int).Lsh(big.NewInt(1), uint(typeNamed(to).Bits-1))
						case nan:
							want = new(big.Int)
						case inf && l.negative(a):
							want = low
						case inf:
							want = high
						default:
							want = clampTo(whole(l.value(a), mode), to)
						}
						if w, got := inRegister(want, to, size), run.eval(a); w != got {
							require.Failf(t, "differs", "%s of %#x in %s: expected %#x, got %#x", text, a, reg, w, got)
						}
					}
				}
			}
		}
	}
}

// TestIntegerToFloat compares with exact numbers.
func TestIntegerToFloat(t *testing.T) {
	for from := range strings.SplitSeq(integers, "|") {
		n := typeNamed(from).Bits
		in := sample(n, 300, 2)
		for i := range 12 { // near ties of each format
			for _, man := range []int{7, 10, 23, 52} {
				in = append(in, (uint64(1)<<(man+2+i)|1<<i|uint64(i%3))&mask(n), (uint64(3)<<(man+1+i)|1<<i-uint64(i%2))&mask(n))
			}
		}
		reg := "b64_" // wider than the type: the rest is not read
		for _, to := range []string{"f16", "bf16", "f32", "f64"} {
			l := layouts[to]
			for word, m := range roundings {
				text := "cvt" + word + "." + to + "." + from
				run := on(t, text, registersOf(typeNamed(to)), reg)
				for _, a := range in {
					v := number(a, from)
					var want uint64
					if v.Sign() != 0 {
						want = l.encode(new(big.Rat).SetInt(v), m)
					}
					l.same(t, want, run.eval(a), text, a)
					require.Equal(t, run.eval(a), run.eval(a|^mask(n)), "what is above the type is not read")
				}
			}
		}
	}
}

// TestIntegerToInteger compares with numbers cut to the type, or saturated.
func TestIntegerToInteger(t *testing.T) {
	for from := range strings.SplitSeq(integers, "|") {
		for to := range strings.SplitSeq(integers, "|") {
			for _, dest := range []string{"b16_", "b32_", "b64_"} {
				size := map[string]int{"b16_": 16, "b32_": 32, "b64_": 64}[dest]
				if size < typeNamed(to).Bits {
					continue
				}
				plain := on(t, "cvt."+to+"."+from, dest, "b64_")
				var sat *Op
				if saturates(typeNamed(to), typeNamed(from)) {
					sat = on(t, "cvt.sat."+to+"."+from, dest, "b64_")
				}
				for _, a := range sample(64, 150, 3) {
					v := number(a&mask(typeNamed(from).Bits), from)
					require.Equal(t, inRegister(v, to, size), plain.eval(a), "cvt.%s.%s of %#x in %s", to, from, a, dest)
					if sat != nil {
						require.Equal(t, inRegister(clampTo(v, to), to, size), sat.eval(a), "cvt.sat.%s.%s of %#x", to, from, a)
					}
				}
			}
		}
	}
}

// TestFloatToFloat compares every pair of formats with exact rounding.
func TestFloatToFloat(t *testing.T) {
	modes := map[string]mode{"rn": nearest, "rz": toZero, "rm": down, "rp": up}
	for from, l := range layouts {
		for to, k := range layouts {
			if from == "tf32" || to == "tf32" {
				continue
			}
			words := []string{"rn", "rz", "rm", "rp"}
			if holdsAll(to, from) {
				words = []string{""}
			}
			in := l.floats(800, 4)
			for _, a := range k.floats(150, 5) { // values of the narrower format and what lies between them
				if nan, inf := k.special(a); from == "f64" && !nan && !inf && k.value(a).Sign() != 0 {
					b := l.encode(k.value(a), toZero)
					half := uint64(1) << max(l.man-k.man-1, 0)
					in = append(in, b, b+1, b-1, b+half, b+half-1, b+half+1)
				}
			}
			for _, w := range words {
				text := strings.ReplaceAll("cvt."+w+"."+to+"."+from, "..", ".")
				run := on(t, text, registersOf(typeNamed(to)), registersOf(typeNamed(from)))
				for _, a := range in {
					k.same(t, converted(l, k, a, modes[w]), run.eval(a), text, a)
				}
			}
		}
	}
}

// converted is a number of format l in format k.
func converted(l, k layout, a uint64, m mode) uint64 {
	nan, inf := l.special(a)
	sign := uint64(truth(l.negative(a))) << (k.exp + k.man)
	switch {
	case nan:
		return mask(k.width() - 1)
	case inf:
		return sign | uint64(1<<k.exp-1)<<k.man
	case l.value(a).Sign() == 0:
		return sign
	}
	return k.encode(l.value(a), m)
}

// TestNarrow compares the conversions of f32 to tf32, f16 and bf16 with .relu and .satfinite.
func TestNarrow(t *testing.T) {
	l := layouts["f32"]
	in := l.floats(1500, 6)
	for _, a := range in {
		in = append(in, a&^0xfff, a&^0x1fff|0x1000, a&^0xffff|0x8000, a&^0x1fff|0xfff) // ties of the narrow formats
	}
	for _, c := range []struct {
		to, word string
		m        mode
	}{{"tf32", "rna", awayTies}, {"tf32", "rn", nearest}, {"tf32", "rz", toZero}, {"f16", "rn", nearest}, {"f16", "rz", toZero}, {"bf16", "rn", nearest}, {"bf16", "rz", toZero}} {
		for _, mods := range []string{"", ".relu", ".satfinite", ".relu.satfinite"} {
			if c.word == "rna" && strings.Contains(mods, "relu") {
				continue
			}
			k := layouts[c.to]
			text := "cvt." + c.word + mods + "." + c.to + ".f32"
			run := on(t, text, registersOf(typeNamed(c.to)), "f32_")
			for _, a := range in {
				want := converted(l, k, a, c.m)
				nan, inf := k.special(want)
				if !nan && strings.Contains(mods, "relu") && k.negative(want) {
					want, inf = 0, false
				}
				if inf && strings.Contains(mods, "satfinite") {
					want--
				}
				got := run.eval(a)
				if c.to == "tf32" {
					require.Zero(t, got&0x1fff&^(0x1fff*truth(nan)))
					if got = got >> 13; nan {
						got |= 0x3ff
					}
				}
				if w := k.canonical(want); w != k.canonical(got) {
					require.Failf(t, "differs", "%s of %#x: expected %#x, got %#x", text, a, want, got)
				}
			}
		}
	}
}

// TestSmallFormats rounds to the formats of 4, 6 and 8 bits by looking for the nearest of all their values.
func TestSmallFormats(t *testing.T) {
	for _, c := range []struct {
		pair        string
		exp, man    int
		finite, nan uint64 // the largest pattern, and the one of NaN
	}{{"e4m3x2", 4, 3, 0x7e, 0x7f}, {"e5m2x2", 5, 2, 0x7b, 0x7f}, {"e2m1x2", 2, 1, 7, 7}, {"e2m3x2", 2, 3, 31, 31}, {"e3m2x2", 3, 2, 31, 31}} {
		k, l := layout{c.exp, c.man}, layouts["f32"]
		reg := registersOf(typeNamed(c.pair))
		run := on(t, "cvt.rn.satfinite."+c.pair+".f32", reg, "f32_", "f32_")
		relu := on(t, "cvt.rn.satfinite.relu."+c.pair+".f32", reg, "f32_", "f32_")
		back := on(t, "cvt.rn.f16x2."+c.pair, "f16x2_", reg)
		n := typeNamed(c.pair).Bits / 2
		nearestOf := func(a uint64) uint64 {
			nan, inf := l.special(a)
			sign := truth(l.negative(a)) << (c.exp + c.man)
			switch {
			case nan:
				return c.nan
			case inf:
				return sign | c.finite
			}
			v := l.value(a)
			v.Abs(v)
			best, far := uint64(0), power2(200)
			for b := uint64(0); b <= c.finite; b++ {
				d := new(big.Rat).Sub(k.value(b), v)
				if s := d.Abs(d).Cmp(far); s < 0 || s == 0 && b&1 == 0 {
					best, far = b, d
				}
			}
			return sign | best
		}
		in := l.floats(60, 7)
		for b := uint64(0); b < c.finite; b++ { // each value and each tie between neighbours
			v := k.value(b)
			mid := new(big.Rat).Add(v, k.value(b+1))
			in = append(in, l.encode(mid.Mul(mid, big.NewRat(1, 2)), nearest))
			if v.Sign() != 0 {
				in = append(in, l.encode(v, nearest), l.encode(v.Neg(v), nearest))
			}
		}
		for i, a := range in {
			b := in[(i*7+3)%len(in)]
			x, y := nearestOf(a), nearestOf(b)
			require.Equal(t, x<<n|y, run.eval(a, b), "%s of %#x, %#x", c.pair, a, b)
			if x>>(c.exp+c.man) == 1 {
				x = 0
			}
			if y>>(c.exp+c.man) == 1 {
				y = 0
			}
			require.Equal(t, x<<n|y, relu.eval(a, b), "relu %s of %#x, %#x", c.pair, a, b)
		}
		f16 := layouts["f16"]
		for b := uint64(0); b <= c.finite; b++ {
			want := uint64(0)
			if b != 0 {
				want = f16.encode(k.value(b), nearest)
			}
			require.Equal(t, (want|0x8000)<<16|want, back.eval((b|1<<(c.exp+c.man))<<n|b), "%s %#x", c.pair, b)
			if n == 8 && c.exp+c.man == 7 {
				again := on(t, "cvt.rn.satfinite."+c.pair+".f16x2", reg, "f16x2_")
				require.Equal(t, b<<8|b, again.eval(want<<16|want))
			}
		}
	}
}

// TestPack compares cvt.pack with saturated numbers put side by side.
func TestPack(t *testing.T) {
	for _, name := range []string{"u16", "s16", "u8", "s8", "u4", "s4"} {
		n := typeNamed(name).Bits
		text, operands := "cvt.pack.sat."+name+".s32", []string{"b32_", "b32_", "b32_"}
		if n < 16 {
			text, operands = text+".b32", append(operands, "b32_")
		}
		run := on(t, text, operands...)
		in := sample(32, 60, 8)
		for _, a := range in {
			for _, b := range in {
				c := a * 0x9e3779b9 & mask(32)
				want := word(clampTo(number(a, "s32"), name), n)<<n | word(clampTo(number(b, "s32"), name), n)
				if n < 16 {
					want |= c << (2 * n) & mask(32)
				}
				require.Equal(t, want, run.eval(a, b, c), "%s of %#x, %#x, %#x", text, a, b, c)
			}
		}
	}
}
