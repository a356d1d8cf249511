package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/algebra/calc"
	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/cmd/gocute/report"
)

// kindOf names a value's type.
func kindOf(v calc.Value) string {
	switch v.(type) {
	case sym.Expr:
		return "integer"
	case calc.Bool:
		return "boolean"
	case algebra.Layout:
		return "layout"
	case algebra.Swizzle:
		return "swizzle"
	case calc.Tuple, algebra.Shape, algebra.Stride, algebra.Coord:
		return "tuple"
	case calc.Slice:
		return "slice"
	case calc.Cover:
		return "cover"
	case calc.Picture:
		return "picture"
	}
	return "other"
}

// evaluated fills in the result of one expression.
func (c *evalCmd) evaluated(out *report.Eval, v calc.Value, err error) {
	r := report.Value{Expression: c.Expr, Steps: c.steps}
	if err != nil {
		r.Error = refusal(err)
	} else {
		r.Kind, r.Value = kindOf(v), strings.TrimSuffix(v.String(), "\n")
	}
	out.Results = append(out.Results, r)
}

// maxLines is how many bytes of lines one object is made of: all of it is in memory before it is printed.
const maxLines = 64 << 20

// evaluatedLines is evalLines into an object.
func evaluatedLines(out *report.Eval, in io.Reader) error {
	r := bufio.NewReaderSize(in, maxLine)
	for n, size := 1, 0; ; n++ {
		line, ok, err := nextLine(r, n)
		if size += len(line) + 1; size > maxLines {
			return fmt.Errorf("standard input, line %d: expected at most %d bytes with --json: evaluate it in parts, or without --json", n, maxLines)
		}
		if ok {
			out.Results = append(out.Results, valueOfLine(line, n))
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// valueOfLine is the result of one line, whose panic costs that line alone.
func valueOfLine(text string, line int) report.Value {
	out := report.Value{Expression: text, Line: line}
	value := lineOf(func(text string) (calc.Value, error) {
		v, err := calc.Eval(text)
		if err == nil {
			out.Kind = kindOf(v)
		}
		return v, err
	}, text)
	if reason, failed := strings.CutPrefix(value, "error: "); failed {
		out.Kind, out.Error = "", reason
	} else {
		out.Value = value
	}
	return out
}
