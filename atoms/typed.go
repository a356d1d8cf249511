package atoms

import (
	"fmt"

	"github.com/gocute/gocute/elem"
)

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

// UniversalFMA multiplies and adds one f64, f32 or f16 in one thread.
func UniversalFMA[E elem.F64 | elem.F32 | elem.F16]() MMAAtom[E, E, E, E] {
	return MMAAtom[E, E, E, E]{universalFMA(elem.KindOf[E]())}
}

func universalFMA(k elem.Kind) *MMARow {
	row, _ := FindMMA(fmt.Sprintf("UniversalFMA<%s>", k))
	return row
}

// The typed MMA atoms, by their names in CuTe.
var (
	SM70_8x8x4_F16F16F16F16_TN     = mma[elem.F16, elem.F16, elem.F16, elem.F16]("SM70_8x8x4_F16F16F16F16_TN")
	SM70_8x8x4_F16F16F16F16_NT     = mma[elem.F16, elem.F16, elem.F16, elem.F16]("SM70_8x8x4_F16F16F16F16_NT")
	SM70_8x8x4_F16F16F16F16_NN     = mma[elem.F16, elem.F16, elem.F16, elem.F16]("SM70_8x8x4_F16F16F16F16_NN")
	SM70_8x8x4_F16F16F16F16_TT     = mma[elem.F16, elem.F16, elem.F16, elem.F16]("SM70_8x8x4_F16F16F16F16_TT")
	SM70_8x8x4_F32F16F16F32_TN     = mma[elem.F32, elem.F16, elem.F16, elem.F32]("SM70_8x8x4_F32F16F16F32_TN")
	SM70_8x8x4_F32F16F16F32_NT     = mma[elem.F32, elem.F16, elem.F16, elem.F32]("SM70_8x8x4_F32F16F16F32_NT")
	SM70_8x8x4_F32F16F16F32_NN     = mma[elem.F32, elem.F16, elem.F16, elem.F32]("SM70_8x8x4_F32F16F16F32_NN")
	SM70_8x8x4_F32F16F16F32_TT     = mma[elem.F32, elem.F16, elem.F16, elem.F32]("SM70_8x8x4_F32F16F16F32_TT")
	SM75_16x8x8_F32F16F16F32_TN    = mma[elem.F32, elem.F16, elem.F16, elem.F32]("SM75_16x8x8_F32F16F16F32_TN")
	SM75_16x8x8_F16F16F16F16_TN    = mma[elem.F16, elem.F16, elem.F16, elem.F16]("SM75_16x8x8_F16F16F16F16_TN")
	SM80_16x8x8_F16F16F16F16_TN    = mma[elem.F16, elem.F16, elem.F16, elem.F16]("SM80_16x8x8_F16F16F16F16_TN")
	SM80_16x8x16_F16F16F16F16_TN   = mma[elem.F16, elem.F16, elem.F16, elem.F16]("SM80_16x8x16_F16F16F16F16_TN")
	SM80_16x8x8_F32F16F16F32_TN    = mma[elem.F32, elem.F16, elem.F16, elem.F32]("SM80_16x8x8_F32F16F16F32_TN")
	SM80_16x8x16_F32F16F16F32_TN   = mma[elem.F32, elem.F16, elem.F16, elem.F32]("SM80_16x8x16_F32F16F16F32_TN")
	SM80_16x8x8_F32BF16BF16F32_TN  = mma[elem.F32, elem.BF16, elem.BF16, elem.F32]("SM80_16x8x8_F32BF16BF16F32_TN")
	SM80_16x8x16_F32BF16BF16F32_TN = mma[elem.F32, elem.BF16, elem.BF16, elem.F32]("SM80_16x8x16_F32BF16BF16F32_TN")
	SM80_16x8x4_F32TF32TF32F32_TN  = mma[elem.F32, elem.TF32, elem.TF32, elem.F32]("SM80_16x8x4_F32TF32TF32F32_TN")
	SM80_16x8x8_F32TF32TF32F32_TN  = mma[elem.F32, elem.TF32, elem.TF32, elem.F32]("SM80_16x8x8_F32TF32TF32F32_TN")
	SM80_8x8x4_F64F64F64F64_TN     = mma[elem.F64, elem.F64, elem.F64, elem.F64]("SM80_8x8x4_F64F64F64F64_TN")
	SM80_8x8x4_C64C64C64C64_TN     = mma[elem.C64, elem.C64, elem.C64, elem.C64]("SM80_8x8x4_C64C64C64C64_TN")
	SM80_8x8x4_GC64C64C64GC64_TN   = mma[elem.GC64, elem.C64, elem.C64, elem.GC64]("SM80_8x8x4_GC64C64C64GC64_TN")
	SM89_16x8x32_F32E4M3E4M3F32_TN = mma[elem.F32, elem.E4M3, elem.E4M3, elem.F32]("SM89_16x8x32_F32E4M3E4M3F32_TN")
	SM89_16x8x32_F32E4M3E5M2F32_TN = mma[elem.F32, elem.E4M3, elem.E5M2, elem.F32]("SM89_16x8x32_F32E4M3E5M2F32_TN")
	SM89_16x8x32_F32E5M2E5M2F32_TN = mma[elem.F32, elem.E5M2, elem.E5M2, elem.F32]("SM89_16x8x32_F32E5M2E5M2F32_TN")
	SM89_16x8x32_F32E5M2E4M3F32_TN = mma[elem.F32, elem.E5M2, elem.E4M3, elem.F32]("SM89_16x8x32_F32E5M2E4M3F32_TN")
	SM89_16x8x32_F16E4M3E4M3F16_TN = mma[elem.F16, elem.E4M3, elem.E4M3, elem.F16]("SM89_16x8x32_F16E4M3E4M3F16_TN")
	SM89_16x8x32_F16E4M3E5M2F16_TN = mma[elem.F16, elem.E4M3, elem.E5M2, elem.F16]("SM89_16x8x32_F16E4M3E5M2F16_TN")
	SM89_16x8x32_F16E5M2E4M3F16_TN = mma[elem.F16, elem.E5M2, elem.E4M3, elem.F16]("SM89_16x8x32_F16E5M2E4M3F16_TN")
	SM89_16x8x32_F16E5M2E5M2F16_TN = mma[elem.F16, elem.E5M2, elem.E5M2, elem.F16]("SM89_16x8x32_F16E5M2E5M2F16_TN")
	SM90_16x8x4_F64F64F64F64_TN    = mma[elem.F64, elem.F64, elem.F64, elem.F64]("SM90_16x8x4_F64F64F64F64_TN")
	SM90_16x8x8_F64F64F64F64_TN    = mma[elem.F64, elem.F64, elem.F64, elem.F64]("SM90_16x8x8_F64F64F64F64_TN")
	SM90_16x8x16_F64F64F64F64_TN   = mma[elem.F64, elem.F64, elem.F64, elem.F64]("SM90_16x8x16_F64F64F64F64_TN")
	SM90_16x8x4_C64C64C64C64_TN    = mma[elem.C64, elem.C64, elem.C64, elem.C64]("SM90_16x8x4_C64C64C64C64_TN")
	SM90_16x8x8_C64C64C64C64_TN    = mma[elem.C64, elem.C64, elem.C64, elem.C64]("SM90_16x8x8_C64C64C64C64_TN")
	SM90_16x8x16_C64C64C64C64_TN   = mma[elem.C64, elem.C64, elem.C64, elem.C64]("SM90_16x8x16_C64C64C64C64_TN")
)
