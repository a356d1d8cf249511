package dsl

import (
	"errors"
	"fmt"
	"math"
	"reflect"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/gen/cir"
)

// Expr is an integer of the kernel: a Dim, a thread or block index, a loop variable, or an expression of them.
// Operands of its methods are integers, Exprs or Vars.
type Expr struct {
	e   sym.Expr
	k   *K
	err error // a mistake in making it, reported where it is used
}

// String prints the expression as C would read it.
func (e Expr) String() string {
	if e.err != nil {
		return "(invalid)"
	}
	return e.e.String()
}

// Sym is the underlying expression.
func (e Expr) Sym() sym.Expr { return e.e }

// Integer is an Expr or a Var, which stands for its value now.
type Integer interface{ integer() Expr }

func (e Expr) integer() Expr { return e }

// exprOf is the Expr that x is or, as a Var, has; a Var that is nil has one that was never set.
func exprOf(x any) (e Expr, ok bool) {
	switch x := x.(type) {
	case *Var:
		if x == nil {
			return Expr{}, true
		}
		return x.Expr, true
	case *Expr:
		if x == nil {
			return Expr{}, true
		}
		return *x, true
	case Integer:
		return x.integer(), true
	}
	return Expr{}, false
}

func toExpr(x any) (sym.Expr, error) {
	if e, ok := exprOf(x); ok {
		if e.err == nil && e.k == nil && e.e.Is(0) {
			return e.e, errors.New("expects a value, but got an Expr that was never set (k.Thread before k.Threads, or k.BlockX before k.Grid?)")
		}
		return e.e, e.err
	}
	switch v := reflect.ValueOf(x); {
	case x == nil:
		return sym.Expr{}, errors.New("expects an integer, an Expr or a Var, but got nil")
	case v.CanInt():
		return sym.Int(v.Int()), nil
	case v.CanUint() && v.Uint() <= math.MaxInt64:
		return sym.Int(int64(v.Uint())), nil
	}
	switch x := x.(type) {
	case sym.Expr:
		return x, nil
	case data:
		return sym.Expr{}, errors.New("expects an integer, an Expr or a Var, but got a Val: elements of tensors cannot be indices, extents or bounds of loops")
	case float32, float64, uint64, uint, uintptr:
		return sym.Expr{}, fmt.Errorf("expects an integer of 63 bits, an Expr or a Var, but got %v of type %T", x, x)
	}
	return sym.Expr{}, fmt.Errorf("expects an integer, an Expr or a Var, but got a value of type %T", x)
}

// expr converts an operand or reports it.
func (k *K) expr(op string, x any) (sym.Expr, bool) {
	e, err := toExpr(x)
	if y, ok := exprOf(x); ok && err == nil && y.k != nil && y.k != k {
		err = fmt.Errorf("expects a value of this kernel, but got %s of kernel %s", e, y.k.kernel.ir.Name)
	}
	if err != nil {
		k.errorf(op, "%v", err)
		return e, false
	}
	return e, k.inScope(op, e)
}

// inScope reports an expression that uses a loop variable outside the loop's body.
func (k *K) inScope(op string, es ...sym.Expr) bool {
	for _, e := range es {
		for _, s := range e.Symbols() {
			if sc := k.symbols[s.Name]; sc != nil && !sc.open {
				k.errorf(op, "%s belongs to the body that starts at line %d and cannot be used outside of it", s.Name, sc.pos.Line)
				return false
			}
		}
	}
	return true
}

func (e Expr) with(x any, f func(a, b sym.Expr) sym.Expr) Expr {
	b, err := toExpr(x)
	if e.err != nil {
		err = e.err
	}
	k := e.k
	if y, ok := exprOf(x); ok && k == nil {
		k = y.k
	}
	if err != nil {
		return Expr{k: k, err: err}
	}
	r := f(e.e, b)
	if r.TooLarge() {
		return Expr{k: k, err: errors.New("expects integers of 63 bits, but got one that does not fit, or too large an expression")}
	}
	return Expr{e: r, k: k}
}

func (e Expr) divided(x any, f func(a, b sym.Expr) sym.Expr) Expr {
	if b, err := toExpr(x); err == nil {
		if lo, _ := b.Range(); lo < 1 {
			return Expr{k: e.k, err: fmt.Errorf("expects a positive divisor, but got %s", b)}
		}
	}
	return e.with(x, f)
}

// Add is e + x.
func (e Expr) Add(x any) Expr { return e.with(x, sym.Expr.Add) }

// Sub is e - x.
func (e Expr) Sub(x any) Expr { return e.with(x, sym.Expr.Sub) }

// Mul is e * x.
func (e Expr) Mul(x any) Expr { return e.with(x, sym.Expr.Mul) }

// Div is floor(e / x), for x > 0.
func (e Expr) Div(x any) Expr { return e.divided(x, sym.Expr.FloorDiv) }

// Mod is e - x*floor(e/x), for x > 0.
func (e Expr) Mod(x any) Expr { return e.divided(x, sym.Expr.Mod) }

// CeilDiv is ceil(e / x), for x > 0.
func (e Expr) CeilDiv(x any) Expr { return e.divided(x, sym.Expr.CeilDiv) }

// Min is the lesser of e and x.
func (e Expr) Min(x any) Expr { return e.with(x, sym.Expr.Min) }

// Max is the greater of e and x.
func (e Expr) Max(x any) Expr { return e.with(x, sym.Expr.Max) }

// Cond is a condition of the kernel.
type Cond struct {
	c   cir.Cond
	k   *K
	err error
	use []sym.Expr
}

func (e Expr) compare(op cir.CmpOp, x any) Cond {
	b, err := toExpr(x)
	if e.err != nil {
		err = e.err
	}
	return Cond{c: cir.Cmp{Op: op, X: e.e, Y: b}, k: e.k, err: err, use: []sym.Expr{e.e, b}}
}

// Lt is e < x.
func (e Expr) Lt(x any) Cond { return e.compare(cir.LT, x) }

// Le is e <= x.
func (e Expr) Le(x any) Cond { return e.compare(cir.LE, x) }

// Eq is e == x.
func (e Expr) Eq(x any) Cond { return e.compare(cir.EQ, x) }

// Ne is e != x.
func (e Expr) Ne(x any) Cond { return e.compare(cir.NE, x) }

// errCond is the mistake of a condition that was never set.
var errCond = errors.New("expects a condition, but got one that was never set")

// mistake is what is wrong with a condition, or nil.
func (c Cond) mistake() error {
	if c.err == nil && c.c == nil {
		return errCond
	}
	return c.err
}

func (c Cond) join(d Cond, f func(a, b cir.Cond) cir.Cond) Cond {
	err := c.mistake()
	if err == nil {
		err = d.mistake()
	}
	return Cond{c: f(c.c, d.c), k: c.k, err: err, use: append(append([]sym.Expr{}, c.use...), d.use...)}
}

// And holds if both conditions do.
func (c Cond) And(d Cond) Cond {
	return c.join(d, func(a, b cir.Cond) cir.Cond { return cir.And{a, b} })
}

// Or holds if one of the conditions does.
func (c Cond) Or(d Cond) Cond {
	return c.join(d, func(a, b cir.Cond) cir.Cond { return cir.Or{a, b} })
}

// Not holds if c does not.
func (c Cond) Not() Cond {
	c.err = c.mistake()
	c.c = cir.Not{X: c.c}
	return c
}
