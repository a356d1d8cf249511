package algebra

import (
	"slices"

	"github.com/gocute/gocute/algebra/sym"
)

// Make concatenates layouts: each becomes one mode of the result (make_layout of layouts). Swizzled layouts
// cannot be concatenated.
func Make(layouts ...Layout) Layout {
	for _, l := range layouts {
		if l.err != nil {
			return l
		}
		if l.sw.B != 0 {
			return Layout{err: failf("%s is swizzled", l).in("make_layout", l)}
		}
	}
	return joinModes(layouts)
}

// Flatten drops all nesting below the outermost tuple.
func Flatten(l Layout) (Layout, error) {
	if e := bad(l); e != nil {
		return Layout{}, e.in("flatten", l)
	}
	return l.rewrap(plain(l.shape.flat(), l.stride.flat())), nil
}

// Unflatten nests the modes of l as the profile has its integers.
func Unflatten(l Layout, profile Shape) (Layout, error) {
	if e := bad(l, integers(profile)); e != nil {
		return Layout{}, e.in("unflatten", l, profile)
	}
	ls := layoutModes(l.Plain())
	if len(ls) != profile.n.count() {
		return Layout{}, failf("the layout has %d modes, the profile %d", len(ls), profile.n.count()).in("unflatten", l, profile)
	}
	return l.rewrap(nest(&ls, profile.n)), nil
}

func nest(ls *[]Layout, p node[sym.Expr]) Layout {
	if p.isLeaf() {
		l := (*ls)[0]
		*ls = (*ls)[1:]
		return l
	}
	sub := make([]Layout, len(p.sub))
	for i := range sub {
		sub[i] = nest(ls, p.sub[i])
	}
	return joinModes(sub)
}

// onModes is an operation on the list of modes.
func onModes(op string, l Layout, f func([]Layout) ([]Layout, *Error), args ...any) (Layout, error) {
	if e := bad(l); e != nil {
		return Layout{}, e.in(op, append([]any{l}, args...)...)
	}
	ls, e := f(layoutModes(l.Plain()))
	if e != nil {
		return Layout{}, e.in(op, append([]any{l}, args...)...)
	}
	return l.rewrap(joinModes(ls)), nil
}

func inRange(b, e, n int) *Error {
	if b < 0 || e < b || e > n {
		return failf("[%d,%d) is not a range of %d modes", b, e, n)
	}
	return nil
}

// Group makes the modes [b, e) one mode.
func Group(l Layout, b, e int) (Layout, error) {
	return onModes("group", l, func(ls []Layout) ([]Layout, *Error) {
		if err := inRange(b, e, len(ls)); err != nil {
			return nil, err
		}
		return slices.Concat(ls[:b], []Layout{joinModes(slices.Clone(ls[b:e]))}, ls[e:]), nil
	}, b, e)
}

// Append adds x as the last mode.
func Append(l, x Layout) (Layout, error) {
	return onModes("append", l, func(ls []Layout) ([]Layout, *Error) {
		return append(slices.Clone(ls), x.Plain()), plainMode(x)
	}, x)
}

// Prepend adds x as the first mode.
func Prepend(l, x Layout) (Layout, error) {
	return onModes("prepend", l, func(ls []Layout) ([]Layout, *Error) {
		return append([]Layout{x.Plain()}, ls...), plainMode(x)
	}, x)
}

func plainMode(x Layout) *Error {
	if x.sw.B != 0 {
		return failf("the swizzled layout %s cannot be one mode of another", x)
	}
	return bad(x)
}

// AppendTo adds x as the last mode until there are n, which are at most 1024. A layout that has them is returned as it is.
func AppendTo(l Layout, n int, x Layout) (Layout, error) { return grow("append", l, n, x, Append) }

// PrependTo adds x as the first mode until there are n, which are at most 1024.
func PrependTo(l Layout, n int, x Layout) (Layout, error) { return grow("prepend", l, n, x, Prepend) }

// growMost is how many modes a layout can be filled up to: each one added costs the modes before it.
const growMost = 1 << 10

func grow(op string, l Layout, n int, x Layout, one func(l, x Layout) (Layout, error)) (Layout, error) {
	if l.err == nil && l.Rank() > n {
		return Layout{}, failf("the layout has more than %d modes", n).in(op, l, n, x)
	}
	if l.err == nil && l.Rank() < n && n > growMost {
		return Layout{}, failf("%d modes are more than %d", n, growMost).in(op, l, n, x)
	}
	for l.err == nil && l.Rank() < n {
		var err error
		if l, err = one(l, x); err != nil {
			return Layout{}, err
		}
	}
	return l, l.err
}

// Replace puts x in the place of mode i.
func Replace(l Layout, i int, x Layout) (Layout, error) {
	return onModes("replace", l, func(ls []Layout) ([]Layout, *Error) {
		if err := inRange(i, i+1, len(ls)); err != nil {
			return nil, err
		}
		ls = slices.Clone(ls)
		ls[i] = x.Plain()
		return ls, plainMode(x)
	}, i, x)
}

// Select keeps the named modes, in that order.
func Select(l Layout, modes ...int) (Layout, error) {
	return onModes("select", l, func(ls []Layout) ([]Layout, *Error) {
		out := make([]Layout, len(modes))
		for k, i := range modes {
			if err := inRange(i, i+1, len(ls)); err != nil {
				return nil, err
			}
			out[k] = ls[i]
		}
		return out, nil
	}, modes)
}

// Take keeps the modes [b, e).
func Take(l Layout, b, e int) (Layout, error) {
	return onModes("take", l, func(ls []Layout) ([]Layout, *Error) {
		if err := inRange(b, e, len(ls)); err != nil {
			return nil, err
		}
		return slices.Clone(ls[b:e]), nil
	}, b, e)
}

// Get is the mode that a path leads to: mode path[0], of that mode path[1], and so on.
func Get(l Layout, path ...int) (Layout, error) {
	if e := bad(l); e != nil {
		return Layout{}, e.in("get", l, path)
	}
	m := l.Mode(path...)
	return m, m.err
}

// Zip turns a layout of layouts inside out: ((a,b),(c,d)) becomes ((a,c),(b,d)).
func Zip(l Layout) (Layout, error) {
	return onModes("zip", l, func(ls []Layout) ([]Layout, *Error) {
		if len(ls) == 0 {
			return ls, nil
		}
		r := ls[0].shape.rank()
		out := make([]Layout, r)
		for j := range r {
			col := make([]Layout, len(ls))
			for i, m := range ls {
				if m.shape.isLeaf() || m.shape.rank() != r {
					return nil, failf("mode %d must be a tuple of %d modes like the first", i, r)
				}
				col[i] = layoutModes(m)[j]
			}
			out[j] = joinModes(col)
		}
		return out, nil
	})
}

// ZipPair pairs the modes of two layouts of the same rank: mode i is (a_i, b_i).
func ZipPair(a, b Layout) (Layout, error) {
	if e := bad(a, b); e != nil {
		return Layout{}, e.in("zip", a, b)
	}
	if e := plainMode(b); e != nil {
		return Layout{}, e.in("zip", a, b)
	}
	if a.Rank() != b.Rank() {
		return Layout{}, failf("ranks %d and %d differ", a.Rank(), b.Rank()).in("zip", a, b)
	}
	return a.rewrap(zipPair(a.Plain(), b)), nil
}
