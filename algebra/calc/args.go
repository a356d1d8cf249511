package calc

import (
	"fmt"
	"strings"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/algebra/sym"
)

// args are the evaluated arguments of one call. A getter that meets another kind of value records the error
// with its place and gives a zero value; the caller's result is dropped then.
type args struct {
	ev   *evaluator
	n    *node
	vals []Value
}

func (a *args) len() int { return len(a.vals) }

// ok reports whether every argument so far was of the right kind.
func (a *args) ok() bool { return a.ev.err == nil }

func (a *args) wrong(i int, want string) {
	a.ev.wrong(&a.n.sub[i], "argument %d of %s must be %s, but this is %s", i+1, a.n.text, want, describe(a.vals[i]))
}

func (a *args) layout(i int) algebra.Layout {
	switch v := a.vals[i].(type) {
	case algebra.Layout:
		return v
	case Cover:
		return v.Layout
	case Slice:
		if v.Offset.IsPlain() && v.Offset.Offset().Is(0) {
			return v.Layout
		}
	}
	a.wrong(i, "a layout")
	return algebra.Layout{}
}

func (a *args) isLayout(i int) bool {
	switch a.vals[i].(type) {
	case algebra.Layout, Cover:
		return true
	}
	return false
}

func (a *args) isSwizzle(i int) bool { _, ok := a.vals[i].(algebra.Swizzle); return ok }

func (a *args) shape(i int) algebra.Shape {
	s, ok := shapeOf(a.vals[i])
	if !ok {
		a.wrong(i, "a shape")
	}
	return s
}

// extents is the shape, or the shape of the layout, that stands at i. It refuses extents below 1.
func (a *args) extents(i int) algebra.Shape {
	var s algebra.Shape
	if a.isLayout(i) {
		s = a.layout(i).Shape()
	} else {
		s = a.shape(i)
	}
	for _, e := range s.Leaves() {
		if n, ok := e.IsConst(); ok && n < 1 && a.ok() {
			a.refuse("the extent %d must be at least 1", n)
		}
	}
	return s
}

// refuse says why the operation cannot be carried out.
func (a *args) refuse(format string, args ...any) {
	a.ev.refuse(&algebra.Error{Op: a.n.text, Args: a.texts(), Condition: fmt.Sprintf(format, args...)})
}

// fail takes the error of the operation's function, in the calculator's words: its name, its arguments and its ways out.
func (a *args) fail(err error) {
	e, ok := err.(*algebra.Error)
	if !ok {
		a.ev.refuse(err)
		return
	}
	out := *e
	out.Op, out.Args = a.n.text, a.texts()
	if strings.HasSuffix(out.Op, "_divide") || out.Op == "upcast" || out.Op == "recast_layout" {
		out.Hint = strings.ReplaceAll(out.Hint, "the Ceil form", "ceil_"+out.Op)
	}
	switch out.Hint {
	case "use Slice":
		out.Hint = "use slice_and_offset"
	case "use AtArith":
		out.Hint = ""
	}
	a.ev.refuse(&out)
}

func (a *args) stride(i int) algebra.Stride {
	d, ok := strideOf(a.vals[i])
	if !ok {
		a.wrong(i, "a stride")
	}
	return d
}

func (a *args) coord(i int) algebra.Coord {
	c, ok := coordOf(a.vals[i])
	if !ok {
		a.wrong(i, "a coordinate")
	}
	return c
}

func (a *args) tiler(i int) algebra.Tiler {
	t, ok := tilerOf(a.vals[i])
	if !ok {
		a.wrong(i, "a tiler: a layout, an integer, _ or a tuple of those")
	}
	return t
}

func (a *args) swizzle(i int) algebra.Swizzle {
	w, ok := a.vals[i].(algebra.Swizzle)
	if !ok {
		a.wrong(i, "a swizzle")
	}
	return w
}

func (a *args) expr(i int) sym.Expr {
	e, ok := asInt(a.vals[i])
	if !ok {
		a.wrong(i, "an integer")
	}
	return e
}

func (a *args) int64(i int) int64 {
	e, ok := asInt(a.vals[i])
	n, isConst := e.IsConst()
	if !ok || !isConst {
		a.wrong(i, "a constant integer")
	}
	return n
}

// maxSmall bounds integers that count modes.
const maxSmall = 1 << 16

func (a *args) int(i int) int {
	n := a.int64(i)
	if n < -maxSmall || n > maxSmall {
		a.wrong(i, "a mode number")
		return 0
	}
	return int(n)
}

func (a *args) ints(from int) []int {
	var out []int
	for i := from; i < len(a.vals); i++ {
		out = append(out, a.int(i))
	}
	return out
}

// give is the result of an operation that may have refused.
func give[T Value](a *args, v T, err error) Value {
	a.fail(err)
	return v
}

// call evaluates the arguments and carries out an operation, or applies a bound layout.
func (ev *evaluator) call(n *node) Value {
	a := args{ev: ev, n: n, vals: make([]Value, len(n.sub))}
	for i := range n.sub {
		a.vals[i] = ev.eval(&n.sub[i])
	}
	for i := range a.vals {
		ev.element(&n.sub[i], a.vals[i])
	}
	if ev.err != nil {
		return nil
	}
	op, known := table[n.text]
	if !known {
		op = operation{run: apply, means: "the value at a coordinate"}
	}
	v := op.run(&a)
	if ev.err == nil && beyond(v) {
		ev.refuse(&algebra.Error{Op: n.text, Args: a.texts(), Condition: "the result does not fit 63 bits, or is too large an expression"})
	}
	if ev.err == nil && ev.step != nil {
		ev.step(Step{n.text + "(" + strings.Join(a.texts(), ", ") + ")", v.String(), op.means})
	}
	return v
}

func (a *args) texts() []string {
	out := make([]string, len(a.vals))
	for i, x := range a.vals {
		out[i] = x.String()
	}
	return out
}

// apply is a bound layout at a coordinate: its value, or with an Underscore its slice.
func apply(a *args) Value {
	l, ok := single(a.ev.env[a.n.text]).(algebra.Layout)
	if !ok {
		return a.ev.wrong(a.n, "%s is not a layout, so it has no coordinates", a.n.text)
	}
	v := Value(Tuple(a.vals))
	if len(a.vals) == 1 {
		v = a.vals[0]
	}
	c, ok := coordOf(v)
	if !ok {
		return a.ev.wrong(a.n, "expected a coordinate, but this is %s", describe(v))
	}
	return sliced(a, c, l)
}
