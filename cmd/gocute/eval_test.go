package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/algebra/calc"
)

// evalRun is gocute eval in this process.
func evalRun(t *testing.T, args ...string) (out, errs string, status int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status = run(context.Background(), t.TempDir(), append([]string{"eval"}, args...), &stdout, &stderr)
	return stdout.String(), stderr.String(), status
}

func TestEval(t *testing.T) {
	for _, c := range []struct {
		name, text, out, err string
		status               int
	}{
		{"nested", "right_inverse(((1,4),(4,8)):((128,8),(32,1)))", "(8,16):(16,1)\n", "", 0},
		{"bound", "A=(4,8):(8,1); B=composition(A,(2,4)); B(1,2)", "10\n", "", 0},
		{"all fixed", "slice_and_offset((3,2,0), (6,8,1):(8,1,48))", "26\n", "", 0},
		{"slice", "slice_and_offset((3,0,_), (6,8,1):(8,1,48))", "(1):(48) + 24\n", "", 0},
		{"relation", "congruent((2,(3,4)),(1,(1,1)))", "true\n", "", 0},
		{"basis", "composition((4,8):(1@0,1@1),(2,4):(2,4))", "(2,4):(2@0,1@1)\n", "", 0},
		{"template", "upcast<16>((256,128):(1,256))", "(16,128):(1,16)\n", "", 0},
		{"swizzle", "swizzle_apply(Sw<2,0,-3>, 29802)", "29818\n", "", 0},
		{"cover", "ceil_upcast(4:1, 1024)", "1:1 covers 4\n", "", 0},
		{"refused", "upcast((256,128):(1,256), 3)", "", "upcast((256,128):(1,256), 3): the last vector of 256:1 by 3 holds only 1 of 3 elements", 1},
		{"syntax", "upcast((256,128:(1,256), 16)", "", "\n                            ^", 2},
		{"unknown", "1:0 + upcats(4)", "", "upcast?\n1:0 + upcats(4)\n      ^", 2},
		{"capital", "Coalesce(4:1)", "", "column 1: there is no operation Coalesce; did you mean coalesce?\nCoalesce(4:1)\n^\n", 2},
		{"capital and blank", "1:0 + Coalesce (4:1)", "", "column 7: there is no operation Coalesce; did you mean coalesce?\n1:0 + Coalesce (4:1)\n      ^\n", 2},
		{"capitals", "COMPLEMENT(4:1,8)", "", "no operation COMPLEMENT; did you mean complement?\n", 2},
		{"blank", "coalesce (4:1)", "", "the arguments of coalesce follow without a blank: coalesce(…)\n", 2},
		{"bracket", "coalesce[4:1]", "", "the arguments of coalesce are in round parentheses: coalesce(…)\n", 2},
		{"part", "right-inverse(4:1)", "", "no operation inverse; did you mean left_inverse or right_inverse?\n", 2},
		{"kind", "coalesce(7)", "", "but this is the integer 7\ncoalesce(7)\n         ^", 2},
		{"a minus", "-1*4", "-4\n", "", 0},
		{"a minus and a name", "-M*4", "-4*M\n", "", 0},
		{"a misspelt flag", "-explian", "", "unknown flag", 2},
		{"NUL", "4:1\x00", "", "unexpected \"\\x00\"", 2},
		{"63 bits", "99999999999999999999", "", "does not fit 63 bits", 2},
		{"depth", strings.Repeat("(", 65) + strings.Repeat(")", 65), "", "deeper than 64", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, errs, status := evalRun(t, c.text)
			require.Equal(t, c.status, status, errs)
			require.Equal(t, c.out, out)
			require.Contains(t, errs, c.err)
		})
	}
}

func TestEvalExplain(t *testing.T) {
	out, _, status := evalRun(t, "--explain", "A=(4,8):(8,1); size(composition(A,(2,4)))")
	require.Zero(t, status)
	for _, want := range []string{"A\n  = (4,8):(8,1)\n", "composition((4,8):(8,1), (2,4))\n  = (2,4):(8,1)\n", "size((2,4):(8,1))\n  = 8\n"} {
		require.Contains(t, out, want)
	}
}

// TestEvalExplainLines: --explain and - exclude each other.
func TestEvalExplainLines(t *testing.T) {
	out, errs, status := evalRun(t, "--explain", "-")
	require.Equal(t, 2, status)
	require.Empty(t, out)
	require.Equal(t, "--explain shows the steps of one expression, and - reads one a line: use one of both\n", errs)
	out, _, status = evalRun(t, "--explain", "-2*(3)")
	require.Zero(t, status)
	require.Equal(t, "= -6\n", out)
}

// TestEvalLinePanics: a panic is the error of its line, and the lines around it are given.
func TestEvalLinePanics(t *testing.T) {
	require.Equal(t, "error: internal error: a b", lineOf(func(string) (calc.Value, error) { panic("a\nb") }, "1"))
	var out bytes.Buffer
	require.NoError(t, evalLines(strings.NewReader("size(4)\nsize=3; size(4)\nrank=2\nS=4\n_=4\n1=2\nxor = 4\nsize(5)\n"), &out))
	require.Equal(t, "4\nerror: column 1: size is an operation and cannot be bound\nerror: column 1: rank is an operation and cannot be bound\n"+
		"error: column 1: S is reserved and cannot be bound\nerror: column 1: _ is reserved and cannot be bound\n"+
		"error: column 1: \"1\" is not a name and cannot be bound\nerror: column 1: xor is an operation and cannot be bound\n5\n", out.String())
	_, errs, status := evalRun(t, "A=1; size=3")
	require.Equal(t, 2, status)
	require.Equal(t, "column 6: size is an operation and cannot be bound\nA=1; size=3\n     ^\n", errs)
}

// TestMinus: what is taken for a flag is told how an expression that begins with a minus is given, and what is too small is named.
func TestMinus(t *testing.T) {
	for args, want := range map[string]string{
		"eval -M": "as in gocute eval -- -M.\n", "find copy -4,4": "stands behind the flags and --", "find copy -- -4,4": "the tile (-4,4): the extent -4 must be at least 1\n",
		"find copy 0,4": "the tile (0,4): the extent 0 must be at least 1\n", "find swizzle (64,64):(64,1) --stores ((8,16),8):((512,1),64) --vector 0": "--vector: expected whole elements of 16 bits, but got 0 bits\n",
	} {
		var out, errs bytes.Buffer
		require.NotZero(t, run(context.Background(), t.TempDir(), strings.Fields(args), &out, &errs), args)
		require.Contains(t, errs.String(), want, args)
	}
	out, _, status := evalRun(t, "--", "-M")
	require.Zero(t, status)
	require.Equal(t, "-1*M\n", out)
}

// TestUnreadable: every argument that is an expression exits 2 with the place where it cannot be read, and 1 if it is refused.
func TestUnreadable(t *testing.T) {
	for args, want := range map[string]string{
		"find swizzle (64,64 --ldmatrix": "LAYOUT: column 7: expected \",\" or \")\", but the text ends\n(64,64\n      ^\n",
		"find padding (64,64 --ldmatrix": "LAYOUT: column 7: ", "find swizzle (64,64):(64,1) --stores (8:": "--stores: column 4: ", "find copy (128,64": "M,N: column 8: ",
		"show layout (4,8:": "LAYOUT: column 6: ", "show tv (4,8):(1,4) 4,(8": "TILE: column 7: ", "show smem (4": "LAYOUT: column 3: ", "show tv (4, 4,8": "TV: column 4: ",
		"show copy UniversalCopy<u128> --elem f32 --thr (4 --val 4:1": "--thr: column 3: ",
		"find padding coalesce(7) --ldmatrix":                         "LAYOUT: column 10: argument 1 of coalesce must be a layout, but this is the integer 7\ncoalesce(7)\n         ^\n",
		"show tiled-mma SM80_16x8x16_F32F16F16F32_TN --warps (2,2":    "--warps: column ",
	} {
		var out, errs bytes.Buffer
		require.Equal(t, 2, run(context.Background(), t.TempDir(), strings.Fields(args), &out, &errs), "%s: %s", args, errs.String())
		require.True(t, strings.HasPrefix(errs.String(), want), "%s: %s", args, errs.String())
		require.True(t, strings.HasSuffix(errs.String(), "^\n"), errs.String())
		require.Empty(t, out.String())
	}
	var out, errs bytes.Buffer
	require.Equal(t, 1, run(context.Background(), t.TempDir(), []string{"find", "swizzle", "(64,64):(64,1)", "--stores", "((8,16),8):((512,1),0)"}, &out, &errs))
	require.Contains(t, errs.String(), "expected the 8 values of a vector side by side")
	errs.Reset()
	require.Equal(t, 1, run(context.Background(), t.TempDir(), []string{"find", "swizzle", "(64,64):(64,1)", "--stores", "((8,16),8):((512,1),64)", "--vector", "100"}, &out, &errs))
	require.Equal(t, "--vector: expected whole elements of 16 bits, but got 100 bits\n", errs.String())
}

// TestInterrupted: what computes without looking at the context ends with it.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var errs bytes.Buffer
	s := &session{ctx: ctx, stderr: &errs}
	release := make(chan struct{})
	defer close(release)
	cancel()
	require.Equal(t, 1, s.report(s.interruptible(func() error { <-release; return nil })))
	require.Equal(t, "gocute: interrupted\n", errs.String())
}

// TestEvalLong keeps long texts out of errors: what is wrong, and some of the text around the place.
func TestEvalLong(t *testing.T) {
	long := "(" + strings.Repeat("4,", 25000)
	for name, text := range map[string]string{
		"too long": strings.Repeat("(4,8):(8,1);", 10000), "syntax": long + "$" + strings.Repeat("4,", 5000) + "4)",
		"ends": long, "word": strings.Repeat("a", 50000) + "(3)", "refused": "upcast(" + long + "4):" + long[:0] + "1, 3)",
	} {
		out, errs, status := evalRun(t, text)
		require.NotZero(t, status, name)
		require.Empty(t, out, name)
		require.Less(t, len(errs), 800, name)
		require.NotEmpty(t, errs, name)
		require.Less(t, len(evalLine(text)), 600, name)
	}
	_, errs, _ := evalRun(t, long+"$"+strings.Repeat("4,", 5000)+"4)")
	require.Equal(t, "column 50002: expected a value, but found \"$\"\n…"+strings.Repeat("4,", 15)+"$"+strings.Repeat("4,", 14)+"4…\n"+strings.Repeat(" ", 31)+"^\n", errs)
}

type goldenLine struct {
	Op          string   `json:"op"`
	Args        []string `json:"args"`
	Result      string   `json:"result"`
	Truth       string   `json:"truth"`
	Expressible any      `json:"expressible"`
	file        string
}

func goldenLines(t *testing.T) (out []goldenLine) {
	dir := os.Getenv("GOCUTE_GOLDEN")
	if dir == "" {
		dir = filepath.Join("..", "..", "algebra", "testdata", "golden")
	}
	for _, name := range []string{"algebra.jsonl", "algebra_divergences.jsonl", "algebra_errors.jsonl"} {
		f, err := os.Open(filepath.Join(dir, name))
		require.NoError(t, err)
		for sc := bufio.NewScanner(f); sc.Scan(); {
			r := goldenLine{file: name}
			require.NoError(t, json.Unmarshal(sc.Bytes(), &r))
			out = append(out, r)
		}
		require.NoError(t, f.Close())
	}
	return out
}

// sameValues compares slices of swizzled layouts, whose form is free.
func sameValues(a, b string) bool {
	x, ox, err := algebra.ParseSlice(a)
	y, oy, err2 := algebra.ParseSlice(b)
	if err != nil || err2 != nil || !strings.Contains(a+b, "Sw<") {
		return false
	}
	cx, _ := ox.IsConst()
	cy, _ := oy.IsConst()
	n, _ := x.IntSize()
	m, _ := y.IntSize()
	for i := range n {
		if x.AtInt(i)+cx != y.AtInt(i)+cy {
			return false
		}
	}
	return n == m
}

// TestEvalGolden runs every golden row through gocute eval - and compares the texts, and the rate with what is promised.
func TestEvalGolden(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command")
	}
	binary := filepath.Join(t.TempDir(), "gocute")
	build, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput()
	require.NoError(t, err, string(build))
	rows := goldenLines(t)
	var in strings.Builder
	for _, r := range rows {
		in.WriteString(r.Op + "(" + strings.Join(r.Args, ", ") + ")\n")
	}
	cmd := exec.Command(binary, "eval", "-")
	cmd.Stdin = strings.NewReader(in.String())
	out, err := cmd.Output()
	require.NoError(t, err)
	got := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	require.Len(t, got, len(rows))
	for i, r := range rows {
		refused := strings.HasPrefix(got[i], "error: ")
		switch {
		case r.file == "algebra.jsonl":
			if got[i] != r.Result && !strings.HasSuffix(r.Result, ":() + "+got[i]) && !sameValues(got[i], r.Result) {
				t.Errorf("%s(%s) = %s, want %s", r.Op, strings.Join(r.Args, ", "), got[i], r.Result)
			}
		case r.Truth == "none" || r.Truth == "" && r.Expressible != true:
			require.True(t, refused, "%s(%s) = %s", r.Op, strings.Join(r.Args, ", "), got[i])
		case r.Truth != "unknown":
			require.False(t, refused, "%s(%s): %s", r.Op, strings.Join(r.Args, ", "), got[i])
		}
	}
	simple := strings.Repeat("composition((6,2):(8,2), (4,3):(3,1))\ncoalesce((2,(1,6)):(1,(6,2)))\n", 20000)
	cmd = exec.Command(binary, "eval", "-")
	cmd.Stdin = strings.NewReader(simple)
	from := time.Now()
	out, err = cmd.Output()
	require.NoError(t, err)
	rate := float64(bytes.Count(out, []byte("\n"))) / time.Since(from).Seconds()
	t.Logf("%.0f expressions a second", rate)
	require.Greater(t, rate, 5000.0, "on an idle machine it is above 20000")
}

// zeros is /dev/zero.
type zeros struct{ read int }

func (z *zeros) Read(data []byte) (int, error) {
	clear(data)
	z.read += len(data)
	return len(data), nil
}

// A line without an end is refused before it is held in memory.
func TestEvalEndlessLine(t *testing.T) {
	z, out := &zeros{}, &bytes.Buffer{}
	err := evalLines(io.MultiReader(strings.NewReader("1+1\n"), z), out)
	require.EqualError(t, err, "standard input, line 2: expected an expression a line, but it has more than 1048576 bytes")
	require.Equal(t, "2\n", out.String())
	require.LessOrEqual(t, z.read, 2*maxLine)

	out.Reset() // a long line that ends costs its own value alone
	require.NoError(t, evalLines(strings.NewReader(strings.Repeat("1+", 1<<17)+"1\n1+1\n"), out))
	require.Equal(t, "error: column 1: the text is longer than 65536 bytes\n2\n", out.String())
}
