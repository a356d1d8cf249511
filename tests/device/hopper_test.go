package device

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/build"
	"github.com/gocute/gocute/cuda"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// boxes are the copies that are tested: of every swizzle, and of one to three dimensions.
var boxes = []struct {
	swizzle int
	box     []int
}{{0, []int{32, 64}}, {1, []int{16, 64}}, {2, []int{32, 48}}, {3, []int{64, 128}}, {3, []int{64, 16, 3}}, {0, []int{256, 8}}}

// products are the kinds and swizzles of operands that are tested.
var products = []struct {
	kind    elem.Kind
	swizzle int
}{{elem.KF16, 3}, {elem.KF16, 2}, {elem.KF16, 1}, {elem.KBF16, 3}, {elem.KTF32, 3}, {elem.KTF32, 1}, {elem.KS8, 3}, {elem.KS8, 2}}

// TestHopperCompiles: what the tests below run is in order, and compiles here.
func TestHopperCompiles(t *testing.T) {
	tools, err := build.Find(t.Context(), build.Options{NoInstall: true})
	if err != nil {
		t.Skip("no nvcc: ", err)
	}
	var list []*cir.Kernel
	for _, c := range boxes {
		list = append(list, boxCopy(c.swizzle, c.box...))
	}
	for _, c := range products {
		k, err := gmmaTile(c.kind, c.swizzle)
		require.NoError(t, err)
		list = append(list, k)
	}
	for _, k := range list {
		require.NoError(t, cir.Verify(k))
		if !testing.Short() {
			_, err := cubin(t.Context(), tools, k, build.ArchFor("sm_90", k.Exactly))
			require.NoError(t, err)
		}
	}
}

// bytesOn is device memory with these bytes.
func bytesOn(t *testing.T, dev *cuda.Device, data []elem.U8) *cuda.Buffer[elem.U8] {
	t.Helper()
	b, err := cuda.FromHost(dev, data)
	require.NoError(t, err)
	t.Cleanup(func() { b.Free() })
	return b
}

// encode lays out values of a kind as memory does.
func encode(kind elem.Kind, values []float64) []elem.U8 {
	size := kind.Bits() / 8
	out := make([]elem.U8, size*len(values))
	for i, v := range values {
		bits := elem.Encode(kind, v)
		for j := range size {
			out[size*i+j] = elem.U8(bits >> (8 * j))
		}
	}
	return out
}

func decode(kind elem.Kind, data []elem.U8) []float64 {
	size := kind.Bits() / 8
	out := make([]float64, len(data)/size)
	for i := range out {
		var bits uint64
		for j := range size {
			bits |= uint64(data[size*i+j]) << (8 * j)
		}
		out[i] = elem.Decode(kind, bits)
	}
	return out
}

// hopper is a device of the architecture whose instructions these are.
func hopper(t *testing.T) *cuda.Device {
	dev := open(t)
	if i := dev.Info(); i.Major != 9 || i.Minor != 0 {
		t.Skip("needs sm_90: ", dev)
	}
	return dev
}

func runOn(t *testing.T, dev *cuda.Device, k *cir.Kernel, a Arguments) {
	t.Helper()
	p, err := Compile(t.Context(), dev, k)
	require.NoError(t, err)
	defer p[0].Close()
	launch, err := p[0].Bind(a)
	require.NoError(t, err)
	require.NoError(t, launch())
	require.NoError(t, dev.Synchronize())
}

// TestTensorCopyGPU: boxes land in shared memory where the swizzle says, with zeros beyond the tensor.
func TestTensorCopyGPU(t *testing.T) {
	dev := hopper(t)
	for _, c := range boxes {
		t.Run(fmt.Sprint(c.box, c.swizzle), func(t *testing.T) {
			ends, sizes := [3]int{300, 1, 1}, [3]int{1, 1, 1}
			for i, n := range c.box {
				sizes[i], ends[i] = n, [3]int{300, 131, 4}[i]
			}
			const lda = 304
			values := make([]float64, lda*ends[1]*ends[2])
			for i := range values {
				values[i] = float64(1 + i%2039) // a prime, and exact
			}
			blocks, elems := 1, 1
			for i, n := range sizes {
				blocks, elems = blocks*((ends[i]+n-1)/n), elems*n
			}
			in, out := bytesOn(t, dev, encode(elem.KF16, values)), bytesOn(t, dev, make([]elem.U8, 2*blocks*elems))
			dims := map[string]int{"lda": lda}
			for i := range c.box {
				dims[[]string{"N", "M", "L"}[i]] = ends[i]
			}
			runOn(t, dev, boxCopy(c.swizzle, c.box...), Arguments{Dims: dims, Tensors: map[string]cuda.DevicePtr{"A": in.Ptr(), "out": out.Ptr()}})
			host, err := out.Host()
			require.NoError(t, err)
			require.Equal(t, landed(values, lda, ends, sizes, c.swizzle), decode(elem.KF16, host))
		})
	}
}

// landed is what the boxes hold in shared memory, one after the other.
func landed(values []float64, lda int, ends, box [3]int, swizzle int) []float64 {
	blocks := func(i int) int { return (ends[i] + box[i] - 1) / box[i] }
	elems := box[0] * box[1] * box[2]
	out := make([]float64, blocks(0)*blocks(1)*blocks(2)*elems)
	for b := range len(out) / elems {
		first := [3]int{b % blocks(0) * box[0], b / blocks(0) % blocks(1) * box[1], b / blocks(0) / blocks(1) * box[2]}
		for i := range elems {
			n, m, l := first[0]+i%box[0], first[1]+i/box[0]%box[1], first[2]+i/box[0]/box[1]
			if n >= ends[0] || m >= ends[1] || l >= ends[2] {
				continue
			}
			at := 2 * i // Sw<swizzle,4,3> on bytes
			at ^= at >> 7 & (1<<swizzle - 1) << 4
			out[b*elems+at/2] = values[l*lda*ends[1]+m*lda+n]
		}
	}
	return out
}

// TestWarpgroupProductGPU: products of operands that the copy engine brings, of small integers, so that sums are exact.
func TestWarpgroupProductGPU(t *testing.T) {
	dev := hopper(t)
	for _, c := range products {
		for _, k := range []int{16, 208, 1040} {
			t.Run(fmt.Sprintf("%v swizzle %d K %d", c.kind, c.swizzle, k), func(t *testing.T) {
				kernel, err := gmmaTile(c.kind, c.swizzle)
				require.NoError(t, err)
				const m, n = 117, 90
				random := rand.New(rand.NewPCG(1, uint64(k)))
				fill := func(count int) []float64 {
					out := make([]float64, count)
					for i := range out {
						out[i] = float64(random.IntN(9) - 4)
					}
					return out
				}
				a, b := fill(m*k), fill(n*k)
				want := make([]float64, tileRows*tileColumns)
				for i := range m {
					for j := range n {
						for x := range k {
							want[i*tileColumns+j] += a[i*k+x] * b[j*k+x]
						}
					}
				}
				out := bytesOn(t, dev, make([]elem.U8, 4*len(want)))
				runOn(t, dev, kernel, Arguments{Dims: map[string]int{"M": m, "N": n, "K": k}, Tensors: map[string]cuda.DevicePtr{
					"A": bytesOn(t, dev, encode(c.kind, a)).Ptr(), "B": bytesOn(t, dev, encode(c.kind, b)).Ptr(), "C": out.Ptr()}})
				host, err := out.Host()
				require.NoError(t, err)
				require.Equal(t, want, decode(kernel.Params[5].Elem, host))
			})
		}
	}
}
