package ptx

import (
	"math"
	"strconv"
	"strings"
)

// isFloat tells a floating-point number from an integer.
func isFloat(text string) bool {
	if len(text) > 1 && text[0] == '0' && strings.IndexByte("fFdD", text[1]) >= 0 {
		return true
	}
	hex := len(text) > 1 && text[0] == '0' && strings.IndexByte("xX", text[1]) >= 0
	return !hex && strings.ContainsAny(text, ".eE")
}

// floatNext tells whether a floating-point number follows the sign that is the next token.
func (s *scanner) floatNext() bool {
	ahead := *s
	t := ahead.next()
	return t.kind == tokenNumber && isFloat(t.text)
}

// float reads a floating-point number: 0f with eight hexadecimal digits (single), 0d with sixteen, or decimal (double).
func (p *parser) float() (bits uint64, single bool) {
	negative := p.accept("-")
	t := p.advance()
	text := strings.ToLower(t.text)
	var v float64
	switch {
	case strings.HasPrefix(text, "0f"), strings.HasPrefix(text, "0d"):
		digits := map[byte]int{'f': 8, 'd': 16}[text[1]]
		n, err := strconv.ParseUint(text[2:], 16, digits*4)
		if err != nil || len(text)-2 != digits {
			p.fail(t.line, "expected %s with %d hexadecimal digits, but got %s", t.text[:2], digits, t.text)
		}
		if negative {
			n ^= 1 << (digits*4 - 1)
		}
		return n, digits == 8
	default:
		var err error
		if v, err = strconv.ParseFloat(text, 64); err != nil {
			p.fail(t.line, "expected a number, but got %s", t.text)
		}
	}
	if negative {
		v = -v
	}
	return math.Float64bits(v), false
}

// integer reads an integer that fits int.
func (p *parser) integer(what string) int {
	if p.tok.kind != tokenNumber || isFloat(p.tok.text) {
		p.fail(p.tok.line, "expected %s, but got %s", what, describe(p.tok))
	}
	line := p.tok.line
	n := p.literal()
	if n > math.MaxInt32*256 || n < 0 {
		p.fail(line, "expected %s, but got %d", what, n)
	}
	return int(n)
}

// literal reads one integer literal, of which 64 bits count.
func (p *parser) literal() int64 {
	t := p.advance()
	text := strings.TrimRight(t.text, "uU")
	base, digits := 10, text
	switch {
	case len(text) > 1 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X'):
		base, digits = 16, text[2:]
	case len(text) > 1 && text[0] == '0' && (text[1] == 'b' || text[1] == 'B'):
		base, digits = 2, text[2:]
	case len(text) > 1 && text[0] == '0':
		base, digits = 8, text[1:]
	}
	n, err := strconv.ParseUint(digits, base, 64)
	if err != nil {
		p.fail(t.line, "expected an integer of at most 64 bits, but got %s", t.text)
	}
	return int64(n)
}

// binary are the operators of constant expressions by their precedence, which is C's.
var binary = map[string]int{
	"||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7,
	"<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}

// expression reads a constant expression of operators that bind more than least.
func (p *parser) expression(least int) int64 {
	v := p.unary(0)
	for {
		op := p.tok
		prec := binary[op.text]
		if op.kind != tokenMark || prec <= least {
			return v
		}
		p.advance()
		w := p.expression(prec)
		if (op.text == "/" || op.text == "%") && w == 0 {
			p.fail(op.line, "expected a divisor that is not zero")
		}
		v = apply(op.text, v, w)
	}
}

// apply computes a binary operator.
func apply(op string, v, w int64) int64 {
	truth := func(b bool) int64 {
		if b {
			return 1
		}
		return 0
	}
	switch op {
	case "||":
		return truth(v != 0 || w != 0)
	case "&&":
		return truth(v != 0 && w != 0)
	case "|":
		return v | w
	case "^":
		return v ^ w
	case "&":
		return v & w
	case "==":
		return truth(v == w)
	case "!=":
		return truth(v != w)
	case "<":
		return truth(v < w)
	case ">":
		return truth(v > w)
	case "<=":
		return truth(v <= w)
	case ">=":
		return truth(v >= w)
	case "<<":
		return v << uint64(w)
	case ">>":
		return v >> uint64(w)
	case "+":
		return v + w
	case "-":
		return v - w
	case "*":
		return v * w
	case "/":
		if v == math.MinInt64 && w == -1 {
			return v
		}
		return v / w
	}
	if w == -1 {
		return 0
	}
	return v % w
}

// unary reads a literal, an expression in parentheses, or one with a sign.
func (p *parser) unary(depth int) int64 {
	if depth > 100 {
		p.fail(p.tok.line, "expected at most 100 operators in a row")
	}
	switch t := p.tok; {
	case p.accept("-"):
		return -p.unary(depth + 1)
	case p.accept("+"):
		return p.unary(depth + 1)
	case p.accept("~"):
		return ^p.unary(depth + 1)
	case p.accept("!"):
		return apply("==", p.unary(depth+1), 0)
	case p.accept("("):
		p.nest(1)
		v := p.expression(0)
		p.nest(-1)
		p.expect(")", "after an expression")
		return v
	case t.kind == tokenNumber && !isFloat(t.text):
		return p.literal()
	default:
		p.fail(t.line, "expected an integer, but got %s", describe(t))
		return 0
	}
}

// nest counts what is open, so that no text exhausts the stack.
func (p *parser) nest(n int) {
	if p.nested += n; p.nested > 100 {
		p.fail(p.tok.line, "expected at most 100 open parentheses or braces")
	}
}

// offset reads +N or -N.
func (p *parser) offset() int64 {
	if p.accept("-") {
		return -p.unary(0)
	}
	p.expect("+", "before an offset")
	return p.unary(0)
}
