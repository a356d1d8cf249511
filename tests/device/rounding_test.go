package device

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/check"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen"
	"github.com/gocute/gocute/gen/cir"
	"github.com/gocute/gocute/kernels"
)

// rule is what two runs of a kernel have to agree on: every bit, or, where an MMA adds floats, a distance.
type rule struct {
	depth  int64 // products that one of the kernel's float MMAs adds up; 0 where every bit counts
	scaled bool  // the kernel has the scalars alpha and beta
	sums   bool  // its blocks add up floats atomically, in any order
}

func (r *rule) String() string {
	if r.depth == 0 && !r.sums {
		return "every bit"
	}
	return "f32 rounding"
}

var mmaOp = regexp.MustCompile(`^w?g?mma\.(?:sync|mma_async).*\.m\d+n\d+k(\d+)(?:\.row\.col)?\.(f\d+)\.`)

// ruleOf reads the rule off the kernel's C IR: copies, integer MMAs and arithmetic that rounds once an operation leave
// no room; a float MMA may add its products in any order and with any intermediate rounding.
func ruleOf(k *Kernel) (*rule, error) {
	c, err := gen.Lower(k)
	if err != nil {
		return nil, err
	}
	r := &rule{}
	cir.Walk(c.Body, func(s cir.Stmt) {
		if a, ok := s.(cir.Atomic); ok {
			r.sums = r.sums || a.Op == cir.AtomicAdd && a.Dst.Mem.Elem.IsFloat()
		}
		op := ""
		switch s := s.(type) {
		case cir.MMAStmt:
			op = s.Op.PTX
		case cir.WarpgroupMMA:
			op = s.Op.PTX
		}
		if found := mmaOp.FindStringSubmatch(op); found != nil {
			r.depth, _ = strconv.ParseInt(found[1], 10, 64)
			if found[2] != "f32" {
				err = fmt.Errorf("%s: no bound is stated for %s", c.Name, op)
			}
		}
	})
	for _, p := range c.Params {
		r.scaled = r.scaled || p.Class == cir.Scalar && p.Name == "beta"
	}
	return r, err
}

// bound is how far two runs may be apart at an element of C, given that each of them
//
//   - makes the K products exactly, S being the sum of their magnitudes;
//   - loses less than 2^-23 of S wherever a product or the accumulator is aligned for an addition, and once more when
//     an instruction's sum is rounded or cut off to f32: for the hardware K + 2*ceil(K/depth) such losses; the
//     emulator, which adds in f64, rounds once an instruction: together at most K + 3*ceil(K/depth);
//   - then makes alpha*acc, beta*C and their sum, each rounded once: at most 3 halves of 2^-23 of the magnitudes on
//     either side;
//   - rounds to the kind of C, where the two may end up one unit further apart.
func (r *rule) bound(run *check.Raw, c *check.RawTensor) func(at []int64, offset int64, value float64) float64 {
	if r.sums {
		return sumBound(run, c)
	}
	a, b := run.Tensor("A"), run.Tensor("B")
	av, bv := a.Values(), b.Values()
	depth := a.Extents[1]
	losses := float64(depth + 3*((depth+r.depth-1)/r.depth))
	alpha, beta := 1.0, 0.0
	if r.scaled {
		alpha, beta = run.Scalars["alpha"], run.Scalars["beta"]
	}
	const unit = 0x1p-23
	return func(at []int64, offset int64, value float64) float64 {
		sum := 0.0
		for k := range depth {
			sum += math.Abs(av[a.Offset(at[0], k)] * bv[b.Offset(at[1], k)])
		}
		sum *= math.Abs(alpha)
		all := sum
		if beta != 0 {
			all += math.Abs(beta * elem.Decode(c.Kind, c.Before(offset)))
		}
		return losses*unit*sum + 3*unit*all + ulp(c.Kind, value)
	}
}

func TestRules(t *testing.T) {
	for name, x := range map[string]struct {
		k    *Kernel
		want rule
	}{
		"copy": {kernels.AsyncCopy(), rule{}}, "integers": {gemmS8(), rule{}},
		"sums": {kernels.RowSums(), rule{sums: true}}, "whole sums": {kernels.ColumnSums(), rule{}},
		"tile": {kernels.MMATile(), rule{depth: 16}}, "gemm": {kernels.GEMMF16Out(), rule{depth: 16, scaled: true}},
		"warpgroups": {kernels.WarpgroupPipeline(), rule{depth: 16}},
	} {
		r, err := ruleOf(x.k)
		require.NoError(t, err, name)
		require.Equal(t, x.want, *r, name)
	}
}

// gemmS8 multiplies matrices of 8-bit integers, exactly: C = A*B for K-major A (M,K) and B (N,K).
func gemmS8() *Kernel {
	const bM, bN, bK, pad = 64, 64, 64, 16
	return Define("gemm_s8", func(k *K) {
		M, N, K := k.Dim("M"), k.Dim("N"), k.Dim("K", Multiple(16))
		A := In[elem.S8](k, "A", Shape(M, K).Strides(K, 1))   // (M,K)
		B := In[elem.S8](k, "B", Shape(N, K).Strides(K, 1))   // (N,K)
		C := Out[elem.S32](k, "C", Shape(M, N).Strides(N, 1)) // (M,N)
		mma := NewTiledMMA(atoms.SM80_16x8x32_S32S8S8S32_TN, Shape(2, 2), Tile(32, 32, 32))
		g2s := NewTiledCopyD[elem.S8](atoms.SM80_CP_ASYNC_CACHEGLOBAL_U128, Shape(32, 4).Strides(4, 1), Shape(1, 16))
		s2rA, s2rB := CopyA(atoms.SM75_U32x4_LDSM_N, mma), CopyB(atoms.SM75_U32x4_LDSM_N, mma)
		k.Threads(mma.Threads())
		k.Grid(M.CeilDiv(bM), N.CeilDiv(bN))
		sA := Shared[elem.S8](k, "sA", Shape(bM, bK).Strides(bK+pad, 1)) // (BLK_M,BLK_K)
		sB := Shared[elem.S8](k, "sB", Shape(bN, bK).Strides(bK+pad, 1)) // (BLK_N,BLK_K)
		gA := A.Tile(Tile(bM, bK), k.BlockX, All)                        // (BLK_M,BLK_K,k)
		gB := B.Tile(Tile(bN, bK), k.BlockY, All)                        // (BLK_N,BLK_K,k)
		gC := C.Tile(Tile(bM, bN), k.BlockX, k.BlockY)                   // (BLK_M,BLK_N)
		load, thr := g2s.Slice(k.Thread), mma.Slice(k.Thread)
		lA, lB := s2rA.Slice(k.Thread), s2rB.Slice(k.Thread)
		tCrA, tCrB := FragmentA(thr, sA), FragmentB(thr, sB) // (MMA,MMA_M,MMA_K) (MMA,MMA_N,MMA_K)
		tCrC := FragmentC(thr, gC)                           // (MMA,MMA_M,MMA_N)
		Clear(tCrC)
		k.Loop(0, gA.Size(2), func(t Expr) {
			Copy(g2s, load.PartitionS(gA.At(All, All, t)), load.PartitionD(sA))
			Copy(g2s, load.PartitionS(gB.At(All, All, t)), load.PartitionD(sB))
			k.CommitGroup()
			k.WaitGroup(0)
			k.Barrier()
			Copy(s2rA, lA.PartitionS(sA), lA.RetileD(tCrA))
			Copy(s2rB, lB.PartitionS(sB), lB.RetileD(tCrB))
			Gemm(mma, tCrA, tCrB, tCrC)
			k.Barrier() // before the next tile overwrites this one
		})
		Map(tCrC, PartitionC(thr, gC), func(v Val[elem.S32]) Val[elem.S32] { return v })
	})
}
