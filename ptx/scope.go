package ptx

import "strconv"

// scope is what one pair of braces declares.
type scope struct {
	names  map[string]symbol
	ranges map[string]span   // of .reg .b32 %r<N>, by the prefix
	labels map[string]string // their names in Func, which differ where an outer or earlier scope has the same
	fixups []fixup
}

func newScope() *scope {
	return &scope{names: map[string]symbol{}, ranges: map[string]span{}, labels: map[string]string{}}
}

// symbol is a register, or a variable under the name that Func has it by.
type symbol struct {
	reg  int // -1 for a variable
	name string
}

// span are N registers of which only those are made that the text uses.
type span struct {
	n   int
	typ Type
}

// fixup is a name in an instruction that is neither register nor variable where it stands: a label of this scope or one
// around it, or something of the module.
type fixup struct {
	name  string
	line  int
	instr int
}

// unique finds a name that is not taken yet: braces may declare one name again and again.
func unique(taken map[string]int, name string) string {
	next, used := taken[name]
	if !used {
		taken[name] = 1
		return name
	}
	for ; ; next++ {
		out := name + "$" + strconv.Itoa(next)
		if _, used := taken[out]; !used {
			taken[name], taken[out] = next+1, 1
			return out
		}
	}
}

// newRegister adds a register to the function.
func (p *parser) newRegister(name string, typ Type) int {
	p.f.Registers = append(p.f.Registers, Register{unique(p.taken, name), typ})
	return len(p.f.Registers) - 1
}

// declare adds a variable or parameter to the innermost scope.
func (p *parser) declare(v *Var) {
	s := p.scopes[len(p.scopes)-1]
	if _, again := s.names[v.Name]; again {
		p.fail(v.Line, "%s is declared twice", v.Name)
	}
	name := v.Name
	v.Name = unique(p.taken, name)
	s.names[name] = symbol{-1, v.Name}
}

// lookup finds a register or variable from the innermost scope outwards.
func (p *parser) lookup(name string) (symbol, bool) {
	digits := len(name)
	for digits > 1 && isDigit(name[digits-1]) && len(name)-digits < 10 {
		digits--
	}
	for i := len(p.scopes) - 1; i >= 0; i-- {
		s := p.scopes[i]
		if sym, ok := s.names[name]; ok {
			return sym, true
		}
		for at := digits; at < len(name); at++ { // the shortest prefix first
			r, ok := s.ranges[name[:at]]
			if !ok || name[at] == '0' && at+1 < len(name) {
				continue
			}
			if n, err := strconv.Atoi(name[at:]); err == nil && n < r.n {
				sym := symbol{reg: p.newRegister(name, r.typ)}
				s.names[name] = sym
				return sym, true
			}
		}
	}
	return symbol{}, false
}

// label puts a label before the next instruction.
func (p *parser) label(t token) {
	s := p.scopes[len(p.scopes)-1]
	if _, again := s.labels[t.text]; again {
		p.fail(t.line, "the label %s is declared twice", t.text)
	}
	name := unique(p.labels, t.text)
	s.labels[t.text] = name
	p.f.labels[name] = len(p.f.Body)
}

// closeScope resolves the labels that a scope declares and hands the other names on; the function's own scope has those
// of the module left.
func (p *parser) closeScope() {
	last := len(p.scopes) - 1
	s := p.scopes[last]
	var open []fixup
	for _, f := range s.fixups {
		name, ok := s.labels[f.name]
		if !ok {
			open = append(open, f)
			continue
		}
		if name != f.name {
			rename(p.f.Body[f.instr].Args, f.name, name)
		}
	}
	p.scopes = p.scopes[:last]
	if last > 0 {
		p.scopes[last-1].fixups = append(p.scopes[last-1].fixups, open...)
		return
	}
	p.resolve(open)
}

// rename changes the name of a label in an instruction's operands.
func rename(args []Operand, from, to string) {
	for i := range args {
		o := &args[i]
		if o.Kind == NameOperand && o.Name == from {
			o.Name = to
		}
		if o.Base != nil && o.Base.Kind == NameOperand && o.Base.Name == from {
			o.Base.Name = to
		}
		rename(o.List, from, to)
	}
}

// resolve checks that the module declares the names that the function does not.
func (p *parser) resolve(open []fixup) {
	if len(open) == 0 {
		return
	}
	known := map[string]bool{"WARP_SZ": true}
	for _, v := range p.m.Vars {
		known[v.Name] = true
	}
	for _, f := range p.m.Funcs {
		known[f.Name] = true
	}
	for _, f := range open {
		_, inner := p.taken[f.name]
		_, label := p.f.labels[f.name]
		switch {
		case !known[f.name]:
			p.fail(f.line, "%s is neither a label nor declared", f.name)
		case inner || label:
			p.fail(f.line, "%s is declared in braces that do not hold this instruction, and in the module; expected different names", f.name)
		}
	}
}
