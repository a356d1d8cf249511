package ptx

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// everything has each construct of the grammar that the parser knows.
const everything = `// nvcc writes a comment first
.version 9.0
.target sm_90a, debug /* one
over lines */
.address_size 64
.file 1 "a dir/kernel.cu", 17, 23
.file	2 "b//c.h"
.extern .shared .align 128 .b8 dynamic[];
.global .align 4 .u32 table[2][3] = {{1, 2, 3}, {0x10, 1 << 4, -1}};
.global .f32 bias[] = {-1.0, 0f3F800000, 0d4000000000000000, 1e3};
.global .f64 scale = 0f3F800000;
.const .align 8 .u64 pointers[2] = {table+4, generic(bias) - 8};
.global .v4 .f32 quads[2];
.visible .global .attribute(.managed) .s32 counter;
.extern .func (.param .b32 r) helper(.param .b32 a, .param .align 8 .b8 s[16]);
.func (.param .b32 out) inner(.param .b32 in) .noreturn { .reg .b32 %r<2>; ld.param.b32 %r1, [in]; st.param.b32 [out], %r1; ret; }
.section .debug_str { .b8 1, 2
}
.visible .entry kernel(.param .u64 .ptr .global .align 16 p, .param .f32 x /* in an odd place */, .param .align 64 .b8 map[128])
.maxntid 128, 1, 1 .minnctapersm 2 .explicitcluster .reqnctapercluster 2, 1, 1 .pragma "nounroll";
{
	.reg .pred %p<3>; .reg .b16 %rs<9>; .reg .b32 %r<20>, other; .reg .b64 %rd<4>; .reg .f32 %f<9>;
	.local .align 16 .b8 depot[48]; .shared .b32 tile[64];
	.loc 1 5 3
	mov.u64 %rd1, depot; mov.u32 %r1, %tid.x; mov .u32 %r1, WARP_SZ; mov.u64 %rd2, tile+8;
	.loc	2 7 1, function_name $L__info_string0, inlined_at 1 5 3
	ld.global.nc.L1::no_allocate.L2::128B.v2.u64 {%rd1, %rd2}, [%rd3+-16]; // two
	@!%p1 ld.shared::cta.f32 %f1, [tile+4];
	@%p2 st.global.b32 [%rd1], other;
	ld.const.u64 %rd1, [4096]; ld.param.b32 %r2, [x];
	add.s32 %r1, %r2, -(3 + 4 * (2 - 7)) % 5; and.b32 %r1, %r2, ~0xFFu; or.b32 %r1, %r1, 0b1010; xor.b32 %r1, %r1, 017;
	add.f32 %f1, %f2, -1.5e-3; add.f32 %f1, %f2, -0f3F800000; mul.f64 %rd1, %rd2, 0d3FF0000000000000;
	setp.lt.and.s32 %p1|%p2, %r1, 5, !%p0; setp.eq.s32 _|%p1, %r1, %r2; setp.eq.s32 %p1|_, %r1, %r2;
	mov.b32 {%rs1, _}, %r1; mov.b32 %r1, {%rs1, %rs2};
	cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r3}], [%r4];
	{ .reg .pred p; .reg .b32 %r<2>; WAIT: mbarrier.try_wait.parity.shared.b64 p, [%r1], 0; @p bra DONE; bra WAIT; DONE: }
	{ .reg .pred p; WAIT: mbarrier.try_wait.parity.shared.b64 p, [%r1], 1; @p bra DONE; bra WAIT; DONE: }
	{ .param .b32 a0; st.param.b32 [a0], %r1; .param .b32 r0; call.uni (r0), inner, (a0); ld.param.b32 %r5, [r0]; }
	{ .param .b32 a0; .param .b32 r0; call (r0), inner, (a0); ld.param.b32 %r5, [r0]; }
	call helper; bra.uni $L; ;
$L: $M:
	ret;
$END: }
`

// unlined is a module without its lines.
func unlined(m *Module) *Module {
	for _, v := range m.Vars {
		v.Line = 0
	}
	for _, f := range m.Funcs {
		f.Line = 0
		for _, vs := range [][]*Var{f.Params, f.Results, f.Vars} {
			for _, v := range vs {
				v.Line = 0
			}
		}
		for i := range f.Body {
			f.Body[i].Line = 0
		}
	}
	return m
}

func mustParse(t testing.TB, text string) *Module {
	t.Helper()
	m, err := Parse("a.ptx", []byte(text))
	require.NoError(t, err, text)
	return m
}

// again prints, parses and compares.
func again(t testing.TB, m *Module) {
	t.Helper()
	text := m.String()
	n, err := Parse(m.File, []byte(text))
	require.NoError(t, err, text)
	require.Equal(t, unlined(m), unlined(n), text)
}

func TestPrint(t *testing.T) {
	again(t, mustParse(t, everything))
	files, err := filepath.Glob("../out/*/bin/*.ptx")
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		again(t, mustParse(t, string(text)))
	}
}

// TestPrinted has the text of a few instructions.
func TestPrinted(t *testing.T) {
	f, ok := mustParse(t, everything).Func("kernel")
	require.True(t, ok)
	var got []string
	for i := range f.Body {
		got = append(got, f.Text(&f.Body[i]))
	}
	all := strings.Join(got, "\n")
	for _, want := range []string{
		"@!%p1 ld.shared::cta.f32 %f1, [tile+4]", "ld.global.nc.L1::no_allocate.L2::128B.v2.u64 {%rd1, %rd2}, [%rd3-16]", "mov.u32 %r1, WARP_SZ",
		"add.s32 %r1, %r2, 2", "and.b32 %r1, %r2, -256", "or.b32 %r1, %r1, 10", "xor.b32 %r1, %r1, 15", "add.f32 %f1, %f2, 0fBF800000", "ld.const.u64 %rd1, [4096]",
		"setp.lt.and.s32 %p1|%p2, %r1, 5, !%p0", "setp.eq.s32 _|%p1, %r1, %r2", "setp.eq.s32 %p1|_, %r1, %r2", "mov.b32 {%rs1, _}, %r1",
		"bytes [%r1], [%rd1, {%r2, %r3}], [%r4]", "p$1, [%r1$1], 0\n@p$1 bra DONE\nbra WAIT", "p$2, [%r1], 1\n@p$2 bra DONE$1\nbra WAIT$1",
		"[a0], %r1\ncall.uni (r0), inner, (a0)\nld.param.b32 %r5, [r0]\ncall (r0$1), inner, (a0$1)\nld.param.b32 %r5, [r0$1]",
	} {
		require.Contains(t, all, want)
	}
}

// FuzzParse: whatever text comes, the parser returns; what it takes, it prints and takes again.
func FuzzParse(f *testing.F) {
	f.Add(everything)
	for _, s := range []string{"", "/*", "\"", ".entry", ".version 9.0\n.entry k() {", ".version 9.0\n.entry k() {:;", ".version 9.0\n.reg", ".version 9.0\n.entry k() {@p;",
		".version 9.0\n.entry k() {.reg .b32 r<9>; add.s32 r1, r2, ((((1))));}", ".version 9.0\n.global .u32 x[] = {{{{1}}}};", ".version 9.0\n.file 1 \"a\"\n.loc 1 2 3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m, err := Parse("a.ptx", []byte(s))
		if err != nil {
			require.IsType(t, &Error{}, err)
			return
		}
		instructions := 0
		for _, f := range m.Funcs {
			instructions += len(f.Body) + len(f.Registers)
		}
		require.LessOrEqual(t, instructions, len(s))
		again(t, m)
	})
}

func BenchmarkParse(b *testing.B) {
	text := []byte(everything)
	if files, _ := filepath.Glob("../out/*/bin/*.ptx"); len(files) > 0 {
		if t, err := os.ReadFile(files[0]); err == nil {
			text = t
		}
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse("a.ptx", text); err != nil {
			b.Fatal(err)
		}
	}
}
