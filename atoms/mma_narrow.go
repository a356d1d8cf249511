package atoms

import (
	"fmt"
	"strings"

	"github.com/gocute/gocute/elem"
)

func doublePTX(m, k int) string { return mmaSync(m, 8, k, elem.KF64, elem.KF64, elem.KF64, "") }

// mmaSync is the mnemonic of a warp's product with A by rows and B by columns.
func mmaSync(m, n, k int, d, a, b elem.Kind, qualifier string) string {
	return fmt.Sprintf("mma.sync.aligned.m%dn%dk%d.row.col.%s.%s.%s.%s%s", m, n, k, d, a, b, d, qualifier)
}

// narrow is a shape of the instructions whose operands are packed into registers: all kinds of a width share it.
type narrow struct {
	m, k    int
	a, b, c string // (T32,V) -> the tile
}

// The shapes for 8, 4 and 1 bits; the smallest of each has M = 8.
var (
	shapes8 = []narrow{
		{8, 16, "((4,8),4):((32,1),8)", "((4,8),4):((32,1),8)", c8x8},
		{16, 16, "((4,8),(4,2)):((64,1),(16,8))", "((4,8),4):((32,1),8)", c16x8},
		{16, 32, "((4,8),(4,2,2)):((64,1),(16,8,256))", "((4,8),(4,2)):((32,1),(8,128))", c16x8},
	}
	shapes4 = []narrow{
		{8, 32, "((4,8),(8)):((64,1),(8))", "((4,8),(8)):((64,1),(8))", c8x8},
		{16, 32, "((4,8),(8,2)):((128,1),(16,8))", "((4,8),(8)):((64,1),(8))", c16x8},
		{16, 64, "((4,8),(8,2,2)):((128,1),(16,8,512))", "((4,8),(8,2)):((64,1),(8,256))", c16x8},
	}
	shapes1 = []narrow{
		{8, 128, "((4,8),32):((256,1),8)", "((4,8),32):((256,1),8)", c8x8},
		{16, 128, "((4,8),(32,2)):((512,1),(16,8))", "((4,8),32):((256,1),8)", c16x8},
		{16, 256, "((4,8),(32,2,2)):((512,1),(16,8,2048))", "((4,8),(32,2)):((256,1),(8,1024))", c16x8},
	}
)

// row is the instruction of a shape for given kinds; regs are the registers of D.
func (s narrow) row(arch int, d, a, b elem.Kind, regs Regs, kinds, suffix, qualifier string) MMARow {
	operand := func(rows int) Regs { return u32(rows * s.k * a.Bits() / 1024) }
	return MMARow{Name: fmt.Sprintf("SM%d_%dx8x%d_%s_TN%s", arch, s.m, s.k, kinds, suffix), M: s.m, N: 8, K: s.k, ThrID: warp,
		A: s.a, B: s.b, C: s.c, D: d, EA: a, EB: b, RD: regs, RA: operand(s.m), RB: operand(8),
		PTX: mmaSync(s.m, 8, s.k, d, a, b, qualifier), Arch: arch}
}

// accumulator is the s32 accumulators of a shape.
func (s narrow) accumulator() Regs { return u32(s.m / 4) }

// codes spells the kinds of D, A, B and C as names do.
func codes(kinds ...elem.Kind) string {
	var out strings.Builder
	for _, k := range kinds {
		out.WriteString(strings.ToUpper(k.String()))
	}
	return out.String()
}

// signed makes the rows for both signs of A and of B, wrapping and saturating.
func signed(shapes []narrow, minus, plus elem.Kind) []MMARow {
	var out []MMARow
	for _, a := range []elem.Kind{minus, plus} {
		for _, b := range []elem.Kind{minus, plus} {
			for _, s := range shapes {
				kinds := codes(elem.KS32, a, b, elem.KS32)
				out = append(out, s.row(80, elem.KS32, a, b, s.accumulator(), kinds, "", ""),
					s.row(80, elem.KS32, a, b, s.accumulator(), kinds, "_SATURATE", ".satfinite"))
			}
		}
	}
	return out
}

// int8Rows multiply s8 and u8; sm_75 has the smallest shape already.
func int8Rows() []MMARow {
	old := shapes8[0].row(75, elem.KS32, elem.KS8, elem.KS8, shapes8[0].accumulator(), codes(elem.KS32, elem.KS8, elem.KS8, elem.KS32), "", "")
	return append([]MMARow{old}, signed(shapes8, elem.KS8, elem.KU8)...)
}

// int4Rows multiply s4 and u4.
func int4Rows() []MMARow { return signed(shapes4, elem.KS4, elem.KU4) }

// bitRows count the bits of the operands' conjunctions or differences.
func bitRows() []MMARow {
	var out []MMARow
	for _, op := range []string{"and", "xor"} {
		for _, s := range shapes1 {
			out = append(out, s.row(80, elem.KS32, elem.KB1, elem.KB1, s.accumulator(), "S32U1U1S32",
				"_"+strings.ToUpper(op)+"POPC", "."+op+".popc"))
		}
	}
	return out
}

// fp8Rows multiply e4m3 and e5m2 in any pairing.
func fp8Rows() []MMARow {
	var out []MMARow
	fp8 := []elem.Kind{elem.KE4M3, elem.KE5M2}
	for _, d := range []struct {
		kind elem.Kind
		regs Regs
	}{{elem.KF32, f32(4)}, {elem.KF16, u32(2)}} {
		for _, a := range fp8 {
			for _, b := range fp8 {
				out = append(out, shapes8[2].row(89, d.kind, a, b, d.regs, codes(d.kind, a, b, d.kind), "", ""))
			}
		}
	}
	return out
}
