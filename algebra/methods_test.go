package algebra

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLayoutMethods: what layouts say about themselves, and modes that are not there.
func TestLayoutMethods(t *testing.T) {
	l, w := MustParse("(4,8):(8,1)"), MustParse("Sw<1,0,1> o 0 o (4,8):(8,1)")
	require.False(t, l.IsSwizzled())
	require.True(t, w.IsSwizzled())
	for text, same := range map[string]bool{
		"(4,8):(8,1)": true, "(4,8):(8,2)": false, "(4,9):(8,1)": false, "Sw<1,0,1> o 0 o (4,8):(8,1)": false, "32:1": false, "(4,(8)):(8,(1))": false, "(4,8,1):(8,1,0)": false, "(4,8):(8,1@0)": false,
	} {
		require.Equal(t, same, l.Equal(MustParse(text)), text)
		require.Equal(t, same, MustParse(text).Equal(l), text)
	}
	require.False(t, w.Equal(MustParse("Sw<1,0,1> o 2 o (4,8):(8,1)")))
	require.False(t, w.Equal(MustParse("Sw<1,0,2> o 0 o (4,8):(8,1)")))
	require.True(t, w.Equal(MustParse("Sw<1,0,1> o 0 o (4,8):(8,1)")))
	require.False(t, MustParse("4:1").Equal(MustParse("5:1")))
	require.False(t, MustParse("4:1").Equal(MustParse("():()")))
	require.False(t, MustParse("():()").Equal(MustParse("4:1")))
	require.False(t, Congruent(Extent(4), S()) || Congruent(S(), Extent(4)))
	require.False(t, MustParse("4:1").Equal(MustParse("4:2")))
	require.ErrorContains(t, l.Mode(2).Err(), "there is no mode [2]")
	require.ErrorContains(t, l.Mode(0, 1).Err(), "there is no mode [0 1]")
	require.NoError(t, l.Mode(0, 0).Err())
	for _, c := range [][2]string{{"(4,2)", "4"}, {"4", "(4,2)"}, {"(4)", "4"}, {"4", "(4)"}, {"(4,2)", "(4,2,1)"}, {"(4,(2))", "(4,2)"}} {
		s, _ := ParseShape(c[0])
		d, _ := ParseStride(c[1])
		_, err := NewLayout(s, d)
		require.ErrorContains(t, err, "do not have the same profile", "%v", c)
	}
	three := MustParse("(2,2,2):(1,2,4)")
	for n, want := range map[int]string{2: "", 3: "(2,2,2):(1,2,4)", 4: "(2,2,2,1):(1,2,4,0)", 5: "(2,2,2,1,1):(1,2,4,0,0)"} {
		r, err := AppendTo(three, n, unit)
		if want == "" {
			require.ErrorContains(t, err, "the layout has more than 2 modes")
			continue
		}
		require.NoError(t, err)
		require.Equal(t, want, r.String())
	}
	for _, c := range []struct {
		b, e int
		want string
	}{{0, 0, "():()"}, {1, 1, "():()"}, {3, 3, "():()"}, {0, 3, "(2,2,2):(1,2,4)"}, {1, 2, "(2):(2)"}, {2, 1, "[2,1) is not a range of 3 modes"}, {-1, 2, "[-1,2) is not a range"}, {2, 4, "[2,4) is not a range"}, {4, 4, "[4,4) is not a range"}} {
		r, err := Take(three, c.b, c.e)
		got := r.String()
		if err != nil {
			require.ErrorContains(t, err, c.want)
			continue
		}
		require.Equal(t, c.want, got)
	}
	_, err := FilterZerosBy(MustParse("8:1"), S(0, 0))
	require.ErrorContains(t, err, "profile (0,0) does not fit shape 8")
	_, err = FilterZerosBy(l, S(0, 1, 1))
	require.ErrorContains(t, err, "profile (0,1,1) does not fit shape (4,8)")
	r, err := FilterZerosBy(l, S(0, 1))
	require.NoError(t, err)
	require.Equal(t, "(1,8):(8,1)", r.String())
}

// TestInverseEdges: inverses of basis and symbolic strides, and what they ask for.
func TestInverseEdges(t *testing.T) {
	results(t, [][]string{
		{"right_inverse", "(4,8):(1@0,4)", "1:0"},
		{"right_inverse", "(4,8):(1,4@1)", "4:1"},
		{"right_inverse", "(4,8,K):(1,4@0,4)", "(4,K):(1,32)"},
		{"left_inverse", "(M,M):(M,1)", "(M,M):(M,1)"},
		{"left_inverse", "(M,8):(1,M)", "8*M:1"},
		{"left_inverse", "(M,K):(1@0,K)", "stride 1@0 is not known to be positive"},
		{"left_inverse", "(M,8):(K-9,1)", "stride K-9 is not known to be positive (state the fact K-9 >= 1)"},
		{"left_inverse", "(M,8):(K-1,1)", "stride K-1 is not known to be positive (state the fact K-1 >= 1)"},
		{"left_inverse", "(M,8):(K,1)", "it is not known whether stride K steps over the 8 offsets below it (state the fact K % 8 == 0)"},
		{"left_inverse", "(2,2):(0,1)", "2:2"},
		{"left_inverse", "4:-1", "(-1,4):(0,1)"},
		{"left_inverse", "Sw<1,0,1> o 0 o 4:-1", "make no swizzle, as one is negative"},
		{"left_inverse", "(2048,2048):(2,3)", "4194304 coordinates are too many to search for another layout; the limit is 65536"},
		{"nullspace", "(2,3,4):(1,0,2)", "3:2"},
		{"nullspace", "(2,3):(1,2)", "1:0"},
	})
	require.Nil(t, checkRight(fnOf("Sw<1,0,1> o 0 o 4:1"), MustParse("Sw<1,0,1> o 0 o 4:1")))
	for _, l := range []string{"Sw<1,0,1> o 2 o 4:1", "Sw<1,0,1> o 0 o 4:2"} {
		require.NotNil(t, checkRight(fnOf(l), MustParse("Sw<1,0,1> o 0 o 4:1")))
	}
	require.ErrorContains(t, checkRight(fnOf("4:1"), MustParse("K:1")).in("x"), "K:1 is not static")
	require.Nil(t, checkLeft(fnOf("(2,2):(0,1)"), MustParse("2:2")))
	require.NotNil(t, checkLeft(fnOf("(2,2):(0,1)"), MustParse("2:1")))
	require.NotNil(t, checkLeft(fnOf("4:1"), MustParse("4:-1")))
	e := checkLeft(fnOf("4:1"), MustParse("4:2"))
	require.Equal(t, []any{int64(1), "2", "1"}, []any{e.Coord, e.Got, e.Want})
	require.NotNil(t, checkLeft(fnOf("4194304:1"), MustParse("4194304:0")))
}

// TestPictureEdges: the widths of the edges, and what cannot be drawn.
func TestPictureEdges(t *testing.T) {
	got, err := Grid(MustParse("(10,11):(0,0)"))
	require.NoError(t, err)
	require.Contains(t, got, "\n    0  1  2  3  4  5  6  7  8  9 10\n0|  0  0  0  0  0  0  0  0  0  0  0\n")
	got, err = Grid(MustParse("(11,10):(0,0)"))
	require.NoError(t, err)
	require.Contains(t, got, "\n    0 1 2 3 4 5 6 7 8 9\n 0| 0 0 0 0 0 0 0 0 0 0\n")
	for text, want := range map[string]string{
		"(2,2,2):(1,2,4)": "a grid has two modes, (2,2,2) has 3 (group the modes into two)", "(M,4):(1,4)": "the extents of (M,4) must be constants",
	} {
		_, err := Grid(MustParse(text))
		require.ErrorContains(t, err, want)
	}
	for text, want := range map[string]string{
		"4:1": "a TV layout is static and has two modes, threads and values", "(2,2,2):(1,2,4)": "has two modes", "(2,K):(1,2)": "is static",
		"(2,2):(-1,1)": "thread 1, value 0 is at -1, outside the tile of 4", "(2,3):(1,2)": "thread 0, value 2 is at 4, outside the tile of 4", "(2,2):(1,2)": "",
	} {
		_, err := GridTV(MustParse(text), S(2, 2))
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, want)
	}
}

// TestShapeEdges: divisions and coordinates that do not fit.
func TestShapeEdges(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{{"8", "(2)", true}, {"8", "(2,2)", false}, {"8", "(3)", false}, {"(8,4)", "(2,2)", true}, {"(8,4)", "(2,3)", false}, {"(8,4)", "(2)", true}, {"(8,4)", "(2,2,1)", false}, {"(8,4)", "16", true}, {"(8,4)", "2", true}, {"(8,4)", "3", false}, {"8", "4", true}, {"8", "16", false}, {"((4,2),6)", "((2,2),3)", true}} {
		a, _ := ParseShape(c.a)
		b, _ := ParseShape(c.b)
		require.Equal(t, c.want, EvenlyDivides(a, b), "%v", c)
		holds, err := CheckEvenlyDivides(a, b)
		require.NoError(t, err)
		require.Equal(t, c.want, holds, "%v", c)
	}
	results(t, [][]string{
		{"shape_div", "(4,4)", "(2,2,2)", "ranks 2 and 3 do not match"},
		{"shape_div", "(4,4,4)", "(2,2)", "ranks 3 and 2 do not match"},
		{"ceil_div", "(4,4,4)", "(3,3)", "(2,2,4)"},
		{"ceil_div", "(4,4)", "(2,2,2)", "ranks 2 and 3 do not match"},
		{"ceil_div", "(M,N)", "4", "what the mode M leaves of the divisor 4 is not known (state facts of the symbols)"},
		{"ceil_div", "(4*M,N)", "4", "(M,N)"},
	})
	for _, c := range []struct {
		i    int64
		l    string
		want string
	}{
		{3, "(2,4):(0,1)", "(0,3)"}, {5, "(2,4):(4,1)", "(1,1)"}, {3, "(4,K):(1,4)", "the layout must be static and not swizzled"}, {3, "Sw<1,0,1> o 0 o (4,4):(1,4)", "the layout must be static and not swizzled"},
		{9, "(2,4):(4,1)", "the layout has 1 at (0,1), not 9 (only compact layouts invert digit by digit)"}, {7, "(1,8):(3,1)", "(0,7)"}, {4, "(1,8):(3,1)", "(0,4)"},
	} {
		got, err := IdxToCrdIn(c.i, MustParse(c.l))
		if err != nil {
			require.ErrorContains(t, err, c.want)
			continue
		}
		require.Equal(t, c.want, got.String(), "%v", c)
	}
	_, err := CrdToIdx(C(1, 2, 3), MustParse("(4,8):(1,4)"))
	require.EqualError(t, err, "algebra: crd2idx((1,2,3), (4,8):(1,4)): coordinate (1,2,3) does not fit shape (4,8)")
	v, err := CrdToIdx(C(1, 2), MustParse("(4,8):(1,4)"))
	require.NoError(t, err)
	require.Equal(t, "9", v.String())
	_, err = CrdToIndex(C(1, 2, 3), S(4, 8))
	require.ErrorContains(t, err, "coordinate (1,2,3) does not fit shape (4,8)")
	_, err = IdxToCrd(C(1, 2, 3), S(4, 8))
	require.ErrorContains(t, err, "index (1,2,3) does not fit shape (4,8)")
	for _, c := range []struct {
		c        Coord
		from, to Shape
		want     string
	}{
		{C(1, 2), S(4, 8), S(8, 4), "(1,2)"}, {CoordOf(13), S(4, 8), S(2, 16), "(1,6)"}, {C(1, 2), S(4, 8), Extent(32), "9"}, {CoordOf(9), Extent(32), S(4, 8), "(1,2)"}, {C(1, C(1, 2)), S(4, S(2, 4)), S(4, 8), "(1,5)"}, {C(1, 5), S(4, S(2, 4)), S(4, S(4, 2)), "(1,(1,1))"},
		{C(1, 2), Extent(32), S(4, 8), "coordinate (1,2) does not fit shape 32"}, {C(1, C(1, 2)), S(4, 8), S(4, 8), "coordinate (1,2) does not fit shape 8"}, {C(1, 2, 3), S(4, 8), S(4, 8), "ranks 3, 2 and 2 differ"}, {C(1, Underscore), S(4, 8), S(4, 8), "an Underscore has no index"},
	} {
		got, err := CrdToCrd(c.c, c.from, c.to)
		if err != nil {
			require.ErrorContains(t, err, c.want)
			continue
		}
		require.Equal(t, c.want, got.String())
	}
	_, err = CrdToCrd(C(1, 2), S(4, 8), S(4, 4, 2))
	require.ErrorContains(t, err, "ranks 2, 2 and 3 differ")
}

// TestGrowBound: a layout is filled up to a number of modes that is reached at once.
func TestGrowBound(t *testing.T) {
	for _, grow := range []func(Layout, int, Layout) (Layout, error){AppendTo, PrependTo} {
		l, err := grow(MustParse("4:1"), 1024, unit)
		require.NoError(t, err)
		require.Equal(t, 1024, l.Rank())
		_, err = grow(MustParse("4:1"), 1<<30, unit)
		require.ErrorContains(t, err, "1073741824 modes are more than 1024")
	}
}
