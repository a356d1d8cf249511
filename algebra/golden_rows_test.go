package algebra

import (
	"sort"
	"strings"
	"testing"
)

// tally counts rows by operation.
type tally map[string][2]int

func (c tally) add(op string, good bool) {
	n := c[op]
	n[0]++
	if good {
		n[1]++
	}
	c[op] = n
}

func (c tally) log(t *testing.T) {
	ops := make([]string, 0, len(c))
	all, good := 0, 0
	for op, n := range c {
		ops = append(ops, op)
		all, good = all+n[0], good+n[1]
	}
	sort.Strings(ops)
	for _, op := range ops {
		if c[op][0] != c[op][1] {
			t.Logf("%s: %d of %d", op, c[op][1], c[op][0])
		}
	}
	t.Logf("all: %d of %d", good, all)
}

// TestGoldenResults: every row of CuTe's right answers is given exactly; slices of swizzled layouts by value.
func TestGoldenResults(t *testing.T) {
	c := tally{}
	for _, r := range goldenRows(t, "algebra.jsonl") {
		got, err := call(r.Op, r.Args)
		good := err == nil && got == r.Result
		if !good && err == nil && r.Op == "slice_and_offset" && strings.HasPrefix(r.Args[1], "Sw<") {
			good = sameSlice(got, r.Result)
		}
		if good {
			if why := satisfies(r.Op, r.Args, got); why != nil {
				t.Errorf("%s %s(%s) = %s breaks the test's definition: %v %s", r.ID, r.Op, strings.Join(r.Args, " ; "), got, why, r.Note)
			}
		}
		c.add(r.Op, good)
		if !good {
			t.Errorf("%s %s(%s)\n  want %s\n  got  %s %v\n  note %s", r.ID, r.Op, strings.Join(r.Args, " ; "), r.Result, got, err, r.Note)
		}
	}
	c.log(t)
}

func sameSlice(a, b string) bool {
	la, oa, err := ParseSlice(a)
	if err != nil {
		return false
	}
	lb, ob, err := ParseSlice(b)
	if err != nil {
		return false
	}
	fa, ok1 := intFn(la)
	fb, ok2 := intFn(lb)
	x, ok3 := oa.IsConst()
	y, ok4 := ob.IsConst()
	if !ok1 || !ok2 || !ok3 || !ok4 || fa.n != fb.n {
		return false
	}
	return sameValues(fa.n, func(i int64) int64 { return fa.at(i) + x }, func(i int64) int64 { return fb.at(i) + y }) == nil
}

// TestGoldenDivergences: where CuTe's answer breaks the definition, ours keeps it or is refused.
func TestGoldenDivergences(t *testing.T) {
	c := tally{}
	for _, r := range goldenRows(t, "algebra_divergences.jsonl") {
		got, err := call(r.Op, r.Args)
		good := false
		switch r.Truth {
		case "none":
			good = err != nil
		case "unknown":
			good = err != nil || satisfies(r.Op, r.Args, got) == nil
		default:
			good = err == nil && (got == r.Truth || sameSlice(got, r.Truth) || satisfies(r.Op, r.Args, got) == nil)
		}
		c.add(r.Op, good)
		if !good {
			t.Errorf("%s %s(%s)\n  truth %s\n  cute  %s\n  got   %s %v", r.ID, r.Op, strings.Join(r.Args, " ; "), r.Truth, r.Cute, got, err)
		}
	}
	c.log(t)
}

// TestGoldenErrors: what CuTe refuses we give if a layout exists, and refuse otherwise.
func TestGoldenErrors(t *testing.T) {
	c := tally{}
	for _, r := range goldenRows(t, "algebra_errors.jsonl") {
		got, err := call(r.Op, r.Args)
		good, why := err != nil, error(nil)
		if string(r.Expressible) == "true" {
			if good = err == nil; good {
				why = satisfies(r.Op, r.Args, got)
				good = why == nil
			}
		}
		c.add(r.Op, good)
		if !good {
			t.Errorf("%s %s(%s) expressible %s\n  got %s %v\n  %v", r.ID, r.Op, strings.Join(r.Args, " ; "), r.Expressible, got, err, why)
		}
	}
	c.log(t)
}

// sameValues compares two functions on [0, n).
func sameValues(n int64, got, want func(int64) int64) *Error {
	for i := range n {
		if g, w := got(i), want(i); g != w {
			return failf("coordinate %d gives %d and not %d", i, g, w).at(i, g, w)
		}
	}
	return nil
}
