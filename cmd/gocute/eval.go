package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/algebra/calc"
	"github.com/gocute/gocute/cmd/gocute/report"
)

// evalCmd is gocute eval.
type evalCmd struct {
	Expr    string `arg:"" name:"EXPR" help:"An expression such as 'A=(8,64):(64,1); zipped_divide(A,(4,8))', or - for one a line of standard input."`
	Explain bool   `help:"Show each step: the operation with its arguments' values, what it means, and its result."`
	jsonFlag

	steps []report.Step
}

// Help is shown by --help.
func (evalCmd) Help() string {
	var b strings.Builder
	b.WriteString(`Statements are separated by semicolons, and A=… binds a name; a bound layout is called with a coordinate: A(2,3). Names that
are not bound are integers of at least 1. An operation that refuses its arguments exits 1; a text that cannot be read exits 2.
With - each line of standard input is an expression of its own, and each gives one line: its value, or error: and the reason.

Examples:

  gocute eval 'right_inverse(((1,4),(4,8)):((128,8),(32,1)))'
  gocute eval 'A=(8,64):(64,1); zipped_divide(A,(4,8))'
  gocute eval --explain 'composition((8,4):(4,1),(4,2))'
  gocute eval --json 'A=(8,64):(64,1); A(2,3)'

Operations:

`)
	for _, name := range calc.Operations() {
		args, means, _ := calc.Usage(name)
		b.WriteString("  " + strings.TrimLeft(wrapped(fmt.Sprintf("%s(%s): %s", name, args, means), "      ", helpWidth-2), " ")) // go/doc indents by 4, not by 2
	}
	return b.String()
}

// exitError is an error with its own exit status.
type exitError struct {
	error
	status int
}

// ExitCode is the exit status of the command.
func (e exitError) ExitCode() int { return e.status }

// Run prints the value of the expression.
func (c *evalCmd) Run(s *session) error {
	if c.Expr == "-" && c.Explain {
		return exitError{errors.New("--explain shows the steps of one expression, and - reads one a line: use one of both"), 2}
	}
	if c.Expr == "-" {
		if s.objects != nil {
			return evaluatedLines(object[report.Eval](s), os.Stdin)
		}
		return evalLines(os.Stdin, s.stdout)
	}
	v, err := c.value(s.stdout)
	c.evaluated(object[report.Eval](s), v, err)
	var bad *calc.SyntaxError
	if errors.As(err, &bad) {
		return unread("", bad)
	}
	if err != nil {
		return errors.New(refusal(err))
	}
	if !c.Explain {
		fmt.Fprintln(s.stdout, strings.TrimSuffix(v.String(), "\n"))
	}
	return nil
}

// unread is a text that cannot be read, with the place.
func unread(before string, bad *calc.SyntaxError) error {
	bad = explained(bad)
	return exitError{fmt.Errorf("%s%s\n%s", before, clip(bad.Error()), excerpt(bad)), 2}
}

// startsWithMinus moves an expression such as -1*4 behind --, for it is no flag.
func startsWithMinus(args []string) []string {
	if len(args) == 0 || args[0] != "eval" || slices.Contains(args, "--") {
		return args
	}
	for i, a := range args {
		rest := strings.TrimLeft(a, "- \t")
		if strings.HasPrefix(a, "-") && rest != "" && (rest[0] >= '0' && rest[0] <= '9' || strings.ContainsAny(rest, "()*+/%@:;")) {
			return append(slices.Delete(slices.Clone(args), i, i+1), "--", a)
		}
	}
	return args
}

// minusHint says how an expression such as -M or -4,4 is told from a flag, where there may be one.
func minusHint(args []string, err error) string {
	if !strings.HasPrefix(err.Error(), "unknown flag") || args[0] != "eval" && args[0] != "find" && args[0] != "show" {
		return ""
	}
	for _, a := range args[1:] {
		if a == "--" {
			return ""
		}
		if len(a) > 1 && a[0] == '-' && a[1] != '-' {
			return "An expression that begins with a minus stands behind the flags and --, as in gocute eval -- -M.\n"
		}
	}
	return ""
}

// value evaluates, showing the steps if they are asked for.
func (c *evalCmd) value(out io.Writer) (calc.Value, error) {
	if !c.Explain {
		return calc.Eval(c.Expr)
	}
	last := ""
	v, err := calc.Explain(c.Expr, func(st calc.Step) {
		c.steps = append(c.steps, report.Step{Call: st.Call, Result: st.Result, Means: st.Means})
		fmt.Fprintf(out, "%s\n  = %s\n", st.Call, strings.ReplaceAll(strings.TrimSuffix(st.Result, "\n"), "\n", "\n    "))
		if st.Means != "" {
			fmt.Fprintf(out, "    %s\n", st.Means)
		}
		last = st.Result
	})
	if err == nil && v.String() != last {
		fmt.Fprintf(out, "= %s\n", v)
	}
	return v, err
}

// refusal is the operation's error without the name of the package, in a bearable length.
func refusal(err error) string {
	var e *algebra.Error
	var bad *calc.SyntaxError
	switch {
	case errors.As(err, &e):
		return clip(strings.TrimPrefix(e.Error(), "algebra: "))
	case errors.As(err, &bad):
		return clip(explained(bad).Error())
	}
	return clip(err.Error())
}

// maxLine is how many bytes a line of standard input may have. calc takes less: up to here a line costs its own value
// alone, and beyond it the input is no text of lines.
const maxLine = 1 << 20

// nextLine reads the n-th line without its end; ok is false where there is none. The error is io.EOF after the last one.
func nextLine(r *bufio.Reader, n int) (line string, ok bool, err error) {
	data, err := r.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return "", false, fmt.Errorf("standard input, line %d: expected an expression a line, but it has more than %d bytes", n, maxLine)
	case err != nil && !errors.Is(err, io.EOF):
		err = fmt.Errorf("standard input, line %d: %w", n, err)
	}
	return strings.TrimRight(string(data), "\r\n"), len(data) > 0, err
}

// evalLines evaluates a line at a time. Results are written at the latest when the reader would have to wait.
func evalLines(in io.Reader, out io.Writer) error {
	r, w := bufio.NewReaderSize(in, maxLine), bufio.NewWriterSize(out, 1<<16)
	for n := 1; ; n++ {
		line, ok, err := nextLine(r, n)
		if ok {
			w.WriteString(evalLine(line))
			w.WriteByte('\n')
		}
		if errors.Is(err, io.EOF) {
			return w.Flush()
		}
		if err != nil {
			_ = w.Flush() // run tells of an error
			return err
		}
		if r.Buffered() == 0 {
			if err := w.Flush(); err != nil {
				return err
			}
		}
	}
}

// evalLine is the value of a text in one line, or what is wrong with it.
func evalLine(text string) string { return lineOf(calc.Eval, text) }

// lineOf is evalLine by means of eval, whose panic costs one line and no other.
func lineOf(eval func(string) (calc.Value, error), text string) (line string) {
	defer func() {
		if r := recover(); r != nil {
			line = "error: internal error: " + strings.ReplaceAll(clip(fmt.Sprint(r)), "\n", " ")
		}
	}()
	v, err := eval(text)
	if err != nil {
		return "error: " + strings.ReplaceAll(refusal(err), "\n", " ")
	}
	if _, ok := v.(calc.Picture); ok {
		return "error: a picture has several lines, and each expression gives one here"
	}
	return v.String()
}
