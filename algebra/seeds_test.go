package algebra

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTutorialSteps: the layouts of CuTe tutorials on tiled copies and retiling, step by step.
func TestTutorialSteps(t *testing.T) {
	is := func(want string) func(l Layout, err error) Layout {
		return func(l Layout, err error) Layout {
			t.Helper()
			require.NoError(t, err)
			require.Equal(t, want, l.String())
			return l
		}
	}
	thr, val := MustParse("(4,8):(8,1)"), MustParse("(1,4):(4,1)")
	prod := is("((4,8),(1,4)):((8,1),(128,32))")(LogicalProduct(thr, TileBy(val)))
	zipped := is("((1,4),(4,8)):((128,8),(32,1))")(ZipPair(prod.Mode(1), prod.Mode(0)))
	raked := is("((1,4),(4,8)):((128,8),(32,1))")(RakedProduct(thr, val))
	require.True(t, zipped.Equal(raked))
	is("(16,8):(8,1)")(Coalesce(raked))
	inv := is("(8,16):(16,1)")(RightInverse(raked))
	tv := is("((8,4),4):((16,1),4)")(WithShape(inv, S(32, 4)))

	// a TV layout of the whole tile, cut into copy atoms of one thread and four values
	cut := is("((1,4),((8,4),1)):((0,4),((16,1),0))")(ZippedDivide(tv, T(1, 4)))
	ref2trg := MustParse("(1,4):(0,1)")
	cut = is("((1,4),((8,4),1)):((0,4),((16,1),0))")(ComposeTiler(cut, T(ref2trg, Underscore)))
	z := is("((1,(8,4)),(4,1)):((0,(16,1)),(4,0))")(Zip(cut))
	is("((8,4),(4,1)):((16,1),(4,0))")(CoalesceBy(z, S(1, S(1, 1))))
	is("((8,4),(4,1)):((16,1),(4,0))")(CoalesceBy(z, S(7, S(7, 7))))
	is("((8,4),4):((16,1),4)")(CoalesceBy(z, S(1, 1)))
	is("(8,16):(16,1)")(Coalesce(z))

	// retile: where the values of a fragment lie in the copy's order
	mk := MustParse("((8,2,2),(2,4,2)):((4,256,32),(128,1,512))")
	h, err := UpcastCeil(mk, 1024)
	is("((1,1,1),(1,1,1)):((1,1,1),(1,1,1))")(h.Layout, err)
	h, err = UpcastCeil(mk, 512)
	require.NoError(t, err)
	require.Equal(t, "(1,2)", ProductEach(h.Shape()).String())
	for text, want := range map[string]string{"8:4": "1:1", "2:256": "1:1", "2:32": "1:1", "2:128": "1:1", "4:1": "1:1", "2:512": "1:1"} {
		u, err := UpcastCeil(MustParse(text), 1024)
		is(want)(u.Layout, err)
	}
	is("1:1")(Upcast(MustParse("8:1"), 8))
	is("2:1")(Upcast(MustParse("4:1"), 2))
	frg := is("2:1")(RightInverse(MustParse("(1,(1,1,2)):(1,(1,1,1))")))
	p := is("(4,2):(1,4)")(LogicalProduct(MustParse("4:1"), TileBy(frg)))
	v := is("(8,1):(1,0)")(ZippedDivide(p, TileBy(MustParse("8:1"))))
	tt := is("((4,1,2),(1,4,1)):((1,0,4),(0,8,0))")(ZippedDivide(MustParse("(4,4,2):(1,8,4)"), T(4, 1, 2)))
	is("((8,1),(1,4,1)):((1,0),(0,8,0))")(ComposeTiler(tt, T(v, Underscore)))
	is("(2,4):(1,2)")(ZippedDivide(MustParse("((2,2,2),1,1):((1,2,4),0,0)"), TileBy(MustParse("2:1"))))
	is("((2,4),1,1):((1,2),0,0)")(LogicalDivide(MustParse("((2,2,2),1,1):((1,2,4),0,0)"), T(MustParse("2:1"))))
	is("((4,32),(1,1)):((32,1),(0,0))")(ZippedDivide(MustParse("(4,32):(32,1)"), T(4, 32)))
	is("((4,1,1),(1,1,1)):((1,0,0),(0,0,0))")(ZippedDivide(MustParse("((2,2),1,1):((1,2),0,0)"), T(4, 1, 1)))
}

// TestSwizzledOps: what the golden rows do not cover of swizzled layouts.
func TestSwizzledOps(t *testing.T) {
	w := MustParse("Sw<3,3,3> o 0 o (8,64):(64,1)")
	l, err := Complement(w, Extent(1024))
	require.NoError(t, err)
	require.Equal(t, "2:512", l.String())
	_, err = Complement(MustParse("Sw<1,0,1> o 0 o 2:2"), Extent(4)) // offsets 0 and 3
	require.Error(t, err)

	n, err := MaxCommonVector(w, w)
	require.NoError(t, err)
	require.EqualValues(t, 512, n)
	l, err = MaxCommonLayout(w, w)
	require.NoError(t, err)
	for i := range int64(512) {
		require.Equal(t, i, w.AtInt(l.AtInt(i)))
	}
	n, err = MaxCommonVector(w, MustParse("Sw<2,3,3> o 0 o (8,64):(64,1)"))
	require.NoError(t, err)
	require.EqualValues(t, 8, n)

	_, err = RightInverse(MustParse("Sw<3,3,3> o 8 o (8,64):(64,1)"))
	require.Error(t, err)
	_, err = ComposeSwizzle(Swizzle{2, 0, 3}, Swizzle{2, 3, 3})
	require.Error(t, err)
}
