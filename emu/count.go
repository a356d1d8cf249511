package emu

import (
	"math/bits"

	"github.com/gocute/gocute/gen/cir"
)

// site is an access to one memory by one statement, whose costs are counted apart from the others'.
type site struct {
	stmt int32
	kind instrKind
	area *area
	size int64 // bits of one lane's vector
}

// siteTally is what a site has cost so far, bytes as bits.
type siteTally struct {
	requests, bits        int64
	sectors, leastSectors int64 // of global memory
	waves, leastWaves     int64 // of shared memory
}

func (t *siteTally) add(u *siteTally) {
	t.requests += u.requests
	t.bits += u.bits
	t.sectors += u.sectors
	t.leastSectors += u.leastSectors
	t.waves += u.waves
	t.leastWaves += u.leastWaves
}

// site makes an access of the statement that is being compiled countable.
func (c *compiler) site(kind instrKind, a *area, size int64) int {
	c.prog.sites = append(c.prog.sites, site{stmt: int32(len(c.prog.pos) - 1), kind: kind, area: a, size: size})
	return len(c.prog.sites) - 1
}

func (c *compiler) loadSite(a *area, size int64) int {
	if a.space == cir.Global {
		return c.site(kLoadGlobal, a, size)
	}
	return c.site(kLoadShared, a, size)
}

func (c *compiler) storeSite(a *area, size int64) int {
	if a.space == cir.Global {
		return c.site(kStoreGlobal, a, size)
	}
	return c.site(kStoreShared, a, size)
}

// count notes one instruction of a site, whose lanes in m access index.
func (w *warp) count(at int, m uint32, index *[32]int64) {
	p := w.b.prog
	s, t := &p.sites[at], &w.b.counts
	t.instr[s.kind]++
	w.costs(at, m, index, int64(bits.OnesCount32(m))*s.size)
}

// costs notes what a site's access takes, without an instruction of its own.
func (w *warp) costs(at int, m uint32, index *[32]int64, moved int64) {
	s, t := &w.b.prog.sites[at], &w.b.counts.sites[at]
	if m == 0 {
		return
	}
	t.requests++
	t.bits += moved
	if !w.b.prog.check {
		return
	}
	if s.area.space == cir.Global {
		t.countSectors(s.area, m, index, s.size)
	} else {
		t.countBanks(s.area, m, index, s.size)
	}
}

const (
	sectorBits = 32 * 8
	bankBits   = 4 * 8
	banks      = 32
)

// countSectors counts the 32-byte sectors of global memory that one instruction touches.
func (t *siteTally) countSectors(a *area, m uint32, index *[32]int64, size int64) {
	var seen [32]int64
	n, lanes := 0, int64(bits.OnesCount32(m))
next:
	for ; m != 0; m &= m - 1 {
		s := index[bits.TrailingZeros32(m)] * int64(a.bits) / sectorBits
		for i := n - 1; i >= 0; i-- { // neighbours are likely the last ones
			if seen[i] == s {
				continue next
			}
		}
		seen[n] = s
		n++
	}
	t.sectors += int64(n)
	t.leastSectors += (lanes*size + sectorBits - 1) / sectorBits
}

// countBanks counts the passes over the banks that one instruction takes: lanes are served in groups that could
// read 128 bytes at once (8, 16 or 32 lanes by width), and lanes of a group that need different words of one bank
// are served one after the other.
func (t *siteTally) countBanks(a *area, m uint32, index *[32]int64, size int64) {
	unit := max(size, bankBits)
	group := int(banks * bankBits / unit) // lanes served at once, and units over all banks
	for lane := 0; lane < 32; lane += group {
		part := m >> lane & (1<<group - 1)
		if part == 0 {
			continue
		}
		t.leastWaves++
		t.waves += wavefronts(a, part, index[lane:lane+group], unit, group)
	}
}

func wavefronts(a *area, m uint32, index []int64, unit int64, group int) int64 {
	var units [32]int64
	var per [32]uint8
	n, most := 0, uint8(1)
next:
	for ; m != 0; m &= m - 1 {
		u := (a.base + index[bits.TrailingZeros32(m)]*int64(a.bits)) / unit
		for _, v := range units[:n] {
			if v == u {
				continue next
			}
		}
		units[n] = u
		n++
		bank := u % int64(group)
		per[bank]++
		most = max(most, per[bank])
	}
	return int64(most)
}
