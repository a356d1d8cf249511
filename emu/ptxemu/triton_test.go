package ptxemu

import (
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/elem"
	"github.com/gocute/gocute/emu/machine"
	"github.com/gocute/gocute/ptx"
)

// numbers are random numbers as a buffer of their kind holds them.
type numbers struct {
	kind elem.Kind
	v    []float64
}

func random(r *rand.Rand, k elem.Kind, n int) numbers {
	x := numbers{k, make([]float64, n)}
	for i := range x.v {
		x.v[i] = elem.Decode(k, elem.Encode(k, r.NormFloat64()))
	}
	return x
}

func (x numbers) buffer(name string) *Buffer {
	size := x.kind.Bits() / 8
	b := &Buffer{Name: name, Data: make([]byte, len(x.v)*size), Defined: true}
	for i, v := range x.v {
		put(b.Data[i*size:(i+1)*size], elem.Encode(x.kind, v))
	}
	return b
}

func words(v ...any) (out []Arg) {
	for _, x := range v {
		switch x := x.(type) {
		case int:
			out = append(out, Arg{Bytes: binary.LittleEndian.AppendUint32(nil, uint32(x))})
		case float32:
			out = append(out, Arg{Bytes: binary.LittleEndian.AppendUint32(nil, math.Float32bits(x))})
		case *Buffer:
			out = append(out, Arg{Buffer: x})
		}
	}
	null := Arg{Bytes: make([]byte, 8)} // of Triton's scratch memory, which these kernels do not use
	return append(out, null, null)
}

// tritonCase is a kernel of testdata/triton.py with its launch and what must come out.
type tritonCase struct {
	file, entry string
	threads     int
	shared      int
	grid        [3]int
	args        []Arg
	out         *Buffer
	kind        elem.Kind
	want        []float64
	tolerance   float64
}

func tritonCases() []tritonCase {
	r := rand.New(rand.NewPCG(1, 2))
	zero := func(k elem.Kind, n int) *Buffer { return &Buffer{Name: "out", Data: make([]byte, n*k.Bits()/8)} }
	var out []tritonCase

	x, y := random(r, elem.KF32, 7*1000), zero(elem.KF32, 7*1000)
	out = append(out, tritonCase{"softmax", "softmax", 128, 16, [3]int{7, 1, 1}, words(x.buffer("x"), y, 1000, 1000), y, elem.KF32, softmaxOf(x.v, 1000), 1e-5})

	x, w, b := random(r, elem.KF16, 5*777), random(r, elem.KF32, 777), random(r, elem.KF32, 777)
	y = zero(elem.KF16, 5*777)
	out = append(out, tritonCase{"layernorm", "layernorm", 256, 2048, [3]int{5, 1, 1}, words(x.buffer("x"), w.buffer("w"), b.buffer("b"), y, 777, float32(1e-5)),
		y, elem.KF16, normOf(x.v, w.v, b.v), 5e-3})

	const m, n, k = 200, 136, 200
	p, q := random(r, elem.KF16, m*k), random(r, elem.KF16, k*n)
	for _, c := range []tritonCase{
		{file: "matmul_64x64", threads: 128, shared: 8192, grid: [3]int{4, 3, 1}}, {file: "matmul_128x128", threads: 128, shared: 32768, grid: [3]int{2, 2, 1}},
	} {
		y := zero(elem.KF16, m*n)
		c.entry, c.args, c.out, c.kind, c.want, c.tolerance = "matmul", words(p.buffer("a"), q.buffer("b"), y, m, n, k), y, elem.KF16, productOf(p.v, q.v, m, n, k), 2e-2
		out = append(out, c)
	}

	const heads, rows, dim = 2, 150, 64
	qs, ks, vs := random(r, elem.KF16, heads*rows*dim), random(r, elem.KF16, heads*rows*dim), random(r, elem.KF16, heads*rows*dim)
	y = zero(elem.KF16, heads*rows*dim)
	return append(out, tritonCase{"attention", "attention", 128, 40960, [3]int{3, 2, 1}, words(qs.buffer("q"), ks.buffer("k"), vs.buffer("v"), y, rows, float32(0.125)),
		y, elem.KF16, attentionOf(qs.v, ks.v, vs.v, heads, rows, dim, 0.125), 5e-3})
}

func softmaxOf(x []float64, n int) []float64 {
	out := make([]float64, len(x))
	for row := 0; row < len(x); row += n {
		sum := 0.0
		for i := range n {
			out[row+i] = math.Exp(x[row+i])
			sum += out[row+i]
		}
		for i := range n {
			out[row+i] /= sum
		}
	}
	return out
}

func normOf(x, w, b []float64) []float64 {
	n := len(w)
	out := make([]float64, len(x))
	for row := 0; row < len(x); row += n {
		mean, square := 0.0, 0.0
		for _, v := range x[row : row+n] {
			mean += v / float64(n)
		}
		for _, v := range x[row : row+n] {
			square += (v - mean) * (v - mean) / float64(n)
		}
		for i := range n {
			out[row+i] = (x[row+i]-mean)/math.Sqrt(square+1e-5)*w[i] + b[i]
		}
	}
	return out
}

func productOf(a, b []float64, m, n, k int) []float64 {
	out := make([]float64, m*n)
	for i := range m {
		for j := range n {
			for l := range k {
				out[i*n+j] += a[i*k+l] * b[l*n+j]
			}
		}
	}
	return out
}

func attentionOf(q, k, v []float64, heads, n, d int, scale float64) []float64 {
	out := make([]float64, len(q))
	for h := range heads {
		at := h * n * d
		s := make([]float64, n*n)
		for i := range n {
			for j := range n {
				for e := range d {
					s[i*n+j] += scale * q[at+i*d+e] * k[at+j*d+e]
				}
			}
		}
		copy(out[at:at+n*d], productOf(softmaxOf(s, n), v[at:at+n*d], n, d, n))
	}
	return out
}

func loadText(t *testing.T, file, entry string, change func(string) string) (*Kernel, error) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file+".ptx"))
	require.NoError(t, err)
	m, err := ptx.Parse(file+".ptx", []byte(change(string(data))))
	if err != nil {
		return nil, err
	}
	return Compile(m, entry)
}

// TestTriton runs kernels that Triton compiled, of ragged sizes and several blocks: they are right, and nothing is found.
func TestTriton(t *testing.T) {
	for _, c := range tritonCases() {
		t.Run(c.file, func(t *testing.T) {
			k, err := loadText(t, c.file, c.entry, func(s string) string { return s })
			require.NoError(t, err)
			rep, err := k.Run(context.Background(), Launch{Grid: c.grid, Block: [3]int{c.threads, 1, 1}, Shared: c.shared, Args: c.args}, Options{Seed: 1})
			require.NoError(t, err)
			for _, f := range rep.Findings {
				line, loc := rep.Line(f.PC)
				t.Errorf("%s.ptx:%d (triton.py:%d): %s: %s", c.file, line, loc.Line, f.Check, f.Message)
			}
			size := c.kind.Bits() / 8
			for i, want := range c.want {
				got := elem.Decode(c.kind, little(c.out.Data[i*size:(i+1)*size]))
				require.InDelta(t, want, got, c.tolerance*(1+math.Abs(want)), "element %d", i)
			}
		})
	}
}

// TestTritonBroken takes something out of those kernels, or changes it: it is found.
func TestTritonBroken(t *testing.T) {
	without := func(what string, nth int) func(string) string { return replaced(what, "//", nth) }
	for _, c := range []struct {
		name, file string
		change     func(string) string
		want       []machine.Check
	}{
		{"a barrier", "softmax", without("bar.sync", 1), []machine.Check{machine.Uninitialised}},
		{"the second barrier", "softmax", without("bar.sync", 2), []machine.Check{machine.Race}},
		{"a barrier of the norm", "layernorm", without("bar.sync", 1), []machine.Check{machine.Uninitialised}},
		{"a wait for copies", "attention", replaced("cp.async.wait_group", "cp.async.wait_group 3; //", 0), []machine.Check{machine.ReadInFlight}},
		{"the barriers after waits", "attention", without("bar.sync", 0), []machine.Check{machine.Uninitialised, machine.Race}},
		{"a commit", "attention", without("cp.async.commit_group", 0), []machine.Check{machine.ReadInFlight}},
		{"a fence of registers", "matmul_128x128", without("wgmma.fence", 1), []machine.Check{machine.Register}},
		{"a wait for products", "matmul_128x128", replaced("wgmma.wait_group.sync.aligned", "wgmma.wait_group.sync.aligned 4; //", 0), []machine.Check{machine.WriteInFlight}},
		{"a fence of the proxy", "matmul_128x128", without("fence.proxy.async", 0), []machine.Check{machine.Proxy}},
		{"a mask of loads", "attention", replaced("ld.global.v4.b32", "ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [0]; //", 1), []machine.Check{machine.OutOfBounds}},
		{"an alignment", "layernorm", replaced("_param_0]", "_param_0+1]", 1), []machine.Check{machine.OutOfBounds}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, x := range tritonCases() {
				if x.file != c.file {
					continue
				}
				k, err := loadText(t, c.file, x.entry, c.change)
				require.NoError(t, err)
				rep, err := k.Run(context.Background(), Launch{Grid: x.grid, Block: [3]int{x.threads, 1, 1}, Shared: x.shared, Args: x.args}, Options{Seed: 1})
				require.NoError(t, err)
				var found []machine.Check
				for _, f := range rep.Findings {
					found = append(found, f.Check)
				}
				require.Subset(t, found, c.want)
			}
		})
	}
}

// replaced replaces the nth occurrence of a text, counted from 1, or all of them.
func replaced(what, with string, nth int) func(string) string {
	return func(s string) string {
		if nth == 0 {
			return strings.ReplaceAll(s, what, with)
		}
		at := 0
		for ; nth > 0; nth-- {
			i := strings.Index(s[at:], what)
			if i < 0 {
				panic("no " + what)
			}
			at += i + 1
		}
		return s[:at-1] + with + s[at-1+len(what):]
	}
}
