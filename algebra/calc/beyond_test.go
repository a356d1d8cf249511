package calc

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBeyond63Bits: no operation prints a number that wrapped around.
func TestBeyond63Bits(t *testing.T) {
	for _, c := range [][2]string{
		{"size((4294967296,4294967296))", ""}, {"size((4294967296,2147483648))", ""}, {"size((4294967296,4294967296,M))", ""}, {"product((4294967296*M,4294967296*N))", ""},
		{"product_each(((4294967296,4294967296),2))", ""}, {"make_layout((4294967296*M,4294967296*N,2))", ""}, {"crd2idx((1,4294967296,3),(4294967296,4294967296*M,4))", ""},
		{"cosize((4294967296*M,4):(4294967296,1))", ""}, {"(4294967296*M)*(4294967296*N)", ""}, {"-(-9223372036854775807-1)", ""}, {"9223372036854775807+1", ""},
		{"ceil_div(M+9223372036854775807,2)", ""}, {"2*M*9223372036854775807@0", ""}, {"xor(M,9223372036854775807+1)", ""}, {"min(M,4294967296*4294967296)", ""},
		{"size((A+B,C+D,E+F,G+H,I+J,K+L,M+N,P+Q,R+S,T+U,V+W,X+Y,Z+a,b+c,d+e,f+g,h+i,j+k))", ""},
		{"compact_order((4,8),(9223372036854775807,1))", "(8,1)"}, {"coalesce((2,2):(1,2),9223372036854775807)", "4:1"}, {"size((2,0):(1,2))", "0"},
		{"compatible(0,(4294967296,4294967296))", "false"}, {"evenly_divides((4294967296,4294967296),(4294967296,4294967296))", "true"},
		{"size((4294967296,4294967296,0))", "0"}, {"ceil_div(9223372036854775807,2)", "4611686018427387904"}, {"M/1099511627776/1099511627776", "M/1099511627776/1099511627776"},
	} {
		v, err := Eval(c[0])
		if c[1] == "" {
			require.Error(t, err, "%s = %s", c[0], v)
			var bad *SyntaxError
			require.NotErrorAs(t, err, &bad, c[0])
			continue
		}
		require.NoError(t, err, c[0])
		require.Equal(t, c[1], v.String(), c[0])
	}
}
