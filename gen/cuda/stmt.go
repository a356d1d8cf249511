package cuda

import (
	"fmt"
	"maps"
	"regexp"
	"strings"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/gen/cir"
	wording "github.com/gocute/gocute/internal/text"
)

// maxWidth is the length from which a call is broken into lines, indentation not counted.
const maxWidth = 100

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// declareArguments puts the kernel's arguments in scope.
func (p *printer) declareArguments() {
	k := p.kernel
	if !identifier.MatchString(k.Name) || k.Threads < 1 {
		p.fail("expected a C identifier and at least one thread, but got %q and %d", wording.Short(k.Name, 80), k.Threads)
	}
	for _, a := range k.Params {
		switch {
		case a == nil:
			p.fail("expected an argument, but got none")
		case a.Class == cir.Pointer && (a.Mem == nil || a.Mem.Name != a.Name || a.Mem.Elem != a.Elem):
			p.fail("expected argument %s to have a Mem of its name and kind", a.Name)
		case a.Class == cir.Dim && (a.Sym == nil || a.Sym.Name != a.Name):
			p.fail("expected argument %s to have a Sym of its name", a.Name)
		case a.Class == cir.Pointer:
			p.mems[a.Mem] = &memory{write: a.Write}
			p.declare(a.Name, symbol{})
		default:
			p.declare(a.Name, symbol{})
		}
	}
	for _, m := range k.Maps {
		if m == nil {
			p.fail("expected a tensor map, but got none")
			return
		}
		p.use.helper("TensorMap")
		p.declare(m.Name, symbol{})
	}
}

// declareShared puts the shared arrays in scope and checks their places.
func (p *printer) declareShared() {
	for _, m := range p.kernel.Shared {
		count, ok := m.Count.IsConst()
		end := int64(m.Offset) + (count*int64(m.Elem.Bits())+7)/8
		switch {
		case m.Space != cir.Shared || !ok:
			p.fail("expected shared array %s to have a constant size, but got %s", m.Name, m.Count)
		case m.Offset < 0 || end > int64(p.kernel.SmemBytes):
			p.fail("shared array %s ends at byte %d of %d", m.Name, end, p.kernel.SmemBytes)
		case m.Align > 1024 || m.Align > 0 && m.Offset%m.Align != 0:
			p.fail("shared array %s at byte %d is not aligned to %d bytes (1024 at most)", m.Name, m.Offset, m.Align)
		}
		p.mems[m] = &memory{write: true}
		p.declare(m.Name, symbol{})
	}
}

// declare puts a name in scope.
func (p *printer) declare(name string, s symbol) {
	switch {
	case !identifier.MatchString(name) || reserved[name]:
		p.fail("%q cannot name a variable in C++", wording.Short(name, 80))
	case p.syms[name] != nil || p.regs[name] != nil:
		p.fail("name %s is declared twice", name)
	}
	p.syms[name] = &s
}

// body prints statements in a scope of their own.
func (p *printer) body(body []cir.Stmt) {
	syms, regs := maps.Clone(p.syms), maps.Clone(p.regs)
	for i, s := range body {
		if s == nil {
			p.fail("expected a statement, but got none")
			return
		}
		if pos := s.Position(); pos.File != "" {
			p.pos = pos
		}
		if i > 0 && apart(body[i-1], s) {
			p.out.WriteByte('\n')
		}
		if rest := body[i+1:]; !p.hopper(s, rest) {
			p.stmt(s)
			p.fenceInits(s, rest)
		}
	}
	p.syms, p.regs = syms, regs
}

// group classes statements so that a blank line stands where the class changes.
func group(s cir.Stmt) string {
	switch s.(type) {
	case cir.Comment:
		return "comment"
	case cir.Let, cir.Var, cir.DeclReg, cir.Arrive:
		return "declaration"
	case cir.For, cir.If:
		return "block"
	}
	return "statement"
}

// apart reports whether a blank line separates two statements: comments stay with what follows them.
func apart(a, b cir.Stmt) bool {
	switch ga, gb := group(a), group(b); {
	case ga == "comment":
		return false
	case gb == "comment":
		return true
	default:
		return ga != gb && (ga == "declaration" || gb == "declaration")
	}
}

func (p *printer) stmt(s cir.Stmt) {
	switch s := s.(type) {
	case cir.Comment:
		for _, l := range commentLines([]string{s.Text}) {
			p.line("%s", strings.TrimRight("// "+l, " "))
		}
	case cir.Let:
		p.let(s)
	case cir.Var:
		x, wide := p.expr(s.Init), !fits32(s.Sym.Lo, s.Sym.Hi)
		p.declare(s.Sym.Name, symbol{wide: wide, mutable: true})
		p.line("%s %s = %s;", p.intType(wide), s.Sym.Name, x.s)
	case cir.Assign:
		p.assign(s)
	case cir.DeclReg:
		p.declare(s.Reg.Name, symbol{})
		delete(p.syms, s.Reg.Name)
		p.regs[s.Reg.Name] = s.Reg
		p.declareReg(s.Reg)
	case cir.Fill:
		p.fill(s)
	case cir.For:
		p.loop(s)
	case cir.If:
		p.line("if (%s) {", p.cond(s.Cond).s)
		p.branches(s)
	case cir.Barrier:
		p.line("__syncthreads();")
	case cir.CommitGroup:
		p.line(`asm volatile("cp.async.commit_group;" ::: "memory");`)
	case cir.WaitGroup:
		p.line(`asm volatile("cp.async.wait_group %d;" ::: "memory");`, s.Pending)
	case cir.SetReg:
		p.setElem(s.Dst, p.value(s.Value))
	case cir.SetWord:
		p.setWord(s)
	default:
		if !p.mbarrier(s) && !p.grid(s) && !p.synced(s) {
			p.access(s)
		}
	}
}

func (p *printer) intType(wide bool) string {
	p.noteWide(wide)
	if wide {
		return "int64_t"
	}
	return "int"
}

// let declares a constant; it is an int if its value or its declared bounds fit one.
func (p *printer) let(s cir.Let) {
	x := p.expr(s.Value)
	lo, hi := s.Value.Range()
	wide := !fits32(lo, hi) && !fits32(s.Sym.Lo, s.Sym.Hi)
	positive := p.seenPositive(s.Value)
	p.declare(s.Sym.Name, symbol{wide: wide, positive: positive})
	if x.wide && !wide { // only the declared bounds say that it fits
		x = text{s: "(int)" + x.at(precUnary)}
	}
	if !s.Opaque {
		p.line("const %s %s = %s;", p.intType(wide), s.Sym.Name, x.s)
		return
	}
	p.line("%s %s = %s;", p.intType(wide), s.Sym.Name, x.s)
	p.line(`asm volatile("" : "+%s"(%s));`, map[bool]string{false: "r", true: "l"}[wide], s.Sym.Name)
	if lo = max(lo, s.Sym.Lo); lo >= 0 { // else nvcc divides as for negative ones
		p.line("__builtin_assume(%s >= %d);", s.Sym.Name, lo)
	}
}

// assign prints x += d for an assignment that adds to the variable itself.
func (p *printer) assign(s cir.Assign) {
	if d := p.syms[s.Sym.Name]; d == nil || !d.mutable {
		p.fail("expected a Var before this line to declare %s", s.Sym.Name)
		return
	}
	self := sym.New(s.Sym)
	if d := s.Value.Sub(self); len(self.Symbols()) == 1 && !d.Mentions(s.Sym.Name) {
		if negative(d) {
			p.line("%s -= %s;", s.Sym.Name, p.expr(d.Neg()).s)
		} else {
			p.line("%s += %s;", s.Sym.Name, p.expr(d).s)
		}
		return
	}
	p.line("%s = %s;", s.Sym.Name, p.expr(s.Value).s)
}

func (p *printer) loop(s cir.For) {
	lo, loConst := s.Lo.IsConst()
	hi, hiConst := s.Hi.IsConst()
	switch {
	case s.Unroll && !(loConst && hiConst):
		p.fail("expected an unrolled loop with constant bounds, but got %s to %s", s.Lo, s.Hi)
	case loConst && lo < s.Sym.Lo || loConst && hiConst && lo < hi && hi-1 > s.Sym.Hi:
		p.fail("loop over %s from %s to %s leaves the variable's declared bounds %d and %d",
			s.Sym.Name, s.Lo, s.Hi, s.Sym.Lo, s.Sym.Hi)
	}
	from, to := p.expr(s.Lo), p.expr(s.Hi)
	wide := (from.wide || to.wide) && !fits32(s.Sym.Lo, s.Sym.Hi)
	outer := maps.Clone(p.syms)
	p.declare(s.Sym.Name, symbol{wide: wide, unrolled: s.Unroll, positive: s.Unroll && s.Sym.Lo >= 0})
	p.line("%s", map[bool]string{true: "#pragma unroll", false: "#pragma unroll 1"}[s.Unroll])
	n := s.Sym.Name
	p.line("for (%s %s = %s; %s < %s; ++%s) {", p.intType(wide), n, from.s, n, to.at(precAdd), n)
	p.nested(s.Body)
	p.line("}")
	p.syms = outer
}

func (p *printer) nested(body []cir.Stmt) {
	p.indent++
	p.body(body)
	p.indent--
}

// branches prints what follows "if (…) {"; an If alone in an else becomes an else if.
func (p *printer) branches(s cir.If) {
	p.nested(s.Then)
	if len(s.Else) == 0 {
		p.line("}")
		return
	}
	if e, ok := s.Else[0].(cir.If); ok && len(s.Else) == 1 {
		p.line("} else if (%s) {", p.cond(e.Cond).s)
		p.branches(e)
		return
	}
	p.line("} else {")
	p.nested(s.Else)
	p.line("}")
}

// call prints a call, on one line if that fits, else with one group of arguments a line.
func (p *printer) call(name string, groups ...string) {
	if one := fmt.Sprintf("%s(%s);", name, strings.Join(groups, ", ")); len(one) <= maxWidth {
		p.line("%s", one)
		return
	}
	p.line("%s(", name)
	p.indent += 2
	for i, g := range groups {
		p.line("%s%s", g, map[bool]string{true: ");", false: ","}[i == len(groups)-1])
	}
	p.indent -= 2
}

// reserved lists what a variable of a kernel cannot be called: words of C++ and names of the printer's own.
var reserved = wordSet(`alignas alignof and asm auto bool break case catch char class const constexpr continue
	default delete do double else enum extern false float for friend goto if inline int long mutable namespace
	new not operator or private protected public register return short signed sizeof static struct switch
	template this throw true try typedef typename union unsigned using virtual void volatile while xor
	min max smem gocute tid bx by bz threadIdx blockIdx blockDim gridDim warpSize
	int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t uint2 uint4 float2 float4 half TensorMap`)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}
