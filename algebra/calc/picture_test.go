package calc

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPictures: a picture is a value of its own, and no part of another one.
func TestPictures(t *testing.T) {
	for _, text := range []string{"(print_layout(2:1),3)", "make_shape(print_layout(2:1))", "A=make_tuple(print_layout(2:1)); A", "A=print_layout(2:1); (1,A)",
		"A=print_layout(2:1); ((A))", "get((print_layout(2:1),1),0)", "flatten(print_layout(2:1))", "A=4:1; A(print_layout(2:1))", "A=print_layout(2:1); A:1", "A=print_layout(2:1); 1+A", "A=print_layout(2:1); A(1)", "print_layout(2:1) o 4:1", "-print_tv((2,2):(1,2),4)"} {
		v, err := Eval(text)
		require.Error(t, err, "%s = %v", text, v)
		require.NotContains(t, err.Error(), "\n", text)
	}
	for _, text := range []string{"print_layout(2:1)", "A=print_layout(2:1); A", "A=print_layout(2:1); B=A; B"} {
		v, err := Eval(text)
		require.NoError(t, err, text)
		require.True(t, strings.Contains(v.String(), "\n"), text)
	}
}
