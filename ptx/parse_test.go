package ptx

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const head = ".version 9.0\n.target sm_90a\n.address_size 64\n"

// TestScopes declares a register of one name in two scopes, as inline assembly does.
func TestScopes(t *testing.T) {
	m, err := Parse("a.ptx", []byte(head+`
.visible .entry k(.param .u64 k_param_0) .maxntid 128, 1, 1 {
	.reg .pred %p<2>;
	.reg .b32 %r<3>;
	{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%r0+8], %r1; selp.u32 %r2, 1, 0, p; }
	{ .reg .pred p; setp.eq.s32 p|%p1, %r0, -1; @!p bra $L; }
$L:
	ret;
}`))
	require.NoError(t, err)
	f, ok := m.Func("k")
	require.True(t, ok)
	require.Equal(t, []int{128, 1, 1}, f.Directives["maxntid"])
	require.Len(t, f.Body, 5)
	first, second := f.Body[0].Args[0].Reg, f.Body[2].Args[0].Reg
	require.NotEqual(t, first, second)
	require.Equal(t, first, f.Body[1].Args[3].Reg)
	require.Equal(t, []any{second, true}, []any{f.Body[3].Guard, f.Body[3].Not})
	require.Equal(t, int64(8), f.Body[0].Args[1].Offset)
	at, ok := f.Label("$L")
	require.True(t, ok)
	require.Equal(t, "ret", f.Body[at].Op)
	require.Equal(t, 9, f.Body[3].Line)
}
