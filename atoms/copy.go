package atoms

import (
	"fmt"
	"strings"
)

// Bit layouts that several rows share, (T,V) -> bit of what the atom moves.
const (
	one     = single
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
	stsmPTX = "stmatrix.sync.aligned.x%s.m8n8.shared.b16" // x1, x2, x4
	cpPTX   = "cp.async.%s.shared.global"                 // ca, cg
	pair    = "(32,64):(64,1)"                            // (T32,bit64)
	swapped = "((2,16),(32,2)):((32,128),(1,64))"         // (T32,(bit32,2)): 2x2 blocks of neighbours transposed
	apart4  = "((4,2,4),(32,2)):((64,32,512),(1,256))"    // (T32,(bit32,2)): the same between lanes 4 apart
	movmPTX = "movmatrix.sync.aligned.m8n8.trans.b16"     // an 8x8 matrix of 16-bit elements
	shflPTX = "shfl.sync.bfly.b32"                        // an exchange between two lanes
	tmaG2S  = "cp.async.bulk.tensor.2d.shared::%s.global.mbarrier::complete_tx::bytes%s.L2::cache_hint"
	tmaS2G  = "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group"
	tmaAdd  = "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group"
	bulkG2S = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
	bulkS2G = "cp.async.bulk.global.shared::cta.bulk_group"
)

// copyRows is the table of copy instructions but the bulk ones, which are functions of their size.
var copyRows = []CopyRow{
	universal(8), universal(16), universal(32), universal(64), universal(128),
	typed("f16", 16), typed("f32", 32), typed("f64", 64),
	vectorizing(8), vectorizing(16), vectorizing(32), vectorizing(64), vectorizing(128),
	shuffle("SM50_Shuffle_U32_2x2Trans_XOR1", swapped),
	shuffle("SM50_Shuffle_U32_2x2Trans_XOR4", apart4),
	ldmatrix("SM75_U32x1_LDSM_N", "1", rows8, frag1, 1, 0),
	ldmatrix("SM75_U32x2_LDSM_N", "2", rows16, frag2, 2, 0),
	ldmatrix("SM75_U32x4_LDSM_N", "4", rows32, frag4, 4, 0),
	ldmatrix("SM75_U16x2_LDSM_T", "1.trans", rows8, fragT1, 1, 16),
	ldmatrix("SM75_U16x4_LDSM_T", "2.trans", rows16, fragT2, 2, 16),
	ldmatrix("SM75_U16x8_LDSM_T", "4.trans", rows32, fragT4, 4, 16),
	{Name: "SM75_U32x1_MOVM_T", Src: "register", Dst: "register", ThrID: warp, SrcBits: frag1, DstBits: frag1, RefBits: frag1,
		PTX: movmPTX, Arch: 75, SrcRegs: u32(1), DstRegs: u32(1), VectorBits: 32},
	cpAsync("SM80_CP_ASYNC_CACHEALWAYS<u32>", "ca", 32, false),
	cpAsync("SM80_CP_ASYNC_CACHEALWAYS<u64>", "ca", 64, false),
	cpAsync("SM80_CP_ASYNC_CACHEALWAYS<u128>", "ca", 128, false),
	cpAsync("SM80_CP_ASYNC_CACHEGLOBAL<u128>", "cg", 128, false),
	cpAsync("SM80_CP_ASYNC_CACHEALWAYS_ZFILL<u32>", "ca", 32, true),
	cpAsync("SM80_CP_ASYNC_CACHEALWAYS_ZFILL<u64>", "ca", 64, true),
	cpAsync("SM80_CP_ASYNC_CACHEALWAYS_ZFILL<u128>", "ca", 128, true),
	cpAsync("SM80_CP_ASYNC_CACHEGLOBAL_ZFILL<u128>", "cg", 128, true),
	stmatrix("SM90_U32x1_STSM_N", "1", frag1, rows8, 1, 0),
	stmatrix("SM90_U32x2_STSM_N", "2", frag2, rows16, 2, 0),
	stmatrix("SM90_U32x4_STSM_N", "4", frag4, rows32, 4, 0),
	stmatrix("SM90_U16x2_STSM_T", "1.trans", fragT1, rows8, 1, 16),
	stmatrix("SM90_U16x4_STSM_T", "2.trans", fragT2, rows16, 2, 16),
	stmatrix("SM90_U16x8_STSM_T", "4.trans", fragT4, rows32, 4, 16),
	{Name: "SM90_BULK_COPY_AUTO", Src: "any", Dst: "any", ThrID: one, SrcBits: "(1,1):(0,0)", DstBits: "(1,1):(0,0)",
		RefBits: "(1,1):(0,0)", Arch: 90, VectorBits: 128, Chooses: true},
}

func bits(n int) string { return fmt.Sprintf("(1,%d):(0,1)", n) }

// universal is a plain assignment of n bits by one thread, between any two spaces.
func universal(n int) CopyRow {
	b := bits(n)
	return CopyRow{Name: fmt.Sprintf("UniversalCopy<u%d>", n), Src: "any", Dst: "any", ThrID: one,
		SrcBits: b, DstBits: b, RefBits: b, VectorBits: n}
}

// typed is a plain assignment of one number.
func typed(name string, n int) CopyRow {
	row := universal(n)
	row.Name, row.Holds = "UniversalCopy<"+name+">", name
	return row
}

// vectorizing moves one element, whatever it is; the copy joins those that lie side by side on both sides.
func vectorizing(n int) CopyRow {
	const each = "(1,1):(0,0)"
	return CopyRow{Name: fmt.Sprintf("AutoVectorizingCopyWithAssumedAlignment<%d>", n), Src: "any", Dst: "any", ThrID: one,
		SrcBits: each, DstBits: each, RefBits: each, VectorBits: n, Chooses: true}
}

// shuffle transposes blocks of two registers in two lanes.
func shuffle(name, dst string) CopyRow {
	return CopyRow{Name: name, Src: "register", Dst: "register", ThrID: warp, SrcBits: pair, DstBits: dst, RefBits: pair,
		PTX: shflPTX, Arch: 50, SrcRegs: u32(2), DstRegs: u32(2), VectorBits: 64}
}

// ldmatrix has each thread give the address of a 16-byte row; the reference is the destination.
func ldmatrix(name, form, src, dst string, regs, elemBits int) CopyRow {
	return CopyRow{Name: name, Src: "shared", Dst: "register", ThrID: warp, SrcBits: src, DstBits: dst, RefBits: dst,
		PTX: fmt.Sprintf(ldsmPTX, form), Arch: 75, DstRegs: u32(regs), VectorBits: 128, ElemBits: elemBits}
}

// stmatrix is ldmatrix the other way round; the reference is the source.
func stmatrix(name, form, src, dst string, regs, elemBits int) CopyRow {
	return CopyRow{Name: name, Src: "register", Dst: "shared", ThrID: warp, SrcBits: src, DstBits: dst, RefBits: src,
		PTX: fmt.Sprintf(stsmPTX, form), Arch: 90, SrcRegs: u32(regs), VectorBits: 128, ElemBits: elemBits}
}

// cpAsync moves n bits of one thread to shared memory behind its back; the reference is the source.
func cpAsync(name, cache string, n int, zeroFill bool) CopyRow {
	b := bits(n)
	return CopyRow{Name: name, Src: "global", Dst: "shared", ThrID: one, SrcBits: b, DstBits: b, RefBits: b, ZeroFill: zeroFill,
		PTX: fmt.Sprintf(cpPTX, cache), Arch: 80, VectorBits: n, Asynchronous: true, CacheOperator: cache}
}

// bulkKinds are the copies that one thread starts for a whole tile, by their names without the size.
var bulkKinds = []CopyRow{
	{Name: "SM90_BULK_COPY_G2S", Src: "global", Dst: "shared", PTX: bulkG2S},
	{Name: "SM90_BULK_COPY_S2G", Src: "shared", Dst: "global", PTX: bulkS2G},
	{Name: "SM90_TMA_LOAD", Src: "global", Dst: "shared", PTX: fmt.Sprintf(tmaG2S, "cta", "")},
	{Name: "SM90_TMA_LOAD_MULTICAST", Src: "global", Dst: "shared", PTX: fmt.Sprintf(tmaG2S, "cluster", ".multicast::cluster")},
	{Name: "SM90_TMA_STORE", Src: "shared", Dst: "global", PTX: tmaS2G},
	{Name: "SM90_TMA_REDUCE_ADD", Src: "shared", Dst: "global", PTX: tmaAdd},
}

// Bulk is the row of a bulk copy (SM90_BULK_COPY_G2S, SM90_TMA_LOAD, …) of so many bits. That of a tensor copy shows
// the form for two dimensions; there are one to five.
func Bulk(kind string, n int) (*CopyRow, error) {
	if n < 128 || n%128 != 0 {
		return nil, fmt.Errorf("atoms: %s expects a multiple of 128 bits, but got %d", kind, n)
	}
	for _, row := range bulkKinds {
		if row.Name == kind {
			row.Name = fmt.Sprintf("%s<%d>", kind, n)
			row.ThrID, row.Arch, row.VectorBits, row.Bulk = one, 90, n, n
			row.SrcBits, row.DstBits, row.RefBits = bits(n), bits(n), bits(n)
			return &row, nil
		}
	}
	return nil, fmt.Errorf("atoms: there is no bulk copy %s", kind)
}

// BulkKinds are the names that Bulk knows.
func BulkKinds() []string {
	var out []string
	for _, row := range bulkKinds {
		out = append(out, row.Name)
	}
	return out
}

// findBulk reads a name back.
func findBulk(name string) (*CopyRow, bool) {
	kind, rest, ok := strings.Cut(name, "<")
	var n int
	if _, err := fmt.Sscanf(rest, "%d>", &n); !ok || err != nil {
		return nil, false
	}
	row, err := Bulk(kind, n)
	return row, err == nil && row.Name == name
}
