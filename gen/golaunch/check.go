package golaunch

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/gocute/gocute/gen/cir"
)

// args prints the arguments' struct.
func (p *file) args(f *jen.File) {
	f.Commentf("Args are the arguments of %s.", p.k.Name)
	f.Type().Id("Args").StructFunc(func(g *jen.Group) {
		for _, q := range p.k.Params {
			name := jen.Id(p.names.field[q])
			switch q.Class {
			case cir.Pointer:
				name.Op("*").Qual(cudaPath, "Buffer").Types(jen.Qual(elemPath, bufferType(q.Elem)))
			case cir.Dim:
				name.Int()
			default:
				if t := goScalar(q.Elem); t != "" {
					name.Id(t)
				} else {
					name.Qual(elemPath, goElem(q.Elem))
				}
			}
			if doc := p.paramDoc(q); doc != "" {
				name.Comment(doc)
			}
			g.Add(name)
		}
	})
	f.Line()
	f.Comment("Check tells what is wrong with the arguments, as Launch does, without touching a device.")
	f.Func().Params(jen.Id("a").Op("*").Id("Args")).Id("Check").Params().Error().Block(
		jen.List(jen.Id("_"), jen.Err()).Op(":=").Id("a").Dot("plan").Call(),
		jen.Return(jen.Err()),
	)
	f.Line()
}

// plan prints the method that checks the arguments and computes the grid.
func (p *file) plan(f *jen.File) {
	body := p.checkDims()
	body = append(body, p.checkRequires()...)
	body = append(body, p.checkGrid()...)
	body = append(body, p.checkBuffers()...)
	if p.exact {
		body = append([]jen.Code{jen.Var().Id("exact").Qual(launchPath, "Exact")}, body...)
	}
	none := jen.Qual(launchPath, "Grid").Values()
	body = append([]jen.Code{
		jen.If(jen.Id("a").Op("==").Nil()).Block(jen.Return(none, jen.Qual(launchPath, "NilArgs").Call(jen.Id("Name")))),
	}, body...)

	f.Comment("plan checks the arguments and returns the grid, which is empty if there is nothing to do.")
	f.Func().Params(jen.Id("a").Op("*").Id("Args")).Id("plan").Params().
		Params(jen.Qual(launchPath, "Grid"), jen.Error()).Block(body...)
	f.Line()
}

// refuse prints "if err := call; err != nil { return }".
func refuse(call *jen.Statement) jen.Code {
	return jen.If(jen.Err().Op(":=").Add(call), jen.Err().Op("!=").Nil()).Block(
		jen.Return(jen.Qual(launchPath, "Grid").Values(), jen.Err()))
}

func exactErr() jen.Code { return refuse(jen.Id("exact").Dot("Err").Call(jen.Id("Name"))) }

// using reports whether printing made use of exact.
func (p *printer) using(print func()) bool {
	before := p.exact
	p.exact = false
	print()
	used := p.exact
	p.exact = before || used
	return used
}

// checkDims prints the dims as int64 and the checks of their ranges. All later arithmetic relies on these.
func (p *file) checkDims() []jen.Code {
	var ids, vals, checks []jen.Code
	for _, q := range p.k.Params {
		if q.Class != cir.Dim {
			continue
		}
		s, local := p.dims[q.Sym.Name], jen.Id(p.names.local[q.Sym.Name])
		ids = append(ids, local)
		vals = append(vals, jen.Int64().Call(jen.Id("a").Dot(p.names.field[q])))
		checks = append(checks, refuse(jen.Qual(launchPath, "CheckDim").Call(
			jen.Id("Name"), jen.Lit(q.Name), local, lit(s.Lo), lit(s.Hi), lit(s.Multiple))))
	}
	if ids == nil {
		return nil
	}
	return append([]jen.Code{jen.List(ids...).Op(":=").List(vals...)}, checks...)
}

func lit(n int64) jen.Code { return jen.Lit(int(n)) }

// checkRequires prints the kernel's conditions, without those that the dims' ranges imply.
func (p *file) checkRequires() []jen.Code {
	var out []jen.Code
	for _, r := range p.k.Requires {
		c := p.narrowCond(r.Cond, fmt.Sprintf("the requirement %q", r.Message))
		truth, known := cir.Decide(c)
		if known && truth {
			continue
		}
		if known && p.err == nil {
			p.err = fmt.Errorf("the requirement %q never holds", r.Message)
		}
		var unmet code
		exact := p.using(func() { unmet = p.cond(opposite(c)) })
		args := []jen.Code{jen.Id("Name"), jen.Lit(r.Message)}
		for _, s := range p.symbols(c, p.k.Params) {
			args = append(args, jen.Qual(launchPath, "Value").Values(
				jen.Id("Name").Op(":").Lit(s.Name), jen.Id("V").Op(":").Id(p.names.local[s.Name])))
		}
		out = append(out, jen.If(unmet).BlockFunc(func(g *jen.Group) {
			if exact { // a number out of range is the better explanation
				g.Add(exactErr())
			}
			g.Return(jen.Qual(launchPath, "Grid").Values(), jen.Qual(launchPath, "Unmet").Call(args...))
		}))
	}
	return out
}

// checkGrid prints the grid; what went wrong with big numbers until then must be told before they are used.
func (p *file) checkGrid() []jen.Code {
	var xyz [3]code
	for i, e := range p.grid {
		xyz[i] = p.expr(e)
	}
	var out []jen.Code
	grid := jen.List(jen.Id("grid"), jen.Err()).Op(":=").Qual(launchPath, "NewGrid").Call(jen.Id("Name"), xyz[0], xyz[1], xyz[2])
	out = append(out, grid)
	if p.exact {
		out = append(out, exactErr())
	}
	return append(out, jen.If(jen.Err().Op("!=").Nil().Op("||").Id("grid").Dot("Empty").Call()).Block(
		jen.Return(jen.Id("grid"), jen.Err())))
}

// checkBuffers prints the checks of the buffers, after which all is well.
func (p *file) checkBuffers() []jen.Code {
	var out []jen.Code
	exact := p.using(func() {
		for _, q := range p.k.Params {
			if q.Class != cir.Pointer {
				continue
			}
			n := p.count[q]
			out = append(out, refuse(jen.Qual(launchPath, "CheckBuffer").Call(
				jen.Id("Name"), jen.Lit(q.Name), jen.Id("a").Dot(p.names.field[q]), p.expr(n), jen.Lit(n.String()), jen.Lit(alignment(q)))))
		}
	})
	if exact {
		out = append(out, exactErr())
	}
	out = append(out, p.checkOverlaps()...)
	return append(out, jen.Return(jen.Id("grid"), jen.Nil()))
}

// checkOverlaps prints, for each buffer that is only read and each that is written, that they are not the same memory.
func (p *file) checkOverlaps() []jen.Code {
	var out []jen.Code
	for _, r := range p.k.Params {
		for _, w := range p.k.Params {
			if r.Class == cir.Pointer && w.Class == cir.Pointer && !r.Write && w.Write {
				out = append(out, refuse(jen.Qual(launchPath, "CheckDisjoint").Call(
					jen.Id("Name"), jen.Lit(r.Name), jen.Id("a").Dot(p.names.field[r]), jen.Lit(w.Name), jen.Id("a").Dot(p.names.field[w]))))
			}
		}
	}
	return out
}

// alignment is the bytes that have to divide a buffer's address: at least one element's.
func alignment(q *cir.Param) int { return max(q.Mem.Align, q.Elem.Bits()/8, 1) }
