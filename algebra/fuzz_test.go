package algebra

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gocute/gocute/algebra/sym"
)

// drawLayout draws a nested layout.
func drawLayout(t *rapid.T, label string) Layout {
	extents := []int64{1, 2, 2, 3, 4, 4, 5, 6, 8, 12, 16}
	strides := []int64{0, 1, 1, 2, 3, 4, 5, 8, 16, 24, 64, 128}
	var draw func(depth int) Layout
	draw = func(depth int) Layout {
		if depth == 0 || rapid.IntRange(0, 2).Draw(t, label) == 0 {
			return plain(leafOf(sym.Int(rapid.SampledFrom(extents).Draw(t, label))), leafOf(Step{Coef: sym.Int(rapid.SampledFrom(strides).Draw(t, label))}))
		}
		sub := make([]Layout, rapid.IntRange(1, 3).Draw(t, label))
		for i := range sub {
			sub[i] = draw(depth - 1)
		}
		return joinModes(sub)
	}
	return draw(2)
}

// TestRapid checks every operation on drawn nested layouts against the definitions of the golden test.
func TestRapid(t *testing.T) {
	binary := []string{"composition", "logical_divide", "zipped_divide", "tiled_divide", "flat_divide",
		"logical_product", "zipped_product", "tiled_product", "flat_product", "blocked_product", "raked_product"}
	unary := []string{"coalesce", "flatten", "right_inverse", "left_inverse", "complement"}
	given := 0
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawLayout(t, "a"), drawLayout(t, "b")
		if mustSize(a)*mustSize(b) > 1<<13 {
			return
		}
		for _, op := range unary {
			got, err := call(op, []string{a.String()})
			if err != nil {
				continue
			}
			given++
			if why := satisfies(op, []string{a.String()}, got); why != nil {
				t.Fatalf("%s(%s) = %s: %v", op, a, got, why)
			}
		}
		for _, op := range binary {
			args := []string{a.String(), b.String()}
			got, err := call(op, args)
			if err != nil {
				continue
			}
			given++
			if why := satisfies(op, args, got); why != nil {
				t.Fatalf("%s(%s, %s) = %s: %v", op, a, b, got, why)
			}
		}
	})
	t.Logf("%d results", given)
}

// FuzzParse: no text makes the parser panic, and what it reads it prints in a form that reads the same.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"((1,4),(4,8)):((128,8),(32,1))", "Sw<3,3,3> o 0 o (8,64):(64,1)", "(_4,_8):(_1,4)", "(M,K):(1@0,2@1@0)",
		"ceil_div(M,8):1", "(2*(M+1),xor(M,3)):(1,-4)", "(:", "()", "((M+1)*4):(2)", "3:1 + 5", "4:1@", "1/0:1", "Sw<1,2>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		l, err := Parse(s)
		if err != nil {
			return
		}
		again, err := Parse(l.String())
		if err != nil {
			t.Fatalf("%q prints %q, which does not parse: %v", s, l, err)
		}
		if !again.Equal(l) {
			t.Fatalf("%q prints %q, which reads as %q", s, l, again)
		}
		if n, ok := l.IntSize(); ok && n > 1<<14 {
			return // what follows may then take a while, as it should
		}
		_, _ = Coalesce(l)
		_, _ = Compose(l, l)
		_, _ = LeftInverse(l)
		_, _ = RightInverse(l)
		_, _ = Complement(l, Extent(24))
		_, _ = ZippedDivideCeil(l, T(4))
		_, _ = Upcast(l, 4)
		_, _ = Downcast(l, 4)
		_, _, _ = Slice(l, C(0, Underscore))
	})
}

// TestNoPanic: wrong and odd arguments are refused, not fatal.
func TestNoPanic(t *testing.T) {
	odd := []Layout{{}, MustParse("():()"), MustParse("(0,4):(1,1)"), MustParse("(-1,4):(0,1)"), MustParse("4:-1"), MustParse("(4,(),2):(1,(),4)"),
		MustParse("1152921504606846976:1152921504606846976"), MustParse("(4611686018427387904,4611686018427387904):(1,1)"),
		MustParse("(M,4):(K,1)"), MustParse("(4,8):(1@0,1@1)"), MustParse("Sw<3,3,3> o 5 o (8,64):(64,1)"), MustParse("4:1").Mode(3), MustParse("(4,8):(1,4)").Mode(1, 2),
		Compact(S("x")), MustParse("(((4))):(((1)))"), MustParse("(1,1):(7,7)"), MustParse("(4,4):(-1,-4)"), MustParse("16777216:1")}
	for _, a := range odd {
		for _, op := range []string{"coalesce", "filter", "filter_zeros", "flatten", "right_inverse", "left_inverse", "nullspace", "complement", "zip", "cosize"} {
			ops1(op, a)
		}
		for _, b := range odd {
			ops2(a, b)
		}
		for _, n := range []int64{-1, 0, 1, 3, 8, 1 << 40} {
			_, _ = Upcast(a, n)
			_, _ = Downcast(a, n)
			_, _ = Recast(a, n, 16)
			_, _ = UpcastCeil(a, n)
			_, _ = Group(a, int(n), 2)
			_, _ = Take(a, 0, int(n))
			_, _ = Select(a, int(n))
			_, _ = Replace(a, int(n), a)
			_, _ = Get(a, int(n))
			_ = a.Mode(int(n)).String()
			_ = a.AtInt(n)
		}
		for _, c := range []Coord{{}, C(), C(Underscore), C(0, Underscore), CoordOf(Underscore), C(1, 2), CoordOf(3), C("x")} {
			_, _, _ = Slice(a, c)
			_, _ = a.At(c)
			_, _ = CrdToIndex(c, a.Shape())
			_, _ = IdxToCrd(c, a.Shape())
			_, _ = CrdToCrd(c, a.Shape(), S(2, 2))
		}
		_, _ = IdxToCrdIn(5, a)
		_ = a.String()
	}
	require.Error(t, S(4, "x").Err())
	require.Error(t, T(4, 1.5).Err())
	_, err := NewLayout(S(4, 2), D(1))
	require.Error(t, err)
}

func ops1(op string, a Layout) {
	switch op {
	case "coalesce":
		_, _ = Coalesce(a)
	case "filter":
		_, _ = Filter(a)
	case "filter_zeros":
		_, _ = FilterZeros(a)
	case "flatten":
		_, _ = Flatten(a)
	case "right_inverse":
		_, _ = RightInverse(a)
	case "left_inverse":
		_, _ = LeftInverse(a)
	case "nullspace":
		_, _ = Nullspace(a)
	case "complement":
		_, _ = ComplementSelf(a)
	case "zip":
		_, _ = Zip(a)
	case "cosize":
		_, _ = a.Cosize()
	}
}

func ops2(a, b Layout) {
	_, _ = Compose(a, b)
	_, _ = WithShape(a, b.Shape())
	_, _ = Complement(a, b.Shape())
	_, _ = Ordered(a.Shape(), b.Shape())
	_, _ = TileToShape(a, b.Shape())
	_, _ = BlockedProduct(a, b)
	_, _ = RakedProduct(a, b)
	_, _ = MaxCommonLayout(a, b)
	_, _ = ZipPair(a, b)
	_, _ = Append(a, b)
	_, _ = CoalesceBy(a, b.Shape())
	_, _ = Unflatten(a, b.Shape())
	_, _ = ShapeDiv(a.Shape(), b.Shape())
	_, _ = CeilDiv(a.Shape(), b.Shape())
	_ = EvenlyDivides(a.Shape(), b.Shape())
	_ = Compatible(a.Shape(), b.Shape())
	for _, tl := range []Tiler{TileBy(b), T(b), T(b, Underscore), T(2, b)} {
		_, _ = ComposeTiler(a, tl)
		_, _ = LogicalDivide(a, tl)
		_, _ = FlatDivideCeil(a, tl)
		_, _ = TiledProduct(a, tl)
	}
}

// TestNoise: random texts made of the alphabet of layouts neither panic nor read as something else.
func TestNoise(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	alphabet := []string{"(", ")", ",", ":", "1", "4", "_", "M", "*", "+", "-", "@", "Sw<", ">", " o ", "ceil_div(", "/", "%", " "}
	for range 20000 {
		var b strings.Builder
		for range 1 + r.IntN(14) {
			b.WriteString(alphabet[r.IntN(len(alphabet))])
		}
		l, err := Parse(b.String())
		if err != nil {
			continue
		}
		again, err := Parse(l.String())
		require.NoError(t, err, "%q prints %q", b.String(), l)
		require.True(t, again.Equal(l), "%q prints %q", b.String(), l)
	}
}
