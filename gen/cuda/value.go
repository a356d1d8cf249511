package cuda

import (
	"fmt"
	"strings"

	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// value prints an element-typed expression; an f16 is a half_t, a tf32 a float, elements smaller than a
// byte are ints.
func (p *printer) value(v cir.Value) text {
	if err := cir.Allowed(v); err != nil {
		p.fail("%w", err)
		return text{}
	}
	switch v := v.(type) {
	case cir.RegElem:
		return p.getElem(v.Ref)
	case cir.MemElem:
		return text{s: p.element(v.Addr, false), prec: precPrimary}
	case cir.Lit:
		return p.literal(v.Elem, v.V)
	case cir.ParamValue:
		return p.param(v)
	case cir.IntValue:
		return p.intValue(v)
	case cir.Binary:
		return p.binary(v)
	case cir.FMA:
		return p.fma(v)
	case cir.Unary:
		return p.unary(v)
	case cir.Convert:
		return p.convert(v.X.Kind(), v.To, p.value(v.X))
	case cir.Select:
		x, y := p.value(v.X), p.value(v.Y)
		return text{s: p.cond(v.Cond).at(precOr) + " ? " + x.at(precOr) + " : " + y.at(precOr)}
	}
	p.fail("no text for a %T", v)
	return text{}
}

// intValue rounds an integer to a floating-point kind and wraps it to an integer one.
func (p *printer) intValue(v cir.IntValue) text {
	x := p.expr(v.Expr)
	k := map[bool]elem.Kind{false: elem.KS32, true: elem.KS64}[x.wide]
	if v.Elem.IsFloat() || v.Elem == k {
		return p.convert(k, v.Elem, x)
	}
	if cut, ok := subByte[v.Elem]; ok {
		return text{s: fmt.Sprintf(cut, x.at(precUnary)), prec: precBits}
	}
	return text{s: "(" + p.memType(v.Elem) + ")" + x.at(precUnary), prec: precUnary}
}

// subByte cuts an integer to a kind narrower than a byte.
var subByte = map[elem.Kind]string{
	elem.KS4: "(int)((uint32_t)%s << 28) >> 28",
	elem.KU4: "(uint32_t)%s << 28 >> 28",
	elem.KB1: "(uint32_t)%s << 31 >> 31",
}

func (p *printer) param(v cir.ParamValue) text {
	if v.Param == nil || v.Param.Class != cir.Scalar || p.syms[v.Param.Name] == nil {
		p.fail("expected a scalar argument of the kernel")
		return text{}
	}
	return text{s: v.Param.Name, prec: precPrimary}
}

// arithmetic says how a kind computes: an operator, the name of a function, or "" for what is computed in
// f32 and rounded. That gives the correctly rounded result too, because f32 has more than twice the digits.
// What a kind cannot do (see cir.CanCompute) is never looked up. Products name their rounding so that nvcc does not contract them with a following sum.
type arithmetic struct {
	binary [6]string // by cir.BinaryOp: add, sub, mul, div, min, max
	unary  [6]string // by cir.UnaryOp: neg, abs, sqrt, exp, tanh, sigmoid
	fma    string
}

var (
	floatArithmetic = arithmetic{
		[6]string{"+", "-", "__fmul_rn", "/", "fminf", "fmaxf"},
		[6]string{"-", "fabsf", "sqrtf", "expf", "tanhf", "sigmoid_f32"}, "fmaf"}
	intArithmetic = arithmetic{
		[6]string{"+", "-", "*", "/", "min", "max"},
		[6]string{"-", "abs"}, ""}
)

var arithmetics = map[elem.Kind]arithmetic{
	elem.KF32:  floatArithmetic,
	elem.KTF32: floatArithmetic, // a whole float until Convert or an instruction drops its lowest bits
	elem.KF64: {
		[6]string{"+", "-", "__dmul_rn", "/", "fmin", "fmax"},
		[6]string{"-", "fabs", "sqrt", "exp", "tanh", "sigmoid_f64"}, "fma"},
	elem.KF16:  halfArithmetic("f16"),
	elem.KBF16: halfArithmetic("bf16"),
	elem.KS32:  intArithmetic,
	elem.KU32:  intArithmetic,
	elem.KS64:  intArithmetic,
	elem.KU64:  intArithmetic,
	elem.KS16:  intArithmetic,
	elem.KU16:  intArithmetic,
	elem.KS8:   intArithmetic,
	elem.KU8:   intArithmetic,
}

var operators = map[string]prec{"+": precAdd, "-": precAdd, "*": precMul, "/": precMul}

// arith looks up how a kind computes.
func (p *printer) arith(k elem.Kind) (arithmetic, bool) {
	a, ok := arithmetics[k]
	if !ok {
		p.fail("no arithmetic for kind %s", k)
	}
	return a, ok
}

func (p *printer) binary(v cir.Binary) text {
	k := v.X.Kind()
	x, y := p.value(v.X), p.value(v.Y)
	a, ok := p.arith(k)
	if !ok {
		return text{}
	}
	f := a.binary[v.Op]
	if f == "" {
		a, in := arithmetics[elem.KF32], elem.KF32
		return p.convert(in, k, infix(a.binary[v.Op], p.convert(k, in, x), p.convert(k, in, y)))
	}
	p.use.helper(f)
	return p.wrapped(k, infix(f, x, y))
}

// infix applies an operator or a function to two texts.
func infix(f string, x, y text) text {
	if pr, ok := operators[f]; ok {
		return text{s: fmt.Sprintf("%s %s %s", x.at(pr), f, y.at(pr+1)), prec: pr}
	}
	return call(f, x, y)
}

func call(f string, args ...text) text {
	parts := make([]string, len(args))
	for i, a := range args {
		parts[i] = a.s
	}
	return text{s: f + "(" + strings.Join(parts, ", ") + ")", prec: precPrimary}
}

// wrapped cuts the result of an operation on narrow integers, which C computes as int, to its kind.
func (p *printer) wrapped(k elem.Kind, t text) text {
	if !k.IsFloat() && k.Bits() < 32 {
		return text{s: "(" + p.memType(k) + ")" + t.at(precUnary), prec: precUnary}
	}
	return t
}

func (p *printer) fma(v cir.FMA) text {
	k := v.X.Kind()
	x, y, z := p.value(v.X), p.value(v.Y), p.value(v.Z)
	a, ok := p.arith(k)
	switch {
	case !ok:
		return text{}
	case !k.IsFloat():
		return p.wrapped(k, infix("+", infix("*", x, y), z))
	}
	p.use.helper(a.fma)
	return call(a.fma, x, y, z)
}

func (p *printer) unary(v cir.Unary) text {
	k := v.X.Kind()
	x := p.value(v.X)
	a, ok := p.arith(k)
	if !ok {
		return text{}
	}
	f := a.unary[v.Op]
	switch {
	case f == "":
		in := elem.KF32
		f = arithmetics[in].unary[v.Op]
		p.use.helper(f)
		return p.convert(in, k, prefix(f, p.convert(k, in, x)))
	}
	p.use.helper(f)
	return p.wrapped(k, prefix(f, x))
}

func prefix(f string, x text) text {
	if f == "-" {
		return text{s: "-" + x.at(precPrimary), prec: precUnary}
	}
	return call(f, x)
}

// compareValues compares as C does, halves as floats: every comparison with a NaN is false, except !=.
func (p *printer) compareValues(c cir.ValCmp) text {
	if err := cir.AllowedCmp(c); err != nil {
		p.fail("%w", err)
		return text{}
	}
	x, y, k := p.value(c.X), p.value(c.Y), c.X.Kind()
	if k == elem.KF16 || k == elem.KBF16 {
		x, y = p.convert(k, elem.KF32, x), p.convert(k, elem.KF32, y)
	}
	return text{s: x.at(precAdd) + " " + c.Op.String() + " " + y.at(precAdd), prec: precCompare}
}
