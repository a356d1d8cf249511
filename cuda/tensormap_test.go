//go:build linux && (amd64 || arm64)

package cuda

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/internal/dl"
)

// encode is the fake's cuTensorMapEncodeTiled, which demands what the driver does.
func (f *fake) encode(out *TensorMap, typ, rank uint32, addr uint64, dims, strides *uint64, box, steps *uint32, interleave, swizzle, l2, fill uint32) int32 {
	if r := f.enter("cuTensorMapEncodeTiled"); r != 0 {
		return int32(r)
	}
	if uintptr(unsafe.Pointer(out))%64 != 0 {
		return int32(InvalidValue)
	}
	f.encoded = []uint64{uint64(typ), uint64(rank), addr}
	f.encoded = append(f.encoded, unsafe.Slice(dims, rank)...)
	f.encoded = append(f.encoded, unsafe.Slice(strides, rank-1)...)
	for i := range rank {
		f.encoded = append(f.encoded, uint64(unsafe.Slice(box, rank)[i]), uint64(unsafe.Slice(steps, rank)[i]))
	}
	f.encoded = append(f.encoded, uint64(interleave), uint64(swizzle), uint64(l2), uint64(fill))
	for i := range out {
		out[i] = addr + uint64(i)
	}
	return 0
}

func spec2d() *TensorMapSpec {
	return &TensorMapSpec{Addr: 0x1000, Elem: elem.KF16, Rank: 2, Extents: [5]int64{100, 50}, Strides: [5]int64{1, 104}, Box: [5]int{64, 128}, Swizzle: 3}
}

func TestEncodeTensorMap(t *testing.T) {
	f, d := openFake(t)
	m, err := d.EncodeTensorMap(spec2d())
	require.NoError(t, err)
	assert.Equal(t, []uint64{6, 2, 0x1000, 100, 50, 208, 64, 1, 128, 1, 0, 3, 3, 0}, f.encoded)
	assert.EqualValues(t, 0x1000, m[0])
	assert.EqualValues(t, 0x100f, m[15])

	s := &TensorMapSpec{Addr: 0x20, Elem: elem.KS8, Rank: 3, Extents: [5]int64{1 << 32, 2, 3}, Strides: [5]int64{1, 1 << 32, 1 << 33}, Box: [5]int{256, 1, 2}}
	_, err = d.EncodeTensorMap(s)
	require.NoError(t, err)
	assert.Equal(t, []uint64{0, 3, 0x20, 1 << 32, 2, 3, 1 << 32, 1 << 33, 256, 1, 1, 1, 2, 1, 0, 0, 3, 0}, f.encoded)

	s.Extents[1], s.Addr = 0, 0
	m, err = d.EncodeTensorMap(s)
	require.NoError(t, err)
	assert.Zero(t, m, "a tensor without elements needs neither memory nor a map")
	assert.Equal(t, 2, f.calls["cuTensorMapEncodeTiled"])
}

func TestEncodeTensorMapRefusals(t *testing.T) {
	f, d := openFake(t)
	for want, change := range map[string]func(s *TensorMapSpec){
		"elements of 1 to 8 bytes, but got s4":                            func(s *TensorMapSpec) { s.Elem = elem.KS4 },
		"1 to 5 dimensions, but got 6":                                    func(s *TensorMapSpec) { s.Rank = 6 },
		"extents of 0 to 2^32, but got -1 in dimension 1":                 func(s *TensorMapSpec) { s.Extents[1] = -1 },
		"a box of 1 to 256 elements in each dimension, but got 257":       func(s *TensorMapSpec) { s.Box[1] = 257 },
		"to be adjacent, but got a stride of 2":                           func(s *TensorMapSpec) { s.Strides[0] = 2 },
		"whole 16 bytes below 2^40, but got 100 elements of f16":          func(s *TensorMapSpec) { s.Strides[1] = 100 },
		"below 2^40, but got 549755813888 elements of f16 in dimension 1": func(s *TensorMapSpec) { s.Strides[1] = 1 << 39 },
		"at most 32, 64 and 128, but got 128 bytes with 2":                func(s *TensorMapSpec) { s.Swizzle = 2 },
		"a multiple of 16 bytes, but got 0x1008":                          func(s *TensorMapSpec) { s.Addr = 0x1008 },
	} {
		s := spec2d()
		change(s)
		_, err := d.EncodeTensorMap(s)
		assert.ErrorContains(t, err, want)
	}
	f.fail["cuTensorMapEncodeTiled"] = InvalidValue
	_, err := d.EncodeTensorMap(spec2d())
	assert.EqualError(t, err, "cuda: cuTensorMapEncodeTiled of f16[100 50]:[1 104] at 0x1000 in boxes of [64 128], swizzle 3: CUDA_ERROR_INVALID_VALUE (1): invalid argument")
	d.drv.tensorMapEncode = 0
	_, err = d.EncodeTensorMap(spec2d())
	assert.ErrorContains(t, err, "the driver (fake) makes no tensor maps: it lacks cuTensorMapEncodeTiled, which drivers for CUDA 12 and later have")
}

func TestTensorMapArgument(t *testing.T) {
	f, d, fn := loadFake(t, 4, 128, 8)
	m, err := d.EncodeTensorMap(spec2d())
	require.NoError(t, err)
	require.NoError(t, fn.Launch(LaunchConfig{Grid: D1(1), Block: D1(32)}, NewArgs().I32(7).TensorMap(&m).Ptr(9)))
	assert.Equal(t, unsafe.Slice((*byte)(unsafe.Pointer(&m)), 128), f.args[1])
	assert.EqualValues(t, 9, f.args[2][0])
	a, err := Pack(&m)
	require.NoError(t, err)
	assert.Equal(t, []span{{0, 128}}, a.spans)
}

// bareEncoder makes a device whose driver does nothing, successfully, as bare does for kernels.
func bareEncoder(t testing.TB) *Device {
	_, d := openFake(t)
	lib, err := dl.Open("libc.so.6")
	if err != nil {
		t.Skip("no glibc here:", err)
	}
	require.NoError(t, lib.Bind([]dl.Sym{{Name: "isascii", Addr: &d.drv.tensorMapEncode}, {Name: "isascii", Addr: &d.drv.ctxSetCurrent}}))
	return d
}

func TestEncodeDoesNotAllocate(t *testing.T) {
	d, s := bareEncoder(t), spec2d()
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		if _, err := d.EncodeTensorMap(s); err != nil {
			t.Error(err)
		}
	}))
}

// BenchmarkEncodeTensorMap is the cost of a map on this side of the driver.
func BenchmarkEncodeTensorMap(b *testing.B) {
	d, s := bareEncoder(b), spec2d()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.EncodeTensorMap(s); err != nil {
			b.Fatal(err)
		}
	}
}
