package algebra

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gocute/gocute/algebra/sym"
)

// The laws over every layout with extents up to 6, strides up to 12 and at most two modes, and over random nested
// ones. make laws runs all of it (GOCUTE_LAWS is the number of random cases); go test takes every 997th pair.

func lawScale() (random int, stride int) {
	if n, err := strconv.Atoi(os.Getenv("GOCUTE_LAWS")); err == nil {
		return n, 1
	}
	return 20000, 997
}

func upTo(from, n int64) (out []int64) {
	for i := from; i <= n; i++ {
		out = append(out, i)
	}
	return out
}

// counts of one law.
type counts struct{ given, refused atomic.Int64 }

func (c *counts) add(err error) {
	if err != nil {
		c.refused.Add(1)
	} else {
		c.given.Add(1)
	}
}

func (c *counts) log(t *testing.T, what string) {
	t.Logf("%s: %d given, %d refused, each rightly", what, c.given.Load(), c.refused.Load())
}

// spread runs f for every stride-th number below n, on all cores.
func spreadOver(t *testing.T, n, stride int, f func(i int) error) {
	var next atomic.Int64
	var wg sync.WaitGroup
	var failed atomic.Bool
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for !failed.Load() {
				from := next.Add(1024) - 1024
				if from*int64(stride) >= int64(n) {
					return
				}
				for k := from; k < from+1024 && k*int64(stride) < int64(n); k++ {
					if err := f(int(k) * stride); err != nil {
						failed.Store(true)
						t.Error(err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
}

func pairs(t *testing.T, what string, ls []Layout, stride int, law func(c *counts, a, b Layout) error) {
	var c counts
	spreadOver(t, len(ls)*len(ls), stride, func(i int) error { return law(&c, ls[i/len(ls)], ls[i%len(ls)]) })
	c.log(t, what)
}

// lawComposition: R(c) = A(B(c)) and R refines B, or brute force finds no such layout.
func lawComposition(c *counts, a, b Layout) error {
	r, err := Compose(a, b)
	c.add(err)
	fa, fb := mustFn(a), mustFn(b)
	want := fb.table(fb.n)
	for i, v := range want {
		want[i] = fa.at(v)
	}
	if err != nil {
		if _, ok := fitShapeSlow(b, want); ok {
			return fmt.Errorf("%s∘%s is expressible: %w", a, b, err)
		}
		return nil
	}
	if !compatible(b.shape, r.shape) {
		return fmt.Errorf("%s∘%s = %s has another shape", a, b, r)
	}
	return sameAs(r, want, "%s∘%s", a, b)
}

func mustFn(l Layout) *fn { f, _ := intFn(l); return f }

func sameAs(r Layout, want []int64, format string, args ...any) error {
	f := mustFn(r)
	if f.n != int64(len(want)) {
		return fmt.Errorf("%s = %s has size %d, want %d", fmt.Sprintf(format, args...), r, f.n, len(want))
	}
	for i, w := range want { // at, not table, so that the two are compared, too
		if g := f.at(int64(i)); g != w {
			ga, _ := Grid(r)
			return fmt.Errorf("%s = %s at %d is %d, want %d\n%s", fmt.Sprintf(format, args...), r, i, g, w, ga)
		}
	}
	return nil
}

// fitShapeSlow looks for a layout over b's shape with the values by trying all factorizations.
func fitShapeSlow(b Layout, want []int64) (Layout, bool) {
	return Layout{}, expressible(b, func(i int64) int64 { return want[i] })
}

// lawDivide: R = A∘(B,B*) with B* the translations that brute force finds, or there are none, or no layout is that.
func lawDivide(c *counts, a, b Layout) error {
	r, err := LogicalDivide(a, TileBy(b))
	c.add(err)
	fa, fb := mustFn(a), mustFn(b)
	image := fb.table(fb.n)
	if fb.n == 1 {
		image[0] = 0
	}
	tile := slices.Clone(image)
	slices.Sort(image)
	image = slices.Compact(image)
	list, perr := packing(image, 0, fa.n, true)
	if perr != nil || int64(len(list))*fb.n != fa.n {
		if err == nil {
			return fmt.Errorf("%s / %s = %s, but nothing completes the tile", a, b, r)
		}
		return nil
	}
	want := make([]int64, 0, fa.n)
	for _, t := range list {
		for _, v := range tile {
			want = append(want, fa.at(v+t))
		}
	}
	if err != nil {
		shape := joinModes([]Layout{b, plain(leafOf(sym.Int(int64(len(list)))), leafOf(Step{}))})
		if _, ok := fitShapeSlow(shape, want); ok {
			return fmt.Errorf("%s / %s is expressible: %w", a, b, err)
		}
		return nil
	}
	return sameAs(r, want, "%s / %s", a, b)
}

// lawProduct is the law of TestLawProduct.
func lawProduct(c *counts, a, b Layout) error {
	r, err := LogicalProduct(a, TileBy(b))
	c.add(err)
	if err == nil {
		return satisfies("logical_product", []string{a.String(), b.String()}, r.String())
	}
	cs, e := productCells(a, b)
	if e == nil && cs.gaps == nil && expressible(b, func(j int64) int64 { return cs.at(0, j) }) {
		return fmt.Errorf("%s x %s is expressible: %w", a, b, err)
	}
	return nil
}

// lawUnary: inverses, complement and coalesce.
func lawUnary(c *counts, a Layout) error {
	n := mustSize(a)
	same := mustFn(a).table(n)
	k, err := Coalesce(a)
	if err != nil {
		return err
	}
	if err := sameAs(k, same, "coalesce(%s)", a); err != nil {
		return err
	}
	r, err := RightInverse(a)
	if err != nil {
		return err
	}
	if err := checkInverse(r.String(), a.String(), false); err != nil {
		return fmt.Errorf("right_inverse(%s) = %s: %w", a, r, err)
	}
	l, err := LeftInverse(a)
	if c.add(err); err == nil {
		if err := checkInverse(a.String(), l.String(), true); err != nil {
			return fmt.Errorf("left_inverse(%s) = %s: %w", a, l, err)
		}
	}
	for _, m := range []int64{1, 7, 24, 36, 60} {
		r, err := Complement(a, Extent(m))
		if c.add(err); err == nil {
			if err := checkComplement([]string{a.String(), fmt.Sprint(m)}, r.String()); err != nil {
				return fmt.Errorf("complement(%s, %d) = %s: %w", a, m, r, err)
			}
		}
	}
	return nil
}

// TestLawsEnumerated covers all pairs of layouts with extents up to 6, strides up to 12 and at most two modes.
func TestLawsEnumerated(t *testing.T) {
	_, stride := lawScale()
	ls := smallLayouts(upTo(1, 6), upTo(0, 12), 2)
	var c counts
	spreadOver(t, len(ls), max(1, stride/50), func(i int) error { return lawUnary(&c, ls[i]) })
	c.log(t, fmt.Sprintf("coalesce, inverses and complements of %d layouts", len(ls)))
	pairs(t, fmt.Sprintf("composition of %d pairs", len(ls)*len(ls)/stride), ls, stride, lawComposition)
	pairs(t, fmt.Sprintf("divide of %d pairs", len(ls)*len(ls)/stride), ls, stride, lawDivide)
	pairs(t, fmt.Sprintf("product of %d pairs", len(ls)*len(ls)/stride/7), ls, stride*7, lawProduct)
}

// randomNested draws a layout of at most depth 3. Half of them consist of powers of two.
func randomNested(r *rand.Rand, depth int, two bool) Layout {
	if depth == 0 || r.IntN(3) == 0 {
		s, d := int64(1+r.IntN(8)), int64(r.IntN(33))
		if two {
			s, d = int64(1)<<r.IntN(4), int64(1)<<r.IntN(8)
		} else if r.IntN(16) == 0 {
			d = -d
		}
		return plain(leafOf(sym.Int(s)), leafOf(Step{Coef: sym.Int(d)}))
	}
	ls := make([]Layout, 1+r.IntN(3))
	for i := range ls {
		ls[i] = randomNested(r, depth-1, two)
	}
	return joinModes(ls)
}

// TestLawsRandom: one law of a random nested pair each time; where both are linear over bits, the matrices agree.
func TestLawsRandom(t *testing.T) {
	n, _ := lawScale()
	laws := []func(*counts, Layout, Layout) error{lawComposition, lawComposition, lawDivide}
	var c counts
	var matrices atomic.Int64
	spreadOver(t, n, 1, func(i int) error {
		r := rand.New(rand.NewPCG(uint64(i), 77))
		two := i%2 == 0
		a, b := randomNested(r, 3, two), randomNested(r, 3, two)
		if mustSize(a) > 256 || mustSize(b) > 256 {
			b, _ = Coalesce(randomNested(r, 1, two))
			if a = randomNested(r, 2, two); mustSize(a) > 512 || mustSize(b) > 256 {
				return nil
			}
		}
		if err := laws[i%len(laws)](&c, a, b); err != nil {
			return err
		}
		if two && linear2(a) && linear2(b) {
			if got, err := Compose(a, b); err == nil && fits2(a, b) {
				matrices.Add(1)
				m := layoutF2(a).times(layoutF2(b))
				for x := range mustSize(b) {
					if g, w := got.AtInt(x), int64(m.apply(uint64(x))); g != w {
						return fmt.Errorf("%s∘%s = %s at %d is %d, and the matrices say %d", a, b, got, x, g, w)
					}
				}
			}
		}
		return nil
	})
	c.log(t, fmt.Sprintf("%d random pairs", n))
	t.Logf("%d of them compared with matrices", matrices.Load())
}

// linear2 reports whether a layout of powers of two never carries: no two index bits lead to the same offset bit.
func linear2(l Layout) bool {
	seen := uint64(0)
	for _, c := range layoutF2(l) {
		if c == 0 || seen&c != 0 {
			return false
		}
		seen |= c
	}
	return true
}

// fits2 reports whether b's offsets stay inside a.
func fits2(a, b Layout) bool {
	top := int64(0)
	for _, v := range mustFn(b).table(mustSize(b)) {
		top = max(top, v)
	}
	return top < mustSize(a)
}
