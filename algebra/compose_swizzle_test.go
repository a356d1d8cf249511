package algebra

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra/sym"
)

// allSwizzles are those that touch no bit from top on.
func allSwizzles(top int) []Swizzle {
	out := []Swizzle{{}}
	for b := 1; b <= top; b++ {
		for m := 0; m <= top; m++ {
			for s := b; b+m+s <= top; s++ {
				out = append(out, Swizzle{b, m, s}, Swizzle{b, m, -s})
			}
		}
	}
	return out
}

// behindSome says by brute force whether the values are those of a layout over b's shape behind some swizzle.
func behindSome(b Layout, want []int64, ws []Swizzle) bool {
	for _, w := range ws {
		off := w.Apply(want[0])
		if w.B == 0 && off != 0 {
			continue
		}
		if expressible(b, func(i int64) int64 { return w.Apply(want[i]) - off }) {
			return true
		}
	}
	return false
}

// TestLawSwizzleOnTheRight: A∘(Sw o off o B) and A∘Sw have the values of the definition over B's and A's shape, and
// what is refused is no layout behind any swizzle.
func TestLawSwizzleOnTheRight(t *testing.T) {
	all := allSwizzles(11)
	var c counts
	check := func(what string, b, r Layout, err error, want []int64) {
		if c.add(err); err == nil {
			require.NoError(t, sameAs(r, want, "%s", what))
			require.True(t, compatible(b.shape, r.shape), "%s = %s", what, r)
			return
		}
		require.Contains(t, err.Error(), "no layout behind a swizzle expresses it", what)
		require.False(t, behindSome(b, want, all), "%s is expressible: %v", what, err)
	}
	r := rand.New(rand.NewPCG(8, 9))
	some := []Swizzle{{1, 0, 1}, {1, 1, 1}, {2, 0, 2}, {1, 0, 2}, {1, 0, -1}, {2, 1, -2}, {3, 0, 3}}
	cases := 3000
	if testing.Short() {
		cases = 700
	}
	for i := range cases {
		a, b := randomNested(r, 1, i%3 != 0), randomNested(r, 1, i%2 != 0)
		if mustSize(a) > 32 || mustSize(b) > 24 {
			continue
		}
		w := some[r.IntN(len(some))]
		sb := b.WithSwizzle(w, sym.Int(int64(r.IntN(3)*r.IntN(4))))
		if i%5 == 0 {
			a = a.WithSwizzle(some[r.IntN(len(some))], sym.Int(int64(r.IntN(2))))
		}
		fa, fb := mustFn(a), mustFn(sb)
		want := make([]int64, fb.n)
		for i := range want {
			want[i] = fa.at(fb.at(int64(i)))
		}
		got, err := Compose(a, sb)
		check(fmt.Sprintf("%s∘%s", a, sb), b, got, err, want)
		want = make([]int64, fa.n)
		for i := range want {
			want[i] = fa.at(w.Apply(int64(i)))
		}
		got, err = ComposeLayoutSwizzle(a, w)
		check(fmt.Sprintf("%s∘%s", a, w), a, got, err, want)
	}
	c.log(t, "swizzles on the right")
	require.Greater(t, c.refused.Load(), int64(50))
}

// TestSwizzleFound: layouts that only another swizzle than CuTe's expresses, or another layout, or an offset.
func TestSwizzleFound(t *testing.T) {
	for _, c := range [][3]string{
		{"2:14", "Sw<3,0,-4>", "2:238"},        // bit 0 of 1 becomes bit 4, too, so 1 becomes 17
		{"8:7", "Sw<2,2,-2>", "(4,2):(7,140)"}, // and 4 becomes 20
		{"(4,8):(8,1)", "Sw<2,0,4> o 0 o 8:1", "(4,2):(8,1)"},
		{"16:1", "Sw<1,3,1> o 5 o 3:1", "Sw<1,3,1> o 5 o 3:1"},
		{"8:1", "Sw<1,1,-2> o 0 o 3:5", "Sw<1,1,-2> o 0 o 3:5"},
	} {
		got, err := call("composition", []string{c[0], c[1]})
		require.NoError(t, err, "%v", c)
		require.Equal(t, c[2], got, "%v", c)
	}
	want := []int64{0, 5, 2} // changes bit 3, above all values
	f := &swizzledFit{shape: leafOf(sym.Int(3)), want: want, vals: make([]int64, 3), ext: []int64{3}, work: swizzleWork}
	r, found, exact := f.search()
	require.True(t, found && exact)
	require.NoError(t, sameAs(r, want, "the fit"))
	f.want, f.work = []int64{0, 5, 2, 9, 1}, 100
	f.shape, f.ext, f.vals = leafOf(sym.Int(5)), []int64{5}, make([]int64, 5)
	_, found, exact = f.search()
	require.False(t, found || exact)
}

// TestSwizzleSearch: what is made of a layout and any swizzle is found again, whatever the search leaves out.
func TestSwizzleSearch(t *testing.T) {
	ls := smallLayouts([]int64{2, 3, 5}, []int64{1, 3, 4, 5, 7}, 2)
	for i, w := range allSwizzles(9) {
		for k := i % 7; k < len(ls); k += 7 {
			off := w.Apply(int64(i % 3 * 5))
			if w.B == 0 {
				off = 0
			}
			l := ls[k].WithSwizzle(w, sym.Int(off))
			f := mustFn(l)
			s := &swizzledFit{shape: l.shape, want: f.table(f.n), vals: make([]int64, f.n), ext: f.s, work: swizzleWork}
			r, found, exact := s.search()
			require.True(t, found && exact, "%s", l)
			require.NoError(t, sameAs(r, f.table(f.n), "%s", l))
		}
	}
	for _, want := range [][]int64{{0, 3, 1, 9, 2}, {0, -3, 1, 9, 2}, {1, 3, 4, 1, 2}} {
		s := &swizzledFit{shape: leafOf(sym.Int(5)), want: want, vals: make([]int64, 5), ext: []int64{5}, work: swizzleWork}
		_, found, exact := s.search()
		require.True(t, exact && !found)
	}
	s := &swizzledFit{shape: leafOf(sym.Int(4)), want: []int64{0, -1, -2, -3}, vals: make([]int64, 4), ext: []int64{4}, work: swizzleWork}
	r, found, _ := s.search()
	require.True(t, found)
	require.Equal(t, "4:-1", r.String())
	s.want = []int64{-5, -6, -7, -8} // only a swizzle that changes none of them carries the offset
	r, found, _ = s.search()
	require.True(t, found)
	require.NoError(t, sameAs(r, s.want, "%s", r))
}

// TestImage: which compositions are verified by tables.
func TestImage(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{{"(6,2):(1,100)", "(2,3):(3,2)", true}, {"(6,2):(0,0)", "(2,3):(3,2)", true}, {"(6,2):(K,1)", "(2,3):(3,2)", false}, {"(6,2):(K,2*K)", "(2,3):(3,2)", false}, {"(6,2):(1@0,1@1)", "(2,3):(3,2)", false}, {"(6,2):(1@0,7@0)", "(2,3):(3,2)", false}, {"(6,2):(1,100)", "(2,(3,2)):(3,(0,2))", true}, {"(6,4):(1,100)", "(2,3):(1@0,1@1)", false}, {"(6,4):(1,100)", "(2,3):(1@0,2@0)", true}, {"(6,4):(1,100)", "(2,3,2):(1,2,1@0)", false}} {
		a, b := MustParse(c.a), MustParse(c.b)
		cp := &composer{a: a, exact: true}
		_, _, e := cp.walk(b.shape, b.stride)
		require.Nil(t, e)
		v, e := newValues(cp)
		require.Nil(t, e)
		leaves, size, e := v.leaves(b, cp.targets)
		require.Nil(t, e)
		f := &composed{v: v, leaves: leaves, size: size}
		for _, to := range []struct {
			r    string
			want bool
		}{{"(2,3):(7,9)", c.want}, {"(2,3):(7,K)", false}} {
			m, r := f.image(flatModes(MustParse(to.r).shape, MustParse(to.r).stride))
			require.Equal(t, to.want, m != nil, "%v", c)
			if m != nil {
				require.Equal(t, []int64{7, 9}, r.d)
				idx, out := make([]int64, 1), make([]int64, 1)
				for i := range size {
					f.at(i, idx, out)
					require.Equal(t, out[0], m.at(i), "%v at %d", c, i)
				}
			}
		}
	}
}

// TestSwizzleRefusal: the texts of the refusals.
func TestSwizzleRefusal(t *testing.T) {
	for _, c := range [][3]string{
		{"(4,8):(2,14)", "Sw<2,0,-2> o 0 o 32:1", "no layout behind a swizzle expresses it; with CuTe's swizzle, coordinate 1 gives 2 and not 16; first at coordinate 1: got 2, want 16"},
		{"(3,7):(17,23)", "Sw<3,1,4> o 2 o 8:26", "no layout behind a swizzle expresses it; without the swizzle, the values along 8:26"},
		{"(4,K):(1,4)", "Sw<1,0,2> o 0 o 4:1", "a swizzle passes to the left only through static layouts"},
		{"16:1", "Sw<1,0,2> o K o 4:1", "a swizzle passes to the left only through static layouts"},
	} {
		_, err := Compose(MustParse(c[0]), MustParse(c[1]))
		if err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%v: %v", c, err)
		}
	}
	for op, f := range map[string]func() (Layout, error){
		"composition":        func() (Layout, error) { return Compose(MustParse("8388608:1"), MustParse("Sw<1,0,1> o 0 o 4194304:1")) },
		"layout and swizzle": func() (Layout, error) { return ComposeLayoutSwizzle(MustParse("4194304:1"), Swizzle{1, 0, 1}) },
		"right_inverse":      func() (Layout, error) { return RightInverse(MustParse("Sw<1,0,1> o 0 o 4194304:1")) },
		"left_inverse":       func() (Layout, error) { return LeftInverse(MustParse("Sw<1,0,1> o 0 o 4194304:1")) },
	} {
		r, err := f()
		require.NoError(t, err, op)
		require.Equal(t, "Sw<1,0,1> o 0 o 4194304:1", r.String(), op)
	}
	_, err := RightInverse(MustParse("Sw<1,0,1> o 0 o 4194305:1"))
	require.ErrorContains(t, err, "Sw<1,0,1> o 0 o 4194305:1 is too large to verify (limit 4194304)")
	_, err = LeftInverse(MustParse("Sw<1,0,1> o 0 o (2,2097153):(0,1)"))
	require.ErrorContains(t, err, "is too large to verify (limit 4194304)")
	_, err = ComposeLayoutSwizzle(MustParse("(2097152,4):(1,2097152)"), Swizzle{1, 0, 1})
	require.ErrorContains(t, err, "8388608 coordinates are too many to verify (limit 4194304)")
	_, err = Compose(MustParse("8388608:1"), MustParse("Sw<1,0,1> o 0 o 8388608:1"))
	require.ErrorContains(t, err, "8388608 coordinates are too many to verify (limit 4194304)")
	_, err = ComposeLayoutSwizzle(MustParse("4:K"), Swizzle{1, 0, 1})
	require.ErrorContains(t, err, "a swizzle passes to the left only through static layouts")
	_, err = ComposeLayoutSwizzle(MustParse("K:1"), Swizzle{1, 0, 1})
	require.ErrorContains(t, err, "the size of K:1 must be a constant")
}

// TestLawSwizzledInverse: inverses of swizzled layouts invert them, and a bijection whose inverse is refused has none.
func TestLawSwizzledInverse(t *testing.T) {
	all := allSwizzles(9)
	var c counts
	for _, l := range smallLayouts([]int64{2, 3, 4, 6}, []int64{1, 2, 3, 4, 6, 8}, 2) {
		for _, w := range []Swizzle{{1, 0, 1}, {1, 1, 1}, {1, 0, 2}, {1, 0, -1}, {2, 0, 2}} {
			sw := l.WithSwizzle(w, sym.Expr{})
			f := mustFn(sw)
			inverse, seen := make([]int64, f.n), 0
			for i := range f.n {
				if v := f.at(i); v < f.n {
					inverse[v], seen = i, seen+1
				}
			}
			r, err := RightInverse(sw)
			if c.add(err); err == nil {
				require.NoError(t, checkInverse(r.String(), sw.String(), false), "right_inverse(%s) = %s", sw, r)
			}
			left, lerr := LeftInverse(sw)
			if c.add(lerr); lerr == nil {
				require.NoError(t, checkInverse(sw.String(), left.String(), true), "left_inverse(%s) = %s", sw, left)
			}
			for _, err := range []error{err, lerr} {
				if err != nil && strings.Contains(err.Error(), "no layout behind a swizzle inverts it") {
					require.Equal(t, int(f.n), seen, "%s is no bijection", sw)
					require.False(t, behindSome(plain(leafOf(sym.Int(f.n)), leafOf(Step{})), inverse, all), "%s has an inverse: %v", sw, err)
				} else if err != nil {
					require.Contains(t, err.Error(), "(not every inverse behind a swizzle was tried)")
					require.False(t, int(f.n) == seen && permutes(w, f.n) && rightSize(l) == f.n, "%s: %v", sw, err)
				}
			}
		}
	}
	c.log(t, "inverses of swizzled layouts")
}

func rightSize(l Layout) int64 { r, _ := RightInverse(l); return mustSize(r) }
