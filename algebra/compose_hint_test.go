package algebra

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra/sym"
)

// TestNearby: what the hint of a refused composition names does compose, and nothing nearer does.
func TestNearby(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 1))
	hints, alone := 0, 0
	for range 4000 {
		a := layoutOf([]mode{{sym.Int(int64(1 + r.IntN(9))), Step{Coef: sym.Int(int64(r.IntN(20)))}}, {sym.Int(int64(1 + r.IntN(5))), Step{Coef: sym.Int(int64(r.IntN(50)))}}, {sym.Int(4), Step{Coef: sym.Int(7)}}})
		b := []imode{{int64(1 + r.IntN(12)), int64(r.IntN(7))}, {int64(1 + r.IntN(4)), int64(r.IntN(9))}}[:1+r.IntN(2)]
		_, err := Compose(a, layoutOfInt(b))
		if err == nil {
			continue
		}
		e := err.(*Error)
		composes := func(k int, m imode) bool {
			var all []mode
			for i, x := range b {
				if i == k {
					x = m
				} else if k < 0 {
					continue
				}
				all = append(all, mode{sym.Int(x.s), Step{Coef: sym.Int(x.d)}})
			}
			if k < 0 {
				all = []mode{{sym.Int(m.s), Step{Coef: sym.Int(m.d)}}}
			}
			_, err := Compose(a, layoutOf(all))
			return err == nil
		}
		hint := "" // what brute force says
		if leaf := regexp.MustCompile(`the values along (\d+):(\d+)`).FindStringSubmatch(e.Condition); leaf != nil {
			s, _ := strconv.ParseInt(leaf[1], 10, 64)
			d, _ := strconv.ParseInt(leaf[2], 10, 64)
			var out []string
			for _, x := range nextTo(s, func(s int64) bool { return composes(-1, imode{s, d}) }) {
				out = append(out, fmt.Sprintf("%d:%d", x, d))
			}
			for _, x := range nextTo(d, func(d int64) bool { return composes(-1, imode{s, d}) }) {
				out = append(out, fmt.Sprintf("%d:%d", s, x))
			}
			if alone++; len(out) > 0 {
				hint = "next to it " + strings.Join(out, ", ") + " would do"
			}
		} else {
			var out []string
			for k, m := range b {
				for _, x := range nextTo(m.s, func(s int64) bool { return composes(k, imode{s, m.d}) }) {
					out = append(out, fmt.Sprintf("%d:%d for %d:%d", x, m.d, m.s, m.d))
				}
			}
			if len(out) > 0 {
				hint = strings.Join(out, ", or ") + ", would do"
			}
		}
		require.Equal(t, hint, e.Hint, "%v", err)
		if hint != "" {
			hints++
		}
	}
	require.True(t, hints > 500 && alone > 200, "%d %d", hints, alone)
}

// nextTo is what is next below n and above it for which ok holds, eight away or less.
func nextTo(n int64, ok func(int64) bool) (out []int64) {
	for x := n - 1; x > 0 && x >= n-8; x-- {
		if ok(x) {
			out = append(out, x)
			break
		}
	}
	for x := n + 1; x <= n+8; x++ {
		if ok(x) {
			return append(out, x)
		}
	}
	return out
}

// TestNearbyFar: how far the hint looks, and where it does not.
func TestNearbyFar(t *testing.T) {
	var asked []int64
	no := func(n int64) bool { asked = append(asked, n); return false }
	require.Empty(t, around(4, no))
	require.Equal(t, []int64{3, 2, 1, 5, 6, 7, 8, 9, 10, 11, 12}, asked)
	asked = nil
	require.Empty(t, around(40, no))
	require.Len(t, asked, 20)
	asked = nil
	require.Empty(t, around(1<<20, no))
	require.Len(t, asked, 512)
	require.Equal(t, []int64{12, 18}, around(15, func(n int64) bool { return n%6 == 0 }))
	for _, c := range [][3]string{
		{"(6,1000):(1,7)", "2000:-1", ""}, {"(6,1000):(1,7)", "1024:4", "next to it"}, {"(6,1000):(1,7)", "1025:4", ""},
		{"(6,2):(1,100)", "(2,3,170):(3,2,0)", "would do"}, {"(6,2):(1,100)", "(2,3,171):(3,2,0)", ""},
		{"(4,2):(1,100)", "(2,2,256):(3,1,0)", "1:3 for 2:3, or 1:1 for 2:1, would do"}, {"(4,2):(1,100)", "(2,2,257):(3,1,0)", ""},
		{"(4,3):(K,1)", "4:3", "next to it"}, {"((6,2),5):((1@0,100@0),1@1)", "(2,3):(3,2)", "1:3 for 2:3, or 2:2 for 3:2, would do"},
	} {
		_, err := Compose(MustParse(c[0]), MustParse(c[1]))
		require.Error(t, err)
		if c[2] == "" {
			require.Empty(t, err.(*Error).Hint, "%v", err)
		}
		require.Contains(t, err.(*Error).Hint, c[2], "%v", err)
		t.Log(err)
	}
}
