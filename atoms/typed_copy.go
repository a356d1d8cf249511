package atoms

import (
	"fmt"
	"slices"
)

func copyAtom[S, D AnySpace](name string) CopyAtom[S, D] {
	row, _ := FindCopy(name)
	return CopyAtom[S, D]{row}
}

// UniversalCopy assigns 8, 16, 32, 64 or 128 bits by one thread between any two spaces. Another width makes the
// zero atom, which every tiled copy refuses.
func UniversalCopy[S, D AnySpace](width int) CopyAtom[S, D] {
	return copyAtom[S, D](fmt.Sprintf("UniversalCopy<u%d>", width))
}

// AutoVectorizingCopy moves the widest vectors, up to 128 bits, of which the copy can prove that they are contiguous
// and aligned on both sides. Its layouts are of single elements.
func AutoVectorizingCopy[S, D AnySpace]() CopyAtom[S, D] {
	return copyAtom[S, D]("AutoVectorizingCopyWithAssumedAlignment<128>")
}

// AutoVectorizingCopyUpTo is AutoVectorizingCopy with vectors of at most 8, 16, 32, 64 or 128 bits.
func AutoVectorizingCopyUpTo[S, D AnySpace](width int) CopyAtom[S, D] {
	return copyAtom[S, D](fmt.Sprintf("AutoVectorizingCopyWithAssumedAlignment<%d>", width))
}

// L2Sizes are the bytes around what an asynchronous copy reads that it can bring into the second-level cache.
func L2Sizes() []int { return []int{64, 128, 256} }

// PrefetchL2 has an asynchronous copy bring 64, 128 or 256 bytes around what it reads into the second-level cache.
// Another size, or an atom that is no asynchronous copy, makes the zero atom.
func PrefetchL2(a CopyAtom[Gmem, Smem], bytes int) CopyAtom[Gmem, Smem] {
	if a.row == nil {
		return a
	}
	row, _ := a.row.PrefetchL2(bytes)
	return CopyAtom[Gmem, Smem]{row}
}

// PrefetchL2 is the row with a hint for the second-level cache; false where there is none.
func (r *CopyRow) PrefetchL2(bytes int) (*CopyRow, bool) {
	if !r.Asynchronous || !slices.Contains(L2Sizes(), bytes) {
		return nil, false
	}
	row := *r
	row.Name = fmt.Sprintf("%s.L2_%dB", row.Name, bytes)
	row.PTX = fmt.Sprintf("%s.L2::%dB", row.PTX, bytes)
	return &row, true
}

// The typed copy atoms, by their names in CuTe.
var (
	SM50_Shuffle_U32_2x2Trans_XOR1       = copyAtom[Rmem, Rmem]("SM50_Shuffle_U32_2x2Trans_XOR1")
	SM50_Shuffle_U32_2x2Trans_XOR4       = copyAtom[Rmem, Rmem]("SM50_Shuffle_U32_2x2Trans_XOR4")
	SM75_U32x1_LDSM_N                    = copyAtom[Smem, Rmem]("SM75_U32x1_LDSM_N")
	SM75_U32x2_LDSM_N                    = copyAtom[Smem, Rmem]("SM75_U32x2_LDSM_N")
	SM75_U32x4_LDSM_N                    = copyAtom[Smem, Rmem]("SM75_U32x4_LDSM_N")
	SM75_U16x2_LDSM_T                    = copyAtom[Smem, Rmem]("SM75_U16x2_LDSM_T")
	SM75_U16x4_LDSM_T                    = copyAtom[Smem, Rmem]("SM75_U16x4_LDSM_T")
	SM75_U16x8_LDSM_T                    = copyAtom[Smem, Rmem]("SM75_U16x8_LDSM_T")
	SM75_U32x1_MOVM_T                    = copyAtom[Rmem, Rmem]("SM75_U32x1_MOVM_T")
	SM80_CP_ASYNC_CACHEALWAYS_U32        = copyAtom[Gmem, Smem]("SM80_CP_ASYNC_CACHEALWAYS<u32>")
	SM80_CP_ASYNC_CACHEALWAYS_U64        = copyAtom[Gmem, Smem]("SM80_CP_ASYNC_CACHEALWAYS<u64>")
	SM80_CP_ASYNC_CACHEALWAYS_U128       = copyAtom[Gmem, Smem]("SM80_CP_ASYNC_CACHEALWAYS<u128>")
	SM80_CP_ASYNC_CACHEGLOBAL_U128       = copyAtom[Gmem, Smem]("SM80_CP_ASYNC_CACHEGLOBAL<u128>")
	SM80_CP_ASYNC_CACHEALWAYS_ZFILL_U32  = copyAtom[Gmem, Smem]("SM80_CP_ASYNC_CACHEALWAYS_ZFILL<u32>")
	SM80_CP_ASYNC_CACHEALWAYS_ZFILL_U64  = copyAtom[Gmem, Smem]("SM80_CP_ASYNC_CACHEALWAYS_ZFILL<u64>")
	SM80_CP_ASYNC_CACHEALWAYS_ZFILL_U128 = copyAtom[Gmem, Smem]("SM80_CP_ASYNC_CACHEALWAYS_ZFILL<u128>")
	SM80_CP_ASYNC_CACHEGLOBAL_ZFILL_U128 = copyAtom[Gmem, Smem]("SM80_CP_ASYNC_CACHEGLOBAL_ZFILL<u128>")
	SM90_U32x1_STSM_N                    = copyAtom[Rmem, Smem]("SM90_U32x1_STSM_N")
	SM90_U32x2_STSM_N                    = copyAtom[Rmem, Smem]("SM90_U32x2_STSM_N")
	SM90_U32x4_STSM_N                    = copyAtom[Rmem, Smem]("SM90_U32x4_STSM_N")
	SM90_U16x2_STSM_T                    = copyAtom[Rmem, Smem]("SM90_U16x2_STSM_T")
	SM90_U16x4_STSM_T                    = copyAtom[Rmem, Smem]("SM90_U16x4_STSM_T")
	SM90_U16x8_STSM_T                    = copyAtom[Rmem, Smem]("SM90_U16x8_STSM_T")
)
