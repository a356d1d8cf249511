package build

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gocute/gocute/internal/text"
)

// mostSaid is how much of what a compiler prints is kept: its beginning and its end, half of it each.
const mostSaid = 2 << 20

// said keeps the beginning and the end of what is written to it. Write never fails.
type said struct {
	head, tail []byte
	dropped    int64
}

// Write never fails.
func (s *said) Write(p []byte) (int, error) {
	n := len(p)
	if room := mostSaid/2 - len(s.head); room > 0 {
		k := min(room, len(p))
		s.head, p = append(s.head, p[:k]...), p[k:]
	}
	s.tail = append(s.tail, p...)
	if over := len(s.tail) - mostSaid/2; over > mostSaid/2 { // not at each call
		s.dropped += int64(over)
		s.tail = append([]byte(nil), s.tail[over:]...)
	}
	return n, nil
}

// String has a line in place of what was left out.
func (s *said) String() string {
	tail, dropped := s.tail, s.dropped
	if over := len(tail) - mostSaid/2; over > 0 {
		tail, dropped = tail[over:], dropped+int64(over)
	}
	if dropped == 0 {
		return string(s.head) + string(tail)
	}
	return fmt.Sprintf("%s\n(%d bytes left out)\n%s", s.head, dropped, tail)
}

// The part of a compiler's output that is shown.
const (
	firstLines = 200
	finalLines = 50
	longLine   = 500 // characters
)

// shown is a compiler's output for people: not without end, and with control characters made visible.
func shown(output string) string {
	lines := strings.Split(strings.TrimRight(output, "\n"), "\n")
	if left := len(lines) - firstLines - finalLines; left > 0 {
		lines = append(append(lines[:firstLines:firstLines], fmt.Sprintf("(%d lines left out)", left)), lines[len(lines)-finalLines:]...)
	}
	for i, l := range lines {
		l = strings.TrimRight(l, "\r")
		if cut := []rune(l[:min(len(l), 4*longLine)]); len(cut) > longLine || len(l) > 4*longLine {
			l = string(cut[:min(len(cut), longLine)]) + fmt.Sprintf(" (%d bytes in all)", len(l))
		}
		lines[i] = text.Visible(l)
	}
	return strings.Join(lines, "\n")
}

// mostOutput is more than any image of a kernel has.
const mostOutput = 256 << 20

// readOutput reads a file that a compiler wrote, if it is one: a plain file of a size that an image can have.
func readOutput(dir, name string) ([]byte, error) {
	path := filepath.Join(dir, name)
	info, err := os.Lstat(path)
	switch {
	case os.IsNotExist(err):
		return nil, fmt.Errorf("expected the file %s, but got none", name)
	case err != nil:
		return nil, fmt.Errorf("expected the file %s, but got: %w", name, err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("expected the plain file %s, but got one of mode %v", name, info.Mode())
	case info.Size() > mostOutput:
		return nil, fmt.Errorf("expected the file %s to have at most %d bytes, but got %d", name, mostOutput, info.Size())
	}
	return os.ReadFile(path)
}

// fileIdentity tells a file from others of its name: where it is, how large and since when.
func fileIdentity(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path
	}
	info, err := os.Stat(real)
	if err != nil {
		return real
	}
	return fmt.Sprintf("%s %d bytes %d", real, info.Size(), info.ModTime().UnixNano())
}
