package emu

import (
	"fmt"
	"math"

	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// gmmaFamily is the wgmma instructions of some kinds: of any of a by any of b into any of d.
type gmmaFamily struct{ d, a, b []elem.Kind }

var gmmaFamilies = []gmmaFamily{
	{[]elem.Kind{elem.KF16, elem.KF32}, []elem.Kind{elem.KF16}, []elem.Kind{elem.KF16}},
	{[]elem.Kind{elem.KF32}, []elem.Kind{elem.KBF16}, []elem.Kind{elem.KBF16}},
	{[]elem.Kind{elem.KF32}, []elem.Kind{elem.KTF32}, []elem.Kind{elem.KTF32}},
	{[]elem.Kind{elem.KS32}, []elem.Kind{elem.KS8, elem.KU8}, []elem.Kind{elem.KS8, elem.KU8}},
	{[]elem.Kind{elem.KF16, elem.KF32}, []elem.Kind{elem.KE4M3, elem.KE5M2}, []elem.Kind{elem.KE4M3, elem.KE5M2}},
}

// gmmaShape is a wgmma instruction: D (64 x n) += A (64 x k) * B (k x n), operands in rows along k.
type gmmaShape struct {
	n, k    int
	d, a, b elem.Kind
	clamp   bool // s32 results saturate
}

const (
	gmmaRows  = 64 // of D
	gmmaBytes = 32 // of a row of A or B
	gmmaWarps = 4
	warpRows  = gmmaRows / gmmaWarps
	gmmaCols  = 8 // of D that are multiplied at once here
)

// gmmaTable has a row for each instruction, by its PTX mnemonic.
var gmmaTable = func() map[string]*gmmaShape {
	out := map[string]*gmmaShape{}
	for _, f := range gmmaFamilies {
		for _, d := range f.d {
			for _, a := range f.a {
				for _, b := range f.b {
					for n := 8; n <= 256; n += 8 {
						s := gmmaShape{n: n, k: gmmaBytes * 8 / a.Bits(), d: d, a: a, b: b}
						name := fmt.Sprintf("wgmma.mma_async.sync.aligned.m%dn%dk%d.%s.%s.%s", gmmaRows, n, s.k, d, a, b)
						out[name] = &s
						if d == elem.KS32 {
							t := s
							t.clamp = true
							out[name+".satfinite"] = &t
						}
					}
				}
			}
		}
	}
	return out
}()

// gmmaTail is the immediates of a product that adds: of floating-point numbers their signs, and of 16-bit ones whether
// they are adjacent along the mode that is not k.
func gmmaTail(t *gmmaShape, a, b bool) string {
	bit := map[bool]int{true: 1}
	switch {
	case t.d == elem.KS32:
		return ""
	case t.a.Bits() != 16:
		return ", 1, 1"
	}
	return fmt.Sprintf(", 1, 1, %d, %d", bit[a], bit[b])
}

// gmmaValues read elements of a row of an operand.
var gmmaValues = map[elem.Kind]func(out []float64, in []uint64){
	elem.KF16: func(out []float64, in []uint64) {
		t := tableF16()
		for i, v := range in {
			out[i] = float64(t[v&0xffff])
		}
	},
	elem.KBF16: func(out []float64, in []uint64) {
		for i, v := range in {
			out[i] = float64(math.Float32frombits(uint32(v) << 16))
		}
	},
	elem.KTF32: func(out []float64, in []uint64) { // reads the upper 19 bits
		for i, v := range in {
			out[i] = float64(math.Float32frombits(uint32(v) &^ 0x1fff))
		}
	},
	elem.KS8: func(out []float64, in []uint64) {
		for i, v := range in {
			out[i] = float64(int8(v))
		}
	},
	elem.KU8: func(out []float64, in []uint64) {
		for i, v := range in {
			out[i] = float64(uint8(v))
		}
	},
	elem.KE4M3: func(out []float64, in []uint64) {
		for i, v := range in {
			out[i] = elem.Decode(elem.KE4M3, v)
		}
	},
	elem.KE5M2: func(out []float64, in []uint64) {
		for i, v := range in {
			out[i] = elem.Decode(elem.KE5M2, v)
		}
	},
}

// smemMatrix is a compiled operand in shared memory.
type smemMatrix struct {
	mem     *smem
	at      perLane
	stride  int64 // bytes from 8 rows to the next
	swizzle int
	columns bool
	lead    int64 // bytes from a run to what continues it
	along   int64 // bytes of the operand along what is adjacent
	decode  func(out []float64, in []uint64)
	site    int
}

// smemMatrix compiles an operand of so many rows or columns, of which a warp reads rows.
func (c *compiler) smemMatrix(op *cir.Op, m cir.SmemMatrix, k elem.Kind, rows, of, depth int) *smemMatrix {
	x := c.address(m.At, depth)
	mem, ok := x.mem.(*smem)
	switch {
	case !ok || mem.bits != k.Bits():
		c.fail("%s expects %s in shared memory, but got %s", op.PTX, k, x.mem.desc().kind)
	case m.Swizzle < 1 || m.Swizzle > 3 || m.Stride < 16 || m.Stride%16 != 0:
		c.fail("%s expects swizzled rows, 8 of them every whole 16 bytes, but got a swizzle of %d bits and %d bytes", op.PTX, m.Swizzle, m.Stride)
	case mem.base/8%(128<<m.Swizzle) != 0:
		c.fail("%s expects shared memory aligned to %d bytes, but %s is at %d", op.PTX, 128<<m.Swizzle, mem.name, mem.base/8)
	}
	if m.Columns && (k.Bits() != 16 || m.Lead < 16 || m.Lead%16 != 0) {
		c.fail("%s expects columns of 16-bit elements, whole 16 bytes apart, but got %s and %d bytes", op.PTX, k, m.Lead)
	}
	along := int64(gmmaBytes)
	if m.Columns {
		along = int64(of * k.Bits() / 8)
	}
	return &smemMatrix{along: along, mem: mem, at: x.index, stride: int64(m.Stride), swizzle: m.Swizzle, columns: m.Columns, lead: int64(m.Lead), decode: gmmaValues[k],
		site: c.site(kGMMA, &mem.area, int64(rows*gmmaBytes*8))}
}

// gmma is a compiled product.
type gmma struct {
	shape mmaShape // of 8 columns
	name  string
	clamp bool
	a, b  *smemMatrix
	acc   []*fragment // by 8 columns
	exact bool
}

// warpgroupMMA compiles a warp's part of a product: its 16 rows of D. Registers of 8 columns hold what those of an
// mma.sync of 16 rows do, as the PTX ISA shows them.
func (c *compiler) warpgroupMMA(s cir.WarpgroupMMA) func(*warp) {
	if s.Op == nil || s.Op.Class != cir.GMMA {
		c.fail("expects a wgmma instruction")
	}
	t := gmmaTable[s.Op.PTX]
	if t == nil || s.Op.Tail != gmmaTail(t, s.A.Columns, s.B.Columns) {
		c.fail("instruction %s%s cannot be emulated", s.Op.PTX, s.Op.Tail)
	}
	if c.prog.threads%(gmmaWarps*32) != 0 {
		c.fail("%s expects whole warpgroups of 128 threads, but the block has %d", s.Op.PTX, c.prog.threads)
	}
	c.prog.products = true
	g := &gmma{shape: mmaShape{warpRows, gmmaCols, t.k, t.d, t.a, t.b, t.d}, name: s.Op.PTX, clamp: t.clamp, exact: c.prog.exact,
		a: c.smemMatrix(s.Op, s.A, t.a, warpRows, gmmaRows, 0), b: c.smemMatrix(s.Op, s.B, t.b, t.n, t.n, 1)}
	blocks := t.n / gmmaCols
	if len(s.D) == 0 || len(s.D)%blocks != 0 {
		c.fail("%s has %d registers for D", s.Op.PTX, len(s.D))
	}
	per, mma := len(s.D)/blocks, cir.MMAStmt{Op: s.Op}
	for j := range blocks {
		f := c.fragment("D", &mma, s.D[j*per:(j+1)*per], t.d, warpRows, gmmaCols, func(lane, r, i int) int {
			row, col := g.shape.placeC(lane, r*inRegister(t.d)+i)
			return row*gmmaCols + col
		})
		for i := range f.regs {
			c.regroups(f.regs[i].reg.bits != t.d.Bits(), s.Op.PTX)
		}
		g.acc = append(g.acc, f)
	}
	c.regroups(g.a.mem.kind.Bits() != t.a.Bits(), s.Op.PTX)
	return g.run
}

func (g *gmma) run(w *warp) {
	w.whole(g.name)
	w.b.counts.instr[kGMMA]++
	a, b := g.a.one(w), g.b.one(w)
	if p := w.gmma; p != nil {
		if p.together(w, a, b); !g.a.aligned(w, a) || !g.b.aligned(w, b) {
			return
		}
		p.accumulate(w, g.registers(w))
		p.inside = true
		defer func() { p.inside = false }()
	}
	g.costs(w)
	if g.exact {
		g.field(w, a, b)
		return
	}
	k, m := g.shape.k, &w.m
	for i := range warpRows {
		g.a.values(w, a, w.id%gmmaWarps*warpRows+i, m.a[i*k:(i+1)*k])
	}
	for j, f := range g.acc {
		for i := range gmmaCols {
			g.b.values(w, b, j*gmmaCols+i, m.b[i*k:(i+1)*k])
		}
		c := m.c[:warpRows*gmmaCols]
		if !f.gather(w, c) {
			continue
		}
		m.multiply(&g.shape)
		if g.clamp {
			for i, v := range c {
				c[i] = min(max(v, math.MinInt32), math.MaxInt32)
			}
		}
		f.scatter(w, c)
	}
}

// one is the element where an operand begins, the same in all lanes.
func (o *smemMatrix) one(w *warp) int64 {
	index := o.at(w)
	for _, i := range index {
		if i != index[0] {
			if f := w.find(Divergent, o.mem.name, 0, index[0]); f != nil {
				f.Message = sprint("a wgmma whose operand begins at ", o.mem.name, "[", index[0], "] in one thread and at [", i, "] in another")
			}
			panic(aborted{})
		}
	}
	return index[0]
}

// aligned reports whether an operand's first row begins a period of the swizzle; if not, there is a finding.
func (o *smemMatrix) aligned(w *warp, at int64) bool {
	byteAt := (o.mem.base + at*int64(o.mem.bits)) / 8
	row := int64(16) << o.swizzle
	need := min(o.along, row)
	if byteAt%16 == 0 && byteAt%(8*row)+need <= row {
		return true
	}
	if f := w.find(Misaligned, o.mem.name, 0, at); f != nil {
		f.Message = sprint("a wgmma operand at ", o.mem.name, "[", at, "], byte ", byteAt, " of shared memory, which must be a multiple of 16 bytes, with ", need, " bytes in the first of 8 rows of ", row, " bytes")
	}
	return false
}

// registers are those of D, in order; none where an array is left, which is found later.
func (g *gmma) registers(w *warp) []int {
	out := w.gmma.regs[:0]
	for _, f := range g.acc {
		for i := range f.regs {
			e := f.regs[i].at(w)
			for j := range f.regs[i].n {
				if e >= 0 {
					out = append(out, e+j)
				}
			}
		}
	}
	w.gmma.regs = out
	return out
}

// field is run in exact mode.
func (g *gmma) field(w *warp, a, b int64) {
	k, m := g.shape.k, w.field
	for i := range warpRows {
		g.a.cells(w, a, w.id%gmmaWarps*warpRows+i, m.a[i*k:(i+1)*k])
	}
	for j, f := range g.acc {
		for i := range gmmaCols {
			g.b.cells(w, b, j*gmmaCols+i, m.b[i*k:(i+1)*k])
		}
		if c := m.c[:warpRows*gmmaCols]; f.fieldGather(w, c) {
			m.multiply(&g.shape)
			f.fieldScatter(w, c)
		}
	}
}

// costs notes the traffic: A's rows of each warp, and B's once for the warpgroup. There are no bank conflicts.
func (g *gmma) costs(w *warp) {
	for _, o := range []*smemMatrix{g.a, g.b} {
		if o == g.b && w.id%gmmaWarps != 0 {
			continue
		}
		t, size := &w.b.counts.sites[o.site], w.b.prog.sites[o.site].size
		t.requests++
		t.bits += size
		if w.b.prog.check {
			t.waves += size / (banks * bankBits)
			t.leastWaves += size / (banks * bankBits)
		}
	}
}

// values reads the elements of a row of an operand.
func (o *smemMatrix) values(w *warp, at int64, row int, out []float64) {
	v := w.row[:len(out)]
	o.cells(w, at, row, v)
	o.decode(out, v)
}

// cells reads a row of an operand that begins at an element of the array, in chunks: rows are 16<<swizzle bytes apart.
func (o *smemMatrix) cells(w *warp, at int64, row int, out []uint64) {
	if o.columns {
		o.column(w, at, row, out)
		return
	}
	per := chunkBits / o.mem.bits
	start := (o.mem.base+at*int64(o.mem.bits))/8 + int64(row/8)*o.stride + int64(row%8)<<(4+o.swizzle)
	for i := 0; i < len(out); i += per {
		chunk := swizzle(start+int64(i*o.mem.bits/8), o.swizzle)
		o.chunk(w, (chunk*8-o.mem.base)/int64(o.mem.bits), out[i:i+per])
	}
}

// column reads a row of an operand whose columns are adjacent, element by element.
func (o *smemMatrix) column(w *warp, at int64, row int, out []uint64) {
	size, run := int64(o.mem.bits/8), 16<<o.swizzle*8/o.mem.bits
	start := (o.mem.base+at*int64(o.mem.bits))/8 + int64(row/run)*o.lead + int64(row%run)*size
	for k := range out {
		b := swizzle(start+int64(k/8)*o.stride+int64(k%8)<<(4+o.swizzle), o.swizzle)
		o.chunk(w, (b-o.mem.base/8)/size, out[k:k+1])
	}
}

// chunk reads elements side by side, 16 bytes or less.
func (o *smemMatrix) chunk(w *warp, index int64, out []uint64) {
	m, n := o.mem, int64(len(out))
	if index < 0 || index+n > m.count {
		w.outOfBounds(&m.area, 0, index, n)
		clear(out)
		return
	}
	c := m.first + int(index)*m.per
	if w.gmma != nil {
		w.gmma.read(w, m, c, len(out)*m.per)
	}
	m.peek(&w.b.sh, c, out)
}
