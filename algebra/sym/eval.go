package sym

import (
	"errors"
	"fmt"
	"strings"
)

var errTooLarge = errors.New("a number does not fit 63 bits")

// Eval computes e; value gives the symbols' values and false for one that it does not know.
// It fails on an unknown symbol, on a division by a number that is not positive, and where a number does not fit 63 bits.
func (e Expr) Eval(value func(*Symbol) (int64, bool)) (int64, error) {
	if e.TooLarge() {
		return 0, errTooLarge
	}
	sum, ok := e.k, true
	for _, t := range e.terms() {
		p := t.coef
		for _, a := range t.fac {
			v, err := a.eval(value)
			if err != nil {
				return 0, err
			}
			if p, ok = mulInt(p, v); !ok {
				return 0, errTooLarge
			}
		}
		if sum, ok = addInt(sum, p); !ok {
			return 0, errTooLarge
		}
	}
	return sum, nil
}

func (a *atom) eval(value func(*Symbol) (int64, bool)) (int64, error) {
	if a.op == Sym {
		v, ok := value(a.sym)
		if !ok {
			return 0, fmt.Errorf("%s has no value", a.sym.Name)
		}
		return v, nil
	}
	x, err := a.args[0].Eval(value)
	if err != nil {
		return 0, err
	}
	for _, arg := range a.args[1:] {
		y, err := arg.Eval(value)
		if err != nil {
			return 0, err
		}
		if x, err = apply(a.op, x, y); err != nil {
			return 0, fmt.Errorf("%w in %s", err, fromAtom(a))
		}
	}
	return x, nil
}

func apply(op Op, x, y int64) (int64, error) {
	switch op {
	case Div, Mod:
		if y <= 0 {
			return 0, fmt.Errorf("expected a positive divisor, but got %d", y)
		}
		if op == Div {
			return floorDiv(x, y), nil
		}
		return x - y*floorDiv(x, y), nil
	case Xor:
		return x ^ y, nil
	case Min:
		return min(x, y), nil
	default:
		return max(x, y), nil
	}
}

// Subst replaces symbols: value returns the replacement of a symbol, or false to keep it.
func (e Expr) Subst(value func(*Symbol) (Expr, bool)) Expr {
	if e.TooLarge() {
		return e
	}
	out := Int(e.k)
	for _, t := range e.terms() {
		p := Int(t.coef)
		for _, a := range t.fac {
			p = p.Mul(a.subst(value))
		}
		out = out.Add(p)
	}
	return out
}

func (a *atom) subst(value func(*Symbol) (Expr, bool)) Expr {
	if a.op == Sym {
		if e, ok := value(a.sym); ok {
			return e
		}
		return fromAtom(a)
	}
	x := a.args[0].Subst(value)
	for _, arg := range a.args[1:] {
		y := arg.Subst(value)
		switch a.op {
		case Div:
			x = x.FloorDiv(y)
		case Mod:
			x = x.Mod(y)
		case Xor:
			x = x.Xor(y)
		case Min:
			x = x.Min(y)
		default:
			x = x.Max(y)
		}
	}
	return x
}

// String prints e as C would read it, with floor division and remainder of non-negative numbers.
// A quotient that rounds up is printed as ceil_div.
func (e Expr) String() string { return e.text(0) }

const (
	precAdd = 1
	precMul = 2
)

func (e Expr) text(outer int) string {
	v := e.View()
	switch v.Op {
	case Const:
		return fmt.Sprint(v.Value)
	case Sym:
		return v.Sym.Name
	case Beyond:
		return "(beyond 63 bits)"
	case Add:
		return paren(outer >= precAdd+1, sumText(v.Args))
	case Mul:
		parts := []string{}
		if c, ok := v.Args[len(v.Args)-1].IsConst(); ok { // the coefficient first, as people write it
			parts = append(parts, fmt.Sprint(c))
			v.Args = v.Args[:len(v.Args)-1]
		}
		for _, a := range v.Args {
			parts = append(parts, a.text(precMul+1))
		}
		return paren(outer > precMul, strings.Join(parts, "*"))
	case Div:
		if c, ok := v.Args[1].IsConst(); ok && v.Args[0].k == c-1 && c > 1 {
			return fmt.Sprintf("ceil_div(%s,%d)", v.Args[0].Sub(Int(c-1)), c)
		}
		return paren(outer > precMul, v.Args[0].dividend()+"/"+v.Args[1].text(precMul+1))
	case Mod:
		return paren(outer > precMul, v.Args[0].dividend()+"%"+v.Args[1].text(precMul+1))
	default:
		parts := make([]string, len(v.Args))
		for i, a := range v.Args {
			parts[i] = a.String()
		}
		name := map[Op]string{Xor: "xor", Min: "min", Max: "max"}[v.Op]
		return name + "(" + strings.Join(parts, ",") + ")"
	}
}

// dividend is the text before / or %: its sign is inside a parenthesis, because in a sum it would be that of the whole.
func (e Expr) dividend() string {
	s := e.text(precMul)
	return paren(strings.HasPrefix(s, "-"), s)
}

func sumText(args []Expr) string {
	var b strings.Builder
	for i, a := range args {
		s := a.text(precAdd)
		if i > 0 && !strings.HasPrefix(s, "-") {
			b.WriteString("+")
		}
		b.WriteString(s)
	}
	return b.String()
}

func paren(yes bool, s string) string {
	if yes {
		return "(" + s + ")"
	}
	return s
}
