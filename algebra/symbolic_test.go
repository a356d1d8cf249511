package algebra

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra/sym"
)

// instance replaces every symbol of a layout by its value.
func instance(t *testing.T, l Layout, value map[string]int64) Layout {
	t.Helper()
	ev := func(e sym.Expr) sym.Expr {
		n, err := e.Eval(func(s *sym.Symbol) (int64, bool) { v, ok := value[s.Name]; return v, ok })
		require.NoError(t, err)
		return sym.Int(n)
	}
	out := Layout{shape: mapNode(l.shape, ev), sw: l.sw, off: ev(l.off)}
	out.stride = mapNode(l.stride, func(d Step) Step { return Step{ev(d.Coef), d.Basis} })
	return out
}

// TestSymbolicStrides: composition of static extents and symbolic strides means the same as with numbers in
// the place of the symbols, and is refused only if some numbers have no layout.
func TestSymbolicStrides(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	names := []string{"p", "q", "s"}
	given, refused := 0, 0
	for range 4000 {
		var ms []mode
		for k := range 1 + r.IntN(3) {
			d := sym.New(&sym.Symbol{Name: names[k], Lo: 1, Hi: sym.Unbounded})
			if r.IntN(4) == 0 {
				d = d.Mul(sym.Int(1 + r.IntN(3))).Add(sym.Int(r.IntN(2)))
			}
			ms = append(ms, mode{sym.Int(1 + r.IntN(6)), Step{Coef: d}})
		}
		a := layoutOf(ms)
		b := randomLayout(r, 2, 6, 6)
		c, err := Compose(a, b)
		generic := map[string]int64{"p": 1009, "q": 1000003, "s": 1000000007}
		ca, errA := Compose(instance(t, a, generic), b)
		if err != nil {
			refused++
			require.Errorf(t, errA, "%s o %s is refused, but with numbers it is %s: %v", a, b, ca, err)
			continue
		}
		given++
		for range 3 {
			value := map[string]int64{"p": 1 + r.Int64N(50), "q": 1 + r.Int64N(50), "s": 1 + r.Int64N(50)}
			fa, _ := layoutFun(instance(t, a, value))
			fb, _ := layoutFun(b)
			fc, err := layoutFun(instance(t, c, value))
			require.NoError(t, err)
			require.NoError(t, compareFuns(fc, fun{fb.n, func(i int64) int64 { return fa.at(fb.at(i)) }}), "%s o %s = %s", a, b, c)
		}
	}
	t.Logf("%d given, %d refused", given, refused)
}

func randomLayout(r *rand.Rand, rank, extent, stride int) Layout {
	var ms []mode
	for range 1 + r.IntN(rank) {
		ms = append(ms, mode{sym.Int(1 + r.IntN(extent)), Step{Coef: sym.Int(r.IntN(stride))}})
	}
	return layoutOf(ms)
}

// TestSymbolicCeil: tiles of a matrix of unknown extents are where the definition puts them.
func TestSymbolicCeil(t *testing.T) {
	for _, text := range []string{"(M,K):(K,1)", "(M,K):(1,M)", "(M,K):(lda,1)", "(M,K):(1@0,1@1)"} {
		l := MustParse(text)
		c, err := ZippedDivideCeil(l, T(16, MustParse("(2,4):(1,2)")))
		require.NoError(t, err)
		require.True(t, c.Extent.Equal(l.Shape()))
		for _, v := range []map[string]int64{{"M": 40, "K": 24, "lda": 31}, {"M": 1, "K": 3, "lda": 5}, {"M": 48, "K": 8, "lda": 8}} {
			s, sl := instance(t, c.Layout, v), instance(t, l, v)
			nm, nk := ceilDiv(v["M"], 16), ceilDiv(v["K"], 8)
			require.True(t, s.Size().Is(16*8*nm*nk), s.String())
			for m := range nm * 16 {
				for k := range nk * 8 {
					got, err := s.AtArith(C(C(m%16, k%8), C(m/16, k/8)))
					require.NoError(t, err)
					want, err := sl.AtArith(C(m, k))
					require.NoError(t, err)
					require.True(t, got.Equal(want), "%s at (%d,%d): %s, want %s", s, m, k, got, want)
				}
			}
		}
	}
}

func TestSymbolicText(t *testing.T) {
	m := sym.New(&sym.Symbol{Name: "M", Lo: 1, Hi: sym.Unbounded, Multiple: 128})
	k := sym.New(&sym.Symbol{Name: "K", Lo: 1, Hi: sym.Unbounded, Multiple: 32})
	facts := MustLayout(S(m, k), D(k, 1))
	i := sym.New(&sym.Symbol{Name: "t", Class: sym.Thread, Lo: 0, Hi: 127})
	show := func(l Layout, err error) string {
		require.NoError(t, err)
		return l.String()
	}
	cover := func(c Cover, err error) string { return show(c.Layout, err) }
	for want, got := range map[string]string{
		"((128,32),(ceil_div(M,128),ceil_div(K,32))):((K,1),(128*K,32))":       cover(ZippedDivideCeil(MustParse("(M,K):(K,1)"), T(128, 32))),
		"((128,32),(ceil_div(M,128),ceil_div(K,32))):((1@0,1@1),(128@0,32@1))": cover(ZippedDivideCeil(MustParse("(M,K):(1@0,1@1)"), T(128, 32))),
		"((128,32),(M/128,K/32)):((K,1),(128*K,32))":                           show(ZippedDivide(facts, T(128, 32))),
		"((4,8),(2,2,2)):((32*K,K),(16*K,8*K,1))":                              show(Compose(MustParse("(128,32):(K,1)"), MustParse("((4,8),(2,2,2)):((32,1),(16,8,128))"))),
		"((4,8),(2,2,2)):((2@1,1@0),(1@1,8@0,8@1))":                            show(Compose(MustParse("(128,32):(1@0,1@1)"), MustParse("((4,8),(2,2,2)):((256,1),(128,8,1024))"))),
		"(8,4):(1,8)":                         show(Compose(MustLayout(S(m, k), D(1, 7)), MustParse("(8,4):(1,8)"))),
		"K*M:1":                               show(Coalesce(MustParse("(M,K):(1,M)"))),
		"(2,2):(3*ld,ld+1)":                   show(Compose(MustParse("(5,5):(ld,1)"), MustParse("4:3"))),
		"(M,K/8):(K/8,1)":                     show(Upcast(facts, 8)),
		"(K,M):(M,1)":                         show(RightInverse(MustParse("(M,K):(K,1)"))),
		"((8,16),(64,2)):((64,512),(1,8192))": show(TileToShape(MustParse("(8,64):(64,1)"), S(128, 128))),
		"((128,32),2):((K,1),32)":             slice(t, "((128,32),(3,2)):((K,1),(128*K,32))", C(Underscore, C(i, Underscore))),
		"1:1":                                 cover(UpcastCeil(MustParse("4:1"), 1024)),
	} {
		require.Equal(t, want, got)
	}
	for want, err := range map[string]error{
		"algebra: zipped_divide((M,K):(K,1), (128,32)): mode 0: the tile 128:1 must divide the extent M (state the fact M % 128 == 0, or use the Ceil form)":                                                        second(ZippedDivide(MustParse("(M,K):(K,1)"), T(128, 32))),
		"algebra: composition((M,N):(1,ld), 8:1): it is not known whether the 8 steps of 1 stay inside mode 0 of extent M (state the fact M % 8 == 0)":                                                              second(Compose(MustParse("(M,N):(1,ld)"), MustParse("8:1"))),
		"algebra: upcast((M,K):(K,1), 8): stride K is not known to be a multiple of 8 (state the fact K % 8 == 0)":                                                                                                  second(Upcast(MustParse("(M,K):(K,1)"), 8)),
		"algebra: composition((6,2):(1,100), (2,3):(3,2)): no layout expresses A∘B: coordinate 5 gives 7 where A(B(5)) is 101; first at coordinate 5: got 7, want 101 (1:3 for 2:3, or 2:2 for 3:2, would do)":      second(Compose(MustParse("(6,2):(1,100)"), MustParse("(2,3):(3,2)"))),
		"algebra: composition((4,6,8):(2,3,5), 6:3): no layout expresses A∘B: the values along 6:3, 0 6 7 8 9 15, are those of no layout; first at coordinate 2: got 3, want 7 (next to it 2:3, 6:2, 6:4 would do)": second(Compose(MustParse("(4,6,8):(2,3,5)"), MustParse("6:3"))),
	} {
		require.EqualError(t, err, want)
	}
}

func slice(t *testing.T, text string, c Coord) string {
	l, off, err := Slice(MustParse(text), c)
	require.NoError(t, err)
	require.Equal(t, "128*K*t", off.String())
	return l.String()
}

func second[T any](_ T, err error) error { return err }

// TestSymbolicIndex: a 1-D index that is a thread number is split by the nested shape.
func TestSymbolicIndex(t *testing.T) {
	i := sym.New(&sym.Symbol{Name: "t", Class: sym.Thread, Lo: 0, Hi: 127})
	for _, text := range []string{"((4,8),4):((128,7),1)", "Sw<3,3,3> o 0 o ((4,2),16):((64,256),4)", "(8,16):(16,1)", "Sw<2,1,-3> o 4 o 128:1"} {
		l := MustParse(text)
		e, err := l.AtIndex(i)
		require.NoError(t, err)
		for v := range int64(128) {
			got, err := e.Eval(func(*sym.Symbol) (int64, bool) { return v, true })
			require.NoError(t, err)
			require.Equal(t, l.AtInt(v), got, "%s at %d: %s", l, v, e)
		}
	}
}

// TestSymbolicOrder: facts order symbolic strides, and where one is missing the error names it.
func TestSymbolicOrder(t *testing.T) {
	for _, c := range []struct{ op, layout, want string }{
		{"left_inverse", "(M,K):(K,1)", "(K,M):(M,1)"},
		{"left_inverse", "(M,8,K):(8*K,K,1)", "(K,8,M):(8*M,M,1)"},
		{"complement", "(M,K):(2*K,1)", "2:K"},
		{"complement", "(M,K):(K,1)", "1:0"},
		{"complement", "M:1", "1:0"},
		{"complement", "(4,8):(1,4*K)", "K:4"},
		{"complement", "8:K", "K:1"},
		{"left_inverse", "(M,K):(L,1)", "state the fact L % K == 0"},
		{"complement", "(M,K):(L,1)", "state the fact L % K == 0"},
		{"left_inverse", "(M,K):(L,N)", "state the fact"},
		{"left_inverse", "(M,8):(K-9,1)", "state the fact K-9 >= 1"},
	} {
		got, err := call(c.op, []string{c.layout})
		if err != nil {
			got = err.Error()
		}
		require.Contains(t, got, c.want, "%s(%s)", c.op, c.layout)
	}
	l := MustParse("(M,8,K):(8*K,K,1)")
	inv, err := LeftInverse(l)
	require.NoError(t, err)
	value := map[string]int64{"M": 5, "K": 7}
	fl, fi := mustFn(instance(t, l, value)), mustFn(instance(t, inv, value))
	for i := range fl.n {
		require.Equal(t, i, fi.at(fl.at(i)))
	}
}
