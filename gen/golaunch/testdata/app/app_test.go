package app

import (
	"math"
	"strings"
	"testing"

	"github.com/gocute/gocute/cuda"
	"github.com/gocute/gocute/elem"

	"example.com/app/out/copy_f32"
	"example.com/app/out/gemm_f16"
	"example.com/app/out/gemm_sm90"
	"example.com/app/out/odd_linux"
)

// expect compares an error with the text it should have; "" expects none.
func expect(t *testing.T, err error, want string) {
	t.Helper()
	if (err == nil) != (want == "") || err != nil && err.Error() != want {
		t.Errorf("\n got: %v\nwant: %s", err, want)
	}
}

func gemm() *gemm_f16.Args {
	return &gemm_f16.Args{
		A: fake[elem.F16](1<<20, 128*64), B: fake[elem.F16](2<<20, 256*64), C: fake[elem.F32](3<<20, 128*256),
		M: 128, N: 256, K: 64, Ldc: 256, Alpha: 1,
	}
}

func TestGEMM(t *testing.T) {
	for _, c := range []struct {
		change func(a *gemm_f16.Args)
		want   string
	}{
		{func(a *gemm_f16.Args) {}, ""},
		{func(a *gemm_f16.Args) { a.M = -1 }, "gemm_f16: M = -1: must be at least 0"},
		{func(a *gemm_f16.Args) { a.M = math.MinInt64 }, "gemm_f16: M = -9223372036854775808: must be at least 0"},
		{func(a *gemm_f16.Args) { a.N = 1 << 31 }, "gemm_f16: N = 2147483648: must be at most 2147483647"},
		{func(a *gemm_f16.Args) { a.K = 1001 }, "gemm_f16: K = 1001: must be a multiple of 8"},
		{func(a *gemm_f16.Args) { a.K = 1<<20 + 8 }, "gemm_f16: K = 1048584: must be at most 1048576"},
		{func(a *gemm_f16.Args) { a.Ldc = 255 }, "gemm_f16: ldc must be at least N (got N = 256, ldc = 255)"},
		{func(a *gemm_f16.Args) { a.A = nil }, "gemm_f16: A: expected a buffer of at least K*M = 8192 elements, but got nil"},
		{func(a *gemm_f16.Args) { a.A = &cuda.Buffer[elem.F16]{} }, "gemm_f16: A: expected a buffer of at least K*M = 8192 elements, but got 0"},
		{func(a *gemm_f16.Args) { a.B = fake[elem.F16](0, 1<<20) }, "gemm_f16: B: expected a buffer of at least K*N = 16384 elements, but got a null pointer"},
		{func(a *gemm_f16.Args) { a.B = fake[elem.F16](256, 256*64-1) }, "gemm_f16: B: expected a buffer of at least K*N = 16384 elements, but got 16383"},
		{func(a *gemm_f16.Args) { a.A = fake[elem.F16](1<<20+2, 128*64) }, "gemm_f16: A: expected an address that is a multiple of 16 bytes, but got 0x100002"},
		{func(a *gemm_f16.Args) { a.C = fake[elem.F32](1<<20+2, 128*256) }, "gemm_f16: C: expected an address that is a multiple of 4 bytes, but got 0x100002"},
		{func(a *gemm_f16.Args) { a.M, a.Ldc = 129, 300 }, "gemm_f16: A: expected a buffer of at least K*M = 8256 elements, but got 8192"},
		{func(a *gemm_f16.Args) { a.M, a.K, a.Ldc = math.MaxInt32, 0, math.MaxInt32 },
			"gemm_f16: C: expected a buffer of at least TEXT = 4611686011984937218 elements, but got 32768"},
		{func(a *gemm_f16.Args) { a.N, a.Ldc = 65536*256, 65536*256 },
			"gemm_f16: the grid (1,65536,1) is too large: expected at most 65535 blocks along y, but got 65536"},
		{func(a *gemm_f16.Args) { a.K, a.A, a.B = 0, nil, nil }, ""},
		{func(a *gemm_f16.Args) { a.M, a.A, a.B, a.C = 0, nil, nil, nil }, ""},
		{func(a *gemm_f16.Args) { a.N, a.A, a.B, a.C = 0, nil, nil, nil }, ""},
	} {
		a := gemm()
		c.change(a)
		c.want = strings.Replace(c.want, "TEXT", "M*ldc+N-1*ldc", 1)
		expect(t, a.Check(), c.want)
		var k *gemm_f16.Kernel
		if c.want == "" && a.M*a.N != 0 {
			c.want = "gemm_f16: Launch expects a kernel from Load, but got an empty one"
		}
		expect(t, k.Launch(nil, a), c.want)
		expect(t, new(gemm_f16.Kernel).Launch(nil, a), c.want)
	}
}

func TestNil(t *testing.T) {
	var a *gemm_f16.Args
	expect(t, a.Check(), "gemm_f16: expected arguments, but got a nil *Args")
	_, err := gemm_f16.Load(nil)
	expect(t, err, "gemm_f16: Load expects a device, but got nil")
	var k *gemm_f16.Kernel
	if k.Close() != nil || new(gemm_f16.Kernel).Close() != nil || k.Function() != nil || new(gemm_f16.Kernel).Function() != nil {
		t.Error("an empty kernel has nothing to close")
	}
}

func TestCopy(t *testing.T) {
	a := &copy_f32.Args{Src: fake[elem.F32](256, 1024), Dst: fake[elem.F32](8192, 1023)}
	expect(t, a.Check(), "copy_f32: dst: expected a buffer of at least 1024 elements, but got 1023")
	if copy_f32.Threads != 256 || copy_f32.SharedBytes != 0 || gemm_f16.SharedBytes != 98304 {
		t.Error("constants")
	}
}

func TestOdd(t *testing.T) {
	ok := odd_linux.Args{A: 2, Range: 4, Min: 3, N: 8, One: 5, X: fake[elem.U8](16, 12), Wide: fake[elem.U64](4096, 20)}
	for _, c := range []struct {
		change func(a *odd_linux.Args)
		want   string
	}{
		{func(a *odd_linux.Args) {}, ""},
		{func(a *odd_linux.Args) { a.X = fake[elem.U8](4112, 12) }, "Odd_linux: _x and wide: expected buffers that do not overlap, because the kernel reads one while it writes the other, but got 0x1010 to 0x101c and 0x1000 to 0x10a0"},
		{func(a *odd_linux.Args) { a.One = 4 }, "Odd_linux: one = 4: must be 5"},
		{func(a *odd_linux.Args) { a.N = -7 }, "Odd_linux: n = -7: must be a multiple of 4"},
		{func(a *odd_linux.Args) { a.X = fake[elem.U8](16, 11) }, "Odd_linux: _x: expected a buffer of at least ceil_div(a*min*range,2) = 12 elements, but got 11"},
		{func(a *odd_linux.Args) { a.N, a.Wide = -4, fake[elem.U64](4096, 11) }, "Odd_linux: wide: expected a buffer of at least 2*(n/3)+16 = 12 elements, but got 11"},
		{func(a *odd_linux.Args) { a.A, a.Min = 1, 9 }, "Odd_linux: an odd rule (got a = 1, range = 4, min = 9, n = 8)"},
		{func(a *odd_linux.Args) { a.A, a.Range = 1<<20, 1<<19 }, "Odd_linux: a*range*min must be less than 2^40 (got a = 1048576, range = 524288, min = 3)"},
		{func(a *odd_linux.Args) { a.A, a.Range, a.Min = math.MaxInt32, math.MaxInt32, math.MaxInt32 },
			"Odd_linux: the sizes are too large: an expression of them does not fit 64 bits or divides by zero"},
		{func(a *odd_linux.Args) { a.Range = 65536 }, "Odd_linux: the grid (2,65536,3) is too large: expected at most 65535 blocks along y, but got 65536"},
	} {
		a := ok
		c.change(&a)
		expect(t, a.Check(), c.want)
	}
}

func TestNoAllocation(t *testing.T) {
	a := gemm()
	if n := testing.AllocsPerRun(100, func() { _ = a.Check() }); n != 0 {
		t.Errorf("Check allocates %v times", n)
	}
}

func BenchmarkCheck(b *testing.B) {
	a := gemm()
	for b.Loop() {
		_ = a.Check()
	}
}

// The strides of what the copy engine reads may leave 64 bits although all buffers are large enough.
func TestTensorMaps(t *testing.T) {
	a := gemm_sm90.Args{M: 128, K: 64, Batch: 2, Specs: 8,
		A: fake[elem.F16](1<<20, 128*64*2), B: fake[elem.S8](2<<20, 64), C: fake[elem.F32](3<<20, 128)}
	expect(t, a.Check(), "")
	expect(t, new(gemm_sm90.Kernel).Launch(nil, &a), "gemm_sm90: Launch expects a kernel from Load, but got an empty one")
	a.M, a.K, a.Batch, a.Specs = 1<<30, 1<<20, 1, 1<<30
	a.A, a.B, a.C = fake[elem.F16](1<<60, 1<<51), fake[elem.S8](1<<40, 1<<20), fake[elem.F32](16, 1<<30)
	expect(t, a.Check(), "")
	expect(t, new(gemm_sm90.Kernel).Launch(nil, &a), "gemm_sm90: the sizes are too large: an expression of them does not fit 64 bits or divides by zero")
}
