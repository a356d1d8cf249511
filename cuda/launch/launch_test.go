package launch

import (
	"context"
	"errors"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/build"
	"github.com/gocute/gocute/cuda"
)

// Exact agrees with arithmetic without limits: the same number, or the nearest one and an error.
func TestExact(t *testing.T) {
	edge := []int64{0, 1, -1, 2, 3, -3, 7, 1 << 31, -1 << 31, 1<<32 + 1, math.MaxInt64, math.MaxInt64 - 1, math.MinInt64, math.MinInt64 + 1, math.MaxInt64 / 2}
	for _, a := range edge {
		for _, b := range edge {
			for name, f := range map[string]func(x *Exact, z, a, b *big.Int) int64{
				"add": func(x *Exact, z, a, b *big.Int) int64 { z.Add(a, b); return x.Add(a.Int64(), b.Int64()) },
				"sub": func(x *Exact, z, a, b *big.Int) int64 { z.Sub(a, b); return x.Sub(a.Int64(), b.Int64()) },
				"mul": func(x *Exact, z, a, b *big.Int) int64 { z.Mul(a, b); return x.Mul(a.Int64(), b.Int64()) },
				"div": func(x *Exact, z, a, b *big.Int) int64 {
					if b.Sign() > 0 {
						z.Div(a, b) // Euclidean, which is the floor for b > 0
					}
					return x.Div(a.Int64(), b.Int64())
				},
				"mod": func(x *Exact, z, a, b *big.Int) int64 {
					if b.Sign() > 0 {
						z.Mod(a, b)
					}
					return x.Mod(a.Int64(), b.Int64())
				},
			} {
				var x Exact
				var z big.Int
				got := f(&x, &z, big.NewInt(a), big.NewInt(b))
				bad := !z.IsInt64() || b <= 0 && (name == "div" || name == "mod")
				require.Equal(t, bad, x.Err("k") != nil, "%s %d %d", name, a, b)
				want := z.Int64()
				if !z.IsInt64() {
					want = map[int]int64{1: math.MaxInt64, -1: math.MinInt64}[z.Sign()]
				}
				require.Equal(t, want, got, "%s %d %d", name, a, b)
			}
		}
	}
}

func TestNewGrid(t *testing.T) {
	for _, c := range []struct {
		x, y, z int64
		want    Grid
		err     string
	}{
		{1, 2, 3, Grid{1, 2, 3}, ""},
		{math.MaxInt32, 65535, 65535, Grid{math.MaxInt32, 65535, 65535}, ""},
		{0, 1 << 40, 1, Grid{}, ""},
		{4, -3, 1, Grid{}, ""},
		{1 << 31, 1, 1, Grid{}, "k: the grid (2147483648,1,1) is too large: expected at most 2147483647 blocks along x, but got 2147483648"},
		{1, 65536, 1 << 40, Grid{}, "k: the grid (1,65536,1099511627776) is too large: expected at most 65535 blocks along y, but got 65536"},
		{1, 1, 65536, Grid{}, "k: the grid (1,1,65536) is too large: expected at most 65535 blocks along z, but got 65536"},
	} {
		g, err := NewGrid("k", c.x, c.y, c.z)
		require.Equal(t, c.want, g)
		if c.err == "" {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, c.err)
		}
	}
}

func TestImages(t *testing.T) {
	b := Bundle{Name: "k", Bin: fstest.MapFS{
		"bin/README":           {Data: []byte("x")},
		"bin/k.sm_90.cubin":    {Data: []byte("90")},
		"bin/k.sm_90a.cubin":   {Data: []byte("90a")},
		"bin/k.compute_80.ptx": {Data: []byte("80")},
		"bin/k.sm_80.ptx":      {},
		"bin/k2.sm_80.cubin":   {},
		"bin/k.sm_80.cubin.1":  {},
	}}
	images, err := b.Images()
	require.NoError(t, err)
	require.Equal(t, []cuda.Image{
		{Arch: "compute_80", Data: []byte("80"), PTX: true},
		{Arch: "sm_90", Data: []byte("90")},
		{Arch: "sm_90a", Data: []byte("90a")},
	}, images)
	for _, empty := range []Bundle{{Name: "k"}, {Name: "k", Bin: fstest.MapFS{}}} {
		images, err := empty.Images()
		require.NoError(t, err)
		require.Empty(t, images)
	}
}

func TestFits(t *testing.T) {
	b := Bundle{Name: "k", Arch: 80, Threads: 256, SharedBytes: 98304}
	d := cuda.Info{Name: "GPU", Major: 8, Minor: 0, SharedBlockOptin: 166912, MaxThreadsBlock: 1024}
	require.NoError(t, b.Fits(d))
	own := Bundle{Name: "k", Arch: 90, Exactly: true, Threads: 32}
	hopper, later := d, d
	hopper.Major, later.Major = 9, 10
	require.NoError(t, own.Fits(hopper))
	require.EqualError(t, own.Fits(d), "k: GPU (sm_80) is too old: expected sm_90")
	require.EqualError(t, own.Fits(later), "k: GPU (sm_100) is too new: expected sm_90 itself, for the kernel has instructions that no other architecture has")
	old, small, narrow := d, d, d
	old.Major, old.Minor = 7, 5
	require.EqualError(t, b.Fits(old), "k: GPU (sm_75) is too old: expected sm_80 or newer")
	small.SharedBlockOptin = 65536
	require.EqualError(t, b.Fits(small), "k: GPU (sm_80) has too little shared memory: a block needs 98304 bytes, but can have 65536")
	narrow.MaxThreadsBlock = 128
	require.EqualError(t, b.Fits(narrow), "k: GPU (sm_80) has too few threads: a block needs 256, but can have 128")
}

// noGPU refuses what has no image for it, and records what it was given.
type noGPU struct {
	given [][]cuda.Image
	err   error
}

func (g *noGPU) Info() cuda.Info { return cuda.Info{Name: "GPU", Major: 9} }

func (g *noGPU) LoadModule(images []cuda.Image) (*cuda.Module, error) {
	g.given = append(g.given, images)
	if len(images) == 0 || g.err != nil {
		return nil, errors.Join(g.err, cuda.ErrNoImage)
	}
	return &cuda.Module{}, nil
}

// Without an image and a compiler the error says what to run, and nothing is installed.
func TestNoCompiler(t *testing.T) {
	t.Setenv(build.EnvNVCC, filepath.Join(t.TempDir(), "nvcc"))
	t.Setenv(build.EnvNVRTC, filepath.Join(t.TempDir(), "libnvrtc.so"))
	t.Setenv(build.EnvCache, t.TempDir())
	b := Bundle{Name: "k", Package: "example.com/app/out/k", CU: "x", Arch: 80}
	_, err := b.module(&noGPU{})
	require.ErrorIs(t, err, cuda.ErrNoImage)
	var nf *build.NotFoundError
	require.ErrorAs(t, err, &nf)
	require.ErrorContains(t, err, "no usable nvcc")
	require.ErrorContains(t, err, "no usable nvrtc")
	require.ErrorContains(t, err, "run: gocute build example.com/app/out/k, then build")
	files, err := os.ReadDir(os.Getenv(build.EnvCache))
	require.NoError(t, err)
	require.Empty(t, files)
	b.CU = ""
	_, err = b.module(&noGPU{})
	require.ErrorContains(t, err, "no source is embedded")
}

// A failure that no image can mend is told at once.
func TestOtherFailure(t *testing.T) {
	g := &noGPU{err: &cuda.Error{Op: "load", Code: cuda.OutOfMemory}}
	require.False(t, otherImageHelps(g.err))
	require.True(t, otherImageHelps(&cuda.Error{Op: "load", Code: cuda.UnsupportedPTX, Name: "x"}))
}

// With a compiler on the machine the embedded source is compiled for the device.
func TestCompile(t *testing.T) {
	for _, name := range []string{build.NameNVCC, build.NameNVRTC} {
		t.Run(name, func(t *testing.T) {
			if _, err := build.FindCompiler(context.Background(), name, build.Options{NoInstall: true}); err != nil {
				t.Skip(err)
			}
			if name == build.NameNVRTC { // the second choice
				t.Setenv(build.EnvNVCC, filepath.Join(t.TempDir(), "nvcc"))
			}
			compiles(t, name)
		})
	}
}

func compiles(t *testing.T, compiler string) {
	b := Bundle{Name: "k", CU: `extern "C" __global__ void k(float* x) { x[threadIdx.x] = 1; }`, Arch: 80}
	g := &noGPU{}
	_, err := b.module(g)
	require.NoError(t, err)
	require.Len(t, g.given[1], 1)
	require.Equal(t, "sm_90", g.given[1][0].Arch)
	require.Equal(t, "\x7fELF", string(g.given[1][0].Data[:4]))
	t.Setenv(EnvForcePTX, "1")
	_, err = b.module(g)
	require.NoError(t, err)
	require.Equal(t, "compute_80", g.given[3][0].Arch)
	require.True(t, g.given[3][0].PTX)
	require.Contains(t, string(g.given[3][0].Data), ".target sm_80")
	own := Bundle{Name: "k", CU: `extern "C" __global__ void k() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }`, Arch: 90, Exactly: true}
	_, err = own.module(g)
	require.NoError(t, err)
	require.Equal(t, "compute_90a", g.given[5][0].Arch)
	t.Setenv(EnvForcePTX, "0")
	_, err = own.module(g)
	require.NoError(t, err)
	require.Equal(t, "sm_90a", g.given[7][0].Arch)
	b.CU = "no C++"
	_, err = b.module(g)
	var ce *build.CompileError
	require.ErrorAs(t, err, &ce)
	require.Equal(t, compiler, ce.Compiler)
}
