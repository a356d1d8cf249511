package algebra

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra/sym"
)

// large are shapes and layouts with products beyond 63 bits.
var large = []string{"(4294967296,4294967296)", "(4294967296,2147483648)", "(4294967296,4294967296,M)", "(4294967296*M,4294967296*N)", "((4294967296,3),(2,4294967296))"}

// TestSizesBeyond63Bits: a product that does not fit is never a number.
func TestSizesBeyond63Bits(t *testing.T) {
	for _, text := range large {
		s, err := ParseShape(text)
		require.NoError(t, err)
		l := Layout{shape: s.n, stride: mapNode(s.n, func(sym.Expr) Step { return Step{} })}
		_, ok := s.IntSize()
		_, okLayout := l.IntSize()
		require.False(t, ok || okLayout, text)
		require.True(t, s.Size().TooLarge() && s.Leaf().TooLarge() && l.Size().TooLarge(), text)
		require.ErrorContains(t, ProductEach(Shape{n: tupleOf(s.n)}).Err(), "the size of a mode does not fit 63 bits")
		for _, c := range []func(Shape) Layout{Compact, CompactRight} {
			require.ErrorContains(t, c(Shape{n: tupleOf(s.n, s.n)}).Err(), "a stride does not fit 63 bits")
		}
		require.False(t, Compatible(Extent(0), s) || Compatible(Extent(math.MinInt64), s))
		require.True(t, EvenlyDivides(s, s) && Compatible(s, s), text)
		require.False(t, EvenlyDivides(s, Shape{n: mapNode(s.n, func(e sym.Expr) sym.Expr { return e.Add(sym.Int(1)) })}))
		_, err = CrdToIndex(Coord{n: mapNode(s.n, func(sym.Expr) index { return index{e: sym.Int(1 << 40)} })}, s)
		require.Error(t, err, text)
	}
	none := S(1<<32, 1<<32, 0)
	require.True(t, none.Size().Is(0))
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"((4294967296,4294967296),2)", "4294967296", true}, {"((4294967296,4294967295),2)", "8589934592", false}, {"((4294967296,4294967296),2)", "(4294967296,2)", true},
		{"(1099511627776,1024)", "(1099511627776,1024)", true}, {"(1099511627776,1024)", "(1099511627776,1023)", false}, {"(M,8)", "(M,2)", true},
	} {
		a, _ := ParseShape(c.a)
		b, _ := ParseShape(c.b)
		require.Equal(t, c.want, EvenlyDivides(a, b), "%v", c)
	}
}

// TestShapeQuotientsBeyond63Bits: quotients by large sizes are right, or refused.
func TestShapeQuotientsBeyond63Bits(t *testing.T) {
	div := map[string]func(a, b Shape) (Shape, error){"ceil_div": CeilDiv, "shape_div": ShapeDiv}
	for _, c := range [][4]string{
		{"ceil_div", "9223372036854775807", "2", "4611686018427387904"}, {"ceil_div", "9223372036854775807", "9223372036854775807", "1"},
		{"ceil_div", "4", "(4294967296,4294967296)", "1"}, {"ceil_div", "(4294967296,4294967296)", "4294967296", "(1,4294967296)"},
		{"shape_div", "4", "(4294967296,4294967296)", "1"}, {"shape_div", "3", "(4294967296,4294967296)", "3 and 18446744073709551616 do not divide one another"},
		{"ceil_div", "M", "(4294967296,4294967296)", "the size of (4294967296,4294967296) does not fit 63 bits"},
		{"ceil_div", "M+9223372036854775807", "2", "the quotient does not fit 63 bits"},
	} {
		a, err := ParseShape(c[1])
		require.NoError(t, err)
		b, err := ParseShape(c[2])
		require.NoError(t, err)
		r, err := div[c[0]](a, b)
		if err != nil {
			require.ErrorContains(t, err, c[3])
			continue
		}
		require.Equal(t, c[3], r.String(), "%v", c)
	}
}

// TestOffsetsBeyond63Bits: values and strides that would wrap around are refused, also where the wrapped ones look right.
func TestOffsetsBeyond63Bits(t *testing.T) {
	results(t, [][]string{
		{"composition", "(2,2):(5,1099511627776)", "2:33554432", "the stride 1099511627776*16777216 is too large"},
		{"composition", "(3,2):(5,70368744177664)", "(2,2):(4,67108864)", "neither divides the other"},
		{"composition", "(4,8):(4294967296*M,1)", "2:4294967296", "2:1073741824"},
		{"composition", "4:4611686018427387904*M", "M:4", "a stride or offset of the result does not fit 63 bits"},
		{"composition", "(4,M):(1,2305843009213693952)", "64:1", "M:2305843009213693952 makes it larger than 2^48 elements or offsets"},
		{"coalesce", "(4294967296*M,4294967296):(1,4294967296*M)", "an extent does not fit 63 bits"},
		{"downcast", "(281474976710656,1):(1,0)", "16777216", "an extent does not fit 63 bits"},
		{"downcast", "(4,M):(4611686018427387904*M,1)", "4", "a stride or offset of the result does not fit 63 bits"},
		{"cosize", "(4294967296*M,4):(4294967296,1)", "the result does not fit 63 bits"},
	})
	_, err := ComposeLayoutSwizzle(MustParse("4:8"), Swizzle{1, 0, -61})
	require.ErrorContains(t, err, "a value does not fit 63 bits")
	_, err = Compose(MustParse("4:8"), MustParse("Sw<1,0,-61> o 0 o 4:1"))
	require.ErrorContains(t, err, "a value does not fit 63 bits")
	_, _, err = Slice(MustParse("Sw<3,3,3> o 9223372036854775807 o (8,64):(64,1)"), C(Underscore, 4))
	require.ErrorContains(t, err, "the offset does not fit 63 bits")
	_, err = Ordered(S(1<<40, MustParse("4294967296*M:1").Shape(), 2), S(0, 1, 2))
	require.ErrorContains(t, err, "a stride or offset of the result does not fit 63 bits")
	far := MustParse("(4,4):(4611686018427387904,1)")
	require.EqualValues(t, 4611686018427387904, far.AtInt(1))
	require.EqualValues(t, math.MinInt64, far.AtInt(2))
	require.EqualValues(t, math.MinInt64, MustParse("Sw<1,0,1> o 9223372036854775807 o 4:1").AtInt(1))
	_, err = Complement(MustParse("Sw<1,0,1> o 0 o (16777216,16777216):(1,0)"), Extent(1<<40))
	require.Error(t, err, "all copies are too many to list")
	a, b := Arith{plain: sym.Int(int64(math.MinInt64))}, Arith{plain: sym.Int(int64(math.MinInt64)), parts: []Step{{Basis: []int{1}}}}
	require.True(t, a.Equal(b) && b.Equal(a))
	require.False(t, a.Equal(Arith{plain: a.plain, parts: []Step{E(1)}}))
}
