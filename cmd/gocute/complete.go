package main

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

const (
	anyFile   = ":files"
	anyFolder = ":folders"
)

// completion is the state behind the words that stand before the cursor.
type completion struct {
	s          *session
	node       *kong.Node
	positional int        // arguments that are given
	waiting    *kong.Flag // a flag whose value comes next
	noFlags    bool       // after --
}

func newCompletion(s *session, root *kong.Node) *completion { return &completion{s: s, node: root} }

// candidates completes the last word.
func (c *completion) candidates(words []string) []string {
	last := len(words) - 1
	for _, w := range words[:last] {
		c.pass(w)
	}
	word := words[last]
	name, value, assigned := strings.Cut(word, "=")
	switch {
	case c.waiting != nil:
		return starting(c.valuesOf(c.waiting.Value, c.waiting.Name), "", word)
	case strings.HasPrefix(word, "-") && !c.noFlags && assigned:
		if f := c.flag(name); f != nil {
			return starting(c.valuesOf(f.Value, f.Name), name+"=", value)
		}
		return nil
	case strings.HasPrefix(word, "-") && !c.noFlags:
		return starting(c.flags(), "", "--"+strings.TrimLeft(word, "-"))
	}
	var out []string
	for _, child := range c.node.Children {
		if !child.Hidden {
			out = append(out, child.Name+"\t"+child.Help)
		}
	}
	if p := c.argument(); p != nil {
		out = append(out, c.valuesOf(p, p.Name)...)
	}
	return starting(out, "", word)
}

// starting are the candidates that begin with what is typed, with a prefix put before them.
func starting(all []string, prefix, typed string) []string {
	var out []string
	for _, a := range all {
		switch {
		case a == anyFile || a == anyFolder:
			out = append(out, a)
		case strings.HasPrefix(a, typed):
			out = append(out, prefix+a)
		}
	}
	return out
}

// pass goes on behind one word.
func (c *completion) pass(word string) {
	switch {
	case c.waiting != nil:
		c.waiting = nil
	case word == "--":
		c.noFlags = true
	case strings.HasPrefix(word, "-") && len(word) > 1 && !c.noFlags:
		if f := c.flag(word); f != nil && !f.IsBool() {
			c.waiting = f
		}
	default:
		for _, child := range c.node.Children {
			if child.Name == word {
				c.node, c.positional = child, 0
				return
			}
		}
		c.positional++
	}
}

// flag finds a flag by its word, with one dash or two; one with =value is complete in itself.
func (c *completion) flag(word string) *kong.Flag {
	name := strings.TrimLeft(word, "-")
	for _, group := range c.node.AllFlags(true) {
		for _, f := range group {
			if f.Name == name || f.Short != 0 && string(f.Short) == name {
				return f
			}
		}
	}
	return nil
}

// flags lists the flags that a command takes.
func (c *completion) flags() []string {
	var out []string
	for _, group := range c.node.AllFlags(true) {
		for _, f := range group {
			out = append(out, "--"+f.Name+"\t"+f.Help)
		}
	}
	return out
}

// argument is the one that the cursor is at, nil where there is none.
func (c *completion) argument() *kong.Positional {
	all := c.node.Positional
	switch n := c.positional; {
	case n < len(all):
		return all[n]
	case len(all) > 0 && all[len(all)-1].IsCumulative():
		return all[len(all)-1]
	}
	return nil
}

// valuesOf are the values of a flag or an argument: those of its enumeration, names from the source, files.
func (c *completion) valuesOf(v *kong.Value, name string) []string {
	if v.Enum != "" {
		return v.EnumSlice()
	}
	switch name {
	case "KERNEL", "kernel":
		return c.s.functionsInSource("Kernel")
	case "FAMILY":
		return c.s.functionsInSource("Family")
	case "PKG", "run", "bundle":
		return []string{anyFolder}
	case "TOPIC":
		return topicNames()
	}
	if v.Target.Type() == reflect.TypeFor[filePath]() || name == "tuned" || name == "FILE" {
		return []string{anyFile}
	}
	return nil
}

// functionsInSource lists the functions that return *dsl.WHAT, in the working folder and below. It reads the source and
// runs nothing, neither the go command nor the user's code: a key was pressed, no more.
func (s *session) functionsInSource(what string) []string {
	var out []string
	_ = filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error { // what cannot be read has no candidates
		base := filepath.Base(path)
		switch {
		case err != nil || s.ctx.Err() != nil:
			return fs.SkipDir
		case d.IsDir() && path != s.dir && (base == "vendor" || base == "testdata" || base == "node_modules" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")):
			return fs.SkipDir
		case d.Type().IsRegular() && strings.HasSuffix(base, ".go") && !strings.HasSuffix(base, "_test.go"):
			out = append(out, functionsOf(path, what)...)
		}
		return nil
	})
	slices.SortFunc(out, cmp.Compare[string])
	return slices.Compact(out)
}

func functionsOf(path, what string) []string {
	data, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(data, []byte(dslPath)) {
		return nil
	}
	f, err := parser.ParseFile(token.NewFileSet(), path, data, parser.SkipObjectResolution)
	if f == nil || err != nil && len(f.Decls) == 0 || f.Name.Name == "main" {
		return nil
	}
	var out []string
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if ok && fn.Recv == nil && fn.Name.IsExported() && fn.Type.Params.NumFields() == 0 && fn.Type.TypeParams == nil && returnsNamed(fn.Type.Results, what) {
			out = append(out, fn.Name.Name)
		}
	}
	return out
}

// returnsNamed reports whether the results are one pointer to a type of that name.
func returnsNamed(results *ast.FieldList, what string) bool {
	if results.NumFields() != 1 {
		return false
	}
	ptr, ok := results.List[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	switch t := ptr.X.(type) {
	case *ast.SelectorExpr:
		return t.Sel.Name == what
	case *ast.Ident: // of package dsl, imported with a dot
		return t.Name == what
	}
	return false
}
