package check_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/check"
	"github.com/gocute/gocute/gen"
	"github.com/gocute/gocute/kernels"
)

// What a problem says, after a road through JSON, is what a run in the emulator has: contents, launch and results.
func TestProblem(t *testing.T) {
	k := kernels.GEMMF16Out()
	c, err := gen.Lower(k)
	require.NoError(t, err)
	args := check.Args{Dims: map[string]int64{"M": 130, "N": 72, "K": 72}, Scalars: map[string]float64{"alpha": 0.5, "beta": 2}, Seed: 7}
	p, err := check.Resolve(c, args)
	require.NoError(t, err)
	samples, err := check.Expected(t.Context(), k, c, args)
	require.NoError(t, err)
	data, err := json.Marshal([]any{p, samples})
	require.NoError(t, err)
	p, samples = nil, nil
	require.NoError(t, json.Unmarshal(data, &[]any{&p, &samples}))

	require.EqualValues(t, 1, p.Grid.X, "one block of 256x128")
	require.Len(t, p.Args, 8)
	require.Equal(t, check.ProblemArg{Bits: 130, Bytes: 4}, p.Args[0])
	require.Equal(t, check.ProblemArg{Tensor: "A"}, p.Args[3])
	require.Equal(t, check.ProblemArg{Bits: 0x3f000000, Bytes: 4}, p.Args[6], "0.5f")

	raw, err := check.RunRaw(t.Context(), k, args, check.Options{On: check.CPU})
	require.NoError(t, err)
	after := map[string][]byte{}
	for i := range p.Tensors {
		x := &p.Tensors[i]
		mem, err := x.Fill(7)
		require.NoError(t, err)
		size, err := x.Size()
		require.NoError(t, err)
		require.EqualValues(t, size, len(mem))
		r := raw.Tensor(x.Name)
		out := make([]byte, len(mem))
		r.Each(func(_ []int64, o int64) {
			require.EqualValues(t, r.Before(o), uint64(mem[2*o])|uint64(mem[2*o+1])<<8, "%s at %d", x.Name, o)
			out[2*o], out[2*o+1] = byte(r.After(o)), byte(r.After(o)>>8)
		})
		after[x.Name] = out
	}

	require.Len(t, samples, 1)
	s, out := &samples[0], &p.Tensors[2]
	require.Equal(t, "C", s.Output)
	require.Len(t, s.Want, 130*72)
	got, err := s.Values(out, after["C"])
	require.NoError(t, err)
	tolerance := k.Expectations()[0].Tolerance
	require.Empty(t, s.Judge(out, got, tolerance))
	got[72*129+5] += 1
	require.Regexp(t, `^C\[129 5\]: expected \S+, but got \S+ \(1 of 9360 elements compared are wrong\)$`, s.Judge(out, got, tolerance))
	poisoned, err := out.Fill(8)
	require.NoError(t, err)
	got, err = s.Values(out, poisoned)
	require.NoError(t, err)
	require.NotEmpty(t, s.Judge(out, got, tolerance), "what it held before is not right")
	_, err = s.Values(out, poisoned[2:])
	require.ErrorContains(t, err, "C: expected 18720 bytes, but got 18718")

	args.Dims["K"] = 9
	_, err = check.Resolve(c, args)
	require.ErrorContains(t, err, "K = 9: must be a multiple of 8")
	_, err = (&check.ProblemTensor{Name: "X", Elem: "f17"}).Fill(0)
	require.ErrorContains(t, err, "X: ")
	_, err = (&check.ProblemTensor{Name: "X", Elem: "f16", Extents: []int64{1}}).Size()
	require.ErrorContains(t, err, "as many strides as extents")
}

// Sizes that no host holds can be resolved, though not filled.
func TestProblemOfAnySize(t *testing.T) {
	k := kernels.GEMMF16()
	c, err := gen.Lower(k)
	require.NoError(t, err)
	args := check.Args{Dims: map[string]int64{"M": 1 << 20, "N": 1 << 20, "K": 64}}
	p, err := check.Resolve(c, args)
	require.NoError(t, err)
	require.EqualValues(t, 1<<26, p.Grid.X)
	_, err = check.Expected(t.Context(), k, c, args)
	require.ErrorContains(t, err, "choose smaller sizes")
}
