package elem

import (
	"math"
	"math/big"
	"sort"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/x448/float16"
	"pgregory.net/rapid"
)

// narrow lists the floating-point kinds small enough to enumerate.
var narrow = []Kind{KF16, KBF16, KE4M3, KE5M2}

func TestEveryPatternRoundTrips(t *testing.T) {
	for _, k := range append(narrow, KS8, KU8, KS16, KU16, KS4, KU4, KB1) {
		t.Run(k.String(), func(t *testing.T) {
			for b := uint64(0); b < 1<<k.Bits(); b++ {
				v := Decode(k, b)
				got := Encode(k, v)
				switch {
				case math.IsNaN(v):
					require.True(t, math.IsNaN(Decode(k, got)), "%#x", b)
				case k == KE5M2 && math.IsInf(v, 0): // infinity saturates in 8 bits
					require.Equal(t, b-1, got)
				default:
					require.Equal(t, b, got, "value %g", v)
				}
			}
		})
	}
}

func TestTF32RoundTrips(t *testing.T) {
	for b := uint64(0); b < 1<<19; b++ {
		v := Decode(KTF32, b<<13)
		if math.IsNaN(v) {
			continue
		}
		require.Equal(t, b<<13, Encode(KTF32, v))
		require.Equal(t, v, Decode(KTF32, b<<13|0x1fff), "the lowest 13 bits are not read")
		require.Equal(t, v, float64(TF32(b<<13|0x1abc).Float32()))
	}
}

// positives are the finite patterns from zero up, in order of their values.
func positives(k Kind) []uint64 {
	var bits []uint64
	low := formats[k].low
	for b := uint64(0); b < 1<<(k.Bits()-1-low); b++ {
		if v := Decode(k, b<<low); !math.IsNaN(v) && !math.IsInf(v, 0) {
			bits = append(bits, b<<low)
		}
	}
	return bits
}

// TestNeighbours rounds the midpoint of each pair of neighbours, and the float64 on either side of it.
func TestNeighbours(t *testing.T) {
	for _, k := range append(narrow, KTF32) {
		t.Run(k.String(), func(t *testing.T) {
			f := formats[k]
			sign := uint64(1) << (k.Bits() - 1)
			bits := positives(k)
			require.True(t, sort.SliceIsSorted(bits, func(i, j int) bool { return Decode(k, bits[i]) < Decode(k, bits[j]) }))
			for i, a := range bits[:len(bits)-1] {
				b := bits[i+1]
				mid := (Decode(k, a) + Decode(k, b)) / 2 // exact: one more bit of mantissa
				even := a
				if a>>f.low&1 == 1 {
					even = b
				}
				require.Equal(t, even, Encode(k, mid), "between %#x and %#x", a, b)
				require.Equal(t, a, Encode(k, math.Nextafter(mid, 0)))
				require.Equal(t, b, Encode(k, math.Nextafter(mid, math.Inf(1))))
				require.Equal(t, even|sign, Encode(k, -mid))
			}
		})
	}
}

func TestBeyondTheLargest(t *testing.T) {
	for _, row := range []struct {
		k     Kind
		v     float64
		bits  uint64
		value float64
	}{
		{KF16, 65504, 0x7bff, 65504},
		{KF16, math.Nextafter(65520, 0), 0x7bff, 65504},
		{KF16, 65520, 0x7c00, math.Inf(1)},
		{KF16, math.Inf(-1), 0xfc00, math.Inf(-1)},
		{KF16, math.MaxFloat64, 0x7c00, math.Inf(1)},
		{KBF16, math.MaxFloat32, 0x7f80, math.Inf(1)},
		{KTF32, math.MaxFloat32, 0x7f800000, math.Inf(1)},
		{KF32, 1e300, 0x7f800000, math.Inf(1)},
		{KE4M3, 448, 0x7e, 448},
		{KE4M3, 1e9, 0x7e, 448},
		{KE4M3, math.Inf(-1), 0xfe, -448},
		{KE5M2, 57344, 0x7b, 57344},
		{KE5M2, 1e9, 0x7b, 57344},
		{KE5M2, math.Inf(1), 0x7b, 57344},
		{KF16, math.Ldexp(1, -24), 1, math.Ldexp(1, -24)},
		{KF16, math.Ldexp(1, -25), 0, 0},
		{KF16, -math.SmallestNonzeroFloat64, 0x8000, 0},
		{KE4M3, math.Ldexp(1, -9), 1, math.Ldexp(1, -9)},
		{KS8, 127.5, 0x7f, 127},
		{KS8, -1000, 0x80, -128},
		{KS8, 2.5, 2, 2},
		{KS8, -3.5, 0xfc, -4},
		{KU8, -1, 0, 0},
		{KU8, 1e9, 255, 255},
		{KS4, 9, 7, 7},
		{KS4, -9, 8, -8},
		{KU4, 16, 15, 15},
		{KB1, 0.5, 0, 0},
		{KB1, 3, 1, 1},
		{KS64, 1e30, math.MaxInt64, math.MaxInt64},
		{KS64, -1e30, 1 << 63, math.MinInt64},
		{KU64, 1e30, math.MaxUint64, math.MaxUint64},
		{KU64, math.Ldexp(1, 63), 1 << 63, math.Ldexp(1, 63)},
		{KS32, math.Inf(1), math.MaxInt32, math.MaxInt32},
	} {
		got := Encode(row.k, row.v)
		assert.Equal(t, row.bits, got, "%s of %g", row.k, row.v)
		assert.Equal(t, row.value, Decode(row.k, got)+0, "%s of %g", row.k, row.v)
	}
}

func TestNaN(t *testing.T) {
	for k := Invalid; k < numKinds; k++ {
		bits := Encode(k, math.NaN())
		if k.IsFloat() {
			assert.True(t, math.IsNaN(Decode(k, bits)), k.String())
		} else {
			assert.Zero(t, bits, k.String())
		}
	}
	for _, k := range []Kind{Invalid, KU128, numKinds + 3} {
		assert.True(t, math.IsNaN(Decode(k, 1)))
		assert.Zero(t, Encode(k, 1))
	}
	assert.True(t, math.IsNaN(float64(NewF16(float32(math.NaN())).Float32())))
	assert.True(t, math.IsNaN(float64(NewBF16(float32(math.NaN())).Float32())))
}

// TestRoundsOnce has values that round differently when they pass through float32 first.
func TestRoundsOnce(t *testing.T) {
	// Just above a tie: float32 drops the last bit and lands on the tie, which then goes to even, down.
	v := 1 + math.Ldexp(1, -11) + math.Ldexp(1, -40)
	assert.EqualValues(t, 0x3c01, FromFloat64[F16](v))
	assert.EqualValues(t, 0x3c00, NewF16(float32(v)))
	v = 1 + math.Ldexp(1, -8) + math.Ldexp(1, -40)
	assert.EqualValues(t, 0x3f81, FromFloat64[BF16](v))
	assert.EqualValues(t, 0x3f80, NewBF16(float32(v)))
}

// TestAgainstOthers compares with x448/float16, with math/big and with the fast paths.
func TestAgainstOthers(t *testing.T) {
	for b := range 1 << 16 {
		want := float16.Frombits(uint16(b)).Float32()
		got := ToFloat32(F16(b))
		require.True(t, got == want || got != got && want != want)
		require.True(t, F16(b).Float32() == want || want != want)
		w := BF16(b).Float32()
		require.True(t, ToFloat32(BF16(b)) == w || w != w)
	}
	rapid.Check(t, func(t *rapid.T) {
		v := math.Float32frombits(rapid.Uint32().Draw(t, "bits"))
		if v != v {
			return
		}
		require.Equal(t, FromFloat32[F16](v), NewF16(v))
		require.Equal(t, FromFloat32[BF16](v), NewBF16(v))
	})
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64Range(-60000, 60000).Draw(t, "v")
		if math.Abs(v) < math.Ldexp(1, -14) { // big.Float knows no subnormals
			return
		}
		want, _ := new(big.Float).SetPrec(11).SetMode(big.ToNearestEven).SetFloat64(v).Float64()
		require.Equal(t, want, ToFloat64(FromFloat64[F16](v)))
		want, _ = new(big.Float).SetPrec(8).SetMode(big.ToNearestEven).SetFloat64(v).Float64()
		require.Equal(t, want, ToFloat64(FromFloat64[BF16](v)))
	})
}

func roundTrip[E Any](t *testing.T, k Kind, v float64) {
	t.Helper()
	e := FromFloat64[E](v)
	assert.Equal(t, k, KindOf[E]())
	assert.Equal(t, v, ToFloat64(e), k.String())
	assert.Equal(t, e, FromBits[E](Bits(e)), k.String())
	gotKind, bits := BitsOfAny(e)
	assert.Equal(t, k, gotKind)
	assert.Equal(t, Bits(e), bits, k.String())
	assert.Equal(t, []float64{v, v}, ToFloat64s(FromFloat64s[E]([]float64{v, v})))
	assert.EqualValues(t, v, ToFloat32(FromFloat32[E](float32(v))))
}

func TestGoTypes(t *testing.T) {
	roundTrip[F16](t, KF16, -1.5)
	roundTrip[BF16](t, KBF16, -1.5)
	roundTrip[TF32](t, KTF32, -1.5)
	roundTrip[F32](t, KF32, -1.5)
	roundTrip[F64](t, KF64, -1.5)
	roundTrip[E4M3](t, KE4M3, -1.5)
	roundTrip[E5M2](t, KE5M2, -1.5)
	roundTrip[S8](t, KS8, -3)
	roundTrip[U8](t, KU8, 200)
	roundTrip[S16](t, KS16, -300)
	roundTrip[U16](t, KU16, 60000)
	roundTrip[S32](t, KS32, -70000)
	roundTrip[U32](t, KU32, 1<<31)
	roundTrip[S64](t, KS64, -1<<40)
	roundTrip[U64](t, KU64, 1<<63)
	k, _ := BitsOfAny(3)
	assert.Equal(t, Invalid, k)
	k, _ = BitsOfAny(nil)
	assert.Equal(t, Invalid, k)
	assert.Equal(t, float32(0.25), E4M3(Encode(KE4M3, 0.25)).Float32())
	assert.Equal(t, float32(0.25), E5M2(Encode(KE5M2, 0.25)).Float32())
	assert.Equal(t, float32(0.25), NewTF32(0.25).Float32())
}

func TestKinds(t *testing.T) {
	for k := Invalid + 1; k < numKinds; k++ {
		got, err := ParseKind(k.String())
		require.NoError(t, err)
		assert.Equal(t, k, got)
	}
	_, err := ParseKind("f17")
	assert.ErrorContains(t, err, `"f17"`)
	assert.Equal(t, "Kind(99)", Kind(99).String())
}

func BenchmarkFromFloat64(b *testing.B) {
	for b.Loop() {
		FromFloat64[F16](1.2345)
	}
}

func BenchmarkNewF16(b *testing.B) {
	for b.Loop() {
		NewF16(1.2345)
	}
}
