package main

import (
	"context"
	"errors"
	"math/bits"

	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/cuda"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen"
	"github.com/gocute/gocute/tests/device"
)

// limit is an instruction by which kernels multiply elements of a type. A product's share of the tensor pipe is by what it
// reaches alone.
type limit struct {
	m, n, depth int // of the product that a block repeats
	repeats     int // of it in a round
	from        string
	kernel      func() *Kernel
}

// pipe is what limits products: the type of their operands, and whether wgmma multiplies them.
type pipe struct {
	in    elem.Kind
	wgmma bool
}

var limits = map[pipe]limit{
	{elem.KF16, false}:  limitOf("limit_f16", atoms.MMA16816[elem.F16]()),
	{elem.KBF16, false}: limitOf("limit_bf16", atoms.MMA16816[elem.BF16]()),
	{elem.KTF32, false}: limitOf("limit_tf32", atoms.SM80_16x8x8_F32TF32TF32F32_TN),
	{elem.KS8, false}:   limitOf("limit_s8", atoms.SM80_16x8x32_S32S8S8S32_TN),
	{elem.KF16, true}:   warpgroupLimit[elem.F32, elem.F16]("limit_f16_wgmma"),
	{elem.KBF16, true}:  warpgroupLimit[elem.F32, elem.BF16]("limit_bf16_wgmma"),
	{elem.KTF32, true}:  warpgroupLimit[elem.F32, elem.TF32]("limit_tf32_wgmma"),
	{elem.KS8, true}:    warpgroupLimit[elem.S32, elem.S8]("limit_s8_wgmma"),
}

func limitOf[S, E elem.Any](name string, atom atoms.MMAAtom[S, E, E, S]) limit {
	return limit{limitM, limitN, atom.Row().K, limitUnroll, "registers", func() *Kernel { return fromRegisters(name, atom) }}
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
		expectRepeated(C, int64(depth), limitUnroll)
	})
}

// The block that fromShared multiplies: two groups of four warps, rows of 128 bytes.
const (
	warpgroupM, warpgroupN = 128, 256
	warpgroupUnroll        = 4
)

func warpgroupLimit[S, E elem.Any](name string) limit {
	depth := 128 * 8 / elem.KindOf[E]().Bits()
	return limit{warpgroupM, warpgroupN, depth, warpgroupUnroll, "shared memory", func() *Kernel { return fromShared[S, E](name, depth) }}
}

// fromShared adds up the same product of shared memory again and again, by wgmma: C = warpgroupUnroll*rounds*A*B.
func fromShared[S, E elem.Any](name string, depth int) *Kernel {
	return Define(name, func(k *K) {
		atom, err := atoms.GMMAOf[S, E, E](atoms.GMMASpec{N: warpgroupN})
		k.Fail("fromShared", err)
		rounds, blocks := k.Dim("rounds"), k.Dim("blocks")
		A := In[E](k, "A", Shape(warpgroupM, depth).Strides(depth, 1))            // (M,K)
		B := In[E](k, "B", Shape(warpgroupN, depth).Strides(depth, 1))            // (N,K)
		C := Out[S](k, "C", Shape(warpgroupM, warpgroupN).Strides(warpgroupN, 1)) // (M,N)
		mma := NewTiledMMA(atom, Shape(2, 1))
		k.Threads(mma.Threads())
		k.Grid(blocks)
		rows := Swizzle(3, bits.Len(uint(depth/8))-1, 3, Shape(8, depth).Strides(depth, 1))
		sA := Shared[E](k, "sA", TileToShape(rows, warpgroupM, depth)) // (M,K)
		sB := Shared[E](k, "sB", TileToShape(rows, warpgroupN, depth)) // (N,K)
		pipe := NewPipeline(k, "pipe", 2, TMALoads)
		pipe.Fill(0, func(f *StageFill) {
			TMALoad(f, A, sA)
			TMALoad(f, B, sB)
		})
		pipe.Wait(0)
		thr := mma.Slice(k.Thread)
		a, b, c := PartitionA(thr, sA), PartitionB(thr, sB), FragmentC(thr, C) // (MMA,MMA_M,MMA_K) (MMA,MMA_N,MMA_K) (MMA,MMA_M,MMA_N)
		Clear(c)
		k.Loop(0, rounds, func(Expr) {
			k.WarpgroupArrive()
			for range warpgroupUnroll {
				WarpgroupGemm(mma, a, b, c)
			}
			k.WarpgroupCommitBatch()
			k.WarpgroupWait(0)
		})
		k.If(k.BlockX.Eq(0), func() { // all blocks have the same result
			Map(c, PartitionC(thr, C), func(v Val[S]) Val[S] { return v })
		}, nil)
		expectRepeated(C, int64(depth), warpgroupUnroll)
	})
}

// expectRepeated states that C is so many times the rounds of A*B.
func expectRepeated[S elem.Any](C Tensor[Gmem, S], depth, repeats int64) {
	Expect(C, 0, func(r *Ref) func(at []int64) float64 {
		return func(at []int64) float64 {
			sum := 0.0
			for i := range depth {
				sum += r.Tensor("A").At(at[0], i) * r.Tensor("B").At(at[1], i)
			}
			return sum * float64(repeats*r.Dims["rounds"])
		}
	})
}

// operations is how many operations a cycle one multiprocessor does in a pipe, at most, by blocks that read the clock; 0
// where there is no such kernel, or the device cannot run it.
func (b *bench) operations(ctx context.Context, of pipe) (float64, error) {
	l, ok := limits[of]
	if !ok {
		return 0, nil
	}
	k, err := gen.Lower(l.kernel())
	if err != nil {
		return 0, err
	}
	if device.Fits(b.dev, k) != nil {
		return 0, nil
	}
	programs, err := device.Compile(ctx, b.dev, device.Clocked(k))
	if err != nil {
		return 0, err
	}
	defer programs[0].Close()
	blocks := b.dev.Info().SMs // one each
	zero, err := cuda.Alloc[elem.F32](b.dev, warpgroupM*warpgroupN)
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
	return float64(blocks*l.repeats) * rounds * 2 * float64(l.m*l.n*l.depth) / cycles, nil
}
