package main

import (
	"errors"
	"fmt"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/gocute/gocute/internal/proc"
)

const (
	modulePath = "github.com/gocute/gocute"
	dslPath    = modulePath + "/dsl"
	runnerPath = modulePath + "/cmd/gocute/runner"
)

// kernelPackage is a package of the user's with functions that return kernels or families of them.
type kernelPackage struct {
	path, dir string
	module    *packages.Module // nil for one without a module
	funcs     []kernelFunc
	families  []kernelFunc
}

type kernelFunc struct{ name, pos string }

// loaded is what the patterns on the command line stand for.
type loaded struct {
	kernels   []*kernelPackage // with kernels
	families  []*kernelPackage // with families; those with both are in both lists
	generated []*generatedPackage
	dirs      []string // of all packages that are not generated
	near      []nearKernel
}

// load finds the packages and their kernel functions, of which there has to be one. A package that does not compile is
// an error, with the compiler's messages.
func (s *session) load(patterns []string) (*loaded, error) {
	return s.loadAny(patterns, (*loaded).noKernels)
}

// all are the packages with kernels or families.
func (l *loaded) all() []*kernelPackage {
	out := slices.Clone(l.kernels)
	for _, f := range l.families {
		if !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out
}

// loadEither is load for kernels or families.
func (s *session) loadEither(patterns []string) (*loaded, error) {
	return s.loadAny(patterns, func(l *loaded, patterns []string) error {
		if len(l.families) > 0 {
			return nil
		}
		return l.noKernels(patterns)
	})
}

// noKernels is the error of packages without kernels, or nil.
func (l *loaded) noKernels(patterns []string) error {
	if len(l.kernels)+len(l.generated) > 0 {
		return nil
	}
	errs := failure{fmt.Sprintf("%s: no kernels: expected exported functions without parameters that return *dsl.Kernel (of %s)",
		strings.Join(patterns, " "), dslPath)}
	return append(errs, l.hints("")...)
}

// loadFamilies is load for families.
func (s *session) loadFamilies(patterns []string) (*loaded, error) {
	return s.loadAny(patterns, func(l *loaded, patterns []string) error {
		if len(l.families) > 0 {
			return nil
		}
		return fmt.Errorf("%s: no families: expected exported functions without parameters that return *dsl.Family (of %s)",
			strings.Join(patterns, " "), dslPath)
	})
}

// loadAny finds the packages; none says what is missing if nothing of use is among them.
func (s *session) loadAny(patterns []string, none func(l *loaded, patterns []string) error) (*loaded, error) {
	if len(patterns) == 0 {
		patterns = []string{"."}
	}
	if err := s.folders(patterns); err != nil {
		return nil, err
	}
	for i, p := range patterns { // go takes kernels for a package of the standard library
		if info, err := os.Stat(filepath.Join(s.dir, p)); err == nil && info.IsDir() && !filepath.IsAbs(p) && !strings.HasPrefix(p, ".") {
			patterns[i] = "./" + p
		}
	}
	if err := s.temporary(); err != nil {
		return nil, err
	}
	pkgs, err := packages.Load(&packages.Config{
		Context: s.ctx, Dir: s.dir, Env: append(proc.Environ(), hostEnv()...), Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedTypes |
			packages.NeedSyntax | packages.NeedModule,
	}, patterns...)
	if err != nil {
		return nil, s.notLoaded(patterns, err)
	}
	if len(pkgs) == 0 {
		if err := s.nothingLoaded(patterns); err != nil {
			return nil, err
		}
	}
	out := &loaded{}
	var errs failure
	wild := slices.ContainsFunc(patterns, func(p string) bool { return strings.Contains(p, "...") })
	for _, p := range pkgs {
		if g := readGenerated(p.PkgPath, p.Dir); g != nil { // whether it compiles does not matter
			out.generated = append(out.generated, g)
			continue
		}
		switch errors := messages(p); {
		case len(errors) > 0:
			errs = append(errs, errors...)
		case p.Name == "main" && !wild:
			errs = append(errs, fmt.Sprintf("%s: package main cannot be imported, and gocute imports the package whose kernels it generates: "+
				"move the kernel functions to a package of their own", s.shorten(p.Dir)))
		case p.Name != "main":
			out.add(p)
		}
	}
	if len(errs) > 0 {
		if err := s.withoutModules(); err != nil {
			return nil, err
		}
		if err := s.missing(errs); err != nil {
			return nil, err
		}
		return nil, errs
	}
	if err := none(out, patterns); err != nil {
		if env, envErr := s.goEnv(); envErr == nil && env.GOWORK == "" && (env.GOMOD == "" || env.GOMOD == os.DevNull) {
			return nil, s.explain(errNoModule)
		}
		return nil, err
	}
	return out, nil
}

// whatIsPKG says what may stand for PKG.
const whatIsPKG = "PKG is a package as for go build: a folder such as ./kernels, an import path, or a pattern such as ./..."

// notInStd is the go command's word on a name without a dot that is neither a folder nor a package.
var notInStd = regexp.MustCompile(`^package (\S+) is not in std\b.*$`)

// folders refuses folders that are not there, and files, of which the go command would make a package of their own.
func (s *session) folders(patterns []string) error {
	var errs failure
	for _, p := range patterns {
		if strings.TrimSpace(p) == "" {
			errs = append(errs, fmt.Sprintf("expected a package, but got %q", p))
			continue
		}
		if explicit := strings.HasPrefix(p, ".") || filepath.IsAbs(p); explicit && !strings.HasSuffix(p, ".go") {
			if dir := strings.TrimSuffix(p, "/..."); !strings.Contains(dir, "...") {
				if _, err := os.Stat(absolute(s.dir, dir)); errors.Is(err, fs.ErrNotExist) {
					errs = append(errs, fmt.Sprintf("%s: there is no such folder: %s", p, whatIsPKG))
					continue
				}
			}
		}
		info, err := os.Stat(absolute(s.dir, p))
		local := strings.HasPrefix(p, ".") || filepath.IsAbs(p) || !strings.Contains(p, "/")
		if err == nil && info.IsDir() || err != nil && !(local && strings.HasSuffix(p, ".go")) { // import paths may end in .go
			continue
		}
		dir := filepath.ToSlash(filepath.Dir(p))
		if !filepath.IsAbs(p) && !strings.HasPrefix(dir, ".") {
			dir = "./" + dir
		}
		errs = append(errs, fmt.Sprintf("%s: expected packages, but got a file; name its folder: %s", p, dir))
	}
	if len(errs) > 0 {
		return errs
	}
	return nil
}

func (l *loaded) add(p *packages.Package) {
	l.dirs = append(l.dirs, p.Dir)
	l.near = append(l.near, nearKernels(p)...)
	k := &kernelPackage{path: p.PkgPath, dir: p.Dir, module: p.Module, funcs: funcsThatReturn(p, "Kernel"), families: funcsThatReturn(p, "Family")}
	if len(k.funcs) > 0 {
		l.kernels = append(l.kernels, k)
	}
	if len(k.families) > 0 {
		l.families = append(l.families, k)
	}
}

// messages are the errors of a package, each with file:line. After a syntax error the others in the package are
// mostly its consequences, so only the first one of each file is kept.
func messages(p *packages.Package) []string {
	syntax := slices.ContainsFunc(p.Errors, func(e packages.Error) bool { return e.Kind == packages.ParseError })
	files := map[string]bool{}
	var out []string
	for _, e := range p.Errors {
		msg := strings.TrimSpace(e.Msg)
		if e.Kind == packages.ListError && strings.HasPrefix(msg, "# ") { // the compiler's own text of what follows as a type error
			continue
		}
		if syntax {
			file, _, _ := strings.Cut(e.Pos, ":")
			if e.Kind != packages.ParseError || files[file] {
				continue
			}
			files[file] = true
		}
		if e.Pos != "" && e.Pos != "-" {
			msg = e.Pos + ": " + msg
		} else if m := notInStd.FindStringSubmatch(msg); m != nil {
			msg = fmt.Sprintf("%s: there is neither such a folder nor such a package: %s", m[1], whatIsPKG)
		}
		if !slices.Contains(out, msg) {
			out = append(out, msg)
		}
	}
	if len(out) == 0 && len(p.Errors) > 0 {
		out = append(out, p.Errors[0].Msg)
	}
	return out
}

var errNoModule = errors.New("go.mod file not found")

// explain adds what to do to an error of the go command.
func (s *session) explain(err error) error {
	if strings.Contains(err.Error(), errNoModule.Error()) {
		return errors.New("there is no go.mod in this folder or above: run go mod init, then go get " + modulePath)
	}
	return err
}

// funcsThatReturn lists the exported functions without parameters that return a pointer to a type of package dsl, in the
// order of the source.
func funcsThatReturn(p *packages.Package, what string) []kernelFunc {
	type found struct {
		kernelFunc
		file string
		line int
	}
	var all []found
	scope := p.Types.Scope()
	for _, name := range scope.Names() {
		f, ok := scope.Lookup(name).(*types.Func)
		if !ok || !f.Exported() || !returns(f.Signature(), what) {
			continue
		}
		at := p.Fset.Position(f.Pos())
		all = append(all, found{kernelFunc{name, fmt.Sprintf("%s:%d", at.Filename, at.Line)}, at.Filename, at.Line})
	}
	slices.SortFunc(all, func(a, b found) int {
		if c := strings.Compare(a.file, b.file); c != 0 {
			return c
		}
		return a.line - b.line
	})
	var out []kernelFunc
	for _, f := range all {
		out = append(out, f.kernelFunc)
	}
	return out
}

// returnsKernel reports whether a function is func() *dsl.Kernel.
func returnsKernel(sig *types.Signature) bool { return returns(sig, "Kernel") }

// returns reports whether a function is func() *dsl.WHAT.
func returns(sig *types.Signature, what string) bool {
	if sig.Params().Len() != 0 || sig.Results().Len() != 1 || sig.TypeParams().Len() != 0 {
		return false
	}
	ptr, ok := types.Unalias(sig.Results().At(0).Type()).(*types.Pointer)
	return ok && isOfDSL(ptr.Elem(), what)
}

// isKernel reports whether a type is dsl.Kernel.
func isKernel(t types.Type) bool { return isOfDSL(t, "Kernel") }

// isOfDSL reports whether a type is the one of that name in package dsl.
func isOfDSL(t types.Type, what string) bool {
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Name() == what && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == dslPath
}
