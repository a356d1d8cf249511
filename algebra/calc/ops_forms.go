package calc

import (
	"slices"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/algebra/sym"
)

var forms = map[string]operation{
	"coalesce":     optionalProfile("the same function with as few modes as can be", algebra.Coalesce, algebra.CoalesceBy),
	"filter":       optionalProfile("coalesced, without stride 0 and extent 1", algebra.Filter, algebra.FilterBy),
	"filter_zeros": optionalProfile("extent 1 wherever the stride (or the profile) is 0", algebra.FilterZeros, algebra.FilterZerosBy),
	"flatten": {"layout or tuple", 1, 1, "without nesting", func(a *args) Value {
		if !a.isLayout(0) {
			s, ok := shapeOf(a.vals[0])
			if d, isStride := strideOf(a.vals[0]); !ok && isStride {
				return d.Flatten()
			}
			if !ok {
				a.wrong(0, "a layout or a tuple")
			}
			return s.Flatten()
		}
		r, err := algebra.Flatten(a.layout(0))
		return give(a, r, err)
	}},
	"unflatten":           withShape("layout, profile", "nested as the profile is", algebra.Unflatten),
	"make_layout":         {"shape | shape, stride | shape, LayoutRight | layouts…", 1, many, "a layout of a shape, or of layouts as modes", makeLayout},
	"make_ordered_layout": {"shape, order", 2, 2, "the compact layout in which the least order number varies fastest", ordered},
	"compact_order": {"shape, order", 2, 2, "the strides of make_ordered_layout", func(a *args) Value {
		l, ok := ordered(a).(algebra.Layout)
		if !ok || !a.ok() {
			return nil
		}
		return l.Stride()
	}},
	"make_identity_layout": {"shape", 1, 1, "every coordinate to itself", func(a *args) Value {
		l := algebra.Identity(a.extents(0))
		return give(a, l, l.Err())
	}},
	"make_shape": tupled, "make_stride": tupled, "make_coord": tupled, "make_tile": tupled, "make_tuple": tupled, "make_tiler": tupled,
	"print_layout": {"layout", 1, 1, "a layout as a grid", func(a *args) Value {
		l := a.layout(0)
		if !a.ok() {
			return nil
		}
		text, err := algebra.Grid(l)
		return give(a, Picture(text), err)
	}},
	"print_tv": {"tv layout, tile", 2, 2, "threads and values on the tile, as a grid of T/V", func(a *args) Value {
		l, s := a.layout(0), a.shape(1)
		if !a.ok() {
			return nil
		}
		text, err := algebra.GridTV(l, s)
		return give(a, Picture(text), err)
	}},
}

var tupled = operation{"entries…", 1, many, "a tuple", func(a *args) Value { return Tuple(a.vals) }}

func ordered(a *args) Value {
	s, o := a.extents(0), a.shape(1)
	if !a.ok() {
		return nil
	}
	r, err := algebra.Ordered(s, o)
	return give(a, r, err)
}

// orders are the words that name a compact order.
var orders = map[string]func(algebra.Shape) algebra.Layout{
	"LayoutLeft": algebra.Compact, "GenColMajor": algebra.Compact,
	"LayoutRight": algebra.CompactRight, "GenRowMajor": algebra.CompactRight,
}

func makeLayout(a *args) Value {
	if a.isLayout(0) {
		ls := make([]algebra.Layout, a.len())
		for i := range ls {
			ls[i] = a.layout(i)
			if a.ok() {
				a.extents(i)
			}
		}
		if !a.ok() {
			return nil
		}
		r := algebra.Make(ls...)
		return give(a, r, r.Err())
	}
	s := a.extents(0)
	if !a.ok() {
		return nil
	}
	compact := algebra.Compact
	switch a.len() {
	case 1:
	case 2:
		f, ok := orders[a.n.sub[1].text]
		if !ok {
			d := a.stride(1)
			if !a.ok() {
				return nil
			}
			r, err := algebra.NewLayout(s, d)
			return give(a, r, err)
		}
		compact = f
	default:
		a.wrong(2, "absent after a shape and a stride")
		return nil
	}
	r, err := algebra.NewLayout(s, compact(s).Stride())
	return give(a, r, err)
}

// grow is append or prepend.
func grow(means string, one func(l, x algebra.Layout) (algebra.Layout, error), to func(algebra.Layout, int, algebra.Layout) (algebra.Layout, error)) operation {
	return operation{"layout, X | layout, N | layout, X, N", 2, 3, means, func(a *args) Value {
		l, x, n := a.layout(0), algebra.MustParse("1:0"), -1
		switch {
		case a.len() == 3:
			x, n = a.layout(1), a.int(2)
		case a.isLayout(1):
			x = a.layout(1)
		default:
			n = a.int(1)
		}
		if !a.ok() {
			return nil
		}
		if n < 0 && a.len() == 2 && a.isLayout(1) {
			r, err := one(l, x)
			return give(a, r, err)
		}
		if n > many {
			a.refuse("%d modes are more than %d", n, many)
			return nil
		}
		r, err := to(l, n, x)
		return give(a, r, err)
	}}
}

func ranged(means string, f func(algebra.Layout, int, int) (algebra.Layout, error)) operation {
	return operation{"layout, B, E", 3, 3, means, func(a *args) Value {
		l, b, e := a.layout(0), a.int(1), a.int(2)
		if !a.ok() {
			return nil
		}
		r, err := f(l, b, e)
		return give(a, r, err)
	}}
}

func indexed(means string, f func(algebra.Layout, ...int) (algebra.Layout, error)) operation {
	return operation{"layout, I…", 2, many, means, func(a *args) Value {
		l, path := a.layout(0), a.ints(1)
		if !a.ok() {
			return nil
		}
		r, err := f(l, path...)
		return give(a, r, err)
	}}
}

var modeOps = map[string]operation{
	"group":   ranged("modes [B,E) as one mode", algebra.Group),
	"take":    ranged("modes [B,E)", algebra.Take),
	"select":  indexed("the named modes", algebra.Select),
	"get":     {"layout or tuple, I…", 2, many, "the mode that the path leads to", get},
	"append":  grow("X as the last mode, up to rank N", algebra.Append, algebra.AppendTo),
	"prepend": grow("X as the first mode, up to rank N", algebra.Prepend, algebra.PrependTo),
	"replace": {"layout, X, N", 3, 3, "X in the place of mode N", func(a *args) Value {
		l, x, n := a.layout(0), a.layout(1), a.int(2)
		if !a.ok() {
			return nil
		}
		r, err := algebra.Replace(l, n, x)
		return give(a, r, err)
	}},
	"zip": {"layout | A, B", 1, 2, "modes turned inside out, or paired", func(a *args) Value {
		l := a.layout(0)
		if a.len() == 1 && a.ok() {
			r, err := algebra.Zip(l)
			return give(a, r, err)
		} else if !a.ok() {
			return nil
		}
		x := a.layout(1)
		if !a.ok() {
			return nil
		}
		r, err := algebra.ZipPair(l, x)
		return give(a, r, err)
	}},
	"shape":  {"layout", 1, 1, "the shape", func(a *args) Value { return a.layout(0).Shape() }},
	"stride": {"layout", 1, 1, "the stride", func(a *args) Value { return a.layout(0).Stride() }},
}

func get(a *args) Value {
	path := a.ints(1)
	if !a.ok() {
		return nil
	}
	if a.isLayout(0) {
		r, err := algebra.Get(a.layout(0), path...)
		return give(a, r, err)
	}
	v := a.vals[0]
	for _, i := range path {
		t, ok := entries(v)
		if !ok {
			a.wrong(0, "a layout or a tuple")
			return nil
		}
		if i < 0 || i >= len(t) {
			a.refuse("there is no entry %d in %s", i, v)
			return nil
		}
		v = t[i]
	}
	return v
}

// measure takes a layout, or a shape.
func measure(means string, l func(algebra.Layout) sym.Expr, s func(algebra.Shape) sym.Expr) operation {
	return operation{"layout or shape", 1, 1, means, func(a *args) Value {
		if a.isLayout(0) {
			return l(a.layout(0))
		}
		x := a.shape(0)
		if !a.ok() {
			return nil
		}
		return s(x)
	}}
}

// ofExtents is an operation whose first argument has extents of at least 1.
func ofExtents(op operation) operation {
	run := op.run
	op.run = func(a *args) Value {
		if a.extents(0); !a.ok() {
			return nil
		}
		return run(a)
	}
	return op
}

// layoutsAsShapes puts shapes in the place of layouts, which are related by them.
func (a *args) layoutsAsShapes() {
	for i := range a.vals {
		if a.isLayout(i) {
			a.vals = slices.Clone(a.vals)
			a.vals[i] = a.layout(i).Shape()
		}
	}
}

func relation(means string, f func(a, b algebra.Shape) bool) operation {
	return operation{"a, b", 2, 2, means, func(a *args) Value {
		a.layoutsAsShapes()
		x, y := a.shape(0), a.shape(1)
		if !a.ok() {
			return nil
		}
		return Bool(f(x, y))
	}}
}

// decided is a relation of sizes, which symbols may leave open.
func decided(means string, f func(a, b algebra.Shape) (bool, error)) operation {
	return operation{"a, b", 2, 2, means, func(a *args) Value {
		a.layoutsAsShapes()
		x, y := a.shape(0), a.shape(1)
		if !a.ok() {
			return nil
		}
		r, err := f(x, y)
		return give(a, Bool(r), err)
	}}
}

func shapes(means string, f func(a, b algebra.Shape) (algebra.Shape, error)) operation {
	return operation{"a, b", 2, 2, means, func(a *args) Value {
		x, y := a.shape(0), a.shape(1)
		if !a.ok() {
			return nil
		}
		r, err := f(x, y)
		return give(a, r, err)
	}}
}
