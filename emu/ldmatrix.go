package emu

import (
	"slices"
	"strings"

	"github.com/gocute/gocute/gen/cir"
)

// ldmatrix, as the PTX ISA describes it for .m8n8 and .b16: lanes 8m to 8m+7 give the addresses of the rows of
// matrix m, 16 bytes each; of that matrix lane T receives from row T/4 the elements 2*(T%4) and the next one, the
// first in the lower half. With .trans it receives elements T/4 of the rows 2*(T%4) and the next one.

const rowBytes = 16

// ldmatrixOp reads the qualifiers: the number of matrices, and whether they are transposed.
func (c *compiler) ldmatrixOp(op *cir.Op) (matrices int, trans bool) {
	if op == nil || op.Class != cir.LdMatrix {
		c.fail("expects an ldmatrix instruction")
	}
	words := strings.Split(op.PTX, ".")
	for i, form := range []string{"x1", "x2", "x4"} {
		if slices.Contains(words, form) {
			matrices = 1 << i
		}
	}
	if words[0] != "ldmatrix" || matrices == 0 || !slices.Contains(words, "m8n8") || !slices.Contains(words, "b16") {
		c.fail("instruction %s cannot be emulated", op.PTX)
	}
	return matrices, slices.Contains(words, "trans")
}

func (c *compiler) ldmatrix(s cir.LdMatrixStmt) func(*warp) {
	matrices, trans := c.ldmatrixOp(s.Op)
	src := c.address(s.Src, 0)
	mem, ok := src.mem.(*smem)
	if !ok {
		c.fail("%s reads shared memory, but %s is global", s.Op.PTX, src.mem.desc().name)
	}
	if len(s.Dst) != matrices {
		c.fail("%s expects %d registers, but got %d", s.Op.PTX, matrices, len(s.Dst))
	}
	dst := make([]regAt, matrices)
	for i, r := range s.Dst {
		dst[i] = c.ref(r)
		c.regroups(mem.bits != r.Reg.Elem.Bits() || trans && mem.bits != 16, s.Op.PTX)
		if r.Bits() != 32 {
			c.fail("%s expects registers of 32 bits, but got %d of %s", s.Op.PTX, r.Bits(), r.Reg.Name)
		}
	}
	n := int64(rowBytes * 8 / mem.bits)
	site := c.site(kLdMatrix, &mem.area, rowBytes*8)
	lanes := uint32(1)<<(8*matrices) - 1
	if matrices == 4 {
		lanes = fullMask
	}
	return func(w *warp) {
		w.whole(s.Op.PTX)
		index := src.index(w)
		ok := w.within(lanes, &mem.area, index, n, rowBytes*8)
		w.count(site, ok, index)
		for i := range dst {
			if d := dst[i].at(w); d >= 0 {
				w.matrix(mem, ok, 8*i, index, int(n), &dst[i], d, trans)
			}
		}
	}
}

// matrix loads the 8x8 matrix whose rows lanes first to first+7 give, into the registers from d on.
func (w *warp) matrix(mem *smem, ok uint32, first int, index *[32]int64, n int, r *regAt, d int, trans bool) {
	direct := mem.bits == r.reg.bits && (!trans || mem.bits == 16)
	var halves, words [64]uint64
	for row := range 8 {
		lane, v := first+row, w.buf[:n]
		if ok>>lane&1 == 0 {
			clear(v)
		} else {
			mem.read(w, lane, index[lane], v, true)
		}
		switch {
		case !direct:
			repack(v, mem.bits, halves[row*8:row*8+8], 16)
		case trans:
			for col, x := range v {
				w.reg[d+row&1][col*4+row/2] = x
			}
		default:
			for i, x := range v {
				w.reg[d+i%r.n][row*4+i/r.n] = x
			}
		}
	}
	w.wrote(d, r.n, fullMask)
	if direct {
		return
	}
	for lane := range 32 {
		lo, hi := lane/4*8+lane%4*2, lane/4*8+lane%4*2+1
		if trans {
			lo, hi = lane%4*2*8+lane/4, (lane%4*2+1)*8+lane/4
		}
		v := [2]uint64{halves[lo], halves[hi]}
		repack(v[:], 16, words[:r.n], r.reg.bits)
		for e := range r.n {
			w.reg[d+e][lane] = words[e]
		}
	}
}
