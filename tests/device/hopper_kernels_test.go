package device

import (
	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/atoms"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// builder makes kernels of the C IR by hand.
type builder struct{ k *cir.Kernel }

func num(n int) sym.Expr { return sym.Int(n) }

func (b builder) dim(name string, multiple int64) sym.Expr {
	s := &sym.Symbol{Name: name, Class: sym.Param, Lo: 1, Hi: 1 << 20, Multiple: multiple}
	b.k.Params = append(b.k.Params, &cir.Param{Name: name, Class: cir.Dim, Sym: s})
	return sym.New(s)
}

func (b builder) tensor(name string, kind elem.Kind, count sym.Expr, write bool) *cir.Param {
	p := &cir.Param{Name: name, Class: cir.Pointer, Elem: kind, Read: !write, Write: write,
		Mem: &cir.Mem{Name: name, Space: cir.Global, Elem: kind, Count: count, Align: 16}}
	b.k.Params = append(b.k.Params, p)
	return p
}

// shared is an array behind those before, at a whole period of every swizzle.
func (b builder) shared(name string, kind elem.Kind, count int) *cir.Mem {
	const period = 1024
	m := &cir.Mem{Name: name, Space: cir.Shared, Elem: kind, Count: num(count), Align: period, Offset: (b.k.SmemBytes + period - 1) / period * period}
	b.k.Shared = append(b.k.Shared, m)
	b.k.SmemBytes = m.Offset + count*kind.Bits()/8
	return m
}

func (b builder) tensorMap(of *cir.Param, swizzle int, extents, strides []sym.Expr, box ...int) *cir.TensorMap {
	m := &cir.TensorMap{Name: of.Name + "_map", Of: of, Extents: extents, Strides: strides, Box: box, Swizzle: swizzle}
	b.k.Maps = append(b.k.Maps, m)
	return m
}

func index(name string, class sym.Class, n int) sym.Expr {
	return sym.New(&sym.Symbol{Name: name, Class: class, Hi: int64(n - 1)})
}

// first runs statements in the block's first thread.
func first(tid sym.Expr, body ...cir.Stmt) cir.Stmt {
	return cir.If{Cond: cir.Cmp{Op: cir.EQ, X: tid, Y: num(0)}, Then: body}
}

var tensorLoad = func() *cir.Op {
	row, err := atoms.Bulk("SM90_TMA_LOAD", 128)
	if err != nil {
		panic(err)
	}
	return &cir.Op{Name: "SM90_TMA_LOAD", PTX: row.PTX, Class: cir.TensorCopy, Arch: row.Arch}
}()

// boxCopy has each block load one box of A, of as many dimensions as the box has, and store what then lies in shared memory.
// The blocks are along x, y and z as the boxes are along the first three dimensions.
func boxCopy(swizzle int, box ...int) *cir.Kernel {
	b := builder{&cir.Kernel{Name: "box_copy", Threads: 64, Arch: 90}}
	names := []string{"N", "M", "L"}
	ends, strides, coords := []sym.Expr{}, []sym.Expr{num(1)}, []sym.Expr{}
	grid := [3]sym.Expr{num(1), num(1), num(1)}
	block, blocks := num(0), num(1)
	for i := range box {
		e := b.dim(names[i], 1)
		ends = append(ends, e)
		at := index("b"+string("xyz"[i]), sym.Block, 1<<16)
		coords = append(coords, at.Mul(num(box[i])))
		grid[i] = e.CeilDiv(num(box[i]))
		block, blocks = block.Add(at.Mul(blocks)), blocks.Mul(grid[i])
	}
	lda := b.dim("lda", 8)
	for i := 1; i < len(box); i++ {
		strides = append(strides, lda)
		lda = lda.Mul(ends[i])
	}
	b.k.Grid = grid
	elems := 1
	for _, n := range box {
		elems *= n
	}
	a := b.tensor("A", elem.KF16, lda, false)
	out := b.tensor("out", elem.KF16, blocks.Mul(num(elems)), true)
	m := b.tensorMap(a, swizzle, ends, strides, box...)
	sA, bar := b.shared("sA", elem.KF16, elems), b.shared("bar", elem.KU64, 1)
	word := cir.Addr{Mem: bar, Index: num(0)}
	tid := index("tid", sym.Thread, b.k.Threads)
	i := &sym.Symbol{Name: "i", Class: sym.Loop, Hi: int64(elems/(8*b.k.Threads) - 1)}
	reg := &cir.Reg{Name: "r", Elem: elem.KF16, Count: 8}
	at := sym.New(i).Mul(num(8 * b.k.Threads)).Add(tid.Mul(num(8)))
	ref := cir.RegRef{Reg: reg, Index: num(0), Elems: 8}
	b.k.Body = []cir.Stmt{
		first(tid, cir.MBarrierInit{Bar: word, Count: 1}), cir.Barrier{},
		first(tid, cir.MBarrierExpect{Bar: word, Bytes: m.Bytes()},
			cir.TensorLoad{Op: tensorLoad, Map: m, Coords: coords, Dst: cir.Addr{Mem: sA, Index: num(0)}, Bar: word}),
		cir.MBarrierWait{Bar: word, Parity: num(0)},
		cir.For{Sym: i, Lo: num(0), Hi: num(elems / (8 * b.k.Threads)), Body: []cir.Stmt{
			cir.DeclReg{Reg: reg}, cir.Load{Dst: ref, Src: cir.Addr{Mem: sA, Index: at}},
			cir.Store{Dst: cir.Addr{Mem: out.Mem, Index: block.Mul(num(elems)).Add(at)}, Src: ref}}},
	}
	return b.k
}

// gmmaTails are the immediates of the products of two operands of a kind, both K-major.
var gmmaTails = map[elem.Kind]string{elem.KF16: ", 1, 1, 0, 0", elem.KBF16: ", 1, 1, 0, 0", elem.KTF32: ", 1, 1", elem.KS8: ""}

// tileRows and tileColumns are those of gmmaTile's C, stages the buffers of its operands.
const (
	tileRows    = 128
	tileColumns = 96
	stages      = 3
)

// gmmaTile is C (128,96) = A (M,K) * B (N,K)': one block, a warp that loads and two warpgroups that multiply what lies in
// rows of 16 << swizzle bytes. Rows beyond M and N, and columns beyond K, are zeros.
func gmmaTile(kind elem.Kind, swizzle int) (*cir.Kernel, error) {
	result := elem.KF32
	if !kind.IsFloat() {
		result = elem.KS32
	}
	row, err := atoms.GMMA(atoms.GMMASpec{N: tileColumns, D: result, A: kind, B: kind})
	if err != nil {
		return nil, err
	}
	op := &cir.Op{Name: row.Name, PTX: row.PTX, Tail: gmmaTails[kind], Class: cir.GMMA, Arch: row.Arch,
		D: cir.Operand{Type: row.RD.Type, Count: row.RD.Count}}
	b := builder{&cir.Kernel{Name: "gmma_tile", Threads: 384, MinBlocks: 1, Arch: 90, Exactly: true, Grid: [3]sym.Expr{num(1), num(1), num(1)}}}
	size := kind.Bits() / 8
	wide := (16 << swizzle) / size // elements of a row
	m, n, k := b.dim("M", 1), b.dim("N", 1), b.dim("K", int64(16/size))
	t := &tile{b: b, op: op, wide: wide, swizzle: swizzle, steps: k.CeilDiv(num(wide)), tid: index("tid", sym.Thread, b.k.Threads),
		sA: b.shared("sA", kind, stages*tileRows*wide), sB: b.shared("sB", kind, stages*tileColumns*wide),
		full: b.shared("full", elem.KU64, stages), empty: b.shared("empty", elem.KU64, stages)}
	pa, pb := b.tensor("A", kind, m.Mul(k), false), b.tensor("B", kind, n.Mul(k), false)
	t.out = b.tensor("C", result, num(tileRows*tileColumns), true)
	one := num(1)
	t.a = b.tensorMap(pa, swizzle, []sym.Expr{k, m}, []sym.Expr{one, k}, wide, tileRows)
	t.b2 = b.tensorMap(pb, swizzle, []sym.Expr{k, n}, []sym.Expr{one, k}, wide, tileColumns)
	var init []cir.Stmt
	for i := range stages {
		init = append(init, cir.MBarrierInit{Bar: cir.Addr{Mem: t.full, Index: num(i)}, Count: 1},
			cir.MBarrierInit{Bar: cir.Addr{Mem: t.empty, Index: num(i)}, Count: 2 * 4})
	}
	b.k.Body = []cir.Stmt{first(t.tid, init...), cir.Barrier{},
		cir.If{Cond: cir.Cmp{Op: cir.LT, X: t.tid, Y: num(128)}, Then: []cir.Stmt{first(t.tid, t.load())}, Else: t.multiply()}}
	return b.k, nil
}

// tile is what the two parts of gmmaTile share.
type tile struct {
	b                   builder
	op                  *cir.Op
	wide, swizzle       int
	steps, tid          sym.Expr
	sA, sB, full, empty *cir.Mem
	a, b2               *cir.TensorMap
	out                 *cir.Param
}

// ring is the loop over the steps, with the buffer of a step and the parity of its use.
func (t *tile) ring(body func(step, slot, parity sym.Expr) []cir.Stmt) cir.Stmt {
	s := &sym.Symbol{Name: "step", Class: sym.Loop, Hi: 1 << 18}
	e := sym.New(s)
	return cir.For{Sym: s, Lo: num(0), Hi: t.steps, Body: body(e, e.Mod(num(stages)), e.FloorDiv(num(stages)).Mod(num(2)))}
}

func (t *tile) load() cir.Stmt {
	return t.ring(func(step, slot, parity sym.Expr) []cir.Stmt {
		full := cir.Addr{Mem: t.full, Index: slot}
		at := []sym.Expr{step.Mul(num(t.wide)), num(0)}
		return []cir.Stmt{
			cir.MBarrierWait{Bar: cir.Addr{Mem: t.empty, Index: slot}, Parity: parity.Xor(num(1))},
			cir.MBarrierExpect{Bar: full, Bytes: t.a.Bytes() + t.b2.Bytes()},
			cir.TensorLoad{Op: tensorLoad, Map: t.a, Coords: at, Dst: cir.Addr{Mem: t.sA, Index: slot.Mul(num(t.a.Elems()))}, Bar: full},
			cir.TensorLoad{Op: tensorLoad, Map: t.b2, Coords: at, Dst: cir.Addr{Mem: t.sB, Index: slot.Mul(num(t.b2.Elems()))}, Bar: full},
		}
	})
}

func (t *tile) multiply() []cir.Stmt {
	acc := &cir.Reg{Name: "rC", Elem: t.out.Elem, Count: t.op.D.Count}
	var d []cir.RegRef
	for i := range acc.Count {
		d = append(d, cir.RegRef{Reg: acc, Index: num(i), Elems: 1})
	}
	group := t.tid.FloorDiv(num(128)).Sub(num(1))
	part := &sym.Symbol{Name: "part", Class: sym.Loop, Hi: int64((16<<t.swizzle)/32 - 1)}
	along := sym.New(part).Mul(num(32 * 8 / t.sA.Elem.Bits())) // 32 bytes of a row for each product
	operand := func(m *cir.Mem, elems int, row, slot sym.Expr) cir.SmemMatrix {
		return cir.SmemMatrix{At: cir.Addr{Mem: m, Index: slot.Mul(num(elems)).Add(row.Mul(num(t.wide))).Add(along)},
			Stride: 8 * 16 << t.swizzle, Swizzle: t.swizzle}
	}
	out := []cir.Stmt{cir.DeclReg{Reg: acc}, cir.Fill{Reg: acc},
		t.ring(func(_, slot, parity sym.Expr) []cir.Stmt {
			return []cir.Stmt{cir.MBarrierWait{Bar: cir.Addr{Mem: t.full, Index: slot}, Parity: parity}, cir.WarpgroupArrive{},
				cir.For{Sym: part, Lo: num(0), Hi: num((16 << t.swizzle) / 32), Unroll: true, Body: []cir.Stmt{
					cir.WarpgroupMMA{Op: t.op, D: d, A: operand(t.sA, t.a.Elems(), group.Mul(num(64)), slot), B: operand(t.sB, t.b2.Elems(), num(0), slot)}}},
				cir.WarpgroupCommit{}, cir.WarpgroupWait{Regs: []*cir.Reg{acc}},
				cir.MBarrierArrive{Bar: cir.Addr{Mem: t.empty, Index: slot}, OncePerWarp: true}}
		})}
	row := t.tid.Sub(num(128)).FloorDiv(num(32)).Mul(num(16)).Add(t.tid.Mod(num(32)).FloorDiv(num(4)))
	for i := 0; i < acc.Count; i += 2 {
		at := row.Add(num(8 * (i / 2 % 2))).Mul(num(tileColumns)).Add(num(8 * (i / 4))).Add(t.tid.Mod(num(4)).Mul(num(2)))
		out = append(out, cir.Store{Dst: cir.Addr{Mem: t.out.Mem, Index: at}, Src: cir.RegRef{Reg: acc, Index: num(i), Elems: 2}})
	}
	return out
}
