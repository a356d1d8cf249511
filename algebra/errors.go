package algebra

import (
	"fmt"
	"math"
	"strings"

	"github.com/gocute/gocute/algebra/sym"
)

// Error says why an operation was refused: which condition failed, with its numbers, and, where values
// were compared, the first coordinate that breaks.
type Error struct {
	Op        string   // the operation in CuTe's name, such as composition
	Args      []string // its arguments as text
	Condition string   // what does not hold, with numbers
	HasCoord  bool     // whether Coord, Got and Want are meaningful
	Coord     int64    // the first 1-D coordinate that breaks
	Got, Want string   // the value there, and the value that the definition asks for
	Hint      string   // what to do about it; may be empty
}

// Error is one line with the operation, its arguments, the condition and the numbers.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "algebra: %s(%s): %s", e.Op, strings.Join(e.Args, ", "), e.Condition)
	if e.HasCoord {
		fmt.Fprintf(&b, "; first at coordinate %d: got %s, want %s", e.Coord, e.Got, e.Want)
	}
	if e.Hint != "" {
		b.WriteString(" (" + e.Hint + ")")
	}
	return b.String()
}

func failf(format string, args ...any) *Error { return &Error{Condition: fmt.Sprintf(format, args...)} }

func (e *Error) hint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// at adds the first bad coordinate.
func (e *Error) at(coord int64, got, want any) *Error {
	e.HasCoord, e.Coord, e.Got, e.Want = true, coord, fmt.Sprint(got), fmt.Sprint(want)
	return e
}

// in names the operation that is refused and its arguments. It returns an untyped nil for nil.
func (e *Error) in(op string, args ...any) error {
	if e == nil {
		return nil
	}
	if e.Op != "" {
		return e
	}
	out := *e
	out.Op, out.Args = op, make([]string, len(args))
	for i, a := range args {
		out.Args[i] = fmt.Sprint(a)
	}
	return &out
}

// poisoned is anything that may carry an error from its construction.
type poisoned interface{ Err() error }

// bad is the first error that an argument carries, or that its extents make.
func bad(args ...poisoned) *Error {
	for _, a := range args {
		if err := a.Err(); err != nil {
			return asError(err)
		}
		switch x := a.(type) {
		case Layout:
			if e := inBounds(x.shape, x.stride); e != nil {
				return e
			}
		case Shape:
			if shapeTooLarge(&x.n) {
				return failf("an extent%s", beyond)
			}
			if e := sizeInBounds(x.n, new(float64)); e != nil {
				return e
			}
		case Tiler:
			for _, t := range x.sub {
				if e := bad(t); e != nil {
					return e
				}
			}
			if x.sub == nil && !x.free {
				if e := bad(x.layout); e != nil {
					return e
				}
			}
		case extents:
			if e := extentsFrom1(x.n); e != nil {
				return e
			}
			if e := sizeInBounds(x.n, new(float64)); e != nil {
				return e
			}
		case anySize:
			if e := extentsFrom1(x.n); e != nil {
				return e
			}
		}
	}
	return nil
}

// extents are shapes whose integers are extents, at least 1, not numbers of an order or flags of a profile.
type extents Shape

// Err is the error that the shape carries.
func (s extents) Err() error { return s.err }

// anySize are extents whose product may be of any size: nothing is stored or counted one by one.
type anySize Shape

// Err is the error that the shape carries.
func (s anySize) Err() error { return s.err }

// integers are the numbers of an order, or a profile, where none is an extent.
type integers Shape

// Err is the error that the shape carries.
func (s integers) Err() error { return s.err }

// beyond says of a number that it is TooLarge.
const beyond = " does not fit 63 bits, or is too large an expression"

func shapeTooLarge(s *node[sym.Expr]) bool {
	for i := range s.sub {
		if shapeTooLarge(&s.sub[i]) {
			return true
		}
	}
	return s.sub == nil && s.v.TooLarge()
}

func strideTooLarge(d *node[Step]) bool {
	for i := range d.sub {
		if strideTooLarge(&d.sub[i]) {
			return true
		}
	}
	return d.sub == nil && d.v.Coef.TooLarge()
}

// extentsFrom1 refuses extents below 1.
func extentsFrom1(s node[sym.Expr]) *Error {
	for _, e := range s.leaves() {
		if n, ok := e.IsConst(); ok && n < 1 {
			return failf("the extent %d must be at least 1", n)
		}
		if e.TooLarge() {
			return failf("an extent%s", beyond)
		}
	}
	return nil
}

// settled refuses a result that is no layout: one that carries an error, an extent below 1, or a number that does not
// fit 63 bits.
func settled(l Layout, e *Error) (Layout, *Error) {
	if e == nil {
		e = l.refused()
	}
	if e != nil {
		return Layout{}, e
	}
	return l, nil
}

func (l Layout) refused() *Error {
	if l.err != nil {
		return failf("the result is no layout: %s", asError(l.err).Condition)
	}
	if e := extentsFrom1(l.shape); e != nil {
		return failf("the result is no layout: %s", e.Condition)
	}
	if strideTooLarge(&l.stride) || l.off.TooLarge() {
		return failf("a stride or offset of the result%s", beyond)
	}
	return nil
}

func asError(err error) *Error {
	if e, ok := err.(*Error); ok {
		return e
	}
	return failf("%s", err)
}

// maxOffset bounds sizes and offsets, so that products of two of them are noticed before they wrap.
const maxOffset = 1 << 48

// inBounds refuses extents below 1 and layouts whose size or offsets are too large to compute with.
func inBounds(s node[sym.Expr], d node[Step]) *Error {
	size, reach := 1.0, 0.0
	return layoutInBounds(s, d, &size, &reach)
}

func layoutInBounds(s node[sym.Expr], d node[Step], size, reach *float64) *Error {
	if !s.isLeaf() {
		for i := range s.sub {
			if e := layoutInBounds(s.sub[i], d.sub[i], size, reach); e != nil {
				return e
			}
		}
		return nil
	}
	n, ok := s.v.IsConst()
	switch {
	case s.v.TooLarge() || d.v.Coef.TooLarge():
		return failf("an extent or stride%s", beyond)
	case !ok:
		n = 1 // at least
	case n < 1:
		return failf("the extent %d must be at least 1", n)
	}
	*size *= float64(n)
	if step, ok := d.v.Coef.IsConst(); ok {
		*reach += math.Abs(float64(n) * float64(step))
	}
	if *size > maxOffset || *reach > maxOffset {
		return failf("%s:%s makes it larger than 2^48 elements or offsets", s.v, d.v)
	}
	return nil
}

func sizeInBounds(s node[sym.Expr], size *float64) *Error { return sizeWithin(s, s, size) }

func sizeWithin(s, whole node[sym.Expr], size *float64) *Error {
	if !s.isLeaf() {
		for i := range s.sub {
			if e := sizeWithin(s.sub[i], whole, size); e != nil {
				return e
			}
		}
		return nil
	}
	if n, ok := s.v.IsConst(); ok {
		*size = max(*size, 1) * math.Abs(float64(n))
		if *size > maxOffset {
			return failf("%s has more than 2^48 elements", Shape{n: whole})
		}
	}
	return nil
}

// scaled is d*n, unless that is too large to compute with.
func scaled(d Step, n int64) (Step, *Error) {
	if c, ok := d.Coef.IsConst(); ok && math.Abs(float64(c)*float64(n)) > 1<<61 {
		return d, failf("the stride %s*%d is too large", d, n)
	}
	return d.Times(sym.Int(n)), nil
}

func argError(what string, x any) error {
	return &Error{Op: what, Args: []string{fmt.Sprint(x)}, Condition: fmt.Sprintf("a value of type %T cannot stand here: expected integers, or layouts, tuples or expressions of package algebra", x)}
}
