package calc

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Limits of a text.
const (
	maxDepth = 64      // how deep parentheses, signs and calls nest
	maxText  = 1 << 16 // bytes
)

// SyntaxError says at which byte of a text reading failed, and why.
type SyntaxError struct {
	Text   string
	Pos    int
	Reason string
}

// Error is one line with the place as a column.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("column %d: %s", 1+utf8.RuneCountInString(e.Text[:e.Pos]), e.Reason)
}

// Caret is the line of the text in which the error lies, and below it a caret under the place.
func (e *SyntaxError) Caret() string {
	from := strings.LastIndexByte(e.Text[:e.Pos], '\n') + 1
	line := e.Text[from:]
	if i := strings.IndexByte(line, '\n'); i >= 0 {
		line = line[:i]
	}
	blank := strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, e.Text[from:e.Pos])
	return line + "\n" + blank + "^"
}

// kind is what a node of the syntax tree is.
type kind uint8

const (
	number  kind = iota
	name         // a bound name or a symbol
	free         // _
	tuple        // (a,b)
	call         // f(a,b), or a bound layout at a coordinate
	pair         // shape:stride
	binary       // a+b, with the operator in text
	negate       // -a
	basis        // a@i@j
	chain        // a o b o c
	swizzle      // Sw<B,M,S>
	binding      // A=…
	program      // statements
)

// node is a piece of the text with its place.
type node struct {
	kind     kind
	pos, end int
	text     string // the name, or the operator
	num      int64
	sub      []node
}
