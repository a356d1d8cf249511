package check

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen"
	"github.com/gocute/gocute/gen/cir"
	"github.com/gocute/gocute/kernels"
)

func TestMemory(t *testing.T) {
	a := &tensor{p: &cir.Param{Name: "A", Elem: elem.KF32, Read: true}, width: 4, extents: []int64{1000, 1000}, strides: []int64{1000, 1}}
	b := &tensor{p: &cir.Param{Name: "B", Elem: elem.KF32, Write: true}, width: 4, extents: []int64{1000, 1000}, strides: []int64{1000, 1}}
	p := &plan{c: &cir.Kernel{Name: "k"}, tensors: []*tensor{a, b}}
	require.NoError(t, p.affordable(inEmulator, 1e8, "this test's"))
	require.EqualError(t, p.affordable(inEmulator, 5e7, "this test's"),
		"k: B needs 0.041 GB in the emulator, all tensors together 0.066 GB; at most 0.05 GB are allowed, this test's: choose smaller sizes")
	require.NoError(t, p.affordable(onDevice, 5e7, "this test's"))
	require.ErrorContains(t, p.affordable(inField, 1e8, "this test's"), "in exact mode")
	for i := range a.extents { // far beyond 63 bits
		a.extents[i], a.strides[i] = math.MaxInt64, math.MaxInt64
	}
	require.ErrorContains(t, p.affordable(onDevice, 1e15, "this test's"), "A needs ")

	require.Equal(t, 24684092.0*1024, totalMemory([]byte("MemTotal:       24684092 kB\nMemFree: 1 kB\n")))
	require.True(t, math.IsInf(totalMemory([]byte("none")), 1))
	limit, whose := memoryLimit()
	require.Greater(t, limit, 1e7)
	require.NotEmpty(t, whose)
}

// TestWork holds the estimate against 2*M*N*K, the least that a GEMM needs, counting a multiply-add as one.
func TestWork(t *testing.T) {
	c, err := gen.Lower(kernels.GEMMF16())
	require.NoError(t, err)
	for _, n := range []int64{128, 256, 512} {
		p, err := newPlan(c, Args{Dims: map[string]int64{"M": n, "N": n, "K": n}}, inEmulator)
		require.NoError(t, err)
		mnk := float64(n * n * n)
		require.InDelta(t, 1.25, p.work()/mnk, 0.5, "%d", n)
	}
}

func TestWatch(t *testing.T) {
	var out bytes.Buffer
	watch(&out, "k", longWork, time.Millisecond)()
	require.Empty(t, out.String())
	stop := watch(&out, "k", 2*longWork, time.Millisecond)
	time.Sleep(50 * time.Millisecond)
	stop()
	require.True(t, strings.HasPrefix(out.String(), "k: the emulator has about 1.7e+10 element operations to run, which takes long"), out.String())
	require.Contains(t, out.String(), "k: the emulator is still running, 0s so far\n")
}
