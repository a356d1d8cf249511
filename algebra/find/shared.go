package find

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/gocute/gocute/algebra"
	"github.com/gocute/gocute/algebra/sym"
)

// Result is a layout that was found, and why it does.
type Result struct {
	Layout        algebra.Layout
	Swizzle       algebra.Swizzle // B = 0: none is needed, or padding was found
	Pad           int64           // elements that were added to the leading stride
	Before, After []Conflicts
	Reason        string
}

// Free reports whether no access has a conflict.
func Free(cs []Conflicts) bool {
	return !slices.ContainsFunc(cs, func(c Conflicts) bool { return c.Worst > 1 })
}

func countAll(l algebra.Layout, elem int64, as []Access) (out []Conflicts, total int) {
	for _, a := range as {
		c := Count(l, elem, a)
		out, total = append(out, c), total+c.Total
	}
	return out, total
}

// Swizzle finds the swizzle with the fewest bits, then the smallest shift, that makes the layout free of conflicts
// for all accesses. Vectors stay together and aligned. It fails if there is none.
func Swizzle(l algebra.Layout, elem int64, as []Access) (Result, error) {
	run, err := checked(l, elem, as)
	if err != nil {
		return Result{}, err
	}
	r := Result{Layout: l}
	r.Before, _ = countAll(l, elem, as)
	if r.After = r.Before; Free(r.Before) {
		r.Reason = "no access has a conflict as it is"
		return r, nil
	}
	reach := bits.Len64(uint64(largest(l)))
	least := 0
	for _, a := range as {
		least = max(least, bits.Len64(uint64(int64(a.Bytes)*8/elem))-1)
	}
	for b := 1; b <= 5; b++ {
		for s := b; s <= reach; s++ {
			for m := least; m+b+s <= reach; m++ {
				w := algebra.Swizzle{B: b, M: m, S: s}
				sw := l.WithSwizzle(w, sym.Int(0))
				if !freeOf(sw, elem, as) || kept(sw, elem, as, run) != nil || reaches(sw, elem) != nil {
					continue
				}
				r.Layout, r.Swizzle = sw, w
				r.After, _ = countAll(sw, elem, as)
				r.Reason = swizzleReason(r, elem)
				return r, nil
			}
		}
	}
	return r, fmt.Errorf("no swizzle Sw<B,M,S> of B up to 5 bits within the %d bits of the layout's offsets makes all accesses free of conflicts (%s)", reach, costs(r.Before))
}

// freeOf stops at the first conflict.
func freeOf(l algebra.Layout, elem int64, as []Access) bool {
	for _, a := range as {
		for _, p := range a.Phases {
			if cycles(l, elem, a.Bytes, p) > 1 {
				return false
			}
		}
	}
	return true
}

func kept(l algebra.Layout, elem int64, as []Access, run matrixOf) error {
	for _, a := range as {
		if err := vectorKept(l, a, elem, run); err != nil {
			return fmt.Errorf("%s: %w", a.Name, err)
		}
	}
	return nil
}

// checked refuses layouts that cannot be searched, or whose vectors are not together to begin with.
func checked(l algebra.Layout, elem int64, as []Access) (matrixOf, error) {
	if l.Err() != nil {
		return matrixOf{}, l.Err()
	}
	if l.IsSwizzled() {
		return matrixOf{}, fmt.Errorf("expected a layout that is not swizzled, but got %s", l)
	}
	if elem < 4 || elem > 128 {
		return matrixOf{}, fmt.Errorf("elements of %d bits are not supported", elem)
	}
	run, err := matrix(l, elem)
	if err != nil {
		return run, err
	}
	n, _ := l.IntSize()
	for i := range n {
		if at := l.AtInt(i); at < 0 {
			return run, fmt.Errorf("expected offsets from 0 on, but %s has %d at coordinate %d", l, at, i)
		}
	}
	for _, a := range as {
		for _, v := range a.vectors {
			if err := v.together(a.Name, l, n, run.runStep); err != nil {
				return run, err
			}
		}
		for _, p := range a.Phases {
			for _, c := range p {
				if c < 0 || c >= n {
					return run, fmt.Errorf("%s: coordinate %d lies outside the %d of %s", a.Name, c, n, l)
				}
			}
		}
	}
	return run, kept(l, elem, as, run)
}

func largest(l algebra.Layout) int64 {
	n, _ := l.IntSize()
	top := int64(0)
	for i := range n {
		top = max(top, l.AtInt(i))
	}
	return top
}

func costs(cs []Conflicts) string {
	var out []string
	for _, c := range cs {
		out = append(out, fmt.Sprintf("%s %d-way", c.Access.Name, c.Worst))
	}
	return strings.Join(out, ", ")
}

// where lists the offsets and first banks of the worst phase.
func where(l algebra.Layout, elem int64, c Conflicts) string {
	var offs, bs []string
	for _, x := range c.Access.Phases[c.Phase] {
		at := l.AtInt(x)
		offs = append(offs, fmt.Sprint(at))
		bs = append(bs, fmt.Sprint(at*elem/8/bankBytes%banks))
	}
	return fmt.Sprintf("offsets %s begin in banks %s", strings.Join(offs, " "), strings.Join(bs, " "))
}

func swizzleReason(r Result, elem int64) string {
	var b strings.Builder
	for i, c := range r.Before {
		plain := r.Layout.Plain()
		if c.Worst == 1 {
			fmt.Fprintf(&b, "%s: free before and after\n", c.Access.Name)
			continue
		}
		fmt.Fprintf(&b, "%s: %d-way before: %s\n", c.Access.Name, c.Worst, where(plain, elem, c))
		after := r.After[i]
		after.Phase = c.Phase
		fmt.Fprintf(&b, "%s: free after: %s\n", c.Access.Name, where(r.Layout, elem, after))
	}
	w := r.Swizzle
	fmt.Fprintf(&b, "%s xors bits %d to %d of the offset, which choose among %d places of %d bytes, with bits %d to %d",
		w, w.M, w.M+w.B-1, 1<<w.B, (int64(1)<<w.M)*elem/8, w.M+w.S, w.M+w.S+w.B-1)
	return b.String()
}

// Padding finds the least number of elements to add to the stride of the mode that is not contiguous. The layout
// must be a plain matrix with one mode each.
func Padding(l algebra.Layout, elem int64, as []Access) (Result, error) {
	run, err := checked(l, elem, as)
	if err != nil {
		return Result{}, err
	}
	ds := l.Stride().Leaves()
	if len(ds) != 2 || l.Depth() != 1 {
		return Result{}, fmt.Errorf("padding widens the one stride of a matrix such as (64,64):(64,1), and %s has others", l)
	}
	r := Result{Layout: l}
	r.Before, _ = countAll(l, elem, as)
	wide := 0
	if run.runStep == 1 {
		wide = 1
	}
	lead, _ := ds[wide].IsConst()
	for pad := int64(0); pad*elem/8 <= phaseMost; pad++ {
		strides := []any{int64(1), int64(1)}
		strides[wide] = lead + pad
		p, err := algebra.NewLayout(l.Shape(), algebra.D(strides...))
		if err != nil {
			return Result{}, err
		}
		if kept(p, elem, as, run) != nil || !freeOf(p, elem, as) || reaches(p, elem) != nil {
			continue
		}
		r.Layout, r.Pad = p, pad
		r.After, _ = countAll(p, elem, as)
		r.Reason = fmt.Sprintf("a stride of %d elements moves each row on by %d of the %d banks", lead+pad, (lead+pad)*elem/8/bankBytes%banks, banks)
		if pad == 0 {
			r.Reason = "no access has a conflict as it is"
		}
		return r, nil
	}
	return r, fmt.Errorf("no padding of up to %d bytes makes all accesses free of conflicts (%s)", phaseMost, costs(r.Before))
}
