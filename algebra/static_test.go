package algebra

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra/sym"
)

// TestRoadTaken: what the general road proves without evaluation the road on machine integers gives itself, and
// nothing else.
func TestRoadTaken(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 3))
	taken := map[string]int{}
	for i := range 12000 {
		a, b := randomNested(r, 2, i%2 == 0), randomNested(r, 2, i%3 == 0)
		if a.shape.count() > roomModes || b.shape.count() > roomModes || slices.ContainsFunc(mustFn(b).d, func(d int64) bool { return d < 0 }) {
			continue // negative steps of B are the general road's
		}
		c := &composer{a: a, exact: true}
		_, _, e := c.walk(b.shape, b.stride)
		proved := e == nil && c.fail == nil && c.exact && c.carryFree()
		_, ok := composeInt(&a, &b)
		require.Equal(t, proved, ok, "%s∘%s", a, b)

		x, e := translationsGeneral(b, sym.Int(mustSize(a)))
		y, ok := staticTranslations(&b, sym.Int(mustSize(a)))
		require.Equal(t, e == nil, ok, "complement(%s, %d): %v", b, mustSize(a), e)
		if ok {
			require.Equal(t, [4]any{x.r.String(), x.whole, x.fills, x.open}, [4]any{y.r.String(), y.whole, y.fills, y.open}, "complement(%s, %d)", b, mustSize(a))
			taken["complement"]++
		}
		_, ok = coalesceInt(&a)
		require.True(t, ok)
		if inv, ok := rightInverseInt(&a); a.shape.count() < roomModes {
			general, _ := rightInverseGeneral(a)
			require.True(t, ok, "%s", a)
			require.Equal(t, general.String(), inv.String(), "%s", a)
		}

		var tile, rest Layout
		divided := divideInt(place{&a.shape, &a.stride}, &b, place{&tile.shape, &tile.stride}, place{&rest.shape, &rest.stride})
		whole := e == nil && x.fills && filterZeros(b).Size().Equal(b.Size())
		if whole {
			c := &composer{a: a, exact: true}
			both := joinModes([]Layout{b, x.r})
			_, _, e := c.walk(both.shape, both.stride)
			whole = e == nil && c.fail == nil && c.exact && c.carryFree()
		}
		require.Equal(t, whole, divided, "%s / %s", a, b)
		for what, ok := range map[string]bool{"composition": proved, "divide": divided} {
			if ok {
				taken[what]++
			}
		}
	}
	t.Log(taken)
	require.True(t, taken["composition"] > 1000 && taken["divide"] > 100 && taken["complement"] > 1000)
}

// TestRoom: layouts of as many modes as there is room for, and of one more.
func TestRoom(t *testing.T) {
	modes := func(n int) Layout { // of extent 2, none contiguous
		var ms []mode
		for i := range n {
			ms = append(ms, mode{sym.Int(2), Step{Coef: sym.Int(int64(3) << (2 * (n - i)))}})
		}
		return layoutOf(ms)
	}
	for n := 14; n <= 18; n++ {
		a, b := modes(n), Compact(Extent(1<<n))
		_, ok := coalesceInt(&a)
		require.Equal(t, n <= 16, ok)
		_, ok = composeInt(&a, &b)
		require.Equal(t, n <= 16, ok)
		_, ok = composeInt(&b, &a)
		require.Equal(t, n <= 16, ok)
		_, ok = rightInverseInt(&a)
		require.Equal(t, n <= 15, ok)
		_, ok = staticTranslations(&a, sym.Int(1<<40))
		require.Equal(t, n <= 15, ok)
		require.Equal(t, n <= 16, boundedLayout(&a))
		r, err := Coalesce(a) // beyond the room the general road takes over
		require.NoError(t, err)
		require.NoError(t, sameAs(r, mustFn(a).table(mustSize(a)), "coalesce(%s)", a))
	}
}

// TestRoomOfResult: a result of more modes than there is room for is left to the general road.
func TestRoomOfResult(t *testing.T) {
	var ms []mode
	for i := range 15 {
		ms = append(ms, mode{sym.Int(2), Step{Coef: sym.Int(int64(3) << (2 * (15 - i)))}})
	}
	a := layoutOf(ms)
	for _, text := range []string{"(32768,32768,32768,32768):(1,1,1,1)", "(32768,32768,32768):(1,1,1)", "(32768,32768,32768,8,1):(1,1,1,1,1)"} {
		b := MustParse(text)
		_, ok := composeInt(&a, &b)
		require.False(t, ok, text)
	}
	b := MustParse("((4,4,1,8),(2,2,64)):((1,4,64,16),(128,256,512))")
	r, ok := composeInt(&a, &b)
	require.True(t, ok)
	require.NoError(t, sameAs(r, composedTable(a, b), "%s", r))
	require.Equal(t, "1:3", first(Compose(MustParse("4:3"), MustParse("1:1"))).String())
	require.Equal(t, "1:9", first(Compose(MustParse("(4,2):(3,9)"), MustParse("1:4"))).String())
	require.Equal(t, "1:9", first(Compose(MustParse("(4,2):(3,9)"), MustParse("1:1"))).String())
}

func first[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

func composedTable(a, b Layout) []int64 {
	fa, fb := mustFn(a), mustFn(b)
	out := fb.table(fb.n)
	for i, v := range out {
		out[i] = fa.at(v)
	}
	return out
}

// TestAllocs: the road on machine integers makes one block of nodes for shapes and one for strides.
func TestAllocs(t *testing.T) {
	tile, tv := MustParse("(128,64):(64,1)"), MustParse("((4,8),(2,2,2)):((32,1),(16,8,128))")
	gmem, by := MustParse("(4096,4096):(4096,1)"), T(128, 64)
	eight, extent8192 := MustParse("8:1"), Extent(8192)
	for name, c := range map[string]struct {
		want float64
		f    func() error
	}{
		"composition":      {2, func() error { return second(Compose(tile, tv)) }},
		"composition of 1": {0, func() error { return second(Compose(tile, eight)) }},
		"complement":       {0, func() error { return second(Complement(tv, extent8192)) }},
		"zipped_divide":    {2, func() error { return second(ZippedDivide(gmem, by)) }},
		"logical_divide":   {2, func() error { return second(LogicalDivide(gmem, by)) }},
		"right_inverse":    {2, func() error { return second(RightInverse(tv)) }},
		"coalesce":         {2, func() error { return second(Coalesce(tv)) }},
		"coalesce to 1":    {0, func() error { return second(Coalesce(eight)) }},
	} {
		require.Equal(t, c.want, testing.AllocsPerRun(20, func() { _ = c.f() }), name)
	}
}

// TestBounds: sizes and offsets of exactly 2^48, and what stays positive.
func TestBounds(t *testing.T) {
	for _, c := range []struct {
		ms []imode
		ok bool
	}{{[]imode{{1 << 24, 1 << 24}}, true}, {[]imode{{1 << 24, 1<<24 + 1}}, false}, {[]imode{{1 << 48, 0}}, true}, {[]imode{{1<<48 + 1, 0}}, false}, {[]imode{{1 << 24, 0}, {1 << 24, 0}}, true}, {[]imode{{1 << 24, 0}, {1<<24 + 1, 0}}, false},
		{[]imode{{2, 1 << 46}, {2, -1 << 46}}, true}, {[]imode{{2, 1 << 46}, {2, -1<<46 - 1}}, false}, {nil, true}} {
		require.Equal(t, c.ok, bounded(c.ms), "%v", c)
	}
	for text, ok := range map[string]bool{"(4,(2,1))": true, "(4,(0,1))": false, "(4,K)": false, "281474976710656": true, "281474976710657": false, "0": false, "1": true} {
		s, err := ParseShape(text)
		require.NoError(t, err)
		require.Equal(t, ok, positive(&s.n), text)
	}
	l := MustParse("4:1")
	for n, ok := range map[int64]bool{0: false, 1: true, 1 << 48: true, 1<<48 + 1: false} {
		_, got := staticTranslations(&l, sym.Int(n))
		require.Equal(t, ok, got, "%d", n)
	}
	for _, text := range []string{"(4,K):(1,4)", "(4,2):(1,K)", "(4,2):(1,281474976710656)"} {
		l, whole := MustParse(text), MustParse("8:1")
		_, ok := staticTranslations(&l, sym.Int(8))
		require.False(t, ok, text)
		var tile, rest Layout
		require.False(t, divideInt(place{&whole.shape, &whole.stride}, &l, place{&tile.shape, &tile.stride}, place{&rest.shape, &rest.stride}), text)
		require.False(t, divideInt(place{&l.shape, &l.stride}, &whole, place{&tile.shape, &tile.stride}, place{&rest.shape, &rest.stride}), text)
	}
	_, ok := staticTranslations(&l, symbol("K", 1, 9, 1))
	require.False(t, ok)
	a, b := MustParse("(4,8):(1,281474976710656)"), MustParse("(2,2):(4,8)")
	_, ok = composeInt(&a, &b)
	require.False(t, ok)
	a, b = MustParse("(4,2):(1,70368744177664)"), MustParse("(2,2):(1,4)")
	_, ok = composeInt(&a, &b)
	require.True(t, ok)
	b = MustParse("2:16") // leads to an offset of 2^48
	_, ok = composeInt(&a, &b)
	require.True(t, ok)
	b = MustParse("2:20")
	_, ok = composeInt(&a, &b)
	require.False(t, ok)
}

// TestDivideForms: the four arrangements by tilers of two and three modes, with modes left over, against each other.
func TestDivideForms(t *testing.T) {
	l := MustParse("(8,12,(4,2),5):(1,8,(96,384),768)")
	for _, c := range []struct {
		t                            Tiler
		logical, zipped, tiled, flat string
	}{
		{T(2, 3), "((2,4),(3,4),(4,2),5):((1,2),(8,24),(96,384),768)", "((2,3),(4,4,(4,2),5)):((1,8),(2,24,(96,384),768))", "((2,3),4,4,(4,2),5):((1,8),2,24,(96,384),768)", "(2,3,4,4,(4,2),5):(1,8,2,24,(96,384),768)"},
		{T(2, 3, 4), "((2,4),(3,4),(4,2),5):((1,2),(8,24),(96,384),768)", "((2,3,4),(4,4,2,5)):((1,8,96),(2,24,384,768))", "((2,3,4),4,4,2,5):((1,8,96),2,24,384,768)", "(2,3,4,4,4,2,5):(1,8,96,2,24,384,768)"},
		{T(2, 3, 8, 5), "((2,4),(3,4),(8,1),(5,1)):((1,2),(8,24),(96,0),(768,0))", "((2,3,8,5),(4,4,1,1)):((1,8,96,768),(2,24,0,0))", "((2,3,8,5),4,4,1,1):((1,8,96,768),2,24,0,0)", "(2,3,8,5,4,4,1,1):(1,8,96,768,2,24,0,0)"},
		{T(MustParse("2:2"), MustParse("(2,2):(1,6)")), "((2,(2,2)),((2,2),3),(4,2),5):((2,(1,4)),((8,48),16),(96,384),768)", "((2,(2,2)),((2,2),3,(4,2),5)):((2,(8,48)),((1,4),16,(96,384),768))", "((2,(2,2)),(2,2),3,(4,2),5):((2,(8,48)),(1,4),16,(96,384),768)", "(2,(2,2),(2,2),3,(4,2),5):(2,(8,48),(1,4),16,(96,384),768)"},
	} {
		for want, f := range map[string]func(Layout, Tiler) (Layout, error){c.logical: LogicalDivide, c.zipped: ZippedDivide, c.tiled: TiledDivide, c.flat: FlatDivide} {
			got, err := f(l, c.t)
			require.NoError(t, err)
			require.Equal(t, want, got.String(), "%s", c.t)
			again, err := Parse(got.String())
			require.NoError(t, err)
			require.True(t, again.Equal(got))
		}
		for _, as := range []form{logical, zipped, tiled, flat} {
			_, ok := divideFlat(&l, &c.t, as)
			require.True(t, ok, "%s", c.t)
		}
	}
	for _, bad := range []Tiler{TileBy(2), T(2), T(2, Underscore), T(2, T(2, 2)), T(2, MustParse("Sw<1,0,1> o 0 o 2:1")), T(2, "x"), T(2, 2, 2, 2, 2)} {
		_, ok := divideFlat(&l, &bad, zipped)
		require.False(t, ok, "%s", bad)
	}
}

// TestTiler: what tilers say about themselves.
func TestTiler(t *testing.T) {
	tl := T(8, MustParse("(2,4):(1,8)"), Underscore, T(3))
	require.Equal(t, 4, tl.Rank())
	require.Equal(t, 1, TileBy(5).Rank())
	require.True(t, tl.IsTuple() && !TileBy(5).IsTuple() && tl.Mode(2).IsUnderscore() && !tl.Mode(1).IsUnderscore())
	require.ErrorContains(t, tl.Mode(4).Err(), "there is no mode 4")
	require.ErrorContains(t, tl.Mode(-1).Err(), "there is no mode -1")
	require.ErrorContains(t, TileBy(5).Mode(1).Err(), "there is no mode 1")
	require.Equal(t, "5", TileBy(5).Mode(0).String())
	require.Equal(t, "(3)", tl.Mode(3).String())
	for i, want := range []bool{true, true, false, false} {
		_, ok := tl.Mode(i).Layout()
		require.Equal(t, want, ok)
	}
	_, ok := TileBy("x").Layout()
	require.False(t, ok)
	_, ok = tl.Shape()
	require.False(t, ok)
	_, ok = T(2, "x").Shape()
	require.False(t, ok)
	_, ok = TileBy("x").Shape()
	require.False(t, ok)
	s, ok := T(8, MustParse("(2,4):(1,8)"), T(3)).Shape()
	require.True(t, ok)
	require.Equal(t, "(8,(2,4),(3))", s.String())
	require.ErrorContains(t, T(2, "x").Err(), "a value of type string cannot stand here")
	require.ErrorContains(t, T("y", 2, 1.5).Err(), "a value of type string cannot stand here")
	for _, c := range []struct {
		a    string
		t    Tiler
		want string
	}{
		{"(4,8):(8,1)", T(2, MustParse("2:4")), "(2,2):(8,4)"}, {"(4,8):(8,1)", T(1, Underscore), "(1,8):(8,1)"}, {"(4,8):(8,1)", T(2), "(2):(8)"}, {"(4,8):(8,1)", T(2, 2, 2), "the tiler has 3 modes, the layout only 2"},
		{"(4,8):(8,1)", TileBy(8), "(4,2):(8,1)"}, {"(4,8):(8,1)", T(2, MustParse("Sw<1,0,1> o 0 o 4:1")), "a swizzled entry cannot stand in a tiler by mode"}, {"(4,6):(8,1)", T(2, MustParse("(2,2):(1,5)")), "(2,(2,2)):(8,(1,5))"},
		{"(4,(6,2)):(8,(1,9))", T(2, MustParse("(2,3):(3,2)")), "mode 1: no layout expresses A∘B"}, {"Sw<1,0,3> o 0 o (4,8):(8,1)", T(2, 2), "Sw<1,0,3> o 0 o (2,2):(8,1)"}, {"1:7", TileBy(1), "1:7"}, {"8:7", TileBy(1), "1:7"},
	} {
		r, err := ComposeTiler(MustParse(c.a), c.t)
		if err != nil {
			require.ErrorContains(t, err, c.want)
			continue
		}
		require.Equal(t, c.want, r.String(), "%s %s", c.a, c.t)
	}
}

// TestTuples: what shapes, strides and coordinates say about themselves.
func TestTuples(t *testing.T) {
	s, d, c := S(4, S(2, 3)), D(1, D(E(0), 7)), C(1, C(Underscore, 2))
	require.Equal(t, [6]int{2, 2, 2, 2, 2, 2}, [6]int{s.Rank(), s.Depth(), d.Rank(), d.Depth(), c.Rank(), c.Depth()})
	require.Equal(t, "(2,3) (1@0,7) (_,2)", s.Mode(1).String()+" "+d.Mode(1).String()+" "+c.Mode(1).String())
	require.Equal(t, "4 1 1", s.Mode(0).Mode(0).String()+" "+d.Mode(0).Mode(0).String()+" "+c.Mode(0).Mode(0).String())
	for _, i := range []int{-1, 2} {
		for _, err := range []error{s.Mode(i).Err(), d.Mode(i).Err(), c.Mode(i).Err()} {
			require.ErrorContains(t, err, "there is no mode ")
		}
	}
	bad := []error{S("x").Mode(5).Err(), D("x").Mode(5).Err(), C("x").Mode(5).Err(), S(1, S("x")).Err(), D(1, D("x")).Err(), C(1, C("x")).Err(), Extent("x").Err(), StrideOf("x").Err(), CoordOf("x").Err()}
	for _, err := range bad {
		require.ErrorContains(t, err, "a value of type string cannot stand here")
	}
	require.True(t, c.Equal(C(1, C(Underscore, 2))) && !c.Equal(C(1, C(3, 2))) && !c.Equal(C(1, C(Underscore, 3))) && !C(0).Equal(C(Underscore)) && !c.Equal(C(1, 2)))
	require.True(t, d.Equal(D(1, D(E(0), 7))) && !d.Equal(D(1, D(E(1), 7))) && !d.Equal(D(1, D(1, 7))) && !d.Equal(D(1, 7)))
	require.True(t, s.Equal(S(4, S(2, 3))) && !s.Equal(S(4, S(2, 4))) && !s.Equal(S(4, 6)) && s.IsStatic() && !S(4, symbol("K", 1, 9, 1)).IsStatic())
	require.Equal(t, "(4,2,3) (1,1@0,7) (1,_,2)", s.Flatten().String()+" "+d.Flatten().String()+" "+c.Flatten().String())
	for _, step := range []struct {
		s    Step
		want string
	}{{Step{Coef: sym.Int(0), Basis: []int{1}}.norm(), "0"}, {E(1, 0).Times(sym.Int(3)), "3@0@1"}, {E(1).Times(sym.Int(0)), "0"}, {E(2).Times(symbol("K", 1, 9, 1)), "K@2"}, {E(2).Times(symbol("K", 1, 9, 1).Add(sym.Int(1))), "(K+1)@2"}, {E(2).Times(symbol("K", 1, 9, 1).Mul(sym.Int(3))), "3*K@2"}, {Step{Coef: symbol("K", 1, 9, 1).Add(sym.Int(1))}, "K+1"}} {
		require.Equal(t, step.want, step.s.String())
	}
	require.True(t, Step{Coef: sym.Int(3)}.Is(3) && !Step{Coef: sym.Int(3)}.Is(4) && !E(0).Is(1))
	_, ok := E(0).IsConst()
	require.False(t, ok)
	require.True(t, strings.HasPrefix(argError("S", 1.5).Error(), "algebra: S(1.5): a value of type float64 cannot stand here"))
}
