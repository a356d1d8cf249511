package cuda

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

type pair struct{ from, to elem.Kind }

// conversions are those that one function does with one rounding to nearest even.
var conversions = map[pair]string{
	{elem.KF16, elem.KF32}:  "f16_to_f32",
	{elem.KBF16, elem.KF32}: "bf16_to_f32",
	{elem.KTF32, elem.KF32}: "",
	{elem.KF32, elem.KF16}:  "f32_to_f16",
	{elem.KF32, elem.KBF16}: "f32_to_bf16",
	{elem.KF32, elem.KTF32}: "round_tf32",
	{elem.KF32, elem.KF64}:  "(double)",
	{elem.KF64, elem.KF32}:  "__double2float_rn",
	{elem.KF64, elem.KF16}:  "f64_to_f16",

	{elem.KS32, elem.KF32}: "__int2float_rn",
	{elem.KU32, elem.KF32}: "__uint2float_rn",
	{elem.KS64, elem.KF32}: "__ll2float_rn",
	{elem.KU64, elem.KF32}: "__ull2float_rn",
	{elem.KS32, elem.KF64}: "(double)",
	{elem.KU32, elem.KF64}: "(double)",
	{elem.KS64, elem.KF64}: "__ll2double_rn",
	{elem.KU64, elem.KF64}: "__ull2double_rn",
	{elem.KS32, elem.KF16}: "s32_to_f16",
	{elem.KU32, elem.KF16}: "u32_to_f16",
	{elem.KS64, elem.KF16}: "s64_to_f16",
	{elem.KU64, elem.KF16}: "u64_to_f16",

	{elem.KF32, elem.KS8}:  "round_s8",
	{elem.KF32, elem.KU8}:  "round_u8",
	{elem.KF32, elem.KS32}: "__float2int_rn",
	{elem.KF32, elem.KU32}: "__float2uint_rn",
	{elem.KF32, elem.KS64}: "__float2ll_rn",
	{elem.KF32, elem.KU64}: "__float2ull_rn",
	{elem.KF64, elem.KS32}: "__double2int_rn",
	{elem.KF64, elem.KU32}: "__double2uint_rn",
	{elem.KF64, elem.KS64}: "__double2ll_rn",
	{elem.KF64, elem.KU64}: "__double2ull_rn",
}

// convert prints a conversion between kinds, by way of a kind that holds the first exactly if need be.
func (p *printer) convert(from, to elem.Kind, x text) text {
	if from == to {
		return x
	}
	if f, ok := conversions[pair{from, to}]; ok {
		p.memType(from)
		p.memType(to)
		p.use.helper(f)
		switch {
		case f == "":
			return x
		case strings.HasPrefix(f, "("):
			return text{s: f + x.at(precUnary), prec: precUnary}
		}
		return call(f, x)
	}
	if to == elem.KBF16 && towardsZero[from] != "" {
		p.use.helper(oddName(from))
		return p.convert(elem.KF32, to, call(oddName(from), x))
	}
	if !from.IsFloat() && !to.IsFloat() && from.Bits() <= 64 && to.Bits() <= 64 {
		return p.saturate(from, to, x)
	}
	if by, ok := through(from, to); ok {
		return p.convert(by, to, p.convert(from, by, x))
	}
	p.fail("no conversion from %s to %s rounds once", from, to)
	return x
}

// through is the kind between two kinds that have no conversion of their own.
func through(from, to elem.Kind) (elem.Kind, bool) {
	small := func(k elem.Kind) bool { return !k.IsFloat() && k.Bits() < 32 }
	half := func(k elem.Kind) bool { return k == elem.KF16 || k == elem.KBF16 || k == elem.KTF32 }
	switch {
	case half(from) && to.Bits() <= 64, small(from) && to == elem.KTF32:
		return elem.KF32, true // holds every value of from
	case small(from) && to.IsFloat(), small(to) && (from == elem.KF32 || from == elem.KF64):
		return elem.KS32, true // holds every value of the small kind, and saturates
	}
	return 0, false
}

// intRange is the range of an integer kind, the upper bound cut to that of int64.
func intRange(k elem.Kind) (lo, hi int64) {
	if k.IsSigned() {
		return int64(math.MinInt64) >> (64 - k.Bits()), int64(math.MaxInt64) >> (64 - k.Bits())
	}
	return 0, int64(min(uint64(math.MaxUint64)>>(64-k.Bits()), math.MaxInt64))
}

// saturate converts between integers: what does not fit becomes the nearest that does.
func (p *printer) saturate(from, to elem.Kind, x text) text {
	flo, fhi := intRange(from)
	tlo, thi := intRange(to)
	ctype := p.memType(from)
	if from.Bits() < 8 {
		ctype = "int"
	}
	bound := func(v int64) string {
		if from.Bits() < 32 || from == elem.KS32 {
			return fmt.Sprint(v)
		}
		return fmt.Sprintf("(%s)%d", ctype, v)
	}
	s := x.s
	if tlo > flo {
		s = fmt.Sprintf("max(%s, %s)", s, bound(tlo))
	}
	if thi < fhi || from == elem.KU64 && to == elem.KS64 {
		s = fmt.Sprintf("min(%s, %s)", s, bound(thi))
	}
	if s != x.s {
		x = text{s: s, prec: precPrimary}
	}
	if to.Bits() < 8 {
		return x
	}
	return text{s: "(" + p.memType(to) + ")" + x.at(precUnary), prec: precUnary}
}

// literal prints a constant of a kind, rounded to it.
func (p *printer) literal(k elem.Kind, v float64) text {
	b, err := literalBits(k, v)
	if err != nil {
		p.fail("%w", err)
		return text{}
	}
	p.memType(k)
	note := " /* " + strconv.FormatFloat(v, 'g', -1, 64) + " */"
	if b == 0 {
		note = ""
	}
	switch k {
	case elem.KF16, elem.KBF16:
		return text{s: fmt.Sprintf("%s{0x%04x%s}", p.memType(k), b, note), prec: precPrimary}
	case elem.KF32, elem.KTF32:
		f := float64(math.Float32frombits(uint32(b)))
		if math.IsInf(f, 0) || math.IsNaN(f) {
			return text{s: fmt.Sprintf("__uint_as_float(0x%08xu%s)", b, note), prec: precPrimary}
		}
		return float(f, 32, "f")
	case elem.KF64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return text{s: fmt.Sprintf("__longlong_as_double(0x%016xLL%s)", b, note), prec: precPrimary}
		}
		return float(v, 64, "")
	case elem.KE4M3, elem.KE5M2:
		return text{s: fmt.Sprintf("0x%02x%s", b, note), prec: precPrimary}
	}
	return intLiteral(k, b)
}

// float prints a finite number so that C++ reads it back exactly.
func float(f float64, bits int, suffix string) text {
	s := strconv.FormatFloat(f, 'g', -1, bits)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	if math.Signbit(f) {
		return text{s: s + suffix, prec: precUnary}
	}
	return text{s: s + suffix, prec: precPrimary}
}

// intLiteral prints the integer of a kind with the given bits.
func intLiteral(k elem.Kind, bits uint64) text {
	if !k.IsSigned() {
		s := strconv.FormatUint(bits, 10)
		switch k {
		case elem.KU32:
			return text{s: s + "u", prec: precPrimary}
		case elem.KU64:
			return text{s: "(uint64_t)" + s + "u", prec: precUnary}
		}
		return text{s: s, prec: precPrimary}
	}
	spare := 64 - k.Bits()
	v := int64(bits<<spare) >> spare
	if k.Bits() >= 32 && v == math.MinInt64>>spare { // C has no literal for it: its digits are those of a positive one
		return text{s: fmt.Sprintf("(%s)0x%xu", k.CType(), bits), prec: precUnary}
	}
	s, pr := strconv.FormatInt(v, 10), precPrimary
	if v < 0 {
		pr = precUnary
	}
	if k == elem.KS64 {
		return text{s: "(int64_t)" + text{s: s, prec: pr}.at(precUnary), prec: precUnary}
	}
	return text{s: s, prec: pr}
}

// literalBits is the bit pattern of v rounded to kind k; an integer kind may not have v.
func literalBits(k elem.Kind, v float64) (uint64, error) { return elem.Encode(k, v), cir.IsValue(k, v) }
