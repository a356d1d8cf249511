package cuda

import (
	"fmt"
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/gocute/gocute/elem"
)

// DevicePtr is an address in a device's memory. It means nothing to the host.
type DevicePtr uint64

// Buffer is a device array of elements. Free it: the garbage collector does not.
type Buffer[E elem.Any] struct {
	mem *allocation // nil only in a zero Buffer
	ptr DevicePtr
	n   int
	own bool // it comes from Alloc, so Free frees the allocation
}

// allocation is the life of memory, which a buffer and all slices of it share.
type allocation struct {
	dev   *Device
	freed atomic.Bool
}

// Alloc makes an array of n elements on d, aligned to at least 256 bytes. What it holds is undefined.
// With n = 0 nothing is allocated and the address is 0. It returns an *Error with OutOfMemory when there
// is no room.
func Alloc[E elem.Any](d *Device, n int) (*Buffer[E], error) {
	if err := d.live("Alloc"); err != nil {
		return nil, err
	}
	size := elemSize[E]()
	if n < 0 || n > math.MaxInt/size {
		return nil, fmt.Errorf("cuda: Alloc expects a number of elements from 0 to %d, but got %d", math.MaxInt/size, n)
	}
	b := &Buffer[E]{mem: &allocation{dev: d}, n: n, own: true}
	if n == 0 {
		return b, nil
	}
	p, err := d.alloc(uintptr(n) * uintptr(size))
	if err != nil {
		return nil, annotate(err, "of %d bytes (%d %s)", n*size, n, elem.KindOf[E]())
	}
	b.ptr = p
	return b, nil
}

// View is n elements at an address that something else owns, such as a variable of a module. The address is a multiple
// of the element's size, and the elements take no more bytes than the device has. Whether the memory is there is the
// caller's business: nothing tells a View that its owner freed it.
func View[E elem.Any](d *Device, p DevicePtr, n int) (*Buffer[E], error) {
	if err := d.live("View"); err != nil {
		return nil, err
	}
	size := elemSize[E]()
	switch {
	case n < 0 || uint64(n) > d.info.MemoryBytes/uint64(size):
		return nil, fmt.Errorf("cuda: View expects 0 to %d elements of %d bytes, which fit the memory of %s, but got %d",
			d.info.MemoryBytes/uint64(size), size, d, n)
	case n > 0 && p == 0 || uint64(p)%uint64(size) != 0:
		return nil, fmt.Errorf("cuda: View expects an address that is a multiple of %d bytes and not 0, but got %#x", size, uint64(p))
	case uint64(p) > math.MaxUint64-uint64(n*size):
		return nil, fmt.Errorf("cuda: View expects elements below the end of the address space, but got %d bytes at %#x", n*size, uint64(p))
	}
	return &Buffer[E]{mem: &allocation{dev: d}, ptr: p, n: n}, nil
}

// FromHost is Alloc of len(src) elements and CopyFrom.
func FromHost[E elem.Any](d *Device, src []E) (*Buffer[E], error) {
	b, err := Alloc[E](d, len(src))
	if err != nil {
		return nil, err
	}
	if err := b.CopyFrom(src); err != nil {
		_ = b.Free() // the copy's error says more
		return nil, err
	}
	return b, nil
}

// Free gives the memory back, after all work that was launched before: no slice of it can be used from then on. A second
// Free, and that of a nil buffer, do nothing; freeing a slice or a view is an error.
func (b *Buffer[E]) Free() error {
	if b == nil || b.mem == nil {
		return nil
	}
	if !b.own {
		return fmt.Errorf("cuda: Free expects a buffer from Alloc, but got a slice or a view of one")
	}
	if b.mem.freed.Swap(true) || b.ptr == 0 {
		return nil
	}
	return b.mem.dev.call("cuMemFree_v2", b.mem.dev.drv.memFree, uintptr(b.ptr))
}

// Len is the number of elements; 0 for a nil buffer.
func (b *Buffer[E]) Len() int {
	if b == nil {
		return 0
	}
	return b.n
}

// Bytes is the size in bytes; 0 for a nil buffer.
func (b *Buffer[E]) Bytes() int { return b.Len() * elemSize[E]() }

// Ptr is the address of the first element. It is 0 for a nil and an empty buffer, and as soon as the memory cannot be
// used any more: the buffer, or the one that it is a slice of, was freed, or the device was closed.
func (b *Buffer[E]) Ptr() DevicePtr {
	if b == nil || b.mem == nil || b.mem.freed.Load() || b.mem.dev != nil && b.mem.dev.closed.Load() {
		return 0
	}
	return b.ptr
}

// Device is where the buffer lives; nil for a nil or a zero Buffer.
func (b *Buffer[E]) Device() *Device {
	if b == nil || b.mem == nil {
		return nil
	}
	return b.mem.dev
}

// Live tells why the buffer cannot be used, if so: it is nil, does not come from Alloc, was freed (ErrClosed), or its
// device was closed (ErrClosed).
func (b *Buffer[E]) Live() error { return b.live("use") }

// live is Live for an operation.
func (b *Buffer[E]) live(op string) error {
	switch {
	case b == nil:
		return fmt.Errorf("cuda: %s expects a buffer from Alloc, but got nil", op)
	case b.mem == nil:
		return fmt.Errorf("cuda: %s expects a buffer from Alloc, but got an empty Buffer", op)
	case b.mem.freed.Load():
		return fmt.Errorf("%w: %s of a buffer that was freed", ErrClosed, op)
	}
	return b.mem.dev.live(op)
}

// address is what Pack appends.
func (b *Buffer[E]) address() (DevicePtr, error) { return b.Ptr(), b.Live() }

func elemSize[E elem.Any]() int {
	var e E
	return int(unsafe.Sizeof(e))
}

// Slice is the part [lo, hi) of b. It shares b's memory, and cannot be used once b is freed. Its address is a multiple
// of the element's size only: kernels that move 16 bytes at a time may refuse it.
func (b *Buffer[E]) Slice(lo, hi int) (*Buffer[E], error) {
	if err := b.live("Slice"); err != nil {
		return nil, err
	}
	if lo < 0 || hi < lo || hi > b.n {
		return nil, fmt.Errorf("cuda: Slice expects 0 <= lo <= hi <= %d, but got [%d, %d)", b.n, lo, hi)
	}
	return &Buffer[E]{mem: b.mem, ptr: b.ptr + DevicePtr(lo*elemSize[E]()), n: hi - lo}, nil
}

// ready refuses buffers that cannot be used and host slices of another length.
func (b *Buffer[E]) ready(op string, n int) error {
	if err := b.live(op); err != nil {
		return err
	}
	if n != b.n {
		return fmt.Errorf("cuda: %s expects %d elements, as the buffer has, but got %d", op, b.n, n)
	}
	return nil
}

// CopyFrom fills the buffer from src, which must have exactly Len elements. It waits for the work before
// it, and src may change once it returns.
func (b *Buffer[E]) CopyFrom(src []E) error {
	if err := b.ready("CopyFrom", len(src)); err != nil || b.n == 0 {
		return err
	}
	return annotateIf(b.mem.dev.copyIn(b.ptr, unsafe.Pointer(&src[0]), b.Bytes()), b.Bytes())
}

// CopyTo copies the buffer to dst, which must have exactly Len elements. It waits for the work before it.
func (b *Buffer[E]) CopyTo(dst []E) error {
	if err := b.ready("CopyTo", len(dst)); err != nil || b.n == 0 {
		return err
	}
	return annotateIf(b.mem.dev.copyOut(unsafe.Pointer(&dst[0]), b.ptr, b.Bytes()), b.Bytes())
}

// Host is the buffer's elements in a new slice.
func (b *Buffer[E]) Host() ([]E, error) {
	if err := b.live("Host"); err != nil {
		return nil, err
	}
	dst := make([]E, b.n)
	return dst, b.CopyTo(dst)
}

// CopyBuffer copies src, of the same length, into b. Both are of one device, and do not overlap unless they are the same.
// It does not wait.
func (b *Buffer[E]) CopyBuffer(src *Buffer[E]) error {
	if err := src.live("CopyBuffer from"); err != nil {
		return err
	}
	if err := b.ready("CopyBuffer", src.n); err != nil {
		return err
	}
	if err := b.mem.dev.same("CopyBuffer", "a buffer", src.mem.dev); err != nil || b.n == 0 || b.ptr == src.ptr {
		return err
	}
	if size := DevicePtr(b.Bytes()); b.ptr < src.ptr+size && src.ptr < b.ptr+size {
		return fmt.Errorf("cuda: CopyBuffer expects buffers that do not overlap, but got %d bytes at %#x and at %#x", size, uint64(src.ptr), uint64(b.ptr))
	}
	dev := b.mem.dev
	err := dev.call("cuMemcpyDtoD_v2", dev.drv.memcpyDtoD, uintptr(b.ptr), uintptr(src.ptr), uintptr(b.Bytes()))
	return annotateIf(err, b.Bytes())
}

// Zero sets every byte to 0. It does not wait.
func (b *Buffer[E]) Zero() error {
	if err := b.live("Zero"); err != nil || b.n == 0 {
		return err
	}
	dev := b.mem.dev
	return annotateIf(dev.call("cuMemsetD8_v2", dev.drv.memsetD8, uintptr(b.ptr), 0, uintptr(b.Bytes())), b.Bytes())
}

// ZeroOn is Zero in the order of a stream of the buffer's device.
func (b *Buffer[E]) ZeroOn(s *Stream) error {
	if err := b.live("ZeroOn"); err != nil {
		return err
	}
	dev := b.mem.dev
	h, err := s.queue("ZeroOn", dev)
	if err != nil || b.n == 0 {
		return err
	}
	err = dev.call("cuMemsetD8Async", dev.drv.memsetD8Async, uintptr(b.ptr), 0, uintptr(b.Bytes()), h)
	return annotateIf(err, b.Bytes())
}

// Set sets every element to v. It does not wait, except for 8-byte elements, which go through the host.
func (b *Buffer[E]) Set(v E) error {
	if err := b.live("Set"); err != nil || b.n == 0 {
		return err
	}
	bits, dev := elem.Bits(v), b.mem.dev
	var err error
	switch elemSize[E]() {
	case 1:
		err = dev.call("cuMemsetD8_v2", dev.drv.memsetD8, uintptr(b.ptr), uintptr(bits), uintptr(b.n))
	case 2:
		err = dev.call("cuMemsetD16_v2", dev.drv.memsetD16, uintptr(b.ptr), uintptr(bits), uintptr(b.n))
	case 4:
		err = dev.call("cuMemsetD32_v2", dev.drv.memsetD32, uintptr(b.ptr), uintptr(bits), uintptr(b.n))
	default: // the driver fills with at most 4 bytes
		host := make([]E, b.n)
		for i := range host {
			host[i] = v
		}
		return b.CopyFrom(host)
	}
	return annotateIf(err, b.Bytes())
}

func annotateIf(err error, bytes int) error {
	if err == nil {
		return nil
	}
	return annotate(err, "of %d bytes", bytes)
}

func (d *Device) alloc(bytes uintptr) (DevicePtr, error) {
	var p DevicePtr
	err := d.call("cuMemAlloc_v2", d.drv.memAlloc, uintptr(unsafe.Pointer(&p)), bytes)
	return p, err
}

func (d *Device) copyIn(dst DevicePtr, src unsafe.Pointer, bytes int) error {
	return d.call("cuMemcpyHtoD_v2", d.drv.memcpyHtoD, uintptr(dst), uintptr(src), uintptr(bytes))
}

func (d *Device) copyOut(dst unsafe.Pointer, src DevicePtr, bytes int) error {
	return d.call("cuMemcpyDtoH_v2", d.drv.memcpyDtoH, uintptr(dst), uintptr(src), uintptr(bytes))
}
