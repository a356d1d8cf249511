package kernels

import (
	"math/bits"

	"github.com/gocute/gocute/atoms"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// Epilogue says what becomes of the elements of a product before they are rounded. It declares the further inputs that it
// needs, and returns a function from an element x = alpha*A*B + beta*C and the inputs' elements there, in the order of
// their declaration, to what C shall hold; and the same in float64, with which results are compared.
type Epilogue[Q, O elem.Any] func(in *EpilogueInputs[Q, O]) (f func(x Val[Q], in []Val[Q]) Val[Q], reference func(x float64, in []float64) float64)

// EpilogueInputs declares an epilogue's inputs.
type EpilogueInputs[Q, O elem.Any] struct {
	k      *K
	m, n   Expr
	inputs []epilogueInput[O]
	f      func(x Val[Q], in []Val[Q]) Val[Q]
	ref    func(x float64, in []float64) float64
}

type epilogueInput[O elem.Any] struct {
	name   string
	tensor Tensor[Gmem, O] // (M,N)
	vector bool            // elements along N are adjacent
}

func newEpilogue[Q, O elem.Any](k *K, f Epilogue[Q, O], m, n Expr) *EpilogueInputs[Q, O] {
	in := &EpilogueInputs[Q, O]{k: k, m: m, n: n}
	if f != nil {
		in.f, in.ref = f(in)
	}
	return in
}

// Row declares an element for each column of C, such as a bias.
func (in *EpilogueInputs[Q, O]) Row(name string) { in.add(name, true, 0, 1) }

// Column declares an element for each row of C, such as a scale.
func (in *EpilogueInputs[Q, O]) Column(name string) { in.add(name, false, 1, 0) }

// Matrix declares a row-major matrix of C's extents, such as a residual.
func (in *EpilogueInputs[Q, O]) Matrix(name string) { in.add(name, true, in.n, 1) }

func (in *EpilogueInputs[Q, O]) add(name string, vector bool, strides ...any) {
	in.k.Helper()
	t := In[O](in.k, name, Shape(in.m, in.n).Strides(strides...))
	in.inputs = append(in.inputs, epilogueInput[O]{name, t, vector})
}

// tolerance is the error that rounding to O alone may make, relative to the root mean square of the results; sums in 16
// bits make more.
func tolerance[O, Acc elem.Any]() float64 {
	if elem.KindOf[Acc]().Bits() == 16 {
		return 3e-2
	}
	return map[elem.Kind]float64{elem.KF32: 1e-4, elem.KF16: 4e-3, elem.KBF16: 4e-2}[elem.KindOf[O]()]
}

// store writes C = f(alpha*acc + beta*C) through shared memory, over the operands' stages, which nobody uses any more:
// rows of 16-byte vectors where rows of C are aligned, else element by element, which is coalesced too.
func store[O, Q, Acc, A, B, E elem.Any](k *K, mma TiledMMA[Acc, A, B, Acc], acc Tensor[Rmem, Acc], over Tensor[Smem, E],
	gC Tensor[Gmem, O], N Expr, alpha, beta Val[Q], tiles []Tensor[Gmem, O], in *EpilogueInputs[Q, O]) {
	k.Helper()
	bm, bn, accBits := gC.Extent(0), gC.Extent(1), elem.KindOf[Acc]().Bits()
	vec := vector[O]()
	for mma.Threads()*vec > bm*bn { // no row for some threads
		vec /= 2
	}
	// Eight elements between rows put the rows that lanes write at once into different banks; where a lane then reads several
	// vectors, the swizzle does so for the lanes of each read.
	padded := Shape(bm, bn).Strides(bn+8, 1)
	if reads := vec * accBits / 128; reads > 1 {
		padded = Swizzle(bits.Len(uint(reads))-1, bits.Len(uint(128/accBits))-1, 3, padded)
	}
	sC := SharedOver[Acc](k, "sC", padded, over) // (BLK_M,BLK_N)
	r2s := CopyC(atoms.UniversalCopy[Rmem, Smem](2*accBits), mma)
	toShared := r2s.Slice(k.Thread)
	Copy(r2s, toShared.RetileS(acc), toShared.PartitionD(sC))
	k.Barrier()

	rows := rowStore[O, Q, Acc]{k: k, sC: sC, gC: gC, alpha: alpha, beta: beta, tiles: tiles, in: in}
	k.IfMultiple(N, vec, func() { rows.store(mma.Threads(), bn/vec, vec) }, func() { rows.store(mma.Threads(), 32, 1) })
}

// rowStore moves a tile of accumulators from shared memory to C, a row of threads after the other.
type rowStore[O, Q, Acc elem.Any] struct {
	k           *K
	sC          Tensor[Smem, Acc] // (BLK_M,BLK_N)
	gC          Tensor[Gmem, O]   // (BLK_M,BLK_N)
	alpha, beta Val[Q]
	tiles       []Tensor[Gmem, O] // of the epilogue's inputs, (BLK_M,BLK_N)
	in          *EpilogueInputs[Q, O]
}

// store has columns threads beside each other, each with vectors of vec elements.
func (r rowStore[O, Q, Acc]) store(threads, columns, vec int) {
	k := r.k
	k.Helper()
	oBits, accBits := elem.KindOf[O]().Bits(), elem.KindOf[Acc]().Bits()
	thr, val := Shape(threads/columns, columns).Strides(columns, 1), Shape(1, vec)
	s2r := NewTiledCopy[Acc](atoms.UniversalCopy[Smem, Rmem](min(128, vec*accBits)), thr, val)
	g2r := NewTiledCopy[O](atoms.UniversalCopy[Gmem, Rmem](vec*oBits), thr, val)
	r2g := NewTiledCopy[O](atoms.UniversalCopy[Rmem, Gmem](vec*oBits), thr, val)
	from := s2r.Slice(k.Thread).PartitionS(r.sC) // (CPY,CPY_M,CPY_N)
	to := r2g.Slice(k.Thread).PartitionD(r.gC)   // (CPY,CPY_M,CPY_N)
	old := g2r.Slice(k.Thread).PartitionS(r.gC)  // (CPY,CPY_M,CPY_N)
	acc := FragmentLike(from.At(All, 0, All))    // (CPY,CPY_N)
	was := FragmentLike(old.At(All, 0, All))     // (CPY,CPY_N)
	k.Loop(0, to.Size(1), func(i Expr) {
		Copy(s2r, from.At(All, i, All), acc)
		x := Convert[Q](acc) // (CPY,CPY_N)
		Map(x, x, func(v Val[Q]) Val[Q] { return v.Mul(r.alpha) })
		k.If(r.beta.Ne(Lit[Q](0)), func() {
			Copy(g2r, old.At(All, i, All), was)
			Combine(x, was, func(v Val[Q], c Val[O]) Val[Q] { return v.Add(To[Q](c).Mul(r.beta)) })
		}, nil)
		var inputs []Tensor[Rmem, Q]
		for j, t := range r.tiles {
			part := g2r.Slice(k.Thread).PartitionS(t) // (CPY,CPY_M,CPY_N)
			given := FragmentLike(part.At(All, 0, All))
			if r.in.inputs[j].vector {
				Copy(g2r, part.At(All, i, All), given)
			} else {
				Map(part.At(All, i, All), given, func(v Val[O]) Val[O] { return v })
			}
			inputs = append(inputs, Convert[Q](given))
		}
		if r.in.f != nil {
			Transform(x, r.in.f, inputs...)
		}
		Copy(r2g, Convert[O](x), to.At(All, i, All))
	})
}
