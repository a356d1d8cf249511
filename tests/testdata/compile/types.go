// Package compile holds uses of the DSL that Go's type checker must refuse, each at the line that says so.
package compile

import (
	"github.com/gocute/gocute/atoms"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

func bf16ToF16MMA(k *K, sA Tensor[Smem, elem.BF16]) {
	mma := NewTiledMMA(atoms.SM80_16x8x16_F32F16F16F32_TN, Shape(1, 1, 1))
	FragmentA(mma.Slice(k.Thread), sA) // ERROR "BF16.*(does not match|cannot use)"
}

func gemmOfOtherElements(m TiledMMA[elem.F32, elem.F16, elem.F16, elem.F32], a, b Tensor[Rmem, elem.BF16], c Tensor[Rmem, elem.F32]) {
	Gemm(m, a, b, c) // ERROR "BF16"
}

func gemmOfSharedMemory(m TiledMMA[elem.F32, elem.F16, elem.F16, elem.F32], a Tensor[Smem, elem.F16], b Tensor[Rmem, elem.F16], c Tensor[Rmem, elem.F32]) {
	Gemm(m, a, b, c) // ERROR "Smem"
}

func gemmIntoHalves(m TiledMMA[elem.F32, elem.F16, elem.F16, elem.F32], a, b, c Tensor[Rmem, elem.F16]) {
	Gemm(m, a, b, c) // ERROR "F16"
}

func ldmatrixOfRegisters(k *K, r Tensor[Rmem, elem.F16]) {
	s2r := NewTiledCopy[elem.F16](atoms.SM75_U32x4_LDSM_N, Shape(32), Shape(8))
	s2r.Slice(k.Thread).PartitionS(r) // ERROR "cannot use r .*Rmem.* as .*Smem"
}

func ldmatrixOfGlobalMemory(k *K, g Tensor[Gmem, elem.F16]) {
	s2r := NewTiledCopy[elem.F16](atoms.SM75_U32x4_LDSM_N, Shape(32), Shape(8))
	s2r.Slice(k.Thread).PartitionS(g) // ERROR "cannot use g .*Gmem.* as .*Smem"
}

func cpAsyncToRegisters(c TiledCopy[Gmem, Smem, elem.F16], g Tensor[Gmem, elem.F16], r Tensor[Rmem, elem.F16]) {
	Copy(c, g, r) // ERROR "Rmem"
}

func copyBackwards(c TiledCopy[Gmem, Smem, elem.F16], g Tensor[Gmem, elem.F16], s Tensor[Smem, elem.F16]) {
	Copy(c, s, g) // ERROR "Smem"
	Copy(c, g, s) // this way round it is fine
}

func copyOfOtherElements(c TiledCopy[Gmem, Smem, elem.F16], g Tensor[Gmem, elem.BF16], s Tensor[Smem, elem.F16]) {
	Copy(c, g, s) // ERROR "BF16"
}

func retileOfSharedMemory(k *K, c TiledCopy[Smem, Rmem, elem.F16], s Tensor[Smem, elem.F16]) {
	c.Slice(k.Thread).RetileD(s) // ERROR "cannot use s .*Smem.* as .*Rmem"
}

func clearOfSharedMemory(s Tensor[Smem, elem.F16]) {
	Clear(s) // ERROR "Smem"
}

func storeOfSharedMemory(s Tensor[Smem, elem.F32], out Tensor[Gmem, elem.F32]) {
	Store(s, out, func(acc, _ Val[elem.F32]) Val[elem.F32] { return acc }) // ERROR "Smem"
}

func sumOfTwoTypes(a Val[elem.F32], b Val[elem.F16]) {
	a.Add(b) // ERROR "cannot use b .*F16.* as .*F32"
}

func integerAsElement(k *K) {
	In[int](k, "A", Shape(4)) // ERROR "int does not satisfy"
}

func gemmOfADouble() {
	atoms.MMA16816[elem.F64]() // ERROR "F64 does not satisfy elem.Half"
}

func universalToNowhere() {
	atoms.UniversalCopy[Gmem, int](128) // ERROR "int does not satisfy"
}
