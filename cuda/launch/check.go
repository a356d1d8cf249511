package launch

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gocute/gocute/cuda"
	"github.com/gocute/gocute/elem"
)

// Limits of a grid, the same on every architecture gocute generates for.
const (
	maxGridX  = 1<<31 - 1
	maxGridYZ = 1<<16 - 1
)

// Grid is the number of blocks of a launch along each direction. The zero Grid launches nothing.
type Grid struct{ X, Y, Z int }

// Empty reports whether there is no block at all, which is not an error: there is nothing to do.
func (g Grid) Empty() bool { return g.X == 0 || g.Y == 0 || g.Z == 0 }

// NewGrid checks the extents against the limits of the hardware. An extent of 0 or less makes an empty Grid.
func NewGrid(kernel string, x, y, z int64) (Grid, error) {
	if x <= 0 || y <= 0 || z <= 0 {
		return Grid{}, nil
	}
	if x > maxGridX || y > maxGridYZ || z > maxGridYZ {
		return Grid{}, gridError(kernel, x, y, z)
	}
	return Grid{int(x), int(y), int(z)}, nil
}

func gridError(kernel string, x, y, z int64) error {
	at, got, limit := "x", x, int64(maxGridX)
	if x <= maxGridX {
		at, got, limit = "y", y, maxGridYZ
		if y <= maxGridYZ {
			at, got = "z", z
		}
	}
	return fmt.Errorf("%s: the grid (%d,%d,%d) is too large: expected at most %d blocks along %s, but got %d",
		kernel, x, y, z, limit, at, got)
}

// NilArgs is the error of a launch without arguments.
func NilArgs(kernel string) error {
	return fmt.Errorf("%s: expected arguments, but got a nil *Args", kernel)
}

// CheckDim checks an extent or a stride against what its kernel was generated for.
func CheckDim(kernel, name string, v, lo, hi, multiple int64) error {
	if multiple >= 1 && v >= lo && v <= hi && v%multiple == 0 {
		return nil
	}
	var why string
	switch {
	case multiple < 1:
		return fmt.Errorf("internal error: %s: %s: expected a multiple of at least 1, but got %d", kernel, name, multiple)
	case v >= lo && v <= hi:
		why = fmt.Sprintf("a multiple of %d", multiple)
	case lo == hi:
		why = fmt.Sprint(lo)
	case v < lo:
		why = fmt.Sprintf("at least %d", lo)
	default:
		why = fmt.Sprintf("at most %d", hi)
	}
	return fmt.Errorf("%s: %s = %d: must be %s", kernel, name, v, why)
}

// Value is a named integer of an error's text.
type Value struct {
	Name string
	V    int64
}

// Unmet is the error of a condition that the arguments do not fulfil; values are those that it depends on.
func Unmet(kernel, message string, values ...Value) error {
	if len(values) == 0 {
		return fmt.Errorf("%s: %s", kernel, message)
	}
	return fmt.Errorf("%s: %s (got %s)", kernel, message, list(values))
}

func list(values []Value) string {
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = fmt.Sprintf("%s = %d", v.Name, v.V)
	}
	return strings.Join(parts, ", ")
}

// CheckBuffer checks that b holds at least need elements, text says why so many, at an address that align
// divides. A kernel that touches no element needs no buffer.
func CheckBuffer[E elem.Any](kernel, name string, b *cuda.Buffer[E], need int64, text string, align uint64) error {
	if align == 0 {
		return fmt.Errorf("internal error: %s: %s: expected an alignment of at least 1 byte, but got 0", kernel, name)
	}
	p := uint64(b.Ptr())
	if need <= 0 || p != 0 && int64(b.Len()) >= need && p%align == 0 {
		return nil
	}
	got := "nil"
	switch {
	case b == nil:
	case errors.Is(b.Live(), cuda.ErrClosed):
		return fmt.Errorf("%s: %s: %w", kernel, name, b.Live())
	case int64(b.Len()) < need:
		got = fmt.Sprint(b.Len())
	case p == 0:
		got = "a null pointer"
	default:
		return fmt.Errorf("%s: %s: expected an address that is a multiple of %d bytes, but got %#x", kernel, name, align, p)
	}
	if n := fmt.Sprint(need); text != n {
		text += " = " + n
	}
	return fmt.Errorf("%s: %s: expected a buffer of at least %s elements, but got %s", kernel, name, text, got)
}

// CheckDisjoint refuses a buffer that the kernel only reads and one that it writes if they share memory: the kernel's
// loads rely on that they do not.
func CheckDisjoint[R, W elem.Any](kernel, read string, r *cuda.Buffer[R], written string, w *cuda.Buffer[W]) error {
	if r == nil || w == nil || r.Ptr() == 0 || w.Ptr() == 0 {
		return nil
	}
	rLo, wLo := uint64(r.Ptr()), uint64(w.Ptr())
	if rLo >= wLo+uint64(w.Bytes()) || wLo >= rLo+uint64(r.Bytes()) {
		return nil
	}
	return fmt.Errorf("%s: %s and %s: expected buffers that do not overlap, because the kernel reads one while it writes the other, but got %#x to %#x and %#x to %#x",
		kernel, read, written, rLo, rLo+uint64(r.Bytes()), wLo, wLo+uint64(w.Bytes()))
}
