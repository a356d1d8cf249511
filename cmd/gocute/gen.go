package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gocute/gocute/cmd/gocute/report"
	"github.com/gocute/gocute/cmd/gocute/runner"
	"github.com/gocute/gocute/gen/golaunch"
)

// includeFolder is where the headers of header mode go, below the output folder.
const includeFolder = "include"

// listCmd is gocute list.
type listCmd struct {
	Packages []string `arg:"" optional:"" name:"PKG" help:"Packages as for go build; the folder here if there is none."`
	jsonFlag
}

// Help is shown by --help.
func (listCmd) Help() string {
	return `A kernel is an exported function without parameters that returns *dsl.Kernel, and a family one that returns *dsl.Family.

Examples:

  gocute list ./kernels
  gocute list --json ./...`
}

// Run lists the kernels with their functions and arguments.
func (c *listCmd) Run(s *session) error {
	l, err := s.loadEither(c.Packages)
	if err != nil {
		return err
	}
	all, err := s.kernels(l.all(), runner.Request{Action: "list"})
	if err != nil && len(all.Kernels) == 0 {
		return err
	}
	s.listed(object[report.List](s), l, all)
	t := newTable(s.stdout, "KERNEL", "FUNCTION", "AT", "ARGUMENTS")
	for _, g := range l.generated {
		t.row(g.name, "(generated)", s.shorten(g.dir), "")
	}
	for _, k := range all.Kernels {
		t.row(k.Name, k.Func, s.shorten(k.Pos), strings.Join(k.Params, ", "))
	}
	for _, f := range all.Families {
		t.row(f.Name, f.Func, s.shorten(f.Pos), fmt.Sprintf("a family of %d", f.Candidates))
	}
	t.flush()
	for _, h := range l.hints("") {
		fmt.Fprintln(s.stderr, s.shorten(h))
	}
	return err
}

// kernels asks about the kernels and joins the answers; mistakes in kernels are one error.
func (s *session) kernels(pkgs []*kernelPackage, req runner.Request) (runner.Response, error) {
	all := runner.Response{Headers: map[string][]byte{}}
	if len(pkgs) == 0 {
		return all, nil
	}
	answers, err := s.ask(pkgs, req)
	if err != nil {
		return all, err
	}
	for _, a := range answers {
		all.Errors = append(all.Errors, a.Errors...)
		all.Kernels = append(all.Kernels, a.Kernels...)
		all.Families = append(all.Families, a.Families...)
		all.Found, all.Unknown = append(all.Found, a.Found...), append(all.Unknown, a.Unknown...)
		for name, data := range a.Headers {
			all.Headers[name] = data
		}
	}
	seen := map[string]runner.Kernel{}
	for _, k := range all.Kernels {
		folder := golaunch.PackageName(k.Name)
		if k.Folder != "" {
			folder = k.Folder
		}
		if first, ok := seen[folder]; ok {
			all.Errors = append(all.Errors, clash(first, k, folder))
			continue
		}
		seen[folder] = k
	}
	if len(all.Errors) > 0 {
		return all, failure(all.Errors)
	}
	return all, nil
}

func clash(a, b runner.Kernel, folder string) string {
	if a.Name == b.Name {
		return fmt.Sprintf("%s: %s: the name is already that of the kernel at %s; names have to be unique", b.Pos, b.Name, a.Pos)
	}
	return fmt.Sprintf("%s: %s: the kernel would share the package %s with the kernel %s at %s; names have to differ in more than case",
		b.Pos, b.Name, folder, a.Name, a.Pos)
}

// genCmd is gocute gen.
type genCmd struct {
	Kernels  []string `short:"k" name:"kernel" sep:"none" help:"Only this kernel, by its name or its function's; may be given several times." placeholder:"NAME"`
	Packages []string `arg:"" optional:"" name:"PKG" help:"Packages as for go build; the folder here if there is none."`
	Out      filePath `short:"o" default:"out" help:"Folder for the generated packages, relative to the folder here." placeholder:"DIR"`
	Header   bool     `help:"Include gocute's headers, which go to DIR/include, instead of printing one self-contained file."`
	Tuned    []string `sep:"none" help:"Also the candidates of a family that are the fastest somewhere in this table of gocute tune; may be given several times." placeholder:"FILE"`
	Check    bool     `xor:"mode" help:"Write nothing; fail if a file is missing, differs or is left over."`
	Prune    bool     `xor:"mode" help:"Remove the generated packages of kernels that no longer exist."`
	jsonFlag
}

// Help is shown by --help.
func (genCmd) Help() string {
	return `Each kernel gets a package of its own, DIR/NAME: NAME.cu, a typed launcher NAME.go, and the folder bin for
compiled images (gocute build). Run go mod tidy afterwards: launchers import more of gocute than kernels do.
With -k, the other kernels may be wrong, and their folders are left alone.

Examples:

  gocute gen ./kernels -o out
  gocute gen ./kernels -o out --check
  gocute gen -k gemm_f16 ./kernels

In a source file:

  //go:generate go tool gocute gen . -o ../out`
}

// Run generates all kernels in memory, and only then writes.
func (c *genCmd) Run(s *session) error {
	if len(c.Kernels) > 0 && c.Prune {
		return exitError{errors.New("gocute: --prune removes the packages of kernels that no longer exist, and -k leaves those of other kernels alone: use one of both"), 2}
	}
	l, winners, err := s.loadTuned(c.Packages, c.Tuned)
	if err != nil {
		return err
	}
	if len(l.kernels) == 0 {
		return fmt.Errorf("%s: the package was generated by gocute: expected one with kernel functions", s.shorten(l.generated[0].dir))
	}
	o, err := s.generate(l, wish{out: string(c.Out), header: c.Header, only: c.Kernels, tuned: winners})
	if err != nil {
		return err
	}
	var stale []string
	if len(c.Kernels) == 0 {
		if stale, err = o.stale(); err != nil {
			return err
		}
	}
	if c.Check {
		s.checkedFiles(o, stale)
		return o.check(s, stale)
	}
	if err := o.write(); err != nil {
		return err
	}
	out := object[report.Gen](s)
	for _, k := range o.kernels {
		out.Kernels = append(out.Kernels, report.GeneratedKernel{Name: k.Name, Folder: s.relative(filepath.Join(o.dir, k.Folder)), State: o.state(k.Folder)})
		fmt.Fprintf(s.stdout, "%s\t%s\n", s.shorten(filepath.Join(o.dir, k.Folder)), o.state(k.Folder))
	}
	return c.leftOver(s, stale)
}

// leftOver removes the packages of kernels that are no more, or mentions them.
func (c *genCmd) leftOver(s *session, stale []string) error {
	out := object[report.Gen](s)
	for _, dir := range stale {
		if !c.Prune {
			out.LeftOver = append(out.LeftOver, s.relative(dir))
			fmt.Fprintf(s.stderr, "gocute: %s is left over from a kernel that is not in these packages; gocute gen --prune removes it\n", s.shorten(dir))
			continue
		}
		left, err := prune(dir)
		if err != nil {
			return err
		}
		out.Removed = append(out.Removed, s.relative(dir))
		fmt.Fprintf(s.stdout, "%s\tremoved\n", s.shorten(dir))
		for _, path := range left {
			fmt.Fprintf(s.stderr, "gocute: %s was not generated by gocute and stays\n", s.shorten(path))
		}
	}
	return nil
}

// wish is what is to be generated.
type wish struct {
	out    string
	header bool
	only   []string            // names of kernels or functions; all if there are none
	known  []string            // names among them that need not be found
	tuned  map[string][]string // configs of families to generate besides
}

// generate makes the files of all kernels, in memory, and compares them with what is on the disk.
func (s *session) generate(l *loaded, w wish) (*output, error) {
	o := &output{dir: filepath.Clean(absolute(s.dir, w.out)), files: map[string][]byte{}}
	if err := s.usable(o.dir, l); err != nil {
		return nil, err
	}
	all, err := s.kernels(l.kernels, runner.Request{Action: "gen", Header: w.header, Only: w.only, Tuned: w.tuned})
	if err != nil {
		return nil, err
	}
	for _, name := range w.only {
		if !slices.Contains(all.Found, name) && !slices.Contains(w.known, name) {
			return nil, unknownKernel(name, slices.Concat(all.Unknown, w.known), l)
		}
	}
	o.kernels = all.Kernels
	for _, k := range all.Kernels {
		dir := filepath.Join(o.dir, k.Folder)
		if err := s.refuse(dir, l.dirs); err != nil {
			return nil, err
		}
		for name, data := range k.Files {
			o.files[filepath.Join(dir, name)] = data
		}
	}
	for name, data := range all.Headers {
		o.files[filepath.Join(o.dir, includeFolder, name)] = data
	}
	return o, o.compare(s)
}

// usable refuses an output folder that packages cannot be generated into.
func (s *session) usable(dir string, l *loaded) error {
	if len(l.kernels) == 0 { // nothing will be
		return nil
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return fmt.Errorf("output folder %s: it is a file", s.shorten(dir))
	}
	if err := s.refuse(dir, l.dirs); err != nil {
		return err
	}
	return s.importable(dir)
}

// refuse protects the packages that are loaded from being written to.
func (s *session) refuse(dir string, loaded []string) error {
	real := func(path string) string {
		if r, err := filepath.EvalSymlinks(path); err == nil {
			return r
		}
		return path
	}
	if slices.ContainsFunc(loaded, func(d string) bool { return real(d) == real(dir) }) {
		return fmt.Errorf("output folder %s: it is a package whose kernels are generated; generated files go to packages of their own: choose another -o", s.shorten(dir))
	}
	return nil
}
