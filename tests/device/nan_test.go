package device

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/check"
	"github.com/gocute/gocute/cuda"
	. "github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
)

// integer is what PTX's cvt gives where no integer of a type is the nearest one: the bits of its result.
type integer struct {
	nan, nan64  uint64 // of a NaN, narrower than 64 bits and of an f64
	least, most uint64 // of what is below and above all integers of the type, the infinities too
}

// integers has a row a type, from the PTX ISA. Of a NaN cvt gives 0 where the source is not an f64 and the destination
// has not 64 bits, else 1 << (bits-1). A type of fewer than 32 bits gets what it holds nearest to the s32.
var integers = map[elem.Kind]integer{
	elem.KS8:  {0, 0x80, 0x80, 0x7f},
	elem.KU8:  {0, 0, 0, 0xff},
	elem.KS16: {0, 0x8000, 0x8000, 0x7fff},
	elem.KU16: {0, 0, 0, 0xffff},
	elem.KS32: {0, 0x80000000, 0x80000000, 0x7fffffff},
	elem.KU32: {0, 0x80000000, 0, 0xffffffff},
	elem.KS64: {1 << 63, 1 << 63, 1 << 63, 1<<63 - 1},
	elem.KU64: {1 << 63, 1 << 63, 0, 1<<64 - 1},
}

// half is 1<<32: 64-bit results are compared as a quotient and a remainder, for float64 holds these exactly.
const half = 1 << 32

// of is the quotient and the remainder of what a value of a kind converts to.
func (n integer) of(from, to elem.Kind, x float64) (high, low float64) {
	limit, bottom := math.Ldexp(1, to.Bits()), 0.0
	if to.IsSigned() {
		limit, bottom = limit/2, -limit/2
	}
	r := math.RoundToEven(x)
	var bits uint64
	switch {
	case x != x && from == elem.KF64:
		bits = n.nan64
	case x != x:
		bits = n.nan
	case r >= limit:
		bits = n.most
	case r < bottom:
		bits = n.least
	case r < 0:
		bits = uint64(int64(r))
	default:
		bits = uint64(r)
	}
	if to.IsSigned() {
		spare := 64 - to.Bits()
		v := int64(bits<<spare) >> spare
		return float64(v / half), float64(v % half)
	}
	return float64(bits / half), float64(bits % half)
}

// hard are the values that are converted; those that a type does not hold are rounded to it first.
var hard = func() []float64 {
	out := make([]float64, 32)
	copy(out, []float64{math.NaN(), math.Inf(1), math.Inf(-1), 57344, -57344, 2.5, -2.5, 1.5, -1.5, 0.5, -0.5, 127, 128, -128, -129,
		255, 256, 32768, -32768, 65536, 3 << 30, -3 << 30, 1 << 31, -1 << 31, 1 << 32, 1 << 62, 1 << 63, -1 << 63, 1e30, -1e30, 1e-30})
	return out
}()

// integersOf converts each element of a vector of E to O.
func integersOf[O, E elem.Any](k *K, x Tensor[Gmem, E]) {
	from, to := elem.KindOf[E](), elem.KindOf[O]()
	one := x.Tile(Tile(1), k.Thread)
	put := func(name string, f func(v Val[O]) Val[O], want func(high, low float64) float64) {
		out := Out[O](k, name, Shape(len(hard)))
		Map(one, out.Tile(Tile(1), k.Thread), func(v Val[E]) Val[O] { return f(To[O](v)) })
		Expect(out, 0, func(*Ref) func(at []int64) float64 {
			return func(at []int64) float64 {
				return want(integers[to].of(from, to, elem.ToFloat64(elem.FromFloat64[E](hard[at[0]]))))
			}
		})
	}
	if to.Bits() < 64 {
		put(to.String(), func(v Val[O]) Val[O] { return v }, func(high, low float64) float64 { return high*half + low })
		return
	}
	n := Lit[O](half)
	put(to.String()+"_high", func(v Val[O]) Val[O] { return v.Div(n) }, func(high, _ float64) float64 { return high })
	put(to.String()+"_low", func(v Val[O]) Val[O] { return v.Sub(v.Div(n).Mul(n)) }, func(_, low float64) float64 { return low })
}

// toIntegers converts hard values of E to every integer type.
func toIntegers[E elem.Any]() *Kernel {
	return Define("to_integers_"+elem.KindOf[E]().String(), func(k *K) {
		x := In[E](k, "X", Shape(len(hard)))
		k.Threads(len(hard))
		integersOf[elem.S8](k, x)
		integersOf[elem.U8](k, x)
		integersOf[elem.S16](k, x)
		integersOf[elem.U16](k, x)
		integersOf[elem.S32](k, x)
		integersOf[elem.U32](k, x)
		integersOf[elem.S64](k, x)
		integersOf[elem.U64](k, x)
	})
}

// toBytes converts hard values register by register: eight threads four each.
func toBytes() *Kernel {
	return Define("to_bytes", func(k *K) {
		x := In[elem.F32](k, "X", Shape(len(hard)))
		k.Threads(len(hard) / 4)
		four := x.Tile(Tile(4), k.Thread)
		v := FragmentLike(four)
		Map(four, v, func(v Val[elem.F32]) Val[elem.F32] { return v })
		bytesOf[elem.S8](k, v)
		bytesOf[elem.U8](k, v)
	})
}

func bytesOf[O elem.Any](k *K, v Tensor[Rmem, elem.F32]) {
	to := elem.KindOf[O]()
	out := Out[O](k, to.String(), Shape(len(hard)))
	Map(Convert[O](v), out.Tile(Tile(4), k.Thread), func(v Val[O]) Val[O] { return v })
	Expect(out, 0, func(*Ref) func(at []int64) float64 {
		return func(at []int64) float64 {
			high, low := integers[to].of(elem.KF32, to, float64(float32(hard[at[0]])))
			return high*half + low
		}
	})
}

// TestToIntegers compares conversions with the PTX ISA, in the emulator and on the GPU if there is one.
func TestToIntegers(t *testing.T) {
	places := []check.Where{check.CPU}
	if dev, err := cuda.Open(0); err == nil {
		dev.Close()
		places = append(places, check.GPU)
	}
	for _, k := range []*Kernel{toIntegers[elem.F16](), toIntegers[elem.BF16](), toIntegers[elem.F32](), toIntegers[elem.F64](), toIntegers[elem.TF32](), toBytes()} {
		for _, on := range places {
			res, err := check.Run(t.Context(), k, check.Args{Tensors: map[string][]float64{"X": hard}}, check.Options{On: on})
			require.NoError(t, err)
			require.NoError(t, res.Err(), "%s on the %s", k.Name(), on)
			require.Len(t, res.Outputs, map[bool]int{true: 2, false: 10}[k.Name() == "to_bytes"])
		}
	}
}
