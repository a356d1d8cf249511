package build

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gocute/gocute/ptx"
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
// the order of the text, inline assembly included. Device functions that were not
// inlined are no part of any kernel and are left out. The error has the line where
// the text is not PTX.
func ScanPTX(text []byte) ([]PTXEntry, error) {
	m, err := ptx.Parse("PTX", text)
	if err != nil {
		return nil, fmt.Errorf("build: %w", err)
	}
	var entries []PTXEntry
	for _, f := range m.Entries() {
		e := PTXEntry{Name: f.Name}
		for _, v := range f.Vars {
			if v.Space == ptx.Local {
				e.LocalBytes += v.Bytes()
			}
		}
		for i := range f.Body {
			in := &f.Body[i]
			e.Instrs = append(e.Instrs, Instr{Guard: f.Predicate(in), Op: in.Op, Args: f.Operands(in.Args)})
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// typeBytes returns the size of a PTX type such as u32; 0 if it is none.
func typeBytes(name string) int {
	t, _ := ptx.TypeOf(name)
	return t.Bytes()
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
// of the text: a loop that is not unrolled counts once. Of text that is no PTX it
// is -1.
func CountPTX(text []byte, prefix string) int {
	return countPTX(text, func(in Instr) bool { return in.Is(prefix) })
}

// CountMoves counts, over all kernels of the module, the loads or stores (op "ld"
// or "st") on a state space that move so many bytes a thread: 16 finds v4.u32,
// v2.u64, v4.f32 and b128 alike. With 0 bytes every size counts, so that
// CountMoves(ptx, "ld", "local", 0) == 0 says that nothing is read from local memory.
// Of text that is no PTX it is -1.
func CountMoves(text []byte, op, space string, bytes int) int {
	return countPTX(text, func(in Instr) bool {
		return in.Accesses(op, space) && (bytes == 0 || in.Bytes() == bytes)
	})
}

// UsesLocal reports whether any kernel declares, loads or stores local memory.
// It is about the PTX; whether ptxas spills is in its Report. Of text that is no PTX
// it is true: nobody knows that it does not.
func UsesLocal(text []byte) bool {
	entries, err := ScanPTX(text)
	if err != nil {
		return true
	}
	for _, e := range entries {
		if e.LocalBytes > 0 {
			return true
		}
	}
	return CountMoves(text, "ld", "local", 0)+CountMoves(text, "st", "local", 0) > 0
}

func countPTX(text []byte, match func(Instr) bool) int {
	entries, err := ScanPTX(text)
	if err != nil {
		return -1
	}
	n := 0
	for _, e := range entries {
		for _, in := range e.Instrs {
			if match(in) {
				n++
			}
		}
	}
	return n
}
