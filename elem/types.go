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
)

// Any is the set of element types that have an address (at least a byte wide).
type Any interface {
	F16 | BF16 | TF32 | F32 | F64 | E4M3 | E5M2 | S8 | U8 | S16 | U16 | S32 | U32 | S64 | U64
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
	default:
		return KU64
	}
}
