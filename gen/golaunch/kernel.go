package golaunch

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/gocute/gocute/gen/cir"
)

// constants prints what a launch does not choose.
func (p *file) constants(f *jen.File) {
	f.Comment("What every launch has in common.")
	f.Const().Defs(
		jen.Id("Name").Op("=").Lit(p.k.Name).Comment("of the kernel"),
		jen.Id("Threads").Op("=").Lit(p.k.Threads).Comment("of a block"),
		jen.Id("SharedBytes").Op("=").Lit(p.k.SmemBytes).Comment("of dynamic shared memory of a block"),
		p.arch(),
	)
	f.Line()
}

// arch is the constant that says where the kernel runs.
func (p *file) arch() jen.Code {
	what := "the least architecture"
	if p.k.Exactly {
		what = fmt.Sprintf("the one architecture: sm_%da", p.k.Arch)
	}
	return jen.Id("Arch").Op("=").Lit(p.k.Arch).Comment(what)
}

// embeds prints the source and the images.
func (p *file) embeds(f *jen.File) {
	f.Comment("//go:embed " + p.k.Name + ".cu")
	f.Var().Id("source").String()
	f.Line()
	f.Comment("//go:embed all:bin")
	f.Var().Id("images").Qual("embed", "FS")
	f.Line()
}

// kernel prints the loaded kernel.
func (p *file) kernel(f *jen.File) {
	f.Commentf("Kernel is %s loaded on a device. It may be launched from several goroutines.", p.k.Name)
	f.Type().Id("Kernel").Struct(jen.Id("loaded").Op("*").Qual(launchPath, "Kernel"))
	f.Line()
	f.Comment("Load finds an image that suits the device and loads it. Close the kernel when it is not needed any more.")
	f.Func().Id("Load").Params(jen.Id("dev").Op("*").Qual(cudaPath, "Device")).
		Params(jen.Op("*").Id("Kernel"), jen.Error()).Block(
		jen.Id("bundle").Op(":=").Qual(launchPath, "Bundle").Values(
			line("Name", jen.Id("Name")),
			line("Package", jen.Qual("reflect", "TypeFor").Types(jen.Id("Args")).Call().Dot("PkgPath").Call()),
			line("CU", jen.Id("source")),
			line("Bin", jen.Id("images")),
			line("Arch", jen.Id("Arch")),
			p.exactly(),
			line("Threads", jen.Id("Threads")),
			line("SharedBytes", jen.Id("SharedBytes")),
			p.overlap(),
			jen.Line(),
		),
		jen.List(jen.Id("loaded"), jen.Err()).Op(":=").Id("bundle").Dot("Load").Call(jen.Id("dev")),
		jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())),
		jen.Return(jen.Op("&").Id("Kernel").Values(jen.Id("loaded")), jen.Nil()),
	)
	f.Line()
	f.Comment("Function is the kernel as the driver knows it, for its attributes and its occupancy; nil if it was not loaded.")
	f.Func().Params(jen.Id("k").Op("*").Id("Kernel")).Id("Function").Params().Op("*").Qual(cudaPath, "Function").Block(
		jen.If(jen.Id("k").Op("==").Nil()).Block(jen.Return(jen.Nil())),
		jen.Return(jen.Id("k").Dot("loaded").Dot("Function").Call()),
	)
	f.Line()
	f.Comment("Close unloads the kernel, which must not be running.")
	f.Func().Params(jen.Id("k").Op("*").Id("Kernel")).Id("Close").Params().Error().Block(
		jen.If(jen.Id("k").Op("==").Nil()).Block(jen.Return(jen.Nil())),
		jen.Return(jen.Id("k").Dot("loaded").Dot("Close").Call()),
	)
	f.Line()
}

// line is a field of a composite literal on a line of its own.
func line(name string, value jen.Code) jen.Code { return jen.Line().Id(name).Op(":").Add(value) }

// launch prints the launch, which packs the arguments in the order of the kernel's parameters.
func (p *file) launch(f *jen.File) {
	f.Comment("Launch checks the arguments and puts the kernel on the stream; a nil stream is the default one. It does not")
	f.Comment("wait: the buffers must live until the kernel is done. If an extent makes the grid empty there is nothing to do.")
	f.Func().Params(jen.Id("k").Op("*").Id("Kernel")).Id("Launch").Params(
		jen.Id("stream").Op("*").Qual(cudaPath, "Stream"), jen.Id("args").Op("*").Id("Args"),
	).Error().BlockFunc(func(g *jen.Group) {
		g.List(jen.Id("grid"), jen.Err()).Op(":=").Id("args").Dot("plan").Call()
		g.If(jen.Err().Op("!=").Nil().Op("||").Id("grid").Dot("Empty").Call()).Block(jen.Return(jen.Err()))
		g.If(jen.Id("k").Op("==").Nil()).Block(jen.Return(jen.Qual(launchPath, "NotLoaded").Call(jen.Id("Name"))))
		if len(p.k.Maps) > 0 {
			g.List(jen.Id("maps"), jen.Err()).Op(":=").Id("args").Dot("maps").Call()
			g.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Err()))
		}
		g.Id("call").Op(":=").Id("k").Dot("loaded").Dot("Begin").Call(jen.Id("Name"))
		for _, q := range p.k.Params {
			g.Add(p.pack(q))
		}
		for i, m := range p.k.Maps {
			g.Add(p.packMap(i, m))
		}
		g.Return(jen.Id("call").Dot("Launch").Call(jen.Id("stream"), jen.Id("grid")))
	})
	f.Line()
}

func (p *file) pack(q *cir.Param) jen.Code {
	arg := jen.Id("args").Dot(p.names.field[q])
	switch q.Class {
	case cir.Pointer:
		return jen.Qual(launchPath, "Buffer").Call(jen.Op("&").Id("call"), jen.Lit(q.Name), arg)
	case cir.Dim:
		return jen.Id("call").Dot("Dim").Call(arg)
	}
	if goScalar(q.Elem) != "" {
		arg = jen.Qual(elemPath, goElem(q.Elem)).Call(arg)
	}
	return jen.Qual(launchPath, "Scalar").Call(jen.Op("&").Id("call"), arg)
}

// paramDoc is the comment of a field of Args.
func (p *file) paramDoc(q *cir.Param) string {
	switch q.Class {
	case cir.Pointer:
		s := p.count[q].String() + " elements"
		if t := packing(q.Elem); t.name != "" {
			s = fmt.Sprintf("%s in %s %s", q.Elem, s, t.name)
		}
		if q.Layout != "" {
			s = oneLine(q.Layout) + "; " + s
		}
		return fmt.Sprintf("%s: %s, aligned to %d bytes", access(q), s, alignment(q))
	case cir.Dim:
		return p.dimDoc(q)
	}
	return ""
}

// dimDoc tells the values a dim may have.
func (p *file) dimDoc(q *cir.Param) string {
	s := p.dims[q.Sym.Name]
	var what string
	switch {
	case s.Lo == s.Hi:
		return fmt.Sprintf("%d", s.Lo)
	case s.Hi == maxInt32:
		what = fmt.Sprintf("at least %d", s.Lo)
	default:
		what = fmt.Sprintf("%d to %d", s.Lo, s.Hi)
	}
	if s.Multiple > 1 {
		what += fmt.Sprintf(", a multiple of %d", s.Multiple)
	}
	return what
}

// access is what a kernel does with a buffer.
func access(q *cir.Param) string {
	switch {
	case q.Read && q.Write:
		return "inout"
	case q.Write:
		return "out"
	}
	return "in"
}

// exactly is the bundle's field that only kernels with an architecture's own instructions have.
func (p *file) exactly() jen.Code {
	if !p.k.Exactly {
		return jen.Null()
	}
	return line("Exactly", jen.True())
}

// overlap is the bundle's field that only kernels which wait for the grid before them have.
func (p *file) overlap() jen.Code {
	if !p.k.Overlaps() {
		return jen.Null()
	}
	return line("Overlap", jen.True())
}
