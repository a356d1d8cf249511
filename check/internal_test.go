package check

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/gen/cir"
)

func TestNaN(t *testing.T) {
	for _, c := range [][3]float64{{1, 1, 0}, {math.NaN(), math.NaN(), 0}, {math.Inf(1), math.Inf(1), 0}, {1, 3, 2},
		{math.NaN(), 1, math.Inf(1)}, {1, math.NaN(), math.Inf(1)}, {math.Inf(1), math.Inf(-1), math.Inf(1)}} {
		require.Equal(t, c[2], distance(c[0], c[1]), "%v", c)
	}
}

func TestDefaultExtent(t *testing.T) {
	for _, c := range []struct{ lo, hi, multiple, want, got int64 }{
		{1, dsl.MaxExtent, 0, 256, 256}, {1, dsl.MaxExtent, 8, 256, 256}, {1, dsl.MaxExtent, 96, 256, 192}, {1, dsl.MaxExtent, 1000, 256, 1000},
		{1, 64, 0, 256, 64}, {300, 400, 0, 256, 300}, {300, 400, 64, 256, 320}, {0, 4096, 512, 256, 0},
	} {
		require.Equal(t, c.got, defaultExtent(&sym.Symbol{Lo: c.lo, Hi: c.hi, Multiple: c.multiple}, c.want), "%+v", c)
	}
}

// made is a filled tensor with the given layout.
func made(kind elem.Kind, read, write bool, extents, strides []int64) *tensor {
	x := &tensor{p: &cir.Param{Name: "X", Elem: kind, Read: read, Write: write}, width: kind.Bits() / 8, extents: extents, strides: strides}
	x.size()
	x.fill(1, 0, nil)
	x.after = append([]byte(nil), x.before...)
	return x
}

func TestLayouts(t *testing.T) {
	for _, c := range []struct {
		extents, strides []int64
		count            int64
		compact          bool
	}{
		{[]int64{4, 8}, []int64{8, 1}, 32, true}, {[]int64{4, 8}, []int64{1, 4}, 32, true}, {[]int64{1, 8}, []int64{100, 1}, 8, true},
		{[]int64{4, 8}, []int64{10, 1}, 38, false}, {[]int64{2, 2, 2}, []int64{1, 4, 2}, 8, true}, {[]int64{4, 2}, []int64{0, 1}, 2, false},
		{nil, nil, 1, true}, {[]int64{0, 8}, []int64{8, 1}, 0, true}, {[]int64{3, 2}, []int64{1, 2}, 5, false},
	} {
		x := made(elem.KF32, true, false, c.extents, c.strides)
		require.Equal(t, c.count, x.count, "%+v", c)
		require.Equal(t, c.compact, x.compact, "%+v", c)
		n := int64(0)
		x.each(func(at []int64, offset int64) bool {
			require.Equal(t, x.offset(at), offset)
			n++
			return true
		})
		require.Equal(t, x.elements(), n, "%+v", c)
	}
}

// TestCoverage writes beside a tensor, in its gaps, to an input, and not at all.
func TestCoverage(t *testing.T) {
	for kind, mark := range poisons {
		require.True(t, !kind.IsFloat() || math.IsNaN(elem.Decode(kind, mark.bits)), kind)
		x := made(kind, false, true, []int64{4, 8}, []int64{10, 1})
		var o Output
		x.each(func(at []int64, offset int64) bool { x.put(x.after, offset, elem.Encode(kind, 1)); return offset != 12 })
		x.put(x.after, 9, 1)
		x.coverage(&o)
		require.Equal(t, int64(1), o.Outside, kind)
		require.Equal(t, int64(9), o.FirstOutside)
		if mark.sure {
			require.Equal(t, int64(32-11), o.Unwritten, kind)
			require.Equal(t, []int64{1, 3}, o.FirstUnwritten)
		}
	}
	x := made(elem.KF16, true, false, []int64{4, 8}, []int64{8, 1})
	x.put(x.after, 7, 0x1234)
	x.guards = 2
	var o Output
	x.coverage(&o)
	require.Equal(t, []problem{{OutsideWrite, "3 elements in or beside an input were written, the first at offset 7", 3, nil}}, o.problems(false))
}

// TestInputs pins the generated numbers: a seed in an old report has to mean the same data.
func TestInputs(t *testing.T) {
	x := made(elem.KF32, true, false, []int64{3}, []int64{2})
	got := x.values()
	require.InDeltaSlice(t, []float64{0.5, 0.5, 0.5}, []float64{got[0], got[2], got[4]}, 1.5)
	require.True(t, math.IsNaN(got[1]) && math.IsNaN(got[3]))
	require.Equal(t, got[4], number32(hash(1, 0, 4)))
	require.Equal(t, uint64(0x3d1e189ec78ad845), hash(1, 2, 3))
	for kind := range poisons {
		least, most := math.Inf(1), math.Inf(-1)
		for i := range int64(2000) {
			v := number(kind, hash(5, 1, i))
			least, most = min(least, v), max(most, v)
		}
		require.True(t, least >= -3 && most <= 6 && most > least, "%s: %g to %g", kind, least, most)
	}
}

func number32(random uint64) float64 { return float64(float32(number(elem.KF32, random))) }

func TestSample(t *testing.T) {
	x := &tensor{p: &cir.Param{Elem: elem.KF32}, extents: []int64{1000, 500}, strides: []int64{500, 1}}
	x.size()
	s := x.sample()
	require.Len(t, s, 4*2*edgeElements+randomElements)
	require.Equal(t, s, x.sample())
	have := map[string]bool{}
	for _, at := range s {
		require.True(t, at[0] >= 0 && at[0] < 1000 && at[1] >= 0 && at[1] < 500)
		have[coord(at)] = true
	}
	for _, at := range [][]int64{{0, 0}, {999, 0}, {0, 499}, {999, 499}, {999, 372}, {872, 499}, {127, 0}} {
		require.True(t, have[coord(at)], "%v", at)
	}
	x.extents = []int64{3, 5}
	require.Len(t, x.sample(), 15)
}

// TestAllowed: with a tolerance, a value much larger than most may be the next one of its type; without one, none may.
func TestAllowed(t *testing.T) {
	require.Equal(t, 0x1p-7, allowed(elem.KF16, 9.2578125, 4e-3, 1.8))
	require.Equal(t, 0.5, allowed(elem.KF16, -0.5, 0.25, 2))
	require.Zero(t, allowed(elem.KF16, 9.2578125, 0, 1.8))
	require.Equal(t, 0.5, allowed(elem.KS8, 127, 0.25, 2))
	require.True(t, rounds(elem.KS8, 5.4999999, 6, 1e-6))
	require.False(t, rounds(elem.KS8, 5.4999, 6, 1e-6))
	require.False(t, rounds(elem.KS8, 5.4999999, 4, 1e-6))
	require.False(t, rounds(elem.KF16, 5.4999999, 6, 1))
	require.Equal(t, 0.5, allowed(elem.KF16, 65504, 0.25, 2), "the next one is not a number")
}

// TestNotFinite: a NaN or an infinity is met in its place by its like only, nothing else excuses it, and the report
// says that it was expected.
func TestNotFinite(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	judge := func(kind elem.Kind, got, want []float64) *Output {
		n := int64(len(got))
		x := &tensor{p: &cir.Param{Name: "B", Elem: kind, Write: true}, extents: []int64{n}, strides: []int64{1}, count: n,
			width: kind.Bits() / 8, after: make([]byte, len(got)*kind.Bits()/8)}
		for i, v := range got {
			x.put(x.after, int64(i), elem.Encode(kind, v))
		}
		out := &Output{Name: "B", Kind: kind, Extents: x.extents, Elements: n, Written: true, Reference: true, Tolerance: 0.1}
		e := dsl.Expectation{Output: "B", Tolerance: 0.1, Element: func(*dsl.Ref) func(at []int64) float64 {
			return func(at []int64) float64 { return want[at[0]] }
		}}
		require.NoError(t, x.judge(t.Context(), e, &dsl.Ref{}, out))
		return out
	}
	same := judge(elem.KF32, []float64{1, nan, inf, -inf}, []float64{1, nan, inf, -inf})
	require.Zero(t, same.Wrong)
	require.Contains(t, same.summary(), "; the reference is NaN at 1 and infinite at 2 of them")
	require.NotContains(t, same.summary(), "no finite")
	require.Contains(t, judge(elem.KF32, []float64{nan, nan}, []float64{nan, nan}).summary(), "no finite value was compared")
	require.NotContains(t, judge(elem.KF32, []float64{1, 2}, []float64{1, 2}).summary(), "NaN")
	for _, c := range [][2]float64{{nan, 1}, {1, nan}, {nan, inf}, {inf, nan}, {inf, -inf}, {inf, 1}, {1, inf}, {0, nan}} {
		require.EqualValues(t, 1, judge(elem.KF32, []float64{1, c[0]}, []float64{1, c[1]}).Wrong, "got %v, expected %v", c[0], c[1])
	}
	require.EqualValues(t, 1, judge(elem.KS32, []float64{1, 0}, []float64{1, nan}).Wrong, "an integer cannot be the NaN of a reference")
}

// TestSampleNotFinite: a sample keeps what is to be NaN or infinite through JSON, and judges it.
func TestSampleNotFinite(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	s := Sample{Output: "B", Offsets: []int64{0, 1, 2, 3}}
	s.Expect([]float64{nan, inf, -inf, 2})
	data, err := json.Marshal(s)
	require.NoError(t, err)
	var read Sample
	require.NoError(t, json.Unmarshal(data, &read))
	require.Equal(t, 2.0, read.RMS)
	p := &ProblemTensor{Name: "B", Elem: "f32", Extents: []int64{4}, Strides: []int64{1}}
	require.Empty(t, read.Judge(p, []float64{nan, inf, -inf, 2}, 0.1))
	for i := range 4 {
		got := []float64{nan, inf, -inf, 2}
		got[i] = 1
		require.NotEmpty(t, read.Judge(p, got, 0.1), "element %d", i)
	}
}
