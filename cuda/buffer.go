package cuda

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/gocute/gocute/elem"
)

// DevicePtr is an address in a device's memory. It means nothing to the host.
type DevicePtr uint64

// Buffer is a device array of elements. Free it: the garbage collector does not.
type Buffer[E elem.Any] struct {
	dev  *Device
	ptr  DevicePtr
	n    int
	base *bool // set to true when the allocation is freed; views share it
	view bool
}

// Alloc makes an array of n elements on d, aligned to at least 256 bytes. What it holds is undefined.
// With n = 0 nothing is allocated and the address is 0. It returns an *Error with OutOfMemory when there
// is no room.
func Alloc[E elem.Any](d *Device, n int) (*Buffer[E], error) {
	var e E
	size := int(unsafe.Sizeof(e))
	if d == nil {
		return nil, fmt.Errorf("cuda: Alloc expects a device from Open, but got nil")
	}
	if n < 0 || n > math.MaxInt/size {
		return nil, fmt.Errorf("cuda: Alloc expects a number of elements from 0 to %d, but got %d", math.MaxInt/size, n)
	}
	b := &Buffer[E]{dev: d, n: n, base: new(bool)}
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

// View is n elements at an address that something else owns, such as a variable of a module.
func View[E elem.Any](d *Device, p DevicePtr, n int) *Buffer[E] {
	return &Buffer[E]{dev: d, ptr: p, n: n, base: new(bool), view: true}
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

// Free gives the memory back, after all work that was launched before. A second Free does nothing;
// freeing a view is an error.
func (b *Buffer[E]) Free() error {
	if b.view {
		return fmt.Errorf("cuda: Free expects a buffer from Alloc, but got a view")
	}
	if *b.base {
		return nil
	}
	*b.base = true
	p := b.ptr
	b.ptr = 0 // a launch with the freed buffer then passes null, which launchers refuse
	if p == 0 {
		return nil
	}
	return b.dev.call("cuMemFree_v2", b.dev.drv.memFree, uintptr(p))
}

// Len is the number of elements.
func (b *Buffer[E]) Len() int { return b.n }

// Bytes is the size in bytes.
func (b *Buffer[E]) Bytes() int { return b.n * b.size() }

// Ptr is the address of the first element; 0 once the buffer is freed, and for an empty one.
func (b *Buffer[E]) Ptr() DevicePtr { return b.ptr }

// Device is where the buffer lives.
func (b *Buffer[E]) Device() *Device { return b.dev }

func (b *Buffer[E]) size() int {
	var e E
	return int(unsafe.Sizeof(e))
}

// Slice is the part [lo, hi) of b. It shares b's memory, and is of no use once b is freed.
func (b *Buffer[E]) Slice(lo, hi int) (*Buffer[E], error) {
	if lo < 0 || hi < lo || hi > b.n {
		return nil, fmt.Errorf("cuda: Slice expects 0 <= lo <= hi <= %d, but got [%d, %d)", b.n, lo, hi)
	}
	v := *b
	v.view = true
	v.n = hi - lo
	v.ptr += DevicePtr(lo * b.size())
	return &v, nil
}

// ready refuses freed buffers and host slices of another length.
func (b *Buffer[E]) ready(op string, n int) error {
	if *b.base {
		return fmt.Errorf("%w: %s of a buffer that was freed", ErrClosed, op)
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
	return annotateIf(b.dev.copyIn(b.ptr, unsafe.Pointer(&src[0]), b.Bytes()), b.Bytes())
}

// CopyTo copies the buffer to dst, which must have exactly Len elements. It waits for the work before it.
func (b *Buffer[E]) CopyTo(dst []E) error {
	if err := b.ready("CopyTo", len(dst)); err != nil || b.n == 0 {
		return err
	}
	return annotateIf(b.dev.copyOut(unsafe.Pointer(&dst[0]), b.ptr, b.Bytes()), b.Bytes())
}

// Host is the buffer's elements in a new slice.
func (b *Buffer[E]) Host() ([]E, error) {
	dst := make([]E, b.n)
	return dst, b.CopyTo(dst)
}

// CopyBuffer copies src, of the same length and device, into b. It does not wait.
func (b *Buffer[E]) CopyBuffer(src *Buffer[E]) error {
	if err := b.ready("CopyBuffer", src.n); err != nil || b.n == 0 {
		return err
	}
	if err := src.ready("CopyBuffer", src.n); err != nil {
		return err
	}
	err := b.dev.call("cuMemcpyDtoD_v2", b.dev.drv.memcpyDtoD, uintptr(b.ptr), uintptr(src.ptr), uintptr(b.Bytes()))
	return annotateIf(err, b.Bytes())
}

// Zero sets every byte to 0. It does not wait.
func (b *Buffer[E]) Zero() error {
	if err := b.ready("Zero", b.n); err != nil || b.n == 0 {
		return err
	}
	return annotateIf(b.dev.call("cuMemsetD8_v2", b.dev.drv.memsetD8, uintptr(b.ptr), 0, uintptr(b.Bytes())), b.Bytes())
}

// ZeroOn is Zero in the order of a stream.
func (b *Buffer[E]) ZeroOn(s *Stream) error {
	if err := b.ready("ZeroOn", b.n); err != nil || b.n == 0 {
		return err
	}
	h, err := s.queue("ZeroOn")
	if err != nil {
		return err
	}
	err = b.dev.call("cuMemsetD8Async", b.dev.drv.memsetD8Async, uintptr(b.ptr), 0, uintptr(b.Bytes()), h)
	return annotateIf(err, b.Bytes())
}

// Set sets every element to v. It does not wait, except for 8-byte elements, which go through the host.
func (b *Buffer[E]) Set(v E) error {
	if err := b.ready("Set", b.n); err != nil || b.n == 0 {
		return err
	}
	bits := elem.Bits(v)
	drv := b.dev.drv
	var err error
	switch b.size() {
	case 1:
		err = b.dev.call("cuMemsetD8_v2", drv.memsetD8, uintptr(b.ptr), uintptr(bits), uintptr(b.n))
	case 2:
		err = b.dev.call("cuMemsetD16_v2", drv.memsetD16, uintptr(b.ptr), uintptr(bits), uintptr(b.n))
	case 4:
		err = b.dev.call("cuMemsetD32_v2", drv.memsetD32, uintptr(b.ptr), uintptr(bits), uintptr(b.n))
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
