package main

import (
	"context"
	"errors"

	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/cuda"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen"
	"github.com/gocute/gocute/tests/device"
)

// limit is an instruction by which kernels multiply elements of a type. A product's share of the tensor pipe is by what it
// reaches from registers alone.
type limit struct {
	depth  int // along K
	kernel func() *Kernel
}

var limits = map[elem.Kind]limit{
	elem.KF16:  limitOf("limit_f16", atoms.MMA16816[elem.F16]()),
	elem.KBF16: limitOf("limit_bf16", atoms.MMA16816[elem.BF16]()),
	elem.KTF32: limitOf("limit_tf32", atoms.SM80_16x8x8_F32TF32TF32F32_TN),
	elem.KS8:   limitOf("limit_s8", atoms.SM80_16x8x32_S32S8S8S32_TN),
}

func limitOf[S, E elem.Any](name string, atom atoms.MMAAtom[S, E, E, S]) limit {
	return limit{atom.Row().K, func() *Kernel { return fromRegisters(name, atom) }}
}

// The block that fromRegisters multiplies: eight warps of 64x32, so that each has 16 sums that do not wait for one another.
const (
	limitM, limitN = 128, 128
	limitUnroll    = 4
)

// fromRegisters adds up the same product again and again: C = limitUnroll*rounds*A*B.
func fromRegisters[S, E elem.Any](name string, atom atoms.MMAAtom[S, E, E, S]) *Kernel {
	return Define(name, func(k *K) {
		depth := atom.Row().K
		rounds, blocks := k.Dim("rounds"), k.Dim("blocks")
		A := In[E](k, "A", Shape(limitM, depth).Strides(depth, 1))    // (M,K)
		B := In[E](k, "B", Shape(limitN, depth).Strides(depth, 1))    // (N,K)
		C := Out[S](k, "C", Shape(limitM, limitN).Strides(limitN, 1)) // (M,N)
		mma := NewTiledMMA(atom, Shape(2, 4))
		k.Threads(mma.Threads())
		k.Grid(blocks)
		thr := mma.Slice(k.Thread)
		a, b, c := FragmentA(thr, A), FragmentB(thr, B), FragmentC(thr, C) // (MMA,MMA_M,1) (MMA,MMA_N,1) (MMA,MMA_M,MMA_N)
		Map(PartitionA(thr, A), a, func(v Val[E]) Val[E] { return v })
		Map(PartitionB(thr, B), b, func(v Val[E]) Val[E] { return v })
		Clear(c)
		k.Loop(0, rounds, func(Expr) {
			for range limitUnroll {
				Gemm(mma, a, b, c)
			}
		})
		k.If(k.BlockX.Eq(0), func() { // all blocks have the same result
			Map(c, PartitionC(thr, C), func(v Val[S]) Val[S] { return v })
		}, nil)
		Expect(C, 0, func(r *Ref) func(at []int64) float64 {
			return func(at []int64) float64 {
				sum := 0.0
				for i := range int64(depth) {
					sum += r.Tensor("A").At(at[0], i) * r.Tensor("B").At(at[1], i)
				}
				return sum * float64(limitUnroll*r.Dims["rounds"])
			}
		})
	})
}

// operations is how many operations a cycle one multiprocessor does on elements of a type, at most, by blocks that read
// the clock; 0 where the type has no such kernel.
func (b *bench) operations(ctx context.Context, kind elem.Kind) (float64, error) {
	l, ok := limits[kind]
	if !ok {
		return 0, nil
	}
	k, err := gen.Lower(l.kernel())
	if err != nil {
		return 0, err
	}
	programs, err := device.Compile(ctx, b.dev, device.Clocked(k))
	if err != nil {
		return 0, err
	}
	defer programs[0].Close()
	blocks := b.dev.Info().SMs // one each
	zero, err := cuda.Alloc[elem.F32](b.dev, limitM*limitN)
	if err != nil {
		return 0, err
	}
	defer zero.Free()
	clocks, err := cuda.Alloc[elem.U64](b.dev, 4*blocks)
	if err != nil {
		return 0, err
	}
	defer clocks.Free()
	const rounds = 4000
	launch, err := programs[0].Bind(device.Arguments{Dims: map[string]int{"rounds": rounds, "blocks": blocks},
		Tensors: map[string]cuda.DevicePtr{"A": zero.Ptr(), "B": zero.Ptr(), "C": zero.Ptr(), "clocks": clocks.Ptr()}})
	if err != nil {
		return 0, err
	}
	if err := errors.Join(zero.Zero(), launch(), launch()); err != nil { // the product of zeros is zeros
		return 0, err
	}
	host, err := clocks.Host()
	if err != nil {
		return 0, err
	}
	cycles := 0.0
	for i := 0; i < len(host); i += 4 {
		cycles += float64(host[i+2] - host[i])
	}
	return float64(blocks) * limitUnroll * rounds * 2 * limitM * limitN * float64(l.depth) / cycles, nil
}
