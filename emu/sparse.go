package emu

import (
	"fmt"
	"sync"

	"github.com/gocute/gocute/elem"
)

// pages are the contents of a buffer of which only what is touched takes memory; the rest is zero.
type pages struct {
	mu   sync.Mutex
	n    int64
	page map[int64]*page
}

const pageBits = 10

type page struct {
	val     [1 << pageBits]uint64
	written [1 << pageBits]bool
}

// NewSparseBuffer is a buffer of n elements that takes memory only for those that are touched: for runs of a few
// blocks at sizes that do not fit the machine. It has no Cells; Get and Set reach its elements. Its elements are not
// checked for being written twice or never.
func NewSparseBuffer(k elem.Kind, n int64) *Buffer {
	return &Buffer{Kind: k, sparse: &pages{n: n, page: map[int64]*page{}}}
}

// Len is the number of elements.
func (b *Buffer) Len() int64 {
	if b.sparse != nil {
		return b.sparse.n
	}
	return int64(len(b.Cells))
}

// Get is the cell of an element, which must exist.
func (b *Buffer) Get(i int64) uint64 {
	if b.sparse == nil {
		return b.Cells[i]
	}
	var out [1]uint64
	b.sparse.load(i, out[:])
	return out[0]
}

// Set changes the cell of an element, which must exist.
func (b *Buffer) Set(i int64, v uint64) {
	if b.sparse == nil {
		b.Cells[i] = v
		return
	}
	b.sparse.store(i, []uint64{v})
}

func (p *pages) at(i int64) (pg *page, in int64) {
	pg = p.page[i>>pageBits]
	if pg == nil {
		pg = &page{}
		p.page[i>>pageBits] = pg
	}
	return pg, i & (1<<pageBits - 1)
}

// load reads elements and returns the first that was never written, or -1.
func (p *pages) load(index int64, out []uint64) (unwritten int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	unwritten = -1
	for i := range out {
		pg, in := p.at(index + int64(i))
		out[i] = pg.val[in]
		if !pg.written[in] && unwritten < 0 {
			unwritten = index + int64(i)
		}
	}
	return unwritten
}

func (p *pages) store(index int64, in []uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, v := range in {
		pg, at := p.at(index + int64(i))
		pg.val[at], pg.written[at] = v, true
	}
}

func (g *gmem) loadSparse(w *warp, lane int, index int64, out []uint64) {
	i := g.sparse.load(index, out)
	if g.defined || i < 0 || !w.b.prog.check {
		return
	}
	if f := w.find(Uninitialised, g.name, lane, i); f != nil {
		f.Message = fmt.Sprintf("reads %s, which was never written", g.element(i))
	}
}
