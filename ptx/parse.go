package ptx

import (
	"fmt"
	"strconv"
	"strings"
)

// Parse reads a module; file is its name in errors. The error is an *Error, the first place that is no PTX.
func Parse(file string, text []byte) (m *Module, err error) {
	p := &parser{m: &Module{File: file, Files: map[int]string{}}}
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *Error: // thrown by fail
			m, err = nil, e
		default:
			panic(e)
		}
	}()
	blank, open := blankComments(string(text))
	if open > 0 {
		p.fail(open, "expected */ to end the comment that begins here")
	}
	p.scan = scanner{text: blank, line: 1}
	p.advance()
	p.module()
	return p.m, nil
}

// parser is a recursive-descent parser with one token of lookahead.
type parser struct {
	scan   scanner
	tok    token // the next one
	m      *Module
	f      *Func
	loc    Loc
	scopes []*scope       // the open braces, the function's first
	taken  map[string]int // names of registers and variables of the function, and
	labels map[string]int // of labels, with the number to try next
	nested int            // parentheses and braces that are open in an expression or initial value
}

func (p *parser) fail(line int, format string, args ...any) {
	panic(&Error{p.m.File, line, fmt.Sprintf(format, args...)})
}

func (p *parser) advance() token {
	t := p.tok
	p.tok = p.scan.next()
	return t
}

// describe shows a token in an error.
func describe(t token) string {
	switch t.kind {
	case tokenEnd:
		return "the end of the text"
	case tokenString:
		return strconv.Quote(t.text)
	}
	return t.text
}

// is tells whether the next token is a mark or word of that text.
func (p *parser) is(text string) bool { return p.tok.text == text && p.tok.kind != tokenString }

// accept passes the next token if it is that one.
func (p *parser) accept(text string) bool {
	if !p.is(text) {
		return false
	}
	p.advance()
	return true
}

func (p *parser) expect(text, where string) {
	if !p.accept(text) {
		p.fail(p.tok.line, "expected %s %s, but got %s", text, where, describe(p.tok))
	}
}

func (p *parser) name(what string) token {
	if p.tok.kind != tokenWord || p.tok.text[0] == '.' {
		p.fail(p.tok.line, "expected %s, but got %s", what, describe(p.tok))
	}
	return p.advance()
}

// module reads the whole text.
func (p *parser) module() {
	for p.tok.kind != tokenEnd {
		t := p.tok
		switch t.text {
		case ".version", ".target":
			values := strings.Split(strings.TrimSpace(p.scan.restOfLine()), ",")
			for i := range values {
				values[i] = strings.TrimSpace(values[i])
			}
			if t.text == ".version" {
				p.m.Version = values[0]
			} else {
				p.m.Targets = values
			}
			p.advance()
		case ".address_size":
			p.advance()
			p.m.AddressSize = p.integer("the size of an address")
		case ".file":
			p.file()
		case ".section":
			p.section()
		case ".loc":
			p.location()
		case ".pragma":
			p.untilSemicolon()
		case ";":
			p.advance()
		case ".alias":
			p.fail(t.line, ".alias is not supported")
		default:
			p.declaration()
		}
	}
	if p.m.Version == "" {
		p.fail(1, "expected PTX, which begins with .version")
	}
	if p.m.AddressSize == 0 {
		p.m.AddressSize = 64
	}
}

func (p *parser) untilSemicolon() {
	line := p.tok.line
	for !p.accept(";") {
		if p.tok.kind == tokenEnd {
			p.fail(line, "expected ; to end the directive that begins here")
		}
		p.advance()
	}
}

// file reads .file N "name" with numbers that may follow.
func (p *parser) file() {
	line := p.advance().line
	n := p.integer("the number of a file")
	if p.tok.kind != tokenString {
		p.fail(line, "expected the name of a file in quotes, but got %s", describe(p.tok))
	}
	p.m.Files[n] = p.advance().text
	for p.accept(",") {
		p.integer("a time or size")
	}
}

// section skips debugging information.
func (p *parser) section() {
	line := p.advance().line
	for !p.accept("{") {
		if p.tok.kind == tokenEnd {
			p.fail(line, "expected { to open the section")
		}
		p.advance()
	}
	for !p.accept("}") {
		if p.tok.kind == tokenEnd {
			p.fail(line, "expected } to close the section that begins here")
		}
		p.advance()
	}
}

// location reads .loc FILE LINE COLUMN, of which the rest of the line (function_name, inlined_at) is left out.
func (p *parser) location() {
	line := p.tok.line
	f := strings.FieldsFunc(p.scan.restOfLine(), func(r rune) bool { return r == ' ' || r == '\t' || r == ',' || r == '\r' })
	var n [3]int
	for i := range n {
		if i >= len(f) {
			p.fail(line, "expected .loc FILE LINE COLUMN")
		}
		v, err := strconv.Atoi(f[i])
		if err != nil {
			p.fail(line, "expected .loc FILE LINE COLUMN, but got %q", f[i])
		}
		n[i] = v
	}
	p.loc = Loc{n[0], n[1], n[2]}
	p.advance()
}

// linking are the words before a declaration that say who sees it.
var linking = map[string]bool{".visible": true, ".extern": true, ".weak": true, ".common": true}

// declaration reads a variable or function of module scope.
func (p *parser) declaration() {
	extern := false
	for linking[p.tok.text] {
		extern = p.advance().text == ".extern" || extern
	}
	switch t := p.tok; t.text {
	case ".entry", ".func":
		p.function(t.text == ".entry")
	default:
		p.m.Vars = append(p.m.Vars, p.variables(extern)...)
		p.expect(";", "after a variable")
	}
}

// function reads a kernel or device function.
func (p *parser) function(entry bool) {
	f := &Func{Line: p.advance().line, Entry: entry, Directives: map[string][]int{}, labels: map[string]int{}}
	p.f, p.loc, p.scopes, p.taken, p.labels = f, Loc{}, []*scope{newScope()}, map[string]int{}, map[string]int{}
	if p.is("(") {
		f.Results = p.params()
	}
	f.Name = p.name("the name of a function").text
	if p.is("(") {
		f.Params = p.params()
	}
	p.directives()
	p.m.Funcs = append(p.m.Funcs, f)
	if p.accept(";") {
		return
	}
	line := p.tok.line
	p.expect("{", "to open the body of "+f.Name)
	f.Body = []Instr{}
	p.body(line)
	p.f = nil
}

func (p *parser) params() []*Var {
	var out []*Var
	p.expect("(", "before parameters")
	for !p.accept(")") {
		if len(out) > 0 {
			p.expect(",", "between parameters")
		}
		vs := p.variables(false)
		out = append(out, vs...)
		p.declare(vs[0])
	}
	return out
}

// directives reads what stands between a function's parameters and its body, such as .maxntid 128, 1, 1.
func (p *parser) directives() {
	for p.tok.kind == tokenWord && p.tok.text[0] == '.' {
		t := p.advance()
		if t.text == ".pragma" {
			p.untilSemicolon()
			continue
		}
		values := []int{}
		for p.tok.kind == tokenNumber {
			values = append(values, p.integer("a number"))
			if !p.accept(",") {
				break
			}
		}
		p.f.Directives[t.text[1:]] = values
	}
}

// body reads statements to the brace that closes the function.
func (p *parser) body(line int) {
	for depth := 1; depth > 0; {
		t := p.tok
		switch {
		case t.kind == tokenEnd:
			p.fail(line, "expected } to close the body of %s", p.f.Name)
		case t.text == "{":
			p.advance()
			p.scopes = append(p.scopes, newScope())
			depth++
		case t.text == "}":
			p.closeScope()
			if depth--; depth == 0 {
				p.loc = Loc{}
			}
			p.advance()
		case t.text == ";":
			p.advance()
		case t.text == ".loc":
			p.location()
		case t.text == ".pragma":
			p.untilSemicolon()
		case t.text == ".file":
			p.file()
		case t.kind == tokenWord && t.text[0] == '.':
			p.local()
		default:
			p.statement()
		}
	}
}

// local reads a declaration inside a function.
func (p *parser) local() {
	switch t := p.tok; t.text {
	case ".reg":
		p.registers()
	case ".shared", ".local", ".param", ".const", ".global":
		for _, v := range p.variables(false) {
			p.declare(v)
			p.f.Vars = append(p.f.Vars, v)
		}
		p.expect(";", "after a variable")
	default:
		p.fail(t.line, "the directive %s is not supported here", t.text)
	}
}

// registers reads .reg TYPE NAME, NAME<N>, …;
func (p *parser) registers() {
	p.advance()
	for p.is(".v2") || p.is(".v4") {
		p.fail(p.tok.line, "registers of vectors are not supported")
	}
	typ := p.typ()
	s := p.scopes[len(p.scopes)-1]
	for {
		t := p.name("the name of a register")
		if p.accept("<") {
			n := p.integer("how many registers")
			p.expect(">", "after the number of registers")
			if _, again := s.ranges[t.text]; again {
				p.fail(t.line, "%s is declared twice", t.text)
			}
			s.ranges[t.text] = span{n, typ}
		} else {
			if _, again := s.names[t.text]; again {
				p.fail(t.line, "%s is declared twice", t.text)
			}
			s.names[t.text] = symbol{reg: p.newRegister(t.text, typ)}
		}
		if !p.accept(",") {
			break
		}
	}
	p.expect(";", "after registers")
}

// typ reads a type.
func (p *parser) typ() Type {
	t := p.tok
	typ, ok := TypeOf(strings.TrimPrefix(t.text, "."))
	if t.kind != tokenWord || t.text[0] != '.' || !ok {
		p.fail(t.line, "expected a type such as .u32, but got %s", describe(t))
	}
	p.advance()
	return typ
}
