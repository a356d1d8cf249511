package main

import (
	"cmp"
	"fmt"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// nearKernel is a function that returns a kernel, but in a way that gocute cannot call.
type nearKernel struct {
	name, pos string
	why       string // what is in the way, and what to do
	weak      bool   // it is not exported, as helpers are not, or returns several kernels, as lists of others do
}

// hint is the function in one line.
func (n nearKernel) hint() string { return fmt.Sprintf("%s: %s %s", n.pos, n.name, n.why) }

// nearKernels lists the functions of a package that nearly are kernels.
func nearKernels(p *packages.Package) []nearKernel {
	var out []nearKernel
	scope := p.Types.Scope()
	for _, name := range scope.Names() {
		f, ok := scope.Lookup(name).(*types.Func)
		if !ok {
			continue
		}
		why := obstacle(f.Signature())
		if !f.Exported() && returnsKernel(f.Signature()) {
			why = "is not exported: give it a name with a capital letter"
		} else if !f.Exported() {
			why = ""
		}
		if why != "" {
			at := p.Fset.Position(f.Pos())
			out = append(out, nearKernel{name: name, pos: fmt.Sprintf("%s:%d", at.Filename, at.Line), why: why, weak: !f.Exported() || why == severalKernels})
		}
	}
	return out
}

const severalKernels = "returns several kernels: each needs an exported function that returns *dsl.Kernel"

// obstacle says why a function that returns a kernel is none, or "" where it is one, or returns no kernel.
func obstacle(sig *types.Signature) string {
	kernels, several, value := 0, false, false
	for v := range sig.Results().Variables() {
		switch t := types.Unalias(v.Type()).(type) {
		case *types.Pointer:
			if isKernel(t.Elem()) {
				kernels++
			}
		case *types.Named:
			value = value || isKernel(t)
		case interface{ Elem() types.Type }: // slices, arrays and maps
			if ptr, ok := types.Unalias(t.Elem()).(*types.Pointer); ok && isKernel(ptr.Elem()) {
				several = true
			}
		}
	}
	switch {
	case kernels == 0 && !several && !value:
		return ""
	case sig.TypeParams().Len() > 0:
		return "takes type parameters: call it from an exported function without any"
	case sig.Params().Len() > 0:
		return "takes parameters: call it from an exported function without any"
	case several || kernels > 1:
		return severalKernels
	case value:
		return "returns dsl.Kernel: return *dsl.Kernel"
	case sig.Results().Len() > 1:
		return "returns more than a kernel: call it from an exported function that returns *dsl.Kernel alone"
	}
	return ""
}

// maxHints bounds how many functions are mentioned.
const maxHints = 8

// hints are the lines about functions that nearly are kernels: of the one with the name if there is one, else of all
// that surely were meant to be one, or of the weak ones where there is neither that nor a kernel.
func (l *loaded) hints(name string) []string {
	is := func(n nearKernel) bool { return strings.EqualFold(n.name, name) }
	some := slices.DeleteFunc(slices.Clone(l.near), func(n nearKernel) bool { return !is(n) })
	if len(some) == 0 {
		some = slices.DeleteFunc(slices.Clone(l.near), func(n nearKernel) bool { return n.weak })
	}
	if len(some) == 0 && len(l.kernels) == 0 {
		some = l.near
	}
	var out []string
	for i, n := range some {
		if i == maxHints {
			return append(out, fmt.Sprintf("and %d more that nearly are kernels", len(some)-i))
		}
		out = append(out, n.hint())
	}
	return out
}

// unknownKernel is the error about a name that no kernel has.
func unknownKernel(name string, names []string, l *loaded) error {
	var paths []string
	for _, p := range l.kernels {
		paths = append(paths, p.path)
	}
	for _, g := range l.generated {
		paths = append(paths, g.path)
	}
	s := fmt.Sprintf("there is no kernel %s in %s", cmp.Or(name, `""`), strings.Join(paths, ", "))
	near := nearest(name, names)
	if len(near) > 0 {
		s += "; did you mean " + strings.Join(near, " or ") + "?"
	} else {
		names = slices.Clone(names)
		slices.Sort(names)
		s += "; there are " + strings.Join(slices.Compact(names), ", ")
	}
	if len(near) > 0 && !slices.ContainsFunc(l.near, func(n nearKernel) bool { return strings.EqualFold(n.name, name) }) {
		return failure{s}
	}
	return append(failure{s}, l.hints(name)...)
}
