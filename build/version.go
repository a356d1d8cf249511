package build

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

const (
	minMajor, minMinor       = 12, 4
	pinnedMajor, pinnedMinor = 13, 0
)

// Version is nvcc's own: release Major.Minor and a build number.
type Version struct{ Major, Minor, Build int }

// String is the form nvcc prints after its V, such as 13.0.88.
func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Build) }

func (v Version) less(w Version) bool {
	if v.Major != w.Major {
		return v.Major < w.Major
	}
	if v.Minor != w.Minor {
		return v.Minor < w.Minor
	}
	return v.Build < w.Build
}

// parseVersion reads the output of nvcc --version.
func parseVersion(text string) (Version, error) {
	m := regexp.MustCompile(`\bV(\d+)\.(\d+)\.(\d+)`).FindStringSubmatch(text)
	if m == nil {
		return Version{}, fmt.Errorf("expected a line such as \"release 13.0, V13.0.88\" from nvcc --version, but got %q", lastLines(text, 5))
	}
	var n [3]int
	for i := range n {
		x, err := strconv.Atoi(m[i+1])
		if err != nil {
			return Version{}, fmt.Errorf("expected the version of a release from nvcc --version, but got %q", m[0])
		}
		n[i] = x
	}
	return Version{n[0], n[1], n[2]}, nil
}

// identify describes what else can change nvcc's output: the exact build, the
// host compiler (its macros choose branches in headers) and nvcc's environment.
func identify(ctx context.Context, opt Options, nvccVersion string) string {
	var b strings.Builder
	b.WriteString(nvccVersion)
	for _, name := range []string{
		"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN",
		"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH",
	} {
		fmt.Fprintf(&b, "%s=%s\n", name, os.Getenv(name))
	}
	cc := hostCompiler()
	// A host compiler that does not answer shows up at the first compile, with a hint.
	if abs, err := filepath.Abs(cc); err == nil && filepath.Base(cc) != cc { // children get it so as well
		cc = abs
	}
	if v, err := ask(ctx, opt, cc, []string{"--version"}, nil); err == nil {
		b.WriteString(v)
	}
	return b.String()
}

// hostCompiler is the name or the path of the one that nvcc calls.
func hostCompiler() string { return cmp.Or(os.Getenv("NVCC_CCBIN"), "gcc") }
