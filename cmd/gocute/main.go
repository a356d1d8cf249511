// Command gocute generates, compiles and runs kernels that are written with package dsl, in any module.
//
//	gocute list ./kernels                          the kernels of a package
//	gocute gen ./kernels -o out                    CUDA C++ and a Go launcher for each
//	gocute build ./kernels -o out                  the same, compiled
//	gocute build -k gemm_f16 ./kernels             only one of them, whatever is wrong with the others
//	gocute run gemm_f16 ./kernels -set M=512       runs one and compares with its reference
//	gocute check gemm_f16 ./kernels                checks and costs in the emulator; --mutate for its mutants
//	gocute tune gemm ./kernels                     measures a family's candidates; a table of the fastest by sizes
//	gocute eval 'right_inverse((4,8):(8,1))'       layout algebra
//	gocute find swizzle '(64,64):(64,1)' --ldmatrix  a layout without bank conflicts; also padding and copy
//	gocute show layout '(4,8):(8,1)'               pictures (SVG) of layouts, atoms, tiled copies, shared memory
//	gocute env                                     which compilers, GPU and cache are used, and why
//	gocute clean                                   removes compiled objects from the cache
//	gocute help findings                           the mistakes that gocute check finds; help lists the other topics
//	gocute completion bash                         the script for completion in a shell
//
// With --json a command prints one object: docs/json.md.
// The exit status is 0, 1 for any failure, and 2 for wrong usage.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/gocute/gocute/cmd/gocute/report"
	"github.com/gocute/gocute/internal/proc"
	"github.com/gocute/gocute/internal/scratch"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, err := os.Getwd()
	if err == nil { // libraries that start the go command by themselves look it up here
		err = os.Setenv("PATH", proc.Path())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gocute:", err)
		os.Exit(1)
	}
	scratch.Sweep("", scratch.Prefix) // what a run that was killed left
	status := run(ctx, dir, os.Args[1:], os.Stdout, os.Stderr)
	if err := os.Stdout.Close(); err != nil && status == 0 { // some file systems tell only now that they have no space
		fmt.Fprintln(os.Stderr, "gocute: standard output is incomplete:", err)
		status = 1
	}
	os.Exit(status)
}

// cli is the command line.
type cli struct {
	List    listCmd    `cmd:"" help:"List the kernels of packages."`
	Gen     genCmd     `cmd:"" help:"Generate CUDA C++ and a Go launcher for each kernel."`
	Build   buildCmd   `cmd:"" help:"Generate and compile kernels."`
	Run     runCmd     `cmd:"" help:"Run a kernel on the GPU or in the emulator and compare it with its reference."`
	Check   checkCmd   `cmd:"" help:"Check a kernel in the emulator, exactly where it is linear, and print what it costs."`
	Tune    tuneCmd    `cmd:"" help:"Measure the candidates of a family of kernels and write the table that programs choose by."`
	Eval    evalCmd    `cmd:"" help:"Evaluate an expression of layout algebra."`
	Find    findCmd    `cmd:"" help:"Find a swizzle, a padding, or thread and value layouts for a goal."`
	Show    showCmd    `cmd:"" help:"Draw layouts, TV layouts, atoms, tiled copies and shared memory as SVG."`
	Env     envCmd     `cmd:"" help:"Tell which compilers, GPU and cache are used and why, and whether all is in order."`
	Clean   cleanCmd   `cmd:"" help:"Remove the compiled objects from the cache, and the installed compilers."`
	Version versionCmd `cmd:"" help:"Print the version, as gocute --version does."`

	Help       helpCmd       `cmd:"" help:"Help on a command or on a topic, such as environment, exit-status, findings."`
	Completion completionCmd `cmd:"" help:"Print the script that completes commands in bash, zsh or fish."`
	Complete   completeCmd   `cmd:"" name:"__complete" hidden:""`
}

// session is what commands share.
type session struct {
	ctx            context.Context
	dir            string // the working folder, absolute
	stdout, stderr io.Writer

	answer  report.Answer // what --json prints
	objects io.Writer     // where to: standard output; nil without --json
}

// failure is an error with several lines to print, a mistake each.
type failure []string

func (f failure) Error() string { return strings.Join(f, "\n") }

// errSilent is a failure about which everything has been said.
var errSilent = errors.New("failed")

// run is the command without the process around it. Its status is 0 only if all of the output could be written.
func run(ctx context.Context, dir string, args []string, stdout, stderr io.Writer) int {
	out := &checkedWriter{to: stdout}
	return out.finish(command(ctx, dir, args, out, stderr), stderr)
}

// command is run with a writer that keeps the error of a write.
func command(ctx context.Context, dir string, args []string, stdout, stderr io.Writer) int {
	s := &session{ctx: ctx, dir: dir, stdout: stdout, stderr: stderr}
	var c cli
	status := -1
	parser, err := kong.New(&c, kong.Name("gocute"), kong.Writers(stdout, stderr),
		kong.Exit(func(code int) { status = code }), kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: helpWidth}),
		kong.Description("Generates, compiles and runs CUDA kernels that are written in Go with github.com/gocute/gocute/dsl."))
	if err != nil {
		fmt.Fprintln(stderr, "gocute: internal error:", err)
		return 1
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	if args[0] == "--version" || args[0] == "-version" {
		args = append([]string{"version"}, args[1:]...)
	}
	given := args
	args = longFlags(parser.Model.Node, startsWithMinus(args))
	parsed, err := parser.Parse(args)
	if s.lost() != nil { // in printing help
		return 1
	}
	if status >= 0 { // --help was asked for and has been printed
		return status
	}
	if err != nil {
		if bad := (*kong.ParseError)(nil); errors.As(err, &bad) {
			s.beginJSON(args, bad.Context.Selected())
			err = misused(err)
			_ = s.endJSON(err) // err is told all the same
		}
		fmt.Fprintf(stderr, "gocute: %s\n%sRun gocute --help, or gocute COMMAND --help, for usage.\n", clip(err.Error()), minusHint(given, err))
		return 2
	}
	s.beginJSON(args, parsed.Selected())
	switch name, _, _ := strings.Cut(parsed.Command(), " "); name {
	case "eval", "find", "show": // they compute without looking at the context
		own := *s
		return s.report(s.interruptible(func() error { return parsed.Run(&own) }))
	}
	return s.report(parsed.Run(s))
}

// interruptible ends with the context, whatever the work does.
func (s *session) interruptible(work func() error) error {
	done := make(chan error, 1)
	go func() { done <- work() }()
	select {
	case err := <-done:
		return err
	case <-s.ctx.Done():
		s.answer = new(report.Unknown) // the work may go on filling in its own
		return s.ctx.Err()
	}
}

// report prints an error, one line for each mistake, and returns the exit status.
func (s *session) report(err error) int {
	if failed := s.endJSON(err); err == nil {
		err = failed
	}
	if err == nil {
		return 0
	}
	if s.ctx.Err() != nil {
		fmt.Fprintln(s.stderr, "gocute: interrupted")
		return 1
	}
	if lost := (*lostOutput)(nil); !errors.Is(err, errSilent) && !errors.As(err, &lost) { // finish tells of the latter
		fmt.Fprintln(s.stderr, s.shorten(err.Error()))
	}
	if e := (exitError{}); errors.As(err, &e) {
		return e.ExitCode()
	}
	return 1
}
