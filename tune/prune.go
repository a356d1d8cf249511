package tune

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/build"
	"github.com/gocute/gocute/dsl/ir"
	"github.com/gocute/gocute/gen/cir"
	"github.com/gocute/gocute/internal/text"
)

// fragments is the least number of registers that a kernel's products need: at the widest Gemm, the accumulators and the
// operands of that one step. Operands of other steps may be loaded later, so they do not count.
func fragments(k *ir.Kernel) int {
	most := 0
	var walk func(body []ir.Op)
	walk = func(body []ir.Op) {
		for _, op := range body {
			switch op := op.(type) {
			case ir.GemmOp:
				most = max(most, registersOf(op.A)+registersOf(op.B)+registersOf(op.C))
			case ir.LoopOp:
				walk(op.Body)
			case ir.IfOp:
				walk(op.Then)
				walk(op.Else)
			}
		}
	}
	walk(k.Body)
	return most
}

// registersOf is the 32-bit registers of a view in registers.
func registersOf(t *ir.Tensor) int {
	n, ok := t.Layout.IntSize()
	if t.Storage == nil || t.Storage.Space != ir.Register || !ok {
		return 0
	}
	return (int(n)*t.Elem.Bits() + 31) / 32
}

// prune says why a candidate is not worth compiling, or nothing.
func prune(k *ir.Kernel, c *cir.Kernel, chip Chip) string {
	arch, err := strconv.Atoi(strings.TrimRight(strings.TrimPrefix(chip.Arch, "sm_"), "af"))
	need := fragments(k)
	limit := maxRegisters
	if c.Threads > 0 {
		perThread := chip.RegistersSM / roundUp(c.Threads, warpLanes) / max(c.MinBlocks, 1)
		limit = min(limit, perThread/registerStep*registerStep)
	}
	switch {
	// Too much shared memory raises the least architecture too, but says less.
	case c.SmemBytes > chip.SharedBlock:
		return fmt.Sprintf("shared memory: a block needs %d bytes, but on %s can have %d", c.SmemBytes, chip.Arch, chip.SharedBlock)
	case err == nil && c.Arch > arch:
		return fmt.Sprintf("architecture: needs sm_%d or newer, but the chip is %s", c.Arch, chip.Arch)
	case err == nil && c.Exactly && c.Arch != arch:
		return fmt.Sprintf("architecture: needs sm_%d itself, but the chip is %s", c.Arch, chip.Arch)
	case need > limit:
		return fmt.Sprintf("registers: the accumulators and operands of one step take %d of a thread, which can have %d", need, limit)
	}
	return occupancy(chip, c, need, 0)
}

// occupancy refuses blocks that do not fit, and those that leave schedulers without a warp.
func occupancy(chip Chip, c *cir.Kernel, registers, static int) string {
	blocks, bound := chip.BlocksPerSM(c.Threads, registers, c.SmemBytes+static)
	warps := blocks * roundUp(c.Threads, warpLanes) / warpLanes
	switch {
	case blocks == 0:
		return fmt.Sprintf("occupancy: not one block fits, for its %s", bound)
	case warps < schedulers:
		return fmt.Sprintf("occupancy: %s on a multiprocessor, for its %s, where %d schedulers want one each", text.Count(warps, "warp"), bound, schedulers)
	}
	return ""
}

// pruneCompiled says why a candidate is not worth measuring, by what the compiler made of it.
func pruneCompiled(c *cir.Kernel, chip Chip, r build.KernelReport) string {
	if r.Spills() {
		return fmt.Sprintf("spills: %d bytes stored and %d loaded at %d registers", r.SpillStores, r.SpillLoads, r.Registers)
	}
	return occupancy(chip, c, r.Registers, r.StaticSmem)
}

// tiles finds the extents of dims that one block covers: of each dim alone, the largest that gives no more blocks than 1
// does, if ten of them give ten times as many. Dims that the grid does not grow with, or not so, have none.
func tiles(c *cir.Kernel, dims map[string]int64) map[string]int64 {
	out := map[string]int64{}
	for name := range dims {
		blocks := func(v int64) int64 {
			n := int64(1)
			for _, e := range c.Grid {
				x, err := e.Eval(func(s *sym.Symbol) (int64, bool) {
					if s.Name == name {
						return v, true
					}
					d, ok := dims[s.Name]
					return d, ok
				})
				if err != nil || x == 0 { // an extent that nobody set is 0
					x = 1
				}
				n *= x
			}
			return n
		}
		const most = 1 << 20
		one := blocks(1)
		if blocks(most) == one {
			continue
		}
		lo, hi := int64(1), int64(most) // blocks(lo) is one still, blocks(hi) is not
		for hi-lo > 1 {
			if mid := (lo + hi) / 2; blocks(mid) == one {
				lo = mid
			} else {
				hi = mid
			}
		}
		if blocks(10*lo) == 10*one {
			out[name] = lo
		}
	}
	return out
}
