package cuda

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// A register of narrow elements is set at once, by rounding as many numbers; nothing else can be.
func TestSetWord(t *testing.T) {
	from, to := &cir.Reg{Name: "x", Elem: elem.KF32, Count: 4}, &cir.Reg{Name: "y", Elem: elem.KS8, Count: 4}
	set := func(n int, v func(i int) cir.Value) *cir.Kernel {
		s := cir.SetWord{Dst: cir.RegRef{Reg: to, Index: sym.Int(0), Elems: n}}
		for i := range n {
			s.Values = append(s.Values, v(i))
		}
		return &cir.Kernel{Name: "k", Threads: 32, Body: []cir.Stmt{cir.DeclReg{Reg: from}, cir.DeclReg{Reg: to}, s}}
	}
	rounded := func(i int) cir.Value {
		return cir.Convert{To: to.Elem, X: cir.RegElem{Ref: cir.RegRef{Reg: from, Index: sym.Int(int64(i)), Elems: 1}}}
	}
	k := set(4, rounded)
	require.NoError(t, cir.Verify(k))
	out, err := Print(k, Options{})
	require.NoError(t, err)
	require.Contains(t, string(out), "  y[0] = round4_s8(x[0], x[1], x[2], x[3]);\n")

	require.ErrorContains(t, cir.Verify(set(2, rounded)), "got 2 for 16 bits")
	for k, want := range map[elem.Kind]string{elem.KF16: "  y[0] = round2_f16(x[0], x[1]);\n", elem.KBF16: "  y[0] = round2_bf16(x[0], x[1]);\n"} {
		to.Elem = k
		out, err := Print(set(2, rounded), Options{})
		require.NoError(t, err)
		require.Contains(t, string(out), want)
	}
	to.Elem = elem.KS8
	_, err = Print(set(4, func(int) cir.Value { return cir.Lit{Elem: elem.KS8, V: 1} }), Options{})
	require.ErrorContains(t, err, "no way to set the s8 of a register at once from cir.Lit")
}
