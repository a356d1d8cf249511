package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/gocute/gocute/cmd/gocute/report"
	"github.com/gocute/gocute/cmd/gocute/sarif"
)

// writeSARIF writes what was found, and err, which kept kernels from being checked or is nil.
func (c *checkCmd) writeSARIF(s *session, stdout io.Writer, err error) error {
	found := object[report.Check](s)
	in := sarif.Input{Version: version().String(), Dir: s.dir}
	for _, k := range found.Kernels {
		in.Findings = append(in.Findings, k.Findings...)
	}
	of := func(e report.Error) bool { // that of a finding, which has been taken
		return slices.ContainsFunc(in.Findings, func(f report.Finding) bool { return findingError(f) == e })
	}
	for _, e := range append(slices.Clone(found.Errors), s.reportedErrors(err)...) {
		if !of(e) {
			in.Errors = append(in.Errors, e)
		}
	}
	if err != nil {
		in.ExitCode = 1
	}
	if e := (exitError{}); errors.As(err, &e) {
		in.ExitCode = e.ExitCode()
	}
	data, err := sarif.New(in).Bytes()
	if err != nil {
		return fmt.Errorf("--sarif: %w", err)
	}
	if c.SARIF == "-" {
		if _, err = stdout.Write(data); err != nil {
			return fmt.Errorf("--sarif: %w", err)
		}
		return nil
	}
	return s.writeFile("--sarif", string(c.SARIF), data)
}

// sarifFile refuses a file that could not be written at the end. Its folder is not made: a report in a folder that nothing
// looks into would be lost.
func (c *checkCmd) sarifFile(s *session) error {
	if c.SARIF == "-" {
		return nil
	}
	name := string(c.SARIF)
	if err := s.fileToWrite("--sarif", name); err != nil {
		return err
	}
	if dir := filepath.Dir(absolute(s.dir, name)); !isDir(dir) {
		return fmt.Errorf("--sarif %s: there is no folder %s: make it first", name, dir)
	}
	return nil
}

// isDir reports whether there is a folder of that name.
func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
