package algebra

import "github.com/gocute/gocute/algebra/sym"

// Tiler says what to take of a layout: a layout or an integer of its 1-D index, or a tuple of tilers, one
// for each mode; Underscore takes a mode as it is.
type Tiler struct {
	layout Layout  // of a leaf
	size   bool    // the leaf was an integer
	free   bool    // the leaf was Underscore
	sub    []Tiler // of a tuple; not nil
	err    error
}

// T is the tiler by mode: T(128, MustParse("32:2"), Underscore). Its arguments are ints, int64s, sym.Exprs,
// *sym.Symbols, Layouts, Shapes, Tilers and Underscore.
func T(entries ...any) Tiler {
	t := Tiler{sub: make([]Tiler, len(entries))}
	for i, x := range entries {
		t.sub[i] = TileBy(x)
		if t.err == nil {
			t.err = t.sub[i].err
		}
	}
	return t
}

// TileBy is the tiler that x stands for: an integer or a Layout of the 1-D index, a Shape by mode, a Tiler,
// Underscore.
func TileBy(x any) Tiler {
	switch x := x.(type) {
	case Tiler:
		return x
	case Layout:
		return Tiler{layout: x, err: x.err}
	case Shape:
		t := shapeTiler(x.n)
		t.err = x.err
		return t
	case underscore:
		return Tiler{free: true}
	}
	if e, ok := expr(x); ok {
		return intTiler(e)
	}
	return Tiler{err: argError("T", x)}
}

func intTiler(e sym.Expr) Tiler {
	return Tiler{layout: Compact(Shape{n: leafOf(e)}), size: true}
}

func shapeTiler(n node[sym.Expr]) Tiler {
	if n.isLeaf() {
		return intTiler(n.v)
	}
	t := Tiler{sub: make([]Tiler, len(n.sub))}
	for i, s := range n.sub {
		t.sub[i] = shapeTiler(s)
	}
	return t
}

// Err is the error of a wrong argument to the constructor, or nil.
func (t Tiler) Err() error { return t.err }

// IsTuple reports whether t is a tiler by mode.
func (t Tiler) IsTuple() bool { return t.sub != nil }

// IsUnderscore reports whether t takes a mode as it is.
func (t Tiler) IsUnderscore() bool { return t.free }

// Rank is the number of entries of a tiler by mode, and 1 otherwise.
func (t Tiler) Rank() int {
	if t.sub == nil {
		return 1
	}
	return len(t.sub)
}

// Mode is the i-th entry of a tiler by mode.
func (t Tiler) Mode(i int) Tiler {
	if t.sub == nil || i < 0 || i >= len(t.sub) {
		if t.sub == nil && i == 0 {
			return t
		}
		return Tiler{err: failf("there is no mode %d", i).in("mode", t)}
	}
	return t.sub[i]
}

// Layout is the layout of a tiler that is one layout or integer.
func (t Tiler) Layout() (Layout, bool) { return t.layout, t.sub == nil && !t.free && t.err == nil }

// Shape is the shape of the tile: what each entry takes. Underscore has none.
func (t Tiler) Shape() (Shape, bool) {
	if t.sub == nil {
		return t.layout.Shape(), !t.free && t.err == nil
	}
	sub := make([]node[sym.Expr], len(t.sub))
	for i, x := range t.sub {
		s, ok := x.Shape()
		if !ok {
			return Shape{}, false
		}
		sub[i] = s.n
	}
	return Shape{n: node[sym.Expr]{sub: sub}}, t.err == nil
}

// String is the text form: (3:3,(2,4):(1,8),_).
func (t Tiler) String() string {
	switch {
	case t.err != nil:
		return "<" + t.err.Error() + ">"
	case t.free:
		return "_"
	case t.sub == nil && t.size:
		return t.layout.Shape().String()
	case t.sub == nil:
		return t.layout.String()
	}
	s := "("
	for i, x := range t.sub {
		if i > 0 {
			s += ","
		}
		s += x.String()
	}
	return s + ")"
}

// ComposeTiler composes by mode: mode i of the result is mode i of a composed with entry i. Modes beyond
// the tiler's are dropped; an integer n takes the first n; Underscore keeps the mode.
func ComposeTiler(a Layout, t Tiler) (Layout, error) {
	if e := bad(a, t); e != nil {
		return Layout{}, e.in("composition", a, t)
	}
	r, e := settled(composeTiler(a, t))
	return r, e.in("composition", a, t)
}

func composeTiler(a Layout, t Tiler) (Layout, *Error) {
	switch {
	case t.free:
		return a, nil
	case t.sub == nil:
		if t.size { // an integer, even 1, has stride 1
			b := plain(t.layout.shape, leafOf(Step{Coef: sym.Int(1)}))
			return compose(a, b)
		}
		return compose(a, t.layout)
	}
	if len(t.sub) > a.shape.rank() {
		return Layout{}, failf("the tiler has %d modes, the layout only %d", len(t.sub), a.shape.rank())
	}
	ls := layoutModes(a.Plain())[:len(t.sub)]
	for i, x := range t.sub {
		m, e := composeTiler(ls[i], x)
		if e != nil {
			return Layout{}, e.inMode(i)
		}
		if m.sw.B != 0 {
			return Layout{}, failf("a swizzled entry cannot stand in a tiler by mode")
		}
		ls[i] = m
	}
	return a.rewrap(joinModes(ls)), nil
}

// inMode says in which mode of a tiler the condition failed.
func (e *Error) inMode(i int) *Error {
	out := *e
	out.Condition = "mode " + exprText(sym.Int(i)) + ": " + e.Condition
	return &out
}
