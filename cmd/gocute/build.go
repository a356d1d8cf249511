package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/gocute/gocute/build"
	"github.com/gocute/gocute/cmd/gocute/report"
	"github.com/gocute/gocute/gen"
	"github.com/gocute/gocute/internal/scratch"
)

// buildCmd is gocute build.
type buildCmd struct {
	Kernels  []string `short:"k" name:"kernel" sep:"none" help:"Only this kernel, by its name or its function's; may be given several times." placeholder:"NAME"`
	Packages []string `arg:"" optional:"" name:"PKG" help:"Packages with kernels, or generated ones; the folder here if there is none."`
	Out      filePath `short:"o" default:"out" help:"Folder for the generated packages, relative to the folder here." placeholder:"DIR"`
	Header   bool     `help:"Include gocute's headers, which go to DIR/include, instead of printing one self-contained file."`
	Tuned    []string `sep:"none" help:"Also the candidates of a family that are the fastest somewhere in this table of gocute tune; may be given several times." placeholder:"FILE"`
	Compiler string   `default:"nvcc" enum:"nvcc,nvrtc" help:"nvcc, or nvrtc: the library, which compiles several times faster, in this process." placeholder:"NAME"`
	NoCache  bool     `help:"Compile anew, one image after the other, and tell how long the compiler took for each."`
	jsonFlag
	installFlag
}

// Help is shown by --help.
func (buildCmd) Help() string {
	return `Generates as gocute gen does and compiles for sm_80 and sm_90, and to PTX for later GPUs, into DIR/NAME/bin, which
the launcher embeds. Kernels with instructions of one architecture alone are compiled for that one: sm_90a. A generated package is compiled as it is. With -k, the other kernels may be wrong. SMEM counts static and dynamic shared memory.

Examples:

  gocute build ./kernels -o out
  gocute build -k gemm_f16 ./kernels
  gocute build ./out/gemm_f16
  gocute build --compiler nvrtc --no-cache ./out/gemm_f16`
}

// unit is one kernel to compile.
type unit struct {
	name     string
	dir      string // of its package
	code     []byte
	includes []string
	arch     int  // the least architecture
	exactly  bool // the only one
	shared   int  // dynamic shared memory
	result   *build.Result
	err      error
}

// Run generates and compiles everything in memory, and only then writes.
func (c *buildCmd) Run(s *session) error {
	l, winners, err := s.loadTuned(c.Packages, c.Tuned)
	if err != nil {
		return err
	}
	if len(l.kernels) == 0 {
		if err := meaningless("generated packages are compiled as they are", given{"-o", c.Out != "out"}, given{"--header", c.Header}); err != nil {
			return err
		}
	}
	o, units, remove, err := c.units(s, l, winners)
	if err != nil {
		return err
	}
	defer remove()
	if err := s.compile(units, c.Compiler, c.NoCache, c.NoInstall); err != nil {
		return err
	}
	for _, u := range units {
		for _, b := range u.result.Binaries {
			o.files[filepath.Join(u.dir, "bin", u.name+"."+b.Arch+".cubin")] = b.Cubin
		}
		for _, p := range u.result.PTX {
			if p.Arch == u.ptx() {
				o.files[filepath.Join(u.dir, "bin", u.name+"."+p.Arch+".ptx")] = p.Code
			}
		}
	}
	o.missing, o.differ = nil, nil
	if err := o.compare(s); err != nil {
		return err
	}
	if err := o.write(); err != nil {
		return err
	}
	s.built(object[report.Build](s), units)
	s.table(units, c.Compiler)
	return nil
}

// units generates what there are functions of, and lists all that is to be compiled; remove ends the headers' time.
func (c *buildCmd) units(s *session, l *loaded, winners map[string][]string) (o *output, units []*unit, remove func(), err error) {
	w := wish{out: string(c.Out), header: c.Header, only: c.Kernels, tuned: winners}
	for _, g := range l.generated {
		w.known = append(w.known, g.name)
	}
	if o, err = s.generate(l, w); err != nil {
		return nil, nil, nil, err
	}
	include, remove, err := o.headers()
	if err != nil {
		return nil, nil, nil, err
	}
	for _, k := range o.kernels {
		units = append(units, &unit{name: k.Name, dir: filepath.Join(o.dir, k.Folder), code: k.Files[k.Name+".cu"],
			includes: include, arch: k.Arch, exactly: k.Exactly, shared: k.SharedBytes})
	}
	for _, g := range l.generated {
		if slices.ContainsFunc(units, func(u *unit) bool { return u.dir == g.dir }) { // just generated
			continue
		}
		if len(c.Kernels) == 0 || slices.Contains(c.Kernels, g.name) {
			units = append(units, &unit{name: g.name, dir: g.dir, code: g.code, includes: g.includes(), arch: g.arch, exactly: g.exactly, shared: g.shared})
		}
	}
	return o, units, remove, nil
}

// archs are the architectures that cubins are shipped for.
func (u *unit) archs() []string {
	cubins, _ := build.ArchsOf(u.arch, u.exactly)
	return cubins
}

// ptx is the virtual architecture whose PTX is shipped.
func (u *unit) ptx() string {
	_, ptx := build.ArchsOf(u.arch, u.exactly)
	return ptx
}

// compile compiles all kernels; the compiler bounds how many it does at a time. Without the cache they run one
// at a time, which makes their times comparable.
func (s *session) compile(units []*unit, compiler string, noCache, noInstall bool) error {
	tc, err := build.FindCompiler(s.ctx, compiler, build.Options{Progress: s.stderr, NoInstall: noInstall})
	if err != nil {
		return err
	}
	build.Announce(s.stderr, tc)
	out, about := object[report.Build](s), tc.About()
	out.Compiler, out.Version, out.Origin = about.Name, about.Version.String(), about.Origin
	for _, w := range about.Warnings {
		out.Warnings = append(out.Warnings, report.BuildWarning{Message: w})
	}
	one := func(u *unit) {
		u.result, u.err = tc.Compile(s.ctx, build.Source{Name: u.name, Code: u.code, IncludeDirs: u.includes,
			Archs: u.archs(), PTXArchs: []string{u.ptx()}, NoCache: noCache})
	}
	var wg sync.WaitGroup
	for _, u := range units {
		if noCache {
			one(u)
		} else {
			wg.Go(func() { one(u) })
		}
	}
	wg.Wait()
	var errs failure
	for _, u := range units {
		if u.err != nil {
			errs = append(errs, u.err.Error())
			continue
		}
		for _, w := range u.result.Warnings {
			out.Warnings = append(out.Warnings, report.BuildWarning{Kernel: u.name, Message: w})
			fmt.Fprintf(s.stderr, "%s: %s\n", u.name, w)
		}
	}
	if len(errs) > 0 {
		return errs
	}
	return nil
}

// table prints what the compiler made of the kernels; the time is that of all steps to an image.
func (s *session) table(units []*unit, compiler string) {
	t := newTable(s.stdout, "KERNEL", "IMAGE", strings.ToUpper(compiler), "REGISTERS", "SPILLS", "STACK", "SMEM")
	for _, u := range units {
		front := map[string]build.PTX{}
		for _, p := range u.result.PTX {
			front[p.Arch] = p
		}
		for _, b := range u.result.Binaries {
			p := front[strings.Replace(b.Arch, "sm_", "compute_", 1)]
			time := took(b.Hit && p.Hit, b.Seconds+p.Seconds)
			k, ok := b.Report.Kernel(u.name)
			if !ok {
				t.row(u.name, b.Arch, time, "?", "?", "?", "?")
				continue
			}
			t.row(u.name, b.Arch, time, k.Registers, k.SpillStores+k.SpillLoads, max(k.StackFrame, k.CumulativeStack), k.StaticSmem+u.shared)
		}
		t.row(u.name, u.ptx(), took(front[u.ptx()].Hit, front[u.ptx()].Seconds))
	}
	t.flush()
}

// took is how long the compiler ran.
func took(hit bool, seconds float64) string {
	if hit {
		return "cached"
	}
	return fmt.Sprintf("%.2f s", seconds)
}

// headers puts the headers of header mode where nvcc finds them before they are written; remove takes them away.
func (o *output) headers() (include []string, remove func(), err error) {
	root := filepath.Join(o.dir, includeFolder)
	files := map[string][]byte{}
	for path, data := range o.files {
		if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
			files[rel] = data
		}
	}
	if len(files) == 0 {
		return nil, func() {}, nil
	}
	tmp, err := scratch.New("", scratch.Prefix)
	if err != nil {
		return nil, nil, err
	}
	dir := filepath.Join(tmp.Path, "include")
	for rel, data := range files {
		if err := gen.WriteFile(filepath.Join(dir, rel), data); err != nil {
			tmp.Remove()
			return nil, nil, err
		}
	}
	return []string{dir}, tmp.Remove, nil
}
