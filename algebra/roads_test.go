package algebra

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra/sym"
)

// TestRoadsAgree: the road on machine integers gives exactly what the general road gives, and the general road keeps
// the laws where the other does not go.
func TestRoadsAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	taken := 0
	for range 6000 {
		a, b := randomNested(r, 2, r.IntN(2) == 0), randomNested(r, 2, r.IntN(2) == 0)
		if mustSize(a) > 1<<12 || mustSize(b) > 1<<10 {
			continue
		}
		if fast, ok := composeInt(&a, &b); ok {
			taken++
			slow, e := composeGeneral(a, b)
			require.Nil(t, e, "%s o %s", a, b)
			require.Equal(t, slow.String(), fast.String(), "%s o %s", a, b)
		}
		if fast, ok := coalesceInt(&a); ok {
			require.Equal(t, coalesceGeneral(a).String(), fast.String(), a)
		}
		if fast, ok := rightInverseInt(&a); ok {
			slow, _ := rightInverseGeneral(a)
			require.Equal(t, slow.String(), fast.String(), a)
		}
		n := sym.Int(1 + r.IntN(500))
		if fast, ok := staticTranslations(&a, n); ok {
			slow, e := translationsGeneral(a, n)
			require.Nil(t, e, "%s in %s", a, n)
			require.Equal(t, fmt.Sprint(slow), fmt.Sprint(fast), "%s in %s", a, n)
		} else {
			_, e := translationsGeneral(a, n)
			require.NotNil(t, e, "%s in %s", a, n)
		}
		var tile, rest Layout
		if divideInt(place{&a.shape, &a.stride}, &b, place{&tile.shape, &tile.stride}, place{&rest.shape, &rest.stride}) {
			x, y, e := divideGeneral(a, b)
			require.Nil(t, e, "%s / %s", a, b)
			require.Equal(t, x.String()+" "+y.String(), tile.String()+" "+rest.String(), "%s / %s", a, b)
		}
		if e := lawGeneral(a, b); e != nil {
			t.Fatal(e)
		}
	}
	require.Greater(t, taken, 500)
}

// lawGeneral is the law of composition for the general road.
func lawGeneral(a, b Layout) error {
	r, e := composeGeneral(a, b)
	if e != nil {
		return nil
	}
	fa, fb := mustFn(a), mustFn(b)
	want := fb.table(fb.n)
	for i, v := range want {
		want[i] = fa.at(v)
	}
	return sameAs(r, want, "%s∘%s", a, b)
}

// TestUpcastFills: the plain upcast is given exactly where every unit is filled.
func TestUpcastFills(t *testing.T) {
	for _, l := range smallLayouts([]int64{2, 3, 4, 6}, []int64{1, 2, 3, 4, 6}, 3) {
		for _, n := range []int64{4, 6, 12} {
			if _, e := upcast(l, n, false); e != nil {
				continue
			}
			units := map[int64]map[int64]bool{}
			f := mustFn(l)
			g := n
			for _, d := range f.d {
				if d < n {
					g = gcd(g, d)
				}
			}
			for i := range f.n {
				v := f.at(i)
				if units[v/n] == nil {
					units[v/n] = map[int64]bool{}
				}
				units[v/n][v%n] = true
			}
			for u, in := range units {
				require.EqualValues(t, n/g, len(in), "upcast(%s, %d): unit %d holds %v", l, n, u, in)
			}
		}
	}
}

// TestArith: values over bases add, compare and print.
func TestArith(t *testing.T) {
	id := Identity(S(4, S(8, 2)))
	v, err := id.AtArith(C(3, C(5, 1)))
	require.NoError(t, err)
	require.Equal(t, "(3,(5,1))", v.String())
	for path, want := range map[string]int64{"": 0, "0": 3, "1,0": 5, "1,1": 1, "1,2": 0} {
		var p []int
		for i := 0; i < len(path); i += 2 {
			p = append(p, int(path[i]-'0'))
		}
		got := v.Get(p...)
		require.True(t, got.Is(want), "%s: %s", path, got)
	}
	w, err := MustParse("(4,(8,2)):(1@0,(2@0@1,5))").AtArith(C(1, C(1, 1)))
	require.NoError(t, err)
	require.Equal(t, "(1,(2)) + 5", w.String())
	require.True(t, w.Get().Is(5))
	require.Equal(t, "(4,(7,1)) + 5", v.Add(w).String())
	require.True(t, v.Add(w).Equal(w.Add(v)))
	require.False(t, v.Add(w).Equal(v))
	require.False(t, w.IsPlain())
	off := w.Offset()
	require.True(t, off.Is(5))
}

// TestCeilForms: what rounds up covers the layout and keeps its extent.
func TestCeilForms(t *testing.T) {
	for _, c := range []struct {
		cover  func() (Cover, error)
		layout string
		extent string
	}{
		{func() (Cover, error) { return UpcastCeil(MustParse("4:1"), 1024) }, "1:1", "4"},
		{func() (Cover, error) { return UpcastCeil(MustParse("(10,6):(1,12)"), 4) }, "(3,6):(1,3)", "(10,6)"},
		{func() (Cover, error) { return RecastCeil(MustParse("(10,6):(1,12)"), 8, 32) }, "(3,6):(1,3)", "(10,6)"},
		{func() (Cover, error) { return RecastCeil(MustParse("(10,6):(1,12)"), 24, 32) }, "(9,6):(1,9)", "(10,6)"},
		{func() (Cover, error) { return LogicalDivideCeil(MustParse("10:1"), TileBy(4)) }, "(4,3):(1,4)", "10"},
		{func() (Cover, error) { return TiledDivideCeil(MustParse("(10,6):(1,10)"), T(4, 4)) }, "((4,4),3,2):((1,10),4,40)", "(10,6)"},
		{func() (Cover, error) { return FlatDivideCeil(MustParse("(10,6):(1,10)"), T(4, 4)) }, "(4,4,3,2):(1,10,4,40)", "(10,6)"},
	} {
		got, err := c.cover()
		require.NoError(t, err)
		require.Equal(t, c.layout, got.Layout.String())
		require.Equal(t, c.extent, got.Extent.String())
	}
	for _, bad := range []func() (Cover, error){
		func() (Cover, error) { return UpcastCeil(MustParse("(6,6):(3,4)"), 12) },
		func() (Cover, error) { return UpcastCeil(MustParse("4:3"), 8) },
		func() (Cover, error) { return RecastCeil(MustParse("4:3"), 8, 64) },
		func() (Cover, error) { return RecastCeil(MustParse("4:1"), 0, 64) },
		func() (Cover, error) { return ZippedDivideCeil(MustParse("10:1"), T(TileBy(MustParse("(2,2):(1,3)")))) },
	} {
		got, err := bad()
		require.Error(t, err, "%s", got)
	}
}

// TestComplementSwizzled: the complement of a swizzled layout fills the cotarget with its swizzled offsets.
func TestComplementSwizzled(t *testing.T) {
	given, refused := 0, 0
	for _, l := range smallLayouts([]int64{2, 4, 8}, []int64{1, 2, 4, 8, 16}, 2) {
		for _, w := range []Swizzle{{1, 0, 1}, {1, 0, 2}, {1, 1, 1}, {2, 0, 2}, {1, 0, -1}} {
			for _, n := range []int64{8, 32, 64} {
				sw := l.WithSwizzle(w, sym.Expr{})
				r, err := Complement(sw, Extent(n))
				if err != nil {
					refused++
					continue
				}
				given++
				image := imageOf(fun{mustSize(l), sw.AtInt})
				seen := map[int64]bool{}
				for j := range mustSize(r) {
					for _, v := range image {
						require.False(t, seen[v+r.AtInt(j)], "complement(%s, %d) = %s reaches %d twice", sw, n, r, v+r.AtInt(j))
						seen[v+r.AtInt(j)] = true
					}
				}
				for x := range n {
					require.True(t, seen[x], "complement(%s, %d) = %s leaves %d out", sw, n, r, x)
				}
			}
		}
	}
	require.Greater(t, given, 50)
	require.Greater(t, refused, 50)
}

// TestCommonSwizzled: of two layouts that are swizzled alike, or one of them, the common layout leads to 0, 1, 2, …
// in both.
func TestCommonSwizzled(t *testing.T) {
	for _, l := range smallLayouts([]int64{2, 3, 4, 6}, []int64{1, 2, 3, 4, 6, 12}, 2) {
		for _, w := range []Swizzle{{1, 0, 1}, {1, 1, 1}, {1, 2, 1}, {1, 0, 3}, {2, 0, 2}} {
			sw := l.WithSwizzle(w, sym.Expr{})
			for _, other := range []Layout{sw, l} {
				r, err := MaxCommonLayout(sw, other)
				if err != nil {
					continue
				}
				f := mustFn(r)
				for x := range f.n {
					require.Equal(t, x, sw.AtInt(f.at(x)), "%s, %s: %s", sw, other, r)
					require.Equal(t, x, other.AtInt(f.at(x)), "%s, %s: %s", sw, other, r)
				}
			}
		}
	}
}

// TestPoisoned: an argument that carries an error gives that error, on every road.
func TestPoisoned(t *testing.T) {
	good, bad := MustParse("(4,8):(8,1)"), Compact(S("x"))
	for _, pair := range [][2]Layout{{good, bad}, {bad, good}, {bad, bad}} {
		a, b := pair[0], pair[1]
		_, err := Compose(a, b)
		require.ErrorContains(t, err, "cannot stand here")
		_, err = Complement(a, b.Shape())
		require.ErrorContains(t, err, "cannot stand here")
		_, err = ZippedDivide(a, T(TileBy(b), 2))
		require.ErrorContains(t, err, "cannot stand here")
		_, err = MaxCommonLayout(a, b)
		require.ErrorContains(t, err, "cannot stand here")
		_, err = BlockedProduct(a, b)
		require.ErrorContains(t, err, "cannot stand here")
	}
	_, err := RightInverse(bad)
	require.ErrorContains(t, err, "cannot stand here")
	_, err = Coalesce(bad)
	require.ErrorContains(t, err, "cannot stand here")
}

// TestComplementSwizzledMore: behind a swizzle CuTe's rule is taken where it fills, even past the cotarget, and
// symbols are refused.
func TestComplementSwizzledMore(t *testing.T) {
	r, err := Complement(MustParse("Sw<1,0,1> o 0 o 4:1"), Extent(6))
	require.NoError(t, err)
	require.Equal(t, "2:4", r.String())
	r, err = Complement(MustParse("Sw<1,0,1> o 0 o 2:2"), Extent(6)) // offsets 0 and 3
	require.NoError(t, err)
	require.Equal(t, "3:1", r.String())
	for _, s := range []string{"Sw<1,0,1> o 0 o (4,K):(K,1)", "Sw<1,0,1> o 0 o 4:K", "Sw<1,0,1> o K o 4:1"} {
		_, err = Complement(MustParse(s), Extent(8))
		require.Error(t, err, s)
	}
	_, err = Complement(MustParse("Sw<1,0,1> o 0 o 4:1"), S(MustParse("K:1").Shape()))
	require.Error(t, err)
}
