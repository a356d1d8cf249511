package alu

import (
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// compared is a comparison by its definition: ok is false for a NaN among the operands.
func compared(typ string, a, b uint64) (sign int, ordered bool) {
	if l, float := layouts[typ]; float {
		nanA, infA := l.special(a)
		nanB, infB := l.special(b)
		if nanA || nanB {
			return 0, false
		}
		value := func(a uint64, inf bool) *big.Rat {
			if inf {
				v := power2(2000)
				if l.negative(a) {
					v.Neg(v)
				}
				return v
			}
			return l.value(a)
		}
		return value(a, infA).Cmp(value(b, infB)), true
	}
	return number(a, strings.Replace(typ, "b", "u", 1)).Cmp(number(b, strings.Replace(typ, "b", "u", 1))), true
}

// meaning is what each comparison wants.
var meaning = map[string]func(sign int, ordered bool) bool{
	"eq": func(s int, o bool) bool { return o && s == 0 }, "ne": func(s int, o bool) bool { return o && s != 0 },
	"lt": func(s int, o bool) bool { return o && s < 0 }, "le": func(s int, o bool) bool { return o && s <= 0 },
	"gt": func(s int, o bool) bool { return o && s > 0 }, "ge": func(s int, o bool) bool { return o && s >= 0 },
	"lo": func(s int, o bool) bool { return s < 0 }, "ls": func(s int, o bool) bool { return s <= 0 },
	"hi": func(s int, o bool) bool { return s > 0 }, "hs": func(s int, o bool) bool { return s >= 0 },
	"equ": func(s int, o bool) bool { return !o || s == 0 }, "neu": func(s int, o bool) bool { return !o || s != 0 },
	"ltu": func(s int, o bool) bool { return !o || s < 0 }, "leu": func(s int, o bool) bool { return !o || s <= 0 },
	"gtu": func(s int, o bool) bool { return !o || s > 0 }, "geu": func(s int, o bool) bool { return !o || s >= 0 },
	"num": func(s int, o bool) bool { return o }, "nan": func(s int, o bool) bool { return !o },
}

// TestComparisons compares setp and set of every type with the order of exact numbers.
func TestComparisons(t *testing.T) {
	fits := map[byte]string{'b': "eq ne", 's': "eq ne lt le gt ge", 'u': "eq ne lt le gt ge lo ls hi hs",
		'f': "eq ne lt le gt ge equ neu ltu leu gtu geu num nan"}
	for _, typ := range strings.Split(chosen+"|f16|bf16", "|") {
		class := typ[0]
		in := sample(typeNamed(typ).Bits, 25, 1)
		if l, float := layouts[typ]; float {
			class, in = 'f', l.floats(25, 1)
		}
		reg := registersOf(typeNamed(typ))
		for word := range strings.FieldsSeq(fits[class]) {
			f := meaning[word]
			setp := on(t, "setp."+word+"."+typ, "pred_", reg, reg)
			and := on(t, "setp."+word+".and."+typ, "pred_0", reg+"1", reg+"2", "!pred_3")
			set := on(t, "set."+word+".u32."+typ, "b32_7", reg+"1", reg+"2")
			xor := on(t, "set."+word+".xor.s32."+typ, "b32_7", reg+"1", reg+"2", "pred_1")
			for _, a := range in {
				for _, b := range in {
					want := truth(f(compared(typ, a, b)))
					if got := setp.eval(a, b); got != want {
						require.Failf(t, "differs", "setp.%s.%s of %#x, %#x: expected %d", word, typ, a, b, want)
					}
					require.Equal(t, uint64(uint32(-want)), set.eval(a, b))
					for p := range uint64(2) {
						require.Equal(t, want&(p^1), and.eval(a, b, p))
						require.Equal(t, uint64(uint32(-(want ^ p))), xor.eval(a, b, p))
					}
				}
			}
		}
	}
}

// TestPredicatePairs has both results of setp: the second is of the opposite comparison, or of the upper halves.
func TestPredicatePairs(t *testing.T) {
	pair := func(op *Op, in ...uint64) [2]uint64 {
		var out [2]uint64
		op.Eval(in, out[:])
		return out
	}
	or := on(t, "setp.lt.or.s32", "pred_0|pred_1", "b32_1", "b32_2", "pred_2")
	require.Len(t, or.Out, 2)
	for _, c := range [][5]uint64{{1, 2, 0, 1, 0}, {1, 2, 1, 1, 1}, {2, 1, 0, 0, 1}, {2, 1, 1, 1, 1}} {
		require.Equal(t, [2]uint64{c[3], c[4]}, pair(or, c[0], c[1], c[2]), c)
	}
	unordered := on(t, "setp.lt.f32", "pred_0|pred_1", "f32_1", "f32_2")
	require.Equal(t, [2]uint64{0, 1}, pair(unordered, nan32, 0), "the second is the negation also of unordered operands")
	second := on(t, "setp.eq.s32", "_|pred_1", "b32_1", "b32_2")
	require.Equal(t, Unwanted, second.Out[0])
	require.Equal(t, [2]uint64{0, 1}, pair(second, 3, 4))
	halves := on(t, "setp.gt.xor.f16x2", "pred_0|pred_1", "f16x2_1", "f16x2_2", "pred_2")
	require.Equal(t, [2]uint64{1, 0}, pair(halves, 0x3c004000, 0x40003c00, 0), "the first is of the lower halves")
	require.Equal(t, [2]uint64{0, 1}, pair(halves, 0x3c004000, 0x40003c00, 1))
	require.Equal(t, uint64(1), on(t, "setp.gt.f16x2", "pred_0", "f16x2_1", "f16x2_2").eval(0x3c004000, 0x40003c00))
}

// TestExtremes compares min and max with their definition, of NaN and of zeros of both signs.
func TestExtremes(t *testing.T) {
	for _, typ := range []string{"f16", "bf16", "f32", "f64"} {
		l, reg := layouts[typ], registersOf(typeNamed(typ))
		sign := uint64(1) << (l.width() - 1)
		// pick is min by the definition: of a NaN and a number the number, and -0 is the lesser zero.
		pick := func(a, b uint64, strict, most bool) uint64 {
			nanA, _ := l.special(a)
			nanB, _ := l.special(b)
			s, _ := compared(typ, a, b)
			if s == 0 && a != b {
				s = 1
				if a&sign != 0 {
					s = -1
				}
			}
			switch {
			case nanA && nanB, strict && (nanA || nanB):
				return mask(l.width() - 1)
			case nanA:
				return b
			case nanB, s < 0 != most:
				return a
			}
			return b
		}
		in := l.floats(40, 2)
		for _, op := range []string{"min", "max"} {
			most := op == "max"
			plain := on(t, op+"."+typ, reg, reg, reg)
			for _, a := range in {
				for _, b := range in {
					l.same(t, pick(a, b, false, most), plain.eval(a, b), op+"."+typ, a, b)
				}
			}
			if typ == "f64" {
				continue
			}
			strict, xorsign := on(t, op+".NaN."+typ, reg, reg, reg), on(t, op+".NaN.xorsign.abs."+typ, reg, reg, reg)
			for _, a := range in {
				for _, b := range in {
					l.same(t, pick(a, b, true, most), strict.eval(a, b), op+".NaN."+typ, a, b)
					want := pick(a&^sign, b&^sign, true, most)
					if nan, _ := l.special(want); !nan {
						want |= (a ^ b) & sign
					}
					l.same(t, want, xorsign.eval(a, b), op+".NaN.xorsign.abs."+typ, a, b)
				}
			}
			if typ != "f32" {
				continue
			}
			three, threeAbs := on(t, op+".f32", reg, reg, reg, reg), on(t, op+".ftz.NaN.abs.f32", reg, reg, reg, reg)
			flush := func(a uint64) uint64 {
				if a&0x7f800000 == 0 {
					return 0
				}
				return a &^ sign
			}
			for i, a := range in {
				b, c := in[(i*5+3)%len(in)], in[(i*11+8)%len(in)]
				l.same(t, pick(pick(a, b, false, most), c, false, most), three.eval(a, b, c), "three", a, b, c)
				l.same(t, pick(pick(flush(a), flush(b), true, most), flush(c), true, most), threeAbs.eval(a, b, c), "three", a, b, c)
			}
		}
	}
}
