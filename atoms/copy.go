package atoms

import "fmt"

// Bit layouts that several rows share, (T,V) -> bit of what the atom moves.
const (
	one     = "1:0"
	rows8   = "((8,4),128):((128,0),1)"                   // (T32,bit128): threads 8 and up repeat the 8 rows
	rows16  = "((16,2),128):((128,0),1)"                  // (T32,bit128): threads 16 and up repeat the 16 rows
	rows32  = "(32,128):(128,1)"                          // (T32,bit128)
	frag1   = "(32,32):(32,1)"                            // (T32,bit32)
	frag2   = "(32,(32,2)):(32,(1,1024))"                 // (T32,(bit32,X2))
	frag4   = "(32,(32,4)):(32,(1,1024))"                 // (T32,(bit32,X4))
	fragT1  = "((4,8),(16,2)):((256,16),(1,128))"         // (T32,(bit16,2))
	fragT2  = "((4,8),(16,2,2)):((256,16),(1,128,1024))"  // (T32,(bit16,2,X2))
	fragT4  = "((4,8),(16,2,4)):((256,16),(1,128,1024))"  // (T32,(bit16,2,X4))
	ldsmPTX = "ldmatrix.sync.aligned.x%s.m8n8.shared.b16" // x1, x2, x4
	cpPTX   = "cp.async.%s.shared.global"                 // ca, cg
)

// copyRows is the table of copy instructions.
var copyRows = []CopyRow{
	universal(8), universal(16), universal(32), universal(64), universal(128),
	ldmatrix("SM75_U32x1_LDSM_N", "1", rows8, frag1, 1, 0),
	ldmatrix("SM75_U32x2_LDSM_N", "2", rows16, frag2, 2, 0),
	ldmatrix("SM75_U32x4_LDSM_N", "4", rows32, frag4, 4, 0),
	ldmatrix("SM75_U16x2_LDSM_T", "1.trans", rows8, fragT1, 1, 16),
	ldmatrix("SM75_U16x4_LDSM_T", "2.trans", rows16, fragT2, 2, 16),
	ldmatrix("SM75_U16x8_LDSM_T", "4.trans", rows32, fragT4, 4, 16),
	cpAsync("SM80_CP_ASYNC_CACHEALWAYS<u32>", "ca", 32),
	cpAsync("SM80_CP_ASYNC_CACHEALWAYS<u64>", "ca", 64),
	cpAsync("SM80_CP_ASYNC_CACHEALWAYS<u128>", "ca", 128),
	cpAsync("SM80_CP_ASYNC_CACHEGLOBAL<u128>", "cg", 128),
}

func bits(n int) string { return fmt.Sprintf("(1,%d):(0,1)", n) }

// universal is a plain assignment of n bits by one thread, between any two spaces.
func universal(n int) CopyRow {
	b := bits(n)
	return CopyRow{Name: fmt.Sprintf("UniversalCopy<u%d>", n), Src: "any", Dst: "any", ThrID: one,
		SrcBits: b, DstBits: b, RefBits: b, VectorBits: n}
}

// ldmatrix has each thread give the address of a 16-byte row; the reference is the destination.
func ldmatrix(name, form, src, dst string, regs, elemBits int) CopyRow {
	return CopyRow{Name: name, Src: "shared", Dst: "register", ThrID: warp, SrcBits: src, DstBits: dst, RefBits: dst,
		PTX: fmt.Sprintf(ldsmPTX, form), Arch: 75, DstRegs: u32(regs), VectorBits: 128, ElemBits: elemBits}
}

// cpAsync moves n bits of one thread to shared memory behind its back; the reference is the source.
func cpAsync(name, cache string, n int) CopyRow {
	b := bits(n)
	return CopyRow{Name: name, Src: "global", Dst: "shared", ThrID: one, SrcBits: b, DstBits: b, RefBits: b,
		PTX: fmt.Sprintf(cpPTX, cache), Arch: 80, VectorBits: n, Asynchronous: true, CacheOperator: cache}
}

func copyAtom[S, D AnySpace](name string) CopyAtom[S, D] {
	row, _ := FindCopy(name)
	return CopyAtom[S, D]{row}
}

// UniversalCopy assigns 8, 16, 32, 64 or 128 bits by one thread between any two spaces. Another width makes the
// zero atom, which every tiled copy refuses.
func UniversalCopy[S, D AnySpace](width int) CopyAtom[S, D] {
	return copyAtom[S, D](fmt.Sprintf("UniversalCopy<u%d>", width))
}

// The typed copy atoms, by their names in CuTe.
var (
	SM75_U32x1_LDSM_N              = copyAtom[Smem, Rmem]("SM75_U32x1_LDSM_N")
	SM75_U32x2_LDSM_N              = copyAtom[Smem, Rmem]("SM75_U32x2_LDSM_N")
	SM75_U32x4_LDSM_N              = copyAtom[Smem, Rmem]("SM75_U32x4_LDSM_N")
	SM75_U16x2_LDSM_T              = copyAtom[Smem, Rmem]("SM75_U16x2_LDSM_T")
	SM75_U16x4_LDSM_T              = copyAtom[Smem, Rmem]("SM75_U16x4_LDSM_T")
	SM75_U16x8_LDSM_T              = copyAtom[Smem, Rmem]("SM75_U16x8_LDSM_T")
	SM80_CP_ASYNC_CACHEALWAYS_U32  = copyAtom[Gmem, Smem]("SM80_CP_ASYNC_CACHEALWAYS<u32>")
	SM80_CP_ASYNC_CACHEALWAYS_U64  = copyAtom[Gmem, Smem]("SM80_CP_ASYNC_CACHEALWAYS<u64>")
	SM80_CP_ASYNC_CACHEALWAYS_U128 = copyAtom[Gmem, Smem]("SM80_CP_ASYNC_CACHEALWAYS<u128>")
	SM80_CP_ASYNC_CACHEGLOBAL_U128 = copyAtom[Gmem, Smem]("SM80_CP_ASYNC_CACHEGLOBAL<u128>")
)
