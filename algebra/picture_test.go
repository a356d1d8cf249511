package algebra

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGrid(t *testing.T) {
	for text, want := range map[string]string{
		"(2,3):(3,1)":                         "(2,3):(3,1)\n   0 1 2\n0| 0 1 2\n1| 3 4 5\n",
		"3:5":                                 "3:5\n    0  1  2\n0|  0  5 10\n",
		"(3):(5)":                             "(3):(5)\n    0  1  2\n0|  0  5 10\n",
		"(2,2):(1@0,1@1)":                     "(2,2):(1@0,1@1)\n       0     1\n0|     0 (0,1)\n1|   (1) (1,1)\n",
		"(2,2):(K,1)":                         "(2,2):(K,1)\n     0   1\n0|   0   1\n1|   K K+1\n",
		"Sw<1,0,1> o 0 o (2,2):(2,1)":         "Sw<1,0,1> o 0 o (2,2):(2,1)\n   0 1\n0| 0 1\n1| 3 2\n",
		"((2,2),2):((1,4),2)":                 "((2,2),2):((1,4),2)\n   0 1\n0| 0 2\n1| 1 3\n2| 4 6\n3| 5 7\n",
		"Sw<1,0,1> o 0 o (1,(2,2)):(0,(2,1))": "Sw<1,0,1> o 0 o (1,(2,2)):(0,(2,1))\n   0 1 2 3\n0| 0 3 1 2\n",
	} {
		got, err := Grid(MustParse(text))
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, text := range []string{"(2,2,2):(1,2,4)", "(M,4):(1,4)", "(1024,1024):(1,1024)"} {
		_, err := Grid(MustParse(text))
		require.Error(t, err, text)
	}
}

func TestGridTV(t *testing.T) {
	got, err := GridTV(MustParse("(2,3):(0,1)"), S(2, 2))
	require.NoError(t, err)
	require.Equal(t, "         0       1\n0| T0/V0+1 T0/V2+1\n1| T0/V1+1       .\n", got)
	for _, bad := range []string{"4:1", "(4,4):(1,4)", "(2,K):(1,2)", "(2,2):(-1,1)"} {
		_, err := GridTV(MustParse(bad), S(2, 2))
		require.Error(t, err, bad)
	}
}
