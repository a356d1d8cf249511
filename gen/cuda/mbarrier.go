package cuda

import (
	"strconv"

	"github.com/gocute/gocute/gen/cir"
)

// mbarrierHelpers wait for and signal phases of barriers in shared memory; addresses are shared memory addresses.
func mbarrierHelpers() []helper {
	return []helper{
		{"mbarrier_init", fn + `void mbarrier_init(uint32_t bar, int count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" : : "r"(bar), "r"(count) : "memory");
}`},
		{"mbarrier_arrive", fn + `void mbarrier_arrive(uint32_t bar) {
  asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" : : "r"(bar) : "memory");
}`},
		{"mbarrier_arrive_warp", `// One arrival for the warp, after all of its lanes have come this far.
` + fn + `void mbarrier_arrive_warp(uint32_t bar) {
  asm volatile("{ .reg .pred p; .reg .u32 lane; .reg .b64 state; bar.warp.sync 0xffffffff; mov.u32 lane, %%laneid; "
               "setp.eq.u32 p, lane, 0; @p mbarrier.arrive.shared.b64 state, [%0]; }"
               :
               : "r"(bar)
               : "memory");
}`},
		{"cp_async_arrive", `// Arrives when the asynchronous copies that the thread has started have landed.
` + fn + `void cp_async_arrive(uint32_t bar) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" : : "r"(bar) : "memory");
}`},
		{"mbarrier_wait", `// Waits until the phase with this parity is over.
` + fn + `void mbarrier_wait(uint32_t bar, uint32_t parity) {
  uint32_t done;
  do {
#if __CUDA_ARCH__ >= 900
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(bar), "r"(parity) : "memory");
#else
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(bar), "r"(parity) : "memory");
#endif
  } while (!done);
}`},
	}
}

// mbarrier prints a statement on an mbarrier and reports whether it is one.
func (p *printer) mbarrier(s cir.Stmt) bool {
	call := func(name string, bar cir.Addr, args ...string) {
		p.use.helper(name)
		p.call(name, append([]string{p.shared(bar)}, args...)...)
	}
	switch s := s.(type) {
	case cir.MBarrierInit:
		call("mbarrier_init", s.Bar, strconv.Itoa(s.Count))
	case cir.MBarrierArrive:
		name := "mbarrier_arrive"
		if s.OncePerWarp {
			name = "mbarrier_arrive_warp"
		}
		call(name, s.Bar)
	case cir.CpAsyncArrive:
		call("cp_async_arrive", s.Bar)
	case cir.MBarrierWait:
		call("mbarrier_wait", s.Bar, p.expr(s.Parity).s)
	default:
		return false
	}
	return true
}
