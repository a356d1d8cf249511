package dsl

import (
	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// Val is one value of the running kernel. Each operation rounds once, to E.
type Val[E elem.Any] struct {
	k *K
	v cir.Value // nil after a mistake
}

// Lit is a constant.
func Lit[E elem.Any](v float64) Val[E] { return Val[E]{v: cir.Lit{Elem: elem.KindOf[E](), V: v}} }

// ToVal converts an integer of the kernel to a value.
func ToVal[E elem.Any](e Expr) Val[E] {
	if e.err != nil {
		return Val[E]{k: e.k}
	}
	return Val[E]{k: e.k, v: cir.IntValue{Elem: elem.KindOf[E](), Expr: e.e}}
}

// To converts a value, rounding to nearest even; integers saturate.
func To[O, E elem.Any](v Val[E]) Val[O] {
	if v.v == nil {
		return Val[O]{k: v.k}
	}
	if elem.KindOf[O]() == v.v.Kind() {
		return Val[O](v)
	}
	return Val[O]{k: v.k, v: cir.Convert{To: elem.KindOf[O](), X: v.v}}
}

func (v Val[E]) binary(op cir.BinaryOp, w Val[E]) Val[E] {
	if v.v == nil || w.v == nil {
		return Val[E]{k: v.k}
	}
	return Val[E]{k: v.k, v: cir.Binary{Op: op, X: v.v, Y: w.v}}
}

// Add is v + w.
func (v Val[E]) Add(w Val[E]) Val[E] { return v.binary(cir.AddOp, w) }

// Sub is v - w.
func (v Val[E]) Sub(w Val[E]) Val[E] { return v.binary(cir.SubOp, w) }

// Mul is v * w.
func (v Val[E]) Mul(w Val[E]) Val[E] { return v.binary(cir.MulOp, w) }

// Div is v / w.
func (v Val[E]) Div(w Val[E]) Val[E] { return v.binary(cir.DivOp, w) }

// Min is the lesser of v and w.
func (v Val[E]) Min(w Val[E]) Val[E] { return v.binary(cir.MinOp, w) }

// Max is the greater of v and w.
func (v Val[E]) Max(w Val[E]) Val[E] { return v.binary(cir.MaxOp, w) }

// FMA is v*w + x, rounded once.
func (v Val[E]) FMA(w, x Val[E]) Val[E] {
	if v.v == nil || w.v == nil || x.v == nil {
		return Val[E]{k: v.k}
	}
	return Val[E]{k: v.k, v: cir.FMA{X: v.v, Y: w.v, Z: x.v}}
}

func (v Val[E]) unary(op cir.UnaryOp) Val[E] {
	if v.v == nil {
		return v
	}
	return Val[E]{k: v.k, v: cir.Unary{Op: op, X: v.v}}
}

// Neg is -v.
func (v Val[E]) Neg() Val[E] { return v.unary(cir.NegOp) }

// Abs is the magnitude of v.
func (v Val[E]) Abs() Val[E] { return v.unary(cir.AbsOp) }

// Sqrt is the square root of v.
func (v Val[E]) Sqrt() Val[E] { return v.unary(cir.SqrtOp) }

// Exp is e to the v.
func (v Val[E]) Exp() Val[E] { return v.unary(cir.ExpOp) }

// Tanh is the hyperbolic tangent of v.
func (v Val[E]) Tanh() Val[E] { return v.unary(cir.TanhOp) }

func (v Val[E]) cmp(op cir.CmpOp, w Val[E]) Cond {
	if v.v == nil || w.v == nil {
		return Cond{k: v.k, err: errReported}
	}
	return Cond{k: v.k, c: cir.ValCmp{Op: op, X: v.v, Y: w.v}}
}

// Lt is v < w.
func (v Val[E]) Lt(w Val[E]) Cond { return v.cmp(cir.LT, w) }

// Le is v <= w.
func (v Val[E]) Le(w Val[E]) Cond { return v.cmp(cir.LE, w) }

// Eq is v == w.
func (v Val[E]) Eq(w Val[E]) Cond { return v.cmp(cir.EQ, w) }

// Ne is v != w.
func (v Val[E]) Ne(w Val[E]) Cond { return v.cmp(cir.NE, w) }

// Select is yes where c holds, else no; only the chosen one is evaluated.
func Select[E elem.Any](c Cond, yes, no Val[E]) Val[E] {
	if c.err != nil || c.c == nil || yes.v == nil || no.v == nil {
		return Val[E]{k: yes.k}
	}
	return Val[E]{k: yes.k, v: cir.Select{Cond: c.c, X: yes.v, Y: no.v}}
}

// Store writes f(acc, old) to every element of out within its true extents, converted to out's type; old is
// out's own element, read only where f uses it.
func Store[E, O elem.Any](acc Tensor[Rmem, E], out Tensor[Gmem, O], f func(acc, old Val[E]) Val[E]) {
	if f == nil {
		mapInto[Rmem, Gmem, E, O]("Store", out, nil, acc)
		return
	}
	mapInto("Store", out, func(old Val[O], src Val[E]) Val[O] { return To[O](f(src, To[E](old))) }, acc)
}

// Map sets every element of dst to f of src's element at the same coordinate, converted to dst's type.
func Map[S, D Space, E, O elem.Any](src Tensor[S, E], dst Tensor[D, O], f func(Val[E]) Val[O]) {
	if f == nil {
		mapInto[S, D, E, O]("Map", dst, nil, src)
		return
	}
	mapInto("Map", dst, func(_ Val[O], v Val[E]) Val[O] { return f(v) }, src)
}

// Combine sets every element of dst to f of itself and of src's element at the same coordinate. Where dst is in
// global memory its own element is read only where f uses it.
func Combine[S, D Space, E, O elem.Any](dst Tensor[D, O], src Tensor[S, E], f func(old Val[O], v Val[E]) Val[O]) {
	mapInto("Combine", dst, f, src)
}

// Convert declares a fragment of type O with the values of src, rounded.
func Convert[O, E elem.Any](src Tensor[Rmem, E]) Tensor[Rmem, O] {
	out := Tensor[Rmem, O]{k: src.k}
	if together("Convert", origin(src)) == nil {
		return out
	}
	kind := elem.KindOf[O]()
	l, err := ir.FragmentLayout(src.t.Layout)
	if err == nil {
		out.t, err = src.k.registers(src.t.Name+"_"+kind.String(), src.t.Base, kind, l, src.t.Values)
	}
	if err != nil {
		src.k.errorf("Convert", "%v", err)
		out.t = nil
		return out
	}
	Map(src, out, func(v Val[E]) Val[O] { return To[O](v) })
	return out
}

func mapInto[S, D Space, E, O elem.Any](op string, dst Tensor[D, O], f func(old Val[O], v Val[E]) Val[O], src Tensor[S, E]) {
	k := together(op, origin(dst), origin(src))
	if k == nil || !k.function(op, f == nil) {
		return
	}
	if !k.usable(op, src.t, dst.t) || !k.knownAll(op, &src.t, &dst.t) {
		return
	}
	if err := ir.CheckMap(dst.t, src.t); err != nil {
		k.errorf(op, "%v", err)
		return
	}
	if dst.t.Storage.Param != nil && !dst.t.Storage.Param.Write {
		k.errorf(op, "expects an output, but %s was declared with In", dst.t.Storage.Name)
		return
	}
	apply := func(old cir.Value, srcs []cir.Value) cir.Value {
		return f(Val[O]{k: k, v: old}, Val[E]{k: k, v: srcs[0]}).v
	}
	zero := sym.Int(0) // a first call finds mistakes in f at the user's line
	probe := cir.RegElem{Ref: cir.RegRef{Reg: &cir.Reg{Elem: src.t.Elem}, Index: zero, Elems: 1}}
	old := cir.RegElem{Ref: cir.RegRef{Reg: &cir.Reg{Elem: dst.t.Elem}, Index: zero, Elems: 1}}
	value := apply(old, []cir.Value{probe})
	if value == nil {
		if len(k.kernel.errs) == 0 {
			k.errorf(op, "the function returned a value that was never set")
		}
		return
	}
	if !k.ownValues(op, value, probe.Ref.Reg, old.Ref.Reg) {
		return
	}
	if p := dst.t.Storage.Param; p != nil && !p.Read && reads(value, old.Ref.Reg) {
		k.errorf(op, "expects a tensor that may be read, since the function uses its old elements, but %s was declared with Out: declare it with InOut", p.Name)
		return
	}
	k.add(ir.MapOp{Pos: k.position(), Dst: dst.t, Srcs: []*ir.Tensor{src.t}, F: apply})
}

// reads reports whether a value depends on an element of reg.
func reads(v cir.Value, reg *cir.Reg) bool {
	found := false
	cir.WalkValue(v, func(v cir.Value) {
		if r, ok := v.(cir.RegElem); ok && r.Ref.Reg == reg {
			found = true
		}
	})
	return found
}
