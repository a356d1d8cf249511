package algebra

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The definitions of the operations, by brute force and independent of how the package computes them.

type fun struct {
	n  int64
	at func(int64) int64
}

func layoutFun(l Layout) (fun, error) {
	n, ok := l.IntSize()
	if !ok || l.Err() != nil {
		return fun{}, fmt.Errorf("%s is not static", l)
	}
	return fun{n, l.AtInt}, nil
}

// satisfies checks a result in text form against the definition; it returns nil for operations whose result
// is not a function.
func satisfies(op string, args []string, got string) error {
	switch op {
	case "composition":
		return checkCompose(args[0], args[1], got)
	case "with_shape":
		return checkCompose(args[0], Compact(shapeArg(args[1])).String(), got)
	case "logical_divide", "zipped_divide", "tiled_divide", "flat_divide":
		return checkParts(op[:strings.Index(op, "_")], args, got, divideCells)
	case "logical_product", "zipped_product", "tiled_product", "flat_product":
		return checkParts(op[:strings.Index(op, "_")], args, got, productCells)
	case "blocked_product":
		return checkRanked(args, got, false)
	case "raked_product":
		return checkRanked(args, got, true)
	case "complement":
		return checkComplement(args, got)
	case "right_inverse":
		return checkInverse(got, args[0], false)
	case "left_inverse":
		return checkInverse(args[0], got, true)
	case "slice_and_offset":
		return checkSlice(args, got)
	case "coalesce", "flatten":
		return checkSame(args[0], got)
	}
	return nil
}

func compareFuns(got, want fun) error {
	if got.n != want.n {
		return fmt.Errorf("size %d, want %d", got.n, want.n)
	}
	for i := range got.n {
		if g, w := got.at(i), want.at(i); g != w {
			return fmt.Errorf("R(%d) = %d, want %d", i, g, w)
		}
	}
	return nil
}

func checkSame(a, r string) error {
	if !isLayout(a) {
		return nil
	}
	fa, err := layoutFun(layoutArg(a))
	if err != nil {
		return err
	}
	fr, err := layoutFun(layoutArg(r))
	if err != nil {
		return err
	}
	return compareFuns(fr, fa)
}

func checkCompose(a, b, r string) error {
	if isSwizzle(a) {
		w := swizzleArg(a)
		if isSwizzle(b) {
			x, y := swizzleArg(b), swizzleArg(r)
			return compareFuns(fun{4096, y.Apply}, fun{4096, func(i int64) int64 { return w.Apply(x.Apply(i)) }})
		}
		fb, _ := layoutFun(layoutArg(b))
		fr, _ := layoutFun(layoutArg(r))
		return compareFuns(fr, fun{fb.n, func(i int64) int64 { return w.Apply(fb.at(i)) }})
	}
	la, lr := layoutArg(a), layoutArg(r)
	fa, err := layoutFun(la)
	if err != nil {
		return err
	}
	fr, err := layoutFun(lr)
	if err != nil {
		return err
	}
	if isSwizzle(b) {
		x := swizzleArg(b)
		return compareFuns(fr, fun{fa.n, func(i int64) int64 { return fa.at(x.Apply(i)) }})
	}
	return composeCells(la, tilerArg(b), lr)
}

func composeCells(a Layout, t Tiler, r Layout) error {
	if t.IsUnderscore() {
		return checkSame(a.String(), r.String())
	}
	if t.IsTuple() {
		for i := range t.Rank() {
			if err := composeCells(a.Mode(i), t.Mode(i), r.Mode(i)); err != nil {
				return err
			}
		}
		return nil
	}
	b, _ := t.Layout()
	if b.Size().Is(1) {
		b = Compact(b.Shape())
	}
	if !Compatible(b.Shape(), r.Shape()) {
		return fmt.Errorf("shape %s is not compatible with %s", r.Shape(), b.Shape())
	}
	fa, _ := layoutFun(a)
	fb, _ := layoutFun(b)
	fr, _ := layoutFun(r)
	return compareFuns(fr, fun{fb.n, func(i int64) int64 { return fa.at(fb.at(i)) }})
}

// cells is a leaf of a tiler: value (i, j) of tile coordinate i and rest coordinate j.
type cells struct {
	tile   Shape
	ni, nj int64
	at     func(i, j int64) int64
	extra  bool
	whole  bool
	gaps   *padded
}

// packing is the ordered list of translations at which copies of an image do not overlap; exact asks that
// they fill [0, total).
func packing(image []int64, count, total int64, exact bool) ([]int64, error) {
	taken := map[int64]bool{}
	var list []int64
	for t := int64(0); (exact && t < total) || (!exact && int64(len(list)) < count); t++ {
		if exact && taken[t] {
			continue
		}
		free := true
		for _, v := range image {
			if taken[t+v] {
				free = false
				break
			}
		}
		if !free {
			if exact {
				return nil, fmt.Errorf("offset %d is never reached", t)
			}
			continue
		}
		for _, v := range image {
			taken[t+v] = true
		}
		list = append(list, t)
		if t > 1<<22 {
			return nil, fmt.Errorf("no packing found")
		}
	}
	return list, nil
}

func imageOf(f fun) []int64 {
	var out []int64
	for i := range f.n {
		out = append(out, f.at(i))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func divideCells(a, b Layout) (cells, error) {
	fa, err := layoutFun(a)
	if err != nil {
		return cells{}, err
	}
	fb, err := layoutFun(b)
	if err != nil {
		return cells{}, err
	}
	if fb.n == 1 {
		fb.at = func(int64) int64 { return 0 }
	}
	list, err := packing(imageOf(fb), 0, fa.n, true)
	if err != nil {
		return cells{}, err
	}
	if int64(len(list))*fb.n != fa.n {
		return cells{}, fmt.Errorf("size %d*%d, want %d", len(list), fb.n, fa.n)
	}
	return cells{tile: b.Shape(), ni: fb.n, nj: int64(len(list)), at: func(i, j int64) int64 { return fa.at(fb.at(i) + list[j]) }}, nil
}

// productCells takes the translations from the greedy packing. A block whose padding nothing can fill may move
// on by more than that (to its next row); there the caller checks order and disjointness instead.
func productCells(a, b Layout) (cells, error) {
	fa, err := layoutFun(a)
	if err != nil {
		return cells{}, err
	}
	fb, err := layoutFun(b)
	if err != nil {
		return cells{}, err
	}
	most := int64(0)
	for i := range fb.n {
		most = max(most, fb.at(i))
	}
	list, err := packing(imageOf(fa), most+1, 0, false)
	if err != nil {
		return cells{}, err
	}
	c := cells{tile: a.Shape(), ni: fa.n, nj: fb.n, at: func(i, j int64) int64 { return fa.at(i) + list[fb.at(j)] }}
	_, err = packing(imageOf(fa), 0, list[len(list)-1]+imageOf(fa)[len(imageOf(fa))-1]+1, true)
	if err != nil {
		c.gaps = &padded{fa, fb}
	}
	return c, nil
}

// padded is a product whose translations are not unique.
type padded struct{ a, b fun }

// check takes the translations from the result: the same for equal offsets of b, growing with them, and apart.
func (p *padded) check(value func(i, j int64) int64) error {
	moved := map[int64]int64{}
	for j := range p.b.n {
		t := value(0, j)
		if old, ok := moved[p.b.at(j)]; ok && old != t {
			return fmt.Errorf("offset %d of b goes to %d and %d", p.b.at(j), old, t)
		}
		moved[p.b.at(j)] = t
		for i := range p.a.n {
			if v := value(i, j); v != p.a.at(i)+t {
				return fmt.Errorf("(%d,%d) is %d, want %d", i, j, v, p.a.at(i)+t)
			}
		}
	}
	keys := slices.Sorted(maps.Keys(moved))
	seen := map[int64]bool{}
	for k, key := range keys {
		if k > 0 && moved[key] <= moved[keys[k-1]] {
			return fmt.Errorf("translations out of order")
		}
		for _, v := range imageOf(p.a) {
			if seen[v+moved[key]] {
				return fmt.Errorf("offset %d is reached twice", v+moved[key])
			}
			seen[v+moved[key]] = true
		}
	}
	return nil
}

// cellsOf follows the tiler by mode.
func cellsOf(a Layout, t Tiler, leaf func(a, b Layout) (cells, error)) ([]cells, error) {
	if t.IsUnderscore() {
		n, _ := a.IntSize()
		return []cells{{tile: a.Shape(), ni: n, nj: 1, whole: true, at: func(i, j int64) int64 { return a.AtInt(i) }}}, nil
	}
	if !t.IsTuple() {
		b, _ := t.Layout()
		c, err := leaf(a, b)
		return []cells{c}, err
	}
	var out []cells
	for i := range t.Rank() {
		c, err := cellsOf(a.Mode(i), t.Mode(i), leaf)
		if err != nil {
			return nil, err
		}
		out = append(out, c...)
	}
	for i := t.Rank(); i < a.Rank(); i++ {
		m := a.Mode(i)
		n, _ := m.IntSize()
		out = append(out, cells{ni: n, nj: 1, extra: true, at: func(i, j int64) int64 { return m.AtInt(i) }})
	}
	return out, nil
}

// checkParts compares a result with its cells. All forms enumerate, in 1-D order, either (tile0, rest0, …)
// or (tiles…, rests…), so the order of the digits decides.
func checkParts(form string, args []string, got string, leaf func(a, b Layout) (cells, error)) error {
	a := layoutArg(args[0])
	w, off := a.Swizzle(), a.Offset()
	cs, err := cellsOf(a.Plain(), tilerArg(args[1]), leaf)
	if err != nil {
		return err
	}
	fr, err := layoutFun(layoutArg(got))
	if err != nil {
		return err
	}
	if len(cs) == 1 && cs[0].gaps != nil && w.B == 0 {
		return cs[0].gaps.check(func(i, j int64) int64 { return fr.at(i + j*cs[0].ni) })
	}
	o, _ := off.IsConst()
	total := int64(1)
	for _, c := range cs {
		total *= c.ni * c.nj
	}
	want := func(x int64) int64 {
		is, js := make([]int64, len(cs)), make([]int64, len(cs))
		if form == "logical" {
			for k, c := range cs {
				is[k] = x % c.ni
				x /= c.ni
				js[k] = x % c.nj
				x /= c.nj
			}
		} else {
			for k, c := range cs {
				if !c.extra {
					is[k] = x % c.ni
					x /= c.ni
				}
			}
			for k, c := range cs {
				if c.extra {
					is[k] = x % c.ni
					x /= c.ni
				} else {
					js[k] = x % c.nj
					x /= c.nj
				}
			}
		}
		v := o
		for k, c := range cs {
			v += c.at(is[k], js[k])
		}
		return w.Apply(v)
	}
	return compareFuns(fr, fun{total, want})
}
