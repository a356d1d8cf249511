package kernels

import (
	"github.com/gocute/gocute/atoms"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// tolerance is the error that rounding to O alone may make, relative to the root mean square of the results.
func tolerance[O elem.F32 | elem.Half]() float64 {
	return map[elem.Kind]float64{elem.KF32: 1e-4, elem.KF16: 4e-3, elem.KBF16: 4e-2}[elem.KindOf[O]()]
}

// store writes C = alpha*acc + beta*C through shared memory, over the operands' stages, which nobody uses any more:
// rows of 16-byte vectors where rows of C are aligned, else element by element, which is coalesced too.
func store[O elem.F32 | elem.Half, E, A, B elem.Any](k *K, mma TiledMMA[elem.F32, A, B, elem.F32], acc Tensor[Rmem, elem.F32],
	over Tensor[Smem, E], gC Tensor[Gmem, O], N Expr, alpha, beta Val[elem.F32]) {
	k.Helper()
	bm, bn := gC.Extent(0), gC.Extent(1)
	// Eight elements between rows put the four rows that a half warp writes into different banks.
	sC := SharedOver[elem.F32](k, "sC", Shape(bm, bn).Strides(bn+8, 1), over) // (BLK_M,BLK_N)
	r2s := CopyC(atoms.UniversalCopy[Rmem, Smem](64), mma)
	toShared := r2s.Slice(k.Thread)
	Copy(r2s, toShared.RetileS(acc), toShared.PartitionD(sC))
	k.Barrier()

	vec := 128 / elem.KindOf[O]().Bits()
	k.IfMultiple(N, vec, func() {
		thr, val := Shape(mma.Threads()/(bn/vec), bn/vec).Strides(bn/vec, 1), Shape(1, vec)
		storeVectors(k, sC, gC, thr, val, alpha, beta)
	}, func() {
		thr := Shape(mma.Threads()/32, 32).Strides(32, 1)
		storeElements(k, sC, gC, thr, alpha, beta)
	})
}

// storeVectors moves a row of vectors at a time.
func storeVectors[O elem.Any](k *K, sC Tensor[Smem, elem.F32], gC Tensor[Gmem, O], thr, val Layout, alpha, beta Val[elem.F32]) {
	k.Helper()
	s2r := NewTiledCopy[elem.F32](atoms.UniversalCopy[Smem, Rmem](128), thr, val)
	g2r := NewTiledCopy[O](atoms.UniversalCopy[Gmem, Rmem](128), thr, val)
	r2g := NewTiledCopy[O](atoms.UniversalCopy[Rmem, Gmem](128), thr, val)
	tSsC := s2r.Slice(k.Thread).PartitionS(sC) // (CPY,CPY_M,CPY_N)
	tSgC := r2g.Slice(k.Thread).PartitionD(gC) // (CPY,CPY_M,CPY_N)
	tOgC := g2r.Slice(k.Thread).PartitionS(gC) // (CPY,CPY_M,CPY_N)
	sum := FragmentLike(tSsC.At(All, 0, All))  // (CPY,CPY_N)
	old := FragmentLike(tOgC.At(All, 0, All))  // (CPY,CPY_N)
	out := FragmentLike(tSgC.At(All, 0, All))  // (CPY,CPY_N)
	k.Loop(0, tSgC.Size(1), func(i Expr) {
		Copy(s2r, tSsC.At(All, i, All), sum)
		Combine(sum, sum, func(acc, _ Val[elem.F32]) Val[elem.F32] { return acc.Mul(alpha) })
		k.If(beta.Ne(Lit[elem.F32](0)), func() {
			Copy(g2r, tOgC.At(All, i, All), old)
			Combine(sum, old, func(acc Val[elem.F32], c Val[O]) Val[elem.F32] { return acc.Add(To[elem.F32](c).Mul(beta)) })
		}, nil)
		Map(sum, out, func(v Val[elem.F32]) Val[O] { return To[O](v) })
		Copy(r2g, out, tSgC.At(All, i, All))
	})
}

// storeElements moves a row of single elements at a time.
func storeElements[O elem.Any](k *K, sC Tensor[Smem, elem.F32], gC Tensor[Gmem, O], thr Layout, alpha, beta Val[elem.F32]) {
	k.Helper()
	s2r := NewTiledCopy[elem.F32](atoms.UniversalCopy[Smem, Rmem](32), thr, Shape(1, 1))
	r2g := NewTiledCopy[O](atoms.UniversalCopy[Rmem, Gmem](elem.KindOf[O]().Bits()), thr, Shape(1, 1))
	tSsC := s2r.Slice(k.Thread).PartitionS(sC) // (CPY,CPY_M,CPY_N)
	tSgC := r2g.Slice(k.Thread).PartitionD(gC) // (CPY,CPY_M,CPY_N)
	k.Loop(0, tSgC.Size(1), func(i Expr) {
		Combine(tSgC.At(All, i, All), tSsC.At(All, i, All), func(old Val[O], acc Val[elem.F32]) Val[O] {
			scaled := acc.Mul(alpha)
			return To[O](Select(beta.Eq(Lit[elem.F32](0)), scaled, scaled.Add(To[elem.F32](old).Mul(beta))))
		})
	})
}
