package alu

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTable has instructions with operands and results that were worked out by hand from the ISA.
func TestTable(t *testing.T) {
	for _, c := range []struct{ text, in, out string }{
		// Bytes of b and a are 7654 and 3210.
		{"prmt.b32 b32_0, b32_1, b32_2, 0x3210;", "33221100 77665544", "33221100"},
		{"prmt.b32 b32_0, b32_1, b32_2, 0x7654;", "33221100 77665544", "77665544"},
		{"prmt.b32 b32_0, b32_1, b32_2, 0x0123;", "33221100 77665544", "112233"},
		{"prmt.b32 b32_0, b32_1, b32_2, 0x5410;", "33221100 77665544", "55441100"},
		{"prmt.b32 b32_0, b32_1, b32_2, 0xfb80;", "33228000 77665544", "0"},        // bytes 7, 3, 0, 0: signs of 77, 33, 00; then 00
		{"prmt.b32 b32_0, b32_1, b32_2, 0xc9a1;", "33f28081 f7665584", "ffffff80"}, // signs of 84, 80 and f2, byte 80
		{"prmt.f4e.b32 b32_0, b32_1, b32_2, b32_3;", "33221100 77665544 0", "33221100"},
		{"prmt.f4e.b32 b32_0, b32_1, b32_2, b32_3;", "33221100 77665544 1", "44332211"},
		{"prmt.f4e.b32 b32_0, b32_1, b32_2, b32_3;", "33221100 77665544 7", "66554433"}, // only two bits of c count
		{"prmt.b4e.b32 b32_0, b32_1, b32_2, b32_3;", "33221100 77665544 0", "55667700"},
		{"prmt.b4e.b32 b32_0, b32_1, b32_2, b32_3;", "33221100 77665544 1", "66770011"},
		{"prmt.b4e.b32 b32_0, b32_1, b32_2, b32_3;", "33221100 77665544 2", "77001122"},
		{"prmt.b4e.b32 b32_0, b32_1, b32_2, b32_3;", "33221100 77665544 3", "112233"},
		{"prmt.rc8.b32 b32_0, b32_1, b32_2, b32_3;", "33221100 77665544 2", "22222222"},
		{"prmt.ecl.b32 b32_0, b32_1, b32_2, b32_3;", "33221100 77665544 0", "33221100"},
		{"prmt.ecl.b32 b32_0, b32_1, b32_2, b32_3;", "33221100 77665544 1", "33221111"},
		{"prmt.ecl.b32 b32_0, b32_1, b32_2, b32_3;", "33221100 77665544 2", "33222222"},
		{"prmt.ecl.b32 b32_0, b32_1, b32_2, b32_3;", "33221100 77665544 3", "33333333"},
		{"prmt.ecr.b32 b32_0, b32_1, b32_2, b32_3;", "33221100 77665544 0", "0"},
		{"prmt.ecr.b32 b32_0, b32_1, b32_2, b32_3;", "33221100 77665544 1", "11111100"},
		{"prmt.ecr.b32 b32_0, b32_1, b32_2, b32_3;", "33221100 77665544 2", "22221100"},
		{"prmt.ecr.b32 b32_0, b32_1, b32_2, b32_3;", "33221100 77665544 3", "33221100"},
		{"prmt.rc16.b32 b32_0, b32_1, b32_2, b32_3;", "33221100 77665544 2", "11001100"},
		{"prmt.rc16.b32 b32_0, b32_1, b32_2, b32_3;", "33221100 77665544 1", "33223322"},
		{"shf.l.wrap.b32 b32_0, b32_1, b32_2, 8;", "11223344 55667788", "66778811"},
		{"shf.r.wrap.b32 b32_0, b32_1, b32_2, 8;", "11223344 55667788", "88112233"},
		{"shf.l.clamp.b32 b32_0, b32_1, b32_2, 40;", "11223344 55667788", "11223344"},
		{"shf.l.wrap.b32 b32_0, b32_1, b32_2, 40;", "11223344 55667788", "66778811"},
		{"shf.r.clamp.b32 b32_0, b32_1, b32_2, 32;", "11223344 55667788", "55667788"},
		{"shf.r.wrap.b32 b32_0, b32_1, b32_2, 32;", "11223344 55667788", "11223344"},
		{"bfe.s32 b32_0, b32_1, 4, 8;", "00000f80", "fffffff8"},
		{"bfe.u32 b32_0, b32_1, 4, 8;", "00000f80", "f8"},
		{"bfe.s32 b32_0, b32_1, 28, 8;", "80000000", "fffffff8"}, // the sign is bit 31
		{"bfe.s32 b32_0, b32_1, 40, 8;", "80000000", "ffffffff"},
		{"bfe.s32 b32_0, b32_1, 40, 0;", "80000000", "0"},
		{"bfe.s64 b64_0, b64_1, 63, 1;", "8000000000000000", "ffffffffffffffff"},
		{"bfi.b32 b32_0, b32_1, b32_2, 8, 16;", "1234 ffffffff", "ff1234ff"},
		{"bfi.b32 b32_0, b32_1, b32_2, 28, 16;", "1234 0", "40000000"},
		{"szext.wrap.s32 b32_0, b32_1, 8;", "1ff", "ffffffff"},
		{"szext.wrap.u32 b32_0, b32_1, 32;", "1ff", "0"},
		{"szext.clamp.u32 b32_0, b32_1, 32;", "1ff", "1ff"},
		{"bmsk.wrap.b32 b32_0, 1, 2;", "", "6"},
		{"bmsk.clamp.b32 b32_0, 31, 40;", "", "80000000"},
		{"bmsk.wrap.b32 b32_0, 33, 33;", "", "2"},
		{"fns.b32 b32_0, 0xaaaaaaaa, 3, 1;", "", "3"},
		{"fns.b32 b32_0, 0xaaaaaaaa, 2, -1;", "", "1"},
		{"bfind.s32 b32_0, b32_1;", "ffffff00", "7"},
		{"bfind.s32 b32_0, b32_1;", "ffffffff", "ffffffff"},
		{"bfind.shiftamt.u32 b32_0, b32_1;", "100", "17"},
		{"cnot.b32 b32_0, b32_1;", "0", "1"},
		{"cnot.b16 b16_0, b16_1;", "7", "0"},
		{"not.pred pred_0, pred_1;", "1", "0"},
		{"not.b16 b16_0, b16_1;", "1", "fffe"},
		{"and.pred pred_0, pred_1, !pred_2;", "1 0", "1"},
		{"selp.b32 b32_0, 5, 6, !pred_1;", "1", "6"},
		{"lop3.b32 b32_0, b32_1, b32_2, b32_3, 0xe8;", "c a 6", "e"}, // the majority
		{"abs.s32 b32_0, b32_1;", "80000000", "80000000"},
		{"neg.s16 b16_0, b16_1;", "8000", "8000"},
		{"div.s32 b32_0, b32_1, b32_2;", "80000000 ffffffff", "80000000"},
		{"rem.s32 b32_0, b32_1, b32_2;", "fffffff9 2", "ffffffff"},
		{"slct.b32.s32 b32_0, 1, 2, b32_3;", "80000000", "2"},
		{"slct.b32.f32 b32_0, 1, 2, f32_3;", "80000000", "1"}, // -0 is not less than 0
		{"slct.b32.f32 b32_0, 1, 2, f32_3;", "7fc00000", "2"}, // NaN
		{"slct.b32.f32 b32_0, 1, 2, f32_3;", "80000001", "2"},
		{"slct.ftz.b32.f32 b32_0, 1, 2, f32_3;", "80000001", "1"}, // flushed to -0
		// Conversions of NaN and of what is out of range.
		{"cvt.rni.s32.f32 b32_0, f32_1;", "7fc00000", "0"},
		{"cvt.rni.u64.f32 b64_0, f32_1;", "7fc00000", "8000000000000000"},
		{"cvt.rzi.s32.f64 b32_0, f64_1;", "7ff8000000000000", "80000000"},
		{"cvt.rzi.s32.f32 b32_0, f32_1;", "4f000000", "7fffffff"},
		{"cvt.rzi.u32.f32 b32_0, f32_1;", "bf800000", "0"},
		{"cvt.rni.sat.s8.f32 b32_0, f32_1;", "c3480000", "ffffff80"}, // -200
		{"cvt.rni.s32.f32 b32_0, f32_1;", "40200000", "2"},           // 2.5
		{"cvt.rmi.f32.f32 f32_0, f32_1;", "c0200000", "c0400000"},    // -2.5
		{"cvt.rpi.f32.f32 f32_0, f32_1;", "be800000", "80000000"},    // -0.25
		{"cvt.rzi.f16.f16 f16_0, f16_1;", "c100", "c000"},            // -2.5
		{"cvt.sat.f32.f32 f32_0, f32_1;", "ffc00000", "0"},
		{"cvt.sat.f32.f32 f32_0, f32_1;", "80000000", "0"},
		{"cvt.sat.f32.f32 f32_0, f32_1;", "40000000", "3f800000"},
		{"cvt.ftz.f32.f16 f32_0, f16_1;", "1", "33800000"}, // a subnormal of f16 is none of f32
		{"cvt.rn.ftz.f16.f32 f16_0, f32_1;", "80000001", "8000"},
		{"cvt.rn.ftz.f32.f64 f32_0, f64_1;", "3800000000000000", "0"}, // 2^-127
		{"cvt.rn.f32.f64 f32_0, f64_1;", "3800000000000000", "400000"},
		{"cvt.rp.f32.f64 f32_0, f64_1;", "1", "1"},
		{"cvt.s32.s8 b32_0, b32_1;", "12345680", "ffffff80"},
		{"cvt.u32.u8 b32_0, b64_1;", "12345680", "80"},
		{"cvt.s8.s32 b32_0, b32_1;", "180", "ffffff80"},
		{"cvt.u16.s8 b32_0, b16_1;", "80", "ff80"},
		{"cvt.sat.u8.s32 b32_0, b32_1;", "ffffffff", "0"},
		{"cvt.sat.s16.u32 b64_0, b32_1;", "ffffffff", "7fff"},
		{"cvt.rn.f16x2.f32 b32_0, f32_1, f32_2;", "3f800000 c0000000", "3c00c000"},  // the first is above
		{"cvt.rn.bf16x2.f32 b32_0, f32_1, f32_2;", "3f808000 3f818000", "3f803f82"}, // ties go to even
		{"cvt.rn.relu.f16x2.f32 b32_0, f32_1, f32_2;", "bf800000 7fc00000", "7fff"},
		{"cvt.rn.satfinite.e4m3x2.f32 b16_0, f32_1, f32_2;", "461c4000 ff800000", "7efe"},
		{"cvt.rn.satfinite.e5m2x2.f32 b16_0, f32_1, f32_2;", "7fc00000 3f800000", "7f3c"},
		{"cvt.rn.f16x2.e4m3x2 b32_0, b16_1;", "7f38", "7fff3c00"},
		{"cvt.rn.f16x2.e5m2x2 b32_0, b16_1;", "fc3c", "fc003c00"},
		{"cvt.rz.ue8m0x2.f32 b16_0, f32_1, f32_2;", "40400000 3f800000", "807f"}, // 3 and 1
		{"cvt.rp.ue8m0x2.f32 b16_0, f32_1, f32_2;", "40400000 7fc00000", "81ff"},
		{"cvt.rp.satfinite.ue8m0x2.f32 b16_0, f32_1, f32_2;", "7f7fffff 0", "fe00"},
		{"cvt.rn.bf16x2.ue8m0x2 b32_0, b16_1;", "7f81", "3f804080"},
		{"cvt.rz.ue8m0x2.bf16x2 b16_0, b32_1;", "40403f80", "807f"},
		{"cvt.rna.tf32.f32 b32_0, f32_1;", "3f801000", "3f802000"},
		{"cvt.rn.tf32.f32 b32_0, f32_1;", "3f801000", "3f800000"},
		{"cvt.pack.sat.s16.s32 b32_0, b32_1, b32_2;", "ffff0000 12345678", "80007fff"},
		{"cvt.pack.sat.u8.s32.b32 b32_0, b32_1, b32_2, b32_3;", "fffffff0 80 abcd1234", "12340080"},
		{"cvt.pack.sat.s2.s32.b32 b32_0, b32_1, b32_2, b32_3;", "5 fffffff6 1", "16"}, // 01 and 10 below 1
		// Minimum and maximum of NaN and of zeros.
		{"min.f32 f32_0, f32_1, f32_2;", "7fc00000 3f800000", "3f800000"},
		{"min.f32 f32_0, f32_1, f32_2;", "7fc00001 ffc00000", "7fffffff"},
		{"min.NaN.f32 f32_0, f32_1, f32_2;", "7fc00000 3f800000", "7fffffff"},
		{"min.f32 f32_0, f32_1, f32_2;", "0 80000000", "80000000"},
		{"max.f32 f32_0, f32_1, f32_2;", "80000000 0", "0"},
		{"max.xorsign.abs.f32 f32_0, f32_1, f32_2;", "c0000000 3f800000", "c0000000"},
		{"max.xorsign.abs.f32 f32_0, f32_1, f32_2;", "c0000000 bf800000", "40000000"},
		{"max.NaN.f16x2 f16x2_0, f16x2_1, f16x2_2;", "7e003c00 3c004000", "7fff4000"},
		{"max.ftz.f32 f32_0, f32_1, f32_2;", "1 80000000", "0"},
		// Comparisons with NaN.
		{"setp.lt.f32 pred_0, f32_1, f32_2;", "7fc00000 0", "0"},
		{"setp.ltu.f32 pred_0, f32_1, f32_2;", "7fc00000 0", "1"},
		{"setp.ne.f32 pred_0, f32_1, f32_2;", "7fc00000 7fc00000", "0"},
		{"setp.neu.f32 pred_0, f32_1, f32_2;", "7fc00000 7fc00000", "1"},
		{"setp.eq.f32 pred_0, f32_1, f32_2;", "0 80000000", "1"},
		{"setp.eq.ftz.f32 pred_0, f32_1, f32_2;", "1 80000001", "1"},
		{"setp.nan.f64 pred_0, f64_1, f64_2;", "7ff0000000000001 0", "1"},
		{"set.gt.f32.s32 f32_0, b32_1, b32_2;", "1 ffffffff", "3f800000"},
		{"set.eq.u32.f16x2 b32_0, f16x2_1, f16x2_2;", "3c004000 3c004001", "ffff0000"},
		{"set.ge.bf16x2.bf16x2 b32_0, b32_1, b32_2;", "3f80bf80 3f803f80", "3f800000"},
		{"set.lt.f16.f16 f16_0, f16_1, f16_2;", "0 3c00", "3c00"},
		{"testp.subnormal.f32 pred_0, f32_1;", "7fffff", "1"},
		{"testp.normal.f32 pred_0, f32_1;", "0", "0"},
		{"testp.notanumber.f64 pred_0, f64_1;", "fff8000000000000", "1"},
		{"testp.number.f64 pred_0, f64_1;", "fff0000000000000", "1"},
		{"testp.infinite.f32 pred_0, f32_1;", "ff800000", "1"},
		{"testp.finite.f32 pred_0, f32_1;", "ff800000", "0"},
		{"copysign.f32 f32_0, f32_1, f32_2;", "80000000 3f800000", "bf800000"}, // the sign of a, the rest of b
		// Signs and special values.
		{"add.rm.f32 f32_0, f32_1, f32_2;", "3f800000 bf800000", "80000000"},
		{"add.f32 f32_0, f32_1, f32_2;", "7f800000 ff800000", "7fffffff"},
		{"mul.sat.f32 f32_0, f32_1, f32_2;", "0 7f800000", "0"},
		{"add.f64 f64_0, f64_1, f64_2;", "7ff0000000000005 0", "7ff8000000000005"},
		{"div.approx.f32 f32_0, f32_1, f32_2;", "40000000 7f000000", "0"}, // by 2^127
		{"div.approx.f32 f32_0, f32_1, f32_2;", "7f800000 7f000000", "7fffffff"},
		{"div.full.f32 f32_0, f32_1, f32_2;", "40000000 7f000000", "800000"},
		{"rcp.approx.ftz.f64 f64_0, f64_1;", "4008000012345678", "3fd5555500000000"},
		{"rcp.approx.ftz.f64 f64_0, f64_1;", "1", "7ff0000000000000"},
		{"rsqrt.approx.ftz.f64 f64_0, f64_1;", "4010000000000000", "3fe0000000000000"},
		{"rsqrt.approx.f32 f32_0, f32_1;", "80000000", "ff800000"},
		{"ex2.approx.ftz.f32 f32_0, f32_1;", "c3000000", "0"}, // 2^-128
		{"ex2.approx.f32 f32_0, f32_1;", "c3000000", "200000"},
		{"abs.ftz.f32 f32_0, f32_1;", "80000001", "0"},
		{"neg.f16x2 f16x2_0, f16x2_1;", "00003c00", "8000bc00"},
		// Moves.
		{"mov.b32 b32_0, {b16_0, b16_1};", "1234 5678", "56781234"},
		{"mov.b32 b32_0, {b8_0, b8_1, b8_2, b8_3};", "1 2 3 4", "4030201"},
		{"mov.b64 b64_0, {b16_0, b16_1, b16_2, 7};", "1 2 3", "7000300020001"},
		{"mov.b64 {b32_0, _}, b64_1;", "1122334455667788", "55667788 11223344"},
		{"mov.b64 {b16_0, b16_1, _, b16_3}, b64_1;", "1122334455667788", "7788 5566 3344 1122"},
		{"mov.b16 {b8_0, b8_1}, b16_1;", "1234", "34 12"},
		{"mov.pred pred_0, !pred_1;", "1", "0"},
		{"mov.u16 b16_0, %tid.x;", "12345", "2345"},
	} {
		op := compile(t, c.text)
		words := strings.Fields(c.in)
		in := make([]uint64, 0, 4)
		for _, s := range op.In {
			switch s.Kind {
			case ImmediateSource:
				in = append(in, s.Bits)
			default:
				var v uint64
				require.NotEmpty(t, words, c.text)
				_, err := fmt.Sscanf(words[0], "%x", &v)
				require.NoError(t, err)
				in, words = append(in, v), words[1:]
			}
		}
		require.Empty(t, words, c.text)
		out := make([]uint64, len(op.Out))
		op.Eval(in, out)
		var got []string
		for _, v := range out {
			got = append(got, fmt.Sprintf("%x", v))
		}
		require.Equal(t, c.out, strings.Join(got, " "), "%s of %s", c.text, c.in)
	}
}

// TestImmediates encodes numbers for the type of the instruction.
func TestImmediates(t *testing.T) {
	for text, want := range map[string]uint64{
		"add.s16 b16_0, b16_1, -1;":                 0xffff,
		"add.s64 b64_0, b64_1, -1;":                 0xffffffffffffffff,
		"and.b32 b32_0, b32_1, -65536;":             0xffff0000,
		"add.f32 f32_0, f32_1, 0f3F800000;":         0x3f800000,
		"add.f32 f32_0, f32_1, 0d3FF8000000000000;": 0x3fc00000,
		"add.f32 f32_0, f32_1, 1.5;":                0x3fc00000,
		"add.f64 f64_0, f64_1, 0f3F800000;":         0x3ff0000000000000,
		"add.f64 f64_0, f64_1, -0.5;":               0xbfe0000000000000,
		"and.b32 b32_0, b32_1, 0f3F800000;":         0x3f800000,
		"and.b64 b64_0, b64_1, 0d3FF0000000000000;": 0x3ff0000000000000,
		"and.pred pred_0, pred_1, 7;":               1,
		"add.u32 b32_0, b32_1, WARP_SZ;":            32,
	} {
		op := compile(t, text)
		require.Equal(t, Source{Kind: ImmediateSource, Bits: want}, op.In[1], text)
	}
	require.Equal(t, []Source{{Kind: SymbolSource, Name: "tile", Offset: 8}}, compile(t, "mov.u64 b64_0, tile+8;").In)
	require.Equal(t, []Source{{Kind: SpecialSource, Name: "%ctaid.y"}}, compile(t, "cvt.u64.u32 b64_0, %ctaid.y;").In)
}

// TestRefusals has instructions that do not fit, and the errors.
func TestRefusals(t *testing.T) {
	for text, want := range map[string]string{
		"add.sat.u32 b32_0, b32_1, b32_2;":                   "add.sat.u32: .u32 does not fit; expected",
		"add.foo.s32 b32_0, b32_1, b32_2;":                   "add.foo.s32: .foo does not fit",
		"add b32_0, b32_1, b32_2;":                           "add: a modifier is missing; expected",
		"mul.u32 b32_0, b32_1, b32_2;":                       "mul.u32: a modifier is missing; expected mul.lo",
		"shf.l.b32 b32_0, b32_1, b32_2, b32_3;":              "shf.l.b32: a modifier is missing; expected shf{.l|.r}{.wrap|.clamp}.b32",
		"sin.f32 f32_0, f32_1;":                              "sin.f32: a modifier is missing; expected sin.approx[.ftz].f32",
		"add.ftz.ftz.f32 f32_0, f32_1, f32_2;":               "add.ftz.ftz.f32: .ftz does not fit",
		"min.xorsign.f32 f32_0, f32_1, f32_2;":               "min.xorsign.f32: ",
		"add.s32 b32_0, b32_1;":                              "add.s32: expected 3 operands, but got 2",
		"add.s32 b32_0, b32_1, b64_2;":                       "add.s32: operand 3: expected a register for .s32, but b64_2 is of type .b64",
		"add.s32 f32_0, b32_1, b32_2;":                       "operand 1: expected a register for .s32, but f32_0 is of type .f32",
		"add.f32 f32_0, f32_1, 1;":                           "operand 3: expected a floating-point number such as 0f3F800000 for .f32, but got the integer 1",
		"add.s32 b32_0, b32_1, 0f3F800000;":                  "operand 3: expected a value of .s32, but got the floating-point number 1 of 32 bits",
		"add.s32 b32_0, b32_1, tile;":                        "operand 3: expected a register or a number, but got the name tile, whose address only a mov of 32 or 64 bits takes",
		"add.s32 _, b32_1, b32_2;":                           "operand 1: expected a register for the result, but got _",
		"add.s32 b32_0, b32_1, [b64_1];":                     "operand 3: expected a register or a number, but got an address",
		"add.s32 b32_0|pred_1, b32_1, b32_2;":                "operand 1: expected one register, but got two with |",
		"add.s32 b32_0, !b32_1, b32_2;":                      "operand 2: expected b32_1, but got !b32_1",
		"setp.lo.s32 pred_0, b32_1, b32_2;":                  "setp.lo.s32: .lo does not compare values of .s32",
		"setp.lt.b32 pred_0, b32_1, b32_2;":                  "setp.lt.b32: .lt does not compare values of .b32",
		"setp.eq.ftz.f64 pred_0, f64_1, f64_2;":              "setp.eq.ftz.f64: .ftz does not fit .f64",
		"setp.eq.s32 pred_0|b32_0, b32_1, b32_2;":            "operand 1: expected a predicate after |, but b32_0 is of type .b32",
		"cvt.f32.s32 f32_0, b32_1;":                          "cvt.f32.s32: a conversion of .s32 to .f32 needs .rn, .rz, .rm or .rp",
		"cvt.s32.f32 b32_0, f32_1;":                          "cvt.s32.f32: a conversion of .f32 to .s32 needs .rni, .rzi, .rmi or .rpi",
		"cvt.rn.f32.f16 f32_0, f16_1;":                       "cvt.rn.f32.f16: a conversion of .f16 to .f32 takes no .rn",
		"cvt.rni.f16.f32 f16_0, f32_1;":                      "cvt.rni.f16.f32: a conversion of .f32 to .f16 needs .rn",
		"cvt.ftz.u32.u16 b32_0, b16_1;":                      "cvt.ftz.u32.u16: .ftz needs .f32 on one side",
		"cvt.sat.u32.u16 b32_0, b16_1;":                      "cvt.sat.u32.u16: a conversion of .u16 to .u32 takes no .sat",
		"cvt.u64.u32 b32_0, b32_1;":                          "cvt.u64.u32: operand 1: expected a register for .u64, but b32_0 is of type .b32",
		"cvt.rn.bf16.f32 b32_0, f32_1;":                      "operand 1: expected a register for .bf16, but b32_0 is of type .b32",
		"cvt.rs.f16x2.f32 b32_0, f32_1, f32_2, b32_3;":       "cvt.rs.f16x2.f32: .rs does not fit",
		"mov.b128 b128_0, b128_1;":                           "mov.b128: values of 128 bits are not supported",
		"mov.u32 b32_0, {b16_0, b16_1};":                     "mov.u32: expected 2 or 4 elements of 8, 16 or 32 bits and a type such as .b32, but got 2 elements of .u32",
		"mov.b32 b32_0, {b32_0, b32_1};":                     "mov.b32: expected a register for .b16, but b32_0 is of type .b32",
		"mov.b64 {b32_0, b32_1, b32_2}, b64_1;":              "mov.b64: expected 2 or 4 elements",
		"lop3.b32 b32_0, b32_1, b32_2, b32_3, b32_4;":        "operand 5: expected a constant, but got a register",
		"lop3.b32 b32_0, b32_1, b32_2, b32_3, 300;":          "lop3.b32: expected a table from 0 to 255, but got 300",
		"lop3.or.b32 b32_0, b32_1, b32_2, b32_3, 1, pred_1;": "operand 1: expected a register and a predicate, as in d|p",
	} {
		f := parse(t, text)
		_, ok, err := Compile(f, &f.Body[0])
		require.True(t, ok, text)
		require.ErrorContains(t, err, want)
	}
	f := parse(t, "ld.global.u32 b32_0, [b64_1];")
	_, ok, err := Compile(f, &f.Body[0])
	require.False(t, ok)
	require.NoError(t, err)
	require.True(t, Known("setp"))
	require.False(t, Known("cvta"))
}

// TestRun compares 32 lanes at once with one lane at a time, of every number of operands and results and two masks.
func TestRun(t *testing.T) {
	for _, text := range []string{"mov.u32 b32_0, b32_1;", "add.s32 b32_0, b32_1, b32_2;", "mad.lo.s32 b32_0, b32_1, b32_2, b32_3;",
		"bfi.b32 b32_0, b32_1, b32_2, b32_3, b32_4;", "mov.b64 {b32_0, b32_1}, b64_2;", "mov.b64 {b16_0, b16_1, b16_2, b16_3}, b64_2;",
		"setp.lt.s32 pred_0|pred_1, b32_1, b32_2;", "setp.lt.or.s32 pred_0|pred_1, b32_1, b32_2, pred_3;", "madc.lo.cc.u32 b32_0, b32_1, b32_2, b32_3;"} {
		op := compile(t, text)
		words := sample(32, 200, 9)
		for _, m := range []uint32{0xffffffff, 0x80000001, 0x0ff00ff0, 0} {
			in, out := make([]*Lanes, len(op.In)), make([]*Lanes, len(op.Out))
			for i := range in {
				in[i] = new(Lanes)
				for j := range in[i] {
					in[i][j] = words[(i*31+j*7)%len(words)]
				}
			}
			for i := range out {
				out[i] = &Lanes{5: 77, 31: 99}
			}
			op.Run(in, out, m)
			for j := range Warp {
				args, results := make([]uint64, len(in)), make([]uint64, len(out))
				for i := range in {
					args[i] = in[i][j]
				}
				op.Eval(args, results)
				for i := range out {
					want := (&Lanes{5: 77, 31: 99})[j]
					if m>>j&1 == 1 {
						want = results[i]
					}
					require.Equal(t, want, out[i][j], "%s, lane %d", text, j)
				}
			}
			require.Zero(t, testing.AllocsPerRun(10, func() { op.Run(in, out, m) }), text)
		}
	}
}
