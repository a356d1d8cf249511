package cuda

import (
	"errors"
	"fmt"
	"math/bits"
	"runtime"
	"sync"
	"unsafe"

	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/internal/dl"
)

// TensorMap describes boxes of a tensor to the copy engine of sm_90: the driver's CUtensorMap, which a kernel takes as an
// argument. It holds the tensor's address. The zero TensorMap is that of a tensor without elements.
type TensorMap [16]uint64

// MaxTensorRank is the most dimensions of a tensor that the copy engine knows.
const MaxTensorRank = 5

// TensorMapSpec says what a TensorMap is of. Only the first Rank elements of the arrays count; the adjacent dimension is
// the first. Elements beyond the extents are read as zeros.
type TensorMapSpec struct {
	Addr    DevicePtr // a multiple of 16
	Elem    elem.Kind
	Rank    int                  // 1 to MaxTensorRank
	Extents [MaxTensorRank]int64 // in elements, up to 2^32
	Strides [MaxTensorRank]int64 // in elements; the first is 1, the others are whole 16 bytes, below 2^40 bytes
	Box     [MaxTensorRank]int   // elements that one copy moves along each dimension, 1 to 256; the first are whole 16 bytes
	Swizzle int                  // of the box in shared memory: 0, or 1 to 3 for rows of 32, 64 or 128 bytes
}

// tensorTypes are the driver's CUtensorMapDataType. Copies keep all bits, so tf32 goes as what it is in memory, and
// integers whose sign does not matter as those without.
var tensorTypes = map[elem.Kind]uintptr{
	elem.KU8: 0, elem.KS8: 0, elem.KE4M3: 0, elem.KE5M2: 0, elem.KU16: 1, elem.KS16: 1, elem.KU32: 2, elem.KS32: 3,
	elem.KU64: 4, elem.KS64: 5, elem.KF16: 6, elem.KF32: 7, elem.KTF32: 7, elem.KF64: 8, elem.KBF16: 9,
}

// The driver's numbers for how a TensorMap is made.
const (
	noInterleave  = 0
	promotionL2   = 3 // misses fetch 256 bytes
	fillWithZeros = 0
)

// mapWords and mapAlign are the size of a TensorMap in words and what has to divide its address while the driver writes it.
const (
	mapWords = len(TensorMap{})
	mapAlign = 64
)

// mapEncoder is the memory of one call of the driver, which does not move.
type mapEncoder struct {
	out           [mapWords + mapAlign/8]uint64 // somewhere in it the map, aligned
	dims, strides [MaxTensorRank]uint64
	box, steps    [MaxTensorRank]uint32
	frame         [12]uintptr
}

var mapEncoders = sync.Pool{New: func() any { return &mapEncoder{} }}

// EncodeTensorMap makes the map of a tensor on the device. It allocates nothing. It is an error where the driver is too
// old to have such maps, and where the copy engine takes no such tensor or box.
func (d *Device) EncodeTensorMap(s *TensorMapSpec) (TensorMap, error) {
	if err := d.live("EncodeTensorMap"); err != nil {
		return TensorMap{}, err
	}
	if s == nil {
		return TensorMap{}, errors.New("cuda: EncodeTensorMap expects a description of a tensor, but got nil")
	}
	if d.drv.tensorMapEncode == 0 {
		return TensorMap{}, fmt.Errorf("cuda: the driver (%s) makes no tensor maps: it lacks cuTensorMapEncodeTiled, which drivers for CUDA 12 and later have", d.drv.path)
	}
	if empty, err := s.check(); empty || err != nil {
		return TensorMap{}, err
	}
	e := mapEncoders.Get().(*mapEncoder)
	defer mapEncoders.Put(e)
	at := e.fill(s)
	if err := d.enter(); err != nil {
		return TensorMap{}, err
	}
	r := Result(int32(dl.CallFrame(d.drv.tensorMapEncode, e.frame[:])))
	d.exit()
	runtime.KeepAlive(e) // the frame holds addresses inside e as plain words
	if r != Success {
		told := *s // so that the caller's need not live on the heap
		return TensorMap{}, annotate(d.drv.fail(r, "cuTensorMapEncodeTiled"), "of %s", &told)
	}
	return TensorMap(e.out[at : at+mapWords]), nil
}

// fill writes the call's arguments and returns the word of out at which the map will lie.
func (e *mapEncoder) fill(s *TensorMapSpec) int {
	size := s.elemBytes()
	for i := range s.Rank {
		e.dims[i], e.box[i], e.steps[i] = uint64(s.Extents[i]), uint32(s.Box[i]), 1
		if i > 0 { // the adjacent dimension's is left out
			e.strides[i-1] = uint64(s.Strides[i] * size)
		}
	}
	at := int(-uintptr(unsafe.Pointer(&e.out[0])) % mapAlign / 8)
	e.frame = [...]uintptr{
		uintptr(unsafe.Pointer(&e.out[at])), tensorTypes[s.Elem], uintptr(s.Rank), uintptr(s.Addr),
		uintptr(unsafe.Pointer(&e.dims[0])), uintptr(unsafe.Pointer(&e.strides[0])),
		uintptr(unsafe.Pointer(&e.box[0])), uintptr(unsafe.Pointer(&e.steps[0])),
		noInterleave, uintptr(s.Swizzle), promotionL2, fillWithZeros,
	}
	return at
}

func (s *TensorMapSpec) elemBytes() int64 { return int64(s.Elem.Bits() / 8) }

// check refuses what the copy engine does not take, and tells whether the tensor has no elements at all.
func (s *TensorMapSpec) check() (empty bool, err error) {
	refuse := func(format string, args ...any) (bool, error) {
		return false, fmt.Errorf("cuda: a tensor map expects "+format, args...)
	}
	if _, ok := tensorTypes[s.Elem]; !ok {
		return refuse("elements of 1 to 8 bytes, but got %s", s.Elem)
	}
	if s.Rank < 1 || s.Rank > MaxTensorRank {
		return refuse("1 to %d dimensions, but got %d", MaxTensorRank, s.Rank)
	}
	size, end, over := s.elemBytes(), uint64(s.Addr), uint64(0) // end is that of the last element that lies behind Addr
	for i := range s.Rank {
		empty = empty || s.Extents[i] == 0
		stride := s.Strides[i]
		switch {
		case s.Extents[i] < 0 || s.Extents[i] > 1<<32:
			return refuse("extents of 0 to 2^32, but got %d in dimension %d", s.Extents[i], i)
		case s.Box[i] < 1 || s.Box[i] > 256:
			return refuse("a box of 1 to 256 elements in each dimension, but got %d in dimension %d", s.Box[i], i)
		case i == 0 && stride != 1:
			return refuse("the first dimension's elements to be adjacent, but got a stride of %d", stride)
		case i > 0 && (stride < 0 || stride >= 1<<40/size || stride*size%16 != 0):
			return refuse("strides of whole 16 bytes below 2^40, but got %d elements of %s in dimension %d", stride, s.Elem, i)
		}
		high, span := bits.Mul64(uint64(max(s.Extents[i], 1)-1), uint64(stride*size))
		sum, carry := bits.Add64(end, span, 0)
		end, over = sum, over|high|carry
	}
	row := int64(s.Box[0]) * size
	switch {
	case s.Swizzle < 0 || s.Swizzle > 3 || s.Swizzle > 0 && row > 16<<s.Swizzle || row%16 != 0:
		return refuse("rows of a box of whole 16 bytes, with a swizzle of 1 to 3 at most 32, 64 and 128, but got %d bytes with %d", row, s.Swizzle)
	case !empty && (s.Addr == 0 || s.Addr%16 != 0):
		return refuse("an address that is a multiple of 16 bytes, but got %#x", uint64(s.Addr))
	case !empty && (over != 0 || end > -uint64(size)):
		return refuse("a tensor that ends below 2^64, but got %s", s)
	}
	return empty, nil
}

// String shows what the map is of.
func (s *TensorMapSpec) String() string {
	if s == nil {
		return "no tensor"
	}
	n := min(max(s.Rank, 0), MaxTensorRank)
	return fmt.Sprintf("%s%v:%v at %#x in boxes of %v, swizzle %d", s.Elem, s.Extents[:n], s.Strides[:n], uint64(s.Addr), s.Box[:n], s.Swizzle)
}

// TensorMap appends a tensor map. A nil one is an error, which Launch tells.
func (a *Args) TensorMap(m *TensorMap) *Args {
	if a == nil || a.free {
		return a.broken()
	}
	if m == nil {
		if a.err == nil {
			a.err = fmt.Errorf("%w: argument %d: expected a *TensorMap, but got nil", ErrArgs, len(a.spans))
		}
		m = &TensorMap{}
	}
	a.spans = append(a.spans, span{len(a.words), 8 * mapWords})
	a.words = append(a.words, m[:]...)
	return a
}
