package build

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Lines as nvcc writes them, inline assembly and decoys included.
const ptxText = `
.version 9.0
.target sm_80
.global .align 1 .b8 $str[4] = {97, 91, 110, 0};
.func  (.param .b32 r) helper(.param .b32 a)
{
	.reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .b16 %rs<2>; .reg .b128 %rq<2>;
	ld.global.v4.u32 	{%r1, %r2, %r3, %r4}, [%rd1];
	ret;
}
	// .globl	gemm
.visible .entry gemm(
	.param .u64 gemm_param_0, // ld.global.v4.u32 in a comment
	.param .u32 gemm_param_1
)
.maxntid 128, 1, 1
{
	.reg .pred 	%p<2>;
	.reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .b16 %rs<2>; .reg .b128 %rq<2>;
	.local .align 16 .b8 	__local_depot0[48];
	.loc	1 5 3
	/* st.local.u32 [%rd1], %r1; */
	ld.global.v4.u32 	{%r1, %r2, %r3, %r4}, [%rd1];
	ld.global.nc.L1::no_allocate.L2::128B.v2.u64 	{%rd5, %rd6}, [%rd2+16];
	@%p1 ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];
	ld.global.v2.u32 	{%r1, %r2}, [%rd1];
	ld.relaxed.gpu.global.u32 %r1, [%rd1];
$L__BB0_2:
	.pragma "nounroll; st.local.u32 [%rd1], %r1;";
	// begin inline asm
	ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1, %r2}, [%r3];
ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
{%r1, %r2,
 %r3, %r4}, [%r5];
	// end inline asm
	{ .reg .pred q; WAIT: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%f1,%f2,%f3,%f4};
	@!q bra WAIT;
}
	mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2}, {%r5}, {%f1,%f2,%f3,%f4};
	cp.async.cg.shared.global.L2::128B [%r1], [%rd1], 16, %r2;
	cp.async.ca.shared.global [%r1], [%rd1], 8;
	cp.async.commit_group;
	st.global.v4.b32 	[%rd1], {%r1, %r2, %r3, %r4};
	st.global.b128 	[%rd1], %rq1;
	st.shared::cta.f16x2 	[%r1], %r2;
	redux.sync.add.s32 %r1, %r2, -1;
	ret;
}
.entry second()
{
	.reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .b16 %rs<2>; .reg .b128 %rq<2>;
	ld.local.u8 	%rs1, [%rd1];
	ret;
}
`

func TestScanPTX(t *testing.T) {
	es, err := ScanPTX([]byte(ptxText))
	require.NoError(t, err)
	require.Len(t, es, 2)
	require.Equal(t, "gemm", es[0].Name)
	require.Equal(t, 48, es[0].LocalBytes)
	require.Equal(t, "second", es[1].Name)
	require.Len(t, es[1].Instrs, 2)
	require.Equal(t, Instr{"@%p1", "ld.global.v4.f32", "{%f1, %f2, %f3, %f4}, [%rd1]"}, es[0].Instrs[2])
	require.Equal(t, Instr{"", "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", "{%r1, %r2, %r3, %r4}, [%r5]"}, es[0].Instrs[6])
	require.Equal(t, Instr{"@!q", "bra", "WAIT"}, es[0].Instrs[8])
	require.Len(t, es[0].Instrs, 18)
	_, err = ScanPTX([]byte(".version 9.0\n.entry k() {\n\tadd.s32 %r1, %r1, 1;\n}"))
	require.EqualError(t, err, "build: PTX:3: the register %r1 is not declared")
}

func TestCountPTX(t *testing.T) {
	ptx := []byte(ptxText)
	for prefix, want := range map[string]int{
		"mma.sync.aligned.m16n8k16":     1,
		"mma.sync.aligned.m16n8k8":      1,
		"mma.sync":                      2,
		"mma.sync.aligned.m16n8k1":      0,
		"ldmatrix.sync.aligned.m8n8.x2": 1,
		"ldmatrix":                      2,
		"cp.async.cg.shared.global":     1,
		"cp.async":                      3,
		"red":                           0,
		"redux":                         1,
	} {
		require.Equal(t, want, CountPTX(ptx, prefix), prefix)
	}
}

func TestCountMoves(t *testing.T) {
	ptx := []byte(ptxText)
	require.Equal(t, 3, CountMoves(ptx, "ld", "global", 16))
	require.Equal(t, 1, CountMoves(ptx, "ld", "global", 8))
	require.Equal(t, 1, CountMoves(ptx, "ld", "global", 4))
	require.Equal(t, 5, CountMoves(ptx, "ld", "global", 0))
	require.Equal(t, 2, CountMoves(ptx, "st", "global", 16))
	require.Equal(t, 1, CountMoves(ptx, "st", "shared", 4))
	require.Equal(t, 1, CountMoves(ptx, "ld", "local", 1))
	require.Zero(t, CountMoves(ptx, "st", "local", 0), "only in a comment and a string")
	var async []int
	entries, err := ScanPTX(ptx)
	require.NoError(t, err)
	for _, in := range entries[0].Instrs {
		if in.Is("cp.async") {
			async = append(async, in.Bytes())
		}
	}
	require.Equal(t, []int{16, 8, 0}, async)
	require.Equal(t, -1, CountMoves([]byte("no PTX"), "ld", "local", 0))
	require.Equal(t, -1, CountPTX([]byte("no PTX"), "mma"))
}

func TestUsesLocal(t *testing.T) {
	require.True(t, UsesLocal([]byte(ptxText)))
	kernel := func(body string) []byte {
		return []byte(".version 9.0\n.entry k() { .reg .b32 %r<2>; .reg .b64 %rd<2>; " + body + " ret; }")
	}
	require.True(t, UsesLocal(kernel(".local .b8 d[4];")))
	require.True(t, UsesLocal(kernel("st.local.u32 [%rd1], %r1;")))
	require.False(t, UsesLocal(kernel("ld.global.u32 %r1, [%rd1];")))
	require.True(t, UsesLocal([]byte("no PTX")), "nobody knows that it does not")
}
