// Package tune is what `gocute tune` does: it takes a family of kernels (dsl.Family), leaves out the candidates that
// cannot be good, compiles the others, measures them on a GPU and writes down the times by sizes, in a table that
// programs choose by (cuda/tuned). It knows nothing of what the kernels compute.
//
// The two halves meet in a Bundle: Prepare needs the kernels' Go code and a compiler, Measure a GPU and nothing else,
// so a bundle may be made on one machine and measured on another.
package tune

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gocute/gocute/cuda"
)

// Chip is what pruning has to know of a GPU.
type Chip struct {
	Name        string
	Arch        string // such as sm_90
	SMs         int
	SharedBlock int // bytes of shared memory that a block can have
	SharedSM    int // bytes of shared memory of a multiprocessor
	RegistersSM int
	ThreadsSM   int
}

// chips are one of each architecture, for preparing where there is no GPU.
var chips = []Chip{
	{"NVIDIA A100", "sm_80", 108, 163 << 10, 164 << 10, 65536, 2048},
	{"NVIDIA A40", "sm_86", 84, 99 << 10, 100 << 10, 65536, 1536},
	{"NVIDIA L40S", "sm_89", 142, 99 << 10, 100 << 10, 65536, 1536},
	{"NVIDIA H200", "sm_90", 132, 227 << 10, 228 << 10, 65536, 2048},
}

// ChipOf is the GPU that stands for an architecture.
func ChipOf(arch string) (Chip, error) {
	var names []string
	for _, c := range chips {
		if c.Arch == arch {
			return c, nil
		}
		names = append(names, c.Arch)
	}
	return Chip{}, fmt.Errorf("expected one of the architectures %s, but got %q", strings.Join(names, ", "), arch)
}

// ChipFrom is the chip of a device.
func ChipFrom(i cuda.Info) Chip {
	return Chip{Name: i.Name, Arch: i.Arch(), SMs: i.SMs, SharedBlock: i.SharedBlockOptin, SharedSM: i.SharedSM, RegistersSM: i.RegistersSM, ThreadsSM: i.MaxThreadsSM}
}

// Allocation is in these units on every architecture since sm_80.
const (
	warpLanes      = 32
	maxRegisters   = 255  // of a thread
	registerUnit   = 256  // of a warp
	registerStep   = 8    // of a thread
	sharedUnit     = 128  // bytes
	sharedReserved = 1024 // bytes of each block that the system takes
	maxBlocksSM    = 32
	schedulers     = 4 // of a multiprocessor, each of which wants a warp
)

func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }

// BlocksPerSM is how many blocks of so many threads, registers of a thread and bytes of shared memory a multiprocessor
// runs at a time, and what bounds it.
func (c Chip) BlocksPerSM(threads, registers, shared int) (blocks int, bound string) {
	warps := roundUp(threads, warpLanes) / warpLanes
	limits := []struct {
		blocks int
		what   string
	}{
		{maxBlocksSM, "the hardware's limit of blocks"},
		{c.ThreadsSM / (warps * warpLanes), "threads"},
		{c.SharedSM / roundUp(shared+sharedReserved, sharedUnit), "shared memory"},
		{c.RegistersSM / (warps * roundUp(max(registers, 1)*warpLanes, registerUnit)), "registers"},
	}
	least := slices.MinFunc(limits, func(a, b struct {
		blocks int
		what   string
	}) int {
		return a.blocks - b.blocks
	})
	return least.blocks, least.what
}
