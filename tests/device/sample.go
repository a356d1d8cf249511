package device

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/gocute/gocute/cuda"
	"github.com/gocute/gocute/elem"
)

// Matrix is one of a batch of matrices in device memory.
type Matrix struct {
	Kind            elem.Kind
	Ptr             cuda.DevicePtr
	Row, Col, Batch int // elements from row to row, from column to column, and from one matrix to the next
}

// steps are the matrix's as the reference takes them: a struct of three long longs.
func (m Matrix) steps() []byte {
	var b []byte
	for _, n := range []int{m.Row, m.Col, m.Batch} {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	return b
}

// GEMM is A*Bᵀ of each of a batch: A is (M,K), B is (N,K) and the result C is (M,N).
type GEMM struct {
	M, N, K, Batch int
	A, B, C        Matrix
}

// Element is one of a result, beside the sum of its products in float64 and the sum of their magnitudes.
type Element struct {
	Batch, M, N    int
	Got            float64
	Sum, Magnitude float64
}

// Fill sets n elements of a kind to numbers in [-1, 1), those of s8 to all of its own, that depend on the seed and the
// index. The kinds are f16, bf16, f32, tf32 and s8.
func (r *Reference) Fill(kind elem.Kind, p cuda.DevicePtr, n, seed int) error {
	f, err := r.mod.Function("fill_" + kind.String())
	if err != nil {
		return err
	}
	args := f.Args()
	defer args.Release()
	args.I64(int64(n)).I32(int32(seed)).Ptr(p)
	return f.Launch(cuda.LaunchConfig{Grid: cuda.D1(1024), Block: cuda.D1(256)}, args)
}

// Sample computes count elements of a product that lies in C, all of them where there are no more, and waits for them.
func (r *Reference) Sample(p GEMM, count, seed int) ([]Element, error) {
	count = min(count, p.Batch*p.M*p.N)
	sums, err := cuda.Alloc[elem.F64](r.dev, 4*count)
	if err != nil {
		return nil, err
	}
	defer sums.Free()
	shape := func(f *cuda.Function) *cuda.Args { return f.Args().I32(int32(p.Batch)).I32(int32(p.M)).I32(int32(p.N)) }
	of := func(name string, k elem.Kind) (*cuda.Function, error) {
		if k == elem.KTF32 { // whole floats in memory
			k = elem.KF32
		}
		return r.mod.Function(name + "_" + k.String())
	}
	f, err := of("sums", p.A.Kind)
	if err != nil {
		return nil, err
	}
	args := shape(f).I32(int32(p.K)).Ptr(p.A.Ptr).Bytes(p.A.steps()).Ptr(p.B.Ptr).Bytes(p.B.steps()).I32(int32(count)).I32(int32(seed)).Ptr(sums.Ptr())
	defer args.Release()
	if err := f.Launch(cuda.LaunchConfig{Grid: cuda.D1((count + 7) / 8), Block: cuda.D1(256)}, args); err != nil {
		return nil, err
	}
	g, err := of("gather", p.C.Kind)
	if err != nil {
		return nil, err
	}
	more := shape(g).Ptr(p.C.Ptr).Bytes(p.C.steps()).I32(int32(count)).I32(int32(seed)).Ptr(sums.Ptr() + cuda.DevicePtr(3*8*count))
	defer more.Release()
	if err := g.Launch(cuda.LaunchConfig{Grid: cuda.D1((count + 255) / 256), Block: cuda.D1(256)}, more); err != nil {
		return nil, err
	}
	host, err := sums.Host()
	if err != nil {
		return nil, err
	}
	out := make([]Element, count)
	for i := range out {
		at := int(host[3*i])
		out[i] = Element{Batch: at / (p.M * p.N), M: at / p.N % p.M, N: at % p.N,
			Sum: float64(host[3*i+1]), Magnitude: float64(host[3*i+2]), Got: float64(host[3*count+i])}
	}
	return out, nil
}

// Distance is how far a sample of C = alpha*A*Bᵀ is from the reference: ‖out−ref‖ / ‖ref‖, and the first element that is no
// finite number as an error.
func Distance(sample []Element, alpha float64) (float64, error) {
	diff, ref := 0.0, 0.0
	for _, e := range sample {
		want := alpha * e.Sum
		if math.IsNaN(e.Got) || math.IsInf(e.Got, 0) {
			return math.Inf(1), fmt.Errorf("element (%d,%d) of matrix %d is %v, but expected %v", e.M, e.N, e.Batch, e.Got, want)
		}
		diff += (e.Got - want) * (e.Got - want)
		ref += want * want
	}
	if ref == 0 {
		return math.Sqrt(diff), nil
	}
	return math.Sqrt(diff / ref), nil
}
