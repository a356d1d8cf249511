package golaunch

import (
	"fmt"
	"go/token"
	"regexp"
	"slices"
	"strings"

	"github.com/gocute/gocute/gen/cir"
)

// Placeholder is the file in bin/ that is always there, so that go:embed finds the folder not empty.
const Placeholder = "README"

// PlaceholderText is what the placeholder of a kernel holds.
func PlaceholderText(kernel string) []byte {
	return fmt.Appendf(nil, `Compiled images of the kernel %[1]s go here: %[1]s.sm_90.cubin, %[1]s.compute_80.ptx, ….
The package above embeds this folder; this file keeps it from being empty. Do not remove it.
`, kernel)
}

// specialFolders mean something to the go command as a part of an import path or as a package's name.
var specialFolders = []string{"main", "init", "internal", "vendor", "testdata", "documentation"}

// PackageName is the name of a kernel's package and of the folder it lies in, so that importers need no alias:
// the kernel's name in lower case. "_kernel" is added where Go gives the name another meaning (func, main,
// internal, …) and "kernel" is put before a leading underscore, for the go command ignores such folders.
func PackageName(kernel string) string {
	name := strings.ToLower(kernel)
	switch {
	case strings.HasPrefix(name, "_"):
		return "kernel" + name
	case token.IsKeyword(name) || slices.Contains(specialFolders, name) || strings.HasSuffix(name, "_test"):
		return name + "_kernel"
	}
	return name
}

// FileName is the name of a kernel's Go file: NAME.go with the package's name, or NAME_launch.go where
// Go would take NAME.go for a file of some tests or of one platform only (gemm_arm.go, x_test.go).
func FileName(kernel string) string {
	name := PackageName(kernel)
	if constrained(name) {
		name += "_launch"
	}
	return name + ".go"
}

// constrained reports whether a file of that name is left out of some platforms' builds.
func constrained(name string) bool {
	if strings.HasSuffix(name, "_test") {
		return true
	}
	i := strings.Index(name, "_")
	if i < 0 {
		return false
	}
	for _, word := range strings.Split(name[i+1:], "_") {
		if slices.Contains(platforms, word) {
			return true
		}
	}
	return false
}

// platforms are the words that Go reads as an operating system or an architecture in a file's name.
var platforms = strings.Fields(`
	aix android darwin dragonfly freebsd hurd illumos ios js linux nacl netbsd openbsd plan9 solaris wasip1 windows zos
	386 amd64 amd64p32 arm armbe arm64 arm64be loong64 mips mipsle mips64 mips64le mips64p32 mips64p32le
	ppc ppc64 ppc64le riscv riscv64 s390 s390x sparc sparc64 wasm`)

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// taken are the names that a local variable of the printed code must not hide.
var taken = []string{
	"a", "grid", "err", "exact", "min", "max", "int64", "nil", "error", "true", "false",
	"cuda", "elem", "embed", "launch", "reflect", "errors", "specs", "Name", "Args", "Kernel", "Threads", "SharedBytes",
}

// names gives every parameter its field in Args and, for dims, its variable in the printed checks.
type names struct {
	field map[*cir.Param]string
	local map[string]string // by the symbol's name
}

func nameParams(params []*cir.Param) names {
	n := names{field: map[*cir.Param]string{}, local: map[string]string{}}
	used := map[string]bool{"Check": true} // a method of Args
	locals := map[string]bool{}
	for _, p := range params {
		f := fieldName(p.Name)
		for used[f] {
			f += "_"
		}
		used[f] = true
		n.field[p] = f
		if p.Class != cir.Dim {
			continue
		}
		l := p.Sym.Name
		for token.IsKeyword(l) || slices.Contains(taken, l) || locals[l] || strings.Trim(l, "_") == "" {
			l += "x"
		}
		locals[l] = true
		n.local[p.Sym.Name] = l
	}
	return n
}

// fieldName makes an exported name of a C identifier: lda becomes Lda, _x becomes X, and _1 becomes P1.
func fieldName(name string) string {
	s := strings.TrimLeft(name, "_")
	if s == "" || s[0] >= '0' && s[0] <= '9' {
		return "P" + s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
