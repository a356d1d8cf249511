package tuned

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/cuda"
)

var (
	h200 = cuda.Info{Name: "NVIDIA H200", Major: 9, SMs: 132}
	h100 = cuda.Info{Name: "NVIDIA H100 PCIe", Major: 9, SMs: 114}
	a100 = cuda.Info{Name: "NVIDIA A100", Major: 8, SMs: 108}
)

func mn(m, n int64) map[string]int64 { return map[string]int64{"M": m, "N": n} }

// example has a small tile that wins where few blocks of the large one are there.
func example() *Table {
	t := New("gemm")
	d := t.On(h200)
	d.Put(&Candidate{Config: "small", Kernel: "k_small", Code: "1", BlocksPerSM: 2, Tile: mn(64, 64)})
	d.Put(&Candidate{Config: "large", Kernel: "k_large", Code: "1", BlocksPerSM: 1, Tile: mn(128, 128)})
	d.Put(&Candidate{Config: "wrong", Kernel: "k_wrong", Code: "1", BlocksPerSM: 1, Tile: mn(128, 128)})
	put := func(dims map[string]int64, us map[string]float64) {
		s := d.Shape(&Shape{Dims: dims})
		for config, x := range us {
			s.Result(config).Add(x, 1)
		}
		s.Result("wrong").Wrong = "C[0,0]: expected 1, but got 2"
	}
	put(mn(512, 512), map[string]float64{"small": 10, "large": 14, "wrong": 1})
	put(mn(4096, 4096), map[string]float64{"small": 300, "large": 250, "wrong": 1})
	return t
}

func TestChoose(t *testing.T) {
	table := example()
	c, err := table.Choose(h200, mn(4096, 4096))
	require.NoError(t, err)
	require.Equal(t, Choice{Config: "large", Kernel: "k_large", Microseconds: 250, Exact: true, From: mn(4096, 4096), Device: h200.Name}, c)
	c, err = table.Choose(h200, mn(512, 512))
	require.NoError(t, err)
	require.Equal(t, "small", c.Config)

	// Near 512: 8x8 small blocks fit one wave of 264, as do 4x4 large ones of 132; and so up to 1024.
	c, err = table.Choose(h200, mn(640, 700))
	require.NoError(t, err)
	require.Equal(t, "small", c.Config)
	require.False(t, c.Exact)
	require.Equal(t, mn(512, 512), c.From)
	require.Equal(t, 10.0, c.Microseconds)
	// Near 4096, 1024 large blocks are 8 waves of 132, and 4096 small ones 16 of 264. At 2944 it is 23*23 = 529 large
	// blocks, 5 waves, and 46*46 = 2116 small ones, 9: 250*5/8 against 300*9/16.
	all, err := table.Rank(h200, mn(2944, 2944))
	require.NoError(t, err)
	require.Len(t, all, 2, "a wrong candidate is never chosen")
	require.Equal(t, "large", all[0].Config)
	require.InDelta(t, 250*5.0/8, all[0].Microseconds, 1e-9)
	require.InDelta(t, 300*9.0/16, all[1].Microseconds, 1e-9)
	// One column of blocks more is a wave more for the large tile: at 33 blocks of 128 by 32, 1056 blocks are 8 waves
	// still, and at 1057 nine.
	all, err = table.Rank(h200, mn(33*128+1, 32*128))
	require.NoError(t, err)
	require.InDelta(t, 250*9.0/8, all[0].Microseconds, 1e-9)
}

// TestChooseAlignment: of two shapes as near, the one whose dims are multiples of 16 where those asked for are.
func TestChooseAlignment(t *testing.T) {
	table := example()
	d := table.Devices[0]
	for _, n := range []int64{1000, 1024} {
		s := d.Shape(&Shape{Dims: mn(n, n)})
		s.Result("small").Add(10, 1)
	}
	for want, from := range map[int64]int64{1000: 1000, 1024: 1024, 1016: 1000, 1008: 1024, 1080: 1000} {
		c, err := table.Choose(h200, mn(want, want))
		require.NoError(t, err)
		require.Equal(t, mn(from, from), c.From, want)
	}
}

func TestOnly(t *testing.T) {
	table := example()
	require.Equal(t, []string{"large", "small"}, table.Winners())
	require.Empty(t, New("gemm").Winners())
	small := table.Only("k_small")
	c, err := small.Choose(h200, mn(4096, 4096))
	require.NoError(t, err)
	require.Equal(t, "small", c.Config)
	require.Equal(t, []string{"small"}, small.Winners())
	c, err = table.Choose(h200, mn(4096, 4096)) // is as it was
	require.NoError(t, err)
	require.Equal(t, "large", c.Config)
	_, err = table.Only("k_wrong").Choose(h200, mn(4096, 4096))
	require.ErrorIs(t, err, ErrNothing)
}

func TestChooseDevice(t *testing.T) {
	table := example()
	c, err := table.Choose(h100, mn(4096, 4096)) // the same architecture
	require.NoError(t, err)
	require.Equal(t, h200.Name, c.Device)
	near := table.On(cuda.Info{Name: "NVIDIA H100 SXM", Major: 9, SMs: 120})
	near.Put(&Candidate{Config: "small", Kernel: "k_small"})
	near.Shape(&Shape{Dims: mn(1, 1)}).Result("small").Add(5, 1)
	c, err = table.Choose(h100, mn(4096, 4096))
	require.NoError(t, err)
	require.Equal(t, "NVIDIA H100 SXM", c.Device, "nearer in its number of multiprocessors")
	_, err = table.Choose(a100, mn(1, 1))
	require.ErrorIs(t, err, ErrNothing)
	require.ErrorContains(t, err, "expected NVIDIA A100 or another sm_80 in the table, but it has only [NVIDIA H200 (sm_90), NVIDIA H100 SXM (sm_90)]")
	_, err = table.Choose(h200, map[string]int64{"M": 3})
	require.ErrorContains(t, err, "expected a positive dim N")
	_, err = New("gemm").Choose(h200, mn(1, 1))
	require.ErrorIs(t, err, ErrNothing)
	table.On(h200).Candidates = nil
	_, err = table.Choose(h200, mn(512, 512))
	require.ErrorIs(t, err, ErrNothing)
}

// The same numbers give the same bytes, whatever the order they came in.
func TestTableIsDeterministic(t *testing.T) {
	one, err := example().Bytes()
	require.NoError(t, err)
	for range 5 { // maps are walked in random order
		again := example()
		devices := again.Devices[0]
		devices.Shapes[0], devices.Shapes[1] = devices.Shapes[1], devices.Shapes[0]
		data, err := again.Bytes()
		require.NoError(t, err)
		require.Equal(t, string(one), string(data))
	}
	back, err := Parse(one)
	require.NoError(t, err)
	data, err := back.Bytes()
	require.NoError(t, err)
	require.Equal(t, string(one), string(data))
	require.Less(t, strings.Index(string(one), `"config": "large",
       "microseconds": 250`), strings.LastIndex(string(one), `"config": "small"`), "the fastest first")
}

func TestMerge(t *testing.T) {
	table, other := example(), New("gemm")
	d := other.On(h200)
	d.Put(&Candidate{Config: "large", Kernel: "k_large", Code: "2", BlocksPerSM: 2}) // new code
	d.Shape(&Shape{Dims: mn(512, 512)}).Result("large").Add(3, 1)
	other.On(a100).Put(&Candidate{Config: "small", Kernel: "k_small", Code: "1"})
	table.Merge(other)
	require.Len(t, table.Devices, 2)
	d = table.On(h200)
	require.Equal(t, 2, d.Candidate("large").BlocksPerSM)
	require.Equal(t, 3.0, d.Shape(&Shape{Dims: mn(512, 512)}).Result("large").Microseconds)
	require.Equal(t, 10.0, d.Shape(&Shape{Dims: mn(512, 512)}).Result("small").Microseconds, "what the other lacks stays")
	require.Zero(t, d.Shape(&Shape{Dims: mn(4096, 4096)}).Result("large").Rounds, "measured with code that is no more")
	before, err := table.Bytes()
	require.NoError(t, err)
	table.Merge(other)
	after, err := table.Bytes()
	require.NoError(t, err)
	require.Equal(t, string(before), string(after))
	require.Empty(t, d.Shape(&Shape{Dims: mn(512, 512), Zeros: true}).Results, "other data, other times")
}

func TestResultRounds(t *testing.T) {
	r := &Result{}
	require.False(t, r.Done(3))
	for i, us := range []float64{5, 1.23456, 3} {
		require.False(t, r.Done(3))
		r.Add(us, 3)
		require.Equal(t, i+1, r.Rounds)
	}
	require.True(t, r.Done(3))
	require.Equal(t, 3.0, r.Microseconds)
	require.Empty(t, r.Samples)
	require.True(t, r.Done(30), "a finished result is not measured again for more rounds")
	r = &Result{}
	r.Add(1.23456, 3)
	require.Equal(t, []float64{1.235}, r.Samples)
}

func TestFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gemm.json")
	empty, err := Load(path, "gemm")
	require.NoError(t, err)
	require.Empty(t, empty.Devices)
	require.NoError(t, example().Save(path))
	table, err := Load(path, "gemm")
	require.NoError(t, err)
	require.Len(t, table.On(h200).Shapes, 2)
	_, err = Load(path, "copy")
	require.ErrorContains(t, err, "expected the table of the family copy, but got that of gemm")
	for text, want := range map[string]string{
		"{": "expected a table", `{"format":2}`: "format 1, but got 2", `{"format":1,"devices":[null]}`: "expected entries, but one is null",
		`{"format":1,"devices":[{"shapes":[{"results":[null]}]}]}`: "expected results, but one is null", `{"format":1,"colour":2}`: "unknown field",
	} {
		_, err := Parse([]byte(text))
		require.ErrorContains(t, err, want)
	}
	files, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, files, 1, "no temporary file stays")
}

// Every built-in table is one, and is named by its family.
func TestBuiltin(t *testing.T) {
	files, err := tables.ReadDir("tables")
	require.NoError(t, err)
	for _, f := range files {
		family, ok := strings.CutSuffix(f.Name(), ".json")
		if !ok {
			require.Equal(t, "README", f.Name())
			continue
		}
		table, ok := Builtin(family)
		require.True(t, ok, f.Name())
		require.Equal(t, family, table.Family)
		data, err := tables.ReadFile("tables/" + f.Name())
		require.NoError(t, err)
		same, err := table.Bytes()
		require.NoError(t, err)
		require.Equal(t, string(same), string(data), "as gocute tune writes it")
	}
	_, ok := Builtin("no_such_family")
	require.False(t, ok)
}
