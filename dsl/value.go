package dsl

import (
	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// Val is one value of the running kernel. Each operation rounds once, to E. What elements of E cannot do is an error
// where the value is used, at the line of the operation.
type Val[E elem.Any] struct {
	k   *K // nil for constants
	v   cir.Value
	err error // a mistake in making it; v is nil then
}

func (Val[E]) data() {}

// data is a Val of any type.
type data interface{ data() }

// Lit is a constant. Integer types must hold it; floating-point types round it.
func Lit[E elem.Any](v float64) Val[E] {
	return Val[E](made("Lit", cir.Lit{Elem: elem.KindOf[E](), V: v}))
}

// ToVal converts an integer of the kernel to a value: rounded, or wrapped to an integer type.
func ToVal[E elem.Any](i Integer) Val[E] {
	x, err := toExpr(i)
	e, _ := exprOf(i)
	if err != nil {
		return Val[E]{k: e.k, err: wrong("ToVal", err)}
	}
	out := made("ToVal", cir.IntValue{Elem: elem.KindOf[E](), Expr: x})
	out.k = e.k
	return Val[E](out)
}

// To converts a value, rounding to nearest even; integers saturate. Of a NaN they become 0 if both types have fewer
// than 64 bits, else what the chip gives: the least value of s32, s64 and narrower signed types, 1<<31 of u32,
// 1<<63 of u64, and 0 of narrower unsigned types.
func To[O, E elem.Any](v Val[E]) Val[O] { return convert[O]("To", v) }

func convert[O, E elem.Any](op string, v Val[E]) Val[O] {
	if elem.KindOf[O]() == elem.KindOf[E]() {
		return Val[O](v)
	}
	return Val[O](made(op, cir.Convert{To: elem.KindOf[O](), X: v.v}, operand(v)))
}

func (v Val[E]) binary(op string, o cir.BinaryOp, w Val[E]) Val[E] {
	return Val[E](made(op, cir.Binary{Op: o, X: v.v, Y: w.v}, operand(v), operand(w)))
}

// Add is v + w.
func (v Val[E]) Add(w Val[E]) Val[E] { return v.binary("Add", cir.AddOp, w) }

// Sub is v - w.
func (v Val[E]) Sub(w Val[E]) Val[E] { return v.binary("Sub", cir.SubOp, w) }

// Mul is v * w.
func (v Val[E]) Mul(w Val[E]) Val[E] { return v.binary("Mul", cir.MulOp, w) }

// Div is v / w.
func (v Val[E]) Div(w Val[E]) Val[E] { return v.binary("Div", cir.DivOp, w) }

// Min is the lesser of v and w.
func (v Val[E]) Min(w Val[E]) Val[E] { return v.binary("Min", cir.MinOp, w) }

// Max is the greater of v and w.
func (v Val[E]) Max(w Val[E]) Val[E] { return v.binary("Max", cir.MaxOp, w) }

// FMA is v*w + x, rounded once.
func (v Val[E]) FMA(w, x Val[E]) Val[E] {
	return Val[E](made("FMA", cir.FMA{X: v.v, Y: w.v, Z: x.v}, operand(v), operand(w), operand(x)))
}

func (v Val[E]) unary(op string, o cir.UnaryOp) Val[E] {
	return Val[E](made(op, cir.Unary{Op: o, X: v.v}, operand(v)))
}

// Neg is -v.
func (v Val[E]) Neg() Val[E] { return v.unary("Neg", cir.NegOp) }

// Abs is the magnitude of v.
func (v Val[E]) Abs() Val[E] { return v.unary("Abs", cir.AbsOp) }

// Sqrt is the square root of v.
func (v Val[E]) Sqrt() Val[E] { return v.unary("Sqrt", cir.SqrtOp) }

// Exp is e to the v.
func (v Val[E]) Exp() Val[E] { return v.unary("Exp", cir.ExpOp) }

// Tanh is the hyperbolic tangent of v.
func (v Val[E]) Tanh() Val[E] { return v.unary("Tanh", cir.TanhOp) }

// Sigmoid is the logistic function of v, 1/(1 + e to the -v). Of f32 it is four instructions, fewer than Exp or
// Div alone, and errs by at most 2^-21 + |v|*2^-23 of itself, where those err by 2^-22; it is 0 where it is less than 2^-126.
func (v Val[E]) Sigmoid() Val[E] { return v.unary("Sigmoid", cir.SigmoidOp) }

func (v Val[E]) cmp(op string, o cir.CmpOp, w Val[E]) Cond {
	k, err := join(op, operand(v), operand(w))
	c := cir.ValCmp{Op: o, X: v.v, Y: w.v}
	if err == nil {
		err = wrong(op, cir.AllowedCmp(c))
	}
	if err != nil {
		return Cond{k: k, err: err}
	}
	return Cond{k: k, c: c}
}

// Lt is v < w.
func (v Val[E]) Lt(w Val[E]) Cond { return v.cmp("Lt", cir.LT, w) }

// Le is v <= w.
func (v Val[E]) Le(w Val[E]) Cond { return v.cmp("Le", cir.LE, w) }

// Eq is v == w.
func (v Val[E]) Eq(w Val[E]) Cond { return v.cmp("Eq", cir.EQ, w) }

// Ne is v != w.
func (v Val[E]) Ne(w Val[E]) Cond { return v.cmp("Ne", cir.NE, w) }

// Select is yes where c holds, else no; only the chosen one is evaluated.
func Select[E elem.Any](c Cond, yes, no Val[E]) Val[E] {
	if err := c.mistake(); err != nil {
		return Val[E]{k: c.k, err: wrong("Select", err)}
	}
	return Val[E](made("Select", cir.Select{Cond: c.c, X: yes.v, Y: no.v}, operand(yes), operand(no)))
}

// Store writes f(acc, old) to every element of out within its true extents, converted to out's type; old is
// out's own element, read only where f uses it.
func Store[E, O elem.Any](acc Tensor[Rmem, E], out Tensor[Gmem, O], f func(acc, old Val[E]) Val[E]) {
	if f == nil {
		mapInto[Rmem, Gmem, E, O]("Store", out, nil, acc)
		return
	}
	mapInto("Store", out, func(old Val[O], src Val[E]) Val[O] { return convert[O]("Store", f(src, convert[E]("Store", old))) }, acc)
}

// Map sets every element of dst to f of src's element at the same coordinate, converted to dst's type.
func Map[S, D Space, E, O elem.Any](src Tensor[S, E], dst Tensor[D, O], f func(Val[E]) Val[O]) {
	mapOf("Map", dst, f, src)
}

func mapOf[S, D Space, E, O elem.Any](op string, dst Tensor[D, O], f func(Val[E]) Val[O], src Tensor[S, E]) {
	if f == nil {
		mapInto[S, D, E, O](op, dst, nil, src)
		return
	}
	mapInto(op, dst, func(_ Val[O], v Val[E]) Val[O] { return f(v) }, src)
}

// Combine sets every element of dst to f of itself and of src's element at the same coordinate. Where dst is in
// global memory its own element is read only where f uses it.
func Combine[S, D Space, E, O elem.Any](dst Tensor[D, O], src Tensor[S, E], f func(old Val[O], v Val[E]) Val[O]) {
	mapInto("Combine", dst, f, src)
}

// Convert declares a fragment of type O with the values of src, rounded.
func Convert[O, E elem.Any](src Tensor[Rmem, E]) Tensor[Rmem, O] {
	return mapped("Convert", src, func(v Val[E]) Val[O] { return convert[O]("Convert", v) })
}

// Mapped declares a fragment of type O with f of src's elements: one step where Convert and a Map of it are two.
func Mapped[O, E elem.Any](src Tensor[Rmem, E], f func(Val[E]) Val[O]) Tensor[Rmem, O] {
	return mapped("Mapped", src, f)
}

func mapped[O, E elem.Any](op string, src Tensor[Rmem, E], f func(Val[E]) Val[O]) Tensor[Rmem, O] {
	out := fragmentAs[O](op, src)
	if out.t != nil {
		mapOf(op, out, f, src)
	}
	return out
}

// FragmentAs declares registers for elements of type O at src's coordinates: make_fragment_like<O>. It has no values yet.
func FragmentAs[O, E elem.Any](src Tensor[Rmem, E]) Tensor[Rmem, O] {
	return fragmentAs[O]("FragmentAs", src)
}

func fragmentAs[O, E elem.Any](op string, src Tensor[Rmem, E]) Tensor[Rmem, O] {
	out := Tensor[Rmem, O]{k: src.k}
	if together(op, origin(src)) == nil {
		return out
	}
	kind := elem.KindOf[O]()
	l, err := ir.FragmentLayout(src.t.Layout)
	if err == nil {
		out.t, err = src.k.registers(src.t.Name+"_"+kind.String(), src.t.Base, kind, l, src.t.Values)
	}
	if err != nil {
		src.k.errorf(op, "%v", err)
		out.t = nil
	}
	return out
}

func mapInto[S, D Space, E, O elem.Any](op string, dst Tensor[D, O], f func(old Val[O], v Val[E]) Val[O], src Tensor[S, E]) {
	if f == nil {
		transform[S, D, E, O](op, dst, nil, src)
		return
	}
	transform(op, dst, func(old Val[O], vs []Val[E]) Val[O] { return f(old, vs[0]) }, src)
}

// Transform sets every element of dst to f of itself and of the elements of srcs at the same coordinate.
func Transform[S, D Space, E, O elem.Any](dst Tensor[D, O], f func(old Val[O], vs []Val[E]) Val[O], srcs ...Tensor[S, E]) {
	transform("Transform", dst, f, srcs...)
}

func transform[S, D Space, E, O elem.Any](op string, dst Tensor[D, O], f func(old Val[O], vs []Val[E]) Val[O], srcs ...Tensor[S, E]) {
	origins, sts := []origin{origin(dst)}, []*ir.Tensor{}
	for _, s := range srcs {
		origins = append(origins, origin(s))
	}
	k := together(op, origins...)
	if k == nil || !k.function(op, f == nil) {
		return
	}
	dt := dst.t
	for _, s := range srcs {
		st := s.t
		if !k.mappable(op, dt, st) || !k.knownAll(op, &st) {
			return
		}
		sts = append(sts, st)
	}
	if !k.mappable(op, dt) || !k.knownAll(op, &dt) {
		return
	}
	for _, st := range sts {
		if err := ir.CheckMap(dt, st); err != nil {
			k.errorf(op, "%v", err)
			return
		}
	}
	apply := func(old cir.Value, srcs []cir.Value) operand {
		vs := make([]Val[E], len(srcs))
		for i, v := range srcs {
			vs[i] = Val[E]{k: k, v: v}
		}
		return operand(f(Val[O]{k: k, v: old}, vs))
	}
	old := oneElem(dt.Elem) // a first call finds mistakes in f at the user's line
	own, probes := []*cir.Reg{old.Ref.Reg}, []cir.Value{}
	for _, st := range sts {
		probe := oneElem(st.Elem)
		own, probes = append(own, probe.Ref.Reg), append(probes, probe)
	}
	value := apply(old, probes)
	if !k.computed(op, value, own...) {
		return
	}
	if p := dt.Storage.Param; p != nil && !p.Read && reads(value.v, old.Ref.Reg) {
		k.errorf(op, "expects a tensor that may be read, since the function uses its old elements, but %s was declared with Out: declare it with InOut", p.Name)
		return
	}
	k.add(ir.MapOp{Pos: k.position(), Dst: dt, Srcs: sts,
		F: func(old cir.Value, srcs []cir.Value) cir.Value { return apply(old, srcs).v }})
}

// oneElem stands for an element of a view.
func oneElem(k elem.Kind) cir.RegElem {
	return cir.RegElem{Ref: cir.RegRef{Reg: &cir.Reg{Elem: k}, Index: sym.Int(0), Elems: 1}}
}

// mappable checks that the elements of the views can be read and written one by one.
func (k *K) mappable(op string, dst *ir.Tensor, srcs ...*ir.Tensor) bool {
	all := append(srcs, dst)
	if !k.usable(op, all...) {
		return false
	}
	if dst.Storage.Param != nil && !dst.Storage.Param.Write {
		k.errorf(op, "expects an output, but %s was declared with In", dst.Storage.Name)
		return false
	}
	for _, t := range all {
		can := cir.CanAddress
		if t.Storage.Space == ir.Register {
			can = cir.CanHold
		}
		if err := can(t.Elem); err != nil {
			k.errorf(op, "%v", err)
			return false
		}
	}
	return true
}

// computed reports what is wrong with the value that an element function returned.
func (k *K) computed(op string, x operand, own ...*cir.Reg) bool {
	switch {
	case x.err != nil:
		k.errorf(op, "%v", x.err)
	case x.v == nil:
		k.errorf(op, "the function returned a value that was never set")
	case x.k != nil && x.k != k:
		k.errorf(op, "expects a value of this kernel, but got one of kernel %s", x.k.kernel.ir.Name)
	default:
		return k.ownValues(op, x.v, own...)
	}
	return false
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
