package algebra

import (
	"errors"
	"strconv"

	"github.com/gocute/gocute/algebra/sym"
)

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func (p *parser) sum() sym.Expr { return p.sumFrom(p.product()) }

// sumFrom continues a sum. " + " in LAYOUT + OFFSET follows a closed parenthesis or a stride, so a "+"
// with a space before it ends an expression.
func (p *parser) sumFrom(e sym.Expr) sym.Expr {
	for p.pos < len(p.text) {
		switch p.text[p.pos] {
		case '+':
			p.pos++
			e = p.checked(sym.Expr.AddOK, e, p.product())
		case '-':
			p.pos++
			e = p.checked(sym.Expr.SubOK, e, p.product())
		default:
			return e
		}
	}
	return e
}

func (p *parser) product() sym.Expr { return p.productFrom(p.factor()) }

func (p *parser) productFrom(e sym.Expr) sym.Expr {
	for {
		switch p.peekTight() {
		case '*':
			p.pos++
			e = p.checked(sym.Expr.MulOK, e, p.factor())
		case '/':
			p.pos++
			if d := p.divisor(); d.Is(0) {
				return e
			} else {
				e = e.FloorDiv(d)
			}
		case '%':
			p.pos++
			if d := p.divisor(); d.Is(0) {
				return e
			} else {
				e = e.Mod(d)
			}
		default:
			return e
		}
	}
}

// checked refuses a result that does not fit 63 bits or has too many terms.
func (p *parser) checked(op func(a, b sym.Expr) (sym.Expr, bool), a, b sym.Expr) sym.Expr {
	e, ok := op(a, b)
	if !ok {
		p.fail("the result is too large for 63 bits, or for an expression")
	}
	return e
}

// peekTight is the next byte, without skipping blanks unless an operator follows them.
func (p *parser) peekTight() byte {
	i := p.pos
	for i < len(p.text) && p.text[i] == ' ' {
		i++
	}
	if i < len(p.text) && (p.text[i] == '*' || p.text[i] == '/' || p.text[i] == '%') {
		p.pos = i
		return p.text[i]
	}
	return 0
}

// divisor reads what follows / or %, which must be positive.
func (p *parser) divisor() sym.Expr {
	d := p.factor()
	if lo, _ := d.Range(); lo < 1 {
		p.fail("the divisor %s must be positive", d)
		return sym.Expr{}
	}
	return d
}

func (p *parser) factor() sym.Expr {
	c := p.peek()
	switch {
	case c == '-':
		p.pos++
		return p.deeper(p.factor).Neg()
	case c == '(':
		p.pos++
		e := p.deeper(p.sum)
		p.expect(")")
		return e
	case c >= '0' && c <= '9':
		return p.number()
	case c == '_' && p.pos+1 < len(p.text) && p.text[p.pos+1] >= '0' && p.text[p.pos+1] <= '9':
		p.pos++
		return p.number()
	case isWord(c) && (c != '_' || p.wordAfterUnderscore()):
		return p.name()
	}
	p.fail("expected an integer or a name")
	return sym.Expr{}
}

// maxDepth bounds how deep parentheses, signs and calls nest.
const maxDepth = 64

// deeper reads what lies one level further in.
func (p *parser) deeper(read func() sym.Expr) sym.Expr {
	if !p.enter() {
		return sym.Expr{}
	}
	defer p.leave()
	return read()
}

func (p *parser) enter() bool {
	if p.depth++; p.depth > maxDepth {
		p.fail("it nests deeper than %d levels", maxDepth)
		return false
	}
	return true
}

func (p *parser) leave() { p.depth-- }

func (p *parser) word() string {
	from := p.pos
	for p.pos < len(p.text) && isWord(p.text[p.pos]) {
		p.pos++
	}
	return p.text[from:p.pos]
}

func (p *parser) number() sym.Expr {
	w := p.word()
	n, err := strconv.ParseInt(w, 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		p.fail("the integer %s does not fit 63 bits", w)
	} else if err != nil {
		p.fail("%q is not an integer", w)
	}
	return sym.Int(n)
}

// name reads a symbol or a call of ceil_div, min, max or xor.
func (p *parser) name() sym.Expr {
	w := p.word()
	if p.peek() != '(' || w != "ceil_div" && w != "min" && w != "max" && w != "xor" {
		e, ok := p.names(w)
		if !ok {
			p.fail("the name %q is not known", w)
		}
		return e
	}
	p.pos++
	args := []sym.Expr{p.deeper(p.sum)}
	for p.eat(",") && len(args) < maxDepth {
		args = append(args, p.deeper(p.sum))
	}
	p.expect(")")
	if p.err != nil {
		return sym.Expr{}
	}
	if len(args) < 2 || w != "xor" && len(args) != 2 {
		p.fail("%s takes two arguments", w)
		return sym.Expr{}
	}
	switch w {
	case "ceil_div":
		if lo, _ := args[1].Range(); lo < 1 {
			p.fail("the divisor %s must be positive", args[1])
			return sym.Expr{}
		}
		up := p.checked(sym.Expr.AddOK, args[0], args[1]) // rounding up must not wrap
		if p.err != nil {
			return up
		}
		return args[0].CeilDiv(args[1])
	case "min":
		return args[0].Min(args[1])
	case "max":
		return args[0].Max(args[1])
	}
	e := args[0]
	for _, a := range args[1:] {
		e = e.Xor(a)
	}
	return e
}
