package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/check"
	"github.com/gocute/gocute/cuda"
	"github.com/gocute/gocute/elem"
)

func TestParseSizes(t *testing.T) {
	got, err := parseSizes("1024, 16x4096x11008,64*512,2*1x2x3")
	require.NoError(t, err)
	require.Equal(t, []size{{1024, 1024, 1024, 1}, {16, 4096, 11008, 1}, {512, 512, 512, 64}, {1, 2, 3, 2}}, got)
	for i, want := range []string{"1024", "16x4096x11008", "64*512", "2*1x2x3"} {
		require.Equal(t, want, got[i].String())
	}
	require.EqualValues(t, 2*1024*1024*1024, got[0].flops())
	require.EqualValues(t, 2*6*2, got[3].flops())
	require.Equal(t, [3]int{12, 24, 16}, product{elem.KF16, elem.KF32, "TN"}.bytes(got[3]))
	for _, bad := range []string{"", "0", "4x4", "4x-1x4", "4x4x4x4", "a", "4*"} {
		_, err := parseSizes(bad)
		require.ErrorContains(t, err, "expected sizes as MxNxK", bad)
	}
	for _, bad := range []string{"0*4", "*4", "x*4"} {
		_, err := parseSizes(bad)
		require.ErrorContains(t, err, "expected the number of products before a star", bad)
	}
}

func TestProducts(t *testing.T) {
	all, err := products("")
	require.NoError(t, err)
	require.Contains(t, all, product{elem.KF16, elem.KF32, "TN"})
	some, err := products("f16-f16,bf16-f32 TN")
	require.NoError(t, err)
	require.Equal(t, []product{{elem.KF16, elem.KF16, "TN"}, {elem.KF16, elem.KF16, "NN"}, {elem.KF16, elem.KF16, "NT"}, {elem.KF16, elem.KF16, "TT"}, {elem.KBF16, elem.KF32, "TN"}}, some)
	_, err = products("f16-f16,f8-f32")
	require.ErrorContains(t, err, `but got "f8-f32"`)
}

// TestLayouts: the reference and cuBLAS are told of the same places.
func TestLayouts(t *testing.T) {
	s := size{5, 7, 3, 2}
	x := &set{&cuda.Buffer[elem.U8]{}, &cuda.Buffer[elem.U8]{}, &cuda.Buffer[elem.U8]{}}
	for layout, want := range map[string][4]int{"TN": {3, 1, 3, 1}, "NN": {1, 5, 3, 1}, "TT": {3, 1, 1, 7}, "NT": {1, 5, 1, 7}} {
		p := product{elem.KF16, elem.KF32, layout}
		g, b := p.gemm(s, x), p.blas(s, x)
		require.Equal(t, want, [4]int{g.A.Row, g.A.Col, g.B.Row, g.B.Col}, layout)
		require.Equal(t, [4]int{2, 15, 21, 35}, [4]int{g.Batch, g.A.Batch, g.B.Batch, g.C.Batch}, layout)
		require.Equal(t, 2, b.Batch)
		require.Equal(t, g.A.Row == 1, b.A.Transposed, layout)
		require.Equal(t, g.B.Row == 1, b.B.Transposed, layout)
	}
}

func TestQuantile(t *testing.T) {
	d := []time.Duration{40, 10, 20, 30}
	require.Equal(t, []float64{10, 25, 40}, []float64{quantile(d, 0), quantile(d, 0.5), quantile(d, 1)})
	require.InDelta(t, 13, quantile(d, 0.1), 1e-9)
	require.Equal(t, []time.Duration{40, 10, 20, 30}, d, "the values stay in their order")
	require.EqualValues(t, 7, quantile([]float64{7}, 0.9))
	require.Zero(t, quantile([]float64{}, 0.9))
}

func TestBatch(t *testing.T) {
	p := product{elem.KF16, elem.KF32, "TN"}
	n, wait := batch(p, size{8192, 8192, 8192, 1})
	require.Equal(t, 1, n)
	require.Zero(t, wait)
	n, wait = batch(p, size{16, 4096, 4096, 1})
	require.Equal(t, 50, n)
	require.Equal(t, 750*time.Microsecond, wait)
	require.Nil(t, holding().Err())
}

// someRows are results of one product at two sizes, of which one candidate has one alone.
func someRows() []row {
	p := product{elem.KF16, elem.KF32, "TN"}
	of := func(name string, s size, us time.Duration, ghz, share float64) row {
		d := us * time.Microsecond
		r := summary("A <GPU>", zeros, &candidate{name: name, product: p}, s, timing{times: []time.Duration{d, d * 9 / 10, d * 11 / 10}}, ghz)
		r.share = share
		return r
	}
	cube, flat := size{2048, 2048, 2048, 1}, size{16, 4096, 4096, 1}
	return []row{of(prefix+"gemm_a", cube, 40, 1.8, 0.7382), of("cuBLAS", cube, 27, 0, 0), of(prefix+"gemm_b", cube, 50, 1.8, 0.59),
		of(prefix+"gemm_a", flat, 12, 0, 0), of("torch", cube, 28, 0, 0), of("a & b", flat, 28, 0, 0)}
}

func TestSummary(t *testing.T) {
	r := someRows()[0]
	require.InDelta(t, 40, r.median, 1e-9)
	require.InDelta(t, 36.8, r.p10, 1e-9)
	require.InDelta(t, 43.2, r.p90, 1e-9)
	require.InDelta(t, 2*2048.*2048*2048/40e-6/1e12, r.tflops, 1e-6)
	require.Contains(t, r.line(), "73.8 % of the pipe")
	require.NotContains(t, r.line(), "best")
	list := someRows()[:3]
	markBest(list)
	require.Contains(t, list[0].line(), "best of ours, 68 % of cuBLAS")
	require.Equal(t, []string{"", ""}, []string{list[1].mark, list[2].mark})
	markBest(list[1:2])
	require.Empty(t, list[1].mark)
}

// TestLimits: the kernels that only multiply do so, as many instructions as their operations are counted by.
func TestLimits(t *testing.T) {
	for of, l := range limits {
		res, err := check.Run(t.Context(), l.kernel(), check.Args{Dims: map[string]int64{"rounds": 2, "blocks": 1},
			Tensors: map[string][]float64{"A": whole(l.m * l.depth), "B": whole(l.n * l.depth)}}, check.Options{On: check.CPU})
		require.NoError(t, err, of)
		require.NoError(t, res.Err(), of)
		kind, each := "mma", 16*8
		if of.wgmma { // a warp's part of 64 rows, in four steps of a row of shared memory
			kind, each = "wgmma", 16*l.n/4
		}
		require.EqualValues(t, 2*l.repeats*l.m*l.n, int64(each)*res.Report.Counts.Instructions[kind], of)
	}
}

// whole are numbers, whose products add up exactly.
func whole(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(i*7%5 - 2)
	}
	return out
}

// TestCSV: what is written is read again, to the digits that are kept, from several files.
func TestCSV(t *testing.T) {
	rows := someRows()
	var b bytes.Buffer
	require.NoError(t, writeRows(&b, rows))
	require.Equal(t, "A <GPU>,zeros,f16-f32,TN,2048,2048,2048,gocute gemm_a,40.000,36.800,43.200,429.50,1.8000,0.7382,1", strings.Split(b.String(), "\n")[1])
	file := filepath.Join(t.TempDir(), "a.csv")
	require.NoError(t, os.WriteFile(file, b.Bytes(), 0o666))
	got, err := readFiles(file + "," + file)
	require.NoError(t, err)
	require.Len(t, got, 2*len(rows))
	for i := range got {
		require.Equal(t, rows[i%len(rows)].fields(), got[i].fields())
	}
	for want, text := range map[string]string{
		"expected the head device": "a,b\n1,2\n",
		"line 2":                   strings.Join(head, ",") + "\nd,zeros,f16-f32,TN,x,1,1,c,1,1,1,1,,,1\n",
		"wrong number of fields":   strings.Join(head, ",") + "\nd,zeros\n",
	} {
		_, err := readRows(strings.NewReader(text))
		require.ErrorContains(t, err, want)
	}
	_, err = readFiles("nowhere.csv")
	require.ErrorIs(t, err, os.ErrNotExist)
}

// TestChart: the picture is well-formed, has one panel a product and kind of data, a bar for each series and size, and
// the best of our kernels.
func TestChart(t *testing.T) {
	rows := someRows()
	other := rows[1]
	other.data = random
	got := chart(append(rows, other))
	text := string(got)
	bars := 0
	for d := xml.NewDecoder(bytes.NewReader(got)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "title" {
			bars++
		}
	}
	require.Equal(t, 1+5+1, bars, "the picture's own title, five bars and the other panel's")
	for _, want := range []string{"f16 to f32, TN, zeros data, A &lt;GPU&gt;", "random data", "gocute (best of 2)", "a &amp; b", "16×4096×4096",
		"gocute gemm_a, 2048: 429.5", ">429<", ">45<", "prefers-color-scheme:dark"} {
		require.Contains(t, text, want)
	}
	require.NotContains(t, text, "gemm_b")
	require.Len(t, (&options{data: random, types: "f16-f32"}).wanted(append(someRows(), other)), 1)
	require.Empty(t, (&options{data: random, types: "f16-f32 NN"}).wanted(append(someRows(), other)))
	p := panels(rows)[0]
	require.Equal(t, []string{own, "cuBLAS", "torch", "a & b"}, []string{p.series[0].name, p.series[1].name, p.series[2].name, p.series[3].name})
	end, step := p.top()
	require.Equal(t, []float64{800, 100}, []float64{end, step})
	require.Contains(t, string(chart(nil)), "</svg>")
}
