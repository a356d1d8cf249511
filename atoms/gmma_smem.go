package atoms

import (
	"fmt"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/elem"
)

// SmemSwizzle names a canonical layout of wgmma's operands in shared memory.
type SmemSwizzle string

// The canonical layouts: rows of 16, 32, 64 and 128 bytes.
const (
	Interleaved SmemSwizzle = "INTER"
	Swizzle32   SmemSwizzle = "SW32"
	Swizzle64   SmemSwizzle = "SW64"
	Swizzle128  SmemSwizzle = "SW128"
)

// smemRows lists the canonical layouts by the number of swizzled bits: rows have 16<<B bytes.
var smemRows = []SmemSwizzle{Interleaved, Swizzle32, Swizzle64, Swizzle128}

// GMMASmem is the canonical layout of a swizzle: 8 rows along the other mode, each contiguous along the major. The
// layout is in elements; bits says how many of them the swizzle, which moves units of 16 bytes, exclusively ors.
func GMMASmem(s SmemSwizzle, major Major, k elem.Kind) (l algebra.Layout, bits int, err error) {
	for b, row := range smemRows {
		if row != s {
			continue
		}
		n := int64(128<<b) / int64(max(1, k.Bits()))
		if major == MajorMN {
			l = algebra.MustLayout(algebra.S(n, 8), algebra.D(1, n))
		} else {
			l = algebra.MustLayout(algebra.S(8, n), algebra.D(n, 1))
		}
		return l, b, l.Err()
	}
	return l, 0, fmt.Errorf("atoms: expected a canonical layout of shared memory for wgmma, one of %v, but got %q", smemRows, s)
}

// GMMASmemText is the canonical layout as CuTe prints it, its swizzle on addresses in bytes.
func GMMASmemText(s SmemSwizzle, major Major, k elem.Kind) (string, error) {
	l, b, err := GMMASmem(s, major, k)
	return ByteSwizzled(l, b, k), err
}

// ByteSwizzled prints a layout of shared memory whose addresses in bytes are swizzled by Sw<b,4,3>.
func ByteSwizzled(l algebra.Layout, b int, k elem.Kind) string {
	return fmt.Sprintf("Sw<%d,4,3> o smem_ptr[%db](unset) o %s", b, k.Bits(), l)
}
