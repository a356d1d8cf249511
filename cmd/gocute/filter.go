package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/gocute/gocute/cmd/gocute/runner"
	"github.com/gocute/gocute/internal/text"
)

// failed explains a program that gave no response. What the go command or the program said has been shown.
func (s *session) failed(p *program, err error, said *filter, response string) error {
	if said.compiler {
		s.said(said.lines)
		return errSilent
	}
	at := s.shorten(strings.TrimSpace(readOrNone(response + runner.UnderWay)))
	switch {
	case at != "" && len(said.crash) == 0 && !strings.HasPrefix(said.status, "signal: "):
		status := "the status 0"
		if err != nil {
			status = cmp.Or(said.status, err.Error())
		}
		return fmt.Errorf("%s ended the program (os.Exit, log.Fatal?) with %s: expected it to return; return nil or panic where there is nothing to generate", at, status)
	case len(said.crash) > 0:
		err = errors.New(s.crashed(p, said.crash))
	case err == nil:
		err = errors.New("a package ended the program (os.Exit, log.Fatal?), outside of its kernel functions, with the status 0")
	case strings.HasPrefix(said.status, "signal: killed"):
		err = errors.New(said.status + " (is the memory too small?)")
	case said.status != "" && !said.spoke:
		err = errors.New("a package ended the program (os.Exit, log.Fatal?), outside of its kernel functions: " + said.status)
	case said.status != "":
		err = errors.New(said.status)
	}
	var paths []string
	for _, k := range p.pkgs {
		paths = append(paths, k.path)
	}
	err = fmt.Errorf("the program that records the kernels of %s did not finish: %w", strings.Join(paths, ", "), err)
	if said.missing {
		err = fmt.Errorf("%w\nthe module lacks what gocute needs to run in it; run: %s", err, text.Shell("go", "get", runnerPath+"@"+version().module()))
	}
	return err
}

// readOrNone is a file's text, or none where it cannot be read.
func readOrNone(path string) string {
	data, _ := os.ReadFile(path)
	return string(data)
}

var stackFrame = regexp.MustCompile(`(?m)^\t(.+\.go):([0-9]+)`)

// crashed is the first line of what the Go runtime prints when a program crashes, with the first line of the user's
// packages that is in the stack.
func (s *session) crashed(p *program, text []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	for _, frame := range stackFrame.FindAllStringSubmatch(string(text), -1) {
		for _, k := range p.pkgs {
			if within(frame[1], k.dir) {
				return fmt.Sprintf("%s, at %s:%s", line, s.shorten(frame[1]), frame[2])
			}
		}
	}
	return line
}

// filter passes on what go run says, but for the headings of the compiler's errors, the exit status and the stacks of
// a crash.
type filter struct {
	to       io.Writer
	line     []byte
	spoke    bool     // something was passed on
	compiler bool     // some package did not compile
	missing  bool     // a module was not there
	status   string   // of the program, such as "exit status 3"
	lines    []string // that were passed on
	crash    []byte   // all from the first line of a crash on
}

var (
	exitStatus = regexp.MustCompile(`^(exit status [0-9]+|signal: .*)\n?$`)
	crash      = regexp.MustCompile(`^(panic: |fatal error: |runtime: goroutine stack exceeds )`)
	heading    = regexp.MustCompile(`^# \S+\n$`)
	missing    = regexp.MustCompile(`no required module provides|missing go\.sum entry|does not contain package|cannot find module|inconsistent vendoring`)
)

// Write keeps an unfinished line for later.
func (f *filter) Write(data []byte) (int, error) {
	f.line = append(f.line, data...)
	for {
		i := bytes.IndexByte(f.line, '\n')
		if i < 0 {
			return len(data), nil
		}
		line := f.line[:i+1]
		f.line = f.line[i+1:]
		if err := f.pass(line); err != nil {
			return len(data), err
		}
	}
}

func (f *filter) pass(line []byte) error {
	switch {
	case exitStatus.Match(line):
		f.status = string(bytes.TrimSpace(line))
		return nil
	case heading.Match(line):
		f.compiler = true
		return nil
	case len(f.crash) > 0 || crash.Match(line):
		f.crash = append(f.crash, line...)
		return nil
	}
	f.spoke = true
	f.lines = append(f.lines, string(line))
	f.missing = f.missing || missing.Match(line)
	_, err := f.to.Write(line)
	return err
}

func (f *filter) flush() {
	if len(f.line) > 0 {
		_ = f.pass(f.line)
		f.line = nil
	}
}
