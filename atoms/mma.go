package atoms

import "github.com/gocute/gocute/elem"

// Layouts that several rows share, (T32,V) -> the tile.
const (
	warp       = "32:1"
	a16x16     = "((4,8),(2,2,2)):((32,1),(16,8,128))" // (T32,V8) -> (M16,K16)
	a16x8      = "((4,8),(2,2)):((32,1),(16,8))"       // (T32,V4) -> (M16,K8)
	b8x16      = "((4,8),(2,2)):((16,1),(8,64))"       // (T32,V4) -> (N8,K16)
	b8x8       = "((4,8),2):((16,1),8)"                // (T32,V2) -> (N8,K8)
	c16x8      = "((4,8),(2,2)):((32,1),(16,8))"       // (T32,V4) -> (M16,N8)
	c8x8       = "((4,8),2):((16,1),8)"                // (T32,V2) -> (M8,N8)
	a16x8tf32  = "((4,8),(2,2)):((16,1),(8,64))"       // (T32,V4) -> (M16,K8)
	b8x8tf32   = "((4,8),2):((8,1),32)"                // (T32,V2) -> (N8,K8)
	a16x4tf32  = "((4,8),2):((16,1),8)"                // (T32,V2) -> (M16,K4)
	one8x4     = "((4,8),1):((8,1),0)"                 // (T32,V1) -> (M8,K4) or (N8,K4)
	a16x16int8 = "((4,8),(4,2)):((64,1),(16,8))"       // (T32,V8) -> (M16,K16)
	a16x32int8 = "((4,8),(4,2,2)):((64,1),(16,8,256))" // (T32,V16) -> (M16,K32)
	b8x16int8  = "((4,8),4):((32,1),8)"                // (T32,V4) -> (N8,K16)
	a16x16f64  = "((4,8),(2,4)):((16,1),(8,64))"       // (T32,V8) -> (M16,K16)
	b8x16f64   = "((4,8),4):((8,1),32)"                // (T32,V4) -> (N8,K16)
	b8x32int8  = "((4,8),(4,2)):((32,1),(8,128))"      // (T32,V8) -> (N8,K32)
)

func u32(n int) Regs { return Regs{"u32", n} }
func f32(n int) Regs { return Regs{"f32", n} }
func f64(n int) Regs { return Regs{"f64", n} }

// mmaRows is the table of MMA instructions.
var mmaRows = []MMARow{
	{"SM80_16x8x8_F16F16F16F16_TN", 16, 8, 8, warp, a16x8, b8x8, c16x8, elem.KF16, elem.KF16, elem.KF16, u32(2), u32(2), u32(1), "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", 80},
	{"SM80_16x8x16_F16F16F16F16_TN", 16, 8, 16, warp, a16x16, b8x16, c16x8, elem.KF16, elem.KF16, elem.KF16, u32(2), u32(4), u32(2), "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 80},
	{"SM80_16x8x8_F32F16F16F32_TN", 16, 8, 8, warp, a16x8, b8x8, c16x8, elem.KF32, elem.KF16, elem.KF16, f32(4), u32(2), u32(1), "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", 80},
	{"SM80_16x8x16_F32F16F16F32_TN", 16, 8, 16, warp, a16x16, b8x16, c16x8, elem.KF32, elem.KF16, elem.KF16, f32(4), u32(4), u32(2), "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 80},
	{"SM80_16x8x8_F32BF16BF16F32_TN", 16, 8, 8, warp, a16x8, b8x8, c16x8, elem.KF32, elem.KBF16, elem.KBF16, f32(4), u32(2), u32(1), "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", 80},
	{"SM80_16x8x16_F32BF16BF16F32_TN", 16, 8, 16, warp, a16x16, b8x16, c16x8, elem.KF32, elem.KBF16, elem.KBF16, f32(4), u32(4), u32(2), "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 80},
	{"SM80_16x8x4_F32TF32TF32F32_TN", 16, 8, 4, warp, a16x4tf32, one8x4, c16x8, elem.KF32, elem.KTF32, elem.KTF32, f32(4), u32(2), u32(1), "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", 80},
	{"SM80_16x8x8_F32TF32TF32F32_TN", 16, 8, 8, warp, a16x8tf32, b8x8tf32, c16x8, elem.KF32, elem.KTF32, elem.KTF32, f32(4), u32(4), u32(2), "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 80},
	{"SM80_8x8x4_F64F64F64F64_TN", 8, 8, 4, warp, one8x4, one8x4, c8x8, elem.KF64, elem.KF64, elem.KF64, f64(2), f64(1), f64(1), "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", 80},
	{"SM80_16x8x16_S32S8S8S32_TN", 16, 8, 16, warp, a16x16int8, b8x16int8, c16x8, elem.KS32, elem.KS8, elem.KS8, u32(4), u32(2), u32(1), "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32", 80},
	{"SM80_16x8x32_S32S8S8S32_TN", 16, 8, 32, warp, a16x32int8, b8x32int8, c16x8, elem.KS32, elem.KS8, elem.KS8, u32(4), u32(4), u32(2), "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 80},
	{"SM80_16x8x16_S32U8U8S32_TN", 16, 8, 16, warp, a16x16int8, b8x16int8, c16x8, elem.KS32, elem.KU8, elem.KU8, u32(4), u32(2), u32(1), "mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32", 80},
	{"SM80_16x8x32_S32U8U8S32_TN", 16, 8, 32, warp, a16x32int8, b8x32int8, c16x8, elem.KS32, elem.KU8, elem.KU8, u32(4), u32(4), u32(2), "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32", 80},
	{"SM80_8x8x16_S32S8S8S32_TN", 8, 8, 16, warp, b8x16int8, b8x16int8, c8x8, elem.KS32, elem.KS8, elem.KS8, u32(2), u32(1), u32(1), "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32", 80},
	{"SM80_8x8x16_S32S8U8S32_TN", 8, 8, 16, warp, b8x16int8, b8x16int8, c8x8, elem.KS32, elem.KS8, elem.KU8, u32(2), u32(1), u32(1), "mma.sync.aligned.m8n8k16.row.col.s32.s8.u8.s32", 80},
	{"SM80_8x8x16_S32U8S8S32_TN", 8, 8, 16, warp, b8x16int8, b8x16int8, c8x8, elem.KS32, elem.KU8, elem.KS8, u32(2), u32(1), u32(1), "mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32", 80},
	{"SM80_8x8x16_S32U8U8S32_TN", 8, 8, 16, warp, b8x16int8, b8x16int8, c8x8, elem.KS32, elem.KU8, elem.KU8, u32(2), u32(1), u32(1), "mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32", 80},
	{"SM80_16x8x16_S32S8U8S32_TN", 16, 8, 16, warp, a16x16int8, b8x16int8, c16x8, elem.KS32, elem.KS8, elem.KU8, u32(4), u32(2), u32(1), "mma.sync.aligned.m16n8k16.row.col.s32.s8.u8.s32", 80},
	{"SM80_16x8x16_S32U8S8S32_TN", 16, 8, 16, warp, a16x16int8, b8x16int8, c16x8, elem.KS32, elem.KU8, elem.KS8, u32(4), u32(2), u32(1), "mma.sync.aligned.m16n8k16.row.col.s32.u8.s8.s32", 80},
	{"SM80_16x8x32_S32S8U8S32_TN", 16, 8, 32, warp, a16x32int8, b8x32int8, c16x8, elem.KS32, elem.KS8, elem.KU8, u32(4), u32(4), u32(2), "mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32", 80},
	{"SM80_16x8x32_S32U8S8S32_TN", 16, 8, 32, warp, a16x32int8, b8x32int8, c16x8, elem.KS32, elem.KU8, elem.KS8, u32(4), u32(4), u32(2), "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32", 80},
	{"SM90_16x8x4_F64F64F64F64_TN", 16, 8, 4, warp, a16x4tf32, one8x4, c16x8, elem.KF64, elem.KF64, elem.KF64, f64(4), f64(2), f64(1), "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64", 90},
	{"SM90_16x8x8_F64F64F64F64_TN", 16, 8, 8, warp, a16x8tf32, b8x8tf32, c16x8, elem.KF64, elem.KF64, elem.KF64, f64(4), f64(4), f64(2), "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64", 90},
	{"SM90_16x8x16_F64F64F64F64_TN", 16, 8, 16, warp, a16x16f64, b8x16f64, c16x8, elem.KF64, elem.KF64, elem.KF64, f64(4), f64(8), f64(4), "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64", 90},
}

// AllMMA returns the rows of all MMA instructions.
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

// FindMMA returns the row with the given name.
func FindMMA(name string) (*MMARow, bool) {
	for i := range mmaRows {
		if mmaRows[i].Name == name {
			row := mmaRows[i]
			return &row, true
		}
	}
	return nil, false
}

// FindCopy returns the row with the given name.
func FindCopy(name string) (*CopyRow, bool) {
	for i := range copyRows {
		if copyRows[i].Name == name {
			row := copyRows[i]
			return &row, true
		}
	}
	return nil, false
}

// mma returns a typed atom; a name that is not in the table makes the zero atom, which a test looks for.
func mma[D, A, B, C elem.Any](name string) MMAAtom[D, A, B, C] {
	row, _ := FindMMA(name)
	return MMAAtom[D, A, B, C]{row}
}

// MMA16816 is the 16x8x16 row for E with f32 accumulators.
func MMA16816[E elem.Half]() MMAAtom[elem.F32, E, E, elem.F32] {
	if elem.KindOf[E]() == elem.KBF16 {
		return mma[elem.F32, E, E, elem.F32]("SM80_16x8x16_F32BF16BF16F32_TN")
	}
	return mma[elem.F32, E, E, elem.F32]("SM80_16x8x16_F32F16F16F32_TN")
}

// The typed MMA atoms, by their names in CuTe.
var (
	SM80_16x8x8_F16F16F16F16_TN    = mma[elem.F16, elem.F16, elem.F16, elem.F16]("SM80_16x8x8_F16F16F16F16_TN")
	SM80_16x8x16_F16F16F16F16_TN   = mma[elem.F16, elem.F16, elem.F16, elem.F16]("SM80_16x8x16_F16F16F16F16_TN")
	SM80_16x8x8_F32F16F16F32_TN    = mma[elem.F32, elem.F16, elem.F16, elem.F32]("SM80_16x8x8_F32F16F16F32_TN")
	SM80_16x8x16_F32F16F16F32_TN   = mma[elem.F32, elem.F16, elem.F16, elem.F32]("SM80_16x8x16_F32F16F16F32_TN")
	SM80_16x8x8_F32BF16BF16F32_TN  = mma[elem.F32, elem.BF16, elem.BF16, elem.F32]("SM80_16x8x8_F32BF16BF16F32_TN")
	SM80_16x8x16_F32BF16BF16F32_TN = mma[elem.F32, elem.BF16, elem.BF16, elem.F32]("SM80_16x8x16_F32BF16BF16F32_TN")
	SM80_16x8x4_F32TF32TF32F32_TN  = mma[elem.F32, elem.TF32, elem.TF32, elem.F32]("SM80_16x8x4_F32TF32TF32F32_TN")
	SM80_16x8x8_F32TF32TF32F32_TN  = mma[elem.F32, elem.TF32, elem.TF32, elem.F32]("SM80_16x8x8_F32TF32TF32F32_TN")
	SM80_8x8x4_F64F64F64F64_TN     = mma[elem.F64, elem.F64, elem.F64, elem.F64]("SM80_8x8x4_F64F64F64F64_TN")
	SM80_16x8x16_S32S8S8S32_TN     = mma[elem.S32, elem.S8, elem.S8, elem.S32]("SM80_16x8x16_S32S8S8S32_TN")
	SM80_16x8x32_S32S8S8S32_TN     = mma[elem.S32, elem.S8, elem.S8, elem.S32]("SM80_16x8x32_S32S8S8S32_TN")
	SM80_16x8x16_S32U8U8S32_TN     = mma[elem.S32, elem.U8, elem.U8, elem.S32]("SM80_16x8x16_S32U8U8S32_TN")
	SM80_16x8x32_S32U8U8S32_TN     = mma[elem.S32, elem.U8, elem.U8, elem.S32]("SM80_16x8x32_S32U8U8S32_TN")
	SM80_8x8x16_S32S8S8S32_TN      = mma[elem.S32, elem.S8, elem.S8, elem.S32]("SM80_8x8x16_S32S8S8S32_TN")
	SM80_8x8x16_S32S8U8S32_TN      = mma[elem.S32, elem.S8, elem.U8, elem.S32]("SM80_8x8x16_S32S8U8S32_TN")
	SM80_8x8x16_S32U8S8S32_TN      = mma[elem.S32, elem.U8, elem.S8, elem.S32]("SM80_8x8x16_S32U8S8S32_TN")
	SM80_8x8x16_S32U8U8S32_TN      = mma[elem.S32, elem.U8, elem.U8, elem.S32]("SM80_8x8x16_S32U8U8S32_TN")
	SM80_16x8x16_S32S8U8S32_TN     = mma[elem.S32, elem.S8, elem.U8, elem.S32]("SM80_16x8x16_S32S8U8S32_TN")
	SM80_16x8x16_S32U8S8S32_TN     = mma[elem.S32, elem.U8, elem.S8, elem.S32]("SM80_16x8x16_S32U8S8S32_TN")
	SM80_16x8x32_S32S8U8S32_TN     = mma[elem.S32, elem.S8, elem.U8, elem.S32]("SM80_16x8x32_S32S8U8S32_TN")
	SM80_16x8x32_S32U8S8S32_TN     = mma[elem.S32, elem.U8, elem.S8, elem.S32]("SM80_16x8x32_S32U8S8S32_TN")
	SM90_16x8x4_F64F64F64F64_TN    = mma[elem.F64, elem.F64, elem.F64, elem.F64]("SM90_16x8x4_F64F64F64F64_TN")
	SM90_16x8x8_F64F64F64F64_TN    = mma[elem.F64, elem.F64, elem.F64, elem.F64]("SM90_16x8x8_F64F64F64F64_TN")
	SM90_16x8x16_F64F64F64F64_TN   = mma[elem.F64, elem.F64, elem.F64, elem.F64]("SM90_16x8x16_F64F64F64F64_TN")
)
