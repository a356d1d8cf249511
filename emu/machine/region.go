package machine

import (
	"fmt"
	"math/bits"
	"slices"
)

// Space is a state space.
type Space uint8

// The spaces that accesses name. Generic addresses are those of global memory and the windows of the others.
const (
	Generic Space = iota
	Global
	Shared
	Local
	Const // parameters and constants: read-only
)

// The windows of generic addresses, and where shared memory begins in its own space. An address of 0 is nobody's.
const (
	SharedWindow = 0x7100_0000_0000_0000
	LocalWindow  = 0x7200_0000_0000_0000
	ConstWindow  = 0x7300_0000_0000_0000
	GlobalBase   = 0x0200_0000_0000
	SharedBase   = 1024
	guard        = 1 << 16 // bytes between regions of global memory
)

// Region is memory with an address: an allocation in global memory, a block's shared memory, a thread's local memory.
type Region struct {
	Name    string
	Space   Space
	Base    uint64
	Data    []byte
	Defined bool // it held values before the kernel began
	pages   []page
}

// page is the history of pageBytes bytes, in cells of 1<<shift bytes.
type page struct {
	shift uint8
	cells []cell
}

const (
	pageBytes = 1024
	mostShift = 4
)

// access kinds of a node.
type kind uint8

const (
	weakRead kind = iota
	strongRead
	strongWrite
	asyncRead
)

// node is accesses of a cell since its last weak write, those of lanes of one warp at one time.
type node struct {
	next        *node
	copy        *Copy // of an asyncRead
	block, warp int32
	lanes       uint32
	time        uint32
	pc          int32
	kind        kind
	scope       Scope
}

// cell is the history of some bytes.
type cell struct {
	write  event // the last weak write
	copy   *Copy // or the asynchronous copy that was, or is to be, the last write
	nodes  *node
	serial uint32 // of the instruction that wrote
	async  bool   // the last write was an asynchronous copy's
}

func newRegion(name string, s Space, base uint64, n int) *Region {
	return &Region{Name: name, Space: s, Base: base, Data: make([]byte, n), pages: make([]page, (n+pageBytes-1)/pageBytes)}
}

// cellsOf calls f for each cell of [off, off+n), after making cells small enough. f gets the cell's first byte.
func (r *Region) cellsOf(off int64, n int, f func(c *cell, at int64)) {
	shift := uint8(min(bits.TrailingZeros64(uint64(off)|uint64(n)), mostShift))
	for end := off + int64(n); off < end; {
		p := &r.pages[off/pageBytes]
		p.split(shift)
		last := min(end, (off/pageBytes+1)*pageBytes)
		for off < last {
			f(&p.cells[off%pageBytes>>p.shift], off)
			off += 1 << p.shift
		}
	}
}

// split makes cells of at most 1<<shift bytes.
func (p *page) split(shift uint8) {
	if p.cells == nil {
		p.shift = shift
		p.cells = make([]cell, pageBytes>>shift)
		return
	}
	if shift >= p.shift {
		return
	}
	per := 1 << (p.shift - shift)
	out := make([]cell, len(p.cells)*per)
	for i := range p.cells {
		for j := range per {
			c := p.cells[i]
			c.nodes = c.nodes.clone()
			out[i*per+j] = c
		}
	}
	p.shift, p.cells = shift, out
}

func (n *node) clone() *node {
	if n == nil {
		return nil
	}
	c := *n
	c.next = n.next.clone()
	return &c
}

// Alloc makes a region of global memory, aligned to 256 bytes and far from the others.
func (m *Machine) Alloc(name string, n int) *Region {
	base := uint64(GlobalBase)
	if k := len(m.global); k > 0 {
		last := m.global[k-1]
		base = (last.Base + uint64(len(last.Data)) + guard + 255) &^ 255
	}
	r := newRegion(name, Global, base, n)
	m.global = append(m.global, r)
	return r
}

// find is the region of global memory that an address lies in or, if it lies in none, the nearest one below it.
func (m *Machine) find(addr uint64) *Region {
	if r := m.last; r != nil && addr-r.Base < uint64(len(r.Data)) {
		return r
	}
	i, found := slices.BinarySearchFunc(m.global, addr, func(r *Region, a uint64) int {
		switch {
		case r.Base < a:
			return -1
		case r.Base > a:
			return 1
		}
		return 0
	})
	if !found {
		i--
	}
	if i < 0 {
		return nil
	}
	m.last = m.global[i]
	return m.last
}

// resolve finds the region of an address of a thread; off is relative to it, and may lie outside.
func (b *Block) resolve(t int, s Space, addr uint64) (r *Region, off int64) {
	if s == Generic {
		switch addr >> 56 {
		case SharedWindow >> 56:
			s, addr = Shared, addr-SharedWindow
		case LocalWindow >> 56:
			s, addr = Local, addr-LocalWindow
		case ConstWindow >> 56:
			s, addr = Const, addr-ConstWindow
		default:
			s = Global
		}
	}
	switch s {
	case Shared:
		r = b.shared
	case Local:
		r = b.local(t)
	case Const:
		r = b.m.constants
	default:
		r = b.m.find(addr)
	}
	if r == nil {
		return nil, int64(addr)
	}
	return r, int64(addr - r.Base)
}

// within finds the region of an access and checks its bounds and alignment; r is nil after a finding.
func (b *Block) within(t int, pc int32, s Space, addr uint64, n, align int, verb string) (r *Region, off int64) {
	r, off = b.resolve(t, s, addr)
	if r == nil || off < 0 || off+int64(n) > int64(len(r.Data)) {
		name := ""
		if r != nil {
			name = r.Name
		}
		if f := b.find(OutOfBounds, t, pc, name); f != nil {
			f.Offset, f.Bytes = off, n
			if r == nil {
				f.Message = fmt.Sprintf("%s %d bytes at address %#x, where no memory is", verb, n, addr)
			} else {
				f.Message = fmt.Sprintf("%s bytes %d to %d of %s, which has %d", verb, off, off+int64(n)-1, r.Name, len(r.Data))
			}
		}
		return nil, 0
	}
	if addr&uint64(align-1) != 0 {
		if f := b.find(Misaligned, t, pc, r.Name); f != nil {
			f.Offset, f.Bytes = off, n
			f.Message = fmt.Sprintf("%s %d bytes at byte %d of %s: the address %#x is no multiple of %d", verb, n, off, r.Name, addr, align)
		}
		return nil, 0
	}
	return r, off
}
