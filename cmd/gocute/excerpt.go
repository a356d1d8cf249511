package main

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gocute/gocute/algebra/calc"
)

const (
	excerptSide = 30  // runes shown on either side of the caret
	excerptFull = 120 // a line up to this length is shown wholly
	clipFrom    = 600 // runes of an error that is shown wholly
	clipHead    = 300
	clipTail    = 100
)

// excerpt shows the place of a syntax error: its line with a caret, of a long one only what is around the place.
func excerpt(e *calc.SyntaxError) string {
	from := strings.LastIndexByte(e.Text[:e.Pos], '\n') + 1
	line, _, _ := strings.Cut(e.Text[from:], "\n")
	if utf8.RuneCountInString(line) <= excerptFull {
		return e.Caret()
	}
	runes := []rune(strings.ReplaceAll(line, "\t", " "))
	at := utf8.RuneCountInString(e.Text[from:e.Pos])
	lo, hi := max(at-excerptSide, 0), min(at+excerptSide, len(runes))
	head, tail := "", ""
	if lo > 0 {
		head = "…"
	}
	if hi < len(runes) {
		tail = "…"
	}
	return head + string(runes[lo:hi]) + tail + "\n" + strings.Repeat(" ", at-lo+utf8.RuneCountInString(head)) + "^"
}

// clip leaves out the middle of a long text.
func clip(text string) string {
	if len(text) <= clipFrom { // has at most as many runes
		return text
	}
	runes := []rune(text)
	if len(runes) <= clipFrom {
		return text
	}
	return string(runes[:clipHead]) + " … " + string(runes[len(runes)-clipTail:])
}

// explained says which operation was meant where a name is misspelt, or followed by something that is no argument
// list: calc takes a name that does not touch its parenthesis for a symbol.
func explained(e *calc.SyntaxError) *calc.SyntaxError {
	const none = "there is no operation "
	out := *e
	if word, ok := strings.CutPrefix(e.Reason, none); ok {
		if !strings.ContainsAny(word, " ;") { // without a proposal
			out.Reason += proposal(word)
		}
		return &out
	}
	if e.Pos >= len(e.Text) || !strings.ContainsRune("([{", rune(e.Text[e.Pos])) {
		return e
	}
	before := strings.TrimRight(e.Text[:e.Pos], " \t\r\n")
	start := strings.LastIndexFunc(before, func(r rune) bool {
		return !(r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	}) + 1
	word := before[start:]
	switch {
	case word == "" || word[0] >= '0' && word[0] <= '9':
		return e
	case !slices.Contains(calc.Operations(), word):
		out.Reason, out.Pos = none+word+proposal(word), start
	case e.Text[e.Pos] == '(':
		out.Reason = "the arguments of " + word + " follow without a blank: " + word + "(…)"
	default:
		out.Reason = "the arguments of " + word + " are in round parentheses: " + word + "(…)"
	}
	return &out
}

// proposal names the operations that may be meant: a slip away, or with the word as a part of their names.
func proposal(word string) string {
	near := nearest(word, calc.Operations())
	if len(near) == 0 && len(word) > 3 {
		for _, op := range calc.Operations() {
			if strings.Contains(op, strings.ToLower(word)) && len(near) < 3 {
				near = append(near, op)
			}
		}
	}
	if len(near) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(near, " or ") + "?"
}
