package algebra

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUnlike: what the tables say about A(Sw(off + B(i))) and R is what evaluation says, at every coordinate,
// also where one value alone differs.
func TestUnlike(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 7))
	pick := func() *fn {
		f := &fn{n: 1}
		for range 1 + r.IntN(4) {
			s := int64(1 + r.IntN(5))
			f.s, f.d, f.n = append(f.s, s), append(f.d, int64(r.IntN(40)-1)), f.n*s
		}
		return f
	}
	swizzles := []Swizzle{{}, {1, 0, 1}, {2, 1, 3}, {1, 2, -2}, {3, 0, 3}, {2, 3, -3}}
	differ := 0
	for range 20000 {
		a, b := pick(), pick()
		m := newImage(a, b, swizzles[r.IntN(len(swizzles))], int64(r.IntN(30)-2))
		if r.IntN(3) == 0 {
			a.sw, a.off = swizzles[r.IntN(len(swizzles))], int64(r.IntN(9))
		}
		to := pick()
		if r.IntN(2) == 0 { // of the same sizes
			to = &fn{s: b.s, n: b.n, sw: swizzles[r.IntN(len(swizzles))]}
			for k := range b.s {
				to.d = append(to.d, m.at(sizeBelow(b.s, k))-m.at(0))
			}
			if to.sw.B != 0 {
				to.off = m.at(0)
			}
		}
		if to.n != b.n {
			continue
		}
		want := int64(-1)
		for i := b.n - 1; i >= 0; i-- {
			if m.at(i) != to.at(i) {
				want = i
			}
		}
		if want > 0 {
			differ++
		}
		require.Equal(t, want, m.unlike(to), "%v(%v + %v) and %v", m.x, m.off, b, to)
	}
	require.Greater(t, differ, 1000)
}

func sizeBelow(s []int64, k int) int64 {
	n := int64(1)
	for _, x := range s[:k] {
		n *= x
	}
	return n
}

// TestReach: the table of A ends after the greatest index that occurs, and covers it.
func TestReach(t *testing.T) {
	b := &fn{s: []int64{4, 8}, d: []int64{1, 4}, n: 32}
	for _, c := range []struct {
		w    Swizzle
		off  int64
		top  int64
		fits bool
	}{
		{Swizzle{}, 0, 32, true}, {Swizzle{}, 1, 33, true}, {Swizzle{}, -1, 0, false}, {Swizzle{2, 0, 3}, 0, 32, true},
		{Swizzle{2, 0, 3}, 1, 36, true}, {Swizzle{1, 3, -4}, 0, 160, true}, {Swizzle{1, 3, -40}, 0, 0, false}, {Swizzle{}, 1248, 1280, true}, {Swizzle{}, 1249, 0, false},
	} {
		top, ok := newImage(b, b, c.w, c.off).reach()
		require.Equal(t, c.fits, ok, "%v", c)
		if ok {
			require.Equal(t, c.top, top, "%v", c)
		}
	}
	top, ok := newImage(b, fnOf("(4,2,3):(1,0,4)"), Swizzle{}, 5).reach()
	require.True(t, ok)
	require.Equal(t, int64(17), top)
	_, ok = newImage(b, &fn{s: []int64{2}, d: []int64{-1}, n: 2}, Swizzle{}, 5).reach()
	require.False(t, ok)
}

// TestHalves: where functions are cut, and what the two tables hold.
func TestHalves(t *testing.T) {
	for text, cut := range map[string]int64{"(128,64):(64,1)": 128, "((4,8,4),(2,2,16)):((2,256,2048),(1,8,16))": 128, "8192:1": 1, "(2,3):(1,2)": 2, "(3,2):(1,3)": 3, "(2,2,2,2,2,2):(1,2,4,8,16,32)": 8, "(5,7,2):(1,0,3)": 5, "1:0": 1, "(2,6):(1,2)": 2, "(16,4,16):(1,1,1)": 16} {
		f := fnOf(text)
		require.Equal(t, cut, middle(f), text)
		h, ok := halve(f, cut)
		require.True(t, ok)
		require.Len(t, h.low, int(cut))
		require.Len(t, h.high, int(f.n/cut))
		for i := range f.n {
			require.Equal(t, f.at(i), h.low[i%cut]+h.high[i/cut], "%s at %d", text, i)
		}
	}
	for n, ok := range map[int64]bool{1: true, 2: false, 3: false, 4: true, 5: false, 8: true, 32: true, 64: false} {
		_, got := halve(fnOf("(4,2,4):(1,4,8)"), n)
		require.Equal(t, ok, got, "%d", n)
	}
	for _, c := range []struct {
		l    string
		n    int64
		want []int64
	}{
		{"(2,3):(5,7)", 8, []int64{0, 5, 7, 12, 14, 19, 21, 26}}, {"(2,3):(5,7)", 3, []int64{0, 5, 7}}, {"(2,3):(5,7)", 1, []int64{0}}, {"3:-2", 5, []int64{0, -2, -4, -6, -8}}, {"(1,2):(9,1)", 3, []int64{0, 1, 2}}, {"(2,1):(1,9)", 4, []int64{0, 1, 9, 10}},
		{"Sw<1,0,1> o 2 o 4:1", 4, []int64{3, 2, 4, 5}}, {"Sw<1,0,-1> o 0 o 4:1", 4, []int64{0, 3, 2, 1}},
	} {
		require.Equal(t, c.want, fnOf(c.l).table(c.n), "%v", c)
	}
}
