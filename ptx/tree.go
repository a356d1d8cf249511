package ptx

import "slices"

// Module is one PTX text.
type Module struct {
	File        string         // the name that it was parsed under
	Version     string         // such as 9.0
	Targets     []string       // of .target: sm_90a and options
	AddressSize int            // 32 or 64
	Files       map[int]string // source files by their numbers in .loc
	Vars        []*Var         // of module scope
	Funcs       []*Func        // kernels and functions, those declared only among them (Body is nil)
}

// Func returns the kernel or function of that name that has a body.
func (m *Module) Func(name string) (*Func, bool) {
	i := slices.IndexFunc(m.Funcs, func(f *Func) bool { return f.Name == name && f.Body != nil })
	if i < 0 {
		return nil, false
	}
	return m.Funcs[i], true
}

// Entries are the kernels with bodies, in the order of the text.
func (m *Module) Entries() []*Func {
	var out []*Func
	for _, f := range m.Funcs {
		if f.Entry && f.Body != nil {
			out = append(out, f)
		}
	}
	return out
}

// Var is a variable in memory, or a parameter.
type Var struct {
	Name   string
	Line   int
	Space  Space
	Type   Type
	Align  int // bytes; 0 where the text names none
	Vector int // 1, 2 or 4
	Array  bool
	Count  int // elements of an array; 0 of one whose size the launch decides
	Init   []Init
	Extern bool
	Ptr    bool // a parameter declared .ptr
}

// Bytes is the variable's size.
func (v *Var) Bytes() int {
	n := v.Type.Bytes() * v.Vector
	if v.Array {
		n *= v.Count
	}
	return n
}

// Init is one initial value: bits, or the address of a symbol plus Bits.
type Init struct {
	Symbol  string
	Bits    uint64
	Generic bool // generic(symbol)
}

// Register is a virtual register of a function.
type Register struct {
	Name string
	Type Type
}

// Func is a kernel (Entry) or a device function.
type Func struct {
	Name       string
	Line       int
	Entry      bool
	Params     []*Var
	Results    []*Var           // of a device function
	Directives map[string][]int // maxntid, reqntid, minnctapersm, maxnreg, reqnctapercluster, explicitcluster, …
	Registers  []Register       // that the body uses, by different names
	Vars       []*Var           // shared, local and param variables that are declared inside, by different names
	Body       []Instr          // nil if only declared
	labels     map[string]int
}

// Label is the index in Body of the instruction that the label stands before; len(Body) is the end.
func (f *Func) Label(name string) (int, bool) {
	i, ok := f.labels[name]
	return i, ok
}

// Labels are the labels that stand before instruction i, sorted.
func (f *Func) Labels(i int) []string {
	var out []string
	for name, at := range f.labels {
		if at == i {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// Loc is a line of the source; File 0 is none.
type Loc struct{ File, Line, Column int }

// Instr is one instruction.
type Instr struct {
	Line  int      // of the PTX text
	Loc   Loc      // of the last .loc before it
	Guard int      // index of the predicate register; -1 for none
	Not   bool     // @!p
	Op    string   // with all modifiers, such as ld.global.nc.v4.u32
	Words []string // Op split at its dots: ld, global, nc, v4, u32; qualifiers such as shared::cta stay whole
	Args  []Operand
}

// Has reports whether the word is among the modifiers.
func (i *Instr) Has(word string) bool { return slices.Contains(i.Words[1:], word) }

// Kind says what an operand is.
type Kind uint8

// The kinds of operands.
const (
	RegisterOperand Kind = iota // Reg, Not
	SpecialOperand              // Name, such as %tid.x
	NumberOperand               // Bits, sign-extended
	FloatOperand                // Bits, of 32 bits where Single, else of 64
	NameOperand                 // Name: the address of a variable, a function or a label
	AddressOperand              // [Base+Offset], with List where coordinates follow
	VectorOperand               // {List}
	TupleOperand                // (List), of call
	SinkOperand                 // _
)

// Operand is an operand of an instruction.
type Operand struct {
	Kind   Kind
	Reg    int    // index in Func.Registers
	Second int    // of p|q: the register after the bar, -1 for none or for _
	Pair   bool   // it was p|q
	Not    bool   // !p
	Field  string // of a vector register's part: x, y, …; empty for none
	Name   string
	Bits   uint64
	Single bool
	Base   *Operand // of an address: a register, name or number
	Offset int64    // of an address, bytes; of a name, as in var+8
	List   []Operand
}
