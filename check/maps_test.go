package check

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/cuda"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// TestTensorMaps: what the copy engine is told stands after the parameters, in numbers, and survives JSON.
func TestTensorMaps(t *testing.T) {
	dim := func(name string) (*cir.Param, sym.Expr) {
		s := &sym.Symbol{Name: name, Class: sym.Param, Lo: 1, Hi: 1 << 20, Multiple: 8}
		return &cir.Param{Name: name, Class: cir.Dim, Sym: s}, sym.New(s)
	}
	pm, m := dim("M")
	pk, k := dim("K")
	one := sym.Int(1)
	a := &cir.Param{Name: "A", Class: cir.Pointer, Elem: elem.KBF16, Read: true, Extents: []sym.Expr{m, k}, Strides: []sym.Expr{k, one},
		Mem: &cir.Mem{Name: "A", Elem: elem.KBF16, Count: m.Mul(k), Align: 16}}
	c := &cir.Kernel{Name: "k", Threads: 32, Arch: 90, Params: []*cir.Param{a, pm, pk},
		Maps: []*cir.TensorMap{{Name: "A_map", Of: a, Extents: []sym.Expr{k, m}, Strides: []sym.Expr{one, k}, Box: []int{32, 64}, Swizzle: 2}}}
	p, err := Resolve(c, Args{Dims: map[string]int64{"M": 24, "K": 40}})
	require.NoError(t, err)
	text, err := json.Marshal(p)
	require.NoError(t, err)
	var back Problem
	require.NoError(t, json.Unmarshal(text, &back))
	require.Equal(t, []ProblemArg{{Tensor: "A"}, {Bits: 24, Bytes: 4}, {Bits: 40, Bytes: 4}, {Tensor: "A", Map: &cuda.TensorMapSpec{
		Elem: elem.KBF16, Rank: 2, Extents: [5]int64{40, 24}, Strides: [5]int64{1, 40}, Box: [5]int{32, 64}, Swizzle: 2}}}, back.Args)

	c.Maps[0].Box[0] = 64
	_, err = Resolve(c, Args{})
	require.ErrorContains(t, err, "internal error: k: A_map: a tensor map expects rows of its box of 64 bytes with a swizzle of 2 bits, but got 128")
	c.Maps[0].Box[0], c.Maps[0].Extents[1] = 32, sym.New(&sym.Symbol{Name: "N", Class: sym.Param, Hi: 9})
	_, err = Resolve(c, Args{})
	require.ErrorContains(t, err, "k: A_map: ")
}
