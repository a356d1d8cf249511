package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ends makes a line feed of everything that some reader takes as the end of a line.
var ends = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

// Comment splits a text that a user gives into lines that can stand behind // in C++ or Go, whatever it holds. A line ends
// at CR, VT, FF, NEL, LS and PS as well as at LF. No line ends in a backslash or its trigraph, which would splice the next
// line to it; what cannot be seen is written as Visible does.
func Comment(s string) []string {
	lines := strings.Split(strings.TrimSuffix(ends.Replace(s), "\n"), "\n")
	for i, l := range lines {
		lines[i] = unspliced(Visible(l))
	}
	return lines
}

// unspliced cuts off what splices a line to the next one in C++. gcc ignores blanks between the backslash and the end.
func unspliced(l string) string {
	for {
		cut := strings.TrimSuffix(strings.TrimRight(l, " \t\\"), "??/")
		if cut == l {
			return l
		}
		l = cut
	}
}

// Visible writes what cannot be seen as <U+202E>, and what is not UTF-8 as <0xFF>: control characters, by which a terminal
// is steered, and bidirectional controls, which show a text in another order. Tabs stay; other blanks become spaces.
func Visible(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, "<0x%02X>", s[i])
		case r == '\t' || unicode.IsPrint(r):
			b.WriteRune(r)
		case unicode.Is(unicode.Zs, r):
			b.WriteByte(' ')
		default:
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
		i += n
	}
	return b.String()
}

var oneLine = strings.NewReplacer("\n", " ", "\t", " ")

// Short is a text on one line of at most n characters, visible as in Visible, for a message; what is longer ends in ….
func Short(s string, n int) string {
	if len(s) > 8*n { // more than what is shown need not be looked at
		s = s[:8*n]
	}
	r := []rune(Visible(oneLine.Replace(strings.TrimRight(ends.Replace(s), "\n"))))
	if len(r) <= n {
		return string(r)
	}
	return string(r[:n-1]) + "…"
}
