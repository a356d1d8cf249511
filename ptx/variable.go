package ptx

import (
	"math"
	"strings"
)

// variables reads SPACE [.align N] [.vN] TYPE NAME[DIMS] [= INIT], …, without the semicolon.
func (p *parser) variables(extern bool) []*Var {
	v := Var{Line: p.tok.line, Vector: 1, Extern: extern}
	space, _, ok := SpaceOf(strings.TrimPrefix(p.tok.text, "."))
	if p.tok.kind != tokenWord || p.tok.text[0] != '.' || !ok || space == Reg && p.f == nil {
		p.fail(p.tok.line, "expected a declaration, but got %s", describe(p.tok))
	}
	p.advance()
	v.Space = space
	typed := false
	for p.tok.kind == tokenWord && p.tok.text[0] == '.' {
		switch word := p.tok.text; word {
		case ".align":
			p.advance()
			v.Align = p.integer("an alignment in bytes")
			if v.Align < 1 || v.Align&(v.Align-1) != 0 {
				p.fail(v.Line, "expected an alignment that is a power of two, but got %d", v.Align)
			}
		case ".v2", ".v4":
			p.advance()
			v.Vector = int(word[2] - '0')
		case ".ptr":
			p.advance()
			v.Ptr = true
		case ".attribute":
			p.advance()
			p.expect("(", "after .attribute")
			for !p.accept(")") {
				if p.tok.kind == tokenEnd {
					p.fail(v.Line, "expected ) after the attributes")
				}
				p.advance()
			}
		default:
			if _, isSpace := spaces[word[1:]]; v.Ptr && isSpace {
				p.advance() // .param .u64 .ptr .global .align 16 name
				continue
			}
			v.Type, typed = p.typ(), true
		}
	}
	if !typed {
		p.fail(v.Line, "expected a type such as .u32, but got %s", describe(p.tok))
	}
	var out []*Var
	for {
		out = append(out, p.variable(v))
		if v.Space == Param || !p.accept(",") {
			return out
		}
	}
}

// variable reads a name with its dimensions and initial values.
func (p *parser) variable(v Var) *Var {
	v.Name, v.Count = p.name("the name of a variable").text, 1
	for p.accept("[") {
		v.Array = true
		if p.accept("]") {
			v.Count = 0
			continue
		}
		n := p.integer("the extent of an array")
		const most = 1 << 40
		if n < 0 || n > 0 && v.Count > most/n {
			p.fail(v.Line, "expected an array of at most 2^40 elements")
		}
		v.Count *= n
		p.expect("]", "after the extent of an array")
	}
	if p.accept("=") {
		v.Init = p.initial(v.Type, nil)
		if v.Array && v.Count == 0 {
			v.Count = len(v.Init) / v.Vector
		}
		if len(v.Init) > v.Count*v.Vector {
			p.fail(v.Line, "expected at most %d initial values of %s, but got %d", v.Count*v.Vector, v.Name, len(v.Init))
		}
	}
	return &v
}

// initial reads values of a type, nested braces as one list.
func (p *parser) initial(typ Type, out []Init) []Init {
	if p.accept("{") {
		p.nest(1)
		defer p.nest(-1)
		for !p.accept("}") {
			out = p.initial(typ, out)
			if !p.accept(",") && !p.is("}") {
				p.fail(p.tok.line, "expected , or } after an initial value, but got %s", describe(p.tok))
			}
		}
		return out
	}
	if p.tok.kind == tokenWord {
		in := Init{Symbol: p.name("an initial value").text}
		if p.is("(") {
			if in.Symbol != "generic" {
				p.fail(p.tok.line, "the operator %s is not supported in initial values", in.Symbol)
			}
			p.advance()
			in.Symbol, in.Generic = p.name("the name of a variable").text, true
			p.expect(")", "after generic(")
		}
		if p.is("+") || p.is("-") {
			in.Bits = uint64(p.offset())
		}
		return append(out, in)
	}
	if p.tok.kind == tokenNumber && isFloat(p.tok.text) || p.is("-") && p.scan.floatNext() {
		bits, single := p.float()
		switch {
		case single && typ.Bits == 64:
			bits = math.Float64bits(float64(math.Float32frombits(uint32(bits))))
		case !single && typ.Bits == 32:
			bits = uint64(math.Float32bits(float32(math.Float64frombits(bits))))
		}
		return append(out, Init{Bits: bits})
	}
	return append(out, Init{Bits: uint64(p.expression(0))})
}
