package check

import (
	"encoding/binary"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

// tensor is a global tensor of one run.
type tensor struct {
	p       *cir.Param
	width   int // bytes of an element
	extents []int64
	strides []int64
	count   int64 // elements of memory, gaps included
	compact bool  // the layout has no gaps
	before  []byte
	after   []byte // of the run; nil until then
	guards  int64  // bytes around the buffer that the run changed
}

// size computes the number of elements and whether every one of them belongs to the tensor.
func (t *tensor) size() {
	t.count = 1
	total := int64(1)
	for i, e := range t.extents {
		t.count += (e - 1) * t.strides[i]
		total *= e
	}
	if total == 0 {
		t.count, t.compact = 0, true
		return
	}
	t.compact = t.count == total && t.dense()
}

// dense reports whether the strides are those of a compact layout in some order of the modes.
func (t *tensor) dense() bool {
	for next := int64(1); next < t.count; {
		found := false
		for i, s := range t.strides {
			if s == next && t.extents[i] > 1 {
				next, found = next*t.extents[i], true
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}

// each calls f with every coordinate and its offset, the last mode fastest, until f returns false.
// The coordinate's slice is used again.
func (t *tensor) each(f func(at []int64, offset int64) bool) {
	if t.count == 0 {
		return
	}
	at, offset := make([]int64, len(t.extents)), int64(0)
	for {
		if !f(at, offset) {
			return
		}
		i := len(at) - 1
		for ; i >= 0; i-- {
			at[i]++
			offset += t.strides[i]
			if at[i] < t.extents[i] {
				break
			}
			offset -= at[i] * t.strides[i]
			at[i] = 0
		}
		if i < 0 {
			return
		}
	}
}

// offset is where a coordinate lies.
func (t *tensor) offset(at []int64) int64 {
	o := int64(0)
	for i, c := range at {
		o += c * t.strides[i]
	}
	return o
}

// elements is the number of coordinates.
func (t *tensor) elements() int64 {
	n := int64(1)
	for _, e := range t.extents {
		n *= e
	}
	return n
}

// inside marks the offsets that belong to the tensor; nil means all of them.
func (t *tensor) inside() []bool {
	if t.compact {
		return nil
	}
	in := make([]bool, t.count)
	t.each(func(_ []int64, offset int64) bool { in[offset] = true; return true })
	return in
}

// bits reads an element of either memory.
func (t *tensor) bits(mem []byte, offset int64) uint64 {
	at := mem[offset*int64(t.width):]
	switch t.width {
	case 1:
		return uint64(at[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(at))
	case 4:
		return uint64(binary.LittleEndian.Uint32(at))
	}
	return binary.LittleEndian.Uint64(at)
}

func (t *tensor) put(mem []byte, offset int64, bits uint64) {
	at := mem[offset*int64(t.width):]
	switch t.width {
	case 1:
		at[0] = byte(bits)
	case 2:
		binary.LittleEndian.PutUint16(at, uint16(bits))
	case 4:
		binary.LittleEndian.PutUint32(at, uint32(bits))
	default:
		binary.LittleEndian.PutUint64(at, bits)
	}
}

// fill makes the contents before the run: generated or given numbers, and poison where nothing is to be read.
func (t *tensor) fill(seed int64, index int, given []float64) {
	t.before = make([]byte, t.count*int64(t.width))
	kind, poison := t.p.Elem, poisons[t.p.Elem].bits
	in := t.inside()
	parallel(t.count, 1<<16, func() func(lo, hi int64) {
		return func(lo, hi int64) {
			for i := lo; i < hi; i++ {
				bits := poison
				if t.p.Read && (in == nil || in[i]) {
					v := 0.0
					if given != nil {
						v = given[i]
					} else {
						v = number(kind, hash(seed, index, i))
					}
					bits = elem.Encode(kind, v)
				}
				t.put(t.before, i, bits)
			}
		}
	})
}

// values are the contents before the run, as numbers.
func (t *tensor) values() []float64 {
	out := make([]float64, t.count)
	parallel(t.count, 1<<16, func() func(lo, hi int64) {
		return func(lo, hi int64) {
			for i := lo; i < hi; i++ {
				out[i] = elem.Decode(t.p.Elem, t.bits(t.before, i))
			}
		}
	})
	return out
}

// poison is what an element holds before anybody writes it.
type poison struct {
	bits uint64
	sure bool // no kernel computes these bits, or only one that is wrong
}

// poisons are NaNs with a payload that arithmetic does not make, and odd numbers for integers.
var poisons = map[elem.Kind]poison{
	elem.KF16: {0x7e5a, true}, elem.KBF16: {0x7fda, true}, elem.KTF32: {0x7fda5000, true}, elem.KF32: {0x7fda5a5a, true},
	elem.KF64: {0x7ff85a5a5a5a5a5a, true}, elem.KE4M3: {0x7f, true}, elem.KE5M2: {0x7e, true},
	elem.KS8: {0x5a, false}, elem.KU8: {0x5a, false}, elem.KS16: {0x5a5b, false}, elem.KU16: {0x5a5b, false},
	elem.KS32: {0x5a5b5c5d, true}, elem.KU32: {0x5a5b5c5d, true},
	elem.KS64: {0x5a5b5c5d5e5f5051, true}, elem.KU64: {0x5a5b5c5d5e5f5051, true},
}

// hash is a random number for an element of a tensor; it depends on nothing but its arguments (splitmix64).
func hash(seed int64, tensor int, i int64) uint64 {
	z := uint64(seed)*0xd1342543de82ef95 + uint64(tensor+1)*0xaf251af3b0f025b5 + uint64(i)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// number makes an input of random bits: from -1 to 1, or a small integer, so that sums stay exact.
func number(k elem.Kind, random uint64) float64 {
	switch {
	case k.IsFloat():
		return float64(random>>11)/(1<<52) - 1
	case k.IsSigned():
		return float64(random>>32%7) - 3
	}
	return float64(random >> 32 % 7)
}

// parallel cuts [0,n) into parts and lets all cores work on them, each with a function of its own.
func parallel(n, part int64, worker func() func(lo, hi int64)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(int64(runtime.GOMAXPROCS(0)), (n+part-1)/part) {
		wg.Go(func() {
			f := worker()
			for {
				lo := next.Add(part) - part
				if lo >= n {
					return
				}
				f(lo, min(lo+part, n))
			}
		})
	}
	wg.Wait()
}
