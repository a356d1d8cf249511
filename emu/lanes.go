package emu

import (
	"math/bits"
	"strconv"
	"strings"

	"github.com/gocute/gocute/gen/cir"
)

// words are operand registers of 32 bits.
func (c *compiler) words(op *cir.Op, refs []cir.RegRef, want int) []regAt {
	if len(refs) != want {
		c.fail("%s expects %d registers, but got %d", op.PTX, want, len(refs))
	}
	out := make([]regAt, want)
	for i, r := range refs {
		out[i] = c.ref(r)
		c.regroups(true, op.PTX)
		if r.Bits() != 32 {
			c.fail("%s expects registers of 32 bits, but got %d of %s", op.PTX, r.Bits(), r.Reg.Name)
		}
	}
	return out
}

// get reads a register of all lanes; it is false, with a finding, where the array is left.
func (r *regAt) get(w *warp) (out [32]uint64, ok bool) {
	e := r.at(w)
	if e < 0 {
		return out, false
	}
	w.needed(r, e, fullMask)
	for l := range out {
		for j := r.n - 1; j >= 0; j-- {
			out[l] = out[l]<<r.reg.bits | w.reg[e+j][l]
		}
	}
	return out, true
}

// set writes a register of all lanes.
func (r *regAt) set(w *warp, v *[32]uint64) {
	e := r.at(w)
	if e < 0 {
		return
	}
	mask := ^uint64(0) >> (64 - r.reg.bits)
	for j := range r.n {
		for l := range v {
			w.reg[e+j][l] = v[l] >> (j * r.reg.bits) & mask
		}
	}
	w.wrote(e, r.n, fullMask)
}

// stmatrix, as the PTX ISA describes it for .m8n8 and .b16: lanes 8m to 8m+7 give the addresses of the rows of matrix m,
// 16 bytes each; lane T's register m has the elements 2*(T%4) and the next one of row T/4. With .trans it has elements
// T/4 of the rows 2*(T%4) and the next one.
func (c *compiler) stmatrix(s cir.StMatrixStmt) func(*warp) {
	if s.Op == nil || s.Op.Class != cir.StMatrix || !strings.HasPrefix(s.Op.PTX, "stmatrix.") {
		c.fail("expects an stmatrix instruction")
	}
	matrices, trans := matrixForm(s.Op.PTX)
	src, dst := c.words(s.Op, s.Src, matrices), c.address(s.Dst, 0)
	mem, ok := dst.mem.(*smem)
	if !ok {
		c.fail("%s writes shared memory, but %s is global", s.Op.PTX, dst.mem.desc().name)
	}
	n := int64(rowBytes * 8 / mem.bits)
	site := c.storeSite(&mem.area, rowBytes*8)
	lanes := uint32(uint64(1)<<(8*matrices) - 1)
	return func(w *warp) {
		w.whole(s.Op.PTX)
		index := dst.index(w)
		m := w.within(lanes, &mem.area, index, n, rowBytes*8)
		w.count(site, m, index)
		w.b.sh.count++
		rows := make([][8]uint64, 8*matrices)
		for i := range src {
			v, ok := src[i].get(w)
			if !ok {
				return
			}
			for t, x := range v {
				for h := range 2 {
					row, col := t/4, t%4*2+h
					if trans {
						row, col = col, row
					}
					rows[8*i+row][col] = x >> (16 * h) & 0xffff
				}
			}
		}
		for ; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros32(m)
			repack(rows[lane][:], 16, w.tmp[:n], mem.bits)
			mem.store(w, lane, index[lane], w.tmp[:n])
		}
	}
}

// matrixForm reads the number of matrices and whether they are transposed.
func matrixForm(ptx string) (matrices int, trans bool) {
	matrices = 1
	for _, word := range strings.Split(ptx, ".") {
		switch word {
		case "x2":
			matrices = 2
		case "x4":
			matrices = 4
		case "trans":
			trans = true
		}
	}
	return matrices, trans
}

// warpMove compiles moves between lanes.
func (c *compiler) warpMove(s cir.WarpMoveStmt) func(*warp) {
	if s.Op == nil || s.Op.Class != cir.WarpMove {
		c.fail("expects a move between lanes")
	}
	mnemonic, _, _ := strings.Cut(s.Op.PTX, ".")
	move := map[string]func(*cir.Op) (int, func(in, out [][32]uint64)){"movmatrix": transposed, "shfl": exchanged}[mnemonic]
	if move == nil {
		c.fail("instruction %s cannot be emulated", s.Op.PTX)
	}
	n, run := move(s.Op)
	src, dst := c.words(s.Op, s.Src, n), c.words(s.Op, s.Dst, n)
	return func(w *warp) {
		w.whole(s.Op.PTX)
		in, out := make([][32]uint64, n), make([][32]uint64, n)
		for i := range src {
			var ok bool
			if in[i], ok = src[i].get(w); !ok {
				return
			}
		}
		run(in, out)
		for i := range dst {
			dst[i].set(w, &out[i])
		}
	}
}

// transposed is movmatrix with .trans: lane T has the elements 2*(T%4) and the next one of row T/4, before and after.
func transposed(*cir.Op) (int, func(in, out [][32]uint64)) {
	return 1, func(in, out [][32]uint64) {
		for t := range 32 {
			for h := range 2 {
				row, col := t%4*2+h, t/4 // of the source
				x := in[0][row*4+col/2] >> (16 * (col % 2)) & 0xffff
				out[0][t] |= x << (16 * h)
			}
		}
	}
}

// exchanged swaps the second register of a lane with the first one of the lane that a butterfly shuffle pairs it with.
func exchanged(op *cir.Op) (int, func(in, out [][32]uint64)) {
	distance, err := strconv.Atoi(op.Name[strings.LastIndex(op.Name, "XOR")+len("XOR"):])
	if err != nil {
		distance = 1
	}
	return 2, func(in, out [][32]uint64) {
		for t := range 32 {
			if t&distance == 0 {
				out[0][t], out[1][t] = in[0][t], in[0][t^distance]
			} else {
				out[0][t], out[1][t] = in[1][t^distance], in[1][t]
			}
		}
	}
}
