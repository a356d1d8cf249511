package emu

import (
	"fmt"

	"github.com/gocute/gocute/elem"
)

// Args are a kernel's arguments by name.
type Args map[string]Arg

// Arg is a *Buffer for a pointer, a Dim for an extent or stride, a Scalar or Bits for a scalar.
type Arg interface{ arg() }

// Dim is an extent or a stride, in elements.
type Dim int64

// Scalar is a scalar by its value; it is rounded to the parameter's kind.
type Scalar float64

// Bits is a scalar by the bits of its kind.
type Bits uint64

// Buffer is global memory: one cell an element, whose lowest Kind.Bits() bits count. A run writes into Cells.
// Where the kernel only writes a buffer, its old contents count as not initialised.
type Buffer struct {
	Kind  elem.Kind
	Cells []uint64

	// Undefined says that the contents count as not initialised even where the kernel may read them.
	Undefined bool

	sparse *pages // in place of Cells
}

func (Dim) arg()     {}
func (Scalar) arg()  {}
func (Bits) arg()    {}
func (*Buffer) arg() {}

// NewBuffer is a buffer of n elements whose bits are zero.
func NewBuffer(k elem.Kind, n int) *Buffer { return &Buffer{Kind: k, Cells: make([]uint64, n)} }

// BufferOf copies elements into a buffer.
func BufferOf[E elem.Any](xs []E) *Buffer {
	b := NewBuffer(elem.KindOf[E](), len(xs))
	for i, x := range xs {
		b.Cells[i] = elem.Bits(x)
	}
	return b
}

// BufferFromFloat64s rounds numbers into a buffer of kind k, as elem.Encode does.
func BufferFromFloat64s(k elem.Kind, xs []float64) *Buffer {
	b := NewBuffer(k, len(xs))
	for i, x := range xs {
		b.Cells[i] = elem.Encode(k, x)
	}
	return b
}

// BufferFromBytes reads elements as they lie in memory, little-endian, the first of several in a byte lowest.
// The bytes must hold a whole number of elements of at most 64 bits.
func BufferFromBytes(k elem.Kind, raw []byte) (*Buffer, error) {
	n := k.Bits()
	if n == 0 || n > 64 || len(raw)*8%n != 0 {
		return nil, fmt.Errorf("emu: %d bytes are not a whole number of elements of %s", len(raw), k)
	}
	b := NewBuffer(k, len(raw)*8/n)
	for i, x := range raw {
		if n < 8 {
			for j := range 8 / n {
				b.Cells[i*8/n+j] = uint64(x) >> (j * n) & (1<<n - 1)
			}
		} else {
			b.Cells[i*8/n] |= uint64(x) << (i * 8 % n)
		}
	}
	return b, nil
}

// Bytes are the elements as they lie in memory; the inverse of BufferFromBytes.
func (b *Buffer) Bytes() []byte {
	n := b.Kind.Bits()
	raw := make([]byte, (len(b.Cells)*n+7)/8)
	for i, x := range b.Cells {
		if n < 8 {
			raw[i*n/8] |= byte(x) << (i * n % 8)
			continue
		}
		for j := range n / 8 {
			raw[i*n/8+j] = byte(x >> (8 * j))
		}
	}
	return raw
}

// Float64s are the values of the elements, as elem.Decode gives them.
func (b *Buffer) Float64s() []float64 {
	out := make([]float64, len(b.Cells))
	for i, x := range b.Cells {
		out[i] = elem.Decode(b.Kind, x)
	}
	return out
}

// Elems are the elements of a buffer of E's kind; it fails on another kind.
func Elems[E elem.Any](b *Buffer) ([]E, error) {
	if k := elem.KindOf[E](); k != b.Kind {
		return nil, fmt.Errorf("emu: expects a buffer of %s, but got %s", k, b.Kind)
	}
	out := make([]E, len(b.Cells))
	for i, x := range b.Cells {
		out[i] = elem.FromBits[E](x)
	}
	return out, nil
}
