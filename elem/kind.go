// Package elem holds the element types: Go types that kernels and host buffers share, and the
// Kind that describes each of them to the layout algebra, the printers and the emulator.
package elem

import (
	"fmt"
	"strings"
)

// Kind names an element type at run time of the generator.
type Kind uint8

// The kinds, named by their element codes (see Kind.String).
const (
	Invalid Kind = iota
	KF16
	KBF16
	KTF32
	KF32
	KF64
	KE4M3
	KE5M2
	KS8
	KU8
	KS16
	KU16
	KS32
	KU32
	KS64
	KU64
	KS4
	KU4
	KB1
	KU128
	KC64
	KGC64
	numKinds
)

type kindInfo struct {
	code string // the element code in layouts' text and PTX
	bits int
	ctyp string // the CUDA C++ type of one element in memory; empty where C has none
	flt  bool
	sign bool
}

var kinds = [numKinds]kindInfo{
	Invalid: {"invalid", 0, "", false, false},
	KF16:    {"f16", 16, "half_t", true, true},
	KBF16:   {"bf16", 16, "bfloat16_t", true, true},
	KTF32:   {"tf32", 32, "float", true, true},
	KF32:    {"f32", 32, "float", true, true},
	KF64:    {"f64", 64, "double", true, true},
	KE4M3:   {"e4m3", 8, "uint8_t", true, true},
	KE5M2:   {"e5m2", 8, "uint8_t", true, true},
	KS8:     {"s8", 8, "int8_t", false, true},
	KU8:     {"u8", 8, "uint8_t", false, false},
	KS16:    {"s16", 16, "int16_t", false, true},
	KU16:    {"u16", 16, "uint16_t", false, false},
	KS32:    {"s32", 32, "int32_t", false, true},
	KU32:    {"u32", 32, "uint32_t", false, false},
	KS64:    {"s64", 64, "int64_t", false, true},
	KU64:    {"u64", 64, "uint64_t", false, false},
	KS4:     {"s4", 4, "", false, true},
	KU4:     {"u4", 4, "", false, false},
	KB1:     {"b1", 1, "", false, false},
	KU128:   {"u128", 128, "uint4", false, false},
	KC64:    {"c64", 128, "", true, true},
	KGC64:   {"gc64", 192, "", true, true},
}

// info is k's row; that of Invalid for a number that is no kind.
func (k Kind) info() *kindInfo {
	if k >= numKinds {
		k = Invalid
	}
	return &kinds[k]
}

// Bits is the width of one element in bits.
func (k Kind) Bits() int { return k.info().bits }

// String is the element code, such as "f16" or "s8".
func (k Kind) String() string {
	if k >= numKinds {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return kinds[k].code
}

// CType is the CUDA C++ type of one element in memory, or "" where elements are smaller than a byte or are several
// numbers.
func (k Kind) CType() string { return k.info().ctyp }

// IsFloat reports whether the kind is a floating-point type.
func (k Kind) IsFloat() bool { return k.info().flt }

// IsSigned reports whether the kind holds negative values.
func (k Kind) IsSigned() bool { return k.info().sign }

// ParseKind is the inverse of Kind.String.
func ParseKind(code string) (Kind, error) {
	for k := Invalid + 1; k < numKinds; k++ {
		if kinds[k].code == code {
			return k, nil
		}
	}
	var known []string
	for k := Invalid + 1; k < numKinds; k++ {
		known = append(known, kinds[k].code)
	}
	return Invalid, fmt.Errorf("elem: expected one of the element types %s, but got %q", strings.Join(known, ", "), code)
}
