package algebra

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra/sym"
)

// results checks operations on texts: the result, or a part of what the refusal says.
func results(t *testing.T, cases [][]string) {
	t.Helper()
	for _, c := range cases {
		op, args, want := c[0], c[1:len(c)-1], c[len(c)-1]
		got, err := call(op, args)
		if err != nil {
			got = err.Error()
			require.Contains(t, got, want, "%v", c)
			continue
		}
		require.Equal(t, want, got, "%v", c)
	}
}

// TestComposeSymbols: compositions through symbolic extents and strides, and the facts that are missing.
func TestComposeSymbols(t *testing.T) {
	results(t, [][]string{
		{"composition", "(M,8):(K,1)", "2:8*M", "2:8"},
		{"composition", "(M,N):(1,ld)", "M:1", "M:1"},
		{"composition", "(M,N):(1,ld)", "2*M:1", "the leaves of B carry into one another in A, and the extents of (M,N):(1,ld) must be constants"},
		{"composition", "(M,N):(1,ld)", "(M,M):(1,1)", "the leaves of B carry into one another in A"},
		{"composition", "(M,N):(1,ld)", "(M,N):(1,M)", "(M,N):(1,ld)"},
		{"composition", "8:3", "4:K", "4:3*K"},
		{"composition", "(4,8):(1,4*K)", "2:K", "stride K and the extent 4 of mode 0 are not known to divide one another (state the fact 4 % K == 0)"},
		{"composition", "(4,M):(1,K)", "3:4", "3:K"},
		{"composition", "(6,M):(1,100)", "(2,3):(3,2)", "coordinate 5 gives 7 where A(B(5)) is 101"},
		{"composition", "(M,8):(1,K)", "(2,3):(3,2)", "stride 3 and the extent M of mode 0 are not known to divide one another (state the fact M % 3 == 0)"},
		{"composition", "(M,N):(1,ld)", "P:1", "it is not known whether the P steps of 1 stay inside mode 0 of extent M (state the fact P % M == 0)"},
		{"composition", "(6,6):(1,10)", "(3,3,M):(2,1,6)", "M:6 is symbolic, and facts do not prove the closed form"},
		{"composition", "(6,2):(1,100)", "(2,3):(K,2)", "stride K and the extent 6 of mode 0 are not known to divide one another"},
		{"composition", "(4,8):(1@0,1@1)", "2:3@2", "basis [2] leads to no mode of (4,8):(1@0,1@1)"},
		{"composition", "(4,8):(7,1)", "(2,4):(3@0,2@1)", "(2,4):(21,2)"},
		{"composition", "(2,2):(0,1)", "(4,1):(3,5)", "((2,2),1):((1,3),0)"},
		{"composition", "(2,2):(0,1)", "(1,4,3):(7,3,0)", "(1,(2,2),3):(0,(1,3),0)"},
		{"composition", "((4,2),8):((7,1),2)", "(2,4):(1@1@0,2@1)", "(2,4):(1,4)"},
		{"composition", "(4,8):(7,1)", "(2,(2,2)):(1,(2@0,1@1))", "(2,(2,2)):(7,(14,1))"},
		{"composition", "(4,6,8):(2,3,5)", "(1,2,4):(0,4,1)", "(1,2,4):(0,3,2)"},
		{"composition", "(6,6):(1,10)", "(1,3,2):(5,4,2)", "no layout expresses A∘B"},
		{"composition", "(4,6,8):(2,3,5)", "8:3", "the values along 8:3, 0 6 7 8 9 15 16 17, are those of no layout"},
		{"composition", "(4,6,8):(2,3,5)", "9:3", "the values along 9:3, 0 6 7 8 9 15 16 17 … (9), are those of no layout"},
		{"composition", "(4,6,8):(2,3,5)", "10:3", "the values along 10:3, 0 6 7 8 9 15 16 17 … (10), are those of no layout"},
		{"composition", "(2,2):(1@0,1@1)", "2:3", "the step (1,1) mixes modes of the coordinate (next to it 1:3, 2:2, 2:4 would do)"},
		{"composition", "(4,3):(K,1)", "4:3", "the values along 4:3, 0 3*K 2*K+1 K+2, are those of no layout; first at coordinate 2: got 1, want 2*K+1 (next to it 2:3, 4:2, 4:4 would do)"},
		{"composition", "(2,4194304):(1,3)", "(2,2,1048576):(1,1,2)", "coordinate 3 gives 2 where A(B(3)) is 3"},
		{"composition", "(2,4194304):(1,3)", "(2,2,1048577):(1,1,2)", "4194308 coordinates are too many to verify (limit 4194304)"},
		{"composition", "Sw<2,0,3> o 0 o 64:1", "Sw<1,2,3> o 0 o 16:1", "Sw<3,0,3> o 0 o 16:1"},
		{"composition", "Sw<2,0,3> o 4 o 64:1", "Sw<1,2,3> o 0 o 16:1", "Sw<2,0,3> o 4 o 16:1"},
		{"coalesce", "(M,K):(0,0)", "K*M:0"},
		{"coalesce", "(M,K):(0,1)", "(M,K):(0,1)"},
		{"coalesce", "(M,K):(1,0)", "(M,K):(1,0)"},
	})
	r, err := Compose(MustParse("(8,N):(1,ld)"), MustLayout(S(symbol("M", 1, sym.Unbounded, 8)), D(1)))
	require.NoError(t, err)
	require.Equal(t, "((8,M/8)):((1,ld))", r.String())
	m8 := symbol("M", 1, sym.Unbounded, 8)
	a := MustLayout(S(m8, 4), D(1, symbol("ld", 1, sym.Unbounded, 1)))
	for text, want := range map[string]string{"8:1": "8:1", "9:1": "", "(8,2):(1,8)": "", "4:2": "4:2", "(2,4):(4,1)": "(2,4):(4,1)", "16:1": "", "7:1": "7:1", "2:8": "", "2:7": "2:7", "3:4": ""} {
		r, err := Compose(a, MustParse(text))
		if want == "" {
			require.Error(t, err, text)
			continue
		}
		require.NoError(t, err, text)
		require.Equal(t, want, r.String())
	}
}

// TestCasts: upcasts and downcasts of swizzles, negative strides and symbols.
func TestCasts(t *testing.T) {
	results(t, [][]string{
		{"upcast", "Sw<1,2,-1> o 0 o 16:1", "4", "Sw<1,0,-1> o 0 o 4:1"},
		{"upcast", "Sw<1,1,-1> o 0 o 16:1", "4", "Sw<1,1,-1> reads bits inside a unit of 4 elements"},
		{"upcast", "Sw<1,0,3> o 0 o 16:1", "4", "4:1"},
		{"upcast", "Sw<1,1,3> o 0 o 16:1", "4", "4:1"},
		{"upcast", "Sw<1,2,3> o 0 o 16:1", "4", "Sw<1,0,3> o 0 o 4:1"},
		{"upcast", "Sw<2,1,3> o 0 o 64:1", "4", "Sw<1,0,3> o 0 o 16:1"},
		{"upcast", "Sw<1,0,3> o 4 o 16:1", "4", "the offset 1 stays when the swizzle is gone"},
		{"upcast", "Sw<1,2,3> o 4 o 16:1", "4", "Sw<1,0,3> o 1 o 4:1"},
		{"upcast", "Sw<1,2,3> o 2 o 16:1", "4", "the offset 2 inside the swizzle is not known to be a multiple of 4"},
		{"upcast", "Sw<1,2,3> o 0 o 18:1", "3", "3 must be a power of two for a swizzled layout"},
		{"upcast", "Sw<1,2,3> o 0 o 18:1", "6", "6 must be a power of two for a swizzled layout"},
		{"upcast", "16:-1", "4", "the negative stride -1 lies inside a unit of 4"},
		{"upcast", "(2,4):(8,-4)", "4", "(2,4):(2,-1)"},
		{"upcast", "(4,2):(0,4)", "4", "(4,2):(0,1)"},
		{"upcast", "(4,2):(6,1)", "4", "stride 6 and 4 must divide one another"},
		{"upcast", "6:1", "4", "the last vector of 6:1 by 4 holds only 2 of 4 elements (extents 4 and 8 would do; the Ceil form rounds up)"},
		{"upcast", "M:1", "4", "extent M is not known to be a multiple of 4 (state the fact M % 4 == 0, or use the Ceil form)"},
		{"upcast", "3:1", "4", "a unit of 4 holds 3 of 4 elements (the Ceil form rounds up)"},
		{"upcast", "(2,2):(1,1)", "4", "a unit of 4 holds 3 of 4 elements"},
		{"upcast", "(4,2):(1,1)", "4", "elements of one unit lie 4 apart, which is not below 4"},
		{"upcast", "4:1", "4", "1:1"},
		{"downcast", "Sw<1,2,3> o 4 o 16:1", "4", "Sw<1,4,3> o 16 o 64:1"},
		{"downcast", "Sw<1,2,3> o 4 o 16:1", "6", "6 must be a power of two for a swizzled layout"},
		{"downcast", "(4,2):(1,1)", "4", "2 modes have stride 1, and each would grow by 4"},
		{"downcast", "(4,2):(2,3)", "4", "no mode has stride 1"},
		{"recast_layout", "16:1", "8", "12", "the last vector of 16:1 by 3 holds only 1 of 3 elements (extents 15 and 18 would do; the Ceil form rounds up)"},
	})
	up, err := UpcastCeil(MustParse("(M,2):(1,M)"), 8)
	require.ErrorContains(t, err, "stride M is not known to be a multiple of 8", "%v", up)
	up, err = UpcastCeil(MustParse("M:1"), 8)
	require.NoError(t, err)
	require.Equal(t, "ceil_div(M,8):1", up.Layout.String())
	up, err = UpcastCeil(MustLayout(S(symbol("M", 1, sym.Unbounded, 8)), D(1)), 8)
	require.NoError(t, err)
	require.Equal(t, "(M/8):(1)", up.Layout.String())
}

// TestDivideRefusals: which part of a divide is refused, with numbers.
func TestDivideRefusals(t *testing.T) {
	results(t, [][]string{
		{"logical_divide", "8:1", "(2,2):(1,3)", "nothing completes the tile (2,2):(1,3) to [0,8): offset 2 of [0,8) is never reached"},
		{"logical_divide", "4:1", "(2,2):(1,3)", "nothing completes the tile (2,2):(1,3) to [0,4): offset 4 lies outside [0,4)"},
		{"logical_divide", "9:1", "(2,2):(1,3)", "the tile (2,2):(1,3) has 4 elements, which do not divide the 9 of the layout (3 and 9 divide; the Ceil form rounds up)"},
		{"logical_divide", "5:1", "(2,2):(1,3)", "the tile (2,2):(1,3) has 4 elements, which do not divide the 5 of the layout (1 and 5 divide"},
		{"logical_divide", "8:1", "(2,2):(1,0)", "the tile (2,2):(1,0) does not divide [0,8): 4 copies of its 4 elements are 16 (the Ceil form rounds up)"},
		{"logical_divide", "(8,M):(1,8)", "(4,4)", "mode 1: the tile 4:1 must divide the extent M (state the fact M % 4 == 0, or use the Ceil form)"},
		{"logical_divide", "M:1", "2:K", "the tile 2:K must divide the extent M"},
		{"logical_divide", "(4,8):(1,4)", "(2,2,2)", "the tiler has 3 modes, the layout only 2"},
		{"logical_product", "2:1", "2:K", "(2,2):(1,2*K)"},
		{"logical_product", "(2,2,2):(1,1,5)", "2:1", "stride 1 lies within the 2 offsets below it: the layout is not injective"},
		{"logical_product", "2:4194304", "4194304:1", "(2,4194304):(4194304,1)"},
		{"logical_product", "M:K", "1:0", "(M,1):(K,0)"},
		{"logical_product", "(2,2):(1,2)", "(2,2):(1,4)", "((2,2),(2,2)):((1,2),(4,16))"},
		{"logical_product", "(2,2):(1,5)", "2:3", "((2,2),2):((1,5),12)"},
		{"complement", "(2,2):(1,1)", "8", "offset 6 of [0,8) is never reached: moving the layout there leads past the end"},
		{"complement", "2:4", "4", "4:1"},
	})
}

// bounds of symbolic strides that order them, or do not.
func TestOrderByRange(t *testing.T) {
	for _, c := range []struct {
		lo, hi int64
		stride int64
		known  bool
	}{{8, 9, 4, true}, {4, 9, 4, true}, {1, 4, 4, true}, {1, 3, 4, true}, {3, 5, 4, false}, {1, 5, 4, false}, {3, 9, 4, false}} {
		s := symbol("s", c.lo, c.hi, 1)
		x, y := mode{sym.Int(2), Step{Coef: s}}, mode{sym.Int(2), Step{Coef: sym.Int(c.stride)}}
		for _, pair := range [][2]mode{{x, y}, {y, x}} {
			less, e := before(pair[0], pair[1])
			require.Equal(t, c.known, e == nil, "%v", c)
			if c.lo > 4 && e == nil {
				require.Equal(t, pair[1].d.Equal(x.d), less, "%v", c)
			}
			if c.hi < 4 && e == nil {
				require.Equal(t, pair[0].d.Equal(x.d), less, "%v", c)
			}
		}
	}
	for _, e := range []mode{{sym.Int(2), E(0)}, {sym.Int(2), E(1, 0)}} {
		_, err := before(e, mode{sym.Int(2), Step{Coef: sym.Int(1)}})
		require.Equal(t, "the stride "+e.d.String()+" has a basis", err.Condition)
		_, err = before(mode{sym.Int(2), Step{Coef: sym.Int(1)}}, e)
		require.Equal(t, "the stride "+e.d.String()+" has a basis", err.Condition)
	}
}

// TestCommonRefusals: common layouts of swizzles with offsets, symbols and cuts.
func TestCommonRefusals(t *testing.T) {
	results(t, [][]string{
		{"max_common_layout", "Sw<1,0,1> o 2 o 8:1", "8:1", "the offset 2 inside the swizzle must be 0"},
		{"max_common_layout", "8:1", "Sw<1,0,1> o 2 o 8:1", "the offset 2 inside the swizzle must be 0"},
		{"max_common_layout", "8:1", "8:1", "8:1"},
		{"max_common_layout", "8:1", "Sw<1,1,1> o 0 o 8:1", "2:1"},
		{"max_common_layout", "8:1", "Sw<1,3,1> o 0 o 8:1", "8:1"},
		{"max_common_layout", "8:1", "Sw<1,0,1> o 0 o 8:1", "1:1"},
		{"max_common_layout", "(2,4):(4,1)", "(2,4):(4,1)", "(4,2):(2,1)"},
		{"max_common_layout", "(M,4):(4,1)", "(M,4):(4,1)", "(4,M):(M,1)"},
		{"max_common_vector", "(M,4):(4,1)", "(M,4):(4,1)", "the common size 4*M must be a constant"},
		{"max_common_layout", "Sw<1,0,1> o 0 o (M,4):(4,1)", "(M,4):(4,1)", "the common size 4*M must be a constant"},
		{"max_common_vector", "4:1", "8:1", "4"},
		{"max_common_vector", "8:1", "4:1", "4"},
		{"max_common_vector", "(4,1):(1,1)", "15:1", "4"},
		{"max_common_vector", "15:1", "(4,1):(1,1)", "4"},
		{"max_common_layout", "(6,4):(1,1)", "(4,4):(1,4)", "6:1"},
		{"max_common_layout", "(4,4):(1,4)", "(6,4):(1,1)", "6:1"},
		{"max_common_vector", "M:1", "8:1", "the size of M:1 is not known to reach the coordinates of 8:1 (state the fact M >= 8)"},
		{"max_common_vector", "8:1", "M:1", "the size of M:1 is not known to reach the coordinates of 8:1 (state the fact M >= 8)"},
		{"max_common_vector", "(4,4):(1,K)", "16:1", "whether the stride K is 4 is not known (state a fact of K)"},
		{"max_common_vector", "16:1", "(4,4):(1,K)", "whether the stride K is 4 is not known (state a fact of K)"},
		{"max_common_vector", "(4,4):(1,8*K)", "16:1", "4"},
		{"max_common_vector", "16:1", "(4,4):(1,8*K)", "4"},
		{"max_common_vector", "M:1", "M:1", "the common size M must be a constant"},
		{"max_common_layout", "12:1", "Sw<1,3,1> o 0 o 12:1", "8:1"},
		{"max_common_vector", "(6,2):(1,6)", "(6,2):(1,7)", "6"},
		{"max_common_vector", "(6,2):(1,7)", "(6,2):(1,6)", "6"},
		{"max_common_vector", "(2,3):(1,3)", "(2,3):(1,2)", "2"},
		{"max_common_vector", "(4,3):(1,5)", "(6,2):(1,6)", "4"},
	})
}

// TestPoisonedAfter: an error that a layout or shape got after it was whole is reported by every operation.
func TestPoisonedAfter(t *testing.T) {
	good, bad := MustParse("(4,8):(8,1)"), MustParse("(4,8):(8,1)").WithSwizzle(Swizzle{2, 0, 1}, sym.Expr{})
	bad.sw = Swizzle{} // only the error tells
	text := "|S| = 1 must be at least B = 2"
	shape := bad.Shape()
	for name, err := range map[string]error{
		"composition":   second(Compose(bad, good)),
		"composition 2": second(Compose(good, bad)),
		"complement":    second(Complement(bad, Extent(64))),
		"complement 2":  second(Complement(good, shape)),
		"divide":        second(ZippedDivide(bad, T(2, 2))),
		"divide 2":      second(ZippedDivide(good, T(2, TileBy(bad.Mode(1))))),
		"divide up":     second(ZippedDivideCeil(bad, T(2, 2))),
		"right_inverse": second(RightInverse(bad)),
		"left_inverse":  second(LeftInverse(bad)),
		"coalesce":      second(Coalesce(bad)),
		"product":       second(LogicalProduct(bad, T(2, 2))),
		"divide 3":      second(ZippedDivide(good, TileBy(shape))),
		"raked":         second(RakedProduct(good, bad)),
		"upcast":        second(Upcast(bad, 2)),
		"filter":        second(Filter(bad)),
		"nullspace":     second(Nullspace(bad)),
		"common":        second(MaxCommonVector(good, bad)),
		"slice":         second(CrdToIdx(C(1, 2), bad)),
		"append":        second(AppendTo(bad, 1, good)),
		"append 2":      second(Append(good, bad)),
		"get":           second(Get(bad, 0)),
		"mode":          bad.Mode(0).Err(),
		"mode 2":        bad.Mode(5).Err(),
		"shape_div":     second(ShapeDiv(shape, S(2, 2))),
		"with_shape":    second(WithShape(good, shape)),
		"cosize":        second(bad.Cosize()),
		"grid":          second(Grid(bad)),
		"swizzle":       bad.WithSwizzle(Swizzle{3, 0, 1}, sym.Expr{}).Err(),
		"swizzle 2":     bad.WithSwizzle(Swizzle{}, sym.Int(3)).Err(),
	} {
		require.ErrorContains(t, err, text, name)
	}
	require.False(t, Congruent(shape, good.Shape()) || Congruent(good.Shape(), shape) || WeaklyCongruent(shape, good.Shape()) || WeaklyCongruent(good.Shape(), shape))
	require.False(t, Compatible(shape, good.Shape()) || Compatible(good.Shape(), shape))
	require.ErrorContains(t, good.WithSwizzle(Swizzle{}, sym.Int(3)).Err(), "the offset 3 has no swizzle to stand in")
	require.NoError(t, good.WithSwizzle(Swizzle{}, sym.Expr{}).Err())
	require.NoError(t, good.WithSwizzle(Swizzle{1, 0, 1}, sym.Int(3)).Err())
}
