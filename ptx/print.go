package ptx

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// String writes the module as PTX. A parse of it gives the same tree but for the lines.
func (m *Module) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, ".version %s\n", m.Version)
	if m.Targets != nil {
		fmt.Fprintf(&b, ".target %s\n", strings.Join(m.Targets, ", "))
	}
	fmt.Fprintf(&b, ".address_size %d\n", m.AddressSize)
	for _, n := range slices.Sorted(maps.Keys(m.Files)) {
		fmt.Fprintf(&b, ".file %d \"%s\"\n", n, m.Files[n])
	}
	for _, v := range m.Vars {
		b.WriteString(v.String() + ";\n")
	}
	for _, f := range m.Funcs {
		f.print(&b)
	}
	return b.String()
}

// String writes the declaration without its semicolon.
func (v *Var) String() string {
	var b strings.Builder
	if v.Extern {
		b.WriteString(".extern ")
	}
	fmt.Fprintf(&b, ".%s", v.Space)
	if v.Align > 0 {
		fmt.Fprintf(&b, " .align %d", v.Align)
	}
	if v.Vector > 1 {
		fmt.Fprintf(&b, " .v%d", v.Vector)
	}
	fmt.Fprintf(&b, " %s", v.Type)
	if v.Ptr {
		b.WriteString(" .ptr")
	}
	fmt.Fprintf(&b, " %s", v.Name)
	switch {
	case v.Array && v.Count > 0:
		fmt.Fprintf(&b, "[%d]", v.Count)
	case v.Array:
		b.WriteString("[]")
	}
	if len(v.Init) == 0 {
		return b.String()
	}
	values := make([]string, len(v.Init))
	for i, in := range v.Init {
		values[i] = in.String()
	}
	fmt.Fprintf(&b, " = {%s}", strings.Join(values, ", "))
	return b.String()
}

// String writes an initial value.
func (in Init) String() string {
	if in.Symbol == "" {
		return fmt.Sprintf("%#x", in.Bits)
	}
	name := in.Symbol
	if in.Generic {
		name = "generic(" + name + ")"
	}
	return name + offset(int64(in.Bits))
}

// offset writes +N or -N, nothing for 0.
func offset(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%+d", n)
}

func (f *Func) print(b *strings.Builder) {
	params := func(vs []*Var) string {
		out := make([]string, len(vs))
		for i, v := range vs {
			out[i] = v.String()
		}
		return "(" + strings.Join(out, ", ") + ")"
	}
	b.WriteString("\n")
	if f.Entry {
		b.WriteString(".visible .entry ")
	} else {
		b.WriteString(".visible .func ")
	}
	if f.Results != nil {
		b.WriteString(params(f.Results) + " ")
	}
	b.WriteString(f.Name + params(f.Params))
	for _, d := range slices.Sorted(maps.Keys(f.Directives)) {
		values := make([]string, len(f.Directives[d]))
		for i, n := range f.Directives[d] {
			values[i] = strconv.Itoa(n)
		}
		b.WriteString("\n." + d + " " + strings.Join(values, ", "))
	}
	if f.Body == nil {
		b.WriteString(";\n")
		return
	}
	b.WriteString("\n{\n")
	for _, r := range f.Registers {
		fmt.Fprintf(b, "\t.reg %s %s;\n", r.Type, r.Name)
	}
	for _, v := range f.Vars {
		b.WriteString("\t" + v.String() + ";\n")
	}
	f.printBody(b)
	b.WriteString("}\n")
}

func (f *Func) printBody(b *strings.Builder) {
	labels := map[int][]string{}
	for name, at := range f.labels {
		labels[at] = append(labels[at], name)
	}
	loc := Loc{}
	for i := range len(f.Body) + 1 {
		slices.Sort(labels[i])
		for _, l := range labels[i] {
			b.WriteString(l + ":\n")
		}
		if i == len(f.Body) {
			return
		}
		in := &f.Body[i]
		if in.Loc != loc {
			loc = in.Loc
			fmt.Fprintf(b, "\t.loc %d %d %d\n", loc.File, loc.Line, loc.Column)
		}
		b.WriteString("\t" + f.Text(in) + ";\n")
	}
}

// Text writes an instruction of f without its semicolon.
func (f *Func) Text(in *Instr) string {
	out := f.Predicate(in)
	if out != "" {
		out += " "
	}
	out += in.Op
	if len(in.Args) > 0 {
		out += " " + f.Operands(in.Args)
	}
	return out
}

// Predicate writes what an instruction depends on, such as @!%p1; nothing where it depends on nothing.
func (f *Func) Predicate(in *Instr) string {
	switch {
	case in.Guard < 0:
		return ""
	case in.Not:
		return "@!" + f.Registers[in.Guard].Name
	}
	return "@" + f.Registers[in.Guard].Name
}

// Operands writes operands between commas.
func (f *Func) Operands(args []Operand) string {
	out := make([]string, len(args))
	for i := range args {
		out[i] = f.operand(&args[i])
	}
	return strings.Join(out, ", ")
}

func (f *Func) operand(o *Operand) string {
	var s string
	switch o.Kind {
	case RegisterOperand:
		s = f.Registers[o.Reg].Name
		if o.Field != "" {
			s += "." + o.Field
		}
	case SpecialOperand:
		s = o.Name
	case NumberOperand:
		return strconv.FormatInt(int64(o.Bits), 10)
	case FloatOperand:
		if o.Single {
			return fmt.Sprintf("0f%08X", o.Bits)
		}
		return fmt.Sprintf("0d%016X", o.Bits)
	case NameOperand:
		s = o.Name + offset(o.Offset)
	case AddressOperand:
		s = f.operand(o.Base) + offset(o.Offset)
		if len(o.List) > 0 {
			s += ", " + f.Operands(o.List)
		}
		return "[" + s + "]"
	case VectorOperand:
		return "{" + f.Operands(o.List) + "}"
	case TupleOperand:
		return "(" + f.Operands(o.List) + ")"
	case SinkOperand:
		s = "_"
	}
	if o.Not {
		s = "!" + s
	}
	if o.Pair {
		second := "_"
		if o.Second >= 0 {
			second = f.Registers[o.Second].Name
		}
		s += "|" + second
	}
	return s
}
