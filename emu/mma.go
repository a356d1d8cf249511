package emu

import (
	"fmt"
	"math"

	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// mmaShape is an mma.sync instruction: D (m x n) = A (m x k) * B (k x n) + C.
type mmaShape struct {
	m, n, k    int
	d, a, b, c elem.Kind
}

func (s *mmaShape) ptx() string {
	return fmt.Sprintf("mma.sync.aligned.m%dn%dk%d.row.col.%s.%s.%s.%s", s.m, s.n, s.k, s.d, s.a, s.b, s.c)
}

// mmaFamily is what the rows of the table below have in common: kinds of A, B, of C and D, and shapes.
type mmaFamily struct {
	ab     []elem.Kind
	cd     elem.Kind
	shapes [][3]int
}

var mmaFamilies = []mmaFamily{
	{[]elem.Kind{elem.KF16}, elem.KF16, [][3]int{{16, 8, 8}, {16, 8, 16}}},
	{[]elem.Kind{elem.KF16, elem.KBF16}, elem.KF32, [][3]int{{16, 8, 8}, {16, 8, 16}}},
	{[]elem.Kind{elem.KTF32}, elem.KF32, [][3]int{{16, 8, 4}, {16, 8, 8}}},
	{[]elem.Kind{elem.KF64}, elem.KF64, [][3]int{{8, 8, 4}, {16, 8, 4}, {16, 8, 8}, {16, 8, 16}}},
	{[]elem.Kind{elem.KS8, elem.KU8}, elem.KS32, [][3]int{{8, 8, 16}, {16, 8, 16}, {16, 8, 32}}},
	{[]elem.Kind{elem.KS4, elem.KU4}, elem.KS32, [][3]int{{8, 8, 32}, {16, 8, 32}, {16, 8, 64}}},
}

// mmaTable has a row for each instruction, by its PTX mnemonic.
var mmaTable = func() map[string]*mmaShape {
	out := map[string]*mmaShape{}
	for _, f := range mmaFamilies {
		for _, s := range f.shapes {
			for _, a := range f.ab {
				for _, b := range f.ab {
					if a != b && a.IsFloat() {
						continue // only integers may differ in sign
					}
					row := &mmaShape{m: s[0], n: s[1], k: s[2], d: f.cd, a: a, b: b, c: f.cd}
					out[row.ptx()] = row
				}
			}
		}
	}
	return out
}()

// Fragments, as the PTX ISA gives them with groupID = lane>>2 and threadID_in_group = lane%4. For every shape here
// they follow one rule: p elements of A or B fill a register of 32 bits (or one f64 one of 64); registers of A go
// down the rows first (groupID, then groupID+8 where m is 16), then along k, 4*p columns further.

// inRegister is how many elements of a kind fill one operand register.
func inRegister(k elem.Kind) int { return max(1, 32/k.Bits()) }

// place of A's element j of register r: row and column.
func (s *mmaShape) placeA(lane, r, j int) (row, col int) {
	group, thread, p, down := lane>>2, lane%4, inRegister(s.a), s.m/8
	return group + 8*(r%down), thread*p + j + 4*p*(r/down)
}

// placeB is the row (along k) and the column (along n) of B's element j of register r.
func (s *mmaShape) placeB(lane, r, j int) (row, col int) {
	group, thread, p := lane>>2, lane%4, inRegister(s.b)
	return thread*p + j + 4*p*r, group
}

// placeC is the row and column of C's and D's element i of a lane.
func (s *mmaShape) placeC(lane, i int) (row, col int) {
	return lane>>2 + 8*(i>>1), lane%4*2 + i&1
}

// matrices are the operands of a warp's MMA: A by rows, B by columns, C and D by rows.
type matrices struct {
	a [16 * 64]float64
	b [8 * 64]float64
	c [16 * 8]float64
}

// fragment is a compiled operand: its registers, and for each of their elements and each lane the place in a matrix.
type fragment struct {
	regs  []regAt
	kind  elem.Kind
	per   int // elements a register
	read  operandDecoder
	place [][32]uint16
}

func (c *compiler) fragment(name string, s *cir.MMAStmt, refs []cir.RegRef, k elem.Kind, rows, cols int,
	at func(lane, r, j int) int) *fragment {
	f := &fragment{kind: k, per: inRegister(k), read: operandDecoders[k]}
	if want := rows * cols / 32 / f.per; len(refs) != want {
		c.fail("%s expects %d registers for %s, but got %d", s.Op.PTX, want, name, len(refs))
	}
	for i, r := range refs {
		x := c.ref(r)
		if r.Bits() != f.per*k.Bits() || x.reg.bits < k.Bits() {
			c.fail("%s expects registers of %d bits for %s, but %s gives %d of %s", s.Op.PTX, f.per*k.Bits(), name,
				x.reg.name, x.n, x.reg.kind)
		}
		if x.reg.kind != k && x.reg.bits == k.Bits() && x.reg.bits < 32 && x.reg.kind.IsFloat() != k.IsFloat() ||
			x.reg.kind != k && x.reg.bits == 16 && x.reg.kind.IsFloat() {
			c.fail("%s expects %s for %s, but %s is %s", s.Op.PTX, k, name, x.reg.name, x.reg.kind)
		}
		f.regs = append(f.regs, x)
		for j := range f.per {
			var p [32]uint16
			for lane := range p {
				p[lane] = uint16(at(lane, i, j))
			}
			f.place = append(f.place, p)
		}
	}
	return f
}

func (c *compiler) mma(s cir.MMAStmt) func(*warp) {
	if run := c.otherMMA(s); run != nil {
		return run
	}
	if s.Op == nil || s.Op.Class != cir.MMA {
		c.fail("expects an mma instruction")
	}
	t := mmaTable[s.Op.PTX]
	if t == nil {
		c.fail("instruction %s cannot be emulated", s.Op.PTX)
	}
	placeC := func(lane, r, j int) int {
		row, col := t.placeC(lane, r*inRegister(t.c)+j)
		return row*t.n + col
	}
	a := c.fragment("A", &s, s.A, t.a, t.m, t.k, func(lane, r, j int) int {
		row, col := t.placeA(lane, r, j)
		return row*t.k + col
	})
	b := c.fragment("B", &s, s.B, t.b, t.k, t.n, func(lane, r, j int) int {
		row, col := t.placeB(lane, r, j)
		return col*t.k + row
	})
	acc := c.fragment("C", &s, s.C, t.c, t.m, t.n, placeC)
	d := c.fragment("D", &s, s.D, t.d, t.m, t.n, placeC)
	if c.prog.exact {
		return c.fieldMMA(t, s.Op.PTX, a, b, acc, d)
	}
	return func(w *warp) {
		w.whole(s.Op.PTX)
		w.b.counts.instr[kMMA]++
		m := &w.m
		if !a.gather(w, m.a[:t.m*t.k]) || !b.gather(w, m.b[:t.n*t.k]) || !acc.gather(w, m.c[:t.m*t.n]) {
			return
		}
		if t.d == elem.KF64 {
			m.chain(t)
		} else {
			m.multiply(t)
		}
		d.scatter(w, m.c[:t.m*t.n])
	}
}

// gather decodes a fragment into its matrix; it is false, with a finding, where a register array is left.
func (f *fragment) gather(w *warp, out []float64) bool {
	mask := ^uint64(0) >> (64 - f.kind.Bits())
	var wide [32]uint64
	for i := range f.regs {
		r := &f.regs[i]
		e := r.at(w)
		if e < 0 {
			return false
		}
		w.needed(r, e, fullMask)
		for j := range f.per {
			bit := j * f.kind.Bits()
			plane := &w.reg[e+bit/r.reg.bits]
			if shift := bit % r.reg.bits; r.reg.bits != f.kind.Bits() {
				for l := range wide {
					wide[l] = plane[l] >> shift & mask
				}
				plane = &wide
			}
			f.read(out, &f.place[i*f.per+j], plane)
		}
	}
	return true
}

// scatter rounds a matrix into the fragment's registers.
func (f *fragment) scatter(w *warp, in []float64) {
	for i := range f.regs {
		r := &f.regs[i]
		e := r.at(w)
		if e < 0 {
			return
		}
		for j := range f.per {
			bit := j * f.kind.Bits()
			plane, place := &w.reg[e+bit/r.reg.bits], &f.place[i*f.per+j]
			shift := bit % r.reg.bits
			if f.kind == elem.KF32 {
				for l := range plane {
					plane[l] = uint64(math.Float32bits(float32(in[place[l]])))
				}
				continue
			}
			for l := range plane {
				v := encodeResult(f.kind, in[place[l]]) << shift
				if shift > 0 {
					v |= plane[l] & (1<<shift - 1)
				}
				plane[l] = v
			}
		}
		w.wrote(e, r.n, fullMask)
	}
}

// multiply adds A*B to C in float64.
func (m *matrices) multiply(t *mmaShape) {
	k := t.k
	for i := range t.m {
		a := m.a[i*k : i*k+k]
		for j := 0; j < t.n; j += 4 {
			b0, b1 := m.b[j*k:][:k], m.b[(j+1)*k:][:k]
			b2, b3 := m.b[(j+2)*k:][:k], m.b[(j+3)*k:][:k]
			c := m.c[i*t.n+j:][:4]
			s0, s1, s2, s3 := c[0], c[1], c[2], c[3]
			for x, v := range a {
				s0 += v * b0[x]
				s1 += v * b1[x]
				s2 += v * b2[x]
				s3 += v * b3[x]
			}
			c[0], c[1], c[2], c[3] = s0, s1, s2, s3
		}
	}
}
