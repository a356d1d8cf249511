package kernels

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/gocute/gocute/atoms"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// Epilogue says what becomes of the elements of a product before they are rounded. It declares the further inputs that it
// needs, and returns a function from an element x = alpha*A*B + beta*C and the inputs' elements there, in the order of
// their declaration, to what C shall hold; and the same in float64, with which results are compared.
type Epilogue[Q, O elem.Any] func(in *EpilogueInputs[Q, O]) (f func(x Val[Q], in []Val[Q]) Val[Q], reference func(x float64, in []float64) float64)

// EpilogueInputs declares an epilogue's inputs. Where C is column-major, its rows and columns are those of the row-major
// matrix (N,M) as which the kernel sees it. The products of a batch share their inputs.
type EpilogueInputs[Q, O elem.Any] struct {
	k      *K
	m, n   Expr
	inputs []epilogueInput[O]
	f      func(x Val[Q], in []Val[Q]) Val[Q]
	ref    func(x float64, in []float64) float64
	done   bool // inputs cannot be declared any more
}

type epilogueInput[O elem.Any] struct {
	name   string
	tensor Tensor[Gmem, O] // (M,N)
	vector bool            // elements along N are adjacent
	row    bool            // all rows are the same
}

func newEpilogue[Q, O elem.Any](k *K, f Epilogue[Q, O], m, n Expr) *EpilogueInputs[Q, O] {
	in := &EpilogueInputs[Q, O]{k: k, m: m, n: n}
	if f != nil {
		in.f, in.ref = f(in)
		switch {
		case (in.f == nil) != (in.ref == nil):
			k.Fail("Epilogue", fmt.Errorf("expects a function and its reference, or neither, but %s is nil", map[bool]string{true: "the function", false: "the reference"}[in.f == nil]))
		case in.f == nil && len(in.inputs) > 0:
			k.Fail("Epilogue", errors.New("expects a function of the inputs that it declares, but got nil"))
		}
	}
	in.done = true
	return in
}

// Row declares an element for each column of C, such as a bias.
func (in *EpilogueInputs[Q, O]) Row(name string) {
	in.k.Helper()
	in.add(epilogueInput[O]{name: name, vector: true, row: true}, 0, 1)
}

// Column declares an element for each row of C, such as a scale.
func (in *EpilogueInputs[Q, O]) Column(name string) {
	in.k.Helper()
	in.add(epilogueInput[O]{name: name}, 1, 0)
}

// Matrix declares a row-major matrix of C's extents, such as a residual.
func (in *EpilogueInputs[Q, O]) Matrix(name string) {
	in.k.Helper()
	in.add(epilogueInput[O]{name: name, vector: true}, in.n, 1)
}

func (in *EpilogueInputs[Q, O]) add(x epilogueInput[O], strides ...any) {
	in.k.Helper()
	if in.done {
		in.k.Fail("Epilogue", fmt.Errorf("expects inputs to be declared before the function is returned, but %s comes later", x.name))
		return
	}
	x.tensor = In[O](in.k, x.name, Shape(in.m, in.n).Strides(strides...))
	in.inputs = append(in.inputs, x)
}

// tolerance is the error that rounding to O alone may make, relative to the root mean square of the results; sums in 16
// bits make more.
func tolerance[O, Acc elem.Any]() float64 {
	if elem.KindOf[Acc]().Bits() == 16 {
		return 3e-2
	}
	return map[elem.Kind]float64{elem.KF64: 1e-4, elem.KF32: 1e-4, elem.KTF32: 4e-3, elem.KF16: 4e-3, elem.KBF16: 4e-2, elem.KE4M3: 0.2, elem.KE5M2: 0.4}[elem.KindOf[O]()]
}

// output is what a block does with a tile of accumulators.
type output[E, Acc, Q, O elem.Any] struct {
	p           *product[E, Acc]
	C           Tensor[Gmem, O] // (M,N), and one for each product of a batch
	N           Expr
	alpha, beta Val[Q]
	in          *EpilogueInputs[Q, O]
	columns     columns
	slice       int // tiles of the MMA along M that are stored at once
	vec         int // elements of a store
	r2s         TiledCopy[Rmem, Smem, Acc]
	sC          Tensor[Smem, Acc] // (SLICE_M,BLK_N)
	narrow      narrow[E, Acc, Q, O]
}

// newStore places the results in shared memory, over the operands' stages: all of a tile at once where all stages are free,
// with StreamK a slice of it in the stage of A that is.
func newStore[E, Acc, Q, O elem.Any](p *product[E, Acc], C Tensor[Gmem, O], N Expr, alpha, beta Val[Q], in *EpilogueInputs[Q, O]) output[E, Acc, Q, O] {
	k, g, accBits := p.k, p.g, elem.KindOf[Acc]().Bits()
	k.Helper()
	o := output[E, Acc, Q, O]{p: p, C: C, N: N, alpha: alpha, beta: beta, in: in, columns: p.columns, slice: p.acc.Extent(1), vec: vector[O]()}
	if g.StreamK {
		o.slice = 1
	}
	rows := o.slice * 16 * g.WarpM
	for p.mma.Threads()*o.vec > rows*g.BN { // no row for some threads
		o.vec /= 2
	}
	if o.columns.permuted() { // elements only
		o.vec = 1
	}
	o.r2s = CopyC(atoms.UniversalCopy[Rmem, Smem](2*accBits), p.mma)
	o.sC = SharedOver[Acc](k, "sC", o.staging(rows, g.BN, accBits), p.a.stages) // (SLICE_M,BLK_N)
	o.narrow = newNarrow(o)
	return o
}

// staging is the layout of results in shared memory. Lanes write pairs in eight rows at once, and read vectors of rows.
func (o output[E, Acc, Q, O]) staging(rows, columns, accBits int) Layout {
	log := func(n int) int { return bits.Len(uint(n)) - 1 }
	if !o.p.g.StreamK {
		// Elements between rows put those rows into different banks; where a lane then reads several vectors, the swizzle
		// does so for the lanes of each read.
		padded := Shape(rows, columns).Strides(columns+o.columns.padding(), 1)
		if reads := o.vec * accBits / 128; reads > 1 {
			return Swizzle(log(reads), log(128/accBits), 3, padded)
		}
		return padded
	}
	if o.paired(columns, accBits) { // of the two vectors that a lane reads, rows 8 apart have the other one first
		return Swizzle(4, 2, log(columns)-2, Shape(Nest(8, 2, rows/16), columns).Strides(Nest(2*columns, columns, 16*columns), 1))
	}
	// There is no room between rows: their numbers move the eight elements that four lanes write.
	return Swizzle(min(3, log(columns)-3), 3, log(columns)-3, Shape(rows, columns).Strides(columns, 1))
}

// paired reports whether neighbouring lanes store vectors of rows 8 apart.
func (o output[E, Acc, Q, O]) paired(columns, accBits int) bool {
	rowsAtOnce := o.p.mma.Threads() * o.vec / columns
	return o.p.g.StreamK && accBits == 32 && o.vec == 8 && columns >= 64 && rowsAtOnce%16 == 0
}

// store writes C = f(alpha*acc + beta*C): vectors where rows of C are aligned, from the accumulators if the order of columns
// allows it and else by way of shared memory; where they are not, element by element by way of it, which is coalesced too.
func (o output[E, Acc, Q, O]) store(w work) {
	k := o.p.k
	k.Helper()
	if o.columns.permuted() {
		k.IfMultiple(o.N, o.columns.vec, func() { o.direct(w) }, func() { o.general(w, false) })
		return
	}
	k.IfMultiple(o.N, o.vec, func() {
		k.Helper()
		vectors := func() { o.general(w, true) }
		if !o.narrow.use {
			vectors()
			return
		}
		k.If(o.beta.Eq(Lit[Q](0)), func() { o.narrow.store(o, w) }, vectors)
	}, func() { o.general(w, false) })
}

// general stages sums, so that C and the epilogue's inputs can join them.
func (o output[E, Acc, Q, O]) general(w work, vectors bool) {
	k, p := o.p.k, o.p
	k.Helper()
	toShared := o.r2s.Slice(w.thread)
	from, to := toShared.RetileS(p.acc), toShared.PartitionD(staged(o.columns, o.sC)) // (CPY,MMA_M,MMA_N) (CPY,SLICE_M,MMA_N)
	if o.slice == p.acc.Extent(1) {
		Copy(o.r2s, from, to)
		k.Barrier()
		o.rows(w, w.tileM, vectors)
		return
	}
	slices := p.acc.Extent(1)
	k.Loop(0, slices, func(i Expr) {
		k.Helper()
		k.Switch(i, slices, func(m int) {
			k.Helper()
			Copy(o.r2s, from.At(All, m, All), to.At(All, 0, All))
		})
		k.Barrier()
		o.rows(w, w.tileM.Mul(slices).Add(i), vectors)
		k.Barrier()
	})
}

// matrix is the C of the block's product, (M,N).
func (o output[E, Acc, Q, O]) matrix(w work) Tensor[Gmem, O] {
	if w.batch != nil {
		return o.C.At(All, All, w.batch.index)
	}
	return o.C
}

// tile is a slice of rows of C.
func (o output[E, Acc, Q, O]) tile(w work, rows int, slice Expr) Tensor[Gmem, O] {
	return o.matrix(w).Tile(Tile(rows, o.p.g.BN), slice, w.tileN) // (SLICE_M,BLK_N)
}

// rows stores what is in shared memory as the tile-th slice of rows of C.
func (o output[E, Acc, Q, O]) rows(w work, slice Expr, vectors bool) {
	k, threads, rows := o.p.k, o.p.mma.Threads(), o.sC.Extent(0)
	k.Helper()
	r := rowStore[O, Q, Acc]{k: k, sC: o.sC, gC: o.tile(w, rows, slice), alpha: o.alpha, beta: o.beta, in: o.in, thread: w.thread}
	r.tile = func(t Tensor[Gmem, O]) Tensor[Gmem, O] { return t.Tile(Tile(rows, o.p.g.BN), slice, w.tileN) } // (SLICE_M,BLK_N)
	if !vectors {
		r.store(Shape(threads/32, 32).Strides(32, 1), 1)
		return
	}
	columns := o.p.g.BN / o.vec
	thr := Shape(threads/columns, columns).Strides(columns, 1)
	if o.paired(o.p.g.BN, elem.KindOf[Acc]().Bits()) {
		thr = Shape(Nest(8, threads/columns/8), columns).Strides(Nest(threads/8, 1), threads/columns/8)
	}
	r.store(thr, o.vec)
}

// rowsAtOnce is how many of a thread's rows are moved together, so that their latencies overlap.
func rowsAtOnce(rows int) int {
	n := 4
	for rows%n != 0 {
		n /= 2
	}
	return n
}

// rowStore moves a tile of accumulators from shared memory to C, a row of threads after the other.
type rowStore[O, Q, Acc elem.Any] struct {
	k           *K
	sC          Tensor[Smem, Acc] // (BLK_M,BLK_N)
	gC          Tensor[Gmem, O]   // (BLK_M,BLK_N)
	alpha, beta Val[Q]
	tile        func(Tensor[Gmem, O]) Tensor[Gmem, O] // what the block has of an input of the epilogue, (BLK_M,BLK_N)
	in          *EpilogueInputs[Q, O]
	thread      Expr
}

// store deals vectors of vec elements out to the threads of a layout over rows and columns of vectors.
func (r rowStore[O, Q, Acc]) store(thr Layout, vec int) {
	k := r.k
	k.Helper()
	oBits, accBits := elem.KindOf[O]().Bits(), elem.KindOf[Acc]().Bits()
	val := Shape(1, vec)
	s2r := NewTiledCopy[Acc](atoms.UniversalCopy[Smem, Rmem](min(128, vec*accBits)), thr, val)
	g2r := NewTiledCopy[O](atoms.UniversalCopy[Gmem, Rmem](vec*oBits), thr, val)
	r2g := NewTiledCopy[O](atoms.UniversalCopy[Rmem, Gmem](vec*oBits), thr, val)
	from := s2r.Slice(r.thread).PartitionS(r.sC) // (CPY,CPY_M,CPY_N)
	to := r2g.Slice(r.thread).PartitionD(r.gC)   // (CPY,CPY_M,CPY_N)
	old := g2r.Slice(r.thread).PartitionS(r.gC)  // (CPY,CPY_M,CPY_N)
	f := newFusion(r.in, g2r, r.thread, r.tile)
	together := rowsAtOnce(to.Extent(1))
	if vec == 1 { // rows that are not aligned: less to compile
		together = 1
	}
	f.hold(1, to.Extent(0)*to.Extent(2), func(int) []any { return []any{All, 0, All} })
	x := make([]Tensor[Rmem, Q], together) // (CPY,CPY_N)
	k.Loop(0, to.Extent(1)/together, func(i Expr) {
		k.Helper()
		row := func(j int) Expr { return i.Mul(together).Add(j) }
		for j := range together {
			acc := FragmentLike(from.At(All, 0, All)) // (CPY,CPY_N)
			Copy(s2r, from.At(All, row(j), All), acc)
			x[j] = Mapped(acc, func(v Val[Acc]) Val[Q] { return To[Q](v).Mul(r.alpha) })
		}
		k.If(r.beta.Ne(Lit[Q](0)), func() {
			k.Helper()
			for j := range together {
				was := FragmentLike(old.At(All, 0, All)) // (CPY,CPY_N)
				Copy(g2r, old.At(All, row(j), All), was)
				Combine(x[j], was, func(v Val[Q], c Val[O]) Val[Q] { return v.Add(To[Q](c).Mul(r.beta)) })
			}
		}, nil)
		for j := range together {
			f.apply(x[j], 0, All, row(j), All)
			Copy(r2g, Convert[O](x[j]), to.At(All, row(j), All))
		}
	})
}
