package tests

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/check"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen"
)

// opaques copies rows of A by what opaque values say: in two branches, in a loop, and in a loop within.
func opaques() *Kernel {
	return Define("opaques", func(k *K) {
		N := k.Dim("N", AtMost(1<<20))
		from, to := In[elem.F32](k, "A", Shape(64, N).Strides(N, 1)), Out[elem.F32](k, "B", Shape(64, N).Strides(N, 1))
		A, B := from.Tile(Tile(64, 32), 0, All), to.Tile(Tile(64, 32), 0, All) // (64,32,n)
		k.Threads(64)
		row := func(thread, column, tile any) {
			Map(A.At(thread, column, tile), B.At(thread, column, tile), keep[elem.F32])
		}
		even := k.Thread.Mod(2).Eq(0)
		first := func(name string) func() {
			return func() {
				thread := k.Opaque(name, k.Thread)
				k.Loop(0, 32, func(c Expr) { row(thread, c, 0) })
			}
		}
		k.If(even, first("one"), first("other"))
		k.Loop(1, N.CeilDiv(32), func(t Expr) {
			tile, thread := k.Opaque("tile", t), k.Opaque("thread", k.Thread)
			k.Loop(0, 32, func(c Expr) { row(thread, k.Opaque("column", c), tile) })
		})
		expectSame(to, "A")
	})
}

// TestOpaque: what is computed from opaque values stands after them, in their bodies and in no other, once; and is right.
func TestOpaque(t *testing.T) {
	k := opaques()
	out, err := gen.Generate(k, gen.Options{})
	require.NoError(t, err)
	rest, named := string(out.CUDA), 0
	for _, line := range []string{
		"int one = tid;", "const int gA = N*one;", "} else {", "int other = tid;", "const int gA_1 = N*other;",
		"int tile = t2;", "int thread = tid;", "const int gA_2 = N*thread + 32*tile;",
		"int column = t3;", "const int gA_3 = column + gA_2;", "const int cA_1 = column + 32*tile;", "if (cA_1 < N) B[gA_3] = cA_1 < N ? A[gA_3] : 0.0f;",
	} {
		_, after, ok := strings.Cut(rest, line+"\n")
		require.Truef(t, ok, "expected %q in this place of\n%s", line, out.CUDA)
		rest = after
		if strings.HasPrefix(line, "const int ") {
			named++
		}
	}
	require.Equal(t, named, strings.Count(string(out.CUDA), "const int gA")+strings.Count(string(out.CUDA), "const int cA"), "and no other")
	check.Kernel(t, k, check.Args{Dims: map[string]int64{"N": 70}, Seed: 3}, check.Options{On: check.CPU})
}

// TestOpaqueConstants stay out of what uses them.
func TestOpaqueConstants(t *testing.T) {
	k := Define("opaque_constant", func(k *K) {
		x, y := In[elem.F32](k, "x", Shape(64)), Out[elem.F32](k, "y", Shape(32))
		k.Threads(32)
		Map(x.At(k.Thread.Add(k.Opaque("off", 5))), y.At(k.Thread), keep[elem.F32])
		Expect(y, 0, func(r *Ref) func(at []int64) float64 {
			x := r.Tensor("x")
			return func(at []int64) float64 { return x.At(at[0] + 5) }
		})
	})
	check.Kernel(t, k, check.Args{Seed: 1}, check.Options{On: check.CPU})
	out, err := gen.Generate(k, gen.Options{})
	require.NoError(t, err)
	_, after, _ := strings.Cut(string(out.CUDA), "__builtin_assume(off >= 5);")
	require.Contains(t, after, "off")
}
