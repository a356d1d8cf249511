// Package proc starts child processes; no other package does. Every child
//
//   - runs nothing and loads nothing from the current folder: its environment has no search path with a relative entry
//     (see Environ), programs are found on absolute folders only (see LookPath), and unless it is given a folder it runs in
//     a new, empty one, as python3 -m and many a wrapper script look into theirs first;
//   - ends with this process, whatever ends that, kill -9 included, together with the processes that it started itself.
//
// The second needs a Unix with /bin/sh: elsewhere a child that outlives its parent runs to its end.
package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gocute/gocute/internal/scratch"
)

// grace is how long a child may still take after it was told to end, and its output after it ended.
const grace = 5 * time.Second

// Options say how a child runs. The zero value is a child in an empty folder, without output and without a limit of time.
type Options struct {
	Dir            string   // absolute; if it is empty, a new folder that is removed afterwards
	Env            []string // NAME=value, besides Environ
	Stdout, Stderr io.Writer
	Timeout        time.Duration // after it the child is killed and Run returns a *TimeoutError; 0 is none
	Interrupt      bool          // a context that ends interrupts the child and kills it five seconds later, not at once
}

// TimeoutError says that a child did not end in time.
type TimeoutError struct {
	Command string // the program's name and its arguments
	After   time.Duration
}

// Error names the command and the limit.
func (e *TimeoutError) Error() string {
	return fmt.Sprintf("%s: expected it to end within %v, but it still ran and was killed", e.Command, e.After)
}

// refusal is a writer's error, which ends the child.
type refusal struct{ error }

// LookPath finds a program on PATH, of whose entries those that are relative do not count. A name with a slash must be an
// absolute path. The error is an *exec.Error with exec.ErrNotFound if there is none.
func LookPath(name string) (string, error) {
	if filepath.IsAbs(name) {
		return exec.LookPath(name)
	}
	if name == "" || filepath.Base(name) != name {
		return "", &exec.Error{Name: name, Err: errors.New("expected a program's name or an absolute path")}
	}
	for _, dir := range absoluteOnly(os.Getenv("PATH")) {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}

// Run runs a program, by its name on PATH or its absolute path, to its end, and kills what it leaves running. Where the
// context ends, the program and its children are killed and the error wraps the context's. A program that fails gives an
// *exec.ExitError.
func Run(ctx context.Context, program string, args []string, opt Options) error {
	path, err := LookPath(program)
	if err != nil {
		return err
	}
	dir := opt.Dir
	if dir == "" {
		tmp, err := scratch.New("", scratch.Prefix)
		if err != nil {
			return err
		}
		defer tmp.Remove()
		dir = tmp.Path
	} else if !filepath.IsAbs(dir) {
		return fmt.Errorf("internal error: expected an absolute folder for %s to run in, but got %s", program, dir)
	}
	limited, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	late := &TimeoutError{Command: strings.Join(append([]string{filepath.Base(path)}, args...), " "), After: opt.Timeout}
	if opt.Timeout > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeoutCause(limited, opt.Timeout, late)
		defer cancel()
	}
	cmd := exec.CommandContext(limited, path, args...)
	cmd.Dir, cmd.WaitDelay = dir, grace
	cmd.Env = append(append(Environ(), "PWD="+dir), opt.Env...)
	outlets, err := connect(cmd, opt.Stdout, opt.Stderr, func(err error) { stop(refusal{err}) })
	if err == nil {
		err = run(cmd, opt.Interrupt)
	}
	for _, o := range outlets {
		if e := o.finish(); err == nil {
			err = e
		}
	}
	if cause := context.Cause(limited); err != nil && cause != nil {
		var r refusal
		switch {
		case cause == error(late):
			return late
		case errors.As(cause, &r): // what the writer says
			return r.error
		}
		return fmt.Errorf("%s stopped: %w", filepath.Base(path), cause)
	}
	return err
}

// Output is Run with the program's standard output as a result. The error of one that fails ends with the last lines that
// it printed.
func Output(ctx context.Context, program string, args []string, opt Options) (string, error) {
	var out, notes strings.Builder
	opt.Stdout, opt.Stderr = &out, &notes
	err := Run(ctx, program, args, opt)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%s %s: %w%s", filepath.Base(program), strings.Join(args, " "), err, lastLines(out.String()+notes.String()))
	}
	return out.String(), err
}

// lastLines are the last five that say something, after a colon.
func lastLines(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\r\n\t "); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return ": " + strings.Join(lines[max(0, len(lines)-5):], "\n")
}
