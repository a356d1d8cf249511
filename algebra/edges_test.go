package algebra

import (
	"math"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra/sym"
)

// symbol is a name with bounds and a multiple.
func symbol(name string, lo, hi, multiple int64) sym.Expr {
	return sym.New(&sym.Symbol{Name: name, Lo: lo, Hi: hi, Multiple: multiple})
}

// fnOf is a static layout prepared.
func fnOf(text string) *fn { return mustFn(MustParse(text)) }

// TestNeighbours: the divisors next to a number, and where none is looked for.
func TestNeighbours(t *testing.T) {
	for _, c := range []struct {
		n, size int64
		want    string
	}{
		{4, 10, "2 and 5 divide; the Ceil form rounds up"},
		{3, 7, "1 and 7 divide; the Ceil form rounds up"},
		{5, 12, "4 and 6 divide; the Ceil form rounds up"},
		{12, 8, "8 divides; the Ceil form rounds up"},
		{9, 8, "8 divides; the Ceil form rounds up"},
		{8, 8, "4 divides; the Ceil form rounds up"},
		{6, 5, "5 divides; the Ceil form rounds up"},
		{2, 1, "1 divides; the Ceil form rounds up"},
		{7, 20, "5 and 10 divide; the Ceil form rounds up"},
		{4096, 8192 * 3, "3072 and 6144 divide; the Ceil form rounds up"},
		{4097, 8192 * 3, "the Ceil form rounds up"},
		{3, 1 << 24, "2 and 4 divide; the Ceil form rounds up"},
		{3, 1<<24 + 1, "the Ceil form rounds up"},
		{4096, 8193, "2731 divides; the Ceil form rounds up"},
		{4096, 8191, "1 and 8191 divide; the Ceil form rounds up"},
		{4095, 8192 * 2, "2048 and 4096 divide; the Ceil form rounds up"},
		{4096, 10007, "1 divides; the Ceil form rounds up"},
	} {
		require.Equal(t, c.want, neighbours(c.n, c.size), "%d of %d", c.n, c.size)
	}
}

// TestFills: every offset below n once, and none twice above.
func TestFills(t *testing.T) {
	for _, c := range []struct {
		l, r string
		n    int64
		want bool
	}{
		{"4:1", "2:4", 8, true}, {"4:1", "2:4", 7, true}, {"4:1", "2:4", 9, false}, {"4:1", "2:5", 4, true}, {"4:1", "2:5", 5, false},
		{"4:1", "2:3", 4, false}, {"1:0", "2:0", 1, false}, {"2:0", "2:1", 2, true}, {"4:1", "K:4", 8, false}, {"2:2", "2:1", 4, true},
		{"4096:1", "4096:4096", 4, false}, {"2:1", "2:0", 1, false},
	} {
		require.Equal(t, c.want, fills(fnOf(c.l), MustParse(c.r), c.n), "%v", c)
	}
}

// TestTile: the translations by force, and why there are none.
func TestTile(t *testing.T) {
	for _, c := range []struct {
		l    string
		n    int64
		want string
	}{
		{"2:1", 8, "4:2"}, {"2:2", 4, "2:1"}, {"4:1", 4, "1:0"}, {"1:0", 1, "1:0"}, {"4:1", 3, "offset 3 lies outside [0,3)"}, {"4:1", 5, "offset 4 of [0,5) is never reached: moving the layout there leads past the end"},
		{"(2,2):(1,3)", 8, "offset 2 of [0,8) is never reached: moving the layout there reaches offset 3 twice"}, {"4:-1", 8, "offset -1 is negative"},
		{"2:4", 4, "offset 4 lies outside [0,4)"}, {"2:3", 3, "offset 3 lies outside [0,3)"},
		{"8388608:0", 4, "8388608 offsets are too many to fill one by one (limit 4194304)"}, {"4:1", 8388608, "8388608 offsets are too many to fill one by one (limit 4194304)"},
		{"4194304:1", 4194304, "1:0"},
	} {
		r, e := tile(fnOf(c.l), c.n)
		got := r.String()
		if e != nil {
			got = e.Condition
		}
		require.Equal(t, c.want, got, "%v", c)
	}
	_, e := tile(fnOf("4:-2"), 8)
	require.Equal(t, []any{int64(1), "-2", "an offset of at least 0"}, []any{e.Coord, e.Got, e.Want})
}

// TestSideBySide: copies of an image one after the other.
func TestSideBySide(t *testing.T) {
	for _, c := range []struct {
		image []int64
		need  int64
		want  []int64
	}{
		{[]int64{0, 1}, 3, []int64{0, 2, 4}}, {[]int64{0, 2}, 2, []int64{0, 1}}, {[]int64{0, 2}, 3, []int64{0, 1, 4}}, {[]int64{0}, 2, []int64{0, 1}},
		{[]int64{0, 1, 3}, 2, nil}, {[]int64{1, 2}, 2, nil}, {[]int64{0, 3}, 1, []int64{0}}, {[]int64{0, 2, 3}, 1, nil}, {[]int64{0, EvalLimit + 1}, 1, nil}, {[]int64{0, EvalLimit}, 1, []int64{0}},
		{[]int64{0, 1, 4, 5}, 2, []int64{0, 2}}, {[]int64{0, 1, 4, 5}, 1, []int64{0}},
	} {
		got, ok := sideBySide(c.image, c.need)
		require.Equal(t, c.want != nil, ok, "%v", c)
		if ok {
			require.GreaterOrEqual(t, int64(len(got)), c.need)
			require.Equal(t, c.want, got[:c.need], "%v", c)
		}
	}
	for _, c := range []struct {
		a, b string
		need int64
		want string
	}{
		{"2:2", "2:1", 2, "2:1"}, {"2:2", "4:1", 4, "(2,2):(1,4)"}, {"2:2", "2:3", 4, "2:5"}, {"2:2", "2:-1", 2, ""}, {"2:2", "2:2", 2, ""}, {"2:2", "2:1", 0, ""}, {"2:K", "2:1", 2, ""},
		{"2:2", "K:1", 2, ""}, {"2:1", "1:0", EvalLimit / 2, "1:0"}, {"2:1", "1:0", EvalLimit/2 + 1, ""}, {"(2,4194304):(1,0)", "1:0", 1, ""}, {"2:1", "8388608:0", 1, ""}, {"2:1", "4194304:0", 1, "4194304:0"}, {"4194304:0", "1:0", 1, "1:0"},
		{"1:0", "1:0", EvalLimit, "1:0"}, {"1:0", "1:0", EvalLimit + 1, ""},
	} {
		r, ok := fittedCopies(MustParse(c.a), MustParse(c.b), c.need)
		require.Equal(t, c.want != "", ok, "%v", c)
		if ok {
			require.Equal(t, c.want, r.String(), "%v", c)
		}
	}
}

// TestLimits: what is exactly as large as a limit is given, and one more is refused.
func TestLimits(t *testing.T) {
	require.True(t, permutes(Swizzle{1, 0, 1}, EvalLimit))
	require.False(t, permutes(Swizzle{1, 0, 1}, EvalLimit+4))
	require.False(t, permutes(Swizzle{1, 0, 1}, 3))
	require.True(t, permutes(Swizzle{1, 0, 1}, 4))

	for n, ok := range map[int64]bool{0: false, -1: false, 1: true, maxFactor: true, maxFactor + 1: false} {
		_, err := Upcast(MustParse("1:0"), n)
		require.Equal(t, ok, err == nil, "%v", err)
		_, err = Downcast(MustParse("1:1"), n)
		require.Equal(t, ok, err == nil, "%v", err)
		if !ok {
			require.ErrorContains(t, err, "must be between 1 and 16777216")
		}
	}
	for _, bits := range [][2]int64{{0, 8}, {8, 0}, {-1, 8}, {8, -8}} {
		_, err := Recast(MustParse("8:1"), bits[0], bits[1])
		require.ErrorContains(t, err, "bits must be at least 1")
	}
	for text, ok := range map[string]bool{
		"16777216:16777216": true, "16777216:16777217": false, "(16777216,16777216):(0,0)": true, "(16777216,16777217):(0,0)": false, "1:-281474976710656": true,
		"1:-281474976710657": false, "(2,2):(140737488355328,1)": false, "16777217:16777217": false,
	} {
		_, err := Coalesce(MustParse(text))
		require.Equal(t, ok, err == nil, "%s: %v", text, err)
		if !ok {
			require.ErrorContains(t, err, "larger than 2^48 elements or offsets")
		}
	}
	require.Nil(t, bad(MustParse("16777216:16777216"), MustParse("(16777216,16777216):(0,0)")))
	for text, ok := range map[string]bool{"(16777216,16777216)": true, "(16777216,(2,16777216))": false, "281474976710657": false, "(2,281474976710656)": false, "281474976710656": true, "((2,281474976710656),2)": false} {
		s, err := ParseShape(text)
		require.NoError(t, err)
		_, err = CrdToIndex(CoordOf(0), s)
		require.Equal(t, ok, err == nil, "%s: %v", text, err)
	}
	for n, ok := range map[int64]bool{2: true, -2: true, 3: false, -3: false} {
		_, e := scaled(Step{Coef: sym.Int(1 << 60)}, n)
		require.Equal(t, ok, e == nil)
	}
	_, e := scaled(Step{Coef: sym.Int(1 << 40)}, 1<<40)
	require.ErrorContains(t, e.in("x"), "the stride 1099511627776*1099511627776 is too large")
	_, _, e = productOne(MustParse("16777216:0"), MustParse("2:137438953472"))
	require.ErrorContains(t, e.in("x"), "137438953473 copies of 16777216 elements are too many")
	_, _, e = productOne(MustParse("16777216:1"), MustParse("2:137438953471"))
	require.Equal(t, "", conditionOf(e))
	tv, err := GridTV(MustParse("(2048,2048):(0,0)"), S(1))
	require.NoError(t, err)
	require.Contains(t, tv, "T0/V0+4194303")
	_, err = GridTV(MustParse("(4096,2048):(0,0)"), S(1))
	require.ErrorContains(t, err, "8388608 threads and values are too many to draw")
	_, err = Grid(Compact(S(128, 128)))
	require.NoError(t, err)
	_, err = Grid(Compact(S(128, 129)))
	require.ErrorContains(t, err, "16512 cells are more than 16384")
}

func conditionOf(e *Error) string {
	if e == nil {
		return ""
	}
	return e.Condition
}

// TestLargeStays: results of more than EvalLimit coordinates are given where they are proved.
func TestLargeStays(t *testing.T) {
	for _, c := range []struct{ op, a, b, want string }{
		{"composition", "(4096,4096):(K,1)", "8388608:1", "(4096,2048):(K,1)"},
		{"composition", "(6,8388608):(K,1)", "(2,8388608):(4,6)", "(2,8388608):(4*K,1)"},
		{"composition", "(4096,4096):(1@0,1@1)", "8388608:1", "(4096,2048):(1@0,1@1)"},
		{"composition", "(4096,4096):(K,1)", "(4096,2048):(4096,1)", "(4096,2048):(1,K)"},
		{"left_inverse", "(4096,4096):(4096,1)", "", "(4096,4096):(4096,1)"},
		{"left_inverse", "(4096,4096):(8192,1)", "", "(8192,4096):(4096,1)"},
		{"right_inverse", "(4096,4096):(4096,1)", "", "(4096,4096):(4096,1)"},
	} {
		args := []string{c.a, c.b}
		if c.b == "" {
			args = args[:1]
		}
		got, err := call(c.op, args)
		require.NoError(t, err, "%v", c)
		require.Equal(t, c.want, got, "%v", c)
	}
}

// TestDivides: one term divides others, and which do not.
func TestDivides(t *testing.T) {
	m, k := symbol("M", 1, sym.Unbounded, 1), symbol("K", 1, sym.Unbounded, 1)
	for _, c := range []struct {
		a, b sym.Expr
		want string
	}{
		{sym.Int(4).Mul(m), sym.Int(12).Mul(m), "3"}, {sym.Int(4).Mul(m), sym.Int(6).Mul(m), ""}, {m, k, ""}, {m, m.Mul(k), "K"}, {sym.Int(2).Mul(m), sym.Int(8).Mul(m).Mul(k), "4*K"},
		{m, m.Mul(k).Add(sym.Int(2).Mul(m)), "K+2"}, {m, m.Mul(k).Add(k), ""}, {m.Add(k), m, ""}, {sym.Int(3), sym.Int(6).Mul(m), "2*M"}, {sym.Int(3), m, ""}, {sym.Int(0), m, ""}, {sym.Int(-1), m, ""},
		{sym.Int(4), sym.Int(12), "3"}, {m.Mul(m), m.Mul(m).Mul(k), "K"}, {m.Mul(m), m.Mul(k), ""}, {m, m, "1"}, {sym.Int(0), sym.Int(0), "1"},
	} {
		q, ok := divides(c.a, c.b)
		require.Equal(t, c.want != "", ok, "%s / %s", c.b, c.a)
		if ok {
			require.Equal(t, c.want, q.String(), "%s / %s", c.b, c.a)
		}
	}
}

// TestCosize: strides of either sign count positive, and a sign that is not known is refused.
func TestCosize(t *testing.T) {
	for text, want := range map[string]string{"4:-2": "7", "(4,3):(-2,5)": "17", "(4,3):(0,1)": "3", "(4,8):(1@0,-3@1)": "88", "4:1": "4", "(M,4):(4,1)": "4*M", "3:K": "2*K+1", "(2,2):(-1,1)": "3"} {
		n, err := MustParse(text).Cosize()
		require.NoError(t, err, text)
		require.Equal(t, want, n.String(), text)
	}
	for _, c := range []struct {
		lo, hi int64
		want   string
	}{{-5, 0, "-3*z+1"}, {-5, -1, "-3*z+1"}, {0, 5, "3*z+1"}, {1, 5, "3*z+1"}, {-5, 1, ""}, {-1, 5, ""}} {
		n, err := MustLayout(S(4), D(symbol("z", c.lo, c.hi, 1))).Cosize()
		if c.want == "" {
			require.ErrorContains(t, err, "the sign of stride z is not known")
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.want, n.String())
	}
}

// TestNotStatic: evaluation at integers of what is not static.
func TestNotStatic(t *testing.T) {
	for _, text := range []string{"(4,K):(1,2)", "(K,4):(1,2)", "(4,4):(K,1)", "(4,4):(1,K)", "Sw<1,0,1> o K o 4:1", "(4,4):(1@0,1@1)"} {
		require.Equal(t, int64(math.MinInt64), MustParse(text).AtInt(1), text)
		require.False(t, MustParse(text).IsStatic(), text)
		_, ok := intFn(MustParse(text))
		require.False(t, ok, text)
	}
	require.True(t, MustParse("Sw<1,0,1> o 3 o (4,4):(4,1)").IsStatic())
	for text, i := range map[string]int64{"(4,8):(K,1)": 35, "(2,(2,2)):(K,(1,7))": 9} { // past the end the last mode goes on
		v, err := MustParse(text).AtIndex(sym.Int(i))
		require.NoError(t, err)
		require.Equal(t, map[string]string{"(4,8):(K,1)": "3*K+8", "(2,(2,2)):(K,(1,7))": "K+14"}[text], v.String())
	}
	v, err := MustParse("(K,4):(1,2)").AtIndex(sym.Int(5))
	require.NoError(t, err)
	require.Equal(t, "5%K+2*(5/K)", v.String())
	v, err = MustParse("(3,4):(1,2)").AtIndex(symbol("i", 0, 11, 1))
	require.NoError(t, err)
	require.Equal(t, "i%3+2*(i/3)", v.String())
	c, err := IdxToCrd(CoordOf(31), S(4, 8))
	require.NoError(t, err)
	require.Equal(t, "(3,7)", c.String())
}

// TestCoordsOutside: a coordinate that is known to be none of its mode is refused.
func TestCoordsOutside(t *testing.T) {
	i := symbol("i", 32, 40, 1)
	for want, idx := range map[string]Coord{"the index 35 lies outside (4,8)": CoordOf(35), "the index -1 lies outside (4,8)": CoordOf(-1), "the index i lies outside (4,8)": CoordOf(i),
		"the index 4 lies outside 4": C(4, 0), "the index 8 lies outside 8": C(0, 8)} {
		_, err := IdxToCrd(idx, S(4, 8))
		require.ErrorContains(t, err, want)
	}
	for _, c := range []struct {
		idx  int64
		l    string
		want string
	}{{5, "(4,2):(-1,4)", ""}, {-5, "(4,2):(1,4)", ""}, {-3, "4:-1", "3"}, {7, "(4,2):(1,4)", "(3,1)"}, {8, "(4,2):(1,4)", ""}} {
		got, err := IdxToCrdIn(c.idx, MustParse(c.l))
		require.Equal(t, c.want == "", err != nil, "%v: %s", c, got)
		if err == nil {
			require.Equal(t, c.want, got.String())
		}
	}
	for _, c := range []struct {
		c        Coord
		from, to Shape
		want     string
	}{
		{C(3, 7), S(4, 8), S(8, 4), "the coordinate 7 lies outside 4"}, {C(3, 3), S(4, 8), S(8, 4), ""}, {C(4, 0), S(4, 8), S(8, 4), "the coordinate 4 lies outside 4"},
		{CoordOf(32), S(4, 8), S(8, 8), "the coordinate 32 lies outside (4,8)"}, {CoordOf(31), S(4, 8), S(2, 8), "the coordinate 31 lies outside (2,8)"},
		{C(0, -1), S(4, 8), Extent(32), "the coordinate -1 lies outside 8"}, {C(i, 0), S(4, 8), S(4, 8), "the coordinate i lies outside 4"}, {C(symbol("j", 0, 9, 1), 0), S(4, 8), S(8, 4), ""},
	} {
		got, err := CrdToCrd(c.c, c.from, c.to)
		if c.want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, c.want, "%s", got)
	}
}

// TestFits: what is known to stay below an extent.
func TestFits(t *testing.T) {
	m, m8 := symbol("M", 1, sym.Unbounded, 1), symbol("M", 1, sym.Unbounded, 8)
	one := sym.Int(1)
	for _, c := range []struct {
		i, n sym.Expr
		want bool
	}{
		{m.Sub(one), m, true}, {m, m, false}, {m.Sub(sym.Int(2)), m, false}, {symbol("i", 0, 7, 1), m8, true}, {symbol("i", 0, 8, 1), m8, false}, {symbol("i", -1, 7, 1), m8, false}, {sym.Int(7), m8, true}, {sym.Int(8), m8, false},
		{sym.Int(0), m, true}, {sym.Int(1), m, false}, {sym.Int(3), sym.Int(4), true}, {sym.Int(4), sym.Int(4), false}, {symbol("i", 0, 3, 1), symbol("n", 4, 9, 1), true}, {symbol("i", 0, 4, 1), symbol("n", 4, 9, 1), false},
	} {
		require.Equal(t, c.want, fits(c.i, c.n), "%s below %s", c.i, c.n)
	}
	require.Equal(t, int64(8), least(m8))
	require.Equal(t, int64(1), least(m))
	require.Equal(t, int64(0), least(symbol("z", 0, 9, 8)))
	require.Equal(t, int64(-3), least(symbol("z", -3, 9, 1)))
	require.Equal(t, int64(16), least(symbol("z", 16, 99, 8)))
}

// TestAtFits: a value that does not fit 63 bits is refused, not wrapped.
func TestAtFits(t *testing.T) {
	for _, c := range []struct {
		layout string
		at     Coord
		want   string // the value, or the end of the error
	}{
		{"3:4611686018427387904", CoordOf(1), "4611686018427387904"},
		{"3:4611686018427387904", CoordOf(2), "0 + 2*4611686018427387904 does not fit 63 bits, or is too large an expression"},
		{"3:-4611686018427387904", CoordOf(2), "-9223372036854775808"},
		{"(2,2):(9223372036854775807,-9223372036854775807)", C(1, 1), "0"},
		{"(2,2):(9223372036854775807,1)", C(1, 1), "9223372036854775807 + 1*1 does not fit 63 bits, or is too large an expression"},
		{"(2,2):(9223372036854775807@0,1@0)", C(1, 1), "(9223372036854775807) + 1*1@0 does not fit 63 bits, or is too large an expression"},
		{"(2,2):(9223372036854775807@0,1@1)", C(1, 1), "(9223372036854775807,1)"},
		{"((2,2),2):((9223372036854775807,1),1)", C(3, 0), "9223372036854775807 + 1*1 does not fit 63 bits, or is too large an expression"},
		{"8:2", CoordOf(math.MaxInt64), "0 + 9223372036854775807*2 does not fit 63 bits, or is too large an expression"},
		{"Sw<3,3,3> o 9223372036854775807 o 8:1", CoordOf(1), "9223372036854775807 + 1 does not fit 63 bits, or is too large an expression"},
	} {
		a, err := MustParse(c.layout).AtArith(c.at)
		if err == nil {
			require.Equal(t, c.want, a.String(), c.layout)
			continue
		}
		require.Regexp(t, `: `+regexp.QuoteMeta(c.want)+"$", err.Error(), c.layout)
	}
}
