package cuda

import "github.com/gocute/gocute/gen/cir"

// gridHelpers order blocks of a grid, and grids of a stream.
func gridHelpers() []helper {
	return []helper{
		{"arrive", `// Counts the block in at a counter, which is back at 0 after n blocks: how many came before. What blocks wrote before
// they came can be seen by those that come later. word is the block's own.
` + fn + `int arrive(uint32_t* counter, int n, uint32_t* word) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    *word = atomicInc(counter, (uint32_t)n - 1u);
    __threadfence();
  }
  __syncthreads();
  return (int)*word;
}`},
		{"grid_wait", `// Waits for the kernel before this one, if this one was launched to overlap with it.
` + fn + `void grid_wait() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}`},
		{"grid_trigger", `// Lets the next kernel start, if it was launched to overlap with this one.
` + fn + `void grid_trigger() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}`},
	}
}

// grid prints a statement that orders blocks or grids and reports whether it is one.
func (p *printer) grid(s cir.Stmt) bool {
	switch s := s.(type) {
	case cir.GridWait:
		p.use.helper("grid_wait")
		p.line("grid_wait();")
	case cir.GridTrigger:
		p.use.helper("grid_trigger")
		p.line("grid_trigger();")
	case cir.Arrive:
		p.use.helper("arrive")
		counter, n, word := p.pointer(s.Counter, true), p.expr(s.Count), p.pointer(s.Word, true)
		p.declare(s.Sym.Name, symbol{positive: true})
		p.line("const int %s = arrive(%s, %s, %s);", s.Sym.Name, counter, n.s, word)
	default:
		return false
	}
	return true
}
