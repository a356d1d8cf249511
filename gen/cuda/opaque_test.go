package cuda

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/gen/cir"
)

// An opaque integer is a variable that nvcc knows nothing of, whatever it is computed from.
func TestOpaque(t *testing.T) {
	tid := sym.New(&sym.Symbol{Name: "tid", Class: sym.Thread, Hi: 31})
	k := &cir.Kernel{Name: "k", Threads: 32, Body: []cir.Stmt{
		cir.Let{Sym: &sym.Symbol{Name: "again", Class: sym.Var, Hi: 31}, Value: tid, Opaque: true},
		cir.Let{Sym: &sym.Symbol{Name: "wide", Class: sym.Var, Hi: 1 << 40}, Value: tid.Mul(sym.Int(1 << 35)), Opaque: true},
	}}
	require.NoError(t, cir.Verify(k))
	out, err := Print(k, Options{})
	require.NoError(t, err)
	require.Contains(t, string(out), "  int again = tid;\n  asm volatile(\"\" : \"+r\"(again));\n  __builtin_assume(again >= 0);\n")
	require.Contains(t, string(out), "  asm volatile(\"\" : \"+l\"(wide));\n")
}
