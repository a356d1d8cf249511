package ptx

import "strings"

// statement reads a label or an instruction.
func (p *parser) statement() {
	in := Instr{Line: p.tok.line, Loc: p.loc, Guard: -1}
	if p.accept("@") {
		in.Not = p.accept("!")
		t := p.name("a predicate")
		in.Guard = p.register(t)
		if p.f.Registers[in.Guard].Type.Class != Predicate {
			p.fail(t.line, "expected a predicate after @, but %s is of type %s", t.text, p.f.Registers[in.Guard].Type)
		}
	}
	t := p.name("an instruction")
	if p.is(":") {
		p.advance()
		if in.Guard >= 0 {
			p.fail(t.line, "expected an instruction after the predicate, but got the label %s", t.text)
		}
		p.label(t)
		if p.tok.text == ".branchtargets" || p.tok.text == ".calltargets" || p.tok.text == ".callprototype" {
			p.fail(p.tok.line, "%s is not supported", p.tok.text)
		}
		return
	}
	in.Op = t.text
	// A type may stand apart: mov .u32 a, b;
	for p.tok.kind == tokenWord && p.tok.text[0] == '.' {
		in.Op += p.advance().text
	}
	in.Words = strings.Split(in.Op, ".")
	for !p.accept(";") {
		if len(in.Args) > 0 {
			p.expect(",", "or ; after an operand of "+in.Op)
		}
		in.Args = append(in.Args, p.operand(0))
	}
	p.f.Body = append(p.f.Body, in)
}

// register finds a register by its token.
func (p *parser) register(t token) int {
	if s, ok := p.lookup(t.text); ok && s.reg >= 0 {
		return s.reg
	}
	p.fail(t.line, "the register %s is not declared", t.text)
	return 0
}

// operand reads one operand.
func (p *parser) operand(depth int) Operand {
	if depth > 4 {
		p.fail(p.tok.line, "operands are nested too deeply")
	}
	switch t := p.tok; {
	case p.accept("["):
		return p.address(depth)
	case p.accept("{"):
		return Operand{Kind: VectorOperand, List: p.list("}", depth)}
	case t.text == "(" && t.kind == tokenMark && p.f.Body != nil && p.tuple():
		p.advance()
		return Operand{Kind: TupleOperand, List: p.list(")", depth)}
	case t.text == "_" && t.kind == tokenWord:
		p.advance()
		return p.pair(Operand{Kind: SinkOperand, Second: -1})
	case p.is("!") && p.wordNext():
		p.advance()
		o := p.word(p.name("a predicate"))
		o.Not = true
		return o
	case t.kind == tokenWord:
		return p.word(p.name("an operand"))
	case t.kind == tokenNumber && isFloat(t.text), p.is("-") && p.scan.floatNext():
		bits, single := p.float()
		return Operand{Kind: FloatOperand, Bits: bits, Single: single}
	}
	return Operand{Kind: NumberOperand, Bits: uint64(p.expression(0))}
}

// tuple tells (a, b) of a call from an expression in parentheses.
func (p *parser) tuple() bool {
	ahead := p.scan
	t := ahead.next()
	return t.kind == tokenWord || t.text == ")"
}

// wordNext tells whether a word follows the next token.
func (p *parser) wordNext() bool {
	ahead := p.scan
	return ahead.next().kind == tokenWord
}

// list reads operands to the closing mark.
func (p *parser) list(end string, depth int) []Operand {
	out := []Operand{}
	for !p.accept(end) {
		if len(out) > 0 {
			p.expect(",", "or "+end+" between operands")
		}
		out = append(out, p.operand(depth+1))
	}
	return out
}

// word makes an operand of a name: a register, a special register, a variable, a function or a label.
func (p *parser) word(t token) Operand {
	o := Operand{Second: -1}
	base, field, dotted := strings.Cut(t.text, ".")
	s, ok := p.lookup(t.text)
	if !ok && dotted {
		if s, ok = p.lookup(base); ok {
			o.Field = field
		}
	}
	switch {
	case ok && s.reg >= 0:
		o.Kind, o.Reg = RegisterOperand, s.reg
		o = p.pair(o)
	case strings.HasPrefix(t.text, "%"):
		if !special[base] {
			p.fail(t.line, "the register %s is not declared", t.text)
		}
		o.Kind, o.Name = SpecialOperand, t.text
	default:
		o.Kind, o.Name = NameOperand, s.name
		if !ok || o.Field != "" {
			o.Name, o.Field = t.text, ""
			inner := p.scopes[len(p.scopes)-1]
			inner.fixups = append(inner.fixups, fixup{t.text, t.line, len(p.f.Body)})
		}
		if p.is("+") || p.is("-") {
			o.Offset = p.offset()
		}
	}
	return o
}

// pair reads the second half of p|q, if there is one.
func (p *parser) pair(o Operand) Operand {
	if p.accept("|") {
		o.Pair = true
		if s := p.name("a register"); s.text != "_" {
			o.Second = p.register(s)
		}
	}
	return o
}

// special are the registers that the machine declares.
var special = func() map[string]bool {
	m := map[string]bool{}
	for name := range strings.FieldsSeq("%tid %ntid %laneid %warpid %nwarpid %ctaid %nctaid %smid %nsmid %gridid " +
		"%is_explicit_cluster %clusterid %nclusterid %cluster_ctaid %cluster_nctaid %cluster_ctarank %cluster_nctarank " +
		"%lanemask_eq %lanemask_le %lanemask_lt %lanemask_ge %lanemask_gt %clock %clock_hi %clock64 %globaltimer %globaltimer_lo %globaltimer_hi " +
		"%total_smem_size %aggr_smem_size %dynamic_smem_size %reserved_smem_offset_begin %current_graph_exec WARP_SZ") {
		m[name] = true
	}
	return m
}()

// address reads what stands in brackets: a register, name or number, an offset, and coordinates or further operands.
func (p *parser) address(depth int) Operand {
	o := Operand{Kind: AddressOperand, Second: -1}
	base := p.operand(depth + 1)
	if base.Not || base.Pair {
		p.fail(p.tok.line, "expected a register, a name or a number in brackets, but got a predicate")
	}
	switch base.Kind {
	case RegisterOperand:
		if p.is("+") || p.is("-") {
			o.Offset = p.offset()
		}
	case NameOperand:
		o.Offset, base.Offset = base.Offset, 0
	case NumberOperand:
	default:
		p.fail(p.tok.line, "expected a register, a name or a number in brackets")
	}
	o.Base = &base
	for p.accept(",") {
		o.List = append(o.List, p.operand(depth+1))
	}
	p.expect("]", "after an address")
	return o
}
