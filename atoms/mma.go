package atoms

import (
	"slices"

	"github.com/gocute/gocute/elem"
)

// Layouts that several rows share, (T32,V) -> the tile.
const (
	warp      = "32:1"
	single    = "1:0"
	quadpair  = "(4,2):(1,16)"                        // lanes 0 to 3 and 16 to 19
	a16x16    = "((4,8),(2,2,2)):((32,1),(16,8,128))" // (T32,V8) -> (M16,K16)
	a16x8     = "((4,8),(2,2)):((32,1),(16,8))"       // (T32,V4) -> (M16,K8)
	b8x16     = "((4,8),(2,2)):((16,1),(8,64))"       // (T32,V4) -> (N8,K16)
	b8x8      = "((4,8),2):((16,1),8)"                // (T32,V2) -> (N8,K8)
	c16x8     = "((4,8),(2,2)):((32,1),(16,8))"       // (T32,V4) -> (M16,N8)
	c8x8      = "((4,8),2):((16,1),8)"                // (T32,V2) -> (M8,N8)
	a16x8tf32 = "((4,8),(2,2)):((16,1),(8,64))"       // (T32,V4) -> (M16,K8)
	b8x8tf32  = "((4,8),2):((8,1),32)"                // (T32,V2) -> (N8,K8)
	a16x4tf32 = "((4,8),2):((16,1),8)"                // (T32,V2) -> (M16,K4)
	one8x4    = "((4,8),1):((8,1),0)"                 // (T32,V1) -> (M8,K4) or (N8,K4)
	a16x16f64 = "((4,8),(2,4)):((16,1),(8,64))"       // (T32,V8) -> (M16,K16)
	b8x16f64  = "((4,8),4):((8,1),32)"                // (T32,V4) -> (N8,K16)
	one1x1    = "(1,1):(0,0)"                         // (T1,V1) -> (M1,K1), (N1,K1) or (M1,N1)
	row8x4    = "(8,4):(1,8)"                         // (T8,V4) -> (M8,K4) or (N8,K4), a row each
	col8x4    = "((4,2),4):((8,4),1)"                 // (T8,V4) -> (M8,K4) or (N8,K4), half a column each
	c8x8f16   = "(8,8):(1,8)"                         // (T8,V8) -> (M8,N8)
	c8x8f32   = "((2,2,2),(2,2,2)):((1,16,4),(8,2,32))"
)

func u32(n int) Regs { return Regs{"u32", n} }
func s32(n int) Regs { return Regs{"s32", n} }
func f16(n int) Regs { return Regs{"f16", n} }
func f32(n int) Regs { return Regs{"f32", n} }
func f64(n int) Regs { return Regs{"f64", n} }

// mmaRows is the table of MMA instructions but wgmma, which is a function of N.
var mmaRows = slices.Concat(scalarRows, quadpairRows, floatRows, doubleRows, int8Rows(), int4Rows(), bitRows(), fp8Rows())

// scalarRows are of one thread.
var scalarRows = []MMARow{
	{Name: "UniversalFMA<f64>", M: 1, N: 1, K: 1, ThrID: single, A: one1x1, B: one1x1, C: one1x1,
		D: elem.KF64, EA: elem.KF64, EB: elem.KF64, RD: f64(1), RA: f64(1), RB: f64(1)},
	{Name: "UniversalFMA<f32>", M: 1, N: 1, K: 1, ThrID: single, A: one1x1, B: one1x1, C: one1x1,
		D: elem.KF32, EA: elem.KF32, EB: elem.KF32, RD: f32(1), RA: f32(1), RB: f32(1)},
	{Name: "UniversalFMA<f16>", M: 1, N: 1, K: 1, ThrID: single, A: one1x1, B: one1x1, C: one1x1,
		D: elem.KF16, EA: elem.KF16, EB: elem.KF16, RD: f16(1), RA: f16(1), RB: f16(1)},
	{Name: "SM61_DP4A", M: 1, N: 1, K: 4, ThrID: single, A: "(1,4):(0,1)", B: "(1,4):(0,1)", C: one1x1,
		D: elem.KS32, EA: elem.KS8, EB: elem.KS8, RD: s32(1), RA: u32(1), RB: u32(1), PTX: "dp4a.s32.s32", Arch: 61},
	{Name: "SM61_DP2A", M: 1, N: 1, K: 2, ThrID: single, A: "(1,2):(0,1)", B: "(1,2):(0,1)", C: one1x1,
		D: elem.KS32, EA: elem.KS16, EB: elem.KS16, RD: s32(1), RA: u32(1), RB: u32(1), PTX: "dp2a.s32.s32", Arch: 61},
}

// quadpairRows are of eight threads, of two quads 16 lanes apart.
var quadpairRows = []MMARow{
	half8x8x4("TN", row8x4, row8x4, ".row.col"),
	half8x8x4("NT", col8x4, col8x4, ".col.row"),
	half8x8x4("NN", col8x4, row8x4, ".col.col"),
	half8x8x4("TT", row8x4, col8x4, ".row.row"),
	single8x8x4("TN", row8x4, row8x4, ".row.col"),
	single8x8x4("NT", col8x4, col8x4, ".col.row"),
	single8x8x4("NN", col8x4, row8x4, ".col.col"),
	single8x8x4("TT", row8x4, col8x4, ".row.row"),
}

// half8x8x4 is a quadpair's product with f16 accumulators.
func half8x8x4(majors, a, b, order string) MMARow {
	return MMARow{Name: "SM70_8x8x4_F16F16F16F16_" + majors, M: 8, N: 8, K: 4, ThrID: quadpair, A: a, B: b, C: c8x8f16,
		D: elem.KF16, EA: elem.KF16, EB: elem.KF16, RD: u32(4), RA: u32(2), RB: u32(2),
		PTX: "mma.sync.aligned.m8n8k4" + order + ".f16.f16.f16.f16", Arch: 70}
}

// single8x8x4 is a quadpair's product with f32 accumulators.
func single8x8x4(majors, a, b, order string) MMARow {
	return MMARow{Name: "SM70_8x8x4_F32F16F16F32_" + majors, M: 8, N: 8, K: 4, ThrID: quadpair, A: a, B: b, C: c8x8f32,
		D: elem.KF32, EA: elem.KF16, EB: elem.KF16, RD: f32(8), RA: u32(2), RB: u32(2),
		PTX: "mma.sync.aligned.m8n8k4" + order + ".f32.f16.f16.f32", Arch: 70}
}

// floatRows multiply f16, bf16 and tf32.
var floatRows = []MMARow{
	{Name: "SM75_16x8x8_F32F16F16F32_TN", M: 16, N: 8, K: 8, ThrID: warp, A: a16x8, B: b8x8, C: c16x8, D: elem.KF32, EA: elem.KF16, EB: elem.KF16,
		RD: f32(4), RA: u32(2), RB: u32(1), PTX: "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", Arch: 75},
	{Name: "SM75_16x8x8_F16F16F16F16_TN", M: 16, N: 8, K: 8, ThrID: warp, A: a16x8, B: b8x8, C: c16x8, D: elem.KF16, EA: elem.KF16, EB: elem.KF16,
		RD: u32(2), RA: u32(2), RB: u32(1), PTX: "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", Arch: 75},
	{Name: "SM80_16x8x8_F16F16F16F16_TN", M: 16, N: 8, K: 8, ThrID: warp, A: a16x8, B: b8x8, C: c16x8, D: elem.KF16, EA: elem.KF16, EB: elem.KF16,
		RD: u32(2), RA: u32(2), RB: u32(1), PTX: "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", Arch: 80},
	{Name: "SM80_16x8x16_F16F16F16F16_TN", M: 16, N: 8, K: 16, ThrID: warp, A: a16x16, B: b8x16, C: c16x8, D: elem.KF16, EA: elem.KF16, EB: elem.KF16,
		RD: u32(2), RA: u32(4), RB: u32(2), PTX: "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", Arch: 80},
	{Name: "SM80_16x8x8_F32F16F16F32_TN", M: 16, N: 8, K: 8, ThrID: warp, A: a16x8, B: b8x8, C: c16x8, D: elem.KF32, EA: elem.KF16, EB: elem.KF16,
		RD: f32(4), RA: u32(2), RB: u32(1), PTX: "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", Arch: 80},
	{Name: "SM80_16x8x16_F32F16F16F32_TN", M: 16, N: 8, K: 16, ThrID: warp, A: a16x16, B: b8x16, C: c16x8, D: elem.KF32, EA: elem.KF16, EB: elem.KF16,
		RD: f32(4), RA: u32(4), RB: u32(2), PTX: "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", Arch: 80},
	{Name: "SM80_16x8x8_F32BF16BF16F32_TN", M: 16, N: 8, K: 8, ThrID: warp, A: a16x8, B: b8x8, C: c16x8, D: elem.KF32, EA: elem.KBF16, EB: elem.KBF16,
		RD: f32(4), RA: u32(2), RB: u32(1), PTX: "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", Arch: 80},
	{Name: "SM80_16x8x16_F32BF16BF16F32_TN", M: 16, N: 8, K: 16, ThrID: warp, A: a16x16, B: b8x16, C: c16x8, D: elem.KF32, EA: elem.KBF16, EB: elem.KBF16,
		RD: f32(4), RA: u32(4), RB: u32(2), PTX: "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", Arch: 80},
	{Name: "SM80_16x8x4_F32TF32TF32F32_TN", M: 16, N: 8, K: 4, ThrID: warp, A: a16x4tf32, B: one8x4, C: c16x8, D: elem.KF32, EA: elem.KTF32, EB: elem.KTF32,
		RD: f32(4), RA: u32(2), RB: u32(1), PTX: "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", Arch: 80},
	{Name: "SM80_16x8x8_F32TF32TF32F32_TN", M: 16, N: 8, K: 8, ThrID: warp, A: a16x8tf32, B: b8x8tf32, C: c16x8, D: elem.KF32, EA: elem.KTF32, EB: elem.KTF32,
		RD: f32(4), RA: u32(4), RB: u32(2), PTX: "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", Arch: 80},
}

// doubleRows multiply f64 and complex numbers of two f64.
var doubleRows = []MMARow{
	real64("SM80_8x8x4", 8, 4, one8x4, one8x4, c8x8, f64(2), f64(1), f64(1), 80),
	complex64("SM80_8x8x4", 8, 4, one8x4, one8x4, c8x8, 2, 1, 1, 80),
	{Name: "SM80_8x8x4_GC64C64C64GC64_TN", M: 8, N: 8, K: 4, ThrID: warp, A: one8x4, B: one8x4, C: c8x8, D: elem.KGC64, EA: elem.KC64, EB: elem.KC64,
		RD: Regs{"gc64", 2}, RA: Regs{"c64", 1}, RB: Regs{"c64", 1}, PTX: "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", Times: 3, Arch: 80},
	real64("SM90_16x8x4", 16, 4, a16x4tf32, one8x4, c16x8, f64(4), f64(2), f64(1), 90),
	real64("SM90_16x8x8", 16, 8, a16x8tf32, b8x8tf32, c16x8, f64(4), f64(4), f64(2), 90),
	real64("SM90_16x8x16", 16, 16, a16x16f64, b8x16f64, c16x8, f64(4), f64(8), f64(4), 90),
	complex64("SM90_16x8x4", 16, 4, a16x4tf32, one8x4, c16x8, 4, 2, 1, 90),
	complex64("SM90_16x8x8", 16, 8, a16x8tf32, b8x8tf32, c16x8, 4, 4, 2, 90),
	complex64("SM90_16x8x16", 16, 16, a16x16f64, b8x16f64, c16x8, 4, 8, 4, 90),
}

// real64 is an f64 product of N = 8.
func real64(name string, m, k int, a, b, c string, rd, ra, rb Regs, arch int) MMARow {
	return MMARow{Name: name + "_F64F64F64F64_TN", M: m, N: 8, K: k, ThrID: warp, A: a, B: b, C: c, D: elem.KF64, EA: elem.KF64, EB: elem.KF64,
		RD: rd, RA: ra, RB: rb, PTX: doublePTX(m, k), Arch: arch}
}

// complex64 is the complex product that four f64 products make, with the same layouts.
func complex64(name string, m, k int, a, b, c string, d, na, nb, arch int) MMARow {
	return MMARow{Name: name + "_C64C64C64C64_TN", M: m, N: 8, K: k, ThrID: warp, A: a, B: b, C: c, D: elem.KC64, EA: elem.KC64, EB: elem.KC64,
		RD: Regs{"c64", d}, RA: Regs{"c64", na}, RB: Regs{"c64", nb}, PTX: doublePTX(m, k), Times: 4, Arch: arch}
}

// AllMMA returns the rows of all MMA instructions but wgmma (AllGMMA).
func AllMMA() []*MMARow { return pointers(mmaRows) }

// AllCopy returns the rows of all copy instructions.
func AllCopy() []*CopyRow { return pointers(copyRows) }

func pointers[T any](rows []T) []*T {
	out := make([]*T, len(rows))
	for i := range rows {
		row := rows[i] // a copy: nobody can change the table
		out[i] = &row
	}
	return out
}

// FindMMA returns the row with the given name; wgmma rows of that name are K-major (GMMA makes the others).
func FindMMA(name string) (*MMARow, bool) {
	for i := range mmaRows {
		if mmaRows[i].Name == name {
			row := mmaRows[i]
			return &row, true
		}
	}
	return findGMMA(name)
}

// FindCopy returns the row with the given name; bulk copies are a function of their size.
func FindCopy(name string) (*CopyRow, bool) {
	for i := range copyRows {
		if copyRows[i].Name == name {
			row := copyRows[i]
			return &row, true
		}
	}
	return findBulk(name)
}
