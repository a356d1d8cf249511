package tests

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/check"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen"
)

// TestOneTile multiplies one tile of matrices in global memory by an MMA of each element type and shape. (Package
// selftest has every MMA, without the partitions.)
func TestOneTile(t *testing.T) {
	for _, k := range []*Kernel{
		oneMMA(atoms.SM80_16x8x8_F16F16F16F16_TN, 1e-2), oneMMA(atoms.SM80_16x8x16_F16F16F16F16_TN, 1e-2),
		oneMMA(atoms.SM80_16x8x8_F32F16F16F32_TN, 1e-6), oneMMA(atoms.SM80_16x8x16_F32F16F16F32_TN, 1e-6),
		oneMMA(atoms.SM80_16x8x8_F32BF16BF16F32_TN, 1e-6), oneMMA(atoms.SM80_16x8x16_F32BF16BF16F32_TN, 1e-6),
		oneMMA(atoms.SM80_16x8x4_F32TF32TF32F32_TN, 1e-6), oneMMA(atoms.SM80_16x8x8_F32TF32TF32F32_TN, 1e-6),
		oneMMA(atoms.SM80_8x8x4_F64F64F64F64_TN, 1e-14), oneMMA(atoms.SM90_16x8x4_F64F64F64F64_TN, 1e-14),
		oneMMA(atoms.SM90_16x8x8_F64F64F64F64_TN, 1e-14), oneMMA(atoms.SM90_16x8x16_F64F64F64F64_TN, 1e-14),
		oneMMA(atoms.SM80_8x8x16_S32S8S8S32_TN, 0), oneMMA(atoms.SM80_8x8x16_S32S8U8S32_TN, 0),
		oneMMA(atoms.SM80_8x8x16_S32U8S8S32_TN, 0), oneMMA(atoms.SM80_8x8x16_S32U8U8S32_TN, 0),
		oneMMA(atoms.SM80_16x8x16_S32S8S8S32_TN, 0), oneMMA(atoms.SM80_16x8x16_S32S8U8S32_TN, 0),
		oneMMA(atoms.SM80_16x8x16_S32U8S8S32_TN, 0), oneMMA(atoms.SM80_16x8x16_S32U8U8S32_TN, 0),
		oneMMA(atoms.SM80_16x8x32_S32S8S8S32_TN, 0), oneMMA(atoms.SM80_16x8x32_S32S8U8S32_TN, 0),
		oneMMA(atoms.SM80_16x8x32_S32U8S8S32_TN, 0), oneMMA(atoms.SM80_16x8x32_S32U8U8S32_TN, 0),
		oneMMA(atoms.SM75_16x8x8_F32F16F16F32_TN, 1e-6), oneMMA(atoms.SM89_16x8x32_F32E4M3E5M2F32_TN, 1e-2),
	} {
		row, ok := atoms.FindMMA(k.Name())
		require.True(t, ok)
		c, err := gen.Lower(k)
		require.NoError(t, err)
		require.Equal(t, max(80, row.Arch), c.Arch, "%s: the kernel runs where its instructions do", row.Name)
		res, err := check.Run(t.Context(), k, check.Args{Seed: 5}, check.Options{On: check.CPU})
		require.NoError(t, err)
		require.NoError(t, res.Err())
		require.EqualValues(t, 1, res.Report.Counts.Instructions["mma"], row.Name)
	}
}

// oneMMA multiplies one tile of an instruction straight from global memory.
func oneMMA[D, A, B, C elem.Any](atom atoms.MMAAtom[D, A, B, C], tolerance float64) *Kernel {
	row := atom.Row()
	return Define(row.Name, func(k *K) {
		a := In[A](k, "A", Shape(row.M, row.K).Strides(row.K, 1))
		b := In[B](k, "B", Shape(row.N, row.K).Strides(row.K, 1))
		c := Out[C](k, "C", Shape(row.M, row.N).Strides(row.N, 1))
		k.Threads(32)
		mma := NewTiledMMA(atom, Shape(1, 1, 1))
		thr := mma.Slice(k.Thread)
		tCrA, tCrB, tCrC := FragmentA(thr, a), FragmentB(thr, b), FragmentC(thr, c)
		Map(PartitionA(thr, a), tCrA, keep)
		Map(PartitionB(thr, b), tCrB, keep)
		Clear(tCrC)
		Gemm(mma, tCrA, tCrB, tCrC)
		Map(tCrC, PartitionC(thr, c), keep)
		Expect(c, tolerance, func(r *Ref) func(at []int64) float64 {
			a, b := r.Tensor("A"), r.Tensor("B")
			return func(at []int64) float64 {
				sum := 0.0
				for k := range int64(row.K) {
					sum += a.At(at[0], k) * b.At(at[1], k)
				}
				return sum
			}
		})
	})
}
