package calc

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWords: a refusal names the operation as the calculator does, with its arguments as they are written.
func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"ceil_zipped_divide(4:1,(2,2))": "ceil_zipped_divide(4:1, (2,2)): ", "ceil_upcast(4:-1,3)": "ceil_upcast(4:-1, 3): ", "ceil_recast_layout(4:-1,8,24)": "ceil_recast_layout(4:-1, 8, 24): ",
		"print_layout((2,2,2):(1,2,4))": "print_layout((2,2,2):(1,2,4)): ", "print_tv(4:1,4)": "print_tv(4:1, 4): ", "compact_order((4,8),(1,(2,3)))": "compact_order((4,8), (1,(2,3))): ",
		"-(-9223372036854775807-1)": "-(-9223372036854775807-1): the result", "append(4:1,100)": "append(4:1, 100): 100 modes", "append(4:1,0)": "append(4:1, 0): ", "get((1,2),5)": "get((1,2), 5): there is no entry 5",
		"A=(4,8):(8,1); A(1,2,3)": "A(1, 2, 3): coordinate (1,2,3) does not fit", "slice((1,2,_),(2,3):(1,2))": "slice((1,2,_), (2,3):(1,2)): ", "select((2,3):(1,2),4)": "select((2,3):(1,2), 4): ",
		"max_common_vector(M:1,8:1)": "max_common_vector(M:1, 8:1): the size of M:1 is not known", "upcast(6:1,4)": "upcast(6:1, 4): the last vector",
	} {
		v, err := Eval(text)
		require.Error(t, err, "%s = %v", text, v)
		require.True(t, strings.HasPrefix(err.Error(), "algebra: "+want), "%s: %s", text, err)
		require.NotContains(t, err.Error(), "Ceil form", text)
	}
	_, err := Eval("upcast(6:1,4)")
	require.ErrorContains(t, err, "ceil_upcast rounds up")
	for text, want := range map[string]string{"max_common_vector(M:1,M:1)": "M", "max_common_vector(8:1,4:1)": "4"} {
		v, err := Eval(text)
		require.NoError(t, err)
		require.Equal(t, want, v.String())
	}
}
