package kernels

import (
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// columns is the order in which a block's columns of C are dealt out to the MMA. An accumulator's neighbours are two
// columns of its tile and those of the next tiles, so where the operand lets its rows be read in any order, those become
// neighbours in C: a thread then has whole vectors of a row, and stores them as they are.
type columns struct {
	vec int // adjacent columns of C that a thread has; 2 in the order of the MMA itself
	bn  int // of the block
	wn  int // warps along N
}

// mmaPair is how many adjacent columns of C a thread has of one instruction, and atomN how many it has altogether.
const mmaPair, atomN = 2, 8

// newColumns chooses vectors of at most 16 bytes, of which each warp has whole rows of four, and whose order lets the
// copies of the operand take whole rows.
func newColumns(in, out elem.Kind, g GEMMConfig, major Major) columns {
	c := columns{vec: 128 / out.Bits(), bn: g.BN, wn: g.WarpN}
	// ldmatrix.trans reads columns as they lie; and 16 bytes of 32-bit results are four columns, of which rows by way of
	// shared memory make longer runs.
	if major == MNMajor || out.Bits() >= 32 {
		c.vec = mmaPair
	}
	rows := g.threads() / beside(g.BK*in.Bits()/128)
	for c.vec > mmaPair && (g.BN%c.width() != 0 || !c.divides(rows)) {
		c.vec /= 2
	}
	return c
}

// divides reports whether so many rows of the operand, in this order, are a tile of it.
func (c columns) divides(rows int) bool {
	before := 1
	for _, n := range []int{mmaPair, atomN / mmaPair, c.wn, c.vec / mmaPair} {
		before *= n
		if before%rows != 0 && rows%before != 0 {
			return false
		}
	}
	return true
}

// permuted reports whether the order is another than the MMA's own.
func (c columns) permuted() bool { return c.vec > mmaPair }

// width is how many columns the warps beside each other have in as many instructions as fill a vector.
func (c columns) width() int { return atomN / mmaPair * c.vec * c.wn }

// order is the layout from the MMA's columns, (pair,lane,warp,instruction,rest), to the block's.
func (c columns) order() Layout {
	lanes := atomN / mmaPair
	return Shape(mmaPair, lanes, c.wn, c.vec/mmaPair, c.bn/c.width()).Strides(1, c.vec, lanes*c.vec, mmaPair, c.width())
}

// padding is how many elements between rows of sums in shared memory put the pairs of a warp, four in each of eight rows,
// into different banks: beside each other, or as far apart as the vectors that they are from.
func (c columns) padding() int {
	if c.permuted() {
		return mmaPair
	}
	return atomN
}

// tile is bn columns of C, or rows of the operand, in that order.
func (c columns) tile() any {
	if !c.permuted() {
		return c.bn
	}
	return c.order()
}

// threads is the copy between a tile of C and accumulators, (thread,value) to m+M*n, by warpM warps along M. A thread has
// vectors in two rows, 8 apart; byVector numbers its values vector by vector, as C has them, and not as accumulators are.
func (c columns) threads(warpM int, byVector bool) (tv, tile Layout) {
	rows := 16 * warpM
	thread := Nest(atomN/mmaPair, 8, warpM, c.wn) // (lane of a row,row,warp of M,warp of N)
	values, steps := Nest(mmaPair, 2, c.vec/mmaPair), Nest(rows, 8, atomN*c.wn*rows)
	if byVector {
		values, steps = Nest(mmaPair, c.vec/mmaPair, 2), Nest(rows, atomN*c.wn*rows, 8)
	}
	return Shape(thread, values).Strides(Nest(mmaPair*rows, 1, 16, atomN*rows), steps), Shape(rows, c.width())
}

// vectors takes the values of such a thread from the order of accumulators to that of C.
func (c columns) vectors() Layout {
	return Shape(mmaPair, c.vec/mmaPair, 2).Strides(1, 2*mmaPair, mmaPair)
}
