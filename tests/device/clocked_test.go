package device

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/cuda"
	"github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/emu"
	"github.com/gocute/gocute/gen"
	"github.com/gocute/gocute/gen/cir"
	"github.com/gocute/gocute/kernels"
)

// TestClocked: every block notes its clocks, and the kernel does what it did before, as the emulator checks.
func TestClocked(t *testing.T) {
	plain, err := gen.Lower(kernels.GEMMF16())
	require.NoError(t, err)
	timed := Clocked(plain)
	require.NoError(t, cir.Verify(timed))
	require.Len(t, timed.Params, len(plain.Params)+1)
	const m, n, k, blocks = 130, 200, 64, 2 * 2
	results := func(c *cir.Kernel) emu.Args {
		args := emu.Args{"M": emu.Dim(m), "N": emu.Dim(n), "K": emu.Dim(k), "alpha": emu.Scalar(1), "beta": emu.Scalar(0),
			"A": numbers(elem.KF16, m*k), "B": numbers(elem.KF16, n*k), "C": emu.NewBuffer(elem.KF32, m*n)}
		if c == timed {
			args["clocks"] = emu.NewBuffer(elem.KU64, 4*blocks)
		}
		rep, err := emu.Run(t.Context(), c, args, emu.Options{})
		require.NoError(t, err)
		require.NoError(t, rep.Err())
		return args
	}
	want, got := results(plain), results(timed)
	require.Equal(t, want["C"].(*emu.Buffer).Cells, got["C"].(*emu.Buffer).Cells)
	for i, x := range got["clocks"].(*emu.Buffer).Cells {
		require.EqualValues(t, i%4+1, x)
	}
}

// TestClockedWaits: clocks are written after the wait for the kernel before, as for everything that touches memory.
func TestClockedWaits(t *testing.T) {
	for _, f := range []func() *dsl.Kernel{kernels.GEMMF16, kernels.GEMMBF16, kernels.GEMMF16Out} {
		plain, err := gen.Lower(f())
		require.NoError(t, err)
		timed := Clocked(plain)
		require.NoError(t, cir.Verify(timed), plain.Name)
		require.True(t, timed.Overlaps(), plain.Name)
		require.Len(t, timed.Body, len(plain.Body)+2)
		waits := slices.IndexFunc(timed.Body, func(s cir.Stmt) bool { _, ok := s.(cir.GridWait); return ok })
		require.GreaterOrEqual(t, waits, 0)
		reads := 0
		cir.Walk(timed.Body[waits+1:waits+2], func(s cir.Stmt) {
			if _, ok := s.(cir.ReadClock); ok {
				reads++
			}
		})
		require.Equal(t, 2, reads, plain.Name)
	}
}

// TestClockedGrid: the blocks of a grid of two directions have places of their own.
func TestClockedGrid(t *testing.T) {
	plain, err := gen.Lower(gemmS8())
	require.NoError(t, err)
	const m, n, k, blocks = 130, 200, 16, 3 * 4
	args := emu.Args{"M": emu.Dim(m), "N": emu.Dim(n), "K": emu.Dim(k), "A": emu.NewBuffer(elem.KS8, m*k), "B": emu.NewBuffer(elem.KS8, n*k),
		"C": emu.NewBuffer(elem.KS32, m*n), "clocks": emu.NewBuffer(elem.KU64, 4*blocks)}
	rep, err := emu.Run(t.Context(), Clocked(plain), args, emu.Options{})
	require.NoError(t, err)
	require.NoError(t, rep.Err())
	for i, x := range args["clocks"].(*emu.Buffer).Cells {
		require.EqualValues(t, i%4+1, x)
	}
}

func numbers(k elem.Kind, n int) *emu.Buffer {
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i*7919%61-30) / 32
	}
	return emu.BufferFromFloat64s(k, x)
}

func TestGHz(t *testing.T) {
	require.InDelta(t, 1.6, GHz([]elem.U64{100, 1000, 260, 1100, 7, 0, 487, 300}), 1e-12)
	require.Zero(t, GHz([]elem.U64{100, 1000, 260, 1000}))
}

// TestGrid: arguments are refused as the launcher refuses them.
func TestGrid(t *testing.T) {
	k, err := gen.Lower(kernels.GEMMF16())
	require.NoError(t, err)
	args := Arguments{Dims: map[string]int{"M": 129, "N": 128, "K": 64}, Scalars: map[string]float64{"alpha": 1, "beta": 0},
		Tensors: map[string]cuda.DevicePtr{"A": 1, "B": 2, "C": 3}}
	grid, err := Grid(k, args)
	require.NoError(t, err)
	require.EqualValues(t, 2, grid.X)
	args.Dims["K"] = 65
	_, err = Grid(k, args)
	require.ErrorContains(t, err, "multiple of 8")
	_, err = Grid(Clocked(k), Arguments{Dims: map[string]int{"M": 1, "N": 1, "K": 8}, Scalars: args.Scalars, Tensors: args.Tensors})
	require.ErrorContains(t, err, "expected an argument clocks, but got [K M N alpha beta A B C]")
}

// TestClockedGPU: a clocked GEMM on the GPU gives the chip's clock.
func TestClockedGPU(t *testing.T) {
	dev := open(t)
	plain, err := gen.Lower(kernels.GEMMF16())
	require.NoError(t, err)
	programs, err := Compile(t.Context(), dev, Clocked(plain))
	require.NoError(t, err)
	defer programs[0].Close()
	const n = 2048
	buffer, err := cuda.Alloc[elem.F32](dev, 2*n*n)
	require.NoError(t, err)
	defer buffer.Free()
	require.NoError(t, buffer.Zero())
	clocks, err := cuda.Alloc[elem.U64](dev, 4*(n/128)*(n/128))
	require.NoError(t, err)
	defer clocks.Free()
	run, err := programs[0].Bind(Arguments{Dims: map[string]int{"M": n, "N": n, "K": n}, Scalars: map[string]float64{"alpha": 1, "beta": 0},
		Tensors: map[string]cuda.DevicePtr{"A": buffer.Ptr(), "B": buffer.Ptr(), "C": buffer.Ptr() + 4*n*n, "clocks": clocks.Ptr()}})
	require.NoError(t, err)
	for range 20 {
		require.NoError(t, run())
	}
	host, err := clocks.Host()
	require.NoError(t, err)
	ghz := GHz(host)
	require.InDelta(t, 1.75, ghz, 1.25)
	t.Logf("%.3f GHz", ghz)
}
