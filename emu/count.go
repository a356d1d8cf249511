package emu

import (
	"math/bits"

	"github.com/gocute/gocute/gen/cir"
)

func (w *warp) countLoad(a *area, m uint32, index *[32]int64, size int64) {
	t := &w.b.counts
	n := int64(bits.OnesCount32(m)) * size
	if a.space == cir.Global {
		t.instr[kLoadGlobal]++
		t.globalRead += n
		w.countSectors(a, m, index, size)
		return
	}
	t.instr[kLoadShared]++
	t.sharedRead += n
	w.countBanks(a, m, index, size)
}

func (w *warp) countStore(a *area, m uint32, index *[32]int64, size int64) {
	t := &w.b.counts
	n := int64(bits.OnesCount32(m)) * size
	if a.space == cir.Global {
		t.instr[kStoreGlobal]++
		t.globalWrite += n
		w.countSectors(a, m, index, size)
		return
	}
	t.instr[kStoreShared]++
	t.sharedWrite += n
	w.countBanks(a, m, index, size)
}

const (
	sectorBits = 32 * 8
	bankBits   = 4 * 8
	banks      = 32
)

// countSectors counts the 32-byte sectors of global memory that one instruction touches.
func (w *warp) countSectors(a *area, m uint32, index *[32]int64, size int64) {
	if !w.b.prog.check || m == 0 {
		return
	}
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
	w.b.counts.sectors += int64(n)
	w.b.counts.leastSectors += (lanes*size + sectorBits - 1) / sectorBits
}

// countBanks counts the passes over the banks that one instruction takes: lanes are served in groups that could
// read 128 bytes at once, and lanes of a group that need different words of one bank are served one after the other.
func (w *warp) countBanks(a *area, m uint32, index *[32]int64, size int64) {
	if !w.b.prog.check || m == 0 {
		return
	}
	unit := max(size, bankBits)
	group := int(banks * bankBits / unit) // lanes served at once, and units over all banks
	for lane := 0; lane < 32; lane += group {
		part := m >> lane & (1<<group - 1)
		if part == 0 {
			continue
		}
		w.b.counts.leastWavefronts++
		w.b.counts.wavefronts += wavefronts(a, part, index[lane:lane+group], unit, group)
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
