package algebra

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLeftProof: where the search says that no layout inverts l, none with up to three digits and steps up to 8 does.
// Some of those repeat offsets, and some have negative ones.
func TestLeftProof(t *testing.T) {
	proved, repeated, negative, found := 0, 0, 0, 0
	for _, l := range smallLayouts([]int64{2, 3, 4}, []int64{-3, -1, 0, 1, 2, 3, 5, 7}, 2) {
		f := mustFn(l)
		if r, looked, ok := searchLeft(f); ok {
			require.NoError(t, checkInverse(l.String(), r.String(), true), "%s %s", l, r)
			found++
			continue
		} else if !strings.HasPrefix(looked, "no layout inverts it: ") {
			require.Equal(t, "no layout inverts it", looked, "%s: all are tried", l)
		}
		proved++
		vals := f.table(f.n)
		if slices.Min(vals) < 0 {
			negative++
		}
		if slices.Sort(vals); len(slices.Compact(vals)) < int(f.n) {
			repeated++
		}
		var try func(r fn, size int64)
		try = func(r fn, size int64) {
			for e := int64(2); len(r.s) < 3 && e*size <= 12; e++ {
				for d := int64(-8); d <= 8; d++ {
					next := fn{s: append(slices.Clone(r.s), e), d: append(slices.Clone(r.d), d)}
					if inverts(&next, f) {
						t.Fatalf("%s has the left inverse %v", l, next)
					}
					try(next, size*e)
				}
			}
		}
		try(fn{}, 1)
	}
	t.Logf("%d proved, %d of them with repeated offsets and %d with negative ones; %d found", proved, repeated, negative, found)
	require.True(t, proved > 3 && repeated > 3 && negative > 3 && found > 100)
}

// inverts reports whether r(f(i)) is i, or where f repeats offsets a coordinate where f is f(i), for all i.
func inverts(r, f *fn) bool {
	injective := f.injective()
	for i := range f.n {
		if v := f.at(i); r.at(v) < 0 || r.at(v) >= f.n || f.at(r.at(v)) != v || injective && r.at(v) != i {
			return false
		}
	}
	return true
}

// TestLeftFound: left inverses that need another choice among indices of equal offsets than the least, offsets above
// 2^12, or negative steps; and what is refused.
func TestLeftFound(t *testing.T) {
	for _, c := range [][2]string{
		{"(2,5):(2,1)", "(4,2):(2,5)"}, {"(3,4):(3,2)", "(no layout inverts it: all orders of prime extents were tried)"}, {"(3,3):(3,3)", "(2,2,2,2):(0,1,1,7)"}, {"(70000):(3)", "(3,70000):(0,1)"},
		{"(2,3,3):(4099,5,3)", "stride 5 is not a multiple of 3, which the strides below it make (no layout inverts it: all orders of prime extents were tried)"},
		{"(5,(7,4)):(25,(-7,4))", "(no layout inverts it: it has the offsets 2 and -2)"},
		{"(3,3):(2,3)", "(no layout inverts it: all orders of prime extents were tried)"},
		{"(3,3):(-2,-3)", "(no layout inverts it: all orders of prime extents were tried)"},
		{"(9,(4,3,4)):(7000,(5,3000,9001))", "(no layout was found that inverts it, but not all were tried)"},
		{"(300,300):(2,3)", "(90000 coordinates are too many to search for another layout; the limit is 65536)"},
		{"(256,256):(2,3)", "(2,128,2,2,2):(255,1,637,43521,65155)"},
		{"(3000,3000):(2,3)", "9000000 coordinates are too many to verify (limit 4194304)"},
	} {
		r, err := LeftInverse(MustParse(c[0]))
		if err != nil {
			require.ErrorContains(t, err, c[1])
			continue
		}
		require.Equal(t, c[1], r.String())
		require.NoError(t, checkInverse(c[0], c[1], true))
	}
}

// TestProofParts: the equations of the search, one at a time.
func TestProofParts(t *testing.T) {
	eq := func(k int64, c ...int64) equation {
		e := equation{k: k}
		copy(e.c[:], c)
		return e
	}
	system := func(es ...equation) (p *proof, rows []equation) {
		p = &proof{work: 100, exact: true}
		for _, e := range es {
			var ok bool
			rows, ok = p.with(rows, &e.c, e.k)
			require.True(t, ok)
		}
		return p, rows
	}
	type answer struct {
		k        int64
		ok, free bool
	}
	p, rows := system(eq(3, 1), eq(2, -1, 1), eq(10, 0, 0, 4))
	for _, c := range []struct {
		c    []int64
		want answer
	}{{[]int64{1}, answer{3, true, false}}, {[]int64{1, 1}, answer{8, true, false}}, {[]int64{0, 2}, answer{10, true, false}}, {[]int64{0, 0, 2}, answer{5, true, false}}, {[]int64{0, 0, 1}, answer{2, false, false}}, {[]int64{0, 0, 0, 1}, answer{0, false, true}}, {[]int64{1, 0, 0, 1}, answer{0, false, true}}, {nil, answer{0, true, false}}, {[]int64{-1, 0, 2}, answer{2, true, false}}} {
		e := eq(0, c.c...)
		k, ok, free := p.implied(rows, &e.c)
		require.Equal(t, c.want, answer{k, ok, free}, "%v", c.c)
	}
	require.Equal(t, 97, p.work)
	_, ok := p.steps(rows, 3) // 4*d = 10
	require.False(t, ok)
	require.True(t, p.exact)
	for _, c := range []struct {
		rows []equation
		ok   bool
	}{
		{[]equation{eq(6, 2, 4)}, true}, {[]equation{eq(5, 2, 4)}, false}, {[]equation{eq(1, 3, 5)}, true}, {[]equation{eq(1, 6, 10, 15)}, true}, {[]equation{eq(1, 6, 10)}, false}, {[]equation{eq(7, 2, 3, 1), eq(4, 0, 2, 2)}, false}, {[]equation{eq(6, 2, 3, 1), eq(4, 0, 2, 2)}, true},
		{[]equation{eq(7, 2, 0, 1), eq(4, 0, 2, 2), eq(3, 0, 0, 3)}, true}, {[]equation{eq(8, 2, 0, 1), eq(4, 0, 2, 2), eq(3, 0, 0, 3)}, false}, {nil, true},
	} {
		p := &proof{exact: true}
		d, ok := p.steps(c.rows, 3)
		require.Equal(t, c.ok, ok, "%v", c.rows)
		require.True(t, p.exact)
		for _, r := range c.rows {
			sum := int64(0)
			for j := range d {
				sum += r.c[j] * d[j]
			}
			require.True(t, !ok || sum == r.k, "%v: %v", r, d)
		}
	}
	p = &proof{exact: true}
	_, ok = p.steps([]equation{eq(1, 1<<29, 1<<29-1, 3), eq(1, 0, 1<<29+5, 1<<28+9)}, 3)
	require.False(t, ok || p.exact)
	p, rows = system(eq(1, 1<<20, 3))
	e := eq(0, 1<<19+1, 1<<20)
	_, ok, free := p.implied(rows, &e.c)
	require.False(t, ok || free || p.exact)          // numbers grow past 2^30
	for _, far := range []int64{1 << 30, -1 << 30} { // and not to 2^30
		p, rows = system(eq(1, 1, far))
		e := eq(0, 1)
		_, _, free := p.implied(rows, &e.c)
		require.True(t, free && p.exact)
		p, rows = system(eq(1, 1, far*2))
		_, _, free = p.implied(rows, &e.c)
		require.False(t, free || p.exact)
	}
	p = &proof{work: 0, exact: true}
	_, ok = p.with(nil, &e.c, 1)
	require.False(t, ok || p.exact)

	require.Equal(t, []int64{1, 3}, common([]int64{1, 3, 5}, []int64{2, 4, 9}, 1))
	require.Equal(t, []int64{5}, common([]int64{1, 3, 5}, []int64{-4, 1}, -4))
	require.Empty(t, common([]int64{1}, nil, 0))
	require.Equal(t, []int64{-1, 1, 3}, differences([]int64{1, 3}, []int64{0, 2}))
	require.Empty(t, primesTo(1))
	require.Equal(t, []int64{2}, primesTo(2))
	require.Equal(t, []int64{2, 3, 5, 7, 11, 13, 17, 19, 23, 29}, primesTo(30))
	require.Equal(t, []int64{2, 3, 5, 7}, primesTo(9))
}

// TestPreimages: the coordinates that an offset may lead back to.
func TestPreimages(t *testing.T) {
	for _, c := range []struct {
		l    string
		want []spot
	}{
		{"(2,3):(2,1)", []spot{{0, []int64{0}}, {1, []int64{2}}, {2, []int64{1, 4}}, {3, []int64{3}}, {4, []int64{5}}}},
		{"(2,2):(0,1)", []spot{{0, []int64{0, 1}}, {1, []int64{2, 3}}}},
		{"(2,2):(1,0)", []spot{{0, []int64{0, 2}}, {1, []int64{1, 3}}}},
		{"3:-2", []spot{{0, []int64{0}}, {2, []int64{-1}}, {4, []int64{-2}}}},
		{"(2,2):(3,-1)", []spot{{0, []int64{0}}, {1, []int64{-2}}, {2, []int64{3}}, {3, []int64{1}}}},
		{"(2,3):(1,-1)", []spot{{0, []int64{0, 3}}, {1, nil}, {2, []int64{-4}}}},
		{"(2,2):(-1,1)", []spot{{0, []int64{0, 3}}, {1, nil}}},
		{"(3,1):(1,5)", []spot{{0, []int64{0}}, {1, []int64{1}}, {2, []int64{2}}}},
	} {
		require.Equal(t, c.want, preimages(fnOf(c.l)), c.l)
	}
	for _, l := range smallLayouts([]int64{1, 2, 3}, []int64{-3, -1, 0, 1, 2, 4}, 3) {
		f := mustFn(l)
		want := map[int64][]int64{}
		for j, v := range f.table(f.n) {
			want[v] = append(want[v], int64(j))
		}
		spots := preimages(f)
		for i, s := range spots {
			require.True(t, i == 0 || s.x > spots[i-1].x)
			plus, ok1 := want[s.x]
			minus, ok2 := want[-s.x]
			if s.x != 0 && ok1 && ok2 {
				require.Empty(t, s.ys, "%s at %d", l, s.x)
				continue
			}
			if !ok1 {
				for _, j := range slices.Backward(minus) {
					plus = append(plus, -j)
				}
			}
			require.Equal(t, plus, s.ys, "%s at %d", l, s.x)
			delete(want, s.x)
			delete(want, -s.x)
		}
		for v := range want {
			_, both := want[-v]
			require.True(t, both, "%s: %d has no spot", l, v)
		}
	}
}

// A left inverse of a layout that repeats no offset gives each index back, and nothing past its end.
func TestLeftOfInjective(t *testing.T) {
	given := 0
	for _, l := range smallLayouts([]int64{2, 3, 4}, []int64{1, 2, 3, 4, 5, 6, 7}, 2) {
		f := mustFn(l)
		r, err := LeftInverse(l)
		if err != nil || !f.injective() {
			continue
		}
		given++
		for i := range f.n {
			require.Equal(t, i, r.AtInt(f.at(i)), "left_inverse(%s) = %s at %d", l, r, i)
		}
	}
	require.Greater(t, given, 100)
}
