package algebra

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra/sym"
)

// smallSwizzled are small layouts, plain and behind a handful of swizzles with a handful of offsets.
func smallSwizzled(extents, strides []int64) (out []Layout) {
	for _, l := range smallLayouts(extents, strides, 2) {
		out = append(out, l)
		for _, w := range []Swizzle{{1, 0, 1}, {1, 1, -2}, {2, 0, 2}, {2, 1, -3}, {1, 2, 1}} {
			for _, off := range []int64{0, 1, 2, 8} {
				out = append(out, l.WithSwizzle(w, sym.Int(off)))
			}
		}
	}
	return out
}

// TestTilerSwizzle: no product or divide leaves out the swizzle of its tiler.
func TestTilerSwizzle(t *testing.T) {
	block, tiler := MustParse("2:1"), MustParse("Sw<1,0,1> o 0 o 4:1")
	for op := range goldenOps {
		switch op {
		case "blocked_product", "raked_product", "logical_product", "zipped_product", "tiled_product", "flat_product",
			"logical_divide", "zipped_divide", "tiled_divide", "flat_divide":
			_, err := call(op, []string{block.String(), tiler.String()})
			require.ErrorContains(t, err, "the tiler Sw<1,0,1> o 0 o 4:1 is swizzled", op)
		}
	}
	r, err := BlockedProduct(tiler, block) // that of the block stays
	require.NoError(t, err)
	require.Equal(t, "Sw<1,0,1> o 0 o ((4,2)):((1,4))", r.String())
}

// TestComposeCarriesNoError: a composition has the values of A∘B or is refused, and no result carries an error, also where
// A's stride-0 tail swallows the swizzle's bits and an offset is left over.
func TestComposeCarriesNoError(t *testing.T) {
	results(t, [][]string{
		{"composition", "(3,2):(1,0)", "Sw<1,3,1> o 16 o 2:1", "2:1"},
		{"composition", "(3,3):(2,0)", "Sw<1,3,-3> o 8 o 1:2", "1:0"},
		{"composition", "(5,1):(5,0)", "Sw<2,1,-2> o 2 o 2:0", "2:0"},
		{"composition", "(6,2,2):(1,3,0)", "Sw<3,3,3> o 64 o 4:1", "4:1"},
	})
	as, given := smallSwizzled([]int64{2, 3}, []int64{0, 1, 2}), 0
	for _, b := range smallSwizzled([]int64{1, 2, 4}, []int64{0, 1, 3}) {
		if !b.IsSwizzled() {
			continue
		}
		for i := given % 29; i < len(as); i += 29 {
			r, err := Compose(as[i], b)
			if err != nil {
				continue
			}
			given++
			require.NoError(t, r.Err(), "composition(%s, %s)", as[i], b)
			n, _ := b.IntSize()
			got, _ := layoutFun(r)
			require.NoError(t, compareFuns(got, fun{n, func(c int64) int64 { return as[i].AtInt(b.AtInt(c)) }}), "composition(%s, %s) = %s", as[i], b, r)
		}
	}
	require.Greater(t, given, 1000)
}

// TestSettled: what carries an error is no result.
func TestSettled(t *testing.T) {
	_, e := settled(MustParse("4:1").WithSwizzle(Swizzle{}, sym.Int(1)), nil)
	require.Equal(t, "the result is no layout: the offset 1 has no swizzle to stand in", e.Condition)
	_, err := Downcast(MustParse("Sw<20,22,20> o 0 o 4:1"), 2)
	require.ErrorContains(t, err, "the result is no layout: bits up to 63 do not fit")
}

// TestComplementReachesZero: a layout whose least offset is not 0 has no complement; what is given fills [0, cotarget).
func TestComplementReachesZero(t *testing.T) {
	results(t, [][]string{
		{"complement", "Sw<3,3,3> o 8 o 1:0", "16", "offset 0 of [0,16) is never reached: the layout's least offset is 8"},
		{"complement", "Sw<1,0,2> o 8 o 8:0", "16", "is never reached"},
		{"complement", "Sw<3,0,3> o 16 o 1:0", "108", "is never reached"},
		{"complement", "Sw<1,0,1> o 2 o 1:0", "4", "is never reached"},
		{"complement", "Sw<1,0,1> o 3 o 2:1", "8", "offset 0 of [0,8) is never reached: the layout's least offset is 2"},
		{"complement", "Sw<3,3,3> o 0 o 1:0", "16", "16:1"},
	})
	given := 0
	for _, l := range smallSwizzled([]int64{1, 2, 4}, []int64{0, 1, 2, 4}) {
		for _, n := range []int64{4, 12, 16, 32} {
			r, err := Complement(l, Extent(n))
			if err != nil {
				continue
			}
			given++
			require.NoError(t, r.Err())
			require.NoError(t, checkComplement([]string{l.String(), exprOf(n).String()}, r.String()), "complement(%s, %d) = %s", l, n, r)
		}
	}
	require.Greater(t, given, 500)
}

// TestRightInverseWithin: A(R(i)) = i, and R(i) is a coordinate of A.
func TestRightInverseWithin(t *testing.T) {
	results(t, [][]string{
		{"right_inverse", "Sw<1,0,1> o 0 o 3:1", "Sw<1,0,1> o 0 o 2:1"},
		{"right_inverse", "Sw<1,1,-2> o 0 o 8:1", "Sw<1,1,-2> o 0 o 2:1"},
		{"right_inverse", "Sw<2,1,3> o 0 o 18:1", "Sw<2,1,3> o 0 o 16:1"},
		{"right_inverse", "Sw<2,3,-2> o 0 o (2,3,2):(1,2,6)", "Sw<2,3,-2> o 0 o 8:1"},
		{"right_inverse", "Sw<3,3,-3> o 0 o 1000001:1", "Sw<3,3,-3> o 0 o 999944:1"},
		{"right_inverse", "Sw<1,0,1> o 0 o 4:1", "Sw<1,0,1> o 0 o 4:1"},
	})
	given := 0
	for _, l := range smallSwizzled([]int64{1, 2, 3, 4}, []int64{0, 1, 2, 3, 4}) {
		r, err := RightInverse(l)
		if err != nil {
			require.True(t, l.IsSwizzled(), l)
			continue
		}
		given++
		require.NoError(t, r.Err())
		require.NoError(t, checkInverse(r.String(), l.String(), false), "right_inverse(%s) = %s", l, r)
	}
	require.Greater(t, given, 1000)
}

// TestLeftInverseWithin: A(L(A(i))) = A(i), and L(A(i)) is a coordinate of A.
func TestLeftInverseWithin(t *testing.T) {
	results(t, [][]string{
		{"left_inverse", "(2,2):(1,1)", "(2,2):(1,3)"},
		{"left_inverse", "(2,2):(2,2)", "(2,2,2):(0,1,3)"},
		{"left_inverse", "(16,16):(40,40)", "(40,16):(0,16)"}, // CuTe's, past the end: L(1200) = 480
		{"left_inverse", "(8,8):(3,3)", "(2,22):(-2,3)"},
		{"left_inverse", "Sw<1,12,1> o 0 o (16,16):(40,40)", "= 256 lies past the layout's coordinates"},
	})
	given := 0
	for _, l := range append(smallSwizzled([]int64{1, 2, 3, 4}, []int64{0, 1, 2, 3, 4}), smallLayouts([]int64{2, 3, 4}, []int64{-2, -1, 0, 1, 2, 5}, 3)...) {
		r, err := LeftInverse(l)
		if err != nil {
			continue
		}
		given++
		require.NoError(t, r.Err())
		require.NoError(t, checkInverse(l.String(), r.String(), true), "left_inverse(%s) = %s", l, r)
	}
	require.Greater(t, given, 1000)
}

// TestNullspaceSwizzled: a swizzle changes nothing about what leads to 0, and an offset leaves nothing there.
func TestNullspaceSwizzled(t *testing.T) {
	results(t, [][]string{
		{"nullspace", "Sw<1,0,1> o 0 o (2,3):(0,1)", "2:1"},
		{"nullspace", "Sw<1,0,1> o 2 o (2,3):(0,1)", "the offset 2 inside the swizzle must be 0"},
	})
	for _, l := range smallSwizzled([]int64{1, 2, 3}, []int64{0, 1, 2}) {
		r, err := Nullspace(l)
		require.Equal(t, l.Offset().Is(0), err == nil, l)
		if err != nil {
			continue
		}
		want, err := Nullspace(l.Plain())
		require.NoError(t, err)
		require.True(t, r.Equal(want), l)
		n, _ := r.IntSize()
		for i := range n {
			require.Zero(t, l.AtInt(r.AtInt(i)), "nullspace(%s) = %s", l, r)
		}
	}
}

// TestNoResultCarriesAnError: what an operation gives without an error is a layout.
func TestNoResultCarriesAnError(t *testing.T) {
	whole := func(op string, args ...string) {
		if got, err := call(op, args); err == nil {
			require.False(t, strings.HasPrefix(got, "<"), "%s %v gives %s", op, args, got)
		}
	}
	ls := smallSwizzled([]int64{1, 2, 4}, []int64{0, 1, 2})
	for _, w := range []Swizzle{{1, 0, 61}, {20, 22, -20}, {2, 58, 2}} { // there is no room above
		ls = append(ls, MustParse("(2,4):(4,1)").WithSwizzle(w, sym.Int(8)), MustParse("(4,2):(0,1)").WithSwizzle(w, sym.Expr{}))
	}
	for i, l := range ls {
		for _, op := range []string{"coalesce", "filter", "filter_zeros", "flatten", "right_inverse", "left_inverse", "nullspace", "complement", "zip"} {
			whole(op, l.String())
		}
		for _, op := range []string{"upcast", "downcast"} {
			whole(op, l.String(), "2")
		}
		whole("recast_layout", l.String(), "8", "16")
		whole("recast_layout", l.String(), "16", "8")
		for j := i % 211; j < len(ls); j += 211 {
			for _, op := range []string{"composition", "logical_divide", "zipped_divide", "logical_product", "blocked_product", "raked_product", "max_common_layout", "append", "zip"} {
				whole(op, l.String(), ls[j].String())
			}
		}
	}
}

// TestCommonWithin: the common layout leads to coordinates that both have.
func TestCommonWithin(t *testing.T) {
	ls := smallSwizzled([]int64{2, 3, 4}, []int64{0, 1, 2, 4})
	given := 0
	for i, a := range ls {
		for j := i % 53; j < len(ls); j += 53 {
			b := ls[j]
			r, err := MaxCommonLayout(a, b)
			if err != nil {
				continue
			}
			given++
			f, fa, fb := mustFn(r), mustFn(a), mustFn(b)
			for x := range f.n {
				at := f.at(x)
				require.True(t, at >= 0 && at < min(fa.n, fb.n) && fa.at(at) == x && fb.at(at) == x, "max_common_layout(%s, %s) = %s", a, b, r)
			}
		}
	}
	require.Greater(t, given, 1000)
}
