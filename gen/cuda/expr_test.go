package cuda

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocute/gocute/algebra/sym"
	"github.com/gocute/gocute/elem"
)

func testPrinter(syms ...*sym.Symbol) *printer {
	p := &printer{syms: map[string]*symbol{}, builtin: map[string]bool{}, use: newUsage()}
	for _, s := range syms {
		if s.Class != sym.Thread {
			p.syms[s.Name] = &symbol{wide: !fits32(s.Lo, s.Hi), unrolled: s.Class == sym.Loop}
		}
	}
	return p
}

var (
	tid   = &sym.Symbol{Name: "tid", Class: sym.Thread, Lo: 0, Hi: 255}
	dimK  = &sym.Symbol{Name: "K", Class: sym.Param, Lo: 1, Hi: 1<<31 - 1, Multiple: 8}
	unr   = &sym.Symbol{Name: "i", Class: sym.Loop, Lo: 0, Hi: 3}
	neg   = &sym.Symbol{Name: "d", Class: sym.Var, Lo: -1000, Hi: 1000}
	big   = &sym.Symbol{Name: "off", Class: sym.Var, Lo: 0, Hi: 1 << 50}
	every = []*sym.Symbol{tid, dimK, unr, neg, big}
)

func TestExpr(t *testing.T) {
	x, k, i, d, o := sym.New(tid), sym.New(dimK), sym.New(unr), sym.New(neg), sym.New(big)
	n := func(n int) sym.Expr { return sym.Int(n) }
	for _, c := range []struct {
		e    sym.Expr
		want string
	}{
		{x.FloorDiv(n(32)), "tid/32"},
		{x.Mul(n(8)).Add(i.Mul(n(64))).Add(n(7)), "8*tid + 64*i + 7"},
		{x.Mod(n(8)).Mul(n(64)).Sub(n(3)), "64*(tid%8) - 3"},
		{d.FloorDiv(n(8)), "d >> 3"},
		{d.Mod(n(8)).Mul(n(2)), "2*(d & 7)"},
		{d.FloorDiv(n(3)), "floor_div(d, 3)"},
		{k.FloorDiv(n(16)), "K >> 4"},
		{k.FloorDiv(n(24)), "K/24"},
		{k.Add(n(63)).FloorDiv(n(64)), "(int)(((int64_t)K + 63) >> 6)"},
		{k.Mul(x), "(int64_t)K*tid"},
		{k.Mul(x).Add(x), "(int64_t)K*tid + tid"},
		{k.Mul(n(4)), "4*(int64_t)K"},
		{o.Mod(n(8)), "(int)(off & 7)"},
		{x.Mod(n(8)).Xor(i).Mul(n(16)), "(16*(tid%8)) ^ (16*i)"},
		{k.Min(n(9)).Sub(x), "min(K, 9) - tid"},
		{x.Neg(), "-tid"},
		{o.Min(x), "(int)min(off, (int64_t)tid)"},
	} {
		require.Equal(t, c.want, testPrinter(every...).expr(c.e).s, "%s", c.e)
	}
}

// randomExpr makes an expression within the printer's promises: no value beyond int64.
func randomExpr(r *rand.Rand, pool []sym.Expr) sym.Expr {
	for {
		a, b := pool[r.IntN(len(pool))], pool[r.IntN(len(pool))]
		alo, _ := a.Range()
		blo, _ := b.Range()
		c := sym.Int(1 + r.IntN(70))
		var e sym.Expr
		switch r.IntN(9) {
		case 0, 1:
			e = a.Add(b)
		case 2:
			e = a.Sub(b)
		case 3:
			e = a.Mul(sym.Int(r.IntN(60) - 9))
		case 4:
			e = a.Mul(b)
		case 5:
			e = a.FloorDiv(c)
		case 6:
			e = a.Mod(c)
		case 7:
			if alo < 0 || blo < 0 {
				continue
			}
			e = a.Xor(b)
		default:
			e = a.Min(b).Max(c)
		}
		if lo, hi := e.Range(); lo > -1<<60 && hi < 1<<60 && len(e.Terms()) < 9 {
			return e
		}
	}
}

// TestExprInC compiles printed expressions with the C++ compiler of the machine, if it has one, and compares
// their values with Eval's; signed overflow stops the program.
func TestExprInC(t *testing.T) {
	cxx, err := exec.LookPath("g++")
	if err != nil {
		t.Skip("no g++")
	}
	r := rand.New(rand.NewPCG(1, 2))
	var fns, calls strings.Builder
	for f := range 400 {
		p := testPrinter(every...)
		pool := []sym.Expr{}
		for _, s := range every {
			pool = append(pool, sym.New(s))
		}
		for range r.IntN(8) + 1 {
			pool = append(pool, randomExpr(r, pool))
		}
		e := pool[len(pool)-1]
		x := p.expr(e)
		require.NoError(t, p.err)
		ctype := p.intType(x.wide)
		fmt.Fprintf(&fns, "static %s f%d(int tid, int K, int i, int d, int64_t off) { return %s; }\n", ctype, f, x.s)
		fmt.Fprintf(&fns, "static_assert(sizeof(%s) == sizeof(%s), \"\");\n", ctype, exprType(x.s))
		for range 20 {
			v := map[string]int64{}
			for _, s := range every {
				v[s.Name] = pick(r, s)
			}
			want, err := e.Eval(func(s *sym.Symbol) (int64, bool) { return v[s.Name], true })
			require.NoError(t, err)
			fmt.Fprintf(&calls, "  check(%d, f%d(%d, %d, %d, %d, %dL), %dL);\n", f, f, v["tid"], v["K"], v["i"], v["d"], v["off"], want)
		}
	}
	runInC(t, cxx, fns.String(), calls.String())
}

// runInC compiles functions, with the helpers that are plain C++, and runs checks of theirs.
func runInC(t *testing.T, cxx, fns, calls string) {
	t.Helper()
	src := `#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <algorithm>
using std::min; using std::max;
static uint32_t __float_as_uint(float x) { uint32_t u; memcpy(&u, &x, 4); return u; }
static float __uint_as_float(uint32_t u) { float x; memcpy(&x, &u, 4); return x; }
template <class X> static float cut(X x) {  // rounds towards zero
  float f = (float)x;
  const bool further = fabsl((long double)f) > fabsl((long double)x);
  return further ? nextafterf(f, 0) : f;
}
static float __double2float_rz(double x) { return cut(x); }
static float __int2float_rz(int x) { return cut(x); }
static float __uint2float_rz(unsigned x) { return cut(x); }
static float __ll2float_rz(int64_t x) { return cut(x); }
static float __ull2float_rz(uint64_t x) { return cut(x); }
static float nearest(float x) {  // rounds to the nearest bf16, ties to even
  const uint32_t u = __float_as_uint(x);
  return __uint_as_float((u + 0x7fffu + (u >> 16 & 1u)) & 0xffff0000u);
}
static int tid, K, i, d;
static int64_t off;
`
	for _, h := range helpers {
		if h.name != "smem_u32" && !strings.Contains(h.text, "_sync(") && !strings.Contains(h.text, "__syncthreads") && !strings.Contains(h.text, "asm") && !strings.Contains(h.name, "/") {
			src += strings.ReplaceAll(h.text, fn, "static ") + "\n"
		}
	}
	src += fns + `
static void check(int f, int64_t got, int64_t want) {
  if (got != want) { printf("%d: %ld, not %ld\n", f, (long)got, (long)want); exit(1); }
}
int main() {
` + calls + "}\n"
	dir := t.TempDir()
	file, exe := filepath.Join(dir, "x.cc"), filepath.Join(dir, "x")
	require.NoError(t, os.WriteFile(file, []byte(src), 0o666))
	out, err := exec.Command(cxx, "-O0", "-std=c++17", "-fsanitize=undefined", "-fno-sanitize-recover", "-o", exe, file).CombinedOutput()
	require.NoError(t, err, "%s", out)
	out, err = exec.Command(exe).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// TestHelpersInC compares packed elements and the rounding to tf32 with package elem.
func TestHelpersInC(t *testing.T) {
	cxx, err := exec.LookPath("g++")
	if err != nil {
		t.Skip("no g++")
	}
	var calls strings.Builder
	calls.WriteString("  uint32_t r[2];\n")
	r := rand.New(rand.NewPCG(3, 4))
	for f, k := range []elem.Kind{elem.KS16, elem.KU16, elem.KS8, elem.KU8, elem.KS4, elem.KU4, elem.KB1} {
		fmt.Fprintf(&calls, "  r[0] = r[1] = 0xa5a5a5a5u;\n")
		values := map[int]int64{}
		for range 4 * 64 / k.Bits() {
			i, v := r.IntN(64/k.Bits()), int64(elem.Decode(k, r.Uint64()>>(64-k.Bits())))
			values[i] = v
			fmt.Fprintf(&calls, "  set_%s(r, %d, %d);\n", k, i, v)
		}
		for i, v := range values {
			fmt.Fprintf(&calls, "  check(%d, get_%s(r, %d), %d);\n", f, k, i, v)
		}
	}
	for i := range 2000 {
		b := r.Uint32()
		if i%2 == 0 {
			b = b&^0xfff | 0x1000 // a tie
		}
		if i < 64 {
			b |= 0x7f800000 // a NaN
		}
		fmt.Fprintf(&calls, "  check(100, __float_as_uint(round_tf32(__uint_as_float(%du))), %dL);\n",
			b, elem.Encode(elem.KTF32, float64(math.Float32frombits(b))))
	}
	roundedOnce(r, &calls)
	runInC(t, cxx, "", calls.String())
}

// roundedOnce checks that what becomes a bf16 by way of an odd float is rounded once.
func roundedOnce(r *rand.Rand, calls *strings.Builder) {
	check := func(name, literal string, x float64) {
		f32 := float32(elem.Decode(elem.KBF16, elem.Encode(elem.KBF16, x)))
		fmt.Fprintf(calls, "  check(101, __float_as_uint(nearest(%s_to_odd(%s))), %dL);\n", name, literal, math.Float32bits(f32))
	}
	for i := range 2000 {
		b := r.Uint64()
		if i%2 == 0 {
			b = b&^(1<<45-1) | 1<<44 | uint64(i/2%2) // a tie of bf16 and f64, or little more than one
		}
		x := math.Float64frombits(b&^(0x7ff<<52) | uint64(1023-160+r.IntN(320))<<52)
		check("f64", fmt.Sprintf("%x", x), x)
		n := int64(r.Uint64()) >> (11 + r.IntN(52)) // an f64 holds it
		check("s64", fmt.Sprintf("(int64_t)%dLL", n), float64(n))
		check("u64", fmt.Sprintf("%dULL", uint64(n)<<11>>11), float64(uint64(n)<<11>>11))
		check("s32", fmt.Sprintf("(int32_t)%dLL", int32(n)), float64(int32(n)))
		check("u32", fmt.Sprintf("%dU", uint32(n)), float64(uint32(n)))
	}
}

func exprType(s string) string { return "decltype(" + s + ")" }

// pick draws a value of a symbol, its bounds more often than others.
func pick(r *rand.Rand, s *sym.Symbol) int64 {
	m := max(1, s.Multiple)
	v := s.Lo + r.Int64N(s.Hi-s.Lo+1)
	switch r.IntN(4) {
	case 0:
		v = s.Lo + m - 1
	case 1:
		v = s.Hi
	}
	return v - (v%m+m)%m
}
