package ptxemu

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/emu/machine"
	"github.com/gocute/gocute/ptx"
)

var _ = register(map[string]func(c *compiler) (run, error){
	"wgmma.fence": (*compiler).gmmaFence, "wgmma.commit_group": (*compiler).gmmaCommit, "wgmma.wait_group": (*compiler).gmmaWait,
	"wgmma.mma_async": (*compiler).gmma,
})

// gmmaState is what a warp has in flight.
type gmmaState struct {
	open   gmmaGroup
	groups []gmmaGroup
	// changing counts, by register, the groups that may still change it; place is where it stands in D of the last one.
	changing []int
	place    []int
	used     []bool // by other instructions since the last fence
}

type gmmaGroup struct {
	copies []*machine.Copy
	regs   []int
}

func (w *warp) gmma() *gmmaState {
	if w.products == nil {
		n := len(w.regs)
		w.products = &gmmaState{changing: make([]int, n), place: make([]int, n), used: make([]bool, n)}
		for i := range w.products.used {
			w.products.used[i] = w.wrote[i] != 0
		}
	}
	return w.products
}

// uses judges registers that an instruction reads or writes while products may change them.
func (w *warp) uses(regs []int, pc int32, mask uint32) {
	g := w.products
	if g == nil {
		return
	}
	for _, r := range regs {
		if r < 0 {
			continue
		}
		g.used[r] = true
		if g.changing[r] > 0 {
			w.b.Report(machine.Register, w.thread(bits.TrailingZeros32(mask)), pc,
				"uses the register "+w.p.f.Registers[r].Name+", which a wgmma in flight changes: wait for its group (wgmma.wait_group)")
		}
	}
}

// gmmaFence compiles wgmma.fence: what other instructions did with registers is over before the products that follow.
func (c *compiler) gmmaFence() (run, error) {
	return func(w *warp, mask uint32) outcome {
		if o, ok := w.all(mask, c.in.Op); !ok {
			return o
		}
		clear(w.gmma().used)
		return outcome{}
	}, nil
}

func (c *compiler) gmmaCommit() (run, error) {
	return func(w *warp, mask uint32) outcome {
		if o, ok := w.all(mask, c.in.Op); !ok {
			return o
		}
		g := w.gmma()
		g.groups = append(g.groups, g.open)
		g.open = gmmaGroup{}
		return outcome{}
	}, nil
}

func (c *compiler) gmmaWait() (run, error) {
	if err := c.args(1); err != nil {
		return nil, err
	}
	n := int(c.in.Args[0].Bits)
	if c.in.Args[0].Kind != ptx.NumberOperand || n < 0 || n > 7 {
		return nil, fmt.Errorf("expected 0 to 7 groups")
	}
	return func(w *warp, mask uint32) outcome {
		if o, ok := w.all(mask, c.in.Op); !ok {
			return o
		}
		g := w.gmma()
		for len(g.groups) > n {
			for _, x := range g.groups[0].copies {
				w.b.Finish(x)
			}
			for _, r := range g.groups[0].regs {
				g.changing[r]--
			}
			g.groups = g.groups[1:]
		}
		return outcome{}
	}, nil
}

// gmmaOperand is A or B in shared memory, or A in registers.
type gmmaOperand struct {
	kind    elem.Kind
	desc    source
	regs    []source
	columns bool // the mode that is not k is contiguous
}

// gmma compiles wgmma.mma_async: each warp of the four computes 16 rows of D.
func (c *compiler) gmma() (run, error) {
	var n, k int
	var types []elem.Kind
	clamp := false
	for _, word := range c.in.Words[2:] {
		kind, isKind := kinds[word]
		switch {
		case word == "sync", word == "aligned":
		case word == "satfinite":
			clamp = true
		case isKind:
			types = append(types, kind)
		case strings.HasPrefix(word, "m64"):
			if _, err := fmt.Sscanf(word, "m64n%dk%d", &n, &k); err != nil {
				return nil, fmt.Errorf("the modifier .%s is not supported", word)
			}
		default:
			return nil, fmt.Errorf("the modifier .%s is not supported", word)
		}
	}
	if len(types) == 2 { // integers: .s32.s8.s8 has all three; none leaves one out
		return nil, fmt.Errorf("expected the types of D, A and B")
	}
	if len(types) != 3 || n < 8 || n > 256 || n%8 != 0 || k*types[1].Bits() != 256 || types[1].Bits() != types[2].Bits() {
		return nil, fmt.Errorf("expected m64nNkK with N a multiple of 8 up to 256 and K of 32 bytes, and the types of D, A and B")
	}
	x := &product{m: 16, n: n, k: k, d: types[0], a: types[1], b: types[2], c: types[0], clamp: clamp}
	args := c.in.Args
	if len(args) < 3 {
		return nil, fmt.Errorf("expected D, A and B")
	}
	to, err := c.registers(&args[0], n*16*x.d.Bits()/32/32)
	if err != nil {
		return nil, err
	}
	c.writes = nil // products in flight may go on adding to D
	a, b := &gmmaOperand{kind: x.a}, &gmmaOperand{kind: x.b}
	if args[1].Kind == ptx.VectorOperand {
		if len(args[1].List) != 4 {
			return nil, fmt.Errorf("expected 4 registers of A, but got %d", len(args[1].List))
		}
		for i := range args[1].List {
			v, err := c.value(&args[1].List[i], 32)
			if err != nil {
				return nil, err
			}
			a.regs = append(a.regs, v)
		}
	} else if a.desc, err = c.value(&args[1], 64); err != nil {
		return nil, err
	}
	if b.desc, err = c.value(&args[2], 64); err != nil {
		return nil, err
	}
	scaleD, signs, err := c.gmmaScales(args[3:], x, a, b)
	if err != nil {
		return nil, err
	}
	pc := c.pc
	return func(w *warp, mask uint32) outcome {
		if o, ok := w.all(mask, c.in.Op); !ok {
			return o
		}
		w.multiply(x, a, b, to, scaleD, signs, pc)
		return outcome{}
	}, nil
}

// gmmaScales reads what follows B: whether D is added to, and of floating-point types the signs of A and B, and of those of
// 16 bits in shared memory whether they are transposed.
func (c *compiler) gmmaScales(args []ptx.Operand, x *product, a, b *gmmaOperand) (scaleD source, signs [2]float64, err error) {
	scaleD, signs = constant(1), [2]float64{1, 1}
	if len(args) == 0 {
		return
	}
	o := args[0]
	if o.Not {
		return nil, signs, fmt.Errorf("a negated predicate is not supported")
	}
	if scaleD, err = c.value(&o, 32); err != nil {
		return
	}
	var rest []int64
	for _, o := range args[1:] {
		if o.Kind != ptx.NumberOperand {
			return nil, signs, fmt.Errorf("expected numbers after the predicate")
		}
		rest = append(rest, int64(o.Bits))
	}
	want := 2
	if x.d == elem.KS32 {
		want = 0
	}
	if x.a.Bits() == 16 {
		want += 2
		if a.regs != nil {
			want--
		}
	}
	if len(rest) != want {
		return nil, signs, fmt.Errorf("expected %d numbers after the predicate, but got %d", want, len(rest))
	}
	for i, v := range rest {
		switch {
		case i < 2 && (v == 1 || v == -1):
			signs[i] = float64(v)
		case i >= 2 && (v == 0 || v == 1):
			to := []*gmmaOperand{a, b}
			if a.regs != nil {
				to = to[1:]
			}
			to[i-2].columns = v == 1
		default:
			return nil, signs, fmt.Errorf("expected signs of 1 or -1, and 0 or 1 for transposed, but got %d", v)
		}
	}
	return
}

// multiply is a wgmma in one warp.
func (w *warp) multiply(x *product, a, b *gmmaOperand, to []int, scaleD source, signs [2]float64, pc int32) {
	g := w.gmma()
	for i, r := range to {
		if g.used[r] {
			w.b.Report(machine.Register, w.first, pc, "accumulates into the register "+w.p.f.Registers[r].Name+", which other instructions used, with no wgmma.fence since")
			g.used[r] = false
		}
		if g.changing[r] > 0 && g.place[r] != i {
			w.b.Report(machine.Register, w.first, pc, "accumulates into the register "+w.p.f.Registers[r].Name+", which a wgmma in flight changes as another part of its D")
		}
	}
	c := w.b.NewCopy(w.first, pc, "a wgmma", true)
	ma, mb, md := w.matrix(0, 16*x.k), w.matrix(1, x.k*x.n), w.matrix(2, 16*x.n)
	if a.regs != nil {
		x.gather(w, a.regs, x.a, ma, x.placeA, x.k)
	} else {
		a.load(w, c, pc, 16*(w.id%4), 16, x.k, signs[0], ma)
	}
	b.load(w, c, pc, 0, x.n, x.k, signs[1], mb)
	clear(md)
	if scaleD(w)[0] != 0 {
		planes := make([]source, len(to))
		for i, r := range to {
			planes[i] = func(w *warp) *lanes { return &w.regs[r] }
		}
		x.accumulators(w, planes, md)
	}
	x.multiply(ma, mb, md)
	x.results(w, to, md)
	for i, r := range to {
		w.wrote[r] = ^uint32(0)
		g.changing[r]++
		g.place[r] = i
	}
	g.open.copies = append(g.open.copies, c)
	g.open.regs = append(g.open.regs, to...)
}

// accumulators and results move D: every 8 columns are as those of mma.sync.
func (x *product) accumulators(w *warp, from []source, d []float64) {
	each8 := 4 / per(x.d)
	for r, f := range from {
		v := f(w)
		for l := range 32 {
			for i := range per(x.d) {
				row, col := x.placeC(l, r%each8, i)
				d[row*x.n+col+r/each8*8] = number(x.d, v[l]>>(i*x.d.Bits()))
			}
		}
	}
}

func (x *product) results(w *warp, to []int, d []float64) {
	each8, p := 4/per(x.d), per(x.d)
	for r, reg := range to {
		for l := range 32 {
			var v uint64
			for i := range p {
				row, col := x.placeC(l, r%each8, i)
				v |= encode(x.d, d[row*x.n+col+r/each8*8]) << (i * x.d.Bits())
			}
			w.regs[reg][l] = v
		}
	}
}

// load reads rows first to first+rows-1 of an operand (of B, its columns) into a matrix of rows of k.
func (o *gmmaOperand) load(w *warp, c *machine.Copy, pc int32, first, rows, k int, sign float64, to []float64) {
	d := o.desc(w)[0]
	start := d & 0x3fff << 4
	lead, stride := d>>16&0x3fff<<4, d>>32&0x3fff<<4
	mode := int(d >> 62) // 0 none, 1: 128 bytes, 2: 64, 3: 32
	swz := map[int]int{0: 0, 1: 3, 2: 2, 3: 1}[mode]
	if base := d >> 49 & 7; base != 0 {
		w.b.Report(machine.Descriptor, w.first, pc, fmt.Sprintf("a descriptor with a base offset of %d is not supported", base))
		return
	}
	for _, v := range o.desc(w) {
		if v != d && v != 0 {
			w.b.Report(machine.Divergent, w.first, pc, "a wgmma whose lanes have different descriptors")
			return
		}
	}
	size := o.kind.Bits() / 8
	if o.columns && mode == 0 {
		w.b.Report(machine.Unsupported, w.first, pc, "a transposed operand without a swizzle is not supported")
		return
	}
	var buf [16]byte
	for r := range rows {
		row := uint64(first + r)
		if o.columns {
			run := uint64(16<<swz) / uint64(size)
			for j := range k {
				at := start + row/run*lead + row%run*uint64(size) + uint64(j/8)*stride + uint64(j%8)<<(4+swz)
				w.b.CopyRead(c, machine.Shared, swizzled(at, swz), size, buf[:size])
				to[r*k+j] = sign * number(o.kind, little(buf[:size]))
			}
			continue
		}
		for chunk := range 2 { // of 16 bytes
			at := start + row/8*stride + row%8<<(4+swz) + uint64(chunk)*16
			if swz == 0 {
				at = start + row/8*stride + row%8*16 + uint64(chunk)*lead
			}
			w.b.CopyRead(c, machine.Shared, swizzled(at, swz), 16, buf[:])
			for j := range 16 / size {
				to[r*k+chunk*16/size+j] = sign * number(o.kind, little(buf[j*size:(j+1)*size]))
			}
		}
	}
}
