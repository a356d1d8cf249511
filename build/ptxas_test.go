package build

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const reportText = `ptxas info    : 49 bytes gmem, 16 bytes cmem[3], 64 bytes cmem[4]
ptxas info    : Compiling entry function 'gemm' for 'sm_80'
ptxas info    : Function properties for gemm
    48 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 24 registers, used 2 barriers, 56 bytes cumulative stack size, 256 bytes smem, 364 bytes cmem[0], 8 bytes cmem[2]
ptxas info    : Compile time = 47.201 ms
ptxas info    : Function properties for helper
    9 bytes stack frame, 9 bytes spill stores, 9 bytes spill loads
ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized in function 'copy'
ptxas info    : Compiling entry function 'copy' for 'sm_90a'
ptxas info    : Function properties for copy
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 18 registers
ptxas warning : Something odd
`

func TestParseReport(t *testing.T) {
	r := ParseReport(reportText)
	require.Equal(t, 49, r.Gmem)
	require.Len(t, r.Warnings, 2)
	require.Contains(t, r.Warnings[0], "serialized")
	require.Equal(t, []KernelReport{
		{
			Name: "gemm", Arch: "sm_80", Registers: 24, StackFrame: 48, CumulativeStack: 56,
			SpillStores: 8, SpillLoads: 12, StaticSmem: 256, Barriers: 2, Cmem: map[int]int{0: 364, 2: 8},
		},
		{Name: "copy", Arch: "sm_90a", Registers: 18},
	}, r.Kernels)
	k, ok := r.Kernel("gemm")
	require.True(t, ok)
	require.True(t, k.Spills())
	k, _ = r.Kernel("copy")
	require.False(t, k.Spills())
	_, ok = r.Kernel("absent")
	require.False(t, ok)
	require.Empty(t, ParseReport("").Kernels)
}
