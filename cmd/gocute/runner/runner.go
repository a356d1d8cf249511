// Package runner is what the command gocute runs inside a user's module: a synthetic main program imports the
// user's packages and calls Main, which records their kernels and does what a request file asks. It writes nothing
// but the response, and what it is at while it has none; what goes to the user's disk is the command's business.
package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/gocute/gocute/cmd/gocute/report"
	"github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/tune"
)

// Protocol is the version of Request and Response. The command and the module it works on may be of different
// releases of gocute; another Protocol is refused.
const Protocol = 4

// Func is an exported function that returns a kernel.
type Func struct {
	Name string // of the function
	Pos  string // file:line of the function
	New  func() *dsl.Kernel
}

// FamilyFunc is an exported function that returns a family.
type FamilyFunc struct {
	Name string // of the function
	Pos  string // file:line of the function
	New  func() *dsl.Family
}

// Package is a package with kernels or families.
type Package struct {
	Path     string
	Funcs    []Func
	Families []FamilyFunc
}

// Request is what the command asks for.
type Request struct {
	Protocol int
	Action   string // a key of actions
	Response string // path of the file that Main writes
	Dir      string // the command's working folder: paths of reports are relative to it

	Header bool     // gen: include headers instead of printing the instructions' wrappers
	Only   []string // gen: names of kernels or of their functions; all if there are none

	Tuned map[string][]string // gen: configs of families, by the families' names, that are kernels too

	Kernel   string            // run: name of the kernel or of its function
	Set      map[string]string // run and tune: dims and scalars
	On       string            // run: auto, gpu or cpu
	Seed     int64             // run and tune: of the inputs
	EmuSeeds []uint64          // run: schedules of the emulator
	ForcePTX bool              // run
	// NoInstall forbids run and tune to download a compiler.
	NoInstall bool
	Mutate    bool // check: print the table of mutants

	Family   string              // tune: name of the family or of its function
	Shapes   []map[string]string // tune: settings beside Set, a launch each
	Chip     tune.Chip           // tune: what to prune and compile for
	Compiler string              // tune: nvcc or nvrtc; none prunes only
}

// Response is what came of a request.
type Response struct {
	Protocol int
	Errors   []string // a line each, or a line with indented ones below it
	Kernels  []Kernel // list and gen
	Headers  map[string][]byte
	Unknown  []string          // run and gen: there is no such kernel, but those of these names and functions
	Found    []string          // gen: the names of Only that are here; run and check: the position of the kernel's function
	Failed   bool              // run: the kernel ran and is wrong
	Families []Family          // list
	Bundle   map[string][]byte // tune: the files of a tune.Bundle

	Text  string          // run and check: the report as people read it
	Run   *report.Outcome // run
	Check *report.Checked // check
	// Mutants is what check tells of a kernel's mutants, in place of Check.
	Mutants *report.Mutants
}

// Family is a declared family.
type Family struct {
	Package, Func, Pos, Name string
	Candidates               int
}

// Kernel is a recorded kernel.
type Kernel struct {
	Package string // import path of the user's package
	Func    string
	Pos     string
	Name    string   // of the emitted function
	Params  []string // such as "M" and "A f16 in (M,K):(K,1)"
	Threads int
	Doc     []string

	Arguments []report.Argument // list: the same as Params

	Folder      string            // gen: package and folder of the launcher
	Files       map[string][]byte // gen: by path below Folder
	Arch        int               // gen: the least architecture
	Exactly     bool              // gen: it is the only one
	SharedBytes int               // gen: dynamic shared memory of a block
}

// actions are what a request can ask for.
var actions = map[string]func(ctx context.Context, req Request, pkgs []Package) Response{
	"list": list, "gen": generate, "run": run, "check": inspect, "tune": prepare,
}

// Main serves the request in the file named by the first argument. The synthetic main program calls it, with the
// Protocol of the command.
func Main(protocol int, pkgs []Package) {
	if err := serve(protocol, pkgs); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(protocol int, pkgs []Package) (err error) {
	if protocol != Protocol {
		return fmt.Errorf("the command gocute speaks version %d of its protocol, but the module's github.com/gocute/gocute version %d: "+
			"install the command of the same release", protocol, Protocol)
	}
	if len(os.Args) != 2 {
		return fmt.Errorf("internal error: expected the path of a request, but got %q", os.Args[1:])
	}
	data, err := os.ReadFile(os.Args[1])
	if err != nil {
		return fmt.Errorf("internal error: %w", err)
	}
	var req Request
	if err := json.Unmarshal(data, &req); err != nil {
		return fmt.Errorf("internal error: request: %w", err)
	}
	action := actions[req.Action]
	if action == nil {
		return fmt.Errorf("internal error: unknown action %q", req.Action)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	res := action(ctx, req, marked(req.Response+UnderWay, pkgs))
	res.Protocol = Protocol
	if data, err = json.Marshal(res); err != nil {
		return fmt.Errorf("internal error: response: %w", err)
	}
	return os.WriteFile(req.Response, data, 0o600)
}

// record calls a kernel's function. Mistakes inside of Define are the kernel's own; others are errors here.
func record(f Func) (*dsl.Kernel, error) {
	k, err := called(f.Pos, f.Name, f.New)
	if err == nil && k == nil {
		err = fmt.Errorf("%s: %s returned no kernel, but nil", f.Pos, f.Name)
	}
	return k, err
}

// lines splits joined errors into one for each mistake.
func lines(err error) []string {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all := joined.Unwrap()
		texts := make([]string, len(all))
		for i, e := range all {
			texts[i] = e.Error()
		}
		if strings.Join(texts, "\n") == err.Error() { // errors.Join, not a sentence around several errors
			var out []string
			for _, e := range all {
				out = append(out, lines(e)...)
			}
			return out
		}
	}
	return []string{err.Error()}
}
