package build

import (
	"slices"
	"strconv"
	"strings"
)

// Instr is one PTX instruction.
type Instr struct {
	Guard string // the predicate with its sign, such as @%p1 or @!%p1; empty if none
	Op    string // with all modifiers: ld.global.nc.v4.u32
	Args  string // operands, blanks squeezed: {%r1, %r2}, [%rd1+16]
}

// PTXEntry is one kernel of a PTX module.
type PTXEntry struct {
	Name   string
	Instrs []Instr
	// LocalBytes is the declared local memory of each thread: arrays that could
	// not become registers. Spills are made later, by ptxas, and are in its Report.
	LocalBytes int
}

// ScanPTX lists the kernels (.entry) of a PTX module with their instructions, in
// the order of the text. Device functions that were not inlined are no part of
// any kernel and are left out. It reads PTX as nvcc writes it, inline assembly
// included; it is a scanner, no validator.
func ScanPTX(ptx []byte) []PTXEntry {
	var entries []PTXEntry
	text := stripPTX(string(ptx))
	for {
		i := strings.Index(text, ".entry")
		if i < 0 {
			return entries
		}
		text = text[i+len(".entry"):]
		open := strings.IndexByte(text, '{')
		if open < 0 {
			return entries
		}
		name := strings.TrimSpace(text[:open])
		if j := strings.IndexAny(name, "( \t\n"); j >= 0 {
			name = name[:j]
		}
		e := PTXEntry{Name: name}
		end := open + 1 + e.body(text[open+1:])
		entries = append(entries, e)
		text = text[end:]
	}
}

// stripPTX blanks comments and string contents and drops the directives that
// end with their line instead of a semicolon.
func stripPTX(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		switch rest := s[i:]; {
		case strings.HasPrefix(rest, "//"):
			n := strings.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			i += n
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest[2:], "*/")
			if n < 0 {
				n = len(rest) - 4
			}
			b.WriteByte(' ')
			i += n + 4
		case rest[0] == '"':
			n := strings.IndexByte(rest[1:], '"')
			if n < 0 {
				n = len(rest) - 2
			}
			b.WriteString(`""`)
			i += n + 2
		default:
			b.WriteByte(rest[0])
			i++
		}
	}
	var out strings.Builder
	for line := range strings.Lines(b.String()) {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, ".loc") && !strings.HasPrefix(trimmed, ".local") || strings.HasPrefix(trimmed, ".file") {
			continue
		}
		out.WriteString(line)
	}
	return out.String()
}

// body reads statements up to the brace that closes the kernel and returns how
// far it read. A brace at a statement's start opens or closes a scope; one
// inside a statement belongs to a vector operand.
func (e *PTXEntry) body(s string) int {
	depth := 1
	start := 0
	fresh := true // nothing of a statement seen since start
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == ';':
			e.statement(s[start:i])
			start, fresh = i+1, true
		case c == ':' && isLabel(s[start:i]):
			start, fresh = i+1, true
		case fresh && c == '{':
			depth++
			start = i + 1
		case fresh && c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
			start = i + 1
		case c != ' ' && c != '\t' && c != '\n' && c != '\r':
			fresh = false
		}
	}
	return len(s)
}

// isLabel tells the colon after a label from one inside an instruction, such as
// that of ld.global.L2::128B: instructions have a dot or a blank before it.
func isLabel(s string) bool {
	s = strings.TrimSpace(s)
	return s != "" && !strings.ContainsAny(s, " \t\n.[({,")
}

// statement adds an instruction; of directives only local memory counts.
func (e *PTXEntry) statement(s string) {
	f := strings.Fields(s)
	if len(f) == 0 {
		return
	}
	if strings.HasPrefix(f[0], ".") {
		if f[0] == ".local" {
			e.LocalBytes += declaredBytes(f)
		}
		return
	}
	var in Instr
	if strings.HasPrefix(f[0], "@") {
		in.Guard, f = f[0], f[1:]
		if len(f) == 0 {
			return
		}
	}
	in.Op, in.Args = f[0], strings.Join(f[1:], " ")
	e.Instrs = append(e.Instrs, in)
}

// declaredBytes reads ".local .align 16 .b8 __local_depot0[48]".
func declaredBytes(f []string) int {
	size, count := 1, 1
	for _, word := range f[1:] {
		if n := typeBytes(strings.TrimPrefix(word, ".")); n > 0 && strings.HasPrefix(word, ".") {
			size = n
		}
		if _, dim, ok := strings.Cut(word, "["); ok {
			if n, err := strconv.Atoi(strings.TrimSuffix(dim, "]")); err == nil {
				count = n
			}
		}
	}
	return size * count
}

// typeBytes returns the size of a PTX type such as u32; 0 if it is none.
func typeBytes(t string) int {
	if len(t) < 2 || !strings.ContainsRune("busf", rune(t[0])) {
		return 0
	}
	switch t[1:] {
	case "8":
		return 1
	case "16":
		return 2
	case "16x2", "32":
		return 4
	case "64":
		return 8
	case "128":
		return 16
	}
	return 0
}

// Is reports whether the instruction is prefix or prefix with further modifiers.
// A modifier counts only whole: red is not redux.
func (in Instr) Is(prefix string) bool {
	return in.Op == prefix || strings.HasPrefix(in.Op, prefix+".")
}

// Accesses reports whether the instruction is op ("ld" or "st") on the state space
// ("global", "shared", "local", …), whatever modifiers stand between them, as in
// ld.relaxed.gpu.global.u32.
func (in Instr) Accesses(op, space string) bool {
	words := in.words()
	return words[0] == op && slices.ContainsFunc(words[1:], func(w string) bool {
		base, _, _ := strings.Cut(w, "::") // shared::cta, shared::cluster
		return base == space
	})
}

// Bytes returns how many bytes one thread moves by a load, a store or a cp.async of
// constant size; 0 for anything else.
func (in Instr) Bytes() int {
	words := in.words()
	switch words[0] {
	case "ld", "ldu", "st":
		n := typeBytes(words[len(words)-1])
		for _, w := range words {
			switch w {
			case "v2":
				n *= 2
			case "v4":
				n *= 4
			case "v8":
				n *= 8
			}
		}
		return n
	case "cp":
		if !in.Is("cp.async.ca") && !in.Is("cp.async.cg") {
			return 0
		}
		if args := strings.Split(in.Args, ","); len(args) >= 3 {
			// Not a number means not constant: 0 says so.
			n, _ := strconv.Atoi(strings.TrimSpace(args[2]))
			return n
		}
	}
	return 0
}

// words splits the name at its dots, leaving the :: of qualifiers alone.
func (in Instr) words() []string { return strings.Split(in.Op, ".") }

// CountPTX counts the instructions, over all kernels of the module, that are
// prefix or prefix with further modifiers: "mma.sync.aligned.m16n8k16",
// "ldmatrix.sync.aligned.m8n8.x2", "cp.async.cg.shared.global". It counts lines
// of the text: a loop that is not unrolled counts once.
func CountPTX(ptx []byte, prefix string) int {
	return countPTX(ptx, func(in Instr) bool { return in.Is(prefix) })
}

// CountMoves counts, over all kernels of the module, the loads or stores (op "ld"
// or "st") on a state space that move so many bytes a thread: 16 finds v4.u32,
// v2.u64, v4.f32 and b128 alike. With 0 bytes every size counts, so that
// CountMoves(ptx, "ld", "local", 0) == 0 says that nothing is read from local memory.
func CountMoves(ptx []byte, op, space string, bytes int) int {
	return countPTX(ptx, func(in Instr) bool {
		return in.Accesses(op, space) && (bytes == 0 || in.Bytes() == bytes)
	})
}

// UsesLocal reports whether any kernel declares, loads or stores local memory.
// It is about the PTX; whether ptxas spills is in its Report.
func UsesLocal(ptx []byte) bool {
	for _, e := range ScanPTX(ptx) {
		if e.LocalBytes > 0 {
			return true
		}
	}
	return CountMoves(ptx, "ld", "local", 0)+CountMoves(ptx, "st", "local", 0) > 0
}

func countPTX(ptx []byte, match func(Instr) bool) int {
	n := 0
	for _, e := range ScanPTX(ptx) {
		for _, in := range e.Instrs {
			if match(in) {
				n++
			}
		}
	}
	return n
}
