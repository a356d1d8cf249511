package cuda

import (
	"fmt"
	"math"
	"sync"
	"unsafe"

	"github.com/gocute/gocute/elem"
)

// Args is a kernel's arguments, in order, in memory of its own that does not move. The driver copies them
// during Launch, so one Args can be filled again (Reset) and launched again, by one goroutine at a time.
type Args struct {
	words []uint64         // the values, each in words of its own
	spans []span           // where each value lies
	ptrs  []unsafe.Pointer // what the driver reads: the address of each value
	frame [launchWords]uintptr
	ex    launchEx
	pool  *sync.Pool // where Release puts it; nil for one from NewArgs
	free  bool       // it lies in the pool, or may be somebody else's by now
	err   error      // the first value that could not be appended; Launch tells it
}

type span struct{ word, bytes int }

// launchWords is the number of cuLaunchKernel's parameters.
const launchWords = 11

// NewArgs makes an empty list. Function.Args, which recycles, suits launchers better.
func NewArgs() *Args { return &Args{words: make([]uint64, 0, 16), spans: make([]span, 0, 16)} }

// Reset empties the list, and forgets its error.
func (a *Args) Reset() *Args {
	if a == nil || a.free {
		return a.broken()
	}
	a.words, a.spans, a.err = a.words[:0], a.spans[:0], nil
	return a
}

// Release gives an Args from Function.Args back; it must not be used afterwards. A second Release does nothing.
func (a *Args) Release() {
	if a != nil && a.pool != nil && !a.free {
		a.free = true
		a.pool.Put(a)
	}
}

// Len is the number of arguments; 0 for a nil list.
func (a *Args) Len() int {
	if a == nil {
		return 0
	}
	return len(a.spans)
}

// Err is the first thing that was wrong with the list or a value appended to it: a nil list, one that was released, a
// nil TensorMap. Launch returns it.
func (a *Args) Err() error {
	switch {
	case a == nil:
		return fmt.Errorf("%w: expected a list from NewArgs or Function.Args, but got nil", ErrArgs)
	case a.free:
		return fmt.Errorf("%w: a list of arguments after its Release", ErrClosed)
	}
	return a.err
}

// broken is an empty list that has a's error, so that appending to it harms nobody.
func (a *Args) broken() *Args { return &Args{err: a.Err()} }

// put appends a value of at most 8 bytes. The machines this runs on are little-endian, so the value's
// bytes come first in its word.
func (a *Args) put(bits uint64, bytes int) *Args {
	if a == nil || a.free {
		return a.broken()
	}
	a.spans = append(a.spans, span{len(a.words), bytes})
	a.words = append(a.words, bits)
	return a
}

// Ptr appends a device address.
func (a *Args) Ptr(p DevicePtr) *Args { return a.put(uint64(p), 8) }

// I32 appends an int.
func (a *Args) I32(v int32) *Args { return a.put(uint64(uint32(v)), 4) }

// U32 appends an unsigned int.
func (a *Args) U32(v uint32) *Args { return a.put(uint64(v), 4) }

// I64 appends a long long.
func (a *Args) I64(v int64) *Args { return a.put(uint64(v), 8) }

// U64 appends an unsigned long long.
func (a *Args) U64(v uint64) *Args { return a.put(v, 8) }

// U16 appends two bytes: a short, a half or a bfloat16.
func (a *Args) U16(v uint16) *Args { return a.put(uint64(v), 2) }

// U8 appends one byte.
func (a *Args) U8(v uint8) *Args { return a.put(uint64(v), 1) }

// Bool appends a bool.
func (a *Args) Bool(v bool) *Args {
	if v {
		return a.U8(1)
	}
	return a.U8(0)
}

// F32 appends a float.
func (a *Args) F32(v float32) *Args { return a.put(uint64(math.Float32bits(v)), 4) }

// F64 appends a double.
func (a *Args) F64(v float64) *Args { return a.put(math.Float64bits(v), 8) }

// Bytes appends a struct that is passed by value, given as the bytes the kernel sees.
func (a *Args) Bytes(b []byte) *Args {
	if a == nil || a.free {
		return a.broken()
	}
	a.spans = append(a.spans, span{len(a.words), len(b)})
	for len(b) > 0 {
		var w [8]byte
		n := copy(w[:], b)
		b = b[n:]
		a.words = append(a.words, *(*uint64)(unsafe.Pointer(&w)))
	}
	return a
}

// Put appends one element.
func Put[E elem.Any](a *Args, v E) *Args { return a.put(elem.Bits(v), int(unsafe.Sizeof(v))) }

// Pack makes an Args of Go values: integers of a stated width, floats, bool, element types, DevicePtr, buffers
// (their address), *TensorMap, and []byte (a struct by value). It is for tests and one-off launches; int is refused, for
// its width is not the C int's, and so is a buffer that cannot be used.
func Pack(vals ...any) (*Args, error) {
	a := NewArgs()
	for i, v := range vals {
		known := a.any(v)
		if a.err != nil {
			return nil, fmt.Errorf("argument %d: %w", i, a.err)
		}
		if !known {
			return nil, fmt.Errorf("%w: argument %d: expected a type of fixed width, such as int32, float32, DevicePtr or a *Buffer, but got %T", ErrArgs, i, v)
		}
	}
	return a, nil
}

// any appends v, or reports that its type has no C counterpart.
func (a *Args) any(v any) bool {
	switch v := v.(type) {
	case interface{ address() (DevicePtr, error) }:
		p, err := v.address()
		if err != nil {
			a.err = err
		}
		a.Ptr(p)
	case DevicePtr:
		a.Ptr(v)
	case *TensorMap:
		a.TensorMap(v)
	case []byte:
		a.Bytes(v)
	case bool:
		a.Bool(v)
	case int8:
		a.U8(uint8(v))
	case uint8:
		a.U8(v)
	case int16:
		a.U16(uint16(v))
	case uint16:
		a.U16(v)
	case int32:
		a.I32(v)
	case uint32:
		a.U32(v)
	case int64:
		a.I64(v)
	case uint64:
		a.U64(v)
	case float32:
		a.F32(v)
	case float64:
		a.F64(v)
	default:
		k, bits := elem.BitsOfAny(v)
		if k == elem.Invalid {
			return false
		}
		a.put(bits, k.Bits()/8)
	}
	return true
}

// pointers lists the values' addresses, which hold until the next append; 0 where there are none.
func (a *Args) pointers() uintptr {
	a.ptrs = a.ptrs[:0]
	for _, s := range a.spans {
		if s.word >= len(a.words) { // an empty struct has no word to point to
			a.words = append(a.words, 0)
		}
	}
	for _, s := range a.spans {
		a.ptrs = append(a.ptrs, unsafe.Pointer(&a.words[s.word]))
	}
	if len(a.ptrs) == 0 {
		return 0
	}
	return uintptr(unsafe.Pointer(&a.ptrs[0]))
}
