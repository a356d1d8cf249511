package main

import (
	"errors"
	"io"
	"slices"

	"github.com/gocute/gocute/cmd/gocute/report"
	"github.com/gocute/gocute/cmd/gocute/sarif"
	"github.com/gocute/gocute/gen"
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
		return err
	}
	if c.SARIF == "-" {
		_, err = stdout.Write(data)
		return err
	}
	return gen.WriteFile(absolute(s.dir, string(c.SARIF)), data)
}
