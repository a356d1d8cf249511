//go:build linux && (amd64 || arm64)

package tune

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/build"
	"github.com/gocute/gocute/check"
	"github.com/gocute/gocute/cuda/tuned"
	"github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/kernels"
)

func h200(t *testing.T) Chip {
	t.Helper()
	c, err := ChipOf("sm_90")
	require.NoError(t, err)
	return c
}

func rowsOf(ms ...int64) []check.Args {
	var out []check.Args
	for _, m := range ms {
		out = append(out, check.Args{Dims: map[string]int64{"M": m}})
	}
	return out
}

func prepare(t *testing.T, f *dsl.Family, c *fakeCompiler, args []check.Args) *Bundle {
	t.Helper()
	b, err := Prepare(t.Context(), f, Options{Chip: h200(t), Args: args, Compiler: c, Seed: 3})
	require.NoError(t, err)
	files, err := b.Files()
	require.NoError(t, err)
	dir := filepath.Join(t.TempDir(), "bundle")
	require.NoError(t, WriteFiles(dir, files))
	read, err := ReadBundle(dir)
	require.NoError(t, err)
	again, err := FromFiles(files)
	require.NoError(t, err)
	require.Equal(t, read, again)
	require.Equal(t, b.Images, read.Images)
	return read
}

// wide has accumulators of 128 by 256 in four warps: more than their registers hold.
func wide(name string) *dsl.Kernel {
	return dsl.Define(name, func(k *dsl.K) {
		k.Dim("M")
		dsl.Out[elem.F32](k, "C", dsl.Shape(1))
		mma := dsl.NewTiledMMA(atoms.MMA16816[elem.F16](), dsl.Shape(2, 2), dsl.Tile(32, 32, 16))
		k.Threads(mma.Threads())
		thr := mma.Slice(k.Thread)
		a, b, c := dsl.FragmentOfA(thr, dsl.Shape(128, 16)), dsl.FragmentOfB(thr, dsl.Shape(256, 16)), dsl.FragmentOfC(thr, dsl.Shape(128, 256))
		dsl.Clear(a)
		dsl.Clear(b)
		dsl.Clear(c)
		dsl.Gemm(mma, a, b, c)
	})
}

func TestPrune(t *testing.T) {
	gemm := func(name string, g kernels.GEMMConfig) func() *dsl.Kernel {
		g.BK, g.Group = 64, 8
		return func() *dsl.Kernel { return kernels.GEMM[elem.F16, elem.F32](name, g) }
	}
	f := &dsl.Family{Name: "gemm"}
	f.Add("good", gemm("good", kernels.GEMMConfig{BM: 128, BN: 128, WarpM: 2, WarpN: 2, Stages: 3}))
	f.Add("shared", gemm("shared", kernels.GEMMConfig{BM: 256, BN: 128, WarpM: 4, WarpN: 2, Stages: 5}))
	f.Add("registers", func() *dsl.Kernel { return wide("registers") })
	f.Add("occupancy", gemm("occupancy", kernels.GEMMConfig{BM: 64, BN: 64, WarpM: 1, WarpN: 1, Stages: 8}))
	f.Add("mistake", gemm("mistake", kernels.GEMMConfig{BM: 100, BN: 128, WarpM: 2, WarpN: 2, Stages: 3}))
	f.Add("panics", func() *dsl.Kernel { panic("no such tile") })
	f.Add("spills", gemm("spills", kernels.GEMMConfig{BM: 128, BN: 128, WarpM: 2, WarpN: 2, Stages: 4}))
	f.Add("refused", gemm("refused", kernels.GEMMConfig{BM: 64, BN: 128, WarpM: 2, WarpN: 2, Stages: 3}))
	c := &fakeCompiler{reports: map[string]build.KernelReport{
		"good":   {Registers: 240},
		"spills": {Registers: 255, SpillStores: 8, SpillLoads: 12},
	}, refuse: "refused"}
	var seen []string
	opt := Options{Chip: h200(t), Compiler: c, Progress: func(c *Candidate) { seen = append(seen, c.Config) },
		Args: []check.Args{{Dims: map[string]int64{"M": 200, "N": 130, "K": 64}}}}
	b, err := Prepare(t.Context(), f, opt)
	require.NoError(t, err)
	reasons := map[string]string{}
	for _, x := range b.Candidates {
		reasons[x.Config] = x.Pruned
	}
	require.Equal(t, "", reasons["good"])
	require.Regexp(t, `^refused: .*tune_test\.go:\d+: shared: .* at most 232448 bytes of shared memory, .* take 245760`, reasons["shared"])
	require.Equal(t, "registers: the accumulators and operands of one step take 304 of a thread, which can have 255", reasons["registers"])
	require.Contains(t, reasons["occupancy"], "occupancy: 1 warp on a multiprocessor, for its shared memory")
	require.Regexp(t, `^refused: .*tune_test\.go:\d+: mistake: `, reasons["mistake"])
	require.Equal(t, "refused: its function panicked: no such tile", reasons["panics"])
	require.Equal(t, "spills: 8 bytes stored and 12 loaded at 255 registers", reasons["spills"])
	require.Contains(t, reasons["refused"], "error: refused")
	require.ElementsMatch(t, []string{"good", "spills", "refused"}, seen, "the others were not compiled")
	good := b.Candidate("good")
	require.Equal(t, 160, good.Estimate, "a warp's 64x64 accumulators, and 64x16 and 16x64 operands")
	require.Equal(t, 2, good.BlocksPerSM)
	require.Equal(t, map[string]int64{"M": 128, "N": 128}, good.Tile)
	require.Len(t, b.Images, 1)
	require.Len(t, b.Shapes[0].Launches, 1)
	require.EqualValues(t, 4, b.Shapes[0].Launches[0].Grid.X)

	opt.Compiler, seen = nil, nil
	b, err = Prepare(t.Context(), f, opt)
	require.NoError(t, err)
	require.Empty(t, seen)
	require.Equal(t, "", b.Candidate("spills").Pruned, "not known before compiling")
	require.NotEmpty(t, b.Candidate("shared").Pruned)
	require.Empty(t, b.Images)

	opt.Chip, err = ChipOf("sm_89")
	require.NoError(t, err)
	b, err = Prepare(t.Context(), f, opt)
	require.NoError(t, err)
	require.Equal(t, "", b.Candidate("good").Pruned)
	require.Equal(t, "shared memory: a block needs 131072 bytes, but on sm_89 can have 101376", b.Candidate("spills").Pruned)
}

func TestOccupancy(t *testing.T) {
	for _, x := range []struct {
		threads, registers, shared, blocks int
		bound                              string
	}{
		{128, 32, 0, 16, "threads"}, {128, 254, 98304, 2, "shared memory"}, {256, 254, 0, 1, "registers"},
		{32, 16, 0, 32, "the hardware's limit of blocks"}, {1024, 128, 0, 0, "registers"}, {128, 168, 0, 3, "registers"},
	} {
		n, bound := h200(t).BlocksPerSM(x.threads, x.registers, x.shared)
		require.Equal(t, x.blocks, n, "%+v", x)
		require.Equal(t, x.bound, bound, "%+v", x)
	}
	_, err := ChipOf("sm_70")
	require.EqualError(t, err, `expected one of the architectures sm_80, sm_86, sm_89, sm_90, but got "sm_70"`)
}

func TestMeasure(t *testing.T) {
	b := prepare(t, family(true, 4, 8, 16, 32), &fakeCompiler{}, rowsOf(100, 64))
	gpu := newFakeGPU()
	gpu.speed = map[string]float64{"scale_r4": 30, "scale_r8": 20, "scale_r16": 10, "scale_r32": 5}
	gpu.broken = map[string]string{"scale_r16": "wrong", "scale_r32": "beside"}
	dev := gpu.open(t)
	table, saves := tuned.New("scale"), 0
	require.NoError(t, Measure(t.Context(), dev, b, table, MeasureOptions{Rounds: 3, Save: func(*tuned.Table) error { saves++; return nil }}))
	require.Equal(t, 2*(1+3), saves, "after the check and after every round, of two shapes")
	on := table.On(dev.Info())
	require.Equal(t, "sm_90", on.Arch)
	s := on.Shape(&tuned.Shape{Dims: map[string]int64{"M": 100}, Scalars: map[string]float64{"alpha": 2}})
	require.Equal(t, 3200.0, s.Work)
	require.Equal(t, &tuned.Result{Config: "r4", Microseconds: 30, Rounds: 3, Checked: "reference"}, s.Result("r4"))
	require.Equal(t, &tuned.Result{Config: "r8", Microseconds: 20, Rounds: 3, Checked: "reference"}, s.Result("r8"))
	require.Contains(t, s.Result("r16").Wrong, "B[99 31]: expected ")
	require.Contains(t, s.Result("r16").Wrong, "(1 of 3200 elements compared are wrong)")
	require.Equal(t, "it writes beside B", s.Result("r32").Wrong)
	require.Zero(t, s.Result("r16").Microseconds, "wrong results are not timed")
	require.Greater(t, len(gpu.used), 4, "the inputs rotate")

	c, err := table.Choose(dev.Info(), map[string]int64{"M": 100})
	require.NoError(t, err)
	require.Equal(t, "scale_r8", c.Kernel)
	require.Equal(t, map[string]int64{"M": 8}, on.Candidate("r8").Tile)
	// Another size: on 132 multiprocessors one wave is 16 blocks of 64 threads or 32 blocks of 32 each, at most.
	c, err = table.Choose(dev.Info(), map[string]int64{"M": 64 << 10})
	require.NoError(t, err)
	require.False(t, c.Exact)

	// Candidates take turns: a batch of one, then of the other.
	var turns []string
	for _, l := range gpu.launches[4:] { // after the check
		if len(turns) == 0 || turns[len(turns)-1] != l {
			turns = append(turns, l)
		}
	}
	require.Equal(t, []string{"scale_r4", "scale_r8", "scale_r4", "scale_r8"}, turns[:4])

	before := len(gpu.launches)
	require.NoError(t, Measure(t.Context(), dev, b, table, MeasureOptions{Rounds: 3}))
	require.Len(t, gpu.launches, before, "nothing is left to do")
	require.NoError(t, Measure(t.Context(), dev, b, table, MeasureOptions{Rounds: 3, Again: true}))
	require.Greater(t, len(gpu.launches), before)

	b.Chip.Arch = "sm_80"
	require.ErrorContains(t, Measure(t.Context(), dev, b, table, MeasureOptions{}), "compiled for sm_80, but this GPU is Fake H200 (sm_90)")
}

// An interrupted run has lost nothing of what was measured, and the next one goes on from there.
func TestMeasureResumes(t *testing.T) {
	b := prepare(t, family(true, 4, 8), &fakeCompiler{}, rowsOf(64))
	gpu := newFakeGPU()
	gpu.speed = map[string]float64{"scale_r4": 4000, "scale_r8": 5000} // batches of one launch
	dev := gpu.open(t)
	path := filepath.Join(t.TempDir(), "scale.json")
	ctx, cancel := context.WithCancel(t.Context())
	saves := 0
	save := func(table *tuned.Table) error {
		if saves++; saves == 3 { // the check and two rounds
			cancel()
		}
		return table.Save(path)
	}
	table := tuned.New("scale")
	err := Measure(ctx, dev, b, table, MeasureOptions{Rounds: 5, Save: save})
	require.ErrorIs(t, err, context.Canceled)
	table, err = tuned.Load(path, "scale")
	require.NoError(t, err)
	like := &tuned.Shape{Dims: map[string]int64{"M": 64}, Scalars: map[string]float64{"alpha": 2}}
	r := table.On(dev.Info()).Shape(like).Result("r4")
	require.Equal(t, []float64{4000, 4000}, r.Samples)
	require.Equal(t, 2, r.Rounds)

	gpu.launches = nil
	gpu.speed["scale_r4"] = 6000
	require.NoError(t, Measure(t.Context(), dev, b, table, MeasureOptions{Rounds: 5, Save: save}))
	require.Len(t, gpu.launches, 2+2*(warmups+3), "the check, the warm-up and the three rounds that were missing")
	r = table.On(dev.Info()).Shape(like).Result("r4")
	require.Equal(t, 5, r.Rounds)
	require.Equal(t, 6000.0, r.Microseconds, "the median of 4, 4, 6, 6 and 6 ms")

	// A candidate whose code changed is measured anew, alone.
	c := &fakeCompiler{version: " 2"}
	b2 := prepare(t, family(true, 4, 8), c, rowsOf(64))
	b2.Candidates[0] = b.Candidates[0]
	gpu.launches = nil
	require.NoError(t, Measure(t.Context(), dev, b2, table, MeasureOptions{Rounds: 5, Save: save}))
	require.Len(t, gpu.launches, 2+warmups+5)

	// Zeros are other circumstances.
	gpu.launches = nil
	require.NoError(t, Measure(t.Context(), dev, b2, table, MeasureOptions{Rounds: 1, Zeros: true}))
	require.Len(t, gpu.launches, 2+2*(warmups+1))
}

// A kernel that does not run breaks the context: it is noted, and the next run leaves it out.
func TestMeasureFailure(t *testing.T) {
	b := prepare(t, family(true, 4, 8), &fakeCompiler{}, rowsOf(64))
	gpu := newFakeGPU()
	gpu.speed = map[string]float64{"scale_r4": 10, "scale_r8": 10}
	gpu.broken["scale_r4"] = "fail"
	dev := gpu.open(t)
	table := tuned.New("scale")
	err := Measure(t.Context(), dev, b, table, MeasureOptions{Rounds: 2})
	require.ErrorIs(t, err, ErrFailed)
	require.ErrorContains(t, err, "M=64: r4: the kernel did not run")
	require.NoError(t, Measure(t.Context(), dev, b, table, MeasureOptions{Rounds: 2}))
	s := table.On(dev.Info()).Shapes[0]
	require.Contains(t, s.Result("r4").Wrong, "it did not run: ")
	require.Equal(t, 10.0, s.Result("r8").Microseconds)
	saveErr := errors.New("disk full")
	err = Measure(t.Context(), dev, b, tuned.New("scale"), MeasureOptions{Rounds: 2, Save: func(*tuned.Table) error { return saveErr }})
	require.ErrorIs(t, err, saveErr)
}

// Without references the candidates are compared with each other.
func TestVote(t *testing.T) {
	results := func(rows []int, broken ...string) (out []*tuned.Result) {
		b := prepare(t, family(false, rows...), &fakeCompiler{}, rowsOf(64))
		require.Equal(t, "the kernels have no references (dsl.Expect)", b.Shapes[0].Unreferenced)
		gpu := newFakeGPU()
		for _, n := range broken {
			gpu.broken[n] = "wrong"
		}
		gpu.speed = map[string]float64{"scale_r4": 10, "scale_r8": 10, "scale_r16": 10}
		dev, table := gpu.open(t), tuned.New("scale")
		require.NoError(t, Measure(t.Context(), dev, b, table, MeasureOptions{Rounds: 1}))
		for _, n := range b.Candidates {
			out = append(out, table.On(dev.Info()).Shapes[0].Result(n.Config))
		}
		return out
	}
	three := results([]int{4, 8, 16}, "scale_r8")
	require.Equal(t, []bool{true, false, true}, []bool{three[0].Usable(), three[1].Usable(), three[2].Usable()})
	require.Equal(t, "the other candidates", three[0].Checked)
	require.Contains(t, three[1].Wrong, "B[63 31]: expected ")
	two := results([]int{4, 8}, "scale_r8")
	for _, r := range two {
		require.False(t, r.Usable())
		require.Contains(t, r.Wrong, "the two candidates differ and nothing says which is right")
	}
	same := results([]int{4, 8})
	require.True(t, same[0].Usable() && same[1].Usable())
	require.Equal(t, "nothing", results([]int{4})[0].Checked)
}

func TestPrepareRefuses(t *testing.T) {
	opt := Options{Chip: h200(t), Compiler: &fakeCompiler{}, Args: rowsOf(3)}
	_, err := Prepare(t.Context(), family(true, 4), opt)
	require.ErrorContains(t, err, "no candidate takes these sizes: scale_r4: M")
	_, err = Prepare(t.Context(), nil, opt)
	require.Error(t, err)
	_, err = Prepare(t.Context(), &dsl.Family{Name: "x"}, opt)
	require.ErrorContains(t, err, "at least one candidate")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Prepare(ctx, family(true, 4), opt)
	require.ErrorIs(t, err, context.Canceled)

	// Another tensor of the same name cannot share its data.
	f := family(true, 4)
	f.Add("other", func() *dsl.Kernel {
		return dsl.Define("other", func(k *dsl.K) {
			m := k.Dim("M")
			dsl.In[elem.F32](k, "A", dsl.Shape(m, 64).Strides(64, 1))
			dsl.Scalar[elem.F32](k, "alpha")
			k.Threads(32 * 4)
		})
	})
	opt.Args = rowsOf(8)
	b, err := Prepare(t.Context(), f, opt)
	require.NoError(t, err)
	require.Contains(t, b.Shapes[0].Launches[1].Refused, "its tensor A is another one")

	dir := t.TempDir()
	_, err = ReadBundle(dir)
	require.ErrorContains(t, err, "expected a folder that gocute tune --bundle wrote")
	_, err = FromFiles(map[string][]byte{manifestName: []byte(`{"Format":7}`)})
	require.ErrorContains(t, err, "expected format 1, but got 7")
	_, err = FromFiles(map[string][]byte{manifestName: []byte(`{"Format":1,"Candidates":[{"Image":"../x"}]}`)})
	require.ErrorContains(t, err, "images in the same folder")
	_, err = FromFiles(map[string][]byte{manifestName: []byte(`{"Format":1,"Candidates":[{"threads":32,"Image":"x"}]}`)})
	require.ErrorContains(t, err, "image of")
}
