package emu

import (
	"math"
	"strings"

	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// product is a multiply-accumulate instruction beside those of mmaTable: several matrices at once, other places or
// another arithmetic. Groups of lanes have matrices of their own, m x k, k x n and m x n.
type product struct {
	mmaShape
	groups int // matrices at once
	a, b   func(lane, i int) (row, col int)
	c      func(lane, i int) (row, col int)
	group  func(lane int) int
	mul    func(x, y float64) float64
	clamp  bool // s32 results saturate
}

func times(x, y float64) float64 { return x * y }

// Bits are multiplied as numbers or compared; the sum is then the population count.
func bothBits(x, y float64) float64  { return x * y }
func otherBits(x, y float64) float64 { return x + y - 2*x*y }

// productTable has a row for each instruction, by its PTX mnemonic.
var productTable = func() map[string]*product {
	out := map[string]*product{}
	for _, p := range quadpairs() {
		out[p.ptxQuadpair()] = p
	}
	fp8 := []elem.Kind{elem.KE4M3, elem.KE5M2}
	for _, d := range []elem.Kind{elem.KF32, elem.KF16} {
		for _, a := range fp8 {
			for _, b := range fp8 {
				p := warpProduct(mmaShape{16, 8, 32, d, a, b, d}, times)
				out[p.ptx()] = p
			}
		}
	}
	for _, t := range mmaTable {
		if t.d == elem.KS32 {
			p := warpProduct(*t, times)
			p.clamp = true
			out[p.ptx()+".satfinite"] = p
		}
	}
	for _, s := range [][2]int{{8, 128}, {16, 128}, {16, 256}} {
		shape := mmaShape{s[0], 8, s[1], elem.KS32, elem.KB1, elem.KB1, elem.KS32}
		for op, mul := range map[string]func(x, y float64) float64{".and.popc": bothBits, ".xor.popc": otherBits} {
			p := warpProduct(shape, mul)
			out[p.ptx()+op] = p
		}
	}
	out["dp4a.s32.s32"], out["dp2a.s32.s32"] = dot(4, elem.KS8), dot(2, elem.KS16)
	return out
}()

// warpProduct has the places of every warp-wide shape.
func warpProduct(s mmaShape, mul func(x, y float64) float64) *product {
	p := &product{mmaShape: s, groups: 1, mul: mul, group: func(int) int { return 0 }, c: s.placeC}
	pa, pb := inRegister(s.a), inRegister(s.b)
	p.a = func(lane, i int) (int, int) { return p.placeA(lane, i/pa, i%pa) }
	p.b = func(lane, i int) (int, int) { return p.placeB(lane, i/pb, i%pb) }
	return p
}

// dot is a product of vectors in each lane, of packed integers.
func dot(k int, kind elem.Kind) *product {
	return &product{mmaShape: mmaShape{1, 1, k, elem.KS32, kind, kind, elem.KS32}, groups: 32, mul: times,
		group: func(lane int) int { return lane },
		a:     func(_, i int) (int, int) { return 0, i },
		b:     func(_, i int) (int, int) { return i, 0 },
		c:     func(_, _ int) (int, int) { return 0, 0 }}
}

// quadpairs are the m8n8k4 instructions. Lanes 0-3 and 16-19 make the first product, 4-7 and 20-23 the second, and so
// on; the upper lanes have the rows and columns from 4.
func quadpairs() []*product {
	upper := func(lane int) int { return lane / 16 * 4 }
	across := func(lane, i int) (int, int) { return lane%4 + upper(lane), i } // .row of A, .col of B with its indices swapped
	along := func(lane, i int) (int, int) { return i%4 + upper(lane), lane % 4 }
	swap := func(f func(lane, i int) (int, int)) func(lane, i int) (int, int) {
		return func(lane, i int) (int, int) { a, b := f(lane, i); return b, a }
	}
	half := func(lane, i int) (int, int) { return lane%4 + upper(lane), i }
	single := func(lane, i int) (int, int) {
		return lane&1 + i&2 + upper(lane), i&4 + lane&2 + i&1
	}
	var out []*product
	for _, d := range []elem.Kind{elem.KF16, elem.KF32} {
		for order := range 4 {
			p := &product{mmaShape: mmaShape{8, 8, 4, d, elem.KF16, elem.KF16, d}, groups: 4, mul: times,
				group: func(lane int) int { return lane % 16 / 4 }, a: across, b: swap(across), c: half}
			if order&1 == 1 { // A by columns
				p.a = along
			}
			if order&2 == 2 { // B by rows
				p.b = swap(along)
			}
			if d == elem.KF32 {
				p.c = single
			}
			out = append(out, p)
		}
	}
	return out
}

// ptxQuadpair finds the orders of A and B from where their second element is.
func (p *product) ptxQuadpair() string {
	order := map[bool]string{true: "row", false: "col"}
	_, colA := p.a(0, 1)
	_, colB := p.b(0, 1)
	return strings.Replace(p.ptx(), "row.col", order[colA == 1]+"."+order[colB == 1], 1)
}

// decoder reads the elements of an operand.
func decoder(k elem.Kind) operandDecoder {
	if d := operandDecoders[k]; d != nil {
		return d
	}
	return func(out []float64, place *[32]uint16, plane *[32]uint64) {
		for l, v := range plane {
			out[place[l]] = elem.Decode(k, v)
		}
	}
}

// operandOf compiles an operand of a product; at numbers its elements within a group's matrix.
func (c *compiler) operandOf(name string, s *cir.MMAStmt, p *product, refs []cir.RegRef, k elem.Kind, rows, cols int,
	at func(lane, i int) int) *fragment {
	f := c.fragment(name, s, refs, k, p.groups*rows, cols, func(lane, r, j int) int {
		return p.group(lane)*rows*cols + at(lane, r*inRegister(k)+j)
	})
	f.read = decoder(k)
	return f
}

// otherMMA compiles an instruction of productTable, or one for complex numbers; nil where it is neither.
func (c *compiler) otherMMA(s cir.MMAStmt) func(*warp) {
	if s.Op == nil || s.Op.Class != cir.MMA && s.Op.Class != cir.Dot {
		return nil
	}
	if s.Op.Times > 0 {
		return c.complexProduct(s)
	}
	p := productTable[s.Op.PTX]
	if p == nil {
		return nil
	}
	if c.prog.exact {
		c.inexact("the kernel runs %s", s.Op.PTX)
	}
	a := c.operandOf("A", &s, p, s.A, p.mmaShape.a, p.m, p.k, func(lane, i int) int { r, q := p.a(lane, i); return r*p.k + q })
	b := c.operandOf("B", &s, p, s.B, p.mmaShape.b, p.k, p.n, func(lane, i int) int { r, q := p.b(lane, i); return q*p.k + r })
	place := func(lane, i int) int { r, q := p.c(lane, i); return r*p.n + q }
	acc := c.operandOf("C", &s, p, s.C, p.mmaShape.c, p.m, p.n, place)
	d := c.operandOf("D", &s, p, s.D, p.d, p.m, p.n, place)
	return func(w *warp) {
		w.whole(s.Op.PTX)
		w.b.counts.instr[kMMA]++
		ma, mb := make([]float64, p.groups*p.m*p.k), make([]float64, p.groups*p.k*p.n)
		mc := make([]float64, p.groups*p.m*p.n)
		if a.gather(w, ma) && b.gather(w, mb) && acc.gather(w, mc) {
			p.accumulate(ma, mb, mc)
			d.scatter(w, mc)
		}
	}
}

// accumulate adds the products of all groups.
func (p *product) accumulate(a, b, c []float64) {
	for g := range p.groups {
		ga, gb, gc := a[g*p.m*p.k:], b[g*p.k*p.n:], c[g*p.m*p.n:]
		for i := range p.m {
			for j := range p.n {
				sum := gc[i*p.n+j]
				for x := range p.k {
					sum += p.mul(ga[i*p.k+x], gb[j*p.k+x])
				}
				if p.clamp {
					sum = min(max(sum, math.MinInt32), math.MaxInt32)
				}
				gc[i*p.n+j] = sum
			}
		}
	}
}

// complexProduct multiplies complex numbers, each of which is adjacent f64 registers: real and imaginary parts of A and
// B, and of D the same or the sums of Re*Re, Im*Im and (Re+Im)*(Re+Im).
func (c *compiler) complexProduct(s cir.MMAStmt) func(*warp) {
	t := mmaTable[s.Op.PTX]
	if t == nil || t.d != elem.KF64 || s.Op.Times != 3 && s.Op.Times != 4 {
		c.fail("%d of %s cannot be emulated", s.Op.Times, s.Op.PTX)
	}
	if c.prog.exact {
		c.inexact("the kernel runs %s", s.Op.Name)
	}
	p := warpProduct(*t, times)
	parts := map[int]int{4: 2, 3: 3}[s.Op.Times]
	split := func(name string, refs []cir.RegRef, n, rows, cols int, at func(lane, i int) int) []*fragment {
		out := make([]*fragment, n)
		for i := range out {
			var mine []cir.RegRef
			for j := i; j < len(refs); j += n {
				mine = append(mine, refs[j])
			}
			out[i] = c.operandOf(name, &s, p, mine, elem.KF64, rows, cols, at)
		}
		return out
	}
	a := split("A", s.A, 2, p.m, p.k, func(lane, i int) int { r, q := p.a(lane, i); return r*p.k + q })
	b := split("B", s.B, 2, p.k, p.n, func(lane, i int) int { r, q := p.b(lane, i); return q*p.k + r })
	place := func(lane, i int) int { r, q := p.c(lane, i); return r*p.n + q }
	acc, d := split("C", s.C, parts, p.m, p.n, place), split("D", s.D, parts, p.m, p.n, place)
	return func(w *warp) {
		w.whole(s.Op.PTX)
		w.b.counts.instr[kMMA]++
		ma, ok := gatherAll(w, a, p.m*p.k)
		mb, ok2 := gatherAll(w, b, p.k*p.n)
		mc, ok3 := gatherAll(w, acc, p.m*p.n)
		if !ok || !ok2 || !ok3 {
			return
		}
		p.complex(ma, mb, mc)
		for i := range d {
			d[i].scatter(w, mc[i])
		}
	}
}

func gatherAll(w *warp, fs []*fragment, n int) ([][]float64, bool) {
	out := make([][]float64, len(fs))
	for i, f := range fs {
		out[i] = make([]float64, n)
		if !f.gather(w, out[i]) {
			return nil, false
		}
	}
	return out, true
}

// complex adds real products in chains of fused multiply-adds, as the f64 instruction does.
func (p *product) complex(a, b, c [][]float64) {
	chain := func(d, x, y []float64) {
		for i := range p.m {
			for j := range p.n {
				for k := range p.k {
					d[i*p.n+j] = math.FMA(x[i*p.k+k], y[j*p.k+k], d[i*p.n+j])
				}
			}
		}
	}
	each := func(x, y []float64, f func(x, y float64) float64) []float64 {
		out := make([]float64, len(x))
		for i := range x {
			out[i] = f(x[i], y[i])
		}
		return out
	}
	if len(c) == 3 {
		sum := func(x, y float64) float64 { return x + y }
		chain(c[0], a[0], b[0])
		chain(c[1], a[1], b[1])
		chain(c[2], each(a[0], a[1], sum), each(b[0], b[1], sum))
		return
	}
	chain(c[0], a[0], b[0])
	chain(c[0], each(a[1], a[1], func(x, _ float64) float64 { return -x }), b[1])
	chain(c[1], a[0], b[1])
	chain(c[1], a[1], b[0])
}
