package ptx

import (
	"fmt"
	"strings"
)

// Error is a place where the text is not PTX.
type Error struct {
	File    string
	Line    int
	Message string
}

// Error is file:line: message.
func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Message) }

// tokenKind is what a token begins with.
type tokenKind uint8

const (
	tokenEnd    tokenKind = iota
	tokenWord             // an identifier, an opcode with its modifiers, or a directive with its dot
	tokenNumber           // beginning with a digit
	tokenString           // without its quotes
	tokenMark             // one other character, or one of << >> == != <= >= && ||
)

type token struct {
	kind tokenKind
	text string
	line int
}

// doubled are the marks of two characters.
var doubled = map[string]bool{"<<": true, ">>": true, "==": true, "!=": true, "<=": true, ">=": true, "&&": true, "||": true}

// scanner splits text into tokens. It works on a copy without comments that keeps the lines.
type scanner struct {
	text string
	at   int
	line int
}

// blankComments replaces comments by blanks; what stands in quotes is none.
func blankComments(s string) (string, int) {
	var b strings.Builder
	b.Grow(len(s))
	line := 1
	for i := 0; i < len(s); {
		rest := s[i:]
		n := 1
		switch {
		case strings.HasPrefix(rest, "//"):
			if n = strings.IndexByte(rest, '\n'); n < 0 {
				n = len(rest)
			}
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				return "", line
			}
			n = end + 4
			b.WriteByte(' ')
			b.WriteString(strings.Repeat("\n", strings.Count(rest[:n], "\n")))
		case rest[0] == '"':
			if end := strings.IndexAny(rest[1:], "\"\n"); end >= 0 && rest[1+end] == '"' {
				n = end + 2
			}
			b.WriteString(rest[:n])
		default:
			b.WriteByte(rest[0])
		}
		line += strings.Count(rest[:n], "\n")
		i += n
	}
	return b.String(), 0
}

func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$' || c == '%'
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// skip passes blanks.
func (s *scanner) skip() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case '\n':
			s.line++
		case ' ', '\t', '\r', '\f', '\v':
		default:
			return
		}
		s.at++
	}
}

// next is the token at the scanner's place, which it passes.
func (s *scanner) next() token {
	s.skip()
	if s.at == len(s.text) {
		return token{kind: tokenEnd, line: s.line}
	}
	start, c := s.at, s.text[s.at]
	t := token{line: s.line}
	switch {
	case isLetter(c) && (c != '%' || s.at+1 < len(s.text) && isLetter(s.text[s.at+1])), c == '.' && s.at+1 < len(s.text) && isLetter(s.text[s.at+1]):
		t.kind = tokenWord
		s.at++
		s.word()
	case isDigit(c):
		t.kind = tokenNumber
		s.number()
	case c == '"':
		if end := strings.IndexAny(s.text[s.at+1:], "\"\n"); end >= 0 && s.text[s.at+1+end] == '"' {
			s.at += end + 2
			return token{tokenString, s.text[start+1 : s.at-1], t.line}
		}
		t.kind, s.at = tokenMark, s.at+1
	default:
		t.kind, s.at = tokenMark, s.at+1
		if s.at < len(s.text) && doubled[s.text[start:s.at+1]] {
			s.at++
		}
	}
	t.text = s.text[start:s.at]
	return t
}

// word passes the rest of an identifier or opcode: letters, digits, dots before letters or digits, and ::.
func (s *scanner) word() {
	for s.at < len(s.text) {
		c := s.text[s.at]
		switch {
		case isLetter(c) && c != '%', isDigit(c):
			s.at++
		case c == '.' && s.at+1 < len(s.text) && (isLetter(s.text[s.at+1]) || isDigit(s.text[s.at+1])):
			s.at++
		case c == ':' && s.at+2 < len(s.text) && s.text[s.at+1] == ':' && (isLetter(s.text[s.at+2]) || isDigit(s.text[s.at+2])):
			s.at += 2
		default:
			return
		}
	}
}

// number passes a number: digits, letters of hexadecimal ones and suffixes, a point, and an exponent with its sign.
func (s *scanner) number() {
	hex := false
	if s.at+1 < len(s.text) && s.text[s.at] == '0' {
		hex = strings.IndexByte("xXfFdDbB", s.text[s.at+1]) >= 0
	}
	for s.at < len(s.text) {
		c := s.text[s.at]
		switch {
		case isDigit(c), c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			s.at++
			if !hex && (c == 'e' || c == 'E') && s.at < len(s.text) && strings.IndexByte("+-", s.text[s.at]) >= 0 {
				s.at++
			}
		case c == '.' && !hex:
			s.at++
		default:
			return
		}
	}
}

// restOfLine passes everything to the line's end and returns it.
func (s *scanner) restOfLine() string {
	end := strings.IndexByte(s.text[s.at:], '\n')
	if end < 0 {
		end = len(s.text) - s.at
	}
	out := s.text[s.at : s.at+end]
	s.at += end
	return out
}
