package elem

// Go types of elements. Those without a Go equivalent hold the raw bits.
type (
	F16  uint16 // IEEE binary16
	BF16 uint16 // the upper half of a binary32
	TF32 uint32 // a binary32 of which the tensor core reads the upper 19 bits
	F32  float32
	F64  float64
	E4M3 uint8 // 4 bits of exponent, 3 of mantissa, no infinity
	E5M2 uint8
	S8   int8
	U8   uint8
	S16  int16
	U16  uint16
	S32  int32
	U32  uint32
	S64  int64
	U64  uint64
	S4   int8  // its lowest 4 bits count
	U4   uint8 // its lowest 4 bits count
	B1   uint8 // its lowest bit counts

	// C64 is a complex number of two f64, and GC64 the sum that three real products make of it. They live in
	// registers only: MMA instructions have them as operands, memory and launchers do not.
	C64  struct{ Re, Im float64 }
	GC64 struct{ P0, P1, P2 float64 }
)

// Any is the set of element types.
type Any interface {
	F16 | BF16 | TF32 | F32 | F64 | E4M3 | E5M2 | S8 | U8 | S16 | U16 | S32 | U32 | S64 | U64 | S4 | U4 | B1 | C64 | GC64
}

// Half is the set of 16-bit floating-point types.
type Half interface{ F16 | BF16 }

// KindOf returns the kind of E.
func KindOf[E Any]() Kind {
	var e E
	switch any(e).(type) {
	case F16:
		return KF16
	case BF16:
		return KBF16
	case TF32:
		return KTF32
	case F32:
		return KF32
	case F64:
		return KF64
	case E4M3:
		return KE4M3
	case E5M2:
		return KE5M2
	case S8:
		return KS8
	case U8:
		return KU8
	case S16:
		return KS16
	case U16:
		return KU16
	case S32:
		return KS32
	case U32:
		return KU32
	case S64:
		return KS64
	case U64:
		return KU64
	case S4:
		return KS4
	case U4:
		return KU4
	case B1:
		return KB1
	case C64:
		return KC64
	default:
		return KGC64
	}
}
