package algebra

import (
	"fmt"
	"slices"
)

func checkRanked(args []string, got string, raked bool) error {
	a, b, r := layoutArg(args[0]), layoutArg(args[1]), layoutArg(got)
	c, err := productCells(a.Plain(), b)
	if err != nil {
		return err
	}
	if c.gaps != nil {
		return nil // the logical products check these
	}
	w := a.Swizzle()
	ranks := max(a.Rank(), b.Rank())
	size := func(l Layout, k int) int64 {
		if k >= l.Rank() {
			return 1
		}
		n, _ := l.Mode(k).IntSize()
		return n
	}
	want := func(x int64) int64 {
		i, j, pi, pj := int64(0), int64(0), int64(1), int64(1)
		for k := range ranks {
			na, nb := size(a, k), size(b, k)
			first, second := na, nb
			if raked {
				first, second = nb, na
			}
			p := x % first
			x /= first
			q := x % second
			x /= second
			if raked {
				p, q = q, p
			}
			i, j = i+p*pi, j+q*pj
			pi, pj = pi*na, pj*nb
		}
		return w.Apply(c.at(i, j))
	}
	fr, err := layoutFun(r)
	if err != nil {
		return err
	}
	return compareFuns(fr, fun{c.ni * c.nj, want})
}

func checkComplement(args []string, got string) error {
	a := layoutArg(args[0])
	fa, _ := layoutFun(a)
	fr, err := layoutFun(layoutArg(got))
	if err != nil {
		return err
	}
	img := imageOf(fa)
	inner, _ := layoutFun(a.Plain())
	n := slices.Max(imageOf(inner)) + 1
	if len(args) > 1 {
		n, _ = shapeArg(args[1]).IntSize()
	}
	seen := map[int64]bool{}
	last := int64(-1)
	for j := range fr.n {
		t := fr.at(j)
		if t <= last {
			return fmt.Errorf("translation %d after %d is out of order", t, last)
		}
		last = t
		for _, v := range img {
			if seen[v+t] {
				return fmt.Errorf("offset %d is reached twice", v+t)
			}
			seen[v+t] = true
		}
	}
	for x := range n {
		if !seen[x] {
			return fmt.Errorf("offset %d is never reached", x)
		}
	}
	return nil
}

// checkInverse checks outer(inner(i)) = i on inner's domain; quasi allows A(L(A(i))) = A(i).
func checkInverse(inner, outer string, left bool) error {
	fi, err := layoutFun(layoutArg(inner))
	if err != nil {
		return err
	}
	lo := layoutArg(outer)
	n, static := lo.IntSize()
	for i := range fi.n {
		v := fi.at(i)
		if !left && static && (v < 0 || v >= n) {
			return fmt.Errorf("at %d: %d is none of %d coordinates", i, v, n)
		}
		j := lo.AtInt(v)
		if left && j >= fi.n && fi.n <= leftInside {
			return fmt.Errorf("at %d: %d leads to %d, which is none of %d coordinates", i, v, j, fi.n)
		}
		if j != i && (!left || fi.at(j) != v) {
			return fmt.Errorf("at %d: %d leads to %d", i, v, j)
		}
	}
	return nil
}

func checkSlice(args []string, got string) error {
	c, err := ParseCoord(args[0])
	if err != nil {
		return err
	}
	l := layoutArg(args[1])
	r, off, err := ParseSlice(got)
	if err != nil {
		return err
	}
	o, _ := off.IsConst()
	var want []int64
	fixed, free := c.Leaves()
	sizes := make([]int64, len(free))
	leafShapes := leavesUnder(c, l.Shape())
	total := int64(1)
	for k := range free {
		sizes[k], _ = leafShapes[k].IntSize()
		if free[k] {
			total *= sizes[k]
		}
	}
	for x := range total {
		idx := make([]index, len(free))
		rest := x
		for k := range free {
			idx[k] = index{e: fixed[k]}
			if free[k] {
				idx[k].e = exprOf(rest % sizes[k])
				rest /= sizes[k]
			}
		}
		v, err := l.At(Coord{n: like(c.n, idx)})
		if err != nil {
			return err
		}
		n, _ := v.IsConst()
		want = append(want, n)
	}
	fr, err := layoutFun(r)
	if err != nil {
		return err
	}
	return compareFuns(fun{fr.n, func(i int64) int64 { return fr.at(i) + o }}, fun{total, func(i int64) int64 { return want[i] }})
}

func leavesUnder(c Coord, s Shape) []Shape {
	if c.IsLeaf() {
		return []Shape{s}
	}
	var out []Shape
	for i := range c.Rank() {
		out = append(out, leavesUnder(c.Mode(i), s.Mode(i))...)
	}
	return out
}
