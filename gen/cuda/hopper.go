package cuda

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// dims1 to dims5 are the functions of a tensor copy, by the number of dimensions: copy_1d to copy_5d.
const (
	dims1 form = 1 << (4 + iota)
	dims2
	dims3
	dims4
	dims5
	anyDims = dims1 | dims2 | dims3 | dims4 | dims5
)

// dimsOf is the form with so many dimensions.
func dimsOf(n int) form { return dims1 << (n - 1) }

// hopperHelpers are what the copy engine and the products of warpgroups of sm_90 need beside their instructions.
func hopperHelpers() []helper {
	return []helper{
		{"TensorMap", `// What the copy engine is told of a tensor (a CUtensorMap); the launcher makes it.
struct alignas(64) TensorMap {
  uint64_t words[16];
};`},
		{"fence_barrier_init", `// Shows the mbarriers that the thread has set up to the copy engine.
` + fn + `void fence_barrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
}`},
		{"mbarrier_arrive_expect_tx", `// Arrives; the phase then lasts until so many bytes more have landed, too.
` + fn + `void mbarrier_arrive_expect_tx(uint32_t bar, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" : : "r"(bar), "r"(bytes) : "memory");
}`},
		{"gmma_desc", `// What wgmma is told of an operand: rows of 16 << swizzle bytes at addr + offset, every 8 of them stride bytes apart.
// Columns are the same with M or N and K exchanged, and lead bytes further is what follows along M or N.
` + fn + `uint64_t gmma_desc(uint32_t addr, int offset, uint32_t lead, uint32_t stride, uint32_t swizzle) {
  const uint32_t low = (addr >> 4) + (uint32_t)(offset >> 4) + (lead >> 4 << 16), high = stride >> 4 | (4u - swizzle) << 30;
  return (uint64_t)high << 32 | low;
}`},
		{"warpgroup_arrive", `// Orders what was written to registers before products that add to them.
` + fn + `void warpgroup_arrive() {
  asm volatile("wgmma.fence.sync.aligned;" : : : "memory");
}`},
		{"warpgroup_commit", `// Closes the warpgroup's group of products.
` + fn + `void warpgroup_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
}`},
		keepHelper("float", "f"), keepHelper("uint32_t", "r"), keepHelper("int32_t", "r"),
	}
}

// keepHelper ties a register to its place among asm statements: products in flight change it behind nvcc's back.
func keepHelper(ctype, constraint string) helper {
	return helper{vectorName("warpgroup_fence_operand", ctype), `// Keeps nvcc from moving accesses to a register past this place.
` + fn + `void warpgroup_fence_operand(` + ctype + `& r) {
  asm volatile("" : "+` + constraint + `"(r) : : "memory");
}`}
}

// hopper prints a statement of sm_90 and reports whether it is one; rest is what follows it in its body.
func (p *printer) hopper(s cir.Stmt, rest []cir.Stmt) bool {
	switch s := s.(type) {
	case cir.TensorLoad:
		p.tensorLoad(s)
	case cir.MBarrierExpect:
		p.use.helper("mbarrier_arrive_expect_tx")
		p.call("mbarrier_arrive_expect_tx", p.shared(s.Bar), fmt.Sprint(s.Bytes))
	case cir.WarpgroupMMA:
		p.warpgroupMMA(s)
	case cir.WarpgroupArrive:
		p.keep(accumulators(rest))
		p.use.helper("warpgroup_arrive")
		p.line("warpgroup_arrive();")
	case cir.WarpgroupCommit:
		p.use.helper("warpgroup_commit")
		p.line("warpgroup_commit();")
	case cir.WarpgroupWait:
		p.line(`asm volatile("wgmma.wait_group.sync.aligned %d;" ::: "memory");`, s.Pending)
		p.keep(s.Regs)
	default:
		return false
	}
	return true
}

// fenceInits shows mbarriers to the copy engine behind the last of a row of inits.
func (p *printer) fenceInits(s cir.Stmt, rest []cir.Stmt) {
	if _, ok := s.(cir.MBarrierInit); !ok || len(p.kernel.Maps) == 0 {
		return
	}
	if len(rest) > 0 {
		if _, more := rest[0].(cir.MBarrierInit); more {
			return
		}
	}
	p.use.helper("fence_barrier_init")
	p.line("fence_barrier_init();")
}

// accumulators are the registers that the next group of products adds to.
func accumulators(rest []cir.Stmt) []*cir.Reg {
	var out []*cir.Reg
	for _, s := range rest {
		switch s := s.(type) {
		case cir.WarpgroupCommit:
			return out
		case cir.WarpgroupMMA:
			for _, r := range s.D {
				if !slices.Contains(out, r.Reg) {
					out = append(out, r.Reg)
				}
			}
		}
		for _, b := range cir.Bodies(s) {
			for _, r := range accumulators(b) {
				if !slices.Contains(out, r) {
					out = append(out, r)
				}
			}
		}
	}
	return out
}

// keep ties registers to their place.
func (p *printer) keep(regs []*cir.Reg) {
	for _, r := range regs {
		if r == nil || p.regs[r.Name] != r {
			p.fail("expected a declared register array")
			return
		}
		p.use.helper(vectorName("warpgroup_fence_operand", storageOf(r.Elem).ctype))
		p.line("#pragma unroll")
		p.line("for (int i = 0; i < %d; ++i) warpgroup_fence_operand(%s[i]);", words(r), r.Name)
	}
}

func (p *printer) tensorLoad(s cir.TensorLoad) {
	if !p.opOf(s.Op, cir.TensorCopy) {
		return
	}
	if s.Map == nil || !slices.Contains(p.kernel.Maps, s.Map) || len(s.Coords) != len(s.Map.Box) || cir.CheckTensorMap(s.Map) != nil {
		p.fail("expected a tensor map of the kernel and as many coordinates as it has dimensions")
		return
	}
	groups := []string{"&" + s.Map.Name, p.shared(s.Bar), p.shared(s.Dst)}
	for _, c := range s.Coords {
		x := p.expr(c)
		if x.wide { // the engine takes 32 bits
			x = text{s: "(int)" + x.at(precUnary)}
		}
		groups = append(groups, x.s)
	}
	p.note(s.Op, dimsOf(len(s.Coords)))
	p.call(fmt.Sprintf("%s::copy_%dd", s.Op.Name, len(s.Coords)), groups...)
}

// evictNormal is the cache policy that CuTe gives unless told otherwise: lines leave the L2 in the usual order.
const evictNormal = "0x1000000000000000ull"

// tensorCopyText prints the function for a number of dimensions; the instruction's name is that of two.
func tensorCopyText(op *cir.Op, f form) string {
	n := 1
	for dimsOf(n) != f {
		n++
	}
	params, slots, bindings := make([]string, n), make([]string, n), make([]string, n)
	for i := range n {
		params[i] = fmt.Sprintf("int32_t c%d", i)
		slots[i] = fmt.Sprintf("%%%d", 3+i)
		bindings[i] = fmt.Sprintf(`"r"(c%d)`, i)
	}
	return fmt.Sprintf(`%scopy_%dd(const void* map, uint32_t bar, uint32_t dst, %s) {
    asm volatile("%s"
                 " [%%0], [%%1, {%s}], [%%2], %%%d;"
                 :
                 : "r"(dst), "l"(map), "r"(bar), %s, "l"(%s)
                 : "memory");
  }`, member, n, strings.Join(params, ", "), strings.Replace(op.PTX, ".2d.", fmt.Sprintf(".%dd.", n), 1),
		strings.Join(slots, ", "), 3+n, strings.Join(bindings, ", "), evictNormal)
}

func (p *printer) warpgroupMMA(s cir.WarpgroupMMA) {
	if !p.opOf(s.Op, cir.GMMA) {
		return
	}
	d := arguments{"D", s.Op.D, s.D, true}
	if p.checkOperand(s.Op.Name, d); p.err != nil {
		return
	}
	groups := []string{p.descriptor(s.A), p.descriptor(s.B)}
	have, want := storageOf(s.D[0].Reg.Elem).ctype, operandTypes[s.Op.D.Type].ctype
	inRow := d
	inRow.op.Type = registerTypes[have]
	switch {
	case adjacent(d):
		p.note(s.Op, byPointer)
		groups = append(groups, p.wordsAt(s.D[0]))
	case adjacent(inRow): // as words without a sign, which the instruction's registers are
		p.note(s.Op, byPointer)
		groups = append(groups, fmt.Sprintf("reinterpret_cast<%s*>(%s)", want, p.wordsAt(s.D[0])))
	default:
		p.note(s.Op, byRegister)
		regs := make([]string, len(s.D))
		for i, r := range s.D {
			regs[i] = p.operandRegister(r, d)
		}
		groups = append(groups, strings.Join(regs, ", "))
	}
	p.call(s.Op.Name+"::fma", groups...)
}

// registerTypes are the operands' types of registers that integers may be taken for.
var registerTypes = map[string]string{"int32_t": "s32", "uint32_t": "u32"}

// descriptor prints what wgmma is told of an operand. What is constant after unrolling is added in the descriptor.
func (p *printer) descriptor(m cir.SmemMatrix) string {
	if m.At.Mem == nil || m.At.Mem.Elem == elem.Invalid || m.Swizzle < 1 || m.Swizzle > 3 || m.Stride < 16 || m.Stride%16 != 0 {
		p.fail("expected swizzled rows in shared memory")
		return ""
	}
	run, fixed := p.split(m.At.Index)
	offset := p.bytes(cir.Addr{Mem: m.At.Mem, Index: sym.Sum(fixed...)})
	at := m.At
	if offset.DivisibleBy(16) {
		at.Index = sym.Sum(run...)
	} else {
		offset = sym.Expr{}
	}
	lead := 16 // which counts for columns only
	if m.Columns {
		lead = m.Lead
	}
	p.use.helper("gmma_desc")
	return fmt.Sprintf("gmma_desc(%s, %s, %d, %d, %d)", p.shared(at), p.expr(offset).s, lead, m.Stride, m.Swizzle)
}

// gmmaText prints a product of a warpgroup; it reads shared memory and changes registers when nvcc does not see it.
func gmmaText(op *cir.Op, f form) string {
	d := operand{"d", op.D, true}
	n := op.D.Count
	return fmt.Sprintf(`%sfma(uint64_t a, uint64_t b, %s) {
    asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0;\n"
                 "%s "
                 "%s, "
                 "%%%d, %%%d, p%s;}"
                 : %s
                 : "l"(a), "l"(b)
                 : "memory");
  }`, member, broken(d.params(f), 8, ",\n"+strings.Repeat(" ", len(member)+len("fma("))), op.PTX,
		broken(d.slots(0), 16, ", \"\n                 \""), n, n+1, op.Tail,
		broken(strings.ReplaceAll(d.bindings(f), `"=`, `"+`), 8, ",\n                   "))
}

// broken breaks a list into lines of so many items.
func broken(list string, n int, between string) string {
	var lines []string
	for items := range slices.Chunk(strings.Split(list, ", "), n) {
		lines = append(lines, strings.Join(items, ", "))
	}
	return strings.Join(lines, between)
}
