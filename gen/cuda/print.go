// Package cuda prints a kernel of the C IR as CUDA C++ that a person can read and step through.
//
// A printed file is self-contained: it needs nothing but nvcc, because the helpers and the wrappers of the
// instructions it uses stand at its top. In header mode it includes them from the files that Headers makes.
//
// What the text computes is exactly what package cir says, so that an emulator can agree with it bit for
// bit: products are printed as __fmul_rn and the like, which nvcc may not contract with a following sum;
// tf32 values round to nearest even with integer operations.
package cuda

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/gen/cir"
	wording "github.com/gocute/gocute/internal/text"
	"github.com/gocute/gocute/templates"
)

// Options choose between the forms of an emitted file.
type Options struct {
	Header bool // include the wrappers from <gocute/….cuh> instead of printing them
}

// Print writes the kernel as one .cu file. The same kernel gives the same bytes. An error means that the
// kernel breaks a rule of the C IR; it begins with "internal error:" and names the line of the user's code.
func Print(k *cir.Kernel, opt Options) (out []byte, err error) {
	if k == nil {
		return nil, fmt.Errorf("internal error: gen/cuda: no kernel to print")
	}
	p := newPrinter(k)
	defer func() { // a statement with a missing part: our own mistake, but the user's program goes on
		if r := recover(); r != nil {
			p.fail("a part of the statement is missing: %v", r)
			out, err = nil, p.failure()
		}
	}()
	p.declareArguments()
	p.declareShared()
	p.body(k.Body)
	frame := struct {
		Name, Bounds, Params, Body string
		Doc, Includes, Wrappers    []string
		Using                      bool
	}{
		Name:   k.Name,
		Bounds: bounds(k),
		Params: p.params(),
		Body:   p.prologue() + p.out.String(),
		Doc:    commentLines(k.Doc),
		Using:  !p.use.empty(),
	}
	if p.err != nil {
		return nil, p.failure()
	}
	frame.Includes = p.use.includes()
	if opt.Header {
		frame.Includes = append(frame.Includes, p.use.headers()...)
	} else {
		frame.Wrappers = p.use.wrappers()
	}
	text, err := templates.Execute("kernel.cu", frame)
	if err != nil {
		return nil, err
	}
	return templates.Seal(text), nil
}

func newPrinter(k *cir.Kernel) *printer {
	return &printer{
		kernel:  k,
		syms:    map[string]*symbol{},
		regs:    map[string]*cir.Reg{},
		mems:    map[*cir.Mem]*memory{},
		builtin: map[string]bool{},
		use:     newUsage(),
		indent:  1,
	}
}

// failure is the first error, with the kernel's name.
func (p *printer) failure() error {
	return fmt.Errorf("internal error: kernel %s: %w", wording.Short(p.kernel.Name, 80), p.err)
}

// printer is the state of one Print.
type printer struct {
	kernel  *cir.Kernel
	out     strings.Builder
	indent  int
	err     error   // the first one
	pos     cir.Pos // of the statement being printed
	syms    map[string]*symbol
	regs    map[string]*cir.Reg
	mems    map[*cir.Mem]*memory
	builtin map[string]bool // tid, bx, by, bz that the body mentions
	use     *usage
}

// symbol is what the printer knows of an integer in scope.
type symbol struct {
	wide     bool // an int64_t
	unrolled bool // the variable of an unrolled loop: a constant wherever it is used
	positive bool // nvcc sees for itself that it is not negative
	mutable  bool
}

// memory is an array in scope and the ways in which the body uses it.
type memory struct {
	pointer bool // through its typed pointer
	address bool // by its 32-bit shared memory address
	write   bool // it may be written
}

// fail keeps the first error, with the line of the statement being printed.
func (p *printer) fail(format string, args ...any) {
	if p.err != nil {
		return
	}
	p.err = fmt.Errorf(format, args...)
	if p.pos.File != "" {
		p.err = fmt.Errorf("%s:%d: %w", p.pos.File, p.pos.Line, p.err)
	}
}

// line prints one line at the current indentation.
func (p *printer) line(format string, args ...any) {
	p.out.WriteString(strings.Repeat("  ", p.indent))
	fmt.Fprintf(&p.out, format, args...)
	p.out.WriteByte('\n')
}

// builtins are the symbols that the hardware gives, in the order of their declarations.
var builtins = []struct {
	name, value string
	class       sym.Class
}{
	{"tid", "threadIdx.x", sym.Thread},
	{"bx", "blockIdx.x", sym.Block},
	{"by", "blockIdx.y", sym.Block},
	{"bz", "blockIdx.z", sym.Block},
}

// prologue declares the thread's and block's indices and the shared arrays, as far as the body uses them.
func (p *printer) prologue() string {
	var ints, arrays strings.Builder
	for _, b := range builtins {
		if p.builtin[b.name] {
			fmt.Fprintf(&ints, "  const int %s = (int)%s;\n", b.name, b.value)
		}
	}
	for _, m := range p.kernel.Shared {
		u := p.mems[m]
		place := "smem"
		if m.Offset != 0 {
			place = fmt.Sprintf("smem + %d", m.Offset)
		}
		if u.pointer {
			fmt.Fprintf(&arrays, "  %s* const %s = reinterpret_cast<%s*>(%s);\n",
				p.memType(m.Elem), m.Name, p.memType(m.Elem), place)
		}
		if u.address {
			p.use.helper("smem_u32")
			p.use.include("cstdint")
			fmt.Fprintf(&arrays, "  const uint32_t %s_u32 = smem_u32(%s);\n", m.Name, place)
		}
	}
	if arrays.Len() > 0 {
		ints.WriteString("  extern __shared__ __align__(1024) unsigned char smem[];\n")
	}
	if ints.Len()+arrays.Len() == 0 {
		return ""
	}
	return ints.String() + arrays.String() + "\n"
}

// params prints the arguments; each pointer as wide in its promises as the kernel's use of it allows.
func (p *printer) params() string {
	var args []string
	for _, a := range p.kernel.Params {
		switch {
		case a.Class == cir.Dim:
			args = append(args, "int "+a.Name)
		case a.Class == cir.Scalar:
			args = append(args, p.memType(a.Elem)+" "+a.Name)
		case a.Write: // without __restrict__: it may be the buffer of another argument
			args = append(args, p.memType(a.Elem)+"* "+a.Name)
		default:
			args = append(args, "const "+p.memType(a.Elem)+"* __restrict__ "+a.Name)
		}
	}
	for _, m := range p.kernel.Maps {
		args = append(args, "const __grid_constant__ TensorMap "+m.Name)
	}
	if one := strings.Join(args, ", "); len(one)+len(p.kernel.Name) <= maxWidth {
		return one
	}
	return "\n    " + strings.Join(args, ",\n    ")
}

func bounds(k *cir.Kernel) string {
	if k.MinBlocks > 0 {
		return fmt.Sprintf("%d, %d", k.Threads, k.MinBlocks)
	}
	return fmt.Sprint(k.Threads)
}

// commentLines are the lines of texts that a user gave, each safe behind "// ".
func commentLines(texts []string) []string {
	var out []string
	for _, t := range texts {
		out = append(out, wording.Comment(t)...)
	}
	return out
}

// usage collects what a file needs from outside its kernel.
type usage struct {
	files  map[string]bool   // standard headers
	help   map[string]bool   // helpers by name
	instrs map[string]*instr // wrappers by the name of their Op
}

func newUsage() *usage {
	return &usage{files: map[string]bool{}, help: map[string]bool{}, instrs: map[string]*instr{}}
}

func (u *usage) empty() bool { return len(u.help) == 0 && len(u.instrs) == 0 }

func (u *usage) include(file string) { u.files[file] = true }

// helper notes a helper function, if name is one.
func (u *usage) helper(name string) {
	for _, h := range helpers {
		if h.name == name {
			u.help[name] = true
			u.include("cstdint")
		}
	}
}

// includes lists the standard headers.
func (u *usage) includes() []string { return slices.Sorted(maps.Keys(u.files)) }

// headers lists the files of Headers that hold what is used.
func (u *usage) headers() []string {
	files := map[string]bool{}
	if len(u.help) > 0 {
		files[helperFile] = true
	}
	for _, in := range u.instrs {
		files[headerOf(in.op)] = true
	}
	return slices.Sorted(maps.Keys(files))
}

// wrappers is the text of all that is used: helpers in their table's order, then instructions by name.
func (u *usage) wrappers() []string {
	var out []string
	for _, h := range helpers {
		if u.help[h.name] {
			out = append(out, h.text)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(u.instrs)) {
		out = append(out, u.instrs[name].text())
	}
	return out
}
