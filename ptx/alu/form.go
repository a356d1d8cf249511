package alu

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gocute/gocute/ptx"
)

// row is a form of an instruction.
type row struct {
	// form lists modifiers and types after the opcode; a group of | is a choice, and ? makes it optional:
	// "rn|rz|rm|rp? ftz? sat? f32".
	form string
	// operands has a word for each operand, results first. T is the last type of the form, D the first, W twice the
	// width of T, P a predicate or a pair p|q, X|P a result of type X beside a predicate, # a constant of the
	// instruction, another word a type.
	operands string
	// make returns what the instruction computes, as one of the types f1 to h1, or an error for the user.
	make func(c *call) any

	groups []group
}

// group is one place of a form.
type group struct {
	words    []string
	optional bool
	typed    bool // it names a type
}

// forms splits the form of each row.
func forms(rows []row) []row {
	for i := range rows {
		for _, w := range strings.Fields(rows[i].form) {
			w, optional := strings.CutSuffix(w, "?")
			g := group{words: strings.Split(w, "|"), optional: optional}
			_, g.typed = ptx.TypeOf(g.words[0])
			rows[i].groups = append(rows[i].groups, g)
		}
	}
	return rows
}

// table has the rows of each opcode.
var table = func() map[string][]row {
	m := map[string][]row{}
	for _, part := range []map[string][]row{integerRows(), wideRows(), bitRows(), logicRows(), compareRows(), moveRows(), convertRows(), floatRows(), minMaxRows(), approxRows()} {
		for op, rows := range part {
			m[op] = append(m[op], forms(rows)...)
		}
	}
	return m
}()

// call is an instruction that is being compiled.
type call struct {
	f      *ptx.Func
	in     *ptx.Instr
	words  []string   // its modifiers
	d, t   ptx.Type   // its first and last types
	consts []uint64   // of # operands
	regs   []ptx.Type // types of the operands' registers; that of the instruction for an immediate
	bound  string     // set by make for approximate functions
}

func (c *call) has(word string) bool { return slices.Contains(c.words, word) }

// one is the first of the words that the instruction has, or empty.
func (c *call) one(words ...string) string {
	i := slices.IndexFunc(words, c.has)
	if i < 0 {
		return ""
	}
	return words[i]
}

// fit tries the words of an instruction on the row's form. It returns how many words found a place.
func (r *row) fit(words []string) (n int, ok bool) {
	used := make([]bool, len(r.groups))
	last := -1 // types stand in order
	for _, w := range words {
		_, typed := ptx.TypeOf(w)
		i := slices.IndexFunc(r.groups, func(g group) bool { return slices.Contains(g.words, w) })
		for i >= 0 && (used[i] || typed && i < last) {
			next := slices.IndexFunc(r.groups[i+1:], func(g group) bool { return slices.Contains(g.words, w) })
			if next < 0 {
				i = -1
				break
			}
			i += 1 + next
		}
		if i < 0 {
			return n, false
		}
		used[i] = true
		if typed {
			last = i
		}
		n++
	}
	for i, g := range r.groups {
		if !used[i] && !g.optional {
			return n, false
		}
	}
	return n, true
}

// match finds the row of the instruction's form.
func (c *call) match(rows []row) (*row, error) {
	c.words = c.in.Words[1:]
	best := 0
	var found *row
	for i := range rows {
		r := &rows[i]
		n, ok := r.fit(c.words)
		if ok && (found == nil || len(c.in.Args) == len(strings.Fields(r.operands))) {
			found = r
		}
		best = max(best, n)
	}
	if found != nil {
		c.types()
		return found, nil
	}
	var known []string
	for i := range rows {
		known = append(known, rows[i].spell(c.in.Words[0]))
	}
	if len(known) > 6 {
		// Those of which most fits.
		near := known[:0]
		for i := range rows {
			if n, _ := rows[i].fit(c.words); n == best {
				near = append(near, rows[i].spell(c.in.Words[0]))
			}
		}
		known = near
	}
	got := "a modifier is missing"
	if best < len(c.words) {
		got = fmt.Sprintf(".%s does not fit", c.words[best])
	}
	return nil, fmt.Errorf("%s: %s; expected %s", c.in.Op, got, strings.Join(known, " or "))
}

// spell writes the form as the ISA does: add[.sat].s32.
func (r *row) spell(op string) string {
	var b strings.Builder
	b.WriteString(op)
	for _, g := range r.groups {
		s := "." + strings.Join(g.words, "|.")
		switch {
		case g.optional:
			s = "[" + s + "]"
		case len(g.words) > 1:
			s = "{" + s + "}"
		}
		b.WriteString(s)
	}
	return b.String()
}

// types finds the first and the last type among the modifiers.
func (c *call) types() {
	first := true
	for _, w := range c.words {
		if t, ok := ptx.TypeOf(w); ok {
			c.t = t
			if first {
				c.d, first = t, false
			}
		}
	}
}
