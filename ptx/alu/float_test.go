package alu

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
)

// binaryOf is a binary operation by its definition.
func (l layout) binaryOf(op string, a, b uint64, m mode) uint64 {
	nanA, infA := l.special(a)
	nanB, infB := l.special(b)
	nan, inf, sign := mask(l.width()-1), uint64(1<<l.exp-1)<<l.man, uint64(1)<<(l.exp+l.man)
	if op == "sub" {
		return l.binaryOf("add", a, b^sign, m)
	}
	if nanA || nanB {
		return nan
	}
	zeroA, zeroB, signs := a&^sign == 0, b&^sign == 0, (a^b)&sign
	switch op {
	case "add":
		switch {
		case infA && infB && a != b:
			return nan
		case infA:
			return a
		case infB:
			return b
		}
		return l.sum(l.value(a), l.value(b), l.negative(a) && zeroA, l.negative(b) && zeroB, zeroA && zeroB, m)
	case "mul":
		switch {
		case infA && zeroB, infB && zeroA:
			return nan
		case infA, infB:
			return signs | inf
		case zeroA, zeroB:
			return signs
		}
		return l.encode(new(big.Rat).Mul(l.value(a), l.value(b)), m)
	}
	switch {
	case infA && infB, zeroA && zeroB:
		return nan
	case infA, zeroB:
		return signs | inf
	case infB, zeroA:
		return signs
	}
	return l.encode(new(big.Rat).Quo(l.value(a), l.value(b)), m)
}

// sum adds exact values; the signs count where both are zero, and a sum that is zero otherwise is -0 only downwards.
func (l layout) sum(x, y *big.Rat, minusX, minusY, zeros bool, m mode) uint64 {
	s := new(big.Rat).Add(x, y)
	switch {
	case s.Sign() != 0:
		return l.encode(s, m)
	case zeros && minusX == minusY:
		return uint64(truth(minusX)) << (l.exp + l.man)
	}
	return uint64(truth(m == down)) << (l.exp + l.man)
}

func (l layout) fmaOf(a, b, c uint64, m mode) uint64 {
	nan, sign := mask(l.width()-1), uint64(1)<<(l.exp+l.man)
	for _, v := range []uint64{a, b, c} {
		if n, _ := l.special(v); n {
			return nan
		}
	}
	_, infA := l.special(a)
	_, infB := l.special(b)
	_, infC := l.special(c)
	signs := (a ^ b) & sign
	if infA || infB {
		if a&^sign == 0 || b&^sign == 0 || infC && c&sign != signs {
			return nan
		}
		return signs | uint64(1<<l.exp-1)<<l.man
	}
	if infC {
		return c
	}
	p := new(big.Rat).Mul(l.value(a), l.value(b))
	return l.sum(p, l.value(c), signs != 0, l.negative(c), p.Sign() == 0 && c&^sign == 0, m)
}

var roundings = map[string]mode{".rn": nearest, ".rz": toZero, ".rm": down, ".rp": up}

// TestFloatArithmetic compares add, sub, mul, div and fma of every format and rounding with exact rational numbers.
func TestFloatArithmetic(t *testing.T) {
	for name, l := range layouts {
		reg := registersOf(typeNamed(name))
		for word, m := range roundings {
			if name == "tf32" || l.width() == 16 && m != nearest {
				continue
			}
			for _, op := range []string{"add", "sub", "mul", "div"} {
				if op == "div" && l.width() == 16 {
					continue
				}
				text := op + word + "." + name
				run := on(t, text, reg, reg, reg)
				in := l.floats(35, 1)
				for _, a := range in {
					for _, b := range in {
						l.same(t, l.binaryOf(op, a, b, m), run.eval(a, b), text, a, b)
					}
				}
			}
			text := "fma" + word + "." + name
			run := on(t, text, reg, reg, reg, reg)
			in := l.floats(4, 2)
			for _, a := range in {
				for _, b := range in {
					for _, c := range in {
						l.same(t, l.fmaOf(a, b, c, m), run.eval(a, b, c), text, a, b, c)
					}
				}
			}
		}
	}
}

// TestFusedCancellation has products that cancel or nearly reach a tie, where rounding twice shows.
func TestFusedCancellation(t *testing.T) {
	for name, l := range layouts {
		if name == "tf32" {
			continue
		}
		reg := registersOf(typeNamed(name))
		for word, m := range roundings {
			if l.width() == 16 && m != nearest {
				continue
			}
			text := "fma" + word + "." + name
			run := on(t, text, reg, reg, reg, reg)
			in := l.floats(300, 3)
			for i := 2; i < len(in); i++ {
				a, b := in[i], in[i-1]
				product := l.binaryOf("mul", a, b, nearest)
				for _, c := range []uint64{product ^ 1<<(l.width()-1), product ^ 1<<(l.width()-1) ^ 1, 1, 1<<(l.width()-1) | 1, in[i-2] &^ mask(l.man)} {
					l.same(t, l.fmaOf(a, b, c, m), run.eval(a, b, c), text, a, b, c)
				}
			}
		}
	}
}

// TestHalvesExhaustively adds, multiplies and compares one f16 and bf16 with every other.
func TestHalvesExhaustively(t *testing.T) {
	for _, name := range []string{"f16", "bf16"} {
		l, reg := layouts[name], registersOf(typeNamed(name))
		for _, op := range []string{"add", "sub", "mul"} {
			text, step := op+"."+name, uint64(1)
			if testing.Short() {
				step = 13
			}
			run := on(t, text, reg, reg, reg)
			for _, b := range []uint64{0x8001, 0x3401} {
				for a := uint64(0); a < 1<<16; a += step {
					l.same(t, l.binaryOf(op, a, b, nearest), run.eval(a, b), text, a, b)
				}
			}
		}
	}
}

// TestRoots compares sqrt and rcp.
func TestRoots(t *testing.T) {
	for _, name := range []string{"f32", "f64"} {
		l, reg := layouts[name], registersOf(typeNamed(name))
		one := uint64(l.bias()) << l.man
		for word, m := range roundings {
			rcp, sqrt := on(t, "rcp"+word+"."+name, reg, reg), on(t, "sqrt"+word+"."+name, reg, reg)
			for _, a := range l.floats(1000, 4) {
				l.same(t, l.binaryOf("div", one, a, m), rcp.eval(a), "rcp"+word, a)
				want := mask(l.width() - 1)
				nan, inf := l.special(a)
				switch {
				case nan:
				case a<<1&mask(l.width()) == 0, inf && !l.negative(a):
					want = a
				case !l.negative(a):
					want = l.root(l.value(a), m)
				}
				l.same(t, want, sqrt.eval(a), "sqrt"+word, a)
			}
		}
	}
}

// TestModifiersOfFloats compares .ftz, .sat and .relu with the plain instruction between what they do.
func TestModifiersOfFloats(t *testing.T) {
	for _, name := range []string{"f32", "f16", "bf16"} {
		l, reg := layouts[name], registersOf(typeNamed(name))
		sign := uint64(1) << (l.width() - 1)
		flush := func(a uint64) uint64 {
			if a>>l.man&(1<<l.exp-1) == 0 {
				return a & sign
			}
			return a
		}
		saturate := func(a uint64) uint64 {
			nan, _ := l.special(a)
			one := uint64(l.bias()) << l.man
			switch {
			case nan || a&sign != 0:
				return 0
			case a > one:
				return one
			}
			return a
		}
		rectify := func(a uint64) uint64 {
			if nan, _ := l.special(a); !nan && a&sign != 0 {
				return 0
			}
			return a
		}
		id := func(a uint64) uint64 { return a }
		for _, c := range []struct {
			modifier    string
			in, out     func(uint64) uint64
			only, never string
		}{
			{".ftz", flush, flush, "", "bf16"}, {".sat", id, saturate, "", "bf16"}, {".relu", id, rectify, "fma", "f32"},
			{".ftz.sat", flush, func(a uint64) uint64 { return saturate(flush(a)) }, "", "bf16"},
		} {
			if c.never == name {
				continue
			}
			in := l.floats(12, 5)
			fma, plain := on(t, "fma.rn"+c.modifier+"."+name, reg, reg, reg, reg), on(t, "fma.rn."+name, reg, reg, reg, reg)
			for _, x := range in {
				for _, y := range in {
					for _, z := range in {
						l.same(t, c.out(plain.eval(c.in(x), c.in(y), c.in(z))), fma.eval(x, y, z), "fma"+c.modifier, x, y, z)
					}
				}
			}
			for _, op := range []string{"add", "sub", "mul"} {
				if c.only != "" {
					continue
				}
				with, without := on(t, op+c.modifier+"."+name, reg, reg, reg), on(t, op+"."+name, reg, reg, reg)
				for _, x := range in {
					for _, y := range in {
						l.same(t, c.out(without.eval(c.in(x), c.in(y))), with.eval(x, y), op+c.modifier, x, y)
					}
				}
			}
		}
	}
}

// TestPairsOfFloats compares the packed forms with two single ones.
func TestPairsOfFloats(t *testing.T) {
	for pair, single := range map[string]string{"f16x2": "f16", "bf16x2": "bf16", "f32x2": "f32"} {
		l := layouts[single]
		one, two := registersOf(typeNamed(single)), registersOf(typeNamed(pair))
		in := l.floats(40, 6)
		at := func(i int) uint64 { return in[i%len(in)] }
		both := func(i int) uint64 { return at(i) | at(3*i+7)<<l.width() }
		ops := []string{"add", "sub", "mul", "fma.rn", "min", "max", "neg", "abs", "tanh.approx", "ex2.approx", "max.NaN", "min.xorsign.abs"}
		for _, op := range ops {
			if single == "f32" && op != "add" && op != "sub" && op != "mul" && op != "fma.rn" {
				continue
			}
			if single == "bf16" && op == "ex2.approx" {
				op += ".ftz"
			}
			n := 2
			switch op {
			case "fma.rn":
				n = 3
			case "neg", "abs", "tanh.approx", "ex2.approx", "ex2.approx.ftz":
				n = 1
			}
			ones, twos := []string{one}, []string{two}
			for range n {
				ones, twos = append(ones, one), append(twos, two)
			}
			packed, plain := on(t, op+"."+pair, twos...), on(t, op+"."+single, ones...)
			for i := range 2000 {
				args, low, high := make([]uint64, n), make([]uint64, n), make([]uint64, n)
				for j := range n {
					args[j] = both(i*(j+1) + 5*j)
					low[j], high[j] = args[j]&mask(l.width()), args[j]>>l.width()
				}
				require.Equal(t, plain.eval(low...)|plain.eval(high...)<<l.width(), packed.eval(args...), "%s of %#x", op, args)
			}
		}
	}
}

// TestMixed compares add, sub and fma of f16 and bf16 into f32 with a conversion before.
func TestMixed(t *testing.T) {
	for _, name := range []string{"f16", "bf16"} {
		l, reg := layouts[name], registersOf(typeNamed(name))
		widen := on(t, "cvt.f32."+name, "f32_", reg)
		for _, mods := range []string{"", ".rz", ".rm.sat"} {
			for _, op := range []string{"add", "sub"} {
				mixed := on(t, op+mods+".f32."+name, "f32_", reg, "f32_")
				plain := on(t, op+mods+".f32", "f32_", "f32_", "f32_")
				for _, a := range l.floats(40, 7) {
					for _, b := range layouts["f32"].floats(40, 8) {
						require.Equal(t, plain.eval(widen.eval(a), b), mixed.eval(a, b))
					}
				}
			}
		}
		mixed, plain := on(t, "fma.rp.f32."+name, "f32_", reg, reg, "f32_"), on(t, "fma.rp.f32", "f32_", "f32_", "f32_", "f32_")
		in := l.floats(20, 9)
		for _, a := range in {
			for _, b := range in {
				require.Equal(t, plain.eval(widen.eval(a), widen.eval(b), 0x40490fdb), mixed.eval(a, b, 0x40490fdb))
			}
		}
	}
}

// TestApproximations stays within the bounds that the ISA states, and says that it is approximate.
func TestApproximations(t *testing.T) {
	for op, f := range map[string]func(float64) float64{"rcp": func(x float64) float64 { return 1 / x }, "sqrt": math.Sqrt, "sin": math.Sin,
		"rsqrt": func(x float64) float64 { return 1 / math.Sqrt(x) }, "ex2": math.Exp2, "lg2": math.Log2, "cos": math.Cos, "tanh": math.Tanh} {
		run := on(t, op+".approx.f32", "f32_", "f32_")
		require.True(t, run.Approx)
		require.NotEmpty(t, run.Bound)
		for _, a := range layouts["f32"].floats(2000, 10) {
			x := float64(math.Float32frombits(uint32(a)))
			want, got := f(x), float64(math.Float32frombits(uint32(run.eval(a))))
			if math.IsNaN(want) || math.IsInf(float64(float32(want)), 0) {
				require.Equal(t, fmt.Sprint(float32(want)), fmt.Sprint(float32(got)), "%s(%g)", op, x)
				continue
			}
			require.InDelta(t, want, got, math.Abs(want)*0x1p-24+0x1p-150, "%s(%g)", op, x)
		}
	}
	require.False(t, on(t, "sqrt.rn.f32", "f32_", "f32_").Approx)
	for _, text := range []string{"div.approx.f32", "div.full.ftz.f32"} {
		require.True(t, on(t, text, "f32_", "f32_", "f32_").Approx)
	}
}
