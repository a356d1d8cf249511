package golaunch

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/gen/cir"
)

// random makes an expression that is never negative, so that it prints as plain Go.
func random(r *rand.Rand, syms []sym.Expr, depth int) sym.Expr {
	if depth == 0 {
		if r.IntN(3) == 0 {
			return sym.Int(r.IntN(20))
		}
		return syms[r.IntN(len(syms))]
	}
	a, b := random(r, syms, depth-1), random(r, syms, depth-1)
	switch r.IntN(9) {
	case 0, 1:
		return a.Add(b)
	case 2:
		return a.Mul(b)
	case 3:
		return a.FloorDiv(b.Add(sym.Int(1 + r.IntN(9))))
	case 4:
		return a.Mod(b.Add(sym.Int(1 + r.IntN(9))))
	case 5:
		return a.CeilDiv(sym.Int(1 + r.IntN(9)))
	case 6:
		return a.Xor(b)
	case 7:
		return a.Max(b).Sub(a.Min(b))
	default:
		return a.Min(b)
	}
}

// The printed Go has the value of the expression, as Go's own evaluator of constants sees it.
func TestPrintedValues(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var params []*cir.Param
	var syms []sym.Expr
	for _, name := range []string{"M", "N", "K"} {
		p, e := dim(name, 0, 100, 1)
		params, syms = append(params, p), append(syms, e)
	}
	p := &printer{names: nameParams(params)}
	plain := 0
	for range 3000 {
		e := random(r, syms, 1+r.IntN(4))
		pkg, values := types.NewPackage("x", "x"), map[string]int64{}
		for _, q := range params {
			values[q.Name] = int64(r.IntN(101))
			pkg.Scope().Insert(types.NewConst(token.NoPos, pkg, q.Name, types.Typ[types.UntypedInt], constant.MakeInt64(values[q.Name])))
		}
		want, err := e.Eval(func(s *sym.Symbol) (int64, bool) { return values[s.Name], true })
		require.NoError(t, err)
		var text string
		if p.using(func() { text = fmt.Sprintf("%#v", p.expr(e).Statement) }) {
			continue // a range that cannot prove what is true
		}
		plain++
		got, err := types.Eval(token.NewFileSet(), pkg, token.NoPos, text)
		require.NoError(t, err, text)
		require.Equal(t, fmt.Sprint(want), got.Value.ExactString(), "%s printed as %s for %v", e, text, values)
		cond := fmt.Sprintf("%#v", p.cond(opposite(cir.Cmp{Op: cir.LT, X: e, Y: sym.Int(50)})).Statement)
		got, err = types.Eval(token.NewFileSet(), pkg, token.NoPos, cond)
		require.NoError(t, err, cond)
		require.Equal(t, want >= 50, constant.BoolVal(got.Value), cond)
	}
	require.NoError(t, p.err)
	require.Greater(t, plain, 1500)
}
