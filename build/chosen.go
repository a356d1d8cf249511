package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/gocute/gocute/internal/proc"
)

// Origins that are neither a variable nor a folder.
const (
	originInstalled = "installed"
	originPATH      = "PATH"
	originLoader    = "system libraries"
)

// chosen notes what was looked at before this compiler was found. What somebody meant to be used is worth a warning.
func (c *Common) chosen(passed []Attempt) {
	c.Passed = passed
	for _, a := range passed {
		if a.Wanted {
			c.Warnings = append(c.Warnings, fmt.Sprintf("%s (%s) is not used: %s; %s %s at %s is used in its place",
				a.Origin, a.Path, a.Reason, c.Name, c.Version, c.Path))
		}
	}
}

// variable names the environment variable that chooses a compiler like this one.
func (c *Common) variable() string { return variableOf(c.Name) }

func variableOf(compiler string) string {
	if compiler == NameNVRTC {
		return EnvNVRTC
	}
	return EnvNVCC
}

// originText says how a compiler was chosen.
var originText = map[string]string{
	EnvNVCC:         "named by " + EnvNVCC,
	EnvNVRTC:        "named by " + EnvNVRTC,
	originInstalled: "installed by gocute",
	originPATH:      "found on PATH",
	originLoader:    "found by the loader",
	"python3":       "found among python3's packages",
}

// Describe says on one line which compiler this is, where it lies and why it was chosen, such as: nvcc 13.0.88 at
// /path/nvcc (installed by gocute; CUDA_HOME is not set, no nvcc on PATH).
func (c *Common) Describe() string {
	how, ok := originText[c.Origin]
	if !ok {
		how = "found by " + c.Origin
		if filepath.IsAbs(c.Origin) {
			how = "found in " + c.Origin
		}
	}
	var passed []string
	for _, a := range c.Passed {
		if text := a.short(c.Name); text != "" {
			passed = append(passed, text)
		}
	}
	if len(passed) > 0 {
		how += "; " + strings.Join(passed, ", ")
	}
	return fmt.Sprintf("%s %s at %s (%s)", c.Name, c.Version, c.Path, how)
}

// short is why a place was passed over, in a few words; empty where nobody would have expected one there.
func (a Attempt) short(compiler string) string {
	switch {
	case a.Path == "" && a.Reason == notSet && a.Origin == "CUDA_HOME":
		return a.Origin + " is not set"
	case a.Path == "" && a.Origin == originPATH:
		return "no " + compiler + " on PATH"
	case a.Wanted:
		return "that of " + a.Origin + " cannot be used"
	}
	return ""
}

// Announce writes which compiler is used and why, and what it warns of, a line each.
func Announce(w io.Writer, c Compiler) {
	about := c.About()
	fmt.Fprintf(w, "gocute: %s\n", about.Describe())
	for _, text := range about.Warnings {
		fmt.Fprintf(w, "gocute: %s\n", text)
	}
}

// maxAnswer is more than any program has to say of itself.
const maxAnswer = 1 << 20

// answer keeps what a program says, and refuses a program that says too much.
type answer struct {
	text    bytes.Buffer
	tooLong bool
}

func (a *answer) Write(p []byte) (int, error) {
	if a.tooLong = a.text.Len()+len(p) > maxAnswer; a.tooLong {
		return 0, errTooLong
	}
	return a.text.Write(p)
}

var errTooLong = errors.New("expected an answer of a few lines, but got more than a megabyte")

// ask runs a program that tells something of itself, with a limit of time and length.
func ask(ctx context.Context, opt Options, program string, args, env []string) (string, error) {
	var out, notes answer
	err := proc.Run(ctx, program, args, proc.Options{Env: env, Stdout: &out, Stderr: &notes, Timeout: opt.askLimit})
	var exit *exec.ExitError
	if out.tooLong || notes.tooLong {
		err = fmt.Errorf("%s %s: %w", filepath.Base(program), strings.Join(args, " "), errTooLong)
	} else if errors.As(err, &exit) {
		err = fmt.Errorf("%s %s: %w", filepath.Base(program), strings.Join(args, " "), err)
		if text := lastLines(out.text.String()+notes.text.String(), 5); text != "" {
			err = fmt.Errorf("%w: %s", err, text)
		}
	}
	return out.text.String(), err
}
