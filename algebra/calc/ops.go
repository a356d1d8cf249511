package calc

import (
	"slices"

	"github.com/gocute/gocute/algebra"
)

// operation is one row of the table.
type operation struct {
	args        string // as help shows them
	least, most int    // how many
	means       string // its definition in a few words
	run         func(*args) Value
}

// many is the number of arguments that lists may have.
const many = 64

// Operations are the names of all operations, sorted.
func Operations() []string {
	out := make([]string, 0, len(table))
	for name := range table {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// Usage is the arguments of an operation and what it means; ok is false for a name that is none.
func Usage(name string) (arguments, means string, ok bool) {
	op, ok := table[name]
	return op.args, op.means, ok
}

// table is every operation by CuTe's name, with the arguments in the order of the golden data.
var table = merged(compositions, divisions, products, forms, modeOps, shapeOps, coordOps)

func merged(tables ...map[string]operation) map[string]operation {
	out := map[string]operation{}
	for _, t := range tables {
		for name, op := range t {
			out[name] = op
		}
	}
	return out
}

func layout1(means string, f func(algebra.Layout) (algebra.Layout, error)) operation {
	return operation{"layout", 1, 1, means, func(a *args) Value {
		l := a.layout(0)
		if !a.ok() {
			return nil
		}
		r, err := f(l)
		return give(a, r, err)
	}}
}

func layout2(names, means string, f func(a, b algebra.Layout) (algebra.Layout, error)) operation {
	return operation{names, 2, 2, means, func(a *args) Value {
		x, y := a.layout(0), a.layout(1)
		if !a.ok() {
			return nil
		}
		r, err := f(x, y)
		return give(a, r, err)
	}}
}

func tiled(means string, f func(algebra.Layout, algebra.Tiler) (algebra.Layout, error)) operation {
	return operation{"layout, tiler", 2, 2, means, func(a *args) Value {
		l, t := a.layout(0), a.tiler(1)
		if !a.ok() {
			return nil
		}
		r, err := f(l, t)
		return give(a, r, err)
	}}
}

func covered(means string, f func(algebra.Layout, algebra.Tiler) (algebra.Cover, error)) operation {
	return operation{"layout, tiler", 2, 2, means, func(a *args) Value {
		l, t := a.layout(0), a.tiler(1)
		if !a.ok() {
			return nil
		}
		r, err := f(l, t)
		return give(a, Cover{r}, err)
	}}
}

func optionalProfile(means string, one func(algebra.Layout) (algebra.Layout, error), by func(algebra.Layout, algebra.Shape) (algebra.Layout, error)) operation {
	return operation{"layout[, profile]", 1, 2, means, func(a *args) Value {
		l := a.layout(0)
		if a.len() == 1 && a.ok() {
			r, err := one(l)
			return give(a, r, err)
		} else if !a.ok() {
			return nil
		}
		s := a.shape(1)
		if !a.ok() {
			return nil
		}
		r, err := by(l, s)
		return give(a, r, err)
	}}
}

func withShape(names, means string, f func(algebra.Layout, algebra.Shape) (algebra.Layout, error)) operation {
	return operation{names, 2, 2, means, func(a *args) Value {
		l, s := a.layout(0), a.shape(1)
		if !a.ok() {
			return nil
		}
		r, err := f(l, s)
		return give(a, r, err)
	}}
}

var compositions = map[string]operation{
	"composition":       {"A, B", 2, 2, "R(c) = A(B(c)), R compatible with B; A or B may be a swizzle, B a tiler by mode", composition},
	"with_shape":        withShape("layout, shape", "the same function of the index, in another shape", algebra.WithShape),
	"right_inverse":     layout1("A(R(i)) = i for all i below size(R)", algebra.RightInverse),
	"left_inverse":      layout1("L(A(i)) = i, or A(L(A(i))) = A(i) where A repeats offsets", algebra.LeftInverse),
	"nullspace":         layout1("the coordinates that stride-0 modes send to 0", algebra.Nullspace),
	"max_common_layout": layout2("A, B", "the longest R with A(R(i)) = B(R(i)) = i whose values are coordinates of both (beyond 2^16 coordinates, the longer prefix of the right inverses); different swizzles limit it to what they leave in place", algebra.MaxCommonLayout),
	"max_common_vector": {"A, B", 2, 2, "the size of max_common_layout: contiguous elements that both have at the same coordinates", func(a *args) Value {
		x, y := a.layout(0), a.layout(1)
		if !a.ok() {
			return nil
		}
		r, err := algebra.MaxCommonLayout(x, y)
		return give(a, r.Size(), err)
	}},
	"complement": {"layout[, cotarget]", 1, 2, "the ordered translations with which the layout fills [0, cotarget)", func(a *args) Value {
		l := a.layout(0)
		if !a.ok() {
			return nil
		}
		if a.len() == 1 {
			r, err := algebra.ComplementSelf(l)
			return give(a, r, err)
		}
		s := a.shape(1)
		if !a.ok() {
			return nil
		}
		r, err := algebra.Complement(l, s)
		return give(a, r, err)
	}},
}

func composition(a *args) Value {
	switch {
	case a.isSwizzle(0) && a.isSwizzle(1):
		w, err := algebra.ComposeSwizzle(a.swizzle(0), a.swizzle(1))
		return give(a, w, err)
	case a.isSwizzle(0):
		w, l := a.swizzle(0), a.layout(1)
		if !a.ok() {
			return nil
		}
		if l.IsSwizzled() {
			merged, err := algebra.ComposeSwizzle(w, l.Swizzle())
			if a.fail(err); err != nil {
				return nil
			}
			w = merged
		}
		off := l.Offset()
		r := l.Plain().WithSwizzle(w, off)
		return give(a, r, r.Err())
	case a.isSwizzle(1):
		l := a.layout(0)
		if !a.ok() {
			return nil
		}
		r, err := algebra.ComposeLayoutSwizzle(l, a.swizzle(1))
		return give(a, r, err)
	}
	l, t := a.layout(0), a.tiler(1)
	if !a.ok() {
		return nil
	}
	r, err := algebra.ComposeTiler(l, t)
	return give(a, r, err)
}

const (
	divided  = "A∘(B, B*) with B* the translations that complete B to [0, size(A))"
	repeated = "(A, A*∘B) with A* the translations of disjoint copies of A"
	up       = ", rounding up"
)

var divisions = map[string]operation{
	"logical_divide": tiled(divided+", mode by mode", algebra.LogicalDivide),
	"zipped_divide":  tiled(divided+", as ((tiles),(rests))", algebra.ZippedDivide),
	"tiled_divide":   tiled(divided+", as ((tiles),rest,rest…)", algebra.TiledDivide),
	"flat_divide":    tiled(divided+", as (tile,tile…,rest,rest…)", algebra.FlatDivide),

	"ceil_logical_divide": covered(divided+up, algebra.LogicalDivideCeil),
	"ceil_zipped_divide":  covered(divided+up, algebra.ZippedDivideCeil),
	"ceil_tiled_divide":   covered(divided+up, algebra.TiledDivideCeil),
	"ceil_flat_divide":    covered(divided+up, algebra.FlatDivideCeil),

	"upcast":   cast("in units of n elements", algebra.Upcast),
	"downcast": cast("in units of 1/n element", algebra.Downcast),
	"ceil_upcast": {"layout, n", 2, 2, "in units of n elements" + up, func(a *args) Value {
		l, n := a.layout(0), a.int64(1)
		if !a.ok() {
			return nil
		}
		r, err := algebra.UpcastCeil(l, n)
		return give(a, Cover{r}, err)
	}},
	"recast_layout": {"layout, old bits, new bits", 3, 3, "elements of other bits", func(a *args) Value {
		l, x, y := a.layout(0), a.int64(1), a.int64(2)
		if !a.ok() {
			return nil
		}
		r, err := algebra.Recast(l, x, y)
		return give(a, r, err)
	}},
	"ceil_recast_layout": {"layout, old bits, new bits", 3, 3, "elements of other bits" + up, func(a *args) Value {
		l, x, y := a.layout(0), a.int64(1), a.int64(2)
		if !a.ok() {
			return nil
		}
		r, err := algebra.RecastCeil(l, x, y)
		return give(a, Cover{r}, err)
	}},
}

func cast(means string, f func(algebra.Layout, int64) (algebra.Layout, error)) operation {
	return operation{"layout, n", 2, 2, means, func(a *args) Value {
		l, n := a.layout(0), a.int64(1)
		if !a.ok() {
			return nil
		}
		r, err := f(l, n)
		return give(a, r, err)
	}}
}

var products = map[string]operation{
	"logical_product": tiled(repeated, algebra.LogicalProduct),
	"zipped_product":  tiled(repeated+", as ((blocks),(translations))", algebra.ZippedProduct),
	"tiled_product":   tiled(repeated+", as ((blocks),translation,translation…)", algebra.TiledProduct),
	"flat_product":    tiled(repeated+", as (block,block…,translation,translation…)", algebra.FlatProduct),
	"blocked_product": layout2("block, tiler", repeated+", mode i = (block i, tiler i)", algebra.BlockedProduct),
	"raked_product":   layout2("block, tiler", repeated+", mode i = (tiler i, block i)", algebra.RakedProduct),
	"tile_to_shape": {"block, shape[, order]", 2, 3, "the block repeated until it has the shape", func(a *args) Value {
		l, s := a.layout(0), a.shape(1)
		if a.len() == 2 && a.ok() {
			r, err := algebra.TileToShape(l, s)
			return give(a, r, err)
		} else if !a.ok() {
			return nil
		}
		o := a.shape(2)
		if !a.ok() {
			return nil
		}
		r, err := algebra.TileToShapeOrder(l, s, o)
		return give(a, r, err)
	}},
}
