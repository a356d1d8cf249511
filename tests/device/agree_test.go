package device

import (
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"testing"

	"example.com/saxpy"
	"example.com/tf32gemm"
	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/check"
	"github.com/gocute/gocute/dsl"
	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/kernels"
)

// agreeing lists the kernels whose results on the GPU are held against the emulator's: the library's and the examples', but
// those for which no bound is stated, where sums are split, functions follow or strides are arguments.
func agreeing() []*dsl.Kernel {
	list := slices.DeleteFunc(kernels.Library(), func(k *dsl.Kernel) bool {
		return slices.Contains([]string{"gemm_f16_bias_gelu", "gemm_f16_f16_splitk", "gemm_f16_f16_wgmma_splitk", "gemm_f16_f16_batched", "gemm_f16_f16_wgmma_batched"}, k.Name())
	})
	return append(list, tf32gemm.GEMM(), saxpy.Saxpy(), gemmS8())
}

// tiles are the extents of a block in the kernels' dims, around which the sizes lie. Kernels without dims have none.
var tiles = map[string]map[string]int64{
	"gemm_f16":     {"M": 128, "N": 128, "K": 64},
	"gemm_bf16":    {"M": 128, "N": 128, "K": 64},
	"gemm_f16_f16": {"M": 256, "N": 128, "K": 64},
	"pipeline":     {"K": 16},

	"gemm_f16_f16_tma":   {"M": 256, "N": 128, "K": 64},
	"gemm_f16_f16_wgmma": {"M": 128, "N": 256, "K": 64},
	"wgmma_pipeline":     {"K": 64},

	"gemm_f16_f16_nt":    {"M": 128, "N": 128, "K": 64},
	"gemm_f16_f16_small": {"M": 64, "N": 128, "K": 128},
	"gemm_tf32_f32":      {"M": 128, "N": 128, "K": 32},
	"gemm_s8_s32":        {"M": 128, "N": 128, "K": 128},
	"gemm_s8_s8":         {"M": 128, "N": 128, "K": 128},

	"gemm_f16_f16_unaligned": {"M": 64, "N": 128, "K": 128},

	"gemm_tf32":   {"M": 96, "N": 80, "K": 48},
	"gemm_s8":     {"M": 64, "N": 64, "K": 64},
	"saxpy":       {"n": 512},
	"row_sums":    {"M": 4, "N": 256},
	"column_sums": {"M": 64, "N": 32},
}

// extents are one, and those around one tile and beyond two, held to what the dim is a multiple of.
func extents(tile, multiple int64) []int64 {
	return []int64{multiple, tile - multiple, tile, tile + multiple, 2*tile + multiple}
}

// assignments lists every combination of the extents of all dims.
func assignments(t *testing.T, k *dsl.Kernel) []map[string]int64 {
	out := []map[string]int64{{}}
	for _, p := range k.IR().Params {
		if p.Sym == nil {
			continue
		}
		tile, known := tiles[k.Name()][p.Name]
		require.True(t, known, "%s: the tile along %s is not stated in this test", k.Name(), p.Name)
		var more []map[string]int64
		for _, dims := range out {
			for _, e := range extents(tile, max(p.Sym.Multiple, 1)) {
				d := maps.Clone(dims)
				d[p.Name] = e
				more = append(more, d)
			}
		}
		out = more
	}
	return out
}

// verdict sums up how two places agree on one kernel.
type verdict struct {
	kernel    string
	rule      string // what is asked for
	sizes     int
	elements  int64
	equal     int64   // to the bit
	ulps      float64 // the largest distance, in units of the last place of the larger value
	share     float64 // the largest distance, in parts of what is allowed
	wrong     int64
	firstSize map[string]int64 // and element that are wrong
	first     string
}

func (v *verdict) String() string {
	state := "agree"
	if v.wrong > 0 {
		state = fmt.Sprintf("DIFFER: %d elements, the first %s at %v", v.wrong, v.first, v.firstSize)
	}
	return fmt.Sprintf("%-18s %5d %9d %9d %6.1f%% %9.3g %9.3g  %-12s %s", v.kernel, v.sizes, v.elements, v.equal,
		100*float64(v.equal)/float64(max(v.elements, 1)), v.ulps, v.share, v.rule, state)
}

const verdictHead = "kernel             sizes  elements bit-equal  share      ulps  of bound  asked for    verdict"

// agreement runs a kernel at all its sizes in the emulator and at another place.
func agreement(t *testing.T, k *dsl.Kernel, other check.Options) *verdict {
	rule, err := ruleOf(k)
	require.NoError(t, err)
	v := &verdict{kernel: k.Name(), rule: rule.String()}
	for i, dims := range assignments(t, k) {
		args := check.Args{Dims: dims, Seed: int64(i)}
		if i%3 == 0 && rule.scaled { // C must then not be read
			args.Scalars = map[string]float64{"beta": 0}
		}
		want, err := check.RunRaw(t.Context(), k, args, check.Options{On: check.CPU})
		require.NoError(t, err)
		got, err := check.RunRaw(t.Context(), k, args, other)
		require.NoError(t, err)
		v.sizes++
		for n := range want.Tensors {
			v.hold(rule, want, got, n)
		}
	}
	return v
}

// hold compares one tensor of two runs.
func (v *verdict) hold(rule *rule, want, got *check.Raw, n int) {
	w, g := &want.Tensors[n], &got.Tensors[n]
	miss := func(format string, args ...any) {
		if v.wrong++; v.wrong == 1 {
			v.firstSize, v.first = want.Dims, fmt.Sprintf(format, args...)
		}
	}
	if g.Guards > 0 {
		miss("%d bytes beside %s", g.Guards, w.Name)
	}
	var allowed func(at []int64, offset int64, value float64) float64
	if w.Written && (rule.depth > 0 || rule.sums) {
		allowed = rule.bound(want, w)
	}
	w.Each(func(at []int64, offset int64) {
		a, b := w.After(offset), g.After(offset)
		if w.Written {
			v.elements++
		}
		if a == b {
			if w.Written {
				v.equal++
			}
			return
		}
		x, y := elem.Decode(w.Kind, a), elem.Decode(w.Kind, b)
		diff, limit := math.Abs(x-y), 0.0
		if allowed != nil {
			limit = allowed(at, offset, max(math.Abs(x), math.Abs(y)))
		}
		v.ulps = max(v.ulps, diff/ulp(w.Kind, max(math.Abs(x), math.Abs(y))))
		if limit > 0 {
			v.share = max(v.share, diff/limit)
		}
		if allowed == nil || !(diff <= limit) { // NaN too, and zeros of either sign where every bit counts
			miss("%s%v: %v in the emulator, but %v", w.Name, at, x, y)
		}
	})
}

// ulp is a unit in the last place of a value; of integers it is one.
func ulp(k elem.Kind, v float64) float64 {
	m, ok := mantissas[k]
	if !ok {
		return 1
	}
	if v == 0 || math.IsInf(v, 0) || v != v {
		return m.least
	}
	return max(math.Ldexp(1, math.Ilogb(v)-m.bits), m.least)
}

// mantissas are the bits after the point and the smallest positive number of the kinds that outputs have.
var mantissas = map[elem.Kind]struct {
	bits  int
	least float64
}{
	elem.KF32: {23, 0x1p-149}, elem.KF16: {10, 0x1p-24}, elem.KBF16: {7, 0x1p-133}, elem.KF64: {52, 0x1p-1074},
}

// TestAgreement holds every kernel's results on the GPU against the emulator's and prints the table.
func TestAgreement(t *testing.T) {
	open(t)
	list := agreeing()
	verdicts := make([]*verdict, len(list))
	slots := make(chan bool, max(1, min(8, runtime.NumCPU()/2)))
	t.Run("kernels", func(t *testing.T) { // returns once all are done
		for i, k := range list {
			t.Run(k.Name(), func(t *testing.T) {
				t.Parallel()
				slots <- true
				defer func() { <-slots }()
				verdicts[i] = agreement(t, k, check.Options{On: check.GPU})
			})
		}
	})
	report(t, verdicts, "the GPU")
}

// report prints the table: bit for bit first, what differs last.
func report(t *testing.T, verdicts []*verdict, where string) {
	verdicts = slices.DeleteFunc(slices.Clone(verdicts), func(v *verdict) bool { return v == nil }) // failed already
	rank := func(v *verdict) int {
		switch {
		case v.wrong > 0:
			return 2
		case v.equal < v.elements:
			return 1
		}
		return 0
	}
	slices.SortStableFunc(verdicts, func(a, b *verdict) int { return rank(a) - rank(b) })
	var n [3]int
	fmt.Printf("emulator and %s\n%s\n", where, verdictHead)
	for _, v := range verdicts {
		fmt.Println(v)
		if n[rank(v)]++; v.wrong > 0 {
			t.Errorf("%s: %s", v.kernel, v)
		}
	}
	fmt.Printf("%d kernels agree bit for bit, %d within the rounding stated, %d differ\n", n[0], n[1], n[2])
}

// TestAgreementInEmulator runs the comparison itself without a GPU: two schedules of the emulator give the same bits.
func TestAgreementInEmulator(t *testing.T) {
	var verdicts []*verdict
	for _, k := range []*dsl.Kernel{kernels.MMATile(), kernels.MultiStage(), saxpy.Saxpy(), gemmS8()} {
		v := agreement(t, k, check.Options{On: check.CPU, EmuSeeds: []uint64{7}})
		require.Equal(t, v.elements, v.equal, k.Name())
		require.NotZero(t, v.elements)
		verdicts = append(verdicts, v)
	}
	report(t, verdicts, "emulator")
}

func TestAgreementSizes(t *testing.T) {
	list := assignments(t, kernels.GEMMF16())
	require.Len(t, list, 125)
	require.Contains(t, list, map[string]int64{"M": 257, "N": 127, "K": 136})
	require.Len(t, assignments(t, kernels.MMATile()), 1)
}
