package golaunch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// kindName is the name of an element kind in package elem.
func kindName(k elem.Kind) string { return "K" + goElem(k) }

// validateMaps refuses tensor maps that lowering should not have made.
func validateMaps(k *cir.Kernel, seen []string) error {
	params := map[*cir.Param]bool{}
	for _, q := range k.Params {
		params[q] = true
	}
	for _, m := range k.Maps {
		if m == nil || !params[m.Of] || !identifier.MatchString(m.Name) || goElem(m.Of.Elem) == "" {
			return fmt.Errorf("expected tensor maps that have names and are of the kernel's parameters, but one is not")
		}
		if slices.Contains(seen, m.Name) {
			return fmt.Errorf("expected arguments with names of their own, but got %q", m.Name)
		}
		seen = append(seen, m.Name)
		if err := cir.CheckTensorMap(m); err != nil {
			return fmt.Errorf("tensor map %s: %w", m.Name, err)
		}
	}
	return nil
}

// maps prints the method that says what the copy engine is told of the buffers, but their addresses.
func (p *file) maps(f *jen.File) {
	if len(p.k.Maps) == 0 {
		return
	}
	used := map[string]bool{}
	numbers := func(what string, es []sym.Expr) *jen.Statement {
		var out []jen.Code
		for _, e := range es {
			e = p.narrow(e, what)
			for _, s := range e.Symbols() {
				used[s.Name] = true
			}
			out = append(out, p.expr(e))
		}
		return jen.Values(out...)
	}
	rank := func(typ *jen.Statement) *jen.Statement {
		return jen.Index(jen.Qual(cudaPath, "MaxTensorRank")).Add(typ)
	}
	var specs []jen.Code
	exact := p.using(func() {
		for _, m := range p.k.Maps {
			var box []jen.Code
			for _, b := range m.Box {
				box = append(box, jen.Lit(b))
			}
			specs = append(specs, jen.Line().Values(
				line("Elem", jen.Qual(elemPath, kindName(m.Of.Elem))),
				line("Rank", jen.Lit(len(m.Box))),
				line("Extents", rank(jen.Int64()).Add(numbers("an extent of "+m.Name, m.Extents))),
				line("Strides", rank(jen.Int64()).Add(numbers("a stride of "+m.Name, m.Strides))),
				line("Box", rank(jen.Int()).Values(box...)),
				line("Swizzle", jen.Lit(m.Swizzle)),
				jen.Line(),
			))
		}
	})
	typ := jen.Index(jen.Lit(len(p.k.Maps))).Qual(cudaPath, "TensorMapSpec")
	f.Comment("maps is what the copy engine is told of the buffers, but their addresses. The arguments must have passed plan.")
	f.Func().Params(jen.Id("a").Op("*").Id("Args")).Id("maps").Params().Params(typ, jen.Error()).BlockFunc(func(g *jen.Group) {
		err := jen.Nil()
		if exact {
			g.Var().Id("exact").Qual(launchPath, "Exact")
			err = jen.Id("exact").Dot("Err").Call(jen.Id("Name"))
		}
		var ids, vals []jen.Code
		for _, q := range p.k.Params {
			if q.Class == cir.Dim && used[q.Sym.Name] {
				ids = append(ids, jen.Id(p.names.local[q.Sym.Name]))
				vals = append(vals, jen.Int64().Call(jen.Id("a").Dot(p.names.field[q])))
			}
		}
		if ids != nil {
			g.List(ids...).Op(":=").List(vals...)
		}
		g.Id("specs").Op(":=").Add(typ.Clone()).Values(append(specs, jen.Line())...)
		g.Return(jen.Id("specs"), err)
	})
	f.Line()
}

// packMap appends the argument of a tensor map.
func (p *file) packMap(i int, m *cir.TensorMap) jen.Code {
	return jen.Qual(launchPath, "TensorMap").Call(jen.Op("&").Id("call"), jen.Lit(m.Of.Name),
		jen.Id("args").Dot(p.names.field[m.Of]), jen.Op("&").Id("maps").Index(jen.Lit(i)))
}

// mapDoc is a tensor map's line in the table of arguments.
func mapDoc(m *cir.TensorMap) string {
	box := strings.Trim(strings.ReplaceAll(fmt.Sprint(m.Box), " ", ","), "[]")
	doc := fmt.Sprintf("made by Launch: %s in boxes of (%s)", m.Of.Name, box)
	if m.Swizzle > 0 {
		doc += fmt.Sprintf(", rows of %d bytes swizzled", 16<<m.Swizzle)
	}
	return doc
}
