package alu

import (
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// number is the value of a word of an integer type.
func number(a uint64, typ string) *big.Int {
	t := typeNamed(typ)
	v := new(big.Int).SetUint64(a)
	if typ[0] == 's' && v.Bit(t.Bits-1) == 1 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(t.Bits)))
	}
	return v
}

// word is the lowest n bits.
func word(v *big.Int, n int) uint64 {
	m := new(big.Int).Lsh(big.NewInt(1), uint(n))
	return new(big.Int).Mod(v, m).Uint64()
}

// within saturates to s32.
func within(v *big.Int) *big.Int {
	low, high := big.NewInt(-1<<31), big.NewInt(1<<31-1)
	switch {
	case v.Cmp(low) < 0:
		return low
	case v.Cmp(high) > 0:
		return high
	}
	return v
}

func product(v []*big.Int) *big.Int { return new(big.Int).Mul(v[0], v[1]) }

func plus(v, w *big.Int) *big.Int { return new(big.Int).Add(v, w) }

// low24 is the lowest 24 bits with the sign of the type.
func low24(v *big.Int) *big.Int {
	w := new(big.Int).Mod(v, big.NewInt(1<<24))
	if v.Sign() < 0 && w.Bit(23) == 1 {
		w.Sub(w, big.NewInt(1<<24))
	}
	return w
}

// arithmetic defines integer instructions on numbers without bounds; the result is cut to the width of the register.
var arithmetic = []struct {
	op, types string
	args      int
	wide      bool // the result is twice as wide
	f         func(v []*big.Int, n uint) *big.Int
}{
	{"add", allInts, 2, false, func(v []*big.Int, n uint) *big.Int { return plus(v[0], v[1]) }},
	{"sub", allInts, 2, false, func(v []*big.Int, n uint) *big.Int { return new(big.Int).Sub(v[0], v[1]) }},
	{"add.sat", "s32", 2, false, func(v []*big.Int, n uint) *big.Int { return within(plus(v[0], v[1])) }},
	{"sub.sat", "s32", 2, false, func(v []*big.Int, n uint) *big.Int { return within(new(big.Int).Sub(v[0], v[1])) }},
	{"mul.lo", allInts, 2, false, func(v []*big.Int, n uint) *big.Int { return product(v) }},
	{"mul.hi", allInts, 2, false, func(v []*big.Int, n uint) *big.Int { return new(big.Int).Rsh(product(v), n) }},
	{"mul.wide", "u16|s16|u32|s32", 2, true, func(v []*big.Int, n uint) *big.Int { return product(v) }},
	{"mad.lo", allInts, 3, false, func(v []*big.Int, n uint) *big.Int { return plus(product(v), v[2]) }},
	{"mad.hi", allInts, 3, false, func(v []*big.Int, n uint) *big.Int { return plus(new(big.Int).Rsh(product(v), n), v[2]) }},
	{"mad.hi.sat", "s32", 3, false, func(v []*big.Int, n uint) *big.Int { return within(plus(new(big.Int).Rsh(product(v), n), v[2])) }},
	{"div", allInts, 2, false, func(v []*big.Int, n uint) *big.Int {
		if v[1].Sign() == 0 {
			return big.NewInt(-1)
		}
		return new(big.Int).Quo(v[0], v[1])
	}},
	{"rem", allInts, 2, false, func(v []*big.Int, n uint) *big.Int {
		if v[1].Sign() == 0 {
			return v[0]
		}
		return new(big.Int).Rem(v[0], v[1])
	}},
	{"sad", allInts, 3, false, func(v []*big.Int, n uint) *big.Int {
		d := new(big.Int).Sub(v[0], v[1])
		return plus(d.Abs(d), v[2])
	}},
	{"abs", "s16|s32|s64", 1, false, func(v []*big.Int, n uint) *big.Int { return new(big.Int).Abs(v[0]) }},
	{"neg", "s16|s32|s64", 1, false, func(v []*big.Int, n uint) *big.Int { return new(big.Int).Neg(v[0]) }},
	{"min", allInts, 2, false, func(v []*big.Int, n uint) *big.Int {
		if v[0].Cmp(v[1]) < 0 {
			return v[0]
		}
		return v[1]
	}},
	{"max", allInts, 2, false, func(v []*big.Int, n uint) *big.Int {
		if v[0].Cmp(v[1]) > 0 {
			return v[0]
		}
		return v[1]
	}},
	{"mul24.lo", "u32|s32", 2, false, func(v []*big.Int, n uint) *big.Int { return product([]*big.Int{low24(v[0]), low24(v[1])}) }},
	{"mul24.hi", "u32|s32", 2, false, func(v []*big.Int, n uint) *big.Int {
		return new(big.Int).Rsh(product([]*big.Int{low24(v[0]), low24(v[1])}), 16)
	}},
	{"mad24.lo", "u32|s32", 3, false, func(v []*big.Int, n uint) *big.Int {
		return plus(product([]*big.Int{low24(v[0]), low24(v[1])}), v[2])
	}},
	{"mad24.hi", "u32|s32", 3, false, func(v []*big.Int, n uint) *big.Int {
		return plus(new(big.Int).Rsh(product([]*big.Int{low24(v[0]), low24(v[1])}), 16), v[2])
	}},
}

// TestIntegerArithmetic compares with big integers: all pairs of 8 bits in operands of 16, and edges and random ones.
func TestIntegerArithmetic(t *testing.T) {
	for _, c := range arithmetic {
		for typ := range strings.SplitSeq(c.types, "|") {
			n := typeNamed(typ).Bits
			width := n
			if c.wide {
				width = 2 * n
			}
			reg := registersOf(typeNamed("b" + typ[1:]))
			operands := []string{registersOf(typeNamed(map[int]string{16: "b16", 32: "b32", 64: "b64"}[width]))}
			for range c.args {
				operands = append(operands, reg)
			}
			text := c.op + "." + typ
			run := on(t, text, operands...)
			in := sample(n, map[int]int{1: 3000, 2: 60, 3: 6}[c.args], 1)
			if strings.Contains(c.op, "24") {
				for i, a := range in {
					if typ == "u32" {
						in[i] = a & 0xffffff
					} else {
						in[i] = uint64(uint32(int32(a<<8) >> 8))
					}
				}
			}
			args, values := make([]uint64, c.args), make([]*big.Int, c.args)
			check := func() {
				for i, a := range args {
					values[i] = number(a, typ)
				}
				if want, got := word(c.f(values, uint(n)), width), run.eval(args...); want != got {
					require.Failf(t, "differs", "%s of %#x: expected %#x, got %#x", text, args, want, got)
				}
			}
			every(in, args, 0, check)
			if n == 16 && c.args == 2 {
				for i := range uint64(1 << 16) {
					args[0], args[1] = uint64(uint16(int8(i))), uint64(uint16(int8(i>>8)))
					check()
				}
			}
		}
	}
}

// every puts all combinations into args.
func every(in, args []uint64, i int, f func()) {
	if i == len(args) {
		f()
		return
	}
	for _, a := range in {
		args[i] = a
		every(in, args, i+1, f)
	}
}

// TestCarry adds, subtracts and multiplies numbers of several words and compares with big integers.
func TestCarry(t *testing.T) {
	for _, n := range []int{32, 64} {
		reg, typ := registersOf(typeNamed(map[int]string{32: "b32", 64: "b64"}[n])), map[int]string{32: ".u32", 64: ".s64"}[n]
		for _, op := range []string{"add", "sub"} {
			first, middle, last := on(t, op+".cc"+typ, reg, reg, reg), on(t, op+"c.cc"+typ, reg, reg, reg), on(t, op+"c"+typ, reg, reg, reg)
			require.Equal(t, []int{first.Out[0], Carry}, first.Out)
			require.Equal(t, CarrySource, middle.In[2].Kind)
			require.Len(t, last.Out, 1)
			in := sample(n, 400, 3)
			for i := 5; i < len(in); i++ {
				a, b := in[i-5:i-2], in[i-2:i+1]
				var r, s, u [2]uint64
				first.Eval([]uint64{a[0], b[0]}, r[:])
				middle.Eval([]uint64{a[1], b[1], r[1]}, s[:])
				last.Eval([]uint64{a[2], b[2], s[1]}, u[:])
				want := plus(join(n, a), join(n, b))
				if op == "sub" {
					want = new(big.Int).Sub(join(n, a), join(n, b))
				}
				want.Mod(want, new(big.Int).Lsh(big.NewInt(1), uint(3*n)))
				require.Zero(t, want.Cmp(join(n, []uint64{r[0], s[0], u[0]})), "%s of %#x and %#x", op, a, b)
			}
		}
	}
}

func join(n int, words []uint64) *big.Int {
	v := new(big.Int)
	for i, w := range words {
		v.Or(v, new(big.Int).Lsh(new(big.Int).SetUint64(w), uint(i*n)))
	}
	return v
}

// TestMultiplyWithCarry makes a product of 64 bits by 64 out of words of 32, as compilers do.
func TestMultiplyWithCarry(t *testing.T) {
	r := "b32_"
	lo, hi := on(t, "mul.lo.u32", r, r, r), on(t, "mul.hi.u32", r, r, r)
	loCC, hiC, hiCC := on(t, "mad.lo.cc.u32", r, r, r, r), on(t, "madc.hi.u32", r, r, r, r), on(t, "madc.hi.cc.u32", r, r, r, r)
	loC, addC, loCCC := on(t, "madc.lo.u32", r, r, r, r), on(t, "addc.u32", r, r, r), on(t, "madc.lo.cc.u32", r, r, r, r)
	two := func(op *Op, in ...uint64) (uint64, uint64) {
		var out [2]uint64
		op.Eval(in, out[:])
		return out[0], out[1]
	}
	in := sample(32, 200, 4)
	for i := 3; i < len(in); i++ {
		a0, a1, b0, b1 := in[i], in[i-1], in[i-2], in[i-3]
		d0, d1, d2 := lo.eval(a0, b0), hi.eval(a0, b0), uint64(0)
		d1, cf := two(loCC, a0, b1, d1)
		d2, cf = two(hiCC, a0, b1, 0, cf)
		require.Zero(t, cf)
		d1, cf = two(loCC, a1, b0, d1)
		d2, cf = two(hiCC, a1, b0, d2, cf)
		d3 := addC.eval(0, 0, cf)
		d2, cf = two(loCCC, a1, b1, d2, 0)
		d3 = hiC.eval(a1, b1, d3, cf)
		want := new(big.Int).Mul(join(32, []uint64{a0, a1}), join(32, []uint64{b0, b1}))
		require.Zero(t, want.Cmp(join(32, []uint64{d0, d1, d2, d3})))
		require.Equal(t, uint64(uint32(a0*b0+a1+1)), loC.eval(a0, b0, a1, 1))
	}
}

// TestMul24 reads the lowest 24 bits alone.
func TestMul24(t *testing.T) {
	for _, c := range []struct {
		text string
		in   []uint64
		want uint64
	}{
		{"mul24.lo.u32", []uint64{0xff000002, 0xab000003}, 6},
		{"mul24.hi.u32", []uint64{0xffffff, 0xffffff}, 0xffffff * 0xffffff >> 16},
		{"mul24.lo.s32", []uint64{0x00ffffff, 5}, 0xfffffffb},
		{"mul24.hi.s32", []uint64{0x00ffffff, 1}, 0xffffffff},
		{"mad24.hi.sat.s32", []uint64{0x7fffff, 0x7fffff, 0x7fffffff}, 0x7fffffff},
		{"mad24.hi.sat.s32", []uint64{0x7fffff, 0x800000, 0x80000000}, 0x80000000},
	} {
		operands := []string{"b32_"}
		for range c.in {
			operands = append(operands, "b32_")
		}
		require.Equal(t, c.want, on(t, c.text, operands...).eval(c.in...), c.text)
	}
}

// TestHalvesOfIntegers compares the packed forms with the definition on each half.
func TestHalvesOfIntegers(t *testing.T) {
	in := sample(32, 300, 5)
	for text, f := range map[string]func(a, b int64) int64{
		"add.u16x2": func(a, b int64) int64 { return a + b }, "add.s16x2": func(a, b int64) int64 { return a + b },
		"min.u16x2": func(a, b int64) int64 { return min(a&0xffff, b&0xffff) }, "max.u16x2": func(a, b int64) int64 { return max(a&0xffff, b&0xffff) },
		"min.s16x2": func(a, b int64) int64 { return min(a, b) }, "max.s16x2": func(a, b int64) int64 { return max(a, b) },
		"min.relu.s16x2": func(a, b int64) int64 { return max(0, min(a, b)) }, "max.relu.s16x2": func(a, b int64) int64 { return max(0, a, b) },
	} {
		run := on(t, text, "b32_", "b32_", "b32_")
		for _, a := range in {
			for _, b := range in {
				low, high := f(int64(int16(a)), int64(int16(b))), f(int64(int16(a>>16)), int64(int16(b>>16)))
				require.Equal(t, uint64(uint16(low))|uint64(uint16(high))<<16, run.eval(a, b), "%s of %#x, %#x", text, a, b)
			}
		}
	}
	relu := on(t, "min.relu.s32", "b32_", "b32_", "b32_")
	require.Equal(t, []uint64{0, 3}, []uint64{relu.eval(0xffffffff, 5), relu.eval(3, 5)})
}

// TestDotProducts compares dp4a and dp2a with sums of products.
func TestDotProducts(t *testing.T) {
	part := func(a uint64, n, i int, signed bool) int64 {
		v := int64(a >> (n * i) & mask(n))
		if signed && v>>(n-1) == 1 {
			v -= 1 << n
		}
		return v
	}
	in := sample(32, 40, 6)
	for _, x := range []string{"u32", "s32"} {
		for _, y := range []string{"u32", "s32"} {
			r := "b32_"
			four, low, high := on(t, "dp4a."+x+"."+y, r, r, r, r), on(t, "dp2a.lo."+x+"."+y, r, r, r, r), on(t, "dp2a.hi."+x+"."+y, r, r, r, r)
			for _, a := range in {
				for _, b := range in {
					c := int64(int32(a * 7))
					sums := [3]int64{c, c, c}
					for i := range 4 {
						sums[0] += part(a, 8, i, x == "s32") * part(b, 8, i, y == "s32")
						sums[1+i/2] += part(a, 16, i%2, x == "s32") * part(b, 8, i, y == "s32")
					}
					for i, op := range []*Op{four, low, high} {
						require.Equal(t, uint64(uint32(sums[i])), op.eval(a, b, uint64(uint32(c))))
					}
				}
			}
		}
	}
}
