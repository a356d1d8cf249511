package cuda_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
	"github.com/gocute/gocute/gen/cuda"
)

// valuesKernel is a kernel with one register array of each kind, to which values are added.
type valuesKernel struct {
	*testing.T
	k       *cir.Kernel
	regs    map[elem.Kind]*cir.Reg
	refused []string
}

// add prints a kernel with one more statement: Print accepts exactly what the C IR allows.
func (v *valuesKernel) add(allowed error, s cir.Stmt, what string, args ...any) {
	v.Helper()
	next := *v.k
	next.Body = append(next.Body[:len(next.Body):len(next.Body)], s)
	_, err := cuda.Print(&next, cuda.Options{})
	if allowed == nil {
		require.NoError(v, err, what, args)
		v.k.Body = next.Body
		return
	}
	require.ErrorContains(v, err, allowed.Error(), what, args)
	v.refused = append(v.refused, fmt.Sprintf(what, args...)+": "+allowed.Error())
}

// set adds a value of a kind.
func (v *valuesKernel) set(allowed error, to elem.Kind, x cir.Value, what string, args ...any) {
	v.Helper()
	v.add(allowed, cir.SetReg{Dst: ref(v.regs[to], c(1), 1), Value: x}, what, args...)
}

// operations adds everything that can be asked of a kind.
func (v *valuesKernel) operations(k elem.Kind) {
	x, y := cir.Value(elemOf(v.regs[k], c(0))), cir.Value(cir.Lit{Elem: k, V: 1})
	for to := elem.KF16; to < elem.KU128; to++ {
		v.set(cir.CanConvert(k, to), to, cir.Convert{To: to, X: x}, "%s to %s", k, to)
	}
	for op := cir.AddOp; op <= cir.MaxOp; op++ {
		v.set(cir.CanCompute(op, k), k, cir.Binary{Op: op, X: x, Y: y}, "%s %s", op, k)
	}
	for op := cir.NegOp; op <= cir.SigmoidOp; op++ {
		v.set(cir.CanCompute(op, k), k, cir.Unary{Op: op, X: x}, "%s %s", op, k)
	}
	one := cir.SetReg{Dst: ref(v.regs[elem.KF32], c(1), 1), Value: cir.Lit{Elem: elem.KF32, V: 1}}
	n := cir.IntValue{Elem: k, Expr: thread(32)}
	for op := cir.LT; op <= cir.NE; op++ {
		for _, y := range []cir.Value{y, n} {
			allowed := cir.CanCompute(op, k)
			if y == cir.Value(n) && allowed == nil {
				allowed = cir.CanCount(k)
			}
			v.add(allowed, cir.If{Cond: cir.ValCmp{Op: op, X: x, Y: y}, Then: []cir.Stmt{one}}, "%s %s %T", k, op, y)
		}
	}
	v.set(cir.CanCompute(cir.FMAOp, k), k, cir.FMA{X: x, Y: y, Z: x}, "fma %s", k)
	v.set(cir.CanCount(k), k, n, "int to %s", k)
	v.set(cir.CanCompute(cir.SelectOp, k), k, cir.Select{Cond: cir.Cmp{X: thread(32), Y: sym.Int(3)}, X: x, Y: y}, "select %s", k)
	for _, w := range []float64{0, -1, 1.5, math.Ldexp(1, k.Bits()-1), -math.Ldexp(1, k.Bits()-1), math.Ldexp(1, k.Bits()), math.Inf(1), math.NaN()} {
		v.set(cir.IsValue(k, w), k, cir.Lit{Elem: k, V: w}, "%v as %s", w, k)
	}
}

// TestValuesCompile prints every conversion and every operation of every kind. What the C IR allows is printed, and
// nvcc takes it; the rest is refused.
func TestValuesCompile(t *testing.T) {
	v := &valuesKernel{T: t, k: &cir.Kernel{Name: "values", Threads: 32}, regs: map[elem.Kind]*cir.Reg{}}
	var kinds []elem.Kind
	for k := elem.KF16; k < elem.KU128; k++ {
		kinds = append(kinds, k)
		n := max(1, 32/k.Bits()) * 2
		v.regs[k] = &cir.Reg{Name: "r_" + k.String(), Elem: k, Count: n}
		m := pointer("p_"+k.String(), k, true)
		v.k.Params = append(v.k.Params, m)
		v.k.Body = append(v.k.Body, cir.DeclReg{Reg: v.regs[k]},
			cir.Load{Dst: ref(v.regs[k], c(0), n), Src: cir.Addr{Mem: m.Mem, Index: cs(thread(32), n)}})
	}
	for _, k := range kinds {
		v.operations(k)
	}
	for i, k := range kinds {
		n := v.regs[k].Count
		v.k.Body = append(v.k.Body, cir.Store{Dst: cir.Addr{Mem: v.k.Params[i].Mem, Index: cs(thread(32), n)}, Src: ref(v.regs[k], c(0), n)})
	}
	golden(t, "refused_values.txt", []byte(strings.Join(v.refused, "\n")+"\n"))
	code, err := cuda.Print(v.k, cuda.Options{})
	require.NoError(t, err)
	golden(t, "values.cu", code)
	compile(t, "values", code, "")
}
