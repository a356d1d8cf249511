package calc

import (
	"fmt"
	"strings"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/algebra/sym"
)

// Step is one operation that was carried out: its text with the arguments' values, its result, and what it means.
type Step struct{ Call, Result, Means string }

// Eval is the value of a text.
func Eval(text string) (Value, error) { return evaluate(text, nil) }

// Explain is Eval that calls step for each operation, innermost first, and for each binding.
func Explain(text string, step func(Step)) (Value, error) { return evaluate(text, step) }

func evaluate(text string, step func(Step)) (Value, error) {
	n, bad := parse(text)
	if bad != nil {
		return nil, bad
	}
	ev := evaluator{text: text, step: step}
	v := ev.eval(&n)
	if ev.err != nil {
		return nil, ev.err
	}
	return v, nil
}

// evaluator walks the tree; after the first error every value is nil.
type evaluator struct {
	text string
	env  map[string]Value
	step func(Step)
	err  error
}

// wrong is an error about what stands at a node: a value of the wrong kind.
func (ev *evaluator) wrong(n *node, format string, args ...any) Value {
	if ev.err == nil {
		ev.err = &SyntaxError{ev.text, n.pos, fmt.Sprintf(format, args...)}
	}
	return nil
}

// refuse takes the error of an operation.
func (ev *evaluator) refuse(err error) {
	if ev.err == nil && err != nil {
		ev.err = err
	}
}

// refuseNode refuses what a node that is no call stands for, with the texts of its operands.
func (ev *evaluator) refuseNode(n *node, op, format string, args ...any) {
	e := &algebra.Error{Op: op, Condition: fmt.Sprintf(format, args...)}
	for _, x := range n.sub {
		e.Args = append(e.Args, strings.TrimSpace(ev.text[min(x.pos, x.end):x.end]))
	}
	ev.refuse(e)
}

// signs name the operation of a node that has no text of its own.
var signs = map[kind]string{negate: "-", basis: "@", pair: ":", chain: "o"}

// eval is the value of a node.
func (ev *evaluator) eval(n *node) (v Value) {
	if ev.err != nil {
		return nil
	}
	switch n.kind {
	case number:
		v = sym.Int(n.num)
	case name:
		v = ev.lookup(n)
	case free:
		v = algebra.Underscore
	case tuple:
		v = ev.tuple(n)
	case call:
		v = ev.call(n)
	case pair:
		v = ev.pair(n)
	case binary:
		v = ev.binary(n)
	case negate:
		v = ev.negate(n)
	case basis:
		v = ev.basis(n)
	case chain:
		v = ev.chain(n)
	case swizzle:
		v = ev.swizzle(n)
	case binding:
		v = ev.bind(n)
	case program:
		v = ev.program(n)
	}
	if ev.err == nil && n.kind != tuple && n.kind != program && beyond(v) {
		ev.refuseNode(n, n.text+signs[n.kind], "the result does not fit 63 bits, or is too large an expression")
	}
	if ev.err != nil {
		return nil
	}
	return v
}

func (ev *evaluator) lookup(n *node) Value {
	if v, ok := ev.env[n.text]; ok {
		return v
	}
	return sym.New(&sym.Symbol{Name: n.text, Lo: 1, Hi: sym.Unbounded})
}

func (ev *evaluator) tuple(n *node) Value {
	t := make(Tuple, len(n.sub))
	for i := range n.sub {
		t[i] = ev.eval(&n.sub[i])
		ev.element(&n.sub[i], t[i])
	}
	return t
}

// element refuses a picture where it would be a part of another value, which has one line.
func (ev *evaluator) element(n *node, v Value) {
	if _, ok := v.(Picture); ok {
		ev.wrong(n, "a picture can be shown only: it is no argument, and no element of a tuple")
	}
}

func (ev *evaluator) program(n *node) (v Value) {
	for i := range n.sub {
		v = ev.eval(&n.sub[i])
	}
	return v
}

// maxValue bounds the text of a bound value, so that a short text cannot double it without end.
const maxValue = 1 << 16

func (ev *evaluator) bind(n *node) Value {
	v := ev.eval(&n.sub[0])
	if ev.err != nil {
		return nil
	}
	text := v.String()
	if len(text) > maxValue {
		ev.refuseNode(n, n.text+"=", "the value is longer than %d bytes", maxValue)
		return nil
	}
	if ev.env == nil {
		ev.env = map[string]Value{}
	}
	ev.env[n.text] = v
	if ev.step != nil {
		ev.step(Step{Call: n.text, Result: text})
	}
	return v
}

// integer evaluates what must be an integer. A parenthesis around a single one counts as it.
func (ev *evaluator) integer(n *node) sym.Expr {
	v := ev.eval(n)
	e, ok := asInt(v)
	if !ok && ev.err == nil {
		ev.wrong(n, "expected an integer, but this is %s", describe(v))
	}
	return e
}

func asInt(v Value) (sym.Expr, bool) {
	if t, ok := v.(Tuple); ok && len(t) == 1 {
		v = t[0]
	}
	if v == nil {
		return sym.Expr{}, false
	}
	e, ok := single(v).(sym.Expr)
	return e, ok
}

func (ev *evaluator) pair(n *node) Value {
	s, d := ev.eval(&n.sub[0]), ev.eval(&n.sub[1])
	if ev.err != nil {
		return nil
	}
	shape, ok := shapeOf(s)
	if !ok {
		return ev.wrong(&n.sub[0], "expected a shape, but this is %s", describe(s))
	}
	stride, ok := strideOf(d)
	if !ok {
		return ev.wrong(&n.sub[1], "expected a stride, but this is %s", describe(d))
	}
	l, err := algebra.NewLayout(shape, stride)
	ev.refuse(err)
	return l
}

// binary is a sum, product, quotient or remainder of integers, or a layout plus an offset.
func (ev *evaluator) binary(n *node) Value {
	x := ev.eval(&n.sub[0])
	if ev.err != nil {
		return nil
	}
	if v, ok := ev.moved(n, x); ok {
		return v
	}
	a, ok := asInt(x)
	if !ok {
		return ev.wrong(&n.sub[0], "expected an integer, but this is %s", describe(x))
	}
	b := ev.integer(&n.sub[1])
	if ev.err != nil {
		return nil
	}
	var r sym.Expr
	switch n.text {
	case "+":
		r, ok = a.AddOK(b)
	case "-":
		r, ok = a.SubOK(b)
	case "*":
		r, ok = a.MulOK(b)
	default:
		if lo, _ := b.Range(); lo < 1 {
			return ev.wrong(&n.sub[1], "the divisor %s must be positive", b)
		}
		if n.text == "/" {
			r = a.FloorDiv(b)
		} else {
			r = a.Mod(b)
		}
	}
	if !ok {
		ev.refuse(&algebra.Error{Op: n.text, Args: []string{a.String(), b.String()}, Condition: "the result does not fit 63 bits, or is too large an expression"})
	}
	return r
}

// moved is LAYOUT + OFFSET.
func (ev *evaluator) moved(n *node, x Value) (Value, bool) {
	l, isLayout := single(x).(algebra.Layout)
	if !isLayout || n.text != "+" {
		return nil, false
	}
	off := ev.eval(&n.sub[1])
	if ev.err != nil {
		return nil, true
	}
	if a, ok := off.(algebra.Arith); ok {
		return Slice{l, a}, true
	}
	e, ok := asInt(off)
	if !ok {
		return ev.wrong(&n.sub[1], "expected an offset, but this is %s", describe(off)), true
	}
	a, err := algebra.MustParse("1:1").AtArith(algebra.CoordOf(e))
	ev.refuse(err)
	return Slice{l, a}, true
}

func (ev *evaluator) negate(n *node) Value {
	e, ok := sym.Int(0).SubOK(ev.integer(&n.sub[0]))
	if !ok {
		ev.refuseNode(n, "-", "the result does not fit 63 bits")
	}
	return e
}

func (ev *evaluator) basis(n *node) Value {
	path := make([]int, len(n.sub)-1)
	for i := 1; i < len(n.sub); i++ {
		m, ok := ev.integer(&n.sub[i]).IsConst()
		if ev.err == nil && (!ok || m < 0 || m >= maxDepth) {
			ev.wrong(&n.sub[i], "expected a mode number from 0 to %d, for a basis such as 2@0 has a path of them", maxDepth-1)
		}
		path[len(path)-i] = int(m) // the innermost mode is written first
	}
	return algebra.E(path...).Times(ev.integer(&n.sub[0]))
}

func (ev *evaluator) swizzle(n *node) Value {
	var x [3]int
	for i := range x {
		m, ok := ev.integer(&n.sub[i]).IsConst()
		if ev.err == nil && (!ok || m < -64 || m > 64) {
			ev.wrong(&n.sub[i], "expected a constant from -64 to 64, as a swizzle has: Sw<B,M,S>")
		}
		x[i] = int(m)
	}
	if ev.err != nil {
		return nil
	}
	w := algebra.Swizzle{B: x[0], M: x[1], S: x[2]}
	if err := w.Err(); err != nil {
		ev.refuse(err)
	}
	return w
}

// chain composes from the right; Sw o OFFSET o LAYOUT is a swizzled layout.
func (ev *evaluator) chain(n *node) Value {
	vs := make([]Value, len(n.sub))
	for i := range n.sub {
		vs[i] = ev.eval(&n.sub[i])
	}
	if ev.err != nil {
		return nil
	}
	last := len(vs) - 1
	r := vs[last]
	for i := last - 1; i >= 0; i-- {
		off, isInt := asInt(vs[i])
		l, isLayout := single(r).(algebra.Layout)
		if isInt && isLayout && i > 0 {
			w, ok := vs[i-1].(algebra.Swizzle)
			if !ok {
				return ev.wrong(&n.sub[i], "an offset stands between a swizzle and a layout")
			}
			if l.IsSwizzled() {
				return ev.wrong(&n.sub[i], "the layout after an offset must not be swizzled")
			}
			l = l.WithSwizzle(w, off)
			ev.refuse(l.Err())
			r = l
			i--
			continue
		}
		if r = composition(&args{ev: ev, n: &node{pos: n.sub[i].pos, text: "composition", sub: n.sub[i : i+2]}, vals: []Value{vs[i], r}}); ev.err != nil {
			return nil
		}
	}
	return r
}
