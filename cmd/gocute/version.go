package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/gocute/gocute/cmd/gocute/report"
)

// versionCmd is gocute version.
type versionCmd struct{ jsonFlag }

// Help is shown by --help.
func (versionCmd) Help() string { return "Examples:\n\n  gocute version\n  gocute version --json" }

// Run prints the version of the module, of Go and of the system.
func (versionCmd) Run(s *session) error {
	v := version()
	out := object[report.Version](s)
	out.Version, out.Revision, out.Go, out.OS, out.Arch = v.String(), v.revision, runtime.Version(), runtime.GOOS, runtime.GOARCH
	fmt.Fprintln(s.stdout, versionLine())
	return nil
}

// versionLine is what gocute version and gocute --version print.
func versionLine() string {
	return fmt.Sprintf("gocute %s %s %s/%s", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// release is what the binary was built from.
type release struct{ tag, revision string }

func version() release {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return release{tag: "(devel)"}
	}
	r := release{tag: info.Main.Version}
	if info.Main.Path != modulePath { // built into something else
		r.tag = "(devel)"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			r.revision = s.Value[:12]
		}
	}
	return r
}

func (r release) String() string {
	if r.tag == "(devel)" || r.tag == "" {
		if r.revision != "" {
			return "devel-" + r.revision
		}
		return "devel"
	}
	return r.tag
}

// module is the version to go get.
func (r release) module() string {
	if r.tag == "(devel)" || r.tag == "" {
		return "latest"
	}
	return r.tag
}
