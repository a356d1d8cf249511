package emu

import (
	"fmt"
	"sync"

	"github.com/gocute/gocute/gen/cir"
)

// gmem is a buffer in global memory, which all blocks share. Of a buffer that the kernel writes, it keeps for each
// element the first and the last accesses in order of blocks, which do not depend on the order of execution.
type gmem struct {
	area
	shape    shape
	declared cir.Pos // the line of In, Out or InOut
	val      []uint64
	defined  bool // the caller's contents count
	written  bool // the kernel has a statement that writes it
	loaded   bool // and one that reads it
	track    bool
	hazards  bool           // threads of a block may read what others of it write
	locks    [64]sync.Mutex // by blocks of 1024 elements

	firstWrite, lastWrite, firstRead, lastRead []uint64
	firstAtomic, lastAtomic                    []uint64
	writer, reader                             []stamp // where blocks arrive at counters
	sparse                                     *pages  // instead of val, of buffers that are mostly not touched
}

const stripe = 10 // log2 of the elements under one lock

// access packs who touched an element: block, thread, statement.
func access(block int64, thread int, stmt int32) uint64 {
	if stmt > 0xffff {
		stmt = 0
	}
	return (uint64(block)<<10|uint64(thread))<<16 + uint64(stmt) + 1
}

func accessBlock(a uint64) int64  { return int64((a - 1) >> 26) }
func accessThread(a uint64) int   { return int((a - 1) >> 16 & 1023) }
func accessStmt(a uint64) int32   { return int32((a - 1) & 0xffff) }
func sameThread(a, b uint64) bool { return (a-1)>>16 == (b-1)>>16 }
func note(first, last *uint64, a uint64) {
	if *first == 0 || a < *first {
		*first = a
	}
	*last = max(*last, a)
}

// globalMemory makes the kernel's buffers addressable.
func (c *compiler) globalMemory(k *cir.Kernel) {
	used := touches(k.Body)
	if used.arrives {
		c.prog.order = &ordering{counters: map[hazardKey]*counter{}}
	}
	for _, p := range k.Params {
		if p.Class != cir.Pointer {
			continue
		}
		align := p.Mem.Align * 8
		if align == 0 {
			align = p.Mem.Elem.Bits()
		}
		g := &gmem{area: area{name: p.Name, space: cir.Global, kind: p.Mem.Elem, bits: p.Mem.Elem.Bits(),
			count: c.bound.counts[p.Mem], align: int64(align)}, val: c.bound.buffers[p.Mem].Cells,
			shape: c.shape(p), declared: p.Pos, defined: (p.Read || !p.Write) && !c.bound.buffers[p.Mem].Undefined, written: used.stored[p.Mem], loaded: used.loaded[p.Mem]}
		atomics := used.atomic[p.Mem]
		if (g.written || atomics) && !p.Write {
			c.fail("%s is written, but not declared as such", p.Name)
		}
		g.sparse = c.bound.buffers[p.Mem].sparse
		g.track = c.prog.check && (g.written || p.Write) && g.sparse == nil
		g.hazards = c.prog.check && (g.written && g.loaded || atomics && (g.written || g.loaded))
		if g.track {
			g.firstWrite, g.lastWrite = make([]uint64, g.count), make([]uint64, g.count)
			if g.loaded {
				g.firstRead, g.lastRead = make([]uint64, g.count), make([]uint64, g.count)
			}
			if atomics {
				g.firstAtomic, g.lastAtomic = make([]uint64, g.count), make([]uint64, g.count)
			}
			if used.arrives {
				g.writer, g.reader = make([]stamp, g.count), make([]stamp, g.count)
			}
		}
		c.globals[p.Mem] = g
		c.prog.globals = append(c.prog.globals, g)
	}
}

func (g *gmem) load(w *warp, lane int, index int64, out []uint64) {
	if g.hazards {
		w.b.globalRead(w, g, lane, index, len(out))
	}
	if g.sparse != nil {
		g.loadSparse(w, lane, index, out)
		return
	}
	if !g.track {
		copy(out, g.val[index:])
		return
	}
	mu := &g.locks[index>>stripe%int64(len(g.locks))]
	mu.Lock()
	defer mu.Unlock()
	copy(out, g.val[index:])
	a := access(w.b.number, w.thread(lane), w.now)
	for i := index; i < index+int64(len(out)); i++ {
		if !g.defined && g.firstWrite[i] == 0 {
			if f := w.find(Uninitialised, g.name, lane, i); f != nil {
				f.Message = fmt.Sprintf("reads %s, which was never written", g.element(i))
			}
		}
		note(&g.firstRead[i], &g.lastRead[i], a)
		if g.reader != nil {
			g.ordered(w, lane, i, false)
		}
	}
}

func (g *gmem) store(w *warp, lane int, index int64, in []uint64) {
	if g.hazards {
		w.b.globalWrite(w, g, lane, index, len(in))
	}
	if g.sparse != nil {
		g.sparse.store(index, in)
		return
	}
	if !g.track {
		copy(g.val[index:], in)
		return
	}
	mu := &g.locks[index>>stripe%int64(len(g.locks))]
	mu.Lock()
	defer mu.Unlock()
	a := access(w.b.number, w.thread(lane), w.now)
	for i, v := range in {
		at := index + int64(i)
		if g.writer != nil {
			g.ordered(w, lane, at, true)
			g.val[at] = v
		} else if last := g.lastWrite[at]; last == 0 || accessBlock(last) <= w.b.number {
			g.val[at] = v // of several blocks the last one wins, whenever it runs
		}
		note(&g.firstWrite[at], &g.lastWrite[at], a)
	}
}

// review looks for elements that several threads wrote, and for reads of what another block writes.
func (g *gmem) review(p *program, out *findings) {
	g.reviewAtomics(p, out)
	for i := range g.lastWrite {
		first, last := g.firstWrite[i], g.lastWrite[i]
		if last == 0 {
			continue
		}
		if g.writer != nil && accessBlock(first) != accessBlock(last) {
			continue // judged when it happened
		}
		if !sameThread(first, last) {
			g.conflict(p, out, DoubleWrite, int64(i), last, first, "is written twice, also")
		}
		if g.loaded && g.writer == nil {
			for _, r := range [2]uint64{g.firstRead[i], g.lastRead[i]} {
				if r != 0 && accessBlock(r) != accessBlock(last) {
					g.conflict(p, out, GlobalRace, int64(i), r, last, "is read here, but written")
					break
				}
			}
		}
	}
}

func (g *gmem) conflict(p *program, out *findings, c Check, index int64, at, other uint64, what string) {
	f := out.add(key{check: c, stmt: accessStmt(at), mem: g.name})
	if f == nil {
		return
	}
	f.Kernel, f.Index = p.name, index
	f.Pos, f.Other = p.pos[accessStmt(at)], p.pos[accessStmt(other)]
	f.Block, f.Threads = p.blockAt(accessBlock(at)), []int{accessThread(at), accessThread(other)}
	b := p.blockAt(accessBlock(other))
	f.Message = fmt.Sprintf("%s %s by thread %d of block %d,%d,%d at %s", g.element(index), what,
		accessThread(other), b[0], b[1], b[2], place(f.Other))
}

func (p *program) blockAt(n int64) [3]int64 {
	return [3]int64{n % p.grid[0], n / p.grid[0] % p.grid[1], n / (p.grid[0] * p.grid[1])}
}
