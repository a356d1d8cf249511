package emu

import (
	"math/bits"

	"github.com/gocute/gocute/gen/cir"
)

// tensorLoad is a compiled copy of boxes.
type tensorLoad struct {
	box     []int64 // elements of each dimension
	tensor  shape
	from    *gmem
	to      *smem
	dst     perLane
	bar     barAddress
	coords  []perLane
	bytes   int64 // of a box
	align   int64 // of a box in shared memory, in bits
	swizzle int
	into    int // the site of shared memory
	outOf   int // and of global memory
}

const mostCopiers = 0xfffe // that packed holds

// chunkBits is what a swizzle moves as one.
const chunkBits = 16 * 8

// swizzle is a byte address under Sw<b,4,3>: bits 4 to 3+b are exclusively ored with those from bit 7 on.
func swizzle(at int64, b int) int64 { return at ^ at>>7&(1<<b-1)<<4 }

// tensorMap refuses what TMA cannot do.
func (c *compiler) tensorMap(s cir.TensorLoad) *tensorLoad {
	m := s.Map
	if s.Op == nil || s.Op.Class != cir.TensorCopy || m == nil || len(s.Coords) != len(m.Box) {
		c.fail("a TMA load expects a tensor map and a coordinate for each of its dimensions")
	}
	if err := cir.CheckTensorMap(m); err != nil {
		c.fail("%v", err)
	}
	tensor, ok := c.bound.boxes[m]
	from := c.globals[m.Of.Mem]
	if !ok || from == nil {
		c.fail("the tensor map %s or its tensor is no argument of the kernel", m.Name)
	}
	if from.bits%8 != 0 || from.align%chunkBits != 0 {
		c.fail("a tensor map expects whole bytes, aligned to 16, but got %s aligned to %d", from.kind, from.align/8)
	}
	t := &tensorLoad{tensor: tensor, from: from, bytes: int64(m.Bytes()), align: int64(m.Align()) * 8, swizzle: m.Swizzle}
	for _, b := range m.Box {
		t.box = append(t.box, int64(b))
	}
	return t
}

// tensorLoad compiles a copy of a box by each active lane. Its bytes land at once here; what matters is that only those
// that wait for the phase which they count in know of them.
func (c *compiler) tensorLoad(s cir.TensorLoad) func(*warp) {
	t := c.tensorMap(s)
	dst := c.address(s.Dst, 0)
	to, ok := dst.mem.(*smem)
	if !ok || to.bits != t.from.bits {
		c.fail("a TMA load of %s expects shared memory of that kind, but got %s", t.from.kind, dst.mem.desc().kind)
	}
	t.to, t.dst, t.bar = to, dst.index, c.bar(s.Bar, 1)
	for i, e := range s.Coords {
		t.coords = append(t.coords, c.spread(c.expr(e, i+2), i+2))
	}
	t.into, t.outOf = c.site(kTensorLoad, &to.area, t.bytes*8), c.site(kTensorLoad, &t.from.area, t.bytes*8)
	if mem := t.bar.mem; mem.landing == 0 {
		mem.landing = c.prog.copiers()
		if c.prog.landings += int(mem.count); c.prog.copiers() > mostCopiers {
			c.fail("%s has more mbarriers than the emulator counts", mem.name)
		}
	}
	return guarded(c.guard(0, s.Coords...), t.run)
}

func (t *tensorLoad) run(w *warp) {
	index, bar := t.dst(w), t.bar.index(w)
	var at [5]*[32]int64
	for i, f := range t.coords {
		at[i] = f(w)
	}
	w.b.counts.instr[kTensorLoad]++
	w.b.sh.count++
	for m := w.mask; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		b := t.bar.at(w, lane, bar)
		if b == nil || !t.fits(w, lane, index[lane]) {
			continue
		}
		var first [5]int64
		for i := range t.coords {
			first[i] = at[i][lane]
		}
		copier, phase := t.bar.mem.landing+int(bar[lane]), b.first+b.phase
		rec := packed(phase, w.now, copier)
		t.copy(w, lane, index[lane], first[:len(t.coords)], rec)
		w.b.sh.last[copier] = packed(phase, w.now, w.thread(lane))
		b.now.seen[copier] = max(b.now.seen[copier], phase+1)
		b.lacks -= int(t.bytes)
		b.settle()
	}
}

// fits reports whether a box lies in its array and is aligned; if not, there is a finding.
func (t *tensorLoad) fits(w *warp, lane int, index int64) bool {
	n := t.bytes * 8 / int64(t.to.bits)
	switch {
	case index < 0 || index+n > t.to.count:
		w.outOfBounds(&t.to.area, lane, index, n)
	case (t.to.base+index*int64(t.to.bits))%t.align != 0:
		if f := w.find(Misaligned, t.to.name, lane, index); f != nil {
			f.Message = sprint("TMALoad to ", t.to.name, "[", index, "], byte ", (t.to.base+index*int64(t.to.bits))/8,
				" of shared memory, whose swizzle expects a multiple of ", t.align/8, " bytes")
		}
	default:
		return true
	}
	return false
}

// copy moves a box row by row; elements beyond the tensor's extents are zeros.
func (t *tensorLoad) copy(w *warp, lane int, index int64, first []int64, rec uint64) {
	lo, hi := max(0, -first[0]), min(t.box[0], t.tensor.extents[0]-first[0])
	var at [5]int64 // within the box
	row := w.row[:t.box[0]]
	moved, sectors := int64(0), int64(0)
	for {
		inside, from := lo < hi, first[0]+lo
		for d := 1; d < len(first); d++ {
			x := first[d] + at[d]
			inside = inside && x >= 0 && x < t.tensor.extents[d]
			from += x * t.tensor.strides[d]
		}
		clear(row)
		if inside && t.load(w, lane, from, row[lo:hi]) {
			moved += hi - lo
			sectors += sectorsOf(from*int64(t.from.bits), (from+hi-lo)*int64(t.from.bits))
		}
		t.put(w, lane, index, row, rec, &at)
		d := 1
		for ; d < len(first); d++ {
			if at[d]++; at[d] < t.box[d] {
				break
			}
			at[d] = 0
		}
		if d >= len(first) {
			break
		}
	}
	t.costs(w, moved*int64(t.from.bits), sectors)
}

// sectorsOf is the number of sectors of global memory that a run of bits touches.
func sectorsOf(lo, hi int64) int64 { return (hi-1)/sectorBits - lo/sectorBits + 1 }

// costs notes what a box takes: the copy engine reads whole runs, and writes rows over all banks.
func (t *tensorLoad) costs(w *warp, moved, sectors int64) {
	in, out := &w.b.counts.sites[t.into], &w.b.counts.sites[t.outOf]
	in.requests++
	in.bits += t.bytes * 8
	if moved > 0 {
		out.requests++
		out.bits += moved
	}
	if !w.b.prog.check {
		return
	}
	out.sectors += sectors
	out.leastSectors += (moved + sectorBits - 1) / sectorBits
	waves := (t.bytes*8 + banks*bankBits - 1) / (banks * bankBits)
	in.waves += waves
	in.leastWaves += waves
}

// load reads a run of a row; it is false, with a finding, where the run leaves the tensor's buffer.
func (t *tensorLoad) load(w *warp, lane int, from int64, out []uint64) bool {
	if n := int64(len(out)); from < 0 || from+n > t.from.count {
		w.outOfBounds(&t.from.area, lane, from, n)
		return false
	}
	for len(out) > 0 { // what lies under one lock at a time
		n := min(int64(len(out)), 1<<stripe-from&(1<<stripe-1))
		t.from.load(w, lane, from, out[:n])
		from, out = from+n, out[n:]
	}
	return true
}

// put writes a row of a box in chunks.
func (t *tensorLoad) put(w *warp, lane int, index int64, row []uint64, rec uint64, at *[5]int64) {
	line := int64(0)
	for d := len(t.box) - 1; d > 0; d-- {
		line = line*t.box[d] + at[d]
	}
	per, size := chunkBits/t.to.bits, int64(t.to.bits/8)
	for x := 0; x < len(row); x += per {
		byteAt := swizzle((line*t.box[0]+int64(x))*size, t.swizzle)
		t.to.beginAs(w, lane, index+byteAt/size, row[x:x+per], rec)
	}
}
