package calc

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestExtentsBelow1: operations on shapes and layouts refuse an extent below 1 and show the argument; a tuple's form is free.
func TestExtentsBelow1(t *testing.T) {
	for text, want := range map[string]string{
		"size((2,-3))": "size((2,-3)): the extent -3", "product(-4)": "product(-4): the extent -4", "product_each((2,-4))": "product_each((2,-4)): the extent -4",
		"make_layout(-4)": "make_layout(-4): the extent -4", "make_layout((2,0),(1,2))": "make_layout((2,0), (1,2)): the extent 0", "make_layout(-4:1,2:1)": "make_layout(-4:1, 2:1): the extent -4",
		"make_identity_layout((2,-1))": "make_identity_layout((2,-1)): the extent -1", "make_ordered_layout((2,-1),(1,2))": "make_ordered_layout((2,-1), (1,2)): the extent -1",
		"compact_order((2,-1),(1,2))": "compact_order((2,-1), (1,2)): the extent -1", "compatible(-4,(2,-2))": "compatible(-4, (2,-2)): the extent -4", "evenly_divides(0,2)": "evenly_divides(0, 2): the extent 0",
		"crd2idx((1,1),(2,-3))": "crd2idx((1,1), (2,-3)): the extent -3", "crd2idx((1,1),(2,-3),(1,2))": "crd2idx((1,1), (2,-3), (1,2)): the extent -3",
		"size(left_inverse(4:-1))": "size((-1,4):(0,1)): the extent -1", "shape_div(-4,2)": "shape_div(-4, 2): the extent -4", "ceil_div(4,0)": "ceil_div(4, 0): the extent 0",
	} {
		v, err := Eval(text)
		require.ErrorContains(t, err, want+" must be at least 1", "%s = %v", text, v)
	}
	for text, want := range map[string]string{"rank((2,-3))": "2", "depth(-4)": "0", "congruent((1,-2),(3,-4))": "true", "flatten(((1,-2),3))": "(1,-2,3)", "left_inverse(4:-1)": "(-1,4):(0,1)", "L=left_inverse(4:-1); L(-3)": "3"} {
		v, err := Eval(text)
		require.NoError(t, err, text)
		require.Equal(t, want, v.String(), text)
	}
}
