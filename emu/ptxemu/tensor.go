package ptxemu

import (
	"fmt"
	"math/bits"

	"github.com/gocute/gocute/emu/machine"
)

var _ = register(map[string]func(c *compiler) (run, error){
	"cp.async.bulk.tensor": (*compiler).tensorCopy, "cp.async.bulk": (*compiler).bulkCopy,
	"prefetch.tensormap": (*compiler).nothing, "cp.async.bulk.prefetch": (*compiler).nothing,
})

// TensorMap describes a tensor in global memory to the TMA, as cuTensorMapEncodeTiled takes it.
type TensorMap struct {
	Buffer  *Buffer
	Offset  int     // bytes into the buffer
	Size    int     // bytes of an element
	Dims    []int64 // elements, the contiguous mode first
	Strides []int64 // bytes, of the modes after the first
	Box     []int64 // elements
	Swizzle int     // 0 for none, 1 to 3 for rows of 32, 64 and 128 bytes
	region  *machine.Region
}

// A tensor map in the kernel's parameters is mapBytes long; here it holds a mark and a number.
const (
	mapBytes = 128
	mapMagic = 0x6d617073_6f727473
)

// check refuses what the hardware cannot do.
func (t *TensorMap) check(known map[*Buffer]*machine.Region) error {
	n := len(t.Dims)
	if n < 1 || n > 5 || len(t.Box) != n || len(t.Strides) != n-1 {
		return fmt.Errorf("expected a tensor map of 1 to 5 dimensions, with a box of as many and one stride less")
	}
	if t.region = known[t.Buffer]; t.region == nil {
		return fmt.Errorf("expected a tensor map of a buffer that is an argument before it")
	}
	for i := range t.Box {
		if t.Box[i] < 1 || t.Box[i] > 256 {
			return fmt.Errorf("expected a box of 1 to 256 elements in dimension %d, but got %d", i, t.Box[i])
		}
		if i > 0 && (t.Strides[i-1]%16 != 0 || t.Strides[i-1] < 0 || t.Strides[i-1] >= 1<<40) {
			return fmt.Errorf("expected a stride that is a multiple of 16 bytes below 2^40 in dimension %d, but got %d", i, t.Strides[i-1])
		}
	}
	if row := t.Box[0] * int64(t.Size); row%16 != 0 || t.Swizzle > 0 && row > 16<<t.Swizzle {
		return fmt.Errorf("expected rows of a multiple of 16 bytes, at most those of the swizzle, but got %d bytes", row)
	}
	return nil
}

// bytes of a box.
func (t *TensorMap) bytes() int {
	n := int64(t.Size)
	for _, b := range t.Box {
		n *= b
	}
	return int(n)
}

// tensorMap finds the tensor map at an address.
func (w *warp) tensorMap(l int, pc int32, addr uint64) *TensorMap {
	var mark [16]byte
	w.b.Load(w.thread(l), pc, machine.Generic, addr, 64, machine.Order{}, mark[:])
	i := little(mark[8:])
	if little(mark[:8]) != mapMagic || i >= uint64(len(w.maps)) {
		w.b.Report(machine.Descriptor, w.thread(l), pc, fmt.Sprintf("uses a tensor map at %#x, where none is", addr))
		return nil
	}
	return w.maps[i]
}

// tensorCopy compiles the copy of a box from global to shared memory.
func (c *compiler) tensorCopy() (run, error) {
	dims := 0
	hint := false
	for _, word := range c.in.Words[4:] {
		switch word {
		case "1d", "2d", "3d", "4d", "5d":
			dims = int(word[0] - '0')
		case "shared::cta", "shared::cluster", "global", "mbarrier::complete_tx::bytes", "tile":
		case "L2::cache_hint":
			hint = true
		default:
			return nil, fmt.Errorf("the modifier .%s is not supported", word)
		}
	}
	if dims == 0 || !c.in.Has("mbarrier::complete_tx::bytes") {
		return nil, fmt.Errorf("expected a copy from global to shared memory of 1 to 5 dimensions that an mbarrier counts")
	}
	want := 3
	if hint {
		want++
	}
	if err := c.args(want); err != nil {
		return nil, err
	}
	to, err := c.address(&c.in.Args[0], machine.Shared)
	if err != nil {
		return nil, err
	}
	from, err := c.address(&c.in.Args[1], machine.Generic)
	if err != nil {
		return nil, err
	}
	var coords []source
	if l := c.in.Args[1].List; len(l) == 1 {
		for i := range list(&l[0]) {
			v, err := c.value(&list(&l[0])[i], 32)
			if err != nil {
				return nil, err
			}
			coords = append(coords, v)
		}
	}
	if len(coords) != dims {
		return nil, fmt.Errorf("expected %d coordinates, but got %d", dims, len(coords))
	}
	bar, err := c.barrier(&c.in.Args[2])
	if err != nil {
		return nil, err
	}
	pc := c.pc
	return func(w *warp, mask uint32) outcome {
		var dst, src, at lanes
		to.of(w, mask, &dst)
		from.of(w, mask, &src)
		bar.of(w, mask, &at)
		var x [5]lanes
		for i, f := range coords {
			x[i] = *f(w)
		}
		for m := mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			t := w.tensorMap(l, pc, src[l])
			if t == nil {
				continue
			}
			if len(t.Dims) != dims {
				w.b.Report(machine.Descriptor, w.thread(l), pc, fmt.Sprintf("copies a box of %d dimensions by a tensor map of %d", dims, len(t.Dims)))
				continue
			}
			var first [5]int64
			for i := range coords {
				first[i] = int64(int32(x[i][l]))
			}
			w.box(t, l, pc, dst[l], at[l], first[:dims])
		}
		return outcome{}
	}, nil
}

// swizzled is a shared address under the swizzle of rows of 16<<b bytes.
func swizzled(at uint64, b int) uint64 { return at ^ at>>7&(1<<b-1)<<4 }

// box copies a box: what lies outside of the tensor is zeros.
func (w *warp) box(t *TensorMap, l int, pc int32, dst, bar uint64, first []int64) {
	need := uint64(128)
	if t.Swizzle > 0 {
		need = 128 << t.Swizzle
	}
	if dst%need != 0 {
		w.b.Report(machine.Misaligned, w.thread(l), pc, fmt.Sprintf("copies a box to the shared address %#x, which is no multiple of %d", dst, need))
		return
	}
	c := w.b.NewCopy(w.thread(l), pc, "a TMA copy", true)
	row := make([]byte, t.Box[0]*int64(t.Size))
	at := make([]int64, len(first))
	for line := uint64(0); ; line++ {
		w.boxRow(t, c, first, at, row)
		for i := 0; i < len(row); i += 16 {
			w.b.CopyWrite(c, machine.Shared, swizzled(dst+line*uint64(len(row))+uint64(i), t.Swizzle), 16, row[i:i+16])
		}
		d := 1
		for ; d < len(first); d++ {
			if at[d]++; at[d] < t.Box[d] {
				break
			}
			at[d] = 0
		}
		if d >= len(first) {
			break
		}
	}
	w.b.Counts(c, bar, t.bytes())
}

// boxRow reads a row of a box.
func (w *warp) boxRow(t *TensorMap, c *machine.Copy, first, at []int64, row []byte) {
	clear(row)
	size := int64(t.Size)
	off := int64(t.Offset)
	for d := 1; d < len(first); d++ {
		x := first[d] + at[d]
		if x < 0 || x >= t.Dims[d] {
			return
		}
		off += x * t.Strides[d-1]
	}
	lo, hi := max(0, -first[0]), min(t.Box[0], t.Dims[0]-first[0])
	if lo >= hi {
		return
	}
	w.b.CopyRead(c, machine.Global, t.region.Base+uint64(off+(first[0]+lo)*size), 1, row[lo*size:hi*size])
}

// bulkCopy compiles cp.async.bulk of contiguous bytes: to shared memory, counted by an mbarrier, or from it, in a group.
func (c *compiler) bulkCopy() (run, error) {
	var spaces []machine.Space
	counted, hint := false, false
	for _, word := range c.in.Words[3:] {
		switch word {
		case "shared::cta", "shared::cluster":
			spaces = append(spaces, machine.Shared)
		case "global":
			spaces = append(spaces, machine.Global)
		case "mbarrier::complete_tx::bytes":
			counted = true
		case "bulk_group":
		case "L2::cache_hint":
			hint = true
		default:
			return nil, fmt.Errorf("the modifier .%s is not supported", word)
		}
	}
	if len(spaces) != 2 || spaces[0] == spaces[1] || counted != (spaces[0] == machine.Shared) {
		return nil, fmt.Errorf("expected a copy from global to shared memory that an mbarrier counts, or one back in a group")
	}
	want := 3
	for _, more := range []bool{counted, hint} {
		if more {
			want++
		}
	}
	if err := c.args(want); err != nil {
		return nil, err
	}
	to, err := c.address(&c.in.Args[0], spaces[0])
	if err != nil {
		return nil, err
	}
	from, err := c.address(&c.in.Args[1], spaces[1])
	if err != nil {
		return nil, err
	}
	size, err := c.value(&c.in.Args[2], 32)
	if err != nil {
		return nil, err
	}
	var bar *address
	if counted {
		if bar, err = c.barrier(&c.in.Args[3]); err != nil {
			return nil, err
		}
	}
	pc := c.pc
	return func(w *warp, mask uint32) outcome {
		var dst, src, at lanes
		to.of(w, mask, &dst)
		from.of(w, mask, &src)
		if counted {
			bar.of(w, mask, &at)
		}
		bytes := size(w)
		for m := mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			n := int(uint32(bytes[l]))
			if n%16 != 0 || n > 1<<20 {
				w.b.Report(machine.Misaligned, w.thread(l), pc, fmt.Sprintf("copies %d bytes, which is no multiple of 16 up to 2^20", n))
				continue
			}
			x := w.b.NewCopy(w.thread(l), pc, "a bulk copy", true)
			buf := make([]byte, n)
			w.b.CopyRead(x, spaces[1], src[l], 16, buf)
			w.b.CopyWrite(x, spaces[0], dst[l], 16, buf)
			if counted {
				w.b.Counts(x, at[l], n)
			} else {
				w.b.Add(x, true)
			}
		}
		return outcome{}
	}, nil
}
