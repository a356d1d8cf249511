package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/build"
	"github.com/gocute/gocute/cuda"
	"github.com/gocute/gocute/gen"
	"github.com/gocute/gocute/gen/cir"
	"github.com/gocute/gocute/tests/device"
)

// TestOurs: every kernel of the table is generated under its name, with clocks, too, and each product has one for each of
// its sizes, all of whose arguments are known.
func TestOurs(t *testing.T) {
	names := map[string]bool{}
	launchers := map[product][]*launcher{}
	used := map[*launcher]bool{}
	for _, o := range ours() {
		require.False(t, names[o.name], o.name)
		names[o.name] = true
		k, err := gen.Lower(o.kernel())
		require.NoError(t, err, o.name)
		require.Equal(t, o.name, k.Name)
		require.NoError(t, cir.Verify(device.Clocked(k)), o.name)
		launchers[o.product] = append(launchers[o.product], &launcher{program: &device.Program{IR: k}, entry: o})
	}
	all, err := products("")
	require.NoError(t, err)
	sizes, err := (&options{}).sizesOf(all)
	require.NoError(t, err)
	for p, list := range sizes {
		for _, s := range list {
			n := 0
			for _, l := range launchers[p] {
				if !l.takes(s) {
					continue
				}
				n++
				used[l] = true
				args := device.Arguments{Dims: l.entry.dims(s), Scalars: map[string]float64{"alpha": 1, "beta": 0},
					Tensors: map[string]cuda.DevicePtr{"A": 1, "B": 1, "C": 1, "parts": 1, "counters": 1}}
				_, err := device.Grid(l.program.IR, args)
				require.NoError(t, err, "%s %s", l.entry.name, s)
			}
			require.Positive(t, n, "%s %s", p, s)
		}
	}
	require.Len(t, used, len(names), "a kernel that no size is timed with")
}

// TestSizesOf: a product has its own sizes, fewer if it has to be quick, unless some are asked for.
func TestSizesOf(t *testing.T) {
	all, err := products("")
	require.NoError(t, err)
	count := func(o options) (n int) {
		sizes, err := o.sizesOf(all)
		require.NoError(t, err)
		require.Len(t, sizes, len(all))
		for _, list := range sizes {
			n += len(list)
		}
		return n
	}
	require.LessOrEqual(t, count(options{quick: true}), count(options{})*2/3)
	require.Equal(t, 2*len(all), count(options{quick: true, sizes: "1024,64"}))
	_, err = (&options{sizes: "x"}).sizesOf(all)
	require.Error(t, err)
}

// TestTakes: batches are for the kernels of batches, and extents for dims that allow them.
func TestTakes(t *testing.T) {
	for _, o := range ours() {
		k, err := gen.Lower(o.kernel())
		require.NoError(t, err)
		l := launcher{program: &device.Program{IR: k}, entry: o}
		require.Equal(t, o.batched, l.takes(size{512, 512, 512, 4}), o.name)
		require.False(t, l.takes(size{2050, 2050, 2050, 1}), o.name)
	}
}

// TestSplits: the rule gives the splits that were found to be the fastest, on 132 multiprocessors.
func TestSplits(t *testing.T) {
	require.Equal(t, 4, splits(4096/64, 4096/128, 2*132)) // 16x4096x4096 in blocks of 16x64x128
	require.Equal(t, 1, splits(11008/64, 4096/64, 2*132)) // 64x11008x4096 in blocks of 64x64x64
	require.Equal(t, 4, splits(32, 11008/64, 132))        // 256x4096x11008 in blocks of 256x128x64
	require.Equal(t, 2, splits(128, 11008/64, 2*132))     // the same in blocks of 64x128x64
	require.Equal(t, 2, splits(1, 8, 264), "four tiles of K each")
	require.Equal(t, 1, splits(1, 3, 264))
}

// TestWorkspaceSize: the bench knows how much memory the parts of sums take.
func TestWorkspaceSize(t *testing.T) {
	for _, o := range ours() {
		if o.name != "gemm_f16_f16_tn_16x64x128_split" {
			continue
		}
		k, err := gen.Lower(o.kernel())
		require.NoError(t, err)
		args := device.Arguments{Dims: o.dims(size{16, 4096, 4096, 1})}
		args.Dims["splits"] = 4
		found := map[string]int{}
		for _, p := range k.Params {
			if p.Class == cir.Pointer {
				found[p.Name], err = device.Elements(p, args)
				require.NoError(t, err)
			}
		}
		require.Equal(t, map[string]int{"A": 16 * 4096, "B": 4096 * 4096, "C": 16 * 4096, "parts": 4 * 16 * 4096, "counters": 64}, found)
		return
	}
	require.Fail(t, "the table has no such kernel")
}

// TestNoSpills compiles every kernel of the table: none may keep anything in local memory.
func TestNoSpills(t *testing.T) {
	if testing.Short() {
		t.Skip("a hundred compilations")
	}
	tools, err := build.Find(t.Context(), build.Options{NoInstall: true})
	if err != nil {
		t.Skip("no nvcc: ", err)
	}
	for _, e := range ours() {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			made, err := gen.Generate(e.kernel(), gen.Options{})
			require.NoError(t, err)
			archs, _ := build.ArchsOf(made.Kernel.Arch, made.Kernel.Exactly)
			res, err := tools.Compile(t.Context(), build.Source{Name: made.Kernel.Name, Code: made.CUDA, Archs: archs, PTXArchs: []string{}})
			require.NoError(t, err)
			require.Len(t, res.Binaries, len(archs))
			for _, b := range res.Binaries {
				report, ok := b.Report.Kernel(made.Kernel.Name)
				require.True(t, ok)
				require.Zerof(t, report.StackFrame, "for %s, with %d registers", b.Arch, report.Registers)
				require.Falsef(t, report.Spills(), "for %s, with %d registers", b.Arch, report.Registers)
			}
		})
	}
}
