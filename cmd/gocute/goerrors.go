package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// hostEnv makes the go command build for this machine, whatever GOOS and GOARCH are set to: the program that records
// kernels runs here.
func hostEnv() []string {
	return []string{"GOOS=" + runtime.GOOS, "GOARCH=" + runtime.GOARCH, "GOAMD64=v1", "GOARM64=v8.0"}
}

// loadPrefix is how go/packages introduces what the go command said.
var loadPrefix = regexp.MustCompile(`^err: (exit status [0-9]+): stderr: `)

// notLoaded explains an error of packages.Load.
func (s *session) notLoaded(patterns []string, err error) error {
	text := strings.TrimSpace(loadPrefix.ReplaceAllString(err.Error(), ""))
	if strings.Contains(text, "go command required, not found") {
		return errors.New(`gocute needs the go command, which is not in a folder of PATH: install Go (https://go.dev/doc/install), or add its folder bin to PATH`)
	}
	return fmt.Errorf("loading %s: %w", strings.Join(patterns, " "), s.explain(errors.New(text)))
}

// nothingLoaded is the go command's own error where go/packages gave neither packages nor an error, as without a build
// cache; nil where the patterns just match nothing.
func (s *session) nothingLoaded(patterns []string) error {
	_, err := s.output(append([]string{"list", "-export", "-f", "{{.ImportPath}}", "--"}, patterns...)...)
	if err == nil {
		return nil
	}
	text := err.Error()
	if strings.Contains(text, errNoModule.Error()) {
		return s.explain(err)
	}
	if strings.Contains(text, "$HOME") || strings.Contains(text, "nor GOPATH") || strings.Contains(text, "GOCACHE") {
		text += "\nset HOME, or GOCACHE and GOPATH, to folders that can be written to"
	}
	return fmt.Errorf("loading %s: %s", strings.Join(patterns, " "), text)
}

// withoutModules is the one error of GO111MODULE=off, in place of one for each name that is not found then.
func (s *session) withoutModules() error {
	if env, err := s.goEnv(); err == nil && env.GO111MODULE == "off" {
		return errors.New("GO111MODULE=off: gocute works on modules: unset GO111MODULE, or run: go env -u GO111MODULE")
	}
	return nil
}

// shorten makes paths below the working folder relative to it. A path begins where no other goes on: after a blank, a
// quote or a parenthesis.
func (s *session) shorten(text string) string {
	prefix := strings.TrimSuffix(s.dir, string(filepath.Separator)) + string(filepath.Separator)
	if len(prefix) == 1 || s.dir == "" { // of the root folder, every path would lose its first character
		return text
	}
	var b strings.Builder
	for {
		i := strings.Index(text, prefix)
		if i < 0 {
			b.WriteString(text)
			return b.String()
		}
		before := b.String() + text[:i]
		b.WriteString(text[:i])
		rest := text[i+len(prefix):]
		if r, _ := utf8.DecodeLastRuneInString(before); before != "" && insidePath(r) || endsPath(rest) {
			b.WriteString(prefix)
		}
		text = rest
	}
}

// insidePath reports whether a path that seems to begin after a character is a part of another one.
func insidePath(before rune) bool {
	return unicode.IsLetter(before) || unicode.IsDigit(before) || strings.ContainsRune(`._-/\~+@%`, before)
}

// endsPath reports whether nothing of a path is left: the text is about the working folder itself.
func endsPath(rest string) bool {
	if rest == "" {
		return true
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return unicode.IsSpace(r) || strings.ContainsRune(`"'):,;`, r)
}

// unwritable says what is to be done about a folder for temporary files that cannot be used.
func unwritable(err error) error {
	return fmt.Errorf("%w\ngocute needs a folder for temporary files: set TMPDIR to one that can be written to (now %s)", err, os.TempDir())
}

// temporary refuses a folder for temporary files that the go command cannot use: its own message names no variable.
func (s *session) temporary() error {
	name := "TMPDIR"
	if runtime.GOOS == "windows" {
		name = "TMP"
	}
	dirs := map[string]string{name: absolute(s.dir, os.TempDir())}
	if dir := os.Getenv("GOTMPDIR"); dir != "" {
		dirs["GOTMPDIR"] = absolute(s.dir, dir)
	}
	for _, name := range slices.Sorted(maps.Keys(dirs)) {
		dir := dirs[name]
		fault := ""
		if info, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			fault = "there is no such folder"
		} else if err == nil && !info.IsDir() {
			fault = "it is a file"
		} else if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil && name != "GOTMPDIR" {
			fault = "it has a go.mod, which the go command ignores in the folder for temporary files"
		}
		if fault != "" {
			return fmt.Errorf("%s: the folder for temporary files is %s, but %s: set %s to another folder, or unset it", name, dir, fault, name)
		}
	}
	return nil
}
