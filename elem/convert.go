package elem

import (
	"math"
	"reflect"
	"unsafe"

	"github.com/x448/float16"
)

// Bits is the element's bits, in the lowest ones of the result; of C64 and GC64, those of their first number.
func Bits[E Any](v E) uint64 {
	p := unsafe.Pointer(&v)
	switch unsafe.Sizeof(v) {
	case 1:
		return uint64(*(*uint8)(p)) & (1<<KindOf[E]().Bits() - 1)
	case 2:
		return uint64(*(*uint16)(p))
	case 4:
		return uint64(*(*uint32)(p))
	}
	return *(*uint64)(p)
}

// FromBits is the element with the given bits, of which it takes the lowest.
func FromBits[E Any](bits uint64) E {
	var v E
	p := unsafe.Pointer(&v)
	switch unsafe.Sizeof(v) {
	case 1:
		spare := 8 - KindOf[E]().Bits()
		*(*uint8)(p) = uint8(bits) << spare >> spare
		if KindOf[E]().IsSigned() && !KindOf[E]().IsFloat() {
			*(*int8)(p) = int8(uint8(bits)<<spare) >> spare
		}
	case 2:
		*(*uint16)(p) = uint16(bits)
	case 4:
		*(*uint32)(p) = uint32(bits)
	default:
		*(*uint64)(p) = bits
	}
	return v
}

// goTypes maps the Go types of elements to their kinds.
var goTypes = map[reflect.Type]Kind{
	reflect.TypeFor[F16]():  KF16,
	reflect.TypeFor[BF16](): KBF16,
	reflect.TypeFor[TF32](): KTF32,
	reflect.TypeFor[F32]():  KF32,
	reflect.TypeFor[F64]():  KF64,
	reflect.TypeFor[E4M3](): KE4M3,
	reflect.TypeFor[E5M2](): KE5M2,
	reflect.TypeFor[S8]():   KS8,
	reflect.TypeFor[U8]():   KU8,
	reflect.TypeFor[S16]():  KS16,
	reflect.TypeFor[U16]():  KU16,
	reflect.TypeFor[S32]():  KS32,
	reflect.TypeFor[U32]():  KU32,
	reflect.TypeFor[S64]():  KS64,
	reflect.TypeFor[U64]():  KU64,
	reflect.TypeFor[S4]():   KS4,
	reflect.TypeFor[U4]():   KU4,
	reflect.TypeFor[B1]():   KB1,
}

// BitsOfAny is the kind and the bits of an element in an interface; Invalid where v is not one of Any's types.
func BitsOfAny(v any) (Kind, uint64) {
	k, ok := goTypes[reflect.TypeOf(v)]
	if !ok {
		return Invalid, 0
	}
	r := reflect.ValueOf(v)
	mask := ^uint64(0) >> (64 - k.Bits())
	switch {
	case r.CanInt():
		return k, uint64(r.Int()) & mask
	case r.CanUint():
		return k, r.Uint() & mask
	case k == KF32:
		return k, uint64(math.Float32bits(float32(r.Float())))
	}
	return k, math.Float64bits(r.Float())
}

// FromFloat64 is the element nearest to v. It rounds, saturates and treats NaN as Encode does.
func FromFloat64[E Any](v float64) E { return FromBits[E](Encode(KindOf[E](), v)) }

// ToFloat64 is the element's value, as Decode gives it.
func ToFloat64[E Any](v E) float64 { return Decode(KindOf[E](), Bits(v)) }

// FromFloat32 is FromFloat64 of a float32, which float64 holds exactly.
func FromFloat32[E Any](v float32) E { return FromFloat64[E](float64(v)) }

// ToFloat32 is the element's value as a float32: exact for all floating-point kinds but f64.
func ToFloat32[E Any](v E) float32 { return float32(ToFloat64(v)) }

// FromFloat64s is FromFloat64 of each value.
func FromFloat64s[E Any](src []float64) []E {
	dst, k := make([]E, len(src)), KindOf[E]()
	for i, v := range src {
		dst[i] = FromBits[E](Encode(k, v))
	}
	return dst
}

// ToFloat64s is ToFloat64 of each element.
func ToFloat64s[E Any](src []E) []float64 {
	dst, k := make([]float64, len(src)), KindOf[E]()
	for i, v := range src {
		dst[i] = Decode(k, Bits(v))
	}
	return dst
}

// NewF16 rounds a float32 to a binary16 as FromFloat64 does, and is several times faster.
func NewF16(v float32) F16 {
	if v != v {
		return F16(formats[KF16].nan)
	}
	return F16(float16.Fromfloat32(v))
}

// Float32 is the value, exactly.
func (v F16) Float32() float32 { return float16.Frombits(uint16(v)).Float32() }

// NewBF16 rounds a float32 as FromFloat64 does, and is several times faster.
func NewBF16(v float32) BF16 {
	if v != v {
		return BF16(formats[KBF16].nan)
	}
	b := math.Float32bits(v)
	// Half of the last place kept, less one unless that place is odd: a tie then carries only from odd to even.
	return BF16((b + 0x7fff + b>>16&1) >> 16)
}

// Float32 is the value, exactly.
func (v BF16) Float32() float32 { return math.Float32frombits(uint32(v) << 16) }

// NewTF32 rounds a float32 to the 10 bits of mantissa that the tensor core reads, ties to even.
func NewTF32(v float32) TF32 { return FromFloat32[TF32](v) }

// Float32 is the value that the tensor core reads: the lowest 13 bits count as zero.
func (v TF32) Float32() float32 { return math.Float32frombits(uint32(v) &^ 0x1fff) }

// Float32 is the value, exactly.
func (v E4M3) Float32() float32 { return ToFloat32(v) }

// Float32 is the value, exactly.
func (v E5M2) Float32() float32 { return ToFloat32(v) }
