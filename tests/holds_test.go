package tests

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/gen/cir"
)

// TestHolds decides conditions on extents, and none on values or on what is not known.
func TestHolds(t *testing.T) {
	n := sym.New(&sym.Symbol{Name: "N", Class: sym.Param, Hi: 100})
	is := func(op cir.CmpOp, v int) cir.Cond { return cir.Cmp{Op: op, X: n, Y: sym.Int(v)} }
	known := func(s *sym.Symbol) (int64, bool) { return 8, s.Name == "N" }
	for _, c := range []struct {
		cond cir.Cond
		want bool
	}{
		{nil, true}, {is(cir.LT, 8), false}, {is(cir.LE, 8), true}, {is(cir.EQ, 8), true}, {is(cir.NE, 8), false},
		{cir.And{}, true}, {cir.Or{}, false}, {cir.Not{X: is(cir.EQ, 8)}, false},
		{cir.And{is(cir.LT, 9), is(cir.NE, 8)}, false}, {cir.Or{is(cir.LT, 8), is(cir.LT, 9)}, true},
	} {
		got, err := cir.Holds(c.cond, known)
		require.NoError(t, err)
		require.Equal(t, c.want, got, "%v", c.cond)
	}
	_, err := cir.Holds(cir.ValCmp{}, known)
	require.ErrorContains(t, err, "expects a condition on integers, but got cir.ValCmp")
	_, err = cir.Holds(is(cir.LT, 1), func(*sym.Symbol) (int64, bool) { return 0, false })
	require.Error(t, err)
}
