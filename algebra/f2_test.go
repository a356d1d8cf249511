package algebra

import (
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gocute/gocute/algebra/sym"
)

// f2 is a linear map over bits: column i is the image of bit i. A layout whose extents and strides are powers
// of two that never overlap is one, and so is a swizzle; composition is the product of the matrices. This
// shares nothing with the layout algebra but the text of the layouts.
type f2 []uint64

func (m f2) apply(x uint64) uint64 {
	var y uint64
	for ; x != 0; x &= x - 1 {
		if i := bits.TrailingZeros64(x); i < len(m) {
			y ^= m[i]
		}
	}
	return y
}

func (m f2) times(n f2) f2 {
	out := make(f2, len(n))
	for i := range n {
		out[i] = m.apply(n[i])
	}
	return out
}

func layoutF2(l Layout) f2 {
	var m f2
	for _, x := range flatModes(l.shape, l.stride) {
		s, _ := x.s.IsConst()
		d, _ := x.d.IsConst()
		for k := int64(1); k < s; k *= 2 {
			m = append(m, uint64(k*d))
		}
	}
	if l.sw.B != 0 {
		return swizzleF2(l.sw).times(m)
	}
	return m
}

func swizzleF2(w Swizzle) f2 {
	m := make(f2, 40)
	for i := range m {
		m[i] = 1 << i
		lo := w.M + max(w.S, 0)
		if i >= lo && i < lo+w.B {
			m[i] |= 1 << (i - w.S)
		}
	}
	return m
}

// inverse is the inverse of a square matrix that permutes and adds bits.
func (m f2) inverse() f2 {
	n := len(m)
	a, b := append(f2(nil), m...), make(f2, n)
	for i := range b {
		b[i] = 1 << i
	}
	for i := range n {
		p := i
		for p < n && a[p]>>i&1 == 0 {
			p++
		}
		if p == n {
			return nil
		}
		a[i], a[p], b[i], b[p] = a[p], a[i], b[p], b[i]
		for j := range n {
			if j != i && a[j]>>i&1 != 0 {
				a[j] ^= a[i]
				b[j] ^= b[i]
			}
		}
	}
	return b
}

// randomF2 deals the bits of [0, 2^n) to modes in random order.
func randomF2(r *rand.Rand, n int) Layout {
	perm := r.Perm(n)
	var ms []mode
	for i := 0; i < n; {
		k := 1
		for i+k < n && perm[i+k] == perm[i+k-1]+1 && r.IntN(3) > 0 {
			k++
		}
		ms = append(ms, mode{sym.Int(int64(1) << k), Step{Coef: sym.Int(int64(1) << perm[i])}})
		i += k
	}
	return layoutOf(ms)
}

func agrees(t *testing.T, what string, l Layout, m f2) {
	t.Helper()
	f, ok := intFn(l)
	if !ok {
		t.Fatalf("%s: %s is not static", what, l)
	}
	if f.n != int64(1)<<len(m) {
		t.Fatalf("%s: %s has size %d, want 2^%d", what, l, f.n, len(m))
	}
	for i := range f.n {
		if got, want := f.at(i), int64(m.apply(uint64(i))); got != want {
			t.Fatalf("%s: %s at %d is %d, want %d", what, l, i, got, want)
		}
	}
}

// TestF2 compares composition, inverses, divides, products and slices of power-of-two layouts with matrices.
func TestF2(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		n := 1 + r.IntN(10)
		a, b := randomF2(r, n), randomF2(r, n)
		ma, mb := layoutF2(a), layoutF2(b)
		c, err := Compose(a, b)
		if err != nil {
			t.Fatal(err)
		}
		agrees(t, a.String()+" o "+b.String(), c, ma.times(mb))
		inv, err := RightInverse(a)
		if err != nil {
			t.Fatal(err)
		}
		agrees(t, "right_inverse "+a.String(), inv, ma.inverse())
		if inv, err = LeftInverse(a); err != nil {
			t.Fatal(err)
		}
		agrees(t, "left_inverse "+a.String(), inv, ma.inverse())
		part, _ := Compose(b, MustLayout(Extent(int64(1)<<r.IntN(n+1)), StrideOf(1)))
		d, err := LogicalDivide(a, TileBy(part))
		if err != nil {
			t.Fatal(err)
		}
		k := bits.TrailingZeros64(uint64(mustSize(part)))
		mp := layoutF2(part)
		rest := mp[:k:k]
		for i := range n { // the bits that the tile leaves out, in order
			if !hasBit(mp[:k], i) {
				rest = append(rest, 1<<i)
			}
		}
		agrees(t, "divide "+a.String()+" by "+part.String(), d, ma.times(rest))
	}
}

func mustSize(l Layout) int64 { n, _ := l.IntSize(); return n }

func hasBit(m f2, i int) bool {
	for _, c := range m {
		if c == 1<<i {
			return true
		}
	}
	return false
}

// TestF2Swizzle does the same through swizzles, on both sides of a layout.
func TestF2Swizzle(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	given, refused, cases := 0, 0, 2000
	if testing.Short() {
		cases = 600
	}
	for range cases {
		n := 4 + r.IntN(7)
		b := 1 + r.IntN(2)
		s := b + r.IntN(3)
		m := r.IntN(max(1, n-b-s))
		if r.IntN(4) == 0 {
			s = -s
		}
		w := Swizzle{b, m, s}
		a, x := randomF2(r, n), randomF2(r, n)
		sw := a.WithSwizzle(w, sym.Expr{})
		ms := swizzleF2(w).times(layoutF2(a))
		if hi := w.B + w.M + max(w.S, -w.S); hi > n {
			continue // it would leave [0, 2^n)
		}
		agrees(t, sw.String(), sw, ms)
		c, err := Compose(sw, x)
		if err != nil {
			t.Fatal(err)
		}
		agrees(t, "inside "+sw.String(), c, ms.times(layoutF2(x)))
		if c, err = Compose(x, sw); err == nil {
			given++
			agrees(t, "outside "+sw.String(), c, layoutF2(x).times(ms))
		} else if refused++; !strings.Contains(err.Error(), "no layout behind a swizzle expresses it") {
			t.Fatal(err)
		}
		if inv, err := RightInverse(sw); err == nil {
			given++
			agrees(t, "right_inverse "+sw.String(), inv, ms.inverse())
		} else if refused++; !strings.Contains(err.Error(), "no layout behind a swizzle inverts it") {
			t.Fatal(err)
		}
	}
	t.Logf("through swizzles from the right: %d given, %d refused", given, refused)
}
