package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/gocute/gocute/cmd/gocute/report"
	"github.com/gocute/gocute/cmd/gocute/runner"
)

// jsonFlag is a part of every command that can print an object in place of text.
type jsonFlag struct {
	JSON bool `name:"json" help:"Print one JSON object on standard output in place of text; docs/json.md describes it."`
}

// objects are the empty objects of the commands that have --json.
var objects = map[string]func() report.Answer{
	"list":         func() report.Answer { return new(report.List) },
	"gen":          func() report.Answer { return new(report.Gen) },
	"build":        func() report.Answer { return new(report.Build) },
	"run":          func() report.Answer { return new(report.Run) },
	"check":        func() report.Answer { return new(report.Check) },
	"tune":         func() report.Answer { return new(report.Tune) },
	"eval":         func() report.Answer { return new(report.Eval) },
	"find swizzle": func() report.Answer { return new(report.FindShared) },
	"find padding": func() report.Answer { return new(report.FindShared) },
	"find copy":    func() report.Answer { return new(report.FindCopy) },
	"version":      func() report.Answer { return new(report.Version) },
	"env":          func() report.Answer { return new(report.Env) },
	"clean":        func() report.Answer { return new(report.Clean) },
}

// object is what --json prints, for the command to fill in.
func object[T any, P interface {
	*T
	report.Answer
}](s *session) P {
	if o, ok := s.answer.(P); ok {
		return o
	}
	return P(new(T))
}

// commandPath is a command's name with those of the commands above it.
func commandPath(n *kong.Node) string {
	var names []string
	for ; n != nil && n.Type == kong.CommandNode; n = n.Parent {
		names = append(names, n.Name)
	}
	slices.Reverse(names)
	return strings.Join(names, " ")
}

// beginJSON prepares the object of a command. With --json, text goes nowhere.
func (s *session) beginJSON(args []string, selected *kong.Node) {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	s.answer = new(report.Unknown)
	if empty := objects[commandPath(selected)]; empty != nil {
		s.answer = empty()
	}
	if slices.Contains(args, "--json") || slices.Contains(args, "--json=true") {
		s.objects, s.stdout = s.stdout, io.Discard
	}
}

// aside is where what the user's packages print goes: standard output, if that is not for an object.
func (s *session) aside() io.Writer {
	if s.objects != nil {
		return s.stderr
	}
	return s.stdout
}

// endJSON prints the object, with the error if there is one.
func (s *session) endJSON(err error) error {
	if s.objects == nil {
		return nil
	}
	s.answer.Fail(s.reportedErrors(err)...)
	if err != nil && !s.answer.Failed() {
		s.answer.Fail(report.Error{Message: "failed; standard error says why"})
	}
	data, err := report.Bytes(s.answer)
	if err != nil {
		return fmt.Errorf("internal error: --json: %w", err)
	}
	_, err = s.objects.Write(data)
	return err
}

// reportedErrors takes an error apart. One about which all has been said gives none.
func (s *session) reportedErrors(err error) []report.Error {
	var many failure
	switch {
	case err == nil:
	case s.ctx.Err() != nil:
		return []report.Error{{Message: "interrupted"}}
	case errors.As(err, &many):
		var out []report.Error
		for _, text := range many {
			out = append(out, s.reportedError(text))
		}
		return out
	case !errors.Is(err, errSilent):
		return []report.Error{s.reportedError(err.Error())}
	}
	return nil
}

var errorPlace = regexp.MustCompile(`(?s)^(\S[^\n]*?\.go):([0-9]+)(?::[0-9]+)?: (.*)$`)

// reportedError takes the place off an error's text.
func (s *session) reportedError(text string) report.Error {
	text = strings.TrimPrefix(strings.TrimSpace(text), "gocute: ")
	m := errorPlace.FindStringSubmatch(text)
	if m == nil {
		return report.Error{Message: s.shorten(text)}
	}
	line, err := strconv.Atoi(m[2])
	if err != nil {
		return report.Error{Message: s.shorten(text)}
	}
	return report.Error{Message: s.shorten(m[3]), Position: report.Position{File: s.relative(m[1]), Line: line}}
}

// relative makes a path below the working folder relative to it.
func (s *session) relative(path string) string { return runner.Relative(s.dir, filepath.Clean(path)) }

// position reads file:line.
func (s *session) position(text string) report.Position {
	i := strings.LastIndexByte(text, ':')
	line, err := strconv.Atoi(text[i+1:])
	if i < 0 || err != nil {
		return report.Position{}
	}
	return report.Position{File: s.relative(text[:i]), Line: line}
}

// said puts lines of errors that have been shown into the object.
func (s *session) said(lines []string) {
	for _, l := range lines {
		if s.answer != nil {
			s.answer.Fail(s.reportedError(l))
		}
	}
}
