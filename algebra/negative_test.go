package algebra

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// signedLayouts are all layouts of up to two modes with extents up to 4 and strides from -4 to 4.
func signedLayouts() (out []Layout) {
	for s := 1; s <= 4; s++ {
		for d := -4; d <= 4; d++ {
			out = append(out, MustLayout(Extent(s), StrideOf(d)))
			for t := 1; t <= 4; t++ {
				for e := -4; e <= 4; e++ {
					out = append(out, MustLayout(S(s, t), D(d, e)))
				}
			}
		}
	}
	return out
}

// valuesOf lists the offsets of a layout by the definition: digits times strides.
func valuesOf(l Layout) []int64 {
	out := []int64{0}
	for i, s := range l.shape.leaves() {
		n, _ := s.IsConst()
		d, _ := l.stride.leaves()[i].IsConst()
		var next []int64
		for j := range n {
			for _, v := range out {
				next = append(next, v+j*d)
			}
		}
		out = next
	}
	return out
}

// properExtents asks that every extent is at least 1.
func properExtents(t *testing.T, what string, l Layout) {
	t.Helper()
	for _, e := range l.shape.leaves() {
		n, _ := e.IsConst()
		require.Positive(t, n, "%s = %s", what, l)
	}
}

// TestSignedInverses: inverses and complements of layouts with negative strides are what they are defined to be, or refused.
func TestSignedInverses(t *testing.T) {
	given := 0
	for _, l := range signedLayouts() {
		v := valuesOf(l)
		if r, err := LeftInverse(l); err == nil {
			given++
			repeats := len(slices.Compact(slices.Sorted(slices.Values(v)))) < len(v)
			for i, at := range v {
				j := r.AtInt(at)
				require.True(t, j == int64(i) || repeats && j >= 0 && l.AtInt(j) == at, "left_inverse(%s) = %s at %d", l, r, at)
			}
			if c := coalesce(l); c.String() != fmt.Sprintf("%s:-1", c.Shape()) || !c.Shape().IsLeaf() { // CuTe's negation
				properExtents(t, "left_inverse of "+l.String(), r)
			}
		}
		if r, err := RightInverse(l); err == nil {
			given++
			for i, at := range valuesOf(r) {
				require.EqualValues(t, i, l.AtInt(at), "right_inverse(%s) = %s", l, r)
			}
			properExtents(t, "right_inverse of "+l.String(), r)
		}
		if r, err := Nullspace(l); err == nil {
			given++
			for _, at := range valuesOf(r) {
				require.Zero(t, l.AtInt(at), "nullspace(%s) = %s", l, r)
			}
			properExtents(t, "nullspace of "+l.String(), r)
		}
		for n := int64(1); n <= 24; n++ {
			if r, err := Complement(l, Extent(n)); err == nil {
				given++
				checkFills(t, l, r, n)
			}
		}
		if r, err := ComplementSelf(l); err == nil {
			properExtents(t, "complement of "+l.String(), r)
		}
	}
	require.Greater(t, given, 10000)
}

// checkFills: l moved by r reaches every offset below n, and none twice.
func checkFills(t *testing.T, l, r Layout, n int64) {
	t.Helper()
	seen := map[int64]bool{}
	for _, at := range valuesOf(r) {
		for _, v := range slices.Compact(slices.Sorted(slices.Values(valuesOf(l)))) {
			require.False(t, seen[at+v], "complement(%s,%d) = %s reaches %d twice", l, n, r, at+v)
			seen[at+v] = true
		}
	}
	for i := range n {
		require.True(t, seen[i], "complement(%s,%d) = %s leaves out %d", l, n, r, i)
	}
	properExtents(t, "complement of "+l.String(), r)
}

// TestSignedPairs: composition, divide and product with negative strides on either side.
func TestSignedPairs(t *testing.T) {
	all := signedLayouts()
	step := 211
	if testing.Short() {
		step = 1009
	}
	for k := 0; k < len(all)*len(all); k += step {
		a, b := all[k/len(all)], all[k%len(all)]
		va, vb := valuesOf(a), valuesOf(b)
		if r, err := Compose(a, b); err == nil {
			vr := valuesOf(r)
			require.Len(t, vr, len(vb))
			for i, at := range vb {
				require.Equal(t, a.AtInt(at), vr[i], "composition(%s,%s) = %s", a, b, r)
			}
			properExtents(t, "composition", r)
		}
		if r, err := LogicalDivide(a, TileBy(b)); err == nil {
			vr := valuesOf(r)
			require.Len(t, vr, len(va), "logical_divide(%s,%s) = %s", a, b, r)
			require.Equal(t, slices.Sorted(slices.Values(va)), slices.Sorted(slices.Values(vr)), "logical_divide(%s,%s) = %s", a, b, r)
			for i, at := range vb {
				require.Equal(t, a.AtInt(at), vr[i], "logical_divide(%s,%s) = %s", a, b, r)
			}
		}
		if r, err := LogicalProduct(a, TileBy(b)); err == nil {
			vr := valuesOf(r)
			require.Len(t, vr, len(va)*len(vb), "logical_product(%s,%s) = %s", a, b, r)
			require.Equal(t, va, vr[:len(va)], "logical_product(%s,%s) = %s", a, b, r)
			properExtents(t, "logical_product", r)
		}
		if r, err := MaxCommonLayout(a, b); err == nil {
			for i, at := range valuesOf(r) {
				require.EqualValues(t, i, a.AtInt(at), "max_common_layout(%s,%s) = %s", a, b, r)
				require.EqualValues(t, i, b.AtInt(at), "max_common_layout(%s,%s) = %s", a, b, r)
			}
		}
	}
}
