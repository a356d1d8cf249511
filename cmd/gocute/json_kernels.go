package main

import (
	"path/filepath"
	"strings"

	"github.com/gocute/gocute/build"
	"github.com/gocute/gocute/cmd/gocute/report"
	"github.com/gocute/gocute/cmd/gocute/runner"
)

// listed fills in the object of gocute list.
func (s *session) listed(out *report.List, l *loaded, all runner.Response) {
	for _, g := range l.generated {
		out.Generated = append(out.Generated, report.Generated{Name: g.name, Folder: s.relative(g.dir)})
	}
	for _, k := range all.Kernels {
		out.Kernels = append(out.Kernels, report.Kernel{Name: k.Name, Function: k.Func, Package: k.Package, Position: s.position(k.Pos),
			Threads: k.Threads, Doc: k.Doc, Arguments: k.Arguments})
	}
	for _, f := range all.Families {
		out.Families = append(out.Families, report.Family{Name: f.Name, Function: f.Func, Package: f.Package, Position: s.position(f.Pos), Candidates: f.Candidates})
	}
}

// checkedFiles fills in the object of gocute gen --check.
func (s *session) checkedFiles(o *output, stale []string) {
	out := object[report.Gen](s)
	for _, k := range o.kernels {
		out.Kernels = append(out.Kernels, report.GeneratedKernel{Name: k.Name, Folder: s.relative(filepath.Join(o.dir, k.Folder)), State: o.state(k.Folder)})
	}
	for _, dir := range stale {
		out.LeftOver = append(out.LeftOver, s.relative(dir))
	}
	current := len(o.missing)+len(o.differ)+len(o.outdated())+len(stale) == 0
	out.UpToDate = &current
}

// built fills in the kernels of gocute build.
func (s *session) built(out *report.Build, units []*unit) {
	for _, u := range units {
		k := report.BuiltKernel{Name: u.name, Folder: s.relative(u.dir)}
		file := func(arch, ext string) string {
			return s.relative(filepath.Join(u.dir, "bin", u.name+"."+arch+"."+ext))
		}
		front := map[string]build.PTX{}
		for _, p := range u.result.PTX {
			front[p.Arch] = p
		}
		for _, b := range u.result.Binaries {
			p := front[strings.Replace(b.Arch, "sm_", "compute_", 1)]
			image := report.Image{Arch: b.Arch, Kind: "cubin", File: file(b.Arch, "cubin"), Bytes: len(b.Cubin),
				Cached: b.Hit && p.Hit, Seconds: report.Number(b.Seconds + p.Seconds)}
			if r, ok := b.Report.Kernel(u.name); ok {
				image.Resources = &report.Resources{Registers: r.Registers, SpillStores: r.SpillStores, SpillLoads: r.SpillLoads,
					Stack: max(r.StackFrame, r.CumulativeStack), Shared: r.StaticSmem + u.shared}
			}
			k.Images = append(k.Images, image)
		}
		if p, ok := front[u.ptx()]; ok {
			k.Images = append(k.Images, report.Image{Arch: p.Arch, Kind: "ptx", File: file(p.Arch, "ptx"), Bytes: len(p.Code),
				Cached: p.Hit, Seconds: report.Number(p.Seconds)})
		}
		out.Kernels = append(out.Kernels, k)
	}
}
