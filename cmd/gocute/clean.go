package main

import (
	"fmt"

	"github.com/gocute/gocute/build"
	"github.com/gocute/gocute/cmd/gocute/report"
	"github.com/gocute/gocute/internal/text"
)

// installFlag is a part of every command that may install a compiler.
type installFlag struct {
	NoInstall bool `name:"no-install" help:"Never download a compiler; GOCUTE_NO_INSTALL=1 in the environment says the same."`
}

// cleanCmd is gocute clean.
type cleanCmd struct {
	Toolchain bool `help:"Also the compilers that gocute installed."`
	jsonFlag
}

// Help is shown by --help.
func (cleanCmd) Help() string {
	return `Removes the compiled objects from the cache folder, and temporary folders of runs that were killed. Where something
else lies among the objects, nothing is removed. GOCUTE_CACHE_LIMIT keeps the cache small by itself.

Examples:

  gocute clean
  gocute clean --toolchain`
}

// Run removes and tells what.
func (c *cleanCmd) Run(s *session) error {
	done, err := build.Clean(s.ctx, build.Options{}, c.Toolchain)
	if err != nil {
		return err
	}
	out := object[report.Clean](s)
	out.Dir, out.Objects, out.Bytes, out.Toolchains = done.Dir, done.Objects, done.Bytes, done.Toolchains
	for _, dir := range done.Toolchains {
		fmt.Fprintf(s.stdout, "removed %s\n", dir)
	}
	fmt.Fprintf(s.stdout, "removed %s from %s; %s freed\n", text.Count(done.Objects, "object"), done.Dir, sizeText(done.Bytes))
	return nil
}

// sizeText is a number of bytes for people.
func sizeText(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	}
	if n < 1<<10 { // which would be 0.0 KB
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
}
