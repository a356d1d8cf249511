package algebra

import (
	"fmt"
	"testing"

	"github.com/gocute/gocute/algebra/sym"
)

// smallLayouts are all layouts of the given ranks over the extents and strides, and some nested ones.
func smallLayouts(extents, strides []int64, rank int) []Layout {
	var out []Layout
	var modes []mode
	var grow func(r int)
	grow = func(r int) {
		if r == 0 {
			out = append(out, layoutOf(append([]mode(nil), modes...)))
			return
		}
		for _, s := range extents {
			for _, d := range strides {
				modes = append(modes, mode{sym.Int(s), Step{Coef: sym.Int(d)}})
				grow(r - 1)
				modes = modes[:len(modes)-1]
			}
		}
	}
	for r := 1; r <= rank; r++ {
		grow(r)
	}
	return out
}

// someLayout says whether any layout has the values, by trying every ordered factorization of their number.
func someLayout(vals []int64) bool {
	n := int64(len(vals))
	var factors []int64
	var try func(rest int64) bool
	try = func(rest int64) bool {
		if rest == 1 {
			return hasFactors(vals, factors)
		}
		for f := int64(2); f <= rest; f++ {
			if rest%f == 0 {
				factors = append(factors, f)
				ok := try(rest / f)
				factors = factors[:len(factors)-1]
				if ok {
					return true
				}
			}
		}
		return false
	}
	return try(n)
}

func hasFactors(vals, factors []int64) bool {
	for i := range vals {
		x, unit, sum := int64(i), int64(1), int64(0)
		for _, f := range factors {
			sum += x % f * vals[unit%int64(len(vals))]
			x /= f
			unit *= f
		}
		if sum != vals[i] {
			return false
		}
	}
	return vals[0] == 0
}

// expressible says by brute force whether f has a layout that refines the shape of b.
func expressible(b Layout, f func(int64) int64) bool {
	ms := flatModes(b.shape, b.stride)
	sizes := make([]int64, len(ms))
	leafVals := make([][]int64, len(ms))
	unit := int64(1)
	for k, m := range ms {
		sizes[k], _ = m.s.IsConst()
		for i := range sizes[k] {
			leafVals[k] = append(leafVals[k], f(i*unit))
		}
		unit *= sizes[k]
		if !someLayout(leafVals[k]) {
			return false
		}
	}
	for i := range unit {
		x, sum := i, int64(0)
		for k := range ms {
			sum += leafVals[k][x%sizes[k]]
			x /= sizes[k]
		}
		if sum != f(i) {
			return false
		}
	}
	return true
}

type lawCount struct{ given, refused, over int }

func (c lawCount) log(t *testing.T) {
	t.Logf("%d given, %d refused, %d of them although a layout exists", c.given, c.refused, c.over)
}

// TestLawCompose: over all pairs of small layouts, the result keeps the definition, and what is refused has
// no layout.
func TestLawCompose(t *testing.T) {
	as := smallLayouts([]int64{2, 3, 4}, []int64{0, 1, 2, 3, 5}, 2)
	bs := smallLayouts([]int64{1, 2, 3, 4, 6}, []int64{0, 1, 2, 3, 4}, 2)
	var c lawCount
	for _, a := range as {
		fa, _ := layoutFun(a)
		for _, b := range bs {
			fb, _ := layoutFun(b)
			r, err := Compose(a, b)
			if err != nil {
				c.refused++
				if expressible(b, func(i int64) int64 { return fa.at(fb.at(i)) }) {
					t.Fatalf("%s∘%s is expressible: %v", a, b, err)
				}
				continue
			}
			c.given++
			fr, _ := layoutFun(r)
			if !Compatible(b.Shape(), r.Shape()) {
				t.Fatalf("%s∘%s = %s has another shape", a, b, r)
			}
			if e := compareFuns(fr, fun{fb.n, func(i int64) int64 { return fa.at(fb.at(i)) }}); e != nil {
				t.Fatalf("%s∘%s = %s: %v", a, b, r, e)
			}
		}
	}
	c.log(t)
}

// TestLawDivide: R = A∘(B,B*), or no layout can be that.
func TestLawDivide(t *testing.T) {
	as := smallLayouts([]int64{2, 3, 4, 6}, []int64{0, 1, 3, 6}, 2)
	bs := smallLayouts([]int64{1, 2, 3, 4}, []int64{0, 1, 2, 4}, 2)
	var c lawCount
	for _, a := range as {
		for _, b := range bs {
			r, err := LogicalDivide(a, TileBy(b))
			if err == nil {
				c.given++
				if e := satisfies("logical_divide", []string{a.String(), b.String()}, r.String()); e != nil {
					t.Fatalf("%s / %s = %s: %v", a, b, r, e)
				}
				continue
			}
			c.refused++
			cs, e := divideCells(a, b)
			if e != nil {
				continue
			}
			f := func(x int64) int64 { return cs.at(x%cs.ni, x/cs.ni) }
			rest := plain(leafOf(sym.Int(cs.nj)), leafOf(Step{}))
			if expressible(joinModes([]Layout{b, rest}), f) {
				t.Fatalf("%s / %s is expressible: %v", a, b, err)
			}
		}
	}
	c.log(t)
}

// TestLawProduct: the copies are disjoint, in order, and where the tiler puts them.
func TestLawProduct(t *testing.T) {
	as := smallLayouts([]int64{1, 2, 3, 4}, []int64{1, 2, 3, 6}, 2)
	bs := smallLayouts([]int64{1, 2, 3, 4}, []int64{0, 1, 2, 3}, 2)
	var c lawCount
	_, stride := lawScale()
	for i, a := range as {
		for j, b := range bs {
			if stride > 1 && (i+j)%4 != 0 { // make laws takes all
				continue
			}
			args := []string{a.String(), b.String()}
			r, err := LogicalProduct(a, TileBy(b))
			if err != nil {
				c.refused++
				cs, e := productCells(a, b)
				if e == nil && cs.gaps == nil && expressible(b, func(j int64) int64 { return cs.at(0, j) }) {
					c.over++
					t.Errorf("%s x %s is expressible: %v", a, b, err)
				}
				continue
			}
			c.given++
			if e := satisfies("logical_product", args, r.String()); e != nil {
				t.Fatalf("%s x %s = %s: %v", a, b, r, e)
			}
			for op, f := range map[string]func(a, b Layout) (Layout, error){"blocked_product": BlockedProduct, "raked_product": RakedProduct} {
				r, err := f(a, b)
				if err != nil {
					t.Fatalf("%s(%s, %s): %v", op, a, b, err)
				}
				if e := satisfies(op, args, r.String()); e != nil {
					t.Fatalf("%s(%s, %s) = %s: %v", op, a, b, r, e)
				}
			}
		}
	}
	c.log(t)
}

// TestLawComplement: with the complement, a layout fills the cotarget exactly or a little more.
func TestLawComplement(t *testing.T) {
	var c lawCount
	for _, a := range smallLayouts([]int64{1, 2, 3, 4, 8}, []int64{0, 1, 2, 3, 4, 12}, 2) {
		for _, n := range []int64{1, 5, 12, 24, 48} {
			r, err := Complement(a, Extent(n))
			if err != nil {
				c.refused++
				fa, _ := layoutFun(a)
				if list, e := packing(imageOf(fa), 0, n, true); e == nil && int64(len(list)*len(imageOf(fa))) == n && someLayout(list) {
					t.Fatalf("complement(%s, %d) exists: %v", a, n, err)
				}
				continue
			}
			c.given++
			if e := checkComplement([]string{a.String(), fmt.Sprint(n)}, r.String()); e != nil {
				t.Fatalf("complement(%s, %d) = %s: %v", a, n, r, e)
			}
		}
	}
	c.log(t)
}

// TestLawInverse: A(R(i)) = i and R is as long as the run of offsets allows; L(A(i)) = i.
func TestLawInverse(t *testing.T) {
	var c lawCount
	for _, a := range smallLayouts([]int64{1, 2, 3, 4, 8}, []int64{0, 1, 2, 3, 4, 6, 8, 16}, 2) {
		r, err := RightInverse(a)
		if err != nil {
			t.Fatalf("right_inverse(%s): %v", a, err)
		}
		if e := checkInverse(r.String(), a.String(), false); e != nil {
			t.Fatalf("right_inverse(%s) = %s: %v", a, r, e)
		}
		l, err := LeftInverse(a)
		if err != nil {
			c.refused++
			continue
		}
		c.given++
		if e := checkInverse(a.String(), l.String(), true); e != nil {
			t.Fatalf("left_inverse(%s) = %s: %v", a, l, e)
		}
	}
	c.log(t)
}

// TestLawSameFunction: what only changes the form keeps every value, to the end of size(l).
func TestLawSameFunction(t *testing.T) {
	forms := map[string]func(Layout) (Layout, error){
		"coalesce": Coalesce, "flatten": Flatten,
		"coalesce by 1":     func(l Layout) (Layout, error) { return CoalesceBy(l, S(1)) },
		"group":             func(l Layout) (Layout, error) { return Group(l, 0, 1) },
		"append 1:0":        func(l Layout) (Layout, error) { return Append(l, unit) },
		"parse":             func(l Layout) (Layout, error) { return Parse(l.String()) },
		"through its shape": func(l Layout) (Layout, error) { return WithShape(l, l.Shape()) },
		"identity after": func(l Layout) (Layout, error) {
			n, _ := l.Cosize()
			return Compose(Compact(Extent(n)), l)
		},
	}
	for _, l := range smallLayouts([]int64{1, 2, 3, 4}, []int64{0, 1, 2, 3, 6}, 3) {
		fl, _ := layoutFun(l)
		for name, f := range forms {
			r, err := f(l)
			if err != nil {
				t.Fatalf("%s of %s: %v", name, l, err)
			}
			fr, _ := layoutFun(r)
			if e := compareFuns(fr, fl); e != nil {
				t.Fatalf("%s of %s = %s: %v", name, l, r, e)
			}
		}
	}
}

// TestLawUpcast: the unit of element c is floor(l(c)/n), and down again leads back for n that fits.
func TestLawUpcast(t *testing.T) {
	for _, l := range smallLayouts([]int64{1, 2, 4, 8, 6}, []int64{0, 1, 2, 4, 8, 24}, 2) {
		for _, n := range []int64{2, 3, 4, 8} {
			for _, ceil := range []bool{false, true} {
				r, e := upcast(l, n, ceil)
				if e != nil {
					continue
				}
				lm, rm := flatModes(l.shape, l.stride), flatModes(r.shape, r.stride)
				size, _ := l.IntSize()
				for i := range size {
					x, a, b := i, int64(0), int64(0)
					for k := range lm {
						s, _ := lm[k].s.IsConst()
						d, _ := lm[k].d.IsConst()
						f := int64(1)
						if d != 0 && d < n && n%d == 0 {
							f = n / d
						}
						step, _ := rm[k].d.IsConst()
						a, b = a+x%s*d, b+x%s/f*step
						x /= s
					}
					if b != a/n {
						t.Fatalf("upcast(%s, %d) = %s: element %d at %d is in unit %d", l, n, r, i, a, b)
					}
				}
			}
		}
	}
}
