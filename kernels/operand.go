package kernels

import (
	"math/bits"

	"github.com/gocute/gocute/atoms"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// Major says along which mode an operand's elements are adjacent in memory.
type Major uint8

const (
	// KMajor operands have the sum's mode adjacent: A row by row, B column by column.
	KMajor Major = iota
	// MNMajor operands have M or N adjacent.
	MNMajor
)

// vector is how many elements a copy of 16 bytes moves.
func vector[E elem.Any]() int { return 128 / elem.KindOf[E]().Bits() }

// operand is one factor of a product on its way from global memory through stages of shared memory to fragments.
type operand[E elem.Any] struct {
	g2s      TiledCopy[Gmem, Smem, E]
	s2r      TiledCopy[Smem, Rmem, E]
	stages   Tensor[Smem, E] // (BLK_MN,BLK_K,PIPE)
	tGg      Tensor[Gmem, E] // (CPY,CPY_MN,CPY_K,k)
	tGs      Tensor[Smem, E] // (CPY,CPY_MN,CPY_K,PIPE)
	tXs      Tensor[Smem, E] // (CPY,MMA_MN,MMA_K,PIPE)
	tXr      Tensor[Rmem, E] // (CPY,MMA_MN,MMA_K)
	fragment Tensor[Rmem, E] // (MMA,MMA_MN,MMA_K)
	tiles    Tensor[Gmem, E] // (BLK_MN,BLK_K,k)
	shared   Tensor[Smem, E] // (MMA,MMA_MN,MMA_K,PIPE), what wgmma reads
	box      [2]int          // what one TMALoad brings of a tile
	dealt    int             // the mode along which the copies of a stage are dealt out to the steps of a tile
}

// globalOperand declares a factor of extent mn by k, one for each of l products. Its adjacent extent is a multiple of the
// elements in 16 bytes.
func globalOperand[E elem.Any](kk *K, name string, mn, k Expr, l *batch, major Major) Tensor[Gmem, E] {
	kk.Helper()
	strides := []any{k, 1} // (MN,K)
	if major == MNMajor {
		strides = []any{1, mn}
	}
	if l == nil {
		return In[E](kk, name, Shape(mn, k).Strides(strides...))
	}
	stride := kk.Dim("stride"+name, AtLeast(0), Multiple(vector[E]())) // 0 where all products share the factor
	return In[E](kk, name, Shape(mn, k, l.count).Strides(append(strides, stride)...)).At(All, All, l.index)
}

// stageLayout is the layout of one stage, a tile of mn by bk elements: rows or columns of at most 128 bytes whose vectors
// are swizzled so that neither the copies into it nor the reads of fragments meet in a bank.
func stageLayout[E elem.Any](mn, bk int, major Major) Layout {
	vec := vector[E]()
	log := func(n int) int { return bits.Len(uint(n)) - 1 }
	if major == KMajor { // ldmatrix reads eight rows of 16 bytes
		width := min(bk, 8*vec)
		return Swizzle(log(width/vec), log(vec), 3, Shape(8, width).Strides(width, 1))
	}
	width := min(mn, 8*vec)
	switch elem.KindOf[E]().Bits() {
	case 16: // so it does here, transposed
		return Swizzle(log(width/vec), log(vec), 3, Shape(width, 8).Strides(1, width))
	case 32: // lanes read words at 8 places of mn in 4 rows of k
		return Swizzle(2, 3, log(width)-3, Shape(width, 8).Strides(1, width))
	}
	// Lanes read bytes at 8 places of mn in rows 4q of k.
	return Swizzle(min(2, log(width)-4), 4, log(width)-2, Shape(width, 16).Strides(1, width))
}

// toFragments is the instruction that reads fragments of an operand from shared memory.
func toFragments[E elem.Any](major Major) atoms.CopyAtom[Smem, Rmem] {
	switch {
	case major == KMajor:
		return atoms.SM75_U32x4_LDSM_N
	case elem.KindOf[E]().Bits() == 16:
		return atoms.SM75_U16x8_LDSM_T
	}
	return atoms.UniversalCopy[Smem, Rmem](elem.KindOf[E]().Bits())
}

// beside is how many vectors of a row of so many neighbouring threads copy: 256 bytes where the row has them, so that few
// sectors are read twice where rows are not aligned to sectors.
func beside(vectors int) int {
	if vectors%16 == 0 {
		return 16
	}
	return min(vectors, 8)
}

// boxColumn is how many elements along M or N the copy engine brings side by side: 128 bytes, or less where they do not
// divide the block.
func boxColumn(mn, vec int) int {
	n := 8 * vec
	for n > vec && mn%n != 0 {
		n /= 2
	}
	return n
}

// newOperand sets up an operand's way to shared memory: tiles is its view in global memory (BLK_MN,BLK_K,k).
func newOperand[E elem.Any](k *K, name string, tiles Tensor[Gmem, E], g GEMMConfig, major Major) operand[E] {
	k.Helper()
	mn, bk, vec, threads := tiles.Extent(0), tiles.Extent(1), vector[E](), g.threads()
	o := operand[E]{tiles: tiles, dealt: 1}
	rows := stageLayout[E](mn, bk, major)
	if g.Sync == TMALoads {
		o.box = [2]int{mn, min(bk, 8*vec)}
		if major == MNMajor {
			o.box = [2]int{boxColumn(mn, vec), bk}
			rows = Swizzle(bits.Len(uint(o.box[0]/vec))-1, bits.Len(uint(vec))-1, 3, Shape(o.box[0], bk))
		}
	}
	o.stages = Shared[E](k, "s"+name, TileToShape(rows, mn, bk, g.Stages)) // (BLK_MN,BLK_K,PIPE)
	if g.Sync == TMALoads {
		return o
	}
	vecs := beside(bk / vec)
	thr, val := Shape(threads/vecs, vecs).Strides(vecs, 1), Shape(1, vec)
	if major == MNMajor {
		vecs, o.dealt = min(mn/vec, threads), 2
		thr, val = Shape(vecs, threads/vecs), Shape(vec, 1)
	}
	atom := atoms.SM80_CP_ASYNC_CACHEGLOBAL_U128
	if g.CacheAlways {
		atom = atoms.SM80_CP_ASYNC_CACHEALWAYS_U128
	}
	o.g2s = NewTiledCopyD[E](atom, thr, val)
	return o.copiedBy(k.Thread, tiles)
}

// copiedBy takes what a thread copies of tiles (BLK_MN,BLK_K,k).
func (o operand[E]) copiedBy(thread Expr, tiles Tensor[Gmem, E]) operand[E] {
	load := o.g2s.Slice(thread)
	o.tGg, o.tGs = load.PartitionS(tiles), load.PartitionD(o.stages) // (CPY,CPY_MN,CPY_K,k) (CPY,CPY_MN,CPY_K,PIPE)
	return o
}

// toRegisters sets up its way on to fragments, of one stage (MMA,MMA_MN,MMA_K).
func (o operand[E]) toRegisters(k *K, s2r TiledCopy[Smem, Rmem, E], fragment Tensor[Rmem, E]) operand[E] {
	k.Helper()
	o.s2r, o.fragment = s2r, fragment
	return o.readBy(k.Thread)
}

// readBy takes what a thread reads.
func (o operand[E]) readBy(thread Expr) operand[E] {
	read := o.s2r.Slice(thread)
	o.tXs, o.tXr = read.PartitionS(o.stages), read.RetileD(o.fragment) // (CPY,MMA_MN,MMA_K,PIPE) (CPY,MMA_MN,MMA_K)
	return o
}

// stage takes the stage-th stage of the operand as it is.
func (o operand[E]) stage(n any) Tensor[Smem, E] { return o.stages.At(All, All, n) } // (BLK_MN,BLK_K)

// fetch starts the part-th of parts of a tile's copies into a stage.
func (o operand[E]) fetch(tile, stage any, part, parts int) {
	src, dst := o.tGg.At(All, All, All, tile), o.tGs.At(All, All, All, stage) // (CPY,CPY_MN,CPY_K) (CPY,CPY_MN,CPY_K)
	n := src.Extent(o.dealt)
	for i := n * part / parts; i < n*(part+1)/parts; i++ {
		at := []any{All, All, All}
		at[o.dealt] = i
		Copy(o.g2s, src.At(at...), dst.At(at...))
	}
}

// load has the copy engine bring a tile into a stage: rows of at most 128 bytes at a time.
func (o operand[E]) load(f *StageFill, tile, stage any) {
	src, dst := o.tiles.At(All, All, tile), o.stage(stage) // (BLK_MN,BLK_K) (BLK_MN,BLK_K)
	rows, columns := dst.Extent(0)/o.box[0], dst.Extent(1)/o.box[1]
	if rows*columns == 1 {
		TMALoad(f, src, dst)
		return
	}
	for i := range rows * columns {
		box, at := Tile(o.box[0], o.box[1]), []any{i % rows, i / rows}
		TMALoad(f, src.Tile(box, at...), dst.Tile(box, at...))
	}
}

// read takes the fragments of one step of a tile from a stage.
func (o operand[E]) read(stage any, step int) {
	Copy(o.s2r, o.tXs.At(All, All, step, stage), o.tXr.At(All, All, step))
}
